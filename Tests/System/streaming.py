"""The common parts of the stream tests: apps on plain sockets, and an activity whose apps are connected by streams."""

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
    """An error reply of the daemon."""

    def __init__(self, name, parameters):
        super().__init__(f"{name} {parameters}")
        self.name, self.parameters = name.rpartition(".")[2], parameters


class Connection:
    """A connection to a daemon's control socket: calls as JSON followed by a NUL, and their replies."""

    def __init__(self, daemon, path=None, made=None):
        self.daemon, self.bytes, self.continues = daemon, b"", False
        self.socket = made or socket.socket(socket.AF_UNIX)
        if made is None:
            self.socket.connect(path or daemon.socket)
        daemon.stage.closers.append(self.close)

    def send(self, method, *descriptors, more=False, upgrade=False, behind=b"", **parameters):
        """Sends a call. Descriptors are sent with its first byte. `behind` are bytes that follow it directly."""
        message = {"method": method, "parameters": parameters}
        message |= {name: True for name, wanted in (("more", more), ("upgrade", upgrade)) if wanted}
        data = json.dumps(message).encode() + b"\0" + behind
        if descriptors:
            passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
            data = data[self.socket.sendmsg([data], passed):]
        self.socket.sendall(data)
        return self

    def next(self, within=60, byte_by_byte=False):
        """Returns the parameters of the next reply, or None at the end of the connection."""
        limit = time.monotonic() + within
        while b"\0" not in self.bytes:
            self.socket.settimeout(max(0.01, limit - time.monotonic()))
            try:
                # After the reply to an upgrade the bytes are of another protocol, and are not read here.
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

    def last(self, within=60):
        """Returns the parameters of the last reply to a call with `more`."""
        limit = time.monotonic() + within
        while (reply := self.next(max(0.01, limit - time.monotonic()))) is not None and self.continues:
            pass
        return reply

    def call(self, method, *descriptors, within=60, **parameters):
        reply = self.send(method, *descriptors, **parameters).next(within)
        expect(reply is not None, f"{self.daemon.name} closed the connection after {method}")
        return reply

    def wait(self, event, within=60, **fields):
        """Returns the next event with this name and these fields, skipping others."""
        limit = time.monotonic() + within
        while True:
            reply = self.next(max(0.01, limit - time.monotonic()))
            expect(reply is not None, f"{self.daemon.name} closed the connection before '{event}'")
            if reply["event"] == event and all(reply.get(key) == fields[key] for key in fields):
                return reply

    def close(self):
        self.socket.close()


class Stream:
    """An app's end of a stream, which is the raw connection after the reply to OpenStream."""

    def __init__(self, connection, within=60):
        reply = connection.next(within, byte_by_byte=True)
        expect(reply is not None, f"{connection.daemon.name} closed the connection instead of opening a stream")
        expect(not connection.bytes, "bytes after the reply were read")
        self.daemon, self.socket, self.id = connection.daemon, connection.socket, reply["stream"]

    def send(self, data):
        self.socket.sendall(data)
        return self

    def end(self):
        self.socket.shutdown(socket.SHUT_WR)
        return self

    def piece(self, limit, within=60):
        """Returns the next bytes, or none at the end. A thread may send at the same time, so the
        socket must stay blocking, which a timeout of the socket would change."""
        waiting = select.poll()  # select(2) does not support descriptors above 1,023, and there are tests with more.
        waiting.register(self.socket, select.POLLIN)
        expect(waiting.poll(1000 * within), f"no bytes arrived within {within} s")
        return self.socket.recv(limit)

    def receive(self, count, within=60):
        """Returns exactly this many bytes."""
        data = bytearray()
        while len(data) < count:
            piece = self.piece(count - len(data), within)
            expect(piece, f"the stream ended after {len(data)} of {count} bytes")
            data += piece
        return bytes(data)

    def receive_all(self, within=60):
        """Returns everything up to the end, including bytes that precede a reset."""
        pieces = []
        try:
            while piece := self.piece(PIECE, within):
                pieces.append(piece)
        except (ConnectionResetError, BrokenPipeError):
            pass
        return b"".join(pieces)

    def push(self, limit):
        """Sends as much of `limit` bytes as is accepted while the other side reads nothing. Returns
        the number of bytes."""
        self.socket.setblocking(False)
        sent, piece = 0, bytes(PIECE)
        while sent < limit and select.select([], [self.socket], [], 1.0)[1]:
            with contextlib.suppress(BlockingIOError):
                sent += self.socket.send(piece[:limit - sent])
        self.socket.setblocking(True)
        return sent

    def outcome(self, within=60):
        """Waits for the end of the stream. Returns its outcome."""
        return ended(self.daemon, self.id, within)

    def close(self):
        self.socket.close()


def ended(daemon, stream, within=60):
    """Waits for the end of a stream. Returns its outcome."""
    connection = Connection(daemon)
    reply = connection.call(APPS + "AwaitStream", stream=stream, within=within)
    connection.close()
    return reply


def pass_file(stream, direction, position, length, *descriptors, more=True):
    """Requests that bytes are moved from or to a descriptor. The connection has the replies."""
    return Connection(stream.daemon).send(
        APPS + "PassFile", *descriptors, more=more, stream=stream.id, direction=direction, position=position, length=length)


def passed(*words):
    """Does the same, and returns once the file has its slot."""
    call = pass_file(*words)
    reply = call.next()
    expect(reply == {"moved": 0, "done": False} and call.continues, f"wrong first reply: {reply}")
    return call


class Route:
    """An activity that an app at the origin publishes and an app at the taker has continued, so
    that streams can be opened."""

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
        """Calls at the taker for a new stream. The reply is still to be read."""
        return Connection(self.taker).send(APPS + "OpenStream", upgrade=True, continuation=self.continuation)

    def announced(self, within=60):
        """Returns the name of the next stream that is announced to the origin's app."""
        event = self.publisher.wait("stream", within)
        expect(event["activity"] == self.activity, f"a stream of the wrong activity: {event}")
        return event["stream"]

    def take(self, name=None):
        """Accepts a stream at the origin."""
        name = name or self.announced()
        stream = Stream(Connection(self.origin).send(APPS + "OpenStream", upgrade=True, stream=name))
        expect(stream.id == name, f"the wrong stream was opened: {stream.id} instead of {name}")
        return stream

    def open(self):
        """A stream: the taker's end and the origin's end."""
        asked = Stream(self.ask())
        return asked, self.take()


def both(first, second):
    """Runs two functions in parallel. Returns both results."""
    results = {}

    def do(name, function):
        try:
            results[name] = function()
        except BaseException as error:  # Raised again in the test's own thread.
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
    """Returns the resident memory in KiB."""
    with open(f"/proc/{daemon.process.pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))


def descriptors(daemon):
    return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))


def stays_flat(before, daemon, limit=16 * 1024):
    """A sanitizer keeps memory of its own, which makes the figures useless."""
    now = memory(daemon)
    expect(now - before < limit or "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ,
           f"{daemon.name} grew from {before} to {now} KiB")


def allow_descriptors(count=16384):
    """Sets the limit of open files of this process, and of the daemons that it starts from now on, as the units do."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, count)), hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def let_go(daemon, before, more=2):
    """Waits until the daemon has at most `more` descriptors more than before."""
    limit = time.monotonic() + 60
    while descriptors(daemon) > before + more:
        expect(time.monotonic() < limit, f"{daemon.name} keeps {descriptors(daemon)} descriptors, {before} before")
        time.sleep(0.02)
