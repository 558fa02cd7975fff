#!/usr/bin/env python3
"""The window that sends files and text: with real daemons and `handoffctl`, and with a simulated
`handoffctl` for states that are hard to reach."""

import json
import os
import shutil
import subprocess

from browsers import until
from harness import Skip, expect, main, run
from notifications import SessionBus
from windows import PACKAGE, PYTHON, Screen, SettingsWindow, WindowDesk, window_test as test

NAMES = [b"plain file.txt", "ü 100%.txt".encode(), b"bad\xe9name.txt", b"--text.txt", b"<b>&amp;.txt"]
PLAYED = """#!/usr/bin/python3
import json, os, signal, sys, time
if sys.argv[2] != "send":
    sys.exit(1)
signal.signal(signal.SIGTERM, lambda *_: os._exit(130))
words = sys.argv[1:]
if "--files0-from=-" in words:
    words += sys.stdin.buffer.read().split(b"\\0")[:-1]
with open({record!r}, "ab") as file:
    file.write(b"\\0".join(map(os.fsencode, words)) + b"\\n")
with open({steps!r}) as file:
    for kind, value in json.load(file):
        if kind in ("out", "err"):
            print(json.dumps(value), file=sys.stdout if kind == "out" else sys.stderr, flush=True)
        elif kind == "exit":
            os._exit(value)
        while kind == "await" and not os.path.exists(value):
            time.sleep(0.02)
signal.pause()
"""


class Played:
    """A simulated handoffctl, which records its arguments, prints lines and waits."""

    def __init__(self, stage, steps):
        self.folder = os.path.join(stage.folder, "programs")
        self.record = os.path.join(stage.folder, "record")
        os.makedirs(self.folder)
        path = os.path.join(self.folder, "handoffctl")
        with open(path, "w") as file:
            file.write(PLAYED.format(record=self.record, steps=stage.file("steps", json.dumps(steps))))
        os.chmod(path, 0o755)

    @property
    def calls(self):
        try:
            with open(self.record, "rb") as file:
                return [line.split(b"\0") for line in file.read().splitlines()]
        except FileNotFoundError:
            return []


class Desk:
    """Devices of one account, and a window at the first that sends."""

    def __init__(self, stage, *names, arguments=(), steps=None, bus=None):
        self.screen = Screen(stage)
        self.daemons = [stage.daemon(name) for name in names]
        self.daemons[0].ctl("account", "create")
        for other in self.daemons[1:]:
            stage.join(self.daemons[0], other)
        self.played = Played(stage, steps) if steps is not None else None
        self.programs = self.played.folder if self.played else None
        self.window = SettingsWindow(stage, self.screen, self.daemons[0], programs=self.programs, bus=bus,
                                     arguments=["--send", *arguments])

    def id(self, number):
        return self.daemons[number].ctl("status").line["device"]


def files(stage, names=NAMES):
    """Creates files, whose content is their name. Returns their paths as bytes."""
    folder = os.path.join(os.fsencode(stage.folder), b"sent")
    os.makedirs(folder, exist_ok=True)
    for name in names:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(name)
    return [os.path.join(folder, name) for name in names]


def offers(daemon, count):
    """Waits for this number of offers. Returns them."""
    def found():
        lines = daemon.ctl("list").lines
        return [lines] if len(lines) == count else None
    return until(f"{count} offers at {daemon.name}", found)[0]


def take(daemon, folder):
    """Accepts all offers. Returns the content of the files by their name, and of the text."""
    os.makedirs(folder)
    found = {}
    for offer in daemon.ctl("list").lines:
        if offer["type"] == "dev.handoff1.text":
            found["text"] = daemon.ctl("continue", offer["id"], "--print").line["userInfo"]["text"].encode()
        else:
            daemon.ctl("continue", offer["id"], "--output", folder)
    for name in os.listdir(os.fsencode(folder)):
        path = os.path.join(os.fsencode(folder), name)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                found[name] = file.read()
    return found


