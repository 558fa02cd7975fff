"""Continuation streams between two daemons, on loopback. The apps are plain sockets."""

import contextlib
import os
import select
import shutil
import socket
import struct
import subprocess
import threading
import time

from harness import Failure, Skip, content, expect, main, run, test
from logind import Logind
from shared_memory import SharedStream
from streaming import (
    APPS, CONTROL, TYPE, Connection, Refused, Route, Stream, allow_descriptors, both, descriptors, digest, ended,
    let_go, memory, pass_file, passed, stays_flat)

KIB, MIB = 1024, 1024 * 1024


def refusal(action, *names):
    """The parameters of the error with which a request must be refused."""
    try:
        got = action()
    except Refused as error:
        expect(error.name in names, f"refused by {error.name} {error.parameters} instead of {names}")
        return error.parameters
    raise Failure(f"not refused by {names}: {got}")


def same_end(*streams, outcome="ended"):
    """Checks that all ends of a stream report this outcome."""
    found = [stream.outcome() for stream in streams]
    expect([reply["outcome"] for reply in found] == [outcome] * len(streams), f"not {outcome}: {found}")
    return found


# ---- Bytes -----------------------------------------------------------------------------------------------------------


@test("data that one app writes is read by the other, in both directions and at all sizes")
def sizes(stage):
    route = Route(*stage.pair())
    for size in (0, 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, 5 * MIB):
        asked, taken = route.open()
        out, back = os.urandom(size), os.urandom(size)
        sending = [threading.Thread(target=lambda end=end, data=data: end.send(data).end(), daemon=True)
                   for end, data in ((asked, out), (taken, back))]
        for thread in sending:
            thread.start()
        found = both(asked.receive_all, taken.receive_all)
        expect(tuple(map(digest, found)) == (digest(back), digest(out)), f"{size}: wrong bytes: {list(map(digest, found))}")
        for reply in same_end(asked, taken):
            expect((reply["sent"], reply["received"]) == (size, size), f"{size}: wrong reply: {reply}")


@test("either direction can end while the other continues")
def half_close(stage):
    route = Route(*stage.pair())
    for first in (0, 1):
        ends = route.open()
        early, late = ends[first], ends[1 - first]
        early.send(b"question").end()
        expect(late.receive_all() == b"question", "the question did not arrive")
        for piece in (b"a", b"n" * 100_000, b"swer"):
            late.send(piece)
            expect(early.receive(len(piece)) == piece, "the answer did not arrive")
        late.end()
        expect(early.receive_all() == b"", "more bytes arrived")
        same_end(*ends)


@test("small writes arrive immediately and in order")
def small(stage):
    asked, taken = Route(*stage.pair()).open()
    for number in range(500):
        piece = b"%d " % number
        asked.send(piece)
        expect(taken.receive(len(piece)) == piece, "wrong bytes")
        taken.send(piece)
        expect(asked.receive(len(piece)) == piece, "wrong bytes")
    asked.end()
    taken.end()
    same_end(asked, taken)


@test("a reader that stops also stops the writer, the daemons buffer nothing, and all data arrives afterwards")
def reader_stops(stage):
    origin, taker = stage.pair()
    route = Route(origin, taker)
    for writer, reader in (route.open(), reversed(route.open())):
        before = {daemon: memory(daemon) for daemon in (origin, taker)}
        pushed = writer.push(200 * MIB)
        expect(0 < pushed < 32 * MIB, f"{pushed} bytes were accepted although the reader had stopped")
        for daemon in (origin, taker):
            stays_flat(before[daemon], daemon)
        threading.Thread(target=writer.end, daemon=True).start()
        expect(reader.receive_all() == bytes(pushed), "not all bytes arrived")
        reader.end()
        expect(writer.receive_all() == b"", "unexpected bytes")
        same_end(writer, reader)


@test("a reader that stops blocks no other stream and no other call")
def others_go_on(stage):
    origin, taker = stage.pair()
    route = Route(origin, taker)
    stuck = [route.open() for _ in range(4)]
    for asked, taken in stuck:
        asked.push(64 * MIB)
        taken.push(64 * MIB)
    asked, taken = route.open()
    data = os.urandom(3 * MIB)
    threading.Thread(target=lambda: taken.send(data).end(), daemon=True).start()
    expect(asked.end().receive_all() == data, "the bytes differ")
    same_end(asked, taken)
    expect(taker.ctl("continue", "--print", route.activity).line["id"] == route.activity, "wrong activity")


