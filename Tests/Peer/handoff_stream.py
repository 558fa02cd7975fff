"""Continuation streams: tickets, connections that carry a stream, and the frames on them."""

import os
import queue
import struct
import threading
import time

from OpenSSL import SSL

import handoff_crypto as c
import handoff_link as l

MAX_DATA = 1_048_576
END, RESET = 0, 0xFFFFFF00
CANCELLED, REFUSED, NOT_MEMBER, IDLE, STOPPING, FAILED = range(1, 7)
TICKET_LIFE, TICKET_WAIT = 30, 5


class Reset(Exception):
    """The other side has ended the stream, in both directions. `code` is the reason."""

    def __init__(self, code):
        super().__init__(f"the stream was reset with code {code}")
        self.code = code


class Stream:
    """A connection that carries one stream. `send` and `end` use this side's direction, `receive` the other's."""

    def __init__(self, link):
        self.link, self.buffer, self.left, self.has_ended, self.is_over = link, bytearray(), 0, False, False

    def send(self, data, limit=MAX_DATA):
        """Sends data, in frames of at most `limit` bytes."""
        for at in range(0, len(data), limit):
            piece = data[at : at + limit]
            self.link.send_raw(struct.pack(">I", len(piece)) + piece)

    def end(self):
        """Ends this side's direction."""
        self.has_ended = True
        self.link.send_raw(struct.pack(">I", END))
        self._finish()

    def reset(self, code=CANCELLED):
        """Ends the stream immediately."""
        self.link.send_raw(struct.pack(">I", RESET + code))
        self.link.close()

    def cut(self):
        """Drops the connection without close_notify."""
        self.link.sock.close()

    def receive(self, timeout=20):
        """Returns the next piece of data, empty at the end of the other side's direction.

        Raises Reset, and ConnectionError if the connection breaks before the end.
        """
        self.link.sock.settimeout(timeout)
        try:
            while True:
                if self.is_over:
                    return b""
                if not self.left and len(self.buffer) >= 4:
                    (word,) = struct.unpack(">I", self.buffer[:4])
                    del self.buffer[:4]
                    if word == END:
                        self.is_over = True
                        self._finish()
                        return b""
                    if word >= RESET:
                        code = word - RESET  # 0 and unknown codes are resets for an unknown reason.
                        raise Reset(code if CANCELLED <= code <= FAILED else 0)
                    if word > MAX_DATA:
                        raise c.Refused("a frame of a wrong length")
                    self.left = word
                if self.left and self.buffer:
                    piece = bytes(self.buffer[: self.left])
                    del self.buffer[: len(piece)]
                    self.left -= len(piece)
                    return piece
                self.buffer += self._plain()
        finally:
            if self.link.sock.fileno() >= 0:
                self.link.sock.settimeout(5)

    def receive_reset(self, timeout=20):
        """Returns the code of the reset with which the stream ends. An end may precede it, but no data."""
        try:
            if piece := self.receive(timeout):
                raise c.Refused(f"{len(piece)} bytes instead of a reset")
            self.is_over = False  # Only this may follow the end.
            self.receive(timeout)
        except Reset as reset:
            return reset.code
        raise c.Refused("something other than a reset after the end")

    def receive_all(self, timeout=20):
        """Returns everything up to the end of the other side's direction."""
        pieces = []
        while piece := self.receive(timeout):
            pieces.append(piece)
        return b"".join(pieces)

    def _plain(self):
        if self.link.buffer:
            data, self.link.buffer = self.link.buffer, b""
            return data
        self.link._read()
        return self._plain()

    def _finish(self):
        if self.has_ended and self.is_over:
            self.link.close()


def ask_ticket(peer, link, activity):
    """Returns the reply to openStream: an object with `result` or `error`."""
    return peer.request(link, "openStream", {"activity": activity})


def call_stream(peer, link, context=None, gate_key=None):
    """Opens a connection for a stream to the destination of a control connection. Nothing has been sent on it yet."""
    context, gate_key = context or l.make_context(peer.key, l.STREAM), gate_key or peer.pair(link.peer).gate
    place, label = link.sock.getpeername()[:2], bytes.fromhex(link.hello["label"])
    return l.Link.call(*place, context, gate_key, link.peer, label, protocol=l.STREAM)


def show_ticket(link, ticket, words=b""):
    """Sends the ticket, with the first frames directly after it. The ticket has no reply."""
    link.send_raw(ticket + words)
    return Stream(link)


def open_stream(peer, link, activity):
    """Opens a stream of an activity that this device has continued. `link` is a control connection to its origin."""
    answer = ask_ticket(peer, link, activity)
    if "error" in answer:
        raise c.Refused(f"no ticket: {answer['error']}")
    ticket = bytes.fromhex(answer["result"]["ticket"])
    if len(ticket) != 16:
        raise c.Refused("a ticket of a wrong length")
    return show_ticket(call_stream(peer, link), ticket)


class StreamServer:
    """The origin's side: issues tickets to devices that have continued an activity, and serves
    streams on the peer's port.

    Streams that have arrived are in `streams`, as (activity, Stream).
    """

    def __init__(self, peer):
        self.peer, self.tickets, self.streams = peer, {}, queue.Queue()
        self.context = l.make_context(peer.key, l.STREAM)
        self.listener = peer.tcp
        self.listener.listen()
        peer.streams = self
        threading.Thread(target=self._serve, daemon=True).start()

    def give_ticket(self, device, activity):
        offer = self.peer.offers.get(activity)
        if not offer or device not in offer.get("takers", set()):
            return {"error": {"code": 4608, "reason": "unknownActivity", "message": "no such activity"}}
        if not offer["shown"]["streams"]:
            return {"error": {"code": 3328, "reason": "streamsUnsupported", "message": "it takes no streams"}}
        ticket = os.urandom(16)
        self.tickets[ticket] = (device, activity, time.monotonic() + TICKET_LIFE)
        return {"result": {"ticket": ticket.hex()}}

    def close(self):
        self.listener.close()

    def _serve(self):
        while True:
            try:
                sock = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._answer, args=(sock,), daemon=True).start()

    def _answer(self, sock):
        """Any violation ends the connection without a reply."""
        try:
            sock.settimeout(TICKET_WAIT)
            peer = self.peer
            link = l.Link.answer(sock, self.context, peer.gate, protocol=l.STREAM)
            if link.peer != link.caller or link.peer not in peer.roster.live:
                raise c.Refused("not a member, or not the one that the gate was opened to")
            while len(link.buffer) < 16:
                link._read()
            ticket, link.buffer = link.buffer[:16], link.buffer[16:]
            device, activity, deadline = self.tickets.pop(ticket, (None, None, 0))
            if device != link.peer or time.monotonic() > deadline:
                raise c.Refused("no such ticket")
            self.streams.put((activity, Stream(link)))
        except (c.Refused, OSError, SSL.Error):
            sock.close()
