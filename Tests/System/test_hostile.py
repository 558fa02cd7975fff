"""Activities crafted to escape their context, from one daemon to another and from a non-conforming
peer. The programs within reach are stand-ins that record everything they receive.
docs/hostile-activities.md has the same rows."""

import contextlib
import json
import os
import sys
import threading
import time
import unicodedata

from desk import Desk, awaited, error
from harness import BIN, ROOT, Failure, Skip, expect, main, run, test
from streaming import APPS, Connection, Refused
from terminal import Screen
from user_manager import UserManager

PEER = os.path.join(ROOT, "Tests", "Peer")
sys.path.insert(0, PEER)
try:
    import handoff_peer
    import handoff_crypto as c

    MISSING = None
except ModuleNotFoundError as error_:
    if error_.name.split(".")[0] not in ("OpenSSL", "cryptography"):
        raise
    MISSING = error_.name

# Part of every text that another device chooses freely, and so must reach no program.
MARK = "EVIL"
TEXTS = [
    "\x1b[2J\x1b]0;EVIL\x07", "\x1b]8;;http://evil/\x1b\\EVIL", "\x9b31m\x90EVIL\x9c", "EVIL\rb\x08\x7f",
    "EVIL\nhandoffctl: forged\n", "EVIL\u2028\u2029\x85\x0b\x0c", "\u202eEVIL\u2066\u2069\u200e",
    "E\u200bV\ufeffI\u2060L", "\u3164EVIL\u115f\u034f", "EVIL\U000e0041\U000e007f", "EVIL\0", '","EVIL":true,"x":"',
    "\\u001b[2J EVIL", "%s%n%f%U EVIL $(id)`id`${HOME}", "-EVIL", "--help", "../../EVIL", "E\u0301" * 60 + MARK,
]
# Types with a meaning to a shell, a launcher, a service manager or a file system.
TYPES = [
    "-x", "--", "--help", "../../../../etc/passwd", "/etc/passwd", "$(id)", "`id`", "${HOME}", "$HOME", "%f", "%U", "%i", "%%n",
    "a=b", "a\"b", "a'b", "a;b", "a\\x20b", "*", "~root", "file:///etc/passwd",
]
# Addresses of pages, and the browser's argument. None if publishing them is refused.
PAGES = {
    "https://a.example/$(id)`id`'\"<>|${HOME}": "https://a.example/%24(id)%60id%60%27%22%3C%3E%7C%24%7BHOME%7D",
    "https://a.example/%f%U%i%s%n%00": "https://a.example/%f%U%i%s%n%00",
    "https://a.example/?--help#--help": "https://a.example/?--help#--help",
    "https://a.example/../../etc/passwd;touch%20x&x=1": "https://a.example/../../etc/passwd;touch%20x&x=1",
    "https://a.example/\u65e5": "https://a.example/%E6%97%A5",
    "https://\u65e5.example/": "https://\u65e5.example/",
    "https://xn--80ak6aa92e.com/": "https://xn--80ak6aa92e.com/",
    "HTTP://192.0.2.1:8080": "HTTP://192.0.2.1:8080",
}
# Publishing these is accepted because they are addresses, but nothing opens them.
UNOPENED = ["https://evil.example\uff0f.a.example/", "https://a.example\uff20evil.example/", "https://\u2100.example/",
            "https://a'b.example/", "https://$(id).example/", "https://a;b.example/"]
REFUSED = [
    "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "-https://a/", "--help", " https://a/", "https://",
    "https://u:p@a.example/", "https://a.example@evil.example/", "https://a.example%40evil.example/", "https://a.example\\@b/",
    "https://a/\n--help", "https://a/\x00", "https://a/ b", "https://a/\u202e", "https://a/\x1b[2J", "https://[::1", "ftp://a/",
    "https://a:99999/", "https://a.example/" + "x" * 2048,
    "http://192.168.1.1/apply.cgi?reboot=1", "http://127.0.0.1:8080", "http://router.lan/", "http://0x7f.1/", "http://[::1]/", "http://nas/",
]

