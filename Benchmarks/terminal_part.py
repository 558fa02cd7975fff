"""The latency of a shared terminal, compared with ssh on the same link: the part 'terminal' of Benchmarks/run."""

import fcntl
import os
import pty
import random
import re
import select
import statistics
import struct
import subprocess
import termios
import time

import harness
from common import Program, settled
from hub import NAME, Hub
from others import Others
from test_live_terminal import COMMAND, Server, Share, environment, offered

KEYS, STARTS = 200, 10
# Milliseconds that a frame takes in one direction: from a cable to a wireless network. Each is measured in several rounds,
# so that a busy minute does not count for one of them only.
DELAYS, ROUNDS, PINGS = (0, 0.25, 0.5, 1, 5), 4, 25
# Keys after a pause, and the seconds between two keys, one of each way. Daemons release the buffers of a stream within 2.5 s.
RARE_KEYS, PAUSE, PAUSE_DELAY = 16, 1.4, 0.25
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
        # tmux may have sent a sequence with this letter since the previous key.
        while select.select([self.terminal], [], [], 0)[0]:
            os.read(self.terminal, 65_536)
        begin = time.monotonic()
        os.write(self.terminal, letter)
        self._sees(letter)
        return time.monotonic() - begin

    def close(self):
        self.process.terminate()
        self.process.wait(20)
        os.close(self.terminal)


class Link(Hub):
    """A link between two hosts with a delay that can be changed. Benchmarks/link.c carries the frames."""

    def __init__(self, stage, hosts, programs):
        super().__init__(stage, hosts)
        self.program = Program(stage, os.path.join(programs, "link"), *map(str, self.devices), pass_fds=self.devices)

    def _carry(self):
        """Leaves the frames to the program."""

    def set_delay(self, milliseconds):
        self.program.ask(str(round(milliseconds * 1000)))

    def round_trips(self):
        """Returns milliseconds between the two kernels."""
        done = self.hosts[1].run("ping", "-n", "-i", "0.02", "-c", str(PINGS), "10.90.0.1")
        harness.expect(done.code == 0, str(done))
        return [float(text) for text in re.findall("time=([0-9.]+) ms", done.output)]


class Sessions:
    """Two sessions of one tmux, and the commands that show them, one for each way. With a link, its second host shows
    those of its first."""

    def __init__(self, stage, link=None):
        hosts = link.hosts if link else (None, None)
        more = {"interface": NAME} if link else {}
        origin, taker = (stage.daemon(name, host=host, **more) for name, host in zip(("origin", "taker"), hosts))
        stage.join(origin, taker)
        settled(origin, taker)
        host = Server(stage, origin, "work", "echo ready; exec cat", columns=80, rows=24)
        host.run("new-session", "-d", "-s", "ssh", "echo ready; exec cat")
        host.run("set-option", "-g", "status", "off")
        Share(origin, "tmux:work", server=host)
        offered(taker, "work")
        others = Others(stage, stage.file("nothing", ""), stage.folder, *((link.hosts, "10.90.0.1") if link else ()))
        if not others.scp:
            raise harness.Failure("ssh is missing")
        self.stage, self.words = stage, {
            "handoff-terminal": [*COMMAND, "attach"],
            "ssh": [*others.prefixes[1], "ssh", "-tt", "-p", str(others.port), *others.options, others.address,
                    f"tmux -u -S {host.path} attach -t =ssh"],
        }
        self.environments = {"handoff-terminal": environment(taker), "ssh": dict(os.environ)}

    def show(self, way):
        return Typist(self.stage, self.words[way], self.environments[way])


def type_keys(typists, count, keys, pause=None):
    """Types keys by turns, with equal pauses, so that both ways meet the same load and state of the processors."""
    letters = b"bcfghjklmnpqvwxz"
    for number in range(count):
        for way in WAYS:
            keys[way].append(typists[way].key(letters[number % len(letters):][:1]) * 1000)
            time.sleep(pause or random.uniform(0.01, 0.04))


def on_loopback(stage, quick):
    """Returns the milliseconds of the starts and of the keys."""
    sessions = Sessions(stage)
    starts, keys = ({way: [] for way in WAYS} for _ in range(2))
    for _ in range(2 if quick else STARTS):
        for way in WAYS:
            typist = sessions.show(way)
            starts[way].append(typist.start * 1000)
            typist.close()
    type_keys({way: sessions.show(way) for way in WAYS}, 40 if quick else KEYS, keys)
    return starts, keys


def on_link(stage, programs, quick):
    """Returns the milliseconds of the round trips and of the keys for each delay, and of the keys after a pause."""
    link = Link(stage, harness.Lab(stage, 2, "--no-avahi", "--ipv4-only").hosts, programs)
    sessions = Sessions(stage, link)
    typists = {way: sessions.show(way) for way in WAYS}
    trips, keys = {delay: [] for delay in DELAYS}, {delay: {way: [] for way in WAYS} for delay in DELAYS}
    for _ in range(1 if quick else ROUNDS):
        for delay in DELAYS:
            link.set_delay(delay)
            trips[delay] += link.round_trips()
            type_keys(typists, 20 if quick else KEYS // ROUNDS, keys[delay])
    rare = {way: [] for way in WAYS}
    link.set_delay(PAUSE_DELAY)
    type_keys(typists, 4 if quick else RARE_KEYS, rare, PAUSE)
    return trips, keys, rare


def measure(stage, programs, quick, spread):
    """Types keys into two sessions of one tmux, on loopback, and as root over a link with a delay."""
    figures = {}

    def add(where, keys):
        figures.update({f"key to screen, {way}{where}": spread(values) for way, values in keys.items()})
        ratio = statistics.median(keys["handoff-terminal"]) / statistics.median(keys["ssh"])
        figures[f"key to screen, ratio{where}"] = spread([ratio])

    if os.geteuid() == 0:
        linked, is_done = harness.Stage("terminal-link"), False
        try:
            trips, keys, rare = on_link(linked, programs, quick)
            is_done = True
        finally:
            linked.close(keep=not is_done)
        for delay in DELAYS:
            figures[f"round trip{over(delay)}"] = spread(trips[delay])
            add(over(delay), keys[delay])
        add(RARE, rare)
    starts, keys = on_loopback(stage, quick)
    figures |= {f"first screen, {way}": spread(values) for way, values in starts.items()}
    add("", keys)
    return figures, "two sessions of one tmux, by turns"


def over(delay):
    return f", a link of {delay:g} ms"


RARE = f"{over(PAUSE_DELAY)}, after a pause"
PLACES = ["", *map(over, DELAYS), RARE]
GOALS = [
    *(row for where in PLACES for row in (
        (f"round trip{where}", "ms", None, "between the kernels"),
        *((f"key to screen, {way}{where}", "ms", None, "") for way in WAYS),
        (f"key to screen, ratio{where}", "", 1.2, "at most 1.2"))),
    *((f"first screen, {way}", "ms", None, "") for way in WAYS),
]
