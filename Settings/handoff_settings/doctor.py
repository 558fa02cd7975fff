"""Problems found by `handoffctl doctor`, which examines the daemon and the machine."""

import json
import re
import shlex
from dataclasses import dataclass
from typing import Callable, Optional

from gi.repository import Gio, GLib, GObject
from handoff_locale import _

# The minimum time between automatic checks, in seconds.
_INTERVAL = 5
_ORDER = ("problem", "warning", "ok")
# Commands at the start of a remedy that this window can run, with the labels of their buttons.
# Those with sudo ask for the administrator's password themselves (polkit).
_RUNNABLE = (
    (r"handoffctl (?:advertise|receive) on(?: --device [0-9a-f]+)?", _("Turn _On")),
    (r"handoffctl network trust", _("_Trust This Network")),
    (r"handoffctl withdraw [0-9a-f]+", _("_Remove")),
    (r"systemctl --user start handoffd", _("_Start")),
    (r"systemctl --user restart handoffd", _("_Restart")),
    (r"sudo systemctl enable --now avahi-daemon", _("Turn _On")),
    (r"sudo timedatectl set-ntp true", _("Turn _On")),
    (r"chmod 700 '[^']+'", _("_Fix Permissions")),
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
        """The label and the command of a button for the remedy; None if this window cannot run it."""
        for pattern, text in _RUNNABLE:
            found = re.match(rf"{pattern}(?=$|[;,]| \()", self.remedy)
            if found:
                words = shlex.split(found.group())
                return text, words[1:] if words[0] == "sudo" else words
        return None


def read(output: str) -> list[Check]:
    """Parses the output of `handoffctl --json doctor`, most severe checks first."""
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
    """Runs a program. `done` gets its exit code (None if it could not be started), its output and its errors."""
    def ended(process: Gio.Subprocess, result: Gio.AsyncResult) -> None:
        try:
            output, errors = process.communicate_utf8_finish(result)[1:]
        except GLib.Error as error:
            return done(None, "", _("cannot read the output of {program}: {error}").format(
                program=words[0], error=error.message))
        done(process.get_exit_status() if process.get_if_exited() else None, output or "", (errors or "").strip())

    try:
        process = Gio.Subprocess.new(words, Gio.SubprocessFlags.STDOUT_PIPE | Gio.SubprocessFlags.STDERR_PIPE)
    except GLib.Error as error:
        return done(None, "", _("cannot start {program}: {error}").format(program=words[0], error=error.message))
    process.communicate_utf8_async(None, None, ended)


class Doctor(GObject.Object):
    """Runs checks on request. Emits `changed` when a run starts or ends."""

    __gsignals__ = {"changed": (GObject.SignalFlags.RUN_FIRST, None, ())}

    def __init__(self) -> None:
        super().__init__()
        self.checks: list[Check] = []
        self.error = ""
        self.is_running = False
        self._again = False
        self._timer: Optional[int] = None
        self._last = 0

    def run(self) -> None:
        """Runs the checks now, or again after the current run."""
        if self.is_running:
            self._again = True
            return
        self._stop_timer()
        self._last = GLib.get_monotonic_time()
        self.is_running = True
        self.emit("changed")
        run_program(["handoffctl", "--json", "doctor"], self._finished)

    def schedule(self) -> None:
        """Runs the checks soon after a change, at a limited rate."""
        if self._timer or self.is_running:
            self._again = self._again or self.is_running
            return
        passed = (GLib.get_monotonic_time() - self._last) // 1_000_000
        self._timer = GLib.timeout_add_seconds(max(1, _INTERVAL - passed), self._due)

    def _due(self) -> bool:
        self._timer = None
        self.run()
        return GLib.SOURCE_REMOVE

    def _finished(self, code: Optional[int], output: str, errors: str) -> None:
        self.is_running = False
        self.checks = read(output)
        self.error = "" if self.checks else errors or _("{program} exited with status {status}").format(
            program="handoffctl doctor", status=code)
        self.emit("changed")
        if self._again:
            self._again = False
            self.schedule()

    def _stop_timer(self) -> None:
        if self._timer:
            GLib.source_remove(self._timer)
        self._timer = None