@test("files of any name, a folder and a text are received by two devices, with the outcome of each")
def received(stage):
    names = [*NAMES, "a\nb\u202e.txt".encode()]
    paths = files(stage, names)
    folder = os.path.join(stage.folder, "letters")
    os.mkdir(folder)
    stage.file("letters/a.txt", "a")
    desk = Desk(stage, "Study", "Kitchen", "Attic", arguments=["--", *paths, folder])
    window = desk.window.see("plain file.txt", "ü 100%.txt", "bad\ufffdname.txt", "<b>&amp;.txt", "Folder",
                             "a\\u{A}b\\u{202E}.txt", "Choose a device.", "7 items", "without the content of folders",
                             "14 bytes")
    expect(not window.do("sensitive", name="Send")["sensitive"], "nothing is chosen")
    window.do("write", text="a secret\nof two lines")
    window.do("check", row="Kitchen")
    window.do("check", row="Attic")
    window.press("Remove", row="plain file.txt").miss("plain file.txt")
    window.press("Send").see("Waiting until they are accepted there", "Text", "letters")
    for daemon in desk.daemons[1:]:
        offers(daemon, 7)
        found = take(daemon, os.path.join(stage.folder, f"got-{daemon.name}"))
        expect(set(found.values()) == {*names[1:], b"a secret\nof two lines"}, f"{found}")
    window.see("7 received").press("Close")
    expect(desk.window.process.wait(60) == 0, "the program does not end with its window")


@test("a device that is offline receives the items later, and Cancel withdraws what was not received")
def offline(stage):
    paths = files(stage, NAMES[:2])
    desk = Desk(stage, "Study", "Kitchen", arguments=["--device", "Kitchen", "--", *paths])
    kitchen = desk.daemons[1]
    window = desk.window.see("Kitchen", "Online")
    window.do("checked", row="Kitchen", is_on=True)
    kitchen.stop()
    window.see("Last seen").press("Send").see("Offline. The items are offered when it is online.")
    kitchen.start()
    shown = offers(kitchen, 2)
    first = next(each for each in shown if each["title"] == "plain file.txt")
    kitchen.ctl("continue", first["id"], "--output", stage.folder)
    window.see("Received")
    desk.daemons[0].restart()
    offers(kitchen, 1)
    window.see("Waiting").press("Cancel").see("Withdrawn", "1 received, 1 withdrawn", "Close")
    offers(kitchen, 0)


@test("closing the window while items wait asks, and continues in the background or withdraws them")
def closed(stage):
    (path,) = files(stage, NAMES[:1])
    bus = SessionBus(stage)
    desk = Desk(stage, "Study", "Kitchen", arguments=["--", path], bus=bus)
    kitchen = desk.daemons[1]
    # The only other device is chosen, and has the focus.
    expect("Kitchen" in desk.window.see("Online").do("focused")["focus"], f"{desk.window.do('focused')}")
    desk.window.do("checked", row="Kitchen", is_on=True)
    desk.window.press("Send").see("Waiting until")
    offers(kitchen, 1)
    desk.window.do("close")
    desk.window.see("Keep Sending?").press("Keep Open").see("Waiting until")
    desk.window.do("close")
    desk.window.see("Keep Sending?").press("Send in the Background")
    until("a hidden window", lambda: desk.window.do("count")["windows"] == 0)
    take(kitchen, os.path.join(stage.folder, "got"))
    expect(desk.window.process.wait(60) == 0, "the program does not end after the last item")
    again = SettingsWindow(stage, desk.screen, desk.daemons[0], arguments=["--send", "--", path], bus=bus)
    again.press("Send").see("Waiting until")
    offers(kitchen, 1)
    again.do("close")
    again.see("Keep Sending?").press("Stop Sending")
    expect(again.process.wait(60) == 0, "the program does not end")
    offers(kitchen, 0)
    # As at the end of a session.
    again = SettingsWindow(stage, desk.screen, desk.daemons[0], arguments=["--send", "--", path], bus=bus)
    again.press("Send").see("Waiting until")
    offers(kitchen, 1)
    again.process.terminate()
    expect(again.process.wait(60) == 0, "the program does not end by the signal")
    offers(kitchen, 0)


