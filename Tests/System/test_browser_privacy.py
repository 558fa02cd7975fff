"""Data that the extension keeps private: typed or invisible text, results of forms, tabs of excluded containers."""

import os
import signal
import time

from browsers import WEB, Chromium, Firefox, none_offered, pages_of, until
from extension import TABS, Host, popup_of, text
from harness import BIN, expect, main, run, test
from pages import PRIVATE, SECRET
from two_browsers import Two, offered


def one_browser(stage, kind):
    two = Two(stage, (kind,))
    return two.origin, two.taker, two.site, two.browsers[0]


def offer(taker, title):
    return until(f"an offer of {title}", lambda: next((one for one in pages_of(taker) if one["title"] == title), None))


def place_of(taker, title):
    """Returns the place that is sent with a page, as `--print` shows it on this device."""
    return taker.ctl("continue", "--print", offer(taker, title)["id"]).line["userInfo"].get("place", {})


def typed_text(stage, kind):
    origin, taker, site, browser = one_browser(stage, kind)
    wrong = []

    def place(name):
        found = place_of(taker, f"Private {name}")
        if any(word in found.get("words", "").lower() for word in SECRET.split()):
            wrong.append((name, found))
        return found

    for name in PRIVATE:
        tab = browser.visit(site.url(f"/private/{name}"), 900)
        browser.run(tab, "scrollTo({top: 1, behavior: 'instant'})")
        # The browser reports the scroll a moment later.
        until("a place", lambda: "ratio" in place(name))
        # Further down there is no such text, and the page's own text is sent as before.
        browser.run(tab, "document.querySelector('#p150').scrollIntoView({behavior: 'instant'})")
        until("the move", lambda: "Paragraph 150." in place(name).get("words", ""))
    expect(not wrong, f"sent: {wrong}")


@test("Chromium does not send typed or invisible text, but sends the page's own text", limit=180)
def typed_in_chromium(stage):
    typed_text(stage, Chromium)


@test("Firefox does not send typed or invisible text, but sends the page's own text", limit=180)
def typed_in_firefox(stage):
    typed_text(stage, Firefox)


def form_results(stage, kind):
    origin, taker, site, browser = one_browser(stage, kind)
    tab = browser.open(site.url("/form"))
    offer(taker, "A form")
    browser.run(tab, "(document.forms[0].submit(), 1)")
    until("the result", lambda: browser.run(tab, "document.title") == "The result")
    none_offered(taker)
    # A page to which a form redirects is a normal page.
    browser.navigate(tab, site.url("/form"))
    offer(taker, "A form")
    browser.run(tab, "(document.forms[0].action = '/redirect', document.forms[0].submit(), 1)")
    offer(taker, "redirected")


@test("Chromium does not offer the result of a form, but offers a page that it redirects to", limit=120)
def form_in_chromium(stage):
    form_results(stage, Chromium)


@test("Firefox does not offer the result of a form, but offers a page that it redirects to", limit=120)
def form_in_firefox(stage):
    form_results(stage, Firefox)


def own_tabs(stage, daemon):
    """Returns the open tabs of the other device, as a browser on this one receives them."""
    until("the offer of tabs", lambda: any(one["type"] == TABS for one in daemon.ctl("list").lines))
    host = Host(stage, {**daemon.environment, "HANDOFF_SOCKET": daemon.socket})
    host.receive("ready")
    host.send({"kind": "popupOpen"})
    host.receive("offers")
    host.send({"kind": "tabs"})
    answer = host.receive("tabs")
    host.process.stdin.close()
    host.process.wait(60)
    return answer["tabs"]


