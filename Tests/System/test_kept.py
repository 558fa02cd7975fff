#!/usr/bin/env python3
"""Activities of devices that are asleep or off: kept by the other devices, continued there, and
reported to their origin once it is back.

Daemons on this machine's loopback interface, with a simulated systemd-logind (`logind.py`) and
simulated sleep (SIGSTOP).
"""

import contextlib
import json
import os
import signal
import subprocess
import sys

from browsers import until
from harness import BIN, ROOT, content, expect, test
from logind import Logind, sleep, wake

sys.path.insert(0, os.path.join(ROOT, "Integrations", "python"))
import handoff  # noqa: E402

TYPE = "com.example.editing"
OTHER = "com.example.reading"


def devices(stage, *names):
    """Starts daemons of one account. The first has a simulated logind."""
    logind = Logind(stage)
    found = [stage.daemon(name, start=False) for name in names]
    for daemon in found:
        daemon.extra = {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"}
    found[0].extra = logind.environment
    for daemon in found:
        daemon.start()
    for other in found[1:]:
        stage.join(found[0], other)
    return logind, *found


@test("an activity of a device that is asleep is continued, and its app is notified once when it wakes")
def asleep(stage):
    logind, origin, taker = devices(stage, "origin", "taker")
    watch = taker.follow("watch")
    watch.wait("ready")
    owner = origin.publish(TYPE, "--title", "Draft", "--user-info", '{"text": "half a sentence"}')
    watch.wait("added", type=TYPE)
    sleep(logind, origin)
    kept = watch.wait("changed", id=owner.id)
    expect(kept["kept"]["state"] == "asleep" and kept["kept"]["since"] > 1e9, f"{kept}")
    taken = taker.ctl("continue", "--print").line
    expect(taken["userInfo"] == {"text": "half a sentence"} and taken["kept"]["state"] == "asleep", f"{taken}")
    wake(logind, origin)
    event = owner.wait("continued")
    expect(event["deviceName"] == "taker" and event["at"] > 1e9, f"{event}")
    live = watch.wait("changed", id=owner.id)
    expect(live["kept"] is None, f"{live}")
    # The next continuation is a usual one, and the only further event.
    taker.ctl("continue", "--print")
    event = owner.wait("continued")
    expect(event.get("at") is None, f"{event}")


def configure(daemon, keep):
    with open(daemon.configuration, "w") as file:
        file.write(f"keep = {keep}\n")
    daemon.process.send_signal(signal.SIGHUP)


def ctl(daemon):
    return [os.path.join(BIN, "handoffctl"), "--socket", daemon.socket, "--json"]


def kept(daemon, *words):
    """The copies that a device lists, by the id of the offer."""
    return {each["id"]: each for each in daemon.ctl("list", *words).lines if each["kept"]}


@test("an activity is kept when its daemon stops, and ends there when its app has ended before")
def stopped(stage):
    logind, origin, taker = devices(stage, "origin", "taker")
    watch = taker.follow("watch")
    watch.wait("ready")
    ended = origin.publish(OTHER, "--title", "Ended")
    watch.wait("added", id=ended.id)
    ended.process.send_signal(signal.SIGINT)
    watch.wait("removed", id=ended.id)
    owner = origin.publish(TYPE, "--title", "Draft", "--user-info", '{"text": "half a sentence"}')
    watch.wait("added", id=owner.id)
    expect(origin.stop() == 0, "the origin did not exit")
    offers = until("the copy", lambda: kept(taker))
    expect(list(offers) == [owner.id] and offers[owner.id]["kept"]["state"] == "offline", f"{offers}")
    expect(taker.ctl("continue", "--print").line["userInfo"] == {"text": "half a sentence"}, "another state")


@test("a third device passes on what it keeps, and the receipt of the device that continued it")
def keeper(stage):
    logind, origin, server, taker = devices(stage, "origin", "server", "taker")
    watch = server.follow("watch")
    watch.wait("ready")
    expect(taker.stop() == 0, "the taker did not exit")
    owner = origin.publish(TYPE, "--title", "Draft", "--user-info", '{"text": "half a sentence"}')
    watch.wait("added", id=owner.id)
    sleep(logind, origin)
    watch.wait("changed", id=owner.id)
    taker.start()
    offers = until("the copy", lambda: kept(taker))
    expect(list(offers) == [owner.id] and offers[owner.id]["kept"]["state"] == "offline", f"{offers}")
    taken = taker.ctl("continue", "--print").line
    expect(taken["userInfo"] == {"text": "half a sentence"}, f"{taken}")
    # The taker is off when the origin returns.
    expect(taker.stop() == 0, "the taker did not exit")
    wake(logind, origin)
    event = owner.wait("continued")
    expect(event["deviceName"] == "taker" and event["at"] > 1e9, f"{event}")


@test("what was kept survives a power cut, and what its app has ended is never continued again")
def power_cut(stage):
    logind, origin, taker = devices(stage, "origin", "taker")
    first = origin.publish(TYPE, "--title", "Ended", "--keep")
    second = origin.publish(OTHER, "--title", "Kept", "--keep", "--user-info", '{"page": 3}')
    third = origin.publish(OTHER, "--title", "Private", "--no-keep")
    until("the offers", lambda: {first.id, second.id, third.id} == {each["id"] for each in taker.ctl("list").lines})
    # An app that has ended stays available, unless the user withdraws its activity.
    for each in (first, second):
        each.process.send_signal(signal.SIGINT)
        until("the copy", lambda: each.id in kept(taker))
    expect(set(kept(origin, "--recent")) == {first.id, second.id}, "the origin does not list what it closed")
    origin.ctl("withdraw", first.id)
    until("the withdrawal", lambda: set(kept(taker)) == {second.id})
    origin.kill()
    offers = until("the state after the power cut", lambda: found if (found := kept(taker))[second.id]["kept"]["state"] != "ended" else None)
    expect(set(offers) == {second.id}, f"{offers}")
    expect(taker.ctl("continue", second.id, "--print").line["userInfo"] == {"page": 3}, "another state")
    # After the start, the copy is listed as a recent one only, also at its origin.
    origin.start()
    until("the origin", lambda: not kept(taker))
    for each in (taker, origin):
        until("the recent activities", lambda: set(kept(each, "--recent")) == {second.id})
    expect(origin.ctl("continue", second.id, "--print").line["userInfo"] == {"page": 3}, "another state")


@test("with keep = off on either side nothing is kept")
def off(stage):
    logind, origin, taker, other = devices(stage, "origin", "taker", "other")
    configure(other, "off")
    watch = taker.follow("watch")
    watch.wait("ready")
    owner = origin.publish(TYPE, "--keep", "--title", "Draft")
    watch.wait("added", id=owner.id)
    owner.process.send_signal(signal.SIGINT)
    until("the copy", lambda: kept(taker))
    expect(not kept(other, "--recent"), "a device keeps activities although it is off")
    # Switching it off withdraws all copies.
    configure(origin, "off")
    until("the withdrawal", lambda: not kept(taker, "--recent"))


@test("a newer state on another device is reported, can be ignored, and is brought back, also if that device is asleep")
def lineage(stage):
    logind, first, second, third = devices(stage, "first", "second", "third")
    watch = third.follow("watch")
    watch.wait("ready")
    app = handoff.App("com.example.Editor", path=first.socket)
    draft = app.publish(TYPE, title="Draft", userInfo={"text": "one"})
    draft.become_current()
    watch.wait("added", id=draft.id)
    # The second device continues it and goes on with it.
    taken = until("the offer", lambda: second.ctl("continue", draft.id, "--print", code=None).line)
    editor = handoff.App("com.example.Editor", path=second.socket)
    newer = editor.publish(TYPE, title="Draft", userInfo={"text": "one and two"}, lineage=taken["lineage"], keep=True)
    newer.become_current()
    watch.wait("added", id=newer.id)
    published = first.ctl("list", "--mine").line
    expect(published["continued"]["deviceName"] == "second" and published["continued"]["at"] > 1e9, f"{published}")

    def older():
        done = third.ctl("continue", draft.id, "--print", code=None)
        return done if done.code else None
    refused = until("the lineage of the newer state", older)
    error = json.loads(refused.errors)
    expect(error["reason"] == "newerElsewhere" and newer.id[:7] in error["message"] and "second" in error["message"], f"{error}")
    expect(third.ctl("continue", draft.id, "--older", "--print").line["userInfo"] == {"text": "one"}, "another state")
    expect(third.ctl("continue", newer.id, "--print").line["lineage"]["step"] == 2, "another step")

    def back():
        done = first.ctl("continue", "--back", "--print", code=None)
        return done.line if done.code == 0 else None
    found = until("the newer state", back)
    expect(found["userInfo"] == {"text": "one and two"} and found["lineage"] == {"id": draft.id, "step": 2}, f"{found}")
    # It is brought back from a copy as well.
    editor.close()
    until("the copy", lambda: newer.id in kept(first))
    second.kill()
    found = until("the copy of the newer state", back)
    expect(found["userInfo"] == {"text": "one and two"} and found["kept"], f"{found}")
    app.close()


@test("an activity that an app edits exclusively is shown as such")
def exclusive(stage):
    logind, first, second = devices(stage, "first", "second")
    app = handoff.App("com.example.Editor", path=first.socket)
    draft = app.publish(TYPE, title="Draft", exclusive=True)
    draft.become_current()
    until("the exclusive offer", lambda: [each for each in second.ctl("list").lines if each["exclusive"]])
    draft.update(exclusive=False)
    until("the shared offer", lambda: [each for each in second.ctl("list").lines if not each["exclusive"]])
    app.close()


@test("what happens to a continued activity is what its app has declared, and a save shows if a device waits for it")
def afterwards(stage):
    logind, first, second = devices(stage, "first", "second")
    events = []
    app = handoff.App("com.example.Editor", path=first.socket, on_event=events.append)

    def wait(name):
        def found():
            app.process()
            return next((event for event in events if event["event"] == name), None)
        return until(f"the event {name}", found)
    for what, left in (("close", 0), ("pause", 1), ("stay", 1)):
        draft = app.publish(TYPE, save=lambda: {"title": what}, afterwards=what)
        draft.become_current()
        wait("save")
        expect(not events[-1].get("forUser"), f"{events}")
        offer = until("the offer", lambda: second.ctl("list").lines)[0]
        events.clear()
        draft.update(needsSave=True)
        with subprocess.Popen([*ctl(second), "continue", offer["id"], "--print"], stdout=subprocess.PIPE) as taking:
            expect(wait("save").get("forUser") is True, f"{events}")
            wait("continued")
            taking.communicate()
        expect(taking.returncode == 0, "it was not continued")
        mine = until("its state", lambda: (found,) if len(found := first.ctl("list", "--mine").lines) == left else None)[0]
        expect(not mine or (mine[0]["age"] is None) == (what == "pause"), f"{mine}")
        expect(bool(second.ctl("list").lines) == (what == "stay"), f"{what}")
        if left:
            draft.invalidate()
            until("its end", lambda: not second.ctl("list").lines)
        events.clear()
    app.close()


@test("an item that was sent to a device that is off is delivered by a third one, which cannot read it")
def sent(stage):
    logind, origin, server, taker = devices(stage, "origin", "server", "taker")
    watch = server.follow("watch")
    watch.wait("ready")
    until("the taker", lambda: next(each for each in server.ctl("devices").lines if each["name"] == "taker")["online"])
    expect(taker.stop() == 0, "the taker did not exit")
    secret = "for the taker only: " + os.urandom(16).hex()
    with open(os.path.join(stage.folder, "letter.txt"), "w") as file:
        file.write(secret)
    large = os.path.join(stage.folder, "large.bin")
    with open(large, "wb") as file:
        file.write(os.urandom(300_000))
    sending = origin.follow("send", "taker", file.name.replace("large.bin", "letter.txt"), large, "--text", secret, "--keep")
    for _ in range(3):
        sending.wait("published")
    until("the copies", lambda: bytes_kept(server) > 0)
    expect(secret.encode() not in memory(server), "a keeper can read the item")
    sleep(logind, origin)
    taker.start()
    offers = until("the items", lambda: found if len(found := kept(taker)) == 2 else None)
    expect({each["type"] for each in offers.values()} == {"dev.handoff1.content", "dev.handoff1.text"}, f"{offers}")
    expect(all(each["sent"] and not each["streams"] for each in offers.values()), f"{offers}")
    expect(not kept(server, "--recent"), "a keeper lists an item of others")
    saved = os.path.join(stage.folder, "saved")
    os.mkdir(saved)
    for each in offers.values():
        if each["type"] == "dev.handoff1.text":
            expect(taker.ctl("continue", each["id"], "--print").line["userInfo"]["text"] == secret, "another text")
        else:
            taker.ctl("continue", each["id"], "--output", saved)
    with open(os.path.join(saved, "letter.txt")) as file:
        expect(file.read() == secret, "another file")
    expect(not kept(taker), "an accepted item is still offered")
    wake(logind, origin)
    # The large one waited for its device.
    offer = until("the large item", lambda: taker.ctl("list").lines)[0]
    taker.ctl("continue", offer["id"], "--output", saved)
    expect(sending.process.wait(20) == 0 and content(os.path.join(saved, "large.bin")) == content(large), "it was not sent")


def memory(daemon):
    """The memory of a daemon."""
    found = []
    with open(f"/proc/{daemon.process.pid}/maps") as maps, open(f"/proc/{daemon.process.pid}/mem", "rb", 0) as memory:
        for line in maps:
            span, access = line.split()[:2]
            if access.startswith("rw"):
                begin, end = (int(each, 16) for each in span.split("-"))
                memory.seek(begin)
                with contextlib.suppress(OSError):
                    found.append(memory.read(end - begin))
    return b"".join(found)


def bytes_kept(daemon):
    """The size of the memory that the daemon has locked for copies, in KiB."""
    with open(f"/proc/{daemon.process.pid}/smaps") as maps:
        return sum(int(line.split()[1]) for line in maps if line.startswith("Locked:"))


if __name__ == "__main__":
    from harness import main
    main()
