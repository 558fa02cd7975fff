"""The popup of the extension: its contents, the data it requests and when, and its use by keyboard."""

import json
import os
import re
import shutil
import sys
import time

from browsers import CHROMIUM_ID, Chromium, Firefox, until
from extension import TABS, popup_of, text
from harness import ROOT, Failure, Skip, expect, main, run, test
from page_shapes import LATE
from two_browsers import Two

sys.path.append(os.path.join(ROOT, "Integrations", "python"))
import handoff  # noqa: E402

PAGE = "NSUserActivityTypeBrowsingWeb"


def says(popup, words):
    """Waits until the popup shows this text about the page in front."""
    said = []
    try:
        until(words, lambda: said.append("".join(text(popup, "#page"))) or said[-1] == words)
    except Failure:
        raise Failure(f"it shows '{said[-1]}' and not '{words}'") from None


def of_tabs(daemon):
    return [entry for entry in daemon.ctl("log").lines if entry.get("type") == TABS or entry["event"] == "stream"]


def popup(stage, kinds):
    two = Two(stage, kinds)
    origin, taker, site, (there, here) = two.origin, two.taker, two.site, two.browsers
    before = of_tabs(origin)
    # More than the limit of a payload.
    long = "x" * 1900
    there.open_many(site.url(f"/small/{number}?{long}") for number in range(45))
    there.open(site.url("/front"))
    until("the offer", lambda: any(one["title"] == "front" for one in taker.ctl("list").lines))
    # The popup requests tabs once. A tab that is still loading has no title, or is left out.
    until("all pages", lambda: {f"small {number}" for number in range(45)} <= set(there.tab_titles()))
    expect(of_tabs(origin) == before, f"requested before: {of_tabs(origin)}")
    shown = popup_of(here)
    until("the offer in the popup", lambda: text(shown, "#offers .title") == ["front"])
    more = "document.querySelector('#more-tabs')"
    until("the tabs", lambda: here.run(shown[1], f"({more}.checkVisibility() && {more}.click(), 1)")
          and len(text(shown, "#tabs .title")) >= 46)
    expect(len(of_tabs(origin)) > len(before), "the log of the origin has no entry")
    titles = text(shown, "#tabs .title")
    expect({f"small {number}" for number in range(45)} | {"front"} <= set(titles), f"missing: {titles}")
    expect(text(shown, "#tabs h2") == [origin.name], f"wrong: {text(shown, '#tabs h2')}")
    # Search.
    search = "document.querySelector('#search')"
    here.run(shown[1], f"({search}.value = 'SMALL/17', {search}.dispatchEvent(new Event('input')), 1)")
    expect(text(shown, "#tabs .title") == ["small 17"], f"found: {text(shown, '#tabs .title')}")
    # Each action has a name for users who cannot see it.
    names = here.run(shown[1], "[...document.querySelectorAll('button, input')].filter((each) => each.offsetParent)"
                               ".map((each) => each.getAttribute('aria-label') || each.innerText.trim())")
    expect(all(names), f"without a name: {names}")
    # By keyboard.
    here.run(shown[1], "(document.activeElement.blur(), document.querySelector('#offers button').focus(), 1)")
    key = "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true}))"
    here.run(shown[1], key)
    expect(here.run(shown[1], "document.activeElement.id") == "search", "the arrow key does not move the focus")
    # Switches.
    here.run(shown[1], "(document.querySelector('#pause-hour').click(), 1)")
    until("the pause", lambda: not taker.ctl("status").line["advertising"])
    until("its end", lambda: here.run(shown[1], "!document.querySelector('#resume').hidden"))
    here.run(shown[1], "(document.querySelector('#resume').click(), 1)")
    until("the end of the pause", lambda: taker.ctl("status").line["advertising"])
    # In this browser, whichever is the default one.
    here.run(shown[1], "(document.querySelector('#offers button').click(), 1)")
    until("the page", lambda: here.tabs(site.url("/front")))


@test("the popup of Chromium offers Firefox's activities, and requests its tabs only when it is opened", limit=120)
def in_chromium(stage):
    popup(stage, (Firefox, Chromium))


@test("the popup of Firefox offers Chromium's activities, and requests its tabs only when it is opened", limit=120)
def in_firefox(stage):
    popup(stage, (Chromium, Firefox))


