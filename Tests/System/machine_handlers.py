"""Opening an activity on booted machines: apps, the browser and switches, with the package as apt
installs it and its daemon in its complete sandbox. Needs root (Tests/Lab/machines)."""

import json
import os
import time

from harness import ROOT, expect, main, test
from machines import HOME, Machines, session, write

TYPE = "com.example.editing"
APPS = "/opt/test"
WINDOW = "WAYLAND_DISPLAY=wayland-0"


def account(stage, count=2):
    """Machines of one account, with the package."""
    machines = Machines(stage, count, install=False).machines
    for machine in machines:
        machine.install_package()
        machine.put(APPS, *(os.path.join(ROOT, "Tests", "System", name) for name in (
            "played_app.py", "bus_name.py", "played_notifier.py", "notifications.py", "bus.py", "harness.py")))
    machines[0].ctl("account", "create")
    for machine in machines[1:]:
        ticket = machines[0].user("sh", "-c", "handoffctl account export - | base64").output
        machine.user("sh", "-c", "base64 -d | handoffctl account import -", input=ticket.encode())
    return machines


def entry(machine, id, exec, *lines):
    content = ["[Desktop Entry]", "Type=Application", f"Name=The {id}", f"Exec={exec}", *lines]
    write(machine, f"{HOME}/.local/share/applications/{id}.desktop", "\n".join(content) + "\n")


def played(id, *options):
    """The command line of a simulated app, and its record."""
    record = f"{HOME}/record-{id}"
    return " ".join(["/usr/bin/python3", f"{APPS}/played_app.py", record, "--app", id, "--stay", *options]), record


def app(machine, id, *lines, options=()):
    """Installs a simulated app with a desktop entry. Returns its record."""
    exec, record = played(id, *options, TYPE)
    entry(machine, id, f"{exec} %U", f"X-Handoff-ActivityTypes={TYPE};", *lines)
    return record


def bus_app(machine, id, type):
    """Installs a simulated app that the session bus starts. Returns its record."""
    exec, record = played(id, "--bus-name", id, type)
    write(machine, f"{HOME}/.local/share/dbus-1/services/{id}.service", f"[D-BUS Service]\nName={id}\nExec={exec}\n")
    machine.user("busctl", "--user", "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ReloadConfig")
    # This runs only if the activation is ignored.
    entry(machine, id, "/bin/false", "DBusActivatable=true", f"X-Handoff-ActivityTypes={type};")
    return record


def publish(machine, type=TYPE, *words):
    follower = machine.follow("publish", type, *words)
    follower.id = follower.wait("published")["id"]
    return follower


def offers(machine):
    return machine.ctl("list").lines


def offered(machine, within=30, **opens):
    """Waits until the first offer opens in this way. Returns the way."""
    seen = []

    def is_there():
        seen[:] = offers(machine)
        return seen and all(seen[0]["opens"].get(key) == value for key, value in opens.items())

    machine.until(f"an offer that opens by {opens} on {machine.name}", is_there, within, lambda: str(seen))
    return seen[0]


def notes(machine, record):
    return [json.loads(line) for line in machine.user("cat", record, code=None).output.splitlines()]


def noted(machine, record, event, count=1, **fields):
    """Waits until a simulated app has recorded an event this number of times. Returns the last one."""
    found = []

    def is_there():
        found[:] = [line for line in notes(machine, record)
                    if line["event"] == event and all(line.get(key) == value for key, value in fields.items())]
        return len(found) >= count

    machine.until(f"'{event}' of {record}", is_there, 30, lambda: str(notes(machine, record)))
    return found[-1]


def surroundings(machine, pid):
    """Returns the restrictions of a process."""
    script = """for space in user mnt net pid; do echo "$space $(readlink /proc/$1/ns/$space)"; done
        echo uid_map $(cat /proc/$1/uid_map); echo gid_map $(cat /proc/$1/gid_map)
        grep -E '^(NoNewPrivs|Seccomp_filters|CapBnd|Uid|Gid):' /proc/$1/status"""
    return dict(line.split(maxsplit=1) for line in machine.root("sh", "-c", script, "sh", str(pid)).output.splitlines())


