#!/usr/bin/env python3
"""The icon in the tray and its menu. Runs two daemons on loopback with a real bus, a simulated tray (`tray.py`) and simulated apps."""

import json
import os
import signal
import time

from bus import Writer
from desk import TYPE, events, german, newer_state
from desk import Desk as AppDesk
from browsers import until
from harness import expect, main, test
from notifications import DISMISSED, NotificationServer, SessionBus
from tray import ITEM, MENU, PROPERTIES, Monitor, Refused, Tray

QUIET = "notifications = off\n"
TOKEN = "panel-1234_TIME5678"
FIRST = "Draft (Editor, origin)"


class Desk(AppDesk):
    """A device with a bus, a tray and a simulated app, and another device that offers activities."""

    def __init__(self, stage, tray=True, configuration=QUIET, installed=True, variables=None, **more):
        """`variables` are those of the environment."""
        self.bus = SessionBus(stage)
        self.tray = Tray(self.bus, **more) if tray else None
        super().__init__(stage, self.bus, log_level="info", configuration=configuration)
        self.daemon.extra |= {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent", **(variables or {})}
        self.played = self.app("editor", TYPE, name="Editor", types=[TYPE])
        if installed:
            for icon in ("Tray", "Tray-offers"):
                self.write(self.system, f"icons/hicolor/symbolic/apps/dev.handoff1.{icon}-symbolic.svg", "<svg/>")
        self.start()

    def draft(self, *words):
        """Publishes an activity, and waits until the menu has it."""
        publish = self.publish(TYPE, "--title", "Draft", *words)
        self.tray.icon()
        self.tray.menu(lambda labels: FIRST in labels, "the offer")
        return publish

    def logged(self, text):
        with open(self.daemon.log, errors="replace") as file:
            return file.read().count(text)

    def window(self):
        """Installs a simulated window of the settings. Returns the file that it writes."""
        record = self.record()
        os.chmod(self.write(self.programs, "handoff-settings", f"#!/bin/sh\necho $XDG_ACTIVATION_TOKEN $* >'{record}'\n"), 0o755)
        return record


def refused(call, *words):
    try:
        return f"no error: {call(*words)}"
    except Refused as error:
        return str(error).split(".")[-1]


def awaited(path):
    limit = time.monotonic() + 30
    while not os.path.exists(path) or not os.path.getsize(path):
        expect(time.monotonic() < limit, f"{path} does not exist")
        time.sleep(0.02)
    with open(path) as file:
        return file.read().strip()


@test("the icon answers with all properties while it is being registered, and becomes active with the first offer")
def shown(stage):
    desk = Desk(stage)
    icon = desk.tray.icon()
    expect(desk.tray.registered[0][1] == "/StatusNotifierItem", f"wrong: {desk.tray.registered}")
    expect(icon == {
        "Category": "ApplicationStatus", "Id": "handoff", "Title": "handoff", "Status": "Passive", "WindowId": 0,
        "IconThemePath": "", "IconName": "dev.handoff1.Tray-symbolic", "IconPixmap": [], "OverlayIconName": "",
        "OverlayIconPixmap": [], "AttentionIconName": "", "AttentionIconPixmap": [], "AttentionMovieName": "",
        "ToolTip": ["", [], "handoff", ""], "ItemIsMenu": True, "Menu": "/StatusNotifierItem/Menu"}, f"wrong: {icon}")
    publish = desk.publish(TYPE, "--title", "Draft")
    desk.tray.until(lambda: ("NewStatus", ["Active"]) in desk.tray.signals, "the status")
    # Xfce's panel would show the icon that it drew while it was hidden, in white, and loads it again only for another name.
    expect(desk.tray.property("IconName") == "dev.handoff1.Tray-offers-symbolic", "the name of the icon is the same")
    expect(desk.tray.property("Title") == "handoff: 1 offer", "wrong title")
    expect(desk.tray.property("ToolTip")[2] == "handoff: 1 offer", "wrong tooltip")
    expect(list(desk.tray.items()) == [FIRST, "", "Pause"], f"wrong: {desk.tray.layout()}")
    publish.interrupt()
    desk.tray.until(lambda: ("NewStatus", ["Passive"]) in desk.tray.signals, "the end of the offer")
    desk.tray.until(lambda: desk.tray.signals[-1][0] == "NewIcon", "the icon")
    expect({name for name, _ in desk.tray.signals} == {"LayoutUpdated", "NewTitle", "NewToolTip", "NewStatus", "NewIcon"},
           f"wrong: {desk.tray.signals}")


@test("the menu is in the language of the session, with its plural forms")
def language(stage):
    desk = Desk(stage, variables=german(stage))
    desk.window()
    desk.draft()
    expect(desk.tray.property("Title") == "handoff: 1 Angebot", f"wrong: {desk.tray.property('Title')}")
    expect(list(desk.tray.items()) == [FIRST, "", "Dateien senden…", "Pause", "Einstellungen"], f"wrong: {desk.tray.layout()}")
    desk.publish(TYPE, "--title", "Letter")
    desk.tray.menu(lambda labels: "Letter (Editor, origin)" in labels, "the second offer")
    expect(desk.tray.property("Title") == "handoff: 2 Angebote", f"wrong: {desk.tray.property('Title')}")
    desk.tray.click(desk.tray.items()["Pause"])
    desk.tray.menu(lambda labels: "Fortsetzen" in labels, "the pause")
    expect(desk.tray.property("Title") == "handoff: pausiert", f"wrong: {desk.tray.property('Title')}")


@test("the menu answers both families of panels, and an unknown id with an error")
def menu(stage):
    desk = Desk(stage, installed=False)
    pixels = desk.tray.icon()["IconPixmap"]
    expect([image[:2] for image in pixels] == [[22, 22], [48, 48]], "the theme lacks the icon, and there are no pixels")
    expect(all(len(data) == 4 * width * height and len(set(data)) == 3 for width, height, data in pixels), "wrong pixels")
    desk.publish(TYPE, "--title", "Draft")
    tray = desk.tray
    tray.menu(lambda labels: FIRST in labels, "the offer")
    expect(tray.ask("GetAll", "s", Writer().text(MENU), "a{sv}", "/StatusNotifierItem/Menu", PROPERTIES)[0]
           == {"Version": 3, "TextDirection": "ltr", "Status": "normal", "IconThemePath": []}, "wrong properties")
    revision, (root, properties, children) = tray.layout(0, -1)
    expect(root == 0 and properties == {"children-display": "submenu"} and len(children) == 3, f"wrong: {children}")
    expect(tray.layout(0, 1) == [revision, [root, properties, children]], "the menu has one level")
    expect(tray.layout(0, 0) == [revision, [root, properties, []]], "depth 0 has no children")
    first = children[0][0]
    expect(tray.layout(first, -1)[1] == children[0], "wrong item")
    expect(children[0][1] == {"label": FIRST, "icon-name": "", "enabled": True}, f"wrong: {children[0]}")
    expect(children[1][1] == {"type": "separator"}, f"wrong: {children[1]}")
    expect([each[1] for each in tray.layout(0, 1, ["label"])[1][2]] == [{"label": FIRST}, {}, {"label": "Pause"}], "the names are ignored")

    def ids(*values):
        array = Writer()
        for value in values:
            array.number(value)
        return Writer().number(len(array.data)), array

    def with_ids(*values):
        head, array = ids(*values)
        head.data += array.data
        return head

    group = tray.ask("GetGroupProperties", "aias", with_ids(first, 9999).texts(["label"]), "a(ia{sv})")[0]
    expect(group == [[first, {"label": FIRST}]], f"wrong: {group}")
    expect(len(tray.ask("GetGroupProperties", "aias", with_ids().texts([]), "a(ia{sv})")[0]) == 4, "an empty list means all")
    expect(tray.ask("GetProperty", "is", Writer().number(first).text("label"), "v") == [FIRST], "wrong label")
    expect(tray.ask("AboutToShowGroup", "ai", with_ids(0, 9999), "aiai") == [[], [9999]], "wrong")
    expect(tray.ask("AboutToShow", "i", Writer().number(0), "b") == [False], "wrong")
    tray.ask("Event", "isvu", tray.event(0, "opened"), "")
    for member, signature, body in (
            ("GetLayout", "iias", Writer().number(9999).number(1).texts([])), ("Event", "isvu", tray.event(9999)),
            ("AboutToShow", "i", Writer().number(9999)), ("GetProperty", "is", Writer().number(first).text("none")),
            ("GetLayout", "s", Writer().text("wrong")), ("EventGroup", "a(isvu)", group_of(tray.event(9999)))):
        answer = refused(tray.ask, member, signature, body, "")
        expect(answer == "InvalidArgs", f"{member}: {answer}")
    expect(refused(tray.ask, "Missing", "", Writer(), "") == "UnknownMethod", "it accepts an unknown method")
    expect(tray.ask("EventGroup", "a(isvu)", group_of(tray.event(first, "hovered"), tray.event(9999)), "ai") == [[9999]], "wrong")
    expect(tray.property("Version", "/StatusNotifierItem/Menu", MENU) == 3, "wrong version")


def group_of(*events):
    inner = Writer()
    for event in events:
        inner.align(8).data += event.data
    # Structures are aligned to eight bytes, which the length does not count.
    head = Writer().number(len(inner.data)).align(8)
    head.data += inner.data
    return head


@test("an offer that is chosen in the menu continues here, with the token of the panel")
def chosen(stage):
    desk = Desk(stage)
    publish = desk.draft("--user-info", '{"page": 3}')
    desk.tray.ask("ProvideXdgActivationToken", "s", Writer().text(TOKEN), "", "/StatusNotifierItem", ITEM)
    desk.tray.click(desk.tray.items()[FIRST])
    expect(events(desk.played, "started")["environment"].get("XDG_ACTIVATION_TOKEN") == TOKEN, "no token")
    expect(events(desk.played, "continue")["content"]["userInfo"] == {"page": 3}, "wrong activity")
    publish.wait("continued", deviceName="taker")


@test("an activity that was closed has its state in the menu, is a recent one after a restart, and can be reopened")
def kept(stage):
    desk = Desk(stage)
    publish = desk.draft("--keep", "--stream", stage.file("film", "film"))
    publish.interrupt()
    state = f"{FIRST} · closed there at "
    labels = desk.tray.menu(lambda labels: labels[0].startswith(state), "the state")
    expect(labels[0].endswith(" · files and streams no longer available"), f"wrong: {labels}")
    desk.origin.restart()
    labels = desk.tray.menu(lambda labels: "Recent" in labels, "the recent activity")
    expect(labels[0] == "No offers of other devices" and labels[2] == "Recent" and labels[3].startswith(state), f"wrong: {labels}")
    desk.tray.click(desk.tray.items()[labels[3]])
    expect(events(desk.played, "continue")["content"]["kept"]["state"] == "ended", "not a copy")


@test("the menu shows exclusive editing, and an older state that is chosen leads to a choice with the newer one")
def newer(stage):
    desk = Desk(stage, configuration="")
    server = NotificationServer(desk.bus)
    desk.tray.icon()
    newer_state(stage, desk.origin, desk.daemon)
    desk.tray.menu(lambda labels: FIRST in labels and "Letter (Editor, third) · in use there" in labels, "both states")
    # A choice that replaced it would have its id, for which a click could arrive too early.
    server.wait(lambda server: any(each["body"] == "from origin" for each in server.standing.values()), "the offer")
    server.end(next(each["id"] for each in server.notified() if each["body"] == "from origin"), DISMISSED)
    desk.tray.click(desk.tray.items()[FIRST])
    summary = "Draft is newer on third"
    server.wait(lambda server: any(each["summary"] == summary for each in server.standing.values()), "the choice")
    choice = next(each for each in server.notified() if each["summary"] == summary)
    server.choose(choice["id"], "default")
    expect(events(desk.played, "continue")["content"]["userInfo"] == {"page": 2}, "not the newer state")


@test("Pause switches both directions off, and the icon stays until Resume")
def paused(stage):
    desk = Desk(stage)
    desk.draft()
    desk.tray.click(desk.tray.items()["Pause"])
    labels = desk.tray.menu(lambda labels: "Resume" in labels, "the pause")
    expect(FIRST not in labels and "Pause" not in labels, f"wrong: {labels}")
    expect(desk.tray.property("Status") == "Active" and desk.tray.property("Title") == "handoff: paused", "the pause is not shown")
    status = desk.ctl("status").line
    expect(not status["advertising"] and not status["receiving"], f"wrong: {status}")
    desk.tray.click(desk.tray.items()["Resume"])
    desk.tray.menu(lambda labels: FIRST in labels and "Pause" in labels, "the end of the pause")
    desk.ctl("pause", "1h")
    desk.tray.menu(lambda labels: "Resume" in labels, "the pause of another program")
    desk.ctl("resume")
    desk.tray.menu(lambda labels: FIRST in labels and "Pause" in labels, "its end")


@test("a pause can be ended although the configuration has switched one direction off")
def half(stage):
    desk = Desk(stage, configuration=QUIET + "advertise = off\n")
    desk.tray.icon()
    desk.tray.menu(lambda labels: "Pause" in labels, "the menu")
    desk.tray.click(desk.tray.items()["Pause"])
    desk.tray.menu(lambda labels: "Resume" in labels, "the pause")
    expect(desk.tray.property("Title") == "handoff: paused", "the pause is not shown")
    desk.tray.click(desk.tray.items()["Resume"])
    desk.tray.menu(lambda labels: "Pause" in labels, "its end")
    expect(desk.ctl("status").line["receiving"], "receiving is off")


@test("Settings opens the window, as a click does that opens no menu; Send Files opens its dialog; both need the window")
def settings(stage):
    desk = Desk(stage)
    desk.tray.icon()
    expect(list(desk.tray.items()) == ["No offers of other devices", "", "Pause"], f"wrong: {desk.tray.items()}")
    record = desk.window()
    desk.publish(TYPE, "--title", "Draft")
    desk.tray.menu(lambda labels: labels == [FIRST, "", "Send Files…", "Pause", "Settings"], "the settings")
    desk.tray.ask("ProvideXdgActivationToken", "s", Writer().text(TOKEN), "", "/StatusNotifierItem", ITEM)
    desk.tray.click(desk.tray.items()["Settings"])
    expect(awaited(record) == TOKEN, "no token")
    os.unlink(record)
    desk.tray.ask("Activate", "ii", Writer().number(1).number(2), "", "/StatusNotifierItem", ITEM)
    awaited(record)
    os.unlink(record)
    desk.tray.ask("ProvideXdgActivationToken", "s", Writer().text(TOKEN), "", "/StatusNotifierItem", ITEM)
    desk.tray.click(desk.tray.items()["Send Files…"])
    expect(awaited(record) == f"{TOKEN} --send", "the dialog is not opened")


@test("titles of other devices are one line of limited width, without hidden characters, and not in the tooltip")
def hostile(stage):
    desk = Desk(stage)
    desk.tray.icon()
    for title, label in (("a\nb\u202ec\u200bd\x07", "a bcd"), ("<b>&amp;</b>", "<b>&amp;</b>"), ("my_file", "my__file"),
                         ("x" * 200, "x" * 40 + "…"), ("\u05d0", "\u2068\u05d0\u2069")):
        publish = desk.publish(TYPE, "--title", title)
        desk.tray.menu(lambda labels, label=label: labels[0] == f"{label} (Editor, origin)", label)
        expect(desk.tray.property("ToolTip") == ["", [], "handoff: 1 offer", ""], "the tooltip has other text")
        publish.interrupt()
        desk.tray.menu(lambda labels: labels[0] == "No offers of other devices", "the end of the offer")


@test("of many offers the menu has the newest twenty, and the number of the others")
def many(stage):
    desk = Desk(stage)
    desk.tray.icon()
    begin = time.monotonic()
    for number in range(23):
        desk.publish(TYPE, "--title", f"Draft {number}")
    labels = desk.tray.menu(lambda labels: "3 more: handoffctl list" in labels, "the number")
    expect(labels[:20] == [f"Draft {number} (Editor, origin)" for number in range(22, 2, -1)], f"wrong: {labels}")
    expect(desk.tray.property("Title") == "handoff: 23 offers", "wrong title")
    # However fast offers arrive, one immediately and one each second.
    layouts = [member for member, _ in desk.tray.signals].count("LayoutUpdated")
    expect(layouts <= time.monotonic() - begin + 2, f"{layouts} layouts were sent")


@test("the icon is registered with each tray that appears, also when the bus restarts")
def restarted(stage):
    desk = Desk(stage, tray=False)
    desk.publish(TYPE, "--title", "Draft")
    for _ in range(2):
        tray = Tray(desk.bus)
        tray.icon()
        tray.menu(lambda labels: FIRST in labels, "the offer")
        tray.close()
    desk.bus.stop()
    desk.bus.start()
    tray = Tray(desk.bus)
    tray.icon()
    tray.menu(lambda labels: FIRST in labels, "the offer")
    sender = tray.registered[0][0]
    desk.daemon.restart()
    tray.without(sender)
    tray.icon(2)
    tray.menu(lambda labels: FIRST in labels, "the offer")
    expect(len(tray.registered) == 2, f"there are two icons: {tray.registered}")


@test("a tray that refuses the icon is called again, and logged once")
def refusing(stage):
    desk = Desk(stage, refuses=True)
    desk.tray.until(lambda: desk.tray.refused >= 2, "a second attempt")
    expect(not desk.tray.signals, "signals without a tray")
    with desk.tray.changed:
        desk.tray.refuses = False
    desk.draft()
    expect(desk.logged("has refused the icon") == 1, "it is not logged once")


@test("while nothing changes, no message is on the bus")
def silent(stage):
    desk = Desk(stage)
    desk.draft()
    monitor = Monitor(desk.bus)
    # Longer than the time between two changes of the menu.
    expect(not monitor.seen.wait(4), f"messages: {monitor.messages}")
    # The monitor would have seen them.
    desk.publish(TYPE, "--title", "Next")
    desk.tray.menu(lambda labels: len(labels) == 4, "the next offer")
    until("the message", lambda: any(member == "LayoutUpdated" for _, member, _ in monitor.messages))


@test("tray = off shows no icon, and takes effect at SIGHUP")
def off(stage):
    desk = Desk(stage, configuration=QUIET + "tray = off\n")
    monitor = Monitor(desk.bus)
    desk.publish(TYPE, "--title", "Draft")

    def switch(value):
        with open(desk.daemon.configuration, "w") as file:
            file.write(f"{QUIET}tray = {value}\n")
        desk.daemon.process.send_signal(signal.SIGHUP)

    expect(not desk.tray.registered and not monitor.messages, f"messages: {monitor.messages}")
    switch("auto")
    desk.tray.icon()
    desk.tray.menu(lambda labels: FIRST in labels, "the offer")
    sender = desk.tray.registered[0][0]
    switch("off")
    desk.tray.without(sender)


if __name__ == "__main__":
    main()
