"""The module handoff.py, as apps in Python use it: between two daemons, and with a simulated one."""

import gc
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import harness
from harness import BIN, SAVE_TIMEOUT, ROOT, Skip, expect, main, run, same, test
from played_daemon import PlayedDaemon, message
from streaming import CONTROL, Connection

sys.path.insert(0, os.path.join(ROOT, "Integrations", "python"))
import handoff  # noqa: E402

TYPE = "com.example.python"
JAVASCRIPT = os.path.join(ROOT, "Integrations", "javascript", "handoff.mjs")
HOSTILE = ["\x1b[2J\x1b]0;EVIL\x07", "\u202eEVIL\u2066", "a\0b", "<b>&amp;\"'\\", "x" * 1024, "\ud83d\ude00", "\u2028\x85\r\n"]


class Reader:
    """An app on a daemon with the events that it received. The test runs its main loop."""

    def __init__(self, daemon, types=(), **more):
        self.events, self.errors, self.continued = [], [], []
        self.app = handoff.App("python", types, path=daemon.socket, on_event=self.events.append, on_error=self.failed,
                               on_continue=more.pop("on_continue", self.take), **more)
        daemon.stage.closers.append(self.app.close)

    def failed(self, error):
        if not isinstance(error, handoff.Unreachable):
            self.errors.append(error)

    def take(self, activity, continuation):
        self.continued.append((activity, continuation))


def pump(until, *readers, within=60):
    """Runs the main loop of apps until a condition holds."""
    waiting, limit = select.poll(), time.monotonic() + within
    for reader in readers:
        waiting.register(reader.app, select.POLLIN)
    while not (result := until()):
        seen = [(reader.events, reader.errors) for reader in readers]
        expect(time.monotonic() < limit, f"nothing further arrived: {seen}")
        waiting.poll(100)
        for reader in readers:
            reader.app.process()
    return result


def named(reader, name):
    return lambda: [each for each in reader.events if each.get("event") == name]


def offered(daemon, **fields):
    watch = daemon.follow("watch")
    while (offer := watch.next()) is not None:
        if offer.get("type") == TYPE and all(offer.get(key) == fields[key] for key in fields):
            watch.process.kill()
            return offer


def carry_on(taker, *readers):
    """Continues the offer at a device, while its app's loop runs."""
    command = taker.follow("continue", "--type", TYPE)
    pump(lambda: command.process.poll() is not None, *readers)
    with open(command.log) as errors:
        taker.errors = errors.read()
    return command.process.returncode


def played(play, **more):
    """Returns a simulated daemon that `call` and `follow` use, as they are the ones that have no parameter for a path."""
    daemon = PlayedDaemon(tempfile.mkdtemp(), play, **more)
    os.environ["HANDOFF_SOCKET"] = daemon.path
    return daemon


def refusal(kind, action):
    try:
        result = action()
    except kind as error:
        return error
    raise harness.Failure(f"{kind.__name__} was expected, not {result!r}")


# ---- Between two daemons ---------------------------------------------------------------------------------------------


