"""A routed link between two simulated hosts, like WireGuard or a provider's network: no multicast,
packets of 1,420 bytes, a delay, a rate and losses. Two programs carry packets between network
devices of type tun, one on each host. Needs root."""

import collections
import os
import random
import select
import socket
import subprocess
import sys
import time

from harness import expect

# 802.11 and DSL routers buffer about this much, and drop the rest, which is how TCP finds the rate.
QUEUE = 1 << 20
MTU = 1420
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000


class Tunnel:
    """Connects two hosts, and unplugs their cables, so that they reach each other only at
    `addresses`.

    delay   seconds that a packet takes in each direction
    rate    bytes a second in each direction; None: as many as the machine can
    loss    the share of packets that is lost, 0 to 1, always the same ones for one seed

    `networks` are the files of the hosts' network namespaces.
    """

    def __init__(self, stage, hosts, delay=0.0, rate=None, loss=0.0, seed=1):
        self.hosts, self.addresses, self.networks = hosts, ["10.9.0.1", "10.9.0.2"], []
        ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for number, (host, end) in enumerate(zip(hosts, ends)):
            host.link("down")
            process = subprocess.Popen(
                [*host.prefix, sys.executable, os.path.abspath(__file__), str(end.fileno()), self.addresses[number],
                 self.addresses[1 - number], str(delay), str(rate or 0), str(loss), str(seed + number)],
                pass_fds=[end.fileno()], stdout=subprocess.PIPE, text=True)
            stage.processes.append(process)
            expect(process.stdout.readline() == "ready\n", "the link carries no packets")
            self.networks.append(f"/proc/{process.pid}/ns/net")
            end.close()

    def readdress(self, host, address):
        """Gives a host another address, as its provider may at any time."""
        number = self.hosts.index(host)
        former, self.addresses[number] = self.addresses[number], address
        other = self.addresses[1 - number]
        for end, words in (
                (host, ["address", "del", former, "peer", other]), (host, ["address", "add", address, "peer", other]),
                (self.hosts[1 - number], ["route", "replace", address, "dev", "tun0"])):
            done = end.run("ip", *words, *(["dev", "tun0"] if words[0] == "address" else []))
            expect(done.code == 0, str(done))


def carry(device, way, delay, rate, loss, seed):
    """Reads packets from the device and, after their delay, sends them to the other end, and writes
    packets from there to the device."""
    chance, waiting, queued, free = random.Random(seed), collections.deque(), 0, time.monotonic()
    while True:
        timeout = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for ready in select.select([device, way], [], [], timeout)[0]:
            if ready is way:
                packet = way.recv(65536)
                if not packet:
                    return
                os.write(device, packet)
                continue
            packet, now = os.read(device, 65536), time.monotonic()
            if chance.random() < loss or queued + len(packet) > QUEUE:
                continue
            free = max(free, now) + (len(packet) / rate if rate else 0)
            waiting.append((free + delay, packet))
            queued += len(packet)
        while waiting and waiting[0][0] <= time.monotonic():
            try:
                way.send(waiting[0][1], socket.MSG_DONTWAIT)
            except BlockingIOError:
                # The other end may be just as full. If both waited for it here, neither would read,
                # and both would block permanently.
                time.sleep(0.0005)
                break
            queued -= len(waiting.popleft()[1])


def main(number, own, other, delay, rate, loss, seed):
    import fcntl
    import struct

    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"tun0", IFF_TUN | IFF_NO_PI))
    for words in (["address", "add", own, "peer", other, "dev", "tun0"],
                  ["link", "set", "tun0", "up", "mtu", str(MTU), "multicast", "off"]):
        subprocess.run(["ip", *words], check=True)
    print("ready", flush=True)
    carry(device, socket.socket(fileno=int(number)), float(delay), float(rate), float(loss), int(seed))


if __name__ == "__main__":
    main(*sys.argv[1:])
