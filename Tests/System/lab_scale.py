"""The convergence of an account of many devices on simulated hosts, and its cost. Needs root.

Prints a report of times and bytes, which have no limits. The test only requires that all agree.
HANDOFF_SCALE: the number of devices (default 12, in the release gate 50). HANDOFF_SCALE_QUIET: seconds after each event
whose bytes are counted for it (default 0: later costs are in the next row).
"""

import os
import time

from crash import call
from harness import FULL_SAMPLES, Lab, expect, main, test

COUNT = int(os.environ.get("HANDOFF_SCALE", "50" if FULL_SAMPLES else "12"))
QUIET = float(os.environ.get("HANDOFF_SCALE_QUIET", "0"))
TIMEOUT = 120


def view(daemon):
    """Returns the part of a device's view in which all must agree, or None while it is incomplete."""
    status, listed = call(daemon, "GetStatus"), call(daemon, "ListDevices")["devices"]
    if status["warnings"] or status["tickets"] or status["account"] is None:
        return None
    return status["account"], status["epoch"], tuple(sorted((device["id"], device["name"]) for device in listed))


def used(daemons):
    """Returns the processor seconds and the resident bytes of all."""
    seconds = memory = 0
    for daemon in daemons:
        with open(f"/proc/{daemon.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        with open(f"/proc/{daemon.process.pid}/smaps_rollup") as file:
            memory += sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    return seconds, memory


class Meter:
    """Measures from an event until all agree, and for the requested time after it."""

    def __init__(self, lab, daemons):
        self.lab, self.daemons = lab, daemons

    def agreement(self, what, condition, act):
        before, cost = self.lab.traffic(), used(self.daemons)[0]
        begin = time.monotonic()
        act()
        acted = time.monotonic()
        late = list(self.daemons)
        first = None
        # All may meet the condition before the last change, such as a name, has reached all.
        while late or len({view(daemon) for daemon in self.daemons}) > 1:
            late = [daemon for daemon in late if not condition(daemon)]
            first = first or (time.monotonic() if len(late) <= len(self.daemons) / 2 else None)
            expect(time.monotonic() - begin < TIMEOUT,
                   f"{what}: {len(late)} do not agree: {[(daemon.name, view(daemon)) for daemon in late][:3]}")
            time.sleep(0.02)
        done = time.monotonic()
        time.sleep(QUIET)  # The resulting traffic is part of the cost.
        after, seconds = self.lab.traffic(), used(self.daemons)[0]
        sent, packets, reached = (right - left for left, right in zip(before, after))
        print(f"   {what}: command {acted - begin:.2f} s, half {first - begin:.2f} s, all {done - begin:.2f} s; "
              f"sent {sent / 1e6:.2f} MB in {packets} packets, {sent / len(self.daemons) / 1e3:.0f} kB a device; "
              f"delivered {reached / 1e6:.1f} MB; processor {seconds - cost:.2f} s in all", flush=True)


@test(f"an account of {COUNT} devices converges", limit=900)
def many(stage):
    lab = Lab(stage, COUNT, "--no-avahi", "--ipv4-only")
    begin = time.monotonic()
    daemons = [stage.daemon(f"m{number}", host=host) for number, host in enumerate(lab.hosts, 1)]
    first, last = daemons[0], daemons[-1]
    print(f"   {COUNT} daemons started in {time.monotonic() - begin:.1f} s, {used(daemons)[1] / 1e6:.0f} MB", flush=True)
    first.ctl("account", "create")

    def join(daemon):
        # A device admits 64 others at most.
        window = daemons[daemons.index(daemon) // 60].follow("pair", "--yes")
        link = window.wait("opened")["link"]
        daemon.ctl("join", input=(link + "\n").encode(), within=60)
        window.wait("joined")

    def count_of(number):
        return lambda daemon: (found := view(daemon)) is not None and len(found[2]) == number

    begin = time.monotonic()
    for daemon in daemons[1:-1]:
        join(daemon)
    print(f"   {COUNT - 2} devices paired in {time.monotonic() - begin:.1f} s", flush=True)
    Meter(lab, daemons[:-1]).agreement(f"agreement of {COUNT - 1}", count_of(COUNT - 1), lambda: None)
    meter = Meter(lab, daemons)
    meter.agreement("the last one joins", count_of(COUNT), lambda: join(last))
    if QUIET:
        meter.agreement("nothing happens", count_of(COUNT), lambda: None)
    epoch = call(first, "GetStatus")["epoch"]
    meter.agreement("a new key", lambda daemon: (view(daemon) or (0, 0))[1] == epoch + 1,
                    lambda: first.ctl("account", "rotate"))
    meter.agreement("one is named", lambda daemon: "renamed" in {name for _, name in (view(daemon) or (0, 0, ()))[2]},
                    lambda: first.ctl("device", "rename", "m2", "renamed"))
    rest = daemons[:-1]
    Meter(lab, rest).agreement("one is removed", count_of(COUNT - 1),
                               lambda: first.ctl("device", "remove", last.name, "--yes", "--no-wait"))
    size = os.stat(os.path.join(first.state, "account")).st_size
    print(f"   the account file has {size} bytes; {COUNT} daemons have {used(daemons)[1] / 1e6:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