@test("the popup sends this page to one device, which opens it at the same place, and no other device learns of it", limit=120)
def send(stage):
    two = Two(stage, (Chromium, Firefox))
    origin, taker, site, (there, here) = two.origin, two.taker, two.site, two.browsers
    third = stage.daemon("third")
    stage.join(origin, third)
    there.open(site.url("/small/7"))
    until("the offer", lambda: any(one["title"] == "small 7" for one in taker.ctl("list").lines))
    shown = popup_of(there)
    names = "[...document.querySelectorAll('#recipients button')].map((each) => each.innerText.trim()).sort()"
    until("the devices", lambda: there.run(shown[1], names) == [taker.name, "third"])
    there.run(shown[1], "([...document.querySelectorAll('#recipients button')]"
                        f".find((each) => each.innerText === '{taker.name}').click(), 1)")

    def received(daemon):
        return [one for one in daemon.ctl("list").lines if one["sent"]]

    until("the sent page", lambda: [one["title"] for one in received(taker)] == ["small 7"])
    until("the note that it is sent", lambda: f"Sent to {taker.name}" in "".join(text(shown, "#sent")))
    expect(received(third) == [], f"another device learned of it: {received(third)}")
    refused = third.ctl("continue", received(taker)[0]["id"], code=4)
    expect("NothingToContinue" in refused.errors, f"another device received it: {refused}")
    taker.ctl("continue", received(taker)[0]["id"])
    until("the page", lambda: here.tabs(site.url("/small/7")))
    until("the note that it was opened", lambda: text(shown, "#sent") == [f"Opened on {taker.name}."])
    until("its end", lambda: received(taker) == [])
    third.ctl("account", "leave", "--yes")


def kept(stage, kind):
    two = Two(stage, (kind,))
    here, device, other = two.browsers[0], two.origin, two.taker
    url = two.site.url("/small/3")
    owner = other.publish("NSUserActivityTypeBrowsingWeb", "--keep", "--title", "Kept", "--web-url", url)

    def listed(daemon, *words):
        return next((one for one in daemon.ctl("list", *words).lines if one["id"] == owner.id), None)

    until("the offer", lambda: listed(device))
    owner.interrupt()

    def continued():
        return sum(one["type"] == "NSUserActivityTypeBrowsingWeb" for one in device.ctl("log").lines)

    before = continued()

    def opens(section, state, count):
        shown = popup_of(here)
        until("the kept page", lambda: text(shown, f"#{section} .title") == ["Kept"])
        until("its state", lambda: state in text(shown, f"#{section} .from")[0])
        here.run(shown[1], f"(document.querySelector('#{section} button').click(), 1)")
        # A page that is open already is shown.
        until("the continuation", lambda: continued() == count)
        until("the page", lambda: here.tabs(url))

    until("the copy", lambda: (listed(device) or {}).get("kept"))
    opens("offers", f"{other.name} · closed there at ", before + 1)
    # After a restart of its device it is only a recent one.
    other.restart()
    until("the recent page", lambda: not listed(device) and listed(device, "--recent"))
    opens("recent", f"{other.name} · closed there at ", before + 2)
    until("the own copy", lambda: listed(other, "--recent"))
    other.ctl("withdraw", owner.id)
    until("the end of the copy", lambda: not listed(device, "--recent"))
    # A page of which a newer state is known.
    apps = [handoff.App("com.example.Pages", path=other.socket) for _ in range(2)]
    pages = [apps[0].publish(PAGE, title="Draft", webpageURL=two.site.url("/small/4"))]
    pages[0].become_current()
    pages.append(apps[1].publish(PAGE, title="Letter", webpageURL=two.site.url("/small/5"), exclusive=True,
                                 lineage={"id": pages[0].id, "step": 1}))
    pages[1].become_current()
    until("both states", lambda: {(pages[0].id, False), (pages[1].id, True)} <= {
        (each["id"], each["exclusive"]) for each in device.ctl("list").lines})
    for choice, number in (("older", 4), ("newer", 5)):
        shown = popup_of(here)
        until("the exclusive page", lambda: any("in use there since" in each for each in text(shown, "#offers .from")))
        here.run(shown[1], "([...document.querySelectorAll('#offers button')].find((each) =>"
                           " each.querySelector('.title').textContent === 'Draft').click(), 1)")
        until("the choice", lambda: f"A newer state of Draft has been on {other.name} since" in "".join(text(shown, "#newer-state")))
        here.run(shown[1], f"(document.querySelector('#go-{choice}').click(), 1)")
        until("the chosen page", lambda: here.tabs(two.site.url(f"/small/{number}")))
    for each in apps:
        each.close()