@test("an activity is published, saved when it is needed, and continued with its latest state")
def continued(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    state = {"title": "first", "userInfo": {"count": 1, "real": 1.0}}
    author, reader = Reader(desk), Reader(laptop, [TYPE])
    activity = author.app.publish(TYPE, save=lambda: state)
    activity.become_current()
    pump(named(author, "save"), author)
    offered(laptop, title="first")
    state = {"title": "second", "userInfo": {"count": 2, "real": 2.0}}
    activity.update(needsSave=True)
    expect(carry_on(laptop, author, reader) == 0, "it was not continued")
    content, continuation = reader.continued[0]
    expect(content["title"] == "second" and same(content["userInfo"], state["userInfo"]), f"{content}")
    expect(content["origin"]["deviceName"] == "desk" and len(continuation) > 8, f"{content}")
    expect(not author.errors and not reader.errors, f"{author.errors} {reader.errors}")
    activity.update(title="third", expirationDate=1e9)
    activity.update(expires=False, webpageURL="https://example.org/")
    offered(laptop, title="third")
    watch = laptop.follow("watch")
    watch.wait("ready")
    activity.invalidate()
    watch.wait("removed")


@test("a program without a main loop runs until a handler ends it")
def without_a_loop(stage):
    def end(event):
        raise SystemExit(event["event"])

    desk = stage.daemon("desk")
    desk.ctl("account", "create")
    app = handoff.App("python", path=desk.socket, on_event=end)
    stage.closers.append(app.close)
    app.publish(TYPE, save=dict).become_current()
    expect(str(refusal(SystemExit, app.run)) == "save", "another event")


@test("an app that a handler closes handles no further event, and its calls have no effect")
def closing(stage):
    def play(call):
        if call["method"] == "dev.handoff1.Attach":
            return [b"".join(message(parameters={"event": each, "session": "s"}, continues=True) for each in range(3))]
        return [message(parameters={"activity": "p"})]

    events = []
    app = handoff.App("python", path=PlayedDaemon(tempfile.mkdtemp(), play, stays=True).path, on_error=events.append,
                      on_event=lambda event: (events.append(event["event"]), app.close()))
    activity = app.publish(TYPE)
    app.process()
    activity.update(title="x")
    app.close()
    expect(events == [1], f"{events}")


@test("a handler that fails or returns False refuses the activity, with the reason, and later events still arrive")
def refusing(stage):
    desk, laptop = stage.pair(("desk", "laptop"))
    results = [lambda: int("no room"), lambda: False, lambda: None]
    author, reader = Reader(desk), Reader(laptop, [TYPE], on_continue=lambda *_: results.pop(0)())
    author.app.publish(TYPE, title="x").become_current()
    offered(laptop)
    expect(carry_on(laptop, author, reader) and "'no room'" in laptop.errors, f"no reason: {laptop.errors}")
    expect(carry_on(laptop, author, reader) and carry_on(laptop, author, reader) == 0, f"{laptop.errors}")
    expect([type(each) for each in reader.errors] == [ValueError], f"{reader.errors}")


@test("streams are opened in both directions, and one for an unknown resource is not accepted")
def streams(stage):
    desk, laptop = stage.pair(("desk", "laptop"))
    opened = []
    author, reader = Reader(desk), Reader(laptop, [TYPE])
    author.app.publish(TYPE, stream=lambda *each: opened.append(each), supportsContinuationStreams=True).become_current()
    offered(laptop, streams=True)
    carry_on(laptop, author, reader)
    there = reader.app.open_stream(continuation=reader.continued[0][1])
    pump(lambda: opened, author)
    here, event = opened[0]
    expect(event["origin"]["deviceName"] == "laptop", f"{event}")
    for sender, receiver in ((here, there), (there, here)):
        data = os.urandom(3_000_000)
        sending = threading.Thread(target=lambda sender=sender, data=data: (sender.sendall(data), sender.shutdown(1)))
        sending.start()
        with receiver.makefile("rb") as file:
            expect(file.read() == data, "other bytes arrived")
        sending.join()
    for resource in ("unknown", "document/0", "document/x"):
        reader.app.open_stream(continuation=reader.continued[0][1], resource=resource)
        pump(lambda name=resource: [each for each in author.events if each.get("resource") == name], author)
    expect(len(opened) == 1 and not author.errors, f"an unknown stream was accepted: {opened} {author.errors}")
    expect("StreamFailed" in str(refusal(handoff.Refused, lambda: reader.app.open_stream(continuation="0" * 32)).name), "no error")


@test("after a restart of the daemon, everything is published again, and nothing that was withdrawn")
def restarts(stage):
    desk, laptop = stage.pair(("desk", "laptop"))
    author, reader = Reader(desk), Reader(laptop, [TYPE])
    kept = author.app.publish(TYPE, save=lambda: {"title": "kept"})
    ended = author.app.publish(TYPE, title="withdrawn")
    ended.become_current()
    kept.become_current()
    desk.ctl("withdraw", ended.id)
    pump(named(author, "withdrawn"), author)
    ended.update(title="still withdrawn")
    resigned = Reader(desk)
    quiet = resigned.app.publish(TYPE, title="resigned")
    quiet.become_current()
    quiet.ask("ResignCurrent")
    first = kept.id
    desk.stop()
    pump(lambda: kept.id is None, author)
    kept.update(webpageURL="https://example.org/", needsSave=True)  # Without a daemon.
    expect(author.app.ask("Declare", types=[]) == {}, "a call succeeded")
    desk.start()
    pump(lambda: kept.id and quiet.id, author, reader, resigned)
    expect(kept.id != first and len(author.app.activities) == 1 and not author.errors, f"{author.errors}")
    expect(offered(laptop, title="kept")["hasWebpageURL"], "the change is missing")
    expect(carry_on(laptop, author, reader) == 0 and reader.continued, "not continued")
    # As when its user returns to it after a day.
    ended.become_current()
    offered(laptop, title="still withdrawn")
    expect(not [each for each in laptop.ctl("list").lines if each["title"] == "resigned"], "it is current again")
    ended.invalidate()
    ended.invalidate()
    expect(author.app.activities == [kept] and not author.errors, f"{author.errors}")


@test("an app that starts before its daemon waits for it, without using the processor")
def early(stage):
    desk = stage.daemon("desk", start=False)
    author = Reader(desk)
    author.app.publish(TYPE, title="early").become_current()
    used = time.process_time()
    waiting = select.poll()
    waiting.register(author.app, select.POLLIN)
    attempts = 0
    for _ in range(3):
        waiting.poll(10_000)
        author.app.process()
        attempts += 1
    expect(time.process_time() - used < 0.2 and author.app._delay >= 8 * handoff.MIN_DELAY / 2, f"{attempts}")
    desk.start()
    desk.ctl("account", "create")
    pump(lambda: author.app.activities[0].id, author, within=60)


@test("what the daemon refuses has its name and its text, and changes nothing")
def refused(stage):
    desk, laptop = stage.pair(("desk", "laptop"))
    author = Reader(desk)
    error = refusal(handoff.Refused, lambda: author.app.publish("not a type"))
    expect(error.name == "InvalidActivity" and error.parameters["field"] == "type" and str(error), f"{error!r}")
    activity = author.app.publish(TYPE, title="good")
    activity.become_current()
    large = {"data": "x" * 1_000_000}
    expect(refusal(handoff.Refused, lambda: activity.update(userInfo=large)).parameters["code"] == 4611, "not refused")
    large = {"data": "x" * 1_100_000}
    expect(refusal(handoff.Refused, lambda: activity.update(userInfo=large)).name == "LimitExceeded", "not refused")
    refusal(ValueError, lambda: activity.update(userInfo={"x": float("nan")}))
    expect(len(author.app.activities) == 1, "a refused activity is kept")
    first = activity.id
    desk.restart()
    pump(lambda: activity.id not in (None, first), author)
    offered(laptop, title="good")
    expect(not author.errors, f"{author.errors}")
    refusal(handoff.Refused, lambda: handoff.App("dev.handoff1.x y", [TYPE], path=desk.socket))


@test("hostile titles arrive unchanged, and half a character does not end the app")
def hostile(stage):
    desk, laptop = stage.pair(("desk", "laptop"))
    author, reader = Reader(desk), Reader(laptop, [TYPE])
    activity = author.app.publish(TYPE, title="x")
    activity.become_current()
    offered(laptop)
    os.environ["HANDOFF_SOCKET"] = laptop.socket
    with_offers = handoff.follow("Watch")
    for title in HOSTILE:
        text = title.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        activity.update(title=text, userInfo={"text": text})
        expect(carry_on(laptop, author, reader) == 0, f"not continued: {text!r}")
        expect(reader.continued[-1][0]["userInfo"] == {"text": text}, f"{text!r}: {reader.continued[-1]}")
    expect("1024 bytes" in str(refusal(handoff.Refused, lambda: activity.update(title="x" * 1025))), "not refused")
    activity.update(title=os.fsdecode(b"caf\xe9.txt"))
    for event in with_offers:
        if event["event"] in ("added", "changed") and (event["activity"]["title"] or "").startswith("caf?"):
            break
    with_offers.close()
    expect(not author.errors and not reader.errors, f"{author.errors} {reader.errors}")


AUTHOR = """
import { App } from 'MODULE';
const app = new App('js');
await app.start();
const activity = await app.publish(FIELDS, { save: () => ({ title: 'saved' }) });
await activity.becomeCurrent();
"""


def published_files(stage, publish):
    """Continues an activity that `publish` has published with two files at a device, and fetches the one that exists."""
    desk, laptop = stage.pair(("desk", "laptop"))
    if desk.ctl("help", "document", code=None).code:
        raise Skip("handoffctl has no command 'document'")
    os.environ.update(laptop.environment, PATH=BIN + ":" + os.environ["PATH"])
    path = stage.file("ä #1.txt", "content")
    files = [{"$url": pathlib.Path(each).as_uri()} for each in (path, "/missing")]
    reader = Reader(laptop, [TYPE])
    authors = publish(desk, {"type": TYPE, "userInfo": {"files": files, "other": 1.5}})
    offered(laptop, streams=True)
    carry_on(laptop, reader, *authors)
    content, continuation = reader.continued[0]
    first, second = (each["$url"] for each in content["userInfo"]["files"])
    expect(first.endswith("?fetch=0") and stage.folder not in json.dumps(content), f"{content}")
    expect("?" not in second and same(content["userInfo"]["other"], 1.5), f"{content}")
    found = []
    fetching = threading.Thread(target=lambda: found.append(handoff.local_path(first, continuation)))
    fetching.start()
    pump(lambda: not fetching.is_alive(), reader, *authors)
    with open(found[0]) as file:
        expect(file.read() == "content", "other content")
    refusal(ValueError, lambda: handoff.local_path("--help", continuation))


@test("files that an activity names are sent as URLs of documents, and served")
def documents(stage):
    def publish(desk, fields):
        author = Reader(desk)
        author.app.publish(**fields).become_current()
        return [author]

    published_files(stage, publish)


@test("files that an activity of a program in JavaScript names are sent and served as well")
def documents_of_javascript(stage):
    if not shutil.which("node"):
        raise Skip("node is not installed (apt install nodejs)")
    node = shutil.which("node")

    def publish(desk, fields):
        script = stage.file("author.mjs", AUTHOR.replace("MODULE", JAVASCRIPT).replace("FIELDS", json.dumps(fields)))
        environment = {**desk.environment, "PATH": BIN + ":" + desk.environment["PATH"]}
        stage.processes.append(subprocess.Popen([node, script], env=environment))
        return []

    published_files(stage, publish)


# ---- With a simulated daemon -----------------------------------------------------------------------------------------


@test("a call returns its reply, and the errors of a daemon that sends anything else")
def calls(stage):
    daemon = played(lambda _: [message(parameters={"a": 1})])
    expect(handoff.call("Test", text="ü", method="m") == {"a": 1}, "no reply")
    expect(daemon.calls == [{"method": CONTROL + "Test", "parameters": {"text": "ü", "method": "m"}}], f"{daemon.calls}")
    for data in (b"nonsense\0", b"[1]\0", b"{\0", b'{"parameters": 3}\0', b"[" * 100_000 + b"\0", b"\xff\0", b"\0", b"3\0"):
        played(lambda _, data=data: [data])
        expect("no valid reply" in str(refusal(handoff.Unreachable, lambda: handoff.call("Test"))), data[:9])
    played(lambda _: [b'{"param'])
    expect("closed" in str(refusal(handoff.Unreachable, lambda: handoff.call("Test"))), "no error")
    os.environ["HANDOFF_SOCKET"] = "/nonexistent/socket"
    expect("/nonexistent/socket" in str(refusal(handoff.Unreachable, lambda: handoff.call("Test"))), "no path")
    os.environ["HANDOFF_SOCKET"] = "/" + 200 * "x"
    refusal(handoff.Unreachable, lambda: handoff.call("Test"))
    played(lambda _: [message(error="org.varlink.service.MethodNotFound", parameters={})])
    error = refusal(handoff.Refused, lambda: handoff.call("Test"))
    expect(error.name == "MethodNotFound" and "MethodNotFound" in str(error), f"{error!r}")


@test("the text of an error is shown without effects on a terminal")
def text_of_errors(stage):
    for text in HOSTILE:
        played(lambda _, text=text: [message(error="a.b.\x1b[2J", parameters={"message": text})])
        shown = str(refusal(handoff.Refused, lambda: handoff.call("Test")))
        expect(shown.isprintable() and (text in shown) == text.isprintable(), f"{shown!r}")
    shown = handoff.visible("a\x1b[2J\u202e\n<b> ü")
    expect(shown == "a\\u{1B}[2J\\u{202E}\\u{A}<b> ü", shown)
    expect(handoff.visible("d\u00e9j\u00e0\u00a0vu\u3000\u65e5") == "d\u00e9j\u00e0\u00a0vu\u3000\u65e5", "spaces are escaped")


@test("nothing is sent to another user's socket")
def another_user(stage):
    if os.geteuid():
        raise Skip("only root can be another user")
    daemon = played(lambda _: [message(parameters={})], user=65534)
    expect("another user" in str(refusal(handoff.Unreachable, lambda: handoff.call("Test"))), "it was called")
    expect(daemon.calls == [], f"{daemon.calls}")


@test("replies are read in pieces and several at once; what follows an error is not read")
def pieces(stage):
    whole = b"".join(message(parameters={"n": n, "x": "y" * 50_000 * (n % 2)}, continues=True) for n in range(5))
    for size in (1, 1000, 65536, len(whole)):
        played(lambda _, size=size: [whole[at:at + size] for at in range(0, len(whole), size)] + [
            message(error="a.b.NoAccount", parameters={"message": "none"})], stays=True)
        for read in ("iterate", "poll"):
            follow, seen = handoff.follow("Test"), []

            def everything():
                waiting = select.poll()
                waiting.register(follow, select.POLLIN)
                while not follow.done:
                    expect(waiting.poll(20_000), "not readable")
                    while (reply := follow.read()) is not None:
                        seen.append(reply)

            error = refusal(handoff.Refused, everything if read == "poll" else lambda: [seen.append(each) for each in follow])
            expect([each["n"] for each in seen] == [0, 1, 2, 3, 4] and str(error) == "none", f"{size} {read} {seen}")
    played(lambda _: [message(parameters={"last": True}), message(parameters={"more": 1})], stays=True)
    expect(list(handoff.follow("Test")) == [{"last": True}], "more than the last reply")


@test("a silent daemon is reported, and a follower may wait longer after the first reply")
def silent(stage):
    handoff.TIMEOUT = handoff.APP_TIMEOUT = 0.5
    played(lambda _: [], stays=True)
    expect("timed out" in str(refusal(handoff.Unreachable, lambda: handoff.call("Test"))), "no error")
    daemon = PlayedDaemon(tempfile.mkdtemp(), lambda _: [], stays=True)
    reader = Reader(type("", (), {"socket": daemon.path, "stage": stage}))
    expect(reader.app._session is None, "a session without a reply")

    desk = stage.daemon("desk")
    author = Reader(desk)
    activity = author.app.publish(TYPE)
    os.kill(desk.process.pid, signal.SIGSTOP)
    started = time.monotonic()
    for _ in range(10):
        activity.update(title="x")
    expect(time.monotonic() - started < 5 and activity.id is None, "each call waits for the daemon that hangs")
    os.kill(desk.process.pid, signal.SIGCONT)
    pump(lambda: activity.id, author)

    handoff.TIMEOUT = 2

    def late(_):
        yield message(parameters={"n": 1}, continues=True)
        threading.Event().wait(3)
        yield message(parameters={"n": 2})

    played(late)
    expect([each["n"] for each in handoff.follow("Test")] == [1, 2], "a late reply was not awaited")


@test("events that are unknown, or name unknown activities, are passed on and have no other effect")
def unknown(stage):
    events = [{"event": "attached", "session": "s"}, {"event": "new", "x": 1}, {"event": 3}, {}, {"event": "save"},
              {"event": "save", "activity": "other"}, {"event": "stream", "activity": "p", "stream": "1", "resource": ["x"]},
              {"event": "withdrawn", "activity": None}, {"event": "continue"}, {"event": "continue", "content": 3}]

    def play(call):
        if call["method"] == "dev.handoff1.Attach":
            return [message(parameters=each, continues=True) for each in events]
        return [message(parameters={"activity": "p"})]

    daemon = PlayedDaemon(tempfile.mkdtemp(), play, stays=True)
    reader = Reader(type("", (), {"socket": daemon.path, "stage": stage}))
    reader.app.publish(TYPE)
    pump(lambda: len(reader.events) + len(reader.errors) == len(events) - 1, reader)
    expect([each.get("event") for each in reader.events][:3] == ["new", 3, None], f"{reader.events} {reader.errors}")
    expect(len(reader.app.activities) == 1 and reader.app._session == "s", "it has lost its session")


@test("only files that an activity has named are served, under the number that they had first")
def served(stage):
    log, program = stage.file("log", ""), stage.file("handoffctl", """#!/usr/bin/python3
import json, sys
with open("LOG", "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
if sys.argv[-1].endswith("bad"):
    sys.exit("none")
print("handoff-document:name/x")
""".replace("LOG", os.path.join(stage.folder, "log")))
    os.chmod(program, 0o755)
    os.environ["PATH"] = stage.folder + ":" + os.environ["PATH"]
    first, second, bad = (stage.file(name, "") for name in ("-a", "b #?%41\n", "bad"))
    urls = [{"$url": pathlib.Path(each).as_uri()} for each in (first, second, bad)]
    events = []

    def play(call):
        if call["method"] == "dev.handoff1.Attach":
            yield message(parameters={"event": "attached", "session": "s"}, continues=True)
            while len(events) < 6 or events[-1] != "sent":
                time.sleep(0.01)
                for n, each in enumerate(events):
                    if each != "sent":
                        events[n] = "sent"
                        yield message(parameters={"event": "stream", "activity": "p", "stream": f"{n}", "resource": each}, continues=True)
        else:
            yield message(parameters={"activity": "p"})

    reader = Reader(type("", (), {"socket": PlayedDaemon(tempfile.mkdtemp(), play, stays=True).path, "stage": stage}))
    activity = reader.app.publish(TYPE, userInfo={"a": urls, "b": {"c": urls[0]}})
    sent = activity._fields["userInfo"]
    expect([each["$url"] for each in sent["a"][:2]] == [f"handoff-document:name/x?fetch={n}" for n in (0, 1)], f"{sent}")
    expect(sent["a"][2] == urls[2] and sent["b"]["c"] == sent["a"][0], f"{sent}")

    def request(*resources):
        before = len(reader.events)
        events.extend(resources)
        pump(lambda: len(reader.events) == before + len(resources), reader)

    request("document/1", "document/2", "document/../1")
    activity.update(userInfo={"a": [{"$url": urls[1]["$url"] + "#part"}]})
    expect(activity._fields["userInfo"]["a"] == [{"$url": "handoff-document:name/x?fetch=1#part"}], f"{activity._fields}")
    request("document/0", "document/1", "document/1#part")

    def lines():
        with open(log) as file:
            return sorted(json.loads(line) for line in file if "--send" in line)

    pump(lambda: len(lines()) == 3, reader)
    sent = [["document", "--send", n, urls[file]["$url"]] for n, file in (("0", 1), ("3", 0), ("4", 1))]
    expect(lines() == sent and not reader.errors, f"{lines()} {reader.errors}")


@test("calls, refusals and attempts to connect leave no descriptor open, and none is inherited")
def descriptors(stage):
    def opened():
        return {int(each) for each in os.listdir("/proc/self/fd")}

    daemon = PlayedDaemon(tempfile.mkdtemp(), lambda call: [message(error="a.b.Full", parameters={})])
    before = len(opened())
    for _ in range(3):
        refusal(handoff.Refused, lambda: handoff.App("x", path=daemon.path))
    app = handoff.App("x", path="/nonexistent")
    os.environ["HANDOFF_SOCKET"] = daemon.path
    for _ in range(50):
        refusal(handoff.Refused, lambda: handoff.call("Test"))
        refusal(handoff.Refused, app._connect if app._path == daemon.path else lambda: handoff.App("x", path=daemon.path))
        app._path = daemon.path
        app._lost(handoff.Unreachable("test"))
    expect(not any(os.get_inheritable(each) for each in (app._timer.fileno(), app.fileno())), "inherited")
    app.close()
    gc.collect()
    limit = time.monotonic() + 60
    while len(opened()) > before + 2:  # The simulated daemon closes its ends on threads.
        expect(time.monotonic() < limit, f"{before} descriptors became {opened()}")
        time.sleep(0.02)


@test("without a runtime folder in the environment, the usual one is used")
def no_environment(stage):
    for name in ("HANDOFF_SOCKET", "XDG_RUNTIME_DIR"):
        os.environ.pop(name, None)
    expect(handoff.socket_path() == f"/run/user/{os.getuid()}/handoff/control.socket", handoff.socket_path())
    os.environ["XDG_RUNTIME_DIR"] = ""
    expect(handoff.socket_path().startswith("/run/user/"), handoff.socket_path())


@test("each module has at most 200 lines of code, without blank lines and comments")
def short(stage):
    for path in (handoff.__file__, JAVASCRIPT):
        with open(path) as file:
            code = re.sub(r'(?ms)^ *""".*?"""$|^ *(?:#|//|/?\*).*?$', "", file.read())
        lines = [line for line in code.splitlines() if line.strip()]
        expect(len(lines) <= 200, f"{path} has {len(lines)}")
        print(f"    {os.path.basename(path)}: {len(lines)} lines")


SCRIPT = """
import { call, follow, App, Refused, Unreachable } from 'MODULE';
const failure = async action => { try { return await action(); } catch (error) { return `${error.constructor.name} ${error.name} ${error.message}`; } };
const seen = [];
const iterate = async () => { for await (const reply of follow('Test', { text: 'ü' })) seen.push(reply.n); };
console.log(JSON.stringify([await failure(() => call('Test')), await failure(iterate), seen]));
"""


@test("the module for JavaScript reads replies in pieces, and reports the same errors")
def javascript(stage):
    if not shutil.which("node"):
        raise Skip("node is not installed (apt install nodejs)")
    script = stage.file("test.mjs", SCRIPT.replace("MODULE", JAVASCRIPT))

    def both(play, **more):
        environment = {**os.environ, "HANDOFF_SOCKET": played(play, **more).path}
        done = run(["node", script], environment)
        expect(done.code == 0, str(done))
        return done.line

    whole = b"".join(message(parameters={"n": n, "x": "ü" * 50_000 * (n % 2)}, continues=n < 4) for n in range(5))
    for size in (1000, len(whole)):
        once, all, seen = both(lambda _, size=size: [whole[at:at + size] for at in range(0, len(whole), size)], stays=True)
        expect(once["n"] == 0 and all is None and seen == [0, 1, 2, 3, 4], f"{once} {all} {seen}")
    for data in (b"nonsense\0", b"[1]\0", b'{"parameters": 3}\0', b"[" * 100_000 + b"\0", b"\xff\0", b"\0", b"3\0"):
        expect(both(lambda _, data=data: [data])[:2] == ["Unreachable Error handoffd sent an invalid reply"] * 2, data[:9])
    for pieces, text in (([b'{"param'], "closed"),
                         ([message(error="a.b.NoAccount", parameters={"message": "none\x1b"})], "Refused NoAccount none\\u{1B}")):
        once, all, seen = both(lambda _, pieces=pieces: pieces)
        expect(text in once and text in all, f"{once} {all}")


if __name__ == "__main__":
    main()
