"""A name on the session bus, for played apps: calls come in, and each is answered with nothing. D-Bus Specification."""

import os
import socket
import struct

CALL = 1
NO_REPLY = 1
PATH, INTERFACE, MEMBER, REPLY_TO, DESTINATION, SENDER, SIGNATURE = 1, 2, 3, 5, 6, 7, 8


def padded(data, to):
    return data + bytes(-len(data) % to)


def text(value):
    return struct.pack("<I", len(value.encode())) + value.encode() + b"\0"


def message(kind, serial, fields, body=b""):
    """A message; `fields` has texts by number, but the serial that is answered is a number."""
    array = b""
    for number, value in fields.items():
        array = padded(array, 8) + bytes([number, 1])
        if number == REPLY_TO:
            array += b"u\0" + struct.pack("<I", value)
        elif number == SIGNATURE:
            array += b"g\0" + bytes([len(value)]) + value.encode() + b"\0"
        else:
            array += (b"o\0" if number == PATH else b"s\0") + text(value)
    head = b"l" + bytes([kind, NO_REPLY if kind == 2 else 0, 1]) + struct.pack("<III", len(body), serial, len(array))
    return padded(head + array, 8) + body


def header(data):
    """The fields of a message, by number: texts, and the serial that is answered."""
    (length,) = struct.unpack("<I", data[12:16])
    fields, at = {}, 16
    while at < 16 + length:
        at += -at % 8
        number, kind = data[at], chr(data[at + 2])
        at += 4
        if kind == "g":
            fields[number] = data[at + 1:at + 1 + data[at]].decode()
            at += data[at] + 2
        else:
            at += -at % 4
            (value,) = struct.unpack("<I", data[at:at + 4])
            at += 4
            if kind in "so":
                fields[number] = data[at:at + value].decode()
                at += value + 1
            else:
                fields[number] = value
    return fields


class BusName:
    """Owns a name; `calls` has each call to it as path, interface, member and the bytes of its arguments."""

    def __init__(self, name):
        address = os.environ["DBUS_SESSION_BUS_ADDRESS"].split(";")[0]
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(address.removeprefix("unix:path=").split(",")[0])
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        answer = b""
        while not answer.endswith(b"\r\n"):
            answer += self.socket.recv(1)
        if not answer.startswith(b"OK"):
            raise OSError(f"the bus refused: {answer}")
        self.socket.sendall(b"BEGIN\r\n")
        self.serial, self.early = 0, []
        self._ask("Hello")
        # 4: not to wait in line for it. The answer 1 says that it is ours.
        if self._ask("RequestName", "su", padded(text(name), 4) + struct.pack("<I", 4)) != struct.pack("<I", 1):
            raise OSError(f"{name} belongs to another")

    def calls(self):
        while True:
            # What it was activated for may come before it hears that the name is its own.
            data = self.early.pop(0) if self.early else self._read()
            if data[1] != CALL:
                continue
            fields = header(data)
            (serial,) = struct.unpack("<I", data[8:12])
            if not data[2] & NO_REPLY:
                self._send(2, {REPLY_TO: serial, DESTINATION: fields[SENDER]})
            (length,) = struct.unpack("<I", data[4:8])
            yield fields[PATH], fields.get(INTERFACE), fields[MEMBER], data[len(data) - length:]

    def _send(self, kind, fields, body=b""):
        self.serial += 1
        self.socket.sendall(message(kind, self.serial, fields, body))
        return self.serial

    def _ask(self, member, signature=None, body=b""):
        """Calls the bus itself; answers the body."""
        name = "org.freedesktop.DBus"
        fields = {PATH: "/org/freedesktop/DBus", INTERFACE: name, MEMBER: member, DESTINATION: name}
        serial = self._send(CALL, fields | ({SIGNATURE: signature} if signature else {}), body)
        while True:
            data = self._read()
            if header(data).get(REPLY_TO) == serial:
                if data[1] != 2:
                    raise OSError(f"{member} failed: {data}")
                return data[len(data) - struct.unpack("<I", data[4:8])[0]:]
            self.early.append(data)

    def _read(self):
        data = self._exactly(16)
        body, _, fields = struct.unpack("<III", data[4:16])
        return data + self._exactly(fields + -fields % 8 + body)

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise OSError("the bus has gone")
            data += piece
        return data
