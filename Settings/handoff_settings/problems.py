"""What is wrong, with what to do about it."""

from typing import Callable, Optional

from gi.repository import Gtk

from .doctor import Check, Doctor, run_program
from .model import Model
from .texts import at, visible
from .varlink import Failure
from .widgets import Page, Row, Rows, button, icon_button, label, name

_ICONS = {
    "problem": ("dialog-error-symbolic", "Problem", "error"),
    "warning": ("dialog-warning-symbolic", "Warning", "warning"),
    "ok": ("emblem-ok-symbolic", "All right", "success"),
}
_LONGEST = 1000
# The page on which something can be done about a check that is not all right; what `doctor` says is for terminals.
_PAGES = {
    "switches": ("switches", "Open Switches"),
    "devices": ("devices", "Open Devices"),
    "account": ("devices", "Open Devices"),
    "apps": ("switches", "Open Switches"),
}


_PAUSE = "pause"
# How the remedy begins that is to add a device.
_PAIRING = "add another device with: handoffctl pair"


def paused(model: Model) -> Optional[str]:
    """That the user has paused this device, and until when, in words; None where it is not paused."""
    holds = [model.status.hold(direction) for direction in ("advertise", "receive")]
    if not all(hold is not None and hold.by == "user" for hold in holds):
        return None
    ends = {hold.until for hold in holds}
    until = ends.pop() if len(ends) == 1 else None
    return f"Handoff is paused until {at(until)}" if until else "Handoff is paused"


class CheckRow(Row):
    """A check: what was found, and what to do, which can be copied, or done by a button."""

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
            self.add_suffix(button("_Resume Now", page.resume, valign=Gtk.Align.CENTER))
        elif check.state != "ok" and check.command:
            text, words = check.command
            self.add_suffix(button(text, lambda: page.run(words), valign=Gtk.Align.CENTER))
        elif check.state != "ok" and (check.name in _PAGES or check.remedy.startswith(_PAIRING)):
            key, text = ("pair", "_Add a Device…") if check.remedy.startswith(_PAIRING) else _PAGES[check.name]
            self.add_suffix(button(text, lambda: page.go(key), valign=Gtk.Align.CENTER))
        if check.remedy:
            self.add_suffix(icon_button("edit-copy-symbolic", "Copy what to do", self._copy))

    def show_check(self, check: Check) -> None:
        self._remedy = check.remedy
        text = visible(check.message, _LONGEST)
        # A sentence begins with a capital, and the name of a program does not.
        self.show(text if text.startswith("handoff") else text[:1].upper() + text[1:], visible(check.remedy, _LONGEST))

    def _copy(self) -> None:
        self.get_clipboard().set(self._remedy)


class ProblemsPage(Page):
    """The page of problems. `go` shows another page, or by `pair` the dialog that adds a device, and `fail` an error."""

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
        self._look = button("_Look Again", doctor.look, "pill", halign=Gtk.Align.CENTER)
        self.add(self._verdict, self._trouble, self._wrong, self._look)
        self._well_heading = self.heading("What Works")
        self.add(self._well)

    @property
    def problems(self) -> int:
        """How many of the checks have found a problem."""
        return sum(each.state == "problem" for each in self._checks)

    @property
    def _checks(self) -> list[Check]:
        """What the doctor has found. A pause, which the user wants, is one note in place of a problem for each direction."""
        words = paused(self._model)
        if words is None:
            return self._doctor.checks
        messages = tuple(hold.message for hold in self._model.status.holds if hold.device is None)
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
            self._fail(visible(failure.message, _LONGEST))

    def run(self, words: list[str]) -> None:
        """Does what a check advises, and looks again."""
        def ended(code: Optional[int], _output: str, errors: str) -> None:
            if code != 0:
                self._fail(visible(errors or f"{words[0]} ended with {code}", _LONGEST))
            self._doctor.look()

        run_program(words, ended)

    def refresh(self) -> None:
        """Shows what the doctor has found."""
        checks = self._checks
        wrong = [each for each in checks if each.state != "ok"]
        well = [each for each in checks if each.state == "ok"]
        problems = self.problems
        warnings = len(wrong) - problems
        if problems:
            verdict = "One Problem" if problems == 1 else f"{problems} Problems"
        elif warnings:
            verdict = "No Problem, but a Warning" if warnings == 1 else f"No Problem, but {warnings} Warnings"
        else:
            verdict = "Nothing Is Wrong" if checks else "Looking…"
        self._verdict.set_label(verdict if checks or self._doctor.is_looking else "Cannot Look")
        self._trouble.set_label(visible(self._doctor.trouble, _LONGEST))
        self._trouble.set_visible(bool(self._doctor.trouble))
        # Keyed by what they found too: an icon is made for a row once.
        self._wrong.show_all(_keyed(wrong))
        self._well.show_all(_keyed(well))
        self._well_heading.set_visible(bool(well))
        self._look.set_sensitive(not self._doctor.is_looking)


def _keyed(checks: list[Check]) -> list[tuple[Check, Check]]:
    return [(each, each) for each in dict.fromkeys(checks)]
