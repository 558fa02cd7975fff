"""The channel of pairing: the code and the link, TLS without certificates of devices, frames, and the sealed frames."""

import base64
import datetime
import functools
import hashlib
import hmac
import os
import socket
import struct

from cryptography import x509
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.x509.oid import NameOID
from OpenSSL import SSL

import handoff_spake2 as spake2
from handoff_crypto import Refused, hmac_sha256
from handoff_link import Link
from handoff_pairing_codes import CODE_DIGITS, code, other_code

PROTOCOL = b"handoff-pair/1"
JOINER, INVITER = b"handoff/1 joiner", b"handoff/1 inviter"
SALT, SHARE_A, SHARE_B, CONFIRM_A, CONFIRM_B, IDENTITY, ACCOUNT, STORED, REFUSAL = range(1, 10)
MAX_IDENTITY, MAX_ACCOUNT = 512, 8 * 1024 * 1024 + 64 * 1024
# The minimum and the maximum number of bytes of a body. The account is sealed, and has at least epoch, key and tag.
LENGTHS = {
    SALT: (16, 16),
    SHARE_A: (65, 65),
    SHARE_B: (65, 65),
    CONFIRM_A: (32, 32),
    CONFIRM_B: (32, 32),
    IDENTITY: (44 + 1 + 1 + 64 + 16, MAX_IDENTITY),
    ACCOUNT: (8 + 32 + 16, MAX_ACCOUNT),
    STORED: (16, 16),
    REFUSAL: (1, 3),
}
REASONS = [
    "failed", "wrongCode", "codeEnded", "windowClosed", "busy", "declined", "cancelled", "alreadyMember", "removed",
    "accountFull", "failed",
]


class Ended(Refused):
    """The other side has refused. `reason` is its reason, and `seconds` how long it is busy."""

    def __init__(self, reason, seconds=None):
        super().__init__(f"the other side refuses: {reason}" + (f", {seconds} s" if seconds is not None else ""))
        self.reason, self.seconds = reason, seconds


def read_refusal(body):
    """Returns reason and seconds of a refusal. An unknown reason is read as `failed`."""
    reason = REASONS[body[0]] if body[0] < len(REASONS) else "failed"
    if len(body) == (3 if reason == "busy" else 1):
        return Ended(reason, struct.unpack(">H", body[1:])[0] if reason == "busy" else None)
    raise Refused("a refusal of a wrong length")


# The two secrets


@functools.lru_cache(maxsize=64)
def stretch(digits, salt):
    """The value of a code in SPAKE2. It takes a third of a second to compute, once for a code and a salt."""
    full = b"handoff/1 pair" + salt
    stretched = hashlib.scrypt(digits.encode(), salt=full, n=2**16, r=8, p=1, maxmem=2**27, dklen=48)
    return int.from_bytes(stretched, "big") % spake2.ORDER


class Digits:
    """The digits of a code, for people. The same code is stretched again with every salt."""

    def __init__(self, text):
        self.text = "".join(character for character in text if character.isdigit())
        if len(self.text) != CODE_DIGITS:
            raise Refused(f"not {CODE_DIGITS} digits")

    def other(self, by=1):
        """Other digits: the code with a value that differs by `by`."""
        return Digits(other_code(self.text, by))

    def w(self, salt):
        return stretch(self.text, salt)

    def token(self, client_hello):
        return b""


class LinkSecret:
    """The 16 bytes of a link."""

    def __init__(self, secret):
        self.secret = secret

    def w(self, salt):
        derived = HKDF(hashes.SHA256(), 48, salt, b"handoff/1 pair link").derive(self.secret)
        return int.from_bytes(derived, "big") % spake2.ORDER

    def token(self, client_hello):
        return hmac_sha256(self.secret, b"handoff/1 pair gate" + client_hello)


def read_link(text):
    """Returns secret and candidates (host, port) of a link."""
    start, _, rest = text.strip().partition("handoff:pair/1/")
    coded, _, places = rest.partition("/")
    if start or len(text) > 512 or not places:
        raise Refused("no link of pairing")
    try:
        secret = base64.b32decode(coded.upper() + "=" * (-len(coded) % 8))
    except ValueError as error:
        raise Refused("a link that is damaged") from error
    candidates = [(host.strip("[]"), int(port)) for host, _, port in (place.rpartition(":") for place in places.split(","))]
    if len(secret) != 16 or not 1 <= len(candidates) <= 8:
        raise Refused("a link of another form")
    return LinkSecret(secret), candidates


def write_link(secret, candidates):
    coded = base64.b32encode(secret.secret).decode().rstrip("=").lower()
    return f"handoff:pair/1/{coded}/" + ",".join(candidates)


# TLS


def make_context(is_server, protocol=PROTOCOL):
    """The joiner has no certificate and checks none. The inviter's is discarded with the context."""
    context = SSL.Context(SSL.TLS_METHOD)
    context.set_min_proto_version(SSL.TLS1_3_VERSION)
    context.set_max_proto_version(SSL.TLS1_3_VERSION)
    library, handle = SSL._lib, context._context
    if library.SSL_CTX_set1_curves_list(handle, b"X25519") != 1:
        raise RuntimeError("no X25519")
    if library.SSL_CTX_set1_sigalgs_list(handle, b"ed25519") != 1:
        raise RuntimeError("no ed25519")
    context.set_options(SSL.OP_NO_TICKET)
    context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
    context.set_verify(SSL.VERIFY_NONE, lambda *_: True)
    context.set_alpn_protos([protocol])
    if is_server:
        key = Ed25519PrivateKey.generate()
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "handoff")])
        builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        builder = builder.serial_number(1).not_valid_before(datetime.datetime(2000, 1, 1))
        context.use_certificate(builder.not_valid_after(datetime.datetime(2100, 1, 1)).sign(key, None))
        context.use_privatekey(key)
        refuse = SSL.NO_OVERLAPPING_PROTOCOLS
        context.set_alpn_select_callback(lambda _, offered: protocol if protocol in offered else refuse)
    return context


