#!/usr/bin/env python3
"""Wall clocks before 1970, and clocks that jump, and the functions that must still work. Two
daemons on this machine's loopback interface."""

import os

import harness
from clocks import DAY, YEAR, Clock, before_1970
from harness import expect, test

TYPE = "com.example.editing"
# Far more than a daemon logs in a minute at the level `debug`, in bytes.
LOG_LIMIT = 1 << 20


def with_clocks(stage, *ahead):
    """Two daemons with clocks of their own, and the clocks."""
    daemons = [stage.daemon(name, start=False, options=["--log-level", "debug"]) for name in ("origin", "taker")]
    clocks = [Clock(daemon, seconds) for daemon, seconds in zip(daemons, ahead)]
    for daemon in daemons:
        daemon.start()
    return daemons, clocks


def hand_over(origin, taker, watch):
    publish = origin.publish(TYPE)
    watch.wait("added", id=publish.id, within=20)
    expect(taker.ctl("continue", publish.id, "--print").line["id"] == publish.id, "wrong activity")
    publish.interrupt()
    watch.wait("removed", id=publish.id, within=20)


@test("a daemon whose clock is before 1970 works with embedded discovery, and does not fill its log", limit=90)
def early(stage):
    (origin, taker), clocks = with_clocks(stage, before_1970(), before_1970())
    stage.join(origin, taker)
    watch = taker.follow("watch")
    watch.wait("ready")
    hand_over(origin, taker, watch)
    # A device that was offline is found only by its record.
    origin.restart()
    hand_over(origin, taker, watch)
    # The clock is corrected, and set wrong again.
    for ahead in (0, before_1970()):
        for clock in clocks:
            clock.set(ahead)
        origin.restart()
        hand_over(origin, taker, watch)
    for daemon in (origin, taker):
        size = os.path.getsize(daemon.log)
        expect(size < LOG_LIMIT, f"the log has {size} bytes")


@test("setting a clock years ahead or back interrupts nothing", limit=90)
def is_set(stage):
    (origin, taker), clocks = with_clocks(stage, 0, 0)
    stage.join(origin, taker)
    watch = taker.follow("watch")
    watch.wait("ready")
    for ahead in (2 * DAY, 200 * YEAR, -10 * YEAR, before_1970(), 0):
        for clock in clocks:
            clock.set(ahead)
        hand_over(origin, taker, watch)
        taker.restart()
        watch = taker.follow("watch")
        watch.wait("ready")
        hand_over(origin, taker, watch)


@test("a library that makes all clocks jump, including those since boot, does not stop the daemon", limit=90)
def jumps(stage):
    (origin, taker), clocks = with_clocks(stage, 0, 0)
    stage.join(origin, taker)
    for ahead in (3600, 2 * DAY, 30 * DAY, 100 * YEAR):
        for clock in clocks:
            clock.jump(ahead)
        for daemon in (origin, taker):
            daemon.is_well()
        watch = taker.follow("watch")
        watch.wait("ready")
        hand_over(origin, taker, watch)
        watch.interrupt()
    # Back, and to a time before the start of the machine.
    for daemon, clock in zip((origin, taker), clocks):
        clock.jump(0)
        daemon.is_well()
        daemon.kill()
        clock.jump(-100 * YEAR)
        daemon.start()
        daemon.is_well()
        # Its clock stands still, so it would not exit.
        daemon.kill()


if __name__ == "__main__":
    harness.main()
