#!/usr/bin/env python3
"""Power saving. One daemon on loopback, with simulated UPower and power-profiles-daemon (`logind.py`)."""

import time

from harness import expect, main, test
from logind import Logind


def saves(daemon, wanted):
    """Waits until the daemon reports this. It receives the state from the bus at its own pace."""
    limit = time.monotonic() + 60
    while daemon.ctl("status").line["savesPower"] != wanted:
        expect(time.monotonic() < limit, f"savesPower is not {wanted}")
        time.sleep(0.05)


@test("deferrable work waits longer on battery, and according to the user's profile", limit=120)
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
    # A restarted bus reports it again.
    logind.drop()
    logind.powers(ActiveProfile="balanced")
    saves(daemon, False)


@test("a profile and a battery no longer count once their service has stopped", limit=120)
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


@test("without power services no power is saved")
def no_services(stage):
    daemon = stage.daemon("desk", start=False)
    daemon.extra = Logind(stage).environment
    daemon.start()
    expect(daemon.ctl("status").line["savesPower"] is False, "power is saved without a service")


if __name__ == "__main__":
    main()
