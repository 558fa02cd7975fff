#!/usr/bin/env python3
"""The numbers of docs/protocol.md, computed from their inputs only by this peer.

    handoff_vectors.py check     compares the page and docs/protocol-vectors.json with the values computed here
    handoff_vectors.py write     rewrites both: the blocks of the page in the order that they have here, and the file
"""

import base64
import json
import pathlib
import re
import struct
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import handoff_crypto as c
import handoff_membership as membership
import handoff_pairing as pairing
import handoff_pairing_channel as p
import handoff_roster as r
import handoff_spake2 as spake2

DOCUMENTS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGE, FILE = DOCUMENTS / "protocol.md", DOCUMENTS / "protocol-vectors.json"
MEMBERSHIP = "membership-vectors"
BLOCKS = {"roster": "roster-vectors", "kept": "kept-vectors", "example": "vectors", "pairing": "pairing-vectors"}
WIDTH, DIGITS = 136, 128


def seeded(byte):
    return Ed25519PrivateKey.from_private_bytes(bytes([byte]) * 32)


def numbered(number):
    return Ed25519PrivateKey.from_private_bytes(struct.pack(">I", number) * 8)


def device(number):
    return c.device_id(c.raw_public(numbered(number)))


def span(first, count):
    return bytes(range(first, first + count))


def roster():
    """The statements of a small account, the keys of its epoch, and its account files."""
    nonce, account_key, key = b"\x07" * 16, b"\x01" * 32, numbered
    account, ticket = r.account_id(c.raw_public(key(0)), nonce), r.ticket_id(c.raw_public(key(100)))
    sign = lambda by, kind, body: r.sign_statement(key(by), account, kind, body)
    made = {
        "found": sign(0, r.FOUND, nonce),
        "add": sign(0, r.ADD, c.raw_public(key(1))),
        "ticket": sign(0, r.TICKET, c.raw_public(key(100))),
        "use": sign(100, r.USE, c.raw_public(key(2))),
        "remove": sign(0, r.REMOVE, r.remove_body(device(1), [device(2), device(3)])),
        "name": sign(0, r.NAME, r.name_body(device(0), 1, "Küche 🏠")),
        "epoch": sign(0, r.EPOCH, r.epoch_body(1, [], account_key)),
    }
    whole = r.Roster(list(made.values())[::-1])
    reserved = sign(0, 200, span(0, 16))
    with_reserved = r.Roster([*whole.statements.values(), reserved])
    without_ticket = sign(0, r.REMOVE, r.remove_body(ticket, [device(2)]))
    closed = r.Roster([*made.values(), without_ticket])
    assert closed.removed_digest == whole.removed_digest
    content, passphrase, salt = struct.pack(">I", 100) * 8 + r.encode_list([made["found"]]), passphrase_bytes(), span(0, 16)
    return {
        "account": account,
        "device0": device(0),
        "ticket100": ticket,
        **{name + "ID": statement.id for name, statement in made.items()},
        "found": made["found"].data,
        "statements": c.sha256(b"".join(statement.data for statement in made.values())),
        "digest": whole.digest,
        "reserved": reserved.data,
        "reservedDigest": with_reserved.digest,
        "removed1": whole.removed_digest,
        "fileClear": c.sha256(r.account_file(content)),
        "fileKey": r.file_key(passphrase, salt),
        "fileSealed": c.sha256(r.account_file(content, passphrase, salt)),
    }


def passphrase_bytes():
    return "correct horse 🐎 battery staple".encode()


