#!/usr/bin/env python3
"""A Handoff peer in Python, written only from docs/protocol.md.

It joins the account of an exported account file, keeps roster and key up to date, requests a
device's offers, and offers an activity itself. It makes calls and receives none: nothing listens at
its TCP port. Needs `cryptography` and `pyOpenSSL`.

    handoff_peer.py --state FILE [--account FILE] show
    handoff_peer.py --state FILE [--account FILE] hello|activities HOST:PORT
    handoff_peer.py --state FILE [--account FILE] continue HOST:PORT ACTIVITY
    handoff_peer.py --state FILE [--account FILE] offer HOST:PORT [--type TYPE] [--title TITLE] [--user-info JSON]
                                                        [--lie TYPE] [--sleep]
    handoff_peer.py vectors|selftest

`offer` runs until its standard input ends, and then sends a leave message, or one that it goes to
sleep. The state file contains keys in the clear: this is a tool for tests. A ticket admits one
device, so keep the file. Every command prints one JSON object a line.
"""

import argparse
import json
import os
import pathlib
import select
import socket
import struct
import sys
import time

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import handoff_crypto as c
import handoff_link as l
import handoff_messages as m
import handoff_roster as r

IP_PKTINFO, MAX_SALTS = 8, 64
REPEATS = (0.03, 0.1, 0.3, 1, 2)
FIRST_RETRY, MAX_LISTS = 4, 8
SPACING = {l.STATEMENTS: 0.25, l.HELLO: 0.1}  # Between two of them on one connection.


def grease():
    """A reserved name without a meaning. This peer sends one in every message."""
    return "grease" + os.urandom(1).hex()


