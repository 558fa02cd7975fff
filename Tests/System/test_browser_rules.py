"""Data that browsers must not share, the browser that receives a page, and the host without its
extension or its daemon."""

import json
import os
import shutil
import signal
import socket
import time

from browsers import CHROMIUM_ID, EXTENSION, WEB, Chromium, Firefox, attached, none_offered, pages_of, until
from extension import Host
from harness import Failure, Skip, expect, main, test, virtual_screen
from keeping import traces
from pages import Site
from two_browsers import offered

SECRET = "secret-7d0fd1a3c5"
# The guards for private windows, which apply if the manifest does not exclude them.
GUARDS = ("front.js", "tab.incognito !== false", "false")
# Reports of responses that arrive after the changes of tabs, as they sometimes do on a busy machine.
LATE = ("pages.js", "addListener(responded,", "addListener((details) => (globalThis.late ??= []).push(() => responded(details)),")


def variant(stage, incognito="not_allowed", *changes):
    """The extension with another value for private windows in its manifest, and with changes: file, text, replacement."""
    folder = os.path.join(stage.folder, f"extension-{len(os.listdir(stage.folder))}")
    shutil.copytree(EXTENSION, folder)
    path = os.path.join(folder, "manifest.json")
    with open(path) as file:
        manifest = json.load(file)
    manifest["incognito"] = incognito
    with open(path, "w") as file:
        json.dump(manifest, file)
    for name, text, replacement in changes:
        path = os.path.join(folder, name)
        with open(path) as file:
            script = file.read()
        expect(text in script, f"{name} does not contain {text}")
        with open(path, "w") as file:
            file.write(script.replace(text, replacement))
    return folder


def titles(taker, site, browser, open_private, is_guarded=True):
    """Returns the titles that were offered to the other device while a private window was open, and
    after it a page of a normal one."""
    watch = taker.follow("watch")
    watch.wait("ready")
    browser.open(site.url("/before"))
    offered(watch, "before")
    open_private(site.url("/" + SECRET))
    # Any announcement of the private page would be immediate, and so precede the next page.
    if is_guarded:
        time.sleep(1)
    else:
        offered(watch, SECRET)
    browser.open(site.url("/after"))
    offered(watch, "after")
    watch.process.terminate()
    return {line.get("title") for line in watch.seen}


@test("Chromium offers no page of a private window or context on a screen, whatever the manifest allows", limit=120)
def chromium_windows(stage):
    origin, taker = stage.pair()
    site, display = Site(stage), virtual_screen(stage)
    for incognito in ("not_allowed", "spanning"):
        browser = Chromium(stage, f"chromium-{incognito}", origin, "--incognito", site.url("/" + SECRET),
                           extension=variant(stage, incognito), headless=False, display=display)
        until("the private page", lambda: browser.tabs(site.url("/" + SECRET)))
        for open_private in (lambda url: None, lambda url: browser.open(url, private=True)):
            seen = titles(taker, site, browser, open_private)
            expect(SECRET not in seen, f"with {incognito}: {seen}")
        browser.kill()
        none_offered(taker)
    never_kept(origin, taker)


def never_kept(origin, taker):
    """Stops the first device, whose activities the other one then keeps, and searches the memory of that one."""
    expect(origin.stop() == 0, "the origin did not exit")
    expect(not traces(taker, {SECRET: SECRET}), "the private page is in the memory of the other device")


@test("Firefox offers no page of a private window, whatever the manifest and its user allow, but would without the guards", limit=180)
def firefox_windows(stage):
    origin, taker = stage.pair()
    site, browser = Site(stage), None
    for incognito, allowed, guarded in (("not_allowed", False, True), ("not_allowed", True, True), ("spanning", False, True),
                                        ("spanning", True, True), ("spanning", True, False)):
        extension = variant(stage, incognito, *([] if guarded else [GUARDS]))
        if browser:
            browser.clear()
            browser.install(extension, allowed)
        else:
            browser = Firefox(stage, origin.name, origin, extension=extension, private=allowed, sites=Site.hosts)
        attached(browser, origin)
        has = browser.in_browser("return WebExtensionPolicy.getByID('browser@handoff1.dev').privateBrowsingAllowed")
        expect(has == (allowed and incognito == "spanning"), f"with {incognito}, allowed {allowed}: the permission is {has}")
        seen = titles(taker, site, browser, lambda url: browser.open(url, private=True), guarded)
        if guarded and has:
            never_kept(origin, taker)
            origin.start()
        # Without the guards the page is seen, which proves that the test can detect it.
        expect((SECRET in seen) != guarded, f"with {incognito}, allowed {allowed}, guarded {guarded}: {seen}")


