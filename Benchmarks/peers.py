"""Other programs that transfer data from one device to another, as the pictures show them next to Handoff."""

import os
import sys

from common import harness
from kdeconnect import KDEConnect
from others import Others, absent
from syncthing import Syncthing
import kdeconnect

MIB = 1024 * 1024
SCP, CONNECTED, RSYNC, SOCAT = "scp", "scp, logged in before", "rsync over ssh", "socat over TLS"
SYNCTHING, KDE_FILE, KDE_TEXT = "Syncthing", "KDE Connect, a file", "KDE Connect, a text"


class Peers:
    """The installed ones. Those that are commands are timed from their start to their exit,
    including the login. Syncthing and KDE Connect, which run and are connected, are timed from the
    request to one device until the other has the data.

    Debian's packages: openssh-server openssh-client rsync socat openssl syncthing kdeconnect
    dbus-daemon.
    """

    def __init__(self, stage, folder):
        self.ways = {}  # Seconds for a file and its size.
        others = Others(stage, None, folder)
        if others.scp:
            others.connect()
            self.ways[SCP] = lambda source, size: others.copy_time(source)
            self.ways[CONNECTED] = lambda source, size: others.connected_time(source)
        if others.rsync:
            self.ways[RSYNC] = lambda source, size: others.rsync_time(source)
        if others.socat:
            self.ways[SOCAT] = lambda source, size: others.socat_time(source)
        if not absent(SYNCTHING, "syncthing"):
            syncthing = Syncthing(stage, folder)
            self.ways[SYNCTHING] = lambda source, size: syncthing.copy_time(size)
        if os.geteuid() != 0:
            print("no KDE Connect: simulated hosts need root", file=sys.stderr)
        elif kdeconnect.program() is None:
            print("no KDE Connect: kdeconnectd is not installed", file=sys.stderr)
        elif not absent("KDE Connect", "dbus-daemon"):
            connect = KDEConnect(stage)
            self.ways[KDE_TEXT] = lambda source, size: connect.text_time(size)
            self.ways[KDE_FILE] = lambda source, size: connect.copy_time(source)
        self.target = others.target

    def times(self, source, size, count, without=None):
        """Times each program this many times in seconds, after one run for warming up. Fewer times if it takes long."""
        for name, way in self.ways.items():
            if name == without or name == KDE_FILE and size > 64 * MIB:  # It would take half a minute for a GiB.
                continue
            often = 3 if size > 64 * MIB and name == SYNCTHING else count
            found = []
            for _ in range(often + 1):
                if os.path.exists(self.target):
                    os.unlink(self.target)
                found.append(way(source, size))
                harness.expect(found[-1], f"{name} failed")
            yield name, found[1:]