@test("the popup of Chromium continues a kept page, also a recent one, and offers both states of a page", limit=120)
def kept_in_chromium(stage):
    kept(stage, Chromium)


@test("the popup of Firefox continues a kept page, also a recent one, and offers both states of a page", limit=120)
def kept_in_firefox(stage):
    kept(stage, Firefox)


@test("the popup shows this page as a code, and reports problems", limit=120)
def page(stage):
    two = Two(stage, (Firefox, Chromium))
    origin, taker, site, here = two.origin, two.taker, two.site, two.browsers[1]
    here.open(site.url("/here"))
    until("the offer", lambda: any(one["title"] == "here" for one in origin.ctl("list").lines))
    shown = popup_of(here)
    says(shown, "Your other devices can continue this page.")
    here.run(shown[1], "(document.querySelector('#code-button').click(), 1)")
    until("the code", lambda: here.run(shown[1], "!!document.querySelector('#code svg path')"))
    taker.kill()
    until("the problem", lambda: text(shown, "#trouble")[0].startswith("handoffd "))
    taker.start()
    until("the recovery", lambda: text(shown, "#trouble") == [""])
    says(shown, "Your other devices can continue this page.")


# ---- The popup alone, with a host simulated by the test -------------------------------------------------------------------

PLAYED = """(() => {
    const listeners = [];
    globalThis.asked = [];
    globalThis.deliver = (...messages) => messages.forEach((message) => listeners.forEach((each) => each(message)));
    chrome.tabs.query = async () => [{ id: 7, url: "https://site.example/", title: "Here", incognito: false, status: "complete" }];
    chrome.runtime.connect = () => ({
        postMessage: (message) => asked.push(message), onMessage: { addListener: (each) => listeners.push(each) } });
})()"""
FOCUSED = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.id"
# All visible texts and names.
SHOWN = """[...document.querySelectorAll('body *')].filter((each) => each.checkVisibility()).flatMap((each) => [
    ...[...each.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data.trim()),
    each.title, each.placeholder, each.getAttribute('aria-label')]).filter(Boolean)"""
STOPS = """[...document.querySelectorAll('button, input, a, [tabindex]')].filter((each) => each.checkVisibility() && each.tabIndex >= 0)
    .length"""


def offer(number, title=None, device="laptop"):
    return {"activity": f"{number:032x}", "device": "ab" * 32, "deviceName": device, "isPage": True, "age": 1, "opens": "",
            "title": f"Page {number}" if title is None else title, "type": "NSUserActivityTypeBrowsingWeb"}


def status(account=True, devices=("laptop",), **more):
    return {"kind": "status", "name": "desk", "account": account, "advertising": True, "receiving": True, "holds": [],
            "warnings": [], "devices": [{"id": name.encode().hex().ljust(64, "0"), "name": name, "online": True} for name in devices],
            **more}


class Played:
    """A popup in Chromium whose messages the test writes."""

    def __init__(self, stage, height=600, texts=None):
        """`texts` replaces those of the language, by their keys."""
        self.browser = Two(stage, (Chromium,)).browsers[0]
        self.tab = self.browser.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.browser.session(self.tab)
        self.browser.resize(self.tab, 360, height)
        self.browser.call("Page.enable", {}, session)
        source = PLAYED + (f";chrome.i18n.getMessage = (key) => ({json.dumps(texts)})[key] ?? ''" if texts else "")
        self.browser.call("Page.addScriptToEvaluateOnNewDocument", {"source": source}, session)
        self.browser.navigate(self.tab, f"chrome-extension://{CHROMIUM_ID}/popup.html")
        until("the popup", lambda: self.run("document.querySelector('#page')?.textContent !== ''"))

    def run(self, script):
        return self.browser.run(self.tab, script)

    def deliver(self, *messages):
        self.run(f"(deliver(...{json.dumps(messages)}), 1)")

    def offers(self, *offers):
        self.deliver({"kind": "offers", "offers": offers})

    def text(self, selector):
        return text((self.browser, self.tab), selector)

    def key(self, key, code=0, characters=None):
        session = self.browser.session(self.tab)
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", {"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code,
                                                         **({"text": characters} if characters and kind == "keyDown" else {})}, session)

    def gone(self):
        return [message["activity"] for message in self.run("asked") if message["kind"] == "go"]


