#!/usr/bin/env python3
"""*Send to Device* in the real Thunar, Caja, Nautilus, Nemo and PCManFM-Qt, on virtual screens: the installed files, the
real window that sends, and two daemons on loopback."""

import contextlib
import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import zipfile
from urllib.parse import quote

from browsers import until
from desk import Desk, downloads
from harness import FULL_SAMPLES, ROOT, Failure, Skip, content, expect, limit_rate, main, run, tail
from notifications import Dunst, SessionBus
from receiver import receivers
from windows import PYTHON, WITHIN, Screen, SettingsWindow, window_test as test

# The command of each file manager. FOLDER is the folder to open, and FILE a file in it, which has the focus.
MANAGERS = {
    "thunar": ("thunar", "FOLDER"), "caja": ("caja", "--no-desktop", "FOLDER"), "nautilus": ("nautilus", "--select", "FILE"),
    "nemo": ("nemo", "FOLDER"), "pcmanfm-qt": ("pcmanfm-qt", "FOLDER"),
}
# Services of the bus that the programs need.
SERVICES = {"org.a11y.Bus": "at-spi-bus-launcher", "org.gtk.vfs.Daemon": "gvfsd", "org.gtk.vfs.Metadata": "gvfsd-metadata"}
# The parts of GVfs that mount places.
PLACES = ("gvfsd-trash", "gvfsd-recent", "gvfsd-archive", "gvfsd-fuse")
# They load the extensions, and read the interface for screen readers.
LIBRARIES = (
    "nautilus/extensions-4/libnautilus-python.so", "caja/extensions-2.0/libcaja-python.so", "thunarx-3/thunarx-python.so",
    "girepository-1.0/Thunarx-3.0.typelib", "girepository-1.0/Atspi-2.0.typelib",
)
FIRST = "plain file.txt"
# The names of files, and the names under which they are saved.
NAMES = {
    each: each for each in (FIRST.encode(), "ü 100%.txt".encode(), b"it's \"q\" $HOME`id`.txt", b"<b>&amp;.txt", b"%20.txt",
                            b"back\\slash.txt", b";,|>.txt", b"_a__b.txt")
} | {b"bad\xe9name.txt": "bad\ufffdname.txt".encode(), b"--help": b"_--help", b"a\nb.txt": b"a_b.txt"}
SHOWN = (FIRST, "ü 100%.txt", "it's \"q\" $HOME`id`.txt", "bad\ufffdname.txt", "--help", "a\\u{A}b.txt")
# Those that load our extension, which shows the devices.
EXTENDED = ("thunar", "caja", "nautilus")
# The configuration of dunst, and the colour of its progress bars in memory.
HIGHLIGHT = b"\xff\0\xff"
LOOK = """[global]
dmenu = {}
[urgency_low]
timeout = 0
highlight = "#ff00ff"
[urgency_normal]
timeout = 0
"""
ITEM, MENU = ["menu item"], ["menu"]


