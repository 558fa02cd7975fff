#!/usr/bin/env python3
"""Activities of devices that are asleep or off: kept by the other devices, continued there, and
reported to their origin once it is back.

Daemons on this machine's loopback interface, with a simulated systemd-logind (`logind.py`) and
simulated sleep (SIGSTOP).
"""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

from browsers import until
from harness import BIN, FULL_SAMPLES, ROOT, Skip, content, expect, test, virtual_screen
from keeping import TYPE, bytes_kept, devices, kept, mappings, memory, traces
from logind import sleep, wake
from policies import policy

sys.path.insert(0, os.path.join(ROOT, "Integrations", "python"))
import handoff  # noqa: E402

OTHER = "com.example.reading"


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


@test("the activities of a device that is switched off are continued, although their apps end with it")
def switched_off(stage):
    logind, origin, taker = devices(stage, "origin", "taker")
    owner = origin.publish(TYPE, "--user-info", '{"text": "half a sentence"}')
    until("the offer", lambda: taker.ctl("list").lines)
    expect(origin.stop() == 0, "the origin did not exit")
    found = until("the copy", lambda: kept(taker).get(owner.id))
    expect(found["kept"]["state"] == "offline", f"{found}")
    expect(taker.ctl("continue", owner.id, "--print").line["userInfo"] == {"text": "half a sentence"}, "another state")


@test("the activities of a machine that shuts down are continued, although their apps end before the daemon")
def shut_down(stage):
    logind, origin, taker = devices(stage, "origin", "taker")
    app = handoff.App("com.example.Editor", path=origin.socket)
    draft = app.publish(TYPE, title="Draft", userInfo={"text": 0})
    draft.become_current()
    owner = origin.publish(OTHER, "--user-info", '{"page": 3}')
    until("the offers", lambda: len(taker.ctl("list").lines) == 2)
    lock = logind.shutdown(0)[1]
    logind.sleeps(True, "Shutdown")
    expect(select.select([lock], [], [], 60)[0], "the shutdown is delayed permanently")
    os.close(lock)
    # The user cancels it, and ends an activity.
    owner.process.send_signal(signal.SIGINT)
    owner.process.wait(20)
    expect(set(kept(taker)) == {draft.id, owner.id}, "the end of an app has withdrawn a copy")
    logind.sleeps(False, "Shutdown")
    until("the end", lambda: [each["id"] for each in taker.ctl("list").lines] == [draft.id] and not kept(taker))
    lock = logind.shutdown(1)[1]
    logind.sleeps(True, "Shutdown")
    expect(select.select([lock], [], [], 60)[0], "the shutdown is delayed permanently")
    os.close(lock)
    app.close()
    expect(origin.stop() == 0, "the origin did not exit")
    found = until("the copy", lambda: kept(taker).get(draft.id))
    expect(found["kept"]["state"] == "offline", f"{found}")
    expect(taker.ctl("continue", draft.id, "--print").line["userInfo"] == {"text": 0}, "another state")


