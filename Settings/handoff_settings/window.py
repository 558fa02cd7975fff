"""The window: its pages, or the reason why they are not available."""

from typing import Callable, Optional

from gi.repository import Adw, Gio, GLib, Gtk
from handoff_locale import _, ngettext

from .devices import DevicesPage
from .doctor import Doctor, run_program
from .first_run import FirstRun
from .joining import JoiningDialog
from .model import Model
from .offers import OffersPage
from .problems import ProblemsPage, paused
from .shortcuts import ShortcutsWindow
from .switches import SwitchesPage
from .texts import sentence, visible
from .varlink import Failure
from .widgets import button, describe, name, status_page, toast, waiting

_START = ["systemctl", "--user", "start", "handoffd.service"]
# The reasons why a device is no longer a member of its account, by its standing.
_EXCLUDED = {
    "removed": (_("This Device Was Removed"), _("Another device has removed this one from the account.")),
    "removedMutually": (
        _("This Device Was Removed"), _("This device and another one have removed each other from the account.")),
    "fileUsedTwice": (
        _("This Device Was Not Admitted"), _("Another device used the same account file, so both were rejected.")),
    "fileClosed": (_("This Device Was Not Admitted"), _("The account file was closed before it was used.")),
}
_WIDE = 600
_LEAVE = _("This device can no longer exchange activities with the others. Leave the account, then join again or "
           "create a new one.")


