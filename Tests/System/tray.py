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


class Caller(BusClient):
    """Calls methods and checks their replies."""

    def __init__(self, bus):
        self.results = queue.Queue()
        super().__init__(bus)

    def _handle(self, message):
        if message["kind"] == ERROR:
            self.results.put(Refused(message["error"]))
        elif message["kind"] == REPLY and message["sender"] != "org.freedesktop.DBus":
            self.results.put(message)
        else:
            super()._handle(message)

    def request(self, name, path, interface, member, signature="", body=None, kinds=""):
        """Calls a method of a program. Returns the results of these types."""
        self._send(CALL, {1: path, 2: interface, 3: member, 6: name}, signature, (body or Writer()).data)
        return self._result(kinds)

    def _result(self, kinds):
        result = self.results.get(timeout=60)
        if isinstance(result, Refused):
            raise result
        expect(result.get(8, "") == kinds, f"{kinds} expected: {result}")
        return Reader(result["body"]).values(kinds)

    def value(self, name, path, interface, property):
        """Returns a property of a program."""
        return self.request(name, path, PROPERTIES, "Get", "ss", Writer().text(interface).text(property), "v")[0]


class Icon(Caller):
    """Reads the icon and its menu. `registered` has the icon of each registration: the bus name and the path. `signals` has
    the icon's signals: the member, and the arguments."""

    def __init__(self, bus):
        self.registered, self.signals, self.changed = [], [], threading.Condition()
        super().__init__(bus)
        self.call("AddMatch", "s", Writer().text("type='signal',path_namespace='/StatusNotifierItem'").data)

    def _handle(self, message):
        super()._handle(message)
        if message["kind"] == SIGNAL and message["path"].startswith("/StatusNotifierItem"):
            with self.changed:
                self.signals.append((message["member"], Reader(message["body"]).values(message.get(8, ""))))
                self.changed.notify_all()

    def until(self, condition, what, within=30):
        with self.changed:
            if not self.changed.wait_for(condition, within):
                raise Failure(f"timed out waiting for {what}; registered: {self.registered}, signals: {self.signals}")

    def find(self, within=30):
        """Waits until a real tray has exactly one icon. Returns the bus name of the tray."""
        limit = time.monotonic() + within
        while True:
            try:
                items = self.value(WATCHER, "/StatusNotifierWatcher", WATCHER, "RegisteredStatusNotifierItems")
            except Refused as error:
                items = str(error)
            if isinstance(items, list) and len(items) == 1:
                name, slash, path = items[0].partition("/")
                self.registered = [(name, slash + path)]
                return Reader(self.call("GetNameOwner", "s", Writer().text(WATCHER).data)).text()
            expect(time.monotonic() < limit, f"the tray has {items}")
            time.sleep(0.05)  # There is no tray yet whose signals could be awaited.

    def ask(self, member, signature, body, kinds, path="/StatusNotifierItem/Menu", interface=MENU):
        """Calls a method of the icon. Returns the results of these types."""
        return self.request(self.registered[-1][0], path, interface, member, signature, body, kinds)

    def property(self, name, path="/StatusNotifierItem", interface=ITEM):
        return self.value(self.registered[-1][0], path, interface, name)

    def layout(self, parent=0, depth=-1, names=()):
        """Returns the revision and the tree: an id, properties and children."""
        return self.ask("GetLayout", "iias", Writer().number(parent).number(depth & 0xFFFFFFFF).texts(names), LAYOUT)

    def items(self):
        """Returns the id of each item by its label."""
        return {item[1].get("label", ""): item[0] for item in self.layout()[1][2]}

    def menu(self, condition, what, within=30):
        """Waits until the labels meet a condition. Reads them again only after a signal, as panels do. Returns them."""
        limit = time.monotonic() + within
        while True:
            with self.changed:
                seen = len(self.signals)
            labels = list(self.items())
            if condition(labels):
                return labels
            self.until(lambda: len(self.signals) > seen, f"{what} in {labels}", max(0, limit - time.monotonic()))

    @staticmethod
    def event(id, name="clicked"):
        return Writer().number(id).text(name).signature("i").number(0).number(7)

    def click(self, id):
        self.ask("Event", "isvu", self.event(id), "")


class Tray(Icon):
    """Owns the watcher's name."""

    def __init__(self, bus, refuses=False):
        self.refuses, self.refused = refuses, 0
        super().__init__(bus)
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

    def icon(self, count=1):
        """Waits for a registration, and returns the properties that were read during it."""
        self.until(lambda: len(self.registered) >= count, "a registration")
        return self._result("a{sv}")[0]

    def without(self, name, within=30):
        """Waits until a program has left the bus."""
        limit = time.monotonic() + within
        while Reader(self.call("NameHasOwner", "s", Writer().text(name).data)).number():
            expect(time.monotonic() < limit, f"{name} stays on the bus")
            time.sleep(0.05)


class Monitor(BusClient):
    """Counts all messages on the bus."""

    def __init__(self, bus):
        self.messages, self.seen = [], threading.Event()
        super().__init__(bus)
        self.messages.clear()
        self.seen.clear()
        self._send(CALL, {1: "/org/freedesktop/DBus", 2: "org.freedesktop.DBus.Monitoring", 3: "BecomeMonitor",
                          6: "org.freedesktop.DBus"}, "asu", Writer().texts([]).number(0).data)
        self.replies.get(timeout=60)

    def _handle(self, message):
        if message["kind"] in (REPLY, ERROR) and message["to"] == getattr(self, "name", message["to"]):
            self.replies.put(message["body"])
        # A monitor loses its own name.
        elif not (str(message.get("member")).startswith("Name") and Reader(message["body"]).text() == getattr(self, "name", "")):
            self.messages.append((message.get("interface"), message.get("member"), message["sender"]))
            self.seen.set()
