#!/usr/bin/env python3
"""Offers in the real programs of desktops: the icon in the tray of Xfce's panel, the icon and the module in waybar, and the
search of GNOME Shell. Two daemons on loopback, virtual screens, and clicks and keys as of a user.

`test_tray.py` and `test_search.py` have the details, with simulated programs. KRunner is simulated there only, because it
would add the packages of Plasma.
"""

import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time

from bus import Reader, Writer
from desk import TYPE
from desk import Desk as AppDesk
from faults import library
from harness import BIN, ROOT, Failure, Skip, content, expect, main, tail, test, virtual_screen
from notifications import SessionBus
from pictures import on_display
from tray import Caller, Icon, Monitor

# Debian's Python, for which its package of PyGObject is built.
PYTHON = "/usr/bin/python3"
WIDTH, HEIGHT, BAR = 640, 400, 25
# The only icon, and the module of waybar. A menu opens at the click or below the bar.
ICON, MODULE = (10, BAR - 2), (WIDTH - 10, BAR - 2)
ICONS, MODULES = (0, 60), (WIDTH - 60, WIDTH)
# The middle of the first item, from the corner of a menu.
FIRST = (40, 18)
MARKUP = "<i></i>" * 5 + "x"
HOSTILE = [
    "<b>bold</b> & <span>", "&amp;&#0;&nosuch;", "a\nb\u202egnp.exe\u2066\x1b[2J\u200b", "_my_file__", "%s%n{}\\", "x" * 1000,
    "e" + "\u0301" * 100, "\u05d0\u05d1 \U0001f469\u200d\U0001f680", "--help", "$(id) `id`"]
PANEL = f"""<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="length" type="uint" value="100"/>
      <property name="size" type="uint" value="{BAR - 1}"/>
      <property name="plugin-ids" type="array"><value type="int" value="1"/></property>
    </property>
  </property>
  <property name="plugins" type="empty"><property name="plugin-1" type="string" value="systray"/></property>
</channel>
"""
SHELL, SEARCH = "org.gnome.Shell", "org.gnome.Shell.SearchProvider2"
KEYBOARD = "org.gnome.Mutter.RemoteDesktop"
RETURN, SUPER = 0xFF0D, 0xFFEB


def until(condition, what, within=30):
    limit = time.monotonic() + within
    while not (value := condition()):
        expect(time.monotonic() < limit, f"timed out waiting for {what}")
        time.sleep(0.05)  # Another process changes it at its own pace.
    return value