@test("a thousand streams with data can be open at the same time, and nothing remains of them", limit=240)
def thousand(stage):
    count = 1000
    if allow_descriptors() < 3 * count:
        raise Skip("this system allows too few open files")
    origin, taker = stage.pair()
    route = Route(origin, taker)
    before = {daemon: descriptors(daemon) for daemon in (origin, taker)}
    used = {daemon: memory(daemon) for daemon in (origin, taker)}
    begin = time.monotonic()
    streams = [route.open() for _ in range(count)]
    print(f"    {count} streams opened in {time.monotonic() - begin:.1f} s; memory "
          f"{memory(origin)} and {memory(taker)} KiB")
    for daemon in (origin, taker):
        stays_flat(used[daemon], daemon, limit=100 * count)
    for number, (asked, taken) in enumerate(streams):
        asked.send(b"to %d" % number)
        taken.send(b"from %d" % number)
    for number, (asked, taken) in enumerate(streams):
        expect(taken.receive(len(b"to %d" % number)) == b"to %d" % number, "bytes of another stream")
        expect(asked.receive(len(b"from %d" % number)) == b"from %d" % number, "bytes of another stream")
    for asked, taken in streams:
        asked.end()
        taken.end()
    for asked, taken in streams:
        expect(asked.receive_all() == b"" == taken.receive_all(), "more bytes arrived")
        asked.close()
        taken.close()
    for daemon in (origin, taker):
        let_go(daemon, before[daemon], more=16)  # The threads of streams remain, with some descriptors each.
        daemon.is_well()


# ---- How streams end -------------------------------------------------------------------------------------------------


@test("an app that closes its end cancels the stream, and the other app receives a reset")
def cancelled(stage):
    route = Route(*stage.pair())
    for first in (0, 1):
        for data in (b"", b"x" * 100_000):
            ends = route.open()
            closing, other = ends[first], ends[1 - first]
            if data:
                other.send(data)  # The closing app never reads this.
                closing.send(b"some")
                expect(other.receive(4) == b"some", "wrong bytes")
            name = closing.id
            closing.close()
            expect(other.receive_all() == b"", "unexpected bytes")
            expect(ended(closing.daemon, name)["outcome"] == "cancelled", "not cancelled")
            same_end(other, outcome="reset")


@test("an app that sends its end and then closes without reading also cancels the stream")
def cancelled_after_end(stage):
    asked, taken = Route(*stage.pair()).open()
    asked.send(b"all").end()
    expect(taken.receive_all() == b"all", "wrong bytes")
    asked.close()
    found = same_end(taken, outcome="reset")
    expect(found[0]["received"] == 3, f"{found}")


@test("after a daemon is killed its streams are reported as lost")
def gone(stage):
    origin, taker = stage.pair()
    for killed, left in ((taker, origin), (origin, taker)):
        route = Route(origin, taker)
        ends = {end.daemon: end for end in route.open()}
        ends[killed].send(b"some")
        expect(ends[left].receive(4) == b"some", "wrong bytes")
        killed.kill()
        expect(ends[left].receive_all() == b"", "unexpected bytes")
        same_end(ends[left], outcome="gone")
        killed.start()


@test("after a daemon shuts down cleanly its streams are reported as stopped")
def stopped(stage):
    origin, taker = stage.pair()
    for stopping, left in ((taker, origin), (origin, taker)):
        route = Route(origin, taker)
        ends = {end.daemon: end for end in route.open()}
        expect(stopping.stop() == 0, "the daemon did not exit cleanly")
        expect(ends[left].receive_all() == b"", "unexpected bytes")
        same_end(ends[left], outcome="stopped")
        stopping.start()


@test("a stream whose app exits before accepting it is refused immediately")
def app_gone(stage):
    route = Route(*stage.pair())
    asked = Stream(route.ask())
    route.announced()
    route.publisher.close()
    # A stream that no app accepts is refused after 30 s.
    expect(asked.receive_all(within=25) == b"", "unexpected bytes")
    expect(asked.outcome()["outcome"] == "refused", "wrong outcome")


@test("a stream that no app accepts within 30 s is refused")
def refused(stage):
    origin, taker = stage.pair()
    route = Route(origin, taker)
    begin = time.monotonic()
    asked = Stream(route.ask())
    name = route.announced()
    asked.send(b"somebody there?")
    expect(asked.receive_all(within=60) == b"", "unexpected bytes")
    found = same_end(asked, outcome="refused")
    expect(25 < time.monotonic() - begin < 45, f"refused after {time.monotonic() - begin:.1f} s: {found}")
    refusal(lambda: route.take(name), "NoSuchStream")


@test("a stream ends when either device leaves the account")
def removed(stage):
    for by_origin in (True, False):
        origin, taker = stage.pair((f"origin-{by_origin}", f"taker-{by_origin}"))
        asked, taken = Route(origin, taker).open()
        asked.send(b"some")
        expect(taken.receive(4) == b"some", "wrong bytes")
        remover, other = (origin, taker) if by_origin else (taker, origin)
        ends = {asked.daemon: asked, taken.daemon: taken}
        remover.ctl("device", "remove", other.ctl("status").line["device"], "--yes", "--no-wait")
        same_end(ends[remover], outcome="removed")
        expect(ends[other].receive_all() == b"", "unexpected bytes")
        same_end(ends[other], outcome="removed")