def is_outside(machine, pid):
    """Checks that a process is confined like the user's manager, and not like the daemon."""
    manager = machine.root("systemctl", "show", "user@1000.service", "--property=MainPID", "--value").output.strip()
    own, theirs = surroundings(machine, pid), surroundings(machine, manager)
    daemon = surroundings(machine, machine.show("MainPID")["MainPID"])
    expect(own == theirs, f"the app is confined: {own}, and not as {theirs}")
    same = [key for key in ("user", "mnt", "uid_map", "gid_map", "NoNewPrivs:", "Seccomp_filters:") if own[key] == daemon[key]]
    expect(not same, f"the daemon is not confined: {same} are as outside")


def known_app(machine, id):
    """The line of `apps` for one app. The package also installs an app of its own."""
    return next(line for line in machine.ctl("apps").lines if line["id"] == id)


@test("an app that is not running is started by its desktop entry outside of the sandbox, even if the call starts the daemon",
      limit=300)
def by_entry(stage):
    origin, taker = account(stage)
    record = app(taker, "org.example.my-Editor")
    offer = publish(origin, TYPE, "--title", "Draft", "--user-info", '{"page": 3}')
    offered(taker, kind="app", name="The org.example.my-Editor")
    done = taker.ctl("continue").line
    expect(done["opens"] == {"kind": "app", "name": "The org.example.my-Editor"}, f"wrong: {done}")
    start = noted(taker, record, "started")
    expect(start["environment"].get("HANDOFF_ACTIVITY_TYPE") == TYPE, f"wrong environment: {start['environment']}")
    expect(start["descriptors"] == [0, 1, 2], f"open descriptors: {start['descriptors']}")
    group = next(line for line in start["groups"].splitlines() if line.startswith("0::"))
    parts = group.split("/")
    expect("app.slice" in parts and parts[-1].startswith("app-handoff-org.example.my\\x2dEditor-"), f"wrong group: {group}")
    # It can write to the home folder, where the daemon cannot.
    is_outside(taker, start["pid"])
    noted(taker, record, "willContinue", type=TYPE)
    content = noted(taker, record, "continue")["content"]
    expect(content["userInfo"] == {"page": 3} and content["title"] == "Draft", f"wrong: {content}")
    offer.wait("continued", deviceName="m2")
    known = known_app(taker, "org.example.my-Editor")
    expect(known["running"] and known["verified"] is True, f"the system does not confirm it: {known}")

    # It outlives the daemon, which is now started only by its socket.
    taker.systemctl("stop", "handoffd.service")
    unit = parts[-1]
    expect(taker.systemctl("is-active", unit).output.strip() == "active", "the app ended together with the daemon")
    taker.systemctl("stop", unit)
    expect(taker.show("ActiveState")["ActiveState"] == "inactive", "the daemon still runs")
    offered(taker, kind="app", reason="the only app that continues it")
    taker.ctl("continue")
    is_outside(taker, noted(taker, record, "started", count=2)["pid"])
    noted(taker, record, "continue", count=2)


@test("a D-Bus activated app is started by the bus, and called again while it runs", limit=300)
def by_bus(stage):
    origin, taker = account(stage)
    id = "org.example.my_Viewer"
    record = bus_app(taker, id, TYPE)
    offer = publish(origin, TYPE, "--user-info", '{"page": 4}')
    offered(taker, kind="app", name=f"The {id}")
    done = taker.ctl("continue").line
    expect(done["opens"] == {"kind": "app", "name": f"The {id}"}, f"wrong: {done}")
    noted(taker, record, "called", path="/org/example/my_Viewer", interface="org.freedesktop.Application", member="Activate")
    is_outside(taker, noted(taker, record, "started")["pid"])
    expect(noted(taker, record, "continue")["content"]["userInfo"] == {"page": 4}, "wrong activity")
    offer.wait("continued", deviceName="m2")
    # The bus has started it, in a unit that names no app.
    known = known_app(taker, id)
    expect(known["running"] and known["verified"] is False, f"wrong: {known}")
    taker.ctl("continue")
    noted(taker, record, "continue", count=2)
    expect(sum(note["event"] == "started" for note in notes(taker, record)) == 1, "it was started again")


