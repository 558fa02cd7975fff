"""Activities that other devices keep: the part 'kept' of Benchmarks/run.

From logind's signal that the machine goes to sleep until the lock that delays it is released, with
8 activities and 5 other members. Then a kept activity is continued while its origin does not run.
Finally, keepers do nothing, next to the same devices with `keep = off`.

On simulated hosts as root. Otherwise on loopback, without bytes and wake-ups.
"""

import os
import re
import select
import signal
import sys
import time

import harness
from common import Program, until
from idle_part import processes, switches

sys.path.insert(0, os.path.join(harness.ROOT, "Integrations", "python"))
import handoff  # noqa: E402
from logind import Logind  # noqa: E402

TYPE = "com.example.benchmark"
MEMBERS, ACTIVITIES = 5, 8
# Of the filler. A payload of more than 64 KiB would not be continued.
SIZES = {"3 KiB": 3 << 10, "64 KiB": 63 << 10}
BURST, PAUSE = 8, 1.0
SETTLING, IDLING = 60, 180
PORT = "24863"


def lab_of(stage, count, name=""):
    if os.geteuid() != 0:
        return None, [None] * count
    lab = harness.Lab(stage, count, "--no-avahi", "--ipv4-only", name=name)
    return lab, lab.hosts


def publish(daemon, size):
    """Publishes the activities, each by an app of its own."""
    apps = [handoff.App(f"com.example.App{number}", path=daemon.socket) for number in range(ACTIVITIES)]
    activities = [app.publish(TYPE, title="0", userInfo={"a": "x" * size}) for app in apps]
    for activity in activities:
        activity.become_current()
    return apps, activities


def copies(daemon, title):
    """Returns the kept activities with a title that a device lists."""
    return [each["id"] for each in daemon.ctl("list").lines if each["kept"] and each["title"] == title]


def locked(daemon):
    """Returns the locked memory of a daemon in MiB."""
    with open(f"/proc/{daemon.process.pid}/status") as file:
        return int(re.search(r"^VmLck:\s+(\d+)", file.read(), re.M).group(1)) / 1024


def measure_sleep(stage, programs, quick, figures):
    lab, hosts = lab_of(stage, 1 + MEMBERS)
    logind = Logind(stage)
    origin, *members = (stage.daemon(f"d{number}", host=host, start=False) for number, host in enumerate(hosts))
    origin.extra = logind.environment
    for daemon in (origin, *members):
        daemon.start()
    for member in members:
        stage.join(origin, member)
    count = 0
    for name, size in SIZES.items():
        apps, activities = publish(origin, size)
        for number in range(1, 1 + (5 if quick else 20)):
            for activity in activities:
                activity.update(title=f"{number}", userInfo={"a": "x" * size})
            until("the offers", lambda: all(
                sum(not each["kept"] and each["title"] == f"{number}" for each in member.ctl("list").lines) == ACTIVITIES
                for member in members))
            lock = logind.delay(count)[1]
            before, began = lab.traffic() if lab else None, time.monotonic()
            logind.sleeps(True)
            harness.expect(select.select([lock], [], [], 20)[0], "sleep is delayed permanently")
            figures.setdefault(f"sleep until kept, {name}", []).append((time.monotonic() - began) * 1000)
            os.close(lock)
            for member in members:
                harness.expect(len(copies(member, f"{number}")) == ACTIVITIES, f"{member.name} does not keep all activities")
            if lab:
                figures.setdefault(f"sleep, sent, {name}", []).append((lab.traffic()[0] - before[0]) / 1024)
            count += 1
            logind.delay(count - 1)
            if number == 1:
                figures[f"locked memory, {name}"] = [locked(member) for member in members]
            logind.sleeps(False)
            logind.delay(count)
        measure_continue(stage, programs, quick, figures, name, logind, count, origin, members)
        count += 1
        for app in apps:
            app.close()
        until("the end of the offers", lambda: not any(member.ctl("list").lines for member in members))


