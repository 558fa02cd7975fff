#!/usr/bin/env python3
"""The window handoff-settings, used as a person uses it: real daemons on loopback, real windows on a virtual screen."""

import os
import shutil
import signal
import stat
import subprocess

import harness
from browsers import until
from desk import newer_state
from harness import ROOT, Skip, expect, main, run
from notifications import SessionBus
from pairing_stage import Call, other_code
from played_daemon import PlayedDaemon, message
from windows import PACKAGE, PYTHON, Screen, SettingsWindow, WindowDesk as Desk, digits, window_test as test

TYPE = "com.example.editing"
JOINED = "Device Added"


def account(daemon):
    return daemon.ctl("account", "show").line["account"]


def link_of(daemon):
    """The link of a pairing window at a daemon, and the window, which admits the device that has it."""
    call = Call(daemon, "Pair", automatic=True)
    return call.wait("opened")["window"]["link"], call


def program(stage, name, text):
    """Puts a program before the machine's own. Returns its folder."""
    folder = os.path.join(stage.folder, "programs")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return folder


# ---- Parts, without a screen -----------------------------------------------------------------------------------------

@test("its parts work: the client, the data that is read and displayed, links and codes")
def parts(stage):
    done = run(
        [PYTHON, "-B", os.path.join(ROOT, "Tests", "System", "settings_parts.py"), PACKAGE],
        {"PATH": os.environ["PATH"], "HOME": stage.folder, "TMPDIR": stage.folder, "LANG": "C.UTF-8", "TZ": "UTC"},
        90,
    )
    expect(done.code == 0, str(done))


# ---- Accounts --------------------------------------------------------------------------------------------------------

@test("two devices join one account using only their windows, by digits, with a confirmation of the other device")
def pairing(stage):
    desk = Desk(stage, "Study", "Kitchen", are_paired=False)
    study, kitchen = desk.windows
    study.see("Welcome to Handoff").press("Create")
    study.see("Study", "This device", "Add another device to use Handoff.").press("Add a Device…")
    code = digits(study)
    kitchen.see("Welcome to Handoff").press("Join…")
    kitchen.do("type", name="Digits or link", text=code)
    kitchen.press("Join")
    study.see("Add Kitchen?")
    # Both windows show the number that identifies the right device.
    identifier = desk.daemons[1].ctl("status").line["device"]
    kitchen.see("Study", "that this device can join", "Compare the number shown there", identifier[:7])
    study.see("Compare this number with the one on the screen of Kitchen", identifier[:7], "If they differ")
    # The cancel button as well.
    kitchen.do("whole")
    # Pressing Return immediately admits no device.
    expect("Refuse" in study.do("focused")["focus"], f"wrong focus: {study.do('focused')}")
    study.press("Add Device")
    study.see(JOINED, "Kitchen").press("Done")
    kitchen.see("Joined", "Study").press("Done")
    for window, other in ((study, "Kitchen"), (kitchen, "Study")):
        window.see(other, "Online").miss("Add another device to use Handoff.")
    expect(account(desk.daemons[0]) == account(desk.daemons[1]) is not None, "two accounts")


@test("a refused device is notified, a wrong code is counted, and the user can retry")
def refused(stage):
    desk = Desk(stage, "Study", are_paired=True)
    other = stage.daemon("Kitchen")
    study, kitchen = desk.windows[0], SettingsWindow(stage, desk.screen, other)
    study.press("Add a Device…")
    code = digits(study)
    kitchen.press("Join…")
    kitchen.do("type", name="Digits or link", text=other_code(code))
    kitchen.press("Join")
    study.see("An incorrect code was entered. Attempts left: 4")
    kitchen.see("code is wrong")
    kitchen.do("type", name="Digits or link", text=code)
    kitchen.press("Join")
    study.see("Add Kitchen?").press("Refuse")
    study.see("No Device Was Added", "Try Again")
    kitchen.see("Digits or link", "declined this device")
    expect(account(other) is None, "it is a member")


@test("an invalid code cannot be sent")
def no_code(stage):
    kitchen = Desk(stage, "Kitchen", are_paired=False).windows[0]
    kitchen.press("Join…")
    for text, is_good in (
        ("", False),
        ("1234567", False),
        ("1234 5678", True),
        ("1234-567x", False),
        ("handoff:pair/1/", False),
    ):
        kitchen.do("type", name="Digits or link", text=text)
        expect(kitchen.do("sensitive", name="Join")["sensitive"] == is_good, f"'{text}'")
    kitchen.press("Cancel").see("Welcome to Handoff")


