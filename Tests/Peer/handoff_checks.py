"""The reference peer's checks of itself: the rules of the roster, and both halves of connections and streams."""

import json
import os
import pathlib
import socket
import struct
import tempfile
import threading
import types

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from OpenSSL import SSL

import handoff_crypto as c
import handoff_link as l
import handoff_messages as m
import handoff_pairing as pairing
import handoff_peer
import handoff_records as records
import handoff_roster as r
import handoff_server as servers
import handoff_stream as streams

def _key(number):
    return Ed25519PrivateKey.from_private_bytes(struct.pack(">I", number) * 8)


def _device(number):
    return c.device_id(c.raw_public(_key(number)))


def selftest():
    """Checks the rules of the roster, and gate, TLS, frames, joining and streams between Python devices."""
    found = _roster_rules() | _message_rules() | {"connection": _connection_works()} | _static_rules() | _joining_rules() | _stream_rules()
    failed = [name for name, passes in found.items() if not passes]
    print(json.dumps({"selftest": "failed" if failed else "passed", "failed": failed}))
    return 1 if failed else 0


def refused(act):
    try:
        act()
    except c.Refused:
        return True
    return False


def _roster_rules():
    """Checks rules of the page that are easily missed. Each value is whether this program follows one."""
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
    closed = r.Roster([found, issue, uses[0], epoch(0, 1), sign(0, r.REMOVE, r.remove_body(issue.admitted, devices(1)))])
    last = r.LAST_NUMBER
    exhausted = r.Roster([found, add(0, 1), epoch(0, 7), epoch(1, last)])
    restored = r.Roster([found, add(0, 1), epoch(0, 7), epoch(1, last), remove(0, 1)])
    waiting = r.Roster([found])
    left = waiting.merge([add(1, 2), name(0, 9, 1, "nobody")])
    names = r.Roster([found, add(0, 1), name(1, 0, 9, "by the removed"), name(0, 0, 1, "kept"), remove(0, 1)])
    numbers = lambda roster: sorted(s.fields[0] for s in roster.statements.values() if s.kind == r.EPOCH)
    records = r.Roster([found, add(0, 1), *(epoch(k, n) for k in (0, 1) for n in range(1, 11)), epoch(0, 99, 1)])
    early = r.Roster([found, add(0, 1)])
    again = early.merge([epoch(0, 2, 1)])
    forged = r.Statement(add(0, 1).data[:-1] + b"\0")
    before = r.Roster([found])
    refuses = refused(lambda: before.merge([add(0, 2), forged])) and len(before.statements) == 1
    other = [sign(0, kind, bytes(size)) for kind, size in ((128, 0), (255, 512), *((200, k) for k in range(20)))]
    kept = r.Roster([found, *other])
    greatest = sorted(s.id for s in other)[-r.MAX_RESERVED:]
    in_halves = r.Roster([found, *other[10:]])
    in_halves.merge(other[:10])
    invalid = [lambda: sign(0, 8, bytes(32)), lambda: sign(0, 127, b""), lambda: sign(0, 128, bytes(513))]
    return {
        "reserved kinds have no effect": (kept.live, kept.epoch, kept.names) == (devices(0), None, {}),
        "of reserved kinds the greatest ids": sorted(kept.statements.keys() - {found.id}) == greatest,
        "and in any order": in_halves.digest == kept.digest,
        "a reserved kind by a ticket": r.Roster([found, issue, sign(100, 128, b"")]).statements.keys() == {found.id, issue.id},
        "kinds that are invalid": all(refused(act) for act in invalid),
        "removed for ever": live(add(0, 1), remove(0, 1), add(0, 1)) == devices(0),
        "kept": live(*pair, remove(0, 1, 2)) == devices(0, 2),
        "a second removal keeps nobody": live(*pair, remove(0, 1, 2), remove(0, 1, 2, 3)) == devices(0),
        "every remover keeps": live(*pair, add(0, 4), remove(0, 1, 2, 3), remove(4, 1, 3)) == devices(0, 3, 4),
        "two that remove each other": live(add(0, 1), remove(0, 1), remove(1, 0)) == set(),
        "one use": live(issue, uses[0]) == devices(0, 1),
        "two uses": live(issue, *uses) == devices(0),
        "unknown signer": len(left) == 2 and len(waiting.statements) == 1,
        "names by live signers": names.names == {_device(0): "kept"},
        "one epoch record of each signer": numbers(records) == [10, 10],
        "an epoch record before its removal is offered again": (len(again), numbers(early)) == (1, []),
        "records of others removed go": numbers(restored) == [] and len(restored.statements) == 3,
        "epoch of others removed": r.Roster([found, add(0, 1), epoch(0, 1), remove(0, 1)]).epoch is None,
        "epoch by the removed": r.Roster([found, add(0, 1), epoch(1, 2, 1), remove(0, 1)]).epoch is None,
        "the next number": (records.next_epoch(3), records.next_epoch(30), records.next_epoch(2**31)) == (11, 31, 11),
        "the last number": refused(lambda: exhausted.next_epoch(7)) and restored.next_epoch(last) == 1,
        "a closed ticket ends no epoch": closed.epoch is not None and closed.live == devices(0, 1) and not closed.tickets,
        "the removed that nobody knows play no part": r.Roster([found, epoch(0, 1), remove(0, 9)]).epoch is not None,
        "whole or not at all": refuses,
        "order": r.Roster([*pair[::-1], remove(0, 1, 2), found]).digest == r.Roster([found, remove(0, 1, 2), *pair]).digest,
    }