class Desk(AppDesk):
    """A device with a bus and a simulated app, and another device that offers activities."""

    def __init__(self, stage, *needed):
        for name in needed:
            if not shutil.which(name, path="/usr/bin"):
                raise Skip(f"{name} is not installed (scripts/setup --tests)")
        self.bus = SessionBus(stage)
        super().__init__(stage, self.bus, configuration="notifications = off\n")
        self.daemon.extra |= {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"}
        self.played = self.app("editor", TYPE, name="Editor", types=[TYPE])
        os.symlink(os.path.join(ROOT, "packaging", "icons"), os.path.join(self.system, "icons"))
        self.start()
        self.icon = Icon(self.bus)

    def environment(self, **more):
        return {**self.daemon.environment, **self.bus.environment, "PATH": f"{BIN}:/usr/bin:/bin", "NO_AT_BRIDGE": "1",
                "GSETTINGS_BACKEND": "memory", "XDG_DATA_DIRS": f"{self.system}:/usr/share",
                "XDG_CONFIG_HOME": os.path.join(self.home, ".config"), **more}

    def run(self, *words, **environment):
        """Starts a program of the desktop."""
        self.log = os.path.join(self.daemon.folder, f"{os.path.basename(words[0])}-{len(self.stage.processes)}.log")
        with open(self.log, "wb") as log:
            process = subprocess.Popen(
                words, env=self.environment(**environment), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.stage.processes.append(process)
        return process

    def xfce(self, screen):
        """Starts Xfce's panel."""
        if not os.path.exists(os.path.join(self.home, ".config", "xfce4")):
            self.write(self.home, ".config/xfce4/xfconf/xfce-perchannel-xml/xfce4-panel.xml", PANEL)
            self.run(*glob.glob("/usr/lib/*/xfce4/xfconf/xfconfd"))
        return self.run("xfce4-panel", "--disable-wm-check", DISPLAY=screen.display)

    def sway(self, screen):
        """Starts sway with waybar, with the module of docs/desktop.md. Only as a window of X, sway has a pointer."""
        with open(os.path.join(ROOT, "docs", "desktop.md")) as file:
            module = re.search(r"```json\n(\"custom/handoff.*?)```", file.read(), re.DOTALL)[1]
        bar = {"height": BAR, "modules-left": ["tray"], "modules-right": ["custom/handoff"], **json.loads(f"{{{module}}}")}
        self.write(self.home, ".config/waybar/config", json.dumps(bar))
        self.write(self.home, ".config/waybar/style.css", "* { font: 13px sans-serif; }")
        self.write(self.home, ".config/sway/config", f"output * resolution {WIDTH}x{HEIGHT}\nexec waybar\n")
        user = {"LD_PRELOAD": library("no_root")} if os.geteuid() == 0 else {}
        return self.run("sway", DISPLAY=screen.display, WLR_BACKENDS="x11", WLR_RENDERER="pixman", **user)

    def draft(self, title="Draft"):
        """Publishes an activity, and waits until the menu has it."""
        publish = self.publish(TYPE, f"--title={title}")
        self.icon.menu(lambda labels: labels[0] == f"{title} (Editor, origin)", title)
        return publish

    def continued(self, publish):
        """Waits until the app here has received the activity."""
        publish.wait("continued", deviceName="taker")
        until(lambda: publish.id.encode() in content(self.played), "the activity")

    def tray_process(self):
        """Returns the process of the tray."""
        body = Writer().text(self.icon.find()).data
        return Reader(self.icon.call("GetConnectionUnixProcessID", "s", body)).number()

    def faultless(self, *signs):
        """Checks that the last program reported no error about what it shows."""
        for sign in (b"markup", b"UTF-8", *signs):
            expect(sign not in content(self.log), f"{sign}: {tail(self.log)}")


class Screen:
    """A virtual screen with a bar at its top, and the pointer of its user."""

    def __init__(self, stage):
        self.stage, self.folder = stage, os.path.join(stage.folder, f"screen-{len(stage.processes)}")
        os.mkdir(self.folder)
        self.display = virtual_screen(stage, f"{WIDTH}x{HEIGHT}x24", "-fbdir", self.folder)

    def rows(self, top=BAR, bottom=HEIGHT - 30):
        """Returns the pixels of some rows: those between the bar and the place of the pointer."""
        data = content(os.path.join(self.folder, "Xvfb_screen0"))
        header = struct.unpack(">25I", data[:100])
        start, line = header[0] + header[19] * 12, header[12]
        return [data[start + y * line:start + y * line + 4 * WIDTH] for y in range(top, bottom)]

    def until(self, condition, what):
        """Waits for a condition of the picture, which is kept if it does not occur."""
        try:
            return until(condition, f"{what} on the screen")
        except Failure as error:
            path = os.path.join(self.stage.folder, f"{what}.png")
            with open(path, "wb") as file:
                file.write(on_display(content(os.path.join(self.folder, "Xvfb_screen0"))) or b"")
            raise Failure(f"{error}: {path}") from None

    def bar(self, icon=None, module=None):
        """Waits until the bar is drawn, with the icon or without it (None: either), and with the module or without it."""
        def drawn():
            (row,) = self.rows(BAR // 2, BAR // 2 + 1)
            colours = [{row[4 * x:4 * x + 4] for x in range(*part)} for part in (ICONS, MODULES)]
            return all(wanted is None or ((len(each) > 1) == wanted and each != {bytes(4)})
                       for wanted, each in zip((icon, module), colours))
        self.until(drawn, f"bar {icon} {module}")

    def use(self, *words):
        """Moves the pointer, clicks or types."""
        done = subprocess.run(["xdotool", *map(str, words)], capture_output=True, text=True,
                              env={"PATH": "/usr/bin", "DISPLAY": self.display})
        expect(done.returncode == 0, f"xdotool {words}: {done.stderr}")

    def box(self):
        """Returns the left, top, right and bottom of the menu or tooltip on the screen, or None."""
        rows = self.rows()
        nothing = rows[-1][:4]
        lines = [y for y, row in enumerate(rows) if row != nothing * WIDTH]
        columns = [x for x in range(WIDTH) if any(rows[y][4 * x:4 * x + 4] != nothing for y in lines)]
        # The pointer is narrower.
        return (columns[0], BAR + lines[0], columns[-1] + 1, BAR + lines[-1] + 1) if len(columns) > 50 else None

    def popup(self, *words):
        """Does something that opens a menu or a tooltip, and waits until it is drawn. Returns its box."""
        def opened():
            self.empty()
            self.use(*words)
            limit = time.monotonic() + 5
            # A part of it may be drawn first.
            while not ((box := self.box()) and box == self.box()) and time.monotonic() < limit:
                time.sleep(0.05)
            return box
        # A panel ignores clicks on an icon whose menu it has not read yet.
        return self.until(opened, "popup")

    def empty(self):
        """Clicks next to any menu, and waits until there is none."""
        self.use("mousemove", WIDTH // 2, HEIGHT - 2, "click", 1)
        self.until(lambda: len(set(self.rows())) == 1, "empty screen")


def opens(desk, screen, publish):
    """Opens the menu of the icon by a click, and chooses its first item by another, which continues an activity. Returns the
    width of the menu."""
    count = len(desk.icon.items())

    def opened():
        # A menu that opens while GTK replaces its items keeps its former height.
        left, top, right, bottom = screen.popup("mousemove", *ICON, "click", 1)
        return (left, top, right) if bottom - top > 20 * (count - 1) else None

    def chosen():
        # GTK ignores a click on an item just after the menu has opened.
        screen.use("click", 1)
        return not screen.box()

    left, top, right = until(opened, "a menu with all items")
    screen.use("mousemove", left + FIRST[0], top + FIRST[1])
    screen.until(chosen, "end of the menu")
    desk.continued(publish)
    screen.empty()
    return right - left


def hostile(desk, screen):
    """Opens menus with hostile titles. They are shown as text, and the panel still works."""
    widths = []
    for title in ("x", MARKUP):
        publish = desk.draft(title)
        screen.bar(icon=True)
        widths.append(opens(desk, screen, publish))
        publish.interrupt()
    # If the markup were interpreted, both would be equal.
    expect(widths[1] > widths[0] + 100, f"markup is interpreted: {widths}")
    for title in HOSTILE:
        publish = desk.publish(TYPE, f"--title={title}")
    desk.icon.menu(lambda labels: len(labels) == len(HOSTILE) + 2, "all of them")
    opens(desk, screen, publish)


# ---- Xfce --------------------------------------------------------------------------------------------------------------

@test("in Xfce's panel an offer shows the icon, a click opens its menu, and a click in the menu continues it")
def xfce(stage):
    desk = Desk(stage, "xfce4-panel", "xdotool")
    screen = Screen(stage)
    desk.xfce(screen)
    desk.icon.find()
    screen.bar(icon=False)
    publish = desk.draft()
    screen.bar(icon=True)
    opens(desk, screen, publish)
    publish.interrupt()
    screen.bar(icon=False)
    hostile(desk, screen)
    desk.faultless(b"CRITICAL")


@test("the icon is in Xfce's panel again when the panel has restarted, and when its tray was killed")
def restarted(stage):
    desk = Desk(stage, "xfce4-panel", "xdotool")
    screen = Screen(stage)
    panel = desk.xfce(screen)
    former = desk.icon.find()
    publish = desk.draft()

    def restart():
        # With --restart, the new panel can find the name of the old one on the bus, and exits.
        desk.run("xfce4-panel", "--quit", DISPLAY=screen.display)
        panel.wait(60)
        desk.xfce(screen)

    for end in (restart, lambda: os.kill(desk.tray_process(), signal.SIGKILL)):
        end()
        former = until(lambda: (tray := desk.icon.find()) != former and tray, "another tray")
        screen.bar(icon=True)
        opens(desk, screen, publish)


# ---- waybar ------------------------------------------------------------------------------------------------------------

@test("in waybar an offer shows the icon and the module, and clicks on both continue it")
def waybar(stage):
    desk = Desk(stage, "sway", "waybar", "xdotool")
    screen = Screen(stage)
    desk.sway(screen)
    desk.icon.find()
    screen.bar(icon=False, module=False)
    publish = desk.draft()
    screen.bar(icon=True, module=True)
    opens(desk, screen, publish)
    publish.interrupt()
    screen.bar(icon=False, module=False)
    publish = desk.draft("<b>R&D")
    screen.bar(icon=True, module=True)
    # The tooltip.
    screen.popup("mousemove", *MODULE)
    screen.use("click", 3)
    desk.continued(publish)
    publish.interrupt()
    hostile(desk, screen)
    # It creates its bar again, in the same process.
    os.kill(desk.tray_process(), signal.SIGUSR2)
    until(lambda: content(desk.log).count(b"Bar configured") == 2, "the next bar")
    publish = desk.draft()
    screen.bar(icon=True, module=True)
    opens(desk, screen, publish)
    desk.faultless(b"CRITICAL")


@test("two trays show the icon, and the second keeps it when the first exits")
def two(stage):
    desk = Desk(stage, "xfce4-panel", "sway", "waybar", "xdotool")
    first, second = Screen(stage), Screen(stage)
    panel = desk.xfce(first)
    tray = desk.icon.find()
    desk.sway(second)
    second.bar(icon=False)
    publish = desk.draft()
    for screen in (first, second):
        screen.bar(icon=True)
        opens(desk, screen, publish)
    panel.terminate()
    until(lambda: desk.icon.find() != tray, "the next tray")
    second.bar(icon=True)
    opens(desk, second, publish)


# ---- GNOME Shell -------------------------------------------------------------------------------------------------------

class Shell(Caller):
    """GNOME Shell without a screen, with the keyboard of a remote desktop, and with the installed files of the search."""

    def __init__(self, desk):
        if subprocess.run([PYTHON, "-c", "from gi.repository import Gio"], capture_output=True).returncode:
            raise Skip("PyGObject is not installed (scripts/setup --tests)")
        super().__init__(desk.bus)
        self.desk, self.pictures = desk, 0
        desk.entry("dev.handoff1.Settings", folder=desk.system)
        # Otherwise it watches the folder above, and loads all searches again five seconds after its own first file there.
        os.makedirs(os.path.join(desk.home, ".local", "share", "applications"))
        program = " ".join(["/usr/bin/env", *(f"{name}={value}" for name, value in desk.environment().items()), PYTHON, "-B",
                            os.path.join(ROOT, "Integrations", "search", "handoff-search")])
        for source, folder in (("gnome-shell.ini", os.path.join(desk.system, "gnome-shell", "search-providers")),
                               ("dev.handoff1.Search.service", desk.bus.services)):
            with open(os.path.join(ROOT, "Integrations", "search", source)) as file:
                desk.write(folder, source, file.read().replace("/usr/lib/handoff/handoff-search", program))
        self.monitor = Monitor(desk.bus)
        # It exits without a system bus.
        process = desk.run(
            "gnome-shell", "--headless", "--wayland", "--no-x11", "--virtual-monitor", "1024x700", LIBGL_ALWAYS_SOFTWARE="1",
            XDG_SESSION_TYPE="wayland", DBUS_SYSTEM_BUS_ADDRESS=f"unix:path={desk.bus.path}")
        self.wait_for_start(process)
        # The name of a program that may take screenshots.
        self.call("RequestName", "su", Writer().text("org.gnome.Screenshot").number(4).data)
        self.keyboard = "/" + KEYBOARD.replace(".", "/")
        (self.keyboard,) = self.request(KEYBOARD, self.keyboard, KEYBOARD, "CreateSession", kinds="o")
        self.request(KEYBOARD, self.keyboard, f"{KEYBOARD}.Session", "Start")

    def wait_for_start(self, process):
        def has_started():
            return b"GNOME Shell started" in content(self.desk.log)

        try:
            until(has_started, "the start of GNOME Shell", 10)
        except Failure:
            # It runs JavaScript between the fork and the exec of ibus-daemon, where some starts under load do not continue.
            for child in content(f"/proc/{process.pid}/task/{process.pid}/children").split():
                os.kill(int(child), signal.SIGKILL)
            until(has_started, "the start of GNOME Shell without ibus-daemon")

    def type(self, *keys):
        for key in keys:
            for is_pressed in (True, False):
                self.request(KEYBOARD, self.keyboard, f"{KEYBOARD}.Session", "NotifyKeyboardKeysym", "ub",
                             Writer().number(key).number(is_pressed))

    def overview(self):
        """Returns whether the overview is shown, which has the search."""
        return self.value(SHELL, "/org/gnome/Shell", SHELL, "OverviewActive")

    def picture(self):
        """Takes a screenshot, which is kept if the test fails."""
        self.pictures += 1
        path = os.path.join(self.desk.stage.folder, f"shell-{self.pictures}.png")
        name = f"{SHELL}.Screenshot"
        self.request(name, "/" + name.replace(".", "/"), name, "Screenshot", "bbs", Writer().number(0).number(0).text(path), "bs")
        return content(path)

    def called(self, method):
        """Waits until the shell has called a method of the search."""
        until(lambda: (SEARCH, method) in (message[:2] for message in self.monitor.messages), method)


@test("the search of GNOME Shell finds offers, also with hostile titles, and Return continues them")
def gnome(stage):
    desk = Desk(stage, "gnome-shell")
    shell = Shell(desk)
    # It shows five results.
    for titles in (["Quarterly report"], HOSTILE[:5], HOSTILE[5:]):
        publishes = [desk.publish(TYPE, f"--title=quarter {title}") for title in titles]
        if not shell.overview():
            shell.type(SUPER)
            until(shell.overview, "the overview")
        before = shell.picture()
        shell.monitor.messages.clear()
        shell.type(*b"quar")
        shell.called("GetResultMetas")
        shell.type(*b"ter")
        shell.called("GetSubsearchResultSet")
        until(lambda: shell.picture() != before, "the results")

        def closed():
            # Before the results are drawn, the key has no effect.
            shell.type(RETURN)
            return not shell.overview()

        until(closed, "the end of the overview")
        desk.continued(publishes[-1])
        for publish in publishes:
            publish.interrupt()
    desk.faultless(b"provider dev.handoff1")


if __name__ == "__main__":
    main()
