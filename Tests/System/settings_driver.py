"""Uses the window of handoff-settings as a person does: presses controls on the screen and reads
its texts.

Run by windows.py:

    /usr/bin/python3 settings_driver.py FOLDER [LINK]

FOLDER contains the package. Each line of standard input is a command as JSON, answered by one line:
{"ok": …} or {"failure": …}. A command waits for the widgets that it needs. The application is the
unmodified installed one, with its own main loop.
"""

import ctypes
import json
import os
import sys
import time

sys.path[:0] = [sys.argv[1], os.path.join(sys.argv[1], os.pardir, "Integrations", "python")]

from handoff_settings import widgets as parts  # noqa: E402

# The names for screen readers, which GTK can only compare.
NAMES = {}
set_name = parts.name


def recorded_name(widget, text):
    NAMES[widget] = text
    set_name(widget, text)


parts.name = recorded_name

from handoff_settings.application import Application, SendRequest  # noqa: E402
from handoff_settings.problems import CheckRow  # noqa: E402

from gi.repository import Adw, Gdk, Gio, GLib, GObject, Gtk  # noqa: E402

PAUSE = 25  # Milliseconds between two polls of the screen, because widgets emit no signal when they are shown.
FRAMES = 5


def windows():
    """Returns the windows that accept input. Modal windows block the others."""
    shown = [window for window in Gtk.Window.list_toplevels() if window.get_mapped()]
    return [window for window in shown if window.get_modal()] or shown


def widgets(root):
    """Returns the visible widgets below a widget, itself included."""
    if not root.get_mapped():
        return
    yield root
    child = root.get_first_child()
    while child:
        yield from widgets(child)
        child = child.get_next_sibling()


def text_of(widget):
    """Returns the text of a widget without its children."""
    if isinstance(widget, Gtk.Label):
        # Sizes have a space that does not break.
        return widget.get_text().replace("\xa0", " ")
    if isinstance(widget, Gtk.Text):
        return widget.get_text()
    return ""


def texts():
    found = [text_of(widget) for window in windows() for widget in widgets(window)]
    return [text for text in found if text]


def named(widget):
    """Returns all texts that identify a widget to a person."""
    return {*filter(None, map(text_of, widgets(widget))), widget.get_tooltip_text() or ""}


def find(kind, name, row=None):
    """Returns the widgets of a kind that show a text, in a row that shows another text."""
    found = []
    for window in windows():
        roots = [window]
        if row is not None:
            roots = [each for each in widgets(window) if isinstance(each, Gtk.ListBoxRow) and row in named(each)]
        found += [each for root in roots for each in widgets(root)
                  if isinstance(each, kind) and (name is None or name in named(each)) and each.is_sensitive()]
    return found


def screen_height():
    monitors = Gdk.Display.get_default().get_monitors()
    return min(monitors.get_item(number).get_geometry().height for number in range(monitors.get_n_items()))


def gtk(function, *arguments):
    """Calls a C function of GTK that takes pointers and returns one."""
    called = ctypes.CDLL("libgtk-4.so.1")[function]
    called.restype = ctypes.c_void_p
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    pointers = [get(each.__gpointer__, None) if hasattr(each, "__gpointer__") else each for each in arguments]
    return called(*(ctypes.c_char_p(each) if isinstance(each, bytes) else ctypes.c_void_p(each) for each in pointers))


