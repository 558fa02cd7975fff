"""KDE Connect on two simulated hosts, each with its own session bus and home folder, without a screen."""

import glob
import os
import queue
import subprocess
import time
from types import SimpleNamespace

from bus import ERROR, SIGNAL, Reader, Writer
from common import harness, until
from notifications import BusClient, NotificationServer

NAME = "org.kde.kdeconnect"
BUS = """<busconfig><type>session</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
"""


def program():
    """Returns the path of kdeconnectd, which is in no folder of PATH, or None if it is not installed."""
    found = glob.glob("/usr/lib/*/libexec/kdeconnectd") + glob.glob("/usr/libexec/kdeconnectd")
    return found[0] if found else None


class SessionBus(BusClient):
    """A client of a bus that receives signals. The result of a failed call is `None`."""

    def __init__(self, bus):
        self.signals = queue.Queue()
        super().__init__(bus)

    def _handle(self, message):
        if message["kind"] == SIGNAL:
            self.signals.put((time.monotonic(), message))
        elif message["kind"] == ERROR:
            self.replies.put(None)
        else:
            super()._handle(message)


class Node:
    """One kdeconnectd on a host."""

    def __init__(self, stage, host):
        self.folder = os.path.join(stage.folder, f"kdeconnect-{host.name}")
        home, run = os.path.join(self.folder, "home"), os.path.join(self.folder, "run")
        for folder in ("Downloads", ".config"):
            os.makedirs(os.path.join(home, folder), mode=0o700)
        os.mkdir(run, 0o700)
        path, configuration = os.path.join(run, "bus"), os.path.join(self.folder, "bus.conf")
        with open(configuration, "w") as file:  # It starts no services, so only programs started here answer.
            file.write(BUS.format(path=path))
        environment = {"PATH": os.environ["PATH"], "HOME": home, "XDG_RUNTIME_DIR": run, "QT_QPA_PLATFORM": "offscreen",
                       "DBUS_SESSION_BUS_ADDRESS": f"unix:path={path}", "LANG": "C.UTF-8"}
        self.downloads, self.log = os.path.join(home, "Downloads"), os.path.join(self.folder, "log")
        with open(self.log, "w") as log:
            for words in (["dbus-daemon", f"--config-file={configuration}", "--nofork", "--nopidfile"], [program()]):
                stage.processes.append(subprocess.Popen(
                    [*host.prefix, *words], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
                until("the start of the bus", lambda: os.path.exists(path))
        bus = SimpleNamespace(path=path)
        for client in (notifications := NotificationServer(bus), own := SessionBus(bus)):
            stage.closers.append(client.close)
        self.notifications, self.bus = notifications, own
        self.bus.call("AddMatch", "s", Writer().text(f"type='signal',interface='{NAME}.device.share'").data)

    def call(self, member, signature="", body=b"", path="", interface="daemon"):
        return self.bus.call(member, signature, body, NAME, f"/modules/kdeconnect{path}", f"{NAME}.{interface}")

    def devices(self, paired):
        """Returns the ids of reachable devices."""
        found = self.call("devices", "bb", Writer().number(1).number(paired).data)
        return Reader(found).texts() if found else []


class KDEConnect:
    """Two hosts that are paired."""

    def __init__(self, stage):
        lab = harness.Lab(stage, 2, "--no-avahi", "--ipv4-only")
        for host in lab.hosts:  # This is how it is found.
            host.run("ip", "route", "add", "255.255.255.255", "dev", "eth0")
        self.taker, self.origin = (Node(stage, host) for host in reversed(lab.hosts))
        nodes = [self.origin, self.taker]
        until("the discovery by KDE Connect", lambda: all(node.devices(False) for node in nodes), 40)
        self.other = self.origin.devices(False)[0]
        self.origin.call("requestPair", path=f"/devices/{self.other}", interface="device")
        own = self.taker.devices(False)[0]
        place = {"path": f"/devices/{own}", "interface": "device"}
        until("the request", lambda: self.taker.call("acceptPairing", **place) is not None, 10)
        until("the pairing of KDE Connect", lambda: all(node.devices(True) for node in nodes), 20)
        until("sharing by KDE Connect", lambda: self._share("shareText", "hello") and self._received(1), 20)

    def _share(self, member, text):
        while not self.taker.bus.signals.empty():
            self.taker.bus.signals.get()
        self.begin = time.monotonic()
        return self.origin.call(member, "s", Writer().text(text).data, f"/devices/{self.other}/share", "device.share") is not None

    def _received(self, within):
        """Returns the seconds until the taker reported the arrival, or None if it did not."""
        try:
            while True:
                moment, signal = self.taker.bus.signals.get(timeout=within)
                if signal["member"] == "shareReceived":
                    return moment - self.begin
        except queue.Empty:
            return None

    def text_time(self, size):
        """Returns the seconds from sharing a text until the taker has it."""
        return self._timed("shareText", "x" * size)

    def copy_time(self, source):
        """Returns the seconds from sharing a file until the taker has it."""
        target = os.path.join(self.taker.downloads, os.path.basename(source))
        if os.path.exists(target):
            os.unlink(target)
        seconds = self._timed("shareUrl", f"file://{source}", 120)
        harness.expect(os.path.getsize(target) == os.path.getsize(source), "not all of the file arrived")
        return seconds

    def _timed(self, member, text, within=20):
        harness.expect(self._share(member, text), "KDE Connect refused the call")
        seconds = self._received(within)
        harness.expect(seconds, f"nothing arrived by KDE Connect: {harness.tail(self.taker.log)}")
        return seconds