def measure_continue(stage, programs, quick, figures, name, logind, count, origin, members):
    """Continues the kept activities while the origin sleeps."""
    lock = logind.delay(count)[1]
    until("the other devices", lambda: sum(each["online"] for each in origin.ctl("devices").lines) == 1 + MEMBERS)
    logind.sleeps(True)
    select.select([lock], [], [], 20)
    os.close(lock)
    origin.process.send_signal(signal.SIGSTOP)
    kept = [each["id"] for each in members[0].ctl("list").lines if each["kept"]]
    harness.expect(len(kept) == ACTIVITIES, f"{kept}")
    taking = Program(stage, os.path.join(programs, "app"), "taker", members[0].socket)
    taking.ask(kept[0])
    values = figures.setdefault(f"continue kept, warm, {name}", [])
    for number in range(80 if quick else 320):
        if number % BURST == 0:
            time.sleep(PAUSE)
        values.append(float(taking.ask(kept[number % len(kept)])) / 1000)
    taking.process.stdin.close()
    origin.process.send_signal(signal.SIGCONT)
    logind.sleeps(False)
    logind.delay(count + 1)


def measure_idle(stage, quick, figures):
    """Wake-ups and packets of devices that do nothing. Without discovery, so that no other traffic wakes them."""
    settling, idling = (20, 20) if quick else (SETTLING, IDLING)
    watched = {}
    for state in ("keeps 8", "unused"):
        for keep in ("on", "off"):
            lab, hosts = lab_of(stage, 2, f"-{state[0]}{keep}")
            origin, keeper = (
                stage.daemon(f"{state[0]}-{keep}-{number}", host=host, discovery="static", port=PORT,
                             configuration=f"keep = {keep}\n")
                for number, host in enumerate(hosts))
            for daemon, other in ((origin, hosts[1]), (keeper, hosts[0])):
                daemon.ctl("account", "create") if daemon is origin else None
                daemon.ctl("peer", "add", f"{other.addresses[0]}:{PORT}")
            stage.join(origin, keeper)
            if state != "unused":
                apps, _ = publish(origin, SIZES["3 KiB"])
                until("the offers", lambda: len(keeper.ctl("list").lines) == ACTIVITIES)
                origin.stop()
                if keep == "on":
                    until("the copies", lambda: len(copies(keeper, "0")) == ACTIVITIES)
                for app in apps:
                    app.close()
            watched[f"{state}, keep = {keep}"] = lab, keeper
    time.sleep(settling)

    def counts():
        return {name: (sum(map(switches, processes(daemon.process.pid))), lab.traffic()[1])
                for name, (lab, daemon) in watched.items()}

    before = counts()
    time.sleep(idling)
    for name, after in counts().items():
        for what, first, last in zip(("wake-ups", "packets"), before[name], after):
            figures[f"idle {what} a minute, {name}"] = [(last - first) * 60 / idling]


def measure(stage, programs, quick, spread):
    figures = {}
    measure_sleep(stage, programs, quick, figures)
    if os.geteuid() == 0:
        measure_idle(stage, quick, figures)
    return {name: spread(values) for name, values in figures.items()}, f"{MEMBERS} members, {ACTIVITIES} activities"


def goals(figures):
    rows = []
    for size in SIZES:
        rows += [(f"sleep until kept, {size}", "ms", 300, "300 ms"), (f"continue kept, warm, {size}", "ms", 2, "2 ms"),
                 (f"sleep, sent, {size}", "KiB", None, "all hosts together"), (f"locked memory, {size}", "MiB", None, "")]
    for what in ("wake-ups", "packets"):
        for state in ("keeps 8", "unused"):
            off = figures.get(f"idle {what} a minute, {state}, keep = off", {}).get("median")
            rows += [(f"idle {what} a minute, {state}, keep = on", "", off, "as with keep = off"),
                     (f"idle {what} a minute, {state}, keep = off", "", None, "")]
    return rows
