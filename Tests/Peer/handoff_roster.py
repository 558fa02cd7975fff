"""Statements, the view of a roster, and exported account files, as docs/protocol.md describes them."""

import hashlib
import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from handoff_crypto import Refused, device_id, raw_public, sha256, verify

FOUND, ADD, TICKET, USE, REMOVE, NAME, EPOCH = range(1, 8)
RESERVED = 128  # The first of the reserved kinds.

# Limits of the roster. Those of admissions and removed subjects are per signer.
MAX_KNOWN, MAX_ADMISSIONS, MAX_SUBJECTS = 256, 64, 64
MAX_RESERVED, MAX_RESERVED_BYTES = 16, 512
MAX_REMOVALS_OF_SUBJECT, MAX_BYTES, SUBJECTS_WHEN_FULL = 2, 8 * 1024 * 1024, 8
LAST_NUMBER = 2**32 - 1  # Of epochs and of names. The signer must be removed.


def ticket_id(raw):
    return sha256(b"handoff/1 ticket" + raw)


def account_id(founder, nonce):
    return sha256(b"handoff/1 account" + founder + nonce)[:16]


def digest(ids):
    return sha256(b"".join(sorted(ids)))


def commitment(account_key):
    return sha256(b"handoff/1 commit" + account_key)


class Statement:
    """One signed statement. `fields` are those of its kind, in order."""

    def __init__(self, data):
        if len(data) < 49 + 64:
            raise Refused("statement cut short")
        self.data, self.canonical, self.signature = data, data[:-64], data[-64:]
        self.id = sha256(self.canonical)
        self.kind, self.account, self.signer = data[0], data[1:17], data[17:49]
        try:
            self.fields = self._fields(self.canonical[49:])
        except (struct.error, UnicodeDecodeError) as error:
            raise Refused("statement of a wrong form") from error

    @property
    def by(self):
        """Returns the signer: a ticket for a use, else a device."""
        return ticket_id(self.signer) if self.kind == USE else device_id(self.signer)

    @property
    def admitted(self):
        """Returns the admitted subject: a ticket, a device, or None."""
        if self.kind == TICKET:
            return ticket_id(self.fields[0])
        return device_id(self.fields[0]) if self.kind in (ADD, USE) else None

    def _fields(self, body):
        sizes = {FOUND: 16, ADD: 32, TICKET: 32, USE: 32, EPOCH: 68}
        if self.kind in sizes:
            if len(body) != sizes[self.kind]:
                raise Refused("statement of a wrong length")
            return (struct.unpack(">I", body[:4])[0], body[4:36], body[36:]) if self.kind == EPOCH else (body,)
        if self.kind == REMOVE:
            (count,) = struct.unpack(">H", body[32:34])
            keeps = [body[34 + 32 * i : 66 + 32 * i] for i in range(count)]
            if count > 256 or len(body) != 34 + 32 * count or keeps != sorted(set(keeps)):
                raise Refused("removal of a wrong form")
            return body[:32], keeps
        if self.kind == NAME:
            counter, count = struct.unpack(">IB", body[32:37])
            if len(body) != 37 + count or not 1 <= count <= 64:
                raise Refused("name of a wrong form")
            return body[:32], counter, body[37:].decode("utf-8")
        if self.kind >= RESERVED and len(body) <= MAX_RESERVED_BYTES:
            return (body,)
        raise Refused("statement of an unknown kind")

    def is_genuine(self):
        if self.kind == FOUND and account_id(self.signer, self.fields[0]) != self.account:
            return False
        return verify(self.signer, self.signature, b"handoff/1 statement\0" + self.canonical)


def sign_statement(key, account, kind, body):
    canonical = bytes([kind]) + account + raw_public(key) + body
    return Statement(canonical + key.sign(b"handoff/1 statement\0" + canonical))


def remove_body(subject, keeps=()):
    return subject + struct.pack(">H", len(keeps)) + b"".join(sorted(keeps))


def name_body(device, counter, text):
    data = text.encode()
    return device + struct.pack(">IB", counter, len(data)) + data


def epoch_body(n, removed, account_key):
    return struct.pack(">I", n) + digest(removed) + commitment(account_key)


def encode_list(statements):
    return b"".join(struct.pack(">H", len(s.data)) + s.data for s in statements)