@test("what was kept survives a power cut, and what its app has ended is never continued again")
def power_cut(stage):
    logind, origin, taker = devices(stage, "origin", "taker")
    watch = taker.follow("watch")
    watch.wait("ready")
    first = origin.publish(TYPE, "--title", "Ended", "--keep")
    second = origin.publish(OTHER, "--title", "Kept", "--keep", "--user-info", '{"page": 3}')
    third = origin.publish(OTHER, "--title", "Private", "--no-keep")
    until("the offers", lambda: len(taker.ctl("list").lines) == 3)
    # An app that has ended stays available, unless the user withdraws its activity.
    for each in (first, second):
        each.process.send_signal(signal.SIGINT)
        until("the copy", lambda: each.id in kept(taker))
    expect(set(kept(origin, "--recent")) == {first.id, second.id}, "the origin does not list what it closed")
    origin.ctl("withdraw", first.id)
    watch.wait("removed", id=first.id)
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
    # It may have received the copy before the signal.
    until("the device that is off to keep nothing", lambda: not kept(other, "--recent"))
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
    # The report of the continuation, and the lineage of the newer state, arrive at their own pace.
    published = until("the continuation", lambda: line if (line := first.ctl("list", "--mine").line)["continued"] else None)
    expect(published["continued"]["deviceName"] == "second" and published["continued"]["at"] > 1e9, f"{published}")

    def older():
        done = third.ctl("continue", draft.id, "--print", code=None)
        return done if done.code else None
    refused = until("the lineage of the newer state", older)
    error = json.loads(refused.errors)
    expect(error["reason"] == "newerElsewhere" and newer.id[:7] in error["message"] and "second" in error["message"], f"{error}")
    expect({**error["newer"], "since": None} == {
        "activity": newer.id, "device": published["continued"]["device"], "deviceName": "second", "here": False, "since": None}, f"{error}")
    expect(abs(error["newer"]["since"] - time.time()) < 3600, f"{error}")
    expect(json.loads(second.ctl("continue", draft.id, "--print", code=None).errors)["newer"]["here"], "a state of another device")
    published = until("the newer state", lambda: first.ctl("list", "--mine").line["newer"])
    expect(published["activity"] == newer.id, f"another newer state of the published activity: {published}")
    expect(third.ctl("continue", draft.id, "--older", "--print").line["userInfo"] == {"text": "one"}, "another state")
    expect(third.ctl("continue", newer.id, "--print").line["lineage"]["step"] == 2, "another step")

    def back():
        done = first.ctl("continue", "--back", "--print", code=None)
        return done.line if done.code == 0 else None
    found = until("the newer state", back)
    expect(found["userInfo"] == {"text": "one and two"} and found["lineage"] == {"id": draft.id, "step": 2}, f"{found}")
    # A document that becomes current again has another id. Its former copy is no newer state.
    other = editor.publish(TYPE, title="Other", userInfo={"text": "x"})
    other.become_current()
    until("the former copy", lambda: newer.id in kept(third, "--recent"))
    newer.become_current()
    again = until("the new offer", lambda: [each["id"] for each in third.ctl("list").lines if each["title"] == "Draft"
                                            and not each["kept"] and each["id"] != draft.id])[0]
    expect(again != newer.id and third.ctl("continue", again, "--print").line["userInfo"] == {"text": "one and two"}, "another state")
    # It is brought back from a copy as well.
    editor.close()
    until("the copy", lambda: again in kept(first))
    second.kill()
    found = until("the copy of the newer state", back)
    expect(found["userInfo"] == {"text": "one and two"} and found["kept"], f"{found}")
    app.close()


