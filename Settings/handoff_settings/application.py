"""The application: a single window, even if started several times, and links opened in it."""

import os
import sys
from typing import Any

from gi.repository import Adw, Gdk, Gio, GLib, Gtk

from . import link
from .doctor import Doctor
from .model import Model
from .texts import visible
from .window import Window

NAME = "dev.handoff1.Settings"


class Application(Adw.Application):
    """The application with the name of its desktop entry. The session bus ensures that only one instance runs."""

    def __init__(self) -> None:
        super().__init__(application_id=NAME, flags=Gio.ApplicationFlags.HANDLES_OPEN)
        self.model = Model()
        self.doctor = Doctor()
        for action, keys, done in (("about", [], self._about), ("quit", ["<Control>q"], self.quit)):
            made = Gio.SimpleAction.new(action, None)
            made.connect("activate", lambda *_, done=done: done())
            self.add_action(made)
            self.set_accels_for_action(f"app.{action}", keys)
        self.set_accels_for_action("window.close", ["<Control>w"])

    @property
    def window(self) -> Window:
        """The main window."""
        shown = self.get_active_window()
        while shown and shown.get_transient_for():
            shown = shown.get_transient_for()
        if shown is None:
            shown = Window(self, self.model, self.doctor)
            self.model.connect_daemon()
        return shown

    def do_startup(self) -> None:
        Adw.Application.do_startup(self)
        own, display = os.path.dirname(os.path.abspath(__file__)), Gdk.Display.get_default()
        # Only in a checkout. Installed icons are in the default search path.
        icons = os.path.join(os.path.dirname(own), "icons")
        if os.path.isdir(icons):
            Gtk.IconTheme.get_for_display(display).add_search_path(icons)
        style = Gtk.CssProvider()
        style.load_from_path(os.path.join(own, "style.css"))
        Gtk.StyleContext.add_provider_for_display(display, style, Gtk.STYLE_PROVIDER_PRIORITY_APPLICATION)

    def do_activate(self) -> None:
        self.window.present()

    def do_open(self, files: list[Gio.File], _count: int, _hint: str) -> None:
        self.window.present()
        # Links from outside are untrusted. Of several links, none is followed.
        self.window.open_link(link.read(files[0].get_uri()) if len(files) == 1 else None)

    def _about(self) -> None:
        Adw.AboutWindow(
            transient_for=self.window,
            application_name="Handoff",
            application_icon=NAME,
            license_type=Gtk.License.APACHE_2_0,
            version=self.model.status.daemon.rpartition("/")[2],
            comments="Start something on one device and continue it on another.",
        ).present()


def run(words: list[str]) -> int:
    """Runs the application, and returns its exit code."""
    if Gdk.Display.get_default() is None:
        print("handoff-settings: no display: set DISPLAY or WAYLAND_DISPLAY", file=sys.stderr)
        return 1
    GLib.set_prgname(NAME)
    application = Application()

    def report(_kind: type, error: BaseException, _trace: Any) -> None:
        # An internal error must not end the window, nor show its source to the user.
        text = f"internal error: {type(error).__name__}: {error}"
        print(f"handoff-settings: {visible(text, 1000)}", file=sys.stderr)
        if os.environ.get("HANDOFF_SETTINGS_TRACE"):
            sys.__excepthook__(_kind, error, _trace)

    sys.excepthook = report
    return application.run(words)
