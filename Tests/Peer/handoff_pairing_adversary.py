"""Attackers between two devices that pair: one records, one terminates TLS on both sides, one
guesses.

Each listens at an address of its own, which the joiner uses as the inviter's. On a network the
attacker announces itself as an inviter, too. Used as a library by the tests.
"""

import selectors
import socket
import struct
import threading

from OpenSSL import SSL

import handoff_pairing_channel as p
import handoff_spake2 as spake2
from handoff_crypto import Refused, frame


class Recorder:
    """Forwards TCP, and records the bytes of each connection: [(from the caller?, bytes), ...]."""

    def __init__(self, target, host="127.0.0.1"):
        self.target, self.connections = target, []
        self.listener = socket.create_server((host, 0))
        self.place = f"{host}:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                caller = self.listener.accept()[0]
            except OSError:
                return
            recorded = []
            self.connections.append(recorded)
            try:
                called = socket.create_connection(self.target, 10)
            except OSError:
                caller.close()
                continue
            for source, sink, by_caller in ((caller, called, True), (called, caller, False)):
                source.settimeout(None)
                threading.Thread(target=self._pass, args=(source, sink, by_caller, recorded), daemon=True).start()

    @staticmethod
    def _pass(source, sink, by_caller, recorded):
        try:
            while data := source.recv(65536):
                recorded.append((by_caller, data))
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    @property
    def everything(self):
        return b"".join(data for recorded in self.connections for _, data in recorded)

    def close(self):
        self.listener.close()


class Between:
    """Terminates TLS on both sides, and forwards the frames. `change` receives (from the joiner?,
    kind, body), and returns the replacement: (kind, body), or None for nothing.

    It has neither code nor link, so it can read only what is not sealed: `frames`. It serves one
    connection after the other."""

    def __init__(self, target, change=None, host="127.0.0.1"):
        self.target, self.change, self.frames, self.failures = target, change or (lambda _, *frame: frame), [], []
        self.bindings = []
        self.context = p.make_context(True)
        self.listener = socket.create_server((host, 0))
        self.place = f"{host}:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                caller = self.listener.accept()[0]
            except OSError:
                return
            try:
                caller.settimeout(10)
                self._serve(caller)
            except (OSError, SSL.Error, Refused) as error:
                self.failures.append(repr(error))
            finally:
                caller.close()

    def _serve(self, caller):
        # A caller with a token: it cannot be computed for another ClientHello, so it is forwarded unchanged.
        joiner = p.Session(caller, self.context)
        joiner.is_joiner = False
        start = joiner._exactly(1)
        token = b"" if start == b"\x16" else start + joiner._exactly(31)
        header = start + joiner._exactly(4) if not token else joiner._exactly(5)
        joiner.tls.set_accept_state()
        joiner.tls.bio_write(header + joiner._exactly(struct.unpack(">H", header[3:])[0]))
        joiner._shake_hands()
        copied = p.LinkSecret(b"")
        copied.token = lambda _: token
        try:
            inviter = p.Session.call(*self.target, copied)
        finally:
            joiner.sock.setblocking(True)
        self.bindings += [joiner.binding, inviter.binding]
        self._pump(joiner, inviter)

    def _pump(self, joiner, inviter):
        sides = {joiner.sock: (True, joiner, inviter), inviter.sock: (False, inviter, joiner)}
        with selectors.DefaultSelector() as selector:
            for sock in sides:
                selector.register(sock, selectors.EVENT_READ)
            try:
                for is_joiner, source, sink in sides.values():
                    self._take(is_joiner, source, sink)  # The bytes received with the end of the handshake.
                while True:
                    for key, _ in selector.select(60):
                        is_joiner, source, sink = sides[key.fileobj]
                        source._feed()
                        self._take(is_joiner, source, sink)
            finally:
                joiner.close()
                inviter.close()

    def _take(self, is_joiner, source, sink):
        ended = None
        try:
            while True:
                source.buffer += source.tls.recv(65536)
        except SSL.WantReadError:
            pass
        except SSL.Error as error:
            ended = error
        while len(source.buffer) >= 5:
            size, kind = struct.unpack(">IB", source.buffer[:5])
            if len(source.buffer) < 4 + size:
                break
            body, source.buffer = source.buffer[5 : 4 + size], source.buffer[4 + size :]
            self.frames.append((is_joiner, kind, body))
            if changed := self.change(is_joiner, kind, body):
                sink.raw(frame(*changed))
        if ended:
            raise ended

    def body(self, kind):
        """Returns the first body of a kind that was forwarded."""
        return next(body for _, found, body in self.frames if found == kind)

    def close(self):
        self.listener.close()


def false_inviter(session, guess, salt=None):
    """Computes what a false inviter learns from one joiner, by following the protocol with a
    guessed code as far as it can.

    Returns salt, own scalar, shares and the joiner's confirmation, with which it can guess further
    offline."""
    salt = salt or p.new_salt()
    session.send((p.SALT, salt))
    side = spake2.Side(False, guess.w(salt), p.JOINER, p.INVITER)
    share_a = session.expect(p.SHARE_A)
    session.send((p.SHARE_B, side.share))
    return salt, side, share_a, session.expect(p.CONFIRM_A)


def codes_that_fit(candidates, salt, share_a, side, confirm_a, binding):
    """Returns the codes that explain a joiner's confirmation, to an attacker who chose the
    inviter's scalar.

    SPAKE2 guarantees that there is at most the one with which the inviter's share was made."""
    fit = []
    for code in candidates:
        other = spake2.Side(False, code.w(salt), p.JOINER, p.INVITER, own=side.own)
        other.share = side.share  # The one that the joiner has received.
        try:
            keys = other.keys(share_a, b"handoff/1 pair" + binding)
        except Refused:
            continue
        if keys.confirm_a == confirm_a:
            fit.append(code)
    return fit


def codes_that_fit_a_listener(candidates, salt, share_a, share_b, confirm_a, bindings):
    """Returns the codes that explain the frames of a session, to an attacker who saw all of them,
    even inside TLS, but chose nothing.

    For every code the shares are the blinded forms of some pair of points. The missing part is the
    point that only a party who chose a scalar can compute. Every point that can be computed without
    one is tried in its place."""
    fit = []
    for code in candidates:
        w = code.w(salt)
        a = spake2.add(spake2.decoded(share_a), spake2.negated(spake2.multiplied(spake2.M, w)))
        b = spake2.add(spake2.decoded(share_b), spake2.negated(spake2.multiplied(spake2.N, w)))
        guesses = [a, b, spake2.add(a, b), spake2.add(a, spake2.negated(b)), spake2.G, spake2.M, spake2.N]
        for shared in guesses:
            for binding in bindings:
                if shared is spake2.INFINITY or not spake2.is_on_curve(shared):
                    continue
                data = b"handoff/1 pair" + binding
                keys = spake2.Keys(p.JOINER, p.INVITER, share_a, share_b, spake2.encoded(shared), w, data)
                if keys.confirm_a == confirm_a:
                    fit.append(code)
    return fit
