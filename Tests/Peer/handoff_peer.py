#!/usr/bin/env python3
"""A Handoff peer in Python, written from docs/protocol.md alone.

It joins the account of an exported account file, keeps roster and key up to date, asks a device for what it offers,
and offers something itself. It calls and is not called: nobody listens at its TCP port. Needs `cryptography` and
`pyOpenSSL`.

    handoff_peer.py --state FILE [--account FILE] show
    handoff_peer.py --state FILE [--account FILE] hello|activities HOST:PORT
    handoff_peer.py --state FILE [--account FILE] continue HOST:PORT ACTIVITY
    handoff_peer.py --state FILE [--account FILE] offer HOST:PORT [--type TYPE] [--title TITLE] [--user-info JSON]
                                                           [--lie TYPE]
    handoff_peer.py vectors|selftest

`offer` goes on until its standard input ends; then it says goodbye. The state file holds keys in the clear: this is a
tool for tests. A ticket admits one device, so keep the file. Every command prints one JSON object a line.
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
import handoff_roster as r

REPEATS = (0.03, 0.1, 0.3, 1, 2)


class Peer:
    """This device and its account."""

    def __init__(self, path, account_file=None):
        self.path = pathlib.Path(path)
        if self.path.exists():
            state = json.loads(self.path.read_text())
            self.key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(state["seed"]))
            self.boot, self.n = state["boot"], state["n"]
            self.account_key = bytes.fromhex(state["accountKey"])
            self.roster = r.Roster(r.decode_list(bytes.fromhex(state["roster"])))
        elif account_file:
            self._import(pathlib.Path(account_file).read_bytes())
        else:
            raise SystemExit("no state yet: give --account FILE")
        self.boot, self.seq, self.offers, self.previous = max(self.boot + 1, int(time.time())), 0, {}, None
        self.streams = None  # Who gives tickets for streams and serves them: a StreamServer.
        self.store()
        self._derive()
        self.tcp, self.udp = self._sockets()
        self.port = self.udp.getsockname()[1]

    @staticmethod
    def _sockets():
        """Sockets of TCP and UDP at one port. Nobody listens at the first before there are streams, and no other process
        gets its number meanwhile."""
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
        ticket_seed, self.n, self.account_key, self.roster = r.read_account_file(data)
        self.key, self.boot = Ed25519PrivateKey.generate(), 0
        ticket = Ed25519PrivateKey.from_private_bytes(ticket_seed)
        own, account = c.raw_public(self.key), self.roster.account
        use = r.sign_statement(ticket, account, r.USE, own)
        name = r.sign_statement(self.key, account, r.NAME, r.name_body(self.device, 1, "Python"))
        self.roster.merge([use, name])
        if self.device not in self.roster.live or not self.roster.commits_to(self.account_key):
            raise c.Refused("an exported account that was used or closed before")

    def store(self):
        seed = self.key.private_bytes(
            serialization.Encoding.Raw, serialization.PrivateFormat.Raw, serialization.NoEncryption()
        )
        state = {"seed": seed.hex(), "boot": self.boot, "n": self.n, "accountKey": self.account_key.hex()}
        text = json.dumps(state | {"roster": self.roster.encoded().hex()})
        new = self.path.with_name(self.path.name + ".new")
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        os.replace(new, self.path)

    def _derive(self):
        """Keys and label of the present epoch; the label before is still taken."""
        self.keys = c.EpochKeys(self.account_key, self.roster.account, self.n)
        self.previous, self.label = getattr(self, "label", None), c.make_label(self.keys.label)
        self.context = l.make_context(self.key)

    @property
    def device(self):
        return c.device_id(c.raw_public(self.key))

    @property
    def is_current(self):
        return self.roster.commits_to(self.account_key)

    # Connections

    def hello(self):
        message = {
            "version": 1,
            "software": "handoff_peer.py",
            "kind": "other",
            "port": self.port,
            "boot": self.boot,
            "label": self.label.hex(),
            "roster": self.roster.digest[:8].hex(),
            "epoch": self.n,
            "epochIsCurrent": self.is_current,
        }
        return json.dumps(message).encode()

    def connect(self, host, port):
        """Calls a server by its address alone, and says what a client may say without waiting."""
        label = c.static_label(self.keys.label, time.time())
        link = l.Link.call(host, port, self.context, self.keys.gate, label)
        if link.peer not in self.roster.live or link.peer == self.device:
            raise c.Refused("the server is no live device")
        link.send((l.STATEMENTS, self.roster.encoded()), (l.HELLO, self.hello()))
        kind, body = link.receive(5) or (None, b"")
        if kind != l.HELLO:
            raise c.Refused("the server did not say hello")
        link.hello, link.epoch, link.next_id, link.has_statements = json.loads(body), self.n, 1, False
        seen = link.hello.get("seenBoot") or 0
        if self.boot < seen < 2**62:
            self.boot, self.seq = seen + 1, 0
            self.store()
        return link

    def open_connection(self, host, port):
        """A connection that carries everything, with roster and key brought up to date."""
        for _ in range(3):
            link = self.connect(host, port)
            self._settle(link)
            if link.hello.get("epoch") == link.epoch == self.n:
                return link
            link.close()  # Another epoch than the token's is in force: only roster and key pass here.
        raise c.Refused("the epochs do not come together")

    def _settle(self, link):
        """Waits until nothing is missing: the other side's statements, the end of our ticket, the key in force."""
        end = time.monotonic() + 5
        while (left := end - time.monotonic()) > 0:
            same = link.hello["roster"] == self.roster.digest[:8].hex() or link.has_statements
            tickets = {s.by for s in self.roster.statements.values() if s.kind == r.USE and s.admitted == self.device}
            if same and tickets <= self.roster.removed and self.is_current:
                return
            if found := link.receive(left):
                self.take(link, *found)
        raise c.Refused("roster or key did not come")

    def take(self, link, kind, body):
        """A frame that is no answer of the other side; returns the notice or request that it was."""
        if kind == l.STATEMENTS:
            self.roster.merge(r.decode_list(body))
            self.store()
            link.has_statements = True
        elif kind == l.EPOCH_KEY:
            if len(body) != 40:
                raise c.Refused("a key of a wrong form")
            if self.roster.commits_to(body[8:]) and body[8:] != self.account_key:
                self.n, self.account_key = self.roster.epoch.fields[0], body[8:]
                self.store()
                self._derive()
        elif kind == l.REQUEST:
            request = json.loads(body)
            link.send((l.RESPONSE, json.dumps({"id": request["id"]} | self._answer(link, request)).encode()))
            return request
        elif kind == l.NOTICE:
            return json.loads(body)
        return None

    def _answer(self, link, request):
        if request["method"] == "ping":
            return {"result": {}}
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
        body = json.dumps({"id": number, "method": method, "parameters": parameters}).encode()
        link.send((l.REQUEST, body))
        while found := link.receive(5):
            if found[0] == l.RESPONSE:
                answer = json.loads(found[1])
                if answer.get("id") == number:
                    return answer
            else:
                self.take(link, *found)
        raise c.Refused("no answer")

    # Adverts

    def announcement(self, goodbye=False):
        return {
            "device": self.device,
            "boot": self.boot,
            "seq": self.seq,
            "port": self.port,
            "kind": "other",
            "goodbye": goodbye,
            "roster": self.roster.digest[:8],
            "epoch": self.n,
            "activities": [] if goodbye else [offer["shown"] for offer in self.offers.values()],
        }

    def advertise(self, host, port, receiver, goodbye=False):
        """Says what has changed until it is acknowledged; returns what came back."""
        self.seq += 1
        plain = c.sign_advert(self.announcement(goodbye), self.label, self.key)
        heard = {"acknowledged": False, "adverts": 0}
        for wait in REPEATS:
            datagram = c.seal_datagram(c.ADVERT, plain, self.label, receiver, self.keys.advert)
            self.udp.sendto(datagram, (host, port))
            end = time.monotonic() + wait
            while not heard["acknowledged"] and (left := end - time.monotonic()) > 0:
                self.listen(left, heard)
            if heard["acknowledged"]:
                break
        return heard

    def listen(self, timeout, heard):
        """Takes one datagram, if one comes; adverts are acknowledged."""
        self.udp.settimeout(max(timeout, 0.001))
        labels = [label for label in (self.label, self.previous) if label]
        try:
            data, source = self.udp.recvfrom(2048)
            kind, sender, value = c.open_datagram(data, labels, self.keys, self.roster.public_key)
        except (TimeoutError, c.Refused):
            return
        if kind == "acknowledgement":
            heard["acknowledged"] |= (value["boot"], value["seq"]) == (self.boot, self.seq)
            return
        heard["adverts"] += 1
        plain = c.acknowledgement(self.device, value["boot"], value["seq"])
        self.udp.sendto(c.seal_datagram(c.ACKNOWLEDGEMENT, plain, self.label, sender, self.keys.advert), source)


