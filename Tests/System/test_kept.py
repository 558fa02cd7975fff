#!/usr/bin/env python3
"""Activities of devices that are asleep or off: kept by the other devices, continued there, and
reported to their origin once it is back.

Daemons on this machine's loopback interface, with a simulated systemd-logind (`logind.py`) and
simulated sleep (SIGSTOP).
"""

import signal

from browsers import until
from harness import expect, test
from logind import Logind, sleep, wake

TYPE = "com.example.editing"
OTHER = "com.example.reading"


def devices(stage, *names):
    """Starts daemons of one account. The first has a simulated logind."""
    logind = Logind(stage)
    found = [stage.daemon(name, start=False) for name in names]
    for daemon in found:
        daemon.extra = {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"}
    found[0].extra = logind.environment
    for daemon in found:
        daemon.start()
    for other in found[1:]:
        stage.join(found[0], other)
    return logind, *found


@test("an activity of a device that is asleep is continued, and its app is notified once when it wakes")
def asleep(stage):
    logind, origin, taker = devices(stage, "origin", "taker")
    watch = taker.follow("watch")
    watch.wait("ready")
    owner = origin.publish(TYPE, "--title", "Draft", "--user-info", '{"text": "half a sentence"}')
    watch.wait("added", type=TYPE)
    sleep(logind, origin)
    kept = watch.wait("changed", id=owner.id)
    expect(kept["kept"]["state"] == "asleep" and kept["kept"]["since"] > 1e9, f"{kept}")
    taken = taker.ctl("continue", "--print").line
    expect(taken["userInfo"] == {"text": "half a sentence"} and taken["kept"]["state"] == "asleep", f"{taken}")
    wake(logind, origin)
    event = owner.wait("continued")
    expect(event["deviceName"] == "taker" and event["at"] > 1e9, f"{event}")
    live = watch.wait("changed", id=owner.id)
    expect(live["kept"] is None, f"{live}")
    # The next continuation is a usual one, and the only further event.
    taker.ctl("continue", "--print")
    event = owner.wait("continued")
    expect(event.get("at") is None, f"{event}")


def configure(daemon, keep):
    with open(daemon.configuration, "w") as file:
        file.write(f"keep = {keep}\n")
    daemon.process.send_signal(signal.SIGHUP)


def kept(daemon, *words):
    """The copies that a device lists, by the id of the offer."""
    return {each["id"]: each for each in daemon.ctl("list", *words).lines if each["kept"]}


@test("a third device passes on what it keeps, and the receipt of the device that continued it")
def keeper(stage):
    logind, origin, server, taker = devices(stage, "origin", "server", "taker")
    watch = server.follow("watch")
    watch.wait("ready")
    expect(taker.stop() == 0, "the taker did not exit")
    owner = origin.publish(TYPE, "--title", "Draft", "--user-info", '{"text": "half a sentence"}')
    watch.wait("added", id=owner.id)
    sleep(logind, origin)
    watch.wait("changed", id=owner.id)
    taker.start()
    offers = until("the copy", lambda: kept(taker))
    expect(list(offers) == [owner.id] and offers[owner.id]["kept"]["state"] == "offline", f"{offers}")
    taken = taker.ctl("continue", "--print").line
    expect(taken["userInfo"] == {"text": "half a sentence"}, f"{taken}")
    # The taker is off when the origin returns.
    expect(taker.stop() == 0, "the taker did not exit")
    wake(logind, origin)
    event = owner.wait("continued")
    expect(event["deviceName"] == "taker" and event["at"] > 1e9, f"{event}")


@test("what was kept survives a power cut, and what its app has ended is never continued again")
def power_cut(stage):
    logind, origin, taker = devices(stage, "origin", "taker")
    watch = taker.follow("watch")
    watch.wait("ready")
    first = origin.publish(TYPE, "--title", "Ended", "--keep")
    second = origin.publish(OTHER, "--title", "Kept", "--keep", "--user-info", '{"page": 3}')
    third = origin.publish(OTHER, "--title", "Private", "--no-keep")
    for each in (first, second, third):
        watch.wait("added", id=each.id)
    # An app that has ended stays available, unless the user withdraws its activity.
    for each in (first, second):
        each.process.send_signal(signal.SIGINT)
        until("the copy", lambda: each.id in kept(taker))
    expect(set(kept(origin, "--recent")) == {first.id, second.id}, "the origin does not list what it closed")
    origin.ctl("withdraw", first.id)
    watch.wait("removed", id=first.id)
    origin.kill()
    offers = until("the state after the power cut", lambda: found if (found := kept(taker))[second.id]["kept"]["state"] != "ended" else None)
    expect(set(offers) == {second.id}, f"{offers}")
    expect(taker.ctl("continue", second.id, "--print").line["userInfo"] == {"page": 3}, "another state")
    # After the start, the copy is listed as a recent one only, also at its origin.
    origin.start()
    until("the origin", lambda: not kept(taker))
    for each in (taker, origin):
        until("the recent activities", lambda: set(kept(each, "--recent")) == {second.id})
    expect(origin.ctl("continue", second.id, "--print").line["userInfo"] == {"page": 3}, "another state")


@test("with keep = off on either side nothing is kept")
def off(stage):
    logind, origin, taker, other = devices(stage, "origin", "taker", "other")
    configure(other, "off")
    watch = taker.follow("watch")
    watch.wait("ready")
    owner = origin.publish(TYPE, "--keep", "--title", "Draft")
    watch.wait("added", id=owner.id)
    owner.process.send_signal(signal.SIGINT)
    until("the copy", lambda: kept(taker))
    expect(not kept(other, "--recent"), "a device keeps activities although it is off")
    # Switching it off withdraws all copies.
    configure(origin, "off")
    until("the withdrawal", lambda: not kept(taker, "--recent"))


if __name__ == "__main__":
    from harness import main
    main()
