"""The choice of the app that opens an activity, and opening it: starting apps, the web, and switches. Runs two
daemons on loopback. The apps and the browser are simulated, and gio is the real one."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time

from bus import text
from desk import TYPE, Desk, awaited, downloads, error, events, received
from documents import configure, write
from harness import BIN, expect, main, same, test
from played_manager import PlayedManager
from streaming import Connection
from user_manager import UserManager

OTHER = "com.example.other"
WEB = "NSUserActivityTypeBrowsingWeb"


@test("an app that is not running is started, and receives its activity once it attaches")
def started(stage):
    desk = Desk(stage)
    record = desk.app("org.example.Editor", TYPE, types=[TYPE])
    desk.start()
    publish = desk.publish(TYPE, "--title", "Draft", "--user-info", '{"page": 3}')
    desk.opens(kind="app", name="The org.example.Editor", reason="the only app that continues it")
    done = desk.ctl("continue").line
    expect(done["opens"] == {"kind": "app", "name": "The org.example.Editor"}, f"wrong: {done}")
    start = events(record, "started")
    expect(start["environment"].get("HANDOFF_ACTIVITY_TYPE") == TYPE, f"wrong environment: {start}")
    expect(start["words"][1:] == [record, "--app", "org.example.Editor", TYPE], f"wrong words: {start['words']}")
    will = events(record, "willContinue", type=TYPE)
    content = events(record, "continue", continuation=will["continuation"])["content"]
    expect(content["userInfo"] == {"page": 3} and content["title"] == "Draft", f"wrong: {content}")
    publish.wait("continued", deviceName="taker")
    # The app is running now.
    desk.opens(kind="app", reason="it is running")
    desk.ctl("continue")
    with open(record) as file:
        expect(sum('"event": "started"' in line for line in file) == 1, "a running app was started again")


@test("a started app has its own session, and inherits nothing from the daemon")
def clean_start(stage):
    desk = Desk(stage)
    record = desk.app("app", TYPE, types=[TYPE])
    desk.daemon.extra |= {"WATCHDOG_USEC": "100000000", "INVOCATION_ID": "x"}
    desk.start()
    desk.publish(TYPE, "--title", "SECRET-TITLE", "--user-info", '{"a": "SECRET"}')
    desk.opens(kind="app")
    desk.ctl("continue")
    start = events(record, "started")
    expect(start["descriptors"] == [0, 1, 2], f"open descriptors: {start['descriptors']}")
    expect(start["session"] == start["pid"], f"it runs in the daemon's session: {start}")
    expect(start["folder"] == desk.home, f"it starts in {start['folder']}")
    left = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "INVOCATION_ID", "LISTEN_FDS"} & start["environment"].keys()
    expect(not left, f"variables of the service manager were inherited: {left}")
    expect("SECRET" not in json.dumps(start), f"the environment contains data of the peer: {start}")


@test("gio starts a desktop entry and expands its Exec line")
def desktop_entry(stage):
    desk = Desk(stage, real=["gio"])
    record = desk.record()
    quoted = " ".join(f'"{word}"' for word in desk.command(record, "--app", "org.example.Editor", TYPE))
    desk.entry("org.example.Editor", types=[TYPE], exec=f"{quoted} %U")
    desk.start()
    desk.publish()
    desk.opens(kind="app", name="The org.example.Editor")
    desk.ctl("continue")
    start = events(record, "started")
    expect(start["environment"].get("HANDOFF_ACTIVITY_TYPE") == TYPE, f"wrong environment: {start}")
    events(record, "continue")


@test("the error names an app that does not attach in time, or that cannot be started")
def not_started(stage):
    desk = Desk(stage)
    desk.manifest("deaf", ["/bin/sleep", "60"], types=[TYPE])
    desk.start()
    desk.publish()
    desk.opens(kind="app")
    refused = error(desk.ctl("continue", "--timeout", "3", code=1))
    expect(refused["code"] == 4610 and refused["reason"] == "appNotAttached", f"wrong: {refused}")
    expect("The deaf" in refused["message"], f"wrong: {refused}")
    desk.manifest("deaf", ["/bin/false"], types=[TYPE])
    path = desk.config + "/handlers.d/late.json"
    desk.manifest("late", ["/bin/sh", "-c", "exit 7"], types=[TYPE])
    desk.write(desk.config, "defaults", f"{TYPE}=late\n")
    desk.opens(name="The late")
    refused = error(desk.ctl("continue", code=1))
    expect(refused["reason"] == "launchFailed" and "status 7" in refused["message"], f"wrong: {refused}")
    os.unlink(path)
    desk.opens(name="The deaf")
    refused = error(desk.ctl("continue", code=1))
    expect("status 1" in refused["message"], f"wrong: {refused}")


@test("without gio a desktop entry cannot be opened, and the error names the package to install")
def without_gio(stage):
    desk = Desk(stage)
    desk.entry("org.example.Editor", types=[TYPE])
    desk.start()
    desk.publish()
    desk.opens(kind="app")
    refused = error(desk.ctl("continue", code=1))
    expect(refused["reason"] == "launchFailed" and "libglib2.0-bin" in refused["message"], f"wrong: {refused}")


@test("without a matching app the page opens in the browser, as the only argument")
def page(stage):
    desk = Desk(stage)
    record = desk.browser()
    desk.start()
    url = "https://example.org/a?b=$HOME&c='x'`id`;touch%20y#--help"
    publish = desk.publish(TYPE, "--web-url", url)
    desk.opens(kind="web")
    done = desk.ctl("continue").line
    expect(done["opens"] == {"kind": "web"}, f"wrong: {done}")
    with open(record) as file:
        words = file.read().splitlines()
    expect(words == ["https://example.org/a?b=%24HOME&c=%27x%27%60id%60;touch%20y#--help"], f"wrong words: {words}")
    publish.wait("continued", deviceName="taker")


@test("a page that cannot be opened is an error, and the origin is not notified")
def page_fails(stage):
    desk = Desk(stage)
    desk.browser(status=3)
    desk.start()
    publish = desk.publish(TYPE, "--web-url", "https://example.org/")
    desk.opens(kind="web")
    refused = error(desk.ctl("continue", code=1))
    expect(refused["reason"] == "pageNotOpened" and "status 3" in refused["message"], f"wrong: {refused}")
    expect("https://example.org/" in refused["message"], f"the error lacks the address: {refused}")
    publish.interrupt()
    heard = publish.rest()
    expect(not any(line["event"] == "continued" for line in heard), f"the origin was notified: {heard}")


@test("an app that declines the activity leaves it to the browser")
def refused_app(stage):
    desk = Desk(stage)
    record = desk.browser()
    app = desk.app("app", "--refuse", TYPE, types=[TYPE])
    desk.start()
    publish = desk.publish(TYPE, "--web-url", "https://example.org/")
    desk.opens(kind="app")
    done = desk.ctl("continue").line
    events(app, "continue")
    expect(done["opens"] == {"kind": "web"}, f"wrong: {done}")
    expect(os.path.exists(record), "the browser was not started")
    publish.wait("continued")


@test("an app that claims the site receives the page, and no data for the origin's own app")
def claims(stage):
    desk = Desk(stage)
    browser = desk.browser()
    app = desk.app("shop", "--team", "S", domains=["*.shop.example"], team="S")
    desk.start()
    desk.publish(TYPE, "--web-url", "https://www.Shop.example/1", "--user-info", '{"secret": 1}', "--team", "T")
    desk.opens(kind="web")
    done = desk.ctl("continue").line
    expect(done["opens"] == {"kind": "app", "name": "The shop"}, f"wrong: {done}")
    events(app, "willContinue", type=WEB)
    content = events(app, "continue")["content"]
    expect(content["type"] == WEB and content["userInfo"] == {} and content["team"] is None, f"wrong: {content}")
    expect(content["webpageURL"] == "https://www.Shop.example/1", f"wrong: {content}")
    expect("HANDOFF_ACTIVITY_TYPE" not in events(app, "started")["environment"], "the app declares no type")
    expect(not os.path.exists(browser), "the browser was started, too")


@test("an offered file is saved in the download folder, with a number if its name is in use")
def to_downloads(stage):
    desk = Desk(stage)
    folder = downloads(desk)
    desk.start()
    content = os.urandom(3_000_000)
    path = os.path.join(stage.folder, "report.pdf")
    with open(path, "wb") as file:
        file.write(content)
    publish = desk.publish(path)
    desk.opens(kind="app", name="Downloads")
    done = desk.ctl("continue", desk.offer["id"]).line
    expect(done["opens"]["name"] == "Downloads", f"wrong: {done}")
    received(os.path.join(folder, "report.pdf"), content)
    publish.wait("stream", state="finished")
    # The receiver has exited, and the next one is a new process.
    desk.opens(kind="app", reason="it is running")
    desk.opens(kind="app", reason="the only app that continues it")
    desk.ctl("continue", desk.offer["id"])
    received(os.path.join(folder, "report (2).pdf"), content)


@test("a file that cannot be received is not accepted, and the requester receives the reason")
def no_downloads(stage):
    desk = Desk(stage)
    folder = downloads(desk)
    # A file has the name of the folder.
    with open(folder, "w") as file:
        file.write("a file")
    desk.start()
    publish = desk.publish(stage.file("report.txt", "words"))
    desk.opens(kind="app", name="Downloads")
    failure = error(desk.ctl("continue", desk.offer["id"], code=1))
    expect(failure["reason"] == "handlerRefused", f"wrong: {failure}")
    desk.opens(kind="app", reason="it is running")
    desk.opens(kind="app", reason="the only app that continues it")
    os.remove(folder)
    desk.ctl("continue", desk.offer["id"])
    received(os.path.join(folder, "report.txt"), b"words")
    publish.wait("stream", state="finished")


@test("data sent from standard input is saved in the download folder under the name of its device")
def without_a_name(stage):
    desk = Desk(stage)
    folder = downloads(desk)
    desk.start()
    send = subprocess.Popen([os.path.join(BIN, "handoffctl"), "--socket", desk.origin.socket, "send", "taker", "-"],
                            env=desk.origin.environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    stage.processes.append(send)
    send.stdin.write(b"some words")
    send.stdin.close()
    desk.ctl("continue", desk.watch.wait("added")["id"])
    received(os.path.join(folder, "from origin"), b"some words")
    expect(send.wait(60) == 0, "it still runs although it was accepted")


@test("an app without Handoff support opens a page, and a received file")
def knows_nothing(stage):
    desk = Desk(stage)
    folder = downloads(desk, has_app=False)
    record = desk.record()
    viewer = desk.write(desk.programs, "viewer", f"""#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word" >>'{record}.part'; done
