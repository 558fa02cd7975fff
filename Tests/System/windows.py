"""Windows of handoff-settings for tests, each for a daemon, on a virtual screen."""

import contextlib
import json
import os
import queue
import subprocess
import threading

from harness import BIN, ROOT, Failure, Skip, expect, tail, test, virtual_screen

DRIVER = os.path.join(ROOT, "Tests", "System", "settings_driver.py")
PACKAGE = os.path.join(ROOT, "Settings")
# Debian's Python, for which its packages of GTK are built. The tests may use another one.
PYTHON = "/usr/bin/python3"
WITHIN = 40


def needs_window():
    """Skips the test if GTK, libadwaita or a screen is not available."""
    load = "import gi; gi.require_version('Gtk', '4.0'); gi.require_version('Adw', '1'); from gi.repository import Adw"
    if not os.access(PYTHON, os.X_OK) or subprocess.run([PYTHON, "-c", load], capture_output=True).returncode:
        raise Skip("GTK 4 or libadwaita for Python is not installed (scripts/setup --tests)")


class Screen:
    """An X server of its own."""

    def __init__(self, stage, size="1280x1024x24"):
        needs_window()
        self.display = virtual_screen(stage, size)

    def environment(self, daemon, programs=None, bus=None):
        """Returns the environment of a program on this screen, for a daemon. `programs` is a folder
        whose programs have precedence."""
        path = [*([programs] if programs else []), BIN, "/usr/bin", "/bin"]
        return {
            **daemon.environment,
            "PATH": ":".join(path),
            "DISPLAY": self.display,
            "GDK_BACKEND": "x11",
            "NO_AT_BRIDGE": "1",
            # The names for screen readers can be queried.
            "GTK_A11Y": "test",
            "GSK_RENDERER": "cairo",
            "GSETTINGS_BACKEND": "memory",
            "TZ": "UTC",
            "XDG_CONFIG_HOME": os.path.join(daemon.folder, "home", ".config"),
            "XDG_CACHE_HOME": os.path.join(daemon.stage.folder, "cache"),
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
            **(bus.environment if bus else {}),
        }


class SettingsWindow:
    """A window, used as a person uses it."""

    def __init__(self, stage, screen, daemon, link=None, programs=None, bus=None, arguments=(), package=PACKAGE, **variables):
        """`package` is the folder of the package, and `variables` are those of the environment."""
        log = os.path.join(daemon.folder, f"window-{len(stage.processes)}.log")
        words = [PYTHON, "-B", DRIVER, package, *([link] if link else []), *arguments]
        self.start(stage, daemon.name, words, {**screen.environment(daemon, programs, bus), **variables}, log)

    def start(self, stage, name, words, environment, log):
        """Starts the driver with these arguments. `name` is that of its device, for messages."""
        self.name, self.log = name, log
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                words,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        stage.processes.append(self.process)
        self.answers = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        stage.windows = [*getattr(stage, "windows", []), self]

    def _read(self):
        for line in self.process.stdout:
            self.answers.put(json.loads(line))
        self.answers.put(None)

    def faultless(self):
        """Checks that the window reported no error of its own, and that GTK reported none."""
        with open(self.log, errors="replace") as file:
            text = file.read()
        for sign in ("MISTAKE", "CRITICAL", "from markup"):
            expect(sign not in text, f"the window of {self.name}: {tail(self.log, 30)}")

    def answer(self, within=WITHIN):
        """Returns the next reply of the driver."""
        try:
            answer = self.answers.get(timeout=within + 20)
        except queue.Empty:
            raise Failure(f"the window of {self.name} does not answer: {tail(self.log)}") from None
        expect(answer is not None, f"the window of {self.name} has exited: {tail(self.log)}")
        return answer

    def do(self, what, within=WITHIN, **parameters):
        """Runs a command, as soon as the widgets that it needs are shown."""
        with contextlib.suppress(BrokenPipeError):  # In that case there is no reply either.
            self.process.stdin.write(json.dumps({"do": what, "within": within, **parameters}) + "\n")
            self.process.stdin.flush()
        answer = self.answer(within)
        if answer.get("ok") == "activated":
            answer = self.answer(within)
        if "failure" in answer:
            raise Failure(
                f"{what} {parameters} at {self.name}: {answer['failure']}; the texts are: {answer['texts']}"
                f"{tail(self.log)}"
            )
        return answer["ok"]

    def see(self, *texts, **more):
        """Waits until these texts are shown."""
        for text in texts:
            self.do("see", text=text, **more)
        return self

    def miss(self, text, **more):
        """Waits until a text is no longer shown."""
        self.do("miss", text=text, **more)
        return self

    def press(self, name, row=None, **more):
        """Presses the button with a name, in the row that shows a text."""
        self.do("press", name=name, row=row, **more)
        return self

    def texts(self):
        """Returns all texts that are shown."""
        return self.do("texts")


def window_test(name, limit=150):
    """Registers a test after which no window may have reported an error."""

    def register(function):
        def guarded(stage):
            needs_window()
            stage.windows = []
            function(stage)
            for window in stage.windows:
                window.faultless()

        test(name, limit)(guarded)
        return function

    return register


class WindowDesk:
    """Some devices, each with its window."""

    def __init__(self, stage, *names, are_paired=True, programs=None, screen=None):
        self.screen = screen or Screen(stage)
        self.daemons = [stage.daemon(name, start=False) for name in names]
        for daemon in self.daemons:
            # None of this machine's apps.
            daemon.extra = {"XDG_DATA_DIRS": os.path.join(stage.folder, "data")}
            daemon.start()
        if are_paired:
            if len(names) == 1:
                self.daemons[0].ctl("account", "create")
            for other in self.daemons[1:]:
                stage.join(self.daemons[0], other)
        self.windows = [SettingsWindow(stage, self.screen, daemon, programs=programs) for daemon in self.daemons]


def digits(window):
    """Returns the code that a pairing window shows."""
    window.see("Valid for")
    code = next((text for text in window.texts() if len(text) == 9 and text.replace(" ", "").isdigit()), None)
    expect(code, f"no code: {window.texts()}")
    return code
