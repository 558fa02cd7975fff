#!/usr/bin/env python3
"""The clipboard: handoffctl copy and paste, and the agent on X11 with xclip and on Wayland with wl-copy and wl-paste. Two
daemons on loopback, each with a virtual screen or a compositor of its own."""

import base64
import glob
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
from urllib.parse import quote, unquote_to_bytes

from browsers import until
from harness import BIN, ROOT, SHARED, Follower, Skip, Stage, content, expect, main, test, virtual_screen
from user_manager import UserManager
from windows import PYTHON

PROGRAM = os.path.join(ROOT, "Integrations", "clipboard", "handoff-clipboard")
OWNER = os.path.join(ROOT, "Tests", "System", "clipboard_owner.py")
TYPE, SECRET = "dev.handoff1.clipboard", "x-kde-passwordManagerHint"
TEXT = "first\r\n\u202eline\t<b>&amp;\x1b[2J é \u20ac\n".encode()
HTML = '<meta charset="utf-8"><b onclick="alert(1)">&lt;script&gt; é</b><script>alert("x")</script>'.encode()
PICTURE = bytes(range(256)) * 80_000
NOBODY = 65534


def needs(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"{program} is not installed (scripts/setup --tests)")


def ended(process):
    process.terminate()
    process.wait(60)


