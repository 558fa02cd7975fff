"""A simulated file manager, which loads an extension as nautilus-python, caja-python and thunarx-python do.

    file_manager.py NAME FILE [CONSTANT=VALUE…]

Each line of input is a JSON list: `["menu", [URI…]]` opens the menu of these files and prints its labels, with those of
a submenu as a list; `["activate", LABEL]` chooses an item of the latest menu, and prints its name.
"""

import importlib
import json
import os
import sys
import types

from gi.repository import GLib, GObject

NAME, FILE = sys.argv[1:3]
TIP = "tooltip" if NAME == "Thunarx" else "tip"


class Menu:
    def __init__(self):
        self.items = []

    def append_item(self, item):
        self.items.append(item)


class MenuItem(GObject.GObject):
    __gsignals__ = {"activate": (GObject.SignalFlags.RUN_FIRST, None, ())}

    def __init__(self, *, name, label, icon, **more):
        super().__init__()
        if set(more) != {TIP}:
            raise TypeError(f"not {TIP}: {more}")
        self.name, self.label, self.menu = name, label, None

    def _set(self, menu):
        self.menu = menu

    if NAME == "Thunarx":
        set_menu = _set
    else:
        set_submenu = _set


class File:
    def __init__(self, uri):
        self.get_uri = lambda: uri


class MenuProvider:
    """The interface, which has no behaviour."""


api = types.ModuleType(f"gi.repository.{NAME}")
api.Menu, api.MenuItem, api.MenuProvider, api._version = Menu, MenuItem, MenuProvider, "4.0"
sys.modules[api.__name__] = api
sys.path.insert(0, os.path.dirname(FILE))
extension = importlib.import_module(os.path.basename(FILE)[:-len(".py")])
for setting in sys.argv[3:]:
    constant, _, value = setting.partition("=")
    setattr(extension, constant, json.loads(value))
provider = extension.SendMenu()
items = []


def menu(uris):
    files = [File(uri) for uri in uris]
    call = provider.get_file_menu_items if NAME == "Thunarx" else provider.get_file_items
    items[:] = call(*([] if NAME == "Nautilus" else [None]), files)
    return [[item.label, [each.label for each in item.menu.items]] if item.menu else item.label for item in items]


def activate(label):
    flat = items + [each for item in items if item.menu for each in item.menu.items]
    item = next(each for each in flat if each.label == label and not each.menu)
    item.emit("activate")
    return item.name


def line(*_):
    text = sys.stdin.readline()
    if not text:
        loop.quit()
        return False
    word, argument = json.loads(text)
    print(json.dumps({"menu": menu, "activate": activate}[word](argument)), flush=True)
    return True


loop = GLib.MainLoop()
GLib.io_add_watch(sys.stdin.fileno(), GLib.PRIORITY_DEFAULT, GLib.IOCondition.IN | GLib.IOCondition.HUP, line)
loop.run()