STAND_IN = """#!/bin/sh
{ for word; do printf '%s\\0' "$word"; done; printf 'ENVIRONMENT\\0'; /usr/bin/env -0; } >'RECORD.part'
/bin/mv 'RECORD.part' 'RECORD'
exit STATUS
"""


class Publisher:
    """Publishes activities that the daemon's tools would refuse, by direct calls."""

    def __init__(self, desk):
        self.desk, self.connections = desk, []

    def __call__(self, **activity):
        connection = Connection(self.desk.origin)
        connection.send(APPS + "Publish", more=True, activity=activity)
        id = connection.wait("published")["activity"]
        self.desk.offer = self.desk.watch.wait("added", id=id)
        self.connections.append(connection)
        return id

    def end(self):
        for connection in self.connections:
            connection.close()
        self.connections = []


def stand_in(desk, name, status=0):
    """Installs a program that records its arguments and its variables. Returns its path and its record."""
    record = desk.record()
    text = STAND_IN.replace("RECORD", record).replace("STATUS", str(status))
    path = desk.write(desk.programs, name, text)
    os.chmod(path, 0o755)
    return path, record


def take(record):
    """The arguments and the variables of a stand-in."""
    awaited(record)
    with open(record, "rb") as file:
        parts = file.read().decode().split("\0")[:-1]
    os.unlink(record)
    at = parts.index("ENVIRONMENT")
    return parts[:at], dict(part.split("=", 1) for part in parts[at + 1:])


def plain(text):
    """Returns whether a text has no terminal controls, direction changes or invisible characters."""
    return not [mark for mark in text.replace("\n", "")
                if unicodedata.category(mark) in ("Cc", "Cf", "Zl", "Zp") or mark in "\u3164\u115f\u034f"]


def shown(daemon, *words):
    """Returns the output of handoffctl for people, without a terminal and on one."""
    words = [os.path.join(BIN, "handoffctl"), "--socket", daemon.socket, *words]
    result = run(words, daemon.environment)
    return result.output + result.errors


def check_launches(desk, publish):
    path, record = stand_in(desk, "editor", status=7)
    desk.manifest("editor", [path, "%f", "$HOME", "--", "word"], types=TYPES)
    desk.start()
    for number, type in enumerate(TYPES):
        text = TEXTS[number % len(TEXTS)]
        id = publish(type=type, title=text, userInfo={"EVIL" + type: text, text.replace("\0", ""): [type]},
                     requiredUserInfoKeys=[text.replace("\0", "")])
        desk.opens(kind="app", name="The editor")
        # The stand-in fails, so that nothing waits for it.
        refused = error(desk.ctl("continue", id, code=1))
        expect(refused["reason"] == "launchFailed" and "status 7" in refused["message"], f"{type!r}: {refused}")
        words, variables = take(record)
        expect(words == ["%f", "$HOME", "--", "word"], f"{type!r}: wrong arguments: {words}")
        expect(variables.get("HANDOFF_ACTIVITY_TYPE") == type, f"{type!r}: wrong variables: {variables}")
        expect(MARK not in json.dumps([words, variables]), f"{type!r}: more than its type arrived: {words} {variables}")
    publish.end()


@test("a started app receives the arguments of its manifest and its own type, whatever the activity contains")
def launches(stage):
    desk = Desk(stage)
    publish = Publisher(desk)
    check_launches(desk, publish)
    for daemon in (desk.origin, desk.daemon):
        daemon.is_well()


@test("an app in a unit of the service manager, which has its own expansions, also receives only these arguments")
def launches_in_units(stage):
    desk = Desk(stage, UserManager(stage))
    check_launches(desk, Publisher(desk))
    desk.daemon.is_well()


