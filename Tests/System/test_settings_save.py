#!/usr/bin/env python3
"""The window that saves items in a folder of the user's choice, with real daemons and `handoffctl`."""

import json
import os
import subprocess

from browsers import until
from harness import expect, main, run
from windows import PACKAGE, PYTHON, Screen, window_test as test

# Shows the window, without the dialog for the folder, and prints the texts once all items have ended.
PROGRAM = """
import json, os, sys
sys.path[:0] = [sys.argv[1], os.path.join(sys.argv[1], os.pardir, "Integrations", "python")]
import handoff_settings
import gi
gi.require_version("Gtk", "4.0")
gi.require_version("Adw", "1")
from gi.repository import Adw, Gio, GLib
from handoff_settings import saving
application = Adw.Application(application_id=saving.NAME, flags=Gio.ApplicationFlags.NON_UNIQUE)
def activate(_):
    window = saving.SavingWindow(application, [word.split("/") for word in sys.argv[3:]])
    window.present()
    window.save(Gio.File.new_for_path(sys.argv[2]))
    def poll():
        if not all(item.is_over for item in window._items):
            return True
        rows = [[row.get_title(), row.get_subtitle()] for row in window._rows]
        print(json.dumps({"rows": rows, "button": window._button.get_label()}), flush=True)
        application.quit()
        return False
    GLib.timeout_add(50, poll)
application.connect("activate", activate)
application.run([])
"""


@test("items are saved in the chosen folder, and each failure has its reason")
def saved(stage):
    screen = Screen(stage)
    origin, taker = stage.pair()
    names = ["<b>a.txt", "b\u202egpj.exe"]
    send = origin.follow("send", "taker", *(stage.file(name, f"words of {name}") for name in names))
    until("the offers", lambda: len(taker.ctl("list").lines) == 2)
    offers = taker.ctl("list").lines
    folder = os.path.join(stage.folder, "chosen & <i>")
    os.mkdir(folder)
    device = offers[0]["device"]
    items = [f"{device}/{offer['id']}" for offer in offers] + [f"{device}/{'0' * 32}"]
    shown = subprocess.run(
        [PYTHON, "-B", "-c", PROGRAM, PACKAGE, folder, *items], env=screen.environment(taker), capture_output=True, text=True,
        timeout=60)
    expect(shown.stdout and "CRITICAL" not in shown.stderr, f"{shown}")
    found = json.loads(shown.stdout)
    expect([row[1] for row in found["rows"][:2]] == ["Saved", "Saved"], f"{found}")
    expect(sorted(row[0] for row in found["rows"][:2]) == ["<b>a.txt", "b\\u{202E}gpj.exe"], f"{found}")
    expect("no activity on offer" in found["rows"][2][1] and found["button"] == "Open Folder", f"{found}")
    expect(send.process.wait(60) == 0, f"the sender's command does not exit: {send.seen}")
    expect(sorted(os.listdir(folder)) == ["<b>a.txt", "bgpj.exe"], f"{os.listdir(folder)}")


@test("invalid items are refused")
def refused(stage):
    screen = Screen(stage)
    environment = screen.environment(stage.daemon("taker", start=False))
    for words in ([], ["x"], ["../../etc/passwd"], ["--help"]):
        result = run([PYTHON, "-B", os.path.join(PACKAGE, "handoff-settings"), "--save", *words], environment)
        expect(result.code == 2 and "DEVICE/ACTIVITY" in result.output, f"{words}: {result}")


if __name__ == "__main__":
    main()
