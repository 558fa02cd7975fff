#!/usr/bin/env python3
"""*Send to Device* in file managers: the extension in a simulated Nautilus, Caja and Thunar (`file_manager.py`) with two
daemons on loopback, or a simulated one, and a window that records its calls; the static files of the others."""

import configparser
import json
import os
import queue
import socket
import subprocess
import time

from harness import ROOT, Skip, expect, main, test
from notifications import BusClient, NotificationServer, Reader, SessionBus, Writer
from played_daemon import PlayedDaemon, message

FOLDER = os.path.join(ROOT, "Integrations", "file-managers")
# Debian's Python, for which its package of PyGObject is built.
PYTHON = "/usr/bin/python3"
WINDOW = "dev.handoff1.Settings"
CHOOSER = ["Send to Device…"]
URIS = ["file:///tmp/plain%20file.txt", "file:///tmp/%C3%BC%20100%25.txt", "file:///tmp/bad%E9name.txt", "file:///tmp/folder",
        "file:///tmp/it's%20%22q%22%20$HOME%60id%60%0A.txt", "sftp://host/tmp/a%20b", "trash:///c", "file:///tmp/--help"]


class Window(BusClient):
    """The window, which records the files that it should send."""

    def __init__(self, bus):
        self.choices = queue.Queue()
        super().__init__(bus)
        self.call("RequestName", "su", Writer().text(WINDOW).number(4).data)

    def called(self, call):
        reader = Reader(call["body"])
        expect((call["path"], call["interface"], call["member"]) == (
            "/dev/handoff1/Settings", "org.freedesktop.Application", "ActivateAction"), f"wrong: {call}")
        self.choices.put((reader.text(), reader.value("av")))
        self.reply(call)


class ServiceManager(BusClient):
    """The service manager, which reports the state of the daemon's socket."""

    def __init__(self, bus, state):
        self.state = state
        super().__init__(bus)
        self.call("RequestName", "su", Writer().text("org.freedesktop.systemd1").number(4).data)

    def called(self, call):
        self.reply(call, "v", Writer().signature("s").text(self.state).data)


