"""Where a page that was continued is scrolled, and when it is left alone."""

import time

from browsers import Chromium, Firefox, until
from harness import expect, main, test
from two_browsers import TOP, Two, hand_over, near, scroll_to

SCROLLED = "document.scrollingElement.scrollTop"
# What late pictures and scripts do to a page: its text moves.
GROW = ("(document.body.insertAdjacentHTML('afterbegin', '<div style=\\'height: 300px\\'></div>'), "
        "document.body.insertAdjacentHTML('beforeend', '<div style=\\'height: 300px\\'></div>'), 1)")


def stays(browser, tab, expression, within, seconds=1.5):
    """Looks for a while whether a value stays where it is."""
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
    here.run(target, "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
    place = here.run(target, TOP.format(170))
    here.run(target, GROW)
    stays(here, target, TOP.format(170), lambda top: abs(top - place) <= 310)
    # Other pages of the tab, and the same one again.
    for path in ("/article2", "/film", "/article"):
        here.navigate(target, two.site.url(path))
        stays(here, target, SCROLLED, lambda top: top == 0)


@test("only the page that was continued is scrolled, until its reader moves: Firefox", limit=120)
def in_firefox(stage):
    only_its_page(stage, (Chromium, Firefox))


@test("only the page that was continued is scrolled, until its reader moves: Chromium", limit=120)
def in_chromium(stage):
    only_its_page(stage, (Firefox, Chromium))


@test("a film that was continued sets the second of no other film in its tab", limit=120)
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


@test("a page whose reader has to sign in first is gone to after that, and the page to sign in is not scrolled", limit=120)
def signs_in(stage):
    for kinds in ((Chromium, Firefox), (Firefox, Chromium)):
        two = Two(stage, kinds, names=(f"origin-{kinds[0].program}", f"taker-{kinds[0].program}"))
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
        login = two.site.url("/login?to=/members/news")
        target = until("the page to sign in", lambda: next(iter(here.tabs(login)), None))
        stays(here, target, SCROLLED, lambda top: top == 0)
        here.run(target, "(document.querySelector('button').click(), 1)")
        until("the place", lambda: here.tabs(url) and abs(here.run(target, TOP.format(150)) - goal) <= 2)


if __name__ == "__main__":
    main()
