"""Continuation streams between the reference peer in Python (Tests/Peer) and the daemon, both
conforming and hostile."""

import contextlib
import json
import os
import random
import select
import socket
import struct
import sys
import threading
import time

from harness import ROOT, Failure, Skip, expect, main, test
from streaming import APPS, CONTROL, TYPE, Connection, Refused, Stream, both, digest, memory, stays_flat

PEER = os.path.join(ROOT, "Tests", "Peer")
sys.path.insert(0, PEER)
try:
    import handoff_crypto as c
    import handoff_link as l
    import handoff_peer
    import handoff_records as records
    import handoff_roster as r
    import handoff_stream as streams
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from OpenSSL import SSL

    MISSING, ENDS = None, (c.Refused, OSError, SSL.Error)
except ModuleNotFoundError as error:
    if error.name.split(".")[0] not in ("OpenSSL", "cryptography"):
        raise
    MISSING, ENDS = error.name, (OSError,)

MIB = 1024 * 1024


class Python:
    """The reference peer as a member of a daemon's account, with a connection over which it is served."""

    def __init__(self, stage, daemon):
        if MISSING:
            raise Skip(f"the Python package '{MISSING}' is not installed (pip install cryptography pyOpenSSL)")
        file = os.path.join(stage.folder, "account.handoff")
        daemon.ctl("account", "export", file)
        daemon.know_sessions()
        self.daemon, self.target = daemon, ("127.0.0.1", daemon.ctl("status").line["port"])
        self.peer = handoff_peer.Peer(os.path.join(stage.folder, "peer.json"), file)
        self.link = self.peer.open_connection(*self.target)
        self.publisher = Connection(daemon)

    @property
    def label(self):
        return bytes.fromhex(self.link.hello["label"])

    def publish(self, streams=True):
        self.publisher.send(APPS + "Publish", more=True, activity={
            "type": TYPE, "title": "Draft", "supportsContinuationStreams": streams})
        self.activity = self.publisher.wait("published")["activity"]
        return self.activity

    def go_on(self, activity=None):
        """Continues an activity of the daemon."""
        answer = self.peer.request(self.link, "continue", {"activity": activity or self.activity})
        expect("result" in answer, f"the activity was not handed over: {answer}")
        return answer["result"]

    def ask(self, activity=None):
        return streams.ask_ticket(self.peer, self.link, activity or self.activity)

    def ticket(self):
        answer = self.ask()
        expect("result" in answer, f"no ticket: {answer}")
        return bytes.fromhex(answer["result"]["ticket"])

    def call(self, context=None, gate_key=None):
        return streams.call_stream(self.peer, self.link, context, gate_key)

    def gate_of(self, key):
        """The gate key that another device shares with the daemon."""
        return c.PairKeys(key, self.peer.roster.keys[self.link.peer], self.peer.roster.account).gate

    def open(self):
        """A stream: this device's end, and the end of the daemon's app."""
        mine = streams.show_ticket(self.call(), self.ticket())
        return mine, self.taken()

    def taken(self):
        told = self.publisher.wait("stream", activity=self.activity)
        return Stream(Connection(self.daemon).send(APPS + "OpenStream", upgrade=True, stream=told["stream"]))

    def by_hand(self):
        """A stream whose records this program builds: the link, the records, and the end of the daemon's app."""
        context = l.make_context(self.peer.key, l.STREAM)
        secrets = records.keep_secrets(context)
        link = self.call(context)
        made = records.Records(link, secrets)
        made.send(made.record(self.ticket()))
        return link, made, self.taken()

    def is_served(self):
        """Checks that a new stream works."""
        mine, taken = self.open()
        mine.send(b"question")
        mine.end()
        expect(taken.receive_all() == b"question", "wrong bytes")
        taken.send(b"answer").end()
        expect(mine.receive_all() == b"answer", "wrong bytes")
        expect(taken.outcome()["outcome"] == "ended", f"{taken.outcome()}")

    def serve(self):
        """Offers an activity with streams, and answers the daemon's requests on its own thread."""
        server = streams.StreamServer(self.peer)
        self.offered = os.urandom(16).hex()
        shown = {"id": self.offered, "type": TYPE, "title": "Python", "streams": True, "webpageURL": False, "age": 0}
        payload = {"type": TYPE, "title": "Python", "userInfo": {}, "app": "peer", "streams": True}
        self.peer.offers[self.offered] = {"shown": shown, "payload": payload}
        told = self.peer.advertise(*self.target, self.label)
        expect(told["acknowledged"], "the advert was not acknowledged")
        threading.Thread(target=self._answer, daemon=True).start()
        handler = Connection(self.daemon).send(CONTROL + "Continue", more=True, activity=self.offered, take=True)
        self.continuation = handler.wait("continued")["continuation"]
        return server

    def _answer(self):
        try:
            while True:
                found = self.link.receive(1)
                if found:
                    self.peer.take(self.link, *found)
        except ENDS:
            pass

    def ask_app(self):
        """Calls, as the daemon's app, for a stream of an activity that this device offers. The
        reply is still to be read."""
        return Connection(self.daemon).send(APPS + "OpenStream", upgrade=True, continuation=self.continuation)


