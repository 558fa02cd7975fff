"""What the reference peer checks about itself: the numbers of docs/protocol.md, and its own rules."""

import base64
import json
import os
import pathlib
import re
import socket
import struct
import threading
import types

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from OpenSSL import SSL

import handoff_crypto as c
import handoff_link as l
import handoff_records as records
import handoff_roster as r
import handoff_stream as streams

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "protocol.md"


def vectors():
    """Computes every number of the page from its inputs, and compares."""
    page = PAGE.read_text()
    parts = [_worked_example(page), _roster(page), _account_files(page)]
    wrong = [name for names, _ in parts for name in names]
    print(json.dumps({"compared": sum(count for _, count in parts), "wrong": wrong}))
    return 1 if wrong else 0


def _worked_example(page):
    block = re.search(r"```vectors\n(.*?)```", page, re.S).group(1)
    pairs = re.findall(r"^(\w+) =((?:\n? +[0-9a-f]+)+)", block, re.M)
    given = {name: bytes.fromhex("".join(text.split())) for name, text in pairs}
    (n,) = struct.unpack(">Q", given["epoch"])
    keys = c.EpochKeys(given["accountKey"], given["accountID"], n)
    a, b = (Ed25519PrivateKey.from_private_bytes(given[seed]) for seed in ("seedA", "seedB"))
    label_a, label_b = (c.make_label(keys.label, given[name][:8]) for name in ("labelA", "labelB"))
    device_a, device_b = (c.device_id(c.raw_public(key)) for key in (a, b))
    listed = {
        "id": bytes(range(0x50, 0x60)).hex(),
        "type": "com.example.notes.edit",
        "title": "Café list",
        "team": "TEAM42",
        "streams": True,
        "webpageURL": True,
        "age": 12,
    }
    announcement = {
        "device": device_a,
        "boot": 1_800_000_000,
        "seq": 5,
        "port": 24863,
        "kind": "laptop",
        "roster": bytes(range(0x60, 0x68)),
        "epoch": n,
        "activities": [
            listed,
            {"id": "01" * 16, "type": "NSUserActivityTypeBrowsingWeb", "webpageURL": True, "age": 3600},
        ],
    }
    salt, static = given["salt"], c.static_label(keys.label, 1_800_000_000)
    pair = c.PairKeys(b, c.raw_public(a), given["accountID"])
    marks = bytes(range(24)) + pair.mark(label_a) + bytes(range(32, 128))
    text = c.beacon_text(announcement, label_a, a, keys.beacon, salt, marks)
    beacon_body = c.encode_announcement(announcement, c.BEACON_BODY)
    plain = c.sign_advert(announcement, label_a, a)
    receipt = c.acknowledgement(device_b, 1_800_000_000, 5)
    computed = {
        "labelKey": keys.label,
        "beaconKey": keys.beacon,
        "advertKey": keys.advert,
        "gateKey": keys.gate,
        "publicA": c.raw_public(a),
        "publicB": c.raw_public(b),
        "deviceA": device_a,
        "deviceB": device_b,
        "labelA": label_a,
        "labelB": label_b,
        "instanceA": base64.b32encode(label_a).decode().lower().rstrip("=").encode(),
        "staticLabel": static,
        "coordinateA": c.montgomery(c.raw_public(a)),
        "coordinateB": c.montgomery(c.raw_public(b)),
        "agreement": c.agree(a, c.raw_public(b)),
        "mark": pair.mark(label_a),
        "marks": marks,
        "markGateKey": pair.gate,
        "announcement": beacon_body.rstrip(b"\0"),
        "beaconSignature": a.sign(b"handoff/1 beacon sig\0" + label_a + beacon_body),
        "beaconRecord": b"".join(bytes([len(s)]) + s for s in text),
        "advertSignature": plain[-64:],
        "advert": c.seal_datagram(c.ADVERT, plain, label_a, label_b, keys.advert, salt),
        "acknowledgement": c.seal_datagram(c.ACKNOWLEDGEMENT, receipt, label_b, label_a, keys.advert, salt),
        "token": c.gate_token(keys.gate, label_b, given["clientHello"]),
        "markToken": c.gate_token(pair.gate, label_a, given["clientHello"]),
        "staticToken": c.gate_token(keys.gate, static, given["clientHello"]),
    }
    wrong = [name for name, value in computed.items() if given.get(name) != value]
    public = {device_a: c.raw_public(a), device_b: c.raw_public(b)}.get
    opened = c.open_datagram(given["advert"], [label_b], keys, public)[2]
    if opened["activities"][0]["title"] != "Café list":
        wrong.append("advert (opened)")
    if c.open_beacon(text[::-1], label_a, keys, public)["seq"] != 5:
        wrong.append("beaconRecord (opened)")
    if pair.mark(label_a) not in c.read_marks(text[::-1]):
        wrong.append("marks (found)")
    for name, size in (("helloFrame", 2), ("requestFrame", 3)):
        (length,), kind = struct.unpack(">I", given[name][:4]), given[name][4]
        if length != len(given[name]) - 4 or kind != size or not isinstance(json.loads(given[name][5:]), dict):
            wrong.append(name)
    return wrong, len(computed) + 5


