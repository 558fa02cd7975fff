#!/usr/bin/env python3
"""Pairing, implemented only from docs/protocol.md: both the device that joins and the one that
invites.

    handoff_pairing.py join --state FILE [HOST:PORT]     the code or the link is read from standard input
    handoff_pairing.py invite --state FILE [--decline]   founds an account unless FILE has one; prints code and link
    handoff_pairing.py selftest

FILE is the state of handoff_peer.py, with keys in the clear: this is a tool for tests. Every
command prints one JSON object a line. Each step of Joiner and Inviter is a separate method, so that
a test can replace one of them with a violation.
"""

import argparse
import json
import os
import pathlib
import socket
import struct
import sys
import time

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from OpenSSL import SSL

import handoff_crypto as c
import handoff_pairing_channel as p
import handoff_roster as r
import handoff_spake2 as spake2

PURPOSE = b"handoff/1 pair\0"
MAX_TRIES = 40  # Of one join. A busy or interrupted attempt is retried.


class Account:
    """The data that the inviter sends to the joiner: roster, epoch and account key."""

    def __init__(self, roster, n, account_key):
        self.roster, self.n, self.account_key = roster, n, account_key

    @classmethod
    def founded(cls, key, name="Python"):
        own, nonce, account_key = c.raw_public(key), os.urandom(16), os.urandom(32)
        account = r.account_id(own, nonce)
        sign = lambda kind, body: r.sign_statement(key, account, kind, body)
        found = sign(r.FOUND, nonce)
        named = sign(r.NAME, r.name_body(c.device_id(own), 1, name))
        return cls(r.Roster([found, named, sign(r.EPOCH, r.epoch_body(1, [], account_key))]), 1, account_key)

    @property
    def encoded(self):
        return struct.pack(">Q", self.n) + self.account_key + self.roster.encoded()

    def write(self, path, key, boot=0):
        seed = key.private_bytes(
            serialization.Encoding.Raw, serialization.PrivateFormat.Raw, serialization.NoEncryption()
        )
        state = {"seed": seed.hex(), "boot": boot, "n": self.n, "accountKey": self.account_key.hex()}
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(state | {"roster": self.roster.encoded().hex()}, file)


def identity(key, name, role, binding):
    """Returns the plaintext of an identity: 0 is the joiner, 1 the inviter."""
    own = c.spki(c.raw_public(key))
    data = name if isinstance(name, bytes) else name.encode()
    return own + bytes([len(data)]) + data + key.sign(PURPOSE + bytes([role]) + binding + own)


def read_identity(plain, role, binding):
    """Returns the public key and the name of the other side."""
    if len(plain) < 44 + 1 or len(plain) != 45 + plain[44] + 64 or not 1 <= plain[44] <= 64:
        raise c.Refused("an identity of a wrong length")
    own, data, signature = plain[:44], plain[45:-64], plain[-64:]
    raw = own[12:]
    if own != c.spki(raw) or not c.verify(raw, signature, PURPOSE + bytes([role]) + binding + own):
        raise c.Refused("an identity that is not proved")
    try:
        return raw, data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise c.Refused("a name that is not UTF-8") from error


class Joiner:
    """The device that has no account yet, in one session."""

    def __init__(self, session, secret, key=None, name="Python"):
        self.session, self.secret = session, secret
        self.key, self.name = key or Ed25519PrivateKey.generate(), name

    def exchange(self, timeout=20):
        """Exchanges salt and shares, and derives the keys."""
        self.salt = self.session.expect(p.SALT, timeout)
        self.side = spake2.Side(True, self.secret.w(self.salt), p.JOINER, p.INVITER)
        self.session.send((p.SHARE_A, self.side.share))
        self.share_b = self.session.expect(p.SHARE_B)
        self.keys = self.side.keys(self.share_b, b"handoff/1 pair" + self.session.binding)

    def confirm(self):
        self.session.send((p.CONFIRM_A, self.keys.confirm_a))
        if self.session.expect(p.CONFIRM_B) != self.keys.confirm_b:
            raise c.Refused("the inviting device does not know the code")
        self.session.use(self.keys.ke)

    def identify(self):
        self.session.send_sealed(p.IDENTITY, identity(self.key, self.name, 0, self.session.binding))
        self.inviter, self.inviter_name = read_identity(self.session.expect_sealed(p.IDENTITY), 1, self.session.binding)
        if self.inviter == c.raw_public(self.key):
            raise c.Refused("the inviting device has our key")

    def take(self, timeout=60):
        """Waits for the other user, and checks the received account. Does not report it as stored yet."""
        plain = self.session.expect_sealed(p.ACCOUNT, timeout)
        if len(plain) < 40:
            raise c.Refused("an account cut short")
        (n,), roster = struct.unpack(">Q", plain[:8]), r.Roster(r.decode_list(plain[40:]))
        own, other = c.device_id(c.raw_public(self.key)), c.device_id(self.inviter)
        if not {own, other} <= roster.live or not roster.commits_to(plain[8:40]) or roster.epoch.fields[0] != n:
            raise c.Refused("an account without this device, without the inviting device, or with another key")
        self.account = Account(roster, n, plain[8:40])
        return self.account

    def stored(self):
        self.session.send_sealed(p.STORED, b"")

    def run(self):
        self.exchange()
        self.confirm()
        self.identify()
        self.take()
        self.stored()
        return self.account


