#!/usr/bin/env python3
"""`handoffctl stream`: both directions of a stream between two commands. Two daemons on loopback."""

import hashlib
import os
import subprocess
import threading

from browsers import until
from harness import BIN, expect, main, test

TYPE = "com.example.pipe"


class End:
    """A command whose standard streams are pipes."""

    def __init__(self, stage, daemon, *words):
        self.log = os.path.join(daemon.folder, f"stream-{len(stage.processes)}.log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [os.path.join(BIN, "handoffctl"), "--socket", daemon.socket, "--json", "stream", *words],
                env=daemon.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        stage.processes.append(self.process)

    def reported(self):
        with open(self.log) as file:
            return file.read()

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def close(self):
        self.process.stdin.close()

    def receive(self, count):
        return self.process.stdout.read(count)

    def ended(self, code=0):
        found = self.process.wait(30)
        expect(found == code, f"exit code {found} instead of {code}: {self.reported()}")


def connected(stage, origin, taker, *words):
    """Connects two commands. Returns the one that listens, and the other one."""
    listener = End(stage, origin, "--listen", TYPE, *words)
    watch = taker.follow("watch")
    watch.wait("added", type=TYPE)
    caller = End(stage, taker, "--type", TYPE)
    for end in (listener, caller):
        until("a stream", lambda end=end: "connected" in end.reported())
    # It is offered to no other device any more.
    watch.wait("removed")
    watch.interrupt()
    return listener, caller


@test("both directions carry bytes at the same time, and each ends separately")
def duplex(stage):
    origin, taker = stage.pair()
    listener, caller = connected(stage, origin, taker, "--title", "Pipe")
    for number in range(3):
        caller.send(b"ping %d\n" % number)
        expect(listener.receive(7) == b"ping %d\n" % number, "the listening side")
        listener.send(b"pong %d\n" % number)
        expect(caller.receive(7) == b"pong %d\n" % number, "the connecting side")
    caller.close()
    expect(listener.receive(1) == b"", "the end of one direction does not arrive")
    data = os.urandom(32 << 20)

    def send():
        listener.send(data)
        listener.close()

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    expect(hashlib.sha256(caller.receive(-1)).digest() == hashlib.sha256(data).digest(), "wrong bytes")
    for end in (listener, caller):
        end.ended()


@test("a command that is killed, an interrupt, and a daemon that ends are reported, after all bytes that arrived")
def cut(stage):
    origin, taker = stage.pair()
    listener, caller = connected(stage, origin, taker)
    listener.send(b"last words\n")
    expect(caller.receive(11) == b"last words\n", "the bytes before the end")
    listener.process.kill()
    caller.ended(1)
    expect("transferFailed" in caller.reported() or "error" in caller.reported(), caller.reported())
    listener, caller = connected(stage, origin, taker)
    caller.process.terminate()
    caller.ended(130)
    listener.ended(1)
    listener, caller = connected(stage, origin, taker)
    origin.kill()
    for end in (listener, caller):
        end.ended(1)


@test("a slow reader slows down the writer, and no memory is used for what it does not read")
def slow(stage):
    origin, taker = stage.pair()
    listener, caller = connected(stage, origin, taker)
    sent = 0

    def send():
        nonlocal sent
        piece = bytes(1 << 20)
        for _ in range(256):
            listener.send(piece)
            sent += len(piece)
        listener.close()

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    known = -1
    # It stops when all buffers on the way are full.
    while known != sent:
        known = sent
        thread.join(1)
    expect(sent < 64 << 20, f"{sent} bytes were accepted without a reader")
    for end in (listener, caller):
        with open(f"/proc/{end.process.pid}/statm") as file:
            expect(int(file.read().split()[1]) * 4096 < 48 << 20, "memory grows without a reader")
    caller.close()
    expect(len(caller.receive(-1)) == 256 << 20, "bytes are missing")
    for end in (listener, caller):
        end.ended()


@test("invalid words, an activity without streams, and an app of another language at the other end")
def others(stage):
    origin, taker = stage.pair()
    for words in (["--listen", TYPE, "--type", TYPE], ["--title", "A"], ["--to", "taker"], ["--listen", TYPE, "12"]):
        expect(taker.ctl("stream", *words, code=2).output == "", f"{words}")
    plain = origin.publish("com.example.plain")
    taker.follow("watch").wait("added", id=plain.id)
    expect("3328" in taker.ctl("stream", "--type", "com.example.plain", code=1).errors, "it was continued")
    taker.ctl("stream", "--type", "com.example.none", code=4)
    script = stage.file("app.py", """
import sys
sys.path.insert(0, sys.argv[1])
import handoff

def serve(stream, event):
    stream.settimeout(None)
    while data := stream.recv(65536):
        stream.sendall(data.upper())
    stream.close()

app = handoff.App("com.example.upper")
app.publish("com.example.upper", stream=serve, title="Upper", supportsContinuationStreams=True).become_current()
app.run()
""")
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Integrations", "python")
    stage.processes.append(subprocess.Popen(["python3", script, root], env=origin.environment))
    taker.follow("watch").wait("added", type="com.example.upper")
    caller = End(stage, taker, "--type", "com.example.upper")
    caller.send(b"words\n")
    expect(caller.receive(6) == b"WORDS\n", "the reply of the app")
    caller.close()
    caller.ended()


if __name__ == "__main__":
    main()
