#!/usr/bin/env python3
"""The log of continuations: which device continued which type and when, without the content.

Two daemons on this machine's loopback interface, with embedded discovery.
"""

import errno
import json
import os
import time

import harness
from faults import Faults
from harness import expect, run, tail, test

TYPE = "com.example.editing"
SECRET = "the-secret-title"


def continued(stage, *words, **more):
    """Starts two daemons. The first offers an activity to the second."""
    origin, taker = stage.pair(**more)
    # The new key that closes the file repeats requests of that moment, which would deliver a payload twice.
    until(lambda: is_settled(origin, taker))
    watch = taker.follow("watch")
    watch.wait("ready")
    origin.publish(TYPE, "--title", SECRET, "--user-info", '{"%s": 1}' % SECRET, "--web-url",
                   f"https://example.org/{SECRET}", *words)
    watch.wait("added", type=TYPE)
    return origin, taker, watch


def until(condition):
    """Polls until the condition holds. The test's time limit ends it."""
    while not condition():
        time.sleep(0.02)


def is_settled(*daemons):
    """Returns whether the file with which one of them joined is closed, and all devices have the
    key that this generated."""
    states = [daemon.ctl("status").line for daemon in daemons]
    return not any(state["tickets"] for state in states) and len({state["epoch"] for state in states}) == 1


def arrived(daemon, count):
    """Returns when a daemon has received this many reports that its activity was continued, which
    may be after the reply."""
    until(lambda: tail(daemon.log, 1000).count("Was continued") == count)


@test("both devices log a continuation without its content")
def both(stage):
    origin, taker, _ = continued(stage)
    follower = origin.follow("log", "--follow")
    before = time.time()
    taker.ctl("continue", "--print")
    first, second = follower.next(), follower.next()
    expect([first["event"], second["event"]] == ["payload", "continuation"], f"{first} {second}")
    for entry in (first, second):
        expect(entry["direction"] == "out" and entry["type"] == TYPE and entry["deviceName"] == "taker"
               and before - 1 < entry["time"] < time.time() + 1, f"{entry}")
    expect(first["outcome"] == "given" and second["outcome"] == "continued", f"{first} {second}")
    mine = taker.ctl("log").line
    expect(mine["direction"] == "in" and mine["outcome"] == "continued" and mine["deviceName"] == "origin"
           and mine["number"] == 1 and mine["app"] is None, f"{mine}")
    expect(origin.ctl("log").lines == [first, second], "the log differs from the followed events")
    for daemon in (origin, taker):
        path = os.path.join(daemon.state, "history")
        # It is written after the reply.
        until(lambda: os.path.exists(path))
        with open(path) as file:
            text = file.read()
        expect(SECRET not in text, f"the log contains private data: {text}")
        expect(os.stat(path).st_mode & 0o777 == 0o600, "other users can read the log")


