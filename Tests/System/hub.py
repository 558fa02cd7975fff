"""A network of simulated hosts with a delay and losses, also of multicast, like Wi-Fi, in which hosts
can lose each other and move to another network. Frames are carried between network devices of type
tap, one on each host. Needs root."""

import fcntl
import heapq
import os
import random
import select
import socket
import struct
import subprocess
import sys
import threading
import time

from harness import expect

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
NAME = "lan0"


class Hub:
    """Connects hosts by `lan0` and unplugs their cables.

    delay   seconds that a frame takes
    loss    the share of frames that each receiver loses, 0 to 1, always the same ones for one seed
    """

    def __init__(self, stage, hosts, delay=0.0, loss=0.0, seed=1):
        self.hosts, self.delay, self.loss, self.random = hosts, delay, loss, random.Random(seed)
        self.devices, self.networks, self.cuts = [], [0] * len(hosts), set()
        self.bytes = self.frames = 0
        for number, host in enumerate(hosts):
            host.link("down")
            mine, other = socket.socketpair()
            done = subprocess.run([*host.prefix, sys.executable, os.path.abspath(__file__), str(other.fileno())],
                                  pass_fds=[other.fileno()], capture_output=True, text=True)
            expect(done.returncode == 0, f"no network device: {done.stderr}")
            self.devices.append(socket.recv_fds(mine, 1, 1)[1][0])
            mine.close()
            other.close()
            self.address(number, f"10.90.0.{number + 1}")
        self.end, ended = os.pipe2(os.O_CLOEXEC)
        thread = threading.Thread(target=self._carry, daemon=True)
        thread.start()

        def close():
            os.close(ended)
            thread.join()
            for device in self.devices:
                os.close(device)

        stage.closers.append(close)

    def address(self, number, address):
        """Gives a host another address."""
        done = self.hosts[number].run("sh", "-euc", f"ip address flush dev {NAME}; ip address add {address}/24 brd + dev {NAME}; "
                                      f"ip link set {NAME} up; ip route replace 224.0.0.0/4 dev {NAME}")
        expect(done.code == 0, str(done))

    def cut(self, first, second, isCut=True):
        """Drops all frames between two hosts, or forwards them again."""
        (self.cuts.add if isCut else self.cuts.discard)(frozenset((first, second)))

    def move(self, number, network):
        """Moves a host to another network, in which it has another address."""
        self.networks[number] = network
        self.address(number, f"10.90.{network}.{number + 1}")

    def _carry(self):
        waiting, places, order = [], {}, 0
        numbers = {device: number for number, device in enumerate(self.devices)}
        while True:
            timeout = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
            for ready in select.select([self.end, *self.devices], [], [], timeout)[0]:
                if ready == self.end:
                    return
                frame, sender = os.read(ready, 65536), numbers[ready]
                places[frame[6:12]] = sender
                self.bytes, self.frames = self.bytes + len(frame), self.frames + 1
                receiver = places.get(frame[:6])
                for number in range(len(self.devices)) if receiver is None else [receiver]:
                    if number != sender and self.networks[number] == self.networks[sender] \
                            and frozenset((number, sender)) not in self.cuts and self.random.random() >= self.loss:
                        order += 1
                        heapq.heappush(waiting, (time.monotonic() + self.delay, order, self.devices[number], frame))
            while waiting and waiting[0][0] <= time.monotonic():
                os.write(waiting[0][2], heapq.heappop(waiting)[3])


def main(number):
    """Creates the device, and passes it on."""
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", NAME.encode(), IFF_TAP | IFF_NO_PI))
    socket.send_fds(socket.socket(fileno=number), [b"x"], [device])


if __name__ == "__main__":
    main(int(sys.argv[1]))
