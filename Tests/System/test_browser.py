"""Pages handed over between real browsers: Chromium and Firefox ESR, each with its daemon, on loopback."""

import json
import os
import time

from browsers import Chromium, Firefox, none_offered, until
from harness import ROOT, Skip, expect, main, test
from pages import Site
from two_browsers import TOP, WIDTHS, Two, hand_over, near, scroll_to

# The time for which a killed daemon is not running, in seconds.
AWAY = float(os.environ.get("HANDOFF_AWAY", "3"))


def both_directions(stage, kinds):
    two = Two(stage, kinds)
    there, here = two.browsers
    url = two.site.url("/article")
    tab = there.open(url, width=WIDTHS[kinds[0]])
    scroll_to(there, tab, 150)
    goal = there.run(tab, TOP.format(150))
    height = there.run(tab, "document.documentElement.scrollHeight")
    expect(height > 10_000, f"a short article: {height}")
    target, took = hand_over(two, "article", url, TOP.format(150), near(goal))
    print(f"  {there.program} to {here.program}: {took:.0f} ms, {height} px, {here.run(target, TOP.format(150))} for {goal}")
    # Read further there, and continue here again.
    scroll_to(there, tab, 190)
    goal = there.run(tab, TOP.format(190))
    hand_over(two, "article", url, TOP.format(190), near(goal))
    expect(len(here.tabs(url)) == 1, f"tabs: {here.tabs()}")


@test("a page is continued from Chromium in Firefox at the same paragraph, and again after further reading", limit=120)
def chromium_to_firefox(stage):
    both_directions(stage, (Chromium, Firefox))


@test("a page is continued from Firefox in Chromium at the same paragraph, and again after further reading", limit=120)
def firefox_to_chromium(stage):
    both_directions(stage, (Firefox, Chromium))


def place_is_kept(two, path, title, number, address=None):
    """Hands over a page that is scrolled to a paragraph, and checks that the page is at that
    paragraph, and stays there."""
    there, here = two.browsers
    url = two.site.url(path)
    tab = there.open(url)
    until("the paragraph", lambda: there.run(tab, TOP.format(number)) < 1e9)
    scroll_to(there, tab, number)
    # Late content also moves the text of the origin.
    late = "[...document.images].every((each) => each.complete) && document.title"
    until("all content", lambda: there.run(tab, late) == title)
    scroll_to(there, tab, number)
    goal = there.run(tab, TOP.format(number))
    target, _ = hand_over(two, title, address or url, TOP.format(number), near(goal))
    time.sleep(1)
    until("all content there", lambda: here.run(target, late) == title)
    until(f"{goal} in {path}", lambda: abs(here.run(target, TOP.format(number)) - goal) <= 2)
    there.close_tab(tab)


@test("late images, a single-page app, an anchor and a pinned header keep the place", limit=180)
def difficult_pages(stage):
    two = Two(stage, (Chromium, Firefox))
    place_is_kept(two, "/images", "Pictures", 120)
    place_is_kept(two, "/app/story?a=1", "An app at /app/story", 160)
    place_is_kept(two, "/anchored#p40", "anchored", 90)
    place_is_kept(two, "/header", "Pinned", 77)


@test("a film continues at the same second", limit=120)
def film(stage):
    two = Two(stage, (Firefox, Chromium))
    there, here = two.browsers
    url = two.site.url("/film")
    tab = there.open(url)
    video = "document.querySelector('video')"
    second = "(document.querySelector('video')?.currentTime ?? 0)"
    until("the film", lambda: there.run(tab, f"{video}?.readyState >= 1"))
    there.run(tab, f"({video}.currentTime = 42.5, 1)")
    until("the second there", lambda: there.run(tab, f"{video}.currentTime") == 42.5)
    hand_over(two, "A film", url, second, lambda seconds: 42 <= seconds < 45)


@test("private pages are not offered: local pages, pages of the browser itself, and addresses without a host", limit=120)
def not_offered(stage):
    two = Two(stage, (Chromium, Firefox))
    there = two.browsers[0]
    tab = there.open(two.site.url("/first"))
    two.offer("first")
    path = stage.file("page.html", "<title>a file</title>")
    for url in (f"http://127.0.0.1:{two.site.port}/local", f"http://localhost:{two.site.port}/local", f"file://{path}",
                "chrome://version/", "data:text/html,<title>data</title>", "about:blank"):
        tab = there.open(url)
        none_offered(two.taker, f"nothing on offer for {url}")
        there.navigate(tab, two.site.url("/between"))
        two.offer("between")
        there.close_tab(tab)
        two.offer("first")


