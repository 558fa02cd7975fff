"""A bus of the user with a simulated notification server: the calls that it receives, and the user's actions."""

import os
import queue
import shutil
import socket
import struct
import subprocess
import threading
import time

from bus import CALL, ERROR, NO_REPLY, REPLY, SIGNAL, Reader, Writer, message
from harness import Failure, Skip, expect, virtual_screen

NAME = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
EXPIRED, DISMISSED, CLOSED = 1, 2, 3
ALL = ("actions", "body", "body-markup")

CONFIGURATION = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={path}</listen>
  <auth>EXTERNAL</auth>
  <servicedir>{services}</servicedir>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
</busconfig>
"""


class SessionBus:
    """A dbus-daemon of its own, which can start no services unless `activate` is set."""

    def __init__(self, stage, start=True):
        if not shutil.which("dbus-daemon"):
            raise Skip("dbus-daemon is not installed")
        self.stage = stage
        self.path = os.path.join(stage.folder, "session-bus")
        self.services = os.path.join(stage.folder, "services")
        os.mkdir(self.services)
        self.file = stage.file("bus.conf", CONFIGURATION.format(path=self.path, services=self.services))
        self.process = None
        if start:
            self.start()

    @property
    def environment(self):
        return {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.path}"}

    def start(self, environment=None):
        """Starts the bus. `environment` is that of its services."""
        read, write = os.pipe()
        self.process = subprocess.Popen(
            ["dbus-daemon", f"--config-file={self.file}", "--nofork", "--nopidfile", f"--print-address={write}"],
            pass_fds=[write], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.stage.processes.append(self.process)
        os.close(write)
        with os.fdopen(read) as address:
            expect(address.readline(), "the bus did not start")

    def stop(self):
        self.process.terminate()
        self.process.wait(60)
        if os.path.exists(self.path):
            os.unlink(self.path)

    def activate(self, program):
        """Makes the bus start a program when a notification server is called and there is none."""
        with open(os.path.join(self.services, f"{NAME}.service"), "w") as file:
            file.write(f"[D-BUS Service]\nName={NAME}\nExec={program}\n")


class BusClient:
    """A connection to the bus that can make calls, receive calls, and send signals."""

    def __init__(self, bus):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(bus.path)
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        expect(self._line().startswith(b"OK"), "the bus refused the authentication")
        self.socket.sendall(b"BEGIN\r\n")
        self.serial, self.guard, self.replies, self.buffer = 0, threading.Lock(), queue.Queue(), b""
        threading.Thread(target=self._serve, daemon=True).start()
        self.name = Reader(self.call("Hello")).text()

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()

    def call(self, member, signature="", body=b"", target="org.freedesktop.DBus", path="/org/freedesktop/DBus",
             interface=None):
        self._send(CALL, {1: path, 2: interface or target, 3: member, 6: target}, signature, body)
        return self.replies.get(timeout=60)

    def signal(self, member, signature, body, target=None, path=PATH, interface=NAME):
        fields = {1: path, 2: interface, 3: member}
        if target:
            fields[6] = target
        self._send(SIGNAL, fields, signature, body)

    def reply(self, call, signature="", body=b""):
        self._send(REPLY, {5: call["serial"], 6: call["sender"]}, signature, body)

    def refuse(self, call, error):
        self._send(ERROR, {4: error, 5: call["serial"], 6: call["sender"]}, "s", Writer().text("no").data)

    def called(self, call):
        """A received call. `call` has its fields."""

    def _send(self, kind, fields, signature, body):
        with self.guard:
            self.serial += 1
            self.socket.sendall(message(kind, self.serial, fields, signature, body, flags=0))

    def _line(self):
        line = b""
        while not line.endswith(b"\r\n"):
            piece = self.socket.recv(1)
            expect(piece, "the bus closed the connection")
            line += piece
        return line

    def _serve(self):
        try:
            while True:
                self._handle(self._message())
        except (OSError, EOFError):
            pass

    def _message(self):
        head = self._exactly(16)
        body, serial, fields = struct.unpack("<III", head[4:16])
        rest = self._exactly(fields + -fields % 8 + body)
        message = {"kind": head[1], "flags": head[2], "serial": serial, "sender": ""}
        reader = Reader(head[:8] * 2 + rest[:fields])  # Sixteen bytes in front, for the alignment.
        reader.at = 16
        while reader.at < len(reader.data):
            reader.align(8)
            code = reader.data[reader.at]
            reader.at += 1
            value = reader.variant()
            names = {1: "path", 2: "interface", 3: "member", 4: "error", 5: "answers", 6: "to", 7: "sender"}
            message[names.get(code, code)] = value
        message["body"] = rest[fields + -fields % 8:]
        return message

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data

    def _handle(self, message):
        if message["kind"] in (REPLY, ERROR):
            self.replies.put(message["body"])
        elif message["kind"] == CALL:
            self.called(message)


class NotificationServer(BusClient):
    """Shows nothing, and records everything. `seen` has each Notify, and each CloseNotification as the id only."""

    def __init__(self, bus, capabilities=ALL, first=1):
        self.capabilities, self.last, self.standing, self.queries, self.refused = capabilities, first - 1, {}, 0, 0
        self.seen, self.changed, self.deaf, self.refuses, self.client = [], threading.Condition(), False, False, None
        super().__init__(bus)
        expect(Reader(self.call("RequestName", "su", Writer().text(NAME).number(4).data)).number() == 1, "the name is in use")

    def called(self, call):
        reader = Reader(call["body"])
        with self.changed:
            if call["member"] == "GetCapabilities":
                self.queries += 1
                self.client = call["sender"]
                self.reply(call, "as", Writer().texts(self.capabilities).data)
            elif call["member"] == "Notify" and not self.refuses:
                self.client = call["sender"]
                shown = {"app": reader.text(), "replaces": reader.number(), "icon": reader.text(),
                         "summary": reader.text(), "body": reader.text(), "actions": reader.texts(),
                         "hints": reader.entries(), "timeout": reader.unpack("<i", 4), "at": time.monotonic()}
                if shown["replaces"] in self.standing:
                    shown["id"] = shown["replaces"]
                else:
                    self.last += 1
                    shown["id"] = self.last
                self.standing[shown["id"]] = shown
                self.seen.append(shown)
                if not self.deaf:
                    self.reply(call, "u", Writer().number(shown["id"]).data)
            elif call["member"] == "CloseNotification":
                id = reader.number()
                self.seen.append(id)
                self.standing.pop(id, None)
                self._closed(id, CLOSED)
                if not call["flags"] & NO_REPLY:
                    self.reply(call)
            else:
                self.refused += call["member"] == "Notify"
                self.refuse(call, "org.freedesktop.DBus.Error.UnknownMethod")
            self.changed.notify_all()

    def _closed(self, id, reason):
        self.signal("NotificationClosed", "uu", Writer().number(id).number(reason).data)

    def wait(self, condition, what, within=60):
        """Waits until a condition of the notifications on the screen holds."""
        with self.changed:
            if not self.changed.wait_for(lambda: condition(self), within):
                raise Failure(f"timed out waiting for {what}; shown: {self.standing}, seen: {self.seen}")

    def one(self, within=60, **fields):
        """Waits until there is exactly one notification, with these fields. Returns it."""
        def fits(_):
            return len(self.standing) == 1 and all(
                next(iter(self.standing.values())).get(key) == value for key, value in fields.items())
        self.wait(fits, f"one notification with {fields}", within)
        with self.changed:
            return next(iter(self.standing.values()))

    def none(self, within=60):
        """Waits until there is no notification."""
        self.wait(lambda _: not self.standing, "an empty screen", within)

    def notified(self):
        with self.changed:
            return [entry for entry in self.seen if isinstance(entry, dict)]

    # The user's actions.

    def choose(self, id, key, token=None):
        """Chooses an action as servers do: the token first, then the action, then the end."""
        if token is not None:
            self.signal("ActivationToken", "us", Writer().number(id).text(token).data)
        self.signal("ActionInvoked", "us", Writer().number(id).text(key).data)
        self.end(id, DISMISSED)

    def end(self, id, reason):
        with self.changed:
            self.standing.pop(id, None)
        self._closed(id, reason)


class Dunst:
    """A real notification daemon, on a virtual display."""

    CONTROL = "org.dunstproject.cmd0"

    def __init__(self, stage, bus, look="", pixels=None):
        """`look` is its configuration. The folder `pixels` contains the display's memory
        (Xvfb_screen0, in the xwd format)."""
        if not shutil.which("dunst"):
            raise Skip("dunst is not installed (scripts/setup --tests)")
        display = virtual_screen(stage, "640x480x24", *(["-fbdir", pixels] if pixels else []))
        stage.processes.append(subprocess.Popen(
            ["dunst", "-config", stage.file("dunstrc", look)],
            env={"PATH": os.environ["PATH"], "DISPLAY": display, "HOME": stage.folder, **bus.environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        self.client = BusClient(bus)

    def displayed(self, count, within=60):
        """Waits until this many notifications are on the screen."""
        limit = time.monotonic() + within
        seen = None
        while time.monotonic() < limit:
            body = Writer().text(self.CONTROL).text("displayedLength").data
            reply = self.client.call("Get", "ss", body, NAME, PATH, "org.freedesktop.DBus.Properties")
            if reply[:1] == b"\1":
                seen = Reader(reply).variant()
                if seen == count:
                    return
            time.sleep(0.05)  # There is no event for it.
        raise Failure(f"{count} notifications expected on the screen, not {seen}")

    def click(self):
        """Clicks on the first notification."""
        self.client.call("NotificationAction", "u", Writer().number(0).data, NAME, PATH, self.CONTROL)

    def menu(self):
        """Opens the menu of all actions, which is the program `dmenu` of the configuration. Its output chooses one."""
        self.client.call("ContextMenuCall", "", b"", NAME, PATH, self.CONTROL)