@test("the outcome of a stream remains available for a while, and an unknown stream is an error")
def later(stage):
    asked, taken = Route(*stage.pair()).open()
    waiting = Connection(asked.daemon).send(APPS + "AwaitStream", stream=asked.id)
    asked.send(b"12345").end()
    expect(taken.receive_all() == b"12345", "wrong bytes")
    taken.send(b"123").end()
    expect(asked.receive_all() == b"123", "wrong bytes")
    for reply in (waiting.next(), asked.outcome(), asked.outcome()):
        expect((reply["outcome"], reply["sent"], reply["received"]) == ("ended", 5, 3), f"{reply}")
    refusal(lambda: ended(asked.daemon, "00" * 16), "NoSuchStream")


# ---- Who may open a stream -------------------------------------------------------------------------------------------


@test("withdrawing an activity ends its streams on both sides, unless the app keeps them")
def withdrawn(stage):
    origin, taker = stage.pair()
    for withdraw in ("user", "app", "app keeps"):
        route = Route(origin, taker, title=withdraw, attached=True)
        asked, taken = route.open()
        asked.send(b"before")
        expect(taken.receive(6) == b"before", "wrong bytes")
        if withdraw == "user":
            origin.ctl("withdraw", route.activity)
        else:
            kept = {"keepStreams": True} if withdraw == "app keeps" else {}
            Connection(origin).call(APPS + "Invalidate", session=route.session, activity=route.activity, **kept)
        if withdraw == "app keeps":
            asked.send(b"after").end()
            expect(taken.end().receive_all() == b"after", "the stream has ended")
            same_end(asked, taken)
        else:
            expect([asked.outcome()["outcome"], taken.outcome()["outcome"]] == ["reset", "cancelled"], withdraw)


@test("only a continued activity has streams, and only if its app accepts them")
def only_continued(stage):
    origin, taker = stage.pair()
    unknown = Connection(taker).send(APPS + "OpenStream", upgrade=True, continuation="00" * 16)
    found = refusal(lambda: Stream(unknown), "StreamFailed")
    expect((found["code"], found["reason"]) == (3328, "notContinued"), f"{found}")
    route = Route(origin, taker, streams=False)
    found = refusal(lambda: Stream(route.ask()), "StreamFailed")
    expect((found["code"], found["reason"]) == (3328, "streamsUnsupported"), f"{found}")
    refusal(lambda: route.take("00" * 16), "NoSuchStream")


@test("OpenStream needs upgrade, and exactly one of continuation and stream")
def how_to_ask(stage):
    origin, taker = stage.pair()
    route = Route(origin, taker)
    call = Connection(taker)
    refusal(lambda: call.call(APPS + "OpenStream", continuation=route.continuation), "ExpectedUpgrade")
    for parameters in ({}, {"continuation": route.continuation, "stream": "00" * 16}):
        call = Connection(taker).send(APPS + "OpenStream", upgrade=True, **parameters)
        refusal(lambda call=call: Stream(call), "InvalidParameter")
    asked, taken = route.open()
    refusal(lambda: route.take(taken.id), "NoSuchStream")
    asked.send(b"still there")
    expect(taken.receive(11) == b"still there", "the stream was lost")


@test("bytes sent before the reply close the connection without opening a stream")
def too_early(stage):
    origin, taker = stage.pair()
    route = Route(origin, taker)
    early = Connection(taker).send(APPS + "OpenStream", upgrade=True, continuation=route.continuation, behind=b"early")
    try:
        early.next(byte_by_byte=True)
        early.socket.settimeout(60)
        expect(early.socket.recv(1) == b"", "the connection was not closed")
    except (Refused, ConnectionResetError):
        pass
    asked, taken = Route(origin, taker, title="Another").open()
    asked.send(b"fine").end()
    expect(taken.end().receive_all() == b"fine", "wrong bytes")


@test("a withdrawn activity and an unreachable origin are reported with their error codes")
def not_there(stage):
    origin, taker = stage.pair()
    route = Route(origin, taker)
    watch = taker.follow("watch")
    watch.wait("added", id=route.activity)
    route.publisher.close()
    # A ticket issued just before the withdrawal would still open a stream, which then ends.
    watch.wait("removed", id=route.activity)
    found = refusal(lambda: Stream(route.ask()), "StreamFailed")
    expect(found["code"] == 4608, f"a withdrawn activity: {found}")
    route = Route(origin, taker)
    origin.kill()
    found = refusal(lambda: Stream(route.ask()), "StreamFailed")
    expect(found["code"] in (4609, 4610), f"an unreachable daemon: {found}")
    origin.start()


