"""Commands on a terminal, as a person runs them: their output is read, and answers are typed."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from harness import BIN, Failure


# Select Graphic Rendition (ECMA-48).
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def lines(raw):
    """Returns the final text on a terminal: lines that are overwritten have their last text. A code
    of blocks is separate."""
    text, code = [], []
    for line in raw.replace("\r\n", "\n").split("\n"):
        if "\x1b[38;5;231;48;5;16m" in line:
            code.append(re.sub(r"\x1b\[[0-9;]*m", "", line))
            continue
        # A carriage return with an erased line restarts it.
        shown = re.split(r"\r\x1b\[K", line)[-1]
        text.append(re.sub(r"\r|\x1b\[[0-9;?]*[A-Zac-ln-z]", "", shown).rstrip())
    while text and not text[-1]:
        text.pop()
    while text and not text[0]:
        text.pop(0)
    return text, code


class Screen:
    """A program with a terminal of its own, of 100 columns."""

    def __init__(self, stage, words, environment):
        # The output that was not searched yet, and all output.
        self.words, self.shown, self.raw = words, "", ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 100, 0, 0))
        self.screen = ours
        stage.closers.append(self.close)

        def own_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            words, env={"NO_COLOR": "1", "TERM": "xterm-256color", **environment}, stdin=theirs, stdout=theirs, stderr=theirs,
            preexec_fn=own_terminal)
        stage.processes.append(self.process)
        os.close(theirs)

    def sees(self, pattern, within=30):
        """Waits until the output matches the pattern. Returns the match. The output before it is not searched again."""
        limit = time.monotonic() + within
        while not (found := re.search(pattern, self.shown)):
            if not self._read(limit - time.monotonic()):
                raise Failure(f"{self.words}: '{pattern}' was not shown: {self.shown!r}")
        self.shown = self.shown[found.end():]
        return found

    def has_shown(self, pattern, within=30):
        """Waits until the pattern has been shown, now or before, in any colours. Returns the match."""
        limit = time.monotonic() + within
        while not (found := re.search(pattern, COLOURS.sub("", self.raw))):
            if not self._read(limit - time.monotonic()):
                raise Failure(f"{self.words}: '{pattern}' was not shown: {self.raw!r}")
        return found

    def _read(self, within):
        if within <= 0 or not select.select([self.screen], [], [], within)[0]:
            return False
        try:
            data = os.read(self.screen, 65536)
        except OSError:  # The terminal's end, once no process has it open.
            return False
        text = self.decoder.decode(data)
        self.shown += text
        self.raw += text
        return bool(data)

    def type(self, text):
        os.write(self.screen, text.encode())

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def ends(self, within=30):
        """Reads until the command has exited. Returns its exit code."""
        limit = time.monotonic() + within
        while self._read(limit - time.monotonic()):
            pass
        return self.process.wait(max(1, limit - time.monotonic()))

    def close(self):
        os.close(self.screen)


class Terminal(Screen):
    """Runs handoffctl on a terminal, or a program that finds the daemon itself."""

    def __init__(self, daemon, *words, program=None):
        tool = [program] if program else [os.path.join(BIN, "handoffctl"), "--socket", daemon.socket]
        super().__init__(daemon.stage, [*daemon.prefix, *tool, *words], daemon.environment)
        self.words = words