@test("a continuation of an activity that is no longer on offer is not forgotten, and its newer state is brought back")
def not_current(stage):
    logind, origin, taker = devices(stage, "origin", "taker")
    app = handoff.App("com.example.Editor", path=origin.socket)
    draft = app.publish(TYPE, title="Draft", userInfo={"text": "one"}, keep=True)
    draft.become_current()
    other = app.publish(TYPE, title="Other", userInfo={"text": "x"}, keep=True)
    other.become_current()
    until("the copy", lambda: draft.id in kept(taker, "--recent"))
    sleep(logind, origin)
    taken = taker.ctl("continue", draft.id, "--print").line
    editor = handoff.App("com.example.Editor", path=taker.socket)
    editor.publish(TYPE, title="Draft", userInfo={"text": "one and two"}, lineage=taken["lineage"]).become_current()
    wake(logind, origin)
    until("the receipt", lambda: [each for each in origin.ctl("list", "--mine").lines if each["title"] == "Draft" and each["continued"]])
    draft.become_current()
    found = until("the newer state", lambda: (done := origin.ctl("continue", "--back", "--print", code=None)).code == 0 and done.line)
    expect(found["userInfo"] == {"text": "one and two"}, f"{found}")
    editor.close()
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
        with subprocess.Popen([*ctl(second), "continue", offer["id"], "--print"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as taking:
            expect(wait("save").get("forUser") is True, f"{events}")
            wait("continued")
            errors = taking.stderr.read()
        expect(taking.returncode == 0, f"it was not continued: {errors}")
        mine = until("its state", lambda: (found,) if len(found := first.ctl("list", "--mine").lines) == left else None)[0]
        expect(not mine or (mine[0]["age"] is None) == (what == "pause"), f"{mine}")
        until(f"the offers after {what}", lambda: bool(second.ctl("list").lines) == (what == "stay"))
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
    until("the taker", lambda: any(each["online"] and each["name"] == "taker" for each in server.ctl("devices").lines))
    expect(taker.stop() == 0, "the taker did not exit")
    secret = "for the taker only: " + os.urandom(16).hex()
    with open(os.path.join(stage.folder, "letter.txt"), "w") as file:
        file.write(secret)
    large = os.path.join(stage.folder, "large.bin")
    with open(large, "wb") as file:
        file.write(os.urandom(3 << 20))
    sending = origin.follow("send", "taker", file.name.replace("large.bin", "letter.txt"), large, "--text", secret, "--keep")
    refused = sending.wait("notKept")["message"]
    expect("is not kept: it has 3.0 MiB, and the limit in an account of 3 devices is 2.0 MiB" in refused, refused)
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
    until("no accepted item to be offered", lambda: not kept(taker))
    wake(logind, origin)
    # The large one waited for its device.
    offer = until("the large item", lambda: [each for each in taker.ctl("list").lines if each["title"] == "large.bin"])[0]
    taker.ctl("continue", offer["id"], "--output", saved)
    expect(sending.process.wait(60) == 0 and content(os.path.join(saved, "large.bin")) == content(large), "it was not sent")


@test("a file of 1.5 MiB for a device that is off arrives identical through a third one, before other activities")
def large(stage):
    logind, origin, server, taker = devices(stage, "origin", "server", "taker")
    watch = server.follow("watch")
    watch.wait("ready")
    until("the taker", lambda: any(each["online"] and each["name"] == "taker" for each in server.ctl("devices").lines))
    expect(taker.stop() == 0, "the taker did not exit")
    owner = origin.publish(TYPE, "--keep", "--user-info", json.dumps({"text": "x" * 60_000}))
    path = os.path.join(stage.folder, "large.bin")
    with open(path, "wb") as file:
        file.write(os.urandom(3 << 19))
    sending = origin.follow("send", "taker", path, "--keep")
    item = sending.wait("published")["id"]
    until("the copies", lambda: bytes_kept(server) >= 1536)
    # Another one does not fit into the rest, and displaces nothing.
    second = origin.follow("send", "taker", path, "--keep")
    refused = second.wait("notKept")["message"]
    expect("the items that are kept already leave too little of the limit of 2.0 MiB" in refused, refused)
    second.process.send_signal(signal.SIGINT)
    second.process.wait(60)
    sleep(logind, origin)
    taker.start()
    offers = until("the items", lambda: found if len(found := kept(taker)) == 2 else None)
    expect(set(offers) == {item, owner.id} and offers[item]["kept"]["size"] == 3 << 19, f"{offers}")
    saved = os.path.join(stage.folder, "saved")
    os.mkdir(saved)
    taker.ctl("continue", item, "--output", saved)
    expect(content(os.path.join(saved, "large.bin")) == content(path), "another file")
    until("no accepted item to be offered", lambda: list(kept(taker)) == [owner.id])
    wake(logind, origin)
    expect(sending.process.wait(60) == 0, "the sender does not know that it was accepted")
    # All parts are withdrawn with the item.
    until("the withdrawal", lambda: bytes_kept(server) < 1536)


def clipboard(stage, daemon, text):
    """Copies a text on a screen, with the agent of the clipboard running."""
    if not shutil.which("xclip"):
        raise Skip("xclip is not installed (scripts/setup --tests)")
    environment = {**daemon.environment, "PATH": f"{BIN}:/usr/bin:/bin", "DISPLAY": virtual_screen(stage, "320x240x24")}
    agent = os.path.join(ROOT, "Integrations", "clipboard", "handoff-clipboard")
    stage.processes.append(subprocess.Popen(["/usr/bin/python3", "-B", agent, "--grace", "0"], env=environment))

    def offered():
        return [each for each in daemon.ctl("list", "--mine").lines if each["type"] == "dev.handoff1.clipboard" and each["app"]]
    until("the agent", lambda: any(app["id"] == "dev.handoff1.clipboard" and app["running"] for app in daemon.ctl("apps").lines))
    subprocess.run(["xclip", "-selection", "clipboard"], input=text.encode(), env=environment, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True, timeout=30)
    until("the clipboard", offered)


@test("a keeper never has a private, sent, copied or forbidden activity, and what it keeps is never swapped or dumped")
def never(stage):
    logind, origin, server, taker = devices(stage, "origin", "server", "taker", policies=True)
    secrets = {name: f"{name}-" + os.urandom(16).hex() for name in (
        "kept", "private", "forbidden", "sent", "copied", "agent", "withheld")}

    def publish(name, *words, type=TYPE):
        return origin.publish(type, "--title", "Draft", "--user-info", json.dumps({"text": secrets[name]}), *words)
    policy(origin.policies, "forbid-type = com.example.forbidden\n")
    origin.process.send_signal(signal.SIGHUP)
    publish("kept")
    publish("private", "--no-keep")
    publish("forbidden", "--keep", type="com.example.forbidden")
    publish("sent", "--to", "taker")
    copying = subprocess.Popen([*ctl(origin), "copy"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                               env=origin.environment)
    stage.processes.append(copying)
    copying.stdin.write(secrets["copied"])
    copying.stdin.close()
    clipboard(stage, origin, secrets["agent"])
    until("the offers", lambda: {"dev.handoff1.clipboard", TYPE} <= {each["type"] for each in taker.ctl("list").lines})
    sleep(logind, origin)
    for keeper in (server, taker):
        until("the copy", lambda: len(kept(keeper)) == 1)
        found = traces(keeper, secrets)
        expect(set(found) == {"kept"}, f"{keeper.name} has {found}")
        flags = [flags for _, locked, flags in mappings(keeper) if locked]
        expect(flags and all(each >= {"lo", "dd"} for each in flags), f"the copies can be swapped or dumped: {flags}")
    wake(logind, origin)

    # While one device must not receive offers, no other keeps them, since it could pass them on.
    until("the awake device", lambda: not kept(taker))
    origin.ctl("advertise", "off", "--device", "taker")
    until("the withdrawal", lambda: not kept(server, "--recent"))
    withheld = publish("withheld", "--keep")
    withheld.process.send_signal(signal.SIGINT)
    withheld.process.wait(60)
    sleep(logind, origin, 1)
    for keeper in (server, taker):
        expect("withheld" not in traces(keeper, secrets) and not kept(keeper), f"{keeper.name} keeps what taker must not have")


@test("a locked screen neither withdraws copies nor shows them until the device sleeps, and switching off withdraws them")
def locked(stage):
    logind, origin, taker = devices(stage, "origin", "taker", configuration="lock-delay = 0 s\n")
    logind.session("2", Type="wayland")
    watch = taker.follow("watch")
    watch.wait("ready")
    first = origin.publish(TYPE, "--keep", "--user-info", '{"text": "before"}')
    watch.wait("added", id=first.id)
    logind.session("2", LockedHint=True)
    watch.wait("removed", id=first.id)
    expect(not kept(taker), "a copy is shown while its device is online")
    sleep(logind, origin)
    until("the copy", lambda: list(kept(taker)) == [first.id])
    expect(taker.ctl("continue", first.id, "--print").line["userInfo"] == {"text": "before"}, "another state")
    wake(logind, origin)
    until("the awake device", lambda: not kept(taker) and logind.delay(1))
    logind.session("2", LockedHint=False)
    watch.wait("added", id=first.id)
    sleep(logind, origin, 1)
    until("the copy", lambda: list(kept(taker)) == [first.id])
    wake(logind, origin)
    until("the awake device", lambda: not kept(taker))
    origin.ctl("advertise", "off")
    until("the withdrawal", lambda: not kept(taker, "--recent"))


@test("repeated, cancelled and interrupted sleep, and clocks that are set meanwhile, neither lose a copy nor repeat an event")
def unusual(stage):
    if not FULL_SAMPLES:
        raise Skip("only in the release gate (HANDOFF_SAMPLES=full)", optional=True)
    logind, origin, taker = devices(stage, "origin", "taker", clocks=True)
    watch = taker.follow("watch")
    watch.wait("ready")
    app = handoff.App("com.example.Editor", path=origin.socket)
    draft = app.publish(TYPE, title="Draft", userInfo={"text": 0}, keep=True)
    draft.become_current()
    watch.wait("added", id=draft.id)
    state, locks = 0, 0

    def changed():
        nonlocal state
        state += 1
        draft.update(userInfo={"text": state}, title=f"{state}")
        until("the change", lambda: f"{state}" in [each["title"] for each in taker.ctl("list").lines if not each["kept"]])

    def continued(text=None):
        found = until("the copy", lambda: kept(taker).get(draft.id))
        expect(found["kept"]["state"] == "asleep", f"{found}")
        taken = taker.ctl("continue", draft.id, "--print").line["userInfo"]["text"]
        expect(taken == (state if text is None else text), f"state {taken} instead of {state}")

    def awake():
        nonlocal locks
        locks += 1
        expect(logind.delay(locks), "the next sleep is not delayed")
        until("the awake device", lambda: not kept(taker) and taker.ctl("list").lines)

    def released():
        lock = logind.delay(locks)[1]
        expect(select.select([lock], [], [], 60)[0], "sleep is delayed permanently")
        os.close(lock)
    # elogind reports each sleep and each end of it twice.
    changed()
    logind.sleeps(True)
    logind.sleeps(True)
    released()
    continued()
    logind.sleeps(False)
    logind.sleeps(False)
    awake()
    locks += 1
    # A sleep that is cancelled, such as by a lid that is opened again, and the next one while the first is still delayed.
    changed()
    taker.process.send_signal(signal.SIGSTOP)
    logind.sleeps(True)
    logind.sleeps(False)
    logind.sleeps(True)
    taker.process.send_signal(signal.SIGCONT)
    locks += 1
    released()
    # One that wakes for a moment only, which its daemon does not notice.
    logind.sleeps(False)
    logind.sleeps(True)
    locks += 1
    released()
    continued()
    logind.sleeps(False)
    awake()
    # Suspend then hibernate, and hybrid sleep: the machine runs between two steps, without a signal.
    changed()
    sleep(logind, origin, locks)
    origin.process.send_signal(signal.SIGCONT)
    continued()
    origin.process.send_signal(signal.SIGSTOP)
    wake(logind, origin)
    awake()
    # The clock of the origin is set back between two states, and is ahead by a year at the third.
    for ahead in (-3600, 365 * 86_400, 0):
        origin.clock.set(ahead)
        changed()
        sleep(logind, origin, locks)
        continued()
        wake(logind, origin)
        awake()
    # The bus fails during the sleep.
    changed()
    sleep(logind, origin, locks)
    origin.process.send_signal(signal.SIGCONT)
    logind.drop()
    awake()
    app.close()


@test("a removed device's copies leave the memory of the others immediately, and so do those that a policy forbids")
def removed(stage):
    logind, origin, server, taker = devices(stage, "origin", "server", "taker", policies=True)
    secrets = {name: f"{name}-" + os.urandom(16).hex() for name in ("first", "second")}
    for name, daemon in (("first", origin), ("second", server)):
        owner = daemon.publish(TYPE, "--keep", "--user-info", json.dumps({"text": secrets[name]}))
        until("the offer", lambda: owner.id in {each["id"] for each in taker.ctl("list").lines})
        owner.process.send_signal(signal.SIGINT)
        until("the copy", lambda: owner.id in kept(taker))
    expect(set(traces(taker, secrets, is_locked=True)) == {"first", "second"}, "the copies are not found, so the search fails")
    policy(origin.policies, "keep = no\n")
    origin.process.send_signal(signal.SIGHUP)
    until("the withdrawal", lambda: len(kept(taker)) == 1)
    expect(set(traces(taker, secrets, is_locked=True)) == {"second"}, "a copy is left")
    taker.ctl("device", "remove", "server", "--yes", "--no-wait")
    until("the end", lambda: not kept(taker, "--recent"))
    expect(not traces(taker, secrets, is_locked=True), "a copy is left")


if __name__ == "__main__":
    from harness import main
    main()