def opened(stage, *offers, **more):
    popup = Played(stage, **more)
    popup.deliver({"kind": "daemon", "missing": None}, {"kind": "page", "isOffered": True}, status())
    popup.offers(*offers)
    return popup


@test("Enter continues only the focused offer, however the list changes")
def focus(stage):
    popup = opened(stage, offer(1), offer(2))
    expect(popup.run(FOCUSED) == "Continue Page 1 from laptop", f"the focus: {popup.run(FOCUSED)}")
    # A newer offer, and another title.
    popup.offers(offer(3), offer(1, "Page one"), offer(2))
    expect(popup.run(FOCUSED) == "Continue Page one from laptop", f"the focus moved: {popup.run(FOCUSED)}")
    popup.offers(offer(2), offer(1), offer(3))
    popup.deliver(status(devices=("laptop", "phone")))
    expect(popup.run(FOCUSED) == "Continue Page 1 from laptop", f"the focus moved: {popup.run(FOCUSED)}")
    popup.offers(offer(3), offer(2))
    popup.key("Enter", 13, "\r")
    expect(popup.gone() == [], f"Enter continued {popup.gone()}")
    # An empty list that receives its first row just before a key is pressed.
    popup.offers()
    popup.offers(offer(4))
    popup.key("Enter", 13, "\r")
    expect(popup.gone() == [], f"Enter continued {popup.gone()}")
    popup.run("(document.querySelector('#recipients button').focus(), 1)")
    popup.deliver(status(devices=("laptop", "phone", "tablet")))
    expect(popup.run(FOCUSED) == "Send this page to laptop", f"the focus moved: {popup.run(FOCUSED)}")


@test("only new offers are read out, each of them once")
def live_region(stage):
    popup = opened(stage, offer(1), offer(2))
    expect(popup.run("document.querySelector('#offers').closest('[aria-live], [role=status]')") is None, "the list is read out")
    popup.run("""(globalThis.read = [], document.querySelectorAll('[aria-live], [role=status]').forEach((each) =>
        new MutationObserver(() => read.push(each.textContent)).observe(each, { childList: true, characterData: true, subtree: true })), 1)""")
    popup.offers(offer(1, "Another title"), offer(2))
    popup.deliver(status(), {"kind": "page", "isOffered": True})
    popup.offers(offer(3), offer(1), offer(2))
    popup.run("new Promise((done) => setTimeout(done, 50))")
    expect(popup.run("read") == ["New: Page 3 from laptop"], f"read out: {popup.run('read')}")


@test("two hundred offers and thousands of tabs are a few rows, and the others are searched or shown on demand")
def many(stage):
    popup = opened(stage, *(offer(number) for number in range(200)))
    popup.deliver(status(devices=[f"device {number}" for number in range(30)]))
    for device in range(5):
        popup.deliver({"kind": "tabs", "device": f"{device:064x}", "deviceName": f"device {device}",
                   "tabs": [{"title": f"Tab {device}x{number}", "url": f"https://site.example/{number}"} for number in range(500)]})
    stops = popup.run(STOPS)
    expect(stops <= 60, f"tab stops: {stops}")
    height = popup.run("document.body.offsetHeight")
    expect(height <= 600, f"the popup is {height} px high")
    expect(popup.run("document.querySelector('#resume, #pause').checkVisibility()"), "no switch")
    popup.run("(document.querySelector('#more-offers').click(), 1)")
    expect(popup.run(FOCUSED) == "Continue Page 15 from laptop", f"the focus: {popup.run(FOCUSED)}")
    popup.run("(document.querySelector('#search').value = 'tab 4x499', document.querySelector('#search').dispatchEvent(new Event('input')), 1)")
    expect(popup.text("#tabs .title") == ["Tab 4x499"], f"found: {popup.text('#tabs .title')}")
    expect(popup.text("#tabs h2") == ["device 4"], f"of: {popup.text('#tabs h2')}")


