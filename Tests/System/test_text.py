#!/usr/bin/env python3
"""Texts that a user sends to a device: shown there and copied, not saved as files. Two daemons on loopback, a real bus, a
simulated notification server, and a virtual screen."""

import json
import os
import runpy
import subprocess

from browsers import until
from desk import received
from harness import ROOT, expect, main, test
from receiver import Receiver
from windows import PYTHON, Screen

PROGRAM = os.path.join(ROOT, "Integrations", "text", "handoff-text")
TEXT = "first line\n\u202eline\t<b>2</b> \x1b[2J é \u20ac\n"
# Prints the content of the clipboard, as a program into which it is pasted.
PASTE = """
import gi, sys
gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, GLib, Gtk
Gtk.init()
loop = GLib.MainLoop()
def read(clipboard, result):
    try:
        sys.stdout.write(clipboard.read_text_finish(result) or "")
    except GLib.Error:
        pass
    loop.quit()
Gdk.Display.get_default().get_clipboard().read_text_async(None, read)
loop.run()
"""


def receiver(stage, **environment):
    """Returns a device with the program, started as its manifest does in an installation."""
    desk = Receiver(stage, environment=environment)
    with open(os.path.join(ROOT, "packaging", "handlers", "dev.handoff1.text.json")) as file:
        manifest = json.load(file)
    desk.manifest("dev.handoff1.text", [PYTHON, "-B", PROGRAM], name=manifest["name"], types=manifest["types"])
    until("the app", lambda: any(app["id"] == "dev.handoff1.text" for app in desk.ctl("apps").lines))
    return desk


@test("a text is copied into the clipboard exactly")
def copied(stage):
    screen = Screen(stage)
    environment = {"DISPLAY": screen.display, "GDK_BACKEND": "x11", "NO_AT_BRIDGE": "1", "GSK_RENDERER": "cairo",
                   "GSETTINGS_BACKEND": "memory"}
    desk = receiver(stage, **environment)

    def paste():
        done = subprocess.run([PYTHON, "-c", PASTE], env={"PATH": "/usr/bin", **environment}, capture_output=True, timeout=30)
        return done.stdout.decode()

    send = desk.origin.follow("send", "taker", "--text", TEXT)
    prompt = desk.prompt("origin sent you first line")
    expect(prompt["actions"] == ["default", "Copy", "continue", "Copy", "dismiss", "Decline"], f"{prompt}")
    desk.server.choose(prompt["id"], "continue")
    until("the text", lambda: paste() == TEXT)
    expect(send.process.wait(20) == 0, f"the sender's command does not exit: {send.seen}")
    expect(not os.path.exists(desk.folder), "a file was saved")


@test("without a screen, a text is saved as a file, under another name if there is one")
def saved(stage):
    desk = receiver(stage)
    os.makedirs(desk.folder)
    for name in ("Text.txt", "Text (2).txt"):
        send = desk.origin.follow("send", "taker", "--text", TEXT)
        desk.server.choose(desk.prompt("origin sent you first line")["id"], "continue")
        received(os.path.join(desk.folder, name), TEXT.encode())
        expect(send.process.wait(20) == 0, f"the sender's command does not exit: {send.seen}")


@test("the window shows long lines completely, and hidden characters as escapes")
def escaped(stage):
    shown = runpy.run_path(PROGRAM)["shown"]
    text = shown("a" * 5000 + "\u202e\r\nb")
    expect(text == "a" * 5000 + "\\u{202E}\nb", f"{text[-40:]}")


@test("continue prints a text, and a long one is sent as a file")
def printed(stage):
    desk = Receiver(stage)
    send = desk.origin.follow("send", "taker", "--text", TEXT)
    identifier = send.wait("published")["id"]
    desk.watch.wait("added", id=identifier)
    line = desk.ctl("continue", "--print", identifier).line
    expect(line["type"] == "dev.handoff1.text" and line["userInfo"] == {"text": TEXT}, f"{line}")
    expect(send.process.wait(20) == 0, f"the sender's command does not exit: {send.seen}")
    text = "x" * 16_385
    send = desk.origin.follow("send", "taker", "--text", text)
    identifier = send.wait("published")["id"]
    desk.watch.wait("added", id=identifier)
    desk.ctl("continue", "--output", stage.folder, identifier)
    received(os.path.join(stage.folder, "Text.txt"), text.encode())


if __name__ == "__main__":
    main()