/bin/mv '{record}.part' '{record}'
""")
    os.chmod(viewer, 0o755)
    desk.entry("org.example.Viewer", extra="X-Handoff-Exec=viewer --show %u %f", exec="viewer")
    desk.start()

    def words():
        limit = time.monotonic() + 60
        while not os.path.exists(record):
            expect(time.monotonic() < limit, "the viewer was not started")
            time.sleep(0.02)
        with open(record) as file:
            found = file.read().split("\n")[:-1]
        os.remove(record)
        return found

    page = "https://news.example/a?b=$(c)&d=%20"
    first = desk.publish(page)
    desk.opens(kind="app", name="The org.example.Viewer")
    desk.ctl("continue", desk.offer["id"])
    expect(words() == ["--show", "https://news.example/a?b=%24(c)&d=%20"], "wrong arguments")
    first.wait("continued")
    path = stage.file("a file.txt", "text")
    desk.publish(path)
    desk.ctl("continue", desk.offer["id"])
    expect(words() == ["--show", os.path.join(folder, "a file.txt")], "wrong arguments")
    received(os.path.join(folder, "a file.txt"), b"text")


@test("a command of a desktop entry runs in its Path, and in a terminal if the entry requests one")
def folder_and_terminal(stage):
    desk = Desk(stage, real=["gio"])
    downloads(desk, has_app=False)
    place = os.path.join(desk.home, "notes folder")
    os.makedirs(place)
    record, terminal = desk.record(), desk.record()
    # A terminal emulator that records its command and runs it.
    for name in ("xdg-terminal-exec", "xterm"):
        skipped = "shift" if name == "xterm" else ":"
        path = desk.write(desk.programs, name, f"""#!/bin/sh