@test("of eighty tabs the one in front is offered", limit=180)
def many_tabs(stage):
    two = Two(stage, (Chromium, Firefox))
    there, here = two.browsers
    tab = there.open(two.site.url("/tab120"))
    there.open_many(two.site.url(f"/small/{number}") for number in range(80))
    there.open(two.site.url("/last"))
    two.offer("last", within=60)
    there.show(tab)
    begin = time.monotonic()
    two.offer("tab120")
    print(f"  offered {(time.monotonic() - begin) * 1000:.0f} ms after the change of tabs")
    scroll_to(there, tab, 60)
    goal = there.run(tab, TOP.format(60))
    _, took = hand_over(two, "tab120", two.site.url("/tab120"), TOP.format(60), near(goal))
    print(f"  continued in {took:.0f} ms")


@test("if no browser runs one is started, and opens the page at the right place", limit=120)
def cold_start(stage):
    for kinds in ((Chromium, Firefox), (Firefox, Chromium)):
        two = Two(stage, kinds[:1])
        if not two.browsers[0].prefix:
            raise Skip("only root can install the package for a test")
        taker = stage.daemon(f"third-{kinds[1].program}")
        stage.join(two.origin, taker)
        here = kinds[1](stage, taker.name, taker, start=False, **({"sites": Site.hosts} if kinds[1] is Firefox else {}))
        folder = os.path.join(taker.environment["HOME"], ".config", "handoff", "handlers.d")
        os.makedirs(folder)
        with open(os.path.join(ROOT, "packaging", "browser", "handlers", f"{here.program}.json")) as file:
            manifest = json.load(file)
        expect(manifest["exec"] == [here.program], f"wrong: {manifest}")
        with open(os.path.join(folder, f"{here.program}.json"), "w") as file:
            json.dump({**manifest, "exec": [here.starter]}, file)
        until("the handler", lambda: any(app["id"] == here.program for app in taker.ctl("apps").lines))
        there = two.browsers[0]
        url = two.site.url("/article")
        tab = there.open(url)
        scroll_to(there, tab, 100)
        goal = there.run(tab, TOP.format(100))
        one = two.offer("article", taker)
        until("the place there", lambda: "Paragraph 100." in taker.ctl("continue", "--print", one["id"]).line["userInfo"]
              .get("place", {}).get("words", ""))
        begin = time.monotonic()
        taker.ctl("continue", one["id"], within=60)
        took = time.monotonic() - begin
        here.connect()
        target = until("the tab", lambda: next(iter(here.tabs(url)), None))
        until("the paragraph", lambda: abs(here.run(target, TOP.format(100)) - goal) <= 2)
        print(f"  {here.program}: {took * 1000:.0f} ms until the tab exists")
        here.kill()
        taker.ctl("account", "leave", "--yes")
        there.close_tab(tab)


@test("a killed browser offers nothing, and a browser whose daemon was killed offers its page again", limit=120)
def kills(stage):
    two = Two(stage, (Firefox, Chromium))
    there, here = two.browsers
    url = two.site.url("/article")
    tab = there.open(url)
    former = two.offer("article")
    two.origin.kill()
    time.sleep(AWAY)
    begin = time.monotonic()
    two.origin.start()
    # The other device keeps the offer of a device that does not answer for about as long as it was stopped.
    until("another offer than before", lambda: two.offer("article")["id"] != former["id"])
    one = two.offer("article")
    print(f"  offered again {(time.monotonic() - begin) * 1000:.0f} ms after the daemon started, which was stopped for {AWAY} s")
    scroll_to(there, tab, 30)
    hand_over(two, "article", url, TOP.format(30), near(there.run(tab, TOP.format(30))))
    two.pair.drop(there)
    none_offered(two.taker)
    expect(one["type"] == "NSUserActivityTypeBrowsingWeb", f"wrong: {one}")


if __name__ == "__main__":
    main()