class Inviter:
    """The device that has an account, in one session."""

    def __init__(self, session, digits, link, account, key, salt=None, name="Python"):
        self.session, self.account, self.key, self.name = session, account, key, name
        self.secret, self.salt = link if session.by_link else digits, salt or p.new_salt()

    def exchange(self, w=None):
        self.session.send((p.SALT, self.salt))
        self.side = spake2.Side(False, w or self.secret.w(self.salt), p.JOINER, p.INVITER)
        self.share_a = self.session.expect(p.SHARE_A)
        self.keys = self.side.keys(self.share_a, b"handoff/1 pair" + self.session.binding)
        self.session.send((p.SHARE_B, self.side.share))

    def check(self):
        self.confirm_a = self.session.expect(p.CONFIRM_A)
        if self.confirm_a != self.keys.confirm_a:
            self.session.refuse(1)
            raise c.Refused("the joining device does not know the code")

    def confirm(self):
        self.session.send((p.CONFIRM_B, self.keys.confirm_b))
        self.session.use(self.keys.ke)

    def identify(self):
        self.joiner, self.joiner_name = read_identity(self.session.expect_sealed(p.IDENTITY), 0, self.session.binding)
        self.session.send_sealed(p.IDENTITY, identity(self.key, self.name, 1, self.session.binding))

    def admit(self):
        """Creates the statements that admit the joiner, after the user has agreed."""
        account, device = self.account.roster.account, c.device_id(self.joiner)
        sign = lambda kind, body: r.sign_statement(self.key, account, kind, body)
        added, named = sign(r.ADD, self.joiner), sign(r.NAME, r.name_body(device, 1, self.joiner_name))
        self.account.roster.merge([added, named])

    def hand_over(self, plain=None):
        self.session.send_sealed(p.ACCOUNT, plain or self.account.encoded)
        self.session.expect_sealed(p.STORED)

    def run(self):
        self.exchange()
        self.check()
        self.confirm()
        self.identify()
        self.admit()
        self.hand_over()


def join(places, secret, key=None, name="Python", source=None, on_attempt=lambda *_: None):
    """Joins as a device does: a busy or interrupted attempt is retried, and the first wrong confirmation ends it."""
    key, problem = key or Ed25519PrivateKey.generate(), None
    for number in range(MAX_TRIES):
        host, port = places[number % len(places)]
        session = None
        try:
            session = p.Session.call(host, port, secret, source=source)
            joiner = Joiner(session, secret, key, name)
            joiner.run()
            return joiner
        except p.Ended as error:
            if error.reason != "busy":
                raise
            problem = error
            time.sleep(min(error.seconds, 10) or 0.05)
        except (OSError, SSL.Error) as error:
            problem = error
            time.sleep(0.05)
        finally:
            on_attempt(number, problem)
            if session:
                session.close()
    raise problem


class Window:
    """An open window of the inviting device: code, link, and its address."""

    def __init__(self, key, account, digits=None, host="127.0.0.1", protocol=p.PROTOCOL):
        self.key, self.account = key, account
        self.digits = p.Digits(digits or p.code(int.from_bytes(os.urandom(8), "big")))
        self.secret, self.salt = p.LinkSecret(os.urandom(16)), p.new_salt()
        self.context = p.make_context(True, protocol)
        self.listener = socket.create_server((host, 0))
        self.listener.settimeout(60)
        self.place = f"{host}:{self.listener.getsockname()[1]}"
        self.link = p.write_link(self.secret, [self.place])

    def accept(self):
        """Accepts the next joiner, before any message."""
        sock = self.listener.accept()[0]
        sock.settimeout(20)
        session = p.Session.answer(sock, self.secret, self.context)
        return Inviter(session, self.digits, self.secret, self.account, self.key, self.salt)

    def close(self):
        self.listener.close()


def report(value):
    print(json.dumps(value), flush=True)


def run_join(given):
    text = sys.stdin.readline().strip()
    if text.startswith("handoff:"):
        secret, places = p.read_link(text)
    else:
        secret, places = p.Digits(text), []
    if given.target:
        host, _, port = given.target.rpartition(":")
        places = [(host.strip("[]"), int(port))]
    joiner = join(places, secret, name=given.name)
    joiner.account.write(given.state, joiner.key)
    device = c.device_id(joiner.inviter).hex()
    report({"event": "joined", "account": joiner.account.roster.account.hex(), "device": device, "name": joiner.inviter_name})


def run_invite(given):
    path = pathlib.Path(given.state)
    if path.exists():
        state = json.loads(path.read_text())
        key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(state["seed"]))
        roster = r.Roster(r.decode_list(bytes.fromhex(state["roster"])))
        account = Account(roster, state["n"], bytes.fromhex(state["accountKey"]))
    else:
        key = Ed25519PrivateKey.generate()
        account = Account.founded(key, given.name)
    window = Window(key, account)
    report({"event": "opened", "code": window.digits.text, "link": window.link, "addresses": [window.place]})
    inviter = window.accept()
    inviter.exchange()
    inviter.check()
    inviter.confirm()
    inviter.identify()
    report({"event": "confirm", "device": c.device_id(inviter.joiner).hex(), "name": inviter.joiner_name})
    if given.decline:
        return inviter.session.refuse(5)
    inviter.admit()
    account.write(given.state, key)
    inviter.hand_over()
    report({"event": "joined", "device": c.device_id(inviter.joiner).hex(), "name": inviter.joiner_name})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state")
    parser.add_argument("--name", default="Python")
    parser.add_argument("--decline", action="store_true")
    parser.add_argument("command", choices="join invite selftest".split())
    parser.add_argument("target", nargs="?")
    given = parser.parse_args()
    if given.command == "selftest":
        import handoff_pairing_checks

        return handoff_pairing_checks.selftest()
    if not given.state:
        parser.error("--state is missing")
    (run_join if given.command == "join" else run_invite)(given)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (c.Refused, OSError, SSL.Error) as error:
        print(json.dumps({"error": type(error).__name__, "message": str(error)}), file=sys.stderr)
        sys.exit(1)