def example():
    account_key, account, salt = span(0, 32), span(0x20, 16), span(0x70, 16)
    keys, (a, b, t) = c.EpochKeys(account_key, account), (seeded(byte) for byte in (0xA1, 0xB2, 0xC3))
    label_a, label_b = c.make_label(keys.label, span(0x30, 8)), c.make_label(keys.label, span(0x40, 8))
    (raw_a, raw_b, raw_t), client_hello = map(c.raw_public, (a, b, t)), bytes.fromhex("160301000401020304")
    device_a, device_b, ticket = c.device_id(raw_a), c.device_id(raw_b), r.ticket_id(raw_t)
    pair, by_ticket = c.PairKeys(b, raw_a, account), c.PairKeys(t, raw_a, account, own_id=ticket)
    serial = (1_800_000_000, 7)
    listed = {
        "id": span(0x50, 16).hex(), "type": "com.example.notes.edit", "title": "Café list", "team": "TEAM42",
        "streams": True, "webpageURL": True, "age": 12,
    }
    page = {"id": "01" * 16, "type": "NSUserActivityTypeBrowsingWeb", "webpageURL": True, "age": 3600}
    announcement = {
        "device": device_a, "boot": 1_800_000_000, "seq": 5, "port": 24863, "kind": "laptop", "roster": span(0x60, 8),
        "listSeq": 4, "activities": [listed, page],
    }
    now, echoed, addresses = 1_800_000_000, span(0x90, 16), [bytes([192, 168, 1, 20]), bytes.fromhex("fe80" + "00" * 13 + "0a")]
    endpoints = [c.endpoint(address, 24863) for address in addresses]
    mark = pair.mark(label_a, salt, endpoints[0], now)
    echo = pair.echo_mark(label_a, salt, endpoints[1], echoed)
    marks = bytes(range(24)) + mark + echo + bytes(range(40, 240))
    body = c.beacon_body(announcement, label_a, keys.beacon, addresses, now, span(0x80, 64))
    text, plain = c.beacon_text(body, label_a, a, keys.beacon, salt, marks), c.sign_advert(announcement, label_a, a)
    receipt = c.acknowledgement(pair, device_b, 1_800_000_000, 5, "192.0.2.2", salt)
    commitment = r.commitment(account_key)
    hello = {
        "version": 1, "software": "example/1", "kind": "laptop", "port": 24863, "boot": 1_800_000_000,
        "roster": span(0x60, 8).hex(), "label": label_a.hex(), "seq": 5, "listSeq": 4, "seenBoot": 1_799_999_999,
        "epoch": commitment[:8].hex(),
    }
    request = {"id": 1, "method": "continue", "parameters": {"activity": listed["id"]}}
    frame = lambda kind, value: c.frame(kind, json.dumps(value, separators=(",", ":")).encode())
    return {
        "accountKey": account_key,
        "accountID": account,
        "commitment": commitment,
        "labelKey": keys.label,
        "beaconKey": keys.beacon,
        "advertKey": keys.advert,
        "epochGateKey": keys.gate,
        "seedA": b"\xa1" * 32,
        "seedB": b"\xb2" * 32,
        "publicA": raw_a,
        "publicB": raw_b,
        "deviceA": device_a,
        "deviceB": device_b,
        "labelA": label_a,
        "labelB": label_b,
        "instanceA": base64.b32encode(label_a).decode().lower().rstrip("=").encode(),
        "staticLabel": c.STATIC_LABEL,
        "coordinateA": c.montgomery(raw_a),
        "coordinateB": c.montgomery(raw_b),
        "agreement": c.agree(a, raw_b),
        "pairSecret": pair.secret,
        "pairGateKey": pair.gate,
        "address4": addresses[0],
        "address6": addresses[1],
        "echoed": echoed,
        "mark": mark,
        "echoMark": echo,
        "marks": marks,
        "seedTicket": b"\xc3" * 32,
        "ticketID": ticket,
        "ticketSecret": by_ticket.secret,
        "ticketGateKey": by_ticket.gate,
        "ticketMark": by_ticket.mark(label_a, salt, endpoints[0], now),
        "announcement": body[68:].rstrip(b"\0"),
        "salt": salt,
        "beaconHead": body[:68],
        "beaconSignature": a.sign(b"handoff/1 beacon sig\0" + label_a + body),
        "beaconRecord": b"".join(bytes([len(s)]) + s for s in text),
        "advertSignature": plain[-64:],
        "advert": c.seal_datagram(c.ADVERT, plain, label_a, label_b, keys.advert, salt),
        "acknowledgementCode": receipt[60:76],
        "acknowledgement": c.seal_datagram(c.ACKNOWLEDGEMENT, receipt, label_b, label_a, keys.advert, salt),
        "clientHello": client_hello,
        "token": c.gate_token(pair.gate, device_b, label_b, client_hello, serial, (device_a, keys.gate)),
        "pairToken": c.gate_token(pair.gate, device_b, label_b, client_hello, serial),
        "staticToken": c.gate_token(pair.gate, device_b, c.STATIC_LABEL, client_hello, serial),
        "ticketToken": c.gate_token(by_ticket.gate, device_a, label_a, client_hello, serial),
        "introductionToken": span(0x60, 8) + c.gate_token(keys.gate, device_b, label_b, client_hello, serial)[8:],
        "helloFrame": frame(2, hello),
        "requestFrame": frame(3, request),
    }