def _key(number):
    return Ed25519PrivateKey.from_private_bytes(struct.pack(">I", number) * 8)


def _device(number):
    return c.device_id(c.raw_public(_key(number)))


def _roster(page):
    section = page.split("### Vectors of the roster", 1)[1].split("\n## ", 1)[0]
    account_key, nonce = b"\x01" * 32, b"\x07" * 16
    account = r.account_id(c.raw_public(_key(0)), nonce)
    ticket = r.ticket_id(c.raw_public(_key(100)))
    statements = [
        r.sign_statement(_key(0), account, r.FOUND, nonce),
        r.sign_statement(_key(0), account, r.ADD, c.raw_public(_key(1))),
        r.sign_statement(_key(0), account, r.TICKET, c.raw_public(_key(100))),
        r.sign_statement(_key(100), account, r.USE, c.raw_public(_key(2))),
        r.sign_statement(_key(0), account, r.REMOVE, r.remove_body(_device(1), [_device(2), _device(3)])),
        r.sign_statement(_key(0), account, r.NAME, r.name_body(_device(0), 1, "Küche 🏠")),
        r.sign_statement(_key(0), account, r.EPOCH, r.epoch_body(1, [], account_key)),
    ]
    keys = c.EpochKeys(account_key, account, 1)
    joined = c.sha256(b"".join(s.data for s in statements))
    values = [account, _device(0), ticket, *(s.id for s in statements), joined, r.Roster(statements[::-1]).digest]
    values += [r.digest([_device(1)]), keys.label, keys.beacon, keys.advert, keys.gate]
    stated = [bytes.fromhex(text) for text in re.findall(r"^\|.*\| `([0-9a-f]+)` \|$", section, re.M)]
    whole = bytes.fromhex("".join(re.search(r"```\n([0-9a-f\s]+)```", section).group(1).split()))
    wrong = [f"roster row {row}" for row, pair in enumerate(zip(stated, values)) if pair[0] != pair[1]]
    if len(stated) != len(values):
        wrong.append("rows of the roster")
    if whole != statements[0].data or r.decode_list(r.encode_list(statements))[0].data != whole:
        wrong.append("the whole statement")
    return wrong, len(values) + 1


def _account_files(page):
    """An exported account in the clear and behind a passphrase, made here and read as others' files are."""
    section = page.split("### Exported accounts", 1)[1].split("\n### ", 1)[0]
    stated = re.findall(r"^\|.*\| `([0-9a-f]{64})` \|$", section, re.M)
    nonce, seed, account_key = b"\x07" * 16, struct.pack(">I", 100) * 8, b"\x01" * 32
    account = r.account_id(c.raw_public(_key(0)), nonce)
    found = r.sign_statement(_key(0), account, r.FOUND, nonce)
    content = seed + struct.pack(">Q", 1) + account_key + r.encode_list([found])
    passphrase = "correct horse 🐎 battery staple".encode()
    files = [r.account_file(content), r.account_file(content, passphrase, bytes(range(16)))]
    wrong = [f"account file {n}" for n, f in enumerate(files) if [c.sha256(f).hex()] != stated[n : n + 1]]
    for file, secret in zip(files, (None, passphrase)):
        if r.read_account_file(file, secret)[:3] != (seed, 1, account_key):
            wrong.append("account file (read)")
    for file, secret in ((files[0], passphrase), (files[1], None), (files[1], passphrase + b" ")):
        try:
            r.read_account_file(file, secret)
            wrong.append("account file (passphrase)")
        except c.Refused:
            pass
    return wrong, 7


