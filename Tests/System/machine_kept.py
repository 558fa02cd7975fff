"""Activities of machines that are asleep or off, continued on other booted machines. Needs root (Tests/Lab/machines).

logind suspends the machines and waits for the daemon's lock. Only the last step is replaced (`Machine.can_suspend`).
"""

import json
import os
import re

from harness import FULL_SAMPLES, ROOT, expect, main, test
from machines import Machines

TYPE = "com.example.editing"
SERVER = "HANDOFF_SOCKET=/run/handoff-alice/control.socket"


def server_ctl(machine, *words, **more):
    """Runs handoffctl with the daemon of a machine without logins."""
    return machine.user("env", SERVER, "handoffctl", "--json", *words, **more)


def join(origin, import_ticket):
    ticket = origin.user("sh", "-c", "handoffctl account export - | base64").output
    import_ticket("sh", "-c", "base64 -d | handoffctl account import -", input=ticket.encode())


def publish(machine, title, text, *words):
    owner = machine.follow("publish", TYPE, "--title", title, "--user-info", json.dumps({"text": text}), *words)
    owner.id = owner.wait("published")["id"]
    return owner


def kept(lines):
    return {each["id"]: each["kept"]["state"] for each in lines if each["kept"]}


def locked(server):
    """Returns the memory that the daemon of the server has locked for copies, in KiB."""
    pid = server.root("systemctl", "show", "--property=MainPID", "--value", "handoffd@alice.service").output.strip()
    return int(re.search(r"VmLck:\s+(\d+)", server.root("cat", f"/proc/{pid}/status").output)[1])


def account(stage, delay=""):
    """Two machines of a user and one without logins, in one account."""
    origin, taker, server = Machines(stage, 3).machines
    for machine in (origin, taker):
        machine.systemctl("enable", "--now", "handoffd.socket", "handoffd.service", "handoff-desktop.socket")
        # logind restarts, and loses the lock.
        machine.can_suspend(delay)
    server.put("/etc/systemd/system", os.path.join(ROOT, "systemd", "handoffd@.service"))
    server.root("systemctl", "daemon-reload")
    server.root("systemctl", "enable", "--now", "handoffd@alice.service")
    origin.ctl("account", "create")
    join(origin, taker.user)
    join(origin, lambda *words, **more: server.user("env", SERVER, *words, **more))
    return origin, taker, server


def delayed(machine):
    """Returns whether the daemon delays sleep."""
    return "Handoff" in machine.root("systemd-inhibit", "--list", "--no-legend").output


def continued(owner, *names):
    """Checks that an app was notified of these continuations, and of each once."""
    for name in names:
        event = owner.wait("continued")
        expect(event["deviceName"] == name and event["at"] > 1e9, f"{event}")


@test("an activity is continued while its machine sleeps, also later from a server, and after a power cut", limit=240)
def sleeping(stage):
    origin, taker, server = account(stage)
    draft = publish(origin, "Draft", "half a sentence")
    # Saved 30 s before the power cut below. Nothing else lets the others keep it.
    cut = publish(taker, "Cut", "before the power cut")
    for machine in (origin, taker):
        machine.until("the lock that delays sleep", lambda: delayed(machine))
    taker.until("the offer", lambda: draft.id in taker.ctl("list").output)

    origin.suspend()
    taker.until("the copy", lambda: kept(taker.ctl("list").lines) == {draft.id: "asleep"},
                seen=lambda: taker.ctl("list", "--recent").output + origin.root("journalctl", "--no-pager", "-n", "30").output)
    found = taker.ctl("continue", draft.id, "--print").line
    expect(found["userInfo"] == {"text": "half a sentence"} and found["kept"]["state"] == "asleep", f"{found}")
    origin.wake()
    continued(draft, "m2")
    taker.until("the offer of the awake machine", lambda: not kept(taker.ctl("list").lines))
    origin.until("the next lock", lambda: delayed(origin))

    # 30 s after it was published, the others keep the activity of a machine that then loses its power.
    before = locked(server)
    server.until("the copy", lambda: locked(server) > before, within=45)
    taker.cut()
    found = origin.ctl("continue", cut.id, "--print", within=30).line
    expect(found["userInfo"] == {"text": "before the power cut"} and found["kept"], f"{found}")

    # Only the server keeps the activity of the machine that sleeps now.
    origin.suspend()
    taker.start()
    taker.until("the copy of the server", lambda: draft.id in kept(taker.ctl("list").lines))
    recent = kept(taker.ctl("list", "--recent").lines)
    expect(recent.get(cut.id) == "ended", f"{recent}")
    found = taker.ctl("continue", draft.id, "--print").line
    expect(found["userInfo"] == {"text": "half a sentence"} and found["kept"], f"{found}")
    origin.wake()
    continued(draft, "m2")
    # The next continuation is a usual one, and the only further event.
    taker.until("the offer of the awake machine", lambda: not kept(taker.ctl("list").lines))
    taker.ctl("continue", draft.id, "--print")
    event = draft.wait("continued")
    expect(event.get("at") is None, f"{event}")


if FULL_SAMPLES:

    @test("with a delay of 1 s or none, sleep that is requested twice, and at the end of the machine", limit=240)
    def short(stage):
        origin, taker, server = account(stage, "1")
        draft = publish(origin, "Draft", "one")
        taker.until("the offer", lambda: draft.id in taker.ctl("list").output)
        origin.until("the lock that delays sleep", lambda: delayed(origin))
        origin.root("systemctl", "--no-block", "suspend")
        # logind refuses the second one while it waits for the first.
        origin.suspend(code=None)
        expect(kept(taker.ctl("list").lines) == {draft.id: "asleep"}, "not kept within a second")
        origin.wake()
        taker.until("the offer of the awake machine", lambda: not kept(taker.ctl("list").lines))
        origin.until("the next lock", lambda: delayed(origin))
        origin.can_suspend("0")
        origin.until("the lock that delays sleep", lambda: delayed(origin))
        origin.suspend()
        # Not announced in time, perhaps. What was kept earlier is continued.
        found = taker.ctl("continue", draft.id, "--print", within=30).line
        expect(found["userInfo"] == {"text": "one"} and found["kept"], f"{found}")
        origin.wake()
        taker.until("the offer of the awake machine", lambda: not kept(taker.ctl("list").lines))
        origin.can_suspend("1")
        origin.until("the lock that delays the shutdown", lambda: delayed(origin))
        # systemd ends this app before the daemon.
        origin.user("systemd-run", "--user", "--property=After=handoffd.service", "handoffctl", "publish", TYPE,
                    "--title", "Ended")
        taker.until("the offer", lambda: len(taker.ctl("list").lines) == 2)
        origin.root("systemctl", "--no-block", "poweroff")
        taker.until("the copies of the machine that is off",
                    lambda: list(kept(taker.ctl("list").lines).values()) == ["offline", "offline"])


if __name__ == "__main__":
    main()