def kept():
    """The records of an activity that other devices keep."""
    payload = '{"type":"com.example.notes.edit","userInfo":{"text":"Café"}}'.encode()
    a, b, activity = seeded(0xA1), seeded(0xB2), span(0x50, 16)
    copy = c.kept_copy(a, 1_800_000_000, 5, activity, 1_800_000_060, 1_800_086_460, payload)
    activities = [activity, b"\x01" * 16]
    listed = c.kept_list(a, 1_800_000_000, 5, 1_799_999_990, 1_800_000_061, 1_800_086_461, activities)
    receipt = c.kept_receipt(b, c.device_id(c.raw_public(a)), activity, 1_800_003_600)
    account = span(0x10, 16)
    pair = c.PairKeys(a, c.raw_public(b), account)
    content = struct.pack(">I", len(payload)) + payload + b"the file"
    part = c.kept_part(pair, c.device_id(c.raw_public(a)), c.device_id(c.raw_public(b)), activity, span(0x70, 16), 0, 1,
                       content, span(0x80, 16))
    return {
        "seed": b"\xa1" * 32,
        "seedB": b"\xb2" * 32,
        "payload": payload,
        "copy": copy,
        "list": listed,
        "receipt": receipt,
        "copyName": c.kept_name(copy),
        "digest": c.kept_digest([copy, listed, receipt]),
        "sealAccount": account,
        "part": part,
        "secondPart": c.kept_part_activity(activity, 1),
    }


class OneSide:
    """A session of pairing without a connection, to seal with the page's numbers."""

    def __init__(self, binding, is_joiner, ke):
        self.binding, self.is_joiner, self.counters = binding, is_joiner, [0, 0]
        p.Session.use(self, ke)

    def frame(self, kind, plain):
        return c.frame(kind, p.Session.sealed(self, kind, plain))

    _nonce = p.Session._nonce


def worked_pairing():
    binding, salt, code, x, y = span(0x40, 32), span(0x70, 16), "12345678", span(0x80, 32), span(0xA0, 32)
    link_secret, account_key, statements = span(0x10, 16), span(0, 32), bytes.fromhex("0003616263")
    client_hello = bytes.fromhex("160301000401020304")
    w, link = p.Digits(code).w(salt), p.LinkSecret(link_secret)
    sides = (spake2.Side(is_a, w, p.JOINER, p.INVITER, own=int.from_bytes(own, "big")) for is_a, own in ((True, x), (False, y)))
    a, b = sides
    keys = a.keys(b.share, b"handoff/1 pair" + binding)
    assert b.keys(a.share, b"handoff/1 pair" + binding).confirm_b == keys.confirm_b
    joiner, inviter = OneSide(binding, True, keys.ke), OneSide(binding, False, keys.ke)
    account = struct.pack(">Q", 7) + account_key + statements
    return {
        "exporter": binding,
        "pairSalt": salt,
        "code": code.encode(),
        "seedJoiner": b"\xb2" * 32,
        "seedInviter": b"\xa1" * 32,
        "x": x,
        "y": y,
        "w": w.to_bytes(32, "big"),
        "shareA": a.share,
        "shareB": b.share,
        "sharedKey": keys.ke,
        "confirmA": keys.confirm_a,
        "confirmB": keys.confirm_b,
        "transferKey": p.transfer_key(keys.ke, binding),
        "frameSalt": c.frame(p.SALT, salt),
        "frameShareA": c.frame(p.SHARE_A, a.share),
        "frameIdentityJoiner": joiner.frame(p.IDENTITY, pairing.identity(seeded(0xB2), "Café", 0, binding)),
        "frameIdentityInviter": inviter.frame(p.IDENTITY, pairing.identity(seeded(0xA1), "desk", 1, binding)),
        "pairAccountKey": account_key,
        "pairStatements": statements,
        "frameAccount": inviter.frame(p.ACCOUNT, account),
        "frameStored": joiner.frame(p.STORED, b""),
        "linkSecret": link_secret,
        "linkW": link.w(salt).to_bytes(32, "big"),
        "linkText": p.write_link(link, ["192.0.2.1:24863"]).encode(),
        "pairClientHello": client_hello,
        "linkToken": link.token(client_hello),
    }


def computed():
    return {"roster": roster(), "kept": kept(), "example": example(), "pairing": worked_pairing()}


# Values encoded by others are decoded, too


