"""HandoffKit in a real app, between two daemons of one account: the order and the thread of
callbacks, every error, and an app without a daemon."""

import os
import pty
import shutil
import signal
import socket
import subprocess
import time

from harness import BIN, SAVE_TIMEOUT, Failure, expect, main, test
from kit import PROGRAM, App, only_on

TYPE = "com.example.kit.editing"
WEB = "NSUserActivityTypeBrowsingWeb"


def offered(daemon, **fields):
    """Waits until an activity with these fields is offered to the daemon. Returns the offer."""
    fields.setdefault("type", TYPE)
    watch = daemon.follow("watch")
    # The offer exists, is new, or changes to these fields.
    while (offer := watch.next()) is not None:
        if all(offer.get(key) == value for key, value in fields.items()):
            watch.process.kill()
            return offer
    raise Failure(f"the watch ended: {watch.seen}")


def opens(daemon, kind="app"):
    """Waits until the offer opens in this way, because an app does not report when its types are known."""
    while (offer := daemon.ctl("list").line)["opens"]["kind"] != kind:
        time.sleep(0.02)
    return offer


def change(author, taker, name="activity"):
    """Increments the app's state. Returns when its daemon knows that there are changes. They are not saved."""
    author.changes = getattr(author, "changes", 0) + 1
    author.do("change", name=name)
    # Everything sent before the title is known when that is offered.
    author.do("set", name=name, title=f"Change {author.changes}")
    offered(taker, title=f"Change {author.changes}")


def saved(author, taker, reader):
    """Has the activity saved and continued once. For 15 s from then on, its daemon requests a save
    only when a device continues it."""
    change(author, taker)
    opens(taker)
    taker.ctl("continue", "--type", TYPE)
    reader.wait("continue")
    author.wait("wasContinued")


def apps(stage, mode="runloop", how="accept", **fields):
    """Two daemons, an app that publishes on the first, and one that continues on the second."""
    origin, taker = stage.pair(configuration=SAVE_TIMEOUT)
    author = App(origin, mode=mode)
    author.publish(TYPE, title="Draft", userInfo={"page": 3}, **fields)
    reader = App(taker, types=[TYPE], mode=mode).handle(how)
    offered(taker)
    opens(taker)
    return origin, taker, author, reader


@test("save, payload, willContinue, continue and wasContinued occur in this order, on the main queue")
def order(stage):
    # dispatchMain() ends the main thread. Other threads then serve the main queue.
    for mode, place in (("runloop", "main"), ("dispatch", "queue")):
        origin, taker = stage.pair((f"origin-{mode}", f"taker-{mode}"), configuration=SAVE_TIMEOUT)
        author = App(origin, mode=mode)
        author.publish(TYPE, title="Draft", userInfo={"page": 3}, webpageURL="https://example.org/d", streams=True)
        first = author.wait("willSave")
        expect(first["needsSave"] is False, f"needsSave is cleared before the app is called: {first}")
        reader = App(taker, types=[TYPE], mode=mode).handle()
        offered(taker, deviceName=origin.name)
        opens(taker)
        # A change that the daemon does not have. It requests it before it returns the payload.
        for _ in range(3):
            change(author, taker)
        taker.ctl("continue")
        events, last = reader.until("continue")
        expect(events == ["willContinue", "continue"], f"wrong order: {events}")
        expect(last["userInfo"] == {"page": 3, "count": 3}, f"not the latest state: {last}")
        expect(last["title"] == "Change 3" and last["webpageURL"] == "https://example.org/d" and last["streams"], f"{last}")
        events, _ = author.until("wasContinued", name="activity")
        expect(events[-2:] == ["willSave", "wasContinued"], f"wrong order: {events}")
        for app in (author, reader):
            only_on(app, place)
            expect(app.end() == 0, "the app did not exit cleanly")


@test("an app without a run loop is called on its own queue")
def own_queue(stage):
    _, taker, author, reader = apps(stage, mode="none")
    change(author, taker)
    taker.ctl("continue")
    expect(reader.wait("continue")["userInfo"]["count"] == 1, "not the latest state")
    author.wait("wasContinued")
    only_on(author, "queue")
    only_on(reader, "queue")