class FileManager:
    """A simulated file manager."""

    def __init__(self, stage, name, environment, **constants):
        if subprocess.run([PYTHON, "-c", "from gi.repository import Gio"], capture_output=True).returncode:
            raise Skip("PyGObject is not installed (scripts/setup --tests)")
        words = [PYTHON, "-B", os.path.join(ROOT, "Tests", "System", "file_manager.py"), name,
                 os.path.join(FOLDER, "handoff_send.py"), *(f"{key}={json.dumps(value)}" for key, value in constants.items())]
        environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
                       "PYTHONPATH": os.path.join(ROOT, "Integrations", "python"), **environment}
        self.process = subprocess.Popen(words, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        stage.processes.append(self.process)

    def _ask(self, word, argument):
        self.process.stdin.write(json.dumps([word, argument]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def menu(self, uris=("file:///tmp/a",)):
        return self._ask("menu", list(uris))

    def choose(self, label):
        return self._ask("activate", label)

    def shows(self, *labels):
        """Opens the menu until it has these devices; without one, the entry for the dialog."""
        wanted = [["Send to Device", [*labels, "Choose Devices…"]]] if labels else CHOOSER
        until(lambda: self.menu() == wanted, f"{wanted}", self.menu)


def until(condition, what, seen=lambda: "", within=30):
    limit = time.monotonic() + within
    while not (value := condition()):
        expect(time.monotonic() < limit, f"timed out waiting for {what}: {seen()}")
        time.sleep(0.02)  # Another process changes it at its own pace.
    return value


def device(number, name="laptop", online=True, **more):
    return {"id": f"{number:064x}", "name": name, "label": None, "kind": "laptop", "self": False, "online": online, **more}


def played(stage, *devices):
    """A simulated daemon with these devices."""
    own = device(0xFFFF, "this", self=True)

    def play(call):
        if call["method"].endswith(".FollowChanges"):
            return [message(parameters={"changed": ["status", "devices", "apps"]}, continues=True)]
        return [message(parameters={"devices": [own, *devices]})]

    folder = os.path.join(stage.folder, "handoff")
    os.mkdir(folder)
    return PlayedDaemon(folder, play, stays=True)


# ---- Two daemons -------------------------------------------------------------------------------------------------------

@test("the menus of Nautilus, Caja and Thunar have the other devices, and a choice opens the dialog with the files")
def three(stage):
    bus = SessionBus(stage)
    window = Window(bus)
    origin, taker = stage.pair(names=("my_laptop", "desk"))
    identifier = origin.ctl("status").line["device"]
    managers = [FileManager(stage, name, {**taker.environment, **bus.environment}) for name in ("Nautilus", "Caja", "Thunarx")]
    for manager in managers:
        expect(manager.menu([]) == [] == manager.menu([]), "an entry without files")
        expect(manager.menu() == CHOOSER, "the first menu")
        expect(manager.choose(*CHOOSER) == "Handoff::send", "wrong name")
        expect(window.choices.get(timeout=60) == ("send-to", [["", ["file:///tmp/a"]]]), "wrong choice")
        manager.shows("my__laptop")
        manager.menu(URIS)
        expect(manager.choose("my__laptop") == f"Handoff::{identifier}", "wrong name")
        expect(window.choices.get(timeout=60) == ("send-to", [[identifier, URIS]]), "wrong files")
        manager.menu(URIS[2:3])
        # Caja finds the chosen item by its name.
        expect(manager.choose("Choose Devices…") == "Handoff::send", "an entry that is still shown would not be found")
        expect(window.choices.get(timeout=60) == ("send-to", [["", URIS[2:3]]]), "wrong files")
    origin.stop()
    for manager in managers:
        manager.shows("my__laptop (offline)")
        # Caja may still show the entry of the device that was online.
        expect(manager.choose("my__laptop (offline)") == f"Handoff::{identifier}", "wrong name")
    origin.start()
    for manager in managers:
        manager.shows("my__laptop")


@test("the devices are followed again when the daemon has restarted, and a menu connects after the last attempt")
def restarted(stage):
    origin, taker = stage.pair()
    patient = FileManager(stage, "Nautilus", taker.environment, SETTLED=0, DELAYS=[50] * 1000)
    brief = FileManager(stage, "Caja", taker.environment, SETTLED=0, DELAYS=[1])
    patient.shows("origin")
    brief.shows("origin")
    taker.stop()
    brief.shows()
    patient.shows("origin")
    origin.stop()
    taker.start()
    patient.shows("origin (offline)")
    brief.shows("origin (offline)")


@test("without an account there are no devices, until this device has joined one")
def no_account(stage):
    origin, taker = stage.daemon("origin"), stage.daemon("taker")
    manager = FileManager(stage, "Nautilus", taker.environment)
    manager.shows()
    stage.join(origin, taker)
    manager.shows("origin")
    taker.ctl("account", "leave", "--yes")
    manager.shows()


# ---- A simulated daemon ------------------------------------------------------------------------------------------------

@test("the daemon is not called before the first menu, and no menu starts it")
def quiet(stage):
    bus = SessionBus(stage)
    manager = ServiceManager(bus, "listening")
    daemon = played(stage, device(1))
    files = FileManager(stage, "Nautilus", {"XDG_RUNTIME_DIR": stage.folder, **bus.environment})
    for _ in range(5):
        files.menu([])
    for _ in range(5):
        expect(files.menu() == CHOOSER, "a device")
    expect(not daemon.calls, f"called: {daemon.calls}")
    manager.state = "running"
    files.shows("laptop")
    expect([call["method"].rpartition(".")[2] for call in daemon.calls] == ["FollowChanges", "ListDevices"], f"{daemon.calls}")


@test("an empty file in the user's folder switches the entry off, without a call of the daemon")
def off(stage):
    daemon = played(stage, device(1))
    for name in ("nautilus", "caja", "thunarx"):
        folder = os.path.join(stage.folder, "data", f"{name}-python", "extensions")
        os.makedirs(folder)
        with open(os.path.join(folder, "handoff_send.py"), "w") as file:
            manager = FileManager(stage, name.title(), {"HANDOFF_SOCKET": daemon.path, "XDG_DATA_HOME": f"{stage.folder}/data"})
            expect(manager.menu() == [] == manager.menu(), f"an entry in {name}")
            file.write("# Not empty.")
    expect(not daemon.calls, f"called: {daemon.calls}")
    FileManager(stage, "Caja", {"HANDOFF_SOCKET": daemon.path, "XDG_DATA_HOME": f"{stage.folder}/data"}).shows("laptop")


@test("names of devices are plain text of limited length, and online devices are first")
def hostile(stage):
    daemon = played(stage, device(1, "zebra", online=False), device(2, "<b>a</b>&\u202egnp\n\x1b[2J_"), device(3, "ü" * 500),
                    device(0xABCDEF << 232, " \u3000"), device(5, "name", label="name (1234567)"), device(6, "\ud83d"))
    manager = FileManager(stage, "Nautilus", {"HANDOFF_SOCKET": daemon.path})
    manager.shows("abcdef0", "<b>a</b>&\\u{202E}gnp\\u{A}\\u{1B}[2J__", "name (1234567)", "ü" * 79 + "…", "\\u{D83D}", "zebra (offline)")


@test("a long list of devices is cut")
def many(stage):
    daemon = played(stage, *(device(number, f"{number:03}") for number in range(100)))
    manager = FileManager(stage, "Caja", {"HANDOFF_SOCKET": daemon.path})
    manager.shows(*(f"{number:03}" for number in range(20)))


@test("a menu does not wait for a daemon that does not answer, or that accepts no connection")
def hanging(stage):
    daemon = PlayedDaemon(stage.folder, lambda _: [message()[:1]], stays=True)
    path = os.path.join(stage.folder, "full.socket")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(0)
    waiting = socket.socket(socket.AF_UNIX)
    waiting.connect(path)
    stage.closers += [listener.close, waiting.close]
    for each in (daemon.path, path, os.path.join(stage.folder, "missing")):
        manager = FileManager(stage, "Thunarx", {"HANDOFF_SOCKET": each}, CONNECT_TIMEOUT=0.01)
        for _ in range(3):
            expect(manager.menu() == CHOOSER, "a device")


@test("a window that cannot be opened is reported")
def no_window(stage):
    bus = SessionBus(stage)
    server = NotificationServer(bus)
    manager = FileManager(stage, "Nautilus", {"HANDOFF_SOCKET": "/nonexistent", **bus.environment})
    manager.menu()
    manager.choose(*CHOOSER)
    server.one(summary="Could not open the window of Handoff")


# ---- Static files ------------------------------------------------------------------------------------------------------

@test("the static files of Nemo, Thunar, Dolphin and PCManFM-Qt start the dialog with the selected files")
def static(stage):
    for name, section in (("nemo.nemo_action", "Nemo Action"), ("thunar.desktop", "Desktop Entry"),
                          ("dolphin.desktop", "Desktop Action send"), ("pcmanfm-qt.desktop", "X-Action-Profile send")):
        file = configparser.RawConfigParser(delimiters="=")
        with open(os.path.join(FOLDER, name), encoding="utf-8") as text:
            file.read_file(text)
        # Without '--', a file could be an option. PCManFM-Qt quotes only %F.
        code = "%F" if "pcmanfm" in name else "%U"
        expect(file[section]["Exec"] == f"handoff-settings --send -- {code}", f"{name}: {dict(file[section])}")


if __name__ == "__main__":
    main()
