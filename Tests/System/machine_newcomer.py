"""A new user's first hour on two booted machines, with only the packages: installed by apt, paired
in the window, a file sent and accepted, a page continued, a device removed. Needs root.

Every screen is saved as a picture in the folder that HANDOFF_PICTURES names (scripts/screenshots
newcomer). The times are printed.
"""

import contextlib
import json
import os
import subprocess
import time

from harness import ROOT, Failure, expect, main, test
from machines import HOME, MACHINES, Machines, package, session, window_package, write
from pictures import on_display
from windows import SettingsWindow

PICTURES = os.environ.get("HANDOFF_PICTURES")
TOOLS = "/opt/test"
# As large as the window needs, with room for notifications next to it.
DISPLAY, SIZE = ":0", (1280, 800)
# The area to the right of it.
BESIDE = 740
SCREEN = f"XDG_RUNTIME_DIR=/run/user/1000 DISPLAY={DISPLAY} GDK_BACKEND=x11 GSK_RENDERER=cairo GTK_A11Y=none NO_AT_BRIDGE=1"
LOOK = """[global]
font = Sans 12
width = 420
frame_width = 2
frame_color = "#3584e4"
padding = 16
horizontal_padding = 20
show_indicators = no
[urgency_low]
background = "#fafafa"
foreground = "#202020"
timeout = 0
"""
# The height of the browser's own controls.
BROWSER = "geometry=760x460+0+0\nstart_page=about:blank\n"
PAGE = """<!doctype html>
<title>Walks along the river</title>
<h1>Walks along the river</h1>
<p>From the station follow the towpath to the old mill, an hour and a half, and cross the bridge there.
<p>In winter the meadows on the other side are under water: stay on the near bank.
"""


class Times:
    """The duration of each step, and the state after it."""

    def __init__(self):
        self.lines = []

    @contextlib.contextmanager
    def __call__(self, step):
        began = time.monotonic()
        yield
        self.lines.append((step, time.monotonic() - began))

    def report(self):
        for step, seconds in self.lines:
            print(f"  {seconds:6.2f} s  {step}")


class Seat:
    """A machine with everything that a user sees: a display, notifications, a browser, and the window."""

    def __init__(self, stage, machine, name):
        self.stage, self.machine, self.name = stage, machine, name
        machine.root("hostname", name)
        machine.put(TOOLS, os.path.join(ROOT, "Tests", "System", "settings_driver.py"))
        write(machine, f"{HOME}/.config/dunst/dunstrc", LOOK)
        write(machine, f"{HOME}/.dillo/dillorc", BROWSER)
        machine.user("mkdir", "-p", f"{HOME}/display", f"{HOME}/pictures")
        self.run("screen", "Xvfb", DISPLAY, "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24", "-noreset", "-nolisten", "tcp", "-fbdir", f"{HOME}/display")
        machine.until("the display", lambda: machine.exists("/tmp/.X11-unix/X0"))
        # As the session of a desktop does for all programs that it starts.
        machine.systemctl("set-environment", f"DISPLAY={DISPLAY}")
        machine.systemctl("start", "dunst.service")
        machine.until("notifications", lambda: self.notifications() == 0)
        session(machine, "wayland")

    def run(self, unit, *words):
        self.machine.user("systemd-run", "--user", f"--unit={unit}", f"--setenv=DISPLAY={DISPLAY}", *words)

    def install(self):
        """Installs both packages from files. Their dependencies are already installed."""
        paths = [package(), window_package()]
        self.machine.put("/var/cache/test", *paths)
        return lambda: self.machine.apt("install", *(f"/var/cache/test/{os.path.basename(path)}" for path in paths))

    def open(self):
        self.window = Window(self)
        return self.window

    def bus(self, *words, code=0):
        return self.machine.user("busctl", "--user", "--json=short", *words, code=code)

    def notifications(self):
        """Returns the number of notifications on the screen, or None without a server."""
        found = self.bus("get-property", "org.freedesktop.Notifications", "/org/freedesktop/Notifications",
                         "org.dunstproject.cmd0", "displayedLength", code=None)
        return json.loads(found.output)["data"] if found.code == 0 else None

    def notified(self):
        """Waits for a notification."""
        self.machine.until("a notification", lambda: self.notifications() == 1)

    def click(self):
        """Clicks on the current notification."""
        self.bus("call", "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.dunstproject.cmd0",
                 "NotificationAction", "u", "0")

    def shot(self, name, *box):
        """Saves a picture of the display, or of a part of it."""
        limit = time.monotonic() + 30
        while True:
            done = subprocess.run([MACHINES, "exec", self.machine.name, "cat", f"{HOME}/display/Xvfb_screen0"],
                                  env={**os.environ, "LAB": self.machine.lab.name}, stdout=subprocess.PIPE, check=True)
            image = on_display(done.stdout, *box)
            if image:
                return keep(name, image)
            if time.monotonic() > limit:
                raise Failure(f"the screen is empty for {name}")
            time.sleep(0.05)  # There is no event for drawing.


