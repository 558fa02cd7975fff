#!/usr/bin/env python3
"""Items that wait for a device (`send --wait`), and the command that offers them (`deliver`), across restarts of both
sides. Two daemons on loopback, a real bus, and a simulated notification server."""

import json
import os
import subprocess

from browsers import until
from desk import received
from harness import BIN, ROOT, expect, main, test
from receiver import Receiver
from user_manager import UserManager


class Waiting(Receiver):
    """A device that receives files, and another one with items that wait for it."""

    def __init__(self, stage):
        super().__init__(stage)
        self.queue = os.path.join(self.origin.environment["HOME"], ".local/state/handoff/queue")
        self.identifier = self.ctl("status").line["device"]

    def keep(self, *words, code=0):
        """Sends items that wait, without the service, which no test has."""
        return self.origin.ctl("send", "--wait", "taker", *words, code=code)

    def kept(self):
        return sorted(os.listdir(self.queue)) if os.path.isdir(self.queue) else []

    def deliver(self):
        deliver = self.origin.follow("deliver")
        for _ in self.kept():
            deliver.wait("published")
        return deliver

    def turn_off(self):
        self.daemon.stop()
        until("a device that is off", lambda: not any(
            line["online"] for line in self.origin.ctl("devices").lines if line["id"] == self.identifier))

    def ended(self, deliver, note=""):
        """Waits until no item is left, and checks the messages."""
        expect(deliver.process.wait(30) == 0, f"deliver has not ended well: {deliver.seen}")
        expect(self.kept() == [], f"an item is left: {self.kept()}")
        with open(deliver.log) as file:
            notes = file.read()
        expect(note in notes, f"'{note}' is missing: {notes}")
        expect(self.origin.ctl("list", "--mine").lines == [], "something is offered still")


@test("an item waits for a device that is off, across restarts of the daemon and of deliver, and is listed")
def restarts(stage):
    desk = Waiting(stage)
    browser = desk.browser()
    desk.turn_off()
    line = desk.keep(stage.file("a.pdf", "words"), "https://example.org/").lines
    expect([each["title"] for each in line] == ["a.pdf", "https://example.org/"], f"{line}")
    expect(all(each["event"] == "waiting" and each["device"] == desk.identifier for each in line), f"{line}")
    deliver = desk.deliver()
    mine = desk.origin.ctl("list", "--mine").lines
    expect({each["title"] for each in mine} == {"a.pdf", "https://example.org/"}, f"{mine}")
    expect(all(each["to"] == desk.identifier for each in mine), f"{mine}")
    desk.origin.restart()
    for _ in range(2):
        deliver.wait("published")
    deliver.process.kill()
    deliver.process.wait(20)
    deliver = desk.deliver()
    # Sent meanwhile: the running command offers it.
    desk.keep(stage.file("b.txt", "more"))
    deliver.wait("published", title="b.txt")
    desk.daemon.start()
    prompt = desk.prompt("origin sent you 3 items")
    desk.server.choose(prompt["id"], "continue")
    received(os.path.join(desk.folder, "a.pdf"), b"words")
    received(os.path.join(desk.folder, "b.txt"), b"more")
    desk.ended(deliver)
    until("the page", lambda: os.path.exists(browser))


@test("a file that has changed is refused on both devices, and one that was deleted is no longer offered")
def changed(stage):
    desk = Waiting(stage)
    path = stage.file("a.pdf", "words")
    desk.keep(path)
    deliver = desk.deliver()
    prompt = desk.prompt("origin sent you a.pdf")
    stage.file("a.pdf", "other words")
    desk.server.choose(prompt["id"], "continue")
    why = "it has changed since it was sent"
    desk.server.wait(lambda server: any(why in each["body"] for each in server.standing.values()), "the failure")
    desk.ended(deliver, why)
    expect(not os.path.exists(os.path.join(desk.folder, "a.pdf")), "it was received")

    desk.keep(path)
    os.unlink(path)
    desk.ended(desk.origin.follow("deliver"), "no such file")


@test("an item that is withdrawn, declined, or deleted from its folder no longer waits")
def withdrawn(stage):
    desk = Waiting(stage)
    names = ["a.pdf", "b.txt", "c.png"]
    for name in names:
        desk.keep(stage.file(name, "words"))
    deliver = desk.deliver()
    mine = {each["title"]: each["id"] for each in desk.origin.ctl("list", "--mine").lines}
    desk.origin.ctl("withdraw", mine["a.pdf"])
    until("one less", lambda: len(desk.kept()) == 2)
    os.unlink(os.path.join(desk.queue, desk.kept()[0]))
    until("one more less", lambda: len(desk.origin.ctl("list", "--mine").lines) == 1)
    desk.server.choose(desk.prompt("origin sent you c.png")["id"], "dismiss")
    desk.ended(deliver, "declined")


@test("items for a device that is removed from the account, and all items when the account is left, are dropped")
def removed(stage):
    desk = Waiting(stage)
    path = stage.file("a.pdf", "words")
    desk.keep(path)
    deliver = desk.deliver()
    desk.turn_off()
    desk.origin.ctl("device", "remove", desk.identifier, "--yes", "--no-wait")
    desk.ended(deliver, "a.pdf is not sent")


