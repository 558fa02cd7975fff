"""A name on the session bus, for played apps: each call is answered with nothing."""

import os
import queue
from types import SimpleNamespace

from bus import NO_REPLY, Reader, Writer
from notifications import BusClient


def session_bus():
    """The bus of the environment."""
    address = os.environ["DBUS_SESSION_BUS_ADDRESS"].split(";")[0]
    return SimpleNamespace(path=address.removeprefix("unix:path=").split(",")[0])


class BusName(BusClient):
    """Owns a name; `calls` has each call to it, as `notifications.py` has them."""

    def __init__(self, name):
        self.calls = queue.Queue()
        super().__init__(session_bus())
        # 4: not to wait in line for it. The answer 1 says that it is ours.
        if Reader(self.call("RequestName", "su", Writer().text(name).number(4).data)).number() != 1:
            raise OSError(f"{name} belongs to another")

    def called(self, call):
        if not call["flags"] & NO_REPLY:
            self.reply(call)
        self.calls.put(call)
