"""The cost of an idle daemon: the part 'idle' of Benchmarks/run."""

import os
import re
import time

import harness
from common import Control, until

# Activity that follows a start is not idling: announcements and queries of multicast DNS are
# repeated at growing intervals, and the daemon releases some of its memory.
SETTLING, IDLING = 120, 300


def processes(pid):
    """A daemon and the programs that it has started: handoff-desktop."""
    found = [pid]
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children") as file:
            found += [int(word) for word in file.read().split()]
    return found


def switches(pid):
    """Returns the context switches of all threads of a process. Each wake-up is a voluntary one."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/status") as file:
            total += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M).group(1))
    return total


def memory(pid):
    """Returns the memory of a process in MiB: resident, proportional (PSS), and private dirty."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        text = file.read()
    return [int(re.search(rf"^{name}:\s+(\d+)", text, re.M).group(1)) / 1024 for name in ("Rss", "Pss", "Private_Dirty")]


def measure(stage, quick, spread):
    settling, idling = (20, 20) if quick else (SETTLING, IDLING)
    figures, daemons = {}, {}
    if os.geteuid() == 0:
        # Each alone, because messages of a neighbour also wake it.
        for name, options in (("avahi", ("--avahi",)), ("embedded", ())):
            host = harness.Lab(stage, 1, *options, name=f"-{name}").hosts[0]
            daemons[name] = stage.daemon(name, host=host, **({"discovery": "avahi"} if name == "avahi" else {}))
    else:
        daemons["embedded"] = stage.daemon("embedded")
    for daemon in daemons.values():
        daemon.ctl("account", "create")
        control = Control(daemon)
        until("discovery", lambda: "running" in control.status()["discoveryState"], 20)
    time.sleep(settling)
    pids = {name: processes(daemon.process.pid) for name, daemon in daemons.items()}
    before = {name: [switches(pid) for pid in found] for name, found in pids.items()}
    time.sleep(idling)
    for name, found in pids.items():
        woken = sum(switches(pid) - earlier for pid, earlier in zip(found, before[name]))
        figures[f"idle wake-ups a minute, {name}"] = spread([woken * 60 / idling])
        for what, value in zip(("resident", "PSS", "written"), memory(found[0])):
            figures[f"idle memory ({what}), {name}"] = spread([value])
    return figures, f"from {settling} s after the start on, for {idling} s; wake-ups with those of handoff-desktop"


GOALS = [
    *[row for name in ("avahi", "embedded") for row in (
        (f"idle memory (resident), {name}", "MiB", 10, "10 MiB: its size if no page is shared"),
        (f"idle memory (PSS), {name}", "MiB", 8, "8 MiB"),
        (f"idle memory (written), {name}", "MiB", None, "its private memory"))],
    ("idle wake-ups a minute, avahi", "", 0, "none of its own"),
    ("idle wake-ups a minute, embedded", "", 20, "20: mDNS itself wakes it"),
]