class Session(Link):
    """One pairing session: frames inside TLS, and after the confirmation sealed ones."""

    @classmethod
    def call(cls, host, port, secret, context=None, timeout=10, source=None):
        """Calls an inviter. With the secret of a link a token is sent first, in the same segment."""
        sock = socket.create_connection((host, port), timeout, source and (source, 0))
        return cls.over(sock, secret, context)

    @classmethod
    def over(cls, sock, secret, context=None):
        session = cls(sock, context or make_context(False))
        session.is_joiner = True
        while True:
            session.tls.set_connect_state()
            session._try_handshake()
            session.hello = session._outgoing()
            session.token = secret.token(session.hello)
            if session.token[:1] != b"\x16":
                break
            session.tls = SSL.Connection(context or make_context(False), None)
        sock.sendall(session.token + session.hello)
        return session._shake_hands()

    @classmethod
    def answer(cls, sock, link, context):
        """Answers a joiner, which may have the digits or the link. `by_link` is set accordingly."""
        session = cls(sock, context)
        session.is_joiner = False
        start = session._exactly(1)
        session.by_link = start != b"\x16"
        token = start + session._exactly(31) if session.by_link else b""
        header = session._exactly(5) if session.by_link else start + session._exactly(4)
        (size,) = struct.unpack(">H", header[3:])
        if header[0] != 22 or size > 4096:
            raise Refused("no ClientHello")
        session.hello = header + session._exactly(size)
        if session.by_link and not hmac.compare_digest(token, link.token(session.hello)):
            raise Refused("wrong token")
        session.tls.set_accept_state()
        session.tls.bio_write(session.hello)
        return session._shake_hands()

    def _shake_hands(self):
        try:
            while not self._try_handshake():
                self.sock.sendall(self._outgoing())
                self._feed()
        finally:
            self.sock.sendall(self._outgoing())
        if self.tls.get_alpn_proto_negotiated() != PROTOCOL:
            raise Refused("other protocol")
        self.binding = self.tls.export_keying_material(b"EXPORTER-Channel-Binding", 32, b"")
        self.sealing, self.counters = None, [0, 0]
        return self

    # Frames

    def receive(self, timeout=20):
        """Returns the next frame as (kind, body). Its length is checked before any memory is used for it."""
        self.sock.settimeout(timeout)
        while len(self.buffer) < 5:
            self._read()
        size, kind = struct.unpack(">IB", self.buffer[:5])
        minimum, maximum = LENGTHS.get(kind, (1, 0))
        if not minimum <= size - 1 <= maximum:
            raise Refused(f"frame of kind {kind} with {size} bytes")
        while len(self.buffer) < 4 + size:
            self._read()
        body, self.buffer = self.buffer[5 : 4 + size], self.buffer[4 + size :]
        return kind, body

    def expect(self, wanted, timeout=20):
        """Returns the body of the next frame, which must be of this kind. Raises Ended if the other side refuses."""
        kind, body = self.receive(timeout)
        if kind == REFUSAL:
            raise read_refusal(body)
        if kind != wanted:
            raise Refused(f"frame of kind {kind} instead of {wanted}")
        return body

    def raw(self, data):
        """Sends any bytes inside TLS."""
        while data:
            data = data[self.tls.send(data[:16384]) :]
        self.sock.sendall(self._outgoing())

    def refuse(self, reason, seconds=None):
        self.send((REFUSAL, bytes([reason]) + (struct.pack(">H", seconds) if seconds is not None else b"")))

    def ending(self, timeout=20):
        """Returns how the other side ends the session: the reason of its refusal, or "closed".
        Frames before are dropped."""
        try:
            while True:
                kind, body = self.receive(timeout)
                if kind == REFUSAL:
                    return read_refusal(body).reason
        except TimeoutError:
            return "open"
        except (ConnectionError, SSL.Error, Refused):
            return "closed"

    # Sealed frames

    def use(self, ke):
        """Enables sealed frames from here on, under the key that both sides derive from the exchange."""
        self.sealing = AESGCM(transfer_key(ke, self.binding))

    def _nonce(self, direction):
        number, self.counters[direction] = self.counters[direction], self.counters[direction] + 1
        return struct.pack(">IQ", direction, number)

    def sealed(self, kind, plaintext):
        return self.sealing.encrypt(self._nonce(0 if self.is_joiner else 1), plaintext, bytes([kind]))

    def send_sealed(self, kind, plaintext):
        self.send((kind, self.sealed(kind, plaintext)))

    def expect_sealed(self, kind, timeout=20):
        body = self.expect(kind, timeout)
        try:
            return self.sealing.decrypt(self._nonce(1 if self.is_joiner else 0), body, bytes([kind]))
        except InvalidTag as error:
            raise Refused("a sealed frame that is not genuine") from error


def transfer_key(ke, binding):
    return HKDF(hashes.SHA256(), 32, None, b"handoff/1 pair transfer" + binding).derive(ke)


def new_salt():
    return os.urandom(16)
