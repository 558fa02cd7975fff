"""Runs the typed lines of a page on devices of its own, and compares the output on a terminal with
the page, character by character.

A transcript is a block of code in which each typed line starts with the name of a device and '$'.
The lines after it, up to the next typed line or an empty one, are its complete output, with all
spaces. A line '…' stands for any lines. Ids, codes, addresses and home folders differ each time.
"""

import os
import re
import shutil
import threading
import time
import types

from harness import BIN, ROOT, Failure, expect
from logind import Logind
from terminal import COLOURS, Screen, lines

TYPED = re.compile(r"^(\w+)\$ +(.*)$")
CODE = re.compile(r"\b\d{4} \d{4}\b")
HOME = "/home/ada/"
# Parts that differ each time: their pattern on the page, in the output, and the replacement used in the comparison.
VARIABLE = (
    (r"\b[0-9a-f]{8}(?:-[0-9a-f]{8}){3}\b", "ACCOUNT"),
    (r"\b\d{4} \d{4}\b", "CODE"),
    (r"\b[0-9a-f]{7}\b", "DEVICE7"),
    (r"(?<= )(?:\d+(?:\.\d+){3}|\[[0-9a-f:.]+\]):\d+\b", "ADDRESS"),
)
# A waiting message names its reason. Its duration depends on the machine.
WAITING = re.compile(r"handoffctl: waiting for \w+…$")
# The speed of a transfer is shown if it takes more than a second.
SPEED = re.compile(r" in \d+\.\d s, \S+ \S+/s$")
# Commands that run until they are interrupted, or until another device has done its part.
LASTING = re.compile(r"^handoffctl (pair|publish|send)\b")
TO_INTERRUPT = re.compile(r"^handoffctl (publish|send)\b")
# Commands whose exit status reports their findings.
REPORTS = re.compile(r"^handoffctl (doctor|why)\b")


class Step:
    """A typed line, and its expected output."""

    def __init__(self, device, command):
        self.device, self.command, self.shows = device, command, []
        self.raw, self.failure = "", None
        self.began, self.seen = threading.Event(), threading.Event()