@test("an attached app accepts streams of its activity, and an attached handler opens them")
def sessions(stage):
    origin, taker = stage.pair()
    owner, calls = Connection(origin), Connection(origin)
    session = owner.send(APPS + "Attach", more=True, app="owner", types=[]).wait("attached")["session"]
    published = calls.call(APPS + "Publish", session=session, activity={
        "type": TYPE, "supportsContinuationStreams": True, "needsSave": False})
    activity = published["activity"]
    calls.call(APPS + "BecomeCurrent", session=session, activity=activity)
    handler, answers = Connection(taker), Connection(taker)
    attached = handler.send(APPS + "Attach", more=True, app="handler", types=[TYPE]).wait("attached")
    taker.follow("watch").wait("added", id=activity)
    going = Connection(taker).send(CONTROL + "Continue", activity=activity)
    event = handler.wait("continue")
    answers.call(APPS + "AnswerContinue", session=attached["session"], continuation=event["continuation"], handled=True)
    expect(going.next() is not None, "Continue was not answered")
    asked = Stream(Connection(taker).send(APPS + "OpenStream", upgrade=True, continuation=event["continuation"]))
    told = owner.wait("stream", activity=activity)
    expect(told["origin"]["deviceName"] == "taker", f"wrong requester: {told}")
    taken = Stream(Connection(origin).send(APPS + "OpenStream", upgrade=True, stream=told["stream"]))
    asked.send(b"to the owner").end()
    taken.send(b"to the handler").end()
    expect(both(taken.receive_all, asked.receive_all) == (b"to the owner", b"to the handler"), "wrong bytes")
    same_end(asked, taken)


# ---- Passed files ----------------------------------------------------------------------------------------------------


def sample(stage, size, name="sample"):
    """A file of random bytes, open for reading, and the bytes."""
    data = os.urandom(size)
    path = os.path.join(stage.folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return os.open(path, os.O_RDONLY), data


def sink(stage, name="sink"):
    path = os.path.join(stage.folder, name)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), path


@test("a passed file is sent from its current position, between bytes of the app")
def send_file(stage):
    route = Route(*stage.pair())
    for size, offset, length in ((3 * MIB, 1000, 2 * MIB), (3 * MIB, 0, None), (1, 0, 1), (0, 0, None), (100, 100, None)):
        for end in (0, 1):
            ends = route.open()
            sender, receiver = ends[end], ends[1 - end]
            descriptor, data = sample(stage, size)
            os.lseek(descriptor, offset, os.SEEK_SET)
            wanted = data[offset:] if length is None else data[offset:offset + length]
            call = passed(sender, "send", 4, length, descriptor)
            os.close(descriptor)
            sender.send(b"headtail").end()
            expect(receiver.receive_all() == b"head" + wanted + b"tail", f"{size}, {offset}, {length}: wrong bytes")
            expect(call.last() == {"moved": len(wanted), "done": True}, f"{size}, {offset}, {length}: wrong reply")
            receiver.end()
            same_end(sender, receiver)


@test("a passed file receives part of the data, and the app reads the rest")
def receive_file(stage):
    route = Route(*stage.pair())
    data = os.urandom(3 * MIB)
    for end in (0, 1):
        for length in (2 * MIB, None, 1):
            ends = route.open()
            receiver, sender = ends[end], ends[1 - end]
            descriptor, path = sink(stage)
            os.write(descriptor, b"before")
            call = passed(receiver, "receive", 4, length, descriptor)
            os.close(descriptor)
            threading.Thread(target=lambda sender=sender: sender.send(b"head" + data).end(), daemon=True).start()
            size = len(data) if length is None else length
            expect(receiver.receive_all() == b"head" + data[size:], f"{length}: the app received the wrong bytes")
            expect(call.last() == {"moved": size, "done": True}, f"{length}: wrong reply")
            expect(content(path) == b"before" + data[:size], f"{length}: the file contains the wrong bytes")
            receiver.end()
            same_end(sender, receiver)


@test("a file is transferred to a file without its bytes passing through either app, and progress is reported")
def file_to_file(stage):
    asked, taken = Route(*stage.pair()).open()
    source, data = sample(stage, 64 * MIB)
    target, path = sink(stage)
    getting = passed(asked, "receive", 0, len(data), target)
    giving = pass_file(taken, "send", 0, None, source)
    os.close(source)
    os.close(target)
    for call in (giving, getting):
        moved = 0
        while (reply := call.next(60)) and call.continues:
            expect(moved <= reply["moved"] <= len(data) and not reply["done"], f"wrong progress: {reply} after {moved}")
            moved = reply["moved"]
        expect(reply == {"moved": len(data), "done": True}, f"wrong reply: {reply}")
    expect(content(path) == data, "the bytes differ")
    asked.end()
    taken.end()
    expect(both(asked.receive_all, taken.receive_all) == (b"", b""), "bytes of the file reached an app")
    same_end(asked, taken)


@test("several files are sent one after another in one direction, with bytes of the app between them")
def several(stage):
    asked, taken = Route(*stage.pair()).open()
    expected, position = b"", 0
    for number in range(5):
        descriptor, data = sample(stage, 100_000 + number)
        call = pass_file(taken, "send", position, len(data), descriptor, more=False)
        os.close(descriptor)
        expect(asked.receive(len(data)) == data, "wrong bytes")
        expect(call.last()["done"], "the file was not completed")
        taken.send(b"|")
        expect(asked.receive(1) == b"|", "wrong bytes")
        position += len(data) + 1


