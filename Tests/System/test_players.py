#!/usr/bin/env python3
"""Media players that continue on another device (MPRIS): mpv and VLC without a screen, and simulated ones with hostile values.
Two daemons on loopback, each with a session bus."""

import glob
import http.server
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import threading
import time

from browsers import until
from harness import BIN, ROOT, Skip, expect, limit_rate, main, run, test
from players import PROGRAMS, PYTHON, TYPE, devices, is_attached, sound
from user_manager import UserManager

# Seconds by which the positions on both devices may differ.
TOLERANCE = 0.5
ADDRESS = "192.0.2.1"
STREAM = "https://example.org/live.mp3"
PLAYING = {"PlaybackStatus": "'Playing'", "CanSeek": "true", "CanPause": "true", "Rate": "1.0", "Position": "int64 0"}
LONG = "x" * 100_000
# Texts in which a program could see an option, a path, a script or markup.
HOSTILE = ("--script=/tmp/x.lua", "\x1b[2J\x07", "\u202egnp.exe", "<b>&amp;", "$(id)`id`;|", "%f %U", "../../etc/passwd")


def position(state):
    return state["Position"] / 1e6


def continued(origin, taker, offer, player="mpv", at=0):
    """Continues an offer that plays. Returns the states of both players, which must be at the same second."""
    # mpv reports the beginning until it has opened a file.
    until("the start", lambda: position(origin.state(player)) >= at)
    began = time.monotonic()
    taker.daemon.ctl("continue", offer["id"])
    here = origin.playing(player, status="Paused")
    # A player that runs already starts at the beginning, and is then moved to the position.
    taker.playing(player)
    until("the position", lambda: position(taker.state(player)) >= position(here) - TOLERANCE)
    there = taker.state(player)
    passed = time.monotonic() - began
    expect(position(there) - position(here) <= passed + TOLERANCE,
           f"{position(here)} became {position(there)} within {passed:.1f} s")
    return here, there


def metadata(url=STREAM, title="title", artist="artist"):
    """The metadata of a simulated player, in GVariant's text format."""
    artists = f"'xesam:artist': <[{json.dumps(artist)}]>, " if artist else ""
    return (f"{{'xesam:url': <{json.dumps(url)}>, 'xesam:title': <{json.dumps(title)}>, {artists}"
            "'mpris:trackid': <objectpath '/track/1'>, 'mpris:length': <int64 300000000>}")


def simulated(device, stem="sim", root=(), **values):
    """Starts a simulated player. The values are in GVariant's text format."""
    device.do("own", stem, {**PLAYING, "Metadata": metadata(), **values}, {"Identity": "'Sim'", **dict(root)})


def received(taker, offer):
    """Returns what another device receives of an offer, without playing it."""
    return taker.daemon.ctl("continue", "--print", offer["id"]).line["userInfo"]


@test("mpv: a file that is only on the origin plays at the same second, and is paused there; then back")
def mpv(stage):
    desk, laptop = devices(stage)
    path = sound(os.path.join(desk.home, "Music", "first & é.wav"))
    desk.play("mpv", "--no-terminal", "--start=100", path)
    _, there = continued(desk, laptop, laptop.offered("first & é.wav"), at=100)
    expect(laptop.home in there["Metadata"]["xesam:url"], f"not a copy: {there}")
    laptop.none_offered()
    laptop.seek("mpv", 200)
    _, back = continued(laptop, desk, desk.offered("first & é.wav"))
    expect(position(back) > 200 - TOLERANCE, f"the position is that of the first time: {back}")


@test("VLC: the same, with its list of tracks from the current one on, of which one is fetched ahead")
def vlc(stage):
    desk, laptop = devices(stage)
    names = [f"{number} track.wav" for number in range(1, 5)]
    paths = [sound(os.path.join(desk.home, "Music", name)) for name in names]
    desk.play("vlc", *paths)
    desk.playing("vlc")
    desk.do("call", "vlc", "Next")
    laptop.offered(names[1])
    desk.seek("vlc", 100)
    continued(desk, laptop, laptop.offered(names[1]), "vlc")

    for name in names[2:]:
        # Tracks of VLC does not contain it until it plays.
        end = name.replace(" ", "%20")
        added = until("another track", lambda: (found := laptop.do("added")) and found[-1].endswith(end) and found)
        laptop.do("call", "vlc", "Next")
        laptop.playing("vlc", added[-1])
    desk.offered(names[3])
    # Back, into a player that plays something else.
    desk.do("call", "vlc", "Play")
    until("the origin", lambda: desk.state("vlc")["PlaybackStatus"] == "Playing")
    laptop.seek("vlc", 150)
    _, there = continued(laptop, desk, desk.offered(names[3]), "vlc")
    expect(desk.home in there["Metadata"]["xesam:url"], f"not a copy: {there}")


