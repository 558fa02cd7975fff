"""The cost of HandoffKit for an app and its daemon: the part 'kit' of Benchmarks/run."""

import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time

import harness
import kit

FOLDER = os.path.dirname(os.path.abspath(__file__))
TYPE = "com.example.kit.editing"
# As scripts/build links KitProgram.
LINKING = ["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "now", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker",
           "--no-export-dynamic", "-Xlinker", "--gc-sections", "-Xlinker", "-L.build/static", "-Xclang-linker", "-static-libgcc"]


class Relay:
    """A proxy between an app and its daemon, which counts the messages."""

    def __init__(self, stage, daemon):
        self.target, self.path, self.messages = daemon.socket, os.path.join(stage.folder, "relay.socket"), 0
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(self.path)
        self.listening.listen()
        stage.closers.append(self.listening.close)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                app = self.listening.accept()[0]
            except OSError:
                return
            daemon = socket.socket(socket.AF_UNIX)
            daemon.connect(self.target)
            for source, target in ((app, daemon), (daemon, app)):
                threading.Thread(target=self.pass_on, args=(source, target), daemon=True).start()

    def pass_on(self, source, target):
        try:
            while data := source.recv(65536):
                self.messages += data.count(b"\0")
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class RawApp:
    """An app without a library: two connections, following docs/control-protocol.md."""

    def __init__(self, stage, daemon):
        self.events, self.calls = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        for connection in (self.events, self.calls):
            connection.connect(daemon.socket)
            stage.closers.append(connection.close)
        self.send(self.events, "Attach", more=True, parameters={"app": "raw", "types": []})
        self.session = self.answer(self.events)["session"]

    def send(self, connection, method, **rest):
        connection.sendall(json.dumps({"method": f"dev.handoff1.{method}", **rest}).encode() + b"\0")

    def answer(self, connection):
        data = b""
        while not data.endswith(b"\0"):
            data += connection.recv(65536)
        reply = json.loads(data[:-1])
        harness.expect("error" not in reply, f"the daemon refused: {reply}")
        return reply["parameters"]

    def call(self, method, **parameters):
        self.send(self.calls, method, parameters={"session": self.session, **parameters})
        return self.answer(self.calls)

    def publish(self, title):
        """Publishes an activity that becomes current immediately. Returns its id."""
        activity = {"type": TYPE, "title": title, "userInfo": {"count": 0}, "needsSave": False}
        identifier = self.call("Publish", activity=activity)["activity"]
        self.call("BecomeCurrent", activity=identifier)
        return identifier


def processor(pid):
    """Returns the processor time of all threads of a process, in nanoseconds."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
                total += int(file.read().split()[0])
        except OSError:
            pass  # It has exited in the meantime.
    return total


def pss(pid):
    """Returns the memory of a process in MiB, with shared pages divided by their number of users."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return int(re.search(r"^Pss:\s+(\d+)", file.read(), re.M).group(1)) / 1024


def work(app, daemon, relay, seconds):
    """Measures a thousand changes a second: processor time of the app and of the daemon in per
    cent, and messages a second."""
    app.do("work", perSecond=1000)
    app.state()
    before = processor(app.process.pid), processor(daemon.process.pid), relay.messages, app.state()["count"]
    began = time.monotonic()
    time.sleep(seconds)
    # The query of the state is not a message to the daemon.
    count = app.state()["count"] - before[3]
    took = time.monotonic() - began
    after = processor(app.process.pid), processor(daemon.process.pid), relay.messages
    app.do("rest")
    used = [(after[index] - before[index]) / took / 1e7 for index in (0, 1)]
    return used[0], used[1], (after[2] - before[2]) / took, count / took


def shown(watcher, title, began):
    """Returns the milliseconds until the watcher on the other device is notified of an activity with this title."""
    while True:
        line = watcher.next()
        if line["event"] == "added" and line["title"] == title:
            return (watcher.moment - began) * 1000


def floor_program(programs):
    """Compiles the program with only Foundation, with the same settings as the other one. Returns
    None without a compiler."""
    source, target = os.path.join(FOLDER, "foundation.swift"), os.path.join(programs, "foundation")
    if not shutil.which("swiftc"):
        return None
    if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
        # The linker warns of a function in Foundation that the program does not call.
        subprocess.run(["swiftc", "-O", "-static-stdlib", *LINKING, "-o", target, source], check=True, cwd=harness.ROOT,
                       stderr=subprocess.DEVNULL)
    return target


