"""Transfers during which a fault hits a device: payloads, files that are passed or written, folders, and streams."""

import json
import os
import shutil
import time

from crash import CONVERGE, call
from harness import expect
from kills_account import Act

OLD = b"what was there before" * 50
SIZES = (0, 1, 3000, 65536, 1 << 20, 6 << 20)


class Handover(Act):
    """An activity offered by one device, which two continues. Each has a type of its own, so that
    no former one is chosen."""

    victims = ("one", "two", "command", "other command")

    def prepare(self):
        self.type = f"com.example.kill-{self.world.round}"
        self.publisher = None
        self.offer()

    def options(self):
        raise NotImplementedError

    def offer(self):
        """Publishes, unless it is published already, and waits until it is offered to the other device."""
        w = self.world
        if self.publisher is None or self.publisher.process.poll() is not None:
            self.publisher = w.one.publish(self.type, *self.options())
        w.running["other command"] = self.publisher.process
        limit = time.monotonic() + CONVERGE
        while not any(item["type"] == self.type for item in call(w.two, "ListActivities")["activities"]):
            expect(time.monotonic() < limit, f"nothing was offered within {CONVERGE} s; {w.notes[-3:]}")
            time.sleep(0.005)

    def excused(self, done):
        """As `World.excused`. A device that lacks a new key for a moment reports that."""
        return '"reason":"accountKeyMissing"' not in done.errors and self.world.excused(done)

    def withdraw(self):
        if self.publisher.process.poll() is None:
            self.publisher.interrupt()


class Payload(Handover):
    """A payload."""

    def options(self):
        self.info = {"text": "x" * (self.world.round % 7 * 400), "round": self.world.round}
        return ["--user-info", json.dumps(self.info)]

    def act(self):
        w = self.world
        done = w.command(w.two, "continue", "--type", self.type, "--print")
        if self.excused(done):
            self.is_right(done)

    def is_right(self, done):
        expect(done.line["userInfo"] == self.info, f"wrong payload: {done}")

    def check(self):
        w = self.world
        limit = time.monotonic() + CONVERGE
        self.offer()
        while (done := w.two.ctl("continue", "--type", self.type, "--print", code=None)).code != 0:
            expect(time.monotonic() < limit, f"not continued within {CONVERGE} s: {done}")
            self.offer()
        self.is_right(done)
        self.withdraw()


class Content(Handover):
    """The result of `continue --output`: the complete content, or the previous one."""

    befores = ("nothing", "another")

    def __str__(self):
        return f"{type(self).__name__} of {self.size} bytes over {self.before}"

    def prepare(self):
        w = self.world
        self.size, self.before = w.chance.choice(SIZES), w.chance.choice(self.befores)
        self.source, self.target = os.path.join(w.stage.folder, "source"), os.path.join(w.output, "received")
        self.make()
        if self.before == "another":
            with open(self.target, "wb") as file:
                file.write(OLD)
        super().prepare()

    def make(self):
        self.content = self.world.chance.randbytes(self.size)
        with open(self.source, "wb") as file:
            file.write(self.content)

    def options(self):
        return ["--stream", self.source]

    def words(self):
        # Waiting for a killed program that is not restarted cannot succeed.
        timeout = "3" if self.world.blow.victim == "other command" else "20"
        return ["continue", "--type", self.type, "--output", self.target, "--force", "--timeout", timeout]

    def act(self):
        w = self.world
        if self.excused(w.command(w.two, *self.words())):
            self.acknowledged = True
            expect(self.found() == self.content, f"{self}: it was received, and does not exist: {self.shown()}")

    def found(self):
        try:
            with open(self.target, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def shown(self):
        found = self.found()
        return found if found is None or isinstance(found, dict) else f"{len(found)} bytes"

    def check(self):
        w = self.world
        former = OLD if self.before == "another" else None
        whole = self.found() == self.content
        expect(whole or not self.acknowledged and self.found() == former, f"{self}: it is incomplete, or lost: {self.shown()}")
        if whole and isinstance(self.content, dict):
            # A folder is never replaced.
            shutil.rmtree(self.target)
        limit = time.monotonic() + CONVERGE
        while True:
            self.again()
            done = w.two.ctl(*self.words(), code=None, within=60)
            if done.code == 0:
                break
            expect(self.found() in (former, self.content, None), f"{self}: it is incomplete, or lost: {self.shown()}")
            expect(time.monotonic() < limit, f"{self}: not received within {CONVERGE} s: {done}")
        expect(self.found() == self.content, f"{self}: wrong content: {self.shown()}")
        expect(os.listdir(w.output) == ["received"], f"{self}: left behind: {os.listdir(w.output)}")
        self.withdraw()
        self.clean()

    def again(self):
        self.offer()

    def clean(self):
        for path in (self.target, self.source):
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.exists(path):
                os.unlink(path)


class File(Content):
    """A file, which the daemon accepts or the command writes."""


class Folder(Content):
    """A folder."""

    befores = ("nothing",)

    def make(self):
        count = self.world.chance.randint(1, 4)
        self.content = {f"f{number}": self.world.chance.randbytes(self.size // count) for number in range(count)}
        os.mkdir(self.source)
        for name, content in self.content.items():
            with open(os.path.join(self.source, name), "wb") as file:
                file.write(content)

    def found(self):
        try:
            names = os.listdir(self.target)
        except FileNotFoundError:
            return None
        contents = {}
        for name in names:
            with open(os.path.join(self.target, name), "rb") as file:
                contents[name] = file.read()
        return contents


class Pipe(Content):
    """The output of a program, which can be fetched once."""

    def options(self):
        return ["--stream", "-"]

    def offer(self):
        w = self.world
        if self.publisher is None or self.publisher.process.poll() is not None:
            with open(self.source, "rb") as file:
                self.publisher = w.one.follow("publish", self.type, *self.options(), input=file)
            self.publisher.wait("published")
        super().offer()

    def again(self):
        self.withdraw()
        self.offer()


ACTS = (Payload, File, File, Folder, Pipe)