def _message_rules():
    entry = {"id": "00" * 16, "type": "a", "age": 0}
    taken = lambda *elements: len(m.read_list({"activities": list(elements)}))
    wrong = [entry | change for change in (
        {"age": -1}, {"age": 2**32}, {"age": 1.0}, {"age": None}, {"age": "0"}, {"type": "a b"}, {"type": "é"}, {"type": ""},
        {"id": "00"}, {"streams": 1}, {"title": 7}, {"title": "x" * 4097})]

    others = [entry | {"id": f"{number:032x}"} for number in range(1025)]
    return {
        "what is wrong in a list is left out": taken(entry, *wrong, None, 1, "x") == 1,
        "an id twice": refused(lambda: taken(entry, entry | {"age": 1})) and taken(entry, entry | {"age": -1}) == 1,
        "a list of 1,025": refused(lambda: taken(*others)) and taken(*others[1:]) == 1024,
        "null is missing": taken(entry | {"title": None, "streams": None}) == 1,
    }


def _connection_works():
    a, b = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    keys, account = [c.raw_public(key) for key in (a, b)], os.urandom(16)
    proved = [c.device_id(raw) for raw in keys]
    pair, label = c.PairKeys(a, keys[1], account), os.urandom(16)
    gate = l.Gate(proved[1], [label], {proved[0]: c.PairKeys(b, keys[0], account).gate})
    listener = socket.create_server(("127.0.0.1", 0))
    seen = []

    def serve():
        for _ in range(2):
            sock = listener.accept()[0]
            try:
                link = l.Link.answer(sock, l.make_context(b), gate)
                seen.append((link.caller, link.peer, link.receive(5)))
                link.send((l.HELLO, b"{}"))
            except c.Refused as error:
                seen.append(str(error))
                sock.close()

    thread = threading.Thread(target=serve)
    thread.start()
    port = listener.getsockname()[1]
    link = l.Link.call("127.0.0.1", port, l.make_context(a), pair.gate, proved[1], label)
    link.send((l.HELLO, b"{}"))
    answer = link.receive(5)
    try:
        l.Link.call("127.0.0.1", port, l.make_context(a), pair.gate, proved[0], label)  # Valid only for the other direction.
        opens = True
    except (ConnectionError, c.Refused):
        opens = False
    thread.join()
    listener.close()
    fine = seen == [(proved[0], proved[0], (l.HELLO, b"{}")), "wrong token"] and answer == (l.HELLO, b"{}")
    return fine and not opens and link.peer == proved[1]


