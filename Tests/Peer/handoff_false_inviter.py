#!/usr/bin/env python3
"""Announces itself on the network as an inviting device, terminates TLS, and forwards all frames to
a real one.

    handoff_false_inviter.py OWN-ADDRESS HOST:PORT      until its standard input ends

Prints {"event": "announced"}, then a line for each forwarded frame. IPv4 only. For tests.
"""

import json
import os
import socket
import struct
import sys
import threading
import time

import handoff_pairing_adversary as adversary

GROUP, PORT = "224.0.0.251", 5353
SERVICE = b"\x0d_handoff-pair\x04_tcp\x05local\x00"
PTR, TXT, SRV, A = 12, 16, 33, 1


def record(name, kind, data, unique=True):
    return name + struct.pack(">HHIH", kind, 0x8001 if unique else 1, 120, len(data)) + data


def announcement(address, port):
    """Returns an unsolicited response of multicast DNS: a service with a random name, like the real ones."""
    label = os.urandom(10).hex().encode()
    instance, host = bytes([len(label)]) + label + SERVICE, bytes([len(label)]) + label + b"\x05local\x00"
    records = [
        record(SERVICE, PTR, instance, unique=False),
        record(instance, SRV, struct.pack(">HHH", 0, 0, port) + host),
        record(instance, TXT, b"\x03v=1"),
        record(host, A, socket.inet_aton(address)),
    ]
    return struct.pack(">HHHHHH", 0, 0x8400, 0, len(records), 0, 0) + b"".join(records)


def announce(address, data):
    """Announces it now, twice a second, and in response to each query."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind(("", PORT))
    member = socket.inet_aton(GROUP) + socket.inet_aton(address)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
    sock.settimeout(0.5)
    last_sent = 0.0
    while True:
        try:
            query, source = sock.recvfrom(9000)
            is_due = source[0] != address and len(query) > 2 and not query[2] & 0x80 and b"_handoff-pair" in query
        except TimeoutError:
            is_due = True
        if is_due and time.monotonic() - last_sent > 0.1:
            last_sent = time.monotonic()
            sock.sendto(data, (GROUP, PORT))


def main():
    address, (host, _, port) = sys.argv[1], sys.argv[2].rpartition(":")
    report = lambda value: print(json.dumps(value), flush=True)

    def pass_on(is_joiner, kind, body):
        report({"event": "frame", "joiner": is_joiner, "kind": kind, "size": len(body)})
        return kind, body

    between = adversary.Between((host, int(port)), pass_on, host=address)
    own = int(between.place.rpartition(":")[2])
    threading.Thread(target=announce, args=(address, announcement(address, own)), daemon=True).start()
    report({"event": "announced", "place": between.place})
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
