"""Faults on demand in a running daemon: it is killed, the power fails, or a call does, at the Nth
counted call.

The calls are counted by a shared object (`Tests/Faults/faults.c`), which is built here and loaded
before the C library. A page that both map contains the kinds of calls that count, and the number of
the call to hit. Repeating a request with the fault one call later each time finds every step of a
daemon.
"""

import mmap
import os
import struct
import subprocess
import tempfile
import threading
import time

from harness import ROOT, Failure, Skip, expect

KINDS = {"create": 1, "write": 2, "truncate": 4, "sync": 8, "rename": 16, "unlink": 32, "lock": 64, "send": 128,
         "reply": 256}
# The words of the log of calls.
WORDS = {**KINDS, "make": KINDS["create"], "link": KINDS["rename"]}
FILES = 127
STREAMS = KINDS["send"] | KINDS["reply"]
ALL = FILES | STREAMS
HOW = {"kill": 1, "tear": 2, "fail": 3, "fail all": 4, "power": 5, "hold": 6}

_libraries = {}
_building = threading.Lock()


def library(name="faults"):
    """Returns the shared object of `Tests/Faults/NAME.c`, built once for each process."""
    with _building:
        if name not in _libraries:
            folder = tempfile.mkdtemp(prefix="handoff-faults-")
            path = os.path.join(folder, f"{name}.so")
            source = os.path.join(ROOT, "Tests", "Faults", f"{name}.c")
            try:
                done = subprocess.run(
                    ["cc", "-std=gnu17", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", path, source],
                    capture_output=True, text=True, timeout=60)
            except OSError:
                raise Skip("no C compiler (cc) found") from None
            expect(done.returncode == 0, f"{name}.c does not compile: {done.stderr}")
            _libraries[name] = path
        return _libraries[name]


class Faults:
    """The possible faults of one daemon. Create it before the daemon starts. It persists over restarts."""

    def __init__(self, daemon):
        self.daemon = daemon
        base = os.path.join(daemon.folder, "faults")
        self.log = base + ".log"
        keep = base + ".keep"
        os.mkdir(keep, 0o700)
        with open(base + ".page", "wb") as file:
            file.write(bytes(4096))
        with open(base + ".page", "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 4096)
        self.environment = {
            "LD_PRELOAD": library(), "FAULTS_PAGE": base + ".page", "FAULTS_LOG": self.log, "FAULTS_KEEP": keep,
            "FAULTS_FOLDER": os.path.realpath(daemon.state),
        }
        daemon.extra = dict(self.environment)

    def arm(self, step, how="kill", kinds=FILES, error=0):
        """Injects the fault at the `step`th call of these kinds from now on; 0: only counts."""
        self.disarm()
        struct.pack_into("<QIII", self.page, 8, step, kinds, HOW[how], error)

    def suspend(self):
        """Injects no more faults. A process that is being hit at this moment is dead when this returns."""
        struct.pack_into("<Q", self.page, 8, 0)
        time.sleep(0.02)

    def disarm(self):
        """Stops counting."""
        struct.pack_into("<QQIIII", self.page, 0, 0, 0, 0, 0, 0, 0)

    @property
    def count(self):
        return struct.unpack_from("<Q", self.page, 0)[0]

    @property
    def struck(self):
        return struct.unpack_from("<I", self.page, 28)[0] > 0

    def steps(self):
        """Returns the calls that were counted since the last look at the log, as text."""
        try:
            with open(self.log) as file:
                lines = file.read().splitlines()
            os.truncate(self.log, 0)
            return lines
        except FileNotFoundError:
            return []

    def ended(self, within):
        """Waits until the daemon has been killed."""
        try:
            self.daemon.process.wait(within)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.daemon.name} was hit by the fault and still runs") from None
