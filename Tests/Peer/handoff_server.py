"""The server's half of control connections: gate, introduction, hello, and a member's changes of
the roster.

For the self-checks, in which both ends are Python, and for attacks that need a member that serves.
"""

import os
import threading
import time

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from OpenSSL import SSL

import handoff_crypto as c
import handoff_link as l
import handoff_messages as m
import handoff_roster as r

MAX_INTRODUCTION = 512 * 1024


class Server:
    """A peer that receives calls at its port. Frames are handled one after the other, from any connection."""

    def __init__(self, peer):
        self.peer, self.lock, self.links, self.ends = peer, threading.RLock(), [], []
        peer.tcp.listen()
        self.place = ("127.0.0.1", peer.port)
        threading.Thread(target=self._accept, daemon=True).start()
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self):
        self.peer.tcp.close()
        for link in self.links:
            link.sock.close()

    # Changes of the roster

    def export(self):
        """Returns an account file, whose ticket is in the roster."""
        ticket = Ed25519PrivateKey.generate()
        self._sign(r.TICKET, c.raw_public(ticket))
        raw = serialization.Encoding.Raw, serialization.PrivateFormat.Raw, serialization.NoEncryption()
        return r.account_file(ticket.private_bytes(*raw) + self.peer.roster.encoded())

    def rename(self, device, name):
        counter = self.peer.roster.counters.get(device, 0) + 1
        self._sign(r.NAME, r.name_body(device, counter, name))

    def remove(self, device):
        """Removes a device and starts a new epoch, in one write."""
        peer, key = self.peer, os.urandom(32)
        with self.lock:
            removal = r.sign_statement(peer.key, peer.roster.account, r.REMOVE, r.remove_body(device))
            peer.roster.merge([removal])
            body = r.epoch_body(peer.roster.next_epoch(peer.n), peer.roster.removed & peer.roster.keys.keys(), key)
            peer.roster.merge([r.sign_statement(peer.key, peer.roster.account, r.EPOCH, body)])
            peer.account_key, peer.n = key, peer.roster.epoch.fields[0]
            peer._derive()
            self._changed(peer.roster.encoded())

    def _sign(self, kind, body):
        with self.lock:
            made = r.sign_statement(self.peer.key, self.peer.roster.account, kind, body)
            self.peer.roster.merge([made])
            self._changed(r.encode_list([made]))

    def _changed(self, changes):
        """Sends a change of the roster to all other members. Connections of removed members are closed immediately."""
        self.peer.store()
        for link in list(self.links):
            if link.peer in self.peer.roster.live:
                self.peer.send_frames(link, (l.STATEMENTS, changes), (l.HELLO, self.peer.hello()))
                self.peer.hand_over(link)
            else:
                link.close()

    # Connections

    def _accept(self):
        while True:
            try:
                sock = self.peer.tcp.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._answer, args=(sock,), daemon=True).start()

    def _answer(self, sock):
        link = None
        try:
            sock.settimeout(3)
            with self.lock:
                gate = self.peer.gate
            link = l.Link.answer(sock, self.peer.context, gate)
            self._begin(link)
            self.links.append(link)
            while True:
                if found := link.receive(60):
                    with self.lock:
                        self.peer.take(link, *found)
        except (c.Refused, ValueError, KeyError, OSError, SSL.Error) as error:
            self.ends.append(str(error))
            if link in self.links:
                self.links.remove(link)
            sock.close()

    def _begin(self, link):
        """Runs everything up to this side's hello."""
        peer = self.peer
        for_anybody = link.caller == l.INTRODUCTION or link.caller in peer.roster.tickets
        if link.peer in peer.roster.removed or link.peer == peer.device or (not for_anybody and link.peer != link.caller):
            raise c.Refused("not the device that the gate was opened to")
        if link.peer not in peer.roster.live:
            if not for_anybody:
                raise c.Refused("no member")
            self._introduce(link, *(link.receive(2) or (None, b"")))
        kind, body = link.receive(5) or (None, b"")
        while kind == l.STATEMENTS:
            with self.lock:
                peer.roster.merge(r.decode_list(body))
                peer.store()
            kind, body = link.receive(5) or (None, b"")
        if kind != l.HELLO:
            raise c.Refused("no hello")
        link.next_id, link.last_id = 1, 0
        with self.lock:
            if link.peer not in peer.roster.live:
                raise c.Refused("no longer a member")
            m.read_hello(body, link.peer)  # Nothing is answered before.
            peer.send_frames(link, (l.HELLO, peer.hello()))
            peer.greeted(link, body)

    def _introduce(self, link, kind, body):
        """Accepts the statements that make a device live, and closes the ticket in the same write.
        Otherwise keeps nothing."""
        peer = self.peer
        if kind != l.STATEMENTS or len(body) > MAX_INTRODUCTION:
            raise c.Refused("no statements")
        with self.lock:
            union = r.Roster(list(peer.roster.statements.values()))
            union.merge(r.decode_list(body))
            if link.peer not in union.live:
                raise c.Refused("statements that make no device live")
            for ticket, (_, users) in list(union.tickets.items()):
                if users:
                    keeps = r.remove_body(ticket, users if len(users) == 1 else [])
                    union.merge([r.sign_statement(peer.key, union.account, r.REMOVE, keeps)])
            peer.roster = union
            self._changed(union.encoded())

    def _listen(self):
        received = {"acknowledged": False, "adverts": 0}
        while self.peer.tcp.fileno() >= 0:
            try:
                self.peer.listen(1, received)
            except OSError:
                time.sleep(0.1)
