"""Devices in different networks, over a routed link with a round trip of 80 ms that carries no
multicast. Needs root."""

import hashlib
import os
import signal
import threading
import time

from harness import Lab, expect, main
from pairing_stage import Call, join, members, pairing_test
from tunnel import Tunnel

TYPE = "com.example.editing"
PORT = "24863"
DELAY = 0.04
MIB = 1 << 20


def far(stage, **link):
    """Two hosts that reach each other only over the link, with a daemon each. The first has an account."""
    lab = Lab(stage, 2, "--no-avahi", "--ipv4-only")
    tunnel = Tunnel(stage, lab.hosts, DELAY, **link)
    origin, taker = (stage.daemon(name, host=host, discovery="embedded", interface="tun0", port=PORT)
                     for name, host in zip(("origin", "taker"), lab.hosts))
    origin.ctl("account", "create")
    return tunnel, origin, taker


def paired(stage, **link):
    """Does the same, in one account, by the link that `pair` shows."""
    tunnel, origin, taker = far(stage, **link)
    opened = Call(origin, "Pair", automatic=True)
    window = opened.wait("opened")["window"]
    expect(any(place.startswith(tunnel.addresses[0] + ":") for place in window["addresses"]), f"wrong addresses: {window}")
    begin = time.monotonic()
    join(taker, window["link"]).wait("joined", within=60)
    print(f"    link entered to joined {time.monotonic() - begin:.2f} s")
    opened.wait("joined")
    expect(members(taker) == members(origin) == {"origin", "taker"}, "wrong members")
    return tunnel, origin, taker


@pairing_test("two devices over a routed link pair, continue, and stream a file", limit=180)
def routed(stage):
    tunnel, origin, taker = paired(stage, rate=12_500_000)
    watch = taker.follow("watch")
    watch.wait("ready")
    path = os.path.join(stage.folder, "film.bin")
    content = os.urandom(16 * MIB)
    with open(path, "wb") as file:
        file.write(content)
    offer = origin.publish(TYPE, "--title", "Film", "--stream", path)
    taker.ctl("peer", "add", f"{tunnel.addresses[0]}:{PORT}")
    watch.wait("added", id=offer.id)
    begin = time.monotonic()
    expect(taker.ctl("continue", offer.id, "--print").line["id"] == offer.id, "wrong activity")
    print(f"    continued in {time.monotonic() - begin:.2f} s")
    target, begin = os.path.join(stage.folder, "received.bin"), time.monotonic()
    taker.ctl("continue", offer.id, "--output", target, within=90)
    seconds = time.monotonic() - begin
    print(f"    16 MiB in {seconds:.1f} s, {16 / seconds:.1f} MiB/s of 11.9")
    with open(target, "rb") as file:
        expect(hashlib.sha256(file.read()).digest() == hashlib.sha256(content).digest(), "the wrong file arrived")


@pairing_test("a device is found again by its name when its address changes", limit=180)
def renamed(stage):
    tunnel, origin, taker = paired(stage)
    names = os.path.join(stage.folder, "hosts")

    def name(address):
        with open(names, "w") as file:
            file.write(f"127.0.0.1 localhost\n{address} desk.example\n")

    name(tunnel.addresses[0])
    mounted = tunnel.hosts[1].run("mount", "--bind", names, "/etc/hosts")
    expect(mounted.code == 0, str(mounted))
    watch = taker.follow("watch")
    watch.wait("ready")
    taker.ctl("peer", "add", f"desk.example:{PORT}")
    offer = origin.publish(TYPE, "--no-keep")
    watch.wait("added", id=offer.id)
    # The message from its new address is sufficient, once the first call has found the former one unreachable.
    tunnel.readdress(tunnel.hosts[0], "10.9.0.77")
    while taker.ctl("continue", offer.id, "--print", "--timeout", "10", code=None).code != 0:
        pass
    # It returns at another address without a known address of the peer, so its name is resolved again.
    origin.stop()
    watch.wait("removed", id=offer.id)
    tunnel.readdress(tunnel.hosts[0], "10.9.0.78")
    name("10.9.0.78")
    origin.start()
    again = origin.publish(TYPE)
    watch.wait("added", id=again.id, within=90)
    expect(taker.ctl("continue", again.id, "--print").line["id"] == again.id, "wrong activity")


def continued(taker, offer):
    """Continues immediately, whatever the current address of the device is. Returns the time this took, in seconds."""
    begin = time.monotonic()
    expect(taker.ctl("continue", offer.id, "--print", "--timeout", "10").line["id"] == offer.id, "wrong activity")
    return time.monotonic() - begin


@pairing_test("a continuation reaches its device at the new address, and does not wait for the former one", limit=180)
def moved(stage):
    tunnel, origin, taker = paired(stage)
    names = os.path.join(stage.folder, "hosts")

    def name(address):
        with open(names, "w") as file:
            file.write(f"127.0.0.1 localhost\n{address} desk.example\n")

    def cut():
        done = taker.host.run("ss", "-K", "state", "established", "( sport = :24863 or dport = :24863 )")
        expect(done.code == 0, str(done))

    name(tunnel.addresses[0])
    mounted = tunnel.hosts[1].run("mount", "--bind", names, "/etc/hosts")
    expect(mounted.code == 0, str(mounted))
    watch = taker.follow("watch")
    watch.wait("ready")
    taker.ctl("peer", "add", f"desk.example:{PORT}")
    offer = origin.publish(TYPE)
    watch.wait("added", id=offer.id)
    continued(taker, offer)
    fresh = (f"10.9.0.{number}" for number in range(77, 100))

    def quickly(within, moment, move):
        """Continues after a move within this many seconds, in one of three moves. A busy machine
        only adds to the time, while a daemon that waits for the former address does so each time."""
        times = []
        while len(times) < 3 and min(times, default=within) >= within:
            move(next(fresh))
            times.append(continued(taker, offer))
        print(f"    {moment}: continued in {', '.join(f'{seconds:.2f}' for seconds in times)} s")
        expect(min(times) < within, f"{moment}: it took {min(times):.2f} s at least")

    def readdress(address):
        tunnel.readdress(tunnel.hosts[0], address)

    def readdress_without_connection(address):
        readdress(address)
        cut()

    def rename(address):
        # It cannot announce its address for a while, so its name is resolved.
        origin.process.send_signal(signal.SIGSTOP)
        readdress(address)
        name(address)
        cut()
        threading.Timer(0.6, origin.process.send_signal, [signal.SIGCONT]).start()

    # It detects after 0.3 s that nothing is acknowledged there. By then the device has announced its new address.
    quickly(1.25, "elsewhere, over a connection", readdress)
    quickly(3, "elsewhere, by a call", readdress_without_connection)
    quickly(3, "elsewhere, by its name", rename)


@pairing_test("pairing, continuing and a file succeed over a link that loses one packet in a hundred", limit=180)
def lossy(stage):
    tunnel, origin, taker = paired(stage, loss=0.01)
    watch = taker.follow("watch")
    watch.wait("ready")
    path, target = os.path.join(stage.folder, "letter.bin"), os.path.join(stage.folder, "received.bin")
    content = os.urandom(MIB)
    with open(path, "wb") as file:
        file.write(content)
    taker.ctl("peer", "add", f"{tunnel.addresses[0]}:{PORT}")
    offer = origin.publish(TYPE, "--stream", path)
    watch.wait("added", id=offer.id)
    taker.ctl("continue", offer.id, "--output", target, within=90)
    with open(target, "rb") as file:
        expect(file.read() == content, "the wrong file arrived")


if __name__ == "__main__":
    main()
