#!/usr/bin/env python3
"""Does to a real daemon what docs/protocol.md says that it must refuse, as a member and as a stranger.

    handoff_adversary.py STATE HOST:PORT

STATE is the state file of handoff_peer.py, whose device must be a member. Prints one JSON object for each case, and ends
with 1 if any of them went otherwise than it must.
"""

import json
import os
import socket
import sys
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import handoff_crypto as c
import handoff_link as l
import handoff_roster as r
from handoff_peer import Peer

ANSWERED, SILENT = [c.ACKNOWLEDGEMENT_SIZE], []


class Adversary:
    def __init__(self, state, target):
        host, _, port = target.rpartition(":")
        self.target = (host.strip("[]"), int(port))
        self.peer, self.failed = Peer(state), False
        self.link = self.peer.open_connection(*self.target)
        self.label = bytes.fromhex(self.link.hello["label"])

    def report(self, case, found, expected):
        self.failed |= found != expected
        print(json.dumps({"case": case, "found": str(found), "fine": found == expected}))

    def datagrams(self):
        peer, keys = self.peer, self.peer.keys
        plain = c.sign_advert(peer.announcement(), peer.label, peer.key)
        genuine = c.seal_datagram(c.ADVERT, plain, peer.label, self.label, keys.advert)
        forged = c.sign_advert(peer.announcement(), peer.label, Ed25519PrivateKey.generate())
        other = c.make_label(keys.label)
        text = c.beacon_text(peer.announcement(), peer.label, peer.key, keys.beacon)
        cases = [
            ("genuine advert", genuine, ANSWERED),
            ("the same again", genuine, ANSWERED),
            ("last byte changed", genuine[:-1] + bytes([genuine[-1] ^ 1]), SILENT),
            ("cut short", genuine[:-1], SILENT),
            ("random bytes", os.urandom(1200), SILENT),
            ("sealed for another label", c.seal_datagram(c.ADVERT, plain, peer.label, other, keys.advert), SILENT),
            ("moved under another label", c.seal_datagram(c.ADVERT, plain, other, self.label, keys.advert), SILENT),
            ("signed by another key", c.seal_datagram(c.ADVERT, forged, peer.label, self.label, keys.advert), SILENT),
            ("TXT bytes", b"".join(bytes([len(s)]) + s for s in text), SILENT),
            ("unknown type", b"\x03" + genuine[1:], SILENT),
        ]
        for case, data, expected in cases:
            self.report(case, self._exchange(data), expected)

    def _exchange(self, data):
        sock, sizes = self.peer.udp, []
        sock.settimeout(0.4)
        sock.sendto(data, self.target)
        try:
            while True:
                answer = sock.recv(2048)
                if answer[0] == c.ACKNOWLEDGEMENT:
                    sizes.append(len(answer))
        except TimeoutError:
            return sizes

    def gate(self):
        captured = self._client_hello()
        genuine = c.gate_token(self.peer.keys.gate, self.label, captured)
        static = c.gate_token(self.peer.keys.gate, c.make_label(self.peer.keys.label), captured)
        changed = captured[:-1] + bytes([captured[-1] ^ 1])
        self.report("gate: random token", self._knock(os.urandom(32) + captured), b"")
        self.report("gate: token of another label", self._knock(static + captured), b"")
        self.report("gate: token on a changed ClientHello", self._knock(genuine + changed), b"")
        self.report("gate: HTTP", self._knock(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" + bytes(40)), b"")
        self.report("gate: long record", self._knock(genuine + b"\x16\x03\x01\x04\x01" + bytes(1025)), b"")
        self.report("gate: a byte behind the record", self._knock(genuine + captured + b"\0"), b"")
        self.report("gate: genuine token answers", self._knock(genuine + captured) != b"", True)
        self.report("gate: the same token again", self._knock(genuine + captured), b"")
        by_address = c.gate_token(self.peer.keys.gate, c.static_label(self.peer.keys.label, time.time()), captured)
        self.report("gate: by address alone", self._knock(by_address + captured) != b"", True)
        self.report("gate: by address again", self._knock(by_address + captured), b"")

    def _client_hello(self):
        link = l.Link(None, self.peer.context)
        link.tls.set_connect_state()
        link._try_handshake()
        return link._outgoing()

    def _knock(self, data):
        with socket.create_connection(self.target, 5) as sock:
            try:
                sock.sendall(data)
                return sock.recv(64)
            except ConnectionError:
                return b""

    def strangers(self):
        statements, hello = self.peer.roster.encoded(), self.peer.hello()
        cases = [
            ("stranger: statements that prove nothing", [(l.STATEMENTS, statements), (l.HELLO, hello)]),
            ("stranger: hello", [(l.HELLO, hello)]),
            ("stranger: request", [(l.REQUEST, b'{"id":1,"method":"activities"}')]),
            ("stranger: unknown kind", [(99, b"")]),
        ]
        for case, frames in cases:
            self.report(case, self._session(l.make_context(Ed25519PrivateKey.generate()), frames), "closed")

    def members(self):
        hello = (l.HELLO, self.peer.hello())
        claim = json.loads(self.peer.hello()) | {"device": "00" * 32}
        ping = b'{"id":1,"method":"ping"}'
        many = [(l.REQUEST, b'{"id":%d,"method":"ping"}' % number) for number in range(1, 41)]
        changed = bytearray(r.encode_list([r.sign_statement(self.peer.key, self.peer.roster.account, r.ADD, bytes(32))]))
        changed[-1] ^= 1
        cases = [
            ("member: request before hello", [(l.REQUEST, ping)], "closed"),
            ("member: another device's id in hello", [(l.HELLO, json.dumps(claim).encode())], "closed"),
            ("member: hello of 5 KiB", [(l.HELLO, b" " * 5000)], "closed"),
            ("member: hello twice", [hello, hello], "closed"),
            ("member: one request id twice", [hello, (l.REQUEST, ping), (l.REQUEST, ping)], "closed"),
            ("member: response to nothing", [hello, (l.RESPONSE, b'{"id":9,"result":{}}')], "closed"),
            ("member: a statement of an unknown kind", [(l.STATEMENTS, b"\0\x71" + b"\x09" + bytes(112))], "closed"),
            ("member: a statement that was changed", [(l.STATEMENTS, changed)], "closed"),
            ("member: a key of a wrong length", [hello, (l.EPOCH_KEY, bytes(41))], "closed"),
            ("member: a key that no epoch commits to", [hello, (l.EPOCH_KEY, bytes(40)), (l.REQUEST, ping)], "open"),
            ("member: a key twice", [hello, (l.REQUEST, b'{"id":1,"id":2,"method":"ping"}')], "closed"),
            ("member: 40 levels", [hello, (l.REQUEST, b'{"id":1,"a":' + b"[" * 40 + b"]" * 40 + b"}")], "closed"),
            ("member: unknown kind is ignored", [hello, (99, b"x"), (l.REQUEST, ping)], "open"),
            ("member: keys without end", [hello] + [(l.EPOCH_KEY, bytes(40))] * 60, "closed"),
            ("member: what is above its budget is not read", [hello] + many + [(l.REQUEST, b"{")], "open"),
            ("member: notices without end", [hello] + [(l.NOTICE, b'{"method":"a"}')] * 300, "closed"),
            ("member: advert of another device", [hello, (l.ADVERT_FRAME, self._foreign_advert())], "closed"),
        ]
        for case, frames, expected in cases:
            self.report(case, self._session(self.peer.context, frames), expected)

    def _foreign_advert(self):
        """One that the founder could have made, but for the signature."""
        announcement = self.peer.announcement() | {"device": self.peer.roster.founder.by}
        return self.peer.label + c.sign_advert(announcement, self.peer.label, self.peer.key)

    def crowd(self):
        """Identities cost nothing to who has the gate key: they must not use up what members need."""
        links = []
        for _ in range(100):
            try:
                context = l.make_context(Ed25519PrivateKey.generate())
                links.append(l.Link.call(*self.target, context, self.peer.keys.gate, self.label))
            except (ConnectionError, l.SSL.Error):
                pass
        self.report("crowd: a member is answered", self._ping(), {})
        for link in links:
            link.sock.close()

    def hoard(self):
        """A member and two more identities of it begin frames of 8 MiB and do not end them: all together they may hold 64 MiB."""
        most, links, closed = 8 * 2**20, [], 0
        contexts = [self.peer.context] * 3  # It has one connection already.
        for _ in range(2):
            key = Ed25519PrivateKey.generate()
            self._tell(r.sign_statement(self.peer.key, self.peer.roster.account, r.ADD, c.raw_public(key)))
            contexts += [l.make_context(key)] * 4
        for context in contexts:
            link = l.Link.call(*self.target, context, self.peer.keys.gate, self.label)
            links.append(link)
            link.send((l.HELLO, self.peer.hello()))
            try:
                link.send_raw(c.frame(l.STATEMENTS, bytes(most))[:-1])
            except OSError:
                pass
        for link in links:
            try:
                while link.receive(0.5):
                    pass
            except (OSError, l.SSL.Error):
                closed += 1
            link.sock.close()
        self.report("hoard: what is too much is closed", 3 <= closed < len(links), True)
        self.report("hoard: a member is answered", self._ping(), {})

    def removed(self):
        """A device that is removed between its proof and its hello is served nothing."""
        key, peer = Ed25519PrivateKey.generate(), self.peer
        context, account, raw = l.make_context(key), peer.roster.account, c.raw_public(key)
        self._tell(r.sign_statement(peer.key, account, r.ADD, raw))
        hello = c.frame(l.HELLO, peer.hello())
        self.report("removed: a member before", self._late(context, hello, lambda: None), "hello")
        removal = r.sign_statement(peer.key, account, r.REMOVE, r.remove_body(c.device_id(raw)))
        self.report("removed: late hello", self._late(context, hello, lambda: self._tell(removal)), "closed")
        self.report("removed: new connection", self._late(context, hello, lambda: None), "closed")
        self.peer._settle(self.link)  # The removal ended the epoch; without the next one's key nobody is found by address.

    def flood(self):
        """A member that sends far too much is left, and served again when it stops."""
        frames = [(l.HELLO, self.peer.hello())] + [(l.STATEMENTS, b"")] * 80
        self.report("flood: statements without end", self._session(self.peer.context, frames), "closed")
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                self.link = self.peer.open_connection(*self.target)
                break
            except (ConnectionError, c.Refused, l.SSL.Error):
                time.sleep(1)  # Calling faster than the limits would only use them up again.
        self.report("the daemon still answers", self._ping(), {})

    def _tell(self, statement):
        self.peer.roster.merge([statement])
        self.link.send((l.STATEMENTS, self.peer.roster.encoded()))
        self._ping()  # Nothing is read before the statements are stored.

    def _ping(self):
        """What floods have used up of this device's requests comes back within a second; above it nothing is answered."""
        for _ in range(2):
            try:
                return self.peer.request(self.link, "ping", {}).get("result")
            except c.Refused:
                pass
        return self.peer.request(self.link, "ping", {}).get("result")

    def _late(self, context, hello, between):
        """Begins a hello, and ends it after something else; what comes back."""
        try:
            link = l.Link.call(*self.target, context, self.peer.keys.gate, self.label)
            for part in (hello[:3], hello[3:]):
                link.tls.send(part)
                link.sock.sendall(link._outgoing())
                if part == hello[:3]:
                    between()
            found = link.receive(3)
            link.close()
            return "hello" if found and found[0] == l.HELLO else "nothing"
        except (ConnectionError, l.SSL.Error):
            return "closed"

    def _session(self, context, frames):
        try:
            link = l.Link.call(*self.target, context, self.peer.keys.gate, self.label)
            link.send(*frames)
            while link.receive(1.5):
                pass
            link.close()
            return "open"
        except (ConnectionError, l.SSL.Error):
            return "closed"


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    adversary = Adversary(*sys.argv[1:])
    adversary.datagrams()
    adversary.gate()
    adversary.strangers()
    adversary.members()
    adversary.crowd()
    adversary.hoard()
    time.sleep(1.5)  # What the floods have used up of this device's requests comes back; above it nothing is answered.
    adversary.removed()
    adversary.flood()
    return 1 if adversary.failed else 0


if __name__ == "__main__":
    sys.exit(main())
