"""What is wrong, with what to do about it."""

from typing import Callable

from gi.repository import Gtk

from .doctor import Check, Doctor
from .texts import visible
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


class CheckRow(Row):
    """A check: what was found, and what to do, which can be copied."""

    def __init__(self, check: Check, go: Callable[[str], None]) -> None:
        super().__init__()
        icon, words, style = _ICONS[check.state]
        image = Gtk.Image.new_from_icon_name(icon)
        image.add_css_class(style)
        name(image, words)
        self.add_prefix(image)
        self._remedy = check.remedy
        if check.state != "ok" and check.name in _PAGES:
            page, text = _PAGES[check.name]
            self.add_suffix(icon_button("go-next-symbolic", text, lambda: go(page)))
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
    """The page of problems. `go` shows another page."""

    def __init__(self, doctor: Doctor, go: Callable[[str], None]) -> None:
        super().__init__()
        self._doctor = doctor
        self._verdict = label("", "title-2", margin_top=12)
        self._trouble = label("", "error")
        self._wrong = Rows(lambda check: CheckRow(check, go), lambda row, check: row.show_check(check))
        self._well = Rows(lambda check: CheckRow(check, go), lambda row, check: row.show_check(check))
        self._look = button("_Look Again", doctor.look, "pill", halign=Gtk.Align.CENTER)
        self.add(self._verdict, self._trouble, self._wrong, self._look)
        self._well_heading = self.heading("What Works")
        self.add(self._well)

    def refresh(self) -> None:
        """Shows what the doctor has found."""
        checks = self._doctor.checks
        wrong = [each for each in checks if each.state != "ok"]
        well = [each for each in checks if each.state == "ok"]
        problems, warnings = self._doctor.problems, len(wrong) - self._doctor.problems
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
