#!/usr/bin/env python3
"""Switches for advertising and receiving, set by the user, for a time, for a device, and by the
administrator.

Two daemons on this machine's loopback interface, with embedded discovery.
"""

import os
import time

import harness
from harness import BIN, expect, run, test
from policies import policy, with_etc

TYPE = "com.example.editing"


def offered(daemon):
    return [line["id"] for line in daemon.ctl("list").lines]


@test("advertise off withdraws all offers from the other device, and on restores them")
def withdraws(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    watch.wait("ready")
    offer = origin.publish(TYPE)
    activity = watch.wait("added", type=TYPE)
    said = origin.ctl("advertise", "off").line
    expect(said["advertising"] is False and said["receiving"] is True, f"{said}")
    watch.wait("removed", id=activity["id"])
    expect(offered(taker) == [], "it is still listed")
    members = {line["name"]: line["online"] for line in taker.ctl("devices").lines}
    expect(members == {"origin": True, "taker": True}, f"a member is missing: {members}")
    origin.ctl("advertise", "on")
    watch.wait("added", type=TYPE)
    expect(offer.process.poll() is None, "the publisher has exited")
    taker.ctl("continue", "--print")


def known(daemon, *names):
    """Waits until a daemon knows these members by their names."""
    while not set(names) <= {line["name"] for line in daemon.ctl("devices").lines if line["online"]}:
        time.sleep(0.02)


@test("switching advertising off for the only other device withdraws its offers there")
def only_device(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    watch.wait("ready")
    origin.publish(TYPE)
    watch.wait("added", type=TYPE)
    known(origin, "taker")
    origin.ctl("advertise", "off", "--device", "taker")
    watch.wait("removed")
    result = taker.ctl("continue", "--print", code=4)
    expect("NothingToContinue" in result.errors, str(result))


@test("receive off shows nothing, and continue names the switch")
def receives_nothing(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    watch.wait("ready")
    origin.publish(TYPE)
    activity = watch.wait("added", type=TYPE)
    taker.ctl("receive", "off")
    watch.wait("removed", id=activity["id"])
    expect(offered(taker) == [], "it is still listed")
    result = taker.ctl("continue", "--print", code=1)
    expect('"error":"SwitchedOff"' in result.errors and '"direction":"receive"' in result.errors, str(result))
    result = taker.ctl("continue", activity["id"], "--print", code=1)
    expect("receiving is switched off" in result.errors, str(result))
    taker.ctl("receive", "on")
    watch.wait("added", type=TYPE)
    taker.ctl("continue", activity["id"], "--print")


@test("pause persists over a restart, and resume ends it")
def outlasts(stage):
    origin, taker = stage.pair()
    origin.ctl("pause")
    origin.restart()
    status = origin.know_sessions()
    expect(status["advertising"] is False and status["receiving"] is False, f"{status}")
    expect({hold["by"] for hold in status["holds"]} == {"user"}, f"{status['holds']}")
    watch = taker.follow("watch")
    watch.wait("ready")
    origin.publish(TYPE, "--title", "hidden")
    origin.ctl("resume")
    watch.wait("added", type=TYPE)


@test("a timed pause ends on its own, even over a restart")
def ends(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    watch.wait("ready")
    origin.know_sessions()
    before = time.time()
    said = origin.ctl("pause", "3s").line
    expect(len(said["holds"]) == 2, f"{said}")
    for hold in said["holds"]:
        expect(before + 2 < hold["until"] <= time.time() + 4, f"{hold}")
    origin.restart()
    origin.publish(TYPE)
    watch.wait("added", type=TYPE)
    expect(time.time() >= before + 2.9, "it ended early")
    expect(origin.ctl("status").line["holds"] == [], "a restriction remains")


@test("a pause that expired while the daemon was stopped has ended at its start")
def over(stage):
    origin = stage.daemon("origin")
    origin.ctl("account", "create")
    origin.ctl("pause", "1s")
    origin.stop()
    path = os.path.join(origin.state, "switches")
    with open(path) as file:
        # Without the checksum, which a user who edits the file removes.
        lines = [line for line in file.read().splitlines() if not line.startswith("#")]
    expect(len(lines) == 2 and os.stat(path).st_mode & 0o777 == 0o600, f"{lines}")
    with open(path, "w") as file:
        for line in lines:
            direction, place, since, until = line.split()
            file.write(f"{direction} {place} {int(since) - 100} {int(until) - 100}\n")
    origin.start()
    expect(origin.know_sessions()["advertising"] is True, "it is still off")


@test("an invalid file of switches prevents the daemon from starting, and is named")
def damaged(stage):
    origin = stage.daemon("origin")
    origin.ctl("pause")
    origin.stop()
    with open(os.path.join(origin.state, "switches"), "w") as file:
        file.write("advertise all 1 forever\nnonsense\n")
    result = origin.fails()
    expect(result.code == 78 and "switches: line 2" in result.errors, str(result))


@test("a switch for one device does not affect the others")
def one_device(stage):
    origin, taker = stage.pair()
    # A file that was exported before the other one was used would be closed with it.
    known(origin, "taker")
    third = stage.daemon("third")
    stage.join(origin, third)
    watch, other = taker.follow("watch"), third.follow("watch")
    watch.wait("ready")
    other.wait("ready")
    known(origin, "taker", "third")
    origin.know_sessions()
    said = origin.ctl("advertise", "off", "--device", "taker").line
    expect(said["advertising"] is True and [hold["device"] for hold in said["holds"]]
           == [taker.ctl("status").line["device"]], f"{said}")
    origin.publish(TYPE)
    other.wait("added", type=TYPE)
    origin.ctl("advertise", "off")
    other.wait("removed", type=TYPE)
    origin.ctl("advertise", "on")
    other.wait("added", type=TYPE)
    expect(offered(taker) == [], "the excluded device sees it")
    origin.ctl("resume", "--device", "taker")
    watch.wait("added", type=TYPE)
    expect(not any(line.get("event") in ("added", "removed") for line in watch.seen[:-1]), f"{watch.seen}")
    taker.ctl("receive", "off", "--device", "origin")
    watch.wait("removed", type=TYPE)
    result = taker.ctl("continue", "--print", code=1)
    expect("SwitchedOff" in result.errors and "origin" in result.errors, str(result))
    listed = run([os.path.join(BIN, "handoffctl"), "list"], taker.environment)
    expect("receiving is switched off: origin" in listed.errors and "handoffctl receive on --device" in listed.errors, str(listed))


@test("an operation in progress completes although everything is paused")
def completes(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    watch.wait("ready")
    origin.publish(TYPE)
    watch.wait("added", type=TYPE)
    handler = taker.follow("handle", TYPE, "--exec", "cat > /dev/null; sleep 1")
    watch.wait("changed", type=TYPE)
    continuing = taker.follow("continue")
    handler.wait("continue")
    origin.ctl("pause")
    taker.ctl("pause")
    continuing.wait("continued")
    expect(continuing.process.wait(60) == 0, "the continuation did not complete")


@test("the administrator's policy overrides the user's switches, and is reloaded at SIGHUP")
def administrator(stage):
    origin, taker = stage.daemon("origin", start=False), stage.daemon("taker")
    folder = with_etc(stage, origin)
    policy(folder, "# nothing leaves this machine\nadvertise = no\n")
    origin.start()
    stage.join(origin, taker)
    watch = taker.follow("watch")
    watch.wait("ready")
    origin.publish(TYPE)
    origin.publish("com.example.secret.notes")
    origin.know_sessions()
    said = origin.ctl("advertise", "on").line
    expect(said["advertising"] is False and said["holds"][0]["by"] == "policy"
           and "policy.d/10-test.conf:2" in said["holds"][0]["message"], f"{said}")
    policy(folder, "forbid-type = com.example.secret.*\n")
    origin.process.send_signal(harness.signal.SIGHUP)
    watch.wait("added", type=TYPE)
    expect(len(offered(taker)) == 1, f"{taker.ctl('list').lines}")
    # An invalid one changes nothing.
    policy(folder, "forbid-type =\n")
    origin.process.send_signal(harness.signal.SIGHUP)
    policy(folder, "receive = no\n", "20-more.conf")
    origin.process.send_signal(harness.signal.SIGHUP)
    expect(origin.ctl("status").line["receiving"] is True, "an invalid policy was accepted")
    policy(folder, f"forbid-device = {taker.ctl('status').line['device']}\n")
    origin.process.send_signal(harness.signal.SIGHUP)
    watch.wait("removed", type=TYPE)


@test("an invalid policy prevents the daemon from starting, and is reported with file and line")
def mistaken(stage):
    origin = stage.daemon("origin", start=False)
    folder = with_etc(stage, origin)
    policy(folder, "[switches]\nadvertise = maybe\n")
    result = origin.fails()
    expect(result.code == 78 and "10-test.conf:2" in result.errors and "'yes' or 'no'" in result.errors, str(result))


@test("wrong usage of the switches is reported")
def usage(stage):
    origin = stage.daemon("origin")
    for words in (("pause", "10"), ("pause", "0s"), ("pause", "2weeks"), ("advertise", "maybe"), ("advertise",),
                  ("receive", "on", "1h"), ("pause", "400d"), ("pause", "1h", "2h"), ("pause", "h")):
        origin.ctl(*words, code=2)
    result = origin.ctl("pause", "--device", "nobody", code=1)
    expect("NoAccount" in result.errors, str(result))
    origin.ctl("account", "create")
    result = origin.ctl("pause", "--device", "nobody", code=1)
    expect("NoSuchDevice" in result.errors, str(result))
    expect(origin.know_sessions()["holds"] == [], "a switch was changed")


if __name__ == "__main__":
    harness.main()
