#!/usr/bin/env python3
"""Details of the window handoff-settings: large fonts and small screens, reasons for disabled
controls, problems with the button that solves them, and names for screen readers."""

import os
import re
import time

from browsers import until
from harness import expect, main, run
from pairing_stage import other_code
from windows import PACKAGE, Screen, SettingsWindow, WindowDesk as Desk, digits, window_test as test

SMALL = "1024x600x24"


def pairing(desk, stage):
    """Opens both dialogs of a pairing. Returns the windows, a wrong code, and the right one."""
    study, other = desk.windows[0], stage.daemon("Kitchen")
    kitchen = SettingsWindow(stage, desk.screen, other)
    study.press("Add a Device…")
    code = digits(study)
    kitchen.press("Join…")
    return study, kitchen, other_code(code), code


def join(kitchen, code):
    kitchen.do("type", name="Digits or link", text=code)
    kitchen.press("Join")


def whole(window, *buttons):
    for each in buttons:
        window.do("within", name=each)
    window.do("uncut")


def paired(stage, scale, size):
    desk = Desk(stage, "Study", screen=Screen(stage, size))
    study, kitchen, wrong, code = pairing(desk, stage)
    for window in (study, kitchen):
        window.do("font", scale=scale)
    whole(study, "Cancel", "Copy Link")
    whole(kitchen, "Cancel", "Join")
    join(kitchen, wrong)
    study.see("Attempts left: 4")
    kitchen.see("code is wrong")
    whole(study, "Cancel", "Copy Link")
    whole(kitchen, "Cancel", "Join")
    join(kitchen, code)
    study.see("Add Kitchen?", "Compare this number")
    whole(study, "Refuse", "Add Device")
    kitchen.see("Compare the number shown there")
    whole(kitchen, "Cancel")
    study.press("Add Device").see("Device Added", "Kitchen is now in your account.")
    kitchen.see("Joined")
    for window in (study, kitchen):
        whole(window, "Done")
        # No widget is smaller than its minimum size.
        window.do("whole")


@test("no wrong code clips a button of either pairing dialog")
def wrong_code(stage):
    paired(stage, 1, "1280x1024x24")


@test("neither fonts of twice the size nor small screens clip a button of either pairing dialog")
def large_font(stage):
    paired(stage, 2, SMALL)


@test("a disabled button has its reason next to it: a code of seven digits, a name that is too long or in use")
def reasons(stage):
    desk = Desk(stage, "Study", "Kitchen")
    lonely = SettingsWindow(stage, desk.screen, stage.daemon("Attic"))
    lonely.see("Welcome to Handoff")
    expect(lonely.do("spoken_twice") == [], f"first run: {lonely.do('spoken_twice')}")
    lonely.press("Join…").see("Enter the code to join.")
    expect(lonely.do("spoken_twice") == [], f"join: {lonely.do('spoken_twice')}")
    for text, reason in (("1234567", "This has 7 digits"), ("1", "This has 1 digit."), ("123456789", "This has 9 digits"),
                         ("1234567x", "nothing else"), ("handoff:pair/1/x", "incomplete")):
        lonely.do("type", name="Digits or link", text=text)
        lonely.see(reason)
    lonely.do("type", name="Digits or link", text="12345678")
    lonely.miss("A code has eight digits")
    study = desk.windows[0]
    study.press("Rename", row="Kitchen")
    for text, reason in (("", "Enter a name."), ("ü" * 33, "64 bytes"), ("study", "has this name")):
        study.do("type", text=text)
        study.see(reason)
        expect(study.do("sensitive", name="Rename")["sensitive"] is False, f"the name '{text}' is accepted")
    study.do("type", text="Pantry")
    study.miss("has this name").press("Rename").see("Pantry")


@test("an error is shown completely, and stays until it is closed")
def errors(stage):
    desk = Desk(stage, "Study")
    study = desk.windows[0]
    words = "the disk of the state folder is full, so nothing is stored; delete something on it, and do this again"
    for scale, width in ((1, 840), (2, 840), (1, 360)):
        study.do("font", scale=scale)
        study.do("size", width=width, height=560)
        text = f"{words} ({scale}, {width})"
        study.do("error", text=text)
        study.do("fits", text=text)
        study.do("uncut")
        study.do("close_toast", text=text)
        study.miss(text)