class Window(Adw.ApplicationWindow):
    """Shows the state of the model and the results of the doctor."""

    def __init__(self, application: Adw.Application, model: Model, doctor: Doctor) -> None:
        super().__init__(application=application, title="Handoff", default_width=840, default_height=680,
                         icon_name="dev.handoff1.Settings")
        self.set_size_request(360, 300)
        self._model, self._doctor = model, doctor
        self._joining: Optional[JoiningDialog] = None
        # A link that was opened before the daemon replied.
        self._link: Optional[str] = None
        self._toasts = Adw.ToastOverlay()
        self._devices = DevicesPage(model, self.inform, self.fail)
        self._offers = OffersPage(model, self.inform, self.fail)
        self._switches = SwitchesPage(model, self.fail)
        self.pages = Adw.ViewStack()
        self._problems = ProblemsPage(model, doctor, self._go, self.fail)
        self._titles = ["devices", "offers", "switches", "problems"]
        for page, key, title, icon in (
            (self._devices, "devices", _("Devices"), "computer-symbolic"),
            (self._offers, "offers", _("Offers"), "dev.handoff1.Settings-symbolic"),
            (self._switches, "switches", _("Switches"), "preferences-system-symbolic"),
            (self._problems, "problems", _("Problems"), "dialog-warning-symbolic"),
        ):
            added = self.pages.add_titled(page, key, title)
            added.set_icon_name(icon)
        self.pages.connect("notify::visible-child-name", self._page_chosen)
        self._first = FirstRun(self._create, self.join)
        self._stopped = status_page("dialog-warning-symbolic", _("Handoff Is Not Running"))
        self._start = button(_("_Start"), self.start_daemon, "suggested-action", "pill", halign=Gtk.Align.CENTER)
        self._stopped.set_child(self._start)
        self._excluded = status_page("dialog-warning-symbolic", "")
        self._excluded.set_child(
            button(_("_Leave the Account…"), self._devices.leave, "suggested-action", "pill", halign=Gtk.Align.CENTER))
        self._phases = Gtk.Stack(vexpand=True)
        busy = waiting(_("Connecting to handoffd…"))
        busy.set_valign(Gtk.Align.CENTER)
        for child, key in (
            (busy, "connecting"),
            (self._stopped, "stopped"),
            (self._first, "first"),
            (self._excluded, "excluded"),
            (self.pages, "main"),
        ):
            self._phases.add_named(child, key)
        self._lay_out()
        followed = model.connect("changed", lambda _, part: self._changed(part))
        checked = doctor.connect("changed", lambda _: self._show_doctor())
        # Windows that send may outlive this one.
        self.connect("destroy", lambda _: (model.disconnect(followed), doctor.disconnect(checked)))
        self._changed("phase")

    def _lay_out(self) -> None:
        self._switcher = Adw.ViewSwitcherTitle(stack=self.pages, title="Handoff")
        bar = Adw.ViewSwitcherBar(stack=self.pages)
        self._bar = bar
        # Deferred: the property changes while the window is being resized, when it is too late for
        # another change.
        self._switcher.connect("notify::title-visible", lambda *_: GLib.idle_add(self._show_bar))
        self._header = header = Adw.HeaderBar(title_widget=self._switcher)
        self.connect("notify::default-width", lambda *_: self._centre())
        self._centre()
        menu = Gio.Menu()
        menu.append(_("_Send Files…"), "app.send")
        menu.append(_("_Keyboard Shortcuts"), "win.show-help-overlay")
        menu.append(_("_About Handoff"), "app.about")
        opener = Gtk.MenuButton(
            icon_name="open-menu-symbolic", menu_model=menu, tooltip_text=_("Main Menu"), primary=True)
        # The inner button has the focus, but no name of its own.
        name(opener.get_first_child(), _("Main Menu"))
        header.pack_end(opener)
        self.set_help_overlay(ShortcutsWindow())
        for number, page in enumerate(self._titles):
            self._add_action(f"page-{page}", lambda page=page: self._choose(page), f"<Alt>{number + 1}")
        self._add_action("next-page", lambda: self._step(1), "<Control>Page_Down")
        self._add_action("previous-page", lambda: self._step(-1), "<Control>Page_Up")
        # Problems, above every page.
        self._banner_button = button("", self._follow_banner, "flat", "trouble")
        self._banner = Gtk.Revealer(child=self._banner_button)
        content = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        for each in (header, self._banner, self._phases, bar):
            content.append(each)
        self._toasts.set_child(content)
        self.set_content(self._toasts)

    def _centre(self) -> None:
        # Centred in the window; in a narrow window, in the space beside the buttons, which allows
        # a smaller width.
        is_wide = self.get_default_size().width >= _WIDE
        self._header.set_centering_policy(
            Adw.CenteringPolicy.STRICT if is_wide else Adw.CenteringPolicy.LOOSE)

    def _add_action(self, key: str, done: Callable[[], None], keys: str) -> None:
        action = Gio.SimpleAction.new(key, None)
        action.connect("activate", lambda *_: done())
        self.add_action(action)
        self.get_application().set_accels_for_action(f"win.{key}", [keys])

    def _choose(self, page: str) -> None:
        if self._phases.get_visible_child_name() == "main":
            self.pages.set_visible_child_name(page)

    def _go(self, place: str) -> None:
        self._choose("devices" if place == "pair" else place)
        if place == "pair":
            self._devices.pair()

    def _step(self, by: int) -> None:
        place = self._titles.index(self.pages.get_visible_child_name()) + by
        self._choose(self._titles[place % len(self._titles)])

    def _follow_banner(self) -> None:
        self._choose("problems" if self._problems.problems or not paused(self._model) else "switches")

    # ---- Display -------------------------------------------------------------------------------------------

    def _changed(self, part: str) -> None:
        model = self._model
        if model.phase == "stopped":
            describe(self._stopped, visible(model.reason, 1000))
            self._start.set_sensitive(True)
        if model.phase != "ready":
            self._phases.set_visible_child_name(model.phase)
        else:
            if part in ("phase", "devices", "status"):
                self._devices.refresh()
            if part in ("phase", "offers", "recent", "published", "devices", "status"):
                self._offers.refresh()
            if part in ("phase", "status", "devices", "apps"):
                self._switches.refresh()
            excluded = _EXCLUDED.get(model.status.standing) if model.status.account else None
            if excluded:
                self._excluded.set_title(excluded[0])
                describe(self._excluded, f"{excluded[1]} {_LEAVE}")
            self._phases.set_visible_child_name(
                "excluded" if excluded else "main" if model.status.account else "first")
            if part not in ("offers", "recent", "published") and model.status.account:
                self._doctor.schedule()
        self._show_bar()
        self._show_doctor()
        self._take_link()

    def _show_bar(self) -> None:
        is_main = self._phases.get_visible_child_name() == "main"
        self._switcher.set_view_switcher_enabled(is_main)
        self._bar.set_reveal(is_main and self._switcher.get_title_visible())

    def _show_doctor(self) -> None:
        self._problems.refresh()
        is_main = self._phases.get_visible_child_name() == "main"
        wrong = self._problems.problems
        pause = paused(self._model)
        warnings = self._model.status.warnings
        text = ngettext("{count} problem: show details", "{count} problems: show details", wrong).format(count=wrong)
        if not wrong and pause:
            text = pause
        elif not wrong and warnings:
            text = visible(sentence(warnings[0]), 120)
        self._banner_button.set_label(text)
        name(self._banner_button, text)
        place = "switches" if pause and not wrong else "problems"
        is_elsewhere = is_main and self.pages.get_visible_child_name() not in ("problems", place)
        self._banner.set_reveal_child(is_elsewhere and bool(wrong or pause or warnings))
        self.pages.get_page(self._problems).set_needs_attention(bool(wrong))

    def _page_chosen(self, *_: object) -> None:
        if self.pages.get_visible_child_name() == "problems":
            self._doctor.run()
        self._show_doctor()

    def inform(self, text: str) -> None:
        """Shows a short message."""
        self._toasts.add_toast(toast(text))

    def fail(self, text: str) -> None:
        """Shows an error until the user closes it."""
        self._toasts.add_toast(toast(text, stays=True))

    # ---- Actions --------------------------------------------------------------------------------------

    def start_daemon(self) -> None:
        """Starts the daemon, and shows an error if that fails."""
        def ended(code: Optional[int], _output: str, errors: str) -> None:
            if code == 0:
                return self._model.connect_daemon()
            self._start.set_sensitive(True)
            self.fail(visible(errors or _("{program} exited with status {status}").format(
                program="systemctl", status=code), 1000))

        self._start.set_sensitive(False)
        run_program(_START, ended)

    def _create(self) -> None:
        def done(failure: Optional[Failure]) -> None:
            self._first.set_waiting(False)
            if failure:
                self.fail(visible(failure.message, 1000))

        self._first.set_waiting(True)
        self._model.do("CreateAccount", {}, done, "status")

    def join(self, link: Optional[str] = None) -> None:
        """Opens the dialog for joining an account, if not open already. With a link, it asks for confirmation first."""
        if self._joining:
            if link and not self._joining.is_joining:
                self._joining.take_link(link)
            return self._joining.present()

        def closed(_dialog: JoiningDialog) -> bool:
            self._joining = None
            return False

        self._joining = JoiningDialog(
            self, self._model.status.device,
            lambda device: self.inform(_("Joined {device}").format(device=visible(device.name))), link)
        self._joining.connect("close-request", closed)
        self._joining.present()

    def open_link(self, link: Optional[str]) -> None:
        """Handles a link opened from outside: asks for confirmation, or shows why it cannot be used."""
        if link is None:
            return self.fail(_("This is not a pairing link"))
        self._link = link
        self._take_link()

    def _take_link(self) -> None:
        # A link can be used only once the daemon has reported whether there is an account.
        if self._model.phase != "ready" or self._link is None:
            return
        link, self._link = self._link, None
        if self._model.status.account:
            return self.fail(
                _("This device is already in an account. To join another one, leave the account first"))
        self.join(link)
