"""Adding a device: digits and a QR code, the confirmation, and the result."""

from typing import Callable, Optional

from gi.repository import Gdk, GLib, Gtk
from handoff_locale import _

from . import qrcode, values
from .texts import groups, short, span, visible
from .varlink import Call, Failure
from .widgets import Dialog, button, label, message, name, waiting

_CODE_SIZE = 220


class PairingDialog(Dialog):
    """A pairing window (`Pair`), which ends with this dialog. `joined` gets the added device."""

    def __init__(self, parent: Gtk.Window, joined: Callable[[values.Peer], None]) -> None:
        super().__init__(parent, _("Add a Device"))
        self._joined = joined
        self._call: Optional[Call] = None
        self._timer: Optional[int] = None
        self._window: dict = {}
        self._left = 0
        self._countdown = label("", "dim-label")
        self._warning = label("", "error", visible=False)
        self.connect("close-request", lambda _: self._end())
        self._open()

    def _open(self) -> None:
        self._warning.set_visible(False)
        self.show_content(waiting(_("Getting a code…")))
        self._call = Call("Pair", more=True, reply=self._took, failed=self._failed)

    def _end(self) -> bool:
        if self._call:
            self._call.cancel()
        self._stop_timer()
        return False

    def _took(self, results: dict) -> None:
        device = values.Peer.read(results.get("device"))
        event = results.get("event")
        if event == "opened":
            window = results.get("window")
            self._window = window if isinstance(window, dict) else {}
            self._start_timer()
            self._show_code()
        elif event == "wrongCode":
            self._warn(_("An incorrect code was entered. Attempts left: {number}").format(
                number=results.get("guessesLeft")))
        elif event == "codeEnded":
            self._window["code"] = None
            self._warn(_("Too many incorrect codes were entered. Only the QR code and the link still work."))
            self._show_code()
        elif event == "confirm":
            self._ask(device)
        elif event == "gone":
            self._warn(_("The device disconnected before you answered. The code still works."))
            self._show_code()
        elif event == "joining":
            self._stop_timer()
            self.show_content(waiting(_("Adding the device…")))
        elif event == "joined":
            self._stop_timer()
            done = button(_("_Done"), self.close, "suggested-action")
            page = message("emblem-ok-symbolic", _("Device Added"),
                           _("{device} is now in your account.").format(device=visible(device.name)))
            self.show_content(page, actions=[done], focus=done)
            self._joined(device)

    # ---- The code ------------------------------------------------------------------------------------------------

    def _show_code(self) -> None:
        code, link = self._window.get("code"), self._window.get("link")
        # Above the picture, which may need scrolling.
        widgets: list[Gtk.Widget] = [self._warning]
        if isinstance(code, str):
            digits = label(groups(code), "title-1", "numeric", selectable=True)
            widgets += [label(_("On the new device, choose “Join Another Device” and enter these digits.")), digits]
        if isinstance(link, str):
            # In device pixels, to avoid blurred edges.
            scale = self.get_scale_factor()
            picture = qrcode.texture(link, scale * _CODE_SIZE)
            if picture:
                widgets.append(
                    label(_("Or scan this code with its camera:") if code else _("Scan this code with its camera:"))
                )
                shown = Gtk.Image(paintable=picture, pixel_size=picture.get_width() // scale)
                name(shown, _("The pairing link as a QR code"))
                widgets.append(shown)
        widgets.append(self._countdown)
        cancel = button(_("_Cancel"), self.close)
        copy = button(
            _("Copy _Link"), self._copy, tooltip_text=_("Send the link to the new device over a private channel")
        )
        copy.set_visible(isinstance(link, str))
        self.show_content(*_freed(widgets), actions=[cancel, copy], focus=cancel)

    def _copy(self) -> None:
        self.get_clipboard().set_content(Gdk.ContentProvider.new_for_value(self._window["link"]))

    def _warn(self, text: str) -> None:
        self._warning.set_label(text)
        self._warning.set_visible(True)
        self.fit()

    def _start_timer(self) -> None:
        seconds = self._window.get("seconds")
        self._left = seconds if isinstance(seconds, int) else 0
        self._stop_timer()
        self._timer = GLib.timeout_add_seconds(1, self._tick)
        self._show_left()

    def _stop_timer(self) -> None:
        if self._timer:
            GLib.source_remove(self._timer)
        self._timer = None

    def _tick(self) -> bool:
        self._left = max(0, self._left - 1)
        self._show_left()
        return GLib.SOURCE_CONTINUE

    def _show_left(self) -> None:
        self._countdown.set_label(_("Valid for {time}").format(time=span(self._left)))

    # ---- Confirmation --------------------------------------------------------------------------------------------

    def _ask(self, device: values.Peer) -> None:
        self._warning.set_visible(False)
        refuse = button(_("_Refuse"), lambda: self._answer(device, False))
        accept = button(_("_Add Device"), lambda: self._answer(device, True), "suggested-action")
        page = message(
            "dialog-question-symbolic",
            _("Add {device}?").format(device=visible(device.name)),
            _("Compare this number with the one on the screen of {device}:").format(device=visible(device.name)),
        )
        number = label(short(device.id), "title-1", "numeric", selectable=True)
        advice = label(
            _("If they are the same, this is the device that you want to add. If they differ, or it shows no number, "
              "choose “Refuse”: another device has used the code. A device in your account can see the offers of your "
              "other devices.")
        )
        # Pressing Return must not add a device.
        self.show_content(page, number, advice, *_freed([self._warning]), actions=[refuse, accept], focus=refuse)
        self.present()

    def _answer(self, device: values.Peer, accept: bool) -> None:
        if accept:
            self.show_content(waiting(_("Adding the device…")))

        def failed(failure: Failure) -> None:
            self._warn(visible(failure.message, 1000))
            self._show_code()

        Call("AnswerPairing", {"device": device.id, "accept": accept}, failed=failed)

    def _failed(self, failure: Failure) -> None:
        self._stop_timer()
        again = button(_("_Try Again"), self._open, "suggested-action")
        page = message("dialog-warning-symbolic", _("No Device Was Added"), visible(failure.message, 1000))
        self.show_content(page, actions=[button(_("_Close"), self.close), again], focus=again)


def _freed(widgets: list[Gtk.Widget]) -> list[Gtk.Widget]:
    """Returns the widgets, removed from their former parents."""
    for each in widgets:
        parent = each.get_parent()
        if parent:
            parent.remove(each)
    return widgets
