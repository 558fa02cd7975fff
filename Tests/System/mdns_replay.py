#!/usr/bin/env python3
"""Announces recorded records of the Handoff service from this host, as any device that has copied
them could.

mdns_replay.py ADDRESS PORT < LINES

Each line has the instance and the data of its TXT record, in hexadecimal. All other records are
new, and name ADDRESS and PORT.
"""

import os
import socket
import sys
import time

from mdns_flood import GROUP, PORT, announcement, multicast_socket

# Seconds between two records. A member processes no more than that in a second.
PAUSE = 0.02


def main(address, port):
    sock = multicast_socket(address)
    for line in sys.stdin:
        instance, text = map(bytes.fromhex, line.split())
        host = os.urandom(8).hex().encode()
        packet = announcement(b"_handoff", instance, text, host, socket.inet_aton(address), port)
        sock.sendto(packet, (GROUP, PORT))
        time.sleep(PAUSE)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
