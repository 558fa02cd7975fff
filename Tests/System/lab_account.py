"""The life of an account on simulated hosts: paired, named, a device removed while another is
offline, which then returns. Needs root."""

import os
import shutil
import sys
import time

from crash import call
from harness import ROOT, Lab, Skip, expect, main, test

PEER = os.path.join(ROOT, "Tests", "Peer")
TYPE = "com.example.editing"

# Calls a member as the reference peer would, and prints the number of bytes received.
KNOCK = """
import json, socket, sys
sys.path.insert(0, sys.argv[1])
import handoff_link as link
from handoff_peer import Peer
from OpenSSL import SSL
got = 0
class Counting(socket.socket):
    def recv(self, *words):
        global got
        data = super().recv(*words)
        got += len(data)
        return data
socket.socket = Counting
peer = Peer(sys.argv[2])
try:
    peer.connect(sys.argv[3], int(sys.argv[4]))
    end = "let in"
except (OSError, link.Refused, SSL.Error) as error:
    end = type(error).__name__
print(json.dumps({"bytes": got, "end": end}))
"""


def view(daemon):
    """Returns the part of a device's view in which all members must agree, or None while it is incomplete."""
    status, listed = call(daemon, "GetStatus"), call(daemon, "ListDevices")["devices"]
    if status["warnings"] or status["tickets"] or status["account"] is None:
        return None
    return status["account"], status["epoch"], tuple(sorted((device["id"], device["name"]) for device in listed))


def agree(daemons, names, epoch=None, within=60):
    """Waits until all report that exactly the devices with these names are the account. Returns the time this took."""
    begin = time.monotonic()
    while True:
        views = [view(daemon) for daemon in daemons]
        if (views[0] is not None and len(set(views)) == 1 and sorted(name for _, name in views[0][2]) == sorted(names)
                and epoch in (None, views[0][1])):
            return time.monotonic() - begin
        expect(time.monotonic() - begin < within, f"no agreement on {names} within {within} s: {views}")
        time.sleep(0.05)


def pair(inviter, joiner, by="code"):
    """Pairs as two users would: one reads the digits to the other, or sends the link."""
    window = inviter.follow("pair", "--yes")
    secret = window.wait("opened")[by]
    joiner.ctl("join", input=(secret + "\n").encode(), within=60)
    window.wait("joined")
    expect(window.process.wait(60) == 0, "pair did not exit cleanly")


