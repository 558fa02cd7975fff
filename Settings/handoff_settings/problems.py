"""Problems and their remedies."""

from typing import Callable, Optional

from gi.repository import Gtk
from handoff_locale import _, ngettext

from .doctor import Check, Doctor, run_program
from .model import Model
from .texts import at, sentence, visible
from .varlink import Failure
from .widgets import Page, Row, Rows, button, icon_button, label, name

_ICONS = {
    "problem": ("dialog-error-symbolic", _("Problem"), "error"),
    "warning": ("dialog-warning-symbolic", _("Warning"), "warning"),
    "ok": ("emblem-ok-symbolic", _("OK"), "success"),
}
_MAX_LENGTH = 1000
# The page with controls for a failed check. Remedies from `doctor` are written for terminals.
_PAGES = {
    "switches": ("switches", _("Open Switches")),
    "devices": ("devices", _("Open Devices")),
    "account": ("devices", _("Open Devices")),
    "apps": ("switches", _("Open Switches")),
}


_PAUSE = "pause"
# The start of the remedy that adds a device.
_PAIRING = "add another device with: handoffctl pair"


def paused(model: Model) -> Optional[str]:
    """Returns that the user has paused this device, and until when; None if it is not paused."""
    restrictions = [model.status.restriction(direction) for direction in ("advertise", "receive")]
    if not all(each is not None and each.by == "user" for each in restrictions):
        return None
    ends = {each.until for each in restrictions}
    until = ends.pop() if len(ends) == 1 else None
    return _("Handoff is paused until {time}").format(time=at(until)) if until else _("Handoff is paused")


class CheckRow(Row):
    """A check with its result and remedy, which can be copied or run by a button."""

    def __init__(self, check: Check, page: "ProblemsPage") -> None:
        super().__init__()
        self.set_title_lines(0)
        icon, words, style = _ICONS[check.state]
        image = Gtk.Image.new_from_icon_name(icon)
        image.add_css_class(style)
        name(image, words)
        self.add_prefix(image)
        self._remedy = check.remedy
        if check.name == _PAUSE:
            self.add_suffix(button(_("_Resume Now"), page.resume, valign=Gtk.Align.CENTER))
        elif check.state != "ok" and check.command:
            text, words = check.command
            self.add_suffix(button(text, lambda: page.run(words), valign=Gtk.Align.CENTER))
        elif check.state != "ok" and (check.name in _PAGES or check.remedy.startswith(_PAIRING)):
            key, text = ("pair", _("_Add a Device…")) if check.remedy.startswith(_PAIRING) else _PAGES[check.name]
            self.add_suffix(button(text, lambda: page.go(key), valign=Gtk.Align.CENTER))
        if check.remedy:
            self.add_suffix(icon_button("edit-copy-symbolic", _("Copy Remedy"), self._copy))

    def show_check(self, check: Check) -> None:
        self._remedy = check.remedy
        self.show(visible(sentence(check.message), _MAX_LENGTH), visible(check.remedy, _MAX_LENGTH))

    def _copy(self) -> None:
        self.get_clipboard().set(self._remedy)


class ProblemsPage(Page):
    """The page of problems. `go` shows a page, or with `pair` the dialog that adds a device; `fail` shows an error."""

    def __init__(
        self, model: Model, doctor: Doctor, go: Callable[[str], None], fail: Callable[[str], None]
    ) -> None:
        super().__init__()
        self._model, self._doctor = model, doctor
        self.go, self._fail = go, fail
        self._verdict = label("", "title-2", margin_top=12)
        self._trouble = label("", "error")
        self._wrong = Rows(lambda check: CheckRow(check, self), lambda row, check: row.show_check(check))
        self._well = Rows(lambda check: CheckRow(check, self), lambda row, check: row.show_check(check))
        self._again = button(_("_Check Again"), doctor.run, "pill", halign=Gtk.Align.CENTER)
        self.add(self._verdict, self._trouble, self._wrong, self._again)
        self._well_heading = self.heading(_("Passed Checks"))
        self.add(self._well)

    @property
    def problems(self) -> int:
        """The number of checks that found a problem."""
        return sum(each.state == "problem" for each in self._checks)

    @property
    def _checks(self) -> list[Check]:
        """The results of the doctor. A pause by the user is shown as one note instead of a problem per direction."""
        words = paused(self._model)
        if words is None:
            return self._doctor.checks
        messages = tuple(each.message for each in self._model.status.restrictions if each.device is None)
        rest = [each for each in self._doctor.checks
                if not (each.name == "switches" and each.message.startswith(messages))]
        note = [Check(_PAUSE, "warning", words, "")] if self._doctor.checks else []
        place = sum(each.state == "problem" for each in rest)
        return rest[:place] + note + rest[place:]

    def resume(self) -> None:
        """Ends the pause."""
        self._model.do("SetSwitches", {"advertise": True, "receive": True}, self._resumed, "status")

    def _resumed(self, failure: Optional[Failure]) -> None:
        if failure:
            self._fail(visible(failure.message, _MAX_LENGTH))

    def run(self, words: list[str]) -> None:
        """Runs the command of a remedy, and checks again."""
        def ended(code: Optional[int], _output: str, errors: str) -> None:
            if code != 0:
                self._fail(visible(errors or _("{program} exited with status {status}").format(
                    program=words[0], status=code), _MAX_LENGTH))
            self._doctor.run()

        run_program(words, ended)

    def refresh(self) -> None:
        """Shows the results of the doctor."""
        checks = self._checks
        wrong = [each for each in checks if each.state != "ok"]
        well = [each for each in checks if each.state == "ok"]
        problems = self.problems
        warnings = len(wrong) - problems
        if problems:
            verdict = ngettext("One Problem", "{count} Problems", problems).format(count=problems)
        elif warnings:
            verdict = ngettext("No Problems, One Warning", "No Problems, {count} Warnings", warnings).format(count=warnings)
        else:
            verdict = _("No Problems") if checks else _("Checking…")
        self._verdict.set_label(verdict if checks or self._doctor.is_running else _("Cannot Check"))
        self._trouble.set_label(visible(self._doctor.error, _MAX_LENGTH))
        self._trouble.set_visible(bool(self._doctor.error))
        # The key includes the result, because the icon of a row is set only once.
        self._wrong.show_all(_keyed(wrong))
        self._well.show_all(_keyed(well))
        self._well_heading.set_visible(bool(well))
        self._again.set_sensitive(not self._doctor.is_running)


def _keyed(checks: list[Check]) -> list[tuple[Check, Check]]:
    return [(each, each) for each in dict.fromkeys(checks)]
