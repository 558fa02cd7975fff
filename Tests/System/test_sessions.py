#!/usr/bin/env python3
"""Locked and idle sessions: nothing is advertised while the user is away.

Two daemons on this machine's loopback interface, with a simulated systemd-logind (`logind.py`).
"""

import time

import harness
from harness import expect, test
from logind import Logind

TYPE = "com.example.editing"
QUICK = "lock-delay = 0 s\nidle-delay = 0 s\n"


def pair(stage, configuration=QUICK, **session):
    """Starts two daemons of one account. The first has a simulated logind, with a session if one is described."""
    logind = Logind(stage)
    if session:
        logind.session("2", **session)
    origin, taker = (stage.daemon(name, start=False, configuration=configuration) for name in ("origin", "taker"))
    origin.extra = logind.environment
    taker.extra = {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"}
    origin.start()
    taker.start()
    stage.join(origin, taker)
    watch = taker.follow("watch")
    watch.wait("ready")
    return logind, origin, taker, watch


def holds(daemon):
    return [hold["message"] for hold in daemon.ctl("status").line["holds"]]


@test("a locked screen withdraws all offers, and unlocking restores them")
def locked(stage):
    logind, origin, taker, watch = pair(stage, Type="wayland")
    origin.publish(TYPE)
    activity = watch.wait("added", type=TYPE)
    logind.session("2", LockedHint=True)
    watch.wait("removed", id=activity["id"])
    expect(holds(origin) == ["the screen is locked"], f"{holds(origin)}")
    expect(origin.ctl("status").line["receiving"] is True, "it does not receive")
    logind.session("2", LockedHint=False)
    watch.wait("added", id=activity["id"])
    expect(holds(origin) == [], f"{holds(origin)}")


@test("an idle desktop withdraws all offers, and use restores them")
def idle(stage):
    logind, origin, taker, watch = pair(stage, Type="x11")
    origin.publish(TYPE)
    watch.wait("added", type=TYPE)
    logind.session("2", IdleHint=True, IdleSinceHint=int(time.time() * 1e6))
    watch.wait("removed", type=TYPE)
    expect(holds(origin) == ["the screen is not in use"], f"{holds(origin)}")
    logind.session("2", IdleHint=False)
    watch.wait("added", type=TYPE)


@test("a screen that is locked at the start blocks all offers until it is unlocked")
def from_the_start(stage):
    logind, origin, taker, watch = pair(stage, "lock-delay = 1 h\n", Type="wayland", LockedHint=True)
    origin.publish(TYPE, "--title", "hidden")
    while holds(origin) == ["it is not known yet whether the screen is locked"]:
        time.sleep(0.02)
    expect(holds(origin) == ["the screen has not been unlocked since the start"], f"{holds(origin)}")
    logind.session("2", LockedHint=False)
    watch.wait("added", type=TYPE)
    # The delay starts at this point.
    logind.session("2", LockedHint=True)
    origin.publish("com.example.more")
    watch.wait("added", type="com.example.more")
    expect(not any(event["event"] == "removed" for event in watch.seen), f"{watch.seen}")


@test("sessions without a desktop are neither locked nor idle, and other users' do not count")
def others(stage):
    logind, origin, taker, watch = pair(stage, Type="tty", LockedHint=True, IdleHint=True)
    logind.session("3", Type="wayland", LockedHint=True, uid=4242)
    logind.session("c1", Type="wayland", Class="greeter", LockedHint=True)
    origin.publish(TYPE)
    watch.wait("added", type=TYPE)
    logind.session("4", Type="wayland", State="closing", LockedHint=True)
    logind.session("5", Type="wayland", LockedHint=True)
    watch.wait("removed", type=TYPE)
    logind.end("5")
    watch.wait("added", type=TYPE)


@test("one screen in use is sufficient")
def several(stage):
    logind, origin, taker, watch = pair(stage, Type="wayland", LockedHint=True)
    logind.session("3", Type="x11")
    origin.publish(TYPE)
    watch.wait("added", type=TYPE)
    logind.session("3", IdleHint=True)
    watch.wait("removed", type=TYPE)
    logind.session("3", IdleHint=False)
    watch.wait("added", type=TYPE)


@test("a bus that stopped is used again when it returns")
def bus(stage):
    logind, origin, taker, watch = pair(stage, Type="wayland")
    origin.publish(TYPE)
    watch.wait("added", type=TYPE)
    logind.drop(_2={"LockedHint": True})
    watch.wait("removed", type=TYPE)
    logind.session("2", LockedHint=False)
    watch.wait("added", type=TYPE)


@test("nothing is advertised before the state of the screen is known")
def unknown(stage):
    logind = Logind(stage)
    logind.session("2", Type="wayland")
    logind.guard.acquire()
    origin = stage.daemon("origin", start=False)
    origin.extra = logind.environment
    origin.start()
    origin.ctl("account", "create")
    origin.publish(TYPE)
    status = origin.ctl("status").line
    expect(status["advertising"] is False and status["holds"][0]["by"] == "session", f"{status}")
    logind.guard.release()
    while origin.ctl("status").line["advertising"] is False:
        time.sleep(0.02)


@test("while logind does not answer, nothing is advertised, even after the request times out")
def silent(stage):
    logind = Logind(stage)
    logind.session("2", Type="wayland")
    logind.is_silent = True
    origin = stage.daemon("origin", start=False)
    origin.extra = logind.environment
    origin.start()
    origin.ctl("account", "create")
    origin.publish(TYPE)
    while logind.questions < 2:
        status = origin.ctl("status").line
        expect(status["advertising"] is False and status["holds"][0]["by"] == "session", f"{status}")
        time.sleep(0.1)
    logind.is_silent = False
    while origin.ctl("status").line["advertising"] is False:
        time.sleep(0.1)


@test("on a bus without logind the user cannot be away")
def absent(stage):
    logind = Logind(stage)
    logind.is_absent = True
    origin = stage.daemon("origin", start=False)
    origin.extra = logind.environment
    origin.start()
    origin.ctl("account", "create")
    while origin.ctl("status").line["advertising"] is False:
        time.sleep(0.02)
    expect(logind.questions == 1, f"{logind.questions}")


@test("the delays are reloaded at SIGHUP")
def reload(stage):
    logind, origin, taker, watch = pair(stage, "lock-delay = never\nidle-delay = never\n", Type="wayland")
    origin.publish(TYPE)
    watch.wait("added", type=TYPE)
    logind.session("2", LockedHint=True)
    origin.publish("com.example.more")
    watch.wait("added", type="com.example.more")
    with open(origin.configuration, "w") as file:
        file.write(QUICK)
    origin.process.send_signal(harness.signal.SIGHUP)
    watch.wait("removed", type=TYPE)


if __name__ == "__main__":
    harness.main()