class Desktop(Desk):
    """Two devices, and the desktop of the first one: the installed files, and the window that sends."""

    def __init__(self, stage):
        missing = [name for name in (*MANAGERS, "openbox", "xdotool") if not shutil.which(name)]
        missing += [name for name in (*SERVICES.values(), *PLACES) if not os.path.exists(f"/usr/libexec/{name}")]
        missing += [name for name in LIBRARIES if not glob.glob(f"/usr/lib/*/{name}")]
        if missing:
            raise Skip(f"{', '.join(missing)} not installed (scripts/setup --tests)")
        self.bus = SessionBus(stage, start=False)
        super().__init__(stage, self.bus)
        self.daemon.extra["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=/nonexistent"
        self.saved = downloads(self)
        screen = Screen(stage)
        home, prefix = os.path.join(stage.folder, "home"), self._install()
        # Caja searches only /usr and this folder.
        self.share = os.path.join(home, ".local", "share")
        caja = os.path.join(self.share, "caja-python")
        os.makedirs(os.path.dirname(caja))
        os.symlink(os.path.join(prefix, "share", "caja-python"), caja)
        self.environment = {
            **screen.environment(self.origin, os.path.join(prefix, "bin"), self.bus), "HOME": home,
            "XDG_DATA_DIRS": f"{prefix}/share:/usr/share", "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        }
        for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "NO_AT_BRIDGE", "GTK_A11Y"):
            del self.environment[name]
        for name, program in SERVICES.items():
            stage.file(f"services/{name}.service", f"[D-BUS Service]\nName={name}\nExec=/usr/libexec/{program}\n")
        self.bus.start(self.environment)
        self.start()
        self.run("openbox")
        # On another screen, so that it does not take the focus.
        self.window = SettingsWindow(stage, Screen(stage), self.origin, bus=self.bus)
        self.window.see("taker")

    def _install(self):
        """Installs the window and the files for file managers. Returns their prefix."""
        prefix = os.path.join(self.stage.folder, "usr")
        module = os.path.join(prefix, "lib", "handoff.py")
        done = run([os.path.join(ROOT, "scripts", "install")], {
            **os.environ, "PREFIX": prefix, "SYSCONFDIR": os.path.join(self.stage.folder, "etc"), "PARTS": "settings",
            "PYTHONDIR": os.path.dirname(module)})
        expect(done.code == 0, str(done))
        os.makedirs(os.path.dirname(module), exist_ok=True)
        # Those of the package handoff, which the window depends on.
        os.symlink(os.path.join(ROOT, "Integrations", "python", "handoff.py"), module)
        os.makedirs(os.path.join(prefix, "lib", "handoff"), exist_ok=True)
        os.symlink(os.path.join(ROOT, "Integrations", "python", "handoff_locale.py"),
                   os.path.join(prefix, "lib", "handoff", "handoff_locale.py"))
        return prefix

    def run(self, *words):
        """Starts a program on the first device."""
        with open(self.log(words[0]), "ab") as log:
            process = subprocess.Popen(
                words, env=self.environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.stage.processes.append(process)
        return process

    def log(self, name):
        return os.path.join(self.stage.folder, f"{os.path.basename(name)}.log")

    def keys(self, *words):
        done = run(["xdotool", *words], self.environment)
        expect(done.code == 0, str(done))

    def gio(self, *words):
        done = run(["gio", *words], self.environment)
        expect(done.code == 0, str(done))
        return done.output

    def picture(self, name):
        """Writes a picture of the screen for a person, if the tests keep their folders."""
        if os.environ.get("HANDOFF_KEEP") and shutil.which("import"):
            run(["import", "-window", "root", os.path.join(self.stage.folder, f"{name}.png")], self.environment)


class Manager:
    """A file manager that shows a folder."""

    def __init__(self, desktop, name, folder, first="", title=None):
        self.desktop, self.name, self.first = desktop, name, first
        words = {"FOLDER": folder, "FILE": os.path.join(folder, first)}
        self.process = desktop.run(*(words.get(each, each) for each in MANAGERS[name]))
        title = f"^{title or os.path.basename(folder)}"
        desktop.keys("search", "--sync", "--onlyvisible", "--name", title, "windowactivate", "--sync")
        self.driver = desktop.run(
            PYTHON, "-B", os.path.join(ROOT, "Tests", "System", "accessible.py"), str(self.process.pid))

    def _do(self, what, within=WITHIN, **parameters):
        """Runs a command of accessible.py. Returns None after a time."""
        self.driver.stdin.write(json.dumps({"do": what, "within": within, **parameters}) + "\n")
        self.driver.stdin.flush()
        answer = json.loads(self.driver.stdout.readline())
        self.shown = answer.get("shown")
        return answer.get("ok")

    def _expect(self, value, what):
        expect(value, f"{self.name}: no {what}: {self.shown} {tail(self.desktop.log(self.name))}")
        return value

    def open_menu(self, label):
        """Selects all files, and opens their menu until it has an entry with this label."""
        if self.name == "pcmanfm-qt":
            return self._open_menu_by_mouse(label)
        limit = time.monotonic() + WITHIN
        while time.monotonic() < limit:
            # Caja and Nautilus request the entry again when the selection changes.
            self.desktop.keys("key", "Escape", "key", "Home", "key", "ctrl+a", "key", "shift+F10")
            if self._do("see", roles=ITEM + MENU, names=[label, "Send to Device…"], within=5) == label:
                self.desktop.picture(self.name)
                return
        self._expect(False, f"entry {label}")

    def _open_menu_by_mouse(self, label):
        """Does the same in PCManFM-Qt, which has no key for it, and moves the focus to the entry."""
        at = self._expect(self._do("place", roles=["list item"], name=self.first), "file")
        self.desktop.keys("key", "ctrl+a", "mousemove", *map(str, at), "click", "3")
        self._do("focused", within=0)
        for _ in range(30):
            self.desktop.keys("key", "Up")
            if self._expect(self._do("focused"), "focus") == label:
                return self.desktop.picture(self.name)
        self._expect(False, f"entry {label}")

    def press(self, *path):
        """Chooses an entry of the open menu."""
        if self.name == "pcmanfm-qt":
            return self.desktop.keys("key", "Return")
        for label in path:
            self._expect(self._do("press", roles=ITEM + MENU, name=label), f"entry {label}")

    def send(self):
        """Chooses our entry, and the device if it is in the menu."""
        path = ("Send to Device", "taker") if self.name in EXTENDED else ("Send to Device…",)
        self.open_menu(path[0])
        self.press(*path)

    def close(self):
        for process in (self.process, self.driver):
            process.terminate()
            process.wait(60)


def files(stage, names):
    folder = os.path.join(stage.folder, "letters")
    os.mkdir(folder)
    for name in names:
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(b"words of " + name)
    return folder


def take(desktop, count, folder):
    """Accepts this number of offers at the second device. Returns the content of each file by its name."""
    offers = until("all offers", lambda: found if len(found := desktop.ctl("list").lines) == count else None, 40)
    os.mkdir(folder)
    for offer in offers:
        desktop.ctl("continue", offer["id"], "--output", folder)
    return {name: content(os.path.join(os.fsencode(folder), name)) for name in os.listdir(os.fsencode(folder))}


def send_all(manager, window, count):
    """Sends all files of a folder. A file manager that was started a moment ago can lose the key that selects
    all of them, and then sends the first one: the dialog adds the others to it."""
    for _ in range(3):
        manager.send()
        with contextlib.suppress(Failure):
            return window.see(f"{count} items", within=10)
    window.see(f"{count} items")


@test("five real file managers send files of any name from their menus, with equal content", limit=240)
def names(stage):
    desktop = Desktop(stage)
    folder, window = files(stage, NAMES), desktop.window
    for name in MANAGERS:
        manager = Manager(desktop, name, folder, FIRST)
        send_all(manager, window, len(NAMES))
        window.see(*SHOWN).press("Send").see("Waiting until they are accepted there")
        found = take(desktop, len(NAMES), os.path.join(stage.folder, f"from-{name}"))
        expect(found == {each: b"words of " + sent for sent, each in NAMES.items()}, f"{name}: {found}")
        window.see(f"{len(NAMES)} received").press("Close").miss("received")
        manager.close()


def received(desktop):
    """Returns the number of bytes that have been saved at the second device."""
    size = 0
    for place, _, names in os.walk(desktop.saved):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # It has been given its final name.
                size += os.path.getsize(os.path.join(place, name))
    return size


def halt(desktop, bytes, stop):
    """Stops a process in the middle of a transfer, which can last less than a second."""
    limit = time.monotonic() + 60
    while received(desktop) < bytes:
        expect(time.monotonic() < limit, "nothing arrives")
    stop()
    limit_rate(desktop.stage)


def traffic():
    """Returns the number of bytes that have been sent on loopback."""
    with open("/proc/net/dev") as file:
        return int(next(line for line in file if line.strip().startswith("lo:")).split(":")[1].split()[8])


@test("500 files from Thunar are sent with progress, cancelled, resumed without sending parts again, and declined", limit=300)
def large(stage):
    desktop = Desktop(stage)
    window, names, size = desktop.window, [f"{number:03}.bin" for number in range(500)], 6_442_451 if FULL_SAMPLES else 600_000
    folder = files(stage, [])
    for name in names:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(os.urandom(size))
    chooser = stage.file("choose", "#!/bin/sh\ngrep Decline\n")
    os.chmod(chooser, 0o755)
    dunst = Dunst(stage, desktop.bus, LOOK.format(chooser))
    manager = Manager(desktop, "thunar", folder, names[0])

    def send():
        manager.open_menu("Send To")
        manager.press("Send To", "Device…")
        window.see("500 items").press("Send")

    limit_rate(stage, 400)
    send()
    dunst.displayed(1)
    dunst.click()
    halt(desktop, 50 * size, lambda: os.kill(receivers(desktop)[0], signal.SIGSTOP))
    window.see(f" of {500 * size / 1e6:.1f} MB" if size < 1e6 else " of 3.2 GB")
    until("a part in the dialog", lambda: 0 < window.do("bar")["fraction"] < 1)
    window.press("Cancel").see("1 withdrawn").press("Close").miss("withdrawn")
    kept, before = received(desktop), traffic()
    os.kill(receivers(desktop)[0], signal.SIGCONT)
    send()

    def is_received():
        # The receiver waits for the offer, unless it received the cancellation before the stream was reset. Its part is kept.
        if not receivers(desktop) and desktop.ctl("list").lines:
            dunst.click()
            with contextlib.suppress(Failure):
                until("a receiver", lambda: receivers(desktop), 10)
        return "1 received" in "".join(window.texts())

    until("the files", is_received, 120)
    window.press("Close").miss("received")
    sent = traffic() - before
    # More has arrived than was saved.
    expect(sent < 500 * size - kept / 2, f"sent: {sent}, {kept} bytes existed")
    expect(os.listdir(desktop.saved) == ["500 files"], f"{os.listdir(desktop.saved)}")
    done = run(["diff", "-r", folder, os.path.join(desktop.saved, "500 files")], dict(os.environ))
    expect(done.code == 0, str(done))
    # No prompt is left.
    dunst.displayed(1)
    send()
    # The notification is shown at the receiver's own pace.
    until("a choice", lambda: dunst.menu() or "1 declined" in "".join(window.texts()))
    window.see("Declined").press("Close").miss("declined")


# The list of recent files, as GTK writes it.
RECENT = """<?xml version="1.0" encoding="UTF-8"?>
<xbel version="1.0" xmlns:bookmark="http://www.freedesktop.org/standards/desktop-bookmarks"
      xmlns:mime="http://www.freedesktop.org/standards/shared-mime-info">
  <bookmark href="{}" added="2026-01-01T00:00:00Z" modified="2026-01-01T00:00:00Z" visited="2026-01-01T00:00:00Z">
    <info><metadata owner="http://freedesktop.org"><mime:mime-type type="text/plain"/><bookmark:applications>
      <bookmark:application name="a" exec="a" modified="2026-01-01T00:00:00Z" count="1"/>
    </bookmark:applications></metadata></info>
  </bookmark>
</xbel>
"""


@test("files in the trash, recent files and files in an archive are sent from these places, others are refused")
def places(stage):
    desktop = Desktop(stage)
    thrown, recent, packed = names = [b"bad\xe9 'thrown' 100%.txt", b"recent \xe9.txt", b"packed.txt"]
    folder = pathlib.Path(files(stage, names))
    desktop.gio("trash", folder / os.fsdecode(thrown))
    with open(f"{desktop.share}/recently-used.xbel", "w") as file:
        file.write(RECENT.format((folder / os.fsdecode(recent)).as_uri()))
    archive = pathlib.Path(stage.folder, "archive.zip")
    with zipfile.ZipFile(archive, "w") as file:
        file.write(folder / os.fsdecode(packed), os.fsdecode(packed))
    # A place that is mounted, as remote ones are.
    mounted = f"archive://{quote(quote(archive.as_uri(), ''), '')}/"
    desktop.gio("mount", mounted)
    for name, title, place, file in (("thunar", "Trash", "trash:///", thrown), ("nemo", "Recent", "recent:///", recent),
                                     ("thunar", "/ in archive", mounted, packed)):
        manager = Manager(desktop, name, place, title=title)
        manager.send()
        shown = file.decode("utf-8", "replace")
        desktop.window.see(shown, f"{len(file) + 9} bytes").press("Send").see("Waiting until they are accepted there")
        found = take(desktop, 1, os.path.join(stage.folder, f"from-{len(file)}"))
        expect(found == {shown.encode(): b"words of " + file}, f"{name}: {found}")
        desktop.window.see("1 received").press("Close").miss("received")
        manager.close()
    desktop.run("handoff-settings", "--send", "--", "trash:///absent", "sftp://example.org/a")
    desktop.window.see("2 items", "It does not exist.", "not available as a local file", "None of the items can be sent.")


@test("dunst shows the progress of a file that arrives as a bar")
def bar(stage):
    bus = SessionBus(stage)
    desk = Desk(stage, bus)
    desk.saved = downloads(desk)
    dunst = Dunst(stage, bus, LOOK.format("/bin/false"), stage.folder)
    desk.start()
    path = os.path.join(stage.folder, "film.bin")
    with open(path, "wb") as file:
        for _ in range(256):
            file.write(os.urandom(1 << 20))
    limit_rate(stage, 400)
    desk.origin.follow("send", "taker", path)
    dunst.displayed(1)
    dunst.click()
    halt(desk, 64 << 20, lambda: desk.origin.process.send_signal(signal.SIGSTOP))
    until("a progress bar", lambda: content(os.path.join(stage.folder, "Xvfb_screen0")).count(HIGHLIGHT) > 300)


if __name__ == "__main__":
    main()