@test("opening a link joins nothing before the user has agreed, whichever program opened it")
def by_link(stage):
    desk = Desk(stage, "Study")
    other = stage.daemon("Kitchen")
    link, pair = link_of(desk.daemons[0])
    kitchen = SettingsWindow(stage, desk.screen, other, link=link)
    kitchen.see("Join by This Link?", "127.0.0.1")
    expect("Cancel" in kitchen.do("focused")["focus"], f"wrong focus: {kitchen.do('focused')}")
    kitchen.do("enter")
    kitchen.see("Welcome to Handoff").miss("Join by This Link?")
    expect(account(other) is None, "it has joined without a confirmation")
    expect(pair.events() == ["opened"], f"it has called the other one: {pair.events()}")
    kitchen.do("quit")
    again = SettingsWindow(stage, desk.screen, other, link=link)
    again.see("Join by This Link?").press("Join")
    again.see("Joined", "Study").press("Done")
    again.see("Study", "Online")


@test("a link that is invalid, or opened on a device with an account, has no effect and is shown as plain text")
def bad_links(stage):
    desk = Desk(stage, "Study", are_paired=False)
    for link in (
        "handoff:pair/2/x/y:1",
        "handoff:<b>x</b>",
        "handoff:" + "a" * 9000,
        "handoff:pair/1/" + "a" * 26 + "/h:1%0A--option",
    ):
        window = SettingsWindow(stage, desk.screen, desk.daemons[0], link=link)
        window.see("This is not a pairing link").miss("Join by This Link?")
        expect(window.do("count")["windows"] == 1, "it has opened another window")
        window.do("quit")
    desk.windows[0].press("Create").see("This device")
    window = SettingsWindow(stage, desk.screen, desk.daemons[0], link="handoff:pair/1/" + "a" * 26 + "/127.0.0.1:9")
    window.see("already in an account").miss("Join by This Link?")


@test("a second start with a link shows it in the existing window, and the desktop opens links with this program")
def one_window(stage):
    for program_name in ("gio", "update-desktop-database"):
        if not shutil.which(program_name):
            raise Skip(f"{program_name} is not installed (scripts/setup --tests)")
    screen, bus = Screen(stage), SessionBus(stage)
    daemon = stage.daemon("Kitchen")
    window = SettingsWindow(stage, screen, daemon, bus=bus)
    window.see("Welcome to Handoff")
    # As the desktop does it: by the program for the scheme, from its entry.
    data = os.path.join(stage.folder, "data")
    os.makedirs(os.path.join(data, "applications"))
    entry = os.path.join(data, "applications", "dev.handoff1.Settings.desktop")
    folder = program(stage, "handoff-settings", f'#!/bin/sh\nexec {PYTHON} -B {PACKAGE}/handoff-settings "$@"\n')
    shutil.copy(os.path.join(PACKAGE, "dev.handoff1.Settings.desktop"), entry)
    environment = {**screen.environment(daemon, folder, bus), "XDG_DATA_HOME": data, "XDG_DATA_DIRS": "/usr/share"}
    made = subprocess.run(
        ["update-desktop-database", os.path.join(data, "applications")], env=environment, capture_output=True
    )
    expect(made.returncode == 0, f"{made}")
    for number, place in enumerate(("127.0.0.1:9", "127.0.0.1:10")):
        link = "handoff:pair/1/" + "a" * 26 + "/" + place
        # Once by the entry, which calls the bus, and once by the program itself.
        words = ["gio", "open", link] if number == 0 else [os.path.join(folder, "handoff-settings"), link]
        done = run(words, environment, 60)
        expect(done.code == 0, str(done))
        window.see("Join by This Link?", place)
        expect(window.do("count")["windows"] == 2, f"windows: {window.do('count')}")
    window.press("Cancel")
    until("one window", lambda: window.do("count")["windows"] == 1)


