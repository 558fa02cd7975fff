"""Statements, the view of a roster, and exported account files, as docs/protocol.md describes them."""

import struct

from handoff_crypto import Refused, device_id, raw_public, sha256, verify

FOUND, ADD, TICKET, USE, REMOVE, NAME, EPOCH = range(1, 8)


def ticket_id(raw):
    return sha256(b"handoff/1 ticket" + raw)


def digest(ids):
    return sha256(b"".join(sorted(ids)))


def commitment(account_key):
    return sha256(b"handoff/1 commit" + account_key)


class Statement:
    """One signed statement; `fields` are those of its kind, in order."""

    def __init__(self, data):
        if len(data) < 49 + 64:
            raise Refused("statement cut short")
        self.data, self.canonical, self.signature = data, data[:-64], data[-64:]
        self.id = sha256(self.canonical)
        self.kind, self.account, self.signer = data[0], data[1:17], data[17:49]
        self.fields = self._fields(self.canonical[49:])

    def _fields(self, body):
        sizes = {FOUND: 16, ADD: 32, TICKET: 32, USE: 32, EPOCH: 72}
        if self.kind in sizes:
            if len(body) != sizes[self.kind]:
                raise Refused("statement of a wrong length")
            return (struct.unpack(">Q", body[:8])[0], body[8:40], body[40:]) if self.kind == EPOCH else (body,)
        if self.kind == REMOVE:
            (count,) = struct.unpack(">H", body[32:34])
            keeps = [body[34 + 32 * i : 66 + 32 * i] for i in range(count)]
            if len(body) != 34 + 32 * count or keeps != sorted(set(keeps)):
                raise Refused("removal of a wrong form")
            return body[:32], keeps
        if self.kind == NAME:
            counter, count = struct.unpack(">IB", body[32:37])
            if len(body) != 37 + count or not 1 <= count <= 64:
                raise Refused("name of a wrong form")
            return body[:32], counter, body[37:].decode("utf-8")
        raise Refused("statement of an unknown kind")

    def is_signed(self):
        return verify(self.signer, self.signature, b"handoff/1 statement\0" + self.canonical)


def sign_statement(key, account, kind, body):
    canonical = bytes([kind]) + account + raw_public(key) + body
    return Statement(canonical + key.sign(b"handoff/1 statement\0" + canonical))


def encode_list(statements):
    return b"".join(struct.pack(">H", len(s.data)) + s.data for s in statements)


def decode_list(data):
    statements, at = [], 0
    while at < len(data):
        (size,) = struct.unpack(">H", data[at : at + 2])
        piece = data[at + 2 : at + 2 + size]
        if len(piece) != size:
            raise Refused("list of statements cut short")
        statements.append(Statement(piece))
        at += 2 + size
    return statements


class Roster:
    """A set of statements and what follows from it."""

    def __init__(self, statements):
        self.statements = {}
        self.account = next((s.account for s in statements if s.kind == FOUND), None)
        self.merge(statements)

    def merge(self, statements):
        for s in statements:
            if s.account != self.account or not s.is_signed():
                raise Refused("statement of another account or with a wrong signature")
        self.statements.update({s.id: s for s in statements})
        self._judge()

    @property
    def digest(self):
        return digest(self.statements)

    def encoded(self):
        """The list with every statement behind those that make its signer known."""
        order = {FOUND: 0, ADD: 1, TICKET: 2, USE: 3}
        known = {s.signer for s in self.statements.values() if s.kind == FOUND}
        rest, out = sorted(self.statements.values(), key=lambda s: (order.get(s.kind, 4), s.id)), []
        while rest:
            ready = [s for s in rest if s.signer in known]
            if not ready:
                break
            out += ready
            known |= {s.fields[0] for s in ready if s.kind in (ADD, TICKET, USE)}
            rest = [s for s in rest if s not in ready]
        return encode_list(out)

    def public_key(self, device):
        """The key of a live device, else None."""
        return self.keys.get(device) if device in self.live else None

    def _judge(self):
        every = list(self.statements.values())
        founder = next(s for s in every if s.kind == FOUND)
        if sha256(b"handoff/1 account" + founder.signer + founder.fields[0])[:16] != self.account:
            raise Refused("the founder did not found this account")
        self.keys = {device_id(founder.signer): founder.signer}
        tickets = {}
        changed = True
        while changed:  # 1. known
            before = len(self.keys) + len(tickets)
            for s in every:
                if device_id(s.signer) in self.keys and s.kind == ADD:
                    self.keys[device_id(s.fields[0])] = s.fields[0]
                elif device_id(s.signer) in self.keys and s.kind == TICKET:
                    tickets[ticket_id(s.fields[0])] = s.fields[0]
                elif ticket_id(s.signer) in tickets and s.kind == USE:
                    self.keys[device_id(s.fields[0])] = s.fields[0]
            changed = len(self.keys) + len(tickets) > before
        removes = [s for s in every if s.kind == REMOVE and device_id(s.signer) in self.keys]
        self.removed = {s.fields[0] for s in removes}  # 2. removed

        def counts(signer, subject):  # 3. counting
            return all(subject in s.fields[1] for s in removes if s.fields[0] == signer)

        edges, uses = [], {}
        for s in every:
            if s.kind == ADD and counts(device_id(s.signer), device_id(s.fields[0])):
                edges.append((device_id(s.signer), device_id(s.fields[0])))
            elif s.kind == TICKET and counts(device_id(s.signer), ticket_id(s.fields[0])):
                edges.append((device_id(s.signer), ticket_id(s.fields[0])))
            elif s.kind == USE and counts(ticket_id(s.signer), device_id(s.fields[0])):
                uses.setdefault(ticket_id(s.signer), set()).add(device_id(s.fields[0]))
        edges += [(ticket, min(found)) for ticket, found in uses.items() if len(found) == 1]
        reached = {device_id(founder.signer)}
        while more := {b for a, b in edges if a in reached} - reached:
            reached |= more
        self.live = {d for d in reached if d in self.keys and d not in self.removed}  # 4. live
        records = [
            s
            for s in every
            if s.kind == EPOCH and device_id(s.signer) in self.live and s.fields[1] == digest(self.removed)
        ]
        self.epoch = max(records, key=lambda s: (s.fields[0], s.id), default=None)


def read_account_file(data):
    """Ticket seed, n, account key and roster of an exported account in the clear."""
    if data[:8] != b"hndf-exp" or sha256(data[:-32]) != data[-32:]:
        raise Refused("no exported account, or a damaged one")
    version, form, size = struct.unpack(">HHI", data[8:16])
    if version != 1 or form != 0 or len(data) != 16 + size + 32:
        raise Refused("an exported account of a form that this program does not read")
    content = data[16:-32]
    (n,) = struct.unpack(">Q", content[32:40])
    return content[:32], n, content[40:72], Roster(decode_list(content[72:]))
