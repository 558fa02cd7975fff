"""Creates the pictures of docs/browser.md and docs/settings.md: the real popup and window, over
devices on loopback.

Run by scripts/screenshots, with `browser`, `settings` or `notification` for only these.
"""

import base64
import json
import os
import sys

from browsers import CHROMIUM_ID, Chromium, attached, until
from desk import TYPE, Desk
from harness import ROOT, Stage
from notifications import Dunst, SessionBus
from pages import Site
from pictures import on_display
from windows import Screen, SettingsWindow

IMAGES = os.path.join(ROOT, "docs", "images")
LOOK = """[global]
font = Sans 15
width = 460
frame_width = 2
frame_color = "#3584e4"
corner_radius = 0
padding = 16
horizontal_padding = 20
show_indicators = no
[urgency_low]
background = "#fafafa"
foreground = "#202020"
"""
READ = ["The river Avon at Bradford", "Swift concurrency, explained", "Recipes: winter soups", "Night trains of Europe",
        "How bridges stand", "RFC 9382: SPAKE2", "The Copper Beech", "Lighthouses of the Baltic"]


def picture(browser, tab, name, scheme):
    session = browser.session(tab)
    browser.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}, session)
    height = min(580, browser.run(tab, "document.body.offsetHeight"))
    browser.call("Emulation.setDeviceMetricsOverride",
                 {"width": 360, "height": height, "deviceScaleFactor": 2, "mobile": False}, session)
    image = browser.call("Page.captureScreenshot", {"format": "png"}, session)
    with open(os.path.join(IMAGES, f"browser-popup-{name}.png"), "wb") as file:
        file.write(base64.b64decode(image["data"]))


def popup(browser, ready):
    tab = browser.call("Target.createTarget", {"url": f"chrome-extension://{CHROMIUM_ID}/popup.html", "background": True})["targetId"]
    until("the popup", lambda: browser.run(tab, ready))
    return tab


def shows(selector, count):
    return f"document.querySelectorAll({json.dumps(selector)}).length >= {count}"


def browser():
    stage = Stage("screenshots")
    try:
        laptop, desk = stage.pair(("Laptop", "Desk"))
        tablet = stage.daemon("Tablet")
        stage.join(laptop, tablet)
        site = Site(stage)
        # As if it were a site of its own, without a port.
        rules = f"--host-resolver-rules=MAP *.example 127.0.0.1:{site.port}"
        site.port = 80
        there, here = (Chromium(stage, name, daemon, rules) for name, daemon in (("there", laptop), ("here", desk)))
        attached(there, laptop)
        attached(here, desk)
        here.call("Target.createTarget", {"url": site.url("/Notes on the harbour")})
        until("the own page", lambda: laptop.ctl("list").lines)
        picture(here, popup(here, "document.querySelector('#no-offers')?.innerText.startsWith('Nothing') && "
                            "document.querySelector('#page').innerText.startsWith('Your')"), "empty", "light")
        for title in READ:
            there.call("Target.createTarget", {"url": site.url("/" + title)})
        ferry = ("--title", "Timetable of the ferry", "--web-url", "https://ferry.example/", "--keep")
        timetable = tablet.publish("NSUserActivityTypeBrowsingWeb", *ferry)
        until("the timetable", lambda: timetable.id in {one["id"] for one in desk.ctl("list").lines})
        tablet.stop()
        until("the copy", lambda: "offline" in {(one["kept"] or {}).get("state") for one in desk.ctl("list").lines})
        # The first tab is a blank one, which is not a page.
        shown = popup(here, f"{shows('#offers button', 2)} && {shows('#tabs button', len(READ))}")
        picture(here, shown, "light", "light")
        picture(here, shown, "dark", "dark")
        for number in range(60):
            there.call("Target.createTarget", {"url": site.url(f"/{READ[number % len(READ)]}, part {number + 2}"), "background": True})
        # A popup requests tabs only once.
        until("the tabs", lambda: sum(url.startswith("http:") for url in there.tabs().values()) >= 60 + len(READ), 120)
        shown = popup(here, shows("#tabs button", 15))
        here.run(shown, "(document.querySelector('#search').value = 'bridges', "
                        "document.querySelector('#search').dispatchEvent(new Event('input')), 1)")
        picture(here, shown, "many", "light")
    finally:
        stage.close(keep=False)


SENDING = """#!/usr/bin/python3
import json, signal, sys, time
def show(**fields):
    print(json.dumps(fields), flush=True)
for number in "0", "1", "2":
    show(event="published", id=number, type="dev.handoff1.content", title=None)
if sys.argv[2] != "send":
    sys.exit(1)
if sys.argv[3] == "{laptop}":
    show(event="stream", id="0", state="finished", bytes=2_400_000)
    for megabytes in range(0, 301, 20):
        show(event="progress", id="1", sent=megabytes * 1_000_000, total=820_000_000)
        time.sleep(0.2)
signal.pause()
"""