def decode_list(data):
    statements, at = [], 0
    while at < len(data):
        if len(data) < at + 2:
            raise Refused("list of statements cut short")
        (size,) = struct.unpack(">H", data[at : at + 2])
        piece = data[at + 2 : at + 2 + size]
        if len(piece) != size:
            raise Refused("list of statements cut short")
        statements.append(Statement(piece))
        at += 2 + size
    return statements


class Roster:
    """A set of statements and the view that results from it."""

    def __init__(self, statements):
        founder = next((s for s in statements if s.kind == FOUND), None)
        if founder is None or not founder.is_genuine():
            raise Refused("no founder, or one that did not found this account")
        self.account, self.founder = founder.account, founder
        self.statements = {founder.id: founder}
        self.merge(statements)

    def merge(self, offered):
        """Merges a list completely or not at all. Returns the statements that may be offered again, or met a limit."""
        new = [s for s in offered if s.id not in self.statements]
        if any(s.account != self.account or not s.is_genuine() for s in new):
            raise Refused("statement of another account or with a wrong signature")
        known = {self.founder.by} | {s.admitted for s in self.statements.values()}
        left, waiting = [], [s for s in {s.id: s for s in new}.values() if s.kind != EPOCH]
        while waiting:
            ready = [s for s in waiting if s.by in known and (s.kind != NAME or s.fields[0] in known)]
            if not ready:
                break
            for s in ready:
                waiting.remove(s)
                if self._fits(s, known):
                    self.statements[s.id] = s
                    known.add(s.admitted)
                else:
                    left.append(s)
            self._prune()
        left += self._take_epochs([s for s in new if s.kind == EPOCH and s.by in known])
        self._judge()
        return waiting + left + [s for s in new if s.kind == EPOCH and s.by not in known]

    def _take_epochs(self, offered):
        """Keeps of each signer the greatest record that names the current removed digest. Returns
        those that may be offered again."""
        every = self.statements.values()
        devices = {self.founder.by} | {s.admitted for s in every if s.kind in (ADD, USE)}
        present = digest(devices & {s.fields[0] for s in every if s.kind == REMOVE})
        records = [s for s in every if s.kind == EPOCH]
        for s in records:
            del self.statements[s.id]
        best = {}
        for s in sorted(records + offered, key=lambda s: (s.fields[0], s.id)):
            if s.fields[1] == present:
                best[s.by] = s
        self.statements |= {s.id: s for s in best.values()}
        return [s for s in offered if s.fields[1] != present]

    def _fits(self, s, known):
        """Applies the limits beyond which a statement is refused. `known` also contains None."""
        mine = [other for other in self.statements.values() if other.by == s.by]
        subjects = {other.fields[0] for other in mine if other.kind == REMOVE}
        if s.admitted:
            if sum(1 for other in mine if other.admitted) >= MAX_ADMISSIONS:
                return False
            if s.admitted not in known and len(known - {None}) >= MAX_KNOWN:
                return False
        if s.kind == REMOVE and s.fields[0] not in subjects and len(subjects) >= MAX_SUBJECTS:
            return False
        if sum(len(other.data) for other in self.statements.values()) + len(s.data) <= MAX_BYTES:
            return True
        return s.kind == REMOVE and len(subjects | {s.fields[0]}) <= SUBJECTS_WHEN_FULL

    def _prune(self):
        """Applies the limits beyond which the smaller statement is dropped, whatever the order."""
        groups = {}
        for s in self.statements.values():
            if s.kind == NAME:
                groups.setdefault((1, s.by, s.fields[0]), []).append(((s.fields[1], s.id), s))
            elif s.kind == REMOVE:
                groups.setdefault((MAX_REMOVALS_OF_SUBJECT, s.by, s.fields[0]), []).append((s.id, s))
            elif s.kind >= RESERVED:
                groups.setdefault((MAX_RESERVED, s.by, RESERVED), []).append((s.id, s))
        for (maximum, *_), members in groups.items():
            for _, s in sorted(members, key=lambda member: member[0])[:-maximum]:
                del self.statements[s.id]

    @property
    def digest(self):
        return digest(self.statements)

    def encoded(self):
        """Returns the list with every statement after those that make its signer known."""
        known, out = {self.founder.by}, []
        rest = sorted(self.statements.values(), key=lambda s: (s.kind != FOUND, s.admitted is None, s.id))
        while rest:
            ready = [s for s in rest if s.by in known]
            out += ready
            known |= {s.admitted for s in ready}
            rest = [s for s in rest if s not in ready]
        return encode_list(sorted(out, key=lambda s: s.kind != FOUND and s.admitted is None))

    def public_key(self, device):
        """Returns the key of a live device, else None."""
        return self.keys.get(device) if device in self.live else None

    def _judge(self):
        """The four steps of "Membership". Merging has ensured that every signer is known."""
        every = list(self.statements.values())
        self.keys = {self.founder.by: self.founder.signer}
        self.keys |= {s.admitted: s.fields[0] for s in every if s.kind in (ADD, USE)}

        keeps = {}  # By subject, then by remover: the subjects that this remover keeps.
        for s in every:
            if s.kind == REMOVE:
                of_subject = keeps.setdefault(s.fields[0], {})
                of_subject[s.by] = set() if s.by in of_subject else set(s.fields[1])
        self.removed = set(keeps)

        def counts(s):
            return all(s.admitted in kept for kept in keeps.get(s.by, {}).values())

        counting = [s for s in every if s.admitted and counts(s)]
        users = {}
        for s in counting:
            if s.kind == USE:
                users.setdefault(s.by, set()).add(s.admitted)
        edges = [(s.by, s.admitted) for s in counting if s.kind != USE or len(users[s.by]) == 1]
        reached = {self.founder.by}
        while more := {b for a, b in edges if a in reached} - reached:
            reached |= more
        self.live = {d for d in reached if d in self.keys and d not in self.removed}

        self.names, self.counters = {}, {}
        named = [s for s in every if s.kind == NAME and s.by in self.live]
        for device in {s.fields[0] for s in named}:
            best = max((s for s in named if s.fields[0] == device), key=lambda s: (s.fields[1], s.id))
            self.names[device], self.counters[device] = best.fields[2], best.fields[1]

        self.removed_digest = digest(self.removed & self.keys.keys())  # Of known devices, not of tickets.
        records = [s for s in every if s.kind == EPOCH and s.by in self.live]  # All name the current removed digest.
        self.epoch = max(records, key=lambda s: (s.fields[0], s.id), default=None)

        # Tickets that are not closed: their keys, and the devices that have used them.
        issued = {s.admitted: s.fields[0] for s in every if s.kind == TICKET and s.admitted in reached}
        self.tickets = {t: (raw, users.get(t, set())) for t, raw in issued.items() if t not in self.removed}

    def next_epoch(self, held=0):
        """Returns the number of a new epoch, for a device that holds the key of epoch `held`.
        Honest devices never reach 2^31."""
        counted = self.epoch.fields[0] if self.epoch else 0
        greatest = max(counted, held)
        number = 1 + (greatest if greatest < 2**31 else counted)
        if number > LAST_NUMBER:
            raise Refused("no number is left: the signer of the epoch in force has to be removed")
        return number

    def commits_to(self, account_key):
        """Returns whether this is the key of the current epoch."""
        return self.epoch is not None and self.epoch.fields[2] == commitment(account_key)