@test("pipes and stream sockets can be passed as well as files")
def pipes(stage):
    route = Route(*stage.pair())
    data = os.urandom(2 * MIB)

    def pipe():
        reading, writing = os.pipe()
        return reading, writing

    def pair():
        left, right = socket.socketpair()
        return left.detach(), right.detach()

    def write_all(descriptor):
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)

    def read_all(descriptor):
        with os.fdopen(descriptor, "rb") as file:
            return file.read()

    for make in (pipe, pair):
        asked, taken = route.open()
        reading, writing = make()
        getting = passed(asked, "receive", 0, len(data), writing)
        os.close(writing)
        source, filling = make()
        giving = passed(taken, "send", 0, None, source)
        os.close(source)
        taken.end()
        threading.Thread(target=write_all, args=(filling,), daemon=True).start()
        # The daemon closes its copy of the descriptor once everything is written, which ends this.
        expect(read_all(reading) == data, f"{make.__name__}: the bytes differ")
        for call in (giving, getting):
            expect(call.last() == {"moved": len(data), "done": True}, f"{make.__name__}: wrong reply")
        asked.end()
        same_end(asked, taken)


@test("a pipe that nothing reads from, or that stays empty, blocks only its own stream")
def stuck_pipe(stage):
    origin, taker = stage.pair()
    route = Route(origin, taker)
    reading, writing = os.pipe()
    asked, taken = route.open()
    call = passed(asked, "receive", 0, None, writing)
    os.close(writing)
    before = memory(taker)
    taken.push(100 * MIB)
    stays_flat(before, taker)
    empty, kept = os.pipe()
    pass_file(asked, "send", 0, None, empty)
    others = route.open()
    others[0].send(b"fine").end()
    expect(others[1].end().receive_all() == b"fine", "another stream is blocked")
    asked.close()
    found = refusal(call.last, "StreamEnded")
    expect(found["outcome"] == "cancelled", f"{found}")
    same_end(taken, outcome="reset")
    for descriptor in (reading, empty, kept):
        os.close(descriptor)


@test("a descriptor of another type, with the wrong access, missing or surplus, is refused")
def wrong_descriptors(stage):
    asked, taken = Route(*stage.pair()).open()
    readable, _ = sample(stage, 100)
    write_only = os.open(os.path.join(stage.folder, "w"), os.O_WRONLY | os.O_CREAT, 0o600)
    datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    cases = [
        ("null device", "send", [os.open("/dev/null", os.O_RDWR)]),
        ("full device", "receive", [os.open("/dev/full", os.O_RDWR)]),
        ("folder", "send", [os.open(stage.folder, os.O_RDONLY)]), ("datagrams", "send", [datagrams.fileno()]),
        ("event", "send", [os.eventfd(1)]), ("path", "send", [os.open(stage.folder, os.O_PATH)]),
        ("only for reading", "receive", [readable]), ("only for writing", "send", [write_only]),
        ("none", "send", []), ("two", "send", [readable, readable]), ("many", "receive", [write_only] * 200),
    ]
    before = descriptors(asked.daemon)
    for name, direction, given in cases:
        call = pass_file(asked, direction, 0, None, *given)
        try:
            reply = call.last()
            expect(reply is None and name == "many", f"{name} was accepted: {reply}")
        except Refused as error:
            expect(error.name == "InvalidDescriptor", f"{name}: {error}")
        call.close()
    let_go(asked.daemon, before)
    asked.send(b"still there")
    expect(taken.receive(11) == b"still there", "the stream was damaged")
    call = pass_file(asked, "send", 11, 10, readable)
    expect(taken.receive(10), "no bytes arrived")
    expect(call.last()["done"], "a valid descriptor is no longer accepted")


@test("descriptors that no call expects are closed and have no effect")
def unasked_descriptors(stage):
    daemon = stage.daemon("one")
    before = descriptors(daemon)
    reading, writing = os.pipe()
    for _ in range(50):
        call = Connection(daemon)
        call.send(CONTROL + "GetStatus", writing, writing, writing)
        try:
            call.next()
        except Refused:
            pass
        call.close()
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], 60)
    expect(ready and os.read(reading, 1) == b"", "the daemon keeps descriptors that it did not expect")
    let_go(daemon, before, more=20)  # Of 150. Those that discovery opens at its start are included.
    daemon.is_well()


@test("a descriptor that arrived with a refused call is not used for the next call")
def refused_descriptor(stage):
    asked, _ = Route(*stage.pair()).open()
    readable, _ = sample(stage, 100)
    call = Connection(asked.daemon)
    place = {"direction": "send", "position": 0, "length": 10}
    refusal(lambda: call.call(APPS + "PassFile", readable, stream="ab" * 16, **place), "NoSuchStream")
    refusal(lambda: call.call(APPS + "PassFile", stream=asked.id, **place), "InvalidDescriptor")