def unreadable(values):
    """Returns the numbers that this program encodes correctly and decodes incorrectly."""
    given, wrong = values["example"], []
    keys = c.EpochKeys(given["accountKey"], given["accountID"])
    public = {given["deviceA"]: given["publicA"], given["deviceB"]: given["publicB"]}.get
    text, record = [], given["beaconRecord"]
    while record:
        text, record = [record[1 : 1 + record[0]], *text], record[1 + record[0] :]
    if c.open_datagram(given["advert"], [given["labelB"]], keys, public)[2]["activities"][0]["title"] != "Café list":
        wrong.append("advert")
    if c.open_datagram(given["acknowledgement"], [given["labelA"]], keys, public)[2]["seq"] != 5:
        wrong.append("acknowledgement")
    beacon, now = c.open_beacon(text, given["labelA"], keys, public), 1_800_000_000
    named = [c.address_tag(keys.beacon, given["labelA"], given[f"address{version}"]) in beacon["tags"] for version in (4, 6)]
    if beacon["listSeq"] != 4 or not all(named) or not c.is_present(beacon["period"], now):
        wrong.append("beaconRecord")
    pair = c.PairKeys(seeded(0xB2), given["publicA"], given["accountID"])
    marked = lambda address, *rest: pair.is_marked(
        c.read_marks(text), given["labelA"], c.read_salt(text), c.endpoint(given[address], 24863), *rest)
    found = [marked("address4", now), marked("address4", now + 600), marked("address6", now),
             marked("address6", 0, [given["echoed"]]), marked("address4", 0, [given["echoed"]])]
    if found != [True, False, False, True, False]:
        wrong.append("marks")
    kept = values["kept"]
    pair = c.PairKeys(seeded(0xB2), c.raw_public(seeded(0xA1)), kept["sealAccount"])
    if not c.open_kept_part(pair, c.device_id(c.raw_public(seeded(0xA1))), kept["part"])[2].endswith(b"the file"):
        wrong.append("part")
    seed = struct.pack(">I", 100) * 8
    content = seed + r.encode_list([r.Statement(values["roster"]["found"])])
    file, sealed = r.account_file(content), r.account_file(content, passphrase_bytes(), span(0, 16))
    for data, secret in ((file, None), (sealed, passphrase_bytes())):
        if r.read_account_file(data, secret)[0] != seed:
            wrong.append("an account file")
    for data, secret in ((file, passphrase_bytes()), (sealed, None), (sealed, passphrase_bytes() + b" ")):
        try:
            r.read_account_file(data, secret)
            wrong.append("an account file with another passphrase")
        except c.Refused:
            pass
    if p.read_link(values["pairing"]["linkText"].decode())[0].secret != values["pairing"]["linkSecret"]:
        wrong.append("linkText")
    return wrong


# Page and file


def shown(values):
    """Returns a block of the page."""
    lines = []
    for name, value in values.items():
        digits = value.hex()
        if len(name) + 3 + len(digits) <= WIDTH:
            lines.append(f"{name} = {digits}")
        else:
            lines.append(f"{name} =")
            lines += ["  " + digits[at : at + DIGITS] for at in range(0, len(digits), DIGITS)]
    return "\n".join(lines) + "\n"


def in_page(page, group):
    """Returns the text of the page's block of a group."""
    block = re.search(rf"^```{BLOCKS[group]}\n(.*?)^```", page, re.S | re.M)
    pairs = re.findall(r"^(\w+) =((?:\n? +[0-9a-f]+)+)", block.group(1) if block else "", re.M)
    return {name: bytes.fromhex("".join(text.split())) for name, text in pairs}


def in_file(values):
    groups = {group: {name: value.hex() for name, value in given.items()} for group, given in values.items()}
    return {"version": 1, **groups, "membership": membership.computed()}


def with_block(page, fence, text):
    """Returns the page with another text in the only block of this kind."""
    page, count = re.subn(rf"^```{fence}\n.*?^```", lambda _: f"```{fence}\n{text}```", page, flags=re.S | re.M)
    if count != 1:
        raise SystemExit(f"the page has {count} blocks '{fence}'")
    return page


def wrong(groups=BLOCKS):
    """Returns the names whose value in the page or in the file differs from the one here."""
    values, page, file = computed(), PAGE.read_text(), json.loads(FILE.read_text())
    found = []
    for group in groups:
        for where, given in (("page", in_page(page, group)), ("file", file.get(group, {}))):
            for name in given.keys() | values[group].keys():
                value = given.get(name)
                if (value.hex() if isinstance(value, bytes) else value) != values[group].get(name, b"").hex():
                    found.append(f"{where}: {group}.{name}")
    if file.keys() != in_file(values).keys():
        found.append("file: groups")
    if page != with_block(page, MEMBERSHIP, membership.shown(membership.computed())):
        found.append("page: membership")
    cases = file.get("membership", {})
    found += [f"file: membership.{name}" for name, value in membership.computed().items() if cases.get(name) != value]
    return sorted(found + unreadable(values))


def check():
    found = wrong()
    print(json.dumps({"compared": sum(map(len, computed().values())) + len(membership.CASES), "wrong": found}))
    return 1 if found else 0


def write():
    values, page = computed(), PAGE.read_text()
    for group, fence in BLOCKS.items():
        page = with_block(page, fence, shown(values[group]))
    PAGE.write_text(with_block(page, MEMBERSHIP, membership.shown(membership.computed())))
    FILE.write_text(json.dumps(in_file(values), indent=1) + "\n")
    return check()


if __name__ == "__main__":
    words = {"check": check, "write": write}
    if len(sys.argv) != 2 or sys.argv[1] not in words:
        raise SystemExit(__doc__)
    sys.exit(words[sys.argv[1]]())