def browser(machine):
    """Installs the user's browser, which records its arguments and its cgroup. Returns its record."""
    record = f"{HOME}/pages"
    write(machine, f"{HOME}/browser", f"""#!/bin/sh
{{ echo $#; printf '%s\\n' "$@"; echo $$; sed -n 's/^0:://p' /proc/self/cgroup; }} >'{record}.part'
mv '{record}.part' '{record}'
exec sleep 300
""", "755")
    entry(machine, "org.example.Browser", f"{HOME}/browser %u", "MimeType=x-scheme-handler/http;x-scheme-handler/https;")
    write(machine, f"{HOME}/.config/mimeapps.list", """[Default Applications]
x-scheme-handler/http=org.example.Browser.desktop
x-scheme-handler/https=org.example.Browser.desktop
""")
    return record


def opened(machine, record):
    """Waits for the browser. Returns its arguments, its process and its cgroup."""
    machine.until("the browser", lambda: machine.exists(record))
    count, *words, pid, group = machine.user("cat", record).output.splitlines()
    machine.user("rm", record)
    expect(int(count) == len(words), f"arguments with line breaks: {words}")
    return words, pid, group


@test("without a matching app the page opens in the user's browser, and if nothing opens it, the error names the missing part",
      limit=400)
def page(stage):
    origin, taker = account(stage)
    record = browser(taker)
    url = "https://example.org/a?b=$HOME&c='x'`id`;touch%20y#--help"
    sent = "https://example.org/a?b=%24HOME&c=%27x%27%60id%60;touch%20y#--help"
    offer = publish(origin, TYPE, "--web-url", url)

    # A desktop does this at its start: it passes its display to the manager.
    taker.systemctl("set-environment", WINDOW)
    offered(taker, kind="web")
    done = taker.ctl("continue").line
    expect(done["opens"] == {"kind": "web"}, f"wrong: {done}")
    words, pid, group = opened(taker, record)
    expect(words == [sent], f"wrong words: {words}")
    expect("/app.slice/app-handoff-browser-" in group, f"wrong group: {group}")
    is_outside(taker, pid)
    offer.wait("continued", deviceName="m2")

    # The other method, which needs no desktop.
    taker.systemctl("unset-environment", "WAYLAND_DISPLAY")
    taker.root("mv", "/usr/bin/xdg-open", "/root")
    taker.ctl("continue")
    words, pid, group = opened(taker, record)
    expect(words == [sent], f"wrong words: {words}")
    is_outside(taker, pid)

    # Without a browser.
    taker.user("rm", f"{HOME}/.config/mimeapps.list", f"{HOME}/.local/share/applications/org.example.Browser.desktop")
    failed = json.loads(taker.ctl("continue", code=1).errors)
    expect(failed["reason"] == "pageNotOpened" and "gio" in failed["message"], f"wrong: {failed}")

    # Without any opener.
    taker.root("mv", "/usr/bin/gio", "/root")
    # Removed programs are noticed when the declarations of apps are read again.
    taker.systemctl("restart", "handoff-desktop.service", "handoffd.service")
    offered(taker, kind="nothing")
    failed = json.loads(taker.ctl("continue", code=1).errors)
    expect(failed["reason"] == "noHandler" and "xdg-open" in failed["message"], f"wrong: {failed}")
    app(taker, "org.example.Editor")
    offered(taker, kind="app")
    failed = json.loads(taker.ctl("continue", code=1).errors)
    expect(failed["reason"] == "launchFailed" and "libglib2.0-bin" in failed["message"], f"wrong: {failed}")


@test("an activity without an app and without a page cannot be opened, and the error states this", limit=300)
def nowhere(stage):
    origin, taker = account(stage)
    publish(origin)
    opens = offered(taker, kind="nothing")["opens"]
    failed = json.loads(taker.ctl("continue", code=1).errors)
    expect(failed["code"] == 4608 and failed["reason"] == "noHandler" and TYPE in failed["message"],
           f"wrong: {failed}, {opens}")