class Desktop:
    """A device with the agent on a screen."""

    def __init__(self, stage, daemon, screen):
        self.stage, self.daemon = stage, daemon
        self.environment = {**daemon.environment, "PATH": f"{BIN}:/usr/bin:/bin", **screen}
        self.is_wayland = "WAYLAND_DISPLAY" in screen
        self.watch = daemon.follow("watch")
        self.watch.wait("ready")
        self.start()

    def is_running(self):
        return any(app["id"] == TYPE and app["running"] for app in self.daemon.ctl("apps").lines)

    def start(self, lifetime="60", grace="0"):
        until("the end of the former agent", lambda: not self.is_running())
        self.log = os.path.join(self.daemon.folder, "agent.log")
        with open(self.log, "ab") as log:
            self.agent = subprocess.Popen([PYTHON, "-B", PROGRAM, "--lifetime", lifetime, "--grace", grace], env=self.environment,
                                          stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.stage.processes.append(self.agent)
        until("the agent", self.is_running)

    def copy(self, data, type="text/plain"):
        """Copies with xclip or wl-copy, which keep running in the background."""
        words = ["wl-copy", "-t", type] if self.is_wayland else ["xclip", "-selection", "clipboard", "-t", self.target(type)]
        subprocess.run(words, input=data, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=True, timeout=60)

    def own(self, contents):
        """Copies several types at once. Returns a follower of the types that are read."""
        read, write = os.pipe()
        owner = Follower(self.stage, [PYTHON, "-B", OWNER, PROGRAM], self.environment, self.log, read)
        os.close(read)
        mark = f"application/x-owner-{len(self.stage.processes)}"
        with os.fdopen(write, "w") as file:
            json.dump({name: data if data is None else base64.b64encode(data).decode()
                       for name, data in {**contents, mark: b""}.items()}, file)
        until("the clipboard of the program", lambda: mark in self.types())
        return owner

    def target(self, type):
        return "UTF8_STRING" if type == "text/plain" and not self.is_wayland else type

    def pasting(self, type="text/plain"):
        words = (["wl-paste", "-n", "-t", type] if self.is_wayland
                 else ["xclip", "-selection", "clipboard", "-o", "-t", self.target(type)])
        process = subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        self.stage.processes.append(process)
        return process

    def stuck(self, type):
        """Starts a program that requests content, and does not request the parts in which it arrives."""
        program = (f"import runpy, sys, time; agent = runpy.run_path({PROGRAM!r}); x = agent['X11'](agent['Loop'](), None); "
                   f"x.read({type!r}, print); x._xcb.xcb_flush(x._connection); print(flush=True); time.sleep(1000)")
        process = subprocess.Popen([PYTHON, "-B", "-c", program], env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE)
        self.stage.processes.append(process)
        process.stdout.readline()
        return process

    def paste(self, type="text/plain", within=60):
        return self.pasting(type).communicate(timeout=within)[0]

    def types(self):
        if self.is_wayland:
            done = subprocess.run(["wl-paste", "-l"], env=self.environment, capture_output=True, text=True, timeout=60)
            return done.stdout.split("\n")
        return self.paste("TARGETS").decode().split("\n")

    def offered(self, device, **fields):
        """Waits for the next clipboard that another device offers."""
        return self.watch.wait("added", type=TYPE, deviceName=device.daemon.name, **fields)

    def pasted(self, data, type="text/plain"):
        """Pastes until the clipboard is that of the other device, which nothing reports."""
        until(f"{type} in a paste", lambda: self.paste(type) == data)

    def sent(self):
        """Returns how often content has left this device."""
        return sum(each.get("count") or 1 for each in self.daemon.ctl("log").lines if each["event"] in ("payload", "stream"))

    def has_sent(self, count):
        """Waits until content has left this device this often. A stream is counted when it has ended. Returns the count."""
        until(f"{count} times, not {self.sent()}", lambda: self.sent() >= count)
        expect(self.sent() == count, f"content was sent {self.sent()} times, not {count}")
        return count

    def own_offers(self):
        return [each for each in self.daemon.ctl("list", "--mine").lines if each["type"] == TYPE]


class Pair(Stage):
    """Two desktops, which the tests of one system share."""

    def __init__(self, name, screen):
        super().__init__(name)
        first, second = self.pair()
        self.desk, self.laptop = (Desktop(self, daemon, screen(self)) for daemon in (first, second))

    def clear(self):
        for each in (self.desk, self.laptop):
            expect(each.agent.poll() is None, f"the agent of {each.daemon.name} exited: {content(each.log)}")


def x11(stage):
    needs("Xvfb", "xclip")
    return {"DISPLAY": virtual_screen(stage, "320x240x24")}


def sway(stage):
    """Starts a compositor without a screen. It refuses to run as root."""
    needs("sway", "wl-copy", "setpriv")
    folder = tempfile.mkdtemp(prefix="handoff-sway-")
    stage.closers.append(lambda: shutil.rmtree(folder, ignore_errors=True))
    words = []
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "XDG_RUNTIME_DIR": folder, "WLR_BACKENDS": "headless",
                   "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1"}
    log = os.path.join(stage.folder, f"sway-{len(stage.processes)}.log")
    with open(log, "ab") as errors:
        process = subprocess.Popen([*words, "sway", "-c", "/dev/null"], env=environment, stdin=subprocess.DEVNULL, stdout=errors,
                                   stderr=errors)
    stage.processes.append(process)

    def socket():
        expect(process.poll() is None, f"sway exited: {content(log)[-800:]}")
        return [path for path in glob.glob(os.path.join(folder, "wayland-*")) if not path.endswith(".lock")]

    return {"WAYLAND_DISPLAY": until("sway", socket)[0]}


PAIRS = {}


def shared(stage, screen):
    """Returns the desktops of this process with these screens."""
    pair = PAIRS.get(screen)
    if pair not in SHARED:
        pair = PAIRS[screen] = Pair(f"clipboard of {screen.__name__}", screen)
    stage.share(pair)
    return pair.desk, pair.laptop


# ---- Without a display -------------------------------------------------------------------------------------------------

