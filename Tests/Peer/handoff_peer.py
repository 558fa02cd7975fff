#!/usr/bin/env python3
"""A Handoff peer in Python, written from docs/protocol.md alone.

It checks the document's worked example, and talks to a real daemon: it joins the account of an exported account file,
exchanges statements and hello, sends an advert, and asks for activities. Needs `cryptography` and `pyOpenSSL`.

    handoff_peer.py vectors [docs/protocol.md]
    handoff_peer.py selftest
    handoff_peer.py --state FILE [--account FILE] show
    handoff_peer.py --state FILE [--account FILE] hello|activities HOST:PORT
    handoff_peer.py --state FILE [--account FILE] continue HOST:PORT ACTIVITY
    handoff_peer.py --state FILE [--account FILE] advert HOST:PORT [--type TYPE] [--title TITLE] [--goodbye]

The state file holds keys in the clear: this is a tool for tests. A ticket admits one device, so keep the file.
Every command prints one JSON object a line.
"""

import argparse
import base64
import json
import os
import pathlib
import re
import socket
import struct
import sys
import threading
import time

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import handoff_crypto as c
import handoff_link as l
import handoff_roster as r


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
        self.boot, self.seq = max(self.boot + 1, int(time.time())), 0
        self.store()
        self._derive()
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("0.0.0.0", 0))
        self.port = self.udp.getsockname()[1]

    def _import(self, data):
        ticket_seed, self.n, self.account_key, self.roster = r.read_account_file(data)
        self.key, self.boot = Ed25519PrivateKey.generate(), 0
        ticket = Ed25519PrivateKey.from_private_bytes(ticket_seed)
        use = r.sign_statement(ticket, self.roster.account, r.USE, c.raw_public(self.key))
        self.roster.merge([use])

    def store(self):
        seed = self.key.private_bytes(
            serialization.Encoding.Raw, serialization.PrivateFormat.Raw, serialization.NoEncryption()
        )
        text = json.dumps(
            {
                "seed": seed.hex(),
                "boot": self.boot,
                "n": self.n,
                "accountKey": self.account_key.hex(),
                "roster": self.roster.encoded().hex(),
            }
        )
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)

    def _derive(self):
        self.keys = c.EpochKeys(self.account_key, self.roster.account, self.n)
        self.label = c.make_label(self.keys.label)
        self.context = l.make_context(self.key)

    @property
    def device(self):
        return c.device_id(c.raw_public(self.key))

    def hello(self):
        current = self.roster.epoch and self.roster.epoch.fields[0] == self.n
        message = {
            "version": 1,
            "software": "handoff_peer.py",
            "kind": "other",
            "port": self.port,
            "boot": self.boot,
            "label": self.label.hex(),
            "roster": self.roster.digest[:8].hex(),
            "epoch": self.n,
            "epochIsCurrent": bool(current),
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
        link.hello = json.loads(body)
        return link

    def take(self, kind, body):
        """A frame that is no answer: statements and keys are kept, the rest is ignored."""
        if kind == l.STATEMENTS:
            self.roster.merge(r.decode_list(body))
            self.store()
        elif kind == l.EPOCH_KEY and len(body) == 40:
            (n,), key = struct.unpack(">Q", body[:8]), body[8:]
            epoch = self.roster.epoch
            if epoch is None or epoch.fields[0] != n or epoch.fields[2] != r.commitment(key):
                raise c.Refused("a key that no current epoch commits to")
            self.n, self.account_key = n, key
            self.store()
            self._derive()

    def settle(self, link, seconds=1.0):
        """Takes what the server sends by itself."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                found = link.receive(left)
            except ConnectionError:
                return
            if found:
                self.take(*found)

    def request(self, link, number, method, parameters):
        body = json.dumps({"id": number, "method": method, "parameters": parameters}).encode()
        link.send((l.REQUEST, body))
        while found := link.receive(5):
            if found[0] == l.RESPONSE:
                answer = json.loads(found[1])
                if answer.get("id") == number:
                    return answer
            else:
                self.take(*found)
        raise c.Refused("no answer")

    def open_connection(self, host, port):
        """A connection in the current epoch: the first one may bring another roster and key."""
        before = (self.n, self.roster.digest)
        link = self.connect(host, port)
        self.settle(link)
        if (self.n, self.roster.digest) != before:
            link.close()
            link = self.connect(host, port)
            self.settle(link, 0.3)
        return link

    def announcement(self, activities, goodbye):
        return {
            "device": self.device,
            "boot": self.boot,
            "seq": self.seq,
            "port": self.port,
            "kind": "other",
            "goodbye": goodbye,
            "roster": self.roster.digest[:8],
            "epoch": self.n,
            "activities": activities,
        }

    def advertise(self, host, port, receiver, activities, goodbye=False):
        """Sends an advert until it is acknowledged; returns what came back."""
        plain = c.sign_advert(self.announcement(activities, goodbye), self.label, self.key)
        heard = {"acknowledged": False, "adverts": 0}
        for wait in (0.03, 0.1, 0.3, 1, 2):
            datagram = c.seal_datagram(c.ADVERT, plain, self.label, receiver, self.keys.advert)
            self.udp.sendto(datagram, (host, port))
            end = time.monotonic() + wait
            while not heard["acknowledged"] and (left := end - time.monotonic()) > 0:
                self._listen(left, heard)
            if heard["acknowledged"]:
                break
        self._listen(0.3, heard)
        return heard

    def _listen(self, timeout, heard):
        self.udp.settimeout(max(timeout, 0.001))
        try:
            data, source = self.udp.recvfrom(2048)
            kind, sender, value = c.open_datagram(data, [self.label], self.keys, self.roster.public_key)
        except (TimeoutError, c.Refused):
            return
        if kind == "acknowledgement":
            heard["acknowledged"] |= (value["boot"], value["seq"]) == (self.boot, self.seq)
            return
        heard["adverts"] += 1
        heard["activities"] = value["activities"]
        plain = c.acknowledgement(self.device, value["boot"], value["seq"])
        self.udp.sendto(c.seal_datagram(c.ACKNOWLEDGEMENT, plain, self.label, sender, self.keys.advert), source)


def check_vectors(path):
    """Computes the worked example from its inputs and compares every value."""
    block = re.search(r"```vectors\n(.*?)```", pathlib.Path(path).read_text(), re.S).group(1)
    pairs = re.findall(r"^(\w+) =((?:\n? +[0-9a-f]+)+)", block, re.M)
    given = {name: bytes.fromhex("".join(text.split())) for name, text in pairs}
    (n,) = struct.unpack(">Q", given["epoch"])
    keys = c.EpochKeys(given["accountKey"], given["accountID"], n)
    a, b = (Ed25519PrivateKey.from_private_bytes(given[seed]) for seed in ("seedA", "seedB"))
    label_a, label_b = (c.make_label(keys.label, given[name][:8]) for name in ("labelA", "labelB"))
    device_a, device_b = (c.device_id(c.raw_public(key)) for key in (a, b))
    announcement = {
        "device": device_a,
        "boot": 1_800_000_000,
        "seq": 5,
        "port": 24863,
        "kind": "laptop",
        "roster": bytes(range(0x60, 0x68)),
        "epoch": n,
        "activities": [
            {
                "id": bytes(range(0x50, 0x60)).hex(),
                "type": "com.example.notes.edit",
                "title": "Café list",
                "team": "TEAM42",
                "streams": True,
                "webpageURL": True,
                "age": 12,
            },
            {"id": "01" * 16, "type": "NSUserActivityTypeBrowsingWeb", "webpageURL": True, "age": 3600},
        ],
    }
    salt, static = given["salt"], c.static_label(keys.label, 1_800_000_000)
    text = c.beacon_text(announcement, label_a, a, keys.beacon, salt)
    beacon_body = c.encode_announcement(announcement, c.BEACON_BODY)
    plain = c.sign_advert(announcement, label_a, a)
    receipt = c.acknowledgement(device_b, 1_800_000_000, 5)
    computed = {
        "labelKey": keys.label,
        "beaconKey": keys.beacon,
        "advertKey": keys.advert,
        "gateKey": keys.gate,
        "publicA": c.raw_public(a),
        "publicB": c.raw_public(b),
        "deviceA": device_a,
        "deviceB": device_b,
        "labelA": label_a,
        "labelB": label_b,
        "instanceA": base64.b32encode(label_a).decode().lower().rstrip("=").encode(),
        "staticLabel": static,
        "announcement": beacon_body.rstrip(b"\0"),
        "beaconSignature": a.sign(b"handoff/1 beacon sig\0" + label_a + beacon_body),
        "beaconRecord": b"".join(bytes([len(s)]) + s for s in text),
        "advertSignature": plain[-64:],
        "advert": c.seal_datagram(c.ADVERT, plain, label_a, label_b, keys.advert, salt),
        "acknowledgement": c.seal_datagram(c.ACKNOWLEDGEMENT, receipt, label_b, label_a, keys.advert, salt),
        "token": c.gate_token(keys.gate, label_b, given["clientHello"]),
        "staticToken": c.gate_token(keys.gate, static, given["clientHello"]),
    }
    wrong = [name for name, value in computed.items() if given.get(name) != value]
    public = {device_a: c.raw_public(a), device_b: c.raw_public(b)}.get
    opened = c.open_datagram(given["advert"], [label_b], keys, public)[2]
    if opened["activities"][0]["title"] != "Café list":
        wrong.append("advert (opened)")
    if c.open_beacon(text[::-1], label_a, keys, public)["seq"] != 5:
        wrong.append("beaconRecord (opened)")
    for name, size in (("helloFrame", 2), ("requestFrame", 3)):
        (length,), kind = struct.unpack(">I", given[name][:4]), given[name][4]
        if length != len(given[name]) - 4 or kind != size or not isinstance(json.loads(given[name][5:]), dict):
            wrong.append(name)
    print(json.dumps({"compared": len(computed) + 4, "wrong": wrong}))
    return 1 if wrong else 0


def selftest():
    """Gate, TLS and frames between two Python devices, and a caller who is refused."""
    keys = c.EpochKeys(os.urandom(32), os.urandom(16), 1)
    label = c.make_label(keys.label)
    a, b = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    listener = socket.create_server(("127.0.0.1", 0))
    seen = []

    def serve():
        for _ in range(2):
            sock = listener.accept()[0]
            try:
                link = l.Link.answer(sock, l.make_context(b), keys.gate, label)
                seen.append((link.peer, link.receive(5)))
                link.send((l.HELLO, b"{}"))
            except c.Refused as error:
                seen.append(str(error))
                sock.close()

    thread = threading.Thread(target=serve)
    thread.start()
    port = listener.getsockname()[1]
    link = l.Link.call("127.0.0.1", port, l.make_context(a), keys.gate, label)
    link.send((l.HELLO, b"{}"))
    answer = link.receive(5)
    try:
        l.Link.call("127.0.0.1", port, l.make_context(a), os.urandom(32), label)
        refused = False
    except (ConnectionError, c.Refused):
        refused = True
    thread.join()
    listener.close()
    proved = c.device_id(c.raw_public(a)), c.device_id(c.raw_public(b))
    fine = seen == [(proved[0], (l.HELLO, b"{}")), "wrong token"] and answer == (l.HELLO, b"{}")
    fine = fine and refused and link.peer == proved[1]
    print(json.dumps({"selftest": "passed" if fine else "failed"}))
    return 0 if fine else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state")
    parser.add_argument("--account")
    parser.add_argument("--type", default="com.example.peer")
    parser.add_argument("--title", default="From the Python peer")
    parser.add_argument("--goodbye", action="store_true")
    parser.add_argument("command", choices="vectors selftest show hello activities continue advert".split())
    parser.add_argument("target", nargs="?")
    parser.add_argument("activity", nargs="?")
    given = parser.parse_args()
    if given.command == "vectors":
        page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "protocol.md"
        return check_vectors(given.target or page)
    if given.command == "selftest":
        return selftest()
    if not given.state:
        parser.error("--state is missing")
    peer = Peer(given.state, given.account)
    if given.command == "show":
        live = sorted(device.hex() for device in peer.roster.live)
        print(
            json.dumps(
                {"device": peer.device.hex(), "account": peer.roster.account.hex(), "epoch": peer.n, "live": live}
            )
        )
        return 0
    host, _, port = (given.target or parser.error("HOST:PORT is missing")).rpartition(":")
    link = peer.open_connection(host.strip("[]"), int(port))
    if given.command == "hello":
        print(json.dumps({"device": link.peer.hex(), "hello": link.hello, "epoch": peer.n}))
    elif given.command == "activities":
        print(json.dumps(peer.request(link, 1, "activities", {})))
    elif given.command == "continue":
        print(json.dumps(peer.request(link, 1, "continue", {"activity": given.activity})))
    elif given.command == "advert":
        offer = {"id": os.urandom(16).hex(), "type": given.type, "title": given.title, "age": 0}
        receiver = bytes.fromhex(link.hello["label"])
        activities = [] if given.goodbye else [offer]
        heard = peer.advertise(host.strip("[]"), int(port), receiver, activities, given.goodbye)
        print(json.dumps({"activity": offer["id"], **heard}))
        return 0 if heard["acknowledged"] else 1
    link.close()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (c.Refused, OSError) as error:
        print(json.dumps({"error": type(error).__name__, "message": str(error)}), file=sys.stderr)
        sys.exit(1)
