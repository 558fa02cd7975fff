"""Kills daemons and commands repeatedly, and checks after each kill that nothing was lost.

    python3 Tests/System/kills.py COUNT [--seed NUMBER] [--worlds NUMBER] [--only REGEX]

    COUNT       stops after this many kills; Ctrl-C stops it earlier, with the same summary
    --seed      repeats the choices: requests, victims and places; the exact moment depends on the machine
    --worlds    number of accounts of three devices that are played in parallel (default: three for each processor)
    --only      only acts whose names contain this word, such as Pairing or File

Each round makes one request and injects one fault (`kills_world.py`): a daemon or `handoffctl` is
killed at a moment or at a call, the power fails, a write is torn, or the disk is full or broken. No
acknowledged change may be lost, nothing may be incomplete, and all devices must reach the same
view. It prints how long the daemons took to start after it, and counts the starts above 100 ms. The
exit code is 0 if nothing failed.
"""

import argparse
import ctypes
import multiprocessing
import os
import queue
import random
import re
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter

import faults
import kills_account
import kills_transfers
from harness import Failure, Stage, tail
from kills_world import START_GOAL, World

ACTS = kills_account.ACTS + kills_transfers.ACTS
# An account keeps a statement of each device that was in it, so a new one is created after this many rounds.
ROUNDS = 150
MAX_FAILURES = 20


def isolate():
    """Gives this process and its children a loopback of their own, if the user is allowed to.
    Daemons would otherwise also read the multicast of daemons of other accounts on the machine."""
    new_network = 0x40000000
    if os.geteuid() == 0 and ctypes.CDLL(None).unshare(new_network) == 0:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def play(number, seed, only, reports, ended, parent):
    """Plays one world after the other, in its own process."""
    # Ctrl-C is for the process that prints the summary, and must not reach the daemons.
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    isolate()
    kinds = [kind for kind in ACTS if re.search(only, kind.__name__)]
    for turn in range(1 << 30):
        stage, failure, world = Stage(f"kills {number}"), None, None
        try:
            world = World(stage, random.Random(f"{seed} {number} {turn}"))
            while not ended.is_set() and os.getppid() == parent and world.round < ROUNDS:
                begin = time.monotonic()
                act, blow, killed = world.play(kinds)
                took = time.monotonic() - begin
                reports.put(("round", act, blow.victim, blow.way, killed, world.starts, took, world.notes[-1]))
                world.starts = []
        except Exception as error:
            failure = f"world {number}, account {turn}, {world.notes[-1] if world and world.notes else 'preparing'}:\n"
            failure += str(error) if isinstance(error, Failure) else traceback.format_exc()
            failure += "".join(f"\n    at {os.path.basename(item.filename)}:{item.lineno}"
                               for item in traceback.extract_tb(error.__traceback__)[-4:])
            failure += "".join(f"\n  log of {daemon.name}:{tail(daemon.log, 25)}" for daemon in stage.daemons)
            failure += f"\n  kept: {stage.folder}"
        finally:
            stage.close(keep=failure is not None)
        if failure:
            reports.put(("failure", failure))
        if ended.is_set() or os.getppid() != parent:
            return


class Summary:
    """The counters."""

    def __init__(self):
        self.rounds, self.kills, self.faults = 0, 0, 0
        self.by_victim, self.by_way, self.by_act = Counter(), Counter(), Counter()
        self.starts, self.failures, self.slowest = [], [], (0.0, "")
        self.begin = time.monotonic()

    def take(self, report):
        if report[0] == "failure":
            self.failures.append(report[1])
            print(f"FAILED {report[1]}", flush=True)
            return
        _, act, victim, way, killed, starts, took, said = report
        if took > self.slowest[0]:
            self.slowest = took, said
        self.rounds += 1
        self.kills += killed
        self.by_victim[victim] += killed
        self.by_way[way] += killed
        self.by_act[act] += killed
        self.faults += way in ("no space", "disk error", "disk full")
        self.starts += starts

    def line(self):
        return (f"{self.kills} kills in {self.rounds} rounds, {self.faults} with a failing disk, {len(self.failures)} failed, "
                f"{time.monotonic() - self.begin:.0f} s")

    def show(self):
        print(f"   {self.line()}")
        for what, counter in (("of whom", self.by_victim), ("how", self.by_way), ("amid", self.by_act)):
            print(f"   {what}: " + ", ".join(f"{name} {count}" for name, count in counter.most_common() if count))
        print(f"   the slowest round took {self.slowest[0]:.1f} s: {self.slowest[1]}")
        if self.starts:
            starts = sorted(self.starts)
            shares = ", ".join(f"{share:g} %: {starts[min(len(starts) - 1, int(len(starts) * share / 100))]:.0f}"
                               for share in (50, 90, 99, 99.9))
            above = sum(start > START_GOAL for start in starts)
            print(f"   {len(starts)} starts after a fault, in ms: {shares}, max {starts[-1]:.0f}; "
                  f"{above} above {START_GOAL} ({100 * above / len(starts):.2f} %)", flush=True)


def endure(count, seed, worlds, only="", say=10):
    """Plays until this many processes were killed, or the user interrupts it. Returns the summary."""
    faults.library()  # Built once, for all.
    context = multiprocessing.get_context("fork")
    reports, ended, summary = context.Queue(), context.Event(), Summary()
    players = [context.Process(target=play, args=(number, seed, only, reports, ended, os.getpid())) for number in range(worlds)]
    for player in players:
        player.start()
    said = time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        while any(player.is_alive() for player in players) or not reports.empty():
            try:
                summary.take(reports.get(timeout=1))
            except queue.Empty:
                pass
            except KeyboardInterrupt:
                ended.set()
            if summary.kills >= count or len(summary.failures) >= MAX_FAILURES:
                ended.set()
            if time.monotonic() - said >= say:
                said = time.monotonic()
                print(f"   {summary.line()}", flush=True)
    finally:
        ended.set()
        for player in players:
            player.join()
    return summary


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("count", type=int)
    words.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    words.add_argument("--worlds", type=int, default=3 * (os.cpu_count() or 1))
    words.add_argument("--only", default="")
    chosen = words.parse_args()
    print(f"seed {chosen.seed}, {chosen.worlds} accounts of three devices at a time", flush=True)
    summary = endure(chosen.count, chosen.seed, chosen.worlds, chosen.only)
    summary.show()
    sys.exit(1 if summary.failures else 0)


if __name__ == "__main__":
    main()
