"""Two devices with a session bus each, on which media players and the adapters of everyday programs run."""

import json
import os
import shutil
import subprocess
import wave

from browsers import until
from harness import BIN, ROOT, SHARED, Failure, Skip, Stage, expect, tail
from notifications import NotificationServer, SessionBus

PROGRAMS = os.path.join(ROOT, "Integrations", "programs", "handoff-programs")
CLIENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "played_player.py")
# Debian's Python, for which its package of PyGObject is built.
PYTHON = "/usr/bin/python3"
TYPE = "dev.handoff1.playing"
VLC = """#!/bin/sh
exec '{program}' -I dummy --aout=dummy --vout=dummy --no-video-title-show --quiet "$@"
"""


def sound(path, seconds=300, rate=2000):
    """Writes a file with silence, of a byte for each sample."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with wave.open(path, "wb") as file:
        file.setparams((1, 1, rate, 0, "NONE", ""))
        file.writeframes(b"\x80" * rate * seconds)
    return path


def is_attached(daemon):
    """Returns whether the adapter of players is attached to a daemon."""
    return any(app["id"] == "dev.handoff1.players" and app["running"] for app in daemon.ctl("apps").lines)


class Desktop(Stage):
    """The folder of the bus of one device."""

    def __init__(self, stage, folder):
        self.folder, self.processes = folder, stage.processes
        os.mkdir(folder)


class Device:
    """A device with a bus, players without a screen and loudspeakers, and the adapters."""

    def __init__(self, stage, daemon):
        self.stage, self.daemon, self.name = stage, daemon, daemon.name
        self.bus = SessionBus(Desktop(stage, os.path.join(daemon.folder, "desktop")))
        self.home = daemon.environment["HOME"]
        self.programs = os.path.join(daemon.folder, "programs")
        os.mkdir(self.programs)
        self.environment = {**daemon.environment, **self.bus.environment, "PATH": f"{self.programs}:{BIN}:/usr/bin:/bin"}
        os.makedirs(os.path.join(self.home, ".config", "mpv"))
        with open(os.path.join(self.home, ".config", "mpv", "mpv.conf"), "w") as file:
            file.write("vo=null\nao=null\n")
        self._install_vlc()
        self.server = NotificationServer(self.bus)
        self.client = subprocess.Popen([PYTHON, "-B", CLIENT], env=self.environment, text=True, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
        stage.processes.append(self.client)
        self.log = os.path.join(daemon.folder, "programs.log")
        self.run_adapters()

    def _install_vlc(self):
        """Installs VLC without windows. It does not run as root, so root runs a copy without that check."""
        program = shutil.which("vlc", path="/usr/bin")
        if program and os.geteuid() == 0:
            with open(program, "rb") as file:
                content = file.read()
            expect(b"geteuid\0" in content, "VLC checks in another way that it does not run as root")
            program = os.path.join(self.programs, "vlc.bin")
            with open(program, "wb") as file:
                file.write(content.replace(b"geteuid\0", b"getppid\0"))
            os.chmod(program, 0o755)
        if program:
            with open(os.path.join(self.programs, "vlc"), "w") as file:
                file.write(VLC.format(program=program))
            os.chmod(os.path.join(self.programs, "vlc"), 0o755)

    def run_adapters(self):
        with open(self.log, "ab") as log:
            self.adapters = subprocess.Popen([PYTHON, PROGRAMS, "players"], env=self.environment, stdin=subprocess.DEVNULL,
                                             stdout=log, stderr=log)
        self.stage.processes.append(self.adapters)
        until(f"the adapters of {self.name}", lambda: is_attached(self.daemon))

    def play(self, *words):
        """Starts a player. It ends with the test, or by `quit`."""
        with open(os.path.join(self.daemon.folder, f"{words[0]}.log"), "ab") as log:
            self.stage.processes.append(subprocess.Popen(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                                         stderr=log))

    def do(self, *words):
        self.client.stdin.write(json.dumps(words) + "\n")
        self.client.stdin.flush()
        return json.loads(self.client.stdout.readline())

    def state(self, player):
        return self.do("state", player)

    def playing(self, player, url=None, status="Playing"):
        """Waits until a player has opened an address. Returns its state."""
        def found():
            state = self.state(player)
            is_open = state and state["PlaybackStatus"] == status and state.get("Metadata", {}).get("xesam:url")
            return state if is_open and (url is None or state["Metadata"]["xesam:url"] == url) else None
        return until(f"{player} on {self.name} ({status})", found)

    def seek(self, player, seconds):
        arguments = f"(objectpath '{self.state(player)['Metadata']['mpris:trackid']}', int64 {seconds}000000)"

        def is_there():
            # It has no effect while the player opens a file.
            self.do("call", player, "SetPosition", arguments)
            return abs(self.state(player)["Position"] / 1e6 - seconds) < 1
        until("the position", is_there)

    def offers(self):
        return [each for each in self.daemon.ctl("list").lines if each["type"] == TYPE]

    def offered(self, title):
        """Waits for the offer of another device with this title, and returns it."""
        return until(f"an offer of {title!r} on {self.name}", lambda: next(
            (each for each in self.offers() if each["title"] == title), None))

    def none_offered(self):
        until(f"no offers on {self.name}", lambda: not self.offers())

    def quit(self):
        """Ends all players of this device."""
        for stem in ("mpv", "vlc"):
            if self.state(stem):
                self.do("quit", stem)
                until(f"the end of {stem}", lambda: self.state(stem) is None)


class Pair(Stage):
    """Two devices of one account, which the tests of a process share."""

    def __init__(self):
        super().__init__("shared players")
        self.devices = []

    def start(self):
        for program, package in (("dbus-daemon", "dbus"), ("mpv", "mpv"), ("vlc", "vlc-bin")):
            if not shutil.which(program):
                raise Skip(f"{package} is not installed (scripts/setup --tests)")
        if not os.path.exists("/etc/mpv/scripts/mpris.so"):
            raise Skip("mpv-mpris is not installed (scripts/setup --tests)")
        if subprocess.run([PYTHON, "-c", "from gi.repository import Gio"], capture_output=True).returncode:
            raise Skip("PyGObject is not installed (scripts/setup --tests)")
        self.devices = [Device(self, daemon) for daemon in self.pair(("desk", "laptop"))]

    def clear(self):
        for device in self.devices:
            device.quit()
            for stem in device.do("owned"):
                device.do("leave", stem)
            expect(device.adapters.poll() is None, f"the adapters of {device.name} have ended: {tail(device.log)}")
            with open(device.log) as file:
                expect("Traceback" not in file.read(), f"an adapter failed: {tail(device.log, 30)}")
        for device in self.devices:
            device.none_offered()

    def end(self):
        # The adapters have started some of the players, which are not processes of the test.
        for device in self.devices:
            try:
                device.quit()
            except (Failure, OSError, ValueError):
                pass
        super().end()


def devices(stage):
    """Returns both devices."""
    pair = next((each for each in SHARED if isinstance(each, Pair)), None) or Pair()
    stage.share(pair)
    if not pair.devices:
        pair.start()
    return pair.devices
