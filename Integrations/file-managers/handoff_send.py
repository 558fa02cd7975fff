"""*Send to Device* in the menus of Nautilus, Caja and Thunar, which load this file. The window `handoff-settings` sends.

The first menu starts a subscription to the devices, and later menus use its latest list. A menu never waits for the daemon.
"""

import importlib
import os
import sys
import time

import gi
from gi.repository import Gio, GLib, GObject

# The file manager has loaded its own module before its extensions.
_NAME = next(name for name in ("Nautilus", "Caja", "Thunarx") if f"gi.repository.{name}" in sys.modules)
_API = sys.modules[f"gi.repository.{_NAME}"]
WINDOW = "dev.handoff1.Settings"
# More devices are only in the dialog.
MAX_SHOWN, MAX_LABEL = 20, 80
# Milliseconds before each attempt to restore a connection that has lasted for some seconds.
DELAYS, SETTLED = (1000, 2000, 4000, 8000, 16000), 10
# Seconds to connect: a daemon that hangs must not block the file manager.
CONNECT_TIMEOUT = 0.2
# Milliseconds to start the window.
START_TIMEOUT = 60_000


def bus_call(name, path, method, parameters, done, flags=Gio.DBusCallFlags.NONE):
    """Calls a method, given with its interface. Then calls `done` with the reply, or with None and the error."""
    interface, _, member = method.rpartition(".")

    def connected(_source, result):
        try:
            bus = Gio.bus_get_finish(result)
        except GLib.Error as error:
            return done(None, error)
        bus.call(name, path, interface, member, parameters, None, flags, START_TIMEOUT, None, replied)

    def replied(bus, result):
        try:
            reply = bus.call_finish(result)
        except GLib.Error as error:
            return done(None, error)
        done(reply, None)

    Gio.bus_get(Gio.BusType.SESSION, None, connected)


class Devices:
    """The other devices of the account: `all` has the id and the label of each."""

    def __init__(self):
        self.all = []
        self._calls, self._is_active, self._since, self._delays = {}, False, None, []

    def follow(self):
        """Subscribes, unless this has been done. Returns immediately."""
        if not self._is_active:
            self._is_active = True
            GLib.idle_add(self._start)

    def _start(self):
        """Connects, unless this would start the daemon: while the service manager listens for it."""
        if os.environ.get("HANDOFF_SOCKET"):
            self._connect()
        else:
            bus_call(
                "org.freedesktop.systemd1", "/org/freedesktop/systemd1/unit/handoffd_2esocket",
                "org.freedesktop.DBus.Properties.Get",
                GLib.Variant("(ss)", ("org.freedesktop.systemd1.Unit", "SubState")),
                lambda reply, _: self._lost() if reply and reply.unpack() == ("listening",) else self._connect(),
                Gio.DBusCallFlags.NO_AUTO_START)
        return GLib.SOURCE_REMOVE

    def _connect(self):
        self._call("FollowChanges", self._changed, more=True)

    def _changed(self, replies):
        self._since = self._since or time.monotonic()  # It is connected.
        if any("devices" in reply.get("changed", ()) for reply in replies):
            self._call("ListDevices", self._listed)

    def _listed(self, replies):
        others = [each for reply in replies for each in reply.get("devices", ()) if not each["self"]]
        others.sort(key=lambda each: (not each["online"], str(each.get("label") or each["name"]).casefold()))
        self.all = [(each["id"], _label(each)) for each in others]

    def _call(self, method, replied, **flags):
        """Calls a method of the control socket, in place of an earlier call of it."""
        handoff = _handoff()
        self._end(method)
        try:
            call = handoff.Follow("dev.handoff1.Control." + method, {}, timeout=CONNECT_TIMEOUT, **flags)
        except (handoff.Refused, handoff.Unreachable):
            return self._lost()

        def readable(*_):
            try:
                replies = list(iter(call.read, None))
            except handoff.Refused:
                # Without an account there is no list.
                self.all = []
                return self._end(method) if method == "ListDevices" else self._lost()
            except handoff.Unreachable:
                return self._lost()
            if call.done:
                self._end(method)
            replied(replies)
            return not call.done

        events = GLib.IOCondition.IN | GLib.IOCondition.HUP
        self._calls[method] = call, GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, call.fileno(), events, readable)

    def _end(self, method):
        call, source = self._calls.pop(method, (None, None))
        if call:
            GLib.source_remove(source)
            call.close()

    def _lost(self):
        """Connects again a few times if the daemon has been running. Otherwise the next menu does."""
        for method in list(self._calls):
            self._end(method)
        if self._since and time.monotonic() - self._since >= SETTLED:
            self._delays = list(DELAYS)
        self._since = None
        if self._delays:
            GLib.timeout_add(self._delays.pop(0), self._start)
        else:
            self.all, self._is_active = [], False


