"""Runs what a page shows as typed, on devices of its own, and compares what a terminal shows with what the page says, to the letter.

A transcript is a block of code in which each typed line begins with the name of a device and '$'. What follows it, up to the next typed
line or an empty one, is all that is shown: every line, with its spaces. A line '…' stands for any lines. Ids, codes, addresses and
homes are others each time.
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
# What differs each time: the pattern of it, here and there, and what stands in its place for the comparison.
VARIABLE = (
    (r"\b[0-9a-f]{8}(?:-[0-9a-f]{8}){3}\b", "ACCOUNT"),
    (r"\b\d{4} \d{4}\b", "CODE"),
    (r"\b[0-9a-f]{7}\b", "DEVICE7"),
    (r"(?<= )(?:\d+(?:\.\d+){3}|\[[0-9a-f:.]+\]):\d+\b", "ADDRESS"),
)
# A person who waits is told for what; how long it takes is decided by the machine.
PATIENCE = re.compile(r"handoffctl: waiting for \w+…$")
# Of a transfer that takes more than a second the speed is shown.
SPEED = re.compile(r" in \d+\.\d s, \S+ \S+/s$")
# Commands that go on until they are interrupted, or until another device has done its part.
LASTING = re.compile(r"^handoffctl (pair|publish|send)\b")
TO_INTERRUPT = re.compile(r"^handoffctl (publish|send)\b")
# Commands whose status says what they have found.
REPORTS = re.compile(r"^handoffctl (doctor|why)\b")


class Step:
    """A typed line, and what has to be shown."""

    def __init__(self, device, command):
        self.device, self.command, self.shows = device, command, []
        self.raw, self.failure = "", None
        self.began, self.seen = threading.Event(), threading.Event()


def blocks(path):
    """The blocks of code of a page, each as its lines."""
    with open(path) as file:
        return [block.splitlines() for block in re.findall(r"^```[a-z]*\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)]


def steps(lines):
    """The steps of a block; none when nothing in it is typed on a device."""
    found = []
    for line in lines:
        if typed := TYPED.match(line):
            found.append(Step(*typed.groups()))
        elif found and line.strip():
            found[-1].shows.append(line)
    return found


def pattern(line):
    """What a line of a page stands for while a command runs: anything for what differs each time."""
    found = re.escape(compared(line))
    for shown, other in VARIABLE:
        found = found.replace(re.escape(other), shown)
    return found.replace(re.escape(HOME), r"\S+/")


def compared(line):
    """A line without what differs each time."""
    for shown, other in VARIABLE:
        line = re.sub(shown, other, line)
    return SPEED.sub("", line)


def table_sorted(found):
    """The lines of a table of devices below its head in the order of their names: they are shown in that of their ids."""
    return found[:1] + sorted(found[1:]) if found and found[0].startswith("NAME ") else found


def differences(page, shown):
    """How what a page says differs from what was shown, as lines; none when it does not."""
    page = table_sorted([compared(line) for line in page])
    shown = table_sorted([compared(line) for line in shown if not PATIENCE.match(line)])
    if "…" in page:
        text, wanted = "\n".join(shown) + "\n", "\n".join(page) + "\n"
        expression = re.escape(wanted).replace(re.escape("…\n"), r"(?:.*\n)*")
        return [] if re.fullmatch(expression, text) else [f"page: {page}", f"shown: {shown}"]
    # Results and notes come by two streams, whose order is that of the machine.
    notes = [[line for line in found if line.startswith("handoffctl: ")] for found in (page, shown)]
    results = [[line for line in found if not line.startswith("handoffctl: ")] for found in (page, shown)]
    return [f"page: {one}; shown: {other}" for one, other in (notes, results) if one != other]


def nothing_offered(device):
    """Waits until a device is offered nothing any more, so that the next transcript begins like the first."""
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
    """Devices by name, on which transcripts are run one after the other; `called` gives those of a page to others."""

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
        """A device with what the package brings: an app that takes files that are received. Its kind is that of its name."""
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
        # The daemon asks the machine what it is, and does not wait for the answer.
        limit = time.monotonic() + 20
        while device.ctl("status").line["kind"] != kind:
            expect(time.monotonic() < limit, f"{name} is no {kind}")
            time.sleep(0.02)
        return device

    def home(self, name):
        return self.devices[name].environment["HOME"]

    def file(self, device, name, text):
        with open(os.path.join(self.home(device), name), "w") as file:
            file.write(text)

    def run(self, lines):
        """Runs a block; answers its steps, with what was shown."""
        todo = steps(lines)
        lasting = []
        for step in todo:
            if re.match(r"handoffctl (list|continue)\b", step.command):
                # A person sees the offer before they ask for it.
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
                    # Wherever: the order of devices in a table is that of their ids.
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