class Peer:
    """This device and its account."""

    def __init__(self, path, account_file=None):
        self.path = pathlib.Path(path)
        if self.path.exists():
            state = json.loads(self.path.read_text())
            read = lambda name: bytes.fromhex(state[name]) if state.get(name) else None
            self.key = Ed25519PrivateKey.from_private_bytes(read("seed"))
            self.boot, self.n, self.account_key = state["boot"], state["n"], read("accountKey")
            self.ticket = Ed25519PrivateKey.from_private_bytes(read("ticket")) if state.get("ticket") else None
            self.roster = r.Roster(r.decode_list(read("roster")))
            self.answered = {place: bytes.fromhex(device) for place, device in state.get("answered", {}).items()}
        elif account_file:
            self._import(pathlib.Path(account_file).read_bytes())
        else:
            raise SystemExit("no state yet: give --account FILE")
        self.boot, self.seq, self.offers = max(self.boot + 1, int(time.time())), 0, {}
        # The announcement since which the activities are unchanged, and the activities.
        self.list_seq, self.announced = 0, []
        self.label = self.previous = self.keys = None
        # A StreamServer issues tickets for streams and serves them.
        self.streams, self.pairs, self.seen, self.latest, self.calls = None, {}, set(), {}, 0
        self.context = l.make_context(self.key)
        self.store()
        self._derive()
        self.tcp, self.udp = self._sockets()
        self.udp.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
        self.salts = []  # Of the latest adverts that were sent.
        self.port = self.udp.getsockname()[1]

    @staticmethod
    def _sockets():
        """Opens sockets of TCP and UDP at one port. Nothing listens at the first before there are
        streams. Until then it keeps other processes from using its number."""
        for _ in range(100):
            tcp, udp = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            tcp.bind(("0.0.0.0", 0))
            try:
                udp.bind(tcp.getsockname())
                return tcp, udp
            except OSError:
                tcp.close()
                udp.close()
        raise SystemExit("no port is free for TCP and UDP")

    def _import(self, data):
        seed, self.roster = r.read_account_file(data)
        self.ticket, self.key = Ed25519PrivateKey.from_private_bytes(seed), Ed25519PrivateKey.generate()
        self.boot, self.n, self.account_key, self.answered = 0, 0, None, {}
        own, account, ticket = c.raw_public(self.key), self.roster.account, r.ticket_id(c.raw_public(self.ticket))
        if self.roster.tickets.get(ticket, (None, {own}))[1]:
            raise c.Refused("an exported account that was used or closed before")
        use = r.sign_statement(self.ticket, account, r.USE, own)
        name = r.sign_statement(self.key, account, r.NAME, r.name_body(self.device, 1, "Python"))
        self.roster.merge([use, name])
        if self.device not in self.roster.live:
            raise c.Refused("an exported account that has no room")

    def store(self):
        raw = serialization.Encoding.Raw, serialization.PrivateFormat.Raw, serialization.NoEncryption()
        state = {"seed": self.key.private_bytes(*raw).hex(), "boot": self.boot, "n": self.n}
        state["accountKey"] = self.account_key.hex() if self.account_key else None
        state["ticket"] = self.ticket.private_bytes(*raw).hex() if self.ticket else None
        state["answered"] = {place: device.hex() for place, device in self.answered.items()}
        text = json.dumps(state | {"roster": self.roster.encoded().hex()})
        new = self.path.with_name(self.path.name + ".new")
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        os.replace(new, self.path)

    def _derive(self):
        """Returns the keys and the label of the epoch whose key is held. The previous label is still accepted."""
        if self.account_key is None:
            return
        self.keys = c.EpochKeys(self.account_key, self.roster.account)
        self.previous, self.label = self.label, c.make_label(self.keys.label)

    @property
    def device(self):
        return c.device_id(c.raw_public(self.key))

    @property
    def is_current(self):
        return self.account_key is not None and self.roster.commits_to(self.account_key)

    # Gates

    def pair(self, device):
        """Returns the secrets shared with another known device."""
        if device not in self.pairs:
            self.pairs[device] = c.PairKeys(self.key, self.roster.keys[device], self.roster.account)
        return self.pairs[device]

    def pair_of_ticket(self, device, ticket=None):
        """Returns the secrets shared by a ticket whose key is known here and a device."""
        ticket = ticket or self.ticket
        own = r.ticket_id(c.raw_public(ticket))
        return c.PairKeys(ticket, self.roster.keys[device], self.roster.account, own_id=own)

    @property
    def gate(self):
        """Returns the callers to which this device opens, as a server."""
        keys = {device: self.pair(device).gate for device in self.roster.live - {self.device}}
        for ticket, (raw, users) in self.roster.tickets.items():
            if not users:
                keys[ticket] = c.PairKeys(self.key, raw, self.roster.account, other_id=ticket).gate
        labels = [label for label in (self.label, self.previous) if label]
        gate = l.Gate(self.device, labels, keys, self.keys.gate if self.keys else None)
        gate.seen, gate.latest = self.seen, self.latest
        return gate

    def serial(self):
        """Returns the boot counter and the number of one more call."""
        self.calls += 1
        return self.boot, self.calls

    # Connections

    def hello(self):
        message = {
            "version": 1,
            "software": "handoff_peer.py",
            "kind": "other",
            "port": self.port,
            "boot": self.boot,
            "seq": self.seq,
            "listSeq": self.list_seq,
            "roster": self.roster.digest[:8].hex(),
            "capabilities": [grease()],
            grease(): [None, {"a": 1}],
        }
        if self.label:
            message["label"] = self.label.hex()
        if self.is_current:
            message["epoch"] = r.commitment(self.account_key)[:8].hex()
        return json.dumps(message).encode()

    def _call(self, host, port):
        """Calls the device at an address, trying one member after the other until one answers."""
        place, others = f"{host}:{port}", self.roster.live - {self.device}
        last = self.answered.get(place)
        for device in sorted(others, key=lambda other: (other != last, other)):
            own, epoch = self.pair(device).gate, (self.device, self.keys.gate) if self.keys else None
            ways = [(self.pair_of_ticket(device).gate, None)] if self.ticket else []
            for key, epoch in ways + ([(own, epoch)] if epoch else []) + [(own, None)]:
                try:
                    link = l.Link.call(
                        host, port, self.context, key, device, c.STATIC_LABEL, serial=self.serial(), epoch=epoch)
                except ConnectionRefusedError:
                    raise
                except ConnectionError:
                    continue  # It is another device, or does not know the ticket, or knows it as used.
                if link.peer != device:
                    raise c.Refused("another device answered than was called")
                self.answered[place] = device
                return link
        raise c.Refused("no member answers at this address")

    def connect(self, host, port):
        """Calls a server by its address only, and sends the messages that a client may send without waiting."""
        link = self._call(host, port)
        link.next_id, link.last_id = 1, 0
        statements = [(l.STATEMENTS, self.roster.encoded())] if self.ticket else []
        self.send_frames(link, *statements, (l.HELLO, self.hello()))
        kind, body = link.receive(20) or (None, b"")
        if kind != l.HELLO:
            raise c.Refused("the server sent no hello")
        self.greeted(link, body)
        seen = link.hello.get("seenBoot") or 0
        if self.boot < seen < 2**62:
            self.boot, self.seq, self.list_seq = seen + 1, 0, 0
            self.store()
        return link

    def open_connection(self, host, port):
        """Opens a connection, and brings roster and key up to date. A joining device has joined then."""
        link, end = self.connect(host, port), time.monotonic() + 20
        while not self._is_settled(link):
            found = link.receive(max(0.001, end - time.monotonic()))
            if not found:
                raise c.Refused("the roster or the key did not arrive")
            self.take(link, *found)
        return link

    def _settle(self, link):
        """Waits on an open connection until roster and key are the same again."""
        end = time.monotonic() + 20
        while not self._is_settled(link) and (found := link.receive(max(0.001, end - time.monotonic()))):
            self.take(link, *found)

    def _is_settled(self, link):
        return link.hello["roster"] == self.roster.digest[:8].hex() and self.is_current and not self.ticket

    def take(self, link, kind, body):
        """Handles a frame of the other side that is not a reply. Returns the notice or request."""
        self._retry(link)
        if kind == l.STATEMENTS:
            before = self.roster.digest
            self.roster.merge(r.decode_list(body))
            self.store()
            if self.roster.digest != before:
                self.send_frames(link, (l.HELLO, self.hello()))
        elif kind == l.HELLO:
            link.hello = m.read_hello(body, link.peer)
            self._compare(link)
        elif kind == l.ACCOUNT_KEY:
            if len(body) != 32:
                raise c.Refused("a key of a wrong length")
            if self.roster.commits_to(body) and body != self.account_key:
                self.n, self.account_key, self.ticket = self.roster.epoch.fields[0], body, None
                self.store()
                self._derive()
                self.send_frames(link, (l.HELLO, self.hello()))
        elif kind == l.REQUEST:
            request = m.read_request(body, link.last_id)
            link.last_id = request["id"]
            link.send((l.RESPONSE, json.dumps({"id": request["id"], grease(): 1} | self._answer(link, request)).encode()))
            return request
        elif kind == l.NOTICE:
            return m.read_object(body)
        elif kind == l.RESPONSE and not 1 <= m.read_object(body).get("id", 0) < link.next_id:
            raise c.Refused("a response to nothing")
        return None

    def greeted(self, link, body):
        """Handles the first hello of the other side: the statements that it lacks are sent immediately."""
        link.hello, link.tries = m.read_hello(body, link.peer), 0
        if self._differs(link):
            self.send_frames(link, (l.STATEMENTS, self.roster.encoded()))
        self._compare(link)

    def _differs(self, link):
        return link.hello["roster"] != self.roster.digest[:8].hex()

    def _compare(self, link):
        """Answers a later hello with the key immediately, and with the whole list if the difference persists."""
        if not self._differs(link):
            link.tries, link.due = 0, None
        elif getattr(link, "due", None) is None:
            link.due = time.monotonic() + FIRST_RETRY
        self.hand_over(link)

    def _retry(self, link):
        if link.due and time.monotonic() >= link.due and link.tries < MAX_LISTS:
            link.tries += 1
            link.due = time.monotonic() + min(FIRST_RETRY * 2**link.tries, 60)
            self.send_frames(link, (l.STATEMENTS, self.roster.encoded()))
            self.hand_over(link)

    def hand_over(self, link):
        """Sends the key to a device that reports that it lacks it."""
        if self.is_current and link.hello.get("epoch") != r.commitment(self.account_key)[:8].hex():
            if link.peer in self.roster.live:
                link.send((l.ACCOUNT_KEY, self.account_key))

    @staticmethod
    def send_frames(link, *frames):
        """Sends statements and hello, not faster than a device may."""
        last_sent = link.__dict__.setdefault("said", {})
        for kind, body in frames:
            time.sleep(max(0, last_sent.get(kind, 0) + SPACING.get(kind, 0) - time.monotonic()))
            last_sent[kind] = time.monotonic()
        link.send(*frames)

    def _answer(self, link, request):
        if not self.is_current:
            return {"error": {"code": 4608, "reason": "accountKeyMissing", "message": "the key in force is missing"}}
        if request["method"] == "activities":
            listed = [offer["shown"] for offer in self.offers.values()]
            return {"result": {"boot": self.boot, "seq": self.seq, "activities": listed}}
        if request["method"] == "continue":
            offer = self.offers.get((request.get("parameters") or {}).get("activity"))
            if offer:
                offer.setdefault("takers", set()).add(link.peer)
                return {"result": offer["payload"]}
            return {"error": {"code": 4608, "reason": "unknownActivity", "message": "no such activity"}}
        if request["method"] == "openStream" and self.streams:
            return self.streams.give_ticket(link.peer, (request.get("parameters") or {}).get("activity"))
        return {"error": {"code": 3328, "reason": "unknownMethod", "message": "no such method"}}

    def request(self, link, method, parameters):
        number, link.next_id = link.next_id, link.next_id + 1
        body = json.dumps({"id": number, "method": method, "parameters": parameters, grease(): "x"}).encode()
        link.send((c.GREASE_KIND | os.urandom(1)[0] >> 4, os.urandom(15)), (l.REQUEST, body))
        while found := link.receive(5):
            if found[0] == l.RESPONSE:
                answer = json.loads(found[1])
                if answer.get("id") == number:
                    return answer
            else:
                self.take(link, *found)
        raise c.Refused("no answer")

    # Adverts

    def announcement(self, goodbye=False, asleep=False):
        return {
            "device": self.device,
            "boot": self.boot,
            "seq": self.seq,
            "port": self.port,
            "kind": "other",
            "goodbye": goodbye,
            "asleep": asleep,
            "roster": self.roster.digest[:8],
            "listSeq": self.list_seq,
            "grease": True,
            "activities": [] if goodbye else [offer["shown"] for offer in self.offers.values()],
        }

    def advertise(self, host, port, receiver, goodbye=False, asleep=False):
        """Sends the changes until they are acknowledged. Returns the reply."""
        self.seq += 1
        listed = [] if goodbye else list(self.offers)
        if listed != self.announced:
            self.announced, self.list_seq = listed, self.seq
        plain = c.sign_advert(self.announcement(goodbye, asleep), self.label, self.key)
        received = {"acknowledged": False, "adverts": 0}
        for wait in REPEATS:
            datagram = c.seal_datagram(c.ADVERT, plain, self.label, receiver, self.keys.advert)
            self.salts = [*self.salts, datagram[17:33]][-MAX_SALTS:]
            self.udp.sendto(datagram, (host, port))
            end = time.monotonic() + wait
            while not received["acknowledged"] and (left := end - time.monotonic()) > 0:
                self.listen(left, received)
            if received["acknowledged"]:
                break
        return received

    def listen(self, timeout, received):
        """Receives one datagram, if there is one. Adverts are acknowledged."""
        self.udp.settimeout(max(timeout, 0.001))
        labels = [label for label in (self.label, self.previous) if label]
        try:
            data, extra, _, source = self.udp.recvmsg(2048, 64)
            kind, sender, value = c.open_datagram(data, labels, self.keys, self.roster.public_key)
        except (TimeoutError, c.Refused):
            return
        if kind == "acknowledgement":
            received["acknowledged"] |= (value["boot"], value["seq"]) == (self.boot, self.seq) and self._is_genuine(value)
            return
        received["adverts"] += 1
        host = socket.inet_ntoa(extra[0][2][8:12])  # The third member of in_pktinfo: the destination address of the datagram.
        plain = c.acknowledgement(self.pair(value["device"]), self.device, value["boot"], value["seq"], host, data[17:33])
        self.udp.sendto(c.seal_datagram(c.ACKNOWLEDGEMENT, plain, self.label, sender, self.keys.advert), source)

    def _is_genuine(self, value):
        """Returns whether an acknowledgement was made by the device that it names, for an advert that was sent."""
        pair = self.pair(value["device"])
        return any(value["code"] == pair.acknowledgement_code(value["content"], salt) for salt in self.salts)


