#!/usr/bin/env python3
"""A member that tries to receive another member's adverts in its place.

    handoff_diverter.py STATE SENDER:PORT VICTIM:PORT

It repeats adverts of the victim, sealed again, to the sender from its own address, acknowledges the
sender's adverts for the victim, and forwards datagrams for the victim that arrive at its own
address, and the replies. STATE is a state file of handoff_peer.py. Prints a JSON object five times
a second: the adverts for the victim that have arrived here, the forged acknowledgements in its
name, the forwarded adverts and the acknowledgements of them, and the repeated adverts of the
victim. Exits at the end of its standard input.
"""

import json
import select
import socket
import sys
import time

import handoff_crypto as c
from handoff_peer import Peer


DELAY = 4


def place(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


class Diverter:
    def __init__(self, state, sender, victim):
        self.peer, self.sender, self.victim = Peer(state), sender, victim
        self.links = [self.peer.open_connection(*target) for target in (sender, victim)]
        self.labels = {link.peer: bytes.fromhex(link.hello["label"]) for link in self.links}
        self.devices = [link.peer for link in self.links]
        # Addresses are those of datagrams with the announced port, so this socket uses the victim's port.
        self.false = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.false.bind(("0.0.0.0", victim[1]))
        self.counts = {"diverted": 0, "forged": 0, "forwarded": 0, "answered": 0, "repeated": 0}
        # The latest advert, and the time from which it is forwarded. The last proof counts, so the
        # sender and the victim must have finished their own retransmissions.
        self.latest, self.due = None, 0

    def _advertise(self):
        """Both answer a new advert with their own."""
        self.peer.seq += 1
        plain = c.sign_advert(self.peer.announcement(), self.peer.label, self.peer.key)
        for device, target in zip(self.devices, (self.sender, self.victim)):
            datagram = c.seal_datagram(c.ADVERT, plain, self.peer.label, self.labels[device], self.peer.keys.advert)
            self.peer.udp.sendto(datagram, target)

    def _take(self, data, host):
        """Handles a datagram for this device, which has arrived at this address."""
        if data[0] != c.ADVERT:
            return
        sender, victim = self.devices
        keys, own = self.peer.keys, self.peer.label
        _, label, value = c.open_datagram(data, [own], keys, self.peer.roster.public_key)
        if value["device"] not in self.devices:
            return
        self.labels[value["device"]] = label
        if value["device"] == victim:
            plain = c.unseal(keys.advert, b"handoff/1 advert key", data[17:], b"handoff/1 advert" + data[:1] + label + own)
            again = c.seal_datagram(c.ADVERT, plain, label, self.labels[sender], keys.advert)
            self.false.sendto(again, self.sender)
            self.counts["repeated"] += 1
        else:
            # With the secret that this device shares with the sender, because it has no other one.
            pair, position = self.peer.pair(sender), (value["boot"], value["seq"])
            plain = c.acknowledgement(pair, victim, *position, self.victim[0], data[17:33])
            forged = c.seal_datagram(c.ACKNOWLEDGEMENT, plain, self.labels[victim], label, keys.advert)
            self.false.sendto(forged, self.sender)
            self.counts["forged"] += 1
            # It also acknowledges its own advert, so that the next change is sent here, too.
            plain = c.acknowledgement(pair, self.peer.device, *position, host, data[17:33])
            self.peer.udp.sendto(c.seal_datagram(c.ACKNOWLEDGEMENT, plain, own, label, keys.advert), self.sender)

    def _forward(self, data, source):
        """Forwards a datagram for the victim, or its reply."""
        if source == self.sender and data[0] == c.ADVERT:
            self.counts["diverted"] += 1
            self.latest, self.due = data, time.monotonic() + DELAY
        if source == self.victim:
            self.false.sendto(data, self.sender)
            self.counts["answered"] += data[0] == c.ACKNOWLEDGEMENT

    def run(self):
        report = 0
        self._advertise()
        while True:
            ready = select.select([sys.stdin, self.peer.udp, self.false], [], [], 0.2)[0]
            if sys.stdin in ready:
                return
            for sock in ready:
                data, extra, _, source = sock.recvmsg(2048, 64)
                try:
                    if sock is self.peer.udp:
                        self._take(data, socket.inet_ntoa(extra[0][2][8:12]))
                    else:
                        self._forward(data, source)
                except c.Refused:
                    pass
            if time.monotonic() > report:
                report = time.monotonic() + 0.2
                if self.latest and time.monotonic() > self.due:
                    self.false.sendto(self.latest, self.victim)
                    self.counts["forwarded"] += 1
                print(json.dumps(self.counts), flush=True)


if __name__ == "__main__":
    Diverter(sys.argv[1], place(sys.argv[2]), place(sys.argv[3])).run()
