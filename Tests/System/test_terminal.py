"""What handoffctl does with the terminal at which a person uses it: nothing that remains."""

import os
import signal
import termios

from harness import expect, main, test
from terminal import Terminal

# The beginning of an account file that is protected by a passphrase; the daemon is not asked before it was typed.
PROTECTED = b"hndf-exp\0\1\0\1" + bytes(64)


def settings(terminal):
    """Local modes and control characters: what a question may change."""
    attributes = termios.tcgetattr(terminal.screen)
    return attributes[3], attributes[6]


def asked(stage, name="one"):
    """An import that asks for the passphrase, and how the terminal was before."""
    daemon = stage.daemon(name)
    path = os.path.join(stage.folder, "protected")
    with open(path, "wb") as file:
        file.write(PROTECTED)
    plain = Terminal(daemon, "join")
    plain.sees("Code that the other device shows: ")
    before = settings(plain)
    plain.type("\x03")
    plain.ends()
    terminal = Terminal(daemon, "account", "import", path)
    terminal.sees("Passphrase of the account file: ")
    expect(not settings(terminal)[0] & termios.ECHO, "the passphrase would be shown")
    return terminal, before


def comes_back(terminal, before, code):
    # Looked at before the end of the program's terminal is known: closing it changes nothing.
    status = terminal.process.wait(30)
    expect(settings(terminal) == before, f"the terminal is not as it was: {settings(terminal)}, before {before}")
    expect(status == code, f"exit code {status}")


@test("an interrupted question for a passphrase brings the echo back")
def interrupted(stage):
    terminal, before = asked(stage)
    terminal.type("sec\x03")
    comes_back(terminal, before, 130)


@test("so do the ends by the service manager and by the terminal's own end")
def signalled(stage):
    for number in (signal.SIGTERM, signal.SIGHUP):
        terminal, before = asked(stage, f"on{number}")
        terminal.process.send_signal(number)
        comes_back(terminal, before, 130)


@test("keys that would stop the program without bringing it back do nothing, and the passphrase is not shown")
def stopped(stage):
    terminal, before = asked(stage)
    terminal.type("\x1a\x1csecret\n")
    comes_back(terminal, before, 1)
    terminal.ends()
    expect(terminal.shown.startswith("\r\nhandoffctl: "), f"shown: {terminal.shown!r}")
    expect("secret" not in terminal.shown, f"shown: {terminal.shown!r}")


@test("a window that is interrupted takes its countdown away, and the terminal is as it was")
def window(stage):
    daemon = stage.daemon("one")
    daemon.ctl("account", "create")
    terminal = Terminal(daemon, "pair")
    terminal.sees(r"\x1b\[38;5;231;48;5;16m")
    terminal.sees(r"code +\d{4} \d{4}")
    terminal.sees(r"(3:00|2:\d\d) left")
    before = settings(terminal)
    terminal.type("\x03")
    comes_back(terminal, before, 130)
    terminal.ends()
    expect(terminal.shown.replace("^C", "").endswith("\r\x1b[K"), f"at the end: {terminal.shown!r}")


if __name__ == "__main__":
    main()