def _module(name):
    """Returns a module of ours: for calls of the daemon, or for translations. It is not needed before the first menu."""
    own = os.path.dirname(os.path.realpath(__file__))
    prefix = os.path.dirname(os.path.dirname(own))
    for folder in (own, os.path.join(prefix, "lib", "handoff"), os.path.join(prefix, "Integrations", "python")):
        if folder not in sys.path:
            sys.path.append(folder)
    return importlib.import_module(name)


def _handoff():
    return _module("handoff")


def _(text):
    return _module("handoff_locale")._(text)


def _label(device):
    text = _handoff().visible(device.get("label") or device["name"]).strip()
    text = text[:MAX_LABEL - 1] + "…" if len(text) > MAX_LABEL else text
    text = text or device["id"][:7]
    return text if device["online"] else _("{device} (offline)").format(device=text)


def _token():
    """Returns a token with which the window gets the focus, or None."""
    try:
        is_gtk4 = _NAME == "Nautilus" and not _API._version.startswith("3")
        gi.require_version("Gdk", "4.0" if is_gtk4 else "3.0")
        from gi.repository import Gdk
        context = Gdk.Display.get_default().get_app_launch_context()
        return context.get_startup_notify_id(Gio.DesktopAppInfo.new(WINDOW + ".desktop"), [])
    except (ImportError, ValueError, TypeError, AttributeError):
        return None


def send(device, files):
    """Opens the dialog of the window with these files, and with a device unless it is empty."""
    token = _token()
    data = {key: GLib.Variant("s", token) for key in ("activation-token", "desktop-startup-id") if token}
    choice = GLib.Variant("(sas)", (device, [each.get_uri() for each in files]))
    bus_call(WINDOW, "/" + WINDOW.replace(".", "/"), "org.freedesktop.Application.ActivateAction",
             GLib.Variant("(sava{sv})", ("send-to", [choice], data)), _sent)


def _sent(_reply, error):
    if error:
        print(f"handoff: cannot open {WINDOW}: {error.message}", file=sys.stderr)
        name = "org.freedesktop.Notifications"
        bus_call(name, "/" + name.replace(".", "/"), name + ".Notify", GLib.Variant("(susssasa{sv}i)", (
            "Handoff", 0, WINDOW, _("Could not open the window of Handoff"), "", [], {}, -1)), lambda *_: None)


def _is_off():
    """Returns whether the user has switched the entry off, by an empty file in place of this one."""
    path = os.path.join(GLib.get_user_data_dir(), f"{_NAME.lower()}-python", "extensions", os.path.basename(__file__))
    return os.path.exists(path) and os.path.getsize(path) == 0


_devices = Devices()
# Nautilus and Thunar load the user's file instead. Caja loads it after this one.
_IS_OFF = _is_off()


class SendMenu(GObject.GObject, _API.MenuProvider):
    """The entry in the menu of selected files: a submenu of devices, or without devices an entry for the dialog."""

    def get_file_items(self, *arguments):
        # There is a window before the files, except in Nautilus 43 and later. The list is empty when a folder is opened.
        files = arguments[-1]
        if not files or _IS_OFF:
            return []
        _devices.follow()
        if not _devices.all:
            return [self._item("send", _("Send to Device…"), "", files)]
        menu = _API.Menu()
        for id, label in _devices.all[:MAX_SHOWN]:
            menu.append_item(self._item(id, label, id, files))
        # Caja requests the entry when files are selected, and again when an item is chosen, which it finds by its name.
        menu.append_item(self._item("send", _("Choose Devices…"), "", files))
        # It does not accept another kind of item under the same name.
        item = self._item("menu", _("Send to Device"))
        (item.set_menu if _NAME == "Thunarx" else item.set_submenu)(menu)
        return [item]

    get_file_menu_items = get_file_items  # The name in Thunar.

    def _item(self, name, label, device=None, files=()):
        tip = {"tooltip" if _NAME == "Thunarx" else "tip": ""}
        # A single underscore marks an access key.
        item = _API.MenuItem(name=f"Handoff::{name}", label=label.replace("_", "__"), icon=WINDOW, **tip)
        if device is not None:
            item.connect("activate", lambda *_: send(device, files))
        return item
