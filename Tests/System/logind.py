"""A system bus with simulated sleep locks and sessions of systemd-logind, the battery of UPower,
the profiles of power-profiles-daemon and the networks of NetworkManager, for machines that have
none of these."""

import array
import os
import select
import signal
import socket
import struct
import threading

from bus import (ANSWERS, CALL, DESCRIPTORS, ERROR, ERROR_NAME, INTERFACE, MEMBER, NO_REPLY, PATH, REPLY, SENDER, SIGNAL, Reader,
                 Writer, message, padded, text)
from harness import expect

NAME = "org.freedesktop.login1"
BUS = "org.freedesktop.DBus"
PROPERTIES = "org.freedesktop.DBus.Properties"
NETWORKS = "/org/freedesktop/NetworkManager"
# The power services, by the property of each: its name and its object.
POWER = {"OnBattery": ("org.freedesktop.UPower", "/org/freedesktop/UPower"),
         "ActiveProfile": ("net.hadess.PowerProfiles", "/net/hadess/PowerProfiles")}


def variant(value):
    """A value as a variant that starts at a multiple of 8 less 4, or anywhere for texts: signature and value."""
    if isinstance(value, bool):
        return b"\1b\0", 4, struct.pack("<I", value)
    if isinstance(value, int):
        return b"\1t\0", 8, struct.pack("<Q", value)
    if isinstance(value, list):
        return b"\2ao\0", 4, Writer().texts(value).data
    return b"\1s\0", 4, text(value)


def properties(values):
    """The body of a reply to GetAll: a{sv}."""
    entries = b""
    for key, value in values.items():
        entries = padded(entries, 8) + text(key)
        signature, alignment, content = variant(value)
        entries = padded(entries + signature, alignment) + content
    # The entries start at a multiple of 8.
    return struct.pack("<II", len(entries), 0) + entries