@test("the states of kept activities are shown, those of recent ones in their own section")
def states(stage):
    def state(number, state, since=None, **more):
        return {**offer(number, device="lap\u202etop"), "kept": {"state": state, "since": since, "asOf": 1_700_000_000}, **more}

    popup = opened(stage, offer(1), state(2, "asleep", 1_700_000_060), state(3, "asleep"), state(4, "offline", streams=True),
                   state(5, "another"))
    since, time = popup.run("[1700000060, 1700000000].map((each) => new Intl.DateTimeFormat('en', { hour: 'numeric', minute:"
                            " '2-digit', day: 'numeric', month: 'long' }).format(new Date(1000 * each)))")
    expect(popup.text("#offers .from") == [
        "laptop", f"laptop · asleep since {since}, as of {time}", f"laptop · asleep, as of {time}",
        f"laptop · offline, as of {time} · files and streams not available until laptop is back",
        f"laptop · offline, as of {time}"], f"wrong: {popup.text('#offers .from')}")
    expect(not popup.run("document.querySelector('#recent-section').checkVisibility()"), "an empty section")
    popup.deliver({"kind": "recent", "offers": [state(number, "ended", isOwn=number == 10, streams=True) for number in range(10, 40)]})
    lines = popup.text("#recent .from")
    expect(lines[:2] == [f"laptop · closed {place} at {time} · files and streams no longer available" for place in ("here", "there")],
           f"wrong: {lines}")
    expect(len(lines) == 15 and popup.text("#more-recent") == ["Show More (15 hidden)"], f"{len(lines)} rows")
    expect(popup.run("document.scrollingElement.scrollWidth") <= 360, "it is wider than its window")
    popup.run("(document.querySelector('#recent button').click(), 1)")
    expect(popup.gone() == [f"{10:032x}"], f"continued {popup.gone()}")


@test("exclusive editing is shown, and a newer state with the choice between both")
def newer(stage):
    popup = opened(stage, offer(1, "Draft"), {**offer(2), "exclusive": True, "age": 60 * 60 * 24 * 400})
    expect(re.fullmatch(r"laptop · in use there since \w+ \d+ at .*", popup.text("#offers .from")[1]), f"{popup.text('#offers .from')}")
    popup.run("(document.querySelector('#offers button').click(), 1)")
    state = {"activity": "c" * 32, "device": "cd" * 32, "deviceName": "ta\u202eblet", "here": False, "since": 1_700_000_000}
    went = {"kind": "went", "activity": f"{1:032x}", "device": "ab" * 32, "failure": "newer", "newer": state}
    popup.deliver(went)
    expect(popup.text("#newer-state")[0].startswith("A newer state of Draft has been on tablet since November "), f"{popup.text('#newer-state')}")
    expect(not popup.run("document.querySelector('#trouble').checkVisibility()"), "it is a problem")
    expect(popup.run("document.scrollingElement.scrollWidth") <= 360, "it is wider than its window")
    popup.run("(document.querySelector('#go-newer').click(), 1)")
    popup.deliver({**went, "newer": {**state, "here": True}})
    expect(not popup.run("document.querySelector('#go-newer').checkVisibility()"), "a state of this device can be continued")
    expect("on this device since" in popup.text("#newer-state")[0], f"{popup.text('#newer-state')}")
    popup.run("(document.querySelector('#go-older').click(), 1)")
    gone = [(each["activity"], each["device"], each["older"]) for each in popup.run("asked") if each["kind"] == "go"]
    expect(gone == [(f"{1:032x}", "ab" * 32, False), ("c" * 32, "cd" * 32, False), (f"{1:032x}", "ab" * 32, True)], f"{gone}")
    popup.deliver({**went, "newer": None, "failure": "it is no longer available"})
    expect(popup.text("#trouble") == ["it is no longer available"] and not popup.run("document.querySelector('#newer').checkVisibility()"),
           "not a failure")


