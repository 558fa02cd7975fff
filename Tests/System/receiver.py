"""A device that receives files, and another one that sends them."""

import contextlib
import os
import signal
import time

from desk import TYPE, Desk, downloads
from harness import expect, limit_rate
from notifications import ALL, NotificationServer, SessionBus


class Receiver(Desk):
    """A device that receives files, with a notification server, and another one that sends them."""

    def __init__(self, stage, capabilities=ALL, saves=False, environment=()):
        bus = SessionBus(stage)
        self.server = NotificationServer(bus, capabilities)
        super().__init__(stage, bus, log_level="debug")
        self.daemon.extra |= {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", **dict(environment)}
        self.played = self.app("editor", TYPE, name="Editor", types=[TYPE])
        self.folder = downloads(self)
        self.saves = self.record()
        if saves:
            path = self.write(self.programs, "handoff-settings", f"""#!/bin/sh
printf '%s\\n' "$@" >'{self.saves}.part'
/bin/mv '{self.saves}.part' '{self.saves}'
""")
            os.chmod(path, 0o755)
        self.start()

    def send(self, *names):
        """Sends files by one command. Returns it."""
        return self.origin.follow("send", "taker", *(self.stage.file(name, f"words of {name}") for name in names))

    def halve(self, send, summary="Saving film.bin"):
        """Stops the sending device in the middle of a file, and returns the notification of its progress."""
        def part():
            names = os.listdir(self.folder) if os.path.exists(self.folder) else []
            return [name for name in names if os.path.getsize(os.path.join(self.folder, name)) > 1 << 20]
        limit = time.monotonic() + 60
        while not part():
            expect(time.monotonic() < limit, f"nothing arrives: {send.seen}")
        self.origin.process.send_signal(signal.SIGSTOP)
        limit_rate(self.stage)
        self.server.wait(lambda server: any("%" in each["body"] for each in server.standing.values()), "a percentage")
        return self.prompt(summary)

    def prompt(self, summary):
        """Waits until there is a prompt with this summary, whatever else is on the screen. Returns it."""
        def found(_):
            return [each for each in self.server.standing.values() if each["summary"] == summary]
        self.server.wait(found, f"'{summary}'")
        with self.server.changed:
            return found(self.server)[0]


def film(stage):
    """Creates a file that takes a moment to send. Holes would take none."""
    path = os.path.join(stage.folder, "film.bin")
    with open(path, "wb") as file:
        for _ in range(512):
            file.write(os.urandom(1 << 20))
    return path


def receivers(desk):
    """Returns the ids of the programs with which the device receives files."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as words, open(f"/proc/{number}/environ", "rb") as environment:
                if b"--downloads" in words.read() and desk.home.encode() in environment.read():
                    found.append(int(number))
        except OSError:
            pass  # It has ended.
    return found