def offer(peer, link, host, port, given):
    """Offers one activity until standard input ends, and answers who continues it."""
    activity = os.urandom(16).hex()
    peer.offers[activity] = {
        "shown": {"id": activity, "type": given.type, "title": given.title, "streams": False, "webpageURL": False, "age": 0},
        "payload": {"type": given.lie or given.type, "title": given.title, "userInfo": json.loads(given.user_info), "app": "peer"},
    }
    receiver = bytes.fromhex(link.hello["label"])
    say({"event": "offered", "activity": activity, **peer.advertise(host, port, receiver)})
    heard = {"acknowledged": False, "adverts": 0}
    while True:
        if select.select([sys.stdin], [], [], 0)[0] and not sys.stdin.buffer.read(1):
            break
        peer.listen(0.02, heard)
        if found := link.receive(0.02):
            message = peer.take(link, *found)
            if message:
                say({"event": message["method"], "parameters": message.get("parameters")})
    say({"event": "goodbye", **peer.advertise(host, port, receiver, goodbye=True)})


def say(value):
    print(json.dumps(value), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state")
    parser.add_argument("--account")
    parser.add_argument("--type", default="com.example.peer")
    parser.add_argument("--title", default="From the Python peer")
    parser.add_argument("--user-info", default="{}")
    parser.add_argument("--lie", help="hand over another type than is offered")
    parser.add_argument("command", choices="vectors selftest show hello activities continue offer".split())
    parser.add_argument("target", nargs="?")
    parser.add_argument("activity", nargs="?")
    given = parser.parse_args()
    if given.command in ("vectors", "selftest"):
        import handoff_checks

        return getattr(handoff_checks, given.command)()
    if not given.state:
        parser.error("--state is missing")
    peer = Peer(given.state, given.account)
    if given.command == "show":
        live = sorted(device.hex() for device in peer.roster.live)
        say({"device": peer.device.hex(), "account": peer.roster.account.hex(), "epoch": peer.n, "live": live})
        return 0
    host, _, port = (given.target or parser.error("HOST:PORT is missing")).rpartition(":")
    host, port = host.strip("[]"), int(port)
    link = peer.open_connection(host, port)
    if given.command == "hello":
        names = {device.hex(): name for device, name in peer.roster.names.items()}
        say({"device": link.peer.hex(), "hello": link.hello, "epoch": peer.n, "names": names})
    elif given.command == "activities":
        say(peer.request(link, "activities", {}))
    elif given.command == "continue":
        say(peer.request(link, "continue", {"activity": given.activity}))
        link.send((l.NOTICE, json.dumps({"method": "wasContinued", "parameters": {"activity": given.activity}}).encode()))
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
