"""Kept activities on a network with delay and losses, between parts of it that cannot reach each
other, and on a device that moves. Needs root."""

import json
import signal
import time

from browsers import until
from harness import Lab, expect, main, test
from hub import NAME, Hub
from keeping import TYPE, kept
from logind import Logind, sleep, wake

DELAY, LOSS = 0.02, 0.02
# Records that a member has not confirmed, such as one that falls asleep or wakes at this moment, are compared 30 s later. These
# are three attempts, in seconds.
RETRIES = 100


def account(stage, *names, **network):
    """Devices of one account on simulated hosts. The first has a simulated logind."""
    lab = Lab(stage, len(names), "--no-avahi", "--ipv4-only")
    hub, logind = Hub(stage, lab.hosts, **network), Logind(stage)
    daemons = [stage.daemon(name, host=host, interface=NAME, start=False) for name, host in zip(names, lab.hosts)]
    daemons[0].extra = logind.environment
    for daemon in daemons:
        daemon.start()
    for daemon in daemons[1:]:
        stage.join(daemons[0], daemon)
    return hub, logind, *daemons


def offers(daemon):
    return {each["id"] for each in daemon.ctl("list").lines if not each["kept"]}


def online(daemon, *others):
    """Waits until a device sees these others."""
    names = {other.name for other in others}
    until(f"{names} on {daemon.name}", lambda: names <= {
        each["name"] for each in daemon.ctl("devices").lines if each["online"] and each["name"] != daemon.name}, within=60)


def publish(daemon, number, size=100):
    return daemon.publish(TYPE, "--title", f"{number}", "--user-info", json.dumps({"text": f"{number:03}" + "x" * size}))


@test("five devices keep eight activities of 40 KiB before sleep, over a network with delay and losses", limit=240)
def lossy(stage):
    hub, logind, origin, *members = account(stage, "origin", "one", "two", "three", "four", "five", delay=DELAY, loss=LOSS)
    online(origin, *members)
    published = {publish(origin, number, 40 << 10).id for number in range(8)}
    for member in members:
        until("the offers", lambda: offers(member) == published, within=60)
    before, began = hub.bytes, time.monotonic()
    sleep(logind, origin)
    took = time.monotonic() - began
    print(f"    sleep until kept: {took * 1000:.0f} ms, {(hub.bytes - before) / 1024:.0f} KiB")
    for member in members:
        until(f"all copies on {member.name}", lambda: set(kept(member)) == published, within=RETRIES)
        expect({each["kept"]["state"] for each in kept(member).values()} == {"asleep"}, f"{kept(member)}")
    for id in published:
        found = members[0].ctl("continue", id, "--print").line
        expect(len(found["userInfo"]["text"]) == 3 + (40 << 10), "another state")
    wake(logind, origin)
    until("the awake device", lambda: offers(members[-1]) == published, within=60)


@test("copies and receipts cross a network whose parts reach each other only by a server", limit=240)
def partition(stage):
    hub, logind, origin, server, taker = account(stage, "origin", "server", "taker", delay=DELAY, loss=LOSS)
    hub.cut(0, 2)
    # The leave message of a device that does not run reaches only the server.
    expect(taker.stop() == 0, "the taker did not exit")
    owner = publish(origin, 1)
    until("the offer", lambda: offers(server) == {owner.id})
    taker.start()
    online(taker, server)
    sleep(logind, origin)
    until("the copy by the server", lambda: list(kept(taker)) == [owner.id], within=RETRIES)
    expect(taker.ctl("continue", owner.id, "--print").line["userInfo"]["text"].startswith("001"), "another state")
    wake(logind, origin)
    event = owner.wait("continued", within=RETRIES)
    expect(event["deviceName"] == "taker" and event["at"] > 1e9, f"{event}")


@test("a device that moves to another network brings its copies along, and two keepers exchange different ones", limit=240)
def roaming(stage):
    hub, logind, origin, phone, taker, second = account(stage, "origin", "phone", "taker", "second", delay=DELAY, loss=LOSS)
    # The taker is in another network, in which another device keeps its own activities.
    for number in (2, 3):
        hub.move(number, 1)
    online(origin, phone)
    online(taker, second)
    owner, other = publish(origin, 1), second.publish(TYPE, "--title", "other", "--user-info", '{"text": "other"}', "--keep")
    until("the offer", lambda: offers(phone) == {owner.id})
    until("the other offer", lambda: offers(taker) == {other.id})
    sleep(logind, origin)
    until("the copy", lambda: set(kept(phone)) == {owner.id})
    other.process.send_signal(signal.SIGINT)
    until("the other copy", lambda: set(kept(taker)) == {other.id})
    second.kill()
    hub.move(1, 1)
    # Both keepers now have both.
    until("the brought copy", lambda: set(kept(taker)) == {owner.id, other.id}, within=60)
    until("the other copy on the phone", lambda: set(kept(phone)) == {owner.id, other.id}, within=60)
    expect(taker.ctl("continue", owner.id, "--print").line["userInfo"]["text"].startswith("001"), "another state")
    expect(phone.ctl("continue", other.id, "--print").line["userInfo"] == {"text": "other"}, "another state")
    # The phone brings the receipt back.
    hub.move(1, 0)
    wake(logind, origin)
    event = owner.wait("continued", within=RETRIES)
    expect(event["deviceName"] == "taker" and event["at"] > 1e9, f"{event}")


if __name__ == "__main__":
    main()