@test("a device is named and removed in the window, and the removed device shows it")
def devices(stage):
    desk = Desk(stage, "Study", "Kitchen")
    study, kitchen = desk.windows
    study.see("Kitchen", "Online")
    study.press("Rename", row="Kitchen")
    study.do("type", text="Pantry & <b>Co</b>")
    study.press("Rename")
    for window in (study, kitchen):
        window.see("Pantry & <b>Co</b>")
    study.press("Remove", row="Pantry & <b>Co</b>").see("Remove Pantry & <b>Co</b>?").press("Cancel")
    study.press("Remove", row="Pantry & <b>Co</b>").press("Remove")
    study.miss("Online").see("Add another device")
    expect(len(desk.daemons[0].ctl("devices").lines) == 1, "it is still listed")
    # It learns of it when the other device is next reachable, and reports it once.
    kitchen.see("This Device Was Removed", "Another device has removed this one").miss("problem").miss("latest key")
    kitchen.press("Leave the Account…").press("Leave")
    kitchen.see("Welcome to Handoff")


@test("the clipboard of another device is copied, and the window does not offer it again")
def clipboard(stage):
    desk = Desk(stage, "Study", "Kitchen")
    kitchen = desk.windows[1]
    kitchen.press("Offers").see("Nothing to Continue")
    text = "copied <b>\u20ac</b>\n"
    done = desk.daemons[0].follow("copy", stage.file("text", text))
    kitchen.see("Clipboard", "Study", "can be copied here")
    # Files are not copied here.
    kitchen.press("Copy", row="Clipboard").see("not available as text/plain")
    expect(done.interrupt() == 0, f"{done.seen}")
    kitchen.see("Nothing to Continue")
    with open(os.path.join(stage.folder, "text")) as file:
        desk.daemons[0].follow("copy", input=file).wait("published")
    kitchen.press("Copy", row="Clipboard").see("Copied")
    paste = ["xclip", "-selection", "clipboard", "-o", "-t"]
    environment = {"PATH": "/usr/bin", "DISPLAY": desk.screen.display}
    pasted = subprocess.run([*paste, "UTF8_STRING"], env=environment, capture_output=True, timeout=60).stdout
    expect(pasted.decode() == text, f"{pasted}")
    types = subprocess.run([*paste, "TARGETS"], env=environment, capture_output=True, timeout=60).stdout.decode().split("\n")
    expect("application/x-handoff-clipboard" in types, f"{types}")


# ---- Offers, switches ------------------------------------------------------------------------------------------------

@test("an offer appears without a refresh, is continued, and disappears")
def offers(stage):
    desk = Desk(stage, "Study", "Kitchen")
    kitchen = desk.windows[1]
    kitchen.press("Offers").see("Nothing to Continue", "appear here")
    publish = desk.daemons[0].publish(TYPE, "--title", "Shopping list")
    kitchen.see("Shopping list", "Study", "no app")
    expect(kitchen.do("sensitive", name="Continue", row="Shopping list")["sensitive"] is False, "nothing opens it")
    handle = desk.daemons[1].follow("handle", TYPE)
    kitchen.see("opens in").press("Continue", row="Shopping list").see("Opened in")
    handle.wait("continue")
    publish.wait("continued", deviceName="Kitchen")
    publish.interrupt()
    kitchen.see("Nothing to Continue")
    # The program that opens it may be removed.
    desk.daemons[0].publish(TYPE, "--title", "Letter")
    kitchen.see("Letter", "opens in")
    handle.interrupt()
    kitchen.see("no app")


@test("an activity of a device that is off is continued and reopened, with its state and what only the device could send")
def kept(stage):
    desk = Desk(stage, "Study", "Kitchen")
    study, kitchen = desk.daemons
    window = desk.windows[1].press("Offers")
    handle = kitchen.follow("handle", TYPE)
    title, shown = "<b>Draft</b>\u202e", "<b>Draft</b>\\u{202E}"
    owner = study.publish(TYPE, "--title", title, "--keep", "--stream", stage.file("film", "film"))
    window.see("Draft", "since", "opens in")
    study.stop()
    owner.process.kill()
    window.see(shown, "offline, as of", "Files and streams not available until Study is back")
    window.press("Continue", row=shown)
    expect((continued := handle.wait("continue"))["kept"]["state"] == "offline", f"not a copy: {continued}")
    window.see("Opened in", "not available until Study is back")
    # A live offer precedes it.
    study.start()
    window.see("Recent", "closed there at", "Files and streams no longer available").miss("On Your Other Devices")
    live = study.publish(TYPE + "2", "--title", "Live")
    window.see("Live", "On Your Other Devices")
    window.press("Reopen", row=shown)
    handle.wait("continue")
    window.see("closed there at")
    live.interrupt()
    window.miss("On Your Other Devices").see("Recent")
    # This device's own.
    own = kitchen.publish(TYPE, "--title", "Mine", "--keep")
    study.follow("watch").wait("added", title="Mine")
    own.interrupt()
    window.see("Mine", "closed here at")
    kitchen.ctl("withdraw", own.id)
    window.miss("Mine")
    # The setting.
    window.press("Switches").see("Keep Activities While Devices Sleep", "for 24 hours")
    with open(kitchen.configuration, "w") as file:
        file.write("keep = off\n")
    kitchen.process.send_signal(signal.SIGHUP)
    window.see("Activities end when their device goes to sleep")
    window.press("Offers").see("Nothing to Continue")


