"""The cost of each adapter for other programs while nothing changes: the part 'adapters' of Benchmarks/run."""

import json
import os
import subprocess
import time

import harness
from common import until
from idle_part import memory, processes, switches
from test_file_managers import FOLDER as MANAGERS
from test_file_managers import FileManager
from test_search import Search
from test_tray import Desk as TrayDesk
from windows import Screen, SettingsWindow

SETTLING, IDLING = 20, 120
# The files of each adapter. Lines without text and comments do not count.
SOURCES = {
    "tray": [f"Sources/{name}.swift" for name in (
        "DesktopBus/TrayItem", "DesktopBus/TrayMenu", "HandoffDesktopService/TrayRelay", "HandoffDaemon/Desktop/DesktopTray",
        "HandoffHandlers/Desktop/TrayContent")],
    "search": ["Integrations/search/handoff-search"],
    "text": ["Integrations/text/handoff-text"],
    "terminal": [f"Integrations/terminal/handoff{name}" for name in ("-terminal", ".bash", ".zsh", ".fish")],
    "file managers": [os.path.join("Integrations/file-managers", name) for name in sorted(os.listdir(MANAGERS))],
    "send dialog": [f"Settings/handoff_settings/{name}.py" for name in ("send_window", "send_rows", "sending", "process")],
}


def lines(path):
    with open(os.path.join(harness.ROOT, path)) as file:
        return sum(1 for line in file if line.strip() and not line.lstrip().startswith(("//", "#")))


def search(stage, daemon, bus):
    """The search provider after a query, within the minute before it exits."""
    search = Search(stage, daemon.environment, idle=1000, bus=bus)
    search.find("letter")
    owner = json.loads(subprocess.run(
        ["busctl", "--json=short", "--address=" + search.bus.environment["DBUS_SESSION_BUS_ADDRESS"], "call",
         "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", "dev.handoff1.Search"],
        capture_output=True, check=True).stdout)
    return owner["data"][0]


def manager(stage, daemon, bus):
    """A simulated file manager in whose process the extension runs."""
    settings = {name: daemon.environment[name] for name in ("HOME", "XDG_RUNTIME_DIR", "HANDOFF_SOCKET") if name in daemon.environment}
    found = FileManager(stage, "Nautilus", {**bus.environment, **settings})
    found.menu()
    return found.process.pid


def waiting(stage, daemon, _bus):
    """`handoffctl deliver` with an item for a device that is off."""
    gone = stage.daemon("gone")
    stage.join(daemon, gone)
    gone.stop()
    daemon.ctl("send", "--wait", "gone", stage.file("a.pdf", "words"))
    deliver = daemon.follow("deliver")
    deliver.wait("published")
    return deliver.process.pid


def dialog(stage, daemon, _bus):
    """The Send dialog with a file."""
    window = SettingsWindow(stage, Screen(stage), daemon, arguments=("--send", stage.file("b.pdf", "words")))
    window.see("b.pdf")
    return window.process.pid


def measure(stage, quick, spread):
    settling, idling = (5, 20) if quick else (SETTLING, IDLING)
    desk = TrayDesk(stage)
    desk.draft()
    pids = {"tray": next(pid for pid in processes(desk.daemon.process.pid) if pid != desk.daemon.process.pid)}
    alone = stage.daemon("alone")
    alone.ctl("account", "create")
    for name, start in (("search", search), ("file managers", manager), ("deliver", waiting), ("send dialog", dialog)):
        pids[name] = start(stage, alone, desk.bus)
    time.sleep(settling)
    before = {name: switches(pid) for name, pid in pids.items()}
    time.sleep(idling)
    figures = {}
    for name, pid in pids.items():
        figures[f"adapter wake-ups a minute, {name}"] = spread([(switches(pid) - before[name]) * 60 / idling])
        figures[f"adapter memory (PSS), {name}"] = spread([memory(pid)[1]])
    for name, files in SOURCES.items():
        figures[f"adapter lines, {name}"] = spread([sum(map(lines, files))])
    return figures, f"from {settling} s after the start on, for {idling} s"


def goals(figures):
    """The goals, in the form of Benchmarks/run."""
    kinds = {"adapter wake-ups a minute": ("", 0, "none"), "adapter memory (PSS)": ("MiB", None, ""), "adapter lines": ("", None, "")}
    return [(name, *kinds[name.partition(",")[0]]) for name in figures if name.partition(",")[0] in kinds]