def _static_rules():
    """The static label opens to each call once, and to none that is earlier than one that it has opened to."""
    server, caller, key, epoch = (os.urandom(32) for _ in range(4))
    record, gate = b"\x16\x03\x01\0\1\1", l.Gate(server, [], {caller: key}, epoch)
    opens = lambda *serial, by=None: gate.caller(c.gate_token(key, server, c.STATIC_LABEL, record, serial, by), record) == caller
    return {
        "static: a call": opens(7, 1),
        "static: again": not opens(7, 1),
        "static: by the hint of the epoch": opens(7, 2, by=(caller, epoch)),
        "static: an earlier call": not opens(7, 1, by=(caller, epoch)),
        "static: an earlier boot": not opens(6, 9),
        "static: a later boot": opens(8, 0),
        "static: the hint of another epoch": not opens(9, 0, by=(caller, key)),
    }


def _joining_rules():
    """Checks an account of Python devices: which devices join by a file, what a member then sends,
    and which devices are rejected."""
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: pathlib.Path(folder, name)
        founder = Ed25519PrivateKey.generate()
        pairing.Account.founded(founder).write(path("founder"), founder)
        member = handoff_peer.Peer(path("founder"))
        server = servers.Server(member)
        for name in ("first", "second"):
            path(name + ".handoff").write_bytes(server.export())
        late = handoff_peer.Peer(path("late"), path("first.handoff"))
        one = handoff_peer.Peer(path("one"), path("first.handoff"))
        before = one.is_current, one.label, one.ticket is not None
        ticket = one.ticket
        link = one.open_connection(*server.place)
        joined = one.is_current and one.ticket is None and one.label and {one.device, member.device} == set(one.roster.live)
        two = handoff_peer.Peer(path("two"), path("second.handoff"))
        second = two.open_connection(*server.place)  # Of a file that was exported before the other one was used.

        def fails(act):
            try:
                act()
            except (c.Refused, OSError, SSL.Error):
                return True
            return False

        def by_ticket(of):
            label = c.STATIC_LABEL if of else member.label
            return l.Link.call(*server.place, one.context, one.pair_of_ticket(member.device, ticket).gate, member.device, label)

        def waits(peer, link, condition):
            while not condition() and (frame := link.receive(5)):
                peer.take(link, *frame)
            return condition()

        def by_epoch(label):
            return l.Link.call(*server.place, l.make_context(guest), one.keys.gate, member.device, label)

        def introduced(*frames):
            link = by_epoch(member.label)
            link.send(*frames)
            return link.receive(5)[0]

        server.rename(one.device, "Zaphod")
        guest = Ed25519PrivateKey.generate()  # A device that one member admits without notifying the others.
        added = r.sign_statement(one.key, member.roster.account, r.ADD, c.raw_public(guest))
        found = {
            "a file holds no key": before == (False, None, True),
            "joined": bool(joined),
            "the ticket is closed, the epoch is not": member.n == 1 and member.roster.tickets == {},
            "a second file": two.is_current and one.device in two.roster.live,
            "a file twice": fails(lambda: late.open_connection(*server.place)),
            "the key of a used ticket": fails(lambda: by_ticket(False)),
            "a request behind it": "result" in one.request(link, "activities", {}),
            "hello again": waits(one, link, lambda: one.roster.names.get(one.device) == "Zaphod"),
            "a method that is gone": one.request(link, "ping", {}).get("error", {}).get("reason") == "unknownMethod",
            "by address again": bool(one.open_connection(*server.place)),
            "let in elsewhere": one.roster.merge([added]) == [],
            "a guest by a static label": fails(lambda: by_epoch(c.STATIC_LABEL)),
            "a guest without statements": fails(lambda: introduced((l.HELLO, one.hello()))),
            "a guest": introduced((l.STATEMENTS, one.roster.encoded()), (l.HELLO, one.hello())) == l.HELLO,
            "a guest is a member": c.device_id(c.raw_public(guest)) in member.roster.live,
            "an advert": one.advertise(*server.place, bytes.fromhex(link.hello["label"]))["acknowledged"],
        }
        server.remove(one.device)
        found |= {
            "the next epoch": waits(two, second, lambda: (two.n, two.is_current) == (2, True)) and one.device not in two.roster.live,
            "a removed device": fails(lambda: one.open_connection(*server.place)),
            "one who stays": bool(two.open_connection(*server.place)),
        }
        server.close()
        return found