@test("a position that has already been passed is refused, and the error reports the next one")
def position_passed(stage):
    asked, taken = Route(*stage.pair()).open()
    asked.send(b"0123456789")
    expect(taken.receive(10) == b"0123456789", "wrong bytes")
    descriptor, data = sample(stage, 50)
    for end, direction in ((asked, "send"), (taken, "receive")):
        target, _ = sink(stage)
        given = descriptor if direction == "send" else target
        found = refusal(lambda: pass_file(end, direction, 4, None, given).last(), "PositionPassed")
        expect(found["position"] == 10, f"{direction}: {found}")
    expect(refusal(lambda: pass_file(asked, "send", -1, None, descriptor).last(), "InvalidParameter", "PositionPassed"), "?")
    waiting = passed(asked, "send", 20, 5, descriptor)
    refusal(lambda: pass_file(asked, "send", 40, 5, descriptor).last(), "PositionPassed")
    asked.send(b"abcdefghij")
    expect(taken.receive(15) == b"abcdefghij" + data[:5], "wrong bytes")
    expect(waiting.last()["done"], "the file was not completed")
    missing = Connection(asked.daemon).send(
        APPS + "PassFile", descriptor, stream="00" * 16, direction="send", position=0, length=None)
    refusal(missing.next, "NoSuchStream")


@test("a file that ends early fails, and so does the stream on both sides")
def early_end(stage):
    asked, taken = Route(*stage.pair()).open()
    descriptor, data = sample(stage, 500_000)
    call = pass_file(taken, "send", 0, 500_001, descriptor)
    got = asked.receive_all()
    expect(data.startswith(got), "wrong bytes")
    found = refusal(call.last, "FileFailed")
    expect(found["moved"] == 500_000 and found["message"], f"{found}")
    same_end(asked, taken, outcome="failed")


@test("a full disk fails the file and its stream, and nothing else")
def full_disk(stage):
    if os.geteuid() != 0:
        raise Skip("mounting a small file system needs root")
    folder = os.path.join(stage.folder, "small")
    os.mkdir(folder)
    mounted = run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], dict(os.environ))
    expect(mounted.code == 0, str(mounted))
    stage.closers.append(lambda: run(["umount", "-l", folder], dict(os.environ)))
    origin, taker = stage.pair()
    asked, taken = Route(origin, taker).open()
    target = os.open(os.path.join(folder, "file"), os.O_WRONLY | os.O_CREAT, 0o600)
    source, _ = sample(stage, 8 * MIB)
    getting = passed(asked, "receive", 0, None, target)
    giving = pass_file(taken, "send", 0, None, source)
    found = refusal(getting.last, "FileFailed")
    expect(500_000 < found["moved"] <= 1 * MIB and found["message"], f"{found}")
    try:
        giving.last()  # Data already in transit may count as moved.
    except Refused as error:
        expect(error.name == "StreamEnded" and error.parameters["outcome"] == "failed", f"{error}")
    same_end(asked, taken, outcome="failed")
    os.close(target)
    origin.is_well()
    taker.is_well()


def receive_to_file(stage, receiving, other):
    """Passes a file of the receiving app, which receives everything that the other app has sent.
    Returns the call and the file's path."""
    target, path = sink(stage)
    call = passed(receiving, "receive", 0, None, target)
    os.close(target)
    other.send(b"x" * 100_000)
    limit = time.monotonic() + 60
    while os.path.getsize(path) < 100_000:
        expect(time.monotonic() < limit, "the bytes did not reach the file")
        time.sleep(0.005)
    return call, path


@test("a passed file receives everything that the other app wrote before it closed, and then the end")
def closed_meanwhile(stage):
    route = Route(*stage.pair())
    for closing in (0, 1):
        ends = route.open()
        receiving, other = ends[1 - closing], ends[closing]
        call, path = receive_to_file(stage, receiving, other)
        other.close()
        expect(call.last() == {"moved": 100_000, "done": True}, "wrong reply")
        expect(os.path.getsize(path) == 100_000, "wrong size")
        same_end(receiving, outcome="reset")


@test("an interrupted stream ends the passed file, and reports how many bytes were moved")
def cut_meanwhile(stage):
    origin, taker = stage.pair()
    for killed in (taker, origin):
        ends = {end.daemon: end for end in Route(origin, taker).open()}
        other = ends.pop(killed)
        (receiving,) = ends.values()
        call, _ = receive_to_file(stage, receiving, other)
        killed.kill()
        found = refusal(call.last, "StreamEnded")
        expect((found["moved"], found["outcome"]) == (100_000, "gone"), f"{found}")
        killed.start()


