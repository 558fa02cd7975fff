#!/usr/bin/env python3
"""Sends a real daemon everything that it must refuse according to docs/protocol.md, as a member and
as an unknown device.

    handoff_adversary.py STATE HOST:PORT

STATE is the state file of handoff_peer.py, whose device must be a member. Prints one JSON object
for each case, and exits with 1 if the daemon did not behave as required in any of them.
"""

import json
import os
import socket
import struct
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
        self.server, self.gate_key = self.link.peer, self.peer.pair(self.link.peer).gate

    @property
    def label(self):
        """Returns the server's current label, from its latest hello."""
        return bytes.fromhex(self.link.hello["label"])

    def report(self, case, found, expected):
        self.failed |= found != expected
        print(json.dumps({"case": case, "found": str(found), "fine": found == expected}))

    def datagrams(self):
        peer, keys = self.peer, self.peer.keys
        plain = c.sign_advert(peer.announcement(), peer.label, peer.key)
        genuine = c.seal_datagram(c.ADVERT, plain, peer.label, self.label, keys.advert)
        forged = c.sign_advert(peer.announcement(), peer.label, Ed25519PrivateKey.generate())
        other, foreign = c.make_label(keys.label), os.urandom(16)
        boots = [c.sign_advert(peer.announcement() | {"boot": boot}, peer.label, peer.key) for boot in (0, 2**63)]
        listed = {"id": bytes(16).hex(), "age": 0, "title": None}
        types = [c.sign_advert(peer.announcement() | {"activities": [listed | {"type": text}]}, peer.label, peer.key)
                 for text in ("", "two words", "caf\u00e9", "a\x7f")]
        sealed = lambda text: c.seal_datagram(c.ADVERT, text, peer.label, self.label, keys.advert)
        body = c.beacon_body(peer.announcement(), peer.label, keys.beacon, [bytes([127, 0, 0, 1])], time.time())
        text = c.beacon_text(body, peer.label, peer.key, keys.beacon)
        cases = [
            ("genuine advert", genuine, ANSWERED),
            ("the same again", genuine, ANSWERED),
            ("last byte changed", genuine[:-1] + bytes([genuine[-1] ^ 1]), SILENT),
            ("cut short", genuine[:-1], SILENT),
            ("random bytes", os.urandom(1200), SILENT),
            ("sealed for another label", c.seal_datagram(c.ADVERT, plain, peer.label, other, keys.advert), SILENT),
            ("moved under another label", c.seal_datagram(c.ADVERT, plain, other, self.label, keys.advert), SILENT),
            ("signed by another key", sealed(forged), SILENT),
            ("under a label of no epoch", c.seal_datagram(c.ADVERT, plain, foreign, self.label, keys.advert), SILENT),
            *((f"boot {number}", sealed(text), SILENT) for number, text in zip((0, "2^63"), boots)),
            *((f"type {number} that is none", sealed(text), SILENT) for number, text in enumerate(types)),
            ("TXT bytes", b"".join(bytes([len(s)]) + s for s in text), SILENT),
            ("unknown type", b"\x03" + genuine[1:], SILENT),
        ]
        for case, data, expected in cases:
            self.report(case, self._exchange(data, expected), expected)

    def _exchange(self, data, expected):
        """Returns the sizes of the acknowledgements received. Waits for an expected one, so that it
        does not count for the next."""
        sock, sizes = self.peer.udp, []
        sock.sendto(data, self.target)
        try:
            while True:
                sock.settimeout(0.4 if sizes or expected == SILENT else 10)
                answer = sock.recv(2048)
                if answer[0] == c.ACKNOWLEDGEMENT:
                    sizes.append(len(answer))
        except TimeoutError:
            return sizes

    def acknowledgements(self):
        """Tests the acknowledgements of the daemon: by the secret of the two devices, for the
        datagram and the address at which it arrived."""
        peer, pair = self.peer, self.peer.pair(self.server)
        plain = c.sign_advert(peer.announcement(), peer.label, peer.key)
        datagram = c.seal_datagram(c.ADVERT, plain, peer.label, self.label, peer.keys.advert)
        peer.udp.settimeout(10)
        peer.udp.sendto(datagram, self.target)
        while (answer := peer.udp.recv(2048))[0] != c.ACKNOWLEDGEMENT:
            pass
        value = c.open_datagram(answer, [peer.label], peer.keys, peer.roster.public_key)[2]
        code = lambda salt: pair.acknowledgement_code(value["content"], salt)
        self.report("acknowledgement: of this datagram", value["code"] == code(datagram[17:33]), True)
        self.report("acknowledgement: of no other one", value["code"] == code(os.urandom(16)), False)
        host = bytes(10) + b"\xff\xff" + socket.inet_aton(self.target[0])
        self.report("acknowledgement: at this address", value["content"][44:], host)

    def reserved(self):
        """Statements of reserved kinds are kept, if they are signed. A header above its cap closes
        the connection before its body arrives."""
        sign = lambda body: r.sign_statement(self.peer.key, self.peer.roster.account, 200, body)
        forged = bytearray(sign(b"forged").data)
        forged[-1] ^= 1
        hello = (l.HELLO, self.peer.hello())
        wrapped = lambda data: struct.pack(">H", len(data)) + bytes(data)
        cases = (("with a wrong signature", wrapped(forged)),
                 ("of 513 bytes", wrapped(b"\xc8" + self.peer.roster.account + bytes(32 + 513 + 64))),
                 ("below 128", wrapped(b"\x7f" + self.peer.roster.account + bytes(32 + 64))))
        for case, data in cases:
            self._session(f"reserved: a statement {case}", "closed", self.peer.context, [(l.STATEMENTS, data), hello])
        self._send_statements(sign(b"one"), sign(b"another"))
        self.peer._settle(self.link)
        self.report("reserved: statements are kept", self.peer._is_settled(self.link), True)
        for kind, length in ((l.ACCOUNT_KEY, 34), (l.HELLO, 4098), (l.NOTICE, 2**20 + 2), (99, 65538)):
            link = self._call(self.peer.context, self.gate_key)
            link.send(hello)
            try:
                link.receive(5)
                link.send_raw(struct.pack(">IB", length, kind))
                while link.receive(5):
                    pass
                found = "open"
            except (ConnectionError, l.SSL.Error):
                found = "closed"
            self.report(f"reserved: the header of kind {kind} and length {length}", found, "closed")
            link.sock.close()

    def gate(self):
        captured, peer = self._client_hello(), self.peer
        token = lambda key, label, **caller: c.gate_token(key, self.server, label, captured, **caller)
        genuine, changed = token(self.gate_key, self.label), captured[:-1] + bytes([captured[-1] ^ 1])
        by_id, flip = {"epoch": (peer.device, peer.keys.gate)}, lambda data, at: data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
        static = lambda serial, **caller: token(self.gate_key, c.STATIC_LABEL, serial=serial, **caller) + captured
        period = lambda offset: b"handoff/" + struct.pack(">Q", int(time.time()) // 1024 + offset)
        unknown, raw = Ed25519PrivateKey.generate(), peer.roster.keys[self.server]
        account, own = peer.roster.account, c.raw_public(peer.key)
        former = c.hmac_sha256(self.gate_key, b"handoff/1 gate" + self.server + self.label + c.sha256(captured))
        cases = {
            "random token": os.urandom(c.TOKEN) + captured,
            "token as before version 1.0": former + captured,
            "token of another label": token(self.gate_key, c.make_label(peer.keys.label)) + captured,
            "token of no label": token(self.gate_key, b"") + captured,
            "token on a changed ClientHello": genuine + changed,
            "token with another hint": flip(genuine, 0) + captured,
            "token with another serial": flip(genuine, 8) + captured,
            "token with another tag": flip(genuine, 39) + captured,
            "token with another device's hint": token(
                self.gate_key, self.label, epoch=(self.server, peer.keys.gate)) + captured,
            "token with the hint of another epoch": token(self.gate_key, self.label, epoch=(peer.device, os.urandom(32))) + captured,
            "token with the hint of another server": c.pair_hint(self.gate_key, peer.device, self.label) + genuine[8:] + captured,
            "token for an empty server id": c.gate_token(self.gate_key, b"", self.label, captured) + captured,
            "token for ourselves": c.gate_token(self.gate_key, peer.device, self.label, captured) + captured,
            "token by the epoch's key for adverts": token(peer.keys.advert, self.label) + captured,
            "token by the epoch's gate key under a static label": token(peer.keys.gate, c.STATIC_LABEL) + captured,
            "token by the epoch's gate key with our hint": token(peer.keys.gate, self.label, **by_id) + captured,
            "token by the account key": token(peer.account_key, self.label) + captured,
            "token by the pairwise secret": token(peer.pair(self.server).secret, self.label) + captured,
            "token of an unknown device": token(c.PairKeys(unknown, raw, account).gate, self.label) + captured,
            "token of another pair": token(c.PairKeys(unknown, own, account).gate, self.label) + captured,
            "token of another account": token(c.PairKeys(peer.key, raw, os.urandom(16)).gate, self.label) + captured,
            "token of one's own key as a ticket": token(self._as_ticket(peer.key), self.label) + captured,
            "token of a ticket that was not issued": token(self._as_ticket(unknown), self.label) + captured,
            "label of a period of time": token(self.gate_key, period(0), serial=peer.serial()) + captured,
            "static label, boot 0": static((0, 1)),
            "static label, boot 2^63": static((2**63, 1)),
            "static label, an earlier boot": static((peer.boot - 1, 2**32 - 1)),
            "static label, an earlier call": static((peer.boot, 0)),
            "static label of an unknown device": token(c.PairKeys(unknown, raw, account).gate, c.STATIC_LABEL) + captured,
            "HTTP": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" + bytes(40),
            "long record": genuine + b"\x16\x03\x01\x10\x01" + bytes(4097),
            "empty record": token(self.gate_key, self.label) + b"\x16\x03\x01\0\0",
            "a byte behind the record": genuine + captured + b"\0",
        }
        for case, data in cases.items():
            self.report(f"gate: {case}", self._knock(data), b"")
        self.report("gate: genuine token answers", self._knock(genuine + captured) != b"", True)
        self.report("gate: the same token again", self._knock(genuine + captured), b"")
        self.report("gate: the same token with the hint of the epoch", self._knock(
            token(self.gate_key, self.label, **by_id) + captured), b"")
        other, by_other = self._client_hello(), lambda label, serial: c.gate_token(
            self.gate_key, self.server, label, other, serial, (peer.device, peer.keys.gate)) + other
        self.report("gate: by the hint of the epoch", self._knock(by_other(self.label, (1, 1))) != b"", True)
        for case, call in (("pair", lambda serial: static(serial)), ("epoch", lambda serial: by_other(c.STATIC_LABEL, serial))):
            serial, later = peer.serial(), peer.serial()
            self.report(f"gate: by address alone, hint of the {case}", self._knock(call(later)) != b"", True)
            self.report(f"gate: by address again, hint of the {case}", self._knock(call(later)), b"")
            self.report(f"gate: by address later, hint of the {case}", self._knock(call(serial)), b"")
        by_epoch = token(peer.keys.gate, self.label)
        self.report("gate: by the epoch's gate key", self._knock(by_epoch + captured) != b"", True)
        self.report("gate: by the epoch's gate key again", self._knock(by_epoch + captured), b"")

    def callers(self):
        """The gate identifies the caller: a device's key admits only its own certificate, and a
        ticket's key one that proves itself."""
        mine = self.peer.context
        other, unknown = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
        self._send_statements(r.sign_statement(self.peer.key, self.peer.roster.account, r.ADD, c.raw_public(other)))
        others = self._pair(other)
        hello = [(l.HELLO, self.peer.hello())]
        self._session("caller: another member", "open", l.make_context(other), hello, others)
        self._session("caller: another member by our key", "closed", l.make_context(other), hello)
        self._session("caller: we by another member's key", "closed", mine, hello, others)
        self._session("caller: an unknown device by our key", "closed", l.make_context(unknown), hello)
        self._session("caller: a member by a ticket", "open", mine, hello, self._pair_of(self._ticket()))
        other_context = l.make_context(other)
        ours = [(l.STATEMENTS, self.peer.roster.encoded()), *hello]
        self._session("caller: a member's statements behind our key", "closed", other_context, ours)

    def introductions(self):
        """Tests what the epoch's gate key opens: a device that another member has admitted enters
        with the statements that prove this."""
        peer, account, gate, key = self.peer, self.peer.roster.account, self.peer.keys.gate, Ed25519PrivateKey.generate()
        sign = lambda kind, body: r.sign_statement(peer.key, account, kind, body)
        added, context, hello = sign(r.ADD, c.raw_public(key)), l.make_context(key), (l.HELLO, self._hello_without_key())
        list_of = lambda *statements: (l.STATEMENTS, r.encode_list([*peer.roster.statements.values(), *statements]))
        removed = Ed25519PrivateKey.generate()
        self._send_statements(sign(r.REMOVE, r.remove_body(c.device_id(c.raw_public(removed)))))
        for case, frames, made in (
                ("hello first", [hello, list_of(added)], context),
                ("the roster alone", [list_of(), hello], context),
                ("more than 512 KiB", [(l.STATEMENTS, r.encode_list([added] * 4000)), hello], context),
                ("a key", [(l.ACCOUNT_KEY, peer.account_key)], context),
                ("a removed device", [list_of(sign(r.ADD, c.raw_public(removed))), hello], l.make_context(removed)),
        ):
            self._session(f"introduction: {case}", "closed", made, frames, gate)
        self._session("introduction: by its own key it is unknown", "closed", context, [hello], self._pair(key))
        self._session("introduction: of a member", "open", peer.context, [hello], gate)
        self._session("introduction: lets in", "open", context, [list_of(added), hello], gate, l.ACCOUNT_KEY)
        self._session("introduction: then by its own key", "open", context, [hello], self._pair(key))
        peer._settle(self.link)

    def _hello_without_key(self):
        hello = json.loads(self.peer.hello())
        return json.dumps({name: value for name, value in hello.items() if name not in ("epoch", "label")}).encode()

    def tickets(self):
        """Tests what a ticket opens: one device, once, and only with the statements that make it live."""
        account = self.peer.roster.account
        ticket, other, key = self._ticket(), self._ticket(), Ed25519PrivateKey.generate()
        use = r.sign_statement(ticket, account, r.USE, c.raw_public(key))
        list_of = lambda *statements: r.encode_list([*self.peer.roster.statements.values(), *statements])
        named = r.sign_statement(key, account, r.NAME, r.name_body(c.device_id(c.raw_public(key)), 1, "Guest"))
        context, gate = l.make_context(key), self._pair_of(ticket)
        forged = bytearray(list_of(use))
        forged[-1] ^= 1
        removed = Ed25519PrivateKey.generate()
        self._send_statements(r.sign_statement(self.peer.key, account, r.REMOVE, r.remove_body(c.device_id(c.raw_public(removed)))))
        of_removed = r.sign_statement(ticket, account, r.USE, c.raw_public(removed))
        hello, many = (l.HELLO, self.peer.hello()), r.encode_list([use] * 4000)
        by_other = r.sign_statement(other, account, r.USE, c.raw_public(Ed25519PrivateKey.generate()))
        for case, frames, made in (
                ("a use with a wrong signature", [(l.STATEMENTS, bytes(forged)), hello], context),
                ("the roster alone", [(l.STATEMENTS, list_of()), hello], context),
                ("a name alone", [(l.STATEMENTS, list_of(named)), hello], context),
                ("a use for another device", [(l.STATEMENTS, list_of(by_other)), hello], context),
                ("more than 512 KiB", [(l.STATEMENTS, many), hello], context),
                ("hello first", [hello, (l.STATEMENTS, list_of(use))], context),
                ("a key", [(l.ACCOUNT_KEY, self.peer.account_key)], context),
                ("a removed device", [(l.STATEMENTS, list_of(of_removed)), hello], l.make_context(removed)),
        ):
            self._session(f"ticket: {case}", "closed", made, frames, gate)
        frames = [(l.STATEMENTS, list_of(use, named)), (l.HELLO, self._hello_without_key())]
        self._session("ticket: a use lets in", "open", context, frames, gate, l.ACCOUNT_KEY)
        self.peer._settle(self.link)
        self._answers()
        self.report("ticket: and is closed", r.ticket_id(c.raw_public(ticket)) in self.peer.roster.tickets, False)
        self.report("ticket: no new epoch", self.peer.is_current, True)
        self._session("ticket: the same again", "closed", context, frames, gate)
        second = Ed25519PrivateKey.generate()
        again = r.sign_statement(ticket, account, r.USE, c.raw_public(second))
        self._session("ticket: a second device", "closed", l.make_context(second), [(l.STATEMENTS, list_of(again))], gate)
        self._session("ticket: the device by its own key", "open", context, [hello], self._pair(key))
        revoked = r.remove_body(r.ticket_id(c.raw_public(other)))
        self._send_statements(r.sign_statement(self.peer.key, account, r.REMOVE, revoked))
        frames = [(l.STATEMENTS, list_of(r.sign_statement(other, account, r.USE, c.raw_public(second))))]
        self._session("ticket: revoked", "closed", l.make_context(second), frames, self._pair_of(other))

    def _ticket(self):
        """Creates a ticket that the daemon knows. Returns its key."""
        ticket = Ed25519PrivateKey.generate()
        self._send_statements(r.sign_statement(self.peer.key, self.peer.roster.account, r.TICKET, c.raw_public(ticket)))
        return ticket

    def _pair(self, key):
        return c.PairKeys(key, self.peer.roster.keys[self.server], self.peer.roster.account).gate

    def _pair_of(self, ticket):
        return self.peer.pair_of_ticket(self.server, ticket).gate

    _as_ticket = _pair_of

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

    def unknown_devices(self):
        """A caller that has a ticket's key and nothing else."""
        statements, hello, gate = self.peer.roster.encoded(), self.peer.hello(), self._pair_of(self._ticket())
        cases = [
            ("unknown device: statements that prove nothing", [(l.STATEMENTS, statements), (l.HELLO, hello)]),
            ("unknown device: no statements", [(l.STATEMENTS, b""), (l.HELLO, hello)]),
            ("unknown device: hello", [(l.HELLO, hello)]),
            ("unknown device: request", [(l.REQUEST, b'{"id":1,"method":"activities"}')]),
            ("unknown device: unknown kind", [(99, b"")]),
        ]
        for case, frames in cases:
            self._session(case, "closed", l.make_context(Ed25519PrivateKey.generate()), frames, gate)

    def members(self):
        hello = (l.HELLO, self.peer.hello())
        hello_with = lambda **changes: (l.HELLO, json.dumps(json.loads(self.peer.hello()) | changes).encode())
        ask = b'{"id":1,"method":"activities"}'
        again = b'{"id":2,"method":"activities"}'
        many = [(l.REQUEST, b'{"id":%d,"method":"nothing"}' % number) for number in range(1, 41)]
        changed = bytearray(r.encode_list([r.sign_statement(self.peer.key, self.peer.roster.account, r.ADD, bytes(32))]))
        changed[-1] ^= 1
        wrong = {
            "software": (1, "", "x" * 129, ["a"]), "kind": (1, "", {}), "port": (0, 65536, "24863", 1.0, None),
            "boot": (0, -1, "1", 2**63, None), "seq": (-1, 2**32, "1", 1.5), "seenBoot": (0, -1, "1"),
            "label": ("", "zz" * 16, "00" * 15, " 0" * 16, 1), "roster": ("", "00" * 7, " 0" * 8, 1, None),
            "epoch": ("", 7, "00" * 9, "+0" * 8), "listSeq": (-1, 2**32, "1", 1.5, self.peer.seq + 1),
            "capabilities": ("", {}, [1], [""], ["x" * 33], ["x"] * 17), "version": (0, "1", None), "device": ("00" * 32, 1),
        }
        cases = [
            ("member: request before hello", [(l.REQUEST, ask)], "closed"),
            ("member: hello of 5 KiB", [(l.HELLO, b" " * 5000)], "closed"),
            ("member: hello again", [hello, hello, (l.REQUEST, ask)], "open"),
            ("member: hello again with another device", [hello, hello_with(device="00" * 32)], "closed"),
            ("member: hello again that is none", [hello, (l.HELLO, b"{}")], "closed"),
            ("member: hello with unknown values", [hello_with(capabilities=["x" * 32] * 16, future={"a": [1]})], "open"),
            ("member: one request id twice", [hello, (l.REQUEST, ask), (l.REQUEST, ask)], "closed"),
            ("member: response to nothing", [hello, (l.RESPONSE, b'{"id":9,"result":{}}')], "closed"),
            ("member: a statement of an unknown kind", [(l.STATEMENTS, b"\0\x71" + b"\x09" + bytes(112))], "closed"),
            ("member: a statement that was changed", [(l.STATEMENTS, changed)], "closed"),
            ("member: a key that is too long", [hello, (l.ACCOUNT_KEY, bytes(33))], "closed"),
            ("member: a key that is too short", [hello, (l.ACCOUNT_KEY, bytes(31))], "closed"),
            ("member: a key that no epoch commits to", [hello, (l.ACCOUNT_KEY, bytes(32)), (l.REQUEST, ask)], "open"),
            ("member: a key twice", [hello, (l.REQUEST, b'{"id":1,"id":2,"method":"activities"}')], "closed"),
            ("member: an envelope without a method", [hello, (l.REQUEST, b'{"id":1}')], "closed"),
            ("member: 40 levels", [hello, (l.REQUEST, b'{"id":1,"a":' + b"[" * 40 + b"]" * 40 + b"}")], "closed"),
            ("member: unknown kind is ignored", [hello, (99, b"x"), (l.REQUEST, ask)], "open"),
            ("member: kind 7 is unknown", [hello, (7, self._foreign_advert()), (l.REQUEST, ask)], "open"),
            ("member: keys without end", [hello] + [(l.ACCOUNT_KEY, bytes(32))] * 60, "closed"),
            ("member: what is above its budget is not read", [hello] + many + [(l.REQUEST, b"{")], "open"),
            ("member: notices without end", [hello] + [(l.NOTICE, b'{"method":"a"}')] * 300, "closed"),
        ]
        cases += [(f"member: hello with {name} {value!r:.20}", [hello_with(**{name: value}), (l.REQUEST, again)], "closed")
                  for name, values in wrong.items() for value in values]
        for case, frames, expected in cases:
            self._session(case, expected, self.peer.context, frames)
            time.sleep(0.12)  # One device may make ten connections in a second.

    def _foreign_advert(self):
        """A statement that the founder could have made, except for the signature."""
        announcement = self.peer.announcement() | {"device": self.peer.roster.founder.by}
        return self.peer.label + c.sign_advert(announcement, self.peer.label, self.peer.key)

    def crowd(self):
        """The holder of a ticket's key can create any number of identities. They must not use up what members need."""
        links, gate = [], self._pair_of(self._ticket())
        for _ in range(100):
            try:
                context = l.make_context(Ed25519PrivateKey.generate())
                links.append(self._call(context, gate))
            except (ConnectionError, l.SSL.Error):
                pass
        self.report("crowd: a member is answered", self._answers(), True)
        for link in links:
            link.sock.close()

    def hoard(self):
        """A member and two more of its identities start frames of 8 MiB and do not complete them.
        All together they may occupy 64 MiB."""
        maximum, links, closed = 8 * 2**20, [], 0
        callers = [(self.peer.context, self.gate_key)] * 3  # It already has one connection.
        for _ in range(2):
            key = Ed25519PrivateKey.generate()
            self._send_statements(r.sign_statement(self.peer.key, self.peer.roster.account, r.ADD, c.raw_public(key)))
            callers += [(l.make_context(key), self._pair(key))] * 4
        for context, gate in callers:
            link = self._call(context, gate)
            links.append(link)
            link.send((l.HELLO, self.peer.hello()))
            try:
                link.send_raw(c.frame(l.STATEMENTS, bytes(maximum))[:-1])
            except OSError:
                pass
        for link in links:
            try:
                while link.receive(0.5):
                    pass
            except (OSError, l.SSL.Error):
                closed += 1
            link.sock.close()
        self.report("hoard: excess connections are closed", 3 <= closed < len(links), True)
        self.report("hoard: a member is answered", self._answers(), True)

    def removed(self):
        """A device that is removed between its proof and its hello is not served. Secrets that it
        shares with members open nothing."""
        key, peer = Ed25519PrivateKey.generate(), self.peer
        context, account, raw = l.make_context(key), peer.roster.account, c.raw_public(key)
        self._send_statements(r.sign_statement(peer.key, account, r.ADD, raw))
        gate, hello = self._pair(key), c.frame(l.HELLO, peer.hello())
        self.report("removed: a member before", self._late(context, gate, hello, lambda: None), "hello")
        removal, former = r.sign_statement(peer.key, account, r.REMOVE, r.remove_body(c.device_id(raw))), peer.keys.gate
        self.report("removed: late hello", self._late(context, gate, hello, lambda: self._send_statements(removal)), "closed")
        self.report("removed: new connection", self._late(context, gate, hello, lambda: None), "closed")
        captured = self._client_hello()
        for case, label in (("label", self.label), ("static label", c.STATIC_LABEL)):
            token = c.gate_token(gate, self.server, label, captured)
            self.report(f"removed: its key under the {case}", self._knock(token + captured), b"")
        ticket = self._pair_of(self._ticket())
        frames = [(l.STATEMENTS, peer.roster.encoded()), (l.HELLO, peer.hello())]
        self._session("removed: by a ticket", "closed", context, frames, ticket)
        self._session("removed: by our key", "closed", context, frames)
        self.peer._settle(self.link)  # The removal ended the epoch.
        self.report("removed: the others have a new key", self.peer.is_current, True)
        for case, key in (("former", former), ("present", peer.keys.gate)):
            self._session(f"removed: by the key of the {case} epoch", "closed", context, frames, key)

    def flood(self):
        """A member that sends too many statements is read later, and none of them is dropped. Excess hellos are."""
        hello = l.HELLO, self.peer.hello()
        for case, frame, count, answered, minimum, maximum in (
                ("statements", (l.STATEMENTS, b""), 40, True, 4, 15),
                ("hello", hello, 80, True, 1, 10),
                ("hello without end", hello, 300, False, 0, 10)):
            link = self._call(self.peer.context, self.gate_key)
            begin = time.monotonic()
            try:
                link.send(hello, *[frame] * count)
                if frame == hello:
                    time.sleep(1.5)  # It counts in the same way as requests.
                link.send((l.REQUEST, b'{"id":1,"method":"activities"}'))
                while (found := link.receive(20)) and found[0] != l.RESPONSE:
                    pass
            except (OSError, l.SSL.Error):
                found = None
            took = time.monotonic() - begin
            self.report(f"flood: a request after {case} is answered", found is not None, answered)
            self.report(f"flood: {case}, in its time", minimum <= took <= maximum or f"{took:.1f} s", True)
            link.close()
            time.sleep(1.1)
        self.report("the daemon still answers", self._answers(), True)

    def _call(self, context, gate):
        return l.Link.call(*self.target, context, gate, self.server, self.label)

    def _send_statements(self, *statements):
        """Sends the daemon statements, and waits until it has stored them."""
        self.peer.roster.merge(list(statements))
        self.peer.send_frames(self.link, (l.STATEMENTS, self.peer.roster.encoded()), (l.HELLO, self.peer.hello()))
        self._answers()  # Nothing is read before the statements are stored.

    def _answers(self):
        """Returns whether the daemon answers. The part of this device's request budget that floods
        have used up is available again within a second."""
        for _ in range(3):
            try:
                return "result" in self.peer.request(self.link, "activities", {})
            except c.Refused:
                pass
        return False

    def _late(self, context, gate, hello, between):
        """Starts a hello, and completes it after something else. Returns the frames received."""
        try:
            link = self._call(context, gate)
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

    def _session(self, case, expected, context, frames, gate=None, wanted=None):
        """Reports whether a connection is still open after these frames. `wanted` is a kind that
        must have been received."""
        try:
            link = self._call(context, gate or self.gate_key)
            link.send(*frames)
            kinds = set()
            # Waits for an expected end. An unexpected one has this long to occur.
            while found := link.receive(10 if expected == "closed" else 1.5):
                kinds.add(found[0])
            link.close()
            found = "open" if wanted is None or wanted in kinds else f"kinds {kinds}"
        except (ConnectionError, l.SSL.Error):
            found = "closed"
        self.report(case, found, expected)


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    adversary = Adversary(*sys.argv[1:])
    adversary.datagrams()
    adversary.acknowledgements()
    adversary.gate()
    adversary.callers()
    adversary.introductions()
    adversary.tickets()
    adversary.unknown_devices()
    adversary.members()
    adversary.reserved()
    adversary.crowd()
    adversary.hoard()
    time.sleep(1.5)  # The part of this device's request budget that the floods have used up is available again. Requests above it are not answered.
    adversary.removed()
    adversary.flood()
    return 1 if adversary.failed else 0


if __name__ == "__main__":
    sys.exit(main())