def _stream_rules():
    """Checks streams between two Python devices. Each value is whether they did what they must."""
    a, b = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    pair, label = c.PairKeys(a, c.raw_public(b), os.urandom(16)), os.urandom(16)
    ids = [c.device_id(c.raw_public(key)) for key in (a, b)]
    tcp = socket.socket()
    tcp.bind(("127.0.0.1", 0))
    port = tcp.getsockname()[1]
    activity = bytes(16).hex()
    origin = types.SimpleNamespace(
        key=a, gate=l.Gate(ids[0], [label], {ids[1]: pair.gate}), tcp=tcp, roster=types.SimpleNamespace(live=set(ids)),
        offers={activity: {"shown": {"streams": True}}})
    caller = types.SimpleNamespace(key=b, pair=lambda _: pair)
    control = types.SimpleNamespace(
        peer=ids[0], hello={"label": label.hex()}, sock=types.SimpleNamespace(getpeername=lambda: ("127.0.0.1", port)))
    server = streams.StreamServer(origin)

    def ticket():
        return bytes.fromhex(server.give_ticket(ids[1], activity)["result"]["ticket"])

    def call(key=b):
        return streams.call_stream(caller, control, l.make_context(key, l.STREAM))

    def refused(link, data):
        try:
            return streams.show_ticket(link, data).receive(5) is None
        except (ConnectionError, SSL.Error):
            return True

    early = server.give_ticket(ids[1], activity).get("error", {}).get("reason")
    origin.offers[activity]["takers"] = {ids[1]}
    first = ticket()
    stream = streams.show_ticket(call(), first, struct.pack(">I", 5) + b"eager")
    _, other = server.streams.get(timeout=20)
    sent = os.urandom(3_000_000), b"x"
    echo = threading.Thread(target=lambda: (other.send(other.receive_all()), other.end()))
    echo.start()
    stream.send(sent[0], 70_000)
    stream.end()
    returned = stream.receive_all()
    echo.join()

    context = l.make_context(b, l.STREAM)
    secrets = records.keep_secrets(context)
    link = streams.call_stream(caller, control, context)
    made = records.Records(link, secrets)
    made.send(b"".join(made.record(bytes([byte])) for byte in ticket()))
    _, other = server.streams.get(timeout=20)
    made.send(made.key_update(False) + made.record(struct.pack(">I", 3) + b"abc") + made.record(struct.pack(">I", 0)))
    by_hand = other.receive_all()

    third = streams.show_ticket(call(), ticket())
    _, other = server.streams.get(timeout=20)
    other.reset(streams.REFUSED)
    try:
        third.receive()
        code = None
    except streams.Reset as reset:
        code = reset.code
    found = {
        "a ticket before the activity was continued": early == "unknownActivity",
        "a stream both ways": returned == b"eager" + sent[0],
        "a ticket twice": refused(call(), first),
        "a ticket of another device": refused(call(a), ticket()),
        "no ticket": refused(call(), bytes(16)),
        "records made by hand": by_hand == b"abc",
        "a reset": code == streams.REFUSED,
    }
    server.close()
    return found
