"""Known networks between simulated hosts, by real multicast DNS and real neighbours. Needs root.

Two hosts run the daemons. Two others are the gateways of two networks. A host is in the network of
the gateway of its default route.
"""

import os
import signal
import sys

from harness import BIN, Lab, expect, main, run, test
from logind import Logind

TYPE = "com.example.editing"


def on(host, *words):
    result = run([*host.prefix, *words], dict(os.environ))
    expect(result.code == 0, str(result))
    return result.output


def enter(host, gateway):
    """Makes the host use this gateway, whose link-layer address it resolves as for any traffic."""
    address = next(text for text in gateway.addresses if "." in text)
    on(host, "ip", "route", "replace", "default", "via", address)
    on(host, sys.executable, "-c", f"import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'', ('{address}', 9))")
    return address


def plain(daemon, *words):
    return run([*daemon.prefix, os.path.join(BIN, "handoffctl"), "--socket", daemon.socket, *words], daemon.environment)


def configure(daemon, text):
    with open(daemon.configuration, "w") as file:
        file.write(text)
    daemon.process.send_signal(signal.SIGHUP)


def until_silent(daemon, silent):
    """Polls until the condition holds. The test's time limit ends it."""
    while daemon.ctl("network", "list").line["silent"] != silent:
        pass


for discovery in ("embedded", "avahi"):

    @test(f"with networks = known a device is found only in known networks ({discovery})", limit=240)
    def known(stage, discovery=discovery):
        lab = Lab(stage, 4, "--avahi" if discovery == "avahi" else "--no-avahi", "--ipv4-only")
        first, second = lab.hosts[2:]
        origin = stage.daemon("origin", host=lab.hosts[0], discovery=discovery)
        taker = stage.daemon("taker", host=lab.hosts[1], discovery=discovery)
        stage.join(origin, taker)
        watch = taker.follow("watch")
        watch.wait("ready")
        offer = origin.publish(TYPE, "--no-keep")
        watch.wait("added", id=offer.id)

        gateway = enter(lab.hosts[0], first)
        configure(origin, "networks = known\n")
        watch.wait("removed", id=offer.id)
        until_silent(origin, True)
        listed = plain(origin, "network", "list")
        expect(gateway in listed.output and "handoffctl network trust" in listed.errors, f"{listed}")
        status = origin.ctl("status").line
        expect(not status["advertising"] and {hold["by"] for hold in status["holds"]} == {"network"}, f"{status}")
        expect(gateway in status["holds"][0]["message"], f"{status}")
        expect("this network is not known" in plain(origin, "list").errors, "list does not report the reason")
        refused = plain(origin, "pair", "--yes", "--timeout", "1")
        expect(refused.code == 1 and "handoffctl network trust" in refused.errors, f"{refused}")
        found = {line["check"]: line for line in origin.ctl("doctor", code=None).lines}
        expect("handoffctl network trust" in found["discovery"]["remedy"], f"{found}")

        trusted = origin.ctl("network", "trust", "--name", "Home").line
        expect(trusted["silent"] is False and trusted["networks"][0]["name"] == "Home", f"{trusted}")
        watch.wait("added", id=offer.id)
        # To another network, and back.
        enter(lab.hosts[0], second)
        watch.wait("removed", id=offer.id)
        enter(lab.hosts[0], first)
        watch.wait("added", id=offer.id)
        # The network is remembered.
        origin.restart()
        until_silent(origin, False)
        origin.ctl("network", "forget", "Home")
        until_silent(origin, True)
        failed = origin.ctl("network", "forget", "Home", code=1)
        expect("NoSuchNetwork" in failed.errors, f"{failed}")