def member(stage, streams=True):
    """A daemon that publishes an activity, and a Python device that has continued it."""
    daemon = stage.daemon("daemon")
    daemon.ctl("account", "create")
    python = Python(stage, daemon)
    python.publish(streams)
    python.go_on()
    return daemon, python


def closes(link, within=60):
    """Waits until the other side closes a connection without sending any data. Returns the time this took."""
    begin = time.monotonic()
    link.sock.settimeout(within)
    try:
        link._read()
    except TimeoutError:
        raise Failure(f"the connection is still open after {within} s") from None
    except ENDS:
        return time.monotonic() - begin
    raise Failure(f"the connection received {link.buffer!r}")


def other_member(python):
    """The key of another device of the account."""
    key, peer = Ed25519PrivateKey.generate(), python.peer
    peer.roster.merge([r.sign_statement(peer.key, peer.roster.account, r.ADD, c.raw_public(key))])
    python.link.send((l.STATEMENTS, peer.roster.encoded()))
    peer.request(python.link, "activities", {})
    return key


# ---- Conforming ------------------------------------------------------------------------------------------------------


@test("a peer opens streams of a continued activity, and bytes are sent both ways")
def to_daemon(stage):
    daemon, python = member(stage)
    for size in (0, 1, 65_535, 65_536, 65_537, 3 * MIB):
        mine, taken = python.open()
        out, back = os.urandom(size), os.urandom(size)
        threading.Thread(target=lambda: taken.send(back).end(), daemon=True).start()
        mine.send(out)
        mine.end()
        found = both(mine.receive_all, taken.receive_all)
        expect(tuple(map(digest, found)) == (digest(back), digest(out)), f"{size}: wrong bytes")
        reply = taken.outcome()
        expect((reply["outcome"], reply["sent"], reply["received"]) == ("ended", size, size), f"{reply}")


@test("a peer serves streams of an activity that it offers, and bytes are sent both ways")
def from_daemon(stage):
    daemon, python = member(stage)
    server = python.serve()
    for size in (0, 1, 65_536, 3 * MIB):
        asked = Stream(python.ask_app())
        activity, mine = server.streams.get(timeout=60)
        expect(activity == python.offered, f"a stream of the wrong activity: {activity}")
        out, back = os.urandom(size), os.urandom(size)
        threading.Thread(target=lambda: asked.send(out).end(), daemon=True).start()

        def answer():
            got = mine.receive_all()
            mine.send(back, 70_000)
            mine.end()
            return got

        found = both(answer, asked.receive_all)
        expect(tuple(map(digest, found)) == (digest(out), digest(back)), f"{size}: wrong bytes")
        expect(asked.outcome()["outcome"] == "ended", f"{asked.outcome()}")
    server.close()


@test("each reset code is reported to the app with its own reason")
def resets(stage):
    daemon, python = member(stage)
    server = python.serve()
    words = {streams.CANCELLED: "reset", streams.REFUSED: "refused", streams.NOT_MEMBER: "removed", streams.IDLE: "idle",
             streams.STOPPING: "stopped", streams.FAILED: "failed"}
    for code, word in words.items():
        asked = Stream(python.ask_app())
        _, mine = server.streams.get(timeout=60)
        mine.send(b"some")
        expect(asked.receive(4) == b"some", "wrong bytes")
        mine.reset(code)
        expect(asked.receive_all() == b"", "unexpected bytes")
        expect(asked.outcome()["outcome"] == word, f"{code}: {asked.outcome()}")
    for close, code in ((True, streams.CANCELLED), (False, streams.STOPPING)):
        asked = Stream(python.ask_app())
        _, mine = server.streams.get(timeout=60)
        if close:
            asked.close()
        else:
            expect(daemon.stop() == 0, "it did not end cleanly")
        found = mine.receive_reset()
        expect(found == code, f"code {found} instead of {code}")
    server.close()


