"""Uses a program by the interface for screen readers, AT-SPI, as a person does.

    /usr/bin/python3 accessible.py PROCESS

PROCESS is the id of the program. Each line of standard input is a command as JSON, answered by one line:
{"ok": …} or {"failure": …, "shown": …}. A command waits for the elements that it needs.
"""

import json
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

PROCESS = int(sys.argv[1])
PAUSE = 50  # Milliseconds between two searches: programs change at their own pace.
# They contain no menus, and may be large.
LEAVES = ("table", "tree table", "tree", "list", "icon", "tool bar", "status bar", "scroll bar", "menu bar", "label")


def children(element):
    return filter(None, (element.get_child_at_index(number) for number in range(element.get_child_count())))


def programs():
    return (each for each in children(Atspi.get_desktop(0)) if each.get_process_id() == PROCESS)


def elements(program, leaves=LEAVES):
    """Returns the elements of a program that are shown."""
    # GTK 4.8 announces only of windows that they are showing.
    is_gtk4 = program.get_toolkit_name() == "GTK"
    return below(program, Atspi.StateType.VISIBLE if is_gtk4 else Atspi.StateType.SHOWING, leaves)


def below(root, state, leaves):
    for each in children(root):
        try:
            if each.get_state_set().contains(state):
                yield each
                if each.get_role_name() not in leaves:
                    yield from below(each, state, leaves)
        except GLib.Error:
            pass  # It has been removed.


class Commands:
    """The commands. Each method runs one, or returns None if the elements that it needs are not shown yet."""

    @staticmethod
    def _found(roles, names, leaves=LEAVES):
        for program in programs():
            for each in elements(program, leaves):
                if each.get_role_name() in roles and (names is None or each.get_name() in names):
                    return each
        return None

    def see(self, roles, names=None):
        """Returns the name of an element."""
        element = self._found(roles, names)
        return element and element.get_name()

    def place(self, roles, name):
        """Returns the middle of an element on the screen, in any part of the window."""
        element = self._found(roles, [name], ())
        if element is None:
            return None
        place = element.get_extents(Atspi.CoordType.SCREEN)
        return [place.x + place.width // 2, place.y + place.height // 2]

    def press(self, roles, name):
        """Activates an element."""
        element = self._found(roles, [name])
        return element and element.do_action(0) or None

    def focused(self):
        """Returns the name of the element that has received the focus since the last call. Qt has no other way to find the
        entries of a menu."""
        return focused.pop() if focused else None


def took_focus(event):
    if event.source.get_process_id() == PROCESS:
        focused[:] = [event.source.get_name()]


def answer(**fields):
    print(json.dumps(fields), flush=True)


focused = []
listener = Atspi.EventListener.new(took_focus)
listener.register("object:state-changed:focused")
commands = Commands()
for line in sys.stdin:
    request = json.loads(line)
    limit = time.monotonic() + request.pop("within")
    do = getattr(commands, request.pop("do"))
    while True:
        try:
            result = do(**request)
        except GLib.Error:
            result = None  # The program is starting, or an element has been removed.
        if result is not None:
            answer(ok=result)
            break
        if time.monotonic() > limit:
            shown = [each for program in programs() for each in elements(program)]
            answer(failure="timed out", shown=[f"{each.get_role_name()} {each.get_name()!r}" for each in shown])
            break
        GLib.timeout_add(PAUSE, lambda: GLib.SOURCE_REMOVE)
        GLib.MainContext.default().iteration(True)
