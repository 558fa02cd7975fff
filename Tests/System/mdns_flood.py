#!/usr/bin/env python3
"""Floods the network of this host with multicast DNS.

mdns_flood.py KIND RATE ADDRESS

RATE packets a second, until it is stopped. KIND: `ours` announces a new instance of the Handoff
service in each packet, with all of its records; `others` the same of another service; `queries`
queries the Handoff service; `mixed` all of them in turn. Prints `flooding` when it has started, and
then each second the number of packets sent.
"""

import os
import socket
import struct
import sys
import time

GROUP, PORT = "224.0.0.251", 5353
PTR, TXT, SRV, A = 12, 16, 33, 1


def name(*labels):
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def record(owner, kind, data, flush=False, lifetime=120):
    return owner + struct.pack("!HHIH", kind, 0x8001 if flush else 1, lifetime, len(data)) + data


def announcement(service, instance, text, host, address, port):
    """Returns all records of an instance, as one packet. `address` has 4 bytes."""
    full, host = name(instance, service, b"_tcp", b"local"), name(host, b"local")
    records = [
        record(name(service, b"_tcp", b"local"), PTR, full), record(full, TXT, text, True),
        record(full, SRV, struct.pack("!HHH", 0, 0, port) + host, True), record(host, A, address, True)]
    return struct.pack("!HHHHHH", 0, 0x8400, 0, len(records), 0, 0) + b"".join(records)


def multicast_socket(address):
    """Returns a socket that sends from this address and the port of multicast DNS to the link of the address."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind((address, PORT))
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
    return sock


def new_instance(service, number):
    instance = struct.pack("!Q", number).hex().encode() + os.urandom(8).hex().encode()
    text = b"".join(bytes([len(part)]) + part for part in [b"v=1"] + [b"b%d=" % part + os.urandom(228) for part in range(3)]
                    + [b"m=" + os.urandom(240)])
    return announcement(service, instance, text, instance, bytes([10, 80, 0, number % 200 + 20]), 24863)


def query(number):
    return (struct.pack("!HHHHHH", 0, 0, 2, 0, 0, 0) + name(b"_handoff", b"_tcp", b"local") + struct.pack("!HH", PTR, 1)
            + name(b"%x" % number, b"_handoff", b"_tcp", b"local") + struct.pack("!HH", TXT, 1))


KINDS = {
    "ours": [lambda number: new_instance(b"_handoff", number)],
    "others": [lambda number: new_instance(b"_other", number)],
    "queries": [query],
}
KINDS["mixed"] = [make for makes in list(KINDS.values()) for make in makes]


def main(kind, rate, address):
    sock = multicast_socket(address)
    makes, begin, sent, told = KINDS[kind], time.monotonic(), 0, 0
    print("flooding", flush=True)
    while True:
        due = int((time.monotonic() - begin) * rate)
        while sent < due:
            sock.sendto(makes[sent % len(makes)](sent), (GROUP, PORT))
            sent += 1
        if sent // rate > told:
            told = sent // rate
            print(sent, flush=True)
        time.sleep(0.005)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