@test("in a low window all of the popup can be reached")
def small(stage):
    popup = opened(stage, *(offer(number) for number in range(40)), height=240)
    popup.run("(document.querySelector('#pause').scrollIntoView(), 1)")
    place = popup.run("(({ left, top, right, bottom }) => [left, top, right, bottom])(document.querySelector('#pause').getBoundingClientRect())")
    expect(place[1] >= 0 and place[3] <= 240 and place[2] <= 360, f"the button is at {place}")
    expect(popup.run("document.scrollingElement.scrollWidth") <= 360, "it is wider than its window")


@test("in the pseudo-locale, mirrored, every text of the popup has brackets and fits")
def translated(stage):
    if not shutil.which("msgfmt"):
        raise Skip("msgfmt is not installed (scripts/setup --tests)")
    done = run([os.path.join(ROOT, "scripts", "translations"), "compile", "--pseudo", stage.folder], os.environ)
    expect(done.code == 0, str(done))
    with open(os.path.join(stage.folder, "_locales", "en_XA", "messages.json")) as file:
        texts = {key: value["message"] for key, value in json.load(file).items()}
    popup = Played(stage, texts={**texts, "@@bidi_dir": "rtl"})
    shown = popup.run(SHOWN)
    popup.deliver({"kind": "daemon", "missing": None}, {"kind": "page", "isOffered": True}, status(devices=()))
    shown += popup.run(SHOWN)
    popup.deliver(status(devices=("LAPTOP",)))
    popup.offers()
    shown += popup.run(SHOWN)
    app = {**offer(2, "PAGE"), "isPage": False, "opens": "APP"}
    copies = [{**app, "activity": f"{number}" * 32, "kept": {"state": state, "since": since, "asOf": 0}, "streams": number < 5,
               "deviceName": "LAPTOP"} for number, (state, since) in
              enumerate((("asleep", 0), ("asleep", None), ("offline", None), ("ended", None)), 3)]
    state = {"activity": "c" * 32, "device": "cd" * 32, "deviceName": "LAPTOP", "here": False, "since": 0}
    popup.deliver({"kind": "went", "activity": "0", "device": "0", "failure": "x", "newer": state})
    shown += popup.run(SHOWN)
    popup.deliver({"kind": "went", "activity": "0", "device": "0", "failure": "x", "newer": {**state, "here": True}})
    shown += popup.run(SHOWN)
    popup.deliver({"kind": "went", "activity": "0", "device": "0", "failure": "LAPTOP", "newer": None})
    popup.deliver({"kind": "recent", "offers": [*copies, {**copies[3], "activity": "8" * 32, "isOwn": True}]})
    popup.offers({**app, "exclusive": True}, offer(3, ""), {**app, "activity": "1" * 32, "opens": ""}, *(offer(number, "PAGE") for number in range(4, 30)))
    tab = {"title": "PAGE", "url": "https://SITE/"}
    popup.deliver({"kind": "tabs", "device": "ab" * 32, "deviceName": "LAPTOP", "tabs": [tab] * 20}, {"kind": "sent", "device": ""})
    shown += popup.run(SHOWN)
    popup.deliver({"kind": "code", "url": "https://site.example/", "rows": None}, {"kind": "taken", "device": ""})
    popup.run("(document.querySelector('#code').hidden = false, document.querySelector('#search').value = 'x',"
              " document.querySelector('#search').dispatchEvent(new Event('input')), 1)")
    shown += popup.run(SHOWN)
    popup.deliver(status(account=False, holds=[{"direction": "advertise", "byUser": True, "message": "REASON"}]))
    popup.offers()
    shown += popup.run(SHOWN)
    left = {each for each in shown if re.search("[A-Za-z]", re.sub("⟦[^⟦⟧]*⟧", "", re.sub("⟦[^⟦⟧]*⟧", "", each)))}
    expect(left <= {"LAPTOP", "PAGE", "desk", "laptop", "site"}, f"not translated: {left}")
    expect(len(set(shown)) > 35, f"only {len(set(shown))} texts: {sorted(set(shown))}")
    expect(popup.run("document.scrollingElement.scrollWidth") <= 360, "it is wider than its window")
    places = popup.run("['#device', '#resume'].map((each) => document.querySelector(each).getBoundingClientRect().left)")
    expect(places[0] > places[1], f"not mirrored: {places}")


