"""What the tests of streams share: apps on plain sockets, and an activity whose apps are connected by streams."""

import array
import contextlib
import hashlib
import json
import os
import re
import resource
import select
import socket
import threading
import time

from harness import Failure, expect

APPS, CONTROL = "dev.handoff1.", "dev.handoff1.Control."
TYPE = "com.example.editing"
PIECE = 256 * 1024


class Refused(Failure):
    """An error that the daemon answered with."""

    def __init__(self, name, parameters):
        super().__init__(f"{name} {parameters}")
        self.name, self.parameters = name.rpartition(".")[2], parameters


class Connection:
    """A connection to a daemon's control socket: calls as JSON with a NUL behind, and their replies."""

    def __init__(self, daemon, path=None, made=None):
        self.daemon, self.bytes, self.continues = daemon, b"", False
        self.socket = made or socket.socket(socket.AF_UNIX)
        if made is None:
            self.socket.connect(path or daemon.socket)
        daemon.stage.closers.append(self.close)

    def send(self, method, *descriptors, more=False, upgrade=False, behind=b"", **parameters):
        """Sends a call. Descriptors go with its first byte; `behind` are bytes that follow it at once."""
        message = {"method": method, "parameters": parameters}
        message |= {name: True for name, wanted in (("more", more), ("upgrade", upgrade)) if wanted}
        data = json.dumps(message).encode() + b"\0" + behind
        if descriptors:
            passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
            data = data[self.socket.sendmsg([data], passed):]
        self.socket.sendall(data)
        return self

    def next(self, within=20, byte_by_byte=False):
        """The parameters of the next reply; None at the end of the connection."""
        limit = time.monotonic() + within
        while b"\0" not in self.bytes:
            self.socket.settimeout(max(0.01, limit - time.monotonic()))
            try:
                # Behind the reply to an upgrade come bytes of another kind, which stay where they are.
                piece = self.socket.recv(1 if byte_by_byte else 65536)
            except TimeoutError:
                raise Failure(f"{self.daemon.name} did not answer within {within} s") from None
            except ConnectionResetError:
                piece = b""
            finally:
                with contextlib.suppress(OSError):
                    self.socket.settimeout(None)
            if not piece:
                return None
            self.bytes += piece
        message, _, self.bytes = self.bytes.partition(b"\0")
        reply = json.loads(message)
        self.continues = reply.get("continues", False)
        if "error" in reply:
            raise Refused(reply["error"], reply.get("parameters") or {})
        return reply.get("parameters") or {}

    def last(self, within=20):
        """The parameters of the last reply of a call with `more`."""
        limit = time.monotonic() + within
        while (reply := self.next(max(0.01, limit - time.monotonic()))) is not None and self.continues:
            pass
        return reply

    def call(self, method, *descriptors, within=20, **parameters):
        reply = self.send(method, *descriptors, **parameters).next(within)
        expect(reply is not None, f"{self.daemon.name} closed the connection after {method}")
        return reply

    def wait(self, event, within=20, **fields):
        """The next event with this name and these fields; others are skipped."""
        limit = time.monotonic() + within
        while True:
            reply = self.next(max(0.01, limit - time.monotonic()))
            expect(reply is not None, f"{self.daemon.name} closed the connection before '{event}'")
            if reply["event"] == event and all(reply.get(key) == fields[key] for key in fields):
                return reply

    def close(self):
        self.socket.close()


class Stream:
    """An app's end of a stream: after the reply to OpenStream it is the raw connection."""

    def __init__(self, connection, within=40):
        reply = connection.next(within, byte_by_byte=True)
        expect(reply is not None, f"{connection.daemon.name} closed the connection instead of opening a stream")
        expect(not connection.bytes, "bytes behind the reply were read")
        self.daemon, self.socket, self.id = connection.daemon, connection.socket, reply["stream"]

    def send(self, data):
        self.socket.sendall(data)
        return self

    def end(self):
        self.socket.shutdown(socket.SHUT_WR)
        return self

    def piece(self, most, within=30):
        """The next bytes, or none at the end. A thread may send meanwhile: so the socket stays one that waits, which a timeout
        of the socket would change."""
        waiting = select.poll()  # select(2) knows no descriptors above 1,023, and there are tests with more.
        waiting.register(self.socket, select.POLLIN)
        expect(waiting.poll(1000 * within), f"nothing came within {within} s")
        return self.socket.recv(most)

    def receive(self, count, within=30):
        """Exactly so many bytes."""
        data = bytearray()
        while len(data) < count:
            piece = self.piece(count - len(data), within)
            expect(piece, f"the stream ended after {len(data)} of {count} bytes")
            data += piece
        return bytes(data)

    def receive_all(self, within=30):
        """Everything up to the end; what came before a reset counts, too."""
        pieces = []
        try:
            while piece := self.piece(PIECE, within):
                pieces.append(piece)
        except (ConnectionResetError, BrokenPipeError):
            pass
        return b"".join(pieces)

    def push(self, most):
        """Sends as much of `most` bytes as the other side's silence allows; answers how many that were."""
        self.socket.setblocking(False)
        sent, piece = 0, bytes(PIECE)
        while sent < most and select.select([], [self.socket], [], 1.0)[1]:
            with contextlib.suppress(BlockingIOError):
                sent += self.socket.send(piece[:most - sent])
        self.socket.setblocking(True)
        return sent

    def outcome(self, within=20):
        """How the stream ended, once it has."""
        return ended(self.daemon, self.id, within)

    def close(self):
        self.socket.close()


