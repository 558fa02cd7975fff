#!/usr/bin/env python3
"""Terminals that are shared with other devices: a session of tmux on one device, and handoff-terminal in a terminal of the
other one, which is a pane of another tmux, so that its screen can be compared. Two daemons on loopback, with homes at different
paths."""

import contextlib
import json
import os
import re
import runpy
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
import types

from documents import checkout, configure
from harness import BIN, FULL_SAMPLES, ROOT, Failure, Skip, expect, main, tail, test
from streaming import APPS, CONTROL, Connection

PROGRAM = os.path.join(ROOT, "Integrations", "terminal", "handoff-terminal")
# The system's Python, as in an installation. It leaves no compiled module in the checkout.
COMMAND = ["/usr/bin/python3", "-B", PROGRAM]
TYPE = "dev.handoff1.terminal"
LOSSES = 200 if FULL_SAMPLES else 10
# A program on the whole screen: UTF-8, 24-bit colours, the mouse, its size and its keys.
FULL_SCREEN = r"""
import os, re, signal, sys, termios, tty
seen = []
def draw(*_):
    size = os.get_terminal_size()
    lines = [f"size {size.columns}x{size.lines}", "é € 漢字 🙂", "\x1b[38;2;1;200;3mcolour\x1b[0m", *seen[-6:]]
    sys.stdout.write("\x1b[H\x1b[2J" + "\r\n".join(lines))
    sys.stdout.flush()
signal.signal(signal.SIGWINCH, draw)
saved = termios.tcgetattr(0)
tty.setraw(0)
sys.stdout.write("\x1b[?1049h\x1b[?1000h\x1b[?1006h")
draw()
while (data := os.read(0, 1024)) != b"Q":
    seen.append("keys " + data.decode().replace("\x1b", "^"))
    draw()
sys.stdout.write("\x1b[?1006l\x1b[?1000l\x1b[?1049l")
sys.stdout.flush()
termios.tcsetattr(0, termios.TCSADRAIN, saved)
"""


def until(name, condition, within=30, log=None):
    """Waits until the condition is true. Returns its value."""
    limit = time.monotonic() + within
    while not (value := condition()):
        if time.monotonic() > limit:
            raise Failure(f"not within {within} s: {name}" + (tail(log) if log else ""))
        time.sleep(0.02)
    return value


def environment(daemon):
    """Returns the environment of programs on a device, with handoffctl in PATH, as in an installation."""
    return {**daemon.environment, "PATH": f"{BIN}:{daemon.environment['PATH']}"}


class Server:
    """A server of tmux with a pane, on one device."""

    def __init__(self, stage, daemon, name, *command, columns=100, rows=30, **more):
        if not shutil.which("tmux"):
            raise Skip("tmux is missing (scripts/setup --tests)")
        self.daemon, self.name = daemon, name
        self.path = os.path.join(daemon.folder, f"{name}.tmux")
        self.environment = {**environment(daemon), "TERM": "xterm-256color", "SHELL": "/bin/sh", "PS1": "$ ", "ENV": "",
                            **more}
        stage.closers.append(self.close)
        self.run("-f", "/dev/null", "new-session", "-d", "-s", name, "-x", str(columns), "-y", str(rows), *command)
        self.run("set-option", "-s", "escape-time", "0")

    def run(self, *words, code=0):
        done = subprocess.run(["tmux", "-u", "-S", self.path, *words], env=self.environment, capture_output=True, text=True,
                              timeout=60)
        expect(code is None or done.returncode == code, f"tmux {words}: {done.returncode} {done.stderr}")
        return done.stdout.rstrip("\n")

    def screen(self, *words):
        return self.run("capture-pane", "-p", *words, "-t", f"={self.name}:")

    def type(self, *words):
        self.run("send-keys", "-t", f"={self.name}:", *words)

    def sees(self, pattern, within=30):
        """Waits until the screen has the text."""
        try:
            return until(pattern, lambda: re.search(pattern, self.screen()), within)
        except Failure:
            raise Failure(f"{self.name} does not show '{pattern}': {self.screen()}") from None

    def clients(self):
        return self.run("list-clients", "-F", "#{client_flags} #{client_termname} #{client_width}x#{client_height}").splitlines()

    def close(self):
        self.run("kill-server", code=None)


