"""Keys, labels, seals, tokens and statements, implemented only from docs/protocol.md."""

import hashlib
import hmac
import os
import random
import socket
import struct

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand

ADVERT, ACKNOWLEDGEMENT = 1, 2
ADVERT_SIZE, ACKNOWLEDGEMENT_SIZE = 1200, 128
ADVERT_BODY, BEACON_BODY, BEACON_ANNOUNCEMENT = 1087, 588, 520
BEACON_RECORD, ANNOUNCEMENT_HEAD = 943, 61
PERIOD, MARK_PLACES = 300, 30
GREASE_FLAG, GREASE_KIND = 0x80, 0xF0  # Reserved; see "Reserved values".
KINDS = ["other", "desktop", "laptop", "tablet", "phone", "server", "vm"]


class Refused(Exception):
    """Bytes that the document requires to be refused. The text names the check."""


def sha256(data):
    return hashlib.sha256(data).digest()


def hmac_sha256(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


# Keys


def raw_public(key):
    public = key.public_key() if isinstance(key, Ed25519PrivateKey) else key
    return public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def spki(raw):
    return bytes.fromhex("302a300506032b6570032100") + raw


def device_id(raw):
    return sha256(spki(raw))


class EpochKeys:
    """The sub-keys of one epoch."""

    def __init__(self, account_key, account_id):
        for purpose in ("label", "beacon", "advert", "gate"):
            info = b"handoff/1 " + purpose.encode() + account_id
            setattr(self, purpose, HKDFExpand(hashes.SHA256(), 32, info).derive(account_key))


# Labels


def make_label(label_key, random8=None):
    random8 = random8 or os.urandom(8)
    return random8 + hmac_sha256(label_key, b"label" + random8)[:8]


def is_member(label_key, label):
    return hmac.compare_digest(hmac_sha256(label_key, b"label" + label[:8])[:8], label[8:])


# Announcements


def is_type(text):
    return 1 <= len(text) <= 255 and all(0x21 <= ord(character) <= 0x7E for character in text)


def encode_activity(activity, grease=0):
    flags = (
        grease
        | (1 if activity.get("streams") else 0)
        | (2 if activity.get("webpageURL") else 0)
        | (4 if activity.get("title") is not None else 0)
        | (8 if activity.get("team") is not None else 0)
    )
    out = bytes.fromhex(activity["id"]) + struct.pack(">IB", activity["age"], flags)
    for text in (activity["type"], activity.get("title"), activity.get("team")):
        if text is not None:
            data = text.encode()
            out += bytes([len(data)]) + data
    return out


def encode_announcement(a, capacity):
    """Returns the announcement with as many activities as fit, padded with zeros, and with reserved
    flags if it has the member `grease`."""
    grease = GREASE_FLAG if a.get("grease") else 0
    packed, room = [], capacity - ANNOUNCEMENT_HEAD
    for activity in a["activities"]:
        data = encode_activity(activity, grease)
        if len(data) > room:
            break
        packed.append(data)
        room -= len(data)
    more = a.get("hasMore", False) or len(packed) < len(a["activities"])
    flags = grease | (1 if a.get("goodbye") else 0) | (2 if more else 0) | (4 if a.get("asleep") else 0)
    out = a["device"] + struct.pack(
        ">QIHBB8sIB", a["boot"], a["seq"], a["port"], KINDS.index(a["kind"]), flags, a["roster"], a["listSeq"], len(packed)
    )
    return (out + b"".join(packed)).ljust(capacity, b"\0")


def decode_announcement(data):
    try:
        device, rest = data[:32], data[32:ANNOUNCEMENT_HEAD]
        boot, seq, port, kind, flags, roster, list_seq, count = struct.unpack(">QIHBB8sIB", rest)
        if port == 0 or not 1 <= boot < 2**63 or list_seq > seq:
            raise Refused("malformed")
        at, activities = ANNOUNCEMENT_HEAD, []
        for _ in range(count):
            identifier = data[at : at + 16]
            age, bits = struct.unpack(">IB", data[at + 16 : at + 21])
            at += 21
            texts = []
            for present in (True, bits & 4, bits & 8):
                if not present:
                    texts.append(None)
                    continue
                size = data[at]
                text = data[at + 1 : at + 1 + size]
                if len(text) != size:
                    raise Refused("malformed")
                texts.append(text.decode("utf-8"))
                at += 1 + size
            if not is_type(texts[0]):
                raise Refused("malformed")
            activities.append(
                {
                    "id": identifier.hex(),
                    "age": age,
                    "type": texts[0],
                    "title": texts[1],
                    "team": texts[2],
                    "streams": bool(bits & 1),
                    "webpageURL": bool(bits & 2),
                }
            )
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise Refused("malformed") from error
    if any(data[at:]) or len({a["id"] for a in activities}) != len(activities):
        raise Refused("malformed")
    return {
        "device": device,
        "boot": boot,
        "seq": seq,
        "port": port,
        "kind": KINDS[kind] if kind < len(KINDS) else "other",
        "goodbye": bool(flags & 1),
        "asleep": flags & 5 == 5,
        "hasMore": bool(flags & 2),
        "roster": roster,
        "listSeq": list_seq,
        "activities": activities,
    }


# Envelopes


def seal(key, purpose, plaintext, data, salt=None):
    salt = salt or os.urandom(16)
    derived = HKDF(hashes.SHA256(), 32, salt, purpose).derive(key)
    return salt + AESGCM(derived).encrypt(bytes(12), plaintext, data)


def unseal(key, purpose, sealed, data):
    derived = HKDF(hashes.SHA256(), 32, sealed[:16], purpose).derive(key)
    try:
        return AESGCM(derived).decrypt(bytes(12), sealed[16:], data)
    except InvalidTag as error:
        raise Refused("notGenuine") from error


def verify(raw, signature, message):
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


# Beacons


def period(unix_seconds):
    """Returns the five-minute period of a clock, which may be before 1970."""
    return int(unix_seconds // PERIOD) % 2**32


def is_present(number, unix_seconds):
    return (number - period(unix_seconds) + 1) % 2**32 <= 2


def address_tag(beacon_key, label, address):
    return hmac_sha256(beacon_key, b"address" + label + address)[:4]


def beacon_body(announcement, label, beacon_key, addresses, unix_seconds, padding=None):
    """Returns the signed data of a beacon. `addresses` have 4 or 16 bytes each."""
    tags = b"".join(address_tag(beacon_key, label, address) for address in addresses[:16])
    tags += (padding or os.urandom(64))[len(tags) :]
    return struct.pack(">I", period(unix_seconds)) + tags + encode_announcement(announcement, BEACON_ANNOUNCEMENT)


def beacon_text(body, label, signing_key, beacon_key, salt=None, marks=None):
    """Returns the strings of the record. `marks` must be those under this label and this salt."""
    salt = salt or os.urandom(16)
    signature = signing_key.sign(b"handoff/1 beacon sig\0" + label + body)
    sealed = seal(beacon_key, b"handoff/1 beacon key", body + signature, b"handoff/1 beacon" + label, salt)
    parts = [b"b%d=" % i + sealed[228 * i : 228 * i + 228] for i in range(3)]
    strings = [b"v=1"] + parts + [b"m=" + (marks or make_marks([]))]
    assert sum(1 + len(string) for string in strings) == BEACON_RECORD
    return strings


def open_beacon(strings, label, keys, public_key):
    """Returns the announcement with its period and address tags, which the reader must check before
    it sends anything."""
    if [s for s in strings if s.startswith(b"v=")] != [b"v=1"]:
        raise Refused("shape")
    sealed = b""
    for i in range(3):
        found = [s for s in strings if s.startswith(b"b%d=" % i)]
        if len(found) != 1 or len(found[0]) != 231:
            raise Refused("shape")
        sealed += found[0][3:]
    if not is_member(keys.label, label):
        raise Refused("foreignLabel")
    plain = unseal(keys.beacon, b"handoff/1 beacon key", sealed, b"handoff/1 beacon" + label)
    announcement = check_signed(plain, b"handoff/1 beacon sig\0" + label, public_key, 68)
    tags = {plain[4 + 4 * i : 8 + 4 * i] for i in range(16)}
    return announcement | {"period": struct.unpack(">I", plain[:4])[0], "tags": tags}


# Pairwise secrets


def montgomery(raw):
    """Returns the u coordinate of an Ed25519 key on Curve25519."""
    prime = 2**255 - 19
    y = int.from_bytes(raw, "little") & (2**255 - 1)
    if y >= prime or y == 1:
        raise Refused("no agreement")
    return ((1 + y) * pow(1 - y, -1, prime) % prime).to_bytes(32, "little")


def agree(signing_key, raw_other):
    raw = serialization.Encoding.Raw, serialization.PrivateFormat.Raw
    seed = signing_key.private_bytes(*raw, serialization.NoEncryption())
    own = X25519PrivateKey.from_private_bytes(hashlib.sha512(seed).digest()[:32])
    return own.exchange(X25519PublicKey.from_public_bytes(montgomery(raw_other)))


class PairKeys:
    """The secrets shared by two devices, or by a ticket and a device: marks and the gate key. Ids
    are those of devices, unless given."""

    def __init__(self, signing_key, raw_other, account_id, own_id=None, other_id=None):
        ids = sorted([own_id or device_id(raw_public(signing_key)), other_id or device_id(raw_other)])
        info = b"handoff/1 pairwise" + ids[0] + ids[1]
        self.secret = HKDF(hashes.SHA256(), 32, account_id, info).derive(agree(signing_key, raw_other))
        self.gate = HKDFExpand(hashes.SHA256(), 32, b"gate").derive(self.secret)
        self.ack = HKDFExpand(hashes.SHA256(), 32, b"ack").derive(self.secret)
        self.kept = HKDFExpand(hashes.SHA256(), 32, b"kept").derive(self.secret)

    def acknowledgement_code(self, content, salt):
        """Returns the code of an acknowledgement with this content, of the advert's datagram that had this salt."""
        return hmac_sha256(self.ack, b"handoff/1 ack" + salt + content)[:16]

    def mark_ids(self, label, salt, endpoint):
        """Returns the ids of the places for one endpoint: that of the clock, then those of up to four echoes."""
        code = hmac_sha256(self.secret, b"mark" + label + salt + endpoint)
        return [code[3 * i : 3 * i + 3] for i in range(5)]

    def mark(self, label, salt, endpoint, unix_seconds):
        fresh = b"fresh" + label + salt + endpoint + struct.pack(">I", period(unix_seconds))
        return self.mark_ids(label, salt, endpoint)[0] + hmac_sha256(self.secret, fresh)[:5]

    def echo_mark(self, label, salt, endpoint, echoed, number=1):
        proof = hmac_sha256(self.secret, b"echo" + label + salt + endpoint + echoed)[:5]
        return self.mark_ids(label, salt, endpoint)[number] + proof

    def is_marked(self, marks, label, salt, endpoint, unix_seconds, own_salts=()):
        """Returns whether one of the marks is fresh, by the clock or by an echo of one of this device's own salts."""
        valid = [self.mark(label, salt, endpoint, unix_seconds + PERIOD * i) for i in (-1, 0, 1)]
        valid += [self.echo_mark(label, salt, endpoint, own, number) for own in own_salts for number in range(1, 5)]
        return any(mark in marks for mark in valid)


def endpoint(address, port):
    """Returns the endpoint for which a mark is valid: an address and the port of the record."""
    return address + struct.pack(">H", port)


def make_marks(marks):
    """Returns the marks of a beacon: the given ones, and random bytes in all other places."""
    marks = marks[:MARK_PLACES] + [os.urandom(8) for _ in range(MARK_PLACES - len(marks))]
    random.SystemRandom().shuffle(marks)
    return b"".join(marks)


def read_marks(strings):
    found = [s[2:] for s in strings if s.startswith(b"m=")]
    if [s for s in strings if s.startswith(b"v=")] != [b"v=1"] or len(found) != 1 or len(found[0]) != 8 * MARK_PLACES:
        raise Refused("shape")
    return [found[0][8 * i : 8 * i + 8] for i in range(MARK_PLACES)]


def read_salt(strings):
    """Returns the start of the beacon, on which the marks depend."""
    found = [s[3:19] for s in strings if s.startswith(b"b0=")]
    if len(found) != 1 or len(found[0]) != 16:
        raise Refused("shape")
    return found[0]


def check_signed(plain, prefix, public_key, head=0):
    body, signature = plain[:-64], plain[-64:]
    announcement = decode_announcement(body[head:])
    raw = public_key(announcement["device"])
    if raw is None:
        raise Refused("unknownDevice")
    if not verify(raw, signature, prefix + body):
        raise Refused("wrongSignature")
    return announcement


# Datagrams


def sign_advert(announcement, label, signing_key):
    body = encode_announcement(announcement, ADVERT_BODY)
    return body + signing_key.sign(b"handoff/1 advert sig\0" + bytes([ADVERT]) + label + body)


def seal_datagram(kind, plaintext, sender, receiver, advert_key, salt=None):
    data = b"handoff/1 advert" + bytes([kind]) + sender + receiver
    return bytes([kind]) + sender + seal(advert_key, b"handoff/1 advert key", plaintext, data, salt)


def acknowledgement(pair, device, boot, seq, host, salt):
    """Returns the plaintext of an acknowledgement by `device`, at whose IPv4 address `host` the
    datagram with this salt arrived."""
    content = device + struct.pack(">QI", boot, seq) + bytes(10) + b"\xff\xff" + socket.inet_aton(host)
    return (content + pair.acknowledgement_code(content, salt)).ljust(79, b"\0")


def open_datagram(datagram, receivers, keys, public_key):
    """Returns the kind, the sender's label, and an announcement or the members of an
    acknowledgement, whose code is not checked here."""
    sizes = {ADVERT: ADVERT_SIZE, ACKNOWLEDGEMENT: ACKNOWLEDGEMENT_SIZE}
    if not datagram or len(datagram) != sizes.get(datagram[0]):
        raise Refused("shape")
    kind, sender = datagram[0], datagram[1:17]
    plain = None
    for receiver in receivers:
        try:
            data = b"handoff/1 advert" + bytes([kind]) + sender + receiver
            plain = unseal(keys.advert, b"handoff/1 advert key", datagram[17:], data)
            break
        except Refused:
            continue
    if plain is None:
        raise Refused("notGenuine")
    if kind == ADVERT:
        return "advert", sender, check_signed(plain, b"handoff/1 advert sig\0" + bytes([ADVERT]) + sender, public_key)
    boot, seq = struct.unpack(">QI", plain[32:44])
    if any(plain[76:]):
        raise Refused("malformed")
    if public_key(plain[:32]) is None:
        raise Refused("unknownDevice")
    content, code = plain[:60], plain[60:76]
    return "acknowledgement", sender, {"device": plain[:32], "boot": boot, "seq": seq, "content": content, "code": code}


# The gate


STATIC_LABEL = b"handoff/1 static"
TOKEN, MAX_RECORD = 40, 4096


def xor(data, mask):
    return bytes(a ^ b for a, b in zip(data, mask))


def pair_hint(gate_key, server, label):
    return hmac_sha256(gate_key, b"handoff/1 hint" + server + label)[:8]


def epoch_mask(epoch_key, server, digest):
    return hmac_sha256(epoch_key, b"handoff/1 hint" + server + digest)[:8]


def serial_mask(gate_key, digest):
    return hmac_sha256(gate_key, b"handoff/1 serial" + digest)[:12]


def gate_tag(gate_key, server, label, serial, digest):
    return hmac_sha256(gate_key, b"handoff/1 gate" + server + label + serial + digest)[:20]


def gate_token(gate_key, server, label, client_hello, serial=(1, 1), epoch=None):
    """Returns the token that opens the gate of the device `server` under `label`, by a key that
    both sides have. `serial` is the boot counter and the number of the call. `epoch` is the
    caller's id with the gate key of the label's epoch. Without it the hint is that of the pair.
    With the epoch's gate key as `gate_key` the hint matches no pair, as an introduction requires."""
    digest = sha256(client_hello)
    hint = xor(epoch[0][:8], epoch_mask(epoch[1], server, digest)) if epoch else pair_hint(gate_key, server, label)
    masked = xor(struct.pack(">QI", *serial), serial_mask(gate_key, digest))
    return hint + masked + gate_tag(gate_key, server, label, masked, digest)


class Knock:
    """Reads the first bytes of a caller, at a server."""

    def __init__(self, token, client_hello, server):
        self.hint, self._serial, self.tag = token[:8], token[8:20], token[20:]
        self.server, self.digest = server, sha256(client_hello)

    def device(self, epoch_key):
        """Returns the first 8 bytes of the caller's id, if the hint is of this epoch."""
        return xor(self.hint, epoch_mask(epoch_key, self.server, self.digest))

    def is_made(self, gate_key, label):
        return hmac.compare_digest(self.tag, gate_tag(gate_key, self.server, label, self._serial, self.digest))

    def serial(self, gate_key):
        return struct.unpack(">QI", xor(self._serial, serial_mask(gate_key, self.digest)))


# Frames


def frame(kind, body):
    return struct.pack(">IB", len(body) + 1, kind) + body


def kept_copy(signing_key, boot, seq, activity, time, end, payload):
    """Returns an activity as its origin hands it to a device that keeps it. The payload is the JSON
    that was sent, byte by byte."""
    head = device_id(raw_public(signing_key)) + struct.pack(">QI16sQQ", boot, seq, activity, time, end)
    return head + signing_key.sign(b"handoff/1 kept\0" + head + payload) + payload


def kept_part(pair, sender, recipient, item, version, number, count, content, salt=None):
    """Returns a part of an item that was sent to one device: the payload of a copy."""
    head = b"\0" + recipient + item + version + bytes([number, count])
    return head + seal(pair.kept, b"handoff/1 kept seal", content, sender + head, salt)


def open_kept_part(pair, sender, payload):
    """Returns number, count and content of a part."""
    return payload[65], payload[66], unseal(pair.kept, b"handoff/1 kept seal", payload[67:], sender + payload[:67])


def kept_part_activity(item, number):
    """Returns the activity of the copy that contains a part."""
    return sha256(b"handoff/1 kept part\0" + item + bytes([number]))[:16] if number else item


def kept_list(signing_key, boot, seq, first_boot, time, end, activities):
    """Returns the list of the activities that may be continued while their origin is offline."""
    head = device_id(raw_public(signing_key)) + struct.pack(">QIQQQB", boot, seq, first_boot, time, end, len(activities))
    head += b"".join(activities)
    return head + signing_key.sign(b"handoff/1 kept list\0" + head)


def kept_receipt(signing_key, origin, activity, time):
    """Returns the proof that a device has continued a kept activity."""
    head = device_id(raw_public(signing_key)) + origin + activity + struct.pack(">Q", time)
    return head + signing_key.sign(b"handoff/1 kept receipt\0" + head)


def kept_name(record):
    return sha256(record)[:16]


def kept_digest(records):
    """Returns the digest of a set of records in hello."""
    return sha256(b"".join(sorted(map(kept_name, records))))[:16]
