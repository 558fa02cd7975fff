"""The common parts of the benchmarks: the plain C programs, connections to a control socket, and figures."""

import json
import os
import socket
import statistics
import subprocess
import sys
import time

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "..", "Tests", "System"))
sys.dont_write_bytecode = True
import harness  # noqa: E402


def build():
    """Compiles the C programs. Returns their folder."""
    folder = os.path.join(harness.ROOT, ".build", "benchmarks")
    os.makedirs(folder, exist_ok=True)
    shared = os.path.getmtime(os.path.join(FOLDER, "tls.h"))
    for name, libraries in (("floor", ["-lssl", "-lcrypto"]), ("bulk", ["-lssl", "-lcrypto"]), ("app", []), ("link", [])):
        source, target = os.path.join(FOLDER, name + ".c"), os.path.join(folder, name)
        if not os.path.exists(target) or os.path.getmtime(target) < max(shared, os.path.getmtime(source)):
            subprocess.run(["cc", "-O2", "-Wall", "-o", target, source, *libraries], check=True)
    return folder


class Program:
    """A helper program that answers each line with a line."""

    def __init__(self, stage, *words, **more):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, **more)
        stage.processes.append(self.process)

    def line(self):
        text = self.process.stdout.readline()
        if not text:
            raise harness.Failure(f"{self.process.args} exited")
        return text.strip()

    def ask(self, text):
        self.process.stdin.write(text + "\n")
        return self.line()


class Control:
    """A connection to a control socket that stays open, so that requests cost the daemon little."""

    def __init__(self, daemon):
        self.stream = socket.socket(socket.AF_UNIX)
        self.stream.connect(daemon.socket)
        daemon.stage.closers.append(self.stream.close)
        self.bytes = b""

    def call(self, method, **parameters):
        """Starts a call with several replies, which `answer` reads."""
        message = {"method": f"dev.handoff1.Control.{method}", "more": True, "parameters": parameters}
        self.stream.sendall(json.dumps(message).encode() + b"\0")

    def message(self):
        """Returns the next reply unparsed."""
        while b"\0" not in self.bytes:
            piece = self.stream.recv(65536)
            harness.expect(piece, "the daemon closed the connection")
            self.bytes += piece
        message, _, self.bytes = self.bytes.partition(b"\0")
        return message

    def answer(self):
        """Returns the next reply."""
        reply = json.loads(self.message())
        harness.expect("error" not in reply, f"the daemon refused: {reply}")
        return reply["parameters"]

    def until(self, event):
        """Returns the next reply with this event."""
        while (answer := self.answer())["event"] != event:
            pass
        return answer

    def status(self):
        self.stream.sendall(b'{"method":"dev.handoff1.Control.GetStatus"}\0')
        return self.answer()


def until(what, condition, within=30, pause=0.001):
    limit = time.monotonic() + within
    while not condition():
        if time.monotonic() > limit:
            raise harness.Failure(f"timed out after {within} s waiting for {what}")
        time.sleep(pause)


def settled(*daemons):
    """Waits until the account's ticket is closed, which the daemons do on their own, and all agree on the epoch."""
    controls = [Control(daemon) for daemon in daemons]

    def agree():
        states = [control.status() for control in controls]
        return len({state["epoch"] for state in states}) == 1 and not any(state["tickets"] for state in states)

    until("agreement after joining", agree)


def spread(values):
    ordered = sorted(values)
    return {"median": statistics.median(ordered), "p95": ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))],
            "min": ordered[0], "max": ordered[-1], "n": len(ordered)}
