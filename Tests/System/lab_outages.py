"""Devices that lose each other while the network between them fails, and reconnect when it works
again. Needs root.

The switch between the simulated hosts drops the packets to one of them or to both without a change
of any link, or a link goes down.
"""

import os
import random
import time

from harness import Lab, expect, main, test

TYPE = "com.example.editing"
PORT = "24863"
# Seconds from the repair until each device sees the other one: 5, and 5 for a machine that also runs other tests.
RETURN_LIMIT = 10
# The gate has the short outages. HANDOFF_OUTAGES=all also runs the long ones, and more random orders.
ALL = os.environ.get("HANDOFF_OUTAGES") == "all"


class Network:
    """The switch and two hosts, with a daemon each."""

    def __init__(self, stage, discovery):
        self.lab = Lab(stage, 2, "--no-avahi", "--ipv4-only")
        self.daemons = [stage.daemon(name, host=host, discovery=discovery, port=PORT)
                        for name, host in zip(("origin", "taker"), self.lab.hosts)]
        origin, taker = self.daemons
        origin.ctl("account", "create")
        if discovery == "static":
            for daemon, other in ((origin, taker), (taker, origin)):
                daemon.ctl("peer", "add", f"{self.address(other)}:{PORT}")
        stage.join(origin, taker)
        self.until_together(60)

    def address(self, daemon):
        host = self.lab.hosts[self.daemons.index(daemon)]
        return next(text for text in host.addresses if "." in text)

    def sees(self, daemon):
        return sum(device["online"] for device in daemon.ctl("devices").lines) == 2

    def until_together(self, limit):
        """Returns the seconds until each sees the other."""
        begin = time.monotonic()
        while not all(self.sees(daemon) for daemon in self.daemons):
            expect(time.monotonic() - begin < limit, f"not connected after {limit} s")
            time.sleep(0.05)
        return time.monotonic() - begin

    def route(self, number, passes):
        """Drops all packets to a host, or forwards them."""
        limit = "1000" if passes else "0"
        self.lab.command("exec", "switch", "tc", "qdisc", "replace", "dev", f"p{number + 1}", "root", "pfifo", "limit", limit)

    def link(self, number, state):
        """Takes the link of a host down, or up again."""
        self.lab.command("exec", "switch", "ip", "link", "set", f"p{number + 1}", state)

    def repair(self):
        for number in range(2):
            self.route(number, True)
            self.link(number, "up")

    def lose_each_other(self):
        """Waits until each device notices that the other one is unreachable."""
        begin = time.monotonic()
        for daemon in self.daemons:
            daemon.publish(TYPE)
        while any(self.sees(daemon) for daemon in self.daemons):
            expect(time.monotonic() - begin < 60, "the other device is still online after 60 s")
            time.sleep(0.1)


for kind in ("embedded", "static"):

    @test(f"devices that a failed call marked as offline reconnect within five seconds ({kind})", limit=420)
    def failed_call(stage, kind=kind):
        network = Network(stage, kind)
        for seconds in (0, 20, 75) if ALL else (0, 20):
            for number in range(2):
                network.route(number, False)
            network.lose_each_other()
            time.sleep(seconds)
            network.repair()
            took = network.until_together(240)
            print(f"    {kind}: connected {took:.2f} s after {seconds} s offline")
            expect(took < RETURN_LIMIT, f"{took:.1f} s")

    @test(f"devices reconnect within five seconds after any order of failures ({kind})", limit=420)
    def any_order(stage, kind=kind):
        network = Network(stage, kind)
        seed = int(os.environ.get("HANDOFF_SEED") or random.randrange(1 << 32))
        choice = random.Random(seed)
        print(f"    {kind}: seed {seed}")
        for _ in range(5 if ALL else 2):
            for _ in range(choice.randrange(1, 5)):
                number = choice.randrange(2)
                if choice.randrange(4) == 0:
                    network.link(number, choice.choice(("up", "down")))
                else:
                    network.route(number, choice.random() < 0.4)
                network.daemons[choice.randrange(2)].publish(TYPE)
                time.sleep(choice.random() * 12)
            seeing = sum(network.sees(daemon) for daemon in network.daemons)
            network.repair()
            took = network.until_together(240)
            print(f"    {kind}: connected after {took:.2f} s, {2 - seeing} had lost the other")
            expect(took < RETURN_LIMIT, f"seed {seed}: {took:.1f} s")


if __name__ == "__main__":
    main()