@test("exclusive editing is shown, an older state leads to a choice with the newer one, which its first device takes back", limit=120)
def newer(stage):
    desk = Desk(stage, "Study", "Kitchen")
    study, kitchen = desk.daemons
    windows = [each.press("Offers") for each in desk.windows]
    handles = [each.follow("handle", TYPE) for each in desk.daemons]
    draft, newer = newer_state(stage, study, kitchen)
    window = windows[1].see("Draft", "in use there since")
    for button, page in (("Open Older", 1), ("Continue Newer", 2)):
        window.press("Continue", row="Draft").see("A newer state has been on third since", "Open Older", "Continue Newer")
        window.press(button, row="Draft")
        content = handles[1].wait("continue")
        expect(content["userInfo"] == {"page": page}, f"another state: {content}")
        window.miss("A newer state")
    # The device that published the first state.
    windows[0].see("Continued from this device at").press("Take Back", row="Letter")
    expect(handles[0].wait("continue")["userInfo"] == {"page": 2}, "another state")


@test("an offer is opened in another app that continues it, and its page in the browser although an app continues it")
def choices(stage):
    desk = Desk(stage, "Study", "Kitchen")
    kitchen = desk.windows[1]
    kitchen.press("Offers")
    apps = {}
    for app in ("org.example.First", "org.example._Second_"):
        apps[app] = desk.daemons[1].follow("handle", TYPE, "--app", app)
        desk.daemons[0].publish(TYPE, "--title", f"Letter for {app}", "--web-url", "https://example.org/")
        kitchen.see(f"Letter for {app}")
    kitchen.see("opens in org.example._Second_")
    expect(kitchen.do("unlabelled") == [], f"a control without a name: {kitchen.do('unlabelled')}")
    for app, handle in apps.items():
        kitchen.do("choose", row=f"Letter for {app}", name=app)
        kitchen.see(f"Opened in {app}")
        handle.wait("continue")
    # The daemon has no screen for a browser.
    kitchen.do("choose", row="Letter for org.example.First", name="Web Browser")
    kitchen.see("cannot open the activity's web page https://example.org/")