def ended(daemon, stream, within=20):
    """How a stream ended, once it has."""
    connection = Connection(daemon)
    reply = connection.call(APPS + "AwaitStream", stream=stream, within=within)
    connection.close()
    return reply


def pass_file(stream, direction, position, length, *descriptors, more=True):
    """Asks for bytes to be moved from or to a descriptor; the connection has the replies."""
    return Connection(stream.daemon).send(
        APPS + "PassFile", *descriptors, more=more, stream=stream.id, direction=direction, position=position, length=length)


def passed(*words):
    """The same, and returns once the file has its place."""
    call = pass_file(*words)
    reply = call.next()
    expect(reply == {"moved": 0, "done": False} and call.continues, f"wrong first reply: {reply}")
    return call


class Route:
    """An activity that an app at the origin publishes and an app at the taker has continued, so that streams can be opened."""

    def __init__(self, origin, taker, streams=True, title="Draft", attached=False):
        self.origin, self.taker = origin, taker
        self.publisher = Connection(origin)
        activity = {"type": TYPE, "title": title, "supportsContinuationStreams": streams}
        if attached:
            self.session = self.publisher.send(APPS + "Attach", more=True, app="owner", types=[]).wait("attached")["session"]
            calls = Connection(origin)
            self.activity = calls.call(
                APPS + "Publish", session=self.session, activity=activity | {"needsSave": False})["activity"]
            calls.call(APPS + "BecomeCurrent", session=self.session, activity=self.activity)
        else:
            self.publisher.send(APPS + "Publish", more=True, activity=activity)
            self.activity = self.publisher.wait("published")["activity"]
        self.carry_on()

    def carry_on(self):
        """Continues the activity."""
        watch = Connection(self.taker).send(CONTROL + "Watch", more=True)
        while (watch.wait("added")["activity"] or {})["id"] != self.activity:
            pass
        watch.close()
        self.handler = Connection(self.taker)
        self.handler.send(CONTROL + "Continue", more=True, activity=self.activity, take=True)
        self.continuation = self.handler.wait("continued")["continuation"]
        expect(self.continuation, "the continuation has no name")

    def ask(self):
        """A call at the taker for a new stream. The reply is still to be read."""
        return Connection(self.taker).send(APPS + "OpenStream", upgrade=True, continuation=self.continuation)

    def announced(self, within=20):
        """The name of the stream that the origin's app is told of next."""
        event = self.publisher.wait("stream", within)
        expect(event["activity"] == self.activity, f"a stream of another activity: {event}")
        return event["stream"]

    def take(self, name=None):
        """Takes a stream at the origin."""
        name = name or self.announced()
        stream = Stream(Connection(self.origin).send(APPS + "OpenStream", upgrade=True, stream=name))
        expect(stream.id == name, f"another stream was opened: {stream.id} instead of {name}")
        return stream

    def open(self):
        """A stream: the taker's end and the origin's end."""
        asked = Stream(self.ask())
        return asked, self.take()


def both(first, second):
    """Does two things at once; answers both results."""
    results = {}

    def do(name, function):
        try:
            results[name] = function()
        except BaseException as error:  # Handed on to the test's own thread.
            results[name] = error

    threads = [threading.Thread(target=do, args=item, daemon=True) for item in enumerate((first, second))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results.values():
        if isinstance(result, BaseException):
            raise result
    return results[0], results[1]


def digest(data):
    return len(data), hashlib.sha256(data).hexdigest()


def memory(daemon):
    """Resident memory in KiB."""
    with open(f"/proc/{daemon.process.pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))


def descriptors(daemon):
    return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))


def stays_flat(before, daemon, most=16 * 1024):
    """A sanitizer keeps memory of its own, so that there is nothing to be seen with one."""
    now = memory(daemon)
    expect(now - before < most or "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ,
           f"{daemon.name} grew from {before} to {now} KiB")


def allow_descriptors(count=16384):
    """Lets this process, and the daemons that it starts from now on, have so many open files, as the units do."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, count)), hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def let_go(daemon, before, more=2):
    """Waits until the daemon has as few descriptors as before."""
    limit = time.monotonic() + 20
    while descriptors(daemon) > before + more:
        expect(time.monotonic() < limit, f"{daemon.name} keeps {descriptors(daemon)} descriptors, {before} before")
        time.sleep(0.02)
