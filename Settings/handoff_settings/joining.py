"""Joins the account of another device, by digits, or by a pasted, scanned or opened link."""

from typing import Callable, Optional

from gi.repository import Adw, Gtk
from handoff_locale import _

from . import link as links
from . import values
from .texts import sentence, short, visible
from .varlink import Call, Failure
from .widgets import Dialog, button, label, message, waiting


class JoiningDialog(Dialog):
    """Asks for the code and joins (`Join`). Closing it cancels. `own` is this device's id; `joined` gets the device
    that added this one.

    A link that was opened from outside, for example by a web page, is shown first and used only after confirmation.
    """

    def __init__(
        self, parent: Gtk.Window, own: str, joined: Callable[[values.Peer], None], link: Optional[str] = None
    ) -> None:
        super().__init__(parent, _("Join Another Device"))
        self._own = own
        self._joined = joined
        self._call: Optional[Call] = None
        self._host = values.Peer("", "")
        self._given = ""
        self._address = ""
        self.connect("close-request", lambda _: self._end())
        if link:
            self.take_link(link)
        else:
            self._ask()

    def _end(self) -> bool:
        if self._call:
            self._call.cancel()
        return False

    @property
    def is_joining(self) -> bool:
        """True while a call is in progress, which another link must not replace."""
        return self._call is not None

    # ---- Input -------------------------------------------------------------------------------------------

    def take_link(self, link: str) -> None:
        """Shows a link, and asks for confirmation."""
        places = ", ".join(visible(each, 60) for each in links.places(link))
        cancel = button(_("_Cancel"), self.close)
        join = button(_("_Join"), lambda: self._join({"link": link}), "suggested-action")
        page = message(
            "dialog-question-symbolic",
            _("Join by This Link?"),
            _("The device that created this link will be able to see the offers of this device. Join only if you have "
              "just received the link from one of your own devices.\n\nAddress of the other device: {address}"
              ).format(address=places),
        )
        # A page can open the link, but cannot know when Return is pressed.
        self.show_content(page, actions=[cancel, join], focus=cancel)

    def _ask(self, problem: str = "") -> None:
        entry = Adw.EntryRow(title=_("Digits or link"), text=self._given)
        address = Adw.EntryRow(title=_("Address (host:port)"), text=self._address)
        rows = Gtk.ListBox(selection_mode=Gtk.SelectionMode.NONE)
        rows.add_css_class("boxed-list")
        rows.append(entry)
        rows.append(address)

        def go(*_: object) -> None:
            self._given, self._address = entry.get_text(), address.get_text().strip()
            found = links.read(self._given)
            if found:
                self._join({"link": found})
            elif links.is_code(self._given):
                self._join({"code": self._given, **({"address": self._address} if self._address else {})})

        join = button(_("_Join"), go, "suggested-action")
        reason = label("", "dim-label")

        def typed(*_: object) -> None:
            text = entry.get_text()
            is_link = links.read(text) is not None
            join.set_sensitive(is_link or links.is_code(text))
            reason.set_label(links.error(text))
            reason.set_visible(not join.get_sensitive())
            self.fit()
            # A link contains the address.
            address.set_sensitive(not is_link)

        entry.connect("changed", typed)
        entry.connect("entry-activated", go)
        address.connect("entry-activated", go)
        typed()
        intro = label(
            _("On the other device, choose “Add a Device”. Then enter its eight digits or paste its link.")
        )
        warning = label(sentence(problem), "error", visible=bool(problem))
        self.show_content(
            intro, rows, label(_("The address is needed only if the other device is not found."), "dim-label"), reason,
            warning, actions=[button(_("_Cancel"), self.close), join], focus=entry)

    # ---- Joining -------------------------------------------------------------------------------------------------

    def _join(self, parameters: dict) -> None:
        self._show_progress(_("Looking for the other device…"))
        self._call = Call("Join", parameters, more=True, reply=self._took, failed=self._failed)

    def _show_progress(self, text: str, *more: Gtk.Widget) -> None:
        cancel = button(_("_Cancel"), self.close)
        self.show_content(waiting(text), *more, actions=[cancel], focus=cancel)

    def _took(self, results: dict) -> None:
        event = results.get("event")
        if event == "calling":
            address = visible(str(results.get("address")), 80)
            self._show_progress(_("Connecting to {address}…").format(address=address))
        elif event == "waiting":
            self._host = values.Peer.read(results.get("device"))
            self._show_progress(
                _("Confirm on {device} ({id}) that this device can join. Compare the number shown there with the number "
                  "of this device:").format(device=visible(self._host.name), id=short(self._host.id)),
                label(short(self._own), "title-1", "numeric", selectable=True),
            )
        elif event == "joined":
            self._call = None
            done = button(_("_Done"), self.close, "suggested-action")
            page = message(
                "emblem-ok-symbolic", _("Joined"),
                _("This device is now in the same account as {device}.").format(device=visible(self._host.name))
            )
            self.show_content(page, actions=[done], focus=done)
            self._joined(self._host)

    def _failed(self, failure: Failure) -> None:
        self._call = None
        self._ask(visible(failure.message, 1000))
