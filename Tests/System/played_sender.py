"""A simulated daemon with its app, which offers one activity with a stream to each client, and
sends its content over it.

The test controls everything about the transfer: the data, the size of the pieces, and the place of
an interruption. See docs/state-machines/transfer.md for the messages.
"""

import contextlib
import hashlib
import io
import itertools
import json
import os
import socket
import struct
import tarfile
import threading

ID, DEVICE, STREAM, CONTINUATION = "a1" * 16, "0a" * 32, "5e" * 16, "c0" * 16
APPS = "dev.handoff1."
NUMBERS = itertools.count()


def frame(**fields):
    data = json.dumps(fields).encode()
    return struct.pack(">I", len(data)) + data


def archive(files, behind=b""):
    """Returns a folder's archive, with these files in it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    return out.getvalue() + behind


class Cut(Exception):
    """The sender stops here."""


class PlayedSender:
    """A socket that behaves like handoffd. `kind` is file, stream or folder. `content` is the data
    on the wire.

    at_once      everything after `go` is sent in one piece, including the last message; else byte by byte
    passes       whether it accepts the file to be written, or lets the command write the bytes itself
    part         this many bytes of the content are sent, followed by `ending`: "cut", "error", "garbage",
                 "refusal" (the daemon cannot write the file), "silence"; None: all of it, successfully
    behind       bytes that follow the last message in the same piece
    """

    def __init__(self, folder, kind, content, at_once=True, passes=True, part=None, ending=None, behind=b""):
        self.kind, self.content, self.at_once, self.passes = kind, content, at_once, passes
        self.part, self.ending, self.behind = part, ending, behind
        self.is_continued = False
        self.done, self.offset, self.passing = threading.Event(), 0, None
        self.path = os.path.join(folder, f"daemon-{next(NUMBERS)}.socket")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    # ---- The daemon ----------------------------------------------------------------------------------------------

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection, contextlib.suppress(OSError, Cut):
            data, files = b"", []
            while True:
                while b"\0" not in data:
                    piece, passed, _, _ = socket.recv_fds(connection, 65536, 4)
                    files += passed
                    if not piece:
                        return
                    data += piece
                message, _, data = data.partition(b"\0")
                call = json.loads(message)
                if not self._answer(connection, call["method"].rpartition(".")[2], call["parameters"], files, data):
                    return

    @staticmethod
    def _reply(connection, error=None, continues=False, **parameters):
        message = {"parameters": parameters}
        if error:
            message["error"] = error
        if continues:
            message["continues"] = True
        connection.sendall(json.dumps(message).encode() + b"\0")

    def _answer(self, connection, method, parameters, files, behind):
        if method == "ListActivities" and not self.is_continued:
            # In this case the command leaves the choice to the daemon.
            self._reply(connection, activities=[])
        elif method == "Continue":
            self.is_continued = True
            origin = {"device": DEVICE, "deviceName": "desk", "deviceKind": "desktop", "app": None, "appVersion": None}
            activity = {
                "id": ID, "type": "com.example.editing", "title": None, "userInfo": {}, "webpageURL": None, "team": None,
                "requiredUserInfoKeys": [], "streams": True, "device": DEVICE, "deviceName": "desk", "deviceKind": "desktop",
                "origin": origin}
            self._reply(connection, event="continued", type="com.example.editing", activity=activity, opens=None,
                        continuation=CONTINUATION)
        elif method == "OpenStream":
            self._reply(connection, stream=STREAM)
            self._send(connection, behind)
            return False
        elif method == "PassFile":
            self._pass(connection, parameters, files.pop(0))
        elif method == "AwaitStream":
            self._reply(connection, outcome="gone", message="the connection was cut", sent=0, received=0)
        else:
            # The command looks for the activity again after an interruption, so this makes it give up immediately.
            self._reply(connection, "org.varlink.service.MethodNotImplemented", method=method)
        return True

    def _pass(self, connection, parameters, file):
        if not self.passes:
            self._reply(connection, APPS + "InvalidDescriptor", message="not this one")
            os.close(file)
            return
        self._reply(connection, continues=True, moved=0, done=False)
        self.started.wait()
        rest = self.content[self.offset:]
        if self.part is not None:
            rest = rest[:max(0, self.part - self.offset)]
        for piece in self._pieces(rest):
            os.write(file, piece)
        os.close(file)
        if self.part is not None and self.ending == "refusal":
            self._reply(connection, APPS + "FileFailed", message="cannot write: no space left on device")
        elif self.part is not None:
            self._reply(connection, APPS + "StreamEnded", moved=len(rest), outcome="gone", message="the connection was cut")
        elif len(rest) == len(self.content) - self.offset:
            self._reply(connection, moved=len(rest), done=True)
        self.written.set()

    # ---- The app -------------------------------------------------------------------------------------------------

    def _pieces(self, data):
        return [data] if self.at_once else [data[place:place + 1] for place in range(len(data))]

    def _write(self, stream, data):
        for piece in self._pieces(data):
            stream.sendall(piece)

    def _read(self, stream):
        """Returns the next message of the other side."""
        while len(self.received) < 4 or len(self.received) < 4 + struct.unpack(">I", self.received[:4])[0]:
            piece = stream.recv(65536)
            if not piece:
                raise Cut
            self.received += piece
        end = 4 + struct.unpack(">I", self.received[:4])[0]
        message, self.received = json.loads(self.received[4:end]), self.received[end:]
        if "error" in message:
            raise Cut
        return message

    def _send(self, stream, received):
        self.received, self.started, self.written = received, threading.Event(), threading.Event()
        has_size = self.kind == "file"
        header = {"version": 1, "kind": self.kind, "name": "sent"}
        if has_size:
            header |= {"size": len(self.content), "id": hashlib.sha256(self.content).hexdigest()[:32]}
        self._write(stream, frame(**header))
        have = self._read(stream)
        self.offset = have["have"]
        self.resumed = self.offset > 0
        length = len(self.content) - self.offset if has_size else None
        self._write(stream, frame(**{"from": self.offset, "length": length}))
        self._read(stream)
        if has_size and length and self.passes:
            self.started.set()
            self.written.wait()
            if self.part is not None and self.part < len(self.content):
                raise Cut
            rest = b""
        else:
            rest = self.content[self.offset:] if self.part is None else self.content[self.offset:self.part]
            if not has_size:
                rest = b"".join(struct.pack(">I", len(rest[place:place + 65536])) + rest[place:place + 65536]
                                for place in range(0, len(rest), 65536))
        if self.ending in ("cut", "refusal"):
            self._write(stream, rest)
            raise Cut
        if self.ending == "silence":
            self._write(stream, rest)
            self._read(stream)
            raise Cut
        if not has_size:
            rest += bytes(4)
        if self.ending == "error":
            rest += frame(error={"reason": "changed", "message": "the source was changed"})
        elif self.ending == "garbage":
            rest += struct.pack(">I", 7) + b"garbage"
        else:
            rest += frame(complete=True)
        self._write(stream, rest + self.behind)
        self._read(stream)
        self.done.set()
        stream.shutdown(socket.SHUT_WR)
        stream.recv(1)