# ---- Tickets ---------------------------------------------------------------------------------------------------------


@test("a ticket is issued only to a device that continued the activity, and only for an activity with streams")
def who_asks(stage):
    daemon = stage.daemon("daemon")
    daemon.ctl("account", "create")
    python = Python(stage, daemon)
    python.publish()
    for activity in (python.activity, "00" * 16):
        error = python.ask(activity).get("error", {})
        expect((error.get("code"), error.get("reason")) == (4608, "unknownActivity"), f"{activity}: {error}")
    for parameters in ({}, {"activity": 1}, {"activity": "xyz"}, {"activity": python.activity[:8]}):
        answer = python.peer.request(python.link, "openStream", parameters)
        expect("error" in answer, f"{parameters}: {answer}")
    python.go_on()
    # The purpose of a stream is a name, or the request is refused.
    for resource in (1, "", "a b", "a\n", "\u00e9", "x" * 129, ["a"]):
        answer = python.peer.request(python.link, "openStream", {"activity": python.activity, "resource": resource})
        expect(answer.get("error", {}).get("reason") == "rejected", f"{resource!r}: {answer}")
    for resource in (None, "document/3", "x" * 128):
        answer = python.peer.request(python.link, "openStream", {"activity": python.activity, "resource": resource})
        expect(len(answer.get("result", {}).get("ticket", "")) == 32, f"{resource!r}: {answer}")
    python.is_served()
    first = python.activity
    python.publisher = Connection(daemon)
    python.publish(streams=False)
    python.go_on()
    error = python.ask().get("error", {})
    expect((error.get("code"), error.get("reason")) == (3328, "streamsUnsupported"), f"{error}")
    expect(python.activity != first, "one activity was accepted as two")


@test("a withdrawn activity issues no more tickets, and an existing ticket for it opens nothing")
def gone_activity(stage):
    daemon, python = member(stage)
    ticket = python.ticket()
    python.publisher.close()
    error = {}
    limit = time.monotonic() + 60
    while "code" not in error:
        error = python.ask().get("error", {})
        expect(time.monotonic() < limit, "tickets are still issued")
    expect((error["code"], error["reason"]) == (4608, "unknownActivity"), f"{error}")
    link = python.call()
    try:
        mine = streams.show_ticket(link, ticket)
        mine.receive()
        raise Failure("a stream of a withdrawn activity was opened")
    except streams.Reset as reset:
        expect(reset.code == streams.REFUSED, f"{reset}")
    except ENDS:
        pass
    daemon.is_well()


@test("a ticket opens one stream, for its device only, and frames may follow it directly")
def tickets(stage):
    daemon, python = member(stage)
    ticket = python.ticket()
    streams.show_ticket(python.call(), ticket)
    python.taken()
    used = python.call()
    used.send_raw(ticket)
    closes(used)
    key = other_member(python)
    stolen = python.call(l.make_context(key, l.STREAM), python.gate_of(key))
    stolen.send_raw(python.ticket())
    closes(stolen)
    for context, gate_key in ((l.make_context(key, l.STREAM), None), (None, python.gate_of(key))):
        try:  # One device's key at the gate, and the other one's certificate behind it.
            mixed = python.call(context, gate_key)
            mixed.send_raw(python.ticket())
            closes(mixed)
        except ENDS:
            pass
    for data in (os.urandom(16), bytes(16), b"\xff" * 16):
        link = python.call()
        link.send_raw(data)
        closes(link)
    eager = streams.show_ticket(python.call(), python.ticket(), struct.pack(">I", 3) + b"abc" + struct.pack(">I", 0))
    taken = python.taken()
    expect(taken.receive_all() == b"abc", "frames directly after the ticket were lost")
    taken.send(b"answer").end()
    expect(eager.receive_all() == b"answer", "wrong bytes")
    wrong = python.call()
    wrong.send_raw(os.urandom(16) + struct.pack(">I", 3) + b"abc")
    closes(wrong)
    slow = python.call()
    for byte in python.ticket():
        slow.send_raw(bytes([byte]))
        time.sleep(0.02)
    taken = python.taken()
    taken.send(b"x").end()
    expect(streams.Stream(slow).receive_all() == b"x", "a ticket in pieces was refused")
    daemon.is_well()


