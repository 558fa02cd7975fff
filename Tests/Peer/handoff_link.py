"""A connection between devices: gate, TLS over memory BIOs, frames."""

import datetime
import hashlib
import socket
import struct

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.x509.oid import NameOID
from OpenSSL import SSL

from handoff_crypto import Knock, MAX_RECORD, STATIC_LABEL, TOKEN, Refused, frame, gate_token, pair_hint

STATEMENTS, HELLO, REQUEST, RESPONSE, NOTICE, ACCOUNT_KEY = range(1, 7)
CONTROL, STREAM = b"handoff/1", b"handoff-stream/1"
INTRODUCTION = b"introduction"  # The caller with the epoch's gate key, which does not identify itself.


def make_context(key, protocol=CONTROL, groups=b"X25519"):
    """Applies the settings of the section TLS. pyOpenSSL has no calls for groups and signature algorithms."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "handoff")])
    start = datetime.datetime(2000, 1, 1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(start)
        .not_valid_after(datetime.datetime(2100, 1, 1))
        .sign(key, None)
    )
    context = SSL.Context(SSL.TLS_METHOD)
    context.set_min_proto_version(SSL.TLS1_3_VERSION)
    context.set_max_proto_version(SSL.TLS1_3_VERSION)
    library, handle = SSL._lib, context._context
    if library.SSL_CTX_set1_curves_list(handle, groups) != 1:
        raise RuntimeError("no such groups")
    if library.SSL_CTX_set1_sigalgs_list(handle, b"ed25519") != 1:
        raise RuntimeError("no ed25519")
    context.set_options(SSL.OP_NO_TICKET)
    context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
    context.use_certificate(certificate)
    context.use_privatekey(key)
    context.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, lambda *_: True)
    context.set_alpn_protos([protocol])
    context.set_alpn_select_callback(lambda _, offered: protocol if protocol in offered else b"")
    return context


class Gate:
    """The callers to which the device `server` opens: its labels, the accepted gate keys by id of
    device or ticket, and the epoch's gate key, which finds callers by their hint and opens to an
    introduction."""

    def __init__(self, server, labels, keys, epoch_key=None):
        self.server, self.labels, self.keys, self.epoch_key = server, labels, keys, epoch_key
        self.seen, self.latest = set(), {}
        self.devices = {caller[:8]: caller for caller in keys}
        self.hints = {pair_hint(key, server, label): caller for caller, key in keys.items() for label in (*labels, STATIC_LABEL)}

    def caller(self, token, record):
        """Returns the id of the caller, or INTRODUCTION. None for an unknown caller, and for a
        token that has been used before."""
        knock = Knock(token, record, self.server)
        caller = self.devices.get(knock.device(self.epoch_key)) if self.epoch_key else None
        caller = caller or self.hints.get(knock.hint, INTRODUCTION)
        key = self.keys.get(caller, self.epoch_key)
        for label in self.labels if key else ():
            if knock.is_made(key, label) and (label, knock.tag) not in self.seen:
                self.seen.add((label, knock.tag))
                return caller
        if caller != INTRODUCTION and knock.is_made(key, STATIC_LABEL) and knock.serial(key) > self.latest.get(caller, (0, 0)):
            self.latest[caller] = knock.serial(key)
            return caller
        return None


class Link:
    """One connection. `peer` is the device id that the other side's certificate proves."""

    def __init__(self, sock, context, protocol=CONTROL):
        self.sock, self.buffer, self.protocol = sock, b"", protocol
        self.tls = SSL.Connection(context, None)

    @classmethod
    def call(cls, host, port, context, gate_key, server, label, timeout=20, protocol=CONTROL, **caller):
        """Calls the device `server` under `label`. `caller` are serial and epoch of the token,
        which is sent with the ClientHello."""
        link = cls(socket.create_connection((host, port), timeout), context, protocol)
        link.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link.tls.set_connect_state()
        link._try_handshake()
        hello = link._outgoing()
        link.sock.sendall(gate_token(gate_key, server, label, hello, **caller) + hello)
        return link._handshake()

    @classmethod
    def answer(cls, sock, context, gate, protocol=CONTROL):
        """Answers a caller that the gate knows, whose id is then in `caller`. Any other caller receives no bytes."""
        link = cls(sock, context, protocol)
        token, header = link._exactly(TOKEN), link._exactly(5)
        (size,) = struct.unpack(">H", header[3:])
        if header[0] != 22 or not 1 <= size <= MAX_RECORD:
            raise Refused("no ClientHello")
        record = header + link._exactly(size)
        link._ends()
        link.caller = gate.caller(token, record)
        if link.caller is None:
            raise Refused("wrong token")
        link.tls.set_accept_state()
        link.tls.bio_write(record)
        return link._handshake()

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            more = self.sock.recv(count - len(data))
            if not more:
                raise Refused("closed before the gate")
            data += more
        return data

    def _ends(self):
        """Checks that no bytes follow the ClientHello."""
        self.sock.setblocking(False)
        try:
            if self.sock.recv(1, socket.MSG_PEEK):
                raise Refused("a byte after the ClientHello")
        except BlockingIOError:
            pass
        finally:
            self.sock.settimeout(5)

    def _outgoing(self):
        out = b""
        while True:
            try:
                out += self.tls.bio_read(65536)
            except SSL.WantReadError:
                return out

    def _try_handshake(self):
        try:
            self.tls.do_handshake()
            return True
        except SSL.WantReadError:
            return False

    def _feed(self):
        data = self.sock.recv(65536)
        if not data:
            raise ConnectionError("closed by the other side")
        self.tls.bio_write(data)

    def _handshake(self):
        while not self._try_handshake():
            self.sock.sendall(self._outgoing())
            self._feed()
        self.sock.sendall(self._outgoing())
        if self.tls.get_alpn_proto_negotiated() != self.protocol:
            raise Refused("other protocol")
        key = self.tls.get_peer_certificate(as_cryptography=True).public_key()
        if not isinstance(key, Ed25519PublicKey):
            raise Refused("no Ed25519 certificate")
        der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        self.peer = hashlib.sha256(der).digest()
        return self

    def send(self, *frames):
        """Sends (kind, body) pairs, in one write."""
        self.send_raw(b"".join(frame(kind, body) for kind, body in frames))

    def send_raw(self, data):
        """Sends bytes that need not be whole frames, in one write."""
        rest = memoryview(data)
        while rest:
            rest = rest[self.tls.send(rest[:16384].tobytes()) :]
        self.sock.sendall(self._outgoing())

    def receive(self, timeout=None):
        """Returns the next frame as (kind, body), or None if none arrived in time."""
        self.sock.settimeout(timeout)
        try:
            while True:
                if len(self.buffer) >= 4:
                    (size,) = struct.unpack(">I", self.buffer[:4])
                    if not 1 <= size <= 8 * 1024 * 1024 + 1:
                        raise Refused("frame of a wrong length")
                    if len(self.buffer) >= 4 + size:
                        kind, body = self.buffer[4], self.buffer[5 : 4 + size]
                        self.buffer = self.buffer[4 + size :]
                        return kind, body
                self._read()
        except TimeoutError:
            return None
        finally:
            self.sock.settimeout(5)

    def _read(self):
        """Adds at least one byte of plaintext to the buffer."""
        while True:
            try:
                self.buffer += self.tls.recv(65536)
                return
            except SSL.WantReadError:
                self._feed()
            except (SSL.ZeroReturnError, SSL.SysCallError) as error:
                raise ConnectionError("closed by the other side") from error

    def close(self):
        try:
            self.tls.shutdown()
            self.sock.sendall(self._outgoing())
        except (SSL.Error, OSError):
            pass
        self.sock.close()
