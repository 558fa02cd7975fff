#!/usr/bin/env python3
"""Items that wait for a device (`send --wait`), and the command that offers them (`deliver`), across restarts of both
sides. Two daemons on loopback, a real bus, and a simulated notification server."""

import json
import os
import shutil
import subprocess

from browsers import until
from clocks import DAY, Clock
from desk import received
from harness import BIN, ROOT, expect, main, test
from notifications import DISMISSED
from receiver import Receiver
from user_manager import UserManager


class Waiting(Receiver):
    """A device that receives files, and another one with items that wait for it."""

    def __init__(self, stage):
        super().__init__(stage)
        self.queue = os.path.join(self.origin.state, "queue")
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

    def undelivered(self):
        """Returns the items that are listed with the reason why they were not delivered."""
        return [each for each in self.origin.ctl("list", "--mine").lines if not each["offered"]]

    def ended(self, deliver, note=""):
        """Waits until no item is left, and checks the message of the last one, and that the user can see and remove it."""
        expect(deliver.process.wait(60) == 0, f"deliver has not ended well: {deliver.seen}")
        expect(self.kept() == [], f"an item is left: {self.kept()}")
        with open(deliver.log) as file:
            notes = file.read()
        expect(note in notes, f"'{note}' is missing: {notes}")
        left = self.origin.ctl("list", "--mine").lines
        if note:
            item = left.pop()
            expect(note in item["reason"] and item["to"] == self.identifier and not item["offered"], f"{item}")
            checks = [each for each in self.origin.ctl("doctor", code=None).lines if each["check"] == "items"]
            expect(len(checks) == 1 and note in checks[0]["message"] and item["id"][:7] in checks[0]["remedy"], f"{checks}")
            expect(self.origin.ctl("withdraw", item["id"][:7]).line["withdrawn"] == item["id"], "another one is withdrawn")
            expect(self.undelivered() == [], "it is still listed")
        expect(left == [], f"something is left: {left}")


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
    deliver.process.wait(60)
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


@test("a file that has changed is sent as it is; one that was deleted, or became a folder, is reported on both devices")
def changed(stage):
    desk = Waiting(stage)
    path = stage.file("a.pdf", "words")
    desk.keep(path)
    deliver = desk.deliver()
    stage.file("a.pdf", "other words")
    desk.server.choose(desk.prompt("origin sent you a.pdf")["id"], "continue")
    received(os.path.join(desk.folder, "a.pdf"), b"other words")
    desk.ended(deliver)

    def replaced(name, replace, here, there):
        path = stage.file(name, "words")
        desk.keep(path)
        deliver = desk.deliver()
        prompt = desk.prompt(f"origin sent you {name}")
        replace(path)
        desk.server.choose(prompt["id"], "continue")
        failure = desk.prompt(f"Could not save {name}")
        expect(there in failure["body"], f"{failure}")
        # Otherwise it would stand in place of the next one.
        desk.server.end(failure["id"], DISMISSED)
        desk.ended(deliver, here)
        expect(not os.path.exists(os.path.join(desk.folder, name)), "it was received")

    def become_folder(path):
        os.unlink(path)
        os.mkdir(path)

    replaced("b.pdf", os.unlink, "no such file", "it cannot be opened")
    replaced("c.pdf", become_folder, "it was a file", "it was a file when it was sent")
    # Also if it happens while the command does not run.
    desk.keep(path)
    os.unlink(path)
    desk.ended(desk.origin.follow("deliver"), "no such file")


@test("the number of items that could not be delivered is limited, and an invalid file of one is ignored")
def forgotten(stage):
    desk = Waiting(stage)
    path = stage.file("a.pdf", "words")
    kept = os.path.join(desk.origin.state, "undelivered")
    for _ in range(3):
        desk.keep(*[path] * 32)
        os.rename(path, path + ".away")
        deliver = desk.origin.follow("deliver")
        expect(deliver.process.wait(60) == 0 and desk.kept() == [], f"{deliver.seen}")
        os.rename(path + ".away", path)
    for name, content in (("1-0-0.json", "{"), ("1-0-1.json", '{"version": 1}')):
        with open(os.path.join(kept, name), "w") as file:
            file.write(content)
    expect(len(desk.undelivered()) == 64, f"{len(desk.undelivered())}")
    desk.origin.ctl("withdraw", "", code=1)
    shutil.rmtree(kept)


