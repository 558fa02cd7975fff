"""Simulated media players on a session bus, and a client that reads real ones. Reads a JSON list per line: a command and its
arguments. Writes its result as a line. Needs PyGObject."""

import json
import re
import sys

from gi.repository import Gio, GLib

PREFIX, PATH = "org.mpris.MediaPlayer2.", "/org/mpris/MediaPlayer2"
ROOT, PLAYER = PREFIX[:-1], PREFIX + "Player"
PROPERTIES = "org.freedesktop.DBus.Properties"
METHODS = "".join(f'<method name="{name}"/>' for name in ("Play", "Pause", "PlayPause", "Next", "Previous", "Stop"))
INTERFACES = f"""<node>
  <interface name="{PROPERTIES}">
    <method name="GetAll"><arg type="s" direction="in"/><arg type="a{{sv}}" direction="out"/></method>
    <method name="Get"><arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="v" direction="out"/></method>
    <method name="Set"><arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="v" direction="in"/></method>
  </interface>
  <interface name="{PLAYER}">{METHODS}
    <method name="OpenUri"><arg type="s" direction="in"/></method>
    <method name="SetPosition"><arg type="o" direction="in"/><arg type="x" direction="in"/></method>
  </interface>
</node>"""


def variant(text):
    return GLib.Variant.parse(None, text, None, None)


def connect():
    flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
    address = Gio.dbus_address_get_for_bus_sync(Gio.BusType.SESSION, None)
    return Gio.DBusConnection.new_for_address_sync(address, flags, None, None)


class SimulatedPlayer:
    """A player with a connection of its own. Opening an address plays it from the beginning."""

    def __init__(self, stem, values, root):
        self.values = {name: variant(text) for name, text in values.items()}
        self.root = {name: variant(text) for name, text in root.items()}
        self.calls, self.hangs, self.bus = [], False, connect()
        for interface in Gio.DBusNodeInfo.new_for_xml(INTERFACES).interfaces:
            self.bus.register_object(PATH, interface, self._called, None, None)
        self.bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
                           GLib.Variant("(su)", (PREFIX + stem, 4)), None, Gio.DBusCallFlags.NONE, -1, None)

    def set(self, values):
        values = {name: variant(text) for name, text in values.items()}
        self.values.update(values)
        self.signal(GLib.Variant("(sa{sv}as)", (PLAYER, values, [])))

    def signal(self, parameters):
        self.bus.emit_signal(None, PATH, PROPERTIES, "PropertiesChanged", parameters)
        self.bus.flush_sync(None)

    def _called(self, _bus, _sender, _path, _interface, method, parameters, invocation):
        words = parameters.unpack()
        if self.hangs:
            return
        if method == "GetAll":
            values = {ROOT: self.root, PLAYER: self.values}.get(words[0], {})
            return invocation.return_value(GLib.Variant("(a{sv})", (values,)))
        self.calls.append([method, *words])
        if method == "Get":
            return invocation.return_dbus_error("org.freedesktop.DBus.Error.UnknownProperty", "no such property")
        invocation.return_value(None)
        if method == "OpenUri":
            url = GLib.Variant("s", words[0]).print_(True)
            metadata = f"{{'xesam:url': <{url}>, 'mpris:trackid': <objectpath '/track/1'>}}"
            self.set({"PlaybackStatus": "'Playing'", "Metadata": metadata, "Position": "int64 0"})
        elif method == "SetPosition":
            self.values["Position"] = GLib.Variant("x", words[1])
        elif method in ("Play", "Pause"):
            self.set({"PlaybackStatus": "'Playing'" if method == "Play" else "'Paused'"})


class Commands:
    def __init__(self):
        self.bus, self.players, self.tracks = Gio.bus_get_sync(Gio.BusType.SESSION, None), {}, []
        self.bus.signal_subscribe(None, None, "TrackAdded", PATH, None, Gio.DBusSignalFlags.NONE,
                                  lambda *words: self.tracks.extend(re.findall(r"<'([a-z]+://[^']*)'>", words[5].print_(False))))

    def state(self, stem):
        """The properties of a player; null if it is not there."""
        try:
            return self._call(stem, PROPERTIES, "GetAll", GLib.Variant("(s)", (PLAYER,)))[0]
        except GLib.Error:
            return None

    def added(self):
        """The addresses that were added to lists of tracks. VLC has another interface and form of this signal."""
        return self.tracks

    def call(self, stem, method, arguments=None):
        return self._call(stem, PLAYER, method, arguments and variant(arguments))

    def quit(self, stem):
        self._call(stem, ROOT, "Quit", None)

    def owned(self):
        return list(self.players)

    def own(self, stem, values, root):
        self.players[stem] = SimulatedPlayer(stem, values, root)

    def set(self, stem, values):
        self.players[stem].set(values)

    def signal(self, stem, parameters):
        self.players[stem].signal(variant(parameters))

    def hang(self, stem):
        self.players[stem].hangs = True

    def calls(self, stem):
        return self.players[stem].calls

    def leave(self, stem):
        self.players.pop(stem).bus.close_sync(None)

    def _call(self, stem, interface, method, arguments):
        return self.bus.call_sync(PREFIX + stem, PATH, interface, method, arguments, None, Gio.DBusCallFlags.NO_AUTO_START,
                                  5000, None).unpack()


def main():
    commands, loop = Commands(), GLib.MainLoop()

    def readable(*_):
        line = sys.stdin.readline()
        if not line:
            loop.quit()
            return False
        name, *words = json.loads(line)
        try:
            result = getattr(commands, name)(*words)
        except GLib.Error as error:
            result = {"error": error.message}
        print(json.dumps(result), flush=True)
        return True

    GLib.io_add_watch(sys.stdin.fileno(), GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN | GLib.IOCondition.HUP, readable)
    loop.run()


if __name__ == "__main__":
    main()
