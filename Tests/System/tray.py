"""A simulated tray, which reads the icon as panels do, and a monitor of the bus."""

import queue
import threading
import time

from bus import CALL, ERROR, REPLY, SIGNAL, Reader, Writer
from harness import Failure, expect
from notifications import BusClient

WATCHER = "org.kde.StatusNotifierWatcher"
ITEM = "org.kde.StatusNotifierItem"
MENU = "com.canonical.dbusmenu"
PROPERTIES = "org.freedesktop.DBus.Properties"
LAYOUT = "u(ia{sv}av)"


class Refused(Exception):
    """A D-Bus error."""


class Tray(BusClient):
    """Owns the watcher's name. `registered` has the icon of each registration: the bus name and the path. `signals` has
    the icon's signals: the member, and the arguments."""

    def __init__(self, bus, refuses=False):
        self.refuses, self.registered, self.refused, self.signals = refuses, [], 0, []
        self.changed, self.kinds, self.results = threading.Condition(), {}, queue.Queue()
        super().__init__(bus)
        self.call("AddMatch", "s", Writer().text("type='signal',path_namespace='/StatusNotifierItem'").data)
        owned = Reader(self.call("RequestName", "su", Writer().text(WATCHER).number(4).data)).number()
        expect(owned == 1, "the name is in use")

    def called(self, call):
        with self.changed:
            if call["member"] != "RegisterStatusNotifierItem" or self.refuses:
                self.refused += 1
                self.refuse(call, "org.freedesktop.DBus.Error.UnknownObject")
            else:
                # Before the reply, as panels do that follow the watcher's signal.
                self.registered.append((call["sender"], Reader(call["body"]).text()))
                self._send(CALL, {1: "/StatusNotifierItem", 2: PROPERTIES, 3: "GetAll", 6: call["sender"]}, "s",
                           Writer().text(ITEM).data)
                self.reply(call)
            self.changed.notify_all()

    def _handle(self, message):
        if message["kind"] == ERROR:
            self.results.put(Refused(message["error"]))
        elif message["kind"] == REPLY:
            self.results.put(message)
            self.replies.put(message["body"])
        elif message["kind"] == CALL:
            self.called(message)
        elif message["kind"] == SIGNAL and message["path"].startswith("/StatusNotifierItem"):
            with self.changed:
                self.signals.append((message["member"], Reader(message["body"]).values(message.get(8, ""))))
                self.changed.notify_all()

    def until(self, condition, what, within=20):
        with self.changed:
            if not self.changed.wait_for(condition, within):
                raise Failure(f"timed out waiting for {what}; registered: {self.registered}, signals: {self.signals}")

    def icon(self, count=1):
        """Waits for a registration, and returns the properties that were read during it."""
        self.until(lambda: len(self.registered) >= count, "a registration")
        return self._result("a{sv}")[0]

    def _result(self, kinds):
        while True:
            result = self.results.get(timeout=10)
            if isinstance(result, Refused):
                raise result
            if result["sender"] != "org.freedesktop.DBus":
                expect(result.get(8, "") == kinds, f"{kinds} expected: {result}")
                return Reader(result["body"]).values(kinds)

    def ask(self, member, signature, body, kinds, path="/StatusNotifierItem/Menu", interface=MENU):
        """Calls a method of the icon. Returns the results of these types."""
        fields = {1: path, 2: interface, 3: member, 6: self.registered[-1][0]}
        self._send(CALL, fields, signature, body.data)
        return self._result(kinds)

    def property(self, name, path="/StatusNotifierItem", interface=ITEM):
        return self.ask("Get", "ss", Writer().text(interface).text(name), "v", path, PROPERTIES)[0]

    def layout(self, parent=0, depth=-1, names=()):
        """Returns the revision and the tree: an id, properties and children."""
        return self.ask("GetLayout", "iias", Writer().number(parent).number(depth & 0xFFFFFFFF).texts(names), LAYOUT)

    def items(self):
        """Returns the id of each item by its label."""
        return {item[1].get("label", ""): item[0] for item in self.layout()[1][2]}

    def menu(self, condition, what, within=20):
        """Waits until the labels meet a condition. Reads them again only after a signal, as panels do. Returns them."""
        limit = time.monotonic() + within
        while True:
            with self.changed:
                seen = len(self.signals)
            labels = list(self.items())
            if condition(labels):
                return labels
            self.until(lambda: len(self.signals) > seen, f"{what} in {labels}", max(0, limit - time.monotonic()))

    def without(self, name, within=20):
        """Waits until a program has left the bus."""
        limit = time.monotonic() + within
        while Reader(self.call("NameHasOwner", "s", Writer().text(name).data)).number():
            expect(time.monotonic() < limit, f"{name} stays on the bus")
            time.sleep(0.05)

    @staticmethod
    def event(id, name="clicked"):
        return Writer().number(id).text(name).signature("i").number(0).number(7)

    def click(self, id):
        self.ask("Event", "isvu", self.event(id), "")


class Monitor(BusClient):
    """Counts all messages on the bus."""

    def __init__(self, bus):
        self.messages, self.seen = [], threading.Event()
        super().__init__(bus)
        self.messages.clear()
        self.seen.clear()
        self._send(CALL, {1: "/org/freedesktop/DBus", 2: "org.freedesktop.DBus.Monitoring", 3: "BecomeMonitor",
                          6: "org.freedesktop.DBus"}, "asu", Writer().texts([]).number(0).data)
        self.replies.get(timeout=10)

    def _handle(self, message):
        if message["kind"] in (REPLY, ERROR) and message["to"] == getattr(self, "name", message["to"]):
            self.replies.put(message["body"])
        # A monitor loses its own name.
        elif not (str(message.get("member")).startswith("Name") and Reader(message["body"]).text() == getattr(self, "name", "")):
            self.messages.append((message.get("interface"), message.get("member"), message["sender"]))
            self.seen.set()
