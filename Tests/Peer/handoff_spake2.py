"""SPAKE2 of RFC 9382, suite P256-SHA256-HKDF-HMAC, with points as pairs of integers.

Slow, and its time depends on the secrets: this is for tests. handoffd uses another implementation.
"""

import hashlib
import hmac
import secrets
import struct

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from handoff_crypto import Refused

# The curve P-256 (SEC 2, section 2.4.2): y² = x³ - 3x + B over the field of P elements; G has the prime order ORDER.
P = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
INFINITY = None


def is_on_curve(point):
    x, y = point
    return 0 <= x < P and 0 <= y < P and (y * y - (x * x * x - 3 * x + B)) % P == 0


def add(a, b):
    if a is INFINITY or b is INFINITY:
        return a or b
    (x1, y1), (x2, y2) = a, b
    if x1 == x2:
        if (y1 + y2) % P == 0:
            return INFINITY
        slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, P) % P
    else:
        slope = (y2 - y1) * pow(x2 - x1, -1, P) % P
    x = (slope * slope - x1 - x2) % P
    return x, (slope * (x1 - x) - y1) % P


def negated(point):
    return INFINITY if point is INFINITY else (point[0], -point[1] % P)


def multiplied(point, scalar):
    result, scalar = INFINITY, scalar % ORDER
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point, scalar = add(point, point), scalar >> 1
    return result


def encoded(point):
    """Returns 65 bytes, uncompressed. Infinity has no such form."""
    return b"\x04" + point[0].to_bytes(32, "big") + point[1].to_bytes(32, "big")


def decoded(data):
    """Returns the point of 65 bytes. Refuses every other form, infinity, and points that are not on the curve."""
    if len(data) != 65 or data[0] != 4:
        raise Refused("a point of another form")
    point = int.from_bytes(data[1:33], "big"), int.from_bytes(data[33:], "big")
    if not is_on_curve(point):
        raise Refused("a point that is not on the curve")
    return point


def decompressed(data):
    x = int.from_bytes(data[1:], "big")
    y = pow(x * x * x - 3 * x + B, (P + 1) // 4, P)
    return x, y if y & 1 == data[0] & 1 else P - y


# RFC 9382, section 6.
M = decompressed(bytes.fromhex("02886e2f97ace46e55ba9dd7242579f2993b64e16ef3dcab95afd497333d8fa12f"))
N = decompressed(bytes.fromhex("03d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49"))


def blinded(base, own, w):
    """Returns a share: own * G + w * base, where base is M for A and N for B."""
    return add(multiplied(G, own), multiplied(base, w))


class Keys:
    """The keys that both sides have if they know the same w: Ke for later use, and the two confirmations."""

    def __init__(self, a, b, share_a, share_b, shared, w, data):
        parts = (a, b, share_a, share_b, shared, w.to_bytes(32, "big"))
        self.transcript = b"".join(struct.pack("<Q", len(part)) + part for part in parts)
        digest = hashlib.sha256(self.transcript).digest()
        self.ke, self.ka = digest[:16], digest[16:]
        derived = HKDF(hashes.SHA256(), 32, None, b"ConfirmationKeys" + data).derive(self.ka)
        self.kc_a, self.kc_b = derived[:16], derived[16:]
        self.confirm_a = hmac.new(self.kc_a, self.transcript, hashlib.sha256).digest()
        self.confirm_b = hmac.new(self.kc_b, self.transcript, hashlib.sha256).digest()


class Side:
    """A or B of one exchange. `own` is the secret scalar, given only by tests."""

    def __init__(self, is_a, w, a, b, own=None):
        self.is_a, self.w, self.a, self.b = is_a, w, a, b
        self.own = own or 1 + secrets.randbelow(ORDER - 1)
        self.share = encoded(blinded(M if is_a else N, self.own, w))

    def keys(self, other_share, data):
        """Returns the keys with the other side's share, and with `data` bound to them (the RFC's AAD)."""
        other = add(decoded(other_share), negated(multiplied(N if self.is_a else M, self.w)))
        if other is INFINITY:
            # Refusing it here would reveal that a guess at w is right. No confirmation matches a random point.
            other = multiplied(G, 1 + secrets.randbelow(ORDER - 1))
        shared = multiplied(other, self.own)
        shares = (self.share, other_share) if self.is_a else (other_share, self.share)
        return Keys(self.a, self.b, *shares, encoded(shared), self.w, data)


def wrong_vectors(vectors):
    """Returns the values of the RFC's appendix B that this program computes differently."""
    wrong = []
    for number, vector in enumerate(vectors):
        value = lambda name: bytes.fromhex(vector[name])
        w, x, y = (int.from_bytes(value(name), "big") for name in "wxy")
        names = vector["A"].encode(), vector["B"].encode()
        a, b = Side(True, w, *names, own=x), Side(False, w, *names, own=y)
        for keys in (a.keys(b.share, b""), b.keys(a.share, b"")):
            found = {
                "pA": a.share,
                "pB": b.share,
                "K": keys.transcript[-32 - 8 - 65 : -32 - 8],
                "Ke": keys.ke,
                "Ka": keys.ka,
                "KcA": keys.kc_a,
                "KcB": keys.kc_b,
                "confA": keys.confirm_a,
                "confB": keys.confirm_b,
            }
            wrong += [f"vector {number}: {name}" for name in found if found[name] != value(name)]
    return wrong