def offer(peer, link, host, port, given):
    """Offers one activity until standard input ends, and answers devices that continue it."""
    activity = os.urandom(16).hex()
    peer.offers[activity] = {
        "shown": {"id": activity, "type": given.type, "title": given.title, "streams": False, "webpageURL": False, "age": 0},
        "payload": {"type": given.lie or given.type, "title": given.title, "userInfo": json.loads(given.user_info), "app": "peer"},
    }
    receiver = bytes.fromhex(link.hello["label"])
    report({"event": "offered", "activity": activity, **peer.advertise(host, port, receiver)})
    received = {"acknowledged": False, "adverts": 0}
    while True:
        if select.select([sys.stdin], [], [], 0)[0] and not sys.stdin.buffer.read(1):
            break
        peer.listen(0.02, received)
        if found := link.receive(0.02):
            message = peer.take(link, *found)
            if message:
                report({"event": message["method"], "parameters": message.get("parameters")})
    report({"event": "goodbye", **peer.advertise(host, port, receiver, goodbye=True, asleep=given.sleep)})


def report(value):
    print(json.dumps(value), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state")
    parser.add_argument("--account")
    parser.add_argument("--type", default="com.example.peer")
    parser.add_argument("--title", default="From the Python peer")
    parser.add_argument("--user-info", default="{}")
    parser.add_argument("--lie", help="hand over another type than is offered")
    parser.add_argument("--sleep", action="store_true", help="send a sleep message instead of a leave message at the end")
    parser.add_argument("command", choices="vectors selftest show hello activities continue decline offer".split())
    parser.add_argument("target", nargs="?")
    parser.add_argument("activity", nargs="?")
    given = parser.parse_args()
    if given.command == "vectors":
        import handoff_vectors

        return handoff_vectors.check()
    if given.command == "selftest":
        import handoff_checks

        return handoff_checks.selftest()
    if not given.state:
        parser.error("--state is missing")
    peer = Peer(given.state, given.account)
    if given.command == "show":
        live = sorted(device.hex() for device in peer.roster.live)
        report({"device": peer.device.hex(), "account": peer.roster.account.hex(), "epoch": peer.n, "live": live})
        return 0
    host, _, port = (given.target or parser.error("HOST:PORT is missing")).rpartition(":")
    host, port = host.strip("[]"), int(port)
    link = peer.open_connection(host, port)
    if given.command == "hello":
        names = {device.hex(): name for device, name in peer.roster.names.items()}
        report({"device": link.peer.hex(), "hello": link.hello, "epoch": peer.n, "names": names, "joined": peer.ticket is None})
    elif given.command == "activities":
        report(peer.request(link, "activities", {}))
    elif given.command == "continue":
        report(peer.request(link, "continue", {"activity": given.activity}))
        link.send((l.NOTICE, json.dumps({"method": "wasContinued", "parameters": {"activity": given.activity}}).encode()))
    elif given.command == "decline":
        link.send((l.NOTICE, json.dumps({"method": "wasDeclined", "parameters": {"activity": given.activity}}).encode()))
        # Handled in order, so the notice has been handled by the time of the reply.
        report(peer.request(link, "activities", {}))
    elif given.command == "offer":
        offer(peer, link, host, port, given)
    link.close()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (c.Refused, OSError, struct.error) as error:
        print(json.dumps({"error": type(error).__name__, "message": str(error)}), file=sys.stderr)
        sys.exit(1)
