"""TLS records built by hand, for what no library can be made to send: records of one byte, and
changes of the key at will.

The secret of the client's direction is in the library's key log (RFC 8446, section 7.1). From then
on this program encrypts what the client sends, and the library decrypts what it receives.
"""

import hashlib
import hmac
import struct

from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

SUITES = {
    "TLS_AES_128_GCM_SHA256": (hashlib.sha256, 16, AESGCM),
    "TLS_AES_256_GCM_SHA384": (hashlib.sha384, 32, AESGCM),
    "TLS_CHACHA20_POLY1305_SHA256": (hashlib.sha256, 32, ChaCha20Poly1305),
}
HANDSHAKE, DATA = 22, 23
KEY_UPDATE = 24


def keep_secrets(context):
    """Makes a context record the secrets of its connections. Pass the result to `Records`."""
    secrets = []
    context.set_keylog_callback(lambda _, line: secrets.append(line.decode().split()))
    return secrets


def expand(digest, secret, label, length):
    """HKDF-Expand-Label with an empty context."""
    name = b"tls13 " + label
    info = struct.pack(">HB", length, len(name)) + name + b"\0"
    out, block, number = b"", b"", 1
    while len(out) < length:
        block = hmac.new(secret, block + info + bytes([number]), digest).digest()
        out, number = out + block, number + 1
    return out[:length]


class Records:
    """The client's direction of a connection on which the client has sent nothing since the handshake."""

    def __init__(self, link, secrets):
        self.link = link
        self.digest, self.size, self.cipher = SUITES[link.tls.get_cipher_name()]
        self.secret = bytes.fromhex([words[2] for words in secrets if words[0] == "CLIENT_TRAFFIC_SECRET_0"][-1])
        self._derive()

    def _derive(self):
        self.aead = self.cipher(expand(self.digest, self.secret, b"key", self.size))
        self.base = int.from_bytes(expand(self.digest, self.secret, b"iv", 12), "big")
        self.number = 0

    def record(self, data, kind=DATA):
        """Returns one record in its wire format."""
        head = struct.pack(">BHH", DATA, 0x0303, len(data) + 17)
        nonce = (self.base ^ self.number).to_bytes(12, "big")
        self.number += 1
        return head + self.aead.encrypt(nonce, data + bytes([kind]), head)

    def key_update(self, asks=True):
        """Changes the key of this direction, and requests the same of the other side."""
        made = self.record(struct.pack(">BBHB", KEY_UPDATE, 0, 1, asks), HANDSHAKE)
        self.secret = expand(self.digest, self.secret, b"traffic upd", self.digest().digest_size)
        self._derive()
        return made

    def send(self, data):
        self.link.sock.sendall(data)
