"""What this device offers and shows, and which of its apps take part."""

from typing import Callable, Optional

from gi.repository import Gtk

from . import values
from .model import Model
from .texts import at, visible
from .varlink import Failure
from .widgets import Page, Row, Rows, SwitchRow, beside, button

_DIRECTIONS = (
    ("advertise", "Offer What I Do Here", "Your other devices can continue it."),
    ("receive", "Show What Other Devices Offer", "In this window, and as notifications."),
)
# Who may switch on what is off for these reasons is somebody else, or nobody.
_FIXED = ("policy", "configuration")
_PAUSES = (("15 _Minutes", 900), ("One _Hour", 3600), ("Until I _Resume", None))


class SwitchesPage(Page):
    """The page of switches. `fail` shows an error."""

    def __init__(self, model: Model, fail: Callable[[str], None]) -> None:
        super().__init__()
        self._model, self._fail = model, fail
        self._directions: dict[str, SwitchRow] = {}
        self.heading("Handoff")
        rows = Gtk.ListBox(selection_mode=Gtk.SelectionMode.NONE)
        rows.add_css_class("boxed-list")
        for direction, title, _ in _DIRECTIONS:
            row = SwitchRow(lambda is_on, direction=direction: self._set({direction: is_on}))
            row.set_title(title)
            self._directions[direction] = row
            rows.append(row)
        self._pauses = beside(*(
            button(text, lambda seconds=seconds: self._pause(seconds)) for text, seconds in _PAUSES))
        self._resume = button(
            "_Resume Now",
            lambda: self._set({"advertise": True, "receive": True}),
            "suggested-action",
            "pill",
            halign=Gtk.Align.CENTER,
        )
        self.add(rows)
        self._heading = self.heading(
            "Pause", "Neither offers nor shows anything for some time. What was begun is completed."
        )
        self.add(self._pauses, self._resume)
        self._apps_heading = self.heading(
            "Apps", "An app that is off continues nothing, and what you do in it is not offered."
        )
        self._apps = Rows(self._make_app, self._show_app)
        self._no_apps = Row(
            "No App Takes Part Yet", "Apps appear here once they are installed. Web pages are continued without one."
        )
        self._no_apps_list = Gtk.ListBox(selection_mode=Gtk.SelectionMode.NONE)
        self._no_apps_list.add_css_class("boxed-list")
        self._no_apps_list.append(self._no_apps)
        self.add(self._apps, self._no_apps_list)
        self._notified_heading = self.heading(
            "Notifications", "What an app would open is shown in this window all the same, and can be continued here."
        )
        self._notified = Rows(self._make_notified, self._show_notified)
        self.add(self._notified)

    def refresh(self) -> None:
        """Shows what the model has."""
        status = self._model.status
        for direction, title, explanation in _DIRECTIONS:
            hold = status.hold(direction)
            # A session that is locked now is no switch.
            is_on = hold is None or hold.by == "session"
            row = self._directions[direction]
            row.show(title, _why(hold) or explanation)
            row.show_state(is_on, hold is None or hold.by not in _FIXED)
        is_paused = all((hold := status.hold(each)) is not None and hold.by != "session" for each, _, _ in _DIRECTIONS)
        is_users = all((hold := status.hold(each)) is not None and hold.by == "user" for each, _, _ in _DIRECTIONS)
        self._pauses.set_visible(not is_paused)
        self._resume.set_visible(is_users)
        self._apps.show_all((each.id, each) for each in self._model.apps)
        self._no_apps_list.set_visible(not self._model.apps)
        self._notified.show_all((each.id, each) for each in self._model.apps)
        self._notified_heading.set_visible(bool(self._model.apps))

    def _make_app(self, app: values.App) -> SwitchRow:
        return SwitchRow(
            lambda is_on: self._model.do("SetAppEnabled", {"app": app.id, "enabled": is_on}, self._done, "apps")
        )

    def _show_app(self, row: SwitchRow, app: values.App) -> None:
        row.show(visible(app.name or app.id), visible(app.id) + ("  ·  running" if app.running else ""))
        row.show_state(app.enabled)

    def _make_notified(self, app: values.App) -> SwitchRow:
        return SwitchRow(
            lambda is_on: self._model.do("SetAppNotified", {"app": app.id, "notified": is_on}, self._done, "apps")
        )

    def _show_notified(self, row: SwitchRow, app: values.App) -> None:
        row.show(f"Notifications of {visible(app.name or app.id)}", visible(app.id))
        if not app.enabled:
            row.show(row.get_title(), "The app is off, so nothing of it is shown.")
        row.show_state(app.notified, app.enabled)

    def _pause(self, seconds: Optional[int]) -> None:
        self._set({"advertise": False, "receive": False, **({"seconds": float(seconds)} if seconds else {})})

    def _set(self, parameters: dict) -> None:
        self._model.do("SetSwitches", parameters, self._done, "status")

    def _done(self, failure: Optional[Failure]) -> None:
        if failure:
            self._fail(visible(failure.message, 1000))
            # The switch stands where the user has put it.
            self.refresh()


def _why(hold: Optional[values.Hold]) -> str:
    if hold is None:
        return ""
    until = f", until {at(hold.until)}" if hold.until else ""
    # A fragment elsewhere, and alone here.
    return visible(hold.message[:1].upper() + hold.message[1:], 1000) + until
