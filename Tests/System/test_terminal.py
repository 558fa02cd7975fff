"""handoffctl leaves the user's terminal in its original state."""

import os
import signal
import sys
import termios

from browsers import until
from harness import BIN, ROOT, expect, main, run, test
from terminal import Terminal

sys.path.append(os.path.join(ROOT, "Integrations", "python"))
import handoff  # noqa: E402

# The start of an account file that is protected by a passphrase. The daemon receives no request
# before the passphrase was typed.
PROTECTED = b"hndf-exp\0\1\0\1" + bytes(64)


def settings(terminal):
    """Local modes and control characters, which a question may change."""
    attributes = termios.tcgetattr(terminal.screen)
    return attributes[3], attributes[6]


def asked(stage, name="one"):
    """Starts an import that asks for the passphrase. Returns it and the previous state of the terminal."""
    daemon = stage.daemon(name)
    path = os.path.join(stage.folder, "protected")
    with open(path, "wb") as file:
        file.write(PROTECTED)
    plain = Terminal(daemon, "join")
    plain.sees("Code shown on the other device: ")
    before = settings(plain)
    plain.type("\x03")
    plain.ends()
    terminal = Terminal(daemon, "account", "import", path)
    terminal.sees("Passphrase of the account file: ")
    expect(not settings(terminal)[0] & termios.ECHO, "the passphrase would be shown")
    return terminal, before


def comes_back(terminal, before, code):
    # Checked before the program's end of the terminal is closed. Closing it changes nothing.
    status = terminal.process.wait(60)
    expect(settings(terminal) == before, f"the terminal is not as it was: {settings(terminal)}, before {before}")
    expect(status == code, f"exit code {status}")


@test("an interrupted question for a passphrase restores the echo")
def interrupted(stage):
    terminal, before = asked(stage)
    terminal.type("sec\x03")
    comes_back(terminal, before, 130)


@test("the echo is also restored if the service manager stops the program, or the terminal closes")
def signalled(stage):
    for number in (signal.SIGTERM, signal.SIGHUP):
        terminal, before = asked(stage, f"on{number}")
        terminal.process.send_signal(number)
        comes_back(terminal, before, 130)


@test("keys that would stop the program without restoring the echo have no effect, and the passphrase is not shown")
def stopped(stage):
    terminal, before = asked(stage)
    terminal.type("\x1a\x1csecret\n")
    comes_back(terminal, before, 1)
    terminal.ends()
    expect(terminal.shown.startswith("\r\nhandoffctl: "), f"shown: {terminal.shown!r}")
    expect("secret" not in terminal.shown, f"shown: {terminal.shown!r}")


@test("an interrupted pairing window removes its countdown, and restores the terminal")
def window(stage):
    daemon = stage.daemon("one")
    daemon.ctl("account", "create")
    terminal = Terminal(daemon, "pair", "--qr")
    terminal.sees(r"\x1b\[38;5;231;48;5;16m")
    terminal.sees(r"code +\d{4} \d{4}")
    terminal.sees(r"(3:00|2:\d\d) left")
    before = settings(terminal)
    terminal.type("\x03")
    comes_back(terminal, before, 130)
    terminal.ends()
    expect(terminal.shown.replace("^C", "").endswith("\r\x1b[K"), f"at the end: {terminal.shown!r}")


@test("one of several offers is chosen by arrow keys, and Ctrl-C restores the terminal")
def pick(stage):
    origin, taker = stage.pair()
    for title in ("First", "Second", "Third"):
        origin.publish("com.example.editing", "--title", title)
    titles = []
    watch = taker.follow("watch")
    while len(titles) < 3:
        titles.append(watch.wait("added")["title"])
    plain = Terminal(taker, "join")
    plain.sees("Code shown on the other device: ")
    before = settings(plain)
    plain.type("\x03")
    plain.ends()
    terminal = Terminal(taker, "continue", "--print")
    terminal.sees("Continue which activity")
    # Three lines, the newest first, and the details of the selected one.
    terminal.sees(r"(?s)> 1 +Third.*2 +Second.*3 +First.*\r\n\r\nThird\r\n")
    expect(not settings(terminal)[0] & (termios.ECHO | termios.ICANON), "typed keys would be shown")
    terminal.type("\x1b[B")
    terminal.sees("> 2 +Second")
    terminal.type("\r")
    terminal.sees("title +Second")
    comes_back(terminal, before, 0)
    terminal = Terminal(taker, "open")
    expect(terminal.ends() == 1 and "no app continues" in terminal.shown, "an app opens these here")
    left = Terminal(taker, "continue", "--print")
    left.sees("> 1 +Third")
    left.type("\x03")
    comes_back(left, before, 130)
    left = Terminal(taker, "continue", "--print")
    left.sees("> 1 +Third")
    left.type("3")
    left.sees("title +First")
    comes_back(left, before, 0)
    app = handoff.App("com.example.Editor", path=origin.socket)
    app.publish("com.example.editing", title="Fourth", exclusive=True).become_current()
    until("the exclusive offer", lambda: any(each["exclusive"] for each in taker.ctl("list").lines))
    left = Terminal(taker, "continue", "--print")
    left.sees(r"(?s)> 1 +Fourth.*from origin \(\w+\), in use there; ")
    left.type("\x03")
    comes_back(left, before, 130)


@test("text is highlighted in colours on a terminal, and nowhere else")
def colours(stage):
    daemon = stage.daemon("one")
    red = "\x1b[1;31mproblem\x1b[0m"
    for more, expected in (({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": "", "TERM": "dumb"}, False)):
        daemon.environment.update({"TERM": "xterm-256color", **more})
        terminal = Terminal(daemon, "doctor")
        expect(terminal.ends() == 1, f"a missing account is a problem: {terminal.shown}")
        expect((red in terminal.shown) == expected, f"{more}: {terminal.shown!r}")
    daemon.environment.update({"TERM": "xterm-256color", "NO_COLOR": ""})
    done = run([os.path.join(BIN, "handoffctl"), "--socket", daemon.socket, "doctor"], daemon.environment)
    expect(done.code == 1 and "problem" in done.output and "\x1b" not in done.output, f"a pipe receives colours: {done}")


if __name__ == "__main__":
    main()
