"""A name on the session bus, for simulated apps. Each call receives an empty reply."""

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
    """Owns a name. `calls` has each call to it, in the form of `notifications.py`."""

    def __init__(self, name):
        self.calls = queue.Queue()
        super().__init__(session_bus())
        # 4: do not queue for it. The reply 1 means that this process is the owner.
        if Reader(self.call("RequestName", "su", Writer().text(name).number(4).data)).number() != 1:
            raise OSError(f"{name} has another owner")

    def called(self, call):
        if not call["flags"] & NO_REPLY:
            self.reply(call)
        self.calls.put(call)
