#!/usr/bin/env python3
"""Offers in the searches of GNOME Shell and KRunner, called as these programs call it, and the module of status bars.
Two daemons on loopback, or a simulated one; a real bus that starts the program."""

import json
import os
import queue
import re
import signal
import socket
import subprocess
import threading
import time

from desk import TYPE, Desk, events, newer_state
from harness import ROOT, Skip, expect, main, test
from notifications import DISMISSED, BusClient, NotificationServer, Reader, SessionBus, Writer

PROGRAM = os.path.join(ROOT, "Integrations", "search", "handoff-search")
# Debian's Python, for which its package of PyGObject is built.
PYTHON = "/usr/bin/python3"
GNOME, KRUNNER = "org.gnome.Shell.SearchProvider2", "org.kde.krunner1"
SYSTEMD = "org.freedesktop.systemd1"
UNIT = ("org.freedesktop.systemd1.Unit", "SubState")
HOSTILE = "<b>Quarter</b> & \u202egnp.exe\u2066\x1b[2J\n\u200b" + "x" * 400

# Calls the program for each line of input. A reply is a line: the arguments, or the error.
CALLER = """
import json, sys
from gi.repository import Gio, GLib
bus = Gio.bus_get_sync(Gio.BusType.SESSION, None)
for line in sys.stdin:
    path, interface, method, signature, arguments = json.loads(line)
    try:
        reply = bus.call_sync("dev.handoff1.Search", path, interface, method, GLib.Variant(signature, tuple(arguments)),
                              None, Gio.DBusCallFlags.NONE, 40000, None).unpack()
    except GLib.Error as error:
        reply = error.message
    print(json.dumps(reply), flush=True)
"""