@test("open tabs exclude those of an excluded container, excluded pages, local pages and results of forms", limit=120)
def listed_tabs(stage):
    origin, taker, site, browser = one_browser(stage, Firefox)
    browser.prefer("privacy.userContext.enabled")
    tab = browser.open(site.url("/diary/0"))
    offer(taker, "diary/0")
    browser.write_conf(f"container firefox-container-3\nbank.example # the bank\n{site_path('/diary')}")
    none_offered(taker)
    urls = [(site.url("/secret"), 3), (site.url("/shown"), 2), (site.url("/plain"), 0), (site.url("/x", host="bank.example"), 0),
            (site.url("/diary/1"), 0), (f"http://127.0.0.1:{site.port}/local", 0)]
    for url, container in urls:
        browser.in_browser("""
            gBrowser.addTab(arguments[0], {
                userContextId: arguments[1], triggeringPrincipal: Services.scriptSecurityManager.getSystemPrincipal() });""",
                           url, container)
    tab = browser.open(site.url("/form"))
    offer(taker, "A form")
    browser.run(tab, "(document.forms[0].submit(), 1)")
    # Until the browser has reported the response, the result looks like any page.
    none_offered(taker)
    until("all pages", lambda: {"secret", "shown", "plain", "local", "The result"} <= set(browser.tab_titles()))
    # Of Firefox 153. Other versions name containers only with the permission for cookies (PageTests).
    found = own_tabs(stage, taker)
    expect({one["title"] for one in found} == {"shown", "plain"}, f"listed: {found}")
    expect(all(set(one) == {"title", "url"} for one in found), f"unexpected fields: {found}")


def site_path(path):
    """Returns a line of browser.conf for a path, in which the port does not matter."""
    return f"Reading.EXAMPLE{path}\n"


@test("pages that the user or the administrator excludes are not offered", limit=120)
def exclusions(stage):
    origin, taker, site, browser = one_browser(stage, Chromium)
    tab = browser.open(site.url("/diary/before"))
    offer(taker, "diary/before")
    text = f"# The bank's\nbank.example\n{site.url('/diary/')}\n"
    browser.write_conf(text)
    none_offered(taker)
    watch = taker.follow("watch")
    watch.wait("ready")
    browser.close_tab(tab)
    browser.open(site.url("/login", host="bank.example"))
    browser.open(site.url("/diary/today"))
    browser.open(site.url("/public"))
    offered(watch, "public")
    browser.open(site.url("/sooner", host="other.example"))
    offered(watch, "sooner")
    browser.write_conf(text + "other.example\n")
    none_offered(taker)
    browser.open(site.url("/later", host="other.example"))
    time.sleep(0.5)
    browser.open(site.url("/end"))
    offered(watch, "end")
    seen = {line.get("title") for line in watch.seen if line.get("type") in (None, WEB)}
    expect(seen <= {None, "public", "sooner", "end"}, f"offered: {seen}")


@test("a tab of a container that the user excludes is not offered", limit=120)
def containers(stage):
    origin, taker, site, browser = one_browser(stage, Firefox)
    browser.prefer("privacy.userContext.enabled")
    # The permission that a click in the popup requests from the user.
    permissions = """
        const { ExtensionPermissions } = ChromeUtils.importESModule("resource://gre/modules/ExtensionPermissions.sys.mjs");
        const { extension } = WebExtensionPolicy.getByID("browser@handoff1.dev");
        ExtensionPermissions.CALL(extension.id, { permissions: ["cookies"], origins: [] }, extension);"""
    has = "return WebExtensionPolicy.getByID('browser@handoff1.dev').hasPermission('cookies')"
    browser.in_browser(permissions.replace("CALL", "add"))
    until("the permission", lambda: browser.in_browser(has))

    def open_in(container, title):
        browser.in_browser("""
            gBrowser.selectedTab = gBrowser.addTab(arguments[0], {
                userContextId: arguments[1], triggeringPrincipal: Services.scriptSecurityManager.getSystemPrincipal() });""",
                           site.url("/" + title), container)

    open_in(3, "earlier")
    offer(taker, "earlier")
    browser.write_conf("container firefox-container-3\n")
    none_offered(taker)
    watch = taker.follow("watch")
    watch.wait("ready")
    for container, title in ((3, "secret"), (2, "shown")):
        open_in(container, title)
        time.sleep(1)
    offered(watch, "shown")
    seen = {line.get("title") for line in watch.seen}
    expect("secret" not in seen, f"offered: {seen}")
    browser.in_browser(permissions.replace("CALL", "remove"))
    until("the end of the permission", lambda: not browser.in_browser(has))