class Logind:
    """Answers each Inhibit call with a pipe. `locks` has the arguments of locks that keep the
    machine awake, and the pipe end that reports their release. `delays` has the same for locks that
    only delay sleep, and `shutdowns` for those that delay the shutdown. `sleeps` emits that the
    machine goes to sleep or shuts down, or has woken.

    `session` creates or changes a session and `end` ends one. Each connected client is notified.
    While `is_silent`, requests for the sessions are not answered. While `is_absent`, the bus
    replies that the name has no owner. `questions` counts the requests. `refusals` is the number of
    the next locks against sleep that are refused.
    """

    is_silent = is_absent = False
    questions = refusals = 0

    def __init__(self, stage):
        self.sessions, self.connections, self.guard = {}, [], threading.Lock()
        self.path, self.locks, self.has_locks = os.path.join(stage.folder, "bus"), [], threading.Condition()
        self.delays, self.shutdowns, self.preparing = [], [], {"Sleep": False, "Shutdown": False}
        self.power, self.objects = {}, {}
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        stage.closers.append(self.listener.close)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def environment(self):
        return {"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.path}"}

    def lock(self, number, within=60):
        """Returns the arguments of the lock, and the end of a pipe that reads its end once the lock is released."""
        return self._nth(self.locks, number, within)

    def delay(self, number, within=60):
        """Returns the same for a lock that only delays sleep."""
        return self._nth(self.delays, number, within)

    def shutdown(self, number, within=60):
        """Returns the same for a lock that delays the shutdown."""
        return self._nth(self.shutdowns, number, within)

    def _nth(self, locks, number, within):
        with self.has_locks:
            return locks[number] if self.has_locks.wait_for(lambda: len(locks) > number, within) else None

    def sleeps(self, begins, operation="Sleep"):
        with self.guard:
            self.preparing[operation] = begins
        self._signal("/org/freedesktop/login1", "org.freedesktop.login1.Manager", f"PrepareFor{operation}", "b",
                     struct.pack("<I", begins))

    def wakes_silently(self):
        """Ends the sleep without a signal."""
        with self.guard:
            self.preparing["Sleep"] = False

    def restarts(self):
        """Emits that another process has the name."""
        self.wakes_silently()
        body = padded(padded(text(NAME), 4) + text(":1.2"), 4) + text(":1.3")
        self._signal("/org/freedesktop/DBus", BUS, "NameOwnerChanged", "sss", body, BUS)

    def session(self, name, **values):
        """Creates a session of this user, or changes its properties."""
        with self.guard:
            is_new = name not in self.sessions
            session = self.sessions.setdefault(name, {
                "Class": "user", "Type": "wayland", "State": "active", "LockedHint": False, "IdleHint": False,
                "IdleSinceHint": 0, "uid": os.getuid()})
            session.update(values)
        if is_new:
            self._signal("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "SessionNew",
                         "so", text(name) + bytes(-(len(name) + 5) % 4) + text(self._path(name)))
        else:
            body = text("org.freedesktop.login1.Session")
            body = padded(body, 4) + struct.pack("<I", 0)
            body = padded(body, 8) + struct.pack("<I", 0)
            self._signal(self._path(name), "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as", body)

    def powers(self, **values):
        """Sets the values of the power services. A service with the value None does not exist."""
        with self.guard:
            self.power.update(values)
        for name, value in values.items():
            service, path = POWER[name]
            if value is None:
                # Its connection had the name, which now has no owner.
                body = padded(padded(text(service), 4) + text(":1.2"), 4) + text("")
                self._signal("/org/freedesktop/DBus", BUS, "NameOwnerChanged", "sss", body, BUS)
                continue
            body = padded(text(service), 4) + struct.pack("<I", 0)
            self._signal(path, PROPERTIES, "PropertiesChanged", "sa{sv}as", padded(body, 8) + struct.pack("<I", 0), service)

    def networks(self, *connections):
        """Sets the networks to which NetworkManager is connected: of each the interface, the name,
        and whether it is a VPN."""
        objects = {NETWORKS: {"ActiveConnections": [f"{NETWORKS}/ActiveConnection/{number}" for number in range(len(connections))]}}
        for number, (interface, name, is_vpn) in enumerate(connections):
            device = f"{NETWORKS}/Devices/{number}"
            objects[f"{NETWORKS}/ActiveConnection/{number}"] = {"Id": name, "Vpn": is_vpn, "Devices": [device]}
            objects[device] = {"Interface": interface}
        with self.guard:
            self.objects = objects

    def drop(self, **sessions):
        """Closes all connections. Until they are reopened, sessions change without a signal."""
        with self.guard:
            for name, values in sessions.items():
                self.sessions[name.removeprefix("_")].update(values)
            for connection in self.connections:
                connection.shutdown(socket.SHUT_RDWR)
            self.connections = []

    def end(self, name):
        with self.guard:
            del self.sessions[name]
        self._signal("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "SessionRemoved",
                     "so", text(name) + bytes(-(len(name) + 5) % 4) + text(self._path(name)))

    @staticmethod
    def _path(name):
        return f"/org/freedesktop/login1/session/{name}"

    def _signal(self, path, interface, member, signature, body, sender=NAME):
        signal = message(SIGNAL, 1, {PATH: path, INTERFACE: interface, MEMBER: member, SENDER: sender}, signature, body)
        with self.guard:
            for connection in list(self.connections):
                try:
                    connection.sendall(signal)
                except OSError:
                    self.connections.remove(connection)

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
            with self.guard:
                self.connections.append(connection)
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
        # Enough of the format for these calls. The member is field 3, the only text that can be 'Inhibit'.
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
            if asked[0] == "sleep" and self.refusals:
                self.refusals -= 1
                return self._reply(connection, serial, None, b"")
            mine, theirs = os.pipe()
            self._reply(connection, serial, "h", struct.pack("<I", 0), theirs)
            os.close(theirs)
            with self.has_locks:
                locks = self.shutdowns if asked[0] == "shutdown" else self.delays if asked[3:] == ["delay"] else self.locks
                locks.append((asked, mine))
                self.has_locks.notify_all()
        elif b"\3\1s\0" + text("AddMatch") in head or b"\3\1s\0" + text("RemoveMatch") in head:
            self._reply(connection, serial, "", b"")
        elif b"\3\1s\0" + text("NameHasOwner") in head:
            self._reply(connection, serial, "b", struct.pack("<I", not self.is_absent))
        elif b"\3\1s\0" + text("ListSessions") in head and (self.is_silent or self.is_absent):
            self.questions += 1
            if self.is_absent:
                self._reply(connection, serial, None, b"")
        elif b"\3\1s\0" + text("ListSessions") in head:
            entries = b""
            with self.guard:
                for name, session in self.sessions.items():
                    entries = padded(entries, 8) + text(name)
                    entries = padded(entries, 4) + struct.pack("<I", session["uid"])
                    for value in ("user", "seat0", self._path(name)):
                        entries = padded(entries, 4) + text(value)
            self._reply(connection, serial, "a(susso)", struct.pack("<II", len(entries), 0) + entries)
        elif b"\3\1s\0" + text("Get") in head:
            asked = Reader(data[start:start + body])
            service, name = asked.text(), asked.text()
            with self.guard:
                value = self.power.get(name) if POWER.get(name, [None])[0] == service else None
                value = self.preparing.get(name.removeprefix("PreparingFor"), value)
                for path, values in self.objects.items():
                    if b"\1\1o\0" + text(path) in head and name in values:
                        value = values[name]
            if value is None:
                return self._reply(connection, serial, None, b"")
            signature, _, content = variant(value)
            self._reply(connection, serial, "v", padded(signature, 4) + content)
        elif b"\3\1s\0" + text("GetAll") in head:
            with self.guard:
                found = [dict(session) for name, session in self.sessions.items()
                         if b"\1\1o\0" + text(self._path(name)) in head]
            if not found:
                return self._reply(connection, serial, None, b"")
            del found[0]["uid"]
            self._reply(connection, serial, "a{sv}", properties(found[0]))
        elif not flags & NO_REPLY:
            self._reply(connection, serial, None, b"")

    def _reply(self, connection, serial, signature, body, *descriptors):
        fields = {ANSWERS: serial, SENDER: NAME}
        if signature is None:
            fields[ERROR_NAME] = "org.freedesktop.DBus.Error.ServiceUnknown"
        if descriptors:
            fields[DESCRIPTORS] = len(descriptors)
        reply = message(ERROR if signature is None else REPLY, 1, fields, signature or "", body)
        passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        with self.guard:
            connection.sendmsg([reply], passed)


def sleep(logind, daemon, number=0):
    """Lets the machine of a daemon sleep, as soon as it permits it."""
    found = logind.delay(number)
    expect(found, "no lock delays sleep")
    lock = found[1]
    logind.sleeps(True)
    expect(select.select([lock], [], [], 60)[0], "sleep is delayed permanently")
    os.close(lock)
    daemon.process.send_signal(signal.SIGSTOP)


def wake(logind, daemon):
    daemon.process.send_signal(signal.SIGCONT)
    logind.sleeps(False)
