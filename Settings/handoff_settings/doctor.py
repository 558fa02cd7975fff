"""What is wrong, as `handoffctl doctor` finds it: it looks at the machine too, and has the words for both."""

import json
import re
import shlex
from dataclasses import dataclass
from typing import Callable, Optional

from gi.repository import Gio, GLib, GObject

# Between two looks that nobody has asked for, in seconds.
_PACE = 5
_ORDER = ("problem", "warning", "ok")
# Commands that a remedy begins with and that this window can run, with the text of their button. Those with sudo ask for the
# administrator's password by themselves (polkit).
_RUNNABLE = (
    (r"handoffctl (?:advertise|receive) on(?: --device [0-9a-f]+)?", "Switch _On"),
    (r"handoffctl network trust", "_Trust This Network"),
    (r"systemctl --user start handoffd", "_Start"),
    (r"systemctl --user restart handoffd", "_Restart"),
    (r"sudo systemctl enable --now avahi-daemon", "_Turn On"),
    (r"sudo timedatectl set-ntp true", "_Turn On"),
    (r"chmod 700 '[^']+'", "_Fix Permissions"),
)


@dataclass(frozen=True)
class Check:
    """One check: `state` is `problem`, `warning` or `ok`."""

    name: str
    state: str
    message: str
    remedy: str

    @property
    def command(self) -> Optional[tuple[str, list[str]]]:
        """The text of a button that does what the remedy says, and its command; None where this window cannot do it."""
        for pattern, text in _RUNNABLE:
            found = re.match(rf"{pattern}(?=$|[;,]| \()", self.remedy)
            if found:
                words = shlex.split(found.group())
                return text, words[1:] if words[0] == "sudo" else words
        return None


def read(output: str) -> list[Check]:
    """The checks in what `handoffctl --json doctor` says, what is wrong first."""
    checks = []
    for line in output.splitlines():
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(fields, dict) and fields.get("state") in _ORDER:
            words = [fields.get(key) for key in ("check", "state", "message", "remedy")]
            checks.append(Check(*(each if isinstance(each, str) else "" for each in words)))
    return sorted(checks, key=lambda each: _ORDER.index(each.state))


def run_program(words: list[str], done: Callable[[Optional[int], str, str], None]) -> None:
    """Runs a program; `done` gets its exit code, or None when it could not be started, what it said, and its errors."""
    def ended(process: Gio.Subprocess, result: Gio.AsyncResult) -> None:
        try:
            _, output, errors = process.communicate_utf8_finish(result)
        except GLib.Error as error:
            return done(None, "", f"cannot read what {words[0]} says: {error.message}")
        done(process.get_exit_status() if process.get_if_exited() else None, output or "", (errors or "").strip())

    try:
        process = Gio.Subprocess.new(words, Gio.SubprocessFlags.STDOUT_PIPE | Gio.SubprocessFlags.STDERR_PIPE)
    except GLib.Error as error:
        return done(None, "", f"cannot start {words[0]}: {error.message}")
    process.communicate_utf8_async(None, None, ended)


class Doctor(GObject.Object):
    """Looks when it is told to, and tells by `changed` that it has looked, or begins to."""

    __gsignals__ = {"changed": (GObject.SignalFlags.RUN_FIRST, None, ())}

    def __init__(self) -> None:
        super().__init__()
        self.checks: list[Check] = []
        self.trouble = ""
        self.is_looking = False
        self._again = False
        self._timer: Optional[int] = None
        self._last = 0

    def look(self) -> None:
        """Looks now, or as soon as the look that is going on has ended."""
        if self.is_looking:
            self._again = True
            return
        self._stop_timer()
        self._last = GLib.get_monotonic_time()
        self.is_looking = True
        self.emit("changed")
        run_program(["handoffctl", "--json", "doctor"], self._looked)

    def review(self) -> None:
        """Something has changed: looks soon, and not all the time."""
        if self._timer or self.is_looking:
            self._again = self._again or self.is_looking
            return
        passed = (GLib.get_monotonic_time() - self._last) // 1_000_000
        self._timer = GLib.timeout_add_seconds(max(1, _PACE - passed), self._due)

    def _due(self) -> bool:
        self._timer = None
        self.look()
        return GLib.SOURCE_REMOVE

    def _looked(self, code: Optional[int], output: str, errors: str) -> None:
        self.is_looking = False
        self.checks = read(output)
        self.trouble = "" if self.checks else errors or f"handoffctl doctor ended with {code}"
        self.emit("changed")
        if self._again:
            self._again = False
            self.review()

    def _stop_timer(self) -> None:
        if self._timer:
            GLib.source_remove(self._timer)
        self._timer = None