def selftest():
    """The rules of the roster, and gate, TLS and frames between two Python devices."""
    failed = [name for name, passes in _roster_rules().items() if not passes]
    if not _connection_works():
        failed.append("connection")
    failed += [name for name, passes in _stream_rules().items() if not passes]
    print(json.dumps({"selftest": "failed" if failed else "passed", "failed": failed}))
    return 1 if failed else 0


def _roster_rules():
    """Rules of the page that are easily missed; each value says whether this program follows it."""
    account = r.account_id(c.raw_public(_key(0)), bytes(16))
    sign = lambda by, kind, body: r.sign_statement(_key(by), account, kind, body)
    add = lambda by, whom: sign(by, r.ADD, c.raw_public(_key(whom)))
    remove = lambda by, whom, *keeps: sign(by, r.REMOVE, r.remove_body(_device(whom), [_device(k) for k in keeps]))
    name = lambda by, whom, counter, text: sign(by, r.NAME, r.name_body(_device(whom), counter, text))
    epoch = lambda by, n, *removed: sign(by, r.EPOCH, r.epoch_body(n, [_device(k) for k in removed], bytes(32)))
    found = sign(0, r.FOUND, bytes(16))
    live = lambda *statements: r.Roster([found, *statements]).live
    devices = lambda *numbers: {_device(number) for number in numbers}

    issue = sign(0, r.TICKET, c.raw_public(_key(100)))
    uses = [sign(100, r.USE, c.raw_public(_key(k))) for k in (1, 2)]
    pair = [add(0, 1), add(1, 2), add(1, 3)]
    waiting = r.Roster([found])
    left = waiting.merge([add(1, 2), name(0, 9, 1, "nobody")])
    names = r.Roster([found, add(0, 1), name(1, 0, 9, "by the removed"), name(0, 0, 1, "kept"), remove(0, 1)])
    records = r.Roster([found, *(epoch(0, n) for n in range(1, 11))])
    forged = r.Statement(add(0, 1).data[:-1] + b"\0")
    before = r.Roster([found])
    try:
        before.merge([add(0, 2), forged])
        refuses = False
    except c.Refused:
        refuses = len(before.statements) == 1
    return {
        "removed for ever": live(add(0, 1), remove(0, 1), add(0, 1)) == devices(0),
        "kept": live(*pair, remove(0, 1, 2)) == devices(0, 2),
        "a second removal keeps nobody": live(*pair, remove(0, 1, 2), remove(0, 1, 2, 3)) == devices(0),
        "every remover keeps": live(*pair, add(0, 4), remove(0, 1, 2, 3), remove(4, 1, 3)) == devices(0, 3, 4),
        "two that remove each other": live(add(0, 1), remove(0, 1), remove(1, 0)) == set(),
        "one use": live(issue, uses[0]) == devices(0, 1),
        "two uses": live(issue, *uses) == devices(0),
        "unknown signer": len(left) == 2 and len(waiting.statements) == 1,
        "names by live signers": names.names == {_device(0): "kept"},
        "epochs": {s.fields[0] for s in records.statements.values() if s.kind == r.EPOCH} == set(range(3, 11)),
        "epoch of others removed": r.Roster([found, add(0, 1), epoch(0, 1), remove(0, 1)]).epoch is None,
        "epoch by the removed": r.Roster([found, add(0, 1), epoch(1, 2, 1), remove(0, 1)]).epoch is None,
        "whole or not at all": refuses,
        "order": r.Roster([*pair[::-1], remove(0, 1, 2), found]).digest == r.Roster([found, remove(0, 1, 2), *pair]).digest,
    }