@test("the number of files passed at once is limited per device, and the next starts when one completes")
def places_for_files(stage):
    maximum = 32
    route = Route(*stage.pair())
    streams = [route.open() for _ in range(maximum + 1)]
    source, sink = os.pipe()
    calls = [passed(taken, "send", 0, MIB, source) for _, taken in streams[:maximum]]
    words = refusal(lambda: pass_file(streams[maximum][1], "send", 0, MIB, source).next(), "FileFailed")
    expect("too many files" in str(words), str(words))
    asked, taken = streams[0]
    calls[0].close()
    expect(asked.receive_all() == b"" and asked.outcome()["outcome"] == "reset", "the stream of the closed call continues")
    # The slot is free once the reader thread has closed the file. The end of the stream does not wait for that.
    limit = time.monotonic() + 60
    while True:
        try:
            passed(streams[maximum][1], "send", 0, MIB, source)
            break
        except Refused as error:
            expect(error.name == "FileFailed" and time.monotonic() < limit, f"its slot is not free: {error}")
            time.sleep(0.02)
    for descriptor in (source, sink):
        os.close(descriptor)


@test("closing the connection of a passed file cancels the stream and leaves nothing behind")
def caller_leaves(stage):
    origin, taker = stage.pair()
    route = Route(origin, taker)
    for stream in route.open():
        stream.close()  # The first ones also start the threads of streams.
    before = {daemon: descriptors(daemon) for daemon in (origin, taker)}
    streams = [route.open() for _ in range(20)]
    for asked, taken in streams:
        reading, writing = os.pipe()
        call = passed(asked, "send", 0, None, reading)
        os.close(reading)
        call.close()
        expect(taken.receive_all() == b"", "unexpected bytes")
        same_end(asked, outcome="cancelled")
        same_end(taken, outcome="reset")
        os.close(writing)
        asked.close()
        taken.close()
    for daemon in (origin, taker):
        let_go(daemon, before[daemon], more=10)
        daemon.is_well()


# ---- Sleep inhibition ------------------------------------------------------------------------------------------------


@test("the computer is kept awake while bytes move, and released some seconds after the last one")
def stays_awake(stage):
    logind = Logind(stage)
    origin, taker = (stage.daemon(name, start=False) for name in ("origin", "taker"))
    origin.extra = logind.environment
    for daemon in (origin, taker):
        daemon.start()
    stage.join(origin, taker)
    asked, taken = Route(origin, taker).open()
    for direction in (0, 1):
        writer, reader = ((asked, taken), (taken, asked))[direction]
        for _ in range(8):
            time.sleep(0.1)
            begin = time.monotonic()
            writer.send(b"x" * 100_000)
            reader.receive(100_000)
        found = logind.lock(direction)
        expect(found, "the daemon did not request the lock")
        what, lock = found
        expect(what[0] == "sleep" and what[1] == "Handoff" and what[3] == "block", f"{what}")
        expect(not select.select([lock], [], [], 0)[0], "the lock was released while bytes were moving")
        expect(select.select([lock], [], [], 60)[0], "the lock is kept although nothing moves")
        expect(3 < time.monotonic() - begin < 20, f"released after {time.monotonic() - begin:.1f} s")
        os.close(lock)
    asked.end()
    expect(taken.end().receive_all() == b"", "unexpected bytes")