class Share:
    """`handoff-terminal share` on a device."""

    def __init__(self, daemon, *words, server=None):
        self.log = os.path.join(daemon.folder, f"share-{len(daemon.stage.processes)}.log")
        tmux = {"TMUX": f"{server.path},1,0"} if server else {}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([*COMMAND, "share", *words], env={**environment(daemon), **tmux},
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        daemon.stage.processes.append(self.process)
        self.reports("Ctrl-C ends it")

    def server(self):
        """Returns the socket of the tmux server of a command."""
        with open(self.log) as log:
            return re.search("tmux -S (.*) attach", log.read())[1]

    def reports(self, text, count=1):
        def found():
            with open(self.log) as file:
                return file.read().count(text) >= count

        until(text, found, log=self.log)


def offered(daemon, title=None):
    """Waits until a session is offered to a device. Returns its id."""
    watch = daemon.follow("watch")
    found = watch.wait("added", type=TYPE, **({"title": title} if title else {}))
    watch.process.kill()
    return found["id"]


def ended(daemon):
    """Waits until no session is offered to a device. Otherwise the next one could be mistaken for the last one."""
    until("the end of the offer", lambda: not daemon.ctl("list").lines)


def viewer(stage, daemon, name="viewer", **more):
    """Returns a shell in a terminal on a device."""
    shell = Server(stage, daemon, name, "exec /bin/sh", **more)
    shell.sees(r"\$")
    return shell


def attach(shell, *words):
    # The next step could find the text of a former viewer otherwise.
    shell.type("clear", "Enter")
    until("an empty screen", lambda: shell.screen().strip() == "$")
    shell.type("clear; " + " ".join([*COMMAND, "attach", *words]) + "; echo status=$?", "Enter")


def modes(server):
    """Returns the settings of the terminal in a pane, and the modes of its screen that a program can change."""
    path = server.run("display-message", "-p", "-t", f"={server.name}:", "#{pane_tty}")
    terminal = os.open(path, os.O_RDWR | os.O_NOCTTY)
    try:
        settings = termios.tcgetattr(terminal)
    finally:
        os.close(terminal)
    names = ("alternate_on", "cursor_flag", "insert_flag", "keypad_cursor_flag", "keypad_flag", "mouse_any_flag",
             "mouse_sgr_flag", "origin_flag", "wrap_flag", "scroll_region_upper", "scroll_region_lower")
    return settings[:4], server.run("display-message", "-p", "-t", f"={server.name}:", " ".join(f"#{{{name}}}" for name in names))


def same_screens(host, shell, rows=28):
    """Waits until both screens are the same, except the status line of tmux."""
    def lines(server):
        return (server.screen().splitlines() + [""] * rows)[:rows]

    try:
        until("the same screens", lambda: lines(host) == lines(shell))
    except Failure:
        raise Failure(f"different screens:\n{host.screen()}\n----\n{shell.screen()}") from None


def child(shell):
    """Returns the viewer that runs in a shell."""
    pane = shell.run("display-message", "-p", "-t", f"={shell.name}:", "#{pane_pid}")
    words = ["pgrep", "-P", pane]
    return int(until("the viewer", lambda: subprocess.run(words, capture_output=True, text=True).stdout.split())[0])


def state(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]


@test("a session is continued with its size, colours, mouse and characters, and the terminal is restored", limit=120)
def live(stage):
    origin, taker = stage.pair()
    program = stage.file("full.py", FULL_SCREEN)
    host = Server(stage, origin, "work", f"{sys.executable} {program}; exec /bin/sh")
    host.sees("size")
    options = host.run("show-options", "-t", "=work:")
    shared = Share(origin, "tmux:work", server=host)
    offered(taker, "work")
    shell = viewer(stage, taker, COLORTERM="truecolor")
    before = modes(shell)
    attach(shell)
    shell.sees("漢字 🙂")
    shared.reports("taker is attached")
    shell.sees("shown on taker")
    same_screens(host, shell)
    expect("38;2;1;200;3" in shell.screen("-e"), f"24-bit colours do not arrive: {shell.screen('-e')!r}")
    # The mouse, and keys that are not ASCII.
    shell.type("-l", "\x1b[<0;7;4M")
    shell.sees(r"keys \^\[<0;7;4M")
    shell.type("-l", "ü€")
    shell.sees("keys ü€")
    # The host's window gets the size of the viewer, without the status line.
    shell.run("resize-window", "-t", "=viewer:", "-x", "91", "-y", "25")
    shell.sees("size 91x24")
    same_screens(host, shell, 23)
    # tmux's own key.
    shell.type("C-b", "d")
    shell.sees("detached from work on origin")
    shell.sees("status=0")
    # The row at which scrolling ends depends on the size.
    expect(modes(shell)[0] == before[0] and modes(shell)[1].split()[:-1] == before[1].split()[:-1],
           f"not restored: {modes(shell)}, before {before}")
    shared.reports("taker is detached")
    until("the status line", lambda: not host.run("show-options", "-t", "=work:", "status-right"))
    # Exits by signals. The shell's window has the size of before.
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        attach(shell)
        shell.sees("漢字")
        os.kill(child(shell), number)
        shell.sees("status=")
        until("the modes", lambda: modes(shell)[0] == before[0] and modes(shell)[1].split()[:-1] == before[1].split()[:-1])
    # Stopped and continued by the shell.
    attach(shell)
    shell.sees("漢字")
    pid = child(shell)
    os.kill(pid, signal.SIGTSTP)
    until("the stop", lambda: state(pid) == "T")
    # The tmux of the viewer can read its last output later.
    until("the modes of a stopped viewer", lambda: modes(shell)[1].split()[:-1] == before[1].split()[:-1])
    shell.type("fg", "Enter")
    shell.sees("漢字")
    # The origin ends.
    shell.type("-l", "Q")
    host.sees(r"\$")
    shared.process.send_signal(signal.SIGINT)
    shell.sees("origin has ended the sharing of work")
    expect(shared.process.wait(60) == 130, "the exit status of Ctrl-C")
    expect(host.run("list-sessions", "-F", "#{session_name}") == "work", "the session has ended too")
    expect(host.run("show-options", "-t", "=work:") == options, f"options were left: {host.run('show-options', '-t', '=work:')}")


@test("a session is shown again after each connection loss, completely", limit=120 + 5 * LOSSES)
def losses(stage):
    origin, taker = stage.pair()
    host = Server(stage, origin, "work", "exec /bin/sh")
    host.sees(r"\$")
    shared = Share(origin, "tmux:work", server=host)
    offered(taker, "work")
    shell = viewer(stage, taker)
    attach(shell)
    shell.sees("shown on taker")
    ports = [daemon.ctl("status").line["port"] for daemon in (origin, taker)]

    def clients():
        lines = host.run("list-clients", "-F", "#{client_pid} #{client_control_mode}").splitlines()
        return {line for line in lines if line.endswith("0")}

    def cut():
        some = " or ".join(f"sport = :{port} or dport = :{port}" for port in ports)
        done = subprocess.run(["ss", "-K", "state", "established", f"( {some} )"], capture_output=True, text=True)
        return len(done.stdout.splitlines()) > 1

    for number in range(LOSSES):
        kind, before = number % 4, clients()
        expect(len(before) == 1, f"one viewer expected: {before}")
        if kind == 0 and not cut():
            kind = 1
        if kind in (1, 2):
            daemon = (origin, taker)[kind - 1]
            daemon.kill()
            host.type(f"echo during-{number}", "Enter")
            daemon.start()
            ports[kind - 1] = daemon.ctl("status").line["port"]
        elif kind == 3:
            shared.process.kill()
            shared.process.wait(60)
            shell.sees("the session has ended on origin")
            shell.sees("status=0")
            ended(taker)
            shared = Share(origin, "tmux:work", server=host)
            offered(taker, "work")
            attach(shell)
        try:
            until("a new client of tmux", lambda: len(clients()) == 1 and not clients() & before, 40, shared.log)
            host.type(f"echo here-$(({number} + 1000))", "Enter")
            shell.sees(f"here-{number + 1000}")
            shell.type(f"echo there-$(({number} + 1000))", "Enter")
            host.sees(f"there-{number + 1000}")
            same_screens(host, shell)
        except Failure as error:
            raise Failure(f"loss {number} of kind {kind}: {error}\n{shell.screen()}") from None
    shell.type("-l", "exit\r")
    shell.sees("work on origin has ended")
    shell.sees("status=0")
    expect(shared.process.wait(60) == 0, "the command does not exit with its session")


@test("a command is shared until it exits, and ends with the program that shares it")
def command(stage):
    origin, taker = stage.pair()
    shell = viewer(stage, taker)
    shared = Share(origin, "--to", "taker", "--", "sh", "-c", "echo first; read line; echo \"got $line\"; read line", "a;")
    path = shared.server()
    attach(shell, offered(taker, "sh")[:8], "--from", "origin")
    shell.sees("first")
    shell.type("line", "Enter")
    shell.sees("got line")
    shell.type("Enter")
    shell.sees("sh on origin has ended")
    shell.sees("status=0")
    expect(shared.process.wait(60) == 0 and not os.path.exists(os.path.dirname(path)), "it does not end with its command")
    # Killed, it leaves no command behind.
    shared = Share(origin, "--", "sleep", "98765")
    path = shared.server()
    shared.process.kill()
    until("the end of the command", lambda: subprocess.run(["tmux", "-S", path, "list-sessions"], capture_output=True).returncode)
    ended(taker)
    # Switched off, and on again.
    shared = Share(origin, "--", "sleep", "98765")
    watch = taker.follow("watch")
    offer = watch.wait("added", type=TYPE)["id"]
    origin.ctl("app", "disable", TYPE)
    watch.wait("removed", id=offer)
    origin.ctl("app", "enable", TYPE)
    watch.process.kill()
    shared.process.terminate()
    expect(shared.process.wait(60) == 128 + signal.SIGTERM, "the exit status")
    ended(taker)
    # Withdrawn by another command.
    shared = Share(origin, "--", "sleep", "98765")
    offer = offered(taker, "sleep")
    attach(shell)
    shell.sees("shown on taker")
    origin.ctl("withdraw", offer)
    shell.sees("the session has ended on origin")
    expect(shared.process.wait(20) == 0, "it does not end when it is withdrawn")
    # After a restart of the daemon there, the viewer waits for its session, and does not show another one of the same title.
    wanted, other = (Share(origin, "--", "sh", "-c", f"echo {text}; exec cat") for text in ("alpha", "beta"))
    attach(shell, until("both", lambda: [each for each in taker.ctl("list").lines if each["title"] == "sh"][1:])[0]["id"])
    shell.sees("alpha|beta")
    if "beta" in shell.screen():
        wanted, other = other, wanted
    text = "beta" if "beta" in shell.screen() else "alpha"
    origin.kill()
    wanted.process.send_signal(signal.SIGSTOP)
    shell.sees("lost the connection")
    watch = taker.follow("watch")
    watch.wait("ready")
    origin.start()
    watch.wait("added", type=TYPE)
    wanted.process.send_signal(signal.SIGCONT)
    watch.wait("added", type=TYPE)
    watch.process.kill()
    shell.sees("shown on taker")
    expect(text in shell.screen(), f"another session is shown: {shell.screen()}")
    for each in (wanted, other):
        each.process.terminate()
        each.process.wait(20)
    shell.sees("status=0")
    # Ended while the viewer is stopped.
    shared = Share(origin, "--", "sleep", "98765")
    offered(taker, "sleep")
    attach(shell)
    shell.sees("shown on taker")
    pid = child(shell)
    os.kill(pid, signal.SIGTSTP)
    until("the stop", lambda: state(pid) == "T")
    shared.process.terminate()
    shared.process.wait(20)
    shell.type("fg", "Enter")
    shell.sees("fg\n.*\n.*the session has ended on origin")


def refused(daemon, *words, server=None):
    """Returns the message with which a session is not shared."""
    tmux = {"TMUX": f"{server.path},1,0"} if server else {}
    done = subprocess.run([*COMMAND, "share", *words], env={**environment(daemon), **tmux}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=20)
    expect(done.returncode in (1, 2), f"{words} are shared: {done}")
    return done.stderr


@test("a shared session keeps its environment, and outlives other clients of tmux, its terminal and nohup")
def habits(stage):
    origin, taker = stage.pair()
    host = Server(stage, origin, "work", "exec /bin/sh")
    host.run("set-environment", "-t", "work", "DISPLAY", ":7")
    host.run("set-option", "-g", "status-right-length", "5")
    options = host.run("show-options", "-t", "=work:")
    # In the background of a terminal that is then closed.
    master, terminal = os.openpty()
    shared = subprocess.Popen(["nohup", *COMMAND, "share", "tmux:work"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=terminal, env={**environment(origin), "TMUX": f"{host.path},1,0"})
    stage.processes.append(shared)
    offered(taker, "work")
    os.close(terminal)
    os.close(master)
    shared.send_signal(signal.SIGHUP)
    shell = viewer(stage, taker)
    attach(shell)
    shell.sees("shown on taker")
    expect("DISPLAY=:7" in host.run("show-environment", "-t", "work"), "a viewer has changed the environment")
    expect("work is offered already" in refused(origin, "--read-only", "tmux:work", server=host), "two programs share a session")
    expect("share needs tmux:NAME" in refused(origin, "tmux:", server=host), "a session without a name is shared")
    # On the origin, `attach -d` detaches all others.
    local = viewer(stage, origin, "local")
    local.type(f"TMUX= exec tmux -u -S {host.path} attach -d -t work", "Enter")
    shell.sees("detached from work on origin")
    attach(shell)
    shell.sees("shown on taker")
    # Stopped while its daemon is restarted.
    pid = child(shell)
    os.kill(pid, signal.SIGTSTP)
    until("the stop", lambda: state(pid) == "T")
    taker.kill()
    taker.start()
    shell.type("fg", "Enter")
    shell.sees("shown on taker")
    shell.type("C-b", "d")
    shell.sees("detached from work on origin")
    # The last frame arrives although the viewer is typing, and the shell's text stays.
    streams = [Stream(taker).hello() for _ in range(8)]
    for stream in streams:
        stream.sees(b"shown on")
    ninth = Stream(taker).hello()
    with contextlib.suppress(OSError):
        ninth.send(b"D", b"x" * 60_000)
    expect(b'"busy"' in ninth.rest(), "the last frame was lost")
    shell.type("clear; seq 4; " + " ".join([*COMMAND, "attach"]), "Enter")
    shell.sees("3\n4\n.*too many viewers")
    for _ in range(3):
        shared.send_signal(signal.SIGINT)
    expect(shared.wait(20) == 130 and b'"closed"' in streams[0].rest(), "the last frame was lost")
    expect(host.run("show-options", "-t", "=work:") == options, f"options were left: {host.run('show-options', '-t', '=work:')}")
    # A command that `attach -d` must not end, and one that does not exist.
    shared = Share(origin, "--", "sh", "-c", "echo first; exec cat")
    local = viewer(stage, origin, "local2")
    local.type(f"TMUX= exec tmux -u -S {shared.server()} attach -d", "Enter")
    local.sees("first")
    offered(taker, "sh")
    attach(shell)
    local.sees("shown on taker")
    expect("nosuchcommand is not a command" in refused(origin, "--", "nosuchcommand"), "no reason")
    # Ctrl-C three times while it waits for its daemon.
    taker.kill()
    shell.sees("lost the connection")
    pid = child(shell)
    for _ in range(3):
        os.kill(pid, signal.SIGINT)
    shell.sees("waiting for it .*\n.*detached from sh on origin")


@test("a read-only viewer sees one session, types nothing, and gets no other session when it ends")
def read_only(stage):
    origin, taker = stage.pair()
    host = Server(stage, origin, "work", "echo offered; exec /bin/sh")
    host.run("new-session", "-d", "-s", "secret", "echo not-offered; exec /bin/sh")
    host.run("set-option", "-g", "detach-on-destroy", "off")
    host.run("set-option", "-t", "=work:", "status", "off")
    shared = Share(origin, "--read-only", "tmux:work", server=host)
    offered(taker, "work")
    shell = viewer(stage, taker)
    attach(shell)
    shell.sees("offered")
    shell.sees("shown on taker")  # Although the session has no status line.
    # From a viewer that ignores the mode as well.
    stream = Stream(taker).hello()
    for frame in (b"touch typed\r", b"\x02s", b"\x02:kill-server\r"):
        stream.send(b"D", frame)
    shell.type("C-b", "s")
    shell.type("x", "Enter")
    host.type("echo marker", "Enter")
    shell.sees("marker")
    # tmux would accept the key that detaches, unless it arrives together with others, like pasted text.
    for number, frame in enumerate((b"\x02", b"d", b"")):
        stream.send(b"D", frame)
        host.type(f"echo marker-$((10000 + {number}))", "Enter")
        stream.sees(b"marker-1000%d" % number)
    screen = host.screen()
    expect("typed" not in screen and "x" not in screen.split("marker")[-1], f"something was typed: {screen}")
    stream.close()
    shell.type("q")
    shell.sees("detached from work")
    until("no status line", lambda: host.run("show-options", "-v", "-t", "=work:", "status") == "off")
    attach(shell)
    shell.sees("marker")
    stream = Stream(taker).hello()
    host.run("kill-session", "-t", "=work")
    shell.sees("work on origin has ended")
    data = stream.rest()
    expect(b"not-offered" not in data and b"secret" not in data, f"another session was shown: {data}")
    expect(shared.process.wait(60) == 0, "the command does not exit with its session")
    expect(host.run("list-sessions", "-F", "#{session_name}") == "secret", "the other session has ended")


class Stream:
    """A viewer that sends any bytes."""

    def __init__(self, daemon):
        taken = Connection(daemon).send(CONTROL + "Continue", more=True, type=TYPE, take=True).last()
        connection = Connection(daemon).send(APPS + "OpenStream", upgrade=True, continuation=taken["continuation"])
        connection.next(byte_by_byte=True)
        self.socket = connection.socket
        self.socket.settimeout(30)
        self.received = b""

    def send(self, kind, content, length=None):
        self.socket.sendall(kind + struct.pack("!I", len(content) if length is None else length) + content)

    def hello(self, **more):
        self.send(b"H", json.dumps({"rows": 24, "columns": 80, "term": "xterm", **more}).encode())
        return self

    def sees(self, text):
        while text not in self.received:
            data = self.socket.recv(65_536)
            expect(data, f"the stream ended before {text}: {self.received}")
            self.received += data
        return self

    def rest(self):
        """Reads up to the end of the stream."""
        try:
            while data := self.socket.recv(65_536):
                self.received += data
        except ConnectionResetError:
            pass
        return self.received

    def close(self):
        self.socket.close()


@test("invalid frames and values of a viewer end only its stream")
def hostile_viewer(stage):
    origin, taker = stage.pair()
    host = Server(stage, origin, "work", "echo ready; exec /bin/sh")
    shared = Share(origin, "tmux:work", server=host)
    offered(taker, "work")
    deep = b"[" * 60_000
    for kind, content, length in (
            (b"D", b"touch typed\r", None), (b"H", b"", None), (b"H", b"[1]", None), (b"H", deep, None), (b"H", b"\xff\0", None),
            (b"H", b"", 0xFFFFFFFF), (b"D", b"x", 0xFFFFFFFF), (b"W", b"1234", None), (b"\0", b"", 65_537)):
        stream = Stream(taker)
        stream.send(kind, content, length)
        expect(stream.rest() == b"", f"{kind}: the session was shown")
    shared.reports("taker has sent", 9)
    for hello, shown in (
            ({"term": "../../etc", "rows": 0, "columns": 65_535}, "xterm-256color 1000x24"),
            ({"term": "/etc/passwd", "rows": -1, "columns": True}, "xterm-256color 80x24"),
            ({"term": ["x"], "rows": 1e300, "columns": "9"}, "xterm-256color 80x24"),
            ({"term": "x" * 5000, "rows": 10**30, "columns": 1, "viewer": {"a": [1]}}, "xterm-256color 1x500"),
            ({"term": "-x;$(id)`id`", "colorterm": "truecolor;x", "rows": None}, "xterm-256color 80x24")):
        stream = Stream(taker).hello(**hello)
        until(f"{shown} of {hello}: {host.clients()}", lambda: any(line.endswith(shown) for line in host.clients()))
        stream.close()
        until("the end of the client", lambda: not any("attached" in line and "control" not in line for line in host.clients()))
    # Unknown frames are ignored, and sizes are limited. After the hello, errors end the stream too.
    for kind, content in ((b"H", b"{}"), (b"W", b"123")):
        stream = Stream(taker).hello(rows=20)
        stream.sees(b"ready")
        stream.send(b"Z", b"unknown")
        stream.send(b"X", b'{"reason": "ended"}')
        stream.send(b"W", struct.pack("!HH", 65_535, 65_535))
        until("the largest size", lambda: any(line.endswith("1000x500") for line in host.clients()))
        stream.send(b"W", bytes(4))
        until("the default size", lambda: any(line.endswith("80x24") for line in host.clients()))
        stream.send(kind, content)
        stream.rest()
    until("the end of the clients", lambda: len(host.clients()) == 1)
    # No more viewers than the limit.
    streams = [Stream(taker).hello() for _ in range(8)]
    for stream in streams:
        stream.sees(b"ready")
    expect(b'"busy"' in Stream(taker).rest(), "a ninth viewer is served")
    for stream in streams:
        stream.close()
    until("the end of the clients", lambda: len(host.clients()) == 1)
    expect("typed" not in host.screen(), f"something was typed: {host.screen()}")
    expect(shared.process.poll() is None, "the command has exited")
    shared.process.send_signal(signal.SIGINT)
    shared.process.wait(60)
    # Names are part of a format, in which #(…) runs a command.
    os.environ["TMUX"] = f"{host.path},1,0"
    try:
        tmux = runpy.run_path(PROGRAM)["Tmux"]("work", [])
        tmux.show_viewers(["#(touch owned)", "#{pane_pid}%H\";", "漢字 (2)"])
        shown = host.run("show-options", "-v", "-t", "=work:", "status-right")
        expect("shown on ?(touch owned), ??pane_pid??H??, 漢字 (2) #[default]" in shown, f"{shown}")
        tmux.close()
    finally:
        del os.environ["TMUX"]
    expect("shown on" not in host.run("show-options", "-v", "-t", "=work:", "status-right"), "the status line was not restored")


# A device that offers a session, and sends any bytes.
HOSTILE = """
import json, struct, sys
sys.path.insert(0, sys.argv[1])
import handoff
FRAMES = json.loads(sys.argv[2])
def serve(stream, event):
    for kind, text, length in FRAMES:
        data = text.encode()
        stream.sendall(kind.encode() + struct.pack("!I", len(data) if length is None else length) + data)
    stream.settimeout(20)
    try:
        while data := stream.recv(65536):
            print(data, flush=True)
    except OSError:
        pass
    print("end", flush=True)
    stream.close()
app = handoff.App("dev.handoff1.terminal", path=handoff.socket_path(), on_error=print)
title = "bad\\x1b]52;c;eA==\\x07\\u202e"
activity = app.publish("dev.handoff1.terminal", stream=serve, title=title, supportsContinuationStreams=True)
activity.become_current()
app.run()
"""
ATTACKS = ("\x1b]52;c;b3du\x07\x1b]52;c;?\x07\x1b]0;owned\x07\x1b]2;owned\x1b\\\x1bkowned\x1b\\\x1bP$qm\x1b\\"
           "\x1bP+q544e\x1b\\\x1b[21t\x1b[20t\x1b[5i\x1b_owned\x1b\\\x1b^x\x1b\\\x05\x9d52;c;b3du\x9c\x90$qm\x9c\x9b21t"
           "\x1b[?1003h\x1b[?1006h\x1b[?2004h\x1b[?25l\x1b[?1049h\x1b[3;9r\x1b[4h\x1b[?1h\x1b=\x1b(0\x1b[?6h\x1b[?7l")


@test("a device that shares a terminal reaches neither the clipboard, the title nor the input of the viewer's terminal")
def hostile_host(stage):
    origin, taker = stage.pair()
    shell = viewer(stage, taker)
    shell.run("set-option", "-s", "set-clipboard", "on", ";", "set-option", "-g", "allow-rename", "on", ";", "set-option", "-g",
              "automatic-rename", "off")
    before, title = modes(shell), shell.run("display-message", "-p", "#{pane_title} #{window_name}")

    def offer(frames):
        log = os.path.join(origin.folder, "hostile.log")
        with open(log, "wb") as file:
            module = os.path.join(ROOT, "Integrations", "python")
            process = subprocess.Popen([sys.executable, "-B", "-c", HOSTILE, module, json.dumps(frames)],
                                       env=origin.environment, stdout=file, stderr=file)
        stage.processes.append(process)
        offered(taker)
        return process, log

    end = json.dumps({"reason": "ended\x1b]0;owned\x07", "status": "x"})
    for last, shown in ((("X", end, None), "has ended the sharing"), (("X", '{"reason": [1]}', None), "has ended the sharing"),
                        (("D", "", 0xFFFFFFFF), "malformed: a frame of 4294967295"),
                        (("X", "[]", None), "malformed: a frame without an object")):
        process, log = offer([("R", "{}", None), ("Z", "unknown", None), ("D", "\x1b[2Jvisible" + ATTACKS, None), last])
        attach(shell)
        shell.sees(shown)
        shell.sees("status=")
        screen = shell.screen()
        expect("owned" not in screen and "\\u{1B}" in screen and "Traceback" not in screen or "malformed" in shown, f"{screen}")
        expect(shell.run("display-message", "-p", "#{pane_title} #{window_name}") == title, "the title was changed")
        expect(shell.run("list-buffers") == "", f"the clipboard was changed: {shell.run('show-buffer', code=None)}")
        expect(modes(shell) == before, f"not restored: {modes(shell)}, before {before}")
        until("the end", lambda: "end" in open(log).read())
        with open(log) as file:
            frames = file.read()
        expect(frames.count("b'H") == 1 and "b'D" not in frames, f"the terminal has replied: {frames}")
        process.terminate()
        process.wait(60)
        ended(taker)


@test("no viewer is admitted or lost while connections end")
def single_steps(stage):
    program = runpy.run_path(PROGRAM)
    share = program["Share"].__new__(program["Share"])
    share.clients, share.is_ending, share.is_read_only = [], True, False
    ours, theirs = socket.socketpair()
    share._stream(theirs, {"origin": {"deviceName": "x", "device": "x"}})
    expect(share.clients == [] and ours.recv(1) == b"", "a viewer was admitted after Ctrl-C")

    def broken(_):
        raise BrokenPipeError

    client = {"device": "x", "token": "t", "name": "x", "pid": 1, "is_ending": False, "is_attached": True}
    lost, new = types.SimpleNamespace(**client, end=broken), types.SimpleNamespace(**client)
    share.clients, shown = [lost, new], []
    share.tmux = types.SimpleNamespace(show_viewers=shown.append)
    share.attached(new)
    expect(len(shown) == 1, "the lost connection ended the new one")
    words = [sys.executable, "-B", PROGRAM, "share", "--", "htop"]
    done = subprocess.run(words, env={"PATH": BIN}, capture_output=True)
    expect(done.returncode == 1 and b"install the package tmux" in done.stderr, f"{done}")


@test("a viewer that reads nothing fills no memory, and sees the current screen afterwards")
def slow(stage):
    origin, taker = stage.pair()
    host = Server(stage, origin, "work", "exec /bin/sh")
    shared = Share(origin, "tmux:work", server=host)
    offered(taker, "work")
    shell = viewer(stage, taker)
    attach(shell)
    shell.sees("shown on taker")

    def relay_of(pid):
        words = ["pgrep", "-P", str(pid), "handoffctl"]
        return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

    # The program, and the relay of the viewer.
    here, there = relay_of(shared.process.pid), relay_of(child(shell))

    def memory():
        found = 0
        for each in (shared.process.pid, here):
            with open(f"/proc/{each}/status") as file:
                found += int(re.search(r"VmHWM:\s+(\d+)", file.read())[1])
        return found

    before = memory()
    os.kill(there, signal.SIGSTOP)
    host.type("seq 1 1000000 | sed 's/$/ some more words on each line/'; echo finished-$((1 + 1))", "Enter")
    host.sees("finished-2", 60)
    peak = memory()
    expect(peak < before + 4096, f"{peak} KiB of memory, before {before}")
    expect("finished-2" not in shell.screen(), "the viewer has read the output")
    os.kill(there, signal.SIGCONT)
    shell.sees("finished-2")
    same_screens(host, shell)


def installed(daemon, *shells):
    """Returns a folder for PATH on a device, as in an installation, and the home directory with the start-up files of shells."""
    folder, home = os.path.join(daemon.folder, "bin"), daemon.environment["HOME"]
    os.makedirs(folder, exist_ok=True)
    for name, target in (("handoff-terminal", PROGRAM), ("handoffctl", os.path.join(BIN, "handoffctl"))):
        os.symlink(target, os.path.join(folder, name))
    for shell, file in shells:
        os.makedirs(os.path.dirname(os.path.join(home, file)), exist_ok=True)
        with open(os.path.join(home, file), "w") as rc:
            rc.write(f"source {os.path.join(ROOT, 'Integrations', 'terminal', 'handoff.' + shell)}\n")
    daemon.environment["PATH"] = f"{folder}:{daemon.environment['PATH']}"
    return folder


@test("shells offer their directory if it is in a checkout, and it or the shared session is opened in a terminal there")
def directories(stage):
    shells = (("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", "../config/fish/config.fish"))
    for shell, _ in shells:
        if not shutil.which(shell):
            raise Skip(f"{shell} is missing (scripts/setup --tests)")
    origin = stage.daemon("origin")
    taker = stage.daemon("taker", start=False)
    folder = installed(taker)
    installed(origin, *shells)
    for daemon, place in ((origin, "src"), (taker, "code/here")):
        configure(daemon, f"checkouts = {os.path.realpath(daemon.folder)}/{place.split('/')[0]}\n")
        checkout(daemon, f"{place}/letters", "https://example.org/letters.git")
        for name in ("drafts", "$(touch x)`id`;ü \n-x"):
            os.makedirs(os.path.join(daemon.folder, place, "letters", name))
        daemon.environment["SHELL"] = "/bin/sh"
    # A terminal emulator with windows of tmux. It is started by the daemon, with the manifest of the installation.
    screen = Server(stage, taker, "screen", "exec /bin/sh")
    with open(os.path.join(folder, "x-terminal-emulator"), "w") as file:
        file.write(f'#!/bin/sh\n[ "$1" != -e ] || shift\nexec tmux -u -S {screen.path} new-window -t =screen: -c "$PWD" "$@"\n')
    os.chmod(file.name, 0o755)
    with open(os.path.join(ROOT, "packaging", "handlers", f"{TYPE}.json")) as file:
        manifest = json.load(file)
    manifest["exec"][0] = manifest["terminal"][0] = os.path.join(folder, "handoff-terminal")
    os.makedirs(os.path.join(taker.folder, "config", "handoff", "handlers.d"))
    with open(os.path.join(taker.folder, "config", "handoff", "handlers.d", f"{TYPE}.json"), "w") as file:
        json.dump(manifest, file)
    taker.extra = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "DISPLAY": ":0"}
    taker.start()
    stage.join(origin, taker)
    watch = taker.follow("watch")
    watch.wait("ready")
    terminals = os.path.join(origin.environment["XDG_RUNTIME_DIR"], "handoff-terminal")

    def windows():
        """Returns the directory of each window. Windows of former steps can end at any time."""
        rows = screen.run("list-windows", "-t", "=screen:", "-F", "#{window_id} #{pane_current_path}")
        return dict(re.findall(r"^(@\d+) (.*)", rows, re.MULTILINE))

    for number, (shell, _) in enumerate(shells):
        here = Server(stage, origin, f"in-{shell}", f"exec {shutil.which(shell)}")
        here.type(f"cd {os.path.realpath(origin.folder)}/src/letters/drafts", "Enter")
        offer = watch.wait("added", type="dev.handoff1.directory")
        expect(offer["title"] == "drafts/", f"{offer}")
        before = windows()
        taker.ctl("continue", offer["id"])
        place = os.path.join(os.path.realpath(taker.folder), "code/here/letters/drafts")
        until(f"a terminal in {place}", lambda: any(path == place and each not in before for each, path in windows().items()))
        if number == 0:  # In the terminal of the command, which is one of that server.
            command = [os.path.join(BIN, "handoffctl"), "--socket", taker.socket, "continue", offer["id"]]
            screen.run("new-window", "-d", "-n", "here", "-t", "=screen:", *command)

            def text():
                return screen.run("capture-pane", "-p", "-J", "-t", "=screen:here")

            until("a shell in the terminal", lambda: f"a shell in {place}; exit returns" in text())
            screen.run("send-keys", "-t", "=screen:here", "pwd -P", "Enter")
            until("its directory", lambda: f"\n{place}\n" in text())
            screen.run("send-keys", "-t", "=screen:here", "exit", "Enter")
        # A directory that is in no checkout stays private.
        here.type("cd /tmp", "Enter")
        watch.wait("removed", id=offer["id"])
        here.type("cd", "Enter")
        here.type("cd -", "Enter")
        here.type(f"cd {os.path.realpath(origin.folder)}/src/letters/*x*", "Enter")
        offer = watch.wait("added", type="dev.handoff1.directory")
        before = windows()
        taker.ctl("continue", offer["id"])
        until("a terminal in a directory with an odd name",
              lambda: any("touch x" in path and each not in before for each, path in windows().items()))
        if number == 0:
            # The session of tmux in which the shell runs is offered too.
            shared = Share(origin, f"tmux:in-{shell}", server=here)
            session = watch.wait("added", type=TYPE)
            taker.ctl("continue", offer["id"])
            screen.sees("shown on taker")
            taker.ctl("continue", session["id"])
            until("a second viewer", lambda: len(here.clients()) == 3)
            shared.process.send_signal(signal.SIGINT)
            shared.process.wait(60)
            watch.wait("removed", id=session["id"])
        here.type("exit", "Enter")
        watch.wait("removed", id=offer["id"])
        until("the end of the helper", lambda: os.listdir(terminals) == ["lock"])
    # The helper keeps no file system busy. It exits if its folder is removed, as at the end of a login.
    here = Server(stage, origin, "last", f"exec {shutil.which('fish')}")
    here.type(f"cd {os.path.realpath(origin.folder)}/src/letters/drafts", "Enter")
    offer = watch.wait("added", type="dev.handoff1.directory")
    words = ["pgrep", "-f", f"{origin.folder}/bin/handoff-terminal directory"]
    helper = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    expect(os.readlink(f"/proc/{helper}/cwd") == "/", f"the helper is in {os.readlink(f'/proc/{helper}/cwd')}")
    shutil.rmtree(terminals)
    watch.wait("removed", id=offer["id"])
    here.type("clear; echo still here", "Enter")
    here.sees("still here\n(.*\n)*.*[>#]")
    expect("warning" not in here.screen(), f"the shell shows {here.screen()}")
    expect(not os.path.exists(os.path.join(taker.environment["HOME"], "x")), "a name was run")


if __name__ == "__main__":
    main()