printf '%s\\n' "{name}" "$@" >>'{terminal}'
{skipped}
exec "$@"
""")
        os.chmod(path, 0o755)
    viewer = desk.write(desk.programs, "viewer", f"""#!/bin/sh
{{ pwd; printf '%s\\n' "$@"; }} >'{record}.part'
/bin/mv '{record}.part' '{record}'
""")
    os.chmod(viewer, 0o755)

    def ran(path):
        awaited(path)
        with open(path) as file:
            lines = file.read().split("\n")[:-1]
        os.remove(path)
        return lines

    # X-Handoff-Exec, which the daemon's own program runs.
    entry = desk.entry("org.example.Viewer", exec="viewer", extra=f"X-Handoff-Exec=viewer %u\nTerminal=true\nPath={place}")
    desk.start()
    desk.publish("https://news.example/a")
    desk.opens(kind="app", name="The org.example.Viewer")
    desk.ctl("continue", desk.offer["id"])
    same(ran(record), [place, "https://news.example/a"])
    same(ran(terminal)[:2], ["xdg-terminal-exec", "viewer"])
    os.unlink(entry)
    # Exec, which gio runs. It uses a terminal that it knows.
    played = desk.record()
    quoted = " ".join(f'"{word}"' for word in desk.command(played, "--app", "org.example.Editor", TYPE))
    desk.entry("org.example.Editor", types=[TYPE], exec=quoted, extra=f"Terminal=true\nPath={place}")
    desk.publish(TYPE)
    desk.opens(kind="app", name="The org.example.Editor")
    desk.ctl("continue", desk.offer["id"])
    same(events(played, "started")["folder"], place)
    expect(any("played_app.py" in word for word in ran(terminal)), "it did not run in a terminal")


@test("an app that claims a site by X-Handoff-Domains alone opens its pages with X-Handoff-Exec")
def site_and_command(stage):
    desk = Desk(stage)
    downloads(desk, has_app=False)
    record = desk.record()
    viewer = desk.write(desk.programs, "viewer", f"""#!/bin/sh