@test("the log names the app that accepted an activity, and the reason of a failure")
def apps(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    watch.wait("ready")
    origin.publish(TYPE)
    watch.wait("added", type=TYPE)
    taker.follow("handle", TYPE, "--exec", "exit 1")
    watch.wait("changed", type=TYPE)
    taker.ctl("continue", code=1)
    entry = taker.ctl("log").line
    expect(entry["outcome"] == "handlerRefused" and entry["app"] == "handoffctl", f"{entry}")


@test("streams are logged with their bytes, on both sides")
def streams(stage):
    path = stage.file("content", "x" * 300_000)
    origin, taker, _ = continued(stage, "--stream", path)
    theirs, ours = origin.follow("log", "--follow"), taker.follow("log", "--follow")
    taker.ctl("continue", "--output", os.path.join(stage.folder, "copy.txt"))
    sent = theirs.wait("stream")
    received = ours.wait("stream")
    expect(sent["sent"] >= 300_000 and sent["direction"] == "out" and sent["outcome"] == "ended", f"{sent}")
    expect(received["received"] == sent["sent"] and received["direction"] == "in", f"{received}")


@test("the log persists over a restart, and its numbers continue")
def restart(stage):
    origin, taker, _ = continued(stage)
    taker.ctl("continue", "--print")
    taker.ctl("continue", "--print")
    taker.restart()
    expect([line["number"] for line in taker.ctl("log").lines] == [1, 2], "numbers")
    watch = taker.follow("watch")
    watch.wait("added", type=TYPE)
    taker.ctl("continue", "--print")
    expect([line["number"] for line in taker.ctl("log").lines] == [1, 2, 3], "the numbers do not continue")
    expect([line["number"] for line in taker.ctl("log", "--lines", "1").lines] == [3], "--lines")


@test("a full file is followed by a new one, a truncated line is skipped, and pages are read to the end")
def rotates(stage):
    origin = stage.daemon("origin", start=False)
    os.mkdir(origin.state, 0o700)

    def lines(numbers):
        for number in numbers:
            yield json.dumps({
                "number": number, "time": 1.7e9, "event": "continuation", "direction": "in", "type": TYPE,
                "device": "ab" * 32, "deviceName": "x" * 60, "app": None, "outcome": "continued", "count": 1, "sent": None,
                "received": None}) + "\n"

    with open(os.path.join(origin.state, "history.old"), "w") as file:
        file.writelines(lines(range(1, 1001)))
    with open(os.path.join(origin.state, "history"), "w") as file:
        file.writelines(lines(range(1001, 2001)))
        file.write('{"number": 2001, "time": 1.7e')
    origin.start()
    expect([line["number"] for line in origin.ctl("log").lines] == list(range(1, 2001)), "entries are missing")
    taker = stage.daemon("taker")
    stage.join(origin, taker)
    watch = origin.follow("watch")
    watch.wait("ready")
    with open(os.path.join(origin.state, "history"), "a") as file:
        file.write(" " * (1024 * 1024 - os.path.getsize(file.name) - 10))
    taker.publish(TYPE)
    watch.wait("added", type=TYPE)
    origin.ctl("continue", "--print")
    follower = origin.follow("log", "--follow")
    numbers = []
    while 2001 not in numbers:
        numbers.append(follower.next()["number"])
    expect(numbers == list(range(1001, 2002)), "the former file was not kept, or the one before it was")
    expect(os.path.getsize(os.path.join(origin.state, "history")) < 1000, "the file did not start again")


@test("excessive entries of one device are combined, and nothing is omitted")
def crowd(stage):
    origin, taker, _ = continued(stage, options=["--log-level", "info"])
    for _ in range(40):
        taker.ctl("continue", "--print")
    arrived(origin, 40)
    expect(len(taker.ctl("log").lines) == 40, "the user's own actions are combined")
    expect(len(origin.ctl("log").lines) == 64, f"{len(origin.ctl('log').lines)} entries of one device at once")
    origin.restart()
    entries = origin.ctl("log").lines
    expect(len(entries) == 66 and {entry["event"] for entry in entries[64:]} == {"payload", "continuation"}, f"{entries[64:]}")
    # A device whose connection was lost in the meantime repeats its request.
    given = tail(origin.log, 1000).count("Handed over")
    for event, count in (("payload", given), ("continuation", 40)):
        found = sum(entry["count"] for entry in entries if entry["event"] == event)
        expect(found == count, f"{found} instead of {count}: {entries[64:]}")
    text = run([os.path.join(harness.BIN, "handoffctl"), "--socket", origin.socket, "log", "--lines", "1"],
               origin.environment).output
    expect(text.endswith(f"({entries[-1]['count']} times)\n"), text)


@test("a name cannot create lines of its own, neither in the file nor on the terminal")
def forged(stage):
    origin, taker, _ = continued(stage)
    name = "a\u202e\u2028b\u200bc"
    taker.ctl("device", "rename", "taker", name)
    until(lambda: name in [device["name"] for device in origin.ctl("devices").lines])
    taker.ctl("continue", "--print")
    arrived(origin, 1)
    text = run([os.path.join(harness.BIN, "handoffctl"), "--socket", origin.socket, "log"], origin.environment).output
    expect("a\\u{202E}\\u{2028}b\\u{200B}c" in text and len(text.splitlines()) == 2, text)
    with open(os.path.join(origin.state, "history"), "rb") as file:
        expect(file.read().count(b"\n") == 2, "a name has created a line")


@test("a full or broken disk does not prevent continuations")
def disk(stage):
    origin, taker = stage.pair()
    faults = Faults(origin)
    origin.restart()
    watch = taker.follow("watch")
    watch.wait("ready")
    origin.publish(TYPE)
    watch.wait("added", type=TYPE)
    taker.ctl("continue", "--print")
    count = 1
    arrived(origin, count)
    for error in (errno.ENOSPC, errno.EIO):
        before = len(origin.ctl("log").lines)
        faults.arm(1, "fail all", error=error)
        taker.ctl("continue", "--print")
        arrived(origin, count + 1)
        expect(len(origin.ctl("log").lines) == before, "an entry was kept on a full disk")
        faults.disarm()
        taker.ctl("continue", "--print")
        count += 2
        arrived(origin, count)
        expect(len(origin.ctl("log").lines) == before + 2, "no further entries are kept")
    log = tail(origin.log, 200)
    expect(log.count("Cannot write the continuation log") == 2, log)


@test("wrong usage of log is reported")
def usage(stage):
    origin = stage.daemon("origin")
    for words in (("log", "--lines", "-1"), ("log", "--lines", "x"), ("log", "all")):
        origin.ctl(*words, code=2)
    expect(origin.ctl("log").output == "", "an empty log prints something")


if __name__ == "__main__":
    harness.main()