@test("a network has its name in NetworkManager, until its user gives it another name")
def names(stage):
    lab = Lab(stage, 2, "--no-avahi", "--ipv4-only")
    enter(lab.hosts[0], lab.hosts[1])
    bus = Logind(stage)
    daemon = stage.daemon("laptop", host=lab.hosts[0], start=False)
    daemon.extra = bus.environment
    daemon.start()

    def network(*words):
        return daemon.ctl("network", *words).line["networks"][0]

    found = network("list")
    expect(found["connection"] is None and found["name"] is None, f"a network without a name has one: {found}")
    # A VPN uses the same interface, and is not the network.
    bus.networks((found["interface"], "Office VPN", True), (found["interface"], "Café\u202e", False), ("other0", "Other", False))
    found = network("list")
    expect(found["connection"] == "Café\u202e" and found["name"] is None, f"wrong: {found}")
    expect("Café\\u{202E}" in plain(daemon, "network", "list").output, f"{plain(daemon, 'network', 'list')}")
    found = network("trust")
    expect(found["name"] == "Café\u202e" and found["known"], f"wrong: {found}")
    expect(network("trust", "--name", "Home")["name"] == "Home", "the user's name is not used")
    expect(network("list")["name"] == "Home", "the user's name is not kept")
    forgotten = network("forget", "Home")
    expect(not forgotten["known"] and forgotten["connection"] == "Café\u202e", f"wrong: {forgotten}")


@test("in an unknown network nothing is sent by multicast, and queries are not answered")
def quiet(stage):
    lab = Lab(stage, 3, "--no-avahi", "--ipv4-only")
    enter(lab.hosts[0], lab.hosts[2])
    capture = os.path.join(stage.folder, "frames.pcap")
    lab.command("capture", capture)
    origin = stage.daemon("origin", host=lab.hosts[0], configuration="networks = known\n")
    taker = stage.daemon("taker", host=lab.hosts[1])
    origin.ctl("account", "create")
    taker.ctl("account", "create")
    origin.publish(TYPE)
    until_silent(origin, True)
    # The other host's frames are received, so those of this one would be, too.
    taker.publish(TYPE)
    source = next(text for text in lab.hosts[0].addresses if "." in text)
    other = next(text for text in lab.hosts[1].addresses if "." in text)

    def frames(address):
        return on(lab.hosts[1], "tcpdump", "-nr", capture, "src", "host", address, "and", "udp", "port", "5353")

    while not frames(other):
        pass
    expect(not frames(source), f"it has sent frames: {frames(source)}")
    origin.ctl("network", "trust")
    while not frames(source):
        pass


@test("a device whose TCP is blocked in both directions, but whose datagrams arrive, is not marked as asleep")
def blocked(stage):
    lab = Lab(stage, 2, "--no-avahi", "--ipv4-only")
    origin = stage.daemon("origin", host=lab.hosts[0])
    taker = stage.daemon("taker", host=lab.hosts[1])
    stage.join(origin, taker)
    watch = taker.follow("watch")
    watch.wait("ready")
    watch.wait("added", id=origin.publish(TYPE).id)
    for host in lab.hosts:
        # Before the table of this host's own addresses, which is consulted first otherwise.
        on(host, "ip", "rule", "add", "pref", "10", "lookup", "local")
        on(host, "ip", "rule", "add", "pref", "5", "iif", "eth0", "ipproto", "tcp", "blackhole")
        on(host, "ip", "rule", "del", "pref", "0")
    failed = plain(taker, "continue", "--from", "origin", "--print")
    expect(failed.code == 1 and "announcements of origin arrive" in failed.errors, f"{failed}")
    expect("firewall" in failed.errors and "asleep" not in failed.errors, f"{failed}")
    why = plain(taker, "why", "origin")
    expect(why.code == 1 and "announcements of origin" in why.output and "firewall" in why.output, f"{why}")


@test("if packets are too small for the record, doctor reports it, and static addresses work")
def small(stage):
    lab = Lab(stage, 2, "--no-avahi", "--ipv4-only")
    daemons = [stage.daemon(name, host=host) for name, host in zip(("origin", "taker"), lab.hosts)]
    origin, taker = daemons
    stage.join(origin, taker)
    for host in lab.hosts:
        on(host, "ip", "link", "set", "eth0", "mtu", "576")
    for daemon in daemons:
        daemon.restart()
    found = [line for line in taker.ctl("doctor", code=None).lines if line["check"] == "network"]
    expect(found and "is 576 bytes" in found[0]["message"] and "peer add" in found[0]["remedy"], f"{found}")
    for daemon, other in zip(daemons, reversed(daemons)):
        address = next(text for text in other.host.addresses if "." in text)
        daemon.ctl("peer", "add", f"{address}:{other.ctl('status').line['port']}")
    watch = taker.follow("watch")
    watch.wait("ready")
    offer = origin.publish(TYPE)
    watch.wait("added", id=offer.id)
    taker.ctl("continue", "--from", "origin", "--print")


if __name__ == "__main__":
    main()
