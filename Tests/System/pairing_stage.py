"""The common parts of the pairing tests: windows and joins directly at the control socket, and the
Python peer's pairing."""

import os
import select
import socket
import sys
import time

from harness import ROOT, Failure, Skip, expect, test

PEER = os.path.join(ROOT, "Tests", "Peer")
sys.path[:0] = [PEER, os.path.join(ROOT, "Integrations", "python")]
import handoff  # noqa: E402
from handoff_pairing_codes import CODE_DIGITS, other_code  # noqa: E402

try:
    import handoff_crypto as c
    import handoff_pairing as pairing
    import handoff_pairing_adversary as adversary
    import handoff_pairing_channel as p
    import handoff_roster as r
    import handoff_spake2 as spake2
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from OpenSSL import SSL

    MISSING = None
    ENDS = (c.Refused, OSError, SSL.Error)
except ModuleNotFoundError as error:
    if error.name.split(".")[0] not in ("OpenSSL", "cryptography"):
        raise
    c = pairing = adversary = p = r = spake2 = Ed25519PrivateKey = SSL = None
    MISSING, ENDS = error.name, (OSError,)

# The reasons that a joining device may report after a wrong code, or with a man in the middle.
NOT_TRUSTED = ("wrongCode", "untrusted")


def pairing_test(name, limit=120):
    """A test that needs the Python peer."""

    def register(function):
        def guarded(stage):
            if MISSING:
                raise Skip(f"the Python package '{MISSING}' is not installed (pip install cryptography pyOpenSSL)")
            function(stage)

        test(name, limit)(guarded)
        return function

    return register


class Call:
    """One call with its replies. An error is a reply with 'error' and 'reason'."""

    def __init__(self, daemon, method, more=True, **parameters):
        self.seen = []
        flags = {"more": True} if more else {}
        self.replies = handoff.Follow("dev.handoff1.Control." + method, parameters, daemon.socket, **flags)
        self.close = self.replies.close
        daemon.stage.closers.append(self.close)

    def arrived(self):
        """Returns the next reply if it has arrived; otherwise, and at the end, None."""
        try:
            answer = self.replies.read()
        except handoff.Refused as error:
            answer = {**error.parameters, "error": error.name}
        except handoff.Unreachable:
            self.replies.done = True
            return None
        self.seen += [answer] if answer is not None else []
        return answer

    def next(self, within=60):
        """Returns the next reply, or None at the end of the connection."""
        waiting, limit = select.poll(), time.monotonic() + within
        waiting.register(self.replies, select.POLLIN)
        while (answer := self.arrived()) is None and not self.replies.done:
            left = 1000 * max(0, limit - time.monotonic())
            expect(waiting.poll(left), f"no further reply within {within} s; seen: {self.seen}")
        return answer

    def wait(self, event, within=60):
        """Returns the next reply with this event, or error, skipping others."""
        while (answer := self.next(within)) is not None:
            if event in (answer.get("event"), answer.get("error")):
                return answer
            if "error" in answer:
                break
        raise Failure(f"ended before '{event}'; seen: {self.seen}")

    def refused(self, within=60):
        """Returns the reason for which a pairing failed."""
        return self.wait("PairingFailed", within)["reason"]

    def events(self):
        """Returns the replies received so far."""
        while self.arrived() is not None:
            pass
        return [answer.get("event") or answer.get("error") for answer in self.seen]


class Inviting(Call):
    """A pairing window of a daemon, which has an account afterwards."""

    def __init__(self, daemon, automatic=True):
        if daemon.ctl("account", "show").line["account"] is None:
            daemon.ctl("account", "create")
        self.daemon = daemon
        super().__init__(daemon, "Pair", automatic=automatic)
        self.window = self.wait("opened")["window"]
        self.code, self.link = self.window["code"], self.window["link"]
        self.secret, self.places = p.read_link(self.link)
        self.digits = p.Digits(self.code) if self.code else None
        self.target = "127.0.0.1", self.places[0][1]

    def answer(self, accept):
        device = self.wait("confirm")["device"]
        answered = Call(self.daemon, "AnswerPairing", more=False, device=device["id"], accept=accept).next()
        expect("error" not in answered, f"the answer was refused: {answered}")
        return device

    def session(self, secret=None, **more):
        return p.Session.call(*self.target, secret or self.digits, **more)

    def joiner(self, secret=None, key=None, name="Python", **more):
        """A joiner that already has the keys. It does not retry when the window is busy."""
        joiner = pairing.Joiner(self.session(secret, **more), secret or self.digits, key, name)
        joiner.exchange()
        return joiner

    def admits(self, secret=None, key=None):
        """Admits a Python device, in the ordinary way."""
        joiner = pairing.join([self.target], secret or self.digits, key)
        device = self.wait("joined")["device"]
        expect(device == {"id": c.device_id(c.raw_public(joiner.key)).hex(), "name": joiner.name}, f"wrong device joined: {device}")
        return joiner


def join(daemon, secret, place=None):
    """A join of a daemon, by the digits or the link of a Python window or as text."""
    text = getattr(secret, "text", secret)
    given = {"link": text} if text.startswith("handoff:") else {"code": text}
    return Call(daemon, "Join", **given, **({"address": place} if place else {}))


def has_no_account(daemon):
    daemon.is_well()
    expect(daemon.ctl("account", "show").line["account"] is None, f"{daemon.name} has an account")


def members(daemon):
    return {device["name"] for device in daemon.ctl("devices").lines}


def port(place):
    return int(place.rpartition(":")[2])


def python_window(**more):
    """A Python device with an account and an open window."""
    key = Ed25519PrivateKey.generate()
    return pairing.Window(key, pairing.Account.founded(key), **more)


def confirmed(window, key=None, name="Python"):
    """A joiner that has proved the code."""
    joiner = window.joiner(key=key, name=name)
    joiner.confirm()
    return joiner


def knock(target, data):
    """Returns the data that a client receives after sending these bytes."""
    try:
        with socket.create_connection(target, 5) as sock:
            sock.sendall(data)
            got = b""
            while piece := sock.recv(4096):
                got += piece
            return got
    except OSError:
        return b""