class Commands:
    """The commands. Each method runs one, or returns None if the widgets that it needs are not on the screen yet."""

    frames = None
    # The place of the widget that the present command examines, reported if it times out.
    geometry = ""

    def _count_frame(self, window, _clock):
        self.frames += 1
        window.queue_draw()
        return GLib.SOURCE_CONTINUE if self.frames < FRAMES else GLib.SOURCE_REMOVE

    def texts(self):
        return texts()

    def words(self):
        """Returns all texts in the language of the window: also tooltips, names, titles and menus, but no checks, which are
        texts of handoffctl, and no controls of GTK."""
        found = []
        for window in windows():
            found.append(window.get_title() or "")
            for each in widgets(window):
                if each.get_ancestor(Adw.HeaderBar) and {"minimize", "maximize", "close"} & set(each.get_css_classes()):
                    continue
                is_check = each.get_ancestor(CheckRow) and not each.get_ancestor(Gtk.Button)
                found += [each.get_tooltip_text() or "", NAMES.get(each, "")] + ([] if is_check else [text_of(each)])
                menu = each.get_menu_model() if isinstance(each, Gtk.MenuButton) else None
                for item in range(menu.get_n_items() if menu else 0):
                    found.append(menu.get_item_attribute_value(item, "label", None).get_string())
        return sorted({text for text in found if text})

    def inside(self):
        """Returns whether all texts are completely inside their window. Some can be scrolled vertically."""
        found = []
        for window in windows():
            for each in widgets(window):
                inside, bounds = each.compute_bounds(window)
                if not inside or not text_of(each):
                    continue
                left, top = bounds.origin.x, bounds.origin.y
                is_cut = left < 0 or left + bounds.size.width > window.get_width()
                if not each.get_ancestor(Gtk.ScrolledWindow):
                    is_cut = is_cut or top < 0 or top + bounds.size.height > window.get_height()
                if is_cut:
                    found.append(text_of(each))
        self.geometry = f" (outside: {found})"
        return None if found else True

    def direction(self, is_mirrored):
        """Sets the direction of the layout."""
        Gtk.Widget.set_default_direction(Gtk.TextDirection.RTL if is_mirrored else Gtk.TextDirection.LTR)
        return True

    def left(self, name):
        """Returns the distance of a widget that shows a text from the left edge of its window."""
        for window in windows():
            for each in widgets(window):
                inside, bounds = each.compute_bounds(window)
                if inside and text_of(each) == name:
                    return {"left": bounds.origin.x}
        return None

    def see(self, text):
        return any(text in each for each in texts()) or None

    def miss(self, text):
        return not any(text in each for each in texts()) or None

    def press(self, name, row=None):
        found = find(Gtk.Button, name, row)
        if not found:
            return None
        found[0].emit("clicked")
        return True

    def choose(self, row, name):
        """Chooses an item of the menu in a row."""
        for opener in find(Gtk.MenuButton, None, row):
            menu = opener.get_menu_model()
            for item in range(menu.get_n_items()):
                text = menu.get_item_attribute_value(item, "label", None).get_string()
                if text.replace("__", "_") == name:
                    opener.activate_action("offer.open", menu.get_item_attribute_value(item, "target", None))
                    return True
        return None

    def switch(self, row):
        found = find(Gtk.Switch, None, row)
        if not found:
            return None
        found[0].emit("activate")
        return True

    def state(self, row, is_on):
        found = [each for window in windows() for each in widgets(window)
                 if isinstance(each, Gtk.ListBoxRow) and row in named(each)]
        switches = [each for one in found for each in widgets(one) if isinstance(each, Gtk.Switch)]
        return True if switches and switches[0].get_active() == is_on else None

    def check(self, row, is_on=True):
        """Sets the check box in a row."""
        found = find(Gtk.CheckButton, None, row)
        if not found:
            return None
        found[0].set_active(is_on)
        return True

    def checked(self, row, is_on):
        found = find(Gtk.CheckButton, None, row)
        return True if found and found[0].get_active() == is_on else None

    def write(self, text):
        """Writes into the text view."""
        found = [each for window in windows() for each in widgets(window) if isinstance(each, Gtk.TextView)]
        if not found:
            return None
        found[0].get_buffer().set_text(text)
        return True

    def drop(self, uris, row=None):
        """Drops files on a row, or on the window. Returns whether they are accepted, and as which action."""
        for window in windows():
            for each in widgets(window) if row else [window]:
                if row is None or isinstance(each, Gtk.ListBoxRow) and row in named(each):
                    for target in each.observe_controllers():
                        is_target = isinstance(target, Gtk.DropTarget)
                        if is_target and target.get_propagation_phase() != Gtk.PropagationPhase.NONE:
                            files = Gdk.FileList.new_from_list([Gio.File.new_for_uri(uri) for uri in uris])
                            value = GObject.Value(Gdk.FileList, files)
                            return {"accepted": target.emit("drop", value, 1.0, 1.0), "actions": int(target.get_actions())}
                    return {"accepted": False}
        return None

    def close_all_but(self, text):
        """Closes the other windows, without their questions."""
        kept = [window for window in windows() if any(text in text_of(each) for each in widgets(window))]
        for window in windows():
            if window not in kept:
                window.destroy()
        return True if kept else None

    def bar(self):
        """Returns the position of the first progress bar."""
        found = [each for window in windows() for each in widgets(window) if isinstance(each, Gtk.ProgressBar)]
        return {"fraction": found[0].get_fraction()} if found else None

    def sensitive(self, name, row=None):
        """Returns whether a visible button can be pressed."""
        for window in windows():
            for each in widgets(window):
                if isinstance(each, Gtk.Button) and name in named(each):
                    if row is None or row in named(each.get_ancestor(Gtk.ListBoxRow) or each):
                        return {"sensitive": each.is_sensitive()}
        return None

    def type(self, text, name=None):
        """Types into the entry with a name, or the only one."""
        found = [each for window in windows() for each in widgets(window)
                 if isinstance(each, (Adw.EntryRow, Gtk.Entry)) and (name is None or name in named(each))]
        if not found:
            return None
        found[0].set_text(text)
        return True

    def enter(self):
        """Presses Return, which activates the focused or the default widget."""
        focus = windows()[0].get_focus()
        if focus is None:
            return None
        focus.activate()
        return {"focus": sorted(named(focus))}

    def focused(self):
        focus = windows()[0].get_focus()
        return {"focus": sorted(named(focus)) if focus else []}

    def close(self, text=""):
        """Closes the window that shows a text, or the only one."""
        found = [window for window in windows() if not text or any(text in text_of(each) for each in widgets(window))]
        if not found:
            return None
        found[0].close()
        return True

    def count(self):
        """Returns the number of windows."""
        return {"windows": len([each for each in Gtk.Window.list_toplevels() if each.get_mapped()])}

    def size(self, width, height, text=None):
        """Sets the size of the main window's content, or of the window that shows a text."""
        found = [window for window in windows() if text and any(text in text_of(each) for each in widgets(window))]
        window = found[0] if found else application.window
        window.set_default_size(width, height)
        if not 0 < window.get_width() <= width or window.get_height() > height:
            return None
        return {"width": window.get_width(), "height": window.get_height()}

    def whole(self):
        """Returns whether the topmost window shows everything without scrolling."""
        places = [each.get_vadjustment() for each in widgets(windows()[0]) if isinstance(each, Gtk.ScrolledWindow)]
        return True if places and all(each.get_upper() <= each.get_page_size() for each in places) else None

    def unlabelled(self):
        """Returns the controls without a text, for which screen readers have no name."""
        return [each.get_css_name() + str(each.get_css_classes()) for window in windows() for each in widgets(window)
                if isinstance(each, Gtk.Button) and not any(named(each))
                # GTK names its own controls, and those of menus by the menu's button.
                and not {"minimize", "maximize", "close"} & set(each.get_css_classes())
                and not isinstance(each.get_parent(), Gtk.MenuButton)]

    def font(self, scale):
        """Scales all text by a factor, as the desktop's setting does."""
        Gtk.Settings.get_default().set_property("gtk-xft-dpi", int(scale * 96 * 1024))
        return True

    def within(self, name):
        """Returns whether a button is completely visible without scrolling."""
        self.geometry = " (no button with an allocation outside a scrolled window)"
        for each in [one for window in windows() for one in widgets(window)
                     if isinstance(one, Gtk.Button) and name in named(one)]:
            inside, bounds = each.compute_bounds(each.get_root())
            if inside and each.get_ancestor(Gtk.ScrolledWindow) is None:
                size, at = bounds.size, bounds.origin
                root = each.get_root()
                self.geometry = f" (at {at.x}, {at.y}, {size.width} by {size.height}, in {root.get_width()} by " \
                    f"{root.get_height()}, default {root.get_default_size()}, on a screen of height {screen_height()})"
                if at.x >= 0 and at.y >= 0 and at.x + size.width <= root.get_width() \
                        and at.y + size.height <= min(root.get_height(), screen_height()):
                    return True
        return None

    def uncut(self):
        """Returns whether no text is truncated with an ellipsis."""
        return not any(isinstance(each, Gtk.Label) and each.get_layout().is_ellipsized()
                       for window in windows() for each in widgets(window)) or None

    def fits(self, text):
        """Returns whether a text is inside its window."""
        for window in windows():
            for each in widgets(window):
                if isinstance(each, Gtk.Label) and text in each.get_text():
                    inside, bounds = each.compute_bounds(window)
                    if inside and bounds.origin.x >= 0 and bounds.origin.y >= 0 \
                            and bounds.origin.x + bounds.size.width <= window.get_width() \
                            and bounds.origin.y + bounds.size.height <= window.get_height():
                        return True
        return None

    def centre(self, name):
        """Returns the distance in pixels between the middle of a widget that shows a text and that of the window."""
        for window in windows():
            for each in widgets(window):
                if type(each).__name__ == name:
                    inside, bounds = each.compute_bounds(window)
                    if inside and bounds.size.width:
                        return {"off": abs(bounds.origin.x + bounds.size.width / 2 - window.get_width() / 2)}
        return None

    def spoken_twice(self):
        """Returns the controls whose name for screen readers is made of two: their own and that of a label."""
        return [sorted(named(each)) for window in windows() for each in widgets(window)
                if Gtk.test_accessible_has_property(each, Gtk.AccessibleProperty.LABEL)
                and Gtk.test_accessible_has_relation(each, Gtk.AccessibleRelation.LABELLED_BY)]

    def nameless_menus(self):
        """Returns the menu buttons that have no name for screen readers."""
        return [each.get_css_classes() for window in windows() for each in widgets(window)
                if isinstance(each.get_parent(), Gtk.MenuButton) and isinstance(each, Gtk.ToggleButton)
                and not Gtk.test_accessible_has_property(each, Gtk.AccessibleProperty.LABEL)]

    def close_toast(self, text):
        """Closes the toast with a text by its button."""
        for window in windows():
            for each in widgets(window):
                if isinstance(each, Gtk.Label) and text in each.get_text():
                    place = each
                    while place and place.get_css_name() != "toast":
                        place = place.get_parent()
                    found = [one for one in widgets(place) if isinstance(one, Gtk.Button)] if place else []
                    if found:
                        found[0].emit("clicked")
                        return True
        return None

    def error(self, text):
        application.window.fail(text)
        return True

    def action(self, name):
        """Activates an action as its keyboard shortcut does. Returns the shortcut."""
        application.window.activate_action(name, None)
        return {"keys": application.get_accels_for_action(name)}

    def turning(self):
        """Returns the spinners that run while hidden. Each of their frames would wake the processor."""
        def all_of(widget):
            yield widget
            child = widget.get_first_child()
            while child:
                yield from all_of(child)
                child = child.get_next_sibling()

        return [str(each) for window in Gtk.Window.list_toplevels() for each in all_of(window)
                if isinstance(each, Gtk.Spinner) and each.get_spinning() and not each.get_mapped()]

    def scheme(self, dark):
        scheme = Adw.ColorScheme.FORCE_DARK if dark else Adw.ColorScheme.FORCE_LIGHT
        Adw.StyleManager.get_default().set_color_scheme(scheme)
        return True

    def picture(self, path, scale=2):
        """Writes a picture of the topmost window's content without its shadow, scaled by a factor."""
        window = windows()[0]
        width, height = window.get_width(), window.get_height()
        # The last change is on the screen some frames later.
        if self.frames is None:
            self.frames = 0
            window.add_tick_callback(self._count_frame)
            window.queue_draw()
        if not width or not height or self.frames < FRAMES:
            return None
        self.frames = None
        snapshot = Gtk.Snapshot()
        snapshot.scale(scale, scale)
        Gtk.WidgetPaintable(widget=window).snapshot(snapshot, width, height)
        # PyGObject supports the type of render nodes only from 3.48 on.
        node = gtk("gtk_snapshot_to_node", snapshot)
        if not node:
            return None
        texture = gtk("gsk_renderer_render_texture", window.get_renderer(), node, None)
        gtk("gdk_texture_save_to_png", texture, path.encode())
        return {"width": width, "height": height}

    def quit(self):
        application.quit()
        return True