@test("an item waits for an hour, and then for a month, and is offered when the device appears")
def hour(stage):
    desk = Waiting(stage)
    clock = Clock(desk.origin)
    desk.origin.environment |= {key: desk.origin.extra[key] for key in ("LD_PRELOAD", "CLOCK_PAGE")}
    desk.origin.restart()
    now = 0
    for title, steps, step in (("a.pdf", 60, 60), ("b.pdf", 30, DAY)):
        desk.turn_off()
        desk.keep(stage.file(title, "words"))
        deliver = desk.deliver()
        published = deliver.seen[-1]["id"]
        # Nothing is offered until the restarted daemon knows the user's sessions.
        desk.origin.know_sessions()
        for _ in range(steps):
            now += step
            clock.jump(now)
            # The timers that are due run when a call wakes the daemon.
            offers = desk.origin.ctl("list", "--mine").lines
            expect([each["id"] for each in offers] == [published] and offers[0]["offered"], f"after {now} s: {offers}")
        desk.daemon.start()
        desk.server.choose(desk.prompt(f"origin sent you {title}")["id"], "continue")
        received(os.path.join(desk.folder, title), b"words")
        desk.ended(deliver)


@test("only one process offers the items, and another one does so when it was killed")
def second(stage):
    desk = Waiting(stage)
    desk.keep(stage.file("a.pdf", "words"))
    expect("not offered" in desk.origin.ctl("list", "--mine").errors, "it is not reported that nothing offers the item")
    commands = [desk.origin.follow("deliver") for _ in range(6)]
    until("one command", lambda: sum(each.process.poll() is None for each in commands) == 1)
    deliver = next(each for each in commands if each.process.poll() is None)
    deliver.wait("published")
    expect(all(each.process.returncode == 5 for each in commands if each is not deliver), "another status")
    error = desk.origin.ctl("deliver", code=5).errors
    expect("AlreadyRunning" in error and f"process {deliver.process.pid})" in error, error)
    expect(len(desk.origin.ctl("list", "--mine").lines) == 1, "it is offered twice")
    desk.prompt("origin sent you a.pdf")
    deliver.process.kill()
    deliver.process.wait(60)
    # The prompt of the former offer has the same text.
    desk.server.none()
    deliver = desk.deliver()
    desk.server.choose(desk.prompt("origin sent you a.pdf")["id"], "continue")
    received(os.path.join(desk.folder, "a.pdf"), b"words")
    desk.ended(deliver)
    expect(os.listdir(desk.folder) == ["a.pdf"], f"{os.listdir(desk.folder)}")


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
    desk.ended(deliver, "no longer in the account")


@test("the account is left while an item waits")
def left(stage):
    desk = Waiting(stage)
    desk.keep(stage.file("a.pdf", "words"))
    deliver = desk.deliver()
    desk.origin.ctl("account", "leave", "--yes")
    desk.ended(deliver, "no longer in the account")


@test("an item waits while its device is removed from the account, and nothing offers it")
def removed_before(stage):
    desk = Waiting(stage)
    desk.keep(stage.file("a.pdf", "words"))
    desk.turn_off()
    desk.origin.ctl("device", "remove", desk.identifier, "--yes", "--no-wait")
    desk.ended(desk.origin.follow("deliver"), "account")


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
        process.wait(60)
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
    # The folder of the units' state, which depends on the version of systemd. The shell of the user has another one.
    folder = os.path.join(stage.folder, "state")
    manager = UserManager(stage, {"XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder})
    origin = stage.daemon("origin", start=False)
    origin.state = os.path.join(folder, "handoff", "state")
    stage.join(origin.start(), stage.daemon("taker"))
    home = origin.environment["HOME"]
    with open(os.path.join(ROOT, "systemd", "handoff-deliver.service")) as file:
        text = file.read().replace("RestartSec=5", "RestartSec=100ms")
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
    origin.environment |= {**manager.environment, "XDG_STATE_HOME": os.path.join(stage.folder, "other")}
    # send starts the service itself.
    origin.ctl("send", "--wait", "taker", stage.file("a.pdf", "words"))
    until("the offer", offered)
    manager.call("kill", "--signal=KILL", "handoff-deliver.service")
    until("no offer", lambda: not offered())
    until("the offer again", offered)
    origin.ctl("withdraw", offered()[0])
    until("the end", lambda: state() == "inactive")
    # A command of the user is not replaced, and the service does not try again.
    manager.call("stop", "handoff-deliver.service")
    path = os.path.join(origin.state, "queue")
    with open(os.path.join(path, "0.json"), "w") as file:
        json.dump({"version": 1, "device": stage.daemons[-1].ctl("status").line["device"], "text": "words"}, file)
    deliver = origin.follow("deliver")
    deliver.wait("published")
    manager.call("start", "handoff-deliver.service")
    until("the failure", lambda: state() == "failed")
    expect(deliver.process.poll() is None and len(offered()) == 1, "the command of the user has ended")


if __name__ == "__main__":
    main()