@test("the result of a form is not offered even if the browser reports the response late", limit=120)
def late_reports(stage):
    origin, taker = stage.pair()
    site = Site(stage)
    browser = Chromium(stage, "chromium", origin, extension=variant(stage, "not_allowed", LATE))
    tab = browser.open(site.url("/form"))
    until("the form", lambda: [one["title"] for one in pages_of(taker)] == ["A form"])
    browser.run(tab, "(document.forms[0].submit(), 1)")
    # Until the response is reported, it looks like any page.
    until("the result", lambda: [one["title"] for one in pages_of(taker)] == ["The result"])
    # The last change of the tab is evaluated within this time.
    time.sleep(1)
    worker = next(one["targetId"] for one in browser.call("Target.getTargets")["targetInfos"] if one["type"] == "service_worker")
    browser.run(worker, "(late.forEach((each) => each()), 1)")
    none_offered(taker)


@test("of two browsers the default one receives the page, in whatever order they attach", limit=120)
def two_browsers(stage):
    origin, taker = stage.pair()
    site = Site(stage)
    settings = os.path.join(taker.environment["HOME"], ".config", "mimeapps.list")
    os.makedirs(os.path.dirname(settings))
    publish = origin.publish("--title", "page", WEB, "--web-url", site.url("/page"))
    browsers = []
    for kind in (Chromium, Firefox):
        more = {"sites": Site.hosts} if kind is Firefox else {}
        browsers.append(kind(stage, kind.program, taker, **more))
        attached(browsers[-1], taker)
    for is_again in (False, True):
        if is_again:
            # The first browser attaches once more, and is the last one then. Its extension restarts its host.
            former = browsers[0].hosts()
            expect(len(former) == 1, f"hosts: {former}")
            os.kill(former[0], signal.SIGKILL)
            until("another host", lambda: browsers[0].hosts() not in ([], former))
            attached(browsers[0], taker)
        for wanted in browsers:
            with open(settings, "w") as file:
                file.write(f"[Default Applications]\nx-scheme-handler/https={wanted.program}.desktop\n")
            until(f"{wanted.program} as the default",
                  lambda: [one["opens"].get("name") for one in pages_of(taker)] == [wanted.program])
            taker.ctl("continue", publish.id)
            until(f"the page in {wanted.program}", lambda: wanted.tabs(site.url("/page")))
            for tab in wanted.tabs(site.url("/page")):
                wanted.close_tab(tab)
            other = next(each for each in browsers if each is not wanted)
            expect(not other.tabs(site.url("/page")), f"{other.program} opened it as well")


@test("Firefox with its users' settings loads the installed extension at its first start", limit=120)
def first_start(stage):
    firefox = Firefox(stage, "firefox", stage.daemon("desk"), driven=False)
    if not firefox.prefix:
        raise Skip("only root can install the package for a test")
    attached(firefox, stage.daemons[0])


# ---- The host ------------------------------------------------------------------------------------------------------------

@test("a caller other than the extension receives no data")
def other_callers(stage):
    for words in (["chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"], ["/usr/lib/mozilla/x.json", "other@example.org"],
                  [""], ["/x.json"], [f"chrome-extension://{CHROMIUM_ID}.example/"]):
        host = Host(stage, {}, *words)
        expect(host.process.wait(60) == 2, f"{words} was served")
        expect(host.process.stdout.read() == b"", f"{words} received data")