@test("the account is left while an item waits")
def left(stage):
    desk = Waiting(stage)
    desk.keep(stage.file("a.pdf", "words"))
    deliver = desk.deliver()
    desk.origin.ctl("account", "leave", "--yes")
    desk.ended(deliver, "a.pdf is not sent")


@test("at most 64 items wait, all or none of a command are kept, and a full disk keeps none")
def limits(stage):
    desk = Waiting(stage)
    path = stage.file("a.pdf", "words")
    for _ in range(2):
        desk.keep(*[path] * 32)
    error = json.loads(desk.keep(path, code=1).errors.splitlines()[-1])
    expect("64" in json.dumps(error) and len(desk.kept()) == 64, f"{error}")
    for name in desk.kept():
        os.unlink(os.path.join(desk.queue, name))
    desk.keep("nothing.txt", code=1)
    desk.keep("-", code=2)
    expect(desk.kept() == [], f"{desk.kept()}")
    words = [os.path.join(BIN, "handoffctl"), "--socket", desk.origin.socket, "--json", "send", "--wait", "taker", path, path]
    # No file may be larger than nothing, as on a full disk.
    done = subprocess.run(["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *words], env=desk.origin.environment,
                          capture_output=True, text=True, timeout=30)
    expect(done.returncode != 0 and desk.kept() == [], f"{done} {desk.kept()}")


@test("more than 32 files, with any bytes in their names, wait as one item")
def many(stage):
    desk = Waiting(stage)
    names = [f"f{number}".encode() for number in range(39)] + [b"f\xe9\n\xff"]
    paths = []
    for name in names:
        paths.append(os.path.join(os.fsencode(stage.folder), name))
        with open(paths[-1], "wb") as file:
            file.write(name)
    desk.keep(*paths)
    deliver = desk.deliver()
    # One that disappears meanwhile is omitted.
    os.unlink(paths[0])
    desk.server.choose(desk.prompt("origin sent you 40 files")["id"], "continue")
    desk.ended(deliver, "1 entry is missing")
    folder = os.path.join(os.fsencode(desk.folder), b"40 files")
    expect(sorted(os.listdir(folder)) == sorted(names[1:]), f"{os.listdir(folder)}")


@test("an interrupted transfer of many files resumes after restarts of both daemons, deliver and the receiver")
def resumed(stage):
    desk = Waiting(stage)
    size = 2 << 20
    contents = {f"f{number}": os.urandom(size) for number in range(40)}
    paths = []
    for name, content in contents.items():
        paths.append(os.path.join(stage.folder, name))
        with open(paths[-1], "wb") as file:
            file.write(content)
    desk.keep(*paths)
    place = os.path.join(stage.folder, "received")
    os.mkdir(place)

    def begin():
        deliver = desk.deliver()
        until("the offer", lambda: desk.ctl("list").lines)
        return deliver, desk.daemon.follow("continue", "--latest", "--output", place)

    deliver, receive = begin()
    until("a part", lambda: any(len(files) > 10 for _, _, files in os.walk(place)))
    for process in (deliver.process, receive.process):
        process.kill()
        process.wait(20)
    expect(len(desk.kept()) == 1 and "40 files" not in os.listdir(place), "it was not interrupted")
    desk.origin.restart()
    desk.daemon.restart()
    deliver, receive = begin()
    expect(receive.wait("stream")["from"] > 8 * size, f"it was not resumed: {receive.seen}")
    expect(receive.process.wait(60) == 0, f"{receive.rest()}")
    for name, content in contents.items():
        received(os.path.join(place, "40 files", name), content)
    desk.ended(deliver)


@test("the unit runs while items wait, continues after an abnormal end, and ends when none is left")
def unit(stage):
    manager = UserManager(stage)
    origin, _ = stage.daemon("origin"), stage.daemon("taker")
    stage.join(origin, stage.daemons[-1])
    home = origin.environment["HOME"]
    with open(os.path.join(ROOT, "systemd", "handoff-deliver.service")) as file:
        text = file.read().replace("%h", home).replace("RestartSec=5", "RestartSec=100ms")
    program = f"{BIN}/handoffctl --socket {origin.socket}"
    text = text.replace("ExecStart=handoffctl", f"Environment=HOME={home}\nExecStart={program}")
    units = os.path.join(manager.folder, "systemd", "user")
    os.makedirs(units, exist_ok=True)
    with open(os.path.join(units, "handoff-deliver.service"), "w") as file:
        file.write(text)
    manager.call("daemon-reload")

    def state():
        return manager.call("show", "--property=ActiveState", "--value", "handoff-deliver.service").output.strip()

    def offered():
        return [line["id"] for line in origin.ctl("list", "--mine").lines]

    expect(manager.call("start", "handoff-deliver.service").code == 0 and state() == "inactive", f"without items: {state()}")
    origin.environment.update(manager.environment)
    # send starts the service itself.
    origin.ctl("send", "--wait", "taker", stage.file("a.pdf", "words"))
    until("the offer", offered)
    manager.call("kill", "--signal=KILL", "handoff-deliver.service")
    until("no offer", lambda: not offered())
    until("the offer again", offered)
    origin.ctl("withdraw", offered()[0])
    until("the end", lambda: state() == "inactive")


if __name__ == "__main__":
    main()
