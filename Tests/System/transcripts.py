"""Runs what a page shows as typed, on devices of its own, and compares what comes with what the page says.

A transcript is a block of code in which each typed line begins with the name of a device and '$'. What follows it, up to the next
typed line or an empty one, is what has to be shown, and questions in this order; there may be more. Ids, codes and addresses are others each time.
"""

import os
import re
import shutil
import threading

from harness import BIN, ROOT, Failure, expect
from terminal import Screen

TYPED = re.compile(r"^(\w+)\$ +(.*)$")
CODE = re.compile(r"\b\d{4} \d{4}\b")
# What differs each time: the pattern of it on a page, and what may stand in its place.
VARIABLE = (
    (r"[0-9a-f]{8}(?:-[0-9a-f]{8}){3}", r"[0-9a-f]{8}(?:-[0-9a-f]{8}){3}"),
    (r"\b[0-9a-f]{7,8}\b", r"[0-9a-f]{7,8}"),
    (r"\d{4} \d{4}", r"\d{4} \d{4}"),
    (r"/home/ada/", r"\S+/"),
    (r"just now", r"(?:just now|\d+ \w+(?: ago)?)"),
    (r"\d+\.\d+\.\d+\.\d+:\d+", r"\S+:\d+"),
    (r"\bvm\b|\blaptop  |\bdesktop  ", r"\S+"),
    (r"\d+(?:\.\d+)? (?:ms|s|KB|kB|MB|MB/s|KiB|MiB|B)\b", r"[\d.]+ \S+"),
)
# Commands that go on until they are interrupted, or until another device has done its part.
LASTING = re.compile(r"^handoffctl (pair|publish|send)\b")
TO_INTERRUPT = re.compile(r"^handoffctl (publish|send)\b")


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
    """What a line of a page stands for: any run of spaces, and anything for what differs each time."""
    found, position = "", 0
    spots = sorted(((match.start(), match.end(), other) for shown, other in VARIABLE for match in re.finditer(shown, line)))
    for start, end, other in spots:
        if start >= position:
            found += plain(line[position:start]) + other
            position = end
    return found + plain(line[position:])


def plain(text):
    return r"\s+".join(re.escape(part) for part in re.split(r"\s+", text))


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
        """A device with what the package brings: an app that takes files that are received."""
        device = self.stage.daemon(name, start=False)
        device.extra = {"PATH": f"{self.programs}:{device.environment['PATH']}"}
        folder = os.path.join(device.environment["HOME"], ".config", "handoff", "handlers.d")
        os.makedirs(folder)
        shutil.copy(os.path.join(ROOT, "packaging", "handlers", "dev.handoff1.files.json"), folder)
        return device.start()

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
                    shown = screen.has_shown(pattern(line), within=60)[0]
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
            expect(code in ((0, 130) if TO_INTERRUPT.match(step.command) else (0,)), f"{step.command}: exit code {code}: {screen.raw!r}")
        except Exception as error:
            step.failure = Failure(f"{step.device}$ {step.command}: {error}")
            step.began.set()
            step.seen.set()
        finally:
            step.raw = step.screen.raw if hasattr(step, "screen") else ""