@test("responders save and restore the state, and the application's delegate receives the update")
def responders(stage):
    origin, taker, author, reader = apps(stage, how="restore", responder=True)
    change(author, taker)
    taker.ctl("continue")
    events, last = reader.until("restore")
    expect(events == ["willContinue", "continue", "restore"], f"wrong order: {events}")
    # userInfo is emptied before the responders save, so values set directly are lost.
    expect(last["userInfo"] == {"view": 1, "count": 1}, f"wrong state: {last}")
    author.wait("wasContinued")
    updates = [line for line in author.seen if line["event"] in ("update", "willSave")]
    expect([line["event"] for line in updates] == ["update", "willSave"] * (len(updates) // 2), f"wrong order: {updates}")
    expect(all(line["members"] == 0 for line in updates if line["event"] == "update"), f"not emptied: {updates}")
    # Without a responder nothing can update it any more.
    watch = taker.follow("watch")
    watch.wait("added", type=TYPE)
    author.do("forget")
    watch.wait("removed")


@test("closures for a type replace the delegate")
def closures(stage):
    origin, taker = stage.pair()
    author = App(origin)
    author.publish(TYPE)
    reader = App(taker)
    reader.do("closures", type=TYPE)
    offered(taker)
    opens(taker)
    taker.ctl("continue")
    expect(reader.until("continue")[1]["by"] == "closure", f"not called by the closure: {reader.seen}")
    author.wait("wasContinued")
    only_on(reader, "main")


@test("an async sequence receives the activities of a type")
def sequence(stage):
    origin, taker = stage.pair()
    author = App(origin)
    author.publish(TYPE)
    reader = App(taker)
    reader.do("follow", type=TYPE)
    offered(taker)
    opens(taker)
    for _ in range(2):
        taker.ctl("continue")
        reader.wait("continue", by="sequence")
        author.wait("wasContinued")


@test("of two windows the one with the activity's content receives it, and an activity without content goes to the active window")
def scenes(stage):
    origin, taker = stage.pair()
    author = App(origin)
    author.publish(TYPE, about="letter/1", title="One")
    reader = App(taker, types=[TYPE])
    for number in (1, 2):
        reader.do("scene", name=f"window {number}", about=f"letter/{number}")
    reader.state()
    offered(taker, title="One")
    opens(taker)
    for about, title, window in (("letter/1", "One", 1), ("letter/3", "Three", 2), ("letter/2", "Two", 2)):
        author.do("set", about=about, title=title)
        offered(taker, title=title)
        taker.ctl("continue")
        told = reader.until("continue", title=title)
        expect(told[1]["by"] == f"window {window}", f"{about} was received by the wrong window: {told}")
        expect(told[0][-2:] == ["willContinue", "continue"] and reader.seen[-2]["by"] == told[1]["by"], f"{reader.seen}")


@test("a delegate that returns false fails the continuation, and the origin is not notified")
def refused(stage):
    _, taker, author, reader = apps(stage, how="refuse")
    failed = taker.ctl("continue", code=1)
    expect('"handlerRefused"' in failed.errors and "4608" in failed.errors, str(failed))
    reader.wait("continue")
    reader.quiet("didFail")
    author.quiet("wasContinued")


@test("a typed payload arrives as its type, and another type is refused")
def typed(stage):
    _, taker, author, reader = apps(stage, typed="Ada")
    taker.ctl("continue")
    reader.wait("continue")
    reader.do("typed")
    expect(reader.wait("typed")["label"] == "Ada", "not the payload")
    author.do("publish", type=TYPE, title="Second", name="second")
    offered(taker, title="Second")
    taker.ctl("continue")
    reader.wait("continue", title="Second")
    reader.do("typed")
    expect(reader.wait("typed")["failure"] == "invalidContent", "no value")


@test("a type is continued only by apps of its team, and web pages by apps of any team")
def teams(stage):
    origin, taker = stage.pair()
    author, reader = App(origin, team="ONE"), App(taker, types=[TYPE, WEB], team="TWO").handle()
    author.publish(TYPE, title="Draft")
    offered(taker)
    expect(taker.ctl("list").line["opens"]["kind"] == "nothing", "it must not open in an app of another team")
    failed = taker.ctl("continue", code=1)
    expect('"noHandler"' in failed.errors, str(failed))
    reader.quiet("willContinue", "didFail")
    author.publish(WEB, name="page", title="Page", webpageURL="https://example.org/page")
    offered(taker, type=WEB)
    opens(taker)
    taker.ctl("continue")
    expect(reader.wait("continue", type=WEB)["webpageURL"] == "https://example.org/page", "wrong page")
    author.wait("wasContinued", name="page")


@test("an activity is offered until its expiration date")
def expiration(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    author = App(origin)
    author.publish(TYPE, title="Short", expires=3600)
    watch.wait("added", title="Short")
    author.do("set", expires=2)
    watch.wait("removed")
    # The object remains valid, and may become current with a new date.
    author.do("set", expires=3600)
    author.do("current")
    watch.wait("added", title="Short")


@test("an activity made by the deprecated initialiser has the first type of the Info.plist next to the program")
def info_plist(stage):
    origin, taker = stage.pair()
    program = os.path.join(stage.folder, "App")
    shutil.copy(PROGRAM, program)
    os.mkdir(program + ".resources")
    with open(program + ".resources/Info.plist", "w") as file:
        file.write(f"""<?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>CFBundleIdentifier</key><string>com.example.listed</string>
            <key>HandoffTeamID</key><string>TEAM</string>
            <key>NSUserActivityTypes</key><array><string>{TYPE}</string></array></dict></plist>""")
    author = App(origin, program=program, configure=False)
    author.do("publish", title="First declared")
    expect(author.wait("published")["type"] == TYPE, "not the declared type")
    reader = App(taker, program=program, configure=False).handle()
    offered(taker, title="First declared")
    expect(opens(taker)["opens"]["name"] == "com.example.listed", "not the app of the Info.plist")
    taker.ctl("continue")
    reader.wait("continue")


@test("the tutorial's reader continues at the other device's page, and its main is asynchronous")
def tutorial(stage):
    origin, taker = stage.pair()

    def reader(daemon):
        # On a terminal, as for a person, each line is written immediately.
        screen, inside = pty.openpty()
        with open(os.path.join(daemon.folder, "reader.log"), "ab") as errors:
            process = subprocess.Popen([os.path.join(BIN, "KitTutorial")], env=daemon.environment, text=True, bufsize=1,
                                       stdin=subprocess.PIPE, stdout=inside, stderr=errors)
        os.close(inside)
        stage.processes.append(process)
        screen = open(screen)
        stage.closers.append(screen.close)
        return process.stdin, lambda: screen.readline().strip()

    (keys, first), (_, second) = reader(origin), reader(taker)
    expect(first() == "Page 1" and second() == "Page 1", "not the first page")
    keys.write("7\n")
    expect(first() == "Page 7", "not the entered page")
    offered(taker, type="com.example.reader.reading", deviceName="origin")
    opens(taker)
    taker.ctl("continue", "--from", "origin")
    expect(second() == "Page 7", "it did not continue there")
    expect(first() == "You continued reading on another device.", "the first reader was not notified")


# ---- Errors --------------------------------------------------------------------------------------------------------


def fails(taker, reader, author, act, code, reason, word, *words):
    """Makes the app at the origin wait in its save, so that the payload is in transit while `act`
    runs. The app that continues receives the reason for the failure."""
    saved(author, taker, reader)
    change(author, taker)
    author.block("willSave")
    asking = taker.follow("continue", *words)
    reader.wait("willContinue")
    author.wait("blocked")
    act()
    error = reader.wait("didFail", within=60)
    expect(error["code"] == code and error["domain"] == "NSCocoaErrorDomain", f"wrong code: {error}")
    expect(error["reason"] == reason, f"wrong reason: {error}")
    expect(word in error["message"], f"the message does not say '{word}': {error}")
    expect(error["type"] == TYPE, f"wrong type: {error}")
    asking.process.wait(60)
    reader.quiet("continue", "didFail")
    only_on(reader, "main")


@test("4608: the app at the origin exits")
def origin_gone(stage):
    _, taker, author, reader = apps(stage)
    fails(taker, reader, author, author.process.kill, 4608, "ownerGone", "origin")


@test("4608: a required key is missing")
def missing_key(stage):
    _, taker, author, reader = apps(stage, requiredUserInfoKeys=["chapter"])
    taker.ctl("continue", code=1)
    events, error = reader.until("didFail")
    expect(events == ["willContinue", "didFail"], f"wrong order: {events}")
    expect(error["code"] == 4608 and error["reason"] == "requiredKeysMissing" and "chapter" in error["message"], f"{error}")
    author.quiet("wasContinued")


@test("4609: the other device is unreachable")
def unreachable(stage):
    origin, taker, author, reader = apps(stage)
    fails(taker, reader, author, origin.kill, 4609, "peerUnreachable", "origin")


@test("4609: the local daemon exits during a continuation, and streams need it")
def daemon_gone(stage):
    _, taker, author, reader = apps(stage, streams=True)
    taker.ctl("continue")
    reader.wait("continue")
    fails(taker, reader, author, taker.kill, 4609, "daemonGone", "origin")
    reader.do("stream", send="hello")
    error = reader.wait("stream")
    expect(error["code"] == 4609 and error["reason"] == "daemonUnreachable", f"wrong error: {error}")
    expect(taker.socket in error["message"], f"the message does not say where: {error}")


@test("4610: the other device does not answer")
def timed_out(stage):
    origin, taker, author, reader = apps(stage)
    stop = lambda: origin.process.send_signal(signal.SIGSTOP)
    fails(taker, reader, author, stop, 4610, "timedOut", "origin", "--timeout", "4")
    origin.process.send_signal(signal.SIGCONT)


@test("4610: an app that never reports whether it accepted the activity")
def never_answers(stage):
    _, taker, author, reader = apps(stage)
    reader.block("continue")
    failed = taker.ctl("continue", "--timeout", "4", code=1)
    expect('"handlerTimedOut"' in failed.errors and "4610" in failed.errors, str(failed))
    reader.wait("continue")
    reader.do("release")
    # It has the activity, so no failure is reported. Its reply arrives too late and changes nothing.
    reader.quiet("didFail")
    author.quiet("wasContinued")
    taker.ctl("continue")
    reader.wait("continue")


@test("4611: the userInfo is too large")
def too_large(stage):
    _, taker, author, reader = apps(stage)
    author.do("set", bytes=70000)
    change(author, taker)
    taker.ctl("continue", code=1)
    events, error = reader.until("didFail")
    expect(events == ["willContinue", "didFail"], f"wrong order: {events}")
    expect(error["code"] == 4611 and error["reason"] == "tooLarge" and "origin" in error["message"], f"{error}")
    author.wait("diagnostic", name="activity")
    # One level less is accepted again.
    author.do("set", userInfo={})
    change(author, taker)
    taker.ctl("continue")
    reader.wait("continue")


@test("3328: streams of an activity without streams, or that was not continued here")
def no_streams(stage):
    _, taker, author, reader = apps(stage)
    taker.ctl("continue")
    reader.wait("continue")
    for form in (True, False):
        for app, words in ((reader, {}), (author, {"of": "activity"})):
            app.do("stream", send="hello", **{"async": form}, **words)
            error = app.wait("stream")
            expect(error["code"] == 3328, f"wrong code: {error}")
            expect(error["reason"] == ("notContinued" if words else "streamsUnsupported"), f"wrong reason: {error}")
    # A repeated request must not disturb an open stream.
    taker.ctl("continue")
    reader.wait("continue")


@test("streams carry bytes both ways, in both APIs")
def streams(stage):
    _, taker, author, reader = apps(stage, streams=True)
    taker.ctl("continue")
    reader.wait("continue")
    text = "large " * 200_000
    for form in (True, False):
        reader.do("stream", send=text, **{"async": form})
        expect(reader.wait("stream")["answer"] == text.upper(), "wrong reply")
        expect(author.wait("stream")["answer"] == text, "wrong bytes")
    expect(len([line for line in author.seen if line["event"] == "didReceive"]) == 2, "two streams were requested")


# ---- Restarts of the daemon ----------------------------------------------------------------------------------------


@test("an app that starts before its daemon is notified once, and its activity is offered when the daemon starts")
def started_later(stage):
    origin, taker = stage.pair(configuration=SAVE_TIMEOUT)
    origin.stop()
    author = App(origin)
    author.publish(TYPE, title="Patient")
    error = author.wait("disconnected")
    expect(error["code"] == 4609 and origin.socket in error["message"], f"wrong error: {error}")
    author.do("change")
    origin.start()
    offered(taker, title="Patient")
    author.quiet("disconnected")
    expect(taker.ctl("continue", "--print").line["userInfo"]["count"] == 1, "not the latest state")


@test("the socket is replaced while the app runs, as by an upgrade of the daemon")
def replaced(stage):
    origin, taker, author, _ = apps(stage)
    author.wait("connected")
    for step in range(3):
        origin.stop()
        # A new file of the same name, whether or not the old daemon left one.
        if os.path.exists(origin.socket):
            os.unlink(origin.socket)
        origin.start()
        author.wait("connected")
        author.do("set", title=f"After {step}")
        offered(taker, title=f"After {step}")
    told = [line["event"] for line in author.seen if line["event"] in ("connected", "disconnected")]
    expect(told == ["connected"] + ["disconnected", "connected"] * 3, f"not once each: {told}")


@test("an app whose daemon accepts and closes each connection uses almost no processor time")
def no_busy_loop(stage):
    origin = stage.daemon("origin", start=False)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(origin.socket)
        listening.listen()
        app = App(origin)
        app.publish(TYPE)
        listening.accept()[0].close()
        before = app.cpu
        # 0.1 s, then increasing. The sixth takes three seconds.
        for _ in range(6):
            listening.accept()[0].close()
        used = app.cpu - before
    expect(used < 0.2, f"six attempts cost {used:.2f} s of processor time")
    app.is_well()
    expect(len([line for line in app.seen if line["event"] == "disconnected"]) == 1, f"not notified once: {app.seen}")


@test("the daemon is killed a hundred times while the app works, and nothing is lost", limit=300)
def killed(stage):
    origin, taker = stage.pair(configuration=SAVE_TIMEOUT)
    author = App(origin)
    author.publish(TYPE, title="Survivor", streams=True)
    watch = taker.follow("watch")
    watch.wait("added", title="Survivor")
    author.do("work", perSecond=1000)
    author.is_well()
    descriptors, memory, used, checks = author.descriptors, author.memory, author.cpu, 0
    for kill in range(1, 101):
        origin.kill()
        origin.start()
        # At a varying time after the start: with the app connecting, attached, publishing, or saving.
        if kill % 4:
            author.wait("connected")
            for _ in range(kill % 7):
                author.state()
        expect(author.process.poll() is None, f"the app has ended with {author.process.returncode} after {kill} kills")
        if kill % 10:
            continue
        # The title distinguishes a new offer from that of a daemon that could not withdraw it.
        author.do("set", title=f"Survivor {kill}")
        newest = author.state()["count"]
        offered(taker, title=f"Survivor {kill}")
        came = taker.ctl("continue", "--type", TYPE, "--print").line
        expect(came["userInfo"]["count"] >= newest, f"an old state arrived: {came}, {newest} was set before")
        checks += 1
    author.do("rest")
    author.is_well()
    used = author.cpu - used
    told = [line["event"] for line in author.seen if line["event"] in ("connected", "disconnected")]
    expect(told == (["connected", "disconnected"] * 101)[:len(told)], f"not in order: {told}")
    expect(author.descriptors <= descriptors + 2, f"descriptors leak: {descriptors}, then {author.descriptors}")
    expect(author.memory < memory + (16 << 20), f"memory grows: {memory >> 20} MiB, then {author.memory >> 20} MiB")
    print(f"  100 kills: told of {told.count('disconnected')}, {checks} checks, {used:.1f} s of processor time, "
          f"{(author.memory - memory) >> 10} KiB more")
    # It is still the current activity.
    newest = author.state()["count"]
    came = taker.ctl("continue", "--type", TYPE, "--print").line
    expect(came["userInfo"]["count"] == newest, f"not the last state: {came}, {newest}")


@test("a daemon is killed during continuations, and each announced continuation ends exactly once")
def killed_while_continuing(stage):
    origin, taker, author, reader = apps(stage)
    saved(author, taker, reader)
    begin = len(reader.seen)
    for _ in range(10):
        change(author, taker)
        author.block("willSave")
        asking = taker.follow("continue", "--type", TYPE)
        reader.wait("willContinue")
        author.wait("blocked")
        taker.kill()
        asking.process.wait(60)
        expect(reader.wait("didFail")["reason"] == "daemonGone", "wrong reason")
        author.do("release")
        taker.start()
        reader.wait("connected")
    offered(taker)
    opens(taker)
    taker.ctl("continue")
    reader.wait("continue")
    told = [line["event"] for line in reader.seen[begin:] if line["event"] in ("willContinue", "continue", "didFail")]
    expect(told == ["willContinue", "didFail"] * 10 + ["willContinue", "continue"], f"wrong order: {told}")


if __name__ == "__main__":
    main()