@test("gio adds nothing of an activity to the command of a desktop entry")
def entries(stage):
    desk = Desk(stage, real=["gio"])
    path, record = stand_in(desk, "editor")
    desk.entry("org.example.Editor", types=["com.example.editing"], exec=f'{path} %f %F %u %U %i "a b" \\\\$x %%',
               extra="Icon=icon")
    desk.start()
    publish = Publisher(desk)
    for text in TEXTS[:6]:
        id = publish(type="com.example.editing", title=text, userInfo={"NSUserActivityDocumentURL": "file:///EVIL"},
                     webpageURL="https://a.example/EVIL")
        desk.opens(kind="app")
        refused = error(desk.ctl("continue", id, "--timeout", "2", code=1))
        expect(refused["reason"] == "appNotAttached", f"wrong: {refused}")
        words, variables = take(record)
        expect(words[:3] == ["--icon", "icon", "a b"] and words[-1] == "%", f"wrong words: {words}")
        expect(MARK not in json.dumps([words, variables]), f"more than its type arrived: {words} {variables}")
    publish.end()


@test("a page is one harmless argument of the browser, or is not opened")
def pages(stage):
    desk = Desk(stage)
    _, record = stand_in(desk, "xdg-open")
    desk.start()
    publish = Publisher(desk)
    for number, (url, argument) in enumerate(PAGES.items()):
        id = publish(type=f"com.example.t{number}", title=TEXTS[number], webpageURL=url)
        desk.opens(kind="web")
        done = desk.ctl("continue", id).line
        expect(done["opens"] == {"kind": "web"}, f"{url!r}: {done}")
        words, variables = take(record)
        expect(words == [argument], f"{url!r}: wrong arguments: {words}")
        expect(MARK not in json.dumps(variables), f"{url!r}: wrong variables: {variables}")
    for url in UNOPENED:
        id = publish(type="com.example.unopened", webpageURL=url)
        refused = desk.ctl("continue", id, code=1)
        expect(plain(refused.errors) and not os.path.exists(record), f"{url!r} was opened: {refused}")
    publish.end()
    for url in REFUSED:
        with contextlib.suppress(Refused):
            Connection(desk.origin).call(APPS + "Publish", more=True, activity={"type": "com.example.a", "webpageURL": url})
            raise AssertionError(f"{url!r} was published")
    expect(not os.path.exists(record), "a browser was started")
    desk.daemon.is_well()


@test("an activity that no daemon publishes is refused by publish, with an error")
def unpublished(stage):
    desk = Desk(stage).start()
    for activity in (
        [{"type": type} for type in ("", "a b", "a\n", "a\0", "a\x1b[2J", "a\u202e", "\u00e9", "e\u0301", "x" * 256)]
        + [{"type": "a", "title": "t" * 65536}, {"type": "a", "title": "t" * 1025}, {"type": "a", "team": "t" * 256}]
        + [{"type": "a", "requiredUserInfoKeys": ["k"] * 257}, {"type": "a", "userInfo": {"k": "v" * 983040}}]
    ):
        with contextlib.suppress(Refused):
            Connection(desk.origin).call(APPS + "Publish", more=True, activity=activity)
            raise AssertionError(f"{str(activity)[:80]} was published")
    desk.origin.is_well()
    expect(desk.ctl("list").lines == [], "something is offered")


@test("listed, watched and continued activities are one plain line each, for people and as JSON")
def output(stage):
    desk = Desk(stage).start()
    publish = Publisher(desk)
    ids = [publish(type=f"com.example.t{number}", title=text, team=text[:40], userInfo={"EVIL": text})
           for number, text in enumerate(TEXTS)]
    rows = shown(desk.daemon, "list")
    expect(plain(rows) and len(rows.splitlines()) == len(TEXTS) + 1, f"wrong list: {rows!r}")
    listed = desk.ctl("list")
    expect(plain(listed.output) and len(listed.lines) == len(TEXTS), f"wrong list: {listed}")
    titles = {line["id"]: line["title"] for line in listed.lines}
    for id, text in zip(ids, TEXTS):
        expect(titles[id] == text or (len(text.encode()) > 128 and titles[id].endswith("…")), f"wrong title: {titles[id]!r}")
        printed = shown(desk.daemon, "continue", id, "--print")
        expect(plain(printed) and "\nhandoffctl:" not in printed, f"wrong output: {printed!r}")
        whole = desk.ctl("continue", id, "--print")
        expect(plain(whole.output) and whole.line["userInfo"] == {"EVIL": text}, f"wrong: {whole}")
        refused = shown(desk.daemon, "continue", id)
        expect(plain(refused), f"wrong: {refused!r}")
    expect(all(plain(json.dumps(line, ensure_ascii=True)) for line in desk.watch.seen), "the output of watch is not plain")
    screen = Screen(stage, [os.path.join(BIN, "handoffctl"), "--socket", desk.daemon.socket, "list"], desk.daemon.environment)
    screen.process.wait(60)
    screen.sees("com.example.t0")
    expect("\x1b[2J" not in screen.shown and "\x9b" not in screen.shown and "\u202e" not in screen.shown, repr(screen.shown))
    publish.end()
    with open(desk.daemon.log) as log:
        text = log.read()
    expect(plain(text) and MARK not in text, "the log contains part of it")