class Window(SettingsWindow):
    """The window on a machine, from its package, in its user's session."""

    def __init__(self, seat):
        self.seat = seat
        stage, machine = seat.stage, seat.machine
        log = os.path.join(stage.folder, f"{machine.name}-window-{len(stage.processes)}.log")
        words = [MACHINES, "user", machine.name, "env", *SCREEN.split(), "/usr/bin/python3", "-B",
                 f"{TOOLS}/settings_driver.py", "/usr/share/handoff-settings"]
        self.start(stage, seat.name, words, {**os.environ, "LAB": machine.lab.name}, log)
        stage.windows = [*getattr(stage, "windows", []), self]

    def shot(self, name):
        """Saves a picture of it."""
        path = f"{HOME}/pictures/{name}.png"
        self.do("picture", path=path, scale=1)
        done = subprocess.run([MACHINES, "exec", self.seat.machine.name, "cat", path],
                              env={**os.environ, "LAB": self.seat.machine.lab.name}, stdout=subprocess.PIPE, check=True)
        keep(name, done.stdout)
        return self


def keep(name, image):
    expect(image[:4] == b"\x89PNG", f"{name} is not a picture")
    if PICTURES:
        os.makedirs(PICTURES, exist_ok=True)
        with open(os.path.join(PICTURES, f"newcomer-{name}.png"), "wb") as file:
            file.write(image)


def digits(window):
    window.see("Valid for")
    code = next((text for text in window.texts() if len(text) == 9 and text.replace(" ", "").isdigit()), None)
    expect(code, f"no code: {window.texts()}")
    return code