def answer(value):
    print(json.dumps(value), flush=True)


def take(line):
    request = json.loads(line)
    limit = time.monotonic() + request.pop("within")
    method = getattr(commands, request.pop("do"))
    commands.geometry = ""

    def look():
        try:
            result = method(**request)
        except Exception as error:
            answer({"failure": f"{type(error).__name__}: {error}", "texts": texts()})
            raise
        if result is None:
            if time.monotonic() < limit:
                return GLib.SOURCE_CONTINUE
            answer({"failure": f"timed out{commands.geometry}", "texts": texts()})
        else:
            answer({"ok": result})
        return GLib.SOURCE_REMOVE

    if look():
        GLib.timeout_add(PAUSE, look)


def readable(channel, _condition):
    line = channel.readline()
    if not line:
        application.quit()
        return GLib.SOURCE_REMOVE
    take(line)
    return GLib.SOURCE_CONTINUE


def mistake(kind, error, trace):
    # The window would continue, but a test must not.
    sys.__excepthook__(kind, error, trace)
    print("MISTAKE in the window", file=sys.stderr, flush=True)


Gtk.init()
Gtk.Settings.get_default().set_property("gtk-enable-animations", False)
request = SendRequest.read(sys.argv[2:])
application = Application(request)
commands = Commands()
sys.excepthook = mistake
application.connect_after("activate", lambda _: answer({"ok": "activated"}))
GLib.io_add_watch(sys.stdin, GLib.PRIORITY_DEFAULT, GLib.IO_IN | GLib.IO_HUP, readable)
sys.exit(application.run(["handoff-settings", *([] if request else sys.argv[2:])]))