@test("progress, a device that declines, an interruption and a failure are shown, as plain text")
def outcomes(stage):
    paths = files(stage, NAMES[:4])
    gate = [os.path.join(stage.folder, f"gate-{number}") for number in range(3)]

    def published(number, type="dev.handoff1.content"):
        return ("out", {"event": "published", "id": f"{number}", "type": type, "title": None})

    steps = [
        ("out", 7), ("out", {"event": 3}), ("out", {"event": "published", "id": []}), ("err", {"note": "waiting"}),
        *(published(number) for number in range(4)),
        ("out", {"event": "stream", "id": "0", "state": "started", "size": 10_000_000, "from": 0}),
        ("out", {"event": "progress", "id": "0", "sent": 2_500_000, "total": 10_000_000}),
        ("out", {"event": "progress", "id": "0", "sent": "x", "total": -1}),
        ("out", {"event": "progress", "id": "0", "sent": 5_000_000, "total": 10_000_000}),
        ("await", gate[0]),
        ("out", {"event": "stream", "id": "0", "state": "failed", "message": "it <b>broke</b>\u202e"}),
        ("out", {"event": "declined", "id": "1"}),
        ("await", gate[1]),
        ("out", {"event": "stream", "id": "0", "state": "finished", "bytes": 10_000_000, "missing": 2}),
        ("err", {"error": "FileFailed", "message": "cannot read <b>it</b>: " + "x" * 5000}), ("exit", 1),
    ]
    desk = Desk(stage, "Study", "Kitchen <b>&", arguments=["--", *paths], steps=steps)
    window = desk.window
    window.press("Send").see("5.0 MB of 10.0 MB")
    # The total has the other files as well.
    expect(0.49 < window.do("bar")["fraction"] < 0.51, f"{window.do('bar')}")
    open(gate[0], "w").close()
    window.see("Interrupted: it <b>broke</b>\\u{202E}", "Declined", "Sending resumes when the device requests it")
    open(gate[1], "w").close()
    window.see("Received: without 2 of its entries", "Not sent: cannot read <b>it</b>",
               "1 received, 1 declined, 2 not sent", "Close")
    expect(all(len(text) < 1500 for text in window.texts()), "a text without a limit")
    expect(window.do("unlabelled") == [] and window.do("spoken_twice") == [], "controls without a name, or with two")
    (call,) = desk.played.calls
    expect(call == [b"--json", b"send", desk.id(1).encode(), b"--", *paths], f"{call}")


@test("items that are kept until they are accepted need no window")
def kept(stage):
    paths = files(stage, NAMES[:1])
    desk = Desk(stage, "Study", "Kitchen", arguments=["--", *paths],
                steps=[("out", {"event": "waiting", "title": "plain file.txt"}), ("exit", 0)])
    desk.window.see("Keep until Accepted").do("switch", row="Keep until Accepted")
    desk.window.press("Send").see("Kept until accepted", "1 kept until accepted").press("Close")
    expect([words[3] for words in desk.played.calls] == [b"--wait"], f"{desk.played.calls}")
    expect(desk.window.process.wait(60) == 0, "the program does not end with its window")


@test("500 files are one offer, and files that cannot be sent are reported with the reason")
def many(stage):
    paths = files(stage, [b"%03d.txt" % number for number in range(500)])
    pipe = os.path.join(stage.folder, "pipe")
    os.mkfifo(pipe)
    wrong = [os.path.join(stage.folder, "absent.txt"), os.path.join(stage.folder, "bad\ufffdname.txt"), pipe,
             "sftp://example.org/a%20b.txt"]
    steps = [("out", {"event": "published", "id": "a", "type": "dev.handoff1.content", "title": "499 files"}),
             ("out", {"event": "stream", "id": "a", "state": "started", "size": None, "from": 0}),
             ("out", {"event": "progress", "id": "a", "sent": 3500, "total": None}),
             ("await", os.path.join(stage.folder, "gate")),
             ("out", {"event": "stream", "id": "a", "state": "finished", "bytes": 3493}), ("exit", 0)]
    desk = Desk(stage, "Study", "Kitchen", arguments=["--", *wrong, *paths], steps=steps)
    window = desk.window.see(
        "504 items, 3.5 kB, only the first 100 are shown", "It does not exist.", "names that are not UTF-8",
        "It is neither a file nor a folder.", "not available as a local file")
    os.unlink(paths[7])
    window.press("Send").see("3.5 kB of 3.5 kB", "499 files", "007.txt", "Not sent: It does not exist.")
    open(os.path.join(stage.folder, "gate"), "w").close()
    window.see("1 received, 5 not sent")
    (call,) = desk.played.calls
    expect(call[3:] == [b"--files0-from=-", b"--", *paths[:7], *paths[8:]], f"{len(call)} arguments")