def _connection_works():
    keys = c.EpochKeys(os.urandom(32), os.urandom(16), 1)
    label = c.make_label(keys.label)
    a, b = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    listener = socket.create_server(("127.0.0.1", 0))
    seen = []

    def serve():
        for _ in range(2):
            sock = listener.accept()[0]
            try:
                link = l.Link.answer(sock, l.make_context(b), keys.gate, label)
                seen.append((link.peer, link.receive(5)))
                link.send((l.HELLO, b"{}"))
            except c.Refused as error:
                seen.append(str(error))
                sock.close()

    thread = threading.Thread(target=serve)
    thread.start()
    port = listener.getsockname()[1]
    link = l.Link.call("127.0.0.1", port, l.make_context(a), keys.gate, label)
    link.send((l.HELLO, b"{}"))
    answer = link.receive(5)
    try:
        l.Link.call("127.0.0.1", port, l.make_context(a), os.urandom(32), label)
        refused = False
    except (ConnectionError, c.Refused):
        refused = True
    thread.join()
    listener.close()
    proved = c.device_id(c.raw_public(a)), c.device_id(c.raw_public(b))
    fine = seen == [(proved[0], (l.HELLO, b"{}")), "wrong token"] and answer == (l.HELLO, b"{}")
    return fine and refused and link.peer == proved[1]


def _stream_rules():
    """Streams between two Python devices; each value says whether they did what they must."""
    keys = c.EpochKeys(os.urandom(32), os.urandom(16), 1)
    a, b = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    ids = [c.device_id(c.raw_public(key)) for key in (a, b)]
    tcp = socket.socket()
    tcp.bind(("127.0.0.1", 0))
    port = tcp.getsockname()[1]
    activity = bytes(16).hex()
    origin = types.SimpleNamespace(
        key=a, keys=keys, label=c.make_label(keys.label), tcp=tcp, roster=types.SimpleNamespace(live=set(ids)),
        offers={activity: {"shown": {"streams": True}}})
    caller = types.SimpleNamespace(key=b, keys=keys)
    server = streams.StreamServer(origin)

    def ticket():
        return bytes.fromhex(server.give_ticket(ids[1], activity)["result"]["ticket"])

    def call(key=b):
        return streams.call_stream(caller, "127.0.0.1", port, origin.label, l.make_context(key, l.STREAM))

    def refused(link, data):
        try:
            streams.show_ticket(link, data)
        except (ConnectionError, SSL.Error):
            return True
        return False

    early = server.give_ticket(ids[1], activity).get("error", {}).get("reason")
    origin.offers[activity]["takers"] = {ids[1]}
    first = ticket()
    stream = streams.show_ticket(call(), first)
    _, other = server.streams.get(timeout=5)
    sent = os.urandom(3_000_000), b"x"
    echo = threading.Thread(target=lambda: (other.send(other.receive_all()), other.end()))
    echo.start()
    stream.send(sent[0], 70_000)
    stream.end()
    returned = stream.receive_all()
    echo.join()

    context = l.make_context(b, l.STREAM)
    secrets = records.keep_secrets(context)
    link = streams.call_stream(caller, "127.0.0.1", port, origin.label, context)
    made = records.Records(link, secrets)
    made.send(b"".join(made.record(bytes([byte])) for byte in ticket()))
    opened = link.tls, link._read()
    _, other = server.streams.get(timeout=5)
    made.send(made.key_update(False) + made.record(struct.pack(">I", 3) + b"abc") + made.record(struct.pack(">I", 0)))
    by_hand = other.receive_all()

    third = streams.show_ticket(call(), ticket())
    _, other = server.streams.get(timeout=5)
    other.reset(streams.REFUSED)
    try:
        third.receive()
        code = None
    except streams.Reset as reset:
        code = reset.code
    found = {
        "a ticket before the activity was continued": early == "unknownActivity",
        "a stream both ways": returned == sent[0],
        "a ticket twice": refused(call(), first),
        "a ticket of another device": refused(call(a), ticket()),
        "no ticket": refused(call(), bytes(16)),
        "records made by hand": by_hand == b"abc" and bool(opened),
        "a reset": code == streams.REFUSED,
    }
    server.close()
    return found