def measure(stage, programs, quick, spread):
    origin, taker = stage.pair()
    figures = {}

    # Changes, alternating with the same program that changes a number a thousand times a second and has no activity.
    relay = Relay(stage, origin)
    origin.environment["HANDOFF_SOCKET"] = relay.path
    idle, busy = kit.App(origin), kit.App(origin)
    origin.environment["HANDOFF_SOCKET"] = origin.socket
    idle.do("start")
    for app in (idle, busy):
        if app is busy:
            app.publish(TYPE, title="Busy")
        app.wait("connected")
    harness.expect(taker.follow("watch").wait("added", title="Busy"), "the activity is not offered")
    found = {"floor": [], "kit": []}
    # Longer than the 15 s between two requests to save.
    for _ in range(1 if quick else 3):
        for name, app in (("floor", idle), ("kit", busy)):
            found[name].append(work(app, origin, relay, 16 if quick else 32))
    for name, words in (("floor", "1,000 changes a second, no activity"), ("kit", "needsSave 1,000 times a second")):
        for index, what in enumerate(("CPU of the app", "CPU of the daemon", "messages a second", "changes a second")):
            figures[f"{words}: {what}"] = spread([values[index] for values in found[name]])

    # One at a time from here on. Memory shared by several processes of one program would count for less.
    idle.end()
    busy.end()

    # Visibility on the other device, alternating with an app that does not use the library.
    raw, app = RawApp(stage, origin), kit.App(origin)
    app.do("start")
    app.wait("connected")
    watcher = taker.follow("watch")
    values = {"raw": [], "kit": []}
    for number in range(15 if quick else 60):
        title = f"raw {number}"
        began = time.monotonic()
        identifier = raw.publish(title)
        values["raw"].append(shown(watcher, title, began))
        raw.call("Invalidate", activity=identifier)
        watcher.wait("removed", id=identifier)
        time.sleep(0.1 + number % 7 * 0.01)
        title = f"kit {number}"
        app.do("publish", type=TYPE, title=title)
        # Measured when the app itself makes the call, as in the other app, without the command to
        # it over a pipe and two threads.
        values["kit"].append(shown(watcher, title, app.wait("published")["moment"]))
        app.do("invalidate")
        watcher.wait("removed")
        time.sleep(0.1 + number % 7 * 0.01)
    figures["published to visible, plain socket"] = spread(values["raw"])
    figures["becomeCurrent to visible, HandoffKit"] = spread(values["kit"])

    # Memory, of an app that has published and is attached.
    app.do("publish", type=TYPE, title="Memory")
    watcher.wait("added", title="Memory")
    app.state()
    if target := floor_program(programs):
        with subprocess.Popen([target], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as floor:
            for _ in range(3):
                floor.stdin.write(b'{"a": [1, "b"]}\n')
                floor.stdin.flush()
                floor.stdout.readline()
            figures["memory (PSS), Foundation alone"] = spread([pss(floor.pid)])
            floor.stdin.close()
    figures["memory (PSS), with HandoffKit"] = spread([pss(app.process.pid)])
    return figures, ""


GOALS = [
    *[(f"{words}: {what}", unit, None, goal)
      for words, goal in (("1,000 changes a second, no activity", "the same program without Handoff"),
                          ("needsSave 1,000 times a second", "no goal: see the ratio"))
      for what, unit in (("CPU of the app", "%"), ("CPU of the daemon", "%"), ("messages a second", ""),
                         ("changes a second", ""))],
    ("published to visible, plain socket", "ms", None, "an app in Python without the library"),
    ("becomeCurrent to visible, HandoffKit", "ms", None, "1.2 x the plain socket: see the ratio"),
    ("memory (PSS), Foundation alone", "MiB", None, "a program in Swift that does as much"),
    ("memory (PSS), with HandoffKit", "MiB", None, "1.2 x Foundation alone: see the ratio"),
]
RATIOS = {
    "needsSave 1,000 times a second: CPU of the app": "1,000 changes a second, no activity: CPU of the app",
    "becomeCurrent to visible, HandoffKit": "published to visible, plain socket",
    "memory (PSS), with HandoffKit": "memory (PSS), Foundation alone",
}