def send(stage, screen, desk):
    """The window that sends, with a simulated transfer."""
    names = [each["id"] for each in desk.ctl("devices").lines if each["name"] == "Laptop"]
    folder = os.path.join(stage.folder, "programs")
    os.makedirs(folder)
    program = os.path.join(folder, "handoffctl")
    with open(program, "w") as file:
        file.write(SENDING.replace("{laptop}", names[0]))
    os.chmod(program, 0o755)
    paths = [os.path.join(stage.folder, name) for name in ("Receipts of October.pdf", "Lighthouse.mkv", "Letters.zip")]
    for path, size in zip(paths, (2_400_000, 820_000_000, 3_100_000)):
        with open(path, "wb") as file:
            file.truncate(size)
    window = SettingsWindow(stage, screen, desk, programs=folder, arguments=["--send", "--", *paths])
    for row in ("Laptop", "Phone"):
        window.do("check", row=row)
    window.see("825.5 MB")
    window.do("scheme", dark=False)
    window.do("picture", path=os.path.join(IMAGES, "settings-send-light.png"))
    window.press("Send").see("300.0 MB of 820.0 MB")
    window.do("scheme", dark=True)
    window.do("picture", path=os.path.join(IMAGES, "settings-sending-dark.png"))
    window.do("quit")


# The apps on the device of the pictures, by the types that they continue, and the offers of another device.
APPS = {"org.example.playing": "Media player", "org.example.reading": "Document reader", "org.example.letter": "Writer"}
OFFERS = [
    ("org.example.letter", "Letter to the landlord"), ("org.example.playing", "Goldberg Variations, BWV 988"),
    ("https://lighthouse.example/", "The way to the lighthouse")]
# The offer of a device that is off, and an activity that was closed on this device.
KEPT, CLOSED = ("org.example.reading", "Birds of the coast.pdf"), ("org.example.letter", "Minutes of October")


def settings():
    stage = Stage("screenshots")
    try:
        desk, laptop, phone = (stage.daemon(name, start=False) for name in ("Desk", "Laptop", "Phone"))
        folder = os.path.join(desk.folder, "home", ".config", "handoff", "handlers.d")
        os.makedirs(folder)
        for type, name in APPS.items():
            with open(os.path.join(folder, f"{type}.json"), "w") as file:
                json.dump({"name": name, "exec": ["/bin/true"], "types": [type]}, file)
        for daemon in (desk, laptop, phone):
            daemon.start()
        screen = Screen(stage)
        window = SettingsWindow(stage, screen, desk)

        def shot(name):
            for dark in (False, True):
                window.do("scheme", dark=dark)
                scheme = "dark" if dark else "light"
                window.do("picture", path=os.path.join(IMAGES, f"settings-{name}-{scheme}.png"))

        window.see("Welcome to Handoff")
        shot("first-run")
        window.press("Create").see("This device")
        for other in (laptop, phone):
            stage.join(desk, other)
        window.see("Laptop", "Phone").miss("does not have")
        kept = phone.publish(KEPT[0], "--title", KEPT[1], "--keep")
        until("the offer", lambda: kept.id in {one["id"] for one in desk.ctl("list").lines})
        phone.stop()
        window.see("Last seen").miss("was added")
        shot("devices")
        send(stage, screen, desk)
        window.press("Add a Device…").see("Valid for")
        shot("pairing")
        window.press("Cancel")
        for type, title in OFFERS:
            laptop.publish(type, "--title", title)
        closed = desk.publish(CLOSED[0], "--title", CLOSED[1], "--keep")
        until("the offer", lambda: closed.id in {one["id"] for one in laptop.ctl("list").lines})
        closed.interrupt()
        window.press("Offers").see(*(title for _, title in OFFERS)).see("opens in Media player", "offline, as of", "closed here")
        shot("offers")
        window.press("Switches").see("Notifications for Media player")
        shot("switches")
        # One that finds nothing, because no Avahi runs here.
        attic = stage.daemon("Attic", discovery="avahi")
        attic.ctl("account", "create")
        window = SettingsWindow(stage, screen, attic)
        window.press("Problems").see("avahi-daemon")
        shot("problems")
    finally:
        stage.close(keep=False)


def memory(folder):
    """The memory of a display, which stores it in a folder."""
    with open(os.path.join(folder, "Xvfb_screen0"), "rb") as file:
        return file.read()


def notification():
    stage = Stage("screenshots")
    try:
        bus = SessionBus(stage)
        desk = Desk(stage, bus)
        desk.app("org.example.Writer", TYPE, name="Writer", types=[TYPE])
        desk.start()
        desk.ctl("device", "rename", desk.origin.ctl("status").line["device"], "Laptop")
        dunst = Dunst(stage, bus, LOOK, stage.folder)
        desk.publish(TYPE, "--title", "Letter to the landlord")
        dunst.displayed(1)
        # Its window is drawn a moment after it counts.
        image = until("the notification", lambda: on_display(memory(stage.folder)))
        with open(os.path.join(IMAGES, "notification.png"), "wb") as file:
            file.write(image)
    finally:
        stage.close(keep=False)


def main():
    os.makedirs(IMAGES, exist_ok=True)
    makers = {"browser": browser, "settings": settings, "notification": notification}
    for word in sys.argv[1:] or makers:
        makers[word]()


if __name__ == "__main__":
    sys.exit(main())
