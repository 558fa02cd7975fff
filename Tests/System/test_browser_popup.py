"""The popup of the extension: what it shows, what it asks for and when, and how it is used by keyboard."""

import json

from browsers import Chromium, Firefox, attached, until
from harness import Failure, expect, main, test
from pages import Site
from two_browsers import popup_of

TABS = "dev.handoff1.browser.tabs"


def text(popup, selector):
    """What stands in each element that a selector means."""
    browser, tab = popup
    return browser.run(tab, f"[...document.querySelectorAll({json.dumps(selector)})].map((each) => each.innerText.trim())")


def says(popup, words):
    """Waits until the popup says this of the page in front."""
    said = []
    try:
        until(words, lambda: said.append("".join(text(popup, "#page"))) or said[-1] == words)
    except Failure:
        raise Failure(f"it says '{said[-1]}' and not '{words}'") from None


def devices(stage, kinds):
    origin, taker = stage.pair()
    site = Site(stage)
    browsers = []
    for kind, daemon in zip(kinds, (origin, taker)):
        browsers.append(kind(stage, f"{daemon.name}-{kind.program}", daemon, **({"sites": Site.hosts} if kind is Firefox else {})))
        attached(browsers[-1], daemon)
    return origin, taker, site, browsers


def of_tabs(daemon):
    return [entry for entry in daemon.ctl("log").lines if entry.get("type") == TABS or entry["event"] == "stream"]


def popup(stage, kinds):
    origin, taker, site, (there, here) = devices(stage, kinds)
    # More than a payload may have.
    long = "x" * 1900
    there.open_many(site.url(f"/small/{number}?{long}") for number in range(45))
    there.open(site.url("/front"))
    until("the offer", lambda: any(one["title"] == "front" for one in taker.ctl("list").lines))
    # The popup asks once: a tab whose page is still on its way has no title, or is left out.
    until("all pages", lambda: {f"small {number}" for number in range(45)} <= set(there.tab_titles()))
    expect(of_tabs(origin) == [], f"asked before: {of_tabs(origin)}")
    shown = popup_of(here)
    until("the offer in the popup", lambda: text(shown, "#offers .title") == ["front"])
    until("the tabs", lambda: len(text(shown, "#tabs .title")) >= 46)
    expect(len(of_tabs(origin)) > 0, "the log of the origin says nothing")
    titles = text(shown, "#tabs .title")
    expect({f"small {number}" for number in range(45)} | {"front"} <= set(titles), f"missing: {titles}")
    expect(text(shown, "#tabs h2") == ["origin"], f"wrong: {text(shown, '#tabs h2')}")
    # Search.
    search = "document.querySelector('#search')"
    here.run(shown[1], f"({search}.value = 'SMALL/17', {search}.dispatchEvent(new Event('input')), 1)")
    expect(text(shown, "#tabs .title") == ["small 17"], f"found: {text(shown, '#tabs .title')}")
    # Each thing that is done has a name for those who do not see it.
    names = here.run(shown[1], "[...document.querySelectorAll('button, input')].filter((each) => each.offsetParent)"
                               ".map((each) => each.getAttribute('aria-label') || each.innerText.trim())")
    expect(all(names), f"without a name: {names}")
    # By keyboard.
    here.run(shown[1], "(document.activeElement.blur(), document.querySelector('#offers button').focus(), 1)")
    key = "document.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', bubbles: true}))"
    here.run(shown[1], key)
    expect(here.run(shown[1], "document.activeElement.id") == "search", "the arrow does not go on")
    # Switches.
    here.run(shown[1], "(document.querySelector('#pause-hour').click(), 1)")
    until("the pause", lambda: not taker.ctl("status").line["advertising"])
    until("its end", lambda: here.run(shown[1], "!document.querySelector('#resume').hidden"))
    here.run(shown[1], "(document.querySelector('#resume').click(), 1)")
    until("the end of the pause", lambda: taker.ctl("status").line["advertising"])
    # In this browser, whichever is the default one.
    here.run(shown[1], "(document.querySelector('#offers button').click(), 1)")
    until("the page", lambda: here.tabs(site.url("/front")))


@test("the popup of Chromium offers what Firefox has, and asks for its tabs when it is opened and not before", limit=120)
def in_chromium(stage):
    popup(stage, (Firefox, Chromium))


@test("the popup of Firefox offers what Chromium has, and asks for its tabs when it is opened and not before", limit=120)
def in_firefox(stage):
    popup(stage, (Chromium, Firefox))


@test("the popup sends this page to one device, which opens it at the same place, and no other one is told", limit=120)
def send(stage):
    origin, taker, site, (there, here) = devices(stage, (Chromium, Firefox))
    third = stage.daemon("third")
    stage.join(origin, third)
    there.open(site.url("/small/7"))
    until("the offer", lambda: any(one["title"] == "small 7" for one in taker.ctl("list").lines))
    shown = popup_of(there)
    names = "[...document.querySelectorAll('#recipients button')].map((each) => each.innerText.trim()).sort()"
    until("the devices", lambda: there.run(shown[1], names) == ["taker", "third"])
    there.run(shown[1], "([...document.querySelectorAll('#recipients button')].find((each) => each.innerText === 'taker').click(), 1)")

    def received(daemon):
        return [one for one in daemon.ctl("list").lines if one["sent"]]

    until("what was sent", lambda: [one["title"] for one in received(taker)] == ["small 7"])
    until("that it is sent", lambda: "taker is told of it" in "".join(text(shown, "#sent")))
    expect(received(third) == [], f"another device is told: {received(third)}")
    refused = third.ctl("continue", received(taker)[0]["id"], code=4)
    expect("NothingToContinue" in refused.errors, f"another device gets it: {refused}")
    taker.ctl("continue", received(taker)[0]["id"])
    until("the page", lambda: here.tabs(site.url("/small/7")))
    until("that it was taken", lambda: text(shown, "#sent") == ["taker has opened it."])
    until("its end", lambda: received(taker) == [])


@test("the popup shows this page as a code, and says what is wrong", limit=120)
def page(stage):
    origin, taker, site, (there, here) = devices(stage, (Chromium, Chromium))
    here.open(site.url("/here"))
    until("the offer", lambda: any(one["title"] == "here" for one in origin.ctl("list").lines))
    shown = popup_of(here)
    says(shown, "Your other devices can go on with it.")
    here.run(shown[1], "(document.querySelector('#code-button').click(), 1)")
    until("the code", lambda: here.run(shown[1], "!!document.querySelector('#code svg path')"))
    taker.kill()
    until("what is wrong", lambda: text(shown, "#trouble")[0].startswith("handoffd "))
    taker.start()
    until("that it is well again", lambda: text(shown, "#trouble") == [""])
    says(shown, "Your other devices can go on with it.")


if __name__ == "__main__":
    main()