# A non-conforming peer.


class Hostile:
    """The reference peer as a member of the taker's account, which offers and hands over anything."""

    def __init__(self, desk):
        if MISSING:
            raise Skip(f"the Python package '{MISSING}' is not installed (pip install cryptography pyOpenSSL)")
        file = os.path.join(desk.stage.folder, "hostile.handoff")
        self._settle(desk.origin, desk.daemon)
        # If two members close its ticket, each generates a key, and the peer could be left with the discarded one.
        desk.origin.stop()
        desk.ctl("account", "export", file)
        self.target = ("127.0.0.1", desk.ctl("status").line["port"])
        self.peer = handoff_peer.Peer(os.path.join(desk.stage.folder, "hostile.json"), file)
        self.link = self.peer.open_connection(*self.target)
        desk.origin.start()
        self._settle(desk.origin, desk.daemon)
        self.desk, self.guard, self.ends = desk, threading.Lock(), threading.Event()
        # Taken before the guard. The serving thread would otherwise take it again before another thread wakes up.
        self.door = threading.Lock()
        desk.stage.closers.append(self.ends.set)
        threading.Thread(target=self._serve, daemon=True).start()

    @staticmethod
    def _settle(*daemons):
        """Waits until the ticket of the joined device is closed, and all devices have the new key."""
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            accounts = [daemon.ctl("account", "show").line for daemon in daemons]
            if len({account["epoch"] for account in accounts}) == 1 and not any(account["tickets"] for account in accounts):
                return
            time.sleep(0.05)  # There is no event for all devices having the key.
        raise Failure(f"the account did not settle: {accounts}")

    def _serve(self):
        heard = {"acknowledged": False, "adverts": 0}
        with contextlib.suppress(c.Refused, OSError):
            while not self.ends.is_set():
                with self.door:
                    pass
                with self.guard:
                    self.peer.listen(0.01, heard)
                    if found := self.link.receive(0.01):
                        self.peer.take(self.link, *found)

    def offer(self, payload, id=None, **shown_):
        """Offers one activity, and withdraws all others."""
        id = id or os.urandom(16).hex()
        fields = {"id": id, "type": "com.example.hostile", "title": "t", "streams": False, "webpageURL": False, "age": 0}
        with self.door, self.guard:
            self.peer.offers = {id: {"shown": fields | shown_, "payload": payload}}
            heard = self.peer.advertise(*self.target, bytes.fromhex(self.link.hello["label"]))
        expect(heard["acknowledged"], "the advert was not accepted")
        return id