@test("a paused player stays paused, with its rate, and a stream is continued by its address")
def stream(stage):
    desk, laptop = devices(stage)
    address = serve(stage, sound(os.path.join(desk.home, "Music", "served.wav")))
    desk.play("mpv", "--no-terminal", "--start=50", "--speed=1.5", address)
    desk.playing("mpv", address)
    offer = laptop.offered("served.wav")
    desk.do("call", "mpv", "Pause")
    # It replies before its status has changed.
    desk.playing("mpv", status="Paused")
    expect(received(laptop, offer)["playing"] is False, "it is received as playing")
    laptop.none_offered()
    desk.do("call", "mpv", "Play")
    offer = laptop.offered("served.wav")
    desk.do("call", "mpv", "Pause")
    paused = desk.playing("mpv", status="Paused")
    laptop.daemon.ctl("continue", offer["id"])
    laptop.playing("mpv", address, "Paused")
    until("the position", lambda: abs(position(laptop.state("mpv")) - position(paused)) <= TOLERANCE)
    expect(laptop.state("mpv")["Rate"] == 1.5, f"another rate: {laptop.state('mpv')}")


def arrived(path):
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


@test("a large file plays while it is fetched, and can be handed on when it is complete")
def partial(stage):
    desk, laptop = devices(stage)
    path = os.path.join(desk.home, "Music", "long.wav")
    sound(path, 900, rate=96_000)
    for player in ("mpv", "vlc"):
        desk.play(player, *(["--no-terminal"] if player == "mpv" else []), path)
        desk.playing(player)
        offer = laptop.offered("long.wav")
        limit_rate(stage, 80)
        laptop.daemon.follow("continue", offer["id"])
        parts = os.path.join(laptop.home, ".cache", "handoff", "fetched")
        until("the first part", lambda: any(arrived(each) > 16 << 20 for each in glob.glob(f"{parts}/*/.*-part")))
        desk.daemon.process.send_signal(signal.SIGSTOP)
        state = laptop.playing(player)
        expect("/playing/long.wav" in state["Metadata"]["xesam:url"], f"{state}")
        until("playback", lambda: position(laptop.state(player)) > position(state))
        limit_rate(stage)
        desk.daemon.process.send_signal(signal.SIGCONT)
        until("the whole file", lambda: not glob.glob(f"{parts}/*/.*-part"))
        copy, = glob.glob(f"{parts}/*/playing/long.wav")
        expect(os.path.getsize(copy) == os.path.getsize(path), "not the whole file")
        desk.offered("long.wav")
        shutil.rmtree(parts)
        laptop.quit()
        desk.quit()


