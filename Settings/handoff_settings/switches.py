"""The switches for offering and showing activities, and for apps."""

from typing import Callable, Optional

from gi.repository import GLib, Gtk
from handoff_locale import _

from . import values
from .model import Model
from .texts import at, sentence, visible
from .varlink import Failure
from .widgets import Page, Row, Rows, SwitchRow, beside, button

_DIRECTIONS = (
    ("advertise", _("Offer My Activities"), _("Your other devices can continue them.")),
    ("receive", _("Show Offers of Other Devices"), _("In this window and as notifications.")),
)
# The user cannot change switches that are off for these reasons.
_FIXED = ("policy", "configuration")
# The maximum size in bytes of a document that is saved without asking, as `handoffctl device accept` sets it.
_ACCEPT_LIMIT = 1 << 30
_PAUSES = ((_("15 _Minutes"), 900), (_("One _Hour"), 3600), (_("Until I _Resume"), None))


class SwitchesPage(Page):
    """The page of switches. `fail` shows an error."""

    def __init__(self, model: Model, fail: Callable[[str], None]) -> None:
        super().__init__()
        self._model, self._fail = model, fail
        self._directions: dict[str, SwitchRow] = {}
        self.heading("Handoff")
        rows = Gtk.ListBox(selection_mode=Gtk.SelectionMode.NONE)
        rows.add_css_class("boxed-list")
        for direction, title, _explanation in _DIRECTIONS:
            row = SwitchRow(lambda is_on, direction=direction: self._set({direction: is_on}))
            row.set_title(title)
            self._directions[direction] = row
            rows.append(row)
        self._pauses = beside(*(
            button(text, lambda seconds=seconds: self._pause(seconds)) for text, seconds in _PAUSES))
        self._resume = button(
            _("_Resume Now"),
            lambda: self._set({"advertise": True, "receive": True}),
            "suggested-action",
            "pill",
            halign=Gtk.Align.CENTER,
        )
        self.add(rows)
        # Set in a file, because it is a decision for all apps, and one of the administrator's.
        self._keeping = Row(_("Keep Activities While Devices Sleep"))
        self._keeping_state = Gtk.Label()
        self._keeping_state.add_css_class("dim-label")
        self._keeping.add_suffix(self._keeping_state)
        rows.append(self._keeping)
        self._heading = self.heading(
            _("Pause"), _("Stops offering and showing activities for a while. Transfers in progress are completed.")
        )
        self.add(self._pauses, self._resume)
        self._apps_heading = self.heading(
            _("Apps"), _("An app that is turned off does not continue activities, and its own are not offered.")
        )
        self._apps = Rows(self._make_app, self._show_app)
        self._no_apps = Row(
            _("No Apps Yet"),
            _("Apps that support Handoff appear here once they are installed. Web pages need no app.")
        )
        self._no_apps_list = Gtk.ListBox(selection_mode=Gtk.SelectionMode.NONE)
        self._no_apps_list.add_css_class("boxed-list")
        self._no_apps_list.append(self._no_apps)
        self.add(self._apps, self._no_apps_list)
        self._notified_heading = self.heading(
            _("Notifications"), _("Offers for an app without notifications still appear in this window.")
        )
        self._notified = Rows(self._make_notified, self._show_notified)
        self.add(self._notified)
        self._accepted_heading = self.heading(
            _("Save Without Asking"), _("Documents that the device sends are saved in the downloads folder. Programs, folders and "
            "large files still need your confirmation.")
        )
        self._accepted = Rows(self._make_accepted, self._show_accepted)
        self.add(self._accepted)

    def refresh(self) -> None:
        """Shows the state of the model."""
        status = self._model.status
        for direction, title, explanation in _DIRECTIONS:
            restriction = status.restriction(direction)
            # A locked session does not change the switch.
            is_on = restriction is None or restriction.by == "session"
            row = self._directions[direction]
            row.show(title, _why(restriction) or explanation)
            row.show_state(is_on, restriction is None or restriction.by not in _FIXED)
        self._keeping.set_visible(status.keeping is not None)
        self._keeping.set_subtitle(
            _("Your devices hold each other's activities in memory for 24 hours. Set keep in handoffd.conf to change "
              "this.")
            if status.keeping else
            _("Activities end when their device goes to sleep. Set keep in handoffd.conf to change this."))
        self._keeping_state.set_label(_("On") if status.keeping else _("Off"))
        restrictions = [status.restriction(each[0]) for each in _DIRECTIONS]
        is_paused = all(each is not None and each.by != "session" for each in restrictions)
        is_users = all(each is not None and each.by == "user" for each in restrictions)
        self._pauses.set_visible(not is_paused)
        self._resume.set_visible(is_users)
        self._apps.show_all((each.id, each) for each in self._model.apps)
        self._no_apps_list.set_visible(not self._model.apps)
        self._notified.show_all((each.id, each) for each in self._model.apps)
        self._notified_heading.set_visible(bool(self._model.apps))
        others = [each for each in self._model.devices if not each.is_self]
        self._accepted.show_all((each.id, each) for each in others)
        self._accepted_heading.set_visible(bool(others))

    def _make_app(self, app: values.App) -> SwitchRow:
        return SwitchRow(
            lambda is_on: self._model.do("SetAppEnabled", {"app": app.id, "enabled": is_on}, self._done, "apps")
        )

    def _show_app(self, row: SwitchRow, app: values.App) -> None:
        row.show(visible(app.name or app.id), "  ·  ".join([visible(app.id), *([_("running")] if app.running else [])]))
        row.show_state(app.enabled)

    def _make_notified(self, app: values.App) -> SwitchRow:
        return SwitchRow(
            lambda is_on: self._model.do("SetAppNotified", {"app": app.id, "notified": is_on}, self._done, "apps")
        )

    def _show_notified(self, row: SwitchRow, app: values.App) -> None:
        row.show(_("Notifications for {app}").format(app=visible(app.name or app.id)), visible(app.id))
        if not app.enabled:
            row.show(row.get_title(), _("The app is turned off, so no notifications are shown."))
        row.show_state(app.notified, app.enabled)

    def _make_accepted(self, device: values.Device) -> SwitchRow:
        return SwitchRow(
            lambda is_on: self._model.do(
                "SetDeviceAccepted", {"device": device.id, **({"limit": _ACCEPT_LIMIT} if is_on else {})}, self._done,
                "devices"))

    def _show_accepted(self, row: SwitchRow, device: values.Device) -> None:
        limit = device.accept_limit
        row.show(
            _("From {device}").format(device=visible(device.label)),
            "" if limit is None else _("Documents of up to {size}").format(size=GLib.format_size(limit)))
        row.show_state(limit is not None)

    def _pause(self, seconds: Optional[int]) -> None:
        self._set({"advertise": False, "receive": False, **({"seconds": float(seconds)} if seconds else {})})

    def _set(self, parameters: dict) -> None:
        self._model.do("SetSwitches", parameters, self._done, "status")

    def _done(self, failure: Optional[Failure]) -> None:
        if failure:
            self._fail(visible(failure.message, 1000))
            # Resets the switch, which is still in the position that the user chose.
            self.refresh()


def _why(restriction: Optional[values.Restriction]) -> str:
    if restriction is None:
        return ""
    message = visible(sentence(restriction.message), 1000)
    if not restriction.until:
        return message
    return _("{message}, until {time}").format(message=message, time=at(restriction.until))