@test("a ticket expires after 30 s")
def late_ticket(stage):
    daemon, python = member(stage)
    ticket = python.ticket()
    time.sleep(31)
    link = python.call()
    link.send_raw(ticket)
    closes(link)
    python.link = python.peer.open_connection(*python.target)
    python.is_served()


@test("a connection without a valid ticket is closed within 5 s, even if bytes arrive one at a time")
def no_ticket(stage):
    daemon, python = member(stage)
    silent, dripping = python.call(), python.call()
    begin = time.monotonic()
    dripping.sock.settimeout(0.3)
    # For 20 s, unless the connection is closed.
    for byte in bytes(67):
        try:
            dripping.send_raw(bytes([byte]))
            time.sleep(0.3)
        except OSError:
            break
    closes(dripping)
    closes(silent)
    expect(2 < time.monotonic() - begin < 15, f"closed after {time.monotonic() - begin:.1f} s")
    python.is_served()


@test("of 17 connections without a ticket one is closed, and the device is still served")
def many_without_ticket(stage):
    daemon, python = member(stage)
    links, closed = [], 0
    for _ in range(17):
        try:
            links.append(python.call())
        except ENDS:
            closed += 1
    # All others would be closed after 5 s.
    expect(closed or select.select([link.sock for link in links], [], [], 60)[0], "none of 17 connections was closed")
    for link in links:
        link.sock.settimeout(0.05)
        try:
            link._read()
        except TimeoutError:
            pass
        except ENDS:
            closed += 1
    expect(1 <= closed <= 2, f"{closed} of 17 connections were closed")
    for link in links:
        # The daemon has closed it, so it no longer counts.
        with contextlib.suppress(OSError):
            link.sock.shutdown(socket.SHUT_WR)
            closes(link)
    python.is_served()


@test("1,100 simultaneous requests for streams are answered or refused, and affect nothing else")
def flood(stage):
    daemon, python = member(stage)
    before = memory(daemon)
    peer, link = python.peer, python.link
    found, answers = {}, 0
    begin = time.monotonic()
    for _ in range(0, 1100, 20):
        frames = []
        for _ in range(20):
            number, link.next_id = link.next_id, link.next_id + 1
            body = {"id": number, "method": "openStream", "parameters": {"activity": python.activity}}
            frames.append((l.REQUEST, json.dumps(body).encode()))
        link.send(*frames)
        expected = answers + 20
        while answers < expected and (got := link.receive(2)):
            if got[0] == l.RESPONSE:
                answer = json.loads(got[1])
                word = "ticket" if "result" in answer else answer["error"]["reason"]
                found[word] = found.get(word, 0) + 1
                answers += 1
            else:
                peer.take(link, *got)
        if answers < expected:
            found["none"] = found.get("none", 0) + expected - answers
            answers = expected
    took = time.monotonic() - begin
    print(f"    answers in {took:.1f} s: {found}")
    expect(set(found) <= {"ticket", "tooManyStreams", "none"}, f"{found}")
    expect(900 <= found.get("ticket", 0) <= 1024 + 100 * took, f"{found}")
    stays_flat(before, daemon)
    expect("result" in peer.request(link, "activities", {}), "requests are no longer answered")
    python.go_on()
    daemon.is_well()


