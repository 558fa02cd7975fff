"""Five devices on simulated hosts that work for hours, and must not need more resources at the end
than at the start. Needs root.

    python3 Tests/System/soak.py HOURS [--seed NUMBER] [--pause SECONDS]

They hand over payloads and files, lose the network, change addresses, sleep (SIGSTOP, SIGCONT) and
have their clocks set, all at random. After each of these two of them must hand over again. Between
two rounds all are idle, and memory, descriptors, threads and wake-ups of each daemon are sampled.
Ctrl-C ends the run early. It prints a table with the medians of the first and the last third of the
samples, for each daemon and figure. The exit code is 1 if one has grown by more than its margin, or
if a handover failed.
"""

import argparse
import os
import random
import re
import signal
import statistics
import sys
import time
from collections import Counter

from clocks import DAY, Clock
from crash import call
from harness import Failure, Lab, Skip, Stage, expect
from lab_account import agree

COUNT = 5
# Figures: their descriptions, and the margin of the median of the last third over that of the
# first: a share, and a number. PSS has no limit, because it depends on the number of other daemons
# on this machine that run the same files.
FIGURES = {"own memory, KiB": (0.10, 1024), "PSS, KiB": None, "descriptors": (0, 2), "threads": (0, 2),
           "wake-ups a minute": (0.5, 60)}
# Seconds after the last action until the wake-ups are counted, and the duration of the count.
# During the first, offers are withdrawn and unused connections are closed.
QUIET, COUNTED = 10, 15
# After a long outage of the network, attempts are less frequent, up to one per minute.
TIMEOUT = 90


def figures(daemon):
    """Returns memory, descriptors and threads of a daemon, and its number of wake-ups so far."""
    folder = f"/proc/{daemon.process.pid}"
    with open(f"{folder}/smaps_rollup") as file:
        memory = dict(re.findall(r"^(\w+):\s+(\d+)", file.read(), re.M))
    woken, tasks = 0, os.listdir(f"{folder}/task")
    for task in tasks:
        with open(f"{folder}/task/{task}/status") as file:
            woken += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M).group(1))
    return {"own memory, KiB": int(memory["Anonymous"]), "PSS, KiB": int(memory["Pss"]),
            "descriptors": len(os.listdir(f"{folder}/fd")), "threads": len(tasks), "woken": woken}


