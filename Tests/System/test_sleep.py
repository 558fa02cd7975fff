#!/usr/bin/env python3
"""Sleeping machines: the others are notified immediately, and calls to a sleeping one fail
immediately.

Two daemons on this machine's loopback interface, with a simulated systemd-logind (`logind.py`) and
simulated sleep (SIGSTOP).
"""

import json
import os
import re
import select
import signal

import harness
from harness import expect, test
from logind import Logind

TYPE = "com.example.editing"
SINCE = r"asleep since \d\d:\d\d"


def pair(stage):
    """Starts two daemons of one account. The first has a simulated logind, whose sleep it delays.
    The other one watches."""
    logind = Logind(stage)
    origin, taker = (stage.daemon(name, start=False) for name in ("origin", "taker"))
    origin.extra = logind.environment
    taker.extra = {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"}
    origin.start()
    taker.start()
    stage.join(origin, taker)
    watch = taker.follow("watch")
    watch.wait("ready")
    return logind, origin, taker, watch


def held(logind, number):
    """Returns the pipe end that reports that sleep is no longer delayed."""
    found = logind.delay(number)
    expect(found, "no lock delays sleep")
    what, lock = found
    expect(what[:2] == ["sleep", "Handoff"] and what[3] == "delay", f"{what}")
    return lock


def plain(daemon, *words):
    """Runs handoffctl for people."""
    return harness.run([os.path.join(harness.BIN, "handoffctl"), "--socket", daemon.socket, *words], daemon.environment)


def error(daemon, *words):
    return json.loads(daemon.ctl(*words, code=1).errors)


def state(daemon, of):
    return next(device for device in daemon.ctl("devices").lines if device["name"] == of)


@test("a device that goes to sleep announces it before, and is online again as soon as it wakes")
def sleeps_and_wakes(stage):
    logind, origin, taker, watch = pair(stage)
    lock = held(logind, 0)
    # Without a copy on the other device (test_kept.py).
    origin.publish(TYPE, "--no-keep")
    activity = watch.wait("added", type=TYPE)
    expect(not select.select([lock], [], [], 0)[0], "sleep is not delayed")
    expect(state(taker, "origin")["asleepSince"] is None, "it is marked as asleep although it is awake")
    logind.sleeps(True)
    expect(select.select([lock], [], [], 60)[0], "sleep is delayed permanently")
    # The device lets the machine sleep once the other one has acknowledged it.
    watch.wait("removed", id=activity["id"])
    os.close(lock)
    found = state(taker, "origin")
    expect(found["online"] is False and found["asleepSince"] > 1e9, f"{found}")
    shown = plain(taker, "devices").output
    expect(re.search(rf"origin .*{SINCE}", shown), shown)
    listed = plain(taker, "list")
    expect(re.search(rf"origin \(\w+\) has been {SINCE}", listed.errors), f"{listed}")
    # From here on the machine sleeps, and the other one sends no requests.
    origin.process.send_signal(signal.SIGSTOP)
    try:
        failed = plain(taker, "continue", "--from", "origin")
        expect(failed.code == 1 and re.search(rf"origin has been {SINCE}\n  wake it, and try again", failed.errors), f"{failed}")
        failed = error(taker, "continue", "--from", "origin")
        expect(failed["reason"] == "peerAsleep" and failed["code"] == 4609, f"{failed}")
        failed = plain(taker, "continue")
        expect(failed.code == 4 and re.search(rf"origin has been {SINCE}", failed.errors), f"{failed}")
    finally:
        origin.process.send_signal(signal.SIGCONT)
    logind.sleeps(False)
    watch.wait("added", id=activity["id"])
    found = state(taker, "origin")
    expect(found["online"] is True and found["asleepSince"] is None, f"{found}")
    # The next sleep is delayed again.
    lock = held(logind, 1)
    expect(not select.select([lock], [], [], 0)[0], "the next sleep is not delayed")
    logind.sleeps(True)
    expect(select.select([lock], [], [], 60)[0], "the next sleep is delayed permanently")
    watch.wait("removed", id=activity["id"])
    os.close(lock)
    expect(error(taker, "continue", "--from", "origin")["reason"] == "peerAsleep", "a request was sent nevertheless")


@test("a cancelled sleep, and a bus that is lost during it, leave the device awake")
def called_off(stage):
    logind, origin, taker, watch = pair(stage)
    lock = held(logind, 0)
    origin.publish(TYPE, "--no-keep")
    activity = watch.wait("added", type=TYPE)
    logind.sleeps(True)
    # If the sleep is cancelled earlier, the other device may not notice it.
    watch.wait("removed", id=activity["id"])
    logind.sleeps(False)
    watch.wait("added", id=activity["id"])
    os.close(lock)
    lock = held(logind, 1)
    logind.sleeps(True)
    expect(select.select([lock], [], [], 60)[0], "sleep is delayed permanently")
    os.close(lock)
    watch.wait("removed", id=activity["id"])
    logind.drop()
    watch.wait("added", id=activity["id"])


@test("a machine is awake again if logind does not report it, or has restarted, and a refused lock is requested again")
def unreported(stage):
    logind, origin, taker, watch = pair(stage)
    # As after hibernation, or a sleep that another program has cancelled.
    origin.publish(TYPE, "--no-keep")
    activity = watch.wait("added", type=TYPE)
    for number, end in enumerate((logind.wakes_silently, logind.restarts)):
        lock = held(logind, number)
        logind.sleeps(True)
        expect(select.select([lock], [], [], 60)[0], "sleep is delayed permanently")
        os.close(lock)
        watch.wait("removed", id=activity["id"])
        # While logind has another operation.
        logind.refusals = number
        end()
        watch.wait("added", id=activity["id"])
    held(logind, 2)


@test("a silent peer does not delay sleep for long")
def silent(stage):
    logind, origin, taker, watch = pair(stage)
    lock = held(logind, 0)
    taker.process.send_signal(signal.SIGSTOP)
    try:
        logind.sleeps(True)
        expect(select.select([lock], [], [], 60)[0], "sleep is delayed permanently")
        os.close(lock)
        logind.sleeps(False)
    finally:
        taker.process.send_signal(signal.SIGCONT)
    origin.publish(TYPE)
    watch.wait("added", type=TYPE)


@test("a device that sleeps without having announced it is reported as not responding")
def unsaid(stage):
    logind, origin, taker, watch = pair(stage)
    origin.publish(TYPE)
    watch.wait("added", type=TYPE)
    origin.process.send_signal(signal.SIGSTOP)
    try:
        failed = plain(taker, "continue", "--from", "origin", "--print")
        expect(failed.code == 1 and "origin is not responding and may be asleep" in failed.errors, f"{failed}")
        expect("127.0.0.1" not in failed.errors and "::1" not in failed.errors, f"{failed}")
    finally:
        origin.process.send_signal(signal.SIGCONT)


if __name__ == "__main__":
    harness.main()