@test("a non-member, or a connection with another protocol, receives no bytes")
def non_members(stage):
    daemon, python = member(stage)
    ticket = python.ticket()
    for name, key, protocol in (
            ("an unknown device", Ed25519PrivateKey.generate(), l.STREAM),
            ("a member with a protocol of the future", python.peer.key, b"handoff-stream/2")):
        try:
            gate_key = python.peer.pair(python.link.peer).gate
            context = l.make_context(key, protocol)
            link = l.Link.call(*python.target, context, gate_key, python.link.peer, python.label, protocol=protocol)
            link.send_raw(ticket)
            closes(link)
        except ENDS:
            pass
    # A ticket of the account admits no device for streams, not even a member. Neither does the epoch's gate key.
    issued = Ed25519PrivateKey.generate()
    peer = python.peer
    peer.roster.merge([r.sign_statement(peer.key, peer.roster.account, r.TICKET, c.raw_public(issued))])
    python.link.send((l.STATEMENTS, peer.roster.encoded()))
    peer.request(python.link, "activities", {})
    for gate_key in (peer.pair_of_ticket(python.link.peer, issued).gate, peer.keys.gate):
        try:
            link = python.call(gate_key=gate_key)
            link.send_raw(ticket)
            closes(link)
        except ENDS:
            pass
    # The protocol of control connections on a connection for a stream, and the reverse.
    link = python.call()
    link.send((l.HELLO, python.peer.hello()))
    closes(link)
    gate_key = peer.pair(python.link.peer).gate
    control = l.Link.call(*python.target, peer.context, gate_key, python.link.peer, python.label)
    control.send_raw(ticket)
    closes(control)
    python.is_served()


# ---- Frames ----------------------------------------------------------------------------------------------------------


@test("a frame header out of its range closes the stream, and is not treated as an end")
def wrong_words(stage):
    daemon, python = member(stage)
    for word in (0x00100001, 0x7FFFFFFF, 0x80000000, 0xFFFFFEFF):
        for before in (b"", b"some"):
            mine, taken = python.open()
            if before:
                mine.send(before)
            mine.link.send_raw(struct.pack(">I", word) + b"data that belongs to nothing")
            expect(taken.receive_all() in (b"", before), f"{word:x}: wrong bytes")
            reply = taken.outcome()
            expect(reply["outcome"] in ("gone", "failed", "reset"), f"{word:x}: {reply}")
            try:
                mine.receive()
                raise Failure(f"{word:x}: the connection is still open")
            except (*ENDS, streams.Reset):
                pass
    python.is_served()


@test("an unknown reset code is a reset for an unknown reason")
def unknown_codes(stage):
    daemon, python = member(stage)
    for code in (0, 7, 200, 255):
        mine, taken = python.open()
        mine.send(b"some")
        mine.reset(code)
        expect(taken.receive_all() in (b"", b"some"), f"{code}: wrong bytes")
        reply = taken.outcome()
        expect(reply["outcome"] == "reset" and "unknown reason" in reply["message"], f"{code}: {reply}")
    python.is_served()


@test("only a reset may follow the end")
def after_end(stage):
    daemon, python = member(stage)
    mine, taken = python.open()
    mine.send(b"some")
    mine.link.send_raw(struct.pack(">I", 0) + struct.pack(">I", 4) + b"more")
    expect(taken.receive_all() == b"some", "bytes after the end arrived")
    expect(taken.outcome()["outcome"] in ("gone", "failed"), f"{taken.outcome()}")
    mine, taken = python.open()
    mine.link.send_raw(struct.pack(">I", 0) * 2)
    expect(taken.receive_all() == b"", "unexpected bytes")
    expect(taken.outcome()["outcome"] in ("gone", "failed"), f"two ends: {taken.outcome()}")
    mine, taken = python.open()
    mine.send(b"some")
    mine.link.send_raw(struct.pack(">I", 0))
    expect(taken.receive_all() == b"some", "wrong bytes")
    mine.reset(streams.CANCELLED)
    expect(taken.outcome()["outcome"] == "reset", f"a reset after the end: {taken.outcome()}")


@test("a truncated stream is never an end: at every place in a frame, with and without close_notify")
def cuts(stage):
    daemon, python = member(stage)
    frame = struct.pack(">I", 1000) + bytes(range(250)) * 4
    for size in (0, 1, 3, 4, 5, 500, 1003, 1004):
        for politely in (False, True):
            mine, taken = python.open()
            mine.link.send_raw(frame[:size])
            expected = frame[4:size] if size > 4 else b""
            expect(taken.receive(len(expected)) == expected, f"{size}: wrong bytes")
            mine.link.close() if politely else mine.cut()
            expect(taken.receive_all() == b"", f"{size}: unexpected bytes")
            expect(taken.outcome()["outcome"] == "gone", f"{size}, {politely}: {taken.outcome()}")
    # One direction has ended. The stream still counts as truncated.
    mine, taken = python.open()
    mine.link.send_raw(struct.pack(">I", 0))
    expect(taken.receive_all() == b"", "unexpected bytes")
    mine.cut()
    expect(taken.outcome()["outcome"] == "gone", f"{taken.outcome()}")
    python.is_served()


