"""A simulated daemon for a client of the control socket, which answers with any bytes that a test sets."""

import contextlib
import json
import os
import socket
import threading


def message(**fields):
    """Returns a message in the protocol's format."""
    return json.dumps(fields).encode() + b"\0"


class PlayedDaemon:
    """Answers each call with the pieces of `play`, and closes the connection unless it `stays`.
    Root can simulate another user."""

    def __init__(self, folder, play, stays=False, user=None):
        self.path = os.path.join(folder, "control.socket")
        self.calls = []
        self.closed = threading.Event()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        # The peer credentials are those of the first process that listens.
        own = os.geteuid()
        os.seteuid(own if user is None else user)
        self.listener.listen()
        os.seteuid(own)
        self.play, self.stays = play, stays
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        data = b""
        with connection, contextlib.suppress(OSError):
            while not data.endswith(b"\0"):
                piece = connection.recv(65536)
                if not piece:
                    return
                data += piece
            self.calls.append(json.loads(data[:-1]))
            for piece in self.play(self.calls[-1]):
                connection.sendall(piece)
            if self.stays:
                connection.recv(1)
                self.closed.set()
