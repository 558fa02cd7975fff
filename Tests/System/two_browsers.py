"""Two devices with a browser each, and pages that are handed over between them."""

import time

from browsers import Chromium, Firefox, attached, none_offered, pages_of, until
from harness import SHARED, Failure, Stage, expect
from pages import Site

TOP = "(document.querySelector('#p{}')?.getBoundingClientRect().top ?? 1e9)"
WIDTHS = {Chromium: 780, Firefox: 1366}


class Pair(Stage):
    """Two devices of one account, one for Chromium and one for Firefox. Starting a browser takes longer than most tests, so
    the tests of a process share them. A browser is started when a test first uses it."""

    def __init__(self):
        super().__init__("shared browsers")
        self.devices, self.browsers = {}, {}

    def start(self):
        self.devices = dict(zip((Chromium, Firefox), self.pair(("desk", "laptop"))))

    def browser(self, kind):
        if kind not in self.browsers:
            more = {"sites": Site.hosts} if kind is Firefox else {}
            name = f"{kind.program}-{len(self.processes)}"
            self.browsers[kind] = kind(self, name, self.devices[kind], **more)
            attached(self.browsers[kind], self.devices[kind])
        return self.browsers[kind]

    def drop(self, browser):
        """Kills a browser. The next test that uses it starts another one, with a new profile."""
        browser.kill()
        self.browsers = {kind: each for kind, each in self.browsers.items() if each is not browser}

    def clear(self):
        """Prepares for the next test: no pages, and no offers."""
        for browser in self.browsers.values():
            browser.clear()
        for daemon in self.devices.values():
            none_offered(daemon)
            status = daemon.ctl("status").line
            expect(status["advertising"] and status["receiving"], f"the test has changed a switch of {daemon.name}: {status}")
            # A device that a test adds has to leave the account, of which the others learn a moment later.
            until(f"an account of two devices on {daemon.name}", lambda: len(daemon.ctl("devices").lines) == 2)

    def end(self):
        # A clean exit takes a while, and no test is about it.
        for browser in self.browsers.values():
            browser.kill()
        super().end()


class Two:
    """The browsers that the tests share, in the order of a test: pages are usually handed over from the first to the
    second. The second one may be omitted."""

    def __init__(self, stage, kinds):
        self.pair = next((each for each in SHARED if isinstance(each, Pair)), None) or Pair()
        stage.share(self.pair)
        if not self.pair.devices:
            self.pair.start()
        self.site = Site(stage)
        self.browsers = [self.pair.browser(kind) for kind in kinds]
        other = {Chromium: Firefox, Firefox: Chromium}
        self.origin, self.taker = (self.pair.devices[kind] for kind in (kinds[0], other[kinds[0]]))
        for browser in self.pair.browsers.values():
            expect(browser.process.poll() is None, f"{browser.name} has ended")

    def offer(self, url_or_title, daemon=None, within=30):
        """Returns the offer of a page by its title, as the other device sees it."""
        daemon = daemon or self.taker
        return until(f"an offer of {url_or_title}", lambda: next(
            (one for one in pages_of(daemon) if one["title"] == url_or_title), None), within)


def offered(watch, title):
    """Waits until a watching command reports an offer with this title, which may arrive after the address."""
    until(title, lambda: watch.next(within=30).get("title") == title)


def scroll_to(browser, tab, number):
    browser.run(tab, f"document.querySelector('#p{number}').scrollIntoView({{behavior: 'instant'}})")


def hand_over(two, title, url, place, is_there):
    """Continues the page with this title, whose place is identified by the value of an expression
    in the page.

    The origin's browser reports a moment later that a page was scrolled, without a visible event. A
    continuation before that gets the previous place. A page that arrived elsewhere is therefore
    continued once more, as its reader would do. Returns the tab, and the duration of the first
    continuation in ms.
    """
    here, first = two.browsers[1], None
    for _ in range(3):
        one = two.offer(title)
        begin = time.monotonic()
        done = two.taker.ctl("continue", one["id"]).line
        first = first or (time.monotonic() - begin) * 1000
        expect(done["opens"]["kind"] == "app", f"it was opened by {done['opens']}")
        tab = until("the tab", lambda: next(iter(here.tabs(url)), None))
        limit = time.monotonic() + 10
        while time.monotonic() < limit:
            value = here.run(tab, place)
            if is_there(value):
                return tab, first
            time.sleep(0.05)
    raise Failure(f"{title} is at the wrong place: {value!r}")


def near(goal):
    return lambda top: abs(top - goal) <= 2
