"""The program handoff-desktop, which connects the daemon to the desktop: its start, the calls that
it refuses, and its exit."""

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
            # The variable contains the number of the process itself, which a shell knows.
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
    """Returns the next message, or None at the end."""
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
    """Returns the process id of the program that a daemon has started for its desktop."""
    limit = time.monotonic() + 20
    while time.monotonic() < limit:
        done = subprocess.run(["pgrep", "-P", str(daemon.process.pid), "handoff-desktop"], capture_output=True, text=True)
        if done.stdout.split():
            return int(done.stdout.split()[0])
    raise harness.Failure("the daemon has started no handoff-desktop")


def phrase(message, values=()):
    """Returns a text of a notification or a menu."""
    return {"message": message, "values": list(values)}


@test("an undeclared app is not started, and an address that is not a web page is not opened")
def narrow(stage):
    desktop = Socket(stage)
    expect(desktop.error("StartApp", app="org.example.Missing", type=TYPE) == "NotStarted", "it accepts an unknown app")
    for app in ("/bin/sh", "../x", "", "a" * 300):
        expect(desktop.error("StartApp", app=app, type=TYPE) == "InvalidParameter", f"it accepts the app {app!r}")
    for url in ("file:///etc/passwd", "javascript:alert(1)", "--help", "ftp://example.org/", "https://", "x" * 100_000):
        expect(desktop.error("OpenPage", url=url) == "InvalidParameter", f"it accepts the page {url[:40]!r}")
    for token in ("a\nb", "", "x" * 2000):
        expect(desktop.error("OpenPage", url="https://example.org/", token=token) == "InvalidParameter",
               f"it accepts the token {token[:20]!r}")
    for path in ("x", "", "--help", "/a/../b", "/a//b", "/a/.", "/a/", "/a\0b", "/" + "x" * 5000, "file:///etc/passwd"):
        expect(desktop.error("OpenFile", path=path, shows=False) == "InvalidParameter", f"it accepts the path {path[:40]!r}")
    for path in ("/nonexistent/file", "/dev/null"):
        expect(desktop.error("OpenFile", path=path, shows=True) == "NotStarted", f"it opens {path}")
    note = {"summary": [phrase("s")], "body": [phrase("b")], "markup": False, "icon": "i", "actions": []}
    for change in ({"summary": [phrase("x" * 5000)]}, {"body": [phrase("a\0b")]}, {"icon": 1}, {"body": "b"},
                   {"body": [phrase("{a}", values=[{"name": "a", "texts": []}] * 20)]},
                   {"actions": [{"key": "k", "label": phrase("l")}] * 9}):
        expect(desktop.error("ShowNotification", notification={**note, **change}, replaces=0) == "InvalidParameter",
               f"it accepts a notification with {str(change)[:60]}")
    for number in (-1, 1 << 32, "1", None):
        expect(desktop.error("CloseNotification", id=number) == "InvalidParameter", f"it accepts the id {number!r}")
    offer = {"device": "0a" * 32, "activity": "0a" * 16, "label": phrase("l"), "icon": None}
    expect(desktop.error("ShowTray", offers=[offer] * 20, omitted=0, paused=None) == "", "it refuses a menu")
    for change in ({"offers": [offer] * 21}, {"offers": [{**offer, "label": phrase("x" * 5000)}]},
                   {"offers": [{**offer, "icon": "a\0b"}]}, {"offers": [{**offer, "device": "x"}]}, {"omitted": -1}, {"paused": 1}):
        expect(desktop.error("ShowTray", **{"offers": [], "omitted": 0, "paused": False, **change}) == "InvalidParameter",
               f"it accepts a menu with {str(change)[:60]}")
    expect(desktop.error("FollowTray") == "ExpectedMore", "it sends further replies without 'more'")
    expect(desktop.error("FollowApps") == "ExpectedMore", "it sends further replies without 'more'")
    expect(desktop.error("Missing") == "MethodNotFound", "it accepts an unknown method")
    expect(desktop.process.poll() is None, "it has exited")


@test("the numbers of started programs, notifications and connections are limited")
def bounded(stage):
    desktop = Socket(stage)
    note = {"summary": [phrase("s")], "body": [phrase("b")], "markup": False, "icon": "i", "actions": []}
    for kind, call in (("NotStarted", lambda: desktop.error("StartApp", app="org.example.Missing", type=TYPE)),
                       (None, lambda: desktop.error("ShowNotification", notification=note, replaces=0)),
                       (None, lambda: desktop.error("ShowTray", offers=[], omitted=0, paused=False))):
        begin, served = time.monotonic(), 0
        while (error := call()) != "LimitExceeded":
            expect(kind in (None, error), f"wrong: {error}")
            served += 1
        # 64 immediately, and one more each 160 ms.
        limit = 64 + (time.monotonic() - begin) / 0.16 + 1
        expect(64 <= served <= limit, f"{served} calls were served, at most {limit:.0f} expected")
    followers = [desktop.connect() for _ in range(64)]
    for follower in followers:
        expect("error" not in desktop.call("FollowApps", follower, more=True), "the connection is not served")
    expect(reply(desktop.connect()) is None, "a connection beyond the limit is served")
    followers[0].close()
    # Closing one makes room for another.
    limit = time.monotonic() + 20
    while True:
        connection = desktop.connect()
        try:
            if desktop.call("GetMachine", connection) is not None:
                break
        except BrokenPipeError:
            pass
        expect(time.monotonic() < limit, "there is no room again")


