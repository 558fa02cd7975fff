"""The application: a single main window, even if started several times, links opened in it, and windows that send."""

import os
import signal
import sys
from typing import Any, NamedTuple, Optional

from gi.repository import Adw, Gdk, Gio, GLib, Gtk
from handoff_locale import _

from . import link
from .doctor import Doctor
from .model import Model
from .send_window import SendWindow
from .texts import visible
from .window import Window

NAME = "dev.handoff1.Settings"


class SendRequest(NamedTuple):
    """The arguments of `--send`."""

    device: str
    uris: list[str]
    text: str

    @classmethod
    def read(cls, words: list[str]) -> Optional["SendRequest"]:
        """Returns the request; None without `--send`. Raises `ValueError` for invalid arguments."""
        place = words.index("--") if "--" in words else len(words)
        if "--send" not in words[:place]:
            return None
        left, files, options = words[:place], words[place + 1:], {"--device": "", "--text": ""}
        while left:
            option, is_joined, value = left.pop(0).partition("=")
            if option in options:
                if not is_joined and not left:
                    raise ValueError(f"the option '{option}' needs a value")
                options[option] = value if is_joined else left.pop(0)
            elif option.startswith("-") and option + is_joined != "--send":
                raise ValueError(f"unknown option '{option}'")
            elif option != "--send":
                files.append(option + is_joined + value)
        # Arguments have any bytes. URIs escape them.
        uris = [Gio.File.new_for_commandline_arg(each).get_uri() for each in files]
        return cls(options["--device"], uris, options["--text"])


class Application(Adw.Application):
    """The application with the name of its desktop entry. The session bus ensures that only one instance runs."""

    def __init__(self, request: Optional[SendRequest] = None) -> None:
        super().__init__(application_id=NAME, flags=Gio.ApplicationFlags.HANDLES_OPEN)
        self._request = request
        self.model = Model()
        self.doctor = Doctor()
        for action, keys, done in (
            ("about", [], self._about), ("quit", ["<Control>q"], self._quit), ("send", [], lambda: self._send("", [])),
        ):
            made = Gio.SimpleAction.new(action, None)
            made.connect("activate", lambda *_, done=done: done())
            self.add_action(made)
            self.set_accels_for_action(f"app.{action}", keys)
        self.set_accels_for_action("window.close", ["<Control>w"])
        for action, kind, done in (("send-to", "(sas)", self._send), ("send-text", "(ss)", self._send_text)):
            made = Gio.SimpleAction.new(action, GLib.VariantType.new(kind))
            made.connect("activate", lambda _, value, done=done: done(*value.unpack()))
            self.add_action(made)

    @property
    def window(self) -> Window:
        """The main window."""
        shown = next((each for each in self.get_windows() if isinstance(each, Window)), None)
        if shown is None:
            self._connect()
            shown = Window(self, self.model, self.doctor)
        return shown

    def _connect(self) -> None:
        if not self.get_windows():
            self.model.connect_daemon()

    def do_handle_local_options(self, _options: GLib.VariantDict) -> int:
        if self._request is None:
            return -1
        device, uris, text = self._request
        self.register()
        # In the process that has the windows, which may be another one.
        if uris or not text:
            self.activate_action("send-to", GLib.Variant("(sas)", (device, uris)))
        if text:
            self.activate_action("send-text", GLib.Variant("(ss)", (device, text)))
        return 0

    def do_startup(self) -> None:
        Adw.Application.do_startup(self)
        # Processes that send would continue without the window.
        for number in (signal.SIGHUP, signal.SIGTERM):
            GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, self.quit)
        own, display = os.path.dirname(os.path.abspath(__file__)), Gdk.Display.get_default()
        # Only in a checkout. Installed icons are in the default search path.
        icons = os.path.join(os.path.dirname(own), "icons")
        if os.path.isdir(icons):
            Gtk.IconTheme.get_for_display(display).add_search_path(icons)
        style = Gtk.CssProvider()
        style.load_from_path(os.path.join(own, "style.css"))
        Gtk.StyleContext.add_provider_for_display(display, style, Gtk.STYLE_PROVIDER_PRIORITY_APPLICATION)

    def do_shutdown(self) -> None:
        for each in self._senders:
            each.cancel()
        Adw.Application.do_shutdown(self)

    def do_activate(self) -> None:
        hidden = [each for each in self._senders if not each.get_visible()]
        for each in hidden or [self.window]:
            each.present()

    def do_open(self, files: list[Gio.File], _count: int, _hint: str) -> None:
        uris = [each.get_uri() for each in files if each.get_uri_scheme() != "handoff"]
        if uris:
            return self._send("", uris)
        self.window.present()
        # Links from outside are untrusted. Of several links, none is followed.
        self.window.open_link(link.read(files[0].get_uri()) if len(files) == 1 else None)

    @property
    def _senders(self) -> list[SendWindow]:
        return [each for each in self.get_windows() if isinstance(each, SendWindow)]

    def _sender(self, device: str) -> tuple[SendWindow, bool]:
        """Returns the window for a device in which nothing is being sent yet, and whether it is new.

        A file manager may start the program several times for one choice.
        """
        for each in self._senders:
            if each.takes(device):
                return each, False
        self._connect()
        return SendWindow(self, self.model, device, lambda: self.window.present()), True

    def _send(self, device: str, uris: list[str]) -> None:
        shown, is_new = self._sender(device)
        shown.add(uris)
        shown.present()
        if not uris:
            shown.choose(is_first=is_new)

    def _send_text(self, device: str, text: str) -> None:
        shown = self._sender(device)[0]
        shown.add_text(text)
        shown.present()

    def _quit(self) -> None:
        busy = [each for each in self._senders if each.is_busy]
        if not busy:
            return self.quit()
        busy[0].present()
        busy[0].close()

    def _about(self) -> None:
        Adw.AboutWindow(
            transient_for=self.window,
            application_name="Handoff",
            application_icon=NAME,
            license_type=Gtk.License.APACHE_2_0,
            version=self.model.status.daemon.rpartition("/")[2],
            comments=_("Start something on one device and continue it on another."),
        ).present()


def run(words: list[str]) -> int:
    """Runs the application, and returns its exit code."""
    if Gdk.Display.get_default() is None:
        print("handoff-settings: no display: set DISPLAY or WAYLAND_DISPLAY", file=sys.stderr)
        return 1
    GLib.set_prgname(NAME)
    try:
        request = SendRequest.read(words[1:])
    except ValueError as error:
        print(f"handoff-settings: {visible(str(error))}\n  see: handoff-settings --help", file=sys.stderr)
        return 1
    application = Application(request)

    def report(_kind: type, error: BaseException, _trace: Any) -> None:
        # An internal error must not end the window, nor show its source to the user.
        text = f"internal error: {type(error).__name__}: {error}"
        print(f"handoff-settings: {visible(text, 1000)}", file=sys.stderr)
        if os.environ.get("HANDOFF_SETTINGS_TRACE"):
            sys.__excepthook__(_kind, error, _trace)

    sys.excepthook = report
    return application.run(words[:1] if request else words)