@test("calls by the session bus, and a second start, add to the window for the same device until it sends")
def by_bus(stage):
    if not shutil.which("gdbus"):
        raise Skip("gdbus is not installed (scripts/setup --tests)")
    paths = files(stage)
    bus = SessionBus(stage)
    desk = Desk(stage, "Study", "Kitchen", "Attic", arguments=["--", paths[0]], bus=bus, steps=[])
    window = desk.window.see("plain file.txt")
    environment = desk.screen.environment(desk.daemons[0], desk.programs, bus)

    def call(member, *arguments):
        words = ["gdbus", "call", "--session", "--dest", "dev.handoff1.Settings", "--object-path",
                 "/dev/handoff1/Settings", "--method", f"org.freedesktop.Application.{member}", *arguments]
        done = run(words, environment)
        expect(done.code == 0, str(done))

    uri = "file://" + os.path.join(stage.folder, "sent") + "/bad%E9name.txt"
    call("Open", f"['{uri}']", "{}")
    window.see("bad\ufffdname.txt")
    words = [PYTHON, "-B", os.path.join(PACKAGE, "handoff-settings"), "--send", "--text", "Words", "--", "--text.txt"]
    folder = os.path.join(stage.folder, "sent")
    done = subprocess.run(words, env=environment, cwd=folder, capture_output=True)
    expect(done.returncode == 0, f"{done}")
    window.see("--text.txt", "3 items")
    expect(window.do("count")["windows"] == 1, "a second window")
    call("ActivateAction", "send-to", f"[<('{desk.id(2)}', ['{uri}'])>]", "{}")
    until("a window for the other device", lambda: window.do("count")["windows"] == 2)
    call("Open", "['handoff:pair/2/x']", "{}")
    window.see("This is not a pairing link")
    window.do("close_all_but", text="--text.txt")
    for name in ("Kitchen", "Attic"):
        window.do("check", row=name)
    window.press("Send").see("Starting")
    until("two processes", lambda: len(desk.played.calls) == 2)
    for words in desk.played.calls:
        expect(words[3:] == [b"--text=Words", b"--", paths[0], paths[2], paths[3]], f"{words}")
    window.press("Cancel").see("4 withdrawn")


@test("files dropped on a device open the window with that device chosen, as a copy only")
def dropped(stage):
    uris = ["file://" + os.path.join(stage.folder, "sent") + f"/{name}" for name in ("plain%20file.txt", "bad%E9name.txt")]
    files(stage)
    desk = WindowDesk(stage, "Study", "Kitchen")
    study = desk.windows[0].see("Kitchen", "Online")
    done = study.do("drop", uris=uris[:1], row="Kitchen")
    # 1 is COPY. After a MOVE, a file manager would delete the files.
    expect(done == {"accepted": True, "actions": 1}, f"{done}")
    expect(study.do("drop", uris=uris, row="This device") == {"accepted": False}, "this device accepts files")
    study.see("To", "plain file.txt")
    study.do("checked", row="Kitchen", is_on=True)
    study.do("close_all_but", text="Files and Folders")
    study.do("drop", uris=uris[1:])
    study.see("bad\ufffdname.txt", "2 items")
    expect(study.do("unlabelled") == [] and study.do("spoken_twice") == [], "controls without a name, or with two")


@test("the reason why nothing can be sent is next to the button: no device, no account, no daemon, no items")
def hindrances(stage):
    screen = Screen(stage)
    lonely, absent = stage.daemon("Study"), stage.daemon("Attic", start=False)
    window = SettingsWindow(stage, screen, lonely, arguments=["--send", "--text", "x"])
    window.see("This device is not in an account.")
    expect(not window.do("sensitive", name="Send")["sensitive"], "it can send")
    lonely.ctl("account", "create")
    window.see("Add another device first.").press("Open Handoff").see("This device")
    window = SettingsWindow(stage, screen, absent, arguments=["--send", "--text", "x"])
    window.see("Handoff is not running: cannot reach handoffd")
    absent.start()
    window.see("This device is not in an account.")
    stage.join(lonely, absent)
    window.see("Study")
    window.do("checked", row="Study", is_on=True)
    expect(window.do("sensitive", name="Send")["sensitive"], "it cannot send")
    window.do("write", text="")
    window.see("Add a file or a folder, or enter a text.")
    window.do("write", text="x" * 100_001)
    window.see("Send it as a file.")


@test("without files, a chooser opens first, and cancelling it closes the window")
def chooser(stage):
    desk = Desk(stage, "Study", "Kitchen")
    until("the chooser", lambda: desk.window.do("count")["windows"] == 2)
    desk.window.press("Cancel")
    expect(desk.window.process.wait(60) == 0, "the window stays")
    # As from the menu of the main window, or of its icon.
    window = SettingsWindow(stage, desk.screen, desk.daemons[0]).see("Kitchen")
    window.do("action", name="app.send")
    until("the chooser", lambda: window.do("count")["windows"] == 3)
    window.press("Cancel").miss("Files and Folders").see("Kitchen")


@test("invalid arguments are reported")
def arguments(stage):
    screen, daemon = Screen(stage), stage.daemon("Study", start=False)
    for words, reason in ((["--device"], "needs a value"), (["--colour"], "unknown option '--colour'")):
        program = [PYTHON, "-B", os.path.join(PACKAGE, "handoff-settings")]
        done = run([*program, "--send", *words], screen.environment(daemon))
        expect(done.code == 1 and reason in done.errors and "Traceback" not in done.errors, str(done))


if __name__ == "__main__":
    main()