@test("a pause shows its end, is a single note and not a problem, and can be ended there")
def pause(stage):
    desk = Desk(stage, "Study", "Kitchen")
    study, daemon = desk.windows[0], desk.daemons[0]
    study.press("Switches").press("15 Minutes").see("Resume Now", "until")
    ends = daemon.ctl("status").line["holds"][0]["until"]
    words = time.strftime("until %H:%M", time.gmtime(ends))
    shown = [text for text in study.texts() if "until" in text and "until I" not in text.lower()]
    expect(shown and all(words in text or re.search(r"until \d+ \w+, \d\d:\d\d", text) for text in shown), f"{shown}: not {words}")
    study.press("Devices").see("Handoff is paused until").miss("problem")
    study.press("Problems").see("Passed Checks", "Handoff is paused until").miss("is switched off")
    study.press("Resume Now", row=next(text for text in study.texts() if "is paused until" in text))
    study.miss("is paused")
    expect(daemon.ctl("status").line["advertising"] is True, "it is still paused")


@test("documents of a device are saved without asking once its switch is on")
def accepted(stage):
    desk = Desk(stage, "Study", "Kitchen")
    study, daemon = desk.windows[0], desk.daemons[0]

    def limit():
        return next(each for each in daemon.ctl("devices").lines if each["name"] == "Kitchen")["acceptLimit"]

    study.press("Switches").see("Save Without Asking").do("switch", row="From Kitchen")
    until("it is accepted", lambda: limit() == 1 << 30)
    study.see("Documents of up to 1.1 GB").do("switch", row="From Kitchen")
    until("each item needs a confirmation", lambda: limit() is None)
    daemon.ctl("device", "accept", "Kitchen", "always", "--limit", "200M")
    study.see("Documents of up to 209.7 MB")


@test("the button of a problem applies its remedy")
def solved(stage):
    desk = Desk(stage, "Study", "Kitchen")
    study, daemon = desk.windows[0], desk.daemons[0]
    os.chmod(daemon.state, 0o755)
    study.press("Problems").see("chmod 700")
    study.press("Fix Permissions").miss("chmod 700")
    expect(os.stat(daemon.state).st_mode & 0o777 == 0o700, "the remedy is not applied")
    daemon.ctl("advertise", "off")
    study.see("dvertising is switched off").press("Turn On")
    until("advertising", lambda: daemon.ctl("status").line["advertising"])
    study.miss("dvertising is switched off")
    path = stage.file("<b>.txt", "words")
    daemon.ctl("send", "--wait", "Kitchen", path)
    os.unlink(path)
    expect(daemon.ctl("deliver").lines == [], "it is offered")
    study.press("Check Again").see("“<b>.txt” was not delivered to Kitchen", "no such file").press("Remove")
    study.miss("was not delivered")
    expect(daemon.ctl("list", "--mine").lines == [], "it is still listed")


@test("the title is centred, pages have shortcuts, and no name is spoken twice or missing")
def whole_window(stage):
    desk = Desk(stage, "Study", "Kitchen")
    study = desk.windows[0]
    handle = desk.daemons[0].follow("handle", "com.example.editing")
    desk.daemons[1].publish("com.example.editing", "--title", "Letter")
    study.see("Online")
    expect(study.do("centre", name="ViewSwitcherTitle")["off"] <= 1, f"{study.do('centre', name='ViewSwitcherTitle')}")
    for number, (page, text) in enumerate(
            (("devices", "Online"), ("offers", "Letter"), ("switches", "Pause"), ("problems", "Passed Checks"))):
        expect(study.do("action", name=f"win.page-{page}")["keys"] == [f"<Alt>{number + 1}"], "wrong shortcuts")
        study.see(text)
        expect(study.do("spoken_twice") == [], f"{page}: {study.do('spoken_twice')}")
        expect(study.do("nameless_menus") == [], f"{page}: {study.do('nameless_menus')}")
    expect(study.do("action", name="win.next-page")["keys"] == ["<Control>Page_Down"], "wrong shortcuts")
    study.see("Online")
    study.do("action", name="win.previous-page")
    study.see("Passed Checks")
    study.do("action", name="win.show-help-overlay")
    study.see("Next page", "Quit")
    handle.interrupt()


@test("--help needs no screen")
def help_text(stage):
    path = os.path.join(PACKAGE, "handoff-settings")
    for option in ("--help", "-h"):
        shown = run([path, option], {"PATH": "/usr/bin:/bin", "HOME": stage.folder, "LANG": "C.UTF-8"})
        expect(shown.code == 0 and "Usage: handoff-settings [LINK]" in shown.output and not shown.errors, str(shown))


if __name__ == "__main__":
    main()