@test("copy and paste work without a display, and displace no activity of an app")
def commands(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    watch.wait("ready")
    expect("NothingToContinue" in taker.ctl("paste", code=4).errors, "a paste without an offer")
    app = origin.publish("com.example.editing", "--title", "Draft")
    watch.wait("added", type="com.example.editing")

    def copy(data, *words):
        read, write = os.pipe()
        command = origin.follow("copy", *words, input=read)
        os.close(read)
        with os.fdopen(write, "wb") as file:
            file.write(data)
        command.id = command.wait("published")["id"]
        offer = watch.wait("added", id=command.id)
        expect(offer["title"] is None and offer["type"] == TYPE, f"{offer}")
        return command, offer["team"]

    def paste(*words):
        words = [os.path.join(BIN, "handoffctl"), "--socket", taker.socket, "paste", *words]
        return subprocess.run(words, env=taker.environment, capture_output=True, timeout=60)

    first, team = copy(TEXT)
    expect(team == "text", team)
    expect(paste().stdout == TEXT and paste("--from", "origin", "--type", "text/plain").stdout == TEXT, "the text differs")
    line = taker.ctl("paste").line
    expect(line["text"].encode() == TEXT and line["type"] == "text/plain" and line["deviceName"] == "origin", f"{line}")
    done = paste("--type", "image/png")
    expect(done.returncode == 1 and b"available as: text/plain" in done.stderr, f"{done}")
    expect("Draft" in [each["title"] for each in taker.ctl("list").lines], "the activity of the app is not offered")
    expect(taker.ctl("continue", "--print", "--latest").line["title"] == "Draft", "the clipboard was continued")
    # The newest of several is pasted.
    second, team = copy(HTML, "--type", "text/html")
    expect(team == "html" and paste().stdout == HTML, "the markup differs")
    long, _ = copy(b"\xc3\xa9" * 100_000)
    expect(paste().stdout == b"\xc3\xa9" * 100_000, "the long text differs")
    picture, team = copy(PICTURE, "--type", "image/png")
    expect(team == "png" and paste().stdout == PICTURE, "the picture differs")
    for command in (picture, long, second, first):
        expect(command.interrupt() == 0, f"{command.seen}")
    for data, words, code in ((b"\xff\xfe\xfd", (), 1), (b"", (), 1), (b"x", ("--type", "text/uri-list"), 2),
                              (b"x", ("--type", "a/b"), 2), (b"x", ("/dev/null/absent",), 1)):
        done = subprocess.run([os.path.join(BIN, "handoffctl"), "--socket", origin.socket, "copy", *words], input=data,
                              env=origin.environment, capture_output=True, timeout=60)
        expect(done.returncode == code, f"{data} {words}: {done}")
    folder = os.path.join(stage.folder, "files")
    os.makedirs(os.path.join(folder, "one", "inner"))
    os.makedirs(os.path.join(folder, "two"))
    for path, data in (("one/a b%41.txt", b"first"), ("two/a b%41.txt", b"second"), ("one/inner/x", b"inner")):
        with open(os.path.join(folder, path), "wb") as file:
            file.write(data)
    os.symlink("x", os.path.join(folder, "one", "inner", "link"))
    files = origin.follow("copy", *(os.path.join(folder, path) for path in ("one/a b%41.txt", "two/a b%41.txt", "one/inner")))
    offer = watch.wait("added", id=files.wait("published")["id"])
    expect(offer["team"] == "files", f"{offer}")
    done = taker.ctl("paste")
    line = done.line
    expect("link" in done.errors, f"{done}")
    expect([os.path.basename(path) for path in line["paths"]] == ["a b%41.txt", "a b%41 (2).txt", "inner"], f"{line}")
    expect([content(path) for path in line["paths"][:2]] == [b"first", b"second"], "the files differ")
    expect(content(os.path.join(line["paths"][2], "x")) == b"inner", "the folder differs")
    # The command reports the omitted link, too.
    expect(files.interrupt() == 1 and app.process.poll() is None, "a command failed")


# ---- Both systems ------------------------------------------------------------------------------------------------------

def lazily(stage, screen):
    """Content leaves the device when it is pasted, and only then is it read from its program."""
    desk, laptop = shared(stage, screen)
    before = desk.sent()
    owner = desk.own({"text/plain;charset=utf-8": TEXT, "UTF8_STRING": TEXT, "text/html": HTML, "image/png": PICTURE,
                      "application/x-private": b"private"})
    offer = laptop.offered(desk)
    expect(offer["title"] is None and offer["team"] == "text+html+png", f"{offer}")
    types = set(until("the types", lambda: "image/png" in (types := laptop.types()) and types))
    expect({"text/plain;charset=utf-8", "text/html", "image/png", SECRET} <= types, f"{types}")
    expect("application/x-private" not in types, f"{types}")
    expect(laptop.paste(SECRET) == b"secret", "a clipboard manager would keep it")
    expect(owner.lines.empty() and desk.sent() == before, "content was read or sent before it was pasted")
    begin = time.monotonic()
    expect(laptop.paste() == TEXT, "the text differs")
    print(f"  text: {1000 * (time.monotonic() - begin):.0f} ms", flush=True)
    # The next paste is answered from memory.
    expect(laptop.paste() == TEXT and desk.sent() == before + 1, "the text differs, or was sent again")
    expect(laptop.paste("text/html") == HTML, "the markup was changed")
    begin = time.monotonic()
    expect(laptop.paste("image/png") == PICTURE, "the picture differs")
    print(f"  {len(PICTURE) // 1_000_000} MB: {1000 * (time.monotonic() - begin):.0f} ms", flush=True)
    # A program pastes and does not read. Others paste at the same time.
    before = desk.has_sent(before + 4)  # Three payloads and a stream.
    desk.copy(PICTURE[1:], "image/png")
    laptop.offered(desk)
    until("the new clipboard", lambda: "text/html" not in laptop.types())
    stuck = laptop.pasting("image/png") if laptop.is_wayland else laptop.stuck("image/png")
    pastes = [laptop.pasting("image/png") for _ in range(2)]
    expect([each.communicate(timeout=60)[0] for each in pastes] == [PICTURE[1:]] * 2, "a paste differs")
    before = desk.has_sent(before + 2)  # As a payload with one stream.
    stuck.kill()
    stuck.communicate()
    expect(laptop.paste("image/png") == PICTURE[1:], "the next paste differs")
    expect(desk.sent() == before, "the picture was sent more than once")
    # The clipboard of the other device is offered to no third one.
    expect(laptop.own_offers() == [], f"{laptop.own_offers()}")


def in_turn(stage, screen):
    """The newest clipboard is pasted, on whichever device it was copied. A secret is never offered."""
    desk, laptop = shared(stage, screen)
    desk.copy(b"from the desk")
    laptop.offered(desk)
    laptop.pasted(b"from the desk")
    laptop.copy(b"from the laptop")
    desk.offered(laptop)
    desk.pasted(b"from the laptop")
    expect(laptop.paste() == b"from the laptop", "the local clipboard was replaced")
    # A secret, and one that replaces content that is still offered.
    for former in (None, b"before the secret"):
        if former:
            desk.copy(former)
            laptop.offered(desk)
            laptop.pasted(former)
        before, seen = desk.sent(), len(laptop.watch.seen)
        desk.own({"text/plain": b"hunter2", "UTF8_STRING": b"hunter2", SECRET: b"secret"})
        if former:
            # What appears within a second could be restored by a clipboard manager, and is not offered.
            until("the withdrawn clipboard", lambda: SECRET not in laptop.types())
            time.sleep(1.1)
        # An offer of the secret would arrive before that of content that is copied when this has arrived.
        laptop.copy(b"later")
        desk.pasted(b"later")
        desk.copy(b"after the secret")
        laptop.offered(desk)
        offers = [each for each in laptop.watch.seen[seen:] if each["event"] == "added"]
        expect(len(offers) == 1 and desk.sent() == before, f"the secret was offered: {offers}")
    laptop.pasted(b"after the secret")


def failing(stage, screen):
    """A paste ends without content if the content is no longer available."""
    desk, laptop = shared(stage, screen)
    owner = desk.own({"UTF8_STRING": None, "text/plain;charset=utf-8": None, "image/png": None})
    laptop.offered(desk)
    until("the clipboard", lambda: SECRET in laptop.types())
    # Its program hangs.
    expect(laptop.paste() == b"" and not owner.lines.empty(), "content of a program that hangs")
    # Its program exits.
    ended(owner.process)
    laptop.watch.wait("removed", type=TYPE)
    until("the withdrawn clipboard", lambda: not {"image/png"} & set(laptop.types()))
    # The other device hangs while content is pasted.
    desk.copy(TEXT)
    laptop.offered(desk)
    until("the new clipboard", lambda: SECRET in laptop.types())
    desk.daemon.process.send_signal(signal.SIGSTOP)
    expect(laptop.paste(within=60) == b"", "content of a device that hangs")
    desk.daemon.process.send_signal(signal.SIGCONT)
    laptop.pasted(TEXT)


def expiring(stage, screen):
    """Content expires on both devices."""
    desk, laptop = shared(stage, screen)
    for each in (desk, laptop):
        ended(each.agent)
        each.start("3")
    desk.copy(TEXT)
    # A device that was stopped may have been detected again, with its former offer.
    offer = laptop.offered(desk, id=until("the offer", desk.own_offers)[0]["id"])
    # On a slow machine it may have expired already.
    until("a paste, or the end of the offer", lambda: laptop.paste() == TEXT or not desk.own_offers())
    laptop.watch.wait("removed", id=offer["id"])
    until("the end of the clipboard", lambda: "image/png" not in laptop.types() and SECRET not in laptop.types())
    left = laptop.paste()
    expect(left == b"", f"content has not expired: {left}")
    until("the end of the offer", lambda: desk.own_offers() == [])
    for each in (desk, laptop):
        ended(each.agent)
        each.start()


def hostile(stage, screen):
    """Content is data, and many or malformed types have no effect."""
    desk, laptop = shared(stage, screen)
    contents = {f"application/x-{number}": b"" for number in range(10_000)}
    contents.update({"text/plain\nimage/png": b"", "text/html;\0": b"", "--help": b"", "$(id)": b"", "text/" + "x" * 200: b""})
    text = b"nul \0 \x1b]0;title\x07 ' \" $(id) `id` --help \xe2\x80\xae"
    markup = b"\xff\xfe" + "<i>\u20ac</i>".encode("utf-16-le")
    contents.update({"UTF8_STRING": text, "text/plain;charset=utf-8": text, "text/html": markup})
    if desk.is_wayland:
        contents = {name: data for number, (name, data) in enumerate(contents.items()) if number >= 9_000 and "\0" not in name}
    desk.own(contents)
    offer = laptop.offered(desk)
    expect(offer["team"] == "text+html", f"{offer}")
    laptop.pasted(text)
    expect(laptop.paste("text/html") == "<i>\u20ac</i>".encode(), "UTF-16 was not converted")
    # It arrives in parts, and is longer than a payload.
    long = "é\u20ac\n".encode() * 300_000
    desk.copy(long)
    laptop.offered(desk)
    laptop.pasted(long)
    # Not a text: its bytes are delivered unchanged.
    desk.copy(b"\xe9\x80 latin")
    laptop.offered(desk)
    laptop.pasted(b"\xe9\x80 latin")
    # A device offers formats and a payload that no agent sends.
    for team in ("text", "text+" * 40, "files+png", "\u202e", "a" * 255):
        forged = desk.daemon.publish(TYPE, "--team", team, "--user-info", json.dumps({
            "text/plain": 5, "image/png": {"$url": "https://example.org/"},
            "text/uri-list": [{"$url": "file:///etc/passwd"}, 7]}))
        laptop.offered(desk, id=forged.id)
        until("no content", lambda: not any(map(laptop.paste, ("text/plain", "image/png", "text/uri-list"))))
        expect(forged.interrupt() == 0, f"{forged.seen}")
    expect(laptop.agent.poll() is None and b"Traceback" not in content(laptop.log), f"{content(laptop.log)}")


def listed(stage, screen):
    """Files arrive as documents, under their names, and paths are not sent."""
    desk, laptop = shared(stage, screen)
    names = ["a b.txt", "é%41\n.txt", "-rf", "bad\udce9"]
    folder = os.path.join(stage.folder, "secret folder")
    os.mkdir(folder)
    uris = []
    for name in names:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(os.fsencode(name))
        uris.append("file://" + quote(os.fsencode(path)))
    uris += ["file:///dev/null/absent", "https://example.org/", "file://elsewhere/etc/passwd", "# comment",
             "file:///etc/%00passwd"]
    data = "\r\n".join(uris).encode()
    desk.own({"text/uri-list": data, "x-special/gnome-copied-files": b"cut\n" + data.replace(b"\r", b""),
              "UTF8_STRING": folder.encode(), "text/plain;charset=utf-8": folder.encode()})
    offer = laptop.offered(desk)
    expect(offer["team"] == "files", f"{offer}")
    shown = until("the files", lambda: laptop.paste("text/uri-list"))
    lines = shown.decode().split("\r\n")
    expect(len(lines) == len(names) + 1 and lines[-1] == "" and b"secret" not in shown, f"{shown}")
    contents = [content(unquote_to_bytes(line.removeprefix("file://"))) for line in lines[:-1]]
    expect(contents == [os.fsencode(name) for name in names], f"{contents} {lines}")
    copied = laptop.paste("x-special/gnome-copied-files").decode().split("\n")
    expect(copied == ["copy", *lines[:-1]], f"{copied}")


@test("content that a clipboard manager keeps is not offered longer, and nothing that follows a secret is")
def kept(stage):
    agent = runpy.run_path(PROGRAM)
    times = types.SimpleNamespace(monotonic=lambda: times.now, time=lambda: 0, now=1000.0)
    agent["Agent"].changed.__globals__["time"] = times
    offers = []

    class App:
        def publish(self, type, **fields):
            offers.append(fields["expirationDate"] + agent["EPOCH"])
            return types.SimpleNamespace(become_current=lambda: None, invalidate=lambda: None)

    # Only the time in which the clipboard settles is over immediately.
    loop = types.SimpleNamespace(after=lambda delay, function: delay < 1 and function() or None, cancel=lambda timer: None)
    device = agent["Agent"](loop, 120, 0)
    device._app = App()

    def change(after, *names):
        times.now += after
        before = len(offers)
        device.changed(set(names))
        return offers[before:]

    expect(change(0) == [] and change(0.5, "text/plain") == [], "content from before the start was offered")
    expect(change(10, "text/plain") == [120], f"{offers}")
    expect(change(50) == [] and change(0.5, "text/plain") == [69.5], f"{offers}")
    expect(change(100) == [] and change(0.5, "text/plain") == [], f"{offers}")
    expect(change(10, "text/plain", SECRET) == [] and change(10) == [] and change(0.5, "text/plain") == [], f"{offers}")
    expect(change(10, "text/plain") == [120], f"{offers}")
    # It becomes empty for another reason, or has only unknown types.
    expect(change(10) == [] and change(10) == [] and change(0.5, "text/plain") == [120], f"{offers}")
    expect(change(10, "") == [] and device._changed == times.now and change(0.5, "text/plain") == [120], f"{offers}")
    # The clipboard of another device replaces it, and expires.
    device._clipboard = types.SimpleNamespace(own=lambda names: None, release=lambda: None)
    times.now += 10
    local = device._changed
    device._offers = {("other", "1"): {"device": "other", "id": "1", "team": "text", "copied": times.now}}
    device._choose()
    expect(device._remote and device._remote.key == ("other", "1"), "the other clipboard is not used")
    times.now += 121
    device._choose()
    expect(not device._remote and change(0.5, "text/plain") == [] and device._changed == local, f"{offers}")
    expect(change(10, "text/plain") == [120], f"{offers}")


def eager(stage, screen):
    """A clipboard manager that reads immediately gets no content."""
    desk, laptop = shared(stage, screen)
    ended(laptop.agent)
    laptop.start(grace="60")
    seen = os.path.join(stage.folder, "seen")
    laptop.copy(b"local")
    desk.pasted(b"local")
    manager = subprocess.Popen(["wl-paste", "--watch", "sh", "-c", f"wc -c >>{seen}"], env=laptop.environment)
    stage.processes.append(manager)
    until("the manager", lambda: os.path.exists(seen) and content(seen))
    lines, before = content(seen), desk.sent()
    desk.copy(TEXT)
    laptop.offered(desk)
    until("a change", lambda: content(seen) != lines)
    expect(content(seen).split()[-1] == b"0" and desk.sent() == before, f"the manager got content: {content(seen)}")
    ended(manager)
    ended(laptop.agent)
    laptop.start()


def ext(stage, screen):
    """The clipboard is shared in both directions with ext-data-control."""
    desk, laptop = shared(stage, screen)
    ended(laptop.agent)
    path, compositor = os.path.join(stage.folder, "ext"), laptop.environment["WAYLAND_DISPLAY"]
    words = [sys.executable, os.path.join(ROOT, "Tests", "System", "ext_data_control.py"), path, compositor]
    stage.processes.append(subprocess.Popen(words))
    until("the socket", lambda: os.path.exists(path))
    laptop.environment["WAYLAND_DISPLAY"] = path
    laptop.start()
    laptop.environment["WAYLAND_DISPLAY"] = compositor
    desk.copy(TEXT)
    laptop.offered(desk)
    laptop.pasted(TEXT)
    laptop.copy(HTML, "text/html")
    desk.offered(laptop, team="text+html")  # wl-copy offers each text as plain text, too.
    desk.pasted(HTML, "text/html")
    ended(laptop.agent)
    laptop.start()


def in_unit(stage, screen):
    """The unit starts the agent, and its restrictions prevent nothing."""
    desk, laptop = shared(stage, screen)
    manager = UserManager(stage)
    folder = os.path.join(manager.folder, ".config", "systemd", "user")
    os.makedirs(folder)
    with open(os.path.join(ROOT, "systemd", "handoff-clipboard.service")) as file:
        unit = file.read().replace("ExecStart=handoff-clipboard", f"ExecStart={PYTHON} -B {PROGRAM} --grace 0")
    names = ("DISPLAY", "HANDOFF_SOCKET", "HOME", "PATH")
    variables = "".join(f'Environment="{name}={laptop.environment[name]}"\n' for name in names)
    with open(os.path.join(folder, "handoff-clipboard.service"), "w") as file:
        file.write(unit.replace("[Service]\n", "[Service]\n" + variables))
    expect("disabled" in manager.call("is-enabled", "handoff-clipboard.service").output, "it is enabled")
    ended(laptop.agent)
    done = manager.call("start", "handoff-clipboard.service")
    expect(done.code == 0, f"{done}")
    until("the agent", laptop.is_running)
    desk.copy(TEXT)
    laptop.offered(desk)
    laptop.pasted(TEXT)
    # A file in memory is passed to another program.
    laptop.copy(PICTURE, "image/png")
    desk.offered(laptop)
    desk.pasted(PICTURE, "image/png")
    # Without a screen it ends without an error, so that it is not started again.
    manager.call("stop", "handoff-clipboard.service")
    done = subprocess.run([PYTHON, "-B", PROGRAM], env={"PATH": "/usr/bin"}, capture_output=True, timeout=60)
    expect(done.returncode == 0 and b"there is no display" in done.stderr, f"{done}")
    laptop.start()


def together(name, limit, screen, *functions):
    """Registers a test of several functions, which use the same desktops."""
    @test(name, limit)
    def run_all(stage):
        for function in functions:
            function(stage, screen)


for kind in (x11, sway):
    together(f"{kind.__name__}: content is sent when it is pasted, and not before, and a secret never", 120, kind,
             lazily, in_turn, listed, hostile)
together("x11: a paste ends if its content is no longer available, and content expires", 120, x11, failing, expiring)
together("x11: the unit runs the agent", 120, x11, in_unit)
# What a hanging program or device does is the same.
together("sway: content expires, a manager that reads immediately gets nothing, and ext-data-control", 120, sway,
         expiring, eager, ext)


if __name__ == "__main__":
    main()