@test("without an account the host starts no daemon, and it attaches once an account exists")
def no_account(stage):
    runtime = os.path.join(stage.folder, "run")
    home = os.path.join(stage.folder, "home")
    os.makedirs(os.path.join(runtime, "handoff-app"), 0o700)
    os.mkdir(home)
    # The service manager's socket, which would start the daemon.
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.join(runtime, "handoff-app", "app.socket"))
    listener.listen()
    listener.settimeout(1.5)
    host = Host(stage, {"HOME": home, "XDG_RUNTIME_DIR": runtime})
    expect("not in an account" in host.receive("lost")["message"], "it does not report the missing account")
    host.send({"kind": "noPage"})
    try:
        listener.accept()
        raise Failure("it connected")
    except TimeoutError:
        pass
    until("its sleep", lambda: quiet(host), within=45)
    state = os.path.join(home, ".local", "state", "handoff", "state")
    os.makedirs(state)
    with open(os.path.join(state, "account"), "w") as file:
        file.write("x")
    listener.settimeout(30)
    listener.accept()


@test("the host sleeps while the daemon is stopped, and attaches as soon as it runs again")
def away(stage):
    daemon = stage.daemon("desk", start=False)
    host = Host(stage, daemon.environment)
    host.receive("lost")
    daemon.start()
    daemon.ctl("account", "create")
    host.receive("ready")
    daemon.kill()
    host.receive("lost")
    # After some attempts it stops trying, and waits for a change of the socket's file.
    until("quiet", lambda: quiet(host), within=45)
    daemon.start()
    host.receive("ready")


def quiet(host):
    before = host.switches()
    time.sleep(3)
    return host.switches() == before


@test("an invalid message is skipped, and no other message and no page is lost")
def hostile(stage):
    daemon = stage.daemon("desk")
    daemon.ctl("account", "create")
    host = Host(stage, daemon.environment)
    host.receive("ready")
    for number, text in enumerate((
            b"[1]", b"nonsense", b"[" * 5000, b'{"kind":' * 100, b"{" + b'"a":1,' * 100 + b"}", b" " * (1 << 20) + b" ",
            b'{"kind":"page","url":"https://site.example/","title":"' + b"x" * (2 << 20) + b'"}', b'{"kind":"\xed\xa0\xbd"}')):
        host.send(text)
        host.send({"kind": "page", "url": f"https://site.example/{number}", "title": f"title {number}"})
        until("the page behind it", lambda: any(
            one["title"] == f"title {number}" for one in daemon.ctl("list", "--mine").lines))
    host.send({"kind": "page", "url": "https://site.example/", "title": "half \ud83d"})
    host.receive("offered")
    for message in ({}, {"kind": 7}, {"kind": "page"}, {"kind": "page", "url": 7}, {"kind": "place", "request": 1e300},
                    {"kind": "opened", "continuation": "x", "handled": 1}, {"kind": "moved"}, {"kind": "page", "url": "x" * 900_000},
                    {"kind": "page", "url": "javascript:alert(1)"}, {"kind": "place", "request": 1, "place": {"words": ["a"]}}):
        host.send(message)
    # A page that is renamed continuously.
    begin = time.monotonic()
    for number in range(2000):
        host.send({"kind": "page", "url": "https://site.example/", "title": f"title {number} " + "ü" * 2000})
    host.receive("offered")
    until("the last title", lambda: daemon.ctl("status").line["published"] == 2)
    print(f"  2000 titles in {(time.monotonic() - begin) * 1000:.0f} ms")
    daemon.is_well()


@test("a page is queried when another device continues it, and not before")
def asked_late(stage):
    origin, taker = stage.pair()
    host = Host(stage, {**origin.environment, "HANDOFF_SOCKET": origin.socket})
    host.receive("ready")
    host.send({"kind": "page", "url": "https://site.example/", "title": "late"})
    one = until("the offer", lambda: next(iter(pages_of(taker)), None))
    host.send({"kind": "moved"})
    # A save request would be sent immediately, and so arrive before the reply to this.
    host.send({"kind": "popupOpen"})
    expect("save" not in host.kinds_until("offers"), "it was queried before a device continued the page")
    for words in ("first words", "second words"):
        continued = taker.follow("continue", "--print", one["id"])
        request = host.receive("save")["request"]
        host.send({"kind": "place", "request": request, "place": {"words": words, "offset": 1}})
        place = continued.next()["userInfo"]["place"]
        expect(place["words"] == words, f"wrong: {place}")
        host.send({"kind": "moved"})
        host.send({"kind": "popupOpen"})
        expect("save" not in host.kinds_until("offers"), "it was queried again before a device continued the page")


if __name__ == "__main__":
    main()
