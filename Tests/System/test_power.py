#!/usr/bin/env python3
"""Machines that save power. A daemon on loopback; UPower and power-profiles-daemon are played (`logind.py`)."""

import time

from harness import expect, main, test
from logind import Logind


def saves(daemon, wanted):
    """Waits until the daemon says so: it is told by the bus, in its own time."""
    limit = time.monotonic() + 30
    while daemon.ctl("status").line["savesPower"] != wanted:
        expect(time.monotonic() < limit, f"savesPower is not {wanted}")
        time.sleep(0.05)


@test("what can wait waits longer on battery, and as the user's profile says", limit=120)
def power(stage):
    logind = Logind(stage)
    daemon = stage.daemon("laptop", start=False)
    daemon.extra = logind.environment
    logind.powers(OnBattery=True)
    daemon.start()
    saves(daemon, True)
    logind.powers(ActiveProfile="performance")
    saves(daemon, False)
    logind.powers(ActiveProfile="balanced")
    saves(daemon, True)
    logind.powers(OnBattery=False)
    saves(daemon, False)
    logind.powers(ActiveProfile="power-saver")
    saves(daemon, True)
    # A bus that begins anew says it again.
    logind.drop()
    logind.powers(ActiveProfile="balanced")
    saves(daemon, False)


@test("a profile and a battery count no more once their service has ended", limit=120)
def ended(stage):
    logind = Logind(stage)
    daemon = stage.daemon("laptop", start=False)
    daemon.extra = logind.environment
    logind.powers(OnBattery=True, ActiveProfile="performance")
    daemon.start()
    saves(daemon, False)
    logind.powers(ActiveProfile=None)
    saves(daemon, True)
    logind.powers(OnBattery=None)
    saves(daemon, False)
    logind.powers(ActiveProfile="power-saver")
    saves(daemon, True)
    logind.powers(ActiveProfile=None)
    saves(daemon, False)


@test("without services of power none is saved")
def no_services(stage):
    daemon = stage.daemon("desk", start=False)
    daemon.extra = Logind(stage).environment
    daemon.start()
    expect(daemon.ctl("status").line["savesPower"] is False, "power is saved though nobody says so")


if __name__ == "__main__":
    main()
