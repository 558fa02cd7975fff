"""A system bus with nothing but the sleep locks of systemd-logind, for machines that have neither."""

import array
import os
import socket
import struct
import threading

CALL, REPLY, ERROR = 1, 2, 3
NO_REPLY = 1


def padded(data, to):
    return data + bytes(-len(data) % to)


def text(value):
    return struct.pack("<I", len(value)) + value.encode() + b"\0"


class Logind:
    """Answers each Inhibit with a pipe: `locks` has what was asked for, and what tells when the lock is let go."""

    def __init__(self, stage):
        self.path, self.locks, self.has_locks = os.path.join(stage.folder, "bus"), [], threading.Condition()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        stage.closers.append(self.listener.close)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def environment(self):
        return {"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.path}"}

    def lock(self, number, within=20):
        """What the lock was asked for, and the end of a pipe that is at its end once the lock is let go."""
        with self.has_locks:
            if not self.has_locks.wait_for(lambda: len(self.locks) > number, within):
                return None
            return self.locks[number]

    def _accept(self):
        while True:
            try:
                connection = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            buffer = self._authenticate(connection)
            while True:
                while len(buffer) < 16 or len(buffer) < self._size(buffer):
                    piece = connection.recv(65536)
                    if not piece:
                        return
                    buffer += piece
                size = self._size(buffer)
                self._answer(connection, buffer[:size])
                buffer = buffer[size:]
        except (OSError, ValueError, struct.error):
            connection.close()

    @staticmethod
    def _authenticate(connection):
        buffer = b""
        while True:
            while b"\r\n" not in buffer:
                piece = connection.recv(65536)
                if not piece:
                    raise ValueError("closed")
                buffer += piece
            line, _, buffer = buffer.partition(b"\r\n")
            line = line.lstrip(b"\0")
            if line.startswith(b"AUTH"):
                connection.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n" if line.split()[1:2] == [b"EXTERNAL"] and
                                   len(line.split()) > 2 else b"DATA\r\n")
            elif line.startswith(b"DATA"):
                connection.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n")
            elif line.startswith(b"NEGOTIATE_UNIX_FD"):
                connection.sendall(b"AGREE_UNIX_FD\r\n")
            elif line.startswith(b"BEGIN"):
                return buffer

    @staticmethod
    def _size(data):
        if data[:1] != b"l":
            raise ValueError("big-endian")
        body, _, fields = struct.unpack("<III", data[4:16])
        return 16 + fields + -fields % 8 + body

    def _answer(self, connection, data):
        kind, flags, (body, serial, fields) = data[1], data[2], struct.unpack("<III", data[4:16])
        if kind != CALL:
            return
        # Enough of the format for what is asked here: the member is field 3, the one text that may be 'Inhibit'.
        head, start = data[16:16 + fields], 16 + fields + -fields % 8
        if b"\3\1s\0" + text("Hello") in head:
            self._reply(connection, serial, "s", text(":1.1"))
        elif b"\3\1s\0" + text("Inhibit") in head:
            asked, at = [], start
            while at < start + body:
                (length,) = struct.unpack("<I", data[at:at + 4])
                asked.append(data[at + 4:at + 4 + length].decode())
                at += 4 + length + 1
                at += -(at - start) % 4
            mine, theirs = os.pipe()
            self._reply(connection, serial, "h", struct.pack("<I", 0), theirs)
            os.close(theirs)
            with self.has_locks:
                self.locks.append((asked, mine))
                self.has_locks.notify_all()
        elif not flags & NO_REPLY:
            self._reply(connection, serial, None, b"")

    @staticmethod
    def _reply(connection, serial, signature, body, *descriptors):
        fields = b"\5\1u\0" + struct.pack("<I", serial)
        if signature is None:
            fields = padded(fields, 8) + b"\4\1s\0" + text("org.freedesktop.DBus.Error.ServiceUnknown")
        else:
            fields = padded(fields, 8) + b"\x08\1g\0" + bytes([len(signature)]) + signature.encode() + b"\0"
        fields = padded(fields, 8) + b"\7\1s\0" + text("org.freedesktop.login1")
        if descriptors:
            fields = padded(fields, 8) + b"\x09\1u\0" + struct.pack("<I", len(descriptors))
        kind = ERROR if signature is None else REPLY
        head = b"l" + bytes([kind, NO_REPLY, 1]) + struct.pack("<III", len(body), 1, len(fields))
        passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        connection.sendmsg([padded(head + fields, 8) + body], passed)
