"""The offers of other devices, with a Continue button."""

from typing import Callable, Optional

from gi.repository import Gtk

from . import values
from .model import Model
from .texts import moment, visible
from .varlink import Call, Failure
from .widgets import Page, Row, Rows, button, describe, name, show_kind, status_page


class OfferRow(Row):
    """An offer and the progress of its continuation."""

    def __init__(self, page: "OffersPage", offer: values.Offer) -> None:
        super().__init__()
        self.offer = offer
        self._page = page
        self._call: Optional[Call] = None
        self._failure = ""
        self._spinner = Gtk.Spinner(valign=Gtk.Align.CENTER)
        self._continue = button("Continue", self.go, valign=Gtk.Align.CENTER)
        self._moment = moment(offer.age)
        self._icon = Gtk.Image()
        self.add_prefix(self._icon)
        self.add_suffix(self._spinner)
        self.add_suffix(self._continue)
        self.set_activatable_widget(self._continue)

    def show_offer(self, offer: values.Offer) -> None:
        """Shows the current state of the offer."""
        self.offer = offer
        show_kind(self._icon, offer.device_kind)
        title = visible(offer.title or offer.type)
        name(self._continue, f"Continue {title}")
        opener = {"app": f"opens in {visible(offer.opener)}", "web": "opens in the web browser"}.get(offer.opens)
        words = [("sent by " if offer.sent else "") + visible(offer.device_name), f"since {self._moment}",
                 opener or visible(offer.reason or "no app opens it")]
        self.show(title, "  ·  ".join(words) + (f"\n{self._failure}" if self._failure else ""))
        is_going = self._call is not None
        self._spinner.set_visible(is_going)
        self._spinner.set_spinning(is_going)
        self._continue.set_sensitive(not is_going and offer.opens != "nothing")

    def go(self) -> None:
        """Continues the offer on this device."""
        def reply(results: dict) -> None:
            if results.get("event") == "continued":
                opens = results.get("opens")
                opener = opens.get("name") if isinstance(opens, dict) else None
                end("")
                self._page.inform(f"Opened in {visible(opener)}" if isinstance(opener, str) and opener else "Opened")

        def failed(failure: Failure) -> None:
            end(visible(failure.message, 1000))
            # The row may have been removed, together with the reason.
            if not self.get_mapped():
                self._page.fail(f"Could not continue: {visible(failure.message, 1000)}")

        def end(text: str) -> None:
            self._call, self._failure = None, text
            self.show_offer(self.offer)

        self._failure = ""
        self._call = Call(
            "Continue",
            {"activity": self.offer.id, "from": self.offer.device},
            more=True,
            reply=reply,
            failed=failed,
            # The time that starting an app may take.
            timeout=120,
        )
        self.show_offer(self.offer)


class OffersPage(Gtk.Stack):
    """The page of offers. `inform` shows a short message, and `fail` an error."""

    def __init__(self, model: Model, inform: Callable[[str], None], fail: Callable[[str], None]) -> None:
        super().__init__()
        self.inform, self.fail = inform, fail
        self._model = model
        self._rows = Rows(lambda offer: OfferRow(self, offer), lambda row, offer: row.show_offer(offer))
        page = Page()
        page.heading("On Your Other Devices")
        page.add(self._rows)
        self._empty = status_page("dev.handoff1.Settings-symbolic", "Nothing to Continue")
        self.add_named(page, "list")
        self.add_named(self._empty, "empty")

    def refresh(self) -> None:
        """Shows the state of the model."""
        self._rows.show_all((each.key, each) for each in self._model.offers)
        restriction = self._model.status.restriction("receive")
        if restriction:
            why = visible(restriction.message, 1000)
        elif len(self._model.devices) < 2:
            why = "Add another device first."
        else:
            why = "Activities from your other devices appear here while they are online."
        describe(self._empty, why)
        self.set_visible_child_name("list" if self._model.offers else "empty")