@test("a new user installs the packages, pairs two machines in the window, sends a file, continues a page, removes a device", limit=600)
def first_hour(stage):
    machines = Machines(stage, 2, install=False, releases=("desktop", "desktop")).machines
    desk, laptop = (Seat(stage, machine, name) for machine, name in zip(machines, ("desk", "laptop")))
    times = Times()

    installs = [seat.install() for seat in (desk, laptop)]
    for seat, install in zip((desk, laptop), installs):
        with times(f"apt installs both packages on {seat.name}"):
            install()
    entry = desk.machine.root("cat", "/usr/share/applications/dev.handoff1.Settings.desktop").output
    expect("\nName=Handoff\n" in entry and "NoDisplay" not in entry, f"it is in no menu: {entry}")

    began = time.monotonic()
    with times("the window opens on desk, which starts the daemon"):
        study = desk.open().see("Welcome to Handoff")
    study.shot("welcome")
    study.press("Create").see("desk", "This device", "Add another device to use Handoff.").shot("alone")
    with times("Add a Device… shows digits"):
        study.press("Add a Device…")
        code = digits(study)
    study.shot("digits")
    kitchen = laptop.open().see("Welcome to Handoff").press("Join…")
    kitchen.do("type", name="Digits or link", text=code)
    kitchen.shot("join")
    with times("Join is pressed on laptop, and desk asks"):
        kitchen.press("Join")
        study.see("Add laptop?")
    number = laptop.machine.ctl("status").line["device"][:7]
    kitchen.see("that this device can join", number).shot("number")
    study.see("Compare this number", number).shot("question")
    with times("Add Device is pressed, and both say that it is done"):
        study.press("Add Device").see("Device Added")
        kitchen.see("Joined")
    study.shot("added").press("Done")
    kitchen.shot("joined").press("Done")
    for window, other in ((study, "laptop"), (kitchen, "desk")):
        window.see(other, "Online")
    study.shot("devices")
    times.lines.append(("in all, from the first window to two paired devices, as fast as a test presses buttons",
                        time.monotonic() - began))

    # A file.
    content = os.urandom(3_000_000)
    desk.machine.user("sh", "-c", "cat >~/report.pdf", input=content)
    kitchen.press("Offers")
    with times("handoffctl send, and laptop shows it"):
        send = desk.machine.follow("send", "laptop", f"{HOME}/report.pdf")
        send.wait("published")
        laptop.notified()
        kitchen.see("report.pdf")
    laptop.shot("sent", BESIDE, 0, *SIZE)
    kitchen.shot("offers")
    with times("a click on the notification, and 3 MB are saved and said to be"):
        laptop.click()
        send.wait("stream", state="finished")
        expect(send.process.wait(30) == 0, "it still runs although it was accepted")
        laptop.machine.until("the file", lambda: laptop.machine.exists(f"{HOME}/Downloads/report.pdf"))
        laptop.notified()
    laptop.shot("saved", BESIDE, 0, *SIZE)
    sums = [seat.machine.user("sha256sum", path).output.split()[0]
            for seat, path in ((desk, f"{HOME}/report.pdf"), (laptop, f"{HOME}/Downloads/report.pdf"))]
    expect(sums[0] == sums[1], "the wrong file arrived")

    # A page, which the installed browser opens.
    write(desk.machine, f"{HOME}/site/walks.html", PAGE)
    desk.run("site", "python3", "-u", "-m", "http.server", "--directory", f"{HOME}/site", "8000")
    # Addresses of the local network are not offered, so the page has a host name.
    laptop.machine.root("sh", "-c", "echo 10.81.0.1 walks.example >>/etc/hosts")
    address = "http://walks.example:8000/walks.html"
    publish = desk.machine.follow("publish", address, "--title", "Walks along the river")
    published = publish.wait("published")["id"]
    kitchen.see("Walks along the river", "web browser").shot("page-offered")
    with times("Continue is pressed on laptop, and the browser there asks for the page"):
        kitchen.press("Continue", row="Walks along the river")
        desk.machine.until("the page", lambda: "GET /walks.html" in desk.machine.user(
            "journalctl", "--user", "--no-pager", "-u", "site").output)
    # Once the opener has exited, or has run for three seconds with the browser that it has started.
    kitchen.see("Opened")
    publish.wait("continued", deviceName="laptop")
    desk.machine.ctl("withdraw", published)
    kitchen.do("quit")
    laptop.shot("page", 0, 20, 760, 320)

    # A device that is removed.
    kitchen = laptop.open().see("desk", "Online")
    study.press("Remove", row="laptop").see("Remove laptop?").shot("remove")
    with times("Remove is pressed on desk, and laptop says so"):
        study.press("Remove").miss("Online")
        kitchen.see("removed")
    study.see("Add another device").shot("alone-again")
    kitchen.shot("removed").press("Leave the Account…").press("Leave").see("Welcome to Handoff")
    expect(len(desk.machine.ctl("devices").lines) == 1, "it is still listed")
    for window in stage.windows:
        window.faultless()
    times.report()


if __name__ == "__main__":
    main()
