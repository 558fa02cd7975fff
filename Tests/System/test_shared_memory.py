"""Continuation streams whose apps share memory with their daemon. The apps are in Python, following
docs/control-protocol.md."""

import contextlib
import os
import socket
import struct
import subprocess
import sys
import threading

from harness import Failure, expect, main, test
from shared_memory import GROW, PAGE, SEAL, SHRINK, WRITTEN, SharedStream, make
from streaming import APPS, Connection, Refused, Route, both, descriptors, digest, let_go, passed

KIB, MIB = 1024, 1024 * 1024


class OtherApp:
    """A separate process that connects to a daemon and passes its connections here, so that the
    daemon attributes them to it."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.ours, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            [sys.executable, "-c", CONNECT, daemon.socket, str(theirs.fileno())], pass_fds=[theirs.fileno()])
        theirs.close()
        daemon.stage.processes.append(self.process)

    def connect(self):
        self.ours.send(b".")
        _, (descriptor,), _, _ = socket.recv_fds(self.ours, 1, 1)
        return Connection(self.daemon, made=socket.socket(fileno=descriptor))


CONNECT = """
import socket, sys
asking = socket.socket(fileno=int(sys.argv[2]))
while asking.recv(1):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(sys.argv[1])
    socket.send_fds(asking, [b"."], [connection.fileno()])
