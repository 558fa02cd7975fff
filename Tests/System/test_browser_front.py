"""The page in front: its title, when it is offered, and its state after it is continued elsewhere."""

import json
import time

from browsers import Chromium, Firefox, none_offered, pages_of, until
from extension import popup_of
from harness import expect, main, test
from two_browsers import Two

BADGE = """(async () => {
    const api = globalThis.browser ?? chrome;
    const tab = (await api.tabs.query({})).find((tab) => tab.url === ADDRESS);
    return tab && await api.action.getBadgeText({ tabId: tab.id });
})()"""


def extension(browser, popup, script):
    """Returns the value of an asynchronous expression in a page of the extension."""
    if isinstance(browser, Chromium):
        return browser.run(popup, script)
    browser.switch(popup)
    text = f"const done = arguments[arguments.length - 1]; ({script}).then(done)"
    return browser.call("WebDriver:ExecuteAsyncScript", {"script": text, "args": []})["value"]


def load(browser, tab, url):
    """Loads a page that may fail to load."""
    if isinstance(browser, Chromium):
        browser.call("Page.navigate", {"url": url}, browser.session(tab))
    else:
        browser.run(tab, f"(setTimeout(() => {{ location = {json.dumps(url)} }}), 1)")


def addresses(two):
    return [two.taker.ctl("continue", "--print", one["id"]).line["webpageURL"] for one in pages_of(two.taker)]


def pages(stage, kinds):
    two = Two(stage, kinds)
    there = two.browsers[0]
    _, popup = popup_of(there)
    url = two.site.url("/small/1")
    tab = there.open(url)
    two.offer("small 1")
    badge = BADGE.replace("ADDRESS", json.dumps(url))
    until("the dot", lambda: extension(there, popup, badge) == "•")
    there.run(tab, "(setTimeout(() => location.reload()), 1)")
    time.sleep(1)
    until("the dot after the page was loaded again", lambda: extension(there, popup, badge) == "•")
    # Nothing listens at port 1.
    load(there, tab, "http://reading.example:1/missing")
    none_offered(two.taker)
    time.sleep(1)
    expect(pages_of(two.taker) == [], f"an error page is offered: {pages_of(two.taker)}")
    load(there, tab, two.site.url("/small/2?q=a\\d"))
    two.offer("small 2")
    expect(addresses(two) == [two.site.url("/small/2?q=a%5Cd")], f"offered: {addresses(two)}")
    load(there, tab, two.site.url("/untitled?secret=1"))
    two.offer(two.site.url("/untitled").removeprefix("http://"))


@test("the dot stays, error pages are not offered, other addresses and pages without a title are: Chromium", limit=120)
def pages_chromium(stage):
    pages(stage, (Chromium, Firefox))


@test("the dot stays, error pages are not offered, other addresses and pages without a title are: Firefox", limit=120)
def pages_firefox(stage):
    pages(stage, (Firefox, Chromium))


def sound(stage, kinds):
    two = Two(stage, kinds)
    there, here = two.browsers
    url = two.site.url("/playing")
    element = "document.querySelector('audio')"
    tab = there.open(url)
    until("the sound", lambda: there.run(tab, f"!{element}.paused && {element}.currentTime > 0"))
    time.sleep(0.5)
    two.taker.ctl("continue", two.offer("Playing")["id"])
    target = until("the tab", lambda: next(iter(here.tabs(url)), None))
    until("the sound there", lambda: here.run(target, f"!!{element} && !{element}.paused && {element}.currentTime > 0"))
    until("silence at the origin", lambda: there.run(tab, f"{element}.paused"))
    # Paused, and continued once more.
    here.close_tab(target)
    there.run(tab, f"({element}.pause(), {element}.currentTime = 42.5, 1)")
    until("the second", lambda: two.taker.ctl("continue", "--print", two.offer("Playing")["id"]).line["userInfo"]
          .get("place", {}).get("time") == 42.5)
    two.taker.ctl("continue", two.offer("Playing")["id"])
    target = until("the tab", lambda: next(iter(here.tabs(url)), None))
    until("the second there", lambda: here.run(target, f"{element}?.currentTime ?? 0") >= 42.5)
    time.sleep(1.5)
    # The page starts it once more, and on a busy machine the extension stops it later.
    until("a pause there", lambda: here.run(target, f"{element}.paused"))
    second = here.run(target, f"{element}.currentTime")
    time.sleep(0.5)
    expect(here.run(target, f"{element}.paused && {element}.currentTime === {second}"), "it plays although it was paused")


@test("a playing film continues elsewhere and stops here, and a paused one stays paused: Firefox", limit=120)
def sound_in_firefox(stage):
    sound(stage, (Chromium, Firefox))


@test("a playing film continues elsewhere and stops here, and a paused one stays paused: Chromium", limit=120)
def sound_in_chromium(stage):
    sound(stage, (Firefox, Chromium))


if __name__ == "__main__":
    main()