def blocks(path):
    """Returns the blocks of code of a page, each as its lines."""
    with open(path) as file:
        return [block.splitlines() for block in re.findall(r"^```[a-z]*\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)]


def steps(lines):
    """Returns the steps of a block. There are none if no line of it is typed on a device."""
    found = []
    for line in lines:
        if typed := TYPED.match(line):
            found.append(Step(*typed.groups()))
        elif found and line.strip():
            found[-1].shows.append(line)
    return found


def pattern(line):
    """Returns the pattern of a page's line while a command runs, which matches anything for the
    parts that differ each time."""
    found = re.escape(compared(line))
    for shown, other in VARIABLE:
        found = found.replace(re.escape(other), shown)
    return found.replace(re.escape(HOME), r"\S+/")


def compared(line):
    """Returns a line without the parts that differ each time."""
    for shown, other in VARIABLE:
        line = re.sub(shown, other, line)
    return SPEED.sub("", line)


def table_sorted(found):
    """Returns the lines of a table of devices below its header, sorted by name. They are shown in
    the order of their ids."""
    return found[:1] + sorted(found[1:]) if found and found[0].startswith("NAME ") else found


def differences(page, shown):
    """Returns the differences between a page and the output, as lines. None if they are equal."""
    page = table_sorted([compared(line) for line in page])
    shown = table_sorted([compared(line) for line in shown if not WAITING.match(line)])
    if "…" in page:
        text, wanted = "\n".join(shown) + "\n", "\n".join(page) + "\n"
        expression = re.escape(wanted).replace(re.escape("…\n"), r"(?:.*\n)*")
        return [] if re.fullmatch(expression, text) else [f"page: {page}", f"shown: {shown}"]
    # Results and notes are written to two streams, whose relative order varies.
    notes = [[line for line in found if line.startswith("handoffctl: ")] for found in (page, shown)]
    results = [[line for line in found if not line.startswith("handoffctl: ")] for found in (page, shown)]
    return [f"page: {one}; shown: {other}" for one, other in (notes, results) if one != other]


def nothing_offered(device):
    """Waits until nothing is offered to a device, so that the next transcript starts like the first."""
    watch, offered, ready = device.follow("watch"), set(), False
    while offered or not ready:
        event = watch.next()
        expect(event is not None, f"the watch of {device.name} has ended")
        ready = ready or event["event"] == "ready"
        if event["event"] == "added":
            offered.add(event["id"])
        elif event["event"] == "removed":
            offered.discard(event["id"])
    watch.interrupt()


class Play:
    """Devices by name, on which transcripts are run one after the other. `called` maps names of a
    page to other devices."""

    def __init__(self, stage, *names, called=None):
        self.stage, self.code = stage, None
        self.programs = os.path.join(stage.folder, f"programs-{names[0]}")
        os.mkdir(self.programs)
        os.symlink(os.path.join(BIN, "handoffctl"), os.path.join(self.programs, "handoffctl"))
        self.devices = {name: self.installed(name) for name in names}
        for page, name in (called or {}).items():
            self.devices[page] = self.devices.pop(name)
        # ssh HOST COMMAND...: the other device is another socket.
        with open(os.path.join(self.programs, "ssh"), "w") as file:
            file.write("#!/bin/sh\nhost=$1\nshift\n"
                       + "".join(f"[ $host != {name} ] || export HANDOFF_SOCKET={device.socket}\n" for name, device in self.devices.items())
                       + 'exec "$@"\n')
        os.chmod(file.name, 0o755)

    def installed(self, name):
        """A device with the package's app that accepts received files. Its kind is that of its name."""
        device = self.stage.daemon(name, start=False)
        machine = Logind(types.SimpleNamespace(folder=device.folder, closers=self.stage.closers))
        machine.is_absent = True
        kind = name if name in ("laptop", "tablet") else "desktop"
        machine.objects = {"/org/freedesktop/hostname1": {"Chassis": kind}}
        device.extra = {"PATH": f"{self.programs}:{device.environment['PATH']}", **machine.environment}
        folder = os.path.join(device.environment["HOME"], ".config", "handoff", "handlers.d")
        os.makedirs(folder)
        shutil.copy(os.path.join(ROOT, "packaging", "handlers", "dev.handoff1.files.json"), folder)
        device.start()
        # The daemon queries the kind of the machine without waiting for the reply.
        limit = time.monotonic() + 20
        while device.ctl("status").line["kind"] != kind:
            expect(time.monotonic() < limit, f"{name} is not a {kind}")
            time.sleep(0.02)
        return device

    def home(self, name):
        return self.devices[name].environment["HOME"]

    def file(self, device, name, text):
        with open(os.path.join(self.home(device), name), "w") as file:
            file.write(text)

    def run(self, lines):
        """Runs a block. Returns its steps, with their output."""
        todo = steps(lines)
        lasting = []
        for step in todo:
            if re.match(r"handoffctl (list|continue)\b", step.command):
                # A person sees the offer before continuing it.
                self.devices[step.device].follow("watch").wait("added")
            if LASTING.match(step.command):
                thread = threading.Thread(target=self._perform, args=(step,), daemon=True)
                thread.start()
                lasting.append((step, thread))
                expect(step.began.wait(60), f"{step.command}: nothing was shown")
            else:
                self._perform(step)
                self._check(step)
        for step, thread in lasting:
            if TO_INTERRUPT.match(step.command):
                expect(step.seen.wait(60), f"{step.command}: not all of it was shown: {step.screen.raw!r}")
                step.screen.interrupt()
            thread.join(60)
            expect(not thread.is_alive(), f"{step.command} did not end: {step.screen.raw!r}")
            self._check(step)
        for device in self.devices.values():
            nothing_offered(device)
        return todo

    def _check(self, step):
        if step.failure:
            raise step.failure
        home = self.home(step.device) + "/"
        shown = [COLOURS.sub("", line).replace(home, HOME) for line in lines(step.raw)[0]]
        found = differences(step.shows, shown)
        expect(not found, f"{step.device}$ {step.command}\n" + "\n".join(found))

    def _perform(self, step):
        try:
            device = self.devices[step.device]
            # As people see it, in colours.
            environment = {**device.environment, "NO_COLOR": "", "PATH": f"{self.programs}:{device.environment['PATH']}"}
            step.screen = screen = Screen(self.stage, ["bash", "-c", f"cd; {step.command}"], environment)
            for line in step.shows:
                if asked := re.match(r"(.*\[y/N\]) y$", line):
                    screen.has_shown(pattern(asked[1]))
                    screen.type("y\n")
                elif asked := re.match(r"(.*: )\d{4} \d{4}$", line):
                    screen.has_shown(pattern(asked[1]))
                    screen.type(self.code + "\n")
                else:
                    # In any position, because the order of devices in a table is that of their ids.
                    shown = screen.has_shown("" if line == "…" else pattern(line), within=60)[0]
                    if step.command.startswith("handoffctl pair") and (code := CODE.search(shown)):
                        self.code = code[0]
                        step.began.set()
                if not step.command.startswith("handoffctl pair"):
                    step.began.set()
            if not step.shows:
                screen.has_shown(r"\S")
                step.began.set()
            step.seen.set()
            code = screen.ends(60)
            allowed = (0, 130) if TO_INTERRUPT.match(step.command) else (0, 1) if REPORTS.match(step.command) else (0,)
            expect(code in allowed, f"{step.command}: exit code {code}: {screen.raw!r}")
        except Exception as error:
            step.failure = Failure(f"{step.device}$ {step.command}: {error}")
            step.began.set()
            step.seen.set()
        finally:
            step.raw = step.screen.raw if hasattr(step, "screen") else ""
