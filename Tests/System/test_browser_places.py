"""The scroll position of continued pages, and when it is left alone."""

import itertools
import json
import os
import time

from browsers import EXTENSION, Chromium, Firefox, until
from harness import Failure, expect, main, test
from page_shapes import DOWN, IN_FRAME, LATE, LEFT
from two_browsers import TOP, WIDTHS, Two, hand_over, near, scroll_to

# Nothing is scrolled in a page without a body yet.
SCROLLED = "(document.scrollingElement?.scrollTop ?? 0)"
# Moves the text of a page, as late images and scripts do.
GROW = ("(document.body.insertAdjacentHTML('afterbegin', '<div style=\\'height: 300px\\'></div>'), "
        "document.body.insertAdjacentHTML('beforeend', '<div style=\\'height: 300px\\'></div>'), 1)")
# Two frames later.
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"


def stays(browser, tab, expression, within, seconds=1.5):
    """Checks for a while that a value does not change."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        value = browser.run(tab, expression)
        expect(within(value), f"{expression} became {value}")
        time.sleep(0.05)


def only_its_page(stage, kinds):
    two = Two(stage, kinds)
    there, here = two.browsers
    url = two.site.url("/article")
    tab = there.open(url)
    scroll_to(there, tab, 150)
    target, _ = hand_over(two, "article", url, TOP.format(150), near(there.run(tab, TOP.format(150))))
    # As by a scroll bar, which sends no input to the page.
    here.run(target, "(scrollBy({top: 3000, behavior: 'instant'}), 1)")
    # The browser reports the scroll with the next frame.
    here.run(target, FRAMES)
    place = here.run(target, TOP.format(170))
    here.run(target, GROW)
    stays(here, target, TOP.format(170), lambda top: abs(top - place) <= 310)
    # Other pages of the tab, and the same one again.
    for path in ("/article2", "/film", "/article"):
        here.navigate(target, two.site.url(path))
        stays(here, target, SCROLLED, lambda top: top == 0)


@test("only the continued page is scrolled, until its reader moves: Firefox", limit=120)
def in_firefox(stage):
    only_its_page(stage, (Chromium, Firefox))


@test("only the continued page is scrolled, until its reader moves: Chromium", limit=120)
def in_chromium(stage):
    only_its_page(stage, (Firefox, Chromium))


@test("continuing a film sets the position of no other film in its tab", limit=120)
def other_film(stage):
    two = Two(stage, (Firefox, Chromium))
    there, here = two.browsers
    url = two.site.url("/film")
    tab = there.open(url)
    video = "document.querySelector('video')"
    until("the film", lambda: there.run(tab, f"{video}?.readyState >= 1"))
    there.run(tab, f"({video}.currentTime = 42.5, 1)")
    until("the second there", lambda: there.run(tab, f"{video}.currentTime") == 42.5)
    target, _ = hand_over(two, "A film", url, f"({video}?.currentTime ?? 0)", lambda seconds: 42 <= seconds < 45)
    here.navigate(target, two.site.url("/film?other"))
    until("the other film", lambda: here.run(target, f"{video}?.readyState >= 1"))
    stays(here, target, f"{video}.currentTime", lambda second: second < 10)


@test("a page behind a sign-in page is scrolled after the sign-in, and the sign-in page is not", limit=120)
def signs_in(stage):
    for kinds in ((Chromium, Firefox), (Firefox, Chromium)):
        two = Two(stage, kinds)
        there, here = two.browsers
        url = two.site.url("/members/news")
        tab = there.open(two.site.url("/article"))
        there.run(tab, "(document.cookie = 'member=1', 1)")
        there.navigate(tab, url)
        scroll_to(there, tab, 150)
        goal = there.run(tab, TOP.format(150))
        one = two.offer("members/news")
        until("the place there", lambda: "Paragraph 150." in two.taker.ctl("continue", "--print", one["id"]).line["userInfo"]
              .get("place", {}).get("words", ""))
        two.taker.ctl("continue", one["id"])
        login = two.site.url("/sign-in?to=/members/news")
        target = until("the page to sign in", lambda: next(iter(here.tabs(login)), None))
        stays(here, target, SCROLLED, lambda top: top == 0)
        here.run(target, "(document.querySelector('button').click(), 1)")
        until("the place", lambda: here.tabs(url) and abs(here.run(target, TOP.format(150)) - goal) <= 2)
        two.pair.clear()


# ---- Finding the place ----------------------------------------------------------------------------------------------------

SCRIPTS = [os.path.join(EXTENSION, name) for name in ("readable.js", "boxes.js", "page.js", "going.js")]


def in_page(browser, tab, call):
    """Returns the result of a function of the extension's scripts for pages, which runs here in the
    page's own world."""
    source = "".join(open(path).read() for path in SCRIPTS)
    return browser.run(tab, f"(() => {{ {source}; return {call} ?? null }})()")


def shape(name, number, scroll=None, position=DOWN, ratio=True, prepare="1"):
    """A page, the paragraph to which its reader scrolls, the measure of its position, and whether
    its ratio is checked, too."""
    goal = scroll or f"document.querySelector('#p{number}').scrollIntoView({{behavior: 'instant'}})"
    return name, position.format(number), goal, ratio, prepare


SHAPES = [
    shape("main", 150),
    shape("body", 150),
    shape("chat", 120),
    shape("hidden", 150),
    shape("details", 120, prepare="document.querySelector('details').open = true", ratio=False),
    shape("repeated", 100),
    shape("list", 5312, scroll="document.querySelector('#box').scrollTop = 5312 * 30"),
    shape("frame", 150, position=IN_FRAME,
          scroll="document.querySelector('iframe').contentDocument.querySelector('#p150').scrollIntoView({behavior: 'instant'})"),
    shape("vertical", 150, position=LEFT),
]