"""


def refused_twice(stream, app):
    """Checks that a stream with memory accepts no other memory."""
    try:
        SharedStream(stream, ring=64 * KIB, call=app.connect())
    except Refused as error:
        return expect(error.name == "InvalidDescriptor", f"{error}")
    raise Failure("memory was accepted twice")


def opened(stage, position=0):
    """Both ends of a stream, each with memory."""
    asked, taken = Route(*stage.pair()).open()
    return SharedStream(asked, position), SharedStream(taken, position)


@test("with memory, data that one app writes is read by the other, in both directions and at all sizes", limit=120)
def sizes(stage):
    route = Route(*stage.pair())
    for size in (0, 1, 64 * KIB + 1, 5 * MIB):
        ends = [SharedStream(end) for end in route.open()]
        data = [os.urandom(size) for _ in ends]
        sending = [threading.Thread(target=lambda end=end, data=data: end.send(data).end(), daemon=True)
                   for end, data in zip(ends, data)]
        for thread in sending:
            thread.start()
        found = both(ends[0].receive_all, ends[1].receive_all)
        expect(tuple(map(digest, found)) == (digest(data[1]), digest(data[0])), f"{size}: wrong bytes: {list(map(digest, found))}")
        for end in ends:
            outcome = end.stream.outcome()
            expect((outcome["outcome"], outcome["sent"], outcome["received"]) == ("ended", size, size), f"{size}: wrong outcome: {outcome}")


@test("one app shares memory while the other uses its socket, and data already sent over the socket arrives first")
def mixed(stage):
    asked, taken = Route(*stage.pair()).open()
    asked.send(b"before ")
    taken.send(b"early ")
    expect(asked.receive(6) == b"early ", "no bytes arrived before")
    shared = SharedStream(asked, position=7)
    expect(shared.received == 6, f"{shared.received} bytes arrived over the socket")
    shared.send(b"and after").end()
    expect(taken.receive_all() == b"before and after", "wrong bytes")
    taken.send(b"late").end()
    expect(shared.receive_all() == b"late", "wrong bytes in the other direction")


@test("with memory, a reader that stops also stops the writer, and all data arrives afterwards", limit=120)
def reader_stops(stage):
    asked, taken = opened(stage)
    sent = asked.push(64 * MIB)
    expect(0 < sent < 32 * MIB, f"{sent} bytes were accepted although the reader had stopped")
    asked.end()
    data = taken.receive_all()
    expect(len(data) == sent, f"{len(data)} of {sent} bytes arrived")
    taken.end()
    expect(asked.stream.outcome()["outcome"] == "ended", "the stream did not end")


@test("an app that closes its end cancels the stream, and its data arrives before the other app is notified")
def cancelled(stage):
    asked, taken = opened(stage)
    asked.send(b"last words")
    asked.close()
    expect(taken.receive_all() == b"last words", "the last bytes are lost")
    expect(taken.stream.outcome()["outcome"] == "reset", "the other app was not notified")


@test("killing a daemon ends the stream of a waiting app", limit=60)
def killed(stage):
    asked, taken = opened(stage)
    taken.stream.daemon.kill()
    expect(asked.receive_all() == b"", "unexpected bytes")
    expect(taken.receive_all() == b"", "bytes from a dead daemon")


@test("an app with impossible positions loses only its own stream")
def broken(stage):
    route = Route(*stage.pair())
    asked, taken = map(SharedStream, route.open())
    other = route.open()
    struct.pack_into("<Q", asked.bytes, WRITTEN, 1 << 63)
    asked.stream.socket.send(b"\0")
    expect(asked.stream.outcome()["outcome"] == "cancelled", "the stream continues")
    expect(taken.stream.outcome()["outcome"] == "reset", "the other app was not notified")
    other[0].send(b"still there")
    expect(other[1].receive(11) == b"still there", "another stream was damaged")


@test("memory of another form, of changeable size, or without a bell is refused, and the socket continues to work")
def refused(stage):
    asked, taken = Route(*stage.pair()).open()
    bell, kept = socket.socketpair()
    good = make()
    plain = os.open(os.path.join(stage.folder, "file"), os.O_RDWR | os.O_CREAT, 0o600)
    os.ftruncate(plain, 2 * (PAGE + MIB))
    datagrams = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    network = socket.socket(socket.AF_INET)
    cases = [
        ("none", []), ("one", [good]), ("three", [good, bell.fileno(), plain]), ("many", [good, bell.fileno()] * 50),
        ("a file", [plain, bell.fileno()]), ("no seal", [make(seals=0), bell.fileno()]),
        ("may shrink", [make(seals=GROW), bell.fileno()]), ("may grow", [make(seals=SHRINK | SEAL), bell.fileno()]),
        ("too small", [make(ring=4096), bell.fileno()]), ("too large", [make(ring=8 * MIB), bell.fileno()]),
        ("no power of two", [make(ring=96 * KIB), bell.fileno()]), ("bell first", [bell.fileno(), good]),
        ("an event", [good, os.eventfd(0)]), ("datagrams", [good, datagrams.fileno()]), ("TCP", [good, network.fileno()]),
    ]
    before = descriptors(asked.daemon)
    for name, given in cases:
        call = Connection(asked.daemon)
        try:
            reply = call.send(APPS + "ShareMemory", *given, stream=asked.id, position=0).next()
            expect(reply is None and name == "many", f"{name} was accepted: {reply}")
        except Refused as error:
            expect(error.name == "InvalidDescriptor", f"{name}: {error}")
        call.close()
        # An app whose descriptors are not closed yet may pass no more.
        let_go(asked.daemon, before)
    asked.send(b"still there")
    expect(taken.receive(11) == b"still there", "the stream was damaged")
    try:
        SharedStream(asked, position=5)
        raise Failure("an old position was accepted")
    except Refused as error:
        expect((error.name, error.parameters) == ("PositionPassed", {"position": 11}), f"{error}")
    shared = SharedStream(asked, position=11)
    try:
        SharedStream(asked, position=11)
        raise Failure("memory was accepted twice")
    except Refused as error:
        expect(error.name == "InvalidDescriptor", f"{error}")
    shared.send(b"!").end()
    expect(taken.receive_all() == b"!", "the memory does not work")
    kept.close()


@test("the number of streams with shared memory is limited, half of it per app, and the next is accepted when one ends", limit=120)
def limit(stage):
    route = Route(*stage.pair())
    pairs = [route.open() for _ in range(66)]
    apps = [OtherApp(route.taker) for _ in range(3)]

    def share(number, app):
        return SharedStream(pairs[number][0], ring=64 * KIB, call=app.connect())

    def is_full(number, app):
        try:
            share(number, app)
        except Refused as error:
            expect((error.name, error.parameters["limit"]) == ("LimitExceeded", "sharedMemory"), f"{error}")
            # A second call for a stream that has memory releases nothing.
            refused_twice(pairs[0][0], apps[0])
            return True
        return False

    shared = [share(number, apps[0]) for number in range(32)]
    expect(is_full(64, apps[0]), "one app exceeds its share")
    shared += [share(number, apps[1]) for number in range(32, 64)]
    expect(is_full(64, apps[2]), "there is no limit")
    shared[0].close()
    expect(pairs[0][1].outcome()["outcome"] == "reset", "the stream did not end")
    late = share(64, apps[0])
    late.send(b"late")
    expect(pairs[64][1].receive(4) == b"late", "no bytes arrived")


@test("a file is sent between bytes of the memory")
def file_between(stage):
    asked, taken = opened(stage)
    path = os.path.join(stage.folder, "file")
    with open(path, "wb") as file:
        file.write(b"f" * 100_000)
    source = os.open(path, os.O_RDONLY)
    call = passed(asked.stream, "send", 6, 100_000, source)
    asked.send(b"beforeafter").end()
    expect(taken.receive_all() == b"before" + b"f" * 100_000 + b"after", "wrong order")
    expect(call.last()["moved"] == 100_000, "not all bytes were moved")


@test("a descriptor in a bell that blocks when closed delays no other stream", limit=120)
def hanging_bell(stage):
    route = Route(*stage.pair())
    listener = socket.create_server(("127.0.0.1", 0))
    others = [route.open() for _ in range(4)]  # On each of the daemon's threads for streams.
    shared = [SharedStream(route.open()[0]) for _ in range(2)]
    for end in shared:
        lingering = socket.create_connection(listener.getsockname())
        lingering.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 600))
        lingering.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                lingering.send(bytes(MIB))
        # To a descriptor that the daemon only writes to.
        socket.send_fds(end.room, [b"\0"], [lingering.fileno()])
        lingering.close()
        end.close()
        expect(end.stream.outcome()["outcome"] == "cancelled", "the stream continues")
    for asked, taken in others:
        asked.send(b"still there")
        expect(taken.receive(11) == b"still there", "another stream is blocked")
    listener.close()


if __name__ == "__main__":
    main()