@test("sessions whose values are too long for a message are reported as unknown, and shorter ones unchanged")
def long_words(stage):
    logind = Logind(stage)
    logind.session("c1", Type="x" * 256)
    connection = (desktop := Socket(stage, **logind.environment)).connect()
    said = desktop.call("FollowSessions", connection, more=True)["parameters"]
    expect(said["report"] == "sessions" and said["sessions"][0]["type"] == "x" * 256, f"wrong: {said}")
    for number in range(2, 9):
        logind.session(f"c{number}", Type="x" * 200_000)
    while said["report"] == "sessions":
        expect(len(said["sessions"]) == 1, f"it reports {[len(session['type']) for session in said['sessions']]} bytes")
        said = reply(connection)["parameters"]
    expect(said["report"] == "silent", f"wrong: {said['report']}")
    for number in range(2, 9):
        logind.session(f"c{number}", Type="tty")
    while said["report"] != "sessions" or len(said["sessions"]) < 8:
        said = reply(connection)["parameters"]


@test("sleep waits until all notified clients have closed their connections")
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
        expect(reply(connection)["parameters"] == {"sleep": "imminent"}, "it is not notified")
    first.close()
    # A client that connects now is notified when the machine is awake, and delays nothing.
    third = desktop.connect()
    third.sendall(json.dumps({"method": INTERFACE + "FollowSleep", "more": True}).encode() + b"\0")
    expect(desktop.call("GetMachine") is not None, "it does not answer")
    expect(not select.select([lock], [], [], 0)[0], "sleep does not wait")
    second.close()
    expect(select.select([lock], [], [], 60)[0], "sleep waits without a client")
    os.close(lock)
    logind.sleeps(False)
    expect(reply(third)["parameters"] == {"sleep": "awake"}, "a late client is not notified")
    expect(logind.delay(1), "the next sleep is not delayed")


@test("a client that sends no calls, or too many, loses its connection, and no other client does")
def hostile(stage):
    desktop = Socket(stage)
    well = desktop.connect()
    expect("error" not in desktop.call("FollowApps", well, more=True), "the client is not served")
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
    # Unexpected descriptors are closed.
    connection = desktop.connect()
    read, write = os.pipe()
    message = json.dumps({"method": INTERFACE + "GetMachine"}).encode() + b"\0"
    socket.send_fds(connection, [message], [write] * 5)
    os.close(write)
    expect("error" not in reply(connection), "a call with descriptors is not answered")
    expect(os.read(read, 1) == b"", "a passed descriptor stays open")
    expect("error" not in desktop.call("GetMachine"), "the connection no longer works")
    well.setblocking(False)
    try:
        expect(well.recv(1) != b"", "another connection was closed")
    except BlockingIOError:
        pass


@test("the daemon starts the program from its own folder, and it exits with the daemon, however that exits")
def child(stage):
    for ends in ("stop", "kill"):
        daemon = stage.daemon(f"device-{ends}")
        ended = os.pidfd_open(desktop_of(daemon))
        getattr(daemon, ends)()
        limit = time.monotonic() + 20
        expect(select.select([ended], [], [], limit - time.monotonic())[0], f"it still runs after '{ends}'")
        os.close(ended)


@test("the daemon survives the death of the program, restarts it, and lists and starts apps as before")
def killed(stage):
    desk = Desk(stage)
    record = desk.app("org.example.Editor", TYPE, types=[TYPE])
    desk.start()
    first = desktop_of(desk.daemon)
    desk.publish()
    desk.opens(kind="app")
    os.kill(first, signal.SIGKILL)
    # Known declarations remain known in the meantime.
    expect(desk.ctl("list").line["opens"]["kind"] == "app", "installed apps are forgotten")
    limit = time.monotonic() + 20
    while desktop_of(desk.daemon) == first:
        expect(time.monotonic() < limit, "it is not restarted")
    desk.ctl("continue")
    events(record, "continue")
    # Later declarations are noticed.
    desk.manifest("other", ["/bin/true"], types=[TYPE])
    while "other" not in {line["id"] for line in desk.ctl("apps").lines}:
        expect(time.monotonic() < limit, "an app installed later is not noticed")
    desk.daemon.is_well()


@test("a start during which the program dies fails with an error")
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
    expect("handoff-desktop exited" in said, f"the error has no reason: {said}")
    desk.daemon.is_well()


@test("without the program the daemon serves and advertises, and reports the missing part")
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
            expect("handoff-desktop is not installed: apps cannot" in log.read(), "the missing part is not reported")
    finally:
        harness.BIN = former


if __name__ == "__main__":
    main()
