"""The offers of other devices and recent activities, with a Continue button, a choice of the app, and what is missing here."""

from typing import Callable, Optional

from gi.repository import Gdk, Gio, GLib, GObject, Gtk
from handoff_locale import _

from . import values
from .doctor import run_program
from .messages import translated
from .model import Model
from .texts import moment, sentence, visible
from .varlink import Call, Failure
from .widgets import Page, Row, Rows, button, describe, name, show_kind, status_page

# The choice of the web browser. No app has this id.
_WEB = "/web"
_CLIPBOARD = "dev.handoff1.clipboard"
# Marks the clipboard of another device, which handoff-clipboard does not offer.
_REMOTE = "application/x-handoff-clipboard"


def _has_software() -> bool:
    """Returns whether a software centre opens the addresses of apps."""
    return Gio.AppInfo.get_default_for_uri_scheme("appstream") is not None


def _newer_words(newer: values.Newer) -> str:
    """The device that has a newer state, as a sentence."""
    if newer.is_here:
        return _("A newer state has been on this device since {time}").format(time=newer.time)
    return _("A newer state has been on {device} since {time}").format(device=visible(newer.device_name), time=newer.time)


class OfferRow(Row):
    """An offer and the progress of its continuation."""

    def __init__(self, page: "OffersPage", offer: values.Offer, is_recent: bool = False) -> None:
        super().__init__()
        self.offer = offer
        self._page = page
        self._call: Optional[Call] = None
        self._failure = ""
        # The newer state, because of which the offer was not continued, and the app that the user had chosen.
        self._newer: Optional[values.Newer] = None
        self._app = ""
        self._spinner = Gtk.Spinner(valign=Gtk.Align.CENTER)
        self._is_clipboard = offer.type == _CLIPBOARD
        self._is_copying = False
        self._is_recent = is_recent
        self._continue = button(
            _("Copy") if self._is_clipboard else _("Reopen") if is_recent else _("Continue"),
            self._copy if self._is_clipboard else self.go,
            valign=Gtk.Align.CENTER)
        self._install = button(_("Open in Software"), self._open_software, valign=Gtk.Align.CENTER)
        self._go_newer = button(_("Continue Newer"), lambda: self.go(self._app, self._newer))
        self._go_older = button(_("Open Older"), lambda: self.go(self._app, is_older=True))
        # A narrow window has no room for both in one line.
        self._states = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6, valign=Gtk.Align.CENTER, margin_top=6,
                               margin_bottom=6)
        self._states.append(self._go_newer)
        self._states.append(self._go_older)
        self._choices: Optional[list[tuple[str, str]]] = None
        self._chooser = Gtk.MenuButton(icon_name="pan-down-symbolic", valign=Gtk.Align.CENTER,
                                       tooltip_text=_("Open With"))
        name(self._chooser.get_first_child(), _("Open With"))
        actions = Gio.SimpleActionGroup()
        choose = Gio.SimpleAction.new("open", GLib.VariantType("s"))
        choose.connect("activate", lambda _, app: self.go(app.get_string()))
        actions.add_action(choose)
        self.insert_action_group("offer", actions)
        self._moment = moment(offer.age)
        self._icon = Gtk.Image()
        self.add_prefix(self._icon)
        self.add_suffix(self._spinner)
        self.add_suffix(self._install)
        self.add_suffix(self._continue)
        self.add_suffix(self._states)
        self.add_suffix(self._chooser)

    def show_offer(self, offer: values.Offer) -> None:
        """Shows the current state of the offer."""
        self.offer = offer
        show_kind(self._icon, offer.device_kind)
        title = _("Clipboard") if self._is_clipboard else visible(offer.title or offer.type)
        verb = _("Copy {title}") if self._is_clipboard else _("Reopen {title}") if self._is_recent else _("Continue {title}")
        continued = self._page.continued(offer)
        if continued:
            verb = _("Take Back {title}")
        if not self._is_clipboard:
            self._continue.set_label(_("Take Back") if continued else _("Reopen") if self._is_recent else _("Continue"))
        name(self._continue, verb.format(title=title))
        opener = {"app": _("opens in {app}").format(app=visible(offer.opener)), "web": _("opens in the web browser")}.get(
            offer.opens)
        device = visible(offer.device_name)
        is_used = offer.exclusive and not (offer.kept and offer.kept.state == "ended")
        since = (_("in use there since {time}") if is_used else _("since {time}")).format(time=self._moment)
        words = [_("sent by {device}").format(device=device) if offer.sent else device,
                 *([since] if is_used or not offer.kept else []),
                 *([offer.kept.words(self._page.is_own(offer))] if offer.kept else []),
                 _("can be copied here") if self._is_clipboard else
                 opener or visible(translated(offer.reason)) or _("no app opens it")]
        lines = ["  ·  ".join(words)]
        if continued:
            lines.append(_("Continued from this device at {time}").format(time=continued))
        if offer.kept and offer.streams:
            lines.append(sentence(offer.kept.missing_words(device)))
        if offer.missing:
            lines.append(_("Not on this device: {things}").format(
                things=", ".join(visible(each.words) for each in offer.missing)))
        if self._newer:
            lines.append(_newer_words(self._newer))
        if self._failure:
            lines.append(self._failure)
        self.show(title, "\n".join(lines))
        is_going = self._call is not None or self._is_copying
        is_choice = self._newer is not None and not is_going
        can_install = self._component is not None and _has_software() and not is_choice
        self._install.set_visible(can_install)
        # A narrow window has no room for both.
        self._continue.set_visible((not can_install or offer.opens != "nothing") and not is_choice)
        self._states.set_visible(is_choice)
        has_newer = is_choice and not self._newer.is_here
        self._go_newer.set_visible(has_newer)
        self.set_activatable_widget(self._go_newer if has_newer else self._go_older if is_choice else self._continue)
        self._show_choices()
        if is_choice:
            self._chooser.set_visible(False)
        self._chooser.set_sensitive(not is_going)
        self._spinner.set_visible(is_going)
        self._spinner.set_spinning(is_going)
        self._continue.set_sensitive(not is_going and (offer.opens != "nothing" or self._is_clipboard))

    @property
    def _component(self) -> Optional[str]:
        """The id of the missing app in AppStream."""
        return next((each.component for each in self.offer.missing if each.component), None)

    def _open_software(self) -> None:
        try:
            Gio.AppInfo.launch_default_for_uri(f"appstream://{self._component}", None)
        except GLib.Error as error:
            self._page.fail(_("Could not open Software: {error}").format(error=visible(error.message, 1000)))

    def _show_choices(self) -> None:
        """Shows the menu of apps, and of the browser, if there is a choice."""
        choices = list(self.offer.choices)
        if self.offer.opens == "app" and self.offer.has_page:
            choices = [*(choices or [("", self.offer.opener)]), (_WEB, _("Web Browser"))]
        self._chooser.set_visible(len(choices) > 1)
        # An open menu would close.
        if choices == self._choices:
            return
        self._choices = choices
        menu = Gio.Menu()
        for app, label in choices:
            # An underscore marks a mnemonic.
            item = Gio.MenuItem.new(visible(label, 60).replace("_", "__"), None)
            item.set_action_and_target_value("offer.open", GLib.Variant("s", app))
            menu.append_item(item)
        self._chooser.set_menu_model(menu)

    def _copy(self) -> None:
        """Copies the text of the clipboard of the other device, also where no service may set the clipboard."""
        def done(code: Optional[int], output: str, errors: str) -> None:
            self._is_copying = False
            self._failure = "" if code == 0 else visible(errors.split("\n")[0].removeprefix("handoffctl: "), 1000)
            self.show_offer(self.offer)
            if code != 0:
                return
            text = Gdk.ContentProvider.new_for_value(GObject.Value(str, output.replace("\0", "\ufffd")))
            mark = Gdk.ContentProvider.new_for_bytes(_REMOTE, GLib.Bytes.new(b""))
            self.get_clipboard().set_content(Gdk.ContentProvider.new_union([text, mark]))
            self._page.inform(_("Copied"))

        self._is_copying = True
        self.show_offer(self.offer)
        run_program(["handoffctl", "paste", "--from", self.offer.device, "--type", "text/plain"], done)

    def go(self, app: str = "", newer: Optional[values.Newer] = None, is_older: bool = False) -> None:
        """Continues the offer on this device: in an app by its id, in the browser (`_WEB`), or as usual.

        `newer` is continued instead. With `is_older`, the offer is continued although a newer state is known.
        """
        def reply(results: dict) -> None:
            if results.get("event") == "continued":
                opens = results.get("opens")
                opener = opens.get("name") if isinstance(opens, dict) else None
                end("")
                text = _("Opened")
                if isinstance(opener, str) and opener:
                    text = _("Opened in {app}").format(app=visible(opener))
                activity = values.Offer.read(results.get("activity"))
                if activity.kept:
                    parts = [text, activity.kept.words(self._page.is_own(activity))]
                    if activity.streams:
                        parts.append(activity.kept.missing_words(visible(activity.device_name)))
                    text = "  ·  ".join(parts)
                missing = ", ".join(visible(each.words) for each in values.missing(results))
                if missing:
                    self._page.fail(_("{result}. Not on this device: {things}").format(result=text, things=missing))
                else:
                    self._page.inform(text)

        def failed(failure: Failure) -> None:
            self._newer = values.Newer.read(failure.parameters.get("newer"))
            end("" if self._newer else visible(failure.message, 1000))
            # The row may have been removed, together with the reason.
            if not self.get_mapped():
                self._page.fail(_("Could not continue: {error}").format(error=visible(failure.message, 1000)))

        def end(text: str) -> None:
            self._call, self._failure = None, text
            self.show_offer(self.offer)

        if self._call is not None:
            return
        self._failure, self._newer, self._app = "", None, app
        choice = {"web": True} if app == _WEB else {"app": app} if app else {}
        if is_older:
            choice["older"] = True
        activity, device = (newer.activity, newer.device) if newer else self.offer.key[::-1]
        self._call = Call(
            "Continue",
            {"activity": activity, "from": device, **choice},
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
        self._recent = Rows(lambda offer: OfferRow(self, offer, is_recent=True), lambda row, offer: row.show_offer(offer))
        page = Page()
        self._heading = page.heading(_("On Your Other Devices"))
        page.add(self._rows)
        self._recent_heading = page.heading(
            _("Recent"), _("Closed in the last 24 hours. Your devices still keep them."))
        page.add(self._recent)
        self._empty = status_page("dev.handoff1.Settings-symbolic", _("Nothing to Continue"))
        self.add_named(page, "list")
        self.add_named(self._empty, "empty")

    def refresh(self) -> None:
        """Shows the state of the model."""
        # Those of devices that cannot be reached last.
        offers = sorted(self._model.offers, key=lambda each: each.kept is not None)
        self._rows.show_all((each.key, each) for each in offers)
        self._heading.set_visible(bool(offers))
        offered = {each.key for each in offers}
        recent = [each for each in self._model.recent if each.kept and each.key not in offered]
        self._recent.show_all((each.key, each) for each in recent)
        self._recent_heading.set_visible(bool(recent))
        restriction = self._model.status.restriction("receive")
        if restriction:
            why = visible(restriction.message, 1000)
        elif len(self._model.devices) < 2:
            why = _("Add another device first.")
        else:
            why = _("Activities from your other devices appear here while they are online.")
        describe(self._empty, why)
        self.set_visible_child_name("list" if offers or recent else "empty")

    def continued(self, offer: values.Offer) -> str:
        """Returns when an offer was continued from this device, which has an older state; empty if it was not."""
        return next((each.time for each in self._model.published if each.newer == offer.key), "")

    def is_own(self, offer: values.Offer) -> bool:
        """Returns whether an activity is of this device."""
        return offer.device == self._model.status.device
