"""A device that receives files, and another one that sends them."""

from desk import TYPE, Desk, downloads
from notifications import NotificationServer, SessionBus


class Receiver(Desk):
    """A device that receives files, with a notification server, and another one that sends them."""

    def __init__(self, stage, environment=()):
        bus = SessionBus(stage)
        self.server = NotificationServer(bus)
        super().__init__(stage, bus, log_level="debug")
        self.daemon.extra |= {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", **dict(environment)}
        self.played = self.app("editor", TYPE, name="Editor", types=[TYPE])
        self.folder = downloads(self)
        self.start()

    def send(self, *names):
        """Sends files by one command. Returns it."""
        return self.origin.follow("send", "taker", *(self.stage.file(name, f"words of {name}") for name in names))

    def prompt(self, summary):
        """Waits until there is a prompt with this summary, whatever else is on the screen. Returns it."""
        def found(_):
            return [each for each in self.server.standing.values() if each["summary"] == summary]
        self.server.wait(found, f"'{summary}'")
        with self.server.changed:
            return found(self.server)[0]
