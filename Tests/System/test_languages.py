"""The programs of docs/other-languages.md, in all pairs between two daemons.

They are run as the page describes: with python3, node, and as a C program that is compiled here.
"""

import os
import queue
import re
import shlex
import shutil
import subprocess
import threading
import time

from desk import Desk
from harness import ROOT, Failure, Skip, expect, main, same, test
from streaming import CONTROL, Connection

FOLDER = os.path.join(ROOT, "Examples", "other-languages")
MODULES = os.path.join(ROOT, "Integrations", "python")
PAGE = os.path.join(ROOT, "docs", "other-languages.md")
TYPE = "com.example.counting"
LANGUAGES = ("py", "js", "c")
FENCES = {"py": "python", "js": "js", "c": "c"}
MAX_LINES = 100


class Program:
    """A counter connected to one of the daemons, with bytes as input and lines as output."""

    def __init__(self, daemon, language):
        self.daemon, self.language = daemon, language
        self.log = os.path.join(daemon.folder, f"counter-{language}-{len(daemon.stage.processes)}.log")
        with open(self.log, "ab") as errors:
            self.process = subprocess.Popen(
                command(daemon.stage, language), env={**daemon.environment, "PYTHONPATH": MODULES}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=errors)
        daemon.stage.processes.append(self.process)
        self.lines, self.seen = queue.Queue(), []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.decode().rstrip("\n"))
        self.lines.put(None)

    def type(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def wait(self, wanted, within=30):
        """Skips lines up to the wanted one."""
        limit = time.monotonic() + within
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, limit - time.monotonic()))
            except queue.Empty:
                raise Failure(f"counter.{self.language} never printed '{wanted}', but {self.seen} ({self.log})") from None
            expect(line is not None, f"counter.{self.language} exited before '{wanted}': {self.seen} ({self.log})")
            self.seen.append(line)
            if line == wanted:
                return


def command(stage, language):
    """Returns the command that starts the program, which is compiled first if necessary."""
    source = os.path.join(FOLDER, f"counter.{language}")
    if language == "py":
        return ["python3", source]
    if language == "js":
        if not shutil.which("node"):
            raise Skip("node is not installed (apt install nodejs)")
        return ["node", source]
    program = os.path.join(stage.folder, "counter")
    if not os.path.exists(program):
        built = subprocess.run(
            ["cc", "-Wall", "-Wextra", "-Werror", "-o", program, source, "-ljansson"], capture_output=True, text=True)
        expect(built.returncode == 0, f"counter.c does not compile: {built.stderr}")
    return [program]


def offered(daemon, origin, **fields):
    """Waits until the count of another device is offered to a daemon."""
    watch = daemon.follow("watch")
    watch.wait("added", type=TYPE, deviceName=origin.name, kept=None, **fields)
    watch.interrupt()


def hand_over(stage, first, second):
    """Continues the count of one program in another one, and back."""
    desk, laptop = stage.pair(("desk", "laptop"))
    here, there = Program(desk, first), Program(laptop, second)
    for program in (here, there):
        program.wait("save 0")
    offered(laptop, desk)
    offered(desk, laptop)
    here.type(b"abc")
    here.wait("count 3")
    laptop.ctl("continue", "--type", TYPE)
    # The bytes themselves are sent over a stream.
    there.wait("text abc")
    there.wait("continue 3")
    here.wait("stream 3")
    there.type(b"de")
    there.wait("count 5")
    desk.ctl("continue", "--type", TYPE)
    here.wait("text abcde")
    here.wait("continue 5")
    there.wait("stream 5")
    # The real number stays one, however the language prints 1.0.
    taken = Connection(laptop).send(CONTROL + "Continue", more=True, type=TYPE, take=True).last()["activity"]
    expect(same(taken["userInfo"], {"count": 5, "step": {"$double": 1} if first == "js" else 1.0}), f"{taken}")
    expect(taken["title"].startswith("Counting"), f"{taken}")
    for program in (here, there):
        program.process.stdin.close()
        expect(program.process.wait(60) == 0, f"counter.{program.language} did not exit at the end of its input")


@test("Python and JavaScript hand over to each other")
def python_and_javascript(stage):
    hand_over(stage, "py", "js")


@test("JavaScript and C hand over to each other")
def javascript_and_c(stage):
    hand_over(stage, "js", "c")


@test("C and Python hand over to each other")
def c_and_python(stage):
    hand_over(stage, "c", "py")


def complains(program, words):
    """Waits until the program has written a text to its standard error."""
    limit = time.monotonic() + 30
    while words not in open(program.log).read():
        expect(time.monotonic() < limit, f"counter.{program.language} never reported: {words} ({program.log})")
        time.sleep(0.05)


@test("a program waits for its daemon, and offers its count again after a restart")
def reconnects(stage):
    desk, laptop = stage.pair(("desk", "laptop"))
    taker = Program(laptop, "py")
    for language in LANGUAGES:
        desk.stop()
        program = Program(desk, language)
        complains(program, "away")
        desk.start()
        program.wait("save 0")
        program.type(b"abc")
        program.wait("count 3")
        desk.restart()
        program.wait("save 3")
        offered(laptop, desk)
        laptop.ctl("continue", "--type", TYPE)
        taker.wait("text abc")
        taker.wait("continue 3")
        program.process.stdin.close()
        expect(program.process.wait(60) == 0, f"counter.{language} did not exit at the end of its input")


for language in LANGUAGES:

    @test(f"counter.{language} continues the offer for which the daemon starts it")
    def started(stage, language=language):
        desk = Desk(stage)
        desk.daemon.extra |= {"PATH": os.environ["PATH"], "PYTHONPATH": MODULES}
        record = desk.record()
        # It runs until the end of its input.
        line = f"sleep 30 | {shlex.join(command(stage, language))} >{record} 2>&1"
        desk.manifest("counter", ["sh", "-c", line], types=[TYPE])
        desk.start().publish(TYPE, "--user-info", '{"count": 7}')
        desk.ctl("continue", "--type", TYPE)
        limit = time.monotonic() + 30
        while "continue 7" not in open(record).read():
            expect(time.monotonic() < limit, f"it never continued: {open(record).read()}")
            time.sleep(0.02)


@test("a refused stream affects only that stream of a program")
def refused_stream(stage):
    desk, laptop = stage.pair(("desk", "laptop"))
    for language in LANGUAGES:
        program = Program(laptop, language)
        program.wait("save 0")
        plain = desk.publish(TYPE, "--user-info", '{"count": 4}')
        offered(laptop, desk, id=plain.id)
        laptop.ctl("continue", "--type", TYPE)
        program.wait("continue 4")
        complains(program, "StreamFailed")
        program.type(b"x")
        program.wait("count 5")
        plain.interrupt()
        program.process.stdin.close()
        expect(program.process.wait(60) == 0, f"counter.{language} did not exit at the end of its input")


@test("the page shows these programs, which are short")
def page(stage):
    with open(PAGE) as file:
        text = file.read()
    for language, fence in FENCES.items():
        with open(os.path.join(FOLDER, f"counter.{language}")) as file:
            source = file.read()
        shown = re.findall(rf"^```{fence}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        expect(shown == [source], f"docs/other-languages.md does not show counter.{language} as it is")
        expect(len(source.splitlines()) <= MAX_LINES, f"counter.{language} has more than {MAX_LINES} lines")


if __name__ == "__main__":
    main()