printf '%s\\n' "$@" >'{record}.part'
/bin/mv '{record}.part' '{record}'
""")
    os.chmod(viewer, 0o755)
    desk.entry("org.example.Shop", exec="viewer", domains=["shop.example"], extra="X-Handoff-Exec=viewer %u")
    desk.start()
    # Only the payload contains the address, so the list cannot name the app yet.
    desk.publish(TYPE, "--web-url", "https://shop.example/cart")
    desk.ctl("continue", desk.offer["id"])
    awaited(record)
    with open(record) as file:
        same(file.read(), "https://shop.example/cart\n")


@test("list shows what would open an offer and why, and --here omits the others")
def reasons(stage):
    desk = Desk(stage)
    desk.entry("org.example.Editor", types=[TYPE], team="T")
    desk.start()
    desk.publish(TYPE)
    opens = desk.opens(kind="nothing")
    expect(opens["reason"] == f"The org.example.Editor continues {TYPE}, but for another team", f"wrong: {opens}")
    expect(desk.ctl("list", "--here").lines == [], "an offer that nothing opens is listed as if something did")
    refused = error(desk.ctl("continue", code=1))
    expect(refused["reason"] == "noHandler" and "another team" in refused["message"], f"wrong: {refused}")
    desk.browser()
    desk.publish(TYPE, "--team", "T")
    desk.opens(kind="app", name="The org.example.Editor")
    here = desk.ctl("list", "--here").lines
    expect([line["opens"]["kind"] for line in here] == ["app"], f"wrong: {here}")


@test("of several apps the running one opens the activity, then the user's choice, then the first, and changes apply immediately")
def order(stage):
    desk = Desk(stage)
    desk.entry("org.example.A", types=[TYPE], folder=desk.system)
    desk.start()
    desk.publish()
    desk.opens(name="The org.example.A", reason="the only app that continues it")
    desk.entry("org.example.B", types=[TYPE])
    # B's file is added later, and changes nothing.
    while len(desk.ctl("apps").lines) < 2:
        pass
    desk.opens(name="The org.example.A", reason="the first installed of 2 apps that continue it")
    desk.write(desk.config, "defaults", f"{TYPE}=org.example.B\n")
    desk.opens(name="The org.example.B", reason="chosen by the user")
    desk.write(desk.config, "defaults", f"{TYPE}=org.example.A.desktop\n")
    desk.opens(name="The org.example.A", reason="chosen by the user")
    handle = desk.daemon.follow("handle", TYPE)
    desk.opens(kind="app", reason="it is running")
    handle.interrupt()
    desk.opens(name="The org.example.A")
    # The user's folder precedes that of the system, and hides its entries.
    desk.entry("org.example.A", folder=desk.data, extra="Hidden=true")
    desk.opens(name="The org.example.B", reason="the only app that continues it")
    shutil.rmtree(os.path.join(desk.data, "applications"))
    desk.opens(name="The org.example.A")
    os.makedirs(os.path.join(desk.data, "applications", "kde"))
    desk.entry("kde/viewer", types=[TYPE])
    desk.write(desk.config, "defaults", f"{TYPE}=kde-viewer\n")
    desk.opens(name="The kde/viewer", reason="chosen by the user")


@test("an app can be chosen although another one runs, and no other app receives the activity")
def chosen(stage):
    desk = Desk(stage)
    first = desk.app("org.example.First", TYPE, types=[TYPE])
    second = desk.app("org.example.Second", TYPE, types=[TYPE])
    desk.app("org.example.Other", OTHER, types=[OTHER])
    desk.start()
    publish = desk.publish(TYPE, "--title", "Draft")
    both = [{"app": f"org.example.{name}", "name": f"The org.example.{name}"} for name in ("First", "Second")]
    expect(desk.opens(kind="app")["choices"] == both, f"wrong choices: {desk.offer}")
    done = desk.ctl("continue", "--app", "org.example.Second").line
    expect(done["opens"]["name"] == "The org.example.Second" and done["missing"] == [], f"wrong: {done}")
    events(second, "continue")
    desk.opens(name="The org.example.Second", reason="it is running")
    # The running app attached again while the other one starts would be another recipient.
    done = desk.ctl("continue", "--app", "org.example.First.desktop", publish.id).line
    expect(done["opens"]["name"] == "The org.example.First", f"wrong: {done}")
    events(first, "continue")
    for app in ("org.example.Other", "org.example.None", "com.example.editing"):
        refused = error(desk.ctl("continue", "--app", app, code=1))
        expect(refused["reason"] == "noHandler" and app in refused["message"], f"wrong: {refused}")
    desk.ctl("app", "disable", "org.example.First")
    refused = error(desk.ctl("continue", "--app", "org.example.First", code=1))
    expect("disabled" in refused["message"], f"wrong: {refused}")
    with open(second) as file:
        expect(sum('"event": "continue"' in line for line in file) == 1, "the running app received it again")


@test("an app that attaches while the chosen one starts does not receive the activity")
def chosen_only(stage):
    desk = Desk(stage)
    desk.manifest("org.example.Deaf", ["/bin/sleep", "60"], types=[TYPE])
    desk.start()
    desk.publish()
    desk.opens(kind="app")
    waiting = desk.daemon.follow("continue", "--app", "org.example.Deaf", "--timeout", "3")
    with open(desk.daemon.log) as log:
        limit = time.monotonic() + 60
        while "Starting an app" not in log.read():
            expect(time.monotonic() < limit, "the app is not started")
            time.sleep(0.02)  # The log shows it. There is nothing else to wait for.
    handle = desk.daemon.follow("handle", TYPE)
    expect(waiting.process.wait(60) == 1, f"another app received it: {waiting.seen}")
    handle.interrupt()
    expect(not any(line["event"] == "continue" for line in handle.rest()), "it received the activity")


@test("--web opens the page although an app continues the activity, and an activity without a page is an error")
def web(stage):
    desk = Desk(stage)
    record = desk.browser()
    app = desk.app("org.example.Editor", TYPE, types=[TYPE])
    desk.start()
    desk.publish(TYPE, "--title", "Draft")
    desk.opens(kind="app")
    refused = error(desk.ctl("continue", "--web", code=1))
    expect(refused["reason"] == "pageNotOpened" and "it has none" in refused["message"], f"wrong: {refused}")
    first = desk.offer["id"]
    page = desk.publish(TYPE, "--web-url", "https://example.org/draft")
    desk.opens(kind="app")
    newer = desk.publish(TYPE, "--title", "Newer")
    # Without an id, the newest activity with a page.
    done = desk.ctl("continue", "--web").line
    expect(done["opens"] == {"kind": "web"} and done["id"] == page.id, f"wrong: {done}")
    awaited(record)
    page.wait("continued", deviceName="taker")
    refused = error(desk.ctl("continue", "--web", first, code=1))
    expect(refused["reason"] == "pageNotOpened", f"wrong: {refused}")
    expect(not os.path.exists(app), "the app was started")
    newer.interrupt()


@test("a missing app is named by its id in the software catalogs, also after it was removed meanwhile")
def missing_app(stage):
    desk = Desk(stage)
    type = "org.example.Planner.plan.day"
    calls = desk.record()
    path = desk.write(desk.programs, "appstreamcli", f"""#!/bin/sh