@test("a stream that ends at a random place delivers exactly the bytes sent before it (seeded)")
def random_ends(stage):
    daemon, python = member(stage)
    seed = int(os.environ.get("HANDOFF_SEED", "1"))
    chance = random.Random(seed)
    for round in range(30):
        mine, taken = python.open()
        got = []
        reading = threading.Thread(target=lambda: got.append(taken.receive_all()), daemon=True)
        reading.start()
        sent = b""
        for _ in range(chance.randrange(6)):
            piece = chance.randbytes(chance.choice((1, 100, 16_384, 70_000)))
            mine.send(piece, chance.choice((1000, 65_536, streams.MAX_DATA)))
            sent += piece
        way = chance.choice(("cut", "reset", "half"))
        if way == "half":
            mine.link.send_raw(struct.pack(">I", 5000) + bytes(chance.randrange(5000)))
            mine.cut()
        elif way == "reset":
            mine.reset(streams.CANCELLED)
        else:
            mine.cut()
        reading.join(20)
        expect(got and (sent + bytes(5000)).startswith(got[0]), f"seed {seed}, round {round}, {way}: wrong bytes")
        expect(taken.outcome()["outcome"] == ("reset" if way == "reset" else "gone"), f"{way}: {taken.outcome()}")
    python.is_served()


@test("a million frames of one byte, and a million records of one byte, delay no other call and use no memory", limit=300)
def tiny(stage):
    daemon, python = member(stage)
    origin_memory = memory(daemon)
    data = os.urandom(MIB)
    for kind in ("frames", "records"):
        link, made, taken = python.by_hand()
        if kind == "frames":
            plain = b"".join(b"\0\0\0\1" + bytes([byte]) for byte in data) + bytes(4)
            pieces = (plain[at:at + 16_000] for at in range(0, len(plain), 16_000))
        else:
            pieces = (bytes([byte]) for byte in struct.pack(">I", len(data)) + data + bytes(4))
        slowest, stop = 0.0, threading.Event()

        def look():
            nonlocal slowest
            while not stop.is_set():
                begin = time.monotonic()
                call = Connection(daemon)
                call.call("org.varlink.service.GetInfo")
                call.close()
                slowest = max(slowest, time.monotonic() - begin)
                stop.wait(0.05)

        def write():
            waiting = bytearray()
            for piece in pieces:
                waiting += made.record(piece)
                if len(waiting) > 256 * 1024:
                    made.send(waiting)
                    waiting.clear()
            made.send(waiting)

        watching = threading.Thread(target=look, daemon=True)
        watching.start()
        link.sock.settimeout(120)
        begin = time.monotonic()
        _, got = both(write, lambda: taken.receive_all(within=120))
        stop.set()
        watching.join()
        print(f"    {kind}: {time.monotonic() - begin:.1f} s, slowest other call {slowest * 1000:.0f} ms")
        expect(got == data, f"{kind}: wrong bytes")
        expect(slowest < 10, f"{kind}: another call took {slowest:.1f} s")
        taken.end()
        expect(taken.outcome()["outcome"] == "ended", f"{taken.outcome()}")
        stays_flat(origin_memory, daemon)


@test("an endless sequence of empty records moves nothing and uses no memory")
def empty_records(stage):
    daemon, python = member(stage)
    before = memory(daemon)
    link, made, taken = python.by_hand()
    link.sock.settimeout(60)
    try:
        for _ in range(400):
            made.send(b"".join(made.record(b"") for _ in range(100)))
        made.send(made.record(struct.pack(">I", 4) + b"some" + bytes(4)))
        expect(taken.receive_all() == b"some", "wrong bytes")
    except OSError:
        expect(taken.outcome()["outcome"] in ("gone", "failed"), f"{taken.outcome()}")  # OpenSSL may treat this as an attack.
    stays_flat(before, daemon)
    python.is_served()