@test("a file whose index may be at its end is played only when it is complete")
def indexed(stage):
    def box(kind, size, wide=False):
        return (struct.pack(">I4sQ", 1, kind, size + 16) if wide else struct.pack(">I4s", size + 8, kind)) + bytes(size)

    start, cases = box(b"ftyp", 24), {}
    for name, content, is_playable in (
            ("first.mp4", start + box(b"free", 8) + box(b"moov", 500) + box(b"mdat", 100), True),
            ("last.mp4", start + box(b"mdat", 5000), False), ("wide.mov", start + box(b"mdat", 5000, wide=True), False),
            ("wide.m4v", start + box(b"free", 9, wide=True) + box(b"moov", 100, wide=True) + b"rest", True),
            ("part.mp4", start + box(b"moov", 500)[:100], False),
            ("short.m4a", b"\0\0\0", False), ("zero.mp4", bytes(100), False),
            ("loop.mp4", box(b"free", 0) * 100, False), ("film.avi", bytes(100), False), ("film.mkv", bytes(100), True)):
        path = os.path.join(stage.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        cases[path] = is_playable
    program = "import json, sys, fetching; print(json.dumps({each: fetching.has_index(each) for each in sys.argv[1:]}))"
    folders = [os.path.join(ROOT, "Integrations", each) for each in ("programs", "python")]
    done = run([PYTHON, "-B", "-c", program, *cases], {"PATH": "/usr/bin", "PYTHONPATH": ":".join(folders)})
    expect(done.line == cases, f"{done}")


def serve(stage, path):
    """Serves a file, also from an offset. Returns its address."""
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            with open(path, "rb") as file:
                content = file.read()
            wanted = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
            start = int(wanted[1]) if wanted else 0
            self.send_response(206 if wanted else 200)
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.send_header("Content-Length", str(len(content) - start))
            self.end_headers()
            try:
                self.wfile.write(content[start:])
            except OSError:
                pass

        def log_message(self, *_):
            pass

    # An address of the loopback interface is not offered. This one is of the tests' own network.
    if os.geteuid() != 0:
        raise Skip("an address of its own needs root")
    subprocess.run(["ip", "address", "replace", f"{ADDRESS}/32", "dev", "lo"], check=True)
    server = http.server.ThreadingHTTPServer((ADDRESS, 0), Handler)
    stage.closers.append(server.shutdown)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://{ADDRESS}:{server.server_port}/{os.path.basename(path)}"


@test("the player that started to play last is offered; browsers, copies and players without an address are not")
def choice(stage):
    desk, laptop = devices(stage)
    simulated(desk, "first", Metadata=metadata(title="one"))
    laptop.offered("artist – one")
    simulated(desk, "second", Metadata=metadata(title="two", artist=None))
    laptop.offered("two")
    for name in ("chromium.instance12", "firefox.instance_1_2", "playerctld", "kdeconnect.mpris_1"):
        simulated(desk, name, Metadata=metadata(title=name))
    desk.do("set", "second", {"PlaybackStatus": "'Paused'"})
    offer = laptop.offered("artist – one")
    desk.do("set", "first", {"PlaybackStatus": "'Paused'"})
    until("a pause", lambda: laptop.daemon.ctl("list").lines and received(laptop, offer)["playing"] is False)
    # It was received by another device, so nothing is offered until something plays.
    laptop.none_offered()
    desk.do("set", "second", {"PlaybackStatus": "'Playing'"})
    laptop.offered("two")
    simulated(desk, "silent", Metadata="{'xesam:title': <'no address'>}")
    desk.do("set", "second", {"Metadata": metadata(title="three")})
    laptop.offered("artist – three")
    desk.do("leave", "silent")
    desk.do("set", "second", {"Metadata": metadata(title="two", artist=None)})
    desk.daemon.ctl("withdraw", laptop.offered("two")["id"])
    laptop.none_offered()
    desk.do("set", "second", {"Metadata": metadata(title="next")})
    desk.do("set", "second", {"PlaybackStatus": "'Paused'"})
    desk.do("set", "second", {"PlaybackStatus": "'Playing'"})
    offer = laptop.offered("artist – next")
    # VLC stops between two tracks.
    desk.do("set", "second", {"PlaybackStatus": "'Stopped'", "Metadata": "@a{sv} {}"})
    desk.do("set", "second", {"PlaybackStatus": "'Playing'", "Metadata": metadata(STREAM + "?2", "last")})
    expect(laptop.offered("artist – last")["id"] == offer["id"], "the offer of each track is another one")
    desk.do("set", "second", {"PlaybackStatus": "'Stopped'"})
    laptop.none_offered()
    desk.do("leave", "second")
    laptop.none_offered()
    state = laptop.daemon.ctl("continue", "--print", offer["id"], code=None)
    expect(state.code != 0, f"it is still there: {state}")


@test("a disabled adapter offers nothing, and offers again once it is enabled, and after a restart of the daemon")
def switched(stage):
    desk, laptop = devices(stage)
    simulated(desk)
    laptop.offered("artist – title")
    desk.daemon.ctl("app", "disable", "dev.handoff1.players")
    laptop.none_offered()
    desk.do("set", "sim", {"Metadata": metadata(title="other")})
    desk.daemon.ctl("app", "enable", "dev.handoff1.players")
    laptop.offered("artist – other")
    desk.daemon.restart()
    desk.do("set", "sim", {"Metadata": metadata(title="last")})
    laptop.offered("artist – last")


@test("a player that hangs delays nothing: its position is estimated; and of fifty players the right one is offered")
def hanging(stage):
    desk, laptop = devices(stage)
    for number in range(50):
        simulated(desk, f"many{number}", Metadata=metadata(title=f"{number}"))
    offer = laptop.offered("artist – 49")
    desk.do("set", "many49", {"Position": "int64 40000000"})
    expect(received(laptop, offer)["position"] >= 40, "not its position")
    laptop.none_offered()
    desk.do("set", "many7", {"PlaybackStatus": "'Stopped'"})
    other = STREAM + "?other"
    desk.do("set", "many7", {"PlaybackStatus": "'Playing'", "Metadata": metadata(other, "7")})
    offer = laptop.offered("artist – 7")
    desk.do("hang", "many7")
    state = received(laptop, offer)
    # It was at the beginning when it was offered, and has not replied since.
    expect(state["url"] == {"$url": other} and 0.1 < state["position"] < 40, f"not an estimate: {state}")
    simulated(desk, "next", Metadata=metadata(title="after it"))
    laptop.offered("artist – after it")


RACE = """
import players, types
paused, answers = [], []
def player(name):
    return types.SimpleNamespace(turn=1, url=name, read=lambda done, timeout: done(False), call=lambda *words: paused.append(name))
first, second = player("first"), player("second")
activity = types.SimpleNamespace(id="7", update=lambda *words, **fields: answers.append(words), ask=answers.append)
adapter = players.Players.__new__(players.Players)
adapter.players, adapter.activity, adapter.turn, adapter.sent = {"1": first, "2": second}, activity, 1, None
adapter._state = lambda player: {"url": player.url}
adapter.shown = (first, "first", "", True)
adapter._event({"event": "save", "activity": "7"})
adapter.shown = (second, "second", "", True)
adapter._event({"event": "continued", "activity": "7"})
assert paused == ["first"] and adapter.shown[0] is second and second.turn == 1 and not first.turn, (paused, answers)
# The daemon sent the published state without waiting for the reply.
adapter._event({"event": "continued", "activity": "7"})
assert paused == ["first", "second"] and not adapter.shown and answers[-1] == "ResignCurrent", (paused, answers)
"""


@test("a player that starts while another one is continued is neither paused nor withdrawn")
def started_meanwhile(stage):
    paths = os.pathsep.join([os.path.dirname(PROGRAMS), os.path.join(ROOT, "Integrations", "python")])
    done = subprocess.run([PYTHON, "-B", "-c", RACE], env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    expect(done.returncode == 0, f"{done}")


@test("hostile values of a player: nothing but a title and a valid address is offered, and the adapter survives")
def hostile_player(stage):
    desk, laptop = devices(stage)
    for value in ("<'text'>", "<@a{sv} {}>", "<['a']>", "<int64 -1>"):
        desk.do("own", "odd", {"PlaybackStatus": value[1:-1], "Metadata": value[1:-1], "Position": "'x'", "Rate": "'x'"},
                {"Identity": "uint32 7", "DesktopEntry": "['x']"})
        desk.do("leave", "odd")
    simulated(desk)
    laptop.offered("artist – title")
    for parameters in ("(1, 2)", "('x',)", "('org.mpris.MediaPlayer2.Player', {'Metadata': <7>}, @as [])",
                       "('org.mpris.MediaPlayer2.Player', {'Rate': <'x'>, 'PlaybackStatus': <7>}, ['Metadata', 'x'])",
                       "('other', @a{sv} {}, @as [])"):
        desk.do("signal", "sim", parameters)
    desk.do("set", "sim", {"PlaybackStatus": "'Playing'", "Rate": "double -5", "Position": "int64 -7"})
    for url in ("file:///etc/passwd", "file:///nonexistent.wav", "file://host/a.wav", "javascript:alert(1)", "data:,x",
                "--script=x", "http://", "http://127.0.0.1/a.mp3", "http://localhost:8096/", "http://a b/", "http://a/\u202e",
                "http://" + LONG, "memory://x", "edl:///etc/passwd", "rtsp:x", ""):
        desk.do("set", "sim", {"Metadata": metadata(url)})
        laptop.none_offered()
        desk.do("set", "sim", {"Metadata": metadata(STREAM)})
        laptop.offered("artist – title")
    for title in (LONG, *HOSTILE):
        desk.do("set", "sim", {"Metadata": metadata(title=title, artist=title)})
        shown = f"{title[:256]} – {title[:256]}"
        # Announcements contain 128 bytes of a title.
        offer = until("the title", lambda: next((each for each in laptop.offers() if each["title"][:100] == shown[:100]), None))
    state = received(laptop, offer)
    expect(state["rate"] == 1.0 and state["position"] >= 0, f"{state}")


REFUSED = (
    "file:///etc/passwd", "/etc/passwd", "--script=/tmp/x.lua", "javascript:alert(1)", "data:text/html,x", "http://", "http:///x",
    "http://-x/", "https://a b", "http://a/\n", "http://a/\x1b", "http://a/\u202e", "HTTP://EXAMPLE.ORG/", "rtsp://",
    "http://" + "a" * 3000, "memory://x", "edl:///etc/passwd", "lavf://file:/etc/passwd", "appending:///etc/passwd", "ftp://a/b",
    "smb://a/b", "", "http://localhost/", "http://x.localhost./", "http://127.1/", "http://2130706433/", "http://0x7f.1/",
    "http://[::1]/", "http://0/", "http://[::ffff:127.0.0.1]/", "http://[::]/", "http://[x]/", "http://a:99999/",
    "rtsp://user@localhost/", "http://[::1%25lo]/", "handoff-document:" + "x" * 10_000, 7, None, [], {"$data": "aGVsbG8="},
)


@test("hostile states of another device: refused, or played without what is hostile; no other file or program is opened")
def hostile_state(stage):
    desk, laptop = devices(stage)
    simulated(laptop, PlaybackStatus="'Stopped'", Metadata="@a{sv} {}")

    def play(state, title="media", code=0, until_failed=None):
        publisher = desk.daemon.publish(TYPE, "--title", title, "--user-info", json.dumps({"player": "sim", **state}))
        until("the offer", lambda: any(each["id"] == publisher.id for each in laptop.offers()))
        done = laptop.daemon.ctl("continue", publisher.id, code=None)
        if until_failed:
            laptop.server.wait(lambda server: any(
                each["summary"].startswith("Cannot play") and until_failed in each["summary"] for each in server.notified()),
                f"the failure of {until_failed}")
        publisher.process.terminate()
        expect((done.code == 0) == (code == 0), f"{state}: {done}")

    def opened():
        return [each for each in laptop.do("calls", "sim") if each[0] == "OpenUri"]

    for value in REFUSED:
        play({"url": value}, code=1)
    expect(laptop.do("calls", "sim") == [], f"something was opened: {laptop.do('calls', 'sim')}")
    # Invalid values are replaced by their defaults.
    for fields in ({"position": -1}, {"position": 1e300}, {"position": "9"}, {"position": True}, {"position": {"$double": "nan"}},
                   {"position": {"$double": "inf"}}, {"rate": 0}, {"rate": -3.0}, {"rate": 1e9}, {"rate": [1]}, {"playing": "no"},
                   {"tracks": "x"}, {"tracks": [REFUSED[0], 7, None, "javascript:x"] * 1000}, {"app": 7}):
        before = len(laptop.do("calls", "sim"))
        play({"url": STREAM, **fields})
        # Those after it can arrive during the next state.
        until(f"an address for {fields}", lambda: ["OpenUri", STREAM] in laptop.do("calls", "sim")[before:])
    # Documents that are no sound or video, and one that is not there.
    before = opened()
    for name in ("list.m3u", "page.html", "x.desktop", "run.sh", "x.xspf", "passwd", "film.mp4"):
        path = os.path.join(desk.home, name)
        if name != "film.mp4":
            with open(path, "w") as file:
                file.write("file:///etc/passwd\n")
        play({"url": {"$url": f"file://{path}"}}, title=f"\u202e<b>{name}", until_failed=name)
    shown = laptop.server.notified()[-1]
    expect("\u202e" not in shown["summary"] and "<b>" not in shown["body"], f"{shown}")
    expect(opened() == before, f"a document was opened that is not there: {opened()}")
    calls = laptop.do("calls", "sim")
    expect(not any(each[0] == "SetPosition" for each in calls), f"an invalid position was used: {calls}")


@test("a kind of player that is no installed player is replaced by the default one")
def kinds(stage):
    desk, laptop = devices(stage)
    applications = os.path.join(laptop.home, ".local", "share", "applications")
    os.makedirs(applications, exist_ok=True)
    trace = os.path.join(laptop.daemon.folder, "trace")
    for name, categories in (("evil-terminal", "System;TerminalEmulator;"), ("tape-deck", "AudioVideo;Player;")):
        with open(os.path.join(applications, f"{name}.desktop"), "w") as file:
            file.write(f"[Desktop Entry]\nType=Application\nName={name}\nCategories={categories}\n"
                       f"Exec=sh -c 'echo \"$1\" >>\"{trace}.{name}\"' {name} %u\n")
    address = serve(stage, sound(os.path.join(desk.home, "Music", "kinds.wav")))
    for kind in ("evil-terminal", "../evil-terminal", "--help", "x" * 5000, "a/b", "\u202e", 7):
        publisher = desk.daemon.publish(TYPE, "--user-info", json.dumps({"player": kind, "url": address, "position": 20.0}))
        until("the offer", lambda: any(each["id"] == publisher.id for each in laptop.offers()))
        laptop.daemon.ctl("continue", publisher.id)
        publisher.process.terminate()
        laptop.playing("mpv", address)
        until("the position", lambda: position(laptop.state("mpv")) > 20 - TOLERANCE)
        laptop.quit()
    expect(not os.path.exists(f"{trace}.evil-terminal"), "an installed program that is no player was started")
    publisher = desk.daemon.publish(TYPE, "--user-info", json.dumps({"player": "tape-deck", "url": address}))
    until("the offer", lambda: any(each["id"] == publisher.id for each in laptop.offers()))
    laptop.daemon.ctl("continue", publisher.id)
    until("the player", lambda: os.path.exists(f"{trace}.tape-deck") and open(f"{trace}.tape-deck").read() == address + "\n")
    publisher.process.terminate()
    # The adapter still expects that player on the bus, while it fetches a file and another player has one.
    simulated(laptop, PlaybackStatus="'Stopped'", Metadata=metadata("file:///other.wav"))
    desk.play("mpv", "--no-terminal", "--start=70", sound(os.path.join(desk.home, "Music", "next.wav"), rate=96_000))
    continued(desk, laptop, laptop.offered("next.wav"), at=70)


@test("the service starts with an account and for an offer, and its players run outside of its restrictions")
def unit(stage):
    desk, _ = devices(stage)
    manager = UserManager(stage)
    laptop, unit, home = stage.daemon("tablet", start=False), "handoff-programs.service", manager.folder
    manifests = os.path.join(laptop.folder, "data", "handoff", "handlers.d")
    os.makedirs(os.path.dirname(manifests))
    shutil.copytree(os.path.join(ROOT, "Integrations", "programs", "handlers"), manifests)
    laptop.extra = {**manager.environment, "XDG_DATA_DIRS": os.path.join(laptop.folder, "data")}
    laptop.start()
    stage.join(desk.daemon, laptop)
    with open(os.path.join(ROOT, "systemd", unit)) as file:
        text = file.read()
    variables = f"HANDOFF_SOCKET={laptop.socket} PATH={BIN}:/usr/bin"
    text = re.sub("(?m)^ExecStart=.*", f"Environment={variables}\nExecStart={PROGRAMS}", text)
    with open(os.path.join(ROOT, "systemd", "handoff-programs.path")) as file:
        path = file.read()
    for name, content in ((f"systemd/user/{unit}", text), ("systemd/user/handoff-programs.path", path),
                          (".config/mpv/mpv.conf", "vo=null\nao=null\n")):
        os.makedirs(os.path.dirname(os.path.join(home, name)), exist_ok=True)
        with open(os.path.join(home, name), "w") as file:
            file.write(content)
    manager.call("daemon-reload")

    def state(name):
        return manager.call("show", "--property=ActiveState", "--value", name).output.strip()

    started = manager.call("start", unit, "handoff-programs.path")
    expect(started.code == 0 and state(unit) == "inactive", f"without an account: {state(unit)} {started}")
    # systemd changed the folder of %S in version 254.
    for folder in (".config", ".local/state"):
        os.makedirs(os.path.join(home, folder, "handoff", "state"))
        with open(os.path.join(home, folder, "handoff", "state", "account"), "w"):
            pass
    until("the adapter", lambda: is_attached(laptop))
    # Without the service, the daemon starts it for an offer.
    expect(manager.call("stop", unit).code == 0, f"{state(unit)}")
    address = serve(stage, sound(os.path.join(desk.home, "Music", "unit.wav")))
    publisher = desk.daemon.publish(TYPE, "--user-info", json.dumps({"player": "mpv", "url": address}))
    offer = until("the offer", lambda: next((each for each in laptop.ctl("list").lines if each["id"] == publisher.id), None))
    expect(offer["opens"]["name"] == "Media player", f"{offer}")
    laptop.ctl("continue", publisher.id)
    publisher.process.terminate()
    player = until("the unit of the player", lambda: re.search(
        r"app-handoff-mpv-\w+\.service", manager.call("list-units", "--plain", "--state=active", "app-handoff-*").output))
    # The adapter reads its state over the bus, inside its restrictions.
    until("its offer", lambda: any(each["title"] == "unit.wav" for each in desk.offers()))
    expect(manager.call("stop", unit).code == 0 and state(player[0]) == "active", "the player has ended with the service")
    desk.none_offered()


if __name__ == "__main__":
    main()