@test("an app that is started and never attaches has 30 s", limit=300)
def deaf(stage):
    origin, taker = account(stage)
    entry(taker, "org.example.Deaf", "/bin/sleep 300", f"X-Handoff-ActivityTypes={TYPE};")
    offer = publish(origin)
    offered(taker, kind="app")
    began = time.monotonic()
    failed = json.loads(taker.ctl("continue", code=1).errors)
    took = time.monotonic() - began
    expect(failed["code"] == 4610 and failed["reason"] == "appNotAttached" and "The org.example.Deaf" in failed["message"],
           f"wrong: {failed}")
    expect(took >= 30, f"it had {took:.1f} s")
    print(f"  given up after {took:.1f} s")
    expect(not any(event["event"] == "continued" for event in offer.seen), f"the origin was notified: {offer.seen}")
    # Its successor exists for the next one.
    taker.user("rm", f"{HOME}/.local/share/applications/org.example.Deaf.desktop")
    record = app(taker, "org.example.Editor")
    offered(taker, name="The org.example.Editor")
    taker.ctl("continue")
    noted(taker, record, "continue")


def restart(machine, *others):
    """Restarts a daemon, and waits until the others detect the device again."""
    # A manager limits how often a unit starts within a minute.
    machine.systemctl("reset-failed", "handoffd.service")
    machine.systemctl("restart", "handoffd.service")
    for other in others:
        sees(other, machine)
        sees(machine, other)


def sees(machine, other):
    machine.until(f"{other.name} at {machine.name}", lambda: any(
        device["name"] == other.name and device["online"] for device in machine.ctl("devices").lines))


def gone(machine):
    machine.until("the end of the offer", lambda: not offers(machine))


def nothing(machine):
    """Checks that nothing is listed, and nothing can be continued."""
    expect(offers(machine) == [], f"{machine.name} lists {offers(machine)}")
    failed = json.loads(machine.ctl("continue", "--print", code=4).errors)
    expect(failed["error"] == "NothingToContinue", f"wrong: {failed}")


def refused(machine, *words):
    """Checks that nothing is listed, and that continue names the switch."""
    expect(offers(machine) == [], f"{machine.name} lists {offers(machine)}")
    failed = json.loads(machine.ctl("continue", "--print", code=1).errors)
    expect(failed["error"] == "SwitchedOff" and all(word in failed["message"] for word in words), f"wrong: {failed}")


@test("an activity that is not advertised, or not received, is neither listed nor continued, even after a restart", limit=500)
def switches(stage):
    origin, taker = account(stage)
    app(taker, "org.example.Editor")
    publish(origin)
    offered(taker)

    origin.ctl("advertise", "off")
    gone(taker)
    nothing(taker)
    restart(origin, taker)
    nothing(taker)
    expect({hold["by"] for hold in origin.ctl("status").line["holds"]} == {"user"}, "the switch was not kept")
    origin.ctl("advertise", "on")
    offered(taker)
    restart(origin, taker)
    offered(taker)

    taker.ctl("receive", "off")
    refused(taker, "receiving is switched off")
    restart(taker, origin)
    refused(taker, "receiving is switched off")
    taker.ctl("receive", "on")
    offered(taker)
    restart(taker, origin)
    offered(taker)

    for paused, check in ((origin, nothing), (taker, refused)):
        began = time.monotonic()
        paused.ctl("pause", "20s")
        gone(taker)
        restart(origin, taker)
        restart(taker, origin)
        check(taker)
        offered(taker, within=60)
        expect(time.monotonic() - began >= 20, "the pause was too short")

    origin.ctl("advertise", "off", "--device", "m2")
    gone(taker)
    restart(origin, taker)
    nothing(taker)
    origin.ctl("resume", "--device", "m2")
    offered(taker)
    taker.ctl("receive", "off", "--device", "m1")
    restart(taker, origin)
    refused(taker, "m1")
    taker.ctl("receive", "on", "--device", "m1")
    offered(taker)


@test("a disabled app neither continues nor is offered elsewhere, even after a restart", limit=300)
def app_switches(stage):
    origin, taker = account(stage)
    record = app(taker, "org.example.Editor")
    publish(origin)
    offered(taker, kind="app")
    taker.ctl("app", "disable", "org.example.Editor")
    for _ in range(2):
        opens = offered(taker, kind="nothing")["opens"]
        expect("is disabled" in opens["reason"], f"wrong: {opens}")
        failed = json.loads(taker.ctl("continue", code=1).errors)
        expect(failed["reason"] == "noHandler" and "is disabled" in failed["message"], f"wrong: {failed}")
        restart(taker, origin)
    taker.ctl("app", "enable", "org.example.Editor")
    restart(taker, origin)
    offered(taker, kind="app")
    taker.ctl("continue")
    noted(taker, record, "continue")

    publisher = next(known["id"] for known in origin.ctl("apps").lines if known["running"])
    origin.ctl("app", "disable", publisher)
    gone(taker)
    restart(origin, taker)
    nothing(taker)
    origin.ctl("app", "enable", publisher)
    offered(taker)