@test("an invalid line of browser.conf blocks every page until it is corrected, and popup and doctor name it", limit=120)
def broken_exclusions(stage):
    origin, taker, site, browser = one_browser(stage, Chromium)
    browser.write_conf("bank.example\n")
    browser.open(site.url("/first"))
    offer(taker, "first")
    path = browser.conf
    browser.write_conf("bank.example\nftp://x.example/\n")
    none_offered(taker)
    expect(own_tabs(stage, taker) == [], "tabs are listed")
    shown = popup_of(browser)
    until("the line", lambda: f"{path}, line 2" in "".join(text(shown, "#trouble")))
    doctor = run([os.path.join(BIN, "handoffctl"), "--socket", origin.socket, "--json", "doctor"],
                 {**origin.environment, "HOME": browser.home, "XDG_CONFIG_HOME": ""}).lines
    found = [one for one in doctor if one["check"] == "browsers" and f"{path}, line 2" in one["message"]]
    expect(len(found) == 1 and found[0]["state"] == "problem", f"doctor: {doctor}")
    browser.close_tab(shown[1])
    browser.write_conf("bank.example\n")
    offer(taker, "first")
    # A file that exists and cannot be read.
    os.remove(path)
    os.symlink("/dev/null/absent", path)
    none_offered(taker)
    os.remove(path)
    offer(taker, "first")


def hostile_pages(stage, kind):
    origin, taker, site, browser = one_browser(stage, kind)
    first = browser.hosts()
    expect(len(first) == 1, f"hosts: {first}")
    browser.open(site.url("/long-title"))
    until("the long title", lambda: any((one["title"] or "").startswith("long ü") for one in pages_of(taker)))
    tab = browser.open(site.url("/half"))
    browser.run(tab, "document.querySelector('#p100').scrollIntoView({behavior: 'instant'})")
    one = until("the half title", lambda: next((one for one in pages_of(taker) if (one["title"] or "").startswith("half")), None))

    def place():
        return taker.ctl("continue", "--print", one["id"]).line["userInfo"].get("place", {})

    # It is sent without its place if the browser takes too long.
    until("a place", lambda: "Paragraph 100." in (found := place()).get("words", "") or "ratio" in found)
    browser.open(site.url("/last"))
    offer(taker, "last")
    expect(browser.hosts() == first, f"the host has exited: {first}, {browser.hosts()}")


@test("a page with a long title or half of a surrogate pair in it has no effect on others in Chromium", limit=120)
def hostile_in_chromium(stage):
    hostile_pages(stage, Chromium)


@test("a page with a long title or half of a surrogate pair in it has no effect on others in Firefox", limit=120)
def hostile_in_firefox(stage):
    hostile_pages(stage, Firefox)


@test("a list of more tabs than fit into a message is truncated to those that fit", limit=240)
def many_long_tabs(stage):
    origin, taker, site, browser = one_browser(stage, Firefox)
    browser.open(site.url("/front"))
    first = browser.hosts()
    long = "x" * 1960
    # Tabs that are loaded when they are selected. They have addresses, and use no resources.
    browser.in_browser("""
        for (let number = 0; number < 600; number += 1) {
            gBrowser.addTab(`${arguments[0]}/small/${number}?${arguments[1]}`, { createLazyBrowser: true,
                triggeringPrincipal: Services.scriptSecurityManager.getSystemPrincipal() });
        }""", site.url(""), long)
    found = until("the list", lambda: own_tabs(stage, taker))
    expect(300 <= len(found) < 600, f"{len(found)} tabs")
    offer(taker, "front")
    expect(browser.hosts() == first, "the host has exited")


def restarts(stage, kind):
    origin, taker, site, browser = one_browser(stage, kind)
    browser.open(site.url("/excluded", host="bank.example"))
    tab = browser.open(site.url("/first"))
    former = offer(taker, "first")
    browser.write_conf("bank.example\n")
    begin = time.monotonic()
    for number in range(2):
        os.kill(until("the host", lambda: browser.hosts())[0], signal.SIGKILL)
        until("another offer than before", lambda: offer(taker, "first")["id"] != former["id"])
        former = offer(taker, "first")
        print(f"  offered again after {time.monotonic() - begin:.1f} s")
        begin = time.monotonic()
    # The new host has read a configuration that it has not seen change.
    browser.close_tab(tab)
    none_offered(taker)


@test("Chromium restarts a killed host, and the page in front is offered again", limit=120)
def restarted_by_chromium(stage):
    restarts(stage, Chromium)


@test("Firefox restarts a killed host, and the page in front is offered again", limit=120)
def restarted_by_firefox(stage):
    restarts(stage, Firefox)


if __name__ == "__main__":
    main()
