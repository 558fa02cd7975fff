"""The latency of a shared terminal, compared with ssh on the same link: the part 'terminal' of Benchmarks/run."""

import fcntl
import os
import pty
import random
import select
import statistics
import struct
import subprocess
import termios
import time

import harness
from common import settled
from others import Others
from test_live_terminal import COMMAND, Server, Share, environment, offered

KEYS, STARTS = 200, 10
WAYS = ("handoff-terminal", "ssh")


class Typist:
    """A program in a terminal of 80 x 24, and the time until a typed key is shown there."""

    def __init__(self, stage, words, environment):
        self.terminal, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        begin = time.monotonic()
        self.process = subprocess.Popen(
            words, env={**environment, "TERM": "xterm-256color"}, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        stage.processes.append(self.process)
        os.close(theirs)
        self._sees(b"ready")
        self.start = time.monotonic() - begin
        # The rest of the screen, and the replies to the queries of tmux.
        while select.select([self.terminal], [], [], 0.5)[0]:
            os.read(self.terminal, 65_536)

    def _sees(self, text):
        shown, limit = b"", time.monotonic() + 20
        while text not in shown:
            if not select.select([self.terminal], [], [], max(0, limit - time.monotonic()))[0]:
                raise harness.Failure(f"{self.process.args} does not show {text}: {shown}")
            shown += os.read(self.terminal, 65_536)

    def key(self, letter):
        """Types a key, and returns the seconds until it is shown."""
        begin = time.monotonic()
        os.write(self.terminal, letter)
        self._sees(letter)
        return time.monotonic() - begin

    def close(self):
        self.process.terminate()
        self.process.wait(20)
        os.close(self.terminal)


def measure(stage, quick, spread):
    """Types keys into two sessions of one tmux, by turns, so that both meet the same load of the machine."""
    origin, taker = stage.pair()
    settled(origin, taker)
    host = Server(stage, origin, "work", "echo ready; exec cat", columns=80, rows=24)
    host.run("new-session", "-d", "-s", "ssh", "echo ready; exec cat")
    host.run("set-option", "-g", "status", "off")
    Share(origin, "tmux:work", server=host)
    offered(taker, "work")
    others = Others(stage, stage.file("nothing", ""), stage.folder)
    if not others.scp:
        raise harness.Failure("ssh is missing")
    words = {
        "handoff-terminal": [*COMMAND, "attach"],
        "ssh": ["ssh", "-tt", "-p", str(others.port), *others.options, others.address, f"tmux -u -S {host.path} attach -t =ssh"],
    }
    environments = {"handoff-terminal": environment(taker), "ssh": dict(os.environ)}
    starts = {way: [] for way in WAYS}
    for _ in range(2 if quick else STARTS):
        for way in WAYS:
            typist = Typist(stage, words[way], environments[way])
            starts[way].append(typist.start * 1000)
            typist.close()
    typists = {way: Typist(stage, words[way], environments[way]) for way in WAYS}
    keys, letters = {way: [] for way in WAYS}, b"bcfghjklmnpqvwxz"
    for number in range(40 if quick else KEYS):
        for way in WAYS if number % 2 else WAYS[::-1]:
            keys[way].append(typists[way].key(letters[number % len(letters):][:1]) * 1000)
            time.sleep(random.uniform(0.01, 0.04))
    figures = {f"key to screen, {way}": spread(values) for way, values in keys.items()}
    figures |= {f"first screen, {way}": spread(values) for way, values in starts.items()}
    figures["key to screen, ratio"] = spread([statistics.median(keys["handoff-terminal"]) / statistics.median(keys["ssh"])])
    return figures, "two sessions of one tmux, by turns"


GOALS = [
    *((f"key to screen, {way}", "ms", None, "") for way in WAYS), ("key to screen, ratio", "", 1.2, "at most 1.2"),
    *((f"first screen, {way}", "ms", None, "") for way in WAYS),
]
RATIOS = {"key to screen, handoff-terminal": "key to screen, ssh"}
