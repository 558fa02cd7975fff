#!/usr/bin/env python3
"""Announces recorded records of our service from this host, as whoever has copied them could.

  mdns_replay.py ADDRESS PORT < LINES

Each line has the instance and the data of its TXT record, in hexadecimal. All other records are new, and name ADDRESS and PORT.
"""

import os
import socket
import struct
import sys
import time

from mdns_flood import GROUP, PORT, PTR, SRV, TXT, A, name, record

# Seconds between two records: no more of them than a member looks at in a second.
PAUSE = 0.02


def announcement(instance, text, address, port):
    full, host = name(instance, b"_handoff", b"_tcp", b"local"), name(os.urandom(8).hex().encode(), b"local")
    records = [
        record(name(b"_handoff", b"_tcp", b"local"), PTR, full), record(full, TXT, text, True),
        record(full, SRV, struct.pack("!HHH", 0, 0, port) + host, True), record(host, A, socket.inet_aton(address), True)]
    return struct.pack("!HHHHHH", 0, 0x8400, 0, len(records), 0, 0) + b"".join(records)


def main(address, port):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind((address, PORT))
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 255)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(address))
    for line in sys.stdin:
        instance, text = map(bytes.fromhex, line.split())
        sock.sendto(announcement(instance, text, address, port), (GROUP, PORT))
        time.sleep(PAUSE)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
