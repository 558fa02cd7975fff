"""The daemon's way to the desktop: the program handoff-desktop, as it is started, what it refuses, and what its end means."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import time

import harness
from desk import TYPE, Desk, error, events
from harness import BIN, expect, main, test
from logind import Logind

INTERFACE = "dev.handoff1.Desktop."


class Socket:
    """handoff-desktop as the service manager starts it: with a listening socket."""

    def __init__(self, stage, **environment):
        self.path = os.path.join(stage.folder, "desktop.socket")
        self.home = os.path.join(stage.folder, "home")
        os.makedirs(self.home, exist_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path)
        listener.listen()
        variables = {"PATH": "/usr/bin:/bin", "HOME": self.home, "XDG_DATA_DIRS": stage.folder,
                     "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
                     "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", "LISTEN_FDS": "1", **environment}

        def place():
            os.dup2(listener.fileno(), 3)
            os.environ["LISTEN_PID"] = str(os.getpid())

        with open(os.path.join(stage.folder, "desktop.log"), "wb") as log:
            # The variable has the number of the process itself, which a shell knows.
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$0"', os.path.join(BIN, "handoff-desktop")], env=variables,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(3,), preexec_fn=place)
        listener.close()
        stage.processes.append(self.process)

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(20)
        connection.connect(self.path)
        return connection

    def call(self, method, connection=None, more=False, **parameters):
        connection = connection or self.connect()
        message = {"method": INTERFACE + method, "parameters": parameters, **({"more": True} if more else {})}
        connection.sendall(json.dumps(message).encode() + b"\0")
        return reply(connection)

    def error(self, method, **parameters):
        return self.call(method, **parameters).get("error", "").split(".")[-1]


def reply(connection):
    """The next message; None at the end."""
    received = b""
    while not received.endswith(b"\0"):
        try:
            part = connection.recv(1 << 20)
        except ConnectionResetError:
            return None
        if not part:
            return None
        received += part
    return json.loads(received.split(b"\0")[0])


def desktop_of(daemon):
    """The number of the program that a daemon has started for its desktop."""
    limit = time.monotonic() + 20
    while time.monotonic() < limit:
        done = subprocess.run(["pgrep", "-P", str(daemon.process.pid), "handoff-desktop"], capture_output=True, text=True)
        if done.stdout.split():
            return int(done.stdout.split()[0])
    raise harness.Failure("the daemon has started no handoff-desktop")


@test("what is not declared is not started, and what is no web page not opened")
def narrow(stage):
    desktop = Socket(stage)
    expect(desktop.error("StartApp", app="org.example.Missing", type=TYPE) == "NotStarted", "an app that is not there")
    for app in ("/bin/sh", "../x", "", "a" * 300):
        expect(desktop.error("StartApp", app=app, type=TYPE) == "InvalidParameter", f"it takes the app {app!r}")
    for url in ("file:///etc/passwd", "javascript:alert(1)", "--help", "ftp://example.org/", "https://", "x" * 100_000):
        expect(desktop.error("OpenPage", url=url) == "InvalidParameter", f"it takes the page {url[:40]!r}")
    for token in ("a\nb", "", "x" * 2000):
        expect(desktop.error("OpenPage", url="https://example.org/", token=token) == "InvalidParameter",
               f"it takes the token {token[:20]!r}")
    for path in ("x", "", "--help", "/a/../b", "/a//b", "/a/.", "/a/", "/a\0b", "/" + "x" * 5000, "file:///etc/passwd"):
        expect(desktop.error("OpenFile", path=path, shows=False) == "InvalidParameter", f"it takes the path {path[:40]!r}")
    for path in ("/nonexistent/file", "/dev/null"):
        expect(desktop.error("OpenFile", path=path, shows=True) == "NotStarted", f"it opens {path}")
    note = {"summary": "s", "body": "b", "icon": "i", "actions": []}
    for change in ({"summary": "x" * 5000}, {"body": "a\0b"}, {"actions": [{"key": "k", "label": "l"}] * 9}, {"icon": 1}):
        expect(desktop.error("ShowNotification", notification={**note, **change}, replaces=0) == "InvalidParameter",
               f"it takes a notification with {str(change)[:60]}")
    for number in (-1, 1 << 32, "1", None):
        expect(desktop.error("CloseNotification", id=number) == "InvalidParameter", f"it takes the id {number!r}")
    expect(desktop.error("FollowApps") == "ExpectedMore", "it follows without 'more'")
    expect(desktop.error("Missing") == "MethodNotFound", "it has a method that it has not")
    expect(desktop.process.poll() is None, "it has ended")


@test("only so many programs are started and notifications shown, and only so many connections served")
def bounded(stage):
    desktop = Socket(stage)
    note = {"summary": "s", "body": "b", "icon": "i", "actions": []}
    for kind, call in (("NotStarted", lambda: desktop.error("StartApp", app="org.example.Missing", type=TYPE)),
                       (None, lambda: desktop.error("ShowNotification", notification=note, replaces=0))):
        begin, served = time.monotonic(), 0
        while (error := call()) != "LimitExceeded":
            expect(kind in (None, error), f"wrong: {error}")
            served += 1
        # 64 at once, and one more each 160 ms.
        most = 64 + (time.monotonic() - begin) / 0.16 + 1
        expect(64 <= served <= most, f"{served} calls were served, {most:.0f} at most")
    followers = [desktop.connect() for _ in range(64)]
    for follower in followers:
        expect("error" not in desktop.call("FollowApps", follower, more=True), "it is not served")
    expect(reply(desktop.connect()) is None, "one connection too many is served")
    followers[0].close()
    # The end of one makes room for another.
    limit = time.monotonic() + 20
    while True:
        connection = desktop.connect()
        try:
            if desktop.call("GetMachine", connection) is not None:
                break
        except BrokenPipeError:
            pass
        expect(time.monotonic() < limit, "there is no room again")


@test("sessions whose words are too long for a message are reported as not known, and shorter ones as they are")
def long_words(stage):
    logind = Logind(stage)
    logind.session("c1", Type="x" * 256)
    connection = (desktop := Socket(stage, **logind.environment)).connect()
    said = desktop.call("FollowSessions", connection, more=True)["parameters"]
    expect(said["report"] == "sessions" and said["sessions"][0]["type"] == "x" * 256, f"wrong: {said}")
    for number in range(2, 9):
        logind.session(f"c{number}", Type="x" * 200_000)
    while said["report"] == "sessions":
        expect(len(said["sessions"]) == 1, f"it tells of {[len(session['type']) for session in said['sessions']]} bytes")
        said = reply(connection)["parameters"]
    expect(said["report"] == "silent", f"wrong: {said['report']}")
    for number in range(2, 9):
        logind.session(f"c{number}", Type="tty")
    while said["report"] != "sessions" or len(said["sessions"]) < 8:
        said = reply(connection)["parameters"]


@test("sleep waits until all who were told of it have gone")
def sleep(stage):
    logind = Logind(stage)
    desktop = Socket(stage, **logind.environment)
    first, second = (desktop.connect() for _ in range(2))
    for connection in (first, second):
        said = desktop.call("FollowSleep", connection, more=True)["parameters"]
        expect(said == {"sleep": "awake"}, f"{said}")
    what, lock = logind.delay(0)
    expect(what[3] == "delay", f"{what}")
    logind.sleeps(True)
    for connection in (first, second):
        expect(reply(connection)["parameters"] == {"sleep": "imminent"}, "it is not told")
    first.close()
    # Who comes now is told when the machine is awake, and holds nothing up.
    third = desktop.connect()
    third.sendall(json.dumps({"method": INTERFACE + "FollowSleep", "more": True}).encode() + b"\0")
    expect(desktop.call("GetMachine") is not None, "it does not answer")
    expect(not select.select([lock], [], [], 0)[0], "sleep does not wait")
    second.close()
    expect(select.select([lock], [], [], 60)[0], "sleep waits for nobody")
    os.close(lock)
    logind.sleeps(False)
    expect(reply(third)["parameters"] == {"sleep": "awake"}, "who came late is not told")
    expect(logind.delay(1), "the next sleep is not held up")


@test("who sends no calls, or too many, loses the connection, and nobody else does")
def hostile(stage):
    desktop = Socket(stage)
    well = desktop.connect()
    expect("error" not in desktop.call("FollowApps", well, more=True), "it is not served")
    call = json.dumps({"method": INTERFACE + "FollowApps", "more": True}).encode() + b"\0"
    for bytes in (b"\xff\xfe\0", b"{}\0", b"[" * 100_000 + b"\0", b"x" * 2_000_000, call * 50,
                  json.dumps({"method": INTERFACE + "GetMachine", "upgrade": True, "more": True}).encode() + b"\0"):
        connection = desktop.connect()
        try:
            connection.sendall(bytes)
            while reply(connection) is not None:
                pass
        except (BrokenPipeError, ConnectionResetError):
            pass
    # Descriptors that nobody asked for are closed.
    connection = desktop.connect()
    read, write = os.pipe()
    message = json.dumps({"method": INTERFACE + "GetMachine"}).encode() + b"\0"
    socket.send_fds(connection, [message], [write] * 5)
    os.close(write)
    expect("error" not in reply(connection), "a call with descriptors is not answered")
    expect(os.read(read, 1) == b"", "a descriptor that was passed stays open")
    expect("error" not in desktop.call("GetMachine"), "it is of no use any more")
    well.setblocking(False)
    try:
        expect(well.recv(1) != b"", "another connection was ended")
    except BlockingIOError:
        pass


@test("the daemon starts it from beside itself, and it ends with the daemon, however that ends")
def child(stage):
    for ends in ("stop", "kill"):
        daemon = stage.daemon(f"device-{ends}")
        ended = os.pidfd_open(desktop_of(daemon))
        getattr(daemon, ends)()
        limit = time.monotonic() + 20
        expect(select.select([ended], [], [], limit - time.monotonic())[0], f"it goes on after '{ends}'")
        os.close(ended)


@test("its death is none of the daemon: it is started again, and apps are known and started as before")
def killed(stage):
    desk = Desk(stage)
    record = desk.app("org.example.Editor", TYPE, types=[TYPE])
    desk.start()
    first = desktop_of(desk.daemon)
    desk.publish()
    desk.opens(kind="app")
    os.kill(first, signal.SIGKILL)
    # What was known stays known meanwhile.
    expect(desk.ctl("list").line["opens"]["kind"] == "app", "what is installed is forgotten")
    limit = time.monotonic() + 20
    while desktop_of(desk.daemon) == first:
        expect(time.monotonic() < limit, "it is not started again")
    desk.ctl("continue")
    events(record, "continue")
    # And what is declared from now on is seen.
    desk.manifest("other", ["/bin/true"], types=[TYPE])
    while "other" not in {line["id"] for line in desk.ctl("apps").lines}:
        expect(time.monotonic() < limit, "what is installed later is not seen")
    desk.daemon.is_well()


@test("a start during which it dies fails, and says so")
def killed_at_start(stage):
    desk = Desk(stage)
    desk.manifest("slow", ["/bin/sleep", "60"], types=[TYPE])
    desk.start()
    desk.publish()
    desk.opens(kind="app")
    os.kill(desktop_of(desk.daemon), signal.SIGSTOP)
    call = desk.daemon.follow("continue")
    with open(desk.daemon.log) as log:
        limit = time.monotonic() + 20
        text = ""
        while "Starting an app" not in text:
            expect(time.monotonic() < limit, "nothing is started")
            text += log.read()
    os.kill(desktop_of(desk.daemon), signal.SIGKILL)
    while (line := call.next()) is not None and "code" not in str(line):
        pass
    expect(call.process.wait(20) == 1, "it did not fail")
    with open(call.log) as log:
        said = log.read() + str(call.seen)
    expect("handoff-desktop ended" in said, f"it does not say why: {said}")
    desk.daemon.is_well()


@test("without the program the daemon serves and advertises, and says what is missing")
def missing(stage):
    folder = os.path.join(stage.folder, "bin")
    os.mkdir(folder)
    for name in ("handoffd", "handoffctl"):
        shutil.copy(os.path.join(BIN, name), folder)
    former, harness.BIN = harness.BIN, folder
    try:
        origin, taker = stage.pair()
        publish = origin.publish("com.example.editing")
        watch = taker.follow("watch")
        watch.wait("added", id=publish.id)
        with open(origin.log) as log:
            expect("handoff-desktop is not installed: apps cannot" in log.read(), "it does not say so")
    finally:
        harness.BIN = former


if __name__ == "__main__":
    main()