@test("endless requests for new keys, whose responses are never read, use no memory and delay no other call")
def key_updates(stage):
    daemon, python = member(stage)
    link, made, taken = python.by_hand()
    link.sock.settimeout(60)
    made.send(made.key_update() + made.record(struct.pack(">I", 4) + b"some"))
    expect(taken.receive(4) == b"some", "wrong bytes after a new key")
    taken.send(b"back")
    while len(link.buffer) < 8:
        link._read()
    expect(link.buffer[4:] == b"back", "wrong bytes under the daemon's new key")
    before = memory(daemon)
    sent = 0
    link.sock.settimeout(5)
    try:
        for _ in range(400):
            made.send(b"".join(made.key_update() for _ in range(100)))
            sent += 100
    except OSError:
        pass
    print(f"    {sent} requests were accepted")
    stays_flat(before, daemon)
    daemon.is_well()
    link.sock.close()
    expect(taken.receive_all() == b"", "unexpected bytes")
    python.is_served()


@test("a device that reads no bytes blocks only its own stream")
def reads_nothing(stage):
    daemon, python = member(stage)
    before = memory(daemon)
    stuck = [python.open() for _ in range(8)]
    for _, taken in stuck:
        taken.push(64 * MIB)
    stays_flat(before, daemon)
    python.is_served()
    for mine, _ in stuck:
        mine.cut()
    for _, taken in stuck:
        expect(taken.outcome()["outcome"] == "gone", f"{taken.outcome()}")


@test("a removed device loses its streams immediately")
def removed(stage):
    daemon, python = member(stage)
    mine, taken = python.open()
    mine.send(b"some")
    expect(taken.receive(4) == b"some", "wrong bytes")
    without_ticket, ticket = python.call(), python.ticket()
    begin = time.monotonic()
    daemon.ctl("device", "remove", python.peer.device.hex(), "--yes", "--no-wait")
    expect(taken.outcome()["outcome"] == "removed", f"{taken.outcome()}")
    expect(time.monotonic() - begin < 20, "it took too long")
    try:
        mine.receive()
        raise Failure("the removed device's stream continues")
    except streams.Reset as reset:
        expect(reset.code == streams.NOT_MEMBER, f"{reset}")
    except ENDS:
        pass
    try:
        without_ticket.send_raw(ticket)
        closes(without_ticket)
    except OSError:
        pass
    try:
        late = python.call()
        late.send_raw(ticket)
        closes(late)
    except ENDS:
        pass
    daemon.is_well()


@test("a hostile origin's replies to a ticket open nothing")
def hostile_origin(stage):
    daemon, python = member(stage)
    server = python.serve()
    answers = {
        "no ticket": {"result": {}}, "half a ticket": {"result": {"ticket": "00" * 8}},
        "no hex": {"result": {"ticket": "zz" * 16}}, "a number": {"result": {"ticket": 1}},
        "an error": {"error": {"code": 4608, "reason": "tooManyStreams", "message": "enough"}},
    }
    give = server.give_ticket
    for name, answer in answers.items():
        server.give_ticket = lambda *_, answer=answer: answer
        try:
            Stream(python.ask_app())
            raise Failure(f"{name}: a stream was opened")
        except Refused as error:
            expect(error.name == "StreamFailed", f"{name}: {error}")
            if name == "an error":
                expect((error.parameters["code"], error.parameters["reason"]) == (4608, "tooManyStreams"), f"{error}")
    # A rejected ticket shows only after it was sent. The daemon retries for a while, and then notifies the app.
    server.give_ticket = lambda *_: {"result": {"ticket": "00" * 16}}
    asked = Stream(python.ask_app())
    expect(asked.receive_all() == b"", "unexpected bytes")
    expect(asked.outcome()["outcome"] == "gone", f"{asked.outcome()}")
    server.give_ticket = give
    asked = Stream(python.ask_app())
    _, mine = server.streams.get(timeout=60)
    mine.link.send_raw(struct.pack(">I", 0x00200000) + bytes(1000))
    expect(asked.receive_all() == b"", "unexpected bytes")
    expect(asked.outcome()["outcome"] in ("gone", "failed", "reset"), f"{asked.outcome()}")
    server.close()
    daemon.is_well()


if __name__ == "__main__":
    main()
