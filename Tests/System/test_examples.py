"""The example programs over two daemons of one account, as two people at two terminals would use
them.

HANDOFF_EXAMPLES: the folder with the built programs; default .build/examples/debug
(Examples/build).
"""

import base64
import collections
import glob
import json
import os
import queue
import random
import re
import socket
import struct
import subprocess
import termios
import threading
import time

from desk import Desk
from harness import SAVE_TIMEOUT, ROOT, Failure, expect, main, run, tail, test
from streaming import APPS, Connection
from terminal import Terminal

EXAMPLES = os.path.abspath(os.environ.get("HANDOFF_EXAMPLES", os.path.join(ROOT, ".build", "examples", "debug")))
PROGRAMS = ("MapViewer", "MapOff", "Shapes", "ForumReader")
TEAM = "EXAMPLES"


class App:
    """An example program connected to one of the daemons, with lines of input and output."""

    def __init__(self, daemon, program, data=None, wait=True):
        self.daemon, self.program = daemon, program
        self.log = os.path.join(daemon.folder, f"{program}-{len(daemon.stage.processes)}.log")
        # The data folder is in the home folder unless two apps share one, as if it were synchronised.
        environment = daemon.environment | ({"XDG_DATA_HOME": data} if data else {})
        with open(self.log, "ab") as errors:
            self.process = subprocess.Popen(
                [os.path.join(EXAMPLES, program), "--plain"], env=environment, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=errors)
        daemon.stage.processes.append(self.process)
        self.lines, self.seen = queue.Queue(), collections.deque(maxlen=60)
        threading.Thread(target=self._read, daemon=True).start()
        if wait:
            self.wait("connected")

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.decode().rstrip("\n"))
        self.lines.put(None)

    def type(self, *commands):
        for command in commands:
            self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()
        return self

    def wait(self, pattern, within=60):
        """Returns the next line that matches a regular expression as a whole, skipping those before it."""
        limit = time.monotonic() + within
        while True:
            try:
                line = self.lines.get(timeout=max(0.01, limit - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise Failure(f"{self.program} at {self.daemon.name} did not say '{pattern}'; it said: "
                              + "\n    ".join(["", *self.seen]) + tail(self.log))
            self.seen.append(line)
            if found := re.fullmatch(pattern, line):
                return found

    def quit(self):
        self.type("quit")
        expect(self.process.wait(60) == 0, f"{self.program} ended with {self.process.returncode}: {tail(self.log)}")


class OriginApp:
    """An app that is not one of the examples. It publishes, and writes fixed bytes into each stream
    that is requested."""

    def __init__(self, daemon, kind, info, content):
        self.calls, self.attached = Connection(daemon), Connection(daemon)
        self.attached.send(APPS + "Attach", more=True, app="com.example.other", team=TEAM, types=[])
        self.daemon, self.content, session = daemon, content, self.attached.next()["session"]
        activity = {"type": kind, "userInfo": info, "supportsContinuationStreams": True, "needsSave": False}
        published = self.calls.send(APPS + "Publish", session=session, activity=activity).next()
        self.calls.send(APPS + "BecomeCurrent", session=session, activity=published["activity"]).next()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        try:
            while (reply := self.attached.next(within=60)) is not None:
                if reply["event"] == "stream":
                    stream = Connection(self.daemon)
                    stream.send(APPS + "OpenStream", upgrade=True, stream=reply["stream"]).next(byte_by_byte=True)
                    stream.socket.sendall(self.content)
                    stream.close()
        except (Failure, OSError):
            return

    def close(self):
        # A closed descriptor's number may be reused, and the thread would then read from the wrong file.
        self.attached.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(60)
        self.attached.close()
        self.calls.close()


def offered(daemon, type, **fields):
    """Waits until an activity of this type is offered to a daemon, initially or after a change."""
    watch = daemon.follow("watch")
    limit = time.monotonic() + 60
    while (event := watch.next(max(0.01, limit - time.monotonic()))) is not None:
        wanted = event["event"] in ("added", "changed") and event["type"] == type
        if wanted and all(event.get(key) == value for key, value in fields.items()):
            return event
    raise Failure(f"watch ended before {type} {fields}: {watch.seen}")


def take(daemon, type, code=0):
    """Continues an activity on a daemon, where the running app accepts it."""
    return daemon.ctl("continue", "--type", type, code=code)


def take_from(daemon, type, name):
    """Continues an activity that a given device offers, once it offers it and is reachable."""
    limit = time.monotonic() + 60
    while (result := daemon.ctl("continue", "--type", type, "--from", name, code=None)).code != 0:
        reason = json.loads(result.errors).get("reason")
        passing = result.code == 4 or reason in ("peerUnreachable", "ownerGone", "unknownActivity")
        expect(passing and time.monotonic() < limit, f"{name} does not hand over {type}: {result}")


def hand_over(here, there, type, pattern):
    """Continues at one app the activity of another, until it prints the expected line. A change
    that an app makes at the very moment at which its activity is fetched has not reached its daemon
    yet, so the next attempt gets it."""
    for attempt in (1, 2, 3):
        take_from(there.daemon, type, here.daemon.name)
        try:
            return there.wait(pattern, within=15)
        except Failure:
            if attempt == 3:
                raise


MAP, STORE = "com.example.mapviewer.map-viewing", "com.example.mapviewer.store-editing"


@test("every program has help, rejects unknown options, and exits at the end of its input")
def help_texts(stage):
    environment = {"PATH": "/usr/bin:/bin", "HOME": stage.folder, "HANDOFF_SOCKET": os.path.join(stage.folder, "none")}
    for program in PROGRAMS:
        path = os.path.join(EXAMPLES, program)
        shown = run([path, "--help"], environment)
        expect(shown.code == 0 and shown.output.startswith(f"Usage: {program} "), f"no help: {shown}")
        expect("--plain" in shown.output and "quit" in shown.output, f"incomplete help: {shown}")
        wrong = run([path, "--nonsense"], environment)
        expect(wrong.code == 2 and "--nonsense" in wrong.errors, f"not refused: {wrong}")
        ended = run([path], environment, input=b"show\nnonsense\n")
        expect(ended.code == 0 and "help" in ended.output, f"did not exit at the end of its input: {ended}")
        closed = run(["sh", "-c", 'exec "$0" --plain <&-', path], environment)
        expect(closed.code == 0, f"did not exit without an input: {closed}")


@test("MapViewer: a map displayed on one device is displayed on the other")
def map_viewing(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    here, there = App(desk, "MapViewer"), App(laptop, "MapViewer")
    here.type("go 48 16", "zoom in", "zoom in", "pan e")
    region = here.wait(r"region (48\.00 38\.50 .*)")[1]
    offered(laptop, MAP, deviceName="desk", title="Looking at a map")
    hand_over(here, there, MAP, f"region {re.escape(region)}")
    expect([f"receiving {MAP}", f"continued {MAP}"] == [line for line in there.seen if line.endswith(MAP)][:2],
           f"wrong order: {list(there.seen)}")
    # The picture is the same, too: its header and the stores.
    there.wait("pins 1 2")
    there.type("show")
    there.wait(f".* MapViewer  {re.escape(region)} .*")
    there.wait(r".*\(2\).*")
    # In the other direction: a continued activity is current where it was continued.
    there.type("pan n")
    region = there.wait("region (.*)")[1]
    offered(desk, MAP, deviceName="laptop")
    hand_over(there, here, MAP, f"region {re.escape(region)}")


@test("MapViewer: a store opens once its pin is loaded, and closes where it was opened")
def store_editing(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    here, there = App(desk, "MapViewer"), App(laptop, "MapViewer")
    there.wait("pins .*")
    there.type("go -30 130", "zoom in", "zoom in", "zoom in")
    for _ in range(4):
        there.wait(r"region -30\.00 130\.00 .*")
    here.type("open 4")
    here.wait("popover open 4")
    offered(laptop, STORE, title="Looking at Compass & Rose")
    take(laptop, STORE)
    # The restoration handler is kept while the map of the laptop searches for the store.
    there.wait("waiting for the pin of 4")
    there.wait(f"continued {STORE}")
    there.wait("pins .*4.*")
    there.wait("popover open 4")
    here.wait("popover closed 4: continued on another device")
    there.type("show")
    there.wait(".*Compass & Rose.*")


@test("MapViewer: favourites are synchronised outside Handoff, in their own file")
def favourites(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    shared = os.path.join(stage.folder, "synchronised")
    here, there = App(desk, "MapViewer", data=shared), App(laptop, "MapViewer", data=shared)
    stranger = App(laptop, "MapViewer")
    here.type("open 2")
    here.wait("popover open 2")
    here.type("favourite")
    here.wait("favourite 2")
    offered(laptop, STORE)
    payload = laptop.ctl("continue", "--type", STORE, "--print").line
    expect(set(payload["userInfo"]) == {"store-url", "store-latitude", "store-longitude"}, f"it contains too much: {payload}")
    expect(payload["userInfo"]["store-url"] == {"$url": "https://shops.example.com/2"}, f"wrong store: {payload}")
    expect(sorted(payload["requiredUserInfoKeys"]) == sorted(payload["userInfo"]), f"not all required: {payload}")
    # Started without Handoff, the favourite exists on the device with the file and not on the other.
    for app, expected in ((there, "★ favourite"), (stranger, "☆ not a favourite")):
        app.type("open 2")
        app.wait("popover open 2")
        app.type("show")
        app.wait(f".*{expected} .*")
    with open(os.path.join(shared, "handoff-examples", "favourites")) as file:
        expect(file.read() == "2\n", "the file has other content")


@test("on a terminal keys are commands, the picture follows changes, and the screen is restored at exit")
def keys(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    there = Terminal(laptop, program=os.path.join(EXAMPLES, "MapViewer"))
    there.sees(r"\x1b\[\?1049h")
    before = termios.tcgetattr(there.screen)[3]
    expect(not before & (termios.ICANON | termios.ECHO), "the terminal still has its line mode")
    there.sees("  connected")
    there.type("++")
    there.sees(r"region 20\.00 0\.00 35\.00 90\.00")
    there.type("\x1b[C\x1b[A")
    there.sees(r"MapViewer  28\.75 22\.50 35\.00 90\.00 ")
    there.type("help\r")
    there.sees("opens a store(?s:.*)quit +.*ends the program")
    there.type("open 2x\x7f")
    there.sees("MapViewer> open 2\x1b")
    there.type("\r")
    there.sees("Kartenhaus")
    here = App(desk, "MapViewer")
    here.type("open 7")
    here.wait("popover open 7")
    take_from(laptop, STORE, "desk")
    there.sees("Harbour Atlas")
    there.type("\x03")
    there.sees(r"\x1b\[\?1049l")
    expect(there.process.wait(60) == 0, f"exited with {there.process.returncode}")


@test("MapViewer: a map that it cannot display is declined")
def unknown_store(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    there = App(laptop, "MapViewer")
    info = {"store-url": {"$url": "https://shops.example.com/77"}, "store-latitude": 1.5, "store-longitude": 2.5}
    desk.publish(STORE, "--team", TEAM, "--user-info", json.dumps(info))
    offered(laptop, STORE)
    failed = take(laptop, STORE, code=None)
    there.wait("refused: the activity does not name a known store")
    expect(failed.code != 0 and json.loads(failed.errors or failed.output)["code"] == 4608, f"it was accepted: {failed}")


VIEWPORT = "com.example.mapoff.viewport"


def packed(*numbers):
    return base64.b64encode(struct.pack("<4d", *numbers)).decode()


@test("MapOff: the viewport is sent as 32 bytes, after many steps as well as after one")
def viewport(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    here, there = App(desk, "MapOff"), App(laptop, "MapOff")
    here.type("go 10 20", "zoom in")
    region = here.wait(r"region (10\.00 20\.00 70\.00 180\.00)")[1]
    offered(laptop, VIEWPORT, deviceName="desk", title="Looking around")
    for _ in range(3):  # As in hand_over.
        payload = laptop.ctl("continue", "--type", VIEWPORT, "--print").line["userInfo"]
        if right := payload == {"region": {"$data": packed(10, 20, 70, 180)}}:
            break
    expect(right, f"not the bytes of the region: {payload}")
    hand_over(here, there, VIEWPORT, f"region {re.escape(region)}")
    # Two hundred steps cause a few updates, and the last state arrives.
    here.type(*["zoom in", "pan e", "zoom out", "pan s"] * 50, "go -12.5 130")
    region = here.wait(r"region (-12\.50 130\.00 .*)")[1]
    hand_over(here, there, VIEWPORT, f"region {re.escape(region)}")
    saves = [line for line in here.seen if line.startswith("saved ")]
    expect(not saves or int(saves[-1].split()[1]) < 8, f"saved at each step: {saves}")


@test("MapOff: bytes that are not a viewport are rejected")
def no_viewport(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    there = App(laptop, "MapOff")
    no_place, too_large = packed(float("nan"), 0, 10, 10), packed(0, 0, 1e300, 10)
    for value in ({"$data": "AAAA"}, {"$data": no_place}, {"$data": too_large}, "text"):
        publish = desk.publish(VIEWPORT, "--team", TEAM, "--user-info", json.dumps({"region": value}))
        offered(laptop, VIEWPORT, id=publish.id)
        failed = laptop.ctl("continue", publish.id, code=None)
        expect(failed.code == 1, f"it was accepted: {failed}")
        there.wait("refused: the activity has no viewport of 32 bytes")
        expect(publish.interrupt() == 0, "publish did not exit cleanly")
    there.type("show")
    there.wait(r".* MapOff  20\.00 0\.00 140\.00 360\.00 .*")


@test("MapOff: a device that goes offline during a continuation is named, and the map stays in place")
def origin_gone(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    here, there = App(desk, "MapOff"), App(laptop, "MapOff")
    here.type("go 10 20")
    offered(laptop, VIEWPORT, deviceName="desk")
    desk.kill()
    failed = take(laptop, VIEWPORT, code=1)
    expect(json.loads(failed.errors)["code"] == 4609, f"wrong error: {failed}")
    there.wait(f"receiving {VIEWPORT}")
    there.wait(f"failed {VIEWPORT}: .*desk.*")
    there.type("show")
    there.wait(r".* MapOff  20\.00 0\.00 140\.00 360\.00 .*")


@test("MapViewer: a map moves back and forth between two devices, and neither loses it")
def back_and_forth(stage):
    devices = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    apps = [App(device, "MapViewer") for device in devices]
    choose = random.Random(1)
    for round in range(12):
        here, there = apps[round % 2], apps[1 - round % 2]
        steps = ["pan n", "pan s", "pan e", "pan w", "zoom in", "zoom out"]
        moves = [choose.choice(steps) for _ in range(choose.randrange(6))]
        # Each round has its own position, so that its arrival is visible.
        here.type(*moves, f"go {round - 20} {7 * round - 100}")
        region = here.wait(rf"region ({round - 20}\.00 {7 * round - 100}\.00 .*)")[1]
        hand_over(here, there, MAP, f"region {re.escape(region)}")


@test("MapOff: an activity of another team is not offered to it")
def other_team(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    App(laptop, "MapOff")
    desk.publish(VIEWPORT, "--team", "OTHERS", "--user-info", "{}")
    offer = offered(laptop, VIEWPORT)
    expect(offer["opens"]["kind"] != "app", f"the app would open it: {offer}")


@test("MapOff: continues to work after a restart of the app, and of the daemon")
def ends_and_begins(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    watch = laptop.follow("watch")
    here, there = App(desk, "MapOff"), App(laptop, "MapOff")
    watch.wait("added", type=VIEWPORT)
    here.quit()
    watch.wait("removed")
    here = App(desk, "MapOff")
    watch.wait("added", type=VIEWPORT)
    for round in range(3):
        desk.kill() if round == 1 else desk.stop()
        here.wait("not connected: .*")
        # The user continues in the meantime.
        here.type(f"go {round + 1} 50")
        region = here.wait(rf"region ({round + 1}\.00 50\.00 .*)")[1]
        desk.start()
        here.wait("connected")
        offered(laptop, VIEWPORT, deviceName="desk")
        hand_over(here, there, VIEWPORT, f"region {re.escape(region)}")
    # The app restarts before the daemon.
    laptop.stop()
    there.wait("not connected: .*")
    early = App(laptop, "MapOff", wait=False)
    early.wait("not connected: .*no such file or directory.*|not connected: .*refused.*")
    laptop.start()
    early.wait("connected")


SHAPES = "com.example.shapes."


@test("Shapes: a shape started on one device is drawn on the other")
def create_shape(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    here, there = App(desk, "Shapes"), App(laptop, "Shapes")
    here.type("create triangle red")
    here.wait("doing: Drawing a red triangle")
    offer = offered(laptop, SHAPES + "create-shape", title="Drawing a red triangle")
    expect(offer["streams"] is False, f"nothing to stream yet: {offer}")
    info = laptop.ctl("continue", "--print").line["userInfo"]
    expect(info == {"activity-version": 2, "shape-type": "triangle", "colour": "red"}, f"wrong: {info}")
    take(laptop, SHAPES + "create-shape")
    here.wait("continued on another device: Drawing a red triangle")
    there.wait("doing: Drawing a red triangle")
    there.type("place 380 190 200", "show")
    there.wait("doing: Changing a triangle of Untitled")
    there.wait(".*RRRR.*")


@test("Shapes: a drawing of 6 MB is sent over a stream, with the shape that is being edited", limit=240)
def large_drawing(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    here, there = App(desk, "Shapes"), App(laptop, "Shapes")
    here.type("properties", "title Harbour plan", "author Ada", "scribble 220000", "edit 7")
    here.type("colour yellow", "move 5 -5")
    here.wait("doing: Changing a .* of Harbour plan")
    offer = offered(laptop, SHAPES + "edit-shape")
    expect(offer["streams"] is True, f"no streams: {offer}")
    take(laptop, SHAPES + "edit-shape")
    here.wait("sent the drawing of 220000 shapes", within=60)
    there.wait("received the drawing of 220000 shapes", within=60)
    there.wait("doing: Changing a .* of Harbour plan")
    files = [os.path.join(stage.folder, f"{app.daemon.name}.txt") for app in (here, there)]
    for app, path in zip((here, there), files):
        app.type(f"save {path}")
        app.wait("saved 220000 shapes", within=60)
    sent, received = (open(path, "rb").read() for path in files)
    expect(len(sent) > 5_000_000, f"only {len(sent)} bytes")
    expect(sent == received, "the drawings differ")
    # It returns with a change.
    there.type("move 100 100")
    there.wait("doing: Changing a .* of Harbour plan")
    take_from(desk, SHAPES + "edit-shape", "laptop")
    here.wait("received the drawing of 220000 shapes", within=60)
    here.type(f"save {files[0]}")
    here.wait("saved 220000 shapes", within=60)
    there.type(f"save {files[1]}")
    there.wait("saved 220000 shapes", within=60)
    back, kept = (open(path, "rb").read() for path in files)
    expect(back == kept and back != sent, "the drawing did not return with the change")


@test("Shapes: title and author are sent with the properties of the drawing")
def properties(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    here, there = App(desk, "Shapes"), App(laptop, "Shapes")
    here.type("create circle blue", "place 100 100 50", "properties", "title Pier \u2603", "author Ada Lovelace")
    here.wait("by Ada Lovelace")
    offered(laptop, SHAPES + "edit-document-properties")
    take_from(laptop, SHAPES + "edit-document-properties", "desk")
    there.wait("received the drawing of 1 shapes")
    there.wait("doing: Properties of Pier \u2603")
    path = os.path.join(stage.folder, "there.txt")
    there.type(f"save {path}")
    there.wait("saved 1 shapes")
    with open(path) as file:
        lines = file.read().splitlines()
    expect(lines == ["drawing 1", "title Pier \u2603", "author Ada Lovelace", "circle blue 100 100 50 50"], f"{lines}")


@test("Shapes: an earlier version is understood, and a later one is reported")
def versions(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    there = App(laptop, "Shapes")
    for info, said in (
            ({"activity-version": 1, "shape-type": "circle"}, "doing: Drawing a black circle"),
            ({"activity-version": 3, "shape-type": "spiral"},
             "refused: the activity has version 3, but this Shapes reads only up to version 2: "
             "update Shapes on this device"),
            ({"shape-type": "circle"}, "refused: the activity has no version"),
            ({"activity-version": 2, "shape-type": "spiral", "colour": "red"}, "refused: .* no valid 'shape-type'"),
            ({"activity-version": "2", "shape-type": "circle"}, "refused: .* version")):
        publish = desk.publish(SHAPES + "create-shape", "--team", TEAM, "--user-info", json.dumps(info))
        offered(laptop, SHAPES + "create-shape", id=publish.id)
        result = laptop.ctl("continue", publish.id, code=None)
        there.wait(said)
        expect((result.code == 0) == said.startswith("doing"), f"{info}: {result}")
        publish.interrupt()


@test("Shapes: an incomplete drawing is rejected")
def cut_drawing(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    there = App(laptop, "Shapes")
    there.type("create circle red", "place 10 10 10")
    there.wait("doing: Changing .*")
    kind = SHAPES + "edit-document-properties"
    for content, said in (
            (struct.pack(">Q", 1000) + b"drawing 1\n", "cannot receive the drawing: the stream ended after 10 of 1000 bytes"),
            (struct.pack(">Q", 1 << 60), "cannot receive the drawing: a drawing cannot have 1152921504606846976 bytes"),
            (struct.pack(">Q", 4) + b"nope", "cannot receive the drawing: the received data is not a drawing: .*"),
            (b"", "cannot receive the drawing: the stream ended after 0 of 0 bytes")):
        origin = OriginApp(desk, kind, {"activity-version": 2}, content)
        offered(laptop, kind, deviceName="desk")
        take_from(laptop, kind, "desk")
        there.wait(said)
        origin.close()
    there.type("show")
    there.wait(".*Untitled, 1 shapes.*")


POSTS, THREADS, MESSAGE = (
    "com.example.forum." + name for name in ("browsing-posts", "listing-threads", "reading-message"))
WEB = "https://forum.example.com"


@test("ForumReader: threads, lists and messages are continued at the same place, with their web pages")
def forum_routes(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    here, there = App(desk, "ForumReader"), App(laptop, "ForumReader")
    for commands, kind, page, title in (
            (["forum trails"], THREADS, "/forum?id=trails", "Trails and huts"),
            (["bookmarks"], THREADS, "/bookmarks", "Bookmarks"),
            (["thread 201 3"], POSTS, "/thread?id=201&page=3#post-201-9", "Three days in the Karwendel, page 3"),
            (["next"], POSTS, "/thread?id=201&page=4#post-201-13", "Three days in the Karwendel, page 4"),
            (["by omar"], POSTS, "/thread?id=201&user=omar&page=1#post-201-1", "Three days in the Karwendel, by omar"),
            (["message 9"], MESSAGE, "/message?id=9", "The hut in June")):
        here.type(*commands)
        here.wait(re.escape(f"shows {WEB}{page}"))
        offered(laptop, kind, deviceName="desk", title=title)
        payload = laptop.ctl("continue", "--type", kind, "--from", "desk", "--print").line
        expect(payload["webpageURL"] == WEB + page, f"wrong web page: {payload}")
        expect(payload["userInfo"]["version"] == 1, f"no version: {payload}")
        take_from(laptop, kind, "desk")
        there.wait(f"receiving {kind}")
        there.wait(f"continued {kind}")
        there.wait(re.escape(f"shows {WEB}{page}"))
        here.wait(re.escape(f"continued on another device: {title}"))
    there.type("show")
    there.wait(".*The hut in June.*")


@test("ForumReader: scrolling publishes nothing, and yet the post at the top arrives")
def forum_scrolling(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    here, there = App(desk, "ForumReader"), App(laptop, "ForumReader")
    here.type("thread 101 2")
    here.wait("shows .*post-101-5")
    offered(laptop, POSTS, deviceName="desk")
    here.type("scroll 1", "scroll 1")
    here.wait("at 101-7")
    hand_over(here, there, POSTS, f"shows {WEB}/thread\\?id=101&page=2#post-101-7")
    payload = laptop.ctl("continue", "--type", POSTS, "--from", "desk", "--print").line["userInfo"]
    expect(payload == {"threadID": "101", "page": 2, "postID": "101-7", "version": 1}, f"wrong: {payload}")
    there.type("show")
    there.wait(".*▶ .*#101-7.*")


@test("ForumReader: optional members have defaults, and a missing required one is reported")
def forum_members(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    there = App(laptop, "ForumReader")
    # Read up to the second page, which is local to this device.
    there.type("thread 201 1")
    there.wait("shows .*page=1.*")
    for kind, info, said in (
            (POSTS, {"threadID": "201"}, "shows .*id=201&page=2#post-201-5"),
            (POSTS, {"threadID": "201", "page": 99}, "shows .*page=5.*"),
            (POSTS, {"threadID": "201", "page": -4, "version": 1}, "shows .*page=5.*"),
            (POSTS, {"threadID": "101", "filteredUserID": "nobody"}, "cannot show .*"),
            (POSTS, {"page": 2}, "cannot show 'T' here; its web page is https://forum.example.com/w"),
            (POSTS, {"threadID": 201}, "cannot show .*"),
            (THREADS, {"bookmarks": None}, "shows .*/bookmarks"),
            (THREADS, {"version": 1}, "cannot show .*"),
            (MESSAGE, {"messageID": "12", "version": 2}, "cannot show .*; its web page is .*")):
        publish = desk.publish(
            kind, "--team", TEAM, "--title", "T", "--web-url", f"{WEB}/w", "--user-info", json.dumps(info))
        offered(laptop, kind, id=publish.id)
        laptop.ctl("continue", publish.id)
        there.wait(said)
        publish.interrupt()


@test("ForumReader: closing a screen withdraws its activity")
def forum_screens(stage):
    desk, laptop = stage.pair(("desk", "laptop"), configuration=SAVE_TIMEOUT)
    watch = laptop.follow("watch")
    here = App(desk, "ForumReader")
    first = watch.wait("added", type=THREADS)
    here.type("message 12")
    due = {("removed", THREADS), ("added", MESSAGE)}
    while due:
        event = watch.next()
        due.discard((event["event"], event["type"]))
    expect(first["id"] != event["id"] or event["event"] == "removed", f"the same activity: {event}")
    offers = laptop.ctl("list").lines
    expect([offer["type"] for offer in offers] == [MESSAGE], f"unexpected offers: {offers}")


# The type for which each program is started, the payload, and the line that it prints.
STARTS = (
    ("MapViewer", MAP, {"center-latitude": 48.0, "center-longitude": 16.0, "span-latitude": 10.0, "span-longitude": 20.0},
     "region 48.00 16.00 10.00 20.00"),
    ("MapOff", VIEWPORT, {"region": {"$data": packed(48, 16, 10, 20)}}, "region 48.00 16.00 10.00 20.00"),
    ("Shapes", SHAPES + "create-shape", {"activity-version": 2, "shape-type": "circle", "colour": "red"},
     "doing: Drawing a red circle"),
    ("ForumReader", MESSAGE, {"messageID": "12", "version": 1}, f"shows {WEB}/message?id=12"),
)


@test("choosing an offer starts the program that continues it, in a terminal")
def started(stage):
    desk = Desk(stage, real=["gio"])
    # A terminal that saves its output. Its input is open until the test writes 'quit'.
    shown, typed = os.path.join(stage.folder, "shown"), os.path.join(stage.folder, "typed")
    os.mkfifo(typed)
    path = desk.write(desk.programs, "xterm", f"""#!/bin/sh
while [ "$1" != -e ]; do shift; done
shift
exec "$@" --plain <>'{typed}' >>'{shown}' 2>&1
""")
    os.chmod(path, 0o755)
    installed = run([os.path.join(ROOT, "Examples", "install")],
                    {**os.environ, "XDG_DATA_HOME": desk.data, "HANDOFF_EXAMPLES": EXAMPLES})
    expect(installed.code == 0, f"not installed: {installed}")
    desk.start()
    for program, kind, info, said in STARTS:
        publish = desk.publish(kind, "--team", TEAM, "--user-info", json.dumps(info))
        desk.opens(kind="app", name=program)
        desk.ctl("continue", publish.id)
        lines = wait_for_line(shown, said)
        expect(f"receiving {kind}" in lines, f"not announced to {program}: {lines}")
        publish.interrupt()
        with open(typed, "w") as input:
            input.write("quit\n")
        desk.watch.wait("removed", id=publish.id)
        os.truncate(shown, 0)


def wait_for_line(path, wanted, within=60):
    """Waits until a file contains a line. Returns all of its lines."""
    limit = time.monotonic() + within
    lines = []
    while time.monotonic() < limit:
        if os.path.exists(path):
            with open(path) as file:
                lines = file.read().splitlines()
        if wanted in lines:
            return lines
        time.sleep(0.02)  # The program writes at its own pace.
    raise Failure(f"no '{wanted}' in {path}: {lines}")


@test("the handler file that the plugin generates from an Info.plist is valid")
def handler_file(stage):
    desk = Desk(stage)
    made = glob.glob(os.path.join(EXAMPLES, "*_MapViewer.resources", "Handoff-handler.json"))
    expect(len(made) == 1, f"invalid handler file: {made}")
    with open(made[0]) as file:
        desk.write(desk.config, "handlers.d/mapviewer.json", file.read())
    os.symlink(os.path.join(EXAMPLES, "MapViewer"), os.path.join(desk.programs, "MapViewer"))
    desk.start()
    desk.publish(MAP, "--team", TEAM)
    desk.opens(kind="app", name="MapViewer")
    known = {app["id"]: app for app in desk.ctl("apps").lines}
    expect(set(known["com.example.mapviewer"]["types"]) == {MAP, STORE}, f"wrong: {known}")


@test("an invalid Info.plist is reported with its position")
def wrong_info(stage):
    # The name that the package manager uses when it builds the program only for a plugin.
    tool = os.path.join(EXAMPLES, "handoff-info-tool")
    for text, said in (("<plist><array/></plist>", "not a dictionary"), ("<plist><dict/></plist>", "NSUserActivityTypes is missing"),
                       ("<plist><dict><key>NSUserActivityTypes</key><array><string>a b</string></array></dict></plist>",
                        "'a b' is not an activity type"), ("nonsense", "error: ")):
        info = stage.file("Info.plist", text)
        made = [os.path.join(stage.folder, name) for name in ("copy", "handler")]
        refused = run([tool, info, "App", *made], {"PATH": "/usr/bin:/bin"})
        expect(refused.code == 1 and f"{info}:1: error: " in refused.errors and said in refused.errors, f"{refused}")
        expect(not any(map(os.path.exists, made)), "output was written")


@test("a desktop entry names the types that its program continues")
def entries(stage):
    here = stage.daemon("here")
    here.ctl("account", "create")
    for program, *_ in STARTS:
        App(here, program)
    attached = {app["id"]: set(app["types"]) for app in here.ctl("apps").lines if app["running"]}
    for path in glob.glob(os.path.join(ROOT, "Examples", "applications", "*.desktop")):
        with open(path) as file:
            entry = dict(line.strip().split("=", 1) for line in file if "=" in line)
        name = os.path.basename(path).removesuffix(".desktop")
        declared = set(entry["X-Handoff-ActivityTypes"].rstrip(";").split(";"))
        expect(declared == attached.pop(name, None), f"{name}: {declared}")
    expect(not attached, f"apps without an entry: {attached}")


@test("the programs link neither OpenSSL nor Avahi, and are built by one command")
def linked(stage):
    for program in PROGRAMS:
        listed = run(["ldd", os.path.join(EXAMPLES, program)], dict(os.environ))
        expect(listed.code == 0 and "libc.so" in listed.output, f"no libraries listed: {listed}")
        for name in ("libssl", "libcrypto", "libavahi"):
            expect(name not in listed.output, f"{program} links {name}: {listed}")
    with open(os.path.join(ROOT, "Examples", "Package.swift")) as file:
        expect(len(re.findall(r"\.package\(", file.read())) == 1, "more than one dependency")


if __name__ == "__main__":
    main()