def account_file(content, passphrase=None, salt=None):
    """Returns the file that contains ticket seed and roster."""
    form, size = (0, len(content)) if passphrase is None else (1, 16 + len(content) + 16)
    header = b"hndf-exp" + struct.pack(">HHI", 1, form, size)
    if passphrase is not None:
        content = salt + AESGCM(file_key(passphrase, salt)).encrypt(bytes(12), content, header)
    return header + content + sha256(header + content)


def file_key(passphrase, salt):
    return hashlib.scrypt(passphrase, salt=b"handoff/1 file" + salt, n=1 << 16, r=8, p=1, maxmem=128 << 20, dklen=32)


def read_account_file(data, passphrase=None):
    """Returns ticket key (seed) and roster of an exported account. The passphrase is bytes."""
    if data[:8] != b"hndf-exp" or sha256(data[:-32]) != data[-32:]:
        raise Refused("no exported account, or a damaged one")
    version, form, size = struct.unpack(">HHI", data[8:16])
    if version != 1 or form > 1 or len(data) != 16 + size + 32:
        raise Refused("an exported account of a form that this program does not read")
    content = data[16:-32]
    if (form == 1) != (passphrase is not None):
        raise Refused("an exported account with a passphrase, or without one")
    if form == 1:
        try:
            content = AESGCM(file_key(passphrase, content[:16])).decrypt(bytes(12), content[16:], data[:16])
        except InvalidTag:
            raise Refused("another passphrase") from None
    if len(content) < 32:
        raise Refused("an exported account that ends too early")
    return content[:32], Roster(decode_list(content[32:]))