@test("the administrator's policy overrides the user's settings, even after a restart", limit=400)
def policy(stage):
    origin, taker = account(stage)
    app(taker, "org.example.Editor")
    publish(origin)
    offered(taker)

    def forbid(machine, text):
        machine.root("sh", "-c", "cat >/etc/handoff/policy.d/10-test.conf", input=text.encode())
        restart(machine, taker if machine is origin else origin)

    forbid(origin, "advertise = no\n")
    nothing(taker)
    said = origin.ctl("advertise", "on").line
    expect(said["advertising"] is False and "10-test.conf:1" in said["holds"][0]["message"], f"wrong: {said}")
    nothing(taker)
    forbid(origin, f"forbid-type = {TYPE}\n")
    nothing(taker)
    forbid(origin, f"forbid-device = {taker.ctl('status').line['device']}\n")
    nothing(taker)
    forbid(origin, "# nothing is forbidden\n")
    offered(taker)
    forbid(taker, "receive = no\n")
    refused(taker, "10-test.conf:1")
    taker.ctl("receive", "on")
    refused(taker, "10-test.conf:1")
    forbid(taker, "forbid-app = org.example.Editor\n")
    offered(taker, kind="nothing")
    forbid(taker, "# nothing is forbidden\n")
    offered(taker, kind="app")
    # An error prevents the start, and the journal contains its position.
    taker.root("sh", "-c", "echo 'receive = maybe' >/etc/handoff/policy.d/10-test.conf")
    taker.systemctl("restart", "handoffd.service", code=None)
    journal = taker.user("journalctl", "--user", "--no-pager", "-u", "handoffd.service").output
    expect("10-test.conf:1" in journal, f"the error is not reported: {journal[-600:]}")


def holds(machine):
    return [hold["message"] for hold in machine.ctl("status").line["holds"]]


@test("a locked session advertises nothing, even after a restart of the daemon, until it is unlocked", limit=400)
def locked(stage):
    origin, taker = account(stage)
    write(origin, f"{HOME}/.config/handoff/handoffd.conf", "idle-delay = 1 s\n")
    restart(origin, taker)
    publish(origin)
    offered(taker)
    tty = session(origin, "tty")
    origin.root("loginctl", "lock-session", tty)
    desk = session(origin, "wayland")
    shown = origin.root("loginctl", "show-session", desk, "--property=Type", "--property=Class", "--property=Name").output
    expect(set(shown.split()) == {"Type=wayland", "Class=user", "Name=alice"}, f"no session of a desktop: {shown}")
    expect(holds(origin) == [], f"held by a terminal: {holds(origin)}")
    offered(taker)

    began = time.monotonic()
    origin.root("loginctl", "lock-session", desk)
    gone(taker)
    took = time.monotonic() - began
    expect(took >= 8, f"withdrawn after {took:.1f} s")
    print(f"  withdrawn {took:.1f} s after the lock")
    nothing(taker)
    expect(holds(origin) == ["the screen is locked"], f"{holds(origin)}")
    restart(origin, taker)
    nothing(taker)
    expect(holds(origin) == ["the screen has not been unlocked since the start"], f"{holds(origin)}")
    origin.root("loginctl", "unlock-session", desk)
    offered(taker)

    # A desktop sets this hint when the user is idle.
    def idle(hint):
        path = origin.root("busctl", "call", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
                           "GetSession", "s", desk).output.split('"')[1]
        origin.root("busctl", "call", "org.freedesktop.login1", path, "org.freedesktop.login1.Session", "SetIdleHint", "b", hint)

    idle("true")
    gone(taker)
    expect(holds(origin) == ["the screen is not in use"], f"{holds(origin)}")
    idle("false")
    offered(taker)

    # Logging out leaves nothing locked.
    origin.root("loginctl", "lock-session", desk)
    gone(taker)
    origin.root("loginctl", "terminate-session", desk)
    offered(taker)