def software(daemon):
    """Installs a software centre. Returns the file to which it writes the addresses that it opens."""
    home, record = os.path.join(daemon.folder, "home"), os.path.join(daemon.folder, "software")
    for name, text in (
        (".config/mimeapps.list", "[Default Applications]\nx-scheme-handler/appstream=software.desktop;\n"),
        ("data/applications/software.desktop",
         f"[Desktop Entry]\nType=Application\nName=Software\nExec={daemon.folder}/software.sh %u\n"
         "MimeType=x-scheme-handler/appstream;\n"),
    ):
        path = os.path.join(home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    with open(f"{daemon.folder}/software.sh", "w") as file:
        file.write(f"#!/bin/sh\nprintf '%s|' \"$@\" >'{record}.part'\nmv '{record}.part' '{record}'\n")
    os.chmod(f"{daemon.folder}/software.sh", 0o755)
    daemon.environment["XDG_DATA_HOME"] = os.path.join(home, "data")
    return record


@test("a missing app is opened in the software centre, if there is one and its id is valid")
def missing(stage):
    names = ["org.example.Planner", "--help", "a/b", "<b>", "x" * 10_000, "\ud800", "", None, 3]
    offers = [
        {"event": "added", "activity": {
            "id": f"{number:032}", "device": "0" * 64, "deviceName": "Laptop", "title": f"Offer {number}", "type": TYPE,
            "hasWebpageURL": True,
            "opens": {"kind": "nothing" if number else "app", "name": "_Editor", "reason": "no app",
                      "choices": [{"app": name, "name": name} for name in names] if number == 1 else "x"},
            "missing": [{"kind": "app", "name": name, "appStream": name}, {"kind": "folder", "name": name}, 3, {}]}}
        for number, name in enumerate(names)
    ]
    answers = {
        "FollowChanges": [{"changed": ["status", "devices", "apps"]}], "Watch": [*offers, {"event": "ready"}],
        "GetStatus": [{"name": "Study", "account": "a"}], "ListDevices": [{"devices": [{}, {}]}], "ListApps": [{"apps": []}],
    }

    def play(call):
        for parameters in answers.get(call["method"].rpartition(".")[2], []):
            yield message(parameters=parameters, **({"continues": True} if call.get("more") else {}))

    daemon = stage.daemon("Study", start=False)
    PlayedDaemon(os.path.dirname(daemon.socket), play, stays=True)
    screen = Screen(stage)
    window = SettingsWindow(stage, screen, daemon)
    window.press("Offers").see("Not on this device: the app org.example.Planner", "Offer 8")
    program = "from gi.repository import Gio; exit(Gio.AppInfo.get_default_for_uri_scheme('appstream') is not None)"
    own = subprocess.run([PYTHON, "-c", program], env=daemon.environment).returncode
    expect(("Open in Software" in window.texts()) == bool(own), "the button depends on a software centre")
    record = software(daemon)
    window = SettingsWindow(stage, screen, daemon)
    window.press("Offers").see("Not on this device: the app org.example.Planner", "Offer 8")
    expect(window.texts().count("Open in Software") == 1, f"an invalid id can be opened: {window.texts()}")
    expect(all(len(text) < 1500 for text in window.texts()), "a text without a limit")
    window.press("Open in Software", row="Offer 0")
    until("the software centre", lambda: os.path.exists(record))
    with open(record) as file:
        expect(file.read() == "appstream://org.example.Planner|", "a wrong address")


@test("a failed continuation shows the daemon's reason, which remains in its row")
def offer_fails(stage):
    desk = Desk(stage, "Study", "Kitchen")
    kitchen = desk.windows[1]
    # An app that accepts nothing.
    handle = desk.daemons[1].follow("handle", TYPE, "--exec", "false")
    desk.daemons[0].publish(TYPE, "--title", "Letter")
    kitchen.press("Offers").see("Letter", "opens in")
    kitchen.press("Continue", row="Letter")
    # In the row, below the program that opens it.
    kitchen.see("opens in handoffctl\nhandoffctl")
    # A frozen device, from which this one receives nothing.
    desk.daemons[0].process.send_signal(signal.SIGSTOP)
    try:
        kitchen.press("Continue", row="Letter").see("Study is not responding", within=60)
    finally:
        desk.daemons[0].process.send_signal(signal.SIGCONT)
    handle.interrupt()


@test("switches show the current state, whoever changed it, and change it")
def switches(stage):
    desk = Desk(stage, "Study")
    study, daemon = desk.windows[0], desk.daemons[0]
    offering, showing = "Offer My Activities", "Show Offers of Other Devices"
    study.press("Switches").see(offering, "Apps", "No Apps Yet")
    follow = lambda: {key: daemon.ctl("status").line[key] for key in ("advertising", "receiving")}
    study.do("switch", row=offering)
    study.see("Advertising is switched off")
    expect(follow() == {"advertising": False, "receiving": True}, f"{follow()}")
    daemon.ctl("resume")
    study.do("state", row=offering, is_on=True)
    study.press("One Hour").see("Resume Now", "until")
    expect(follow() == {"advertising": False, "receiving": False}, f"{follow()}")
    study.do("state", row=showing, is_on=False)
    study.press("Resume Now").do("state", row=showing, is_on=True)
    expect(follow() == {"advertising": True, "receiving": True}, f"{follow()}")
    daemon.follow("handle", TYPE)
    study.see("running")
    app = daemon.ctl("apps").line["id"]
    study.do("switch", row=app + "  ·  running")
    study.do("state", row=app + "  ·  running", is_on=False)
    until("an app that is off", lambda: daemon.ctl("apps").line["enabled"] is False, 40)
    study.do("state", row="Notifications for handoffctl", is_on=True)
    daemon.ctl("app", "enable", app)
    study.do("state", row=app + "  ·  running", is_on=True)


@test("notifications of an app are switched in the window, which also follows changes made elsewhere")
def muted(stage):
    desk = Desk(stage, "Study")
    study, daemon = desk.windows[0], desk.daemons[0]
    daemon.follow("handle", TYPE)
    row = "Notifications for handoffctl"
    study.press("Switches").see(row)
    study.do("state", row=row, is_on=True)
    study.do("switch", row=row)
    until("an app that is muted", lambda: daemon.ctl("apps").line["notified"] is False, 40)
    study.do("state", row=row, is_on=False)
    expect(daemon.ctl("apps").line["enabled"], "it is disabled altogether")
    daemon.ctl("app", "unmute", "handoffctl")
    study.do("state", row=row, is_on=True)
    daemon.ctl("app", "mute", "handoffctl")
    study.do("state", row=row, is_on=False)


# ---- Problems --------------------------------------------------------------------------------------------------------

@test("a problem is shown with its remedy, and disappears when it is solved")
def doctor(stage):
    desk = Desk(stage, "Study")
    study, daemon = desk.windows[0], desk.daemons[0]
    study.see("This device")
    os.chmod(daemon.state, 0o755)
    try:
        study.press("Problems").see("ther users can access the state folder", "chmod 700", "Passed Checks")
        # Above the other pages too.
        study.press("Devices").see("show details")
        study.press("1 problem: show details").see("chmod 700")
    finally:
        os.chmod(daemon.state, 0o700)
    study.press("Check Again").miss("chmod 700")
    # A remedy that the window offers is one step away.
    study.see("only device in its account").press("Add a Device…", row="This is the only device in its account").see(
        "Valid for"
    )
    study.press("Cancel").press("Devices").miss("show details")


@test("without handoffctl the reason is shown in place of the checks")
def no_doctor(stage):
    folder = program(stage, "handoffctl", "#!/bin/sh\necho 'handoffctl: no <such> luck' >&2\nexit 3\n")
    study = Desk(stage, "Study", programs=folder).windows[0]
    study.press("Problems").see("Cannot Check", "no <such> luck")


@test("a daemon that is not running is started by a button, and one that starts on its own is noticed")
def not_running(stage):
    screen = Screen(stage)
    daemon = stage.daemon("Study", start=False)
    folder = program(stage, "systemctl", "#!/bin/sh\necho \"Unit $3 <not> found.\" >&2\nexit 5\n")
    study = SettingsWindow(stage, screen, daemon, programs=folder)
    study.see("Handoff Is Not Running", "cannot reach handoffd").press("Start")
    study.see("Unit handoffd.service <not> found.")
    daemon.start()
    study.see("Welcome to Handoff").press("Create").see("This device")
    # An open dialog is kept in the meantime.
    study.press("Switches")
    daemon.stop()
    study.see("Handoff Is Not Running")
    daemon.start()
    study.see("Offer My Activities")
    daemon.kill()
    study.see("Handoff Is Not Running")
    daemon.start()
    study.see("Offer My Activities")


@test("a daemon that exits during a pairing is reported, and the window continues with the next one")
def gone_meanwhile(stage):
    desk = Desk(stage, "Study")
    study, daemon = desk.windows[0], desk.daemons[0]
    study.press("Add a Device…")
    digits(study)
    daemon.kill()
    study.see("No Device Was Added").press("Close")
    daemon.start()
    study.see("This device").press("Add a Device…")
    digits(study)


# ---- Hostile texts, small screens, screen readers --------------------------------------------------------------------

@test("names and titles of other devices are shown as text, including markup, control characters, and 10,000 characters")
def hostile(stage):
    desk = Desk(stage, "Study", "Kitchen")
    study, kitchen = desk.daemons
    window = desk.windows[1]
    for name in ("<b>bold</b>", "a\u202etxt.exe", "a\x07b\x1b[31m", "&amp; &", "%s%n", "\u0301" * 20, "_under_score"):
        kitchen.ctl("device", "rename", "Study" if name == "<b>bold</b>" else study.ctl("status").line["device"], name)
        shown = name.replace("\u202e", "\\u{202E}").replace("\x07", "\\u{7}").replace("\x1b", "\\u{1B}")
        window.see(shown)
    publishes = [
        study.publish(TYPE + str(number), "--title", title)
        for number, title in enumerate(
            (
                "<span foreground='red'>x</span> & <",
                "x" * 1024,
                "line\nline\u2028line",
                "<a href='https://example.org/'>here</a>",
            )
        )
    ]
    window.press("Offers")
    window.see("<a href='https://example.org/'>here</a>", "line\\u{A}line\\u{2028}line")
    expect(all(len(text) < 1500 for text in window.texts()), "a text without a limit")
    for publish in publishes:
        publish.interrupt()
    window.see("Nothing to Continue")
    window.press("Devices").press("Remove", row="_under_score").see("Remove _under_score?").press("Cancel")


@test("a window of 360 pixels shows everything, every control has a name, and no hidden spinner runs")
def narrow(stage):
    desk = Desk(stage, "Study", "Kitchen")
    study = desk.windows[0]
    study.see("Online")
    desk.daemons[1].publish(TYPE, "--title", "A rather long title of something that somebody does on another device")
    study.do("size", width=360, height=560)
    for page, text in (
        ("Devices", "Online"),
        ("Offers", "A rather long"),
        ("Switches", "Pause"),
        ("Problems", "Passed Checks"),
    ):
        study.press(page).see(text)
        expect(study.do("unlabelled") == [], f"{page}: {study.do('unlabelled')}")
    study.press("Devices").press("Add a Device…")
    digits(study)
    expect(study.do("unlabelled") == [], f"{study.do('unlabelled')}")
    study.press("Cancel").see("Add a Device…")
    expect(study.do("turning") == [], f"{study.do('turning')}")


@test("invalid replies, and texts of 10,000 characters, are shown as far as possible")
def hostile_daemon(stage):
    long, lone = "<b>" * 3_500, "a\ud800b\x00c"
    offers = [
        {
            "event": "added",
            "activity": {
                "id": str(number),
                "device": lone,
                "deviceName": long,
                "type": long,
                "title": title,
                "age": age,
            },
        }
        for number, (title, age) in enumerate([(long, 1e300), (lone, float("inf")), (None, "x"), ([], None)])
    ]
    answers = {
        "FollowChanges": [{"changed": ["status", "devices", "apps", 3, "x"]}],
        "Watch": [*offers, {"event": "ready"}, {"event": 7}, {"event": "added", "activity": [1]}, {}],
        "GetStatus": [
            {
                "name": lone,
                "account": long,
                "holds": [{"direction": "receive", "by": long, "message": long, "until": -1e300}, 3],
                "warnings": [long, lone, 3],
            }
        ],
        "ListDevices": [
            {
                "devices": [
                    {"id": long, "name": long, "kind": long, "heard": 1e300},
                    {"id": lone, "name": lone, "heard": "x"},
                    4,
                ]
            }
        ],
        "ListApps": [{"apps": [{"id": long, "name": lone}, {"id": lone, "name": long, "enabled": 3}, None]}],
    }

    def play(call):
        for parameters in answers.get(call["method"].rpartition(".")[2], []):
            yield message(parameters=parameters, **({"continues": True} if call.get("more") else {}))

    daemon = stage.daemon("Study", start=False)
    PlayedDaemon(os.path.dirname(daemon.socket), play, stays=True)
    window = SettingsWindow(stage, Screen(stage), daemon)
    window.see("a\\u{D800}b\\u{0}c", "<b><b>")
    for page in ("Offers", "Switches", "Problems", "Devices"):
        window.press(page)
        expect(all(len(text) < 1500 for text in window.texts()), "a text without a limit")
    window.press("Remove", row="a\\u{D800}b\\u{0}c").see("Remove a\\u{D800}b\\u{0}c?").press("Cancel")


# ---- The program -----------------------------------------------------------------------------------------------------

@test("the program prints its version, and what is missing without a screen")
def start(stage):
    path = os.path.join(PACKAGE, "handoff-settings")
    environment = {"PATH": "/usr/bin:/bin", "HOME": stage.folder, "LANG": "C.UTF-8"}
    version = run([path, "--version"], environment)
    ctl = run([os.path.join(harness.BIN, "handoffctl"), "--version"], environment)
    expect(version.code == 0 and version.output.split()[1] == ctl.output.split()[1], f"{version} {ctl}")
    blind = run([path], environment)
    expect(blind.code == 1 and "no display" in blind.errors and "Traceback" not in blind.errors, str(blind))
    expect(os.stat(path).st_mode & stat.S_IXUSR, "it cannot be run")


if __name__ == "__main__":
    main()