@test("waiting streams use no processor time, whatever they wait for")
def at_rest(stage):
    origin, taker = stage.pair()
    route = Route(origin, taker)
    Stream(route.ask())  # No app accepts it.
    route.announced()
    route.open()  # Neither side sends anything.
    asked, taken = route.open()
    asked.end()
    taken.receive_all()
    asked, taken = route.open()
    taken.send(b"bytes that nobody reads, before the end").end()
    for end in (0, 1):
        ends = route.open()
        ends[end].push(32 * MIB)
        ends = route.open()
        ends[end].push(32 * MIB)
        ends[end].end()  # The end is behind unread data.
        ends = route.open()
        ends[end].push(32 * MIB)
        ends[1 - end].end()
        ends = route.open()
        ends[end].push(32 * MIB)
        ends[end].close()
    SharedStream(route.open()[0])  # Neither side sends anything.
    asked, taken = map(SharedStream, route.open())
    asked.push(32 * MIB)
    asked, taken = map(SharedStream, route.open())
    asked.push(32 * MIB)
    asked.end()
    taken.end()
    asked, taken = map(SharedStream, route.open())
    asked.push(32 * MIB)
    asked.close()
    asked, taken = route.open()
    empty, _ = os.pipe()
    passed(asked, "send", 0, None, empty)
    _, full = os.pipe()
    passed(asked, "receive", 0, None, full)
    taken.push(32 * MIB)

    def ticks(daemon):
        with open(f"/proc/{daemon.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    time.sleep(6)  # A closed stream waits this long for the other side.
    before = {daemon: ticks(daemon) for daemon in (origin, taker)}
    time.sleep(3)
    for daemon in (origin, taker):
        used = (ticks(daemon) - before[daemon]) / os.sysconf("SC_CLK_TCK")
        expect(used < 0.3, f"{daemon.name} used {used:.2f} s of 3 s although nothing moves")


# ---- Third-party clients ---------------------------------------------------------------------------------------------


@test("a stock Varlink client can continue an activity, learns of streams and their outcomes, and receives clear errors")
def stock_client(stage):
    try:
        import varlink
    except ImportError:
        raise Skip("the Python package 'varlink' is not installed (pip install varlink)") from None
    origin, taker = stage.pair()
    apps = varlink.Client.new_with_address(f"unix:{origin.socket}").open("dev.handoff1")
    events = apps.Publish(activity={"type": TYPE, "supportsContinuationStreams": True}, _more=True)
    activity = next(events)["activity"]
    taker.follow("watch").wait("added", id=activity)
    client = varlink.Client.new_with_address(f"unix:{taker.socket}")
    with client.open("dev.handoff1.Control") as control:
        continuation = list(control.Continue(activity=activity, take=True, _more=True))[-1]["continuation"]
    with client.open("dev.handoff1") as calls:
        try:
            calls.OpenStream(continuation=continuation)
            raise Failure("OpenStream without upgrade was not refused")
        except varlink.VarlinkError as error:
            expect(error.error() == "dev.handoff1.ExpectedUpgrade", f"{error.error()}")
    asked = Stream(Connection(taker).send(APPS + "OpenStream", upgrade=True, continuation=continuation))
    told = next(event for event in events if event["event"] == "stream")
    taken = Stream(Connection(origin).send(APPS + "OpenStream", upgrade=True, stream=told["stream"]))
    asked.send(b"question").end()
    expect(taken.receive_all() == b"question", "wrong bytes")
    taken.send(b"answer").end()
    expect(asked.receive_all() == b"answer", "wrong bytes")
    with client.open("dev.handoff1") as calls:
        reply = calls.AwaitStream(stream=asked.id)
    expect((reply["outcome"], reply["sent"], reply["received"]) == ("ended", 8, 6), f"{reply}")
    with client.open("dev.handoff1") as calls:
        try:
            calls.AwaitStream(stream="00" * 16)
            raise Failure("an unknown stream was found")
        except varlink.VarlinkError as error:
            expect(error.error() == "dev.handoff1.NoSuchStream", f"{error.error()}")


# Opens a stream with socat, reads the reply up to its NUL and no further, sends a file while saving
# the received data, and shuts its side down.
SCRIPT = r"""
coproc S { socat -t 30 - "UNIX-CONNECT:$1"; }
exec 3<&"${S[0]}" 4>&"${S[1]}"
eval "exec ${S[0]}<&- ${S[1]}>&-"
printf '{"method":"dev.handoff1.OpenStream","upgrade":true,"parameters":{"%s":"%s"}}\0' "$2" "$3" >&4
IFS= read -r -d '' reply <&3
cat <&3 >"$4.out" 4>&- &
cat "$4.in" >&4
exec 4>&-
wait
"""


@test("socat and a shell script are enough to use a stream")
def plain_socat(stage):
    if not shutil.which("socat"):
        raise Skip("socat is missing (scripts/setup --tests)")
    origin, taker = stage.pair()
    route = Route(origin, taker)
    script = stage.file("open.sh", SCRIPT)
    data = {}

    def start(name, daemon, key, value):
        path = os.path.join(stage.folder, name)
        data[name] = os.urandom(3 * MIB)
        with open(path + ".in", "wb") as file:
            file.write(data[name])
        process = subprocess.Popen(["bash", script, daemon.socket, key, value, path])
        stage.processes.append(process)
        return path, process

    asking, first = start("asking", taker, "continuation", route.continuation)
    taking, second = start("taking", origin, "stream", route.announced())
    for process in (first, second):
        expect(process.wait(60) == 0, "socat failed")
    for path, other in ((asking, "taking"), (taking, "asking")):
        expect(content(path + ".out") == data[other], f"{path}: the bytes differ")


# ---- Blocking descriptors --------------------------------------------------------------------------------------------


@test("descriptors that block when closed delay only the app that passed them, which receives the reason")
def hanging(stage):
    origin, taker = stage.pair()
    listener = socket.create_server(("127.0.0.1", 0))
    said = None
    for number in range(600):
        # Each of two lingering sockets occupies a thread. The others queue behind them.
        end = socket.create_connection(listener.getsockname()) if number < 2 else socket.socket()
        if number < 2:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 600))
            end.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    end.send(bytes(1 << 20))
        connection = Connection(taker)
        with contextlib.suppress(BrokenPipeError):
            connection.send("org.varlink.service.GetInfo", end.fileno())
        end.close()
        try:
            connection.next()
        except Refused as error:
            said = error
            break
        finally:
            connection.close()
    source = stage.file("content", "x" * MIB)
    origin.publish(TYPE, "--stream", source)
    target = os.path.join(stage.folder, "received")
    os.mkdir(target)
    taker.follow("watch").wait("added")
    taker.ctl("continue", "--output", target, within=60)
    expect(os.path.getsize(os.path.join(target, "content")) == MIB, "the file did not arrive")
    expect(said is not None and said.name == "LimitExceeded", f"the app received {said}")
    expect(said.parameters["limit"] == "descriptors" and "closing them blocks" in said.parameters["message"], f"{said}")
    expect(number == 64, f"refused after {number}")
    taker.is_well()
    listener.close()


if __name__ == "__main__":
    main()