def place_of(two, name, position, goal, prepare):
    """Opens a page and scrolls it. Returns its place, and the position of the paragraph."""
    there = two.browsers[0]
    tab = there.visit(two.site.url("/shapes/" + name), WIDTHS[type(there)])
    there.run(tab, f"({prepare}, 1)")
    there.run(tab, f"({goal}, 1)")
    # Lists draw their rows after the scroll.
    until(f"the paragraph in {name}", lambda: abs(there.run(tab, position)) < 200)
    there.run(tab, FRAMES)
    place = in_page(there, tab, "handoffPage.read()")
    where = there.run(tab, position)
    expect(place and 0 < place.get("ratio", 0) < 1, f"{name}: {place}")
    return place, where


NUMBERS = itertools.count()


def go_to(two, name, place):
    here = two.browsers[1]
    url = two.site.url(f"/shapes/{name}?{next(NUMBERS)}")
    tab = here.visit(url, WIDTHS[type(here)])
    in_page(here, tab, f"handoffGoing.go({json.dumps({'place': place, 'url': url, 'landing': url})})")
    return tab


def shapes(stage, kinds):
    two = Two(stage, kinds)
    there, here = two.browsers
    wrong = []
    for name, position, goal, ratio, prepare in SHAPES:
        try:
            place, where = place_of(two, name, position, goal, prepare)
            tab = go_to(two, name, place)
            until(f"the place in {name} at {where}, {place}", lambda: abs(here.run(tab, position) - where) <= 3)
            if not ratio:
                continue
            # With another text than there.
            tab = go_to(two, name, {**place, "words": "Words that are not in this page."})
            until(f"the ratio in {name}, {place}",
                  lambda: abs((in_page(here, tab, "handoffPage.read()") or {}).get("ratio", 9) - place["ratio"]) < 0.02)
        except Failure as failure:
            wrong.append(str(failure))
    expect(not wrong, "\n".join(wrong))


@test("a page that loads more content at its end is scrolled to its end until the place is found", limit=120)
def infinite(stage):
    two = Two(stage, (Chromium, Firefox))
    for _ in range(2):
        two.browsers.reverse()
        there, here = two.browsers
        tab = there.open(two.site.url("/shapes/infinite"))
        until("its end", lambda: there.run(tab, "(scrollTo(0, 1e9), !!document.querySelector('#p130'))"))
        there.run(tab, "(document.querySelector('#p110').scrollIntoView({behavior: 'instant'}), 1)")
        place = in_page(there, tab, "handoffPage.read()")
        tab = go_to(two, "infinite", place)
        until("the place", lambda: abs(here.run(tab, DOWN.format(110))) <= 3)
        # Text that it does not contain. It is not scrolled to its end forever.
        tab = go_to(two, "infinite", {**place, "words": "Words that are not in this page."})
        until("the ratio", lambda: abs((in_page(here, tab, "handoffPage.read()") or {}).get("ratio", 9) - place["ratio"]) < 0.02)


@test("data without a page of its own keeps the place: JSON in Chromium, XML by its text or its ratio", limit=120)
def data(stage):
    two = Two(stage, (Chromium, Firefox))
    ratio = "document.scrollingElement.scrollTop / (document.scrollingElement.scrollHeight - document.scrollingElement.clientHeight)"
    for name, here in (("json", two.browsers[0]), ("xml", two.browsers[0]), ("xml", two.browsers[1])):
        there = two.browsers[0]
        tab = there.open(two.site.url("/shapes/" + name))
        there.run(tab, "(document.scrollingElement.scrollTo({top: 9000, behavior: 'instant'}), 1)")
        place, goal = in_page(there, tab, "handoffPage.read()"), there.run(tab, ratio)
        two.browsers = [there, here]
        tab = go_to(two, name, place)
        until(f"{name} at {goal} in {here.program}", lambda: abs(here.run(tab, ratio) - goal) < 0.02)


@test("a slow script at the end of a page delays neither the place nor the query for it", limit=120)
def slow(stage):
    two = Two(stage, (Firefox, Chromium))
    there, here = two.browsers
    LATE.clear()
    stage.closers.append(LATE.set)
    tab = there.open(two.site.url("/small/1"))
    url = two.site.url("/shapes/slow")
    # Without waiting.
    there.run(tab, f"(setTimeout(() => {{ location = {json.dumps(url)} }}), 1)")
    one = two.offer("Slow")
    there.run(tab, f"(document.querySelector('#p150').scrollIntoView({{behavior: 'instant'}}), 1)")
    two.taker.ctl("continue", one["id"])
    target = until("the tab", lambda: next(iter(here.tabs(url)), None))
    until("the place", lambda: abs(here.run(target, DOWN.format(150))) <= 3)
    expect(here.run(target, "document.readyState") == "loading", "the page was complete, so nothing was tested")
    LATE.set()


@test("boxes, frames, copies, repeated and vertical text keep the place from Chromium to Firefox, and their ratio", limit=240)
def shapes_to_firefox(stage):
    shapes(stage, (Chromium, Firefox))


@test("boxes, frames, copies, repeated and vertical text keep the place from Firefox to Chromium, and their ratio", limit=240)
def shapes_to_chromium(stage):
    shapes(stage, (Firefox, Chromium))


if __name__ == "__main__":
    main()