class Soak:
    """The five devices, and the measured figures."""

    def __init__(self, stage, seed):
        self.stage, self.chance = stage, random.Random(seed)
        lab = Lab(stage, COUNT, "--no-avahi")
        self.daemons, self.clocks = [], {}
        for number, host in enumerate(lab.hosts, 1):
            daemon = stage.daemon(f"d{number}", start=False, host=host, port="24863")
            self.clocks[daemon] = Clock(daemon)
            self.daemons.append(daemon.start())
        for daemon in self.daemons[1:]:
            stage.join(self.daemons[0], daemon)
        agree(self.daemons, [daemon.name for daemon in self.daemons])
        self.samples, self.did, self.number, self.slowest = [], Counter(), 0, 0.0
        self.content = self.chance.randbytes(8 << 20)
        self.source = os.path.join(stage.folder, "source")
        with open(self.source, "wb") as file:
            file.write(self.content)
        self.moved = set()

    # ---- Actions -------------------------------------------------------------------------------------------------

    def continued(self, origin, taker, *options, output=()):
        """Publishes, and retries to continue until it succeeds. Returns the output of the command."""
        self.number += 1
        kind, begin = f"com.example.soak-{self.number}", time.monotonic()
        publish = origin.publish(kind, *options)
        while (done := taker.ctl("continue", "--type", kind, *(output or ["--print"]), code=None, within=TIMEOUT)).code != 0:
            expect(time.monotonic() - begin < TIMEOUT, f"{taker.name} could not continue from {origin.name}: {done}")
            time.sleep(0.2)
        self.slowest = max(self.slowest, time.monotonic() - begin)
        expect(publish.interrupt() == 0, "Ctrl-C is reported as a failure")
        return done

    def payload(self, *pair):
        origin, taker = pair or self.chance.sample(self.daemons, 2)
        done = self.continued(origin, taker, "--user-info", f'{{"number": {self.number}}}')
        expect(done.line["userInfo"] == {"number": self.number - 1}, f"wrong payload: {done}")

    def stream(self, *pair):
        origin, taker = pair or self.chance.sample(self.daemons, 2)
        target = os.path.join(self.stage.folder, "target")
        self.continued(origin, taker, "--stream", self.source, output=["--output", target, "--force"])
        with open(target, "rb") as file:
            expect(file.read() == self.content, "the file differs")
        os.unlink(target)

    def network(self):
        host = self.chance.choice(self.daemons).host
        host.link("down")
        time.sleep(self.chance.uniform(0.5, 8))
        host.link("up")
        self.payload()

    def address(self):
        daemon = self.chance.choice(self.daemons)
        number = self.daemons.index(daemon) + 1
        now, then = (100 + number, number) if daemon in self.moved else (number, 100 + number)
        self.moved ^= {daemon}
        for words in (("del", f"10.80.0.{now}/24"), ("add", f"10.80.0.{then}/24", "brd", "+")):
            done = daemon.host.run("ip", "address", *words, "dev", "eth0")
            expect(done.code == 0, str(done))
        # Removing the last address also removed the multicast route.
        daemon.host.run("ip", "route", "add", "224.0.0.0/4", "dev", "eth0")
        self.payload()

    def sleep(self):
        asleep = self.chance.sample(self.daemons, self.chance.randint(1, 2))
        for daemon in asleep:
            daemon.process.send_signal(signal.SIGSTOP)
        try:
            time.sleep(self.chance.uniform(1, 12))
        finally:
            for daemon in asleep:
                daemon.process.send_signal(signal.SIGCONT)
        self.payload(asleep[0], next(daemon for daemon in self.daemons if daemon not in asleep))

    def clock(self):
        daemon = self.chance.choice(self.daemons)
        self.clocks[daemon].set(self.chance.choice((-DAY, -3600, -60, 0, 60, 3600, DAY)))
        self.payload(daemon, self.chance.choice([other for other in self.daemons if other is not daemon]))

    def rename(self):
        daemon, name = self.chance.choice(self.daemons), f"name {self.number}"
        id = call(daemon, "GetStatus")["device"]
        daemon.ctl("device", "rename", id, name)
        limit = time.monotonic() + TIMEOUT
        while not all(name in [device["name"] for device in call(other, "ListDevices")["devices"]] for other in self.daemons):
            expect(time.monotonic() < limit, f"the name has not reached all within {TIMEOUT} s")
            time.sleep(0.1)

    # ---- Measurements --------------------------------------------------------------------------------------------

    def warm(self):
        """Makes each device do everything once. Allocations at the first use are not growth."""
        for index, daemon in enumerate(self.daemons):
            other = self.daemons[(index + 1) % COUNT]
            self.payload(daemon, other)
            self.stream(daemon, other)

    def sample(self):
        time.sleep(QUIET)
        before, begin = [figures(daemon) for daemon in self.daemons], time.monotonic()
        time.sleep(COUNTED)
        after, took = [figures(daemon) for daemon in self.daemons], time.monotonic() - begin
        for old, new in zip(before, after):
            new["wake-ups a minute"] = (new.pop("woken") - old["woken"]) * 60 / took
        self.samples.append(after)

    def run(self, seconds, pause):
        self.warm()
        end = time.monotonic() + seconds
        acts = [self.payload, self.payload, self.stream, self.network, self.address, self.sleep, self.clock, self.rename]
        while time.monotonic() < end:
            self.sample()
            for act in self.chance.sample(acts, 6):
                act()
                self.did[act.__name__] += 1
                time.sleep(self.chance.uniform(0, 2 * pause))
            if len(self.samples) % 5 == 0:
                print(f"   {len(self.samples)} samples; {sum(self.did.values())} actions", flush=True)
        self.sample()

    def table(self):
        """Prints the measured figures. Returns those that have grown."""
        third, grown = len(self.samples) // 3, []
        print(f"   {len(self.samples)} samples; " + ", ".join(f"{name} {count}" for name, count in sorted(self.did.items()))
              + f"; the slowest handover took {self.slowest:.1f} s")
        if third < 2:
            print("   too few samples to compare")
            return grown
        print(f"   {'':18}" + "".join(f"{daemon.name:>17}" for daemon in self.daemons) + "   margin")
        for figure, margin in FIGURES.items():
            cells = []
            for index, daemon in enumerate(self.daemons):
                values = [sample[index][figure] for sample in self.samples]
                first, last = statistics.median(values[:third]), statistics.median(values[-third:])
                cells.append(f"{first:.0f} -> {last:.0f}")
                if margin and last > first * (1 + margin[0]) + margin[1]:
                    grown.append(f"{figure} of {daemon.name} grew from {first:.0f} to {last:.0f}")
            allowed = f"   {margin[0]:.0%} + {margin[1]}" if margin else ""
            print(f"   {figure:18}" + "".join(f"{cell:>17}" for cell in cells) + allowed)
        return grown


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("hours", type=float)
    words.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    words.add_argument("--pause", type=float, default=1.0)
    chosen = words.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(f"seed {chosen.seed}, {COUNT} devices, {chosen.hours:g} h", flush=True)
    stage, failures, soak = Stage("soak"), [], None
    try:
        soak = Soak(stage, chosen.seed)
        soak.run(chosen.hours * 3600, chosen.pause)
    except Skip as skip:
        print(f"skipped: {skip}")
        sys.exit(77)
    except Failure as failure:
        failures.append(str(failure))
    except KeyboardInterrupt:
        print("   interrupted")
    finally:
        try:
            if soak:
                failures += soak.table()
            for daemon in stage.daemons:
                if daemon.process and daemon.process.poll() is not None:
                    failures.append(f"{daemon.name} ended with {daemon.process.returncode}")
        finally:
            stage.close(keep=bool(failures))
    for failure in failures:
        print(f"FAILED {failure}\n   kept: {stage.folder}", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
