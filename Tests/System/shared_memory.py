"""Memory that an app shares with the daemon for a stream: created, passed, and used from Python as
docs/control-protocol.md describes it."""

import fcntl
import mmap
import os
import select
import socket
import struct
import time

from harness import Failure, expect
from streaming import APPS, Connection

ADD_SEALS, SEAL, SHRINK, GROW = 1033, 1, 2, 4  # fcntl(2), for which Python 3.11 has no names.
PAGE = 4096
WRITTEN, ENDED, READ, READER_WAITS, WRITER_WAITS = 0, 8, 64, 128, 192


def make(ring=1024 * 1024, seals=SEAL | SHRINK | GROW):
    """Returns a descriptor of memory with two rings."""
    descriptor = os.memfd_create("handoff-stream", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, 2 * (PAGE + ring))
    fcntl.fcntl(descriptor, ADD_SEALS, seals)
    return descriptor


class SharedStream:
    """An app's end of a stream whose bytes pass through memory, from `position` on. The bytes
    before that were written to its socket."""

    def __init__(self, stream, position=0, ring=1024 * 1024, call=None):
        self.stream, self.size = stream, ring
        self.descriptor = make(ring)
        self.room, theirs = socket.socketpair()
        with theirs:
            call = call or Connection(stream.daemon)
            reply = call.call(APPS + "ShareMemory", self.descriptor, theirs.fileno(), stream=stream.id, position=position)
            call.close()
        self.received = reply["received"]  # Bytes received over the socket before those in the memory.
        self.bytes = mmap.mmap(self.descriptor, 2 * (PAGE + ring))
        self.sent = self.taken = 0
        stream.daemon.stage.closers.append(self.close)

    def _get(self, at, form="<Q"):
        return struct.unpack_from(form, self.bytes, at)[0]

    def _put(self, at, value, form="<Q"):
        struct.pack_into(form, self.bytes, at, value)

    def _ring(self, flag):
        """Rings if the daemon waits for data published before."""
        if self._get(flag, "<I"):
            self._put(flag, 0, "<I")
            self.stream.socket.send(b"\0")

    def _wait(self, flag, bell, ready, within):
        limit = time.monotonic() + within
        while not ready():
            self._put(flag, 1, "<I")
            if ready():
                break
            came, _, _ = select.select([bell], [], [], max(0, limit - time.monotonic()))
            expect(came, f"no bell rang within {within} s")
            if not bell.recv(64):
                return False
        return True

    def send(self, data, within=60):
        view = memoryview(data)
        while view:
            expect(self._wait(WRITER_WAITS, self.room, lambda: self._room() >= self.size // 4, within), "the stream has ended")
            start = self.sent % self.size
            count = min(len(view), self._room(), self.size - start)
            base = 2 * PAGE + start
            self.bytes[base:base + count] = view[:count]
            self.sent += count
            self._put(WRITTEN, self.sent)
            self._ring(READER_WAITS)
            view = view[count:]
        return self

    def _room(self):
        return self.size - (self.sent - self._get(READ))

    def push(self, limit):
        """Writes as much of `limit` bytes as there is space for while the other side reads nothing.
        Returns the number."""
        before = self.sent
        try:
            self.send(bytes(limit), within=1)
        except Failure:
            pass
        return self.sent - before

    def end(self):
        self._put(ENDED, 1, "<I")
        self._ring(READER_WAITS)
        return self

    def piece(self, limit, within=60):
        """Returns the next bytes, or none at the end, of either kind."""
        header = PAGE
        there = self._wait(header + READER_WAITS, self.stream.socket,
                           lambda: self._get(header + WRITTEN) > self.taken or self._get(header + ENDED, "<I"), within)
        count = min(limit, self._get(header + WRITTEN) - self.taken)
        if count == 0 or not there and count == 0:
            return b""
        start = self.taken % self.size
        count = min(count, self.size - start)
        base = 2 * PAGE + self.size + start
        data = self.bytes[base:base + count]
        self.taken += count
        self._put(header + READ, self.taken)
        if self._get(header + WRITTEN) - self.taken <= self.size // 2:
            self._ring(header + WRITER_WAITS)
        return data

    def receive_all(self, within=60):
        pieces = []
        while data := self.piece(1 << 20, within):
            pieces.append(data)
        return b"".join(pieces)

    def close(self):
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None
            self.room.close()
        self.stream.close()
