"""The common parts of the pairing tests: windows and joins directly at the control socket, and the
Python peer's pairing."""

import contextlib
import json
import os
import queue
import socket
import sys
import threading

from harness import ROOT, Failure, Skip, expect, test

PEER = os.path.join(ROOT, "Tests", "Peer")
sys.path.insert(0, PEER)
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

PREFIX = "dev.handoff1.Control."

# The reasons that a joining device may report after a wrong code, or with a man in the middle.
NOT_TRUSTED = ("wrongCode", "untrusted")


def pairing_test(name, limit=60):
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
    """One call with its replies, which a thread reads. An error is a reply with 'error' and 'reason'."""

    def __init__(self, daemon, method, more=True, **parameters):
        self.seen, self.answers = [], queue.Queue()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(daemon.socket)
        daemon.stage.closers.append(self.close)
        call = {"method": PREFIX + method, "parameters": parameters, **({"more": True} if more else {})}
        self.socket.sendall(json.dumps(call).encode() + b"\0")
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        buffer = b""
        with contextlib.suppress(OSError):
            while data := self.socket.recv(65536):
                *whole, buffer = (buffer + data).split(b"\0")
                for message in whole:
                    reply = json.loads(message)
                    answer = dict(reply.get("parameters") or {})
                    if "error" in reply:
                        answer["error"] = reply["error"].removeprefix(PREFIX)
                    self.answers.put(answer)
        self.answers.put(None)

    def next(self, within=30):
        """Returns the next reply, or None at the end of the connection."""
        try:
            answer = self.answers.get(timeout=within)
        except queue.Empty:
            raise Failure(f"no further reply within {within} s; seen: {self.seen}") from None
        if answer is None:
            self.answers.put(None)
        else:
            self.seen.append(answer)
        return answer

    def wait(self, event, within=30):
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
        with contextlib.suppress(queue.Empty):
            while (answer := self.answers.get_nowait()) is not None:
                self.seen.append(answer)
            self.answers.put(None)
        return [answer.get("event") or answer.get("error") for answer in self.seen]

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


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
