"""A bus of the user with only a simulated service manager, which starts nothing and sends the
replies that a test sets."""

import struct

from bus import ANSWERS, CALL, ERROR, ERROR_NAME, NO_REPLY, REPLY, SENDER, message, padded, text
from logind import Logind


class PlayedManager(Logind):
    """`starts` has the calls that start a unit, as bytes. Set `refusals` to the errors for the next
    ones, each a name and a text, and `values` to the successive values of properties, of which the
    last one persists."""

    def __init__(self, stage):
        self.starts, self.refusals, self.values = [], [], {"ActiveState": ["active"]}
        super().__init__(stage)

    @property
    def environment(self):
        return {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.path}"}

    def _answer(self, connection, data):
        kind, flags, (_, serial, fields) = data[1], data[2], struct.unpack("<III", data[4:16])
        if kind != CALL:
            return
        head, body = data[16:16 + fields], data[16 + fields + -fields % 8:]
        if self._calls(head, "Hello"):
            self._give(connection, serial, REPLY, "s", text(":1.1"))
        elif self._calls(head, "StartTransientUnit"):
            self.starts.append(body)
            if self.refusals:
                name, words = self.refusals.pop(0)
                self._give(connection, serial, ERROR, "s", text(words), name)
            else:
                self._give(connection, serial, REPLY, "o", text("/org/freedesktop/systemd1/job/1"))
        elif self._calls(head, "Get"):
            property = next((name for name in self.values if text(name) in body), None)
            if property is None:
                return self._give(connection, serial, ERROR, "s", text("no such property"),
                                  "org.freedesktop.DBus.Error.UnknownProperty")
            values = self.values[property]
            value = values.pop(0) if len(values) > 1 else values[0]
            self._give(connection, serial, REPLY, "v", self._variant(property, value))
        elif not flags & NO_REPLY:
            self._give(connection, serial, REPLY, "", b"")

    @staticmethod
    def _calls(head, member):
        return b"\3\1s\0" + text(member) in head

    @staticmethod
    def _variant(property, value):
        if isinstance(value, str):
            return padded(b"\1s\0", 4) + text(value)
        if property == "ExecMainStatus":
            return padded(b"\1i\0", 4) + struct.pack("<i", value)
        return padded(b"\1t\0", 8) + struct.pack("<Q", value)

    def _give(self, connection, serial, kind, signature, body, error=None):
        fields = {ANSWERS: serial, SENDER: "org.freedesktop.systemd1", **({ERROR_NAME: error} if error else {})}
        with self.guard:
            connection.sendall(message(kind, 1, fields, signature, body))
