#!/usr/bin/env python3
"""Notifications of activities on other devices, and the actions of a click. Runs two daemons on
loopback with a real bus, a simulated notification server (`notifications.py`) and simulated apps."""

import os
import queue
import signal
import time

from desk import TYPE, downloads, events, german, newer_state, received
from desk import Desk as AppDesk
from harness import Failure, Skip, expect, main, test
from logind import Logind, sleep, wake
from notifications import ALL, DISMISSED, EXPIRED, BusClient, Dunst, NotificationServer, Reader, SessionBus, Writer
from receiver import Receiver as FileReceiver
from receiver import film, receivers
from streaming import Connection
from user_manager import UserManager

OTHER = "com.example.other"
TOKEN = "gnome-shell/The Editor/1234-5-host_TIME678"


class Desk(AppDesk):
    """A device with a bus, a notification server and a simulated app, and another device that offers activities."""

    def __init__(self, stage, server=True, bus=True, capabilities=ALL, configuration="", extra=None):
        self.bus = bus if isinstance(bus, UserManager) else SessionBus(stage, start=bus)
        self.server = NotificationServer(self.bus, capabilities) if server else None
        super().__init__(stage, self.bus, log_level="debug", configuration=configuration)
        self.daemon.extra |= {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", **(extra or {})}
        self.played = self.app("editor", TYPE, name="Editor", types=[TYPE])
        self.browser()
        self.start()

    def shown(self, title, **fields):
        """Waits for the only notification of an activity with this title."""
        notification = self.server.one(summary=f"Editor: {title}", **fields)
        expect(notification["body"].split(" · ")[0] == "from origin", f"wrong: {notification}")
        return notification

    def why(self, activity, message, remedy=None):
        """Waits until 'why' gives this reason for a missing notification. Also checks doctor, which
        reports the same unless nothing is missing."""
        limit = time.monotonic() + 30
        while True:
            done = self.ctl("why", activity, code=None)
            check = next((line for line in done.lines if line["check"] == "notices"), {"message": str(done), "remedy": None})
            if message in check["message"] and (remedy is None) == (check["remedy"] is None) and (remedy or "") in (check["remedy"] or ""):
                break
            expect(time.monotonic() < limit, f"'{message}' expected: {check}")
            time.sleep(0.05)
        if remedy:
            found = [line for line in self.ctl("doctor", code=None).lines if line["check"] == "notices"]
            expect(any(line["state"] == "warning" and remedy in line["remedy"] for line in found), f"'{remedy}' expected: {found}")

    def logged(self, text, within=30):
        limit = time.monotonic() + within
        while time.monotonic() < limit:
            with open(self.daemon.log, errors="replace") as file:
                if text in file.read():
                    return
            time.sleep(0.02)  # The log shows it. There is nothing else to wait for.
        raise Failure(f"'{text}' is not in the log")


@test("an offer is shown with the app, the title, the device and its kind, and is withdrawn when it ends")
def shown(stage):
    desk = Desk(stage)
    publish = desk.publish(TYPE, "--title", "Draft")
    notification = desk.shown("Draft")
    expect(notification["app"] == "Handoff" and notification["replaces"] == 0, f"wrong: {notification}")
    expect(notification["actions"] == ["default", "Continue", "continue", "Continue", "dismiss", "Dismiss",
                                        "mute", "Mute Editor"], f"wrong: {notification}")
    hints = {"urgency": 0, "category": "device", "desktop-entry": "handoffd", "image-path": notification["icon"]}
    expect(notification["hints"] == hints, f"wrong: {notification}")
    expect(notification["timeout"] == -1, f"wrong: {notification}")
    kind = desk.daemon.ctl("list").line["deviceKind"]
    icon = {"laptop": "computer-laptop", "server": "network-server"}.get(kind, "computer")
    expect(notification["icon"] == icon, f"a {kind} has the icon {notification['icon']}")
    publish.interrupt()
    desk.server.none()
    expect(len(desk.server.seen) == 2, f"unexpected notifications: {desk.server.seen}")


@test("Continue starts the app with the token in its environment, and the app receives the activity")
def continued(stage):
    desk = Desk(stage)
    publish = desk.publish(TYPE, "--title", "Draft", "--user-info", '{"page": 3}')
    desk.server.choose(desk.shown("Draft")["id"], "default", TOKEN)
    environment = events(desk.played, "started")["environment"]
    expect(environment.get("XDG_ACTIVATION_TOKEN") == TOKEN, f"no token: {environment}")
    expect(environment.get("DESKTOP_STARTUP_ID") == TOKEN, f"no token: {environment}")
    expect(events(desk.played, "continue")["content"]["userInfo"] == {"page": 3}, "wrong activity")
    publish.wait("continued", deviceName="taker")
    desk.server.none()
    # The button also works when the app is already running.
    publish = desk.publish(TYPE, "--title", "Next")
    desk.server.choose(desk.shown("Next")["id"], "continue", TOKEN)
    publish.wait("continued", deviceName="taker")
    expect(len(desk.server.notified()) == 2, f"it was shown again: {desk.server.seen}")


@test("an app that the service manager starts receives the token in its unit's environment")
def continued_in_unit(stage):
    desk = Desk(stage, bus=UserManager(stage))
    desk.publish(TYPE, "--title", "Draft")
    desk.server.choose(desk.shown("Draft")["id"], "default", TOKEN)
    start = events(desk.played, "started")
    expect(start["environment"].get("XDG_ACTIVATION_TOKEN") == TOKEN, f"no token: {start['environment']}")
    expect("app-handoff-editor" in start["groups"], f"it has no unit of its own: {start['groups']}")
    events(desk.played, "continue")


@test("an action continues the activity that was shown, and not one that replaced it since")
def another_opener(stage):
    desk = Desk(stage)
    # From now on changes are shown some seconds later: the sixth ten seconds after the first.
    for title in ("1", "2", "3", "4", "5"):
        desk.publish(TYPE, "--title", title)
        notification = desk.shown(title)
        if title == "1":
            begin = time.monotonic()
    other = desk.record()
    desk.manifest("editor", desk.command(other, "--app", "editor"), name="Other", types=[TYPE])
    desk.opens(name="Other")
    shown = desk.server.notified()
    if len(shown) > 5 and time.monotonic() - begin >= 10:
        raise Skip("the machine is too slow: the change is shown before the action can be chosen", optional=True)
    expect(len(shown) == 5, f"it was already shown: {shown[5:]}")
    if time.monotonic() - begin >= 8:
        raise Skip("the machine is too slow: the change can be shown while the action is chosen", optional=True)
    desk.server.choose(notification["id"], "default", TOKEN)
    desk.server.one(summary="Could not continue 5", body="It has changed, and would now open in another app than the notification named")
    expect(not os.path.exists(desk.played) and not os.path.exists(other), "an app was started")


@test("an invalid token is dropped, and Continue works without it")
def bad_token(stage):
    desk = Desk(stage)
    desk.publish(TYPE, "--title", "Draft")
    desk.server.choose(desk.shown("Draft")["id"], "default", "a\nLD_PRELOAD=/tmp/x")
    environment = events(desk.played, "started")["environment"]
    expect(not {"XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID"} & environment.keys(), f"a token was passed: {environment}")
    events(desk.played, "continue")


@test("a device that was removed from its account is notified, with the next step")
def removed(stage):
    desk = Desk(stage)
    publish = desk.publish(TYPE, "--title", "Draft")
    desk.shown("Draft")
    desk.origin.ctl("device", "remove", "taker", "--yes", "--no-wait")
    notification = desk.server.one(summary="This device was removed from its account")
    expect("handoffctl join" in notification["body"] and notification["actions"] == [], f"wrong: {notification}")
    publish.interrupt()
    # The notification is shown once.
    expect(len(desk.server.notified()) == 2, f"unexpected notifications: {desk.server.seen}")


@test("a dismissed activity is not shown again, and the next activity is")
def dismissed(stage):
    desk = Desk(stage)
    first = desk.publish(TYPE, "--title", "First")
    desk.server.choose(desk.shown("First")["id"], "dismiss")
    desk.why(first.id, "was dismissed", f"handoffctl continue {first.id[:7]}")
    desk.publish(TYPE, "--title", "Second")
    notification = desk.shown("Second")
    desk.server.end(notification["id"], DISMISSED)
    desk.publish(TYPE, "--title", "Third")
    desk.server.end(desk.shown("Third")["id"], EXPIRED)
    desk.publish(TYPE, "--title", "Fourth")
    desk.shown("Fourth")
    titles = [entry["summary"] for entry in desk.server.notified()]
    expect(titles == [f"Editor: {word}" for word in ("First", "Second", "Third", "Fourth")], f"wrong: {titles}")
    expect(not os.path.exists(desk.played), "an app was started")


@test("a muted app is no longer shown, even after a restart, and its icon is that of its desktop entry")
def muted(stage):
    desk = Desk(stage)
    desk.entry("org.example.Painter", types=["com.example.painting"], extra="Icon=painter")
    publish = desk.publish("com.example.painting", "--title", "Sky")
    notification = desk.server.one(summary="The org.example.Painter: Sky", icon="painter")
    desk.why(publish.id, "its notification is shown")
    desk.server.choose(notification["id"], "mute", TOKEN)
    desk.server.none()
    desk.why(publish.id, "the app is muted", "handoffctl app unmute org.example.Painter")

    def app():
        return next(one for one in desk.ctl("apps").lines if one["id"] == "org.example.Painter")

    limit = time.monotonic() + 30
    while app()["notified"]:
        expect(time.monotonic() < limit, "it is not muted")
        time.sleep(0.02)
    expect(app()["enabled"], f"it is switched off: {app()}")
    desk.daemon.stop()
    desk.daemon.start()
    expect(not app()["notified"], "the restart lost the setting")
    desk.watch = desk.daemon.follow("watch")
    desk.watch.wait("added", title="Sky")
    desk.publish(TYPE, "--title", "Draft")
    desk.shown("Draft")
    expect(desk.ctl("app", "unmute", "org.example.P").line == {"version": 1, "unmuted": "org.example.Painter"}, "wrong reply")
    publish.interrupt()
    desk.publish("com.example.painting", "--title", "Sea")
    desk.server.one(summary="The org.example.Painter: Sea")


@test("the icon of an app is a name or a file, and an invalid one is replaced by that of the device")
def icons(stage):
    desk = Desk(stage)
    icon = os.path.join(desk.daemon.folder, "an icon.png")
    for name, given, shown, image in (
        ("File", icon, icon, "file://" + icon.replace(" ", "%20")),
        ("Unknown", "no-theme-has-this-icon", "no-theme-has-this-icon", "no-theme-has-this-icon"),
        ("Relative", "../../etc/x.png", None, None), ("Long", "/" + "x" * 300, None, None),
        ("Hidden", "a\u202eb", None, None),
    ):
        type = f"com.example.icon{name}"
        desk.entry(f"org.example.{name}", types=[type], extra=f"Icon={given}")
        publish = desk.publish(type, "--title", name)
        notification = desk.server.one(summary=f"The org.example.{name}: {name}")
        kind = desk.daemon.ctl("list").line["deviceKind"]
        device = {"laptop": "computer-laptop", "server": "network-server"}.get(kind, "computer")
        expect(notification["icon"] == (shown or device), f"wrong icon: {notification}")
        expect(notification["hints"]["image-path"] == (image or device), f"wrong image: {notification}")
        publish.interrupt()
        desk.server.none()


@test("an item that nothing here opens is reported to its recipient, with the missing app")
def unopened(stage):
    desk = Desk(stage)
    path = desk.write(desk.programs, "appstreamcli", "#!/bin/sh\ntest \"$2\" = org.example.Planner\n")
    os.chmod(path, 0o755)
    desk.publish("org.example.Planner.plan", "--title", "<b>Plan", "--to", "taker")
    body = ("Sent by origin: no app continues org.example.Planner.plan; install org.example.Planner "
            "(appstream://org.example.Planner)")
    notification = desk.server.one(summary="Could not continue <b>Plan", body=body)
    expect(notification["actions"] == [] and notification["hints"]["urgency"] == 1, f"wrong: {notification}")
    desk.entry("org.example.Planner", types=["org.example.Planner.plan"])
    desk.server.one(summary="origin sent you <b>Plan")


@test("a newer activity replaces the older one, which reappears when it ends")
def replaced(stage):
    desk = Desk(stage)
    desk.publish(TYPE, "--title", "First")
    first = desk.shown("First")
    second = desk.publish(TYPE, "--title", "Second")
    expect(desk.shown("Second", replaces=first["id"])["id"] == first["id"], "it has its own notification")
    second.interrupt()
    desk.shown("First", id=first["id"])


@test("a notification is withdrawn when the other device goes offline, receiving is off, or the daemon stops")
def withdrawn(stage):
    desk = Desk(stage)
    desk.publish(TYPE, "--title", "Draft", "--no-keep")
    desk.shown("Draft")
    desk.daemon.ctl("receive", "off")
    desk.server.none()
    desk.daemon.ctl("receive", "on")
    desk.shown("Draft")
    desk.daemon.ctl("receive", "off", "--device", "origin")
    desk.server.none()
    desk.daemon.ctl("receive", "on", "--device", "origin")
    desk.shown("Draft")
    desk.daemon.ctl("app", "disable", "editor")
    desk.server.none()
    desk.daemon.ctl("app", "enable", "editor")
    desk.shown("Draft")
    expect(desk.daemon.stop() == 0, "the daemon did not exit cleanly")
    desk.server.none()
    desk.daemon.start()
    desk.shown("Draft", within=40)
    desk.origin.stop()
    desk.server.none()


@test("a device that goes to sleep changes the text of its notification, and Continue reports the state of the copy")
def kept(stage):
    desk = Desk(stage)
    logind = Logind(stage)
    desk.origin.stop()
    desk.origin.extra = logind.environment
    desk.origin.start()
    # The older one is no prompt when the device goes to sleep.
    desk.publish(TYPE, "--title", "Older")
    desk.shown("Older")
    publish = desk.publish(TYPE, "--title", "<b>Draft</b>", "--stream", desk.stage.file("film", "film"))
    notification = desk.shown("<b>Draft</b>")
    count = len(desk.server.notified())
    sleep(logind, desk.origin)
    desk.server.wait(lambda server: any("asleep since" in each["body"] for each in server.standing.values()), "the changed text")
    kept = desk.shown("<b>Draft</b>")
    expect(kept["id"] == notification["id"], f"another notification: {notification} {kept}")
    for words in (", as of ", " · files and streams not available until origin is back", " · 1 more available"):
        expect(words in kept["body"], f"'{words}' expected: {kept}")
    expect(len(desk.server.notified()) == count + 1, f"more prompts: {desk.server.notified()}")
    desk.server.choose(kept["id"], "continue")
    expect(events(desk.played, "continue")["content"]["kept"]["state"] == "asleep", "not a copy")
    result = desk.server.one(summary="Continued: <b>Draft</b>")
    expect("asleep since" in result["body"] and "not available until origin is back" in result["body"], f"wrong: {result}")
    desk.server.end(result["id"], DISMISSED)
    wake(logind, desk.origin)
    publish.wait("continued")
    desk.server.none()


@test("an older state is not continued until the user has chosen it in a second notification, which names the newer one")
def newer(stage):
    desk = Desk(stage)
    newer_state(stage, desk.origin, desk.daemon)
    desk.server.wait(lambda server: {"from origin", "from third · in use there"} == {
        each["body"] for each in server.standing.values()}, "both offers")
    offer = next(each for each in desk.server.notified() if each["body"] == "from origin")
    desk.server.choose(offer["id"], "continue")
    summary = "Draft is newer on third"
    desk.server.wait(lambda server: any(each["summary"] == summary for each in server.standing.values()), "the choice")
    choice = next(each for each in desk.server.notified() if each["summary"] == summary)
    expect(choice["actions"] == ["default", "Continue Newer", "newer", "Continue Newer", "older", "Open Older"]
           and choice["body"].startswith("since ") and choice["hints"]["urgency"] == 1, f"wrong: {choice}")
    desk.server.choose(choice["id"], "older")
    expect(events(desk.played, "continue")["content"]["userInfo"] == {"page": 1}, "not the chosen state")
    expect(not any("Could not" in each["summary"] for each in desk.server.notified()), f"a failure: {desk.server.seen}")


@test("a copy that a starting device learns of is shown, and an activity that was closed there is not")
def learned(stage):
    desk = Desk(stage)
    third = stage.daemon("third")
    stage.join(desk.origin, third)
    # Each of them knows that the other is online.
    publish, other = desk.publish(TYPE, "--title", "Draft", "--keep"), third.publish(OTHER)
    third.follow("watch").wait("added", id=publish.id)
    desk.origin.follow("watch").wait("added", id=other.id)
    desk.shown("Draft")
    desk.daemon.stop()
    desk.server.none()
    desk.origin.stop()
    publish.process.kill()
    desk.daemon.start()
    expect(", as of " in desk.shown("Draft", within=40)["body"], f"no state: {desk.server.notified()}")
    # Another one that its app has closed.
    desk.origin.start()
    desk.server.none()
    closed = desk.origin.publish(TYPE, "--title", "Closed", "--keep")
    desk.shown("Closed")
    closed.interrupt()
    desk.server.none()
    # Its copy arrives after the end of the offer.
    desk.why(closed.id, "the activity was closed there")


@test("an activity that nothing here continues is not shown")
def not_openable(stage):
    desk = Desk(stage)
    desk.publish(OTHER, "--title", "Other")
    draft = desk.publish(TYPE, "--title", "Draft")
    desk.publish(OTHER, "--title", "More")
    desk.shown("Draft")
    draft.interrupt()
    desk.server.none()
    expect(len(desk.server.notified()) == 1, f"unexpected notifications: {desk.server.seen}")


@test("a web page is shown as a web page")
def page(stage):
    desk = Desk(stage)
    desk.publish(OTHER, "--title", "News", "--web-url", "https://example.org/")
    desk.server.one(summary="Web browser: News", body="from origin")


@test("an activity that is continued in another way is withdrawn")
def continued_elsewhere(stage):
    desk = Desk(stage)
    publish = desk.publish(TYPE, "--title", "Draft")
    desk.shown("Draft")
    desk.daemon.ctl("continue")
    desk.server.none()
    publish.wait("continued")
    expect(len(desk.server.notified()) == 1, f"it was shown again: {desk.server.seen}")


@test("a failed continuation shows the reason in the same notification")
def failed(stage):
    desk = Desk(stage)
    publish = desk.publish(TYPE, "--title", "Draft")
    desk.shown("Draft")
    desk.manifest("editor", ["/bin/false"], name="Broken", types=[TYPE])
    desk.server.choose(desk.server.one(summary="Broken: Draft")["id"], "continue")
    notification = desk.server.one(summary="Could not continue Draft")
    expect("status 1" in notification["body"] and notification["actions"] == [], f"wrong: {notification}")
    desk.server.choose(notification["id"], "default")
    desk.publish(TYPE, "--title", "Next")
    desk.server.one(summary="Broken: Next")
    expect(len(desk.server.notified()) == 4, f"wrong: {desk.server.seen}")
    publish.interrupt()


class FileManager(BusClient):
    """A file manager that shows files to other programs. `shown` receives its arguments and the token."""

    def __init__(self, bus):
        self.shown = queue.Queue()
        super().__init__(bus)
        body = Writer().text("org.freedesktop.FileManager1").number(4).data
        expect(Reader(self.call("RequestName", "su", body)).number() == 1, "the name is in use")

    def called(self, call):
        reader = Reader(call["body"])
        self.shown.put((call["member"], reader.texts(), reader.text()))
        self.reply(call)


def words(record):
    """Returns the arguments of a simulated opener, once it was called."""
    limit = time.monotonic() + 30
    while not os.path.exists(record):
        expect(time.monotonic() < limit, "no file was opened")
        time.sleep(0.02)
    with open(record) as file:
        found = file.read().splitlines()
    os.remove(record)
    return found


class Receiver(Desk):
    """A device that receives files, each after a click on its notification."""

    def __init__(self, stage):
        super().__init__(stage)
        self.folder = downloads(self)
        self.opened = self.browser()

    def fetch(self, name):
        self.publish(self.stage.file(name, f"words of {name}"))
        self.server.choose(self.server.one(summary=f"Downloads: {name}")["id"], "continue", TOKEN)
        return os.path.join(self.folder, name)


@test("a chosen file is reported once it is saved, and can be opened or shown in its folder")
def saved(stage):
    desk = Receiver(stage)
    path = desk.fetch("report.pdf")
    note = desk.server.one(summary="report.pdf saved to Fetched", body="from origin")
    expect(note["actions"] == ["default", "Open", "open", "Open", "show", "Show in Folder"], f"wrong: {note}")
    received(path, b"words of report.pdf")
    desk.server.choose(note["id"], "default", TOKEN)
    expect(words(desk.opened) == [path], "the wrong file was opened")
    manager = FileManager(desk.bus)
    path = desk.fetch("last one.txt")
    desk.server.choose(desk.server.one(summary="last one.txt saved to Fetched")["id"], "show", TOKEN)
    shown = manager.shown.get(timeout=60)
    expect(shown == ("ShowItems", [f"file://{path.replace(' ', '%20')}"], TOKEN), f"wrong: {shown}")
    expect(not os.path.exists(desk.opened), "the folder was opened, too")


@test("a file that could be run is only shown in its folder, and the reason for an unsaved file is shown")
def not_opened(stage):
    desk = Receiver(stage)
    desk.fetch("evil.desktop")
    desk.server.choose(desk.server.one(summary="evil.desktop saved to Fetched")["id"], "open", TOKEN)
    # Opens the folder, because no file manager can show a file in it.
    expect(words(desk.opened) == [desk.folder], "the wrong file was opened")
    os.rename(desk.folder, desk.folder + " of before")
    with open(desk.folder, "w") as file:
        file.write("no folder")
    desk.fetch("report.pdf")
    note = desk.server.one(summary="Could not save report.pdf")
    expect("Fetched" in note["body"] and note["actions"] == [], f"wrong: {note}")


@test("without a server nothing is shown, and one that starts later shows the current offers")
def server_later(stage):
    desk = Desk(stage, server=False)
    draft = desk.publish(TYPE, "--title", "Draft")
    desk.logged("capabilities=none")
    desk.why(draft.id, "no notification server responds", "dunst")
    desk.daemon.is_well()
    desk.server = NotificationServer(desk.bus)
    first = desk.shown("Draft")
    # The server is restarted and has no state.
    desk.server.close()
    desk.server = NotificationServer(desk.bus, first=1000)
    expect(desk.shown("Draft")["replaces"] == 0 and first["id"] == 1, "an id of the former server")
    desk.server.choose(desk.server.one()["id"], "default")
    events(desk.played, "continue")


@test("a bus that starts later is found, and a bus that stops does no harm")
def bus_later(stage):
    desk = Desk(stage, server=False, bus=False)
    desk.publish(TYPE, "--title", "Draft")
    desk.daemon.is_well()
    desk.bus.start()
    desk.server = NotificationServer(desk.bus)
    desk.shown("Draft")
    desk.bus.stop()
    desk.daemon.is_well()
    desk.bus.start()
    desk.server = NotificationServer(desk.bus)
    desk.shown("Draft")


@test("a server that the bus can start is started for the first offer, and not before")
def activated(stage):
    desk = Desk(stage, server=False)
    mark = os.path.join(stage.folder, "mark")
    program = stage.file("server", f"#!/bin/sh\necho started >>{mark}\nexit 1\n")
    os.chmod(program, 0o755)
    desk.bus.activate(program)
    # A bus rereads the files only on request.
    BusClient(desk.bus).call("ReloadConfig")
    desk.publish(OTHER)
    expect(not os.path.exists(mark), "it was started for an activity that nothing opens")
    desk.publish(TYPE, "--title", "Draft")
    desk.logged("capabilities=none")
    for number in range(5):
        desk.publish(TYPE, "--title", f"Draft {number}")
    with open(mark) as file:
        expect(len(file.readlines()) == 1, "a server that fails to start was started repeatedly")
    desk.daemon.is_well()


@test("a locked screen shows nothing, and unlocking shows the current offers")
def locked(stage):
    logind = Logind(stage)
    logind.session("2", Type="wayland", LockedHint=True)
    desk = Desk(stage, extra=logind.environment, configuration="lock-delay = 0 s\n")

    def lock():
        logind.session("2", LockedHint=True)
        limit = time.monotonic() + 30
        while desk.daemon.ctl("status").line["advertising"]:
            if time.monotonic() > limit:
                raise Failure("the daemon does not know that the screen is locked")
            time.sleep(0.02)  # The daemon queries this at its own pace.

    desk.publish(TYPE, "--title", "Draft")
    desk.daemon.is_well()
    expect(desk.server.queries == 0, "the server was called while the screen was locked")
    logind.session("2", LockedHint=False)
    desk.server.end(desk.shown("Draft")["id"], EXPIRED)
    lock()
    logind.session("2", LockedHint=False)
    desk.shown("Draft")
    lock()
    desk.server.none()
    desk.publish(TYPE, "--title", "Secret").interrupt()
    later = desk.publish(TYPE, "--title", "Later")
    logind.session("2", LockedHint=False)
    desk.server.choose(desk.shown("Later")["id"], "dismiss")
    # The lock and the choice arrive over different buses.
    desk.why(later.id, "was dismissed", f"handoffctl continue {later.id[:7]}")
    # A dismissed offer is not shown again. Only a timeout could prove that it is not, so wait for
    # another device's offer.
    lock()
    logind.session("2", LockedHint=False)
    desk.publish(TYPE, "--title", "Last")
    desk.shown("Last")
    titles = [entry["summary"] for entry in desk.server.notified()]
    expect(titles == [f"Editor: {word}" for word in ("Draft", "Draft", "Later", "Last")], f"wrong: {titles}")


@test("without a session nothing is shown, and logging in shows the current offers")
def deserted(stage):
    logind = Logind(stage)
    desk = Desk(stage, extra=logind.environment)
    desk.publish(TYPE, "--title", "Draft")
    desk.daemon.is_well()
    expect(desk.server.queries == 0, "the server was called without a session")
    logind.session("2", Type="wayland")
    desk.shown("Draft")
    logind.end("2")
    desk.server.none()


@test("an app that changes its activity a thousand times changes the screen a few times, and the last state is shown")
def flood(stage):
    desk = Desk(stage)
    calls, app = Connection(desk.origin), Connection(desk.origin)
    app.send("dev.handoff1.Attach", more=True, app="writer", types=[])
    session = app.wait("attached")["session"]
    activity = calls.call("dev.handoff1.Publish", session=session, activity={"type": TYPE, "title": "0"})["activity"]
    calls.call("dev.handoff1.BecomeCurrent", session=session, activity=activity)
    desk.shown("0")
    begin = time.monotonic()
    for number in range(1, 1001):
        if number % 3:
            calls.call("dev.handoff1.Update", session=session, activity=activity, change={"title": str(number)})
        else:
            calls.call("dev.handoff1.ResignCurrent", session=session, activity=activity)
            calls.call("dev.handoff1.BecomeCurrent", session=session, activity=activity)
    desk.shown("1000", within=50)
    seconds = time.monotonic() - begin
    shown = [entry for entry in desk.server.notified()]
    limit = 6 + seconds / 10
    expect(len(shown) <= limit, f"{len(shown)} changes of the screen in {seconds:.1f} s")
    print(f"  1,000 changes: {len(shown)} calls of Notify, {len(desk.server.seen) - len(shown)} withdrawals, {seconds:.1f} s")


@test("text of other devices is one line, is truncated, and is never markup")
def hostile(stage):
    desk = Desk(stage)
    desk.publish(TYPE, "--title", "<b>a</b>\n&amp;\u202e\u0007 " + "x" * 900)
    notification = desk.server.one()
    expect(notification["summary"].startswith("Editor: <b>a</b> &amp; xxx"), f"wrong: {notification}")
    expect(len(notification["summary"]) < 120 and notification["summary"].endswith("…"), f"wrong: {notification}")
    desk.origin.ctl("device", "rename", "origin", "<i>&'\"")
    desk.server.one(body="from &lt;i&gt;&amp;&#39;&quot;")


@test("a server without markup, body or actions receives only what it supports")
def plain(stage):
    desk = Desk(stage, capabilities=["body"])
    desk.publish(TYPE, "--title", "<b>")
    expect(desk.shown("<b>")["actions"] == [], "actions for a server that does not support them")
    desk.origin.ctl("device", "rename", "origin", "<i>")
    desk.server.one(body="from <i>")
    desk.server.close()
    desk.server = NotificationServer(desk.bus, capabilities=[])
    desk.server.one(summary="Editor: <b> – from <i>", body="")


@test("notifications are in the language of the session, with plural forms, and texts of devices are not translated", limit=120)
def language(stage):
    desk = FileReceiver(stage, environment=german(stage))
    # The title is the name of a value and has a translation, but is neither.
    for title in ("{device}", "Save All"):
        publish = desk.publish(TYPE, "--title", title)
        note = desk.prompt(f"Editor: {title}")
        expect(note["body"].split(" · ")[0] == "von origin", f"wrong: {note}")
    expect(note["body"] == "von origin · 1 weiteres verfügbar", f"wrong: {note}")
    expect(note["actions"] == ["default", "Fortsetzen", "continue", "Fortsetzen", "dismiss", "Verwerfen",
                               "mute", "Editor stummschalten"], f"wrong: {note}")
    desk.manifest("editor", ["/bin/false"], name="<b>", types=[TYPE])
    desk.server.choose(desk.prompt("<b>: Save All")["id"], "continue")
    desk.server.end(desk.prompt("Save All konnte nicht fortgesetzt werden")["id"], DISMISSED)
    publish.interrupt()
    desk.send("a.pdf", "b.txt")
    note = desk.prompt("origin hat Ihnen 2 Dateien gesendet")
    expect(note["body"] == "a.pdf und b.txt · gehen an: Downloads", f"wrong: {note}")
    expect(note["actions"] == ["default", "Alle speichern", "continue", "Alle speichern", "dismiss", "Ablehnen"], f"wrong: {note}")
    desk.server.choose(note["id"], "continue")
    note = desk.prompt("2 Dateien in Fetched gespeichert")
    expect(note["body"] == "a.pdf und b.txt · von origin", f"wrong: {note}")
    desk.server.end(note["id"], DISMISSED)
    send = desk.origin.follow("send", "taker", film(stage))
    desk.server.choose(desk.prompt("origin hat Ihnen film.bin gesendet")["id"], "continue")
    note = desk.halve(send, "film.bin wird gespeichert")
    expect(" von 512.0 MiB · von origin" in note["body"] and note["actions"] == ["cancel", "Abbrechen"], f"wrong: {note}")
    for number in receivers(desk):
        os.kill(number, signal.SIGKILL)
    desk.origin.process.send_signal(signal.SIGCONT)
    note = desk.prompt("film.bin konnte nicht gespeichert werden")
    expect(note["body"] == "Die App, die es empfing, wurde beendet", f"wrong: {note}")


@test("another program on the bus cannot choose an action for the user")
def forged(stage):
    desk = Desk(stage)
    desk.publish(TYPE, "--title", "Draft")
    id = desk.shown("Draft")["id"]
    other = BusClient(desk.bus)
    for key in ("default", "continue"):
        other.signal("ActionInvoked", "us", Writer().number(id).text(key).data, target=desk.server.client)
    other.signal("NotificationClosed", "uu", Writer().number(id).number(2).data, target=desk.server.client)
    # The bus delivers the messages of a program in order, and a later reply has arrived, so the signal has too.
    other.call("GetId")
    desk.publish(TYPE, "--title", "Next")
    desk.shown("Next", replaces=id)
    expect(not os.path.exists(desk.played), "a forged click was accepted")


@test("a server that refuses calls, or never replies, does no harm")
def unwilling(stage):
    desk = Desk(stage)
    desk.server.refuses = True
    desk.publish(TYPE, "--title", "Draft")
    # Before that the reason would be another one.
    desk.server.wait(lambda server: server.refused, "a notification that is refused")
    desk.daemon.is_well()
    desk.server.refuses, desk.server.deaf = False, True
    desk.publish(TYPE, "--title", "Next")
    desk.shown("Next")
    desk.publish(TYPE, "--title", "Last")
    desk.daemon.is_well()
    expect(desk.daemon.stop() == 0, "the daemon did not exit cleanly")


@test("notifications = off shows nothing, and takes effect at SIGHUP")
def off(stage):
    desk = Desk(stage, configuration="notifications = off\n")
    draft = desk.publish(TYPE, "--title", "Draft")
    desk.daemon.is_well()
    expect(desk.server.queries == 0, "the server was called")
    desk.why(draft.id, "notifications = off", "systemctl --user reload handoffd")
    for value in ("on", "off", "on"):
        with open(desk.daemon.configuration, "w") as file:
            file.write(f"notifications = {value}\n")
        desk.daemon.process.send_signal(signal.SIGHUP)
        desk.shown("Draft") if value == "on" else desk.server.none()


@test("a real notification daemon shows an offer, withdraws it, and continues at a click")
def real(stage):
    desk = Desk(stage, server=False)
    dunst = Dunst(stage, desk.bus)
    publish = desk.publish(TYPE, "--title", "Draft")
    dunst.displayed(1)
    publish.interrupt()
    dunst.displayed(0)
    publish = desk.publish(TYPE, "--title", "Next")
    dunst.displayed(1)
    dunst.click()
    events(desk.played, "continue")
    publish.wait("continued", deviceName="taker")
    dunst.displayed(0)


if __name__ == "__main__":
    main()