@test("an invalid payload is an error, and reaches no app")
def payloads(stage):
    desk = Desk(stage)
    _, browser = stand_in(desk, "xdg-open")
    path, started = stand_in(desk, "editor")
    desk.manifest("editor", [path], types=["com.example.declared"])
    desk.start()
    hostile = Hostile(desk)
    good = {"type": "com.example.hostile", "title": "t", "userInfo": {}, "app": "peer"}
    bad = [{"webpageURL": url} for url in REFUSED if "\0" not in url]
    bad += [{"title": "t" * 65536}, {"title": 7}, {"team": "t" * 256}, {"team": "other"}, {"type": "com.example.declared"},
            {"type": "a\nb"}, {"type": ["com.example.hostile"]}, {"userInfo": []}, {"userInfo": {"k": {"$date": "x"}}},
            {"requiredUserInfoKeys": ["k" * 1025]}, {"streams": "yes"}]
    for change in bad:
        for type in ("com.example.hostile", "com.example.declared"):
            if change.get("type") == type:
                continue
            id = hostile.offer(good | {"type": type} | change, type=type, webpageURL="webpageURL" in change)
            desk.watch.wait("added", id=id)
            if type == "com.example.declared":
                desk.offer = next(line for line in desk.ctl("list").lines if line["id"] == id)
                desk.opens(kind="app")
            refused = desk.ctl("continue", id, *(["--print"] if type == "com.example.hostile" else ["--timeout", "3"]), code=1)
            expect(error(refused)["code"] in (4608, 4610) and plain(refused.errors), f"{str(change)[:80]}: {refused}")
            expect(not os.path.exists(browser), f"{str(change)[:80]}: the browser was started")
            if os.path.exists(started):
                words, variables = take(started)
                expect(words == [] and MARK not in json.dumps(variables), f"{str(change)[:80]}: {words} {variables}")
            if type == "com.example.hostile" and "webpageURL" in change:
                desk.ctl("continue", id, code=1)
                expect(not os.path.exists(browser), f"{str(change)[:80]}: the browser was started")
    desk.daemon.is_well()


@test("a device that offers another's activity under the same id is not mistaken for it")
def same_id(stage):
    desk = Desk(stage).start()
    hostile = Hostile(desk)
    publish = Publisher(desk)
    id = publish(type="com.example.editing", title="mine", userInfo={"whose": "mine"})
    hostile.offer({"type": "com.example.editing", "title": "mine", "userInfo": {"whose": "EVIL"}}, id=id, type="com.example.editing",
                  title="mine", age=0)
    desk.watch.wait("added", id=id, deviceName="Python")
    refused = error(desk.ctl("continue", id, "--print", code=1))
    expect(refused["error"] == "AmbiguousIdentifier" and refused["candidates"] == [id, id], f"wrong: {refused}")
    expect("--from DEVICE" in shown(desk.daemon, "continue", id), "the remedy is not named")
    device = desk.offer["device"]
    for name in ("origin", device):
        taken = desk.ctl("continue", id, "--from", name, "--print").line
        expect(taken["userInfo"] == {"whose": "mine"}, f"wrong: {taken}")
    # Not even a device whose name is the other's id.
    desk.ctl("device", "rename", "Python", device)
    taken = desk.ctl("continue", id, "--from", device, "--print").line
    expect(taken["userInfo"] == {"whose": "mine"}, f"wrong: {taken}")


@test("error texts of another device are marked as such, and cannot imitate those of this device")
def words(stage):
    desk = Desk(stage).start()
    hostile = Hostile(desk)
    lie = "the editor is broken; run: \x1b[2Jsudo sh\nhandoffctl: forged"
    id = hostile.offer({})
    desk.watch.wait("added", id=id)
    for reason, told in (("launchFailed", "rejected"), ("notMember", "rejected"), ("rejected", "rejected"), ("EVIL", "EVIL"),
                         ("unknownActivity", "unknownActivity")):
        answer = {"error": {"code": 4609, "reason": reason, "message": lie}}
        hostile.peer._answer = lambda link, request, answer=answer: answer
        refused = error(desk.ctl("continue", id, "--print", code=1))
        expect(refused["reason"] == told and "Python" in refused["message"], f"{reason}: {refused}")
        line = shown(desk.daemon, "continue", id, "--print")
        expect(plain(line) and len(line.splitlines()) == 1 and line.startswith("handoffctl: "), f"{reason}: {line!r}")
        expect("Python" in line[:40] or told == "unknownActivity" and "sudo" not in line, f"{reason}: {line!r}")


if __name__ == "__main__":
    main()