@test("five devices pair and are named, and one is removed while another is off, which returns after two rotations", limit=300)
def life(stage):
    lab = Lab(stage, 6, "--no-avahi")
    # Names that are no prefix of an id.
    one, two, three, four, five = daemons = [
        stage.daemon(f"m{number}", host=host) for number, host in enumerate(lab.hosts[:5], 1)]
    one.ctl("account", "create")
    # Each new member admits the next one.
    for inviter, joiner, by in ((one, two, "code"), (two, three, "link"), (three, four, "code"), (one, five, "link")):
        pair(inviter, joiner, by)
    print(f"   five agree after {agree(daemons, ['m1', 'm2', 'm3', 'm4', 'm5']):.2f} s")
    three.ctl("device", "rename", "m4", "thief")
    two.ctl("device", "rename", "m2", "two")
    names = ["m1", "two", "m3", "thief", "m5"]
    print(f"   two names agree after {agree(daemons, names):.2f} s")

    publish = one.publish(TYPE, "--title", "Before")
    for daemon in daemons[1:]:
        daemon.follow("watch").wait("added", id=publish.id)
    publish.interrupt()

    # All data of the removed device, copied to another machine.
    expect(four.stop() == 0, "the daemon did not exit cleanly")
    six = stage.daemon("m6", start=False, host=lab.hosts[5])
    shutil.copytree(four.state, six.state)
    four.start()
    agree(daemons, names)
    # As a member it is last notified that nothing is offered any more.
    while four.ctl("list").lines:
        time.sleep(0.1)
    expect(five.stop() == 0, "the daemon did not exit cleanly")
    before = view(one)[1]
    removal = one.follow("device", "remove", "thief", "--yes", "--timeout", "60")
    removed = removal.wait("removed")
    while not {*removed["confirmed"]} >= {call(daemon, "GetStatus")["device"] for daemon in (two, three)}:
        removed = removal.wait("confirmed")
    away = [device for device in removed["waiting"]]
    listed = {device["id"]: device["name"] for device in call(one, "ListDevices")["devices"]}
    expect([listed.get(id) for id in away] == ["m5"], f"wrong devices still to be notified: {away}")
    removal.interrupt()
    rest = ["m1", "two", "m3", "m5"]
    print(f"   three agree after the removal after {agree((one, two, three), rest, before + 1):.2f} s")

    six.start()
    robbed = [daemon.follow("watch") for daemon in (four, six)]
    two.ctl("account", "rotate")
    agree((one, two, three), rest, before + 2)
    three.ctl("account", "rotate")
    agree((one, two, three), rest, before + 3)
    five.start()
    print(f"   one that was off agrees after {agree((one, two, three, five), rest, before + 3):.2f} s")
    publish = one.publish(TYPE, "--title", "After")
    for daemon in (two, three, five):
        daemon.follow("watch").wait("added", id=publish.id)
    expect(five.ctl("continue", publish.id, "--print").line["title"] == "After", "wrong activity")
    hidden = four.publish(TYPE, "--title", "From the removed one")
    for daemon, watch in zip((four, six), robbed):
        status = call(daemon, "GetStatus")
        expect(status["epoch"] is None or status["epoch"] <= before, f"{daemon.name} has a new key: {status}")
        refused = daemon.ctl("continue", publish.id, "--print", code=None)
        expect(refused.code != 0, f"{daemon.name} continued: {refused}")
        watch.interrupt()
        while (line := watch.next()) is not None:
            # An offer made before the removal may still be in a record of that time.
            expect(line["event"] != "added" or line["title"] == "Before", f"{daemon.name} was offered {line}")
    for daemon in (one, two, three, five):
        expect(all(line["id"] != hidden.id for line in daemon.ctl("list").lines), "an offer of the removed device is shown")
    agree((one, two, three, five), rest, before + 3)


@test("a removed member with all its keys receives no bytes at the gate, and neither does openssl", limit=180)
def knocking(stage):
    try:
        import cryptography  # noqa: F401
        import OpenSSL  # noqa: F401
    except ImportError as error:
        raise Skip(f"the Python package '{error.name}' is not installed (pip install cryptography pyOpenSSL)") from None
    lab = Lab(stage, 3, "--no-avahi", "--ipv4-only")
    one, two = (stage.daemon(name, host=host) for name, host in zip(("one", "two"), lab.hosts))
    stage.join(one, two)
    agree((one, two), ["one", "two"])
    file, state = os.path.join(stage.folder, "file"), os.path.join(stage.folder, "peer.json")
    one.ctl("account", "export", file)
    third, address = lab.hosts[2], lab.hosts[0].addresses[0]
    port = call(one, "GetStatus")["port"]
    joined = third.run(sys.executable, os.path.join(PEER, "handoff_peer.py"), "--state", state, "--account", file, "hello",
                       f"{address}:{port}")
    expect(joined.code == 0, str(joined))
    agree((one, two), ["one", "two", "Python"])

    def knock():
        done = third.run(sys.executable, "-c", KNOCK, PEER, state, address, str(port))
        expect(done.code == 0, str(done))
        return done.line

    found = knock()
    expect(found["end"] == "let in" and found["bytes"] > 500, f"it does not work before the removal: {found}")
    one.ctl("device", "remove", "Python", "--yes", "--timeout", "50")
    agree((one, two), ["one", "two"])
    expect(knock()["bytes"] == 0, f"a removed member received data: {knock()}")
    result = third.run("openssl", "s_client", "-connect", f"{address}:{port}", "-tls1_3", "-alpn", "handoff/1")
    expect("SSL handshake has read 0 bytes" in result.output, f"openssl s_client received data: {result}")


if __name__ == "__main__":
    main()