printf '%s ' "$@" >>'{calls}'
test "$1 $2" = 'get org.example.Planner'
""")
    os.chmod(path, 0o755)
    desk.start()
    desk.publish(type, "--title", "Plan")
    named = [{"kind": "app", "name": "org.example.Planner", "appStream": "org.example.Planner"}]
    while desk.offer["missing"] != named:
        same_type = [{"kind": "app", "name": type, "appStream": None}]
        expect(desk.offer["missing"] == same_type, f"wrong: {desk.offer}")
        desk.offer = desk.watch.wait("changed")
    with open(calls) as file:
        expect(file.read() == "get org.example.Planner.plan get org.example.Planner ", "wrong calls")
    expect([line["missing"] for line in desk.ctl("list").lines] == [named], "it is not listed")
    refused = error(desk.ctl("continue", code=1))
    expect("install org.example.Planner (appstream://org.example.Planner)" in refused["message"], f"wrong: {refused}")
    # A type without such an app starts no program for each part, and an app is not searched for twice.
    desk.publish("com.example.-x", "--title", "None")
    expect(desk.offer["missing"][0]["appStream"] is None, f"wrong: {desk.offer}")
    desk.browser()
    path = desk.entry("org.example.Planner", types=[type])
    desk.watch.wait("changed", title="Plan", missing=[])
    expect([line["missing"] for line in desk.ctl("list", "--here").lines] == [[]], "an installed app is missing")
    os.unlink(path)
    desk.watch.wait("changed", title="Plan", missing=named)
    for extra in ("Hidden=true", "TryExec=/nonexistent/planner"):
        desk.entry("org.example.Planner", types=[type], extra=extra)
        desk.entry("org.example.Viewer", types=["com.example.-x"])
        desk.watch.wait("changed", title="None", missing=[])
        os.unlink(os.path.join(desk.data, "applications/org.example.Viewer.desktop"))
        desk.watch.wait("changed", title="None")
        listed = [line["missing"] for line in desk.ctl("list").lines if line["title"] == "Plan"]
        expect(listed == [named], f"{extra}: {listed}")
    # An app that is not shown in menus continues activities.
    desk.entry("org.example.Planner", types=[type], extra="NoDisplay=true")
    desk.watch.wait("changed", title="Plan", missing=[])


@test("a shared folder and a checkout that this device lacks are named after the activity was continued")
def missing_folders(stage):
    desk = Desk(stage)
    configure(desk.origin, f"root = notes {os.path.realpath(desk.origin.folder)}/notes\n")
    app = desk.app("org.example.Editor", TYPE, types=[TYPE])
    desk.start()
    letter = write(desk.origin, "notes/letter.md")
    urls = [{"$url": "file://" + letter}, {"$url": "handoff-document:git/example.org%2Fa%2Fb/c.txt"},
            {"$url": "handoff-document:root/..%2F..%2Fetc/passwd"}, {"$url": "handoff-document:root/no%0Ames/x"}]
    desk.publish(TYPE, "--user-info", json.dumps({"files": urls}))
    desk.opens(kind="app")
    both = [{"kind": "folder", "name": "notes", "appStream": None},
            {"kind": "checkout", "name": "example.org/a/b", "appStream": None}]
    done = desk.ctl("continue").line
    expect(done["missing"] == both, f"wrong: {done}")
    events(app, "continue")
    expect("missing" not in desk.ctl("continue", "--print").line, "the caller finds its documents itself")
    desk.write(desk.config, "documents.conf", f"root = notes {desk.home}/notes\n")
    expect(desk.ctl("continue").line["missing"] == both, "the folder does not exist")
    os.makedirs(os.path.join(desk.home, "notes"))
    expect(desk.ctl("continue").line["missing"] == both[1:], "the folder exists")


@test("of thousands of desktop entries, and of those that Flatpak exports, the ones for Handoff are used")
def many_entries(stage):
    desk = Desk(stage)
    for number in range(3_000):
        desk.entry(f"org.example.Nothing{number}", folder=desk.system)
    exported = os.path.join(desk.daemon.folder, "flatpak", "exports", "share")
    record = desk.record()
    quoted = " ".join(f'"{word}"' for word in desk.command(record, "--app", "org.example.Sandboxed", TYPE))
    # Flatpak exports links to the files of the app, and rewrites Exec and TryExec.
    real = desk.entry("org.example.Sandboxed", types=[TYPE], exec=quoted, folder=os.path.join(desk.daemon.folder, "app"),
                      extra="Icon=org.example.Sandboxed\nX-Flatpak=org.example.Sandboxed")
    os.makedirs(os.path.join(exported, "applications"))
    os.symlink(real, os.path.join(exported, "applications", "org.example.Sandboxed.desktop"))
    desk.daemon.extra["XDG_DATA_DIRS"] = f"{exported}:{desk.system}"
    desk.start()
    desk.publish()
    opens = desk.opens(kind="app", name="The org.example.Sandboxed")
    expect(opens["icon"] == "org.example.Sandboxed" and "choices" not in opens, f"wrong: {opens}")


@test("an app installed later captures nothing, even after an update of the first and a restart, and the user is notified")
def capture(stage):
    desk = Desk(stage)
    desk.entry("org.example.First", types=[TYPE])
    desk.start()
    desk.publish()
    desk.opens(name="The org.example.First", reason="the only app that continues it")
    desk.entry("org.example.Greedy", types=[TYPE])
    desk.opens(name="The org.example.First", reason="the first installed of 2 apps that continue it")
    # The update makes its file the newest.
    os.unlink(os.path.join(desk.data, "applications", "org.example.First.desktop"))
    desk.opens(name="The org.example.Greedy", reason="the only app that continues it")
    desk.entry("org.example.First", types=[TYPE])
    desk.opens(name="The org.example.First", reason="the first installed of 2 apps that continue it")
    desk.daemon.restart()

    def listed(name, reason):
        while not any((line["opens"]["name"], line["opens"]["reason"]) == (name, reason) for line in desk.ctl("list").lines):
            pass

    listed("The org.example.First", "the first installed of 2 apps that continue it")
    yields = {app["id"]: app["yields"] for app in desk.ctl("apps").lines}
    expect(yields == {"org.example.First": [], "org.example.Greedy": [{"claim": TYPE, "to": "org.example.First"}]}, f"{yields}")
    found = [line for line in desk.daemon.ctl("doctor", code=None).lines if line.get("check") == "apps"]
    warned = [line for line in found if line["state"] == "warning" and "org.example.Greedy" in line["message"]]
    expect(len(warned) == 1 and f"{TYPE}=org.example.Greedy" in warned[0]["remedy"], f"{found}")
    # The suggested remedy works.
    desk.write(desk.config, "defaults", f"{TYPE}=org.example.Greedy\n")
    listed("The org.example.Greedy", "chosen by the user")
    expect(all(app["yields"] == [] for app in desk.ctl("apps").lines), "a conflict remains")


@test("a file that cannot be used is reported with its line, and the others still apply")
def bad_file(stage):
    desk = Desk(stage)
    desk.entry("good", types=[TYPE])
    desk.write(desk.data, "applications/bad.desktop", "[Desktop Entry]\nType=Application\nX-Handoff-ActivityTypes=a b;\n")
    desk.write(desk.config, "handlers.d/bad.json", '{\n"types": 7}')
    desk.write(desk.data, "applications/large.desktop", "X-Handoff-" + "x" * 70_000)
    os.mkfifo(os.path.join(desk.data, "applications", "pipe.desktop"))
    desk.start()
    desk.publish()
    desk.opens(name="The good")
    with open(desk.daemon.log) as file:
        log = file.read()
    expect(f"cannot use {desk.data}/applications/bad.desktop: line 3: a b is not an activity type" in log, log)
    expect(f"cannot use {desk.config}/handlers.d/bad.json: line 2: types is not an array" in log, log)


@test("apps lists which app continues which types, and a disabled app neither continues nor publishes, even after a restart")
def switches(stage):
    desk = Desk(stage)
    desk.entry("org.example.Editor", types=[TYPE], team="T", domains=["a.example"])
    desk.entry("org.example.Extra", types=[OTHER])
    desk.start()
    desk.publish(TYPE, "--team", "T")
    desk.opens(kind="app")
    listed = desk.ctl("apps").lines
    expect([app["id"] for app in listed] == ["org.example.Editor", "org.example.Extra"], f"wrong: {listed}")
    editor = listed[0]
    expect(editor["types"] == [TYPE] and editor["team"] == "T" and editor["domains"] == ["a.example"], f"wrong: {editor}")
    expect(editor["enabled"] and not editor["running"] and editor["verified"] is None, f"wrong: {editor}")
    expect(editor["source"] == "desktop" and editor["file"].endswith("org.example.Editor.desktop"), f"wrong: {editor}")
    expect("matches 2" in error(desk.ctl("app", "disable", "org.example.E", code=1))["message"], "an ambiguous id was accepted")
    expect(error(desk.ctl("app", "disable", "nobody", code=1))["error"] == "NoSuchApp", "an unknown app was accepted")
    expect(desk.ctl("app", "disable", "org.example.Ed").line["disabled"] == "org.example.Editor", "wrong reply")
    opens = desk.opens(kind="nothing")
    expect("is disabled" in opens["reason"], f"wrong: {opens}")
    # The other direction.
    watch = desk.origin.follow("watch")
    watch.wait("ready")
    app = Connection(desk.daemon)
    app.send("dev.handoff1.Attach", more=True, app="org.example.Editor", types=[TYPE], team="T")
    session = app.wait("attached")["session"]
    calls = Connection(desk.daemon)
    activity = calls.call("dev.handoff1.Publish", session=session, activity={"type": "com.example.here"})["activity"]
    calls.call("dev.handoff1.BecomeCurrent", session=session, activity=activity)
    expect(desk.opens(kind="nothing"), "a disabled app that is attached opens it")
    listed = {app["id"]: app for app in desk.ctl("apps").lines}
    expect(listed["org.example.Editor"]["running"] and listed["org.example.Editor"]["verified"] is False, f"wrong: {listed}")
    desk.ctl("app", "enable", "org.example.Editor")
    offer = watch.wait("added", type="com.example.here")
    desk.opens(kind="app", reason="it is running")
    desk.ctl("app", "disable", "org.example.Editor")
    watch.wait("removed", id=offer["id"])
    refused = desk.origin.ctl("continue", offer["id"], "--print", code=None)
    expect(refused.code in (1, 4), f"it was continued: {refused}")
    desk.daemon.restart()
    listed = {app["id"]: app for app in desk.ctl("apps").lines}
    expect(not listed["org.example.Editor"]["enabled"], f"the switch was not kept: {listed}")


@test("two continuations start an app once, and the app receives both")
def started_once(stage):
    desk = Desk(stage)
    record = desk.record()
    gate = os.path.join(desk.daemon.folder, "gate")
    os.mkfifo(gate)
    words = desk.command(record, "--app", "slow", TYPE)
    desk.manifest("slow", ["/bin/sh", "-c", 'echo >>"$0.starts"; read _ <"$1"; shift; exec "$@"', record, gate, *words],
                  types=[TYPE])
    desk.start()
    first = desk.publish()
    desk.opens(kind="app")
    second = desk.publish()
    results = []
    threads = [threading.Thread(target=lambda id=id: results.append(desk.ctl("continue", id, code=None)))
               for id in (first.id, second.id)]
    for thread in threads:
        thread.start()
    with open(desk.daemon.log) as log:
        seen = ""
        limit = time.monotonic() + 60
        while seen.count("Continuation started") < 2 and time.monotonic() < limit:
            seen += log.read()
            time.sleep(0.02)  # The log shows it. There is nothing else to wait for.
    with open(gate, "w") as file:
        file.write("go\n")
    for thread in threads:
        thread.join()
    expect([result.code for result in results] == [0, 0], f"wrong: {[str(result) for result in results]}")
    with open(record + ".starts") as file:
        expect(len(file.readlines()) == 1, "it was started twice")
    for publish in (first, second):
        publish.wait("continued")


@test("with a user manager an app runs in its own unit, outlives its launcher and the daemon, and is verified")
def unit(stage):
    manager = UserManager(stage)
    desk = Desk(stage, manager)
    record = desk.record()
    # The launcher exits immediately, as gio does.
    script = '"$@" & exit 0'
    desk.manifest("org.example.my-app", ["/bin/sh", "-c", script, "$HOME", *desk.command(record, "--app", "org.example.my-app", "--stay", TYPE)],
                  types=[TYPE])
    desk.start()
    desk.publish()
    desk.opens(kind="app")
    done = desk.ctl("continue").line
    expect(done["opens"]["kind"] == "app", f"wrong: {done}")
    start = events(record, "started")
    unit = [part for line in start["groups"].split("\n") for part in line.split("/") if part.startswith("app-handoff-")]
    expect(unit and unit[0].startswith("app-handoff-org.example.my\\x2dapp-"), f"wrong unit: {start['groups']}")
    expect("/app.slice/" in start["groups"], f"wrong slice: {start['groups']}")
    expect(start["environment"].get("HANDOFF_ACTIVITY_TYPE") == TYPE, f"wrong environment: {start['environment']}")
    expect(start["environment"].get("HANDOFF_SOCKET") == desk.daemon.socket, f"wrong environment: {start['environment']}")
    shown = manager.call("show", unit[0], "-p", "ActiveState,Description").output
    expect("ActiveState=active" in shown and "Description=The org.example.my-app" in shown, f"wrong unit: {shown}")
    app = desk.ctl("apps").line
    expect(app["running"] and app["verified"] is True, f"not verified: {app}")
    desk.daemon.stop()
    expect("ActiveState=active" in manager.call("show", unit[0], "-p", "ActiveState").output, "it ended together with the daemon")


@test("a D-Bus activated app is started and called through the session bus, and errors are reported")
def bus_app(stage):
    manager = UserManager(stage)
    desk = Desk(stage, manager, real=["gio"])
    id, record = "org.example.my-Viewer", desk.record()
    words = desk.command(record, "--app", id, "--bus-name", id, TYPE)
    services = os.path.join(manager.folder, "dbus-1", "services")

    def service(name, *words):
        desk.write(services, f"{name}.service", f"[D-BUS Service]\nName={name}\nExec={' '.join(words)}\n")
        desk.entry(name, types=[TYPE], exec="/bin/false", extra="DBusActivatable=true")
        manager.bus_call("ReloadConfig")

    service(id, "/usr/bin/env", f"HANDOFF_SOCKET={desk.daemon.socket}", *words)
    desk.start()
    publish = desk.publish(TYPE, "--user-info", '{"page": 3}')
    desk.opens(kind="app", name=f"The {id}")
    desk.ctl("continue")
    events(record, "called", path="/org/example/my_Viewer", interface="org.freedesktop.Application", member="Activate")
    expect(events(record, "continue")["content"]["userInfo"] == {"page": 3}, "wrong activity")
    publish.wait("continued", deviceName="taker")
    os.kill(events(record, "started")["pid"], signal.SIGKILL)

    service("org.example.Broken", "/bin/false")
    desk.write(desk.config, "defaults", f"{TYPE}=org.example.Broken\n")
    desk.opens(name="The org.example.Broken")
    refused = error(desk.ctl("continue", code=1))
    expect(refused["reason"] == "launchFailed" and "exited with status 1" in refused["message"], f"wrong: {refused}")
    desk.entry("org.example.Absent", types=[TYPE], exec="/bin/false", extra="DBusActivatable=true")
    desk.write(desk.config, "defaults", f"{TYPE}=org.example.Absent\n")
    desk.opens(name="The org.example.Absent")
    refused = error(desk.ctl("continue", code=1))
    expect(refused["reason"] == "launchFailed" and "org.example.Absent" in refused["message"], f"wrong: {refused}")


@test("without a session bus a D-Bus activated app is started by its Exec line")
def no_bus(stage):
    desk = Desk(stage, real=["gio"])
    record = desk.record()
    desk.entry("org.example.Viewer", types=[TYPE], extra="DBusActivatable=true",
               exec=" ".join(desk.command(record, "--app", "org.example.Viewer", TYPE)))
    desk.start()
    desk.publish()
    desk.opens(kind="app")
    desk.ctl("continue")
    events(record, "continue")


@test("with a user manager a program that cannot run, or that fails, is reported, and its arguments are not expanded")
def unit_fails(stage):
    manager = UserManager(stage)
    desk = Desk(stage, manager)
    record = desk.browser()
    desk.manifest("fails", ["/bin/sh", "-c", "exit 7"], types=[TYPE])
    desk.start()
    desk.publish()
    desk.opens(kind="app")
    refused = error(desk.ctl("continue", code=1))
    expect(refused["reason"] == "launchFailed" and "status 7" in refused["message"], f"wrong: {refused}")
    desk.manifest("broken", [desk.write(desk.programs, "broken", "#!/nonexistent\n")], types=[OTHER])
    os.chmod(os.path.join(desk.programs, "broken"), 0o755)
    desk.manifest("words", ["/bin/sh", "-c", f"printf '%s\\n' \"$@\" >'{record}.part' && mv '{record}.part' '{record}.words'", "x", "${HOME}", "$HOME", "%n"],
                  types=["com.example.words"])
    publish = desk.publish("com.example.words")
    desk.opens(kind="app")
    desk.ctl("continue", publish.id, "--timeout", "4", code=1)
    awaited(record + ".words")
    with open(record + ".words") as file:
        expect(file.read().splitlines() == ["${HOME}", "$HOME", "%n"], "arguments were expanded")
    publish = desk.publish(OTHER, "--web-url", "https://example.org/")
    desk.opens(kind="app", name="The broken")
    refused = error(desk.ctl("continue", publish.id, code=1))
    expect(refused["reason"] == "launchFailed", f"wrong: {refused}")
    os.unlink(os.path.join(desk.config, "handlers.d", "broken.json"))
    desk.opens(kind="web")
    done = desk.ctl("continue", publish.id).line
    expect(done["opens"] == {"kind": "web"} and os.path.exists(record), f"wrong: {done}")


@test("an app is verified by the scope in which the desktop runs it, and a sandboxed app cannot use another's name")
def claims_of_apps(stage):
    manager = UserManager(stage)
    desk = Desk(stage, manager).start()
    environment = {**desk.daemon.environment, **manager.environment, "HANDOFF_SOCKET": desk.daemon.socket}

    def attach(app, unit=None):
        """Runs an app that identifies itself as `app`, in a scope of this name or without one.
        Returns its record and its process."""
        record = desk.record()
        words = desk.command(record, "--app", app, TYPE)
        if unit:
            words = ["systemd-run", "--user", "--quiet", "--scope", f"--unit={unit}", "--", *words]
        with open(record + ".log", "w") as log:
            process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        stage.processes.append(process)
        return record, process

    def end(process):
        process.terminate()
        process.wait(60)
        desk.opens(kind="nothing")

    desk.publish()
    desk.opens(kind="nothing")
    for unit, verified in (("app-gnome-org.example.Editor-12.scope", True), ("app-org.example.Editor-7.scope", True),
                           ("app-org.evil.Game-1.scope", False), ("run-r1.scope", False), (None, False)):
        record, process = attach("org.example.Editor", unit)
        events(record, "attached")
        app = desk.ctl("apps").line
        expect((app["id"], app["running"], app["verified"]) == ("org.example.Editor", True, verified), f"{unit}: {app}")
        desk.opens(kind="app")
        end(process)
    for unit in ("app-flatpak-org.evil.Game-1.scope", "snap.evil.game.0a-1b.scope"):
        record, process = attach("org.example.Editor", unit)
        refused = events(record, "error")
        expect(refused["error"] == "NotThisApp", f"{unit}: {refused}")
        expect(process.wait(60) == 0 and desk.ctl("apps").lines == [], f"{unit}: it is attached")
    record, process = attach("org.example.Editor.Helper", "app-flatpak-org.example.Editor-2.scope")
    events(record, "attached")
    expect(desk.ctl("apps").line["verified"] is True, "an app of the sandbox's own family is not verified")
    end(process)


def played(stage):
    """A device with a simulated service manager, and an offer that opens in an app that would start in a unit."""
    manager = PlayedManager(stage)
    desk = Desk(stage, manager)
    record = desk.record()
    desk.manifest("app", ["/bin/sh", "-c", f"echo started >'{record}'"], types=[TYPE])
    desk.start()
    desk.publish()
    desk.opens(kind="app")
    return manager, desk, record


@test("a service manager that cannot keep a unit for the children of its launcher is requested not to stop them")
def older_manager(stage):
    manager, desk, record = played(stage)
    # The error text of systemd before 250, which does not support ExitType.
    manager.refusals = [("org.freedesktop.DBus.Error.PropertyReadOnly", "Cannot set property ExitType, or unknown property.")]
    refused = error(desk.ctl("continue", "--timeout", "3", code=1))
    expect(refused["reason"] == "appNotAttached", f"wrong: {refused}")
    while len(manager.starts) < 2:
        time.sleep(0.02)
    first, second = manager.starts
    expect(text("ExitType") in first and text("KillMode") not in first, f"wrong first call: {first}")
    expect(text("ExitType") not in second and text("KillMode") in second and text("process") in second, f"wrong: {second}")
    names = [start[4:].split(b"\0")[0] for start in manager.starts]
    expect(names[0] == names[1] and names[0].startswith(b"app-handoff-app-"), f"wrong units: {names}")
    expect(not os.path.exists(record), "it was also started outside of the manager")


@test("a start that the service manager refuses is not tried in another way, and its error text is reported")
def refusing_manager(stage):
    manager, desk, record = played(stage)
    manager.refusals = [("org.freedesktop.systemd1.UnitMasked", "Unit is masked.")]
    refused = error(desk.ctl("continue", code=1))
    expect(refused["reason"] == "launchFailed" and "Unit is masked." in refused["message"], f"wrong: {refused}")
    manager.refusals = [("org.freedesktop.DBus.Error.PropertyReadOnly", "Cannot set property X.")] * 2
    refused = error(desk.ctl("continue", code=1))
    expect("Cannot set property X." in refused["message"], f"wrong: {refused}")
    expect(len(manager.starts) == 3 and not os.path.exists(record), f"wrong starts: {manager.starts}")


@test("a program that fails between two queries of its unit is reported as failed")
def failed_meanwhile(stage):
    manager, desk, _ = played(stage)
    # The unit was inactive because it had not started, and the time of its end is that of its failure.
    manager.values = {"ActiveState": ["inactive", "failed"], "InactiveEnterTimestampMonotonic": [7], "Result": ["exit-code"],
                      "ExecMainStatus": [7]}
    refused = error(desk.ctl("continue", "--timeout", "5", code=1))
    expect(refused["reason"] == "launchFailed" and "status 7" in refused["message"], f"wrong: {refused}")


if __name__ == "__main__":
    main()
