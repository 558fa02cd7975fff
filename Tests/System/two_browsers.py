"""Two devices with a browser each, and pages that are handed over between them."""

import time

from browsers import Chromium, Firefox, attached, pages_of, until
from harness import Failure, expect
from pages import Site

TOP = "(document.querySelector('#p{}')?.getBoundingClientRect().top ?? 1e9)"
WIDTHS = {Chromium: 780, Firefox: 1366}


class Two:
    """A browser on each of two devices."""

    def __init__(self, stage, kinds, names=("origin", "taker")):
        self.origin, self.taker = stage.pair(names)
        self.site = Site(stage)
        self.browsers = [self.start(stage, kind, daemon) for kind, daemon in zip(kinds, (self.origin, self.taker))]
        for browser, daemon in zip(self.browsers, (self.origin, self.taker)):
            attached(browser, daemon)

    def start(self, stage, kind, daemon, **more):
        if kind is Firefox:
            more["sites"] = Site.hosts
        return kind(stage, f"{daemon.name}-{kind.program}", daemon, **more)

    def offer(self, url_or_title, daemon=None, within=15):
        """Returns the offer of a page by its title, as the other device sees it."""
        daemon = daemon or self.taker
        return until(f"an offer of {url_or_title}", lambda: next(
            (one for one in pages_of(daemon) if one["title"] == url_or_title), None), within)


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