@test("titles and names are one line, and do not change the direction or the position of following text")
def hostile_titles(stage):
    title = "safe\u202egnp.exe\u2066\x1b[31m\r\nsecond\u2028third \u200b\ufeff\u0085end"
    popup = opened(stage, offer(1, title, device="lap\u202etop\n"), offer(2, "\u202e\u200b\n"), offer(3, "\u05e9\u05dc\u05d5\u05dd"))
    popup.deliver({"kind": "tabs", "device": "cd" * 32, "deviceName": "lap\u202etop", "tabs": [{"title": title, "url": "https://site.example/"}]})
    words = popup.run("[document.body.textContent, ...[...document.querySelectorAll('*')].flatMap((each) => [...each.attributes])"
                      ".map((each) => each.value)].join(' ')")
    wrong = [hex(ord(each)) for each in words if each in "\u202e\u2066\x1b\r\u2028\u200b\ufeff\u0085"]
    expect(not wrong, f"shown: {wrong}")
    expect(popup.text("#offers .title")[1] == "Untitled Page", f"wrong: {popup.text('#offers .title')}")
    expect(popup.run("[...document.querySelectorAll('#offers .title')].every((each) => getComputedStyle(each).unicodeBidi === 'isolate' "
                     "|| getComputedStyle(each).unicodeBidi === 'plaintext')"), "titles are not isolated")


@test("without a daemon none of its data is shown, and without an account the popup reports that")
def stale(stage):
    popup = opened(stage, offer(1))
    popup.deliver({"kind": "tabs", "device": "ab" * 32, "deviceName": "laptop", "tabs": [{"title": "A tab", "url": "https://site.example/"}]})
    popup.deliver({"kind": "daemon", "missing": "handoffd is not running"})
    expect(popup.text("#offers .title") == [] and popup.text("#tabs .title") == [], "a stale list is shown")
    expect(popup.run("!document.querySelector('#send').checkVisibility()"), "a page can be sent")
    expect(popup.text("#trouble") == ["handoffd is not running"], "it is not reported")
    asked = len([each for each in popup.run("asked") if each["kind"] == "tabs"])
    popup.deliver({"kind": "daemon", "missing": None}, status())
    popup.offers(offer(1))
    expect(len([each for each in popup.run("asked") if each["kind"] == "tabs"]) == asked + 1, "tabs are not requested again")
    popup.deliver(status(account=False, devices=()))
    popup.offers()
    expect("not in an account" in popup.text("#no-offers")[0], f"it shows {popup.text('#no-offers')}")


@test("a page that is sent while it is loading is sent without waiting for it to load", limit=120)
def send_loading(stage):
    LATE.clear()
    stage.closers.append(LATE.set)
    for kind in (Chromium, Firefox):
        two = Two(stage, (kind,))
        taker, site, there = two.taker, two.site, two.browsers[0]
        tab = there.open(site.url("/small/1"))
        two.offer("small 1")
        url = site.url("/shapes/slow")
        shown = popup_of(there)
        # A popup in a tab of its own is about that tab, so it receives the other one.
        there.show(tab)
        there.run(tab, f"(setTimeout(() => {{ location = {json.dumps(url)} }}), 1)")
        until("the slow page", lambda: any(one["title"] == "Slow" for one in taker.ctl("list").lines))
        begin = time.monotonic()
        send = f"""(async () => {{
            const api = globalThis.browser ?? chrome;
            const tab = (await api.tabs.query({{}})).find((tab) => tab.url === {json.dumps(url)});
            const port = api.runtime.connect({{ name: "popup" }});
            port.onMessage.addListener((message) => {{
                if (message.kind === "sent") document.body.dataset.sent = message.failure ?? "sent";
            }});
            port.postMessage({{ kind: "send", device: {json.dumps(taker.ctl("status").line["device"])}, tab: tab.id, url: tab.url }});
        }})(), 1"""
        there.run(shown[1], send)
        until("the confirmation", lambda: there.run(shown[1], "document.body.dataset.sent") == "sent")
        expect(there.run(tab, "document.readyState") == "loading", "the page was complete, so nothing was tested")
        print(f"  {there.program}: sent after {(time.monotonic() - begin) * 1000:.0f} ms")
        taker.ctl("continue", "--print", next(one["id"] for one in taker.ctl("list").lines if one["sent"]))
        two.pair.clear()


if __name__ == "__main__":
    main()