class Search:
    """The program on a bus of its own, as the two desktops use it."""

    def __init__(self, stage, environment, idle=60, bus=None):
        if subprocess.run([PYTHON, "-c", "from gi.repository import Gio"], capture_output=True).returncode:
            raise Skip("PyGObject is not installed (scripts/setup --tests)")
        self.bus = bus or SessionBus(stage)
        settings = " ".join(f"{name}={environment[name]}" for name in ("HOME", "XDG_RUNTIME_DIR", "HANDOFF_SOCKET", "LANG")
                            if name in environment)
        with open(os.path.join(self.bus.services, "dev.handoff1.Search.service"), "w") as file:
            file.write("[D-BUS Service]\nName=dev.handoff1.Search\n"
                       f"Exec=/usr/bin/env -u HANDOFF_SOCKET {settings} {PYTHON} -B {PROGRAM} {idle}\n")
        self.client = BusClient(self.bus)
        self.caller = subprocess.Popen(
            [PYTHON, "-c", CALLER], env={"PATH": "/usr/bin:/bin", **self.bus.environment}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        stage.processes.append(self.caller)

    def call(self, path, interface, method, signature, *arguments):
        self.caller.stdin.write(json.dumps([path, interface, method, signature, arguments]) + "\n")
        self.caller.stdin.flush()
        return json.loads(self.caller.stdout.readline())

    def gnome(self, method, signature, *arguments):
        return self.call("/dev/handoff1/Search", GNOME, method, signature, *arguments)

    def krunner(self, method, signature, *arguments):
        return self.call("/runner", KRUNNER, method, signature, *arguments)

    def find(self, text):
        """Types a text in GNOME Shell. Returns the metadata of the first results."""
        (ids,) = self.gnome("GetInitialResultSet", "(as)", text.split())
        return self.metas(ids)

    def metas(self, ids):
        (metas,) = self.gnome("GetResultMetas", "(as)", ids[:5])
        expect([meta["id"] for meta in metas] == ids[:5], f"GNOME Shell would drop {metas} for {ids[:5]}")
        expect(all(meta["name"] for meta in metas), f"GNOME Shell would drop all of {metas}")
        return metas

    def match(self, text):
        """Types a text in KRunner."""
        self.krunner("Actions", "()")
        return self.krunner("Match", "(s)", text)[0]

    def process(self):
        """Returns the process, or None if it does not run."""
        body = Writer().text("dev.handoff1.Search").data
        if not Reader(self.client.call("NameHasOwner", "s", body)).number():
            return None
        return Reader(self.client.call("GetConnectionUnixProcessID", "s", body)).number()


class SearchDesk(Desk):
    """A device with a simulated editor, another device that offers activities, and a search."""

    def __init__(self, stage, idle=60):
        super().__init__(stage)
        self.played = self.app("editor", TYPE, name="Écrivain", types=[TYPE])
        self.start()
        self.bus = SessionBus(stage)
        self.server = NotificationServer(self.bus)
        self.search = Search(stage, self.daemon.environment, idle, self.bus)


class SimulatedDaemon:
    """Answers calls by a function: method and parameters to replies, or to None for no reply."""

    def __init__(self, stage, answer):
        self.folder = os.path.join(stage.folder, "simulated")
        os.makedirs(os.path.join(self.folder, "handoff"))
        self.path = os.path.join(self.folder, "handoff", "control.socket")
        self.calls, self.answer, self.open = [], answer, []
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(64)
        stage.closers.append(self.listener.close)
        self.environment = {"HOME": stage.folder, "XDG_RUNTIME_DIR": self.folder, "LANG": "C.UTF-8"}
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        self.open.append(connection)
        data = b""
        while not data.endswith(b"\0"):
            piece = connection.recv(65536)
            if not piece:
                return
            data += piece
        call = json.loads(data[:-1])
        method, parameters = call["method"].rpartition(".")[2], call["parameters"]
        self.calls.append((method, parameters))
        replies = self.answer(method, parameters)
        for index, reply in enumerate(replies or []):
            more = index < len(replies) - 1
            connection.sendall(json.dumps({**reply, **({"continues": True} if more else {})}).encode() + b"\0")


def offer(number=1, title="Quarterly report", device="5" * 64, name="laptop", **more):
    return {"id": f"{number:032x}", "type": TYPE, "title": title, "team": None, "device": device, "deviceName": name,
            "deviceKind": "laptop", "streams": False, "webpageURL": None, "hasWebpageURL": False, "age": 1.5, "sent": False,
            "opens": {"kind": "app", "name": "Editor", "app": "editor"}, **more}


def simulated(stage, *offers, idle=60, continuing=lambda parameters: None):
    """A search whose daemon has these offers, and answers `Continue` by a function."""
    def answer(method, parameters):
        if method == "ListActivities":
            return [{"parameters": {"activities": list(offers)}}]
        return continuing(parameters)

    daemon = SimulatedDaemon(stage, answer)
    return daemon, Search(stage, {**daemon.environment, "HANDOFF_SOCKET": daemon.path}, idle)


def until(condition, what, within=30):
    limit = time.monotonic() + within
    while not (value := condition()):
        expect(time.monotonic() < limit, f"timed out waiting for {what}")
        time.sleep(0.02)  # Another process changes it at its own pace.
    return value


# ---- Two daemons -------------------------------------------------------------------------------------------------------

@test("a part of a title, an app or a device finds an offer in GNOME Shell, and Enter continues it")
def gnome(stage):
    desk = SearchDesk(stage)
    publish = desk.publish(TYPE, "--title", "Résumé of the quarter", "--user-info", '{"page": 3}')
    expect(desk.search.process() is None, "it runs before any search")
    for text in ("quar", "QUAR", "resume", "RÉSUMÉ quarter", "ecriv", "orig", "quarter origin écrivain"):
        metas = desk.search.find(text)
        expect([meta["name"] for meta in metas] == ["Résumé of the quarter"], f"{text} finds {metas}")
    (meta,) = metas
    expect(meta["description"] == "from origin · opens in Écrivain", f"wrong: {meta}")
    expect(meta["icon"][0] == "themed", f"no icon: {meta}")
    # GNOME Shell would replace the content of the clipboard.
    expect("clipboardText" not in meta, f"wrong: {meta}")
    for text in ("quart laptop", "q", "", "é", "com.example"):
        expect(desk.search.find(text) == [], f"'{text}' finds something")
    (ids,) = desk.search.gnome("GetSubsearchResultSet", "(asas)", [meta["id"]], ["quart"])
    expect(ids == [meta["id"]], f"wrong: {ids}")
    expect(desk.search.gnome("ActivateResult", "(sasu)", meta["id"], ["quart"], 0) == [], "refused")
    expect(events(desk.played, "continue")["content"]["userInfo"] == {"page": 3}, "wrong activity")
    publish.wait("continued", deviceName="taker")
    expect(not desk.server.notified(), f"a notification: {desk.server.seen}")


@test("KRunner finds an offer, and Return continues it")
def krunner(stage):
    desk = SearchDesk(stage)
    desk.publish(TYPE, "--title", "Report")
    publish = desk.publish(TYPE, "--title", "Report 2026")
    expect(desk.search.krunner("Actions", "()") == [[]], "wrong actions")
    matches = desk.search.match("rep")
    expect([match[1] for match in matches] == ["Report 2026", "Report"], f"not the most recent first: {matches}")
    expect(matches[0][4] > matches[1][4], f"KRunner would change the order of {matches}")
    expect(all(match[5] == {"subtext": "from origin · opens in Écrivain", "actions": []} for match in matches), f"{matches}")
    first, second = desk.search.match("REPORT")
    expect((first[1], first[3], first[4], second[3]) == ("Report", 100, 1.0, 70), f"an exact match is not first: {first} {second}")
    expect(desk.search.match("r") == [] == desk.search.match(" "), "one letter finds something")
    desk.search.krunner("Run", "(ss)", second[0], "")
    desk.search.krunner("Teardown", "()")
    expect(events(desk.played, "continue")["content"]["title"] == "Report 2026", "wrong activity")
    publish.wait("continued", deviceName="taker")


@test("an activity that was closed is a result with its state, and can be continued")
def kept(stage):
    desk = SearchDesk(stage)
    publish = desk.publish(TYPE, "--title", "Report", "--keep", "--stream", stage.file("film", "film"))
    publish.interrupt()
    until(lambda: [one["kept"] for one in desk.ctl("list").lines] not in ([], [None]), "the copy")
    (meta,) = desk.search.find("report")
    words = meta["description"].split(" · ")
    expect(words[:2] == ["from origin", "opens in Écrivain"] and words[2].startswith("closed there at ")
           and words[3:] == ["files and streams no longer available"], f"wrong: {meta}")
    (match,) = desk.search.match("report")
    desk.search.krunner("Run", "(ss)", match[0], "")
    expect(events(desk.played, "continue")["content"]["kept"]["state"] == "ended", "not a copy")


@test("exclusive editing is shown, and a result with an older state leads to a choice with the newer one", limit=90)
def newer(stage):
    desk = SearchDesk(stage, idle=4)
    newer_state(stage, desk.origin, desk.daemon)
    (meta,) = desk.search.find("letter")
    expect(re.fullmatch(r"from third · opens in Écrivain · in use there since \d\d:\d\d", meta["description"]), f"wrong: {meta}")
    for key, page in (("older", 1), ("newer", 2)):
        (meta,) = desk.search.find("draft")
        desk.search.gnome("ActivateResult", "(sasu)", meta["id"], ["draft"], 0)
        desk.server.wait(lambda server: any("Could not" in each["summary"] for each in server.standing.values()), "the choice")
        choice = desk.server.notified()[-1]
        expect(choice["summary"] == "Could not continue Draft" and choice["actions"] == [
            "default", "Continue Newer", "newer", "Continue Newer", "older", "Open Older"]
            and choice["body"].startswith("A newer state has been on third since "), f"wrong: {choice}")
        desk.server.choose(choice["id"], key)
        events(desk.played, "started")
        until(lambda: f'"userInfo": {{"page": {page}}}' in open(desk.played).read(), f"the state of page {page}")
    # The actions of a notification that outlives the program would have no effect.
    desk.search.gnome("ActivateResult", "(sasu)", meta["id"], ["draft"], 0)
    desk.server.wait(lambda server: len(server.notified()) == 3, "the choice")
    desk.server.wait(lambda server: server.seen[-1] == server.notified()[-1]["id"], "its end")


@test("an offer that ends before its result is activated is reported in a notification")
def ended(stage):
    desk = SearchDesk(stage)
    publish = desk.publish(TYPE, "--title", "<Draft>")
    (meta,) = desk.search.find("draft")
    publish.interrupt()
    desk.watch.wait("removed", id=publish.id)
    expect(desk.search.metas([meta["id"]]) == [meta], "the result changed while it was shown")
    desk.search.gnome("ActivateResult", "(sasu)", meta["id"], ["draft"], 0)
    shown = desk.server.one(app="Handoff")
    expect(shown["summary"] == "Could not continue <Draft>" and shown["body"], f"wrong: {shown}")
    expect(desk.search.find("draft") == [], "it is still found")


@test("an offer that nothing opens here is no result, and none is one while Handoff is paused or the daemon stopped")
def not_openable(stage):
    desk = SearchDesk(stage)
    desk.origin.publish("com.example.other", "--title", "Report")
    desk.publish(TYPE, "--title", "Report for Écrivain")
    expect([meta["name"] for meta in desk.search.find("report")] == ["Report for Écrivain"], "not only the one that opens")
    desk.ctl("pause")
    expect(desk.search.find("report") == [], "found while paused")
    desk.ctl("resume")
    until(lambda: desk.search.find("report"), "the offer after the pause")
    desk.daemon.stop()
    expect(desk.search.find("report") == [] == desk.search.match("report"), "found without a daemon")
    desk.daemon.start()
    until(lambda: desk.search.find("report"), "the offer after the restart")


# ---- A simulated daemon ------------------------------------------------------------------------------------------------

@test("titles and names of devices are plain text of limited length")
def hostile(stage):
    _, search = simulated(
        stage, offer(1, HOSTILE, name=HOSTILE), offer(2, "\u200b\u3164 \n"), offer(3, "", name="quarter"), offer(4, None, name="quarter"),
        offer(5, "Quar\u00adter"), offer(6, " \u3000", name="quarter"), offer(7, "half \ud83d", sent=True))
    metas = search.find("quarter")
    expect(len(metas) == 5, f"not all are found: {metas}")
    texts = [meta[key] for meta in metas for key in ("name", "description")]
    texts += [text for match in search.match("quarter") for text in (match[1], match[5]["subtext"])]
    texts += [meta["name"] for meta in search.find("laptop editor")] + [meta["name"] for meta in search.find("half")]
    for text in texts:
        expect(text.isprintable() and len(text) < 800, f"shown: {text!r}")
    expect(search.find("half")[0]["description"] == "sent by laptop · opens in Editor", "not shown as sent")
    name = next(meta["name"] for meta in metas if "exe" in meta["name"])
    # Neither program parses markup in it.
    expect(name.startswith("<b>Quarter</b> & \\u{202E}gnp.exe\\u{2066}\\u{1B}[2J\\u{A}\\u{200B}xxx"), f"shown: {name!r}")


@test("equal ids of two devices are two results, and the device of the result is continued")
def equal_ids(stage):
    daemon, search = simulated(stage, offer(7, device="5" * 64), offer(7, device="6" * 64, name="desktop"))
    metas = search.find("quarter")
    expect(len({meta["id"] for meta in metas}) == 2, f"not two results: {metas}")
    search.gnome("ActivateResult", "(sasu)", metas[1]["id"], [], 0)
    until(lambda: ("Continue", {"activity": f"{7:032x}", "from": "6" * 64}) in daemon.calls, "the call")


@test("a result that is activated twice is continued once, and other searches are answered in the meantime")
def twice(stage):
    daemon, search = simulated(stage, offer(), idle=1)
    (meta,) = search.find("quarter")
    for _ in range(2):
        search.gnome("ActivateResult", "(sasu)", meta["id"], [], 0)
    expect(search.find("quarter") == [meta], "no reply during the continuation")
    until(lambda: [method for method, _ in daemon.calls].count("Continue") == 1, "the call")
    process = search.process()
    expect(process, "it exited during the continuation")
    # When the daemon ends, the result can be activated again, and the program exits.
    for connection in daemon.open:
        connection.close()
    until(lambda: search.process() is None, "the exit")


@test("an error of the daemon is a notification without markup")
def failed(stage):
    message = "<b>laptop</b> is unreachable\u202e"
    error = {"error": "dev.handoff1.Control.ContinuationFailed", "parameters": {"code": 4609, "reason": "x", "message": message}}
    daemon, search = simulated(stage, offer(), continuing=lambda _: [{"parameters": {"event": "willContinue", "type": TYPE}}, error])
    server = NotificationServer(search.bus)
    match = search.match("quarter")[0]
    search.krunner("Run", "(ss)", match[0], "")
    shown = server.one(app="Handoff")
    body = shown["body"]
    expect(body.startswith("&lt;b&gt;laptop&lt;/b&gt; is unreachable") and body.isprintable(), f"wrong: {shown}")
    server.end(shown["id"], DISMISSED)
    server.capabilities = ("body",)
    search.krunner("Run", "(ss)", match[0], "")
    shown = server.one(app="Handoff")
    expect(shown["body"].startswith("<b>laptop</b> is unreachable"), f"wrong: {shown}")


@test("results of an earlier process keep their names, and unknown ids are refused by the daemon only")
def later_process(stage):
    daemon, search = simulated(stage, offer(), idle=1)
    (meta,) = search.find("quarter")
    until(lambda: search.process() is None, "the exit after a time without a call")
    unknown = "../x\n"
    metas = search.metas([meta["id"], unknown])
    expect(metas[0] == meta and metas[1] == {"id": unknown, "name": "No longer offered"}, f"wrong: {metas}")
    expect(search.gnome("ActivateResult", "(sasu)", unknown, [], 0) == [], "refused")


@test("the daemon is not started by a search")
def not_started(stage):
    bus = SessionBus(stage)
    daemon = SimulatedDaemon(stage, lambda *_: [{"parameters": {"activities": [offer()]}}])
    state = ["listening"]

    class Manager(BusClient):
        """The service manager, which listens for the daemon."""

        def called(self, call):
            reader = Reader(call["body"])
            queries.put((call["path"], reader.text(), reader.text()))
            self.reply(call, "v", Writer().signature("s").text(state[0]).data)

    queries = queue.Queue()
    manager = Manager(bus)
    manager.call("RequestName", "su", Writer().text(SYSTEMD).number(4).data)
    search = Search(stage, daemon.environment, bus=bus)
    expect(search.find("quarter") == [] == search.match("quarter"), "found without a daemon")
    expect(queries.get(timeout=60) == ("/org/freedesktop/systemd1/unit/handoffd_2esocket", *UNIT), "wrong query")
    server = NotificationServer(bus)
    search.krunner("Run", "(ss)", f"{'5' * 64}.{1:032x}", "")
    server.one(summary="Could not continue the offer", body="handoffd does not run")
    expect(not daemon.calls and not daemon.open, f"the daemon was called: {daemon.calls}")
    state[0] = "running"
    expect(len(search.find("quarter")) == 1, "nothing found while the daemon runs")


@test("a daemon that does not reply blocks no search for long, and a refusal is no result")
def silent(stage):
    answers = [None, [{"error": "dev.handoff1.Control.NoAccount"}], [{"parameters": {"activities": [offer()]}}]]
    daemon = SimulatedDaemon(stage, lambda *_: answers.pop(0))
    search = Search(stage, {**daemon.environment, "HANDOFF_SOCKET": daemon.path})
    for _ in range(2):
        reply = search.gnome("GetInitialResultSet", "(as)", ["quarter"])
        expect(reply == [[]], f"wrong: {reply}")
    expect(len(search.find("quarter")) == 1, "it did not recover")


@test("no call is lost while the program exits, and any text can be searched")
def exits(stage):
    _, search = simulated(stage, offer(), idle=0)
    for _ in range(10):
        expect(search.gnome("GetInitialResultSet", "(as)", ["quarter"])[0], "no result")
    until(lambda: search.process() is None, "the exit")
    for text in ("(" * 100_000, "\\", "%s{0}", "\u0301", "quarter " * 1000 + "x", "\U0010ffff"):
        expect(search.match(text) == [], f"'{text[:20]}' finds something")
    expect(search.match("quarter\u00a0REPORT".replace("quarter", "quarterly")), "nothing found")


@test("five hundred offers are searched, and KRunner receives the best ones")
def many(stage):
    offers = [offer(number, f"Qüarterly report {number} of the département") for number in range(500)]
    daemon, search = simulated(stage, *offers)
    search.find("quarter")
    begin = time.monotonic()
    (ids,) = search.gnome("GetInitialResultSet", "(as)", ["quarterly", "departement"])
    print(f"500 offers: {1000 * (time.monotonic() - begin):.0f} ms")
    expect(len(ids) == 500, f"{len(ids)} results")
    matches = search.match("quarterly report 77 of the departement")
    expect([match[3] for match in matches] == [100, 70, 70, 70, 70], f"wrong: {matches}")
    expect(len(search.match("quarterly")) == 20, "too many or too few matches")


@test("a result has the icon of the app that opens it, by its name or path, or that of a browser")
def icons(stage):
    icons = {"name": "text-editor", "path": "/usr/share/pixmaps/an editor.png"}
    opens = [{"kind": "app", "name": "Editor", "icon": icon} for icon in icons.values()]
    missing = [{"kind": "app", "name": "org.example\u202e.Editor", "appStream": None}]
    _, search = simulated(
        stage, *(offer(number, opens=each) for number, each in enumerate([*opens, {"kind": "web"}])),
        offer(9, "Draft", opens={"kind": "web"}, missing=missing))
    shown = [meta["icon"] for meta in search.find("quarterly")]
    expect(shown[0][0] == "themed" and "text-editor" in shown[0][1], f"wrong: {shown[0]}")
    expect(shown[1] == ["file", "file:///usr/share/pixmaps/an%20editor.png"], f"wrong: {shown[1]}")
    expect([match[2] for match in search.match("quarterly")] == [*icons.values(), "web-browser"], f"wrong: {shown}")
    (page,) = search.find("quarterly browser")
    expect(page["description"] == "from laptop · opens in the web browser", f"wrong: {page}")
    (page,) = search.find("draft")
    expect(page["description"].endswith(" · not on this device: org.example\\u{202E}.Editor"), f"wrong: {page}")


# ---- Status bars -------------------------------------------------------------------------------------------------------

@test("watch --format waybar prints a line at the start and after each change, and ends with an empty module")
def waybar(stage):
    origin, taker = stage.pair()
    words = ["watch", "--format", "waybar"]
    log = os.path.join(stage.folder, "bar.log")
    with open(log, "wb") as errors:
        bar = subprocess.Popen([os.path.join(taker.programs, "handoffctl"), "--socket", taker.socket, *words],
                               env=taker.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)
    stage.processes.append(bar)

    def line():
        return json.loads(bar.stdout.readline())

    empty = {"version": 1, "text": "", "tooltip": "", "class": "none", "alt": "none"}
    expect(line() == empty, "not empty at the start")
    publish = origin.publish(TYPE, "--title", "<b>R&D</b>\u202e")
    wanted = {**empty, "text": "1", "tooltip": "&lt;b&gt;R&amp;D&lt;/b&gt;\\u{202E} from origin", "class": "offers", "alt": "offers"}
    got = line()
    expect(got == wanted, f"wrong: {got}")
    publish.interrupt()
    expect(line() == empty, "the offer remains")
    origin.publish(TYPE, "--title", "Next")
    expect(line()["text"] == "1", "no offer")
    taker.stop()
    expect(line() == empty, "the module of a stopped daemon remains")
    expect(bar.stdout.readline() == b"" and bar.wait(60) == 3, "it did not end")


@test("watch exits when its reader has ended, without waiting for the next change")
def no_reader(stage):
    daemon = stage.daemon("alone")
    for words in (["--format", "waybar"], ["--json"]):
        watch = subprocess.Popen([os.path.join(daemon.programs, "handoffctl"), "--socket", daemon.socket, "watch", *words],
                                 env=daemon.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        stage.processes.append(watch)
        expect(watch.stdout.readline(), "no first line")
        watch.stdout.close()
        expect(watch.wait(60) == -signal.SIGPIPE, f"{words}: it ended with {watch.returncode}")


if __name__ == "__main__":
    main()