TOKEN = "gnome-shell/The-Editor/1234-5-host_TIME678"


class Notifier:
    """A simulated notification server on a machine's session bus."""

    def __init__(self, machine):
        self.machine = machine
        machine.user("systemd-run", "--user", "--unit=notifier", "python3", f"{APPS}/played_notifier.py", f"{HOME}/screen",
                     f"{HOME}/choices")
        machine.until("the notification server", lambda: machine.exists(f"{HOME}/choices"))

    def shown(self):
        """Returns the number of notifications shown so far, and the current ones."""
        count, *standing = [json.loads(line) for line in self.machine.user("cat", f"{HOME}/screen").output.splitlines()]
        return count, standing

    def one(self, **fields):
        """Waits until there is exactly one notification, and it has these fields. Returns it."""
        found = []

        def is_there():
            found[:] = self.shown()[1]
            return len(found) == 1 and all(found[0][key] == value for key, value in fields.items())

        self.machine.until(f"a notification with {fields}", is_there, 30, lambda: str(self.shown()))
        return found[0]

    def none(self):
        self.machine.until("an empty screen", lambda: not self.shown()[1], 30, lambda: str(self.shown()))

    def choose(self, id, key, token=TOKEN):
        self.machine.user("sh", "-c", f"echo {id} {key} {token} >{HOME}/choices")


@test("a notification's action opens the app or the page with the token of the click, and a locked screen shows nothing new", limit=500)
def notified(stage):
    origin, taker = account(stage)
    notifier = Notifier(taker)
    desk = session(taker, "wayland")
    record = app(taker, "org.example.Editor")
    offer = publish(origin, TYPE, "--title", "Draft", "--user-info", '{"page": 3}')
    notification = notifier.one(summary="The org.example.Editor: Draft", body="from m1")
    notifier.choose(notification["id"], "default")
    start = noted(taker, record, "started")
    expect(start["environment"].get("XDG_ACTIVATION_TOKEN") == TOKEN, f"no token: {start['environment']}")
    is_outside(taker, start["pid"])
    expect(noted(taker, record, "continue")["content"]["userInfo"] == {"page": 3}, "wrong activity")
    offer.wait("continued", deviceName="m2")
    notifier.none()

    # By D-Bus.
    id = "org.example.Viewer"
    record = bus_app(taker, id, "com.example.viewing")
    offer = publish(origin, "com.example.viewing", "--title", "Map")
    notifier.choose(notifier.one(summary=f"The {id}: Map")["id"], "continue")
    called = noted(taker, record, "called", member="Activate")
    expect(called["platform"] == {"activation-token": TOKEN, "desktop-startup-id": TOKEN}, f"no token: {called}")
    noted(taker, record, "continue")
    offer.wait("continued", deviceName="m2")

    # In the browser.
    pages = browser(taker)
    taker.systemctl("set-environment", WINDOW)
    offer = publish(origin, "com.example.reading", "--title", "News", "--web-url", "https://example.org/")
    notifier.choose(notifier.one(summary="Web browser: News")["id"], "default")
    words, pid, _ = opened(taker, pages)
    expect(words == ["https://example.org/"], f"wrong words: {words}")
    is_outside(taker, pid)
    offer.wait("continued", deviceName="m2")
    notifier.none()

    # An offer that arrives while the screen is locked is shown afterwards.
    taker.root("loginctl", "lock-session", desk)
    taker.until("the lock", lambda: "LockedHint=yes" in taker.root(
        "loginctl", "show-session", desk, "--property=LockedHint").output)
    before, _ = notifier.shown()
    publish(origin, TYPE, "--title", "Secret")
    taker.until("the offer", lambda: any(offer["title"] == "Secret" for offer in offers(taker)))
    taker.root("loginctl", "unlock-session", desk)
    notifier.one(summary="The org.example.Editor: Secret")
    # Every notification ever shown is counted. One shown before the unlocking would be one more.
    expect(notifier.shown()[0] == before + 1, f"shown while locked: {notifier.shown()}")


if __name__ == "__main__":
    main()
