"""The daemon alone: its start and exit, its files, and hostile or broken clients."""

import contextlib
import json
import os
import re
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import types

from faults import Faults
from harness import BIN, Failure, Skip, expect, main, run, test
from streaming import APPS, Connection, Refused, let_go


@test("the daemon creates its folders and sockets for its user only, and exits cleanly")
def start_and_end(stage):
    daemon = stage.daemon("alone")
    status = daemon.ctl("status").line
    expect(status["name"] == "alone" and status["account"] is None and status["peers"] == [], f"wrong: {status}")
    expect(isinstance(status["port"], int) and status["port"] > 0, f"wrong port: {status}")
    expect(status["discovery"] == "embedded", f"wrong discovery: {status}")
    expect(re.fullmatch("[0-9a-f]{64}", status["device"]), f"wrong device id: {status}")
    expect(stat.S_IMODE(os.stat(daemon.state).st_mode) == 0o700, "other users can enter the state folder")
    for folder, _, files in os.walk(daemon.state):
        for name in files:
            mode = stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode)
            expect(mode == 0o600, f"{name} has mode {mode:o}")
    expect(stat.S_IMODE(os.stat(daemon.socket).st_mode) == 0o600, "other users can reach the socket")
    expect(daemon.stop() == 0, "SIGTERM is reported as a failure")
    expect(not os.path.exists(daemon.socket), "the socket was left behind")
    daemon.start()
    expect(daemon.ctl("status").line["device"] == status["device"], "the device id changed after a restart")


@test("a release build forbids debuggers and core files, and a debug build permits them")
def debuggers(stage):
    daemon = stage.daemon("one", start=False)
    # The kernel checks this permission for the environment as it does for a debugger. Root without
    # capabilities is a plain user.
    plain = ["setpriv", "--inh-caps", "-all", "--bounding-set", "-all"] if os.geteuid() == 0 else []
    daemon.host = types.SimpleNamespace(prefix=plain, programs=BIN)
    daemon.start()
    result = run([*plain, "cat", f"/proc/{daemon.process.pid}/environ"], daemon.environment)
    # The sanitizers' builds are release builds, too.
    debug = os.path.basename(os.path.realpath(BIN)) == "debug"
    expect((result.code == 0) == debug, f"readable: {result.code == 0}, debug build: {debug}\n{result}")
    expect(("NOTIFY_SOCKET" in result.output) == debug, "the environment was not read")


@test("--help and --version print to standard output, and wrong usage exits with 2")
def usage(stage):
    for program in ("handoffd", "handoffctl"):
        path = os.path.join(BIN, program)
        for words, code in ((["--help"], 0), (["--version"], 0), (["--rubbish"], 2)):
            result = run([path, *words], {"PATH": "/usr/bin:/bin", "HOME": stage.folder})
            expect(result.code == code, str(result))
            expect(bool(result.output) == (code == 0) and bool(result.errors) == (code == 2), str(result))
    result = run([os.path.join(BIN, "handoffd"), "--prot", "5"], {"HOME": stage.folder})
    expect("--port" in result.errors, str(result))


@test("a second daemon on the same state folder exits with 1 and a reason, and the first continues")
def same_state(stage):
    first = stage.daemon("first")
    second = stage.daemon("second", start=False)
    second.state = first.state
    result = second.fails()
    expect(result.code == 1 and first.state in result.errors, str(result))
    first.is_well()


@test("a second daemon on the same socket exits with 1 and a reason, and the first continues")
def same_socket(stage):
    first = stage.daemon("first")
    second = stage.daemon("second", start=False)
    second.socket = first.socket
    result = second.fails()
    expect(result.code == 1 and first.socket in result.errors, str(result))
    first.is_well()


@test("the socket of a killed daemon is replaced")
def stale_socket(stage):
    daemon = stage.daemon("one")
    daemon.kill()
    expect(os.path.exists(daemon.socket), "kill -9 leaves the socket behind")
    daemon.start()
    daemon.is_well()


@test("a file at the socket's path that is not a socket is never removed")
def no_socket(stage):
    daemon = stage.daemon("one", start=False)
    with open(daemon.socket, "w") as file:
        file.write("precious")
    result = daemon.fails()
    expect(result.code == 1 and daemon.socket in result.errors, str(result))
    with open(daemon.socket) as file:
        expect(file.read() == "precious", "the file was changed")


@test("a port in use makes the new daemon exit with 1 and a message that names the port")
def port_in_use(stage):
    with socket.socket(socket.AF_INET6) as taken:
        taken.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        taken.bind(("::", 0))
        taken.listen()
        port = taken.getsockname()[1]
        daemon = stage.daemon("late", start=False, port=str(port))
        result = daemon.fails()
        expect(result.code == 1 and str(port) in result.errors, str(result))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("0.0.0.0", 0))
        port = taken.getsockname()[1]
        daemon = stage.daemon("later", start=False, port=str(port))
        result = daemon.fails()
        expect(result.code == 1 and str(port) in result.errors, str(result))


@test("a configuration error makes the start fail with 78, file and line, the allowed values, and a status line")
def bad_configuration(stage):
    for content, words in (
            ("\nport = many\n", ":2:"), ("prot = 1\n", "port"), ("titles = maybe\n", "'yes' or 'no'"),
            ("name = \xff\n".encode("latin-1"), "UTF-8"), (b"\0", "control"), (b"#" * (1 << 20), "too large")):
        daemon = stage.daemon(f"d{len(stage.daemons)}", start=False)
        with open(daemon.configuration, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        result, status = fails_telling(daemon)
        expect(result.code == 78 and daemon.configuration in result.errors and words in result.errors, str(result))
        expect(daemon.configuration in status and words in status, f"wrong status line: {status}")
        expect(not os.path.exists(daemon.state), "a daemon that failed to start created a device")
        checked = daemon.fails("--check-config")
        expect(checked.code == 78 and checked.errors == result.errors, str(checked))
    daemon = stage.daemon("good", start=False, configuration="log-level = debug\n")
    checked = daemon.fails("--check-config")
    expect(checked.code == 0 and daemon.configuration in checked.output and not checked.errors, str(checked))
    expect(not os.path.exists(daemon.state), "a configuration check created a device")


def fails_telling(daemon):
    """Runs the daemon, which must exit on its own. Returns the result and its last status line."""
    path = os.path.join(daemon.folder, "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(path)
        notify.setblocking(False)
        result = run(daemon.words(), {**daemon.environment, "NOTIFY_SOCKET": path}, 20)
        os.unlink(path)
        status = ""
        with contextlib.suppress(BlockingIOError):
            while True:
                for line in notify.recv(65536).decode().splitlines():
                    status = line.removeprefix("STATUS=") if line.startswith("STATUS=") else status
    return result, status


@test("a client that connects during a failing start receives the reason, and does not start the service again")
def refused_start(stage):
    daemon = stage.daemon("wrong", start=False, configuration="port = many\n")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(daemon.socket)
        listening.listen()
        client = daemon.follow("status")
        expect(select.select([listening], [], [], 60)[0], "no connection")

        words = ["sh", "-c", "exec 3<&$0; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"", str(listening.fileno()), *daemon.words()]
        done = subprocess.run(words, env=daemon.environment, pass_fds=[listening.fileno()], capture_output=True, text=True)
        expect(done.returncode == 78, f"{done.returncode}: {done.stderr}")
        client.process.wait(60)
        with open(client.log) as log:
            errors = log.read()
        expect("NotStarted" in errors and daemon.configuration in errors, f"wrong reason: {errors}")
        expect(not select.select([listening], [], [], 0)[0], "a connection is still waiting")


def logged(daemon):
    with open(daemon.log) as file:
        return file.read()


@test("SIGHUP reloads the configuration, and an error in it changes nothing")
def reload(stage):
    def give(text):
        with open(daemon.configuration, "w") as file:
            file.write(text)
        daemon.process.send_signal(signal.SIGHUP)

    def lines():
        """Returns the lines that calls add to the log: one each at the level debug, and none at the others."""
        before = logged(daemon)
        daemon.is_well()
        # The line is written when the connection has closed, which the daemon notices before the next connection.
        daemon.is_well()
        return logged(daemon)[len(before):]

    daemon = stage.daemon("one", configuration="titles = yes\nlog-level = debug\n")
    give("rubbish\n")
    while "Configuration was not reloaded" not in logged(daemon):
        daemon.is_well()
    expect(" debug " in lines(), "an invalid configuration changed the level")
    give("titles = no\nlog-level = fault\n")
    while lines():
        pass
    give("titles = no\n")
    while "Configuration was reloaded" not in logged(daemon):
        daemon.is_well()


@test("damaged key files are reported at the start, and never overwritten")
def damaged_files(stage):
    whole = stage.daemon("whole")
    whole.ctl("account", "create")
    whole.stop()
    names = [os.path.relpath(os.path.join(folder, name), whole.state)
             for folder, _, files in os.walk(whole.state) for name in files]
    damaged = 0
    for name in names:
        with open(os.path.join(whole.state, name), "rb") as file:
            content = file.read()
        if len(content) < 16:
            continue  # A lock or a marker, with no content that could be damaged.
        if name == "contact":
            continue  # A timestamp. Without it the user misses a hint.
        cuts = {"cut": content[:len(content) // 2], "flipped": bytes([content[0] ^ 1]) + content[1:],
                "tail": content[:-1] + bytes([content[-1] ^ 0x80]), "zeros": bytes(len(content)), "empty": b"",
                "long": content + b"\0" * 100}
        for kind, bad in cuts.items():
            daemon = stage.daemon(f"{kind}-{damaged}", start=False)
            shutil.copytree(whole.state, daemon.state)
            path = os.path.join(daemon.state, name)
            with open(path, "wb") as file:
                file.write(bad)
            result = daemon.fails()
            expect(result.code == 78 and name in result.errors, f"{name} {kind}: {result}")
            with open(path, "rb") as file:
                expect(file.read() == bad, f"{name} {kind} was overwritten")
            damaged += 1
    expect(damaged >= 12, f"too few key files were found in {names}")


@test("a clean exit completes the writes that are pending")
def pending_writes(stage):
    def create(name, step, how):
        daemon = stage.daemon(name, start=False)
        faults = Faults(daemon)
        daemon.start()
        faults.arm(step, how)
        daemon.ctl("account", "create")
        return daemon, faults

    first, faults = create("first", 0, "hold")
    expect(first.stop() == 0, "the daemon did not exit cleanly")
    steps = [line.split(" ", 1)[1] for line in faults.steps()]
    # The time of the last contact is written after the reply.
    renamed = next(index for index, what in enumerate(steps, 1) if what.startswith("rename") and "contact" in what)
    second, faults = create("second", renamed, "hold")
    while not faults.struck:
        second.is_well()
    second.process.terminate()
    try:
        # A daemon that does not wait exits within milliseconds. One that waits ends after 2 s.
        code = second.process.wait(0.5)
        raise Failure(f"exited with {code} during a write, and left {sorted(os.listdir(second.state))}")
    except subprocess.TimeoutExpired:
        faults.disarm()
    expect(second.process.wait(60) == 0, "the daemon did not exit cleanly")
    names = sorted(os.listdir(second.state))
    expect("contact" in names and not any(name.startswith(".") for name in names), f"left: {names}")


@test("a partially written file next to the key files has no effect")
def leftover(stage):
    daemon = stage.daemon("one")
    daemon.ctl("account", "create")
    device = daemon.ctl("status").line["device"]
    daemon.kill()
    for name in os.listdir(daemon.state):
        path = os.path.join(daemon.state, name)
        if os.path.isfile(path):
            for suffix in (".new", ".tmp", "~"):
                with open(path + suffix, "wb") as file:
                    file.write(b"half")
    daemon.start()
    expect(daemon.ctl("status").line["device"] == device, "wrong device")


@test("a state folder that other users can enter, or that is a link, is refused")
def open_folder(stage):
    daemon = stage.daemon("one", start=False)
    os.mkdir(daemon.state, 0o777)
    os.chmod(daemon.state, 0o777)
    result = daemon.fails()
    expect(result.code == 78 and daemon.state in result.errors, str(result))


def call(path, data, half_close=False, timeout=60):
    """Sends bytes to the control socket. Returns the received data up to its end, or a whole message."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout)
        connection.connect(path)
        try:
            connection.sendall(data)
            if half_close:
                connection.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass
        got = b""
        try:
            while b"\0" not in got:
                piece = connection.recv(65536)
                if not piece:
                    break
                got += piece
        except ConnectionResetError:
            pass
        except TimeoutError:
            raise Failure(f"neither a reply nor an end of the connection after {data[:60]!r}") from None
        return got


GET_INFO = b'{"method":"org.varlink.service.GetInfo"}\0'


@test("invalid data on the control socket is answered or its connection closed, and the daemon keeps working")
def garbage(stage):
    daemon = stage.daemon("one")
    deep = b"[" * 200_000
    control = b"dev.handoff1.Control."
    for data in (
            b"\0", b"\0" * 1000, b"{}\0", b"[]\0", b"null\0", b"x\0", b"\xff\xfe\0", b'{"method":1}\0', b'{"method":""}\0',
            b'{"method":"a"}\0', b'{"method":"a.b"}\0', b'{"method":"a.b","method":"c.d"}\0',
            b'{"method":"org.varlink.service.GetInfo","x":1}\0', b'{"method":"org.varlink.service.GetInfo","parameters":[]}\0',
            b'{"method":"org.varlink.service.GetInterfaceDescription"}\0',
            b'{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":1}}\0',
            b'{"method":"' + control + b'Nothing"}\0', b'{"method":"' + control + b'Watch"}\0',
            b'{"method":"' + control + b'ExportAccount"}\0',
            b'{"method":"' + control + b'ListActivities","parameters":{"here":"yes"}}\0',
            b'{"method":"' + control + b'Continue","more":true,"parameters":{"activity":"zz","timeout":-1}}\0',
            b'{"method":"' + control + b'Continue","more":true,"parameters":{"timeout":1e308}}\0',
            b'{"method":"dev.handoff1.Attach","more":true,"parameters":{"app":"","types":["\\u0000"]}}\0',
            b'{"method":"dev.handoff1.Publish","more":true,"parameters":{"activity":{"type":"a b"}}}\0',
            b'{"method":"dev.handoff1.Update","parameters":{"session":"","activity":"","change":{}}}\0',
            b'{"method":"' + deep + b'\0', deep + b"\0", b'{"a":' * 100_000 + b"\0",
            b'{"method":"a.b","parameters":{' + b",".join(b'"k%d":1' % i for i in range(50_000)) + b"}}\0"):
        call(daemon.socket, data, half_close=True)
    for size in (1 << 20, 1 << 22):
        call(daemon.socket, b"x" * size, half_close=True)
    daemon.is_well()


@test("a truncated message affects only its own connection, and a half-closed connection is still answered")
def truncated(stage):
    daemon = stage.daemon("one")
    for length in range(len(GET_INFO)):
        expect(call(daemon.socket, GET_INFO[:length], half_close=True) == b"", "half a message was answered")
    answer = call(daemon.socket, GET_INFO, half_close=True)
    expect(json.loads(answer.rstrip(b"\0"))["parameters"]["interfaces"], f"wrong answer: {answer}")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(60)
        connection.connect(daemon.socket)
        for byte in GET_INFO:
            connection.sendall(bytes([byte]))
        expect(connection.recv(65536).endswith(b"\0"), "sending byte by byte must work as well")


@test("300 connections of one program do not block other programs")
def many_connections(stage):
    daemon = stage.daemon("one")
    held = []
    for _ in range(300):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(60)
        try:
            connection.connect(daemon.socket)
        except (ConnectionRefusedError, BlockingIOError):
            connection.close()
            continue
        held.append(connection)
    daemon.is_well()
    for connection in held:
        connection.close()
    daemon.is_well()
    # The daemon may notice the end of a connection after the next one.
    let_go(daemon, 100, more=0)


HOLD = """
import socket, sys
held = [socket.socket(socket.AF_UNIX) for _ in range(64)]
for connection in held:
    connection.connect(sys.argv[1])
print(flush=True)
sys.stdin.read()
"""


def with_app_socket(stage):
    """A daemon with a socket for apps, and the path of that socket."""
    daemon = stage.daemon("one", start=False)
    apps = os.path.join(daemon.folder, "apps", "app.socket")
    os.mkdir(os.path.dirname(apps), 0o700)
    daemon.start("--app-socket", apps)
    return daemon, apps


@test("apps that use up all connections of their socket do not block the user's tools")
def greedy_apps(stage):
    daemon, apps = with_app_socket(stage)
    for _ in range(5):
        app = subprocess.Popen([sys.executable, "-c", HOLD, apps], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        stage.processes.append(app)
        app.stdout.readline()
    expect(daemon.ctl("pause").code == 0, "pause is blocked")
    daemon.is_well()


@test("the app socket accepts no impersonation of a Handoff program by its id, its types, or its reports")
def reserved_names(stage):
    daemon, apps = with_app_socket(stage)

    def is_refused(method, **parameters):
        try:
            Connection(daemon, apps).call(APPS + method, more=True, **parameters)
        except Refused as error:
            return error.name == "InvalidApp"
        return False

    expect(is_refused("Attach", app="dev.handoff1.files", types=[]), "its id was accepted")
    expect(is_refused("Attach", app="org.example.App", types=["dev.handoff1.content"]), "its types were accepted")
    attached = Connection(daemon, apps).send(APPS + "Attach", more=True, app="org.example.App", types=[])
    session = attached.wait("attached")["session"]
    expect(is_refused("Declare", session=session, types=["dev.handoff1.content"]), "its types were accepted later")
    report = {"session": session, "device": "00" * 32, "activity": "00" * 16, "path": "/etc/passwd"}
    expect(is_refused("ReportReceived", **report), "its reports were accepted")
    # The programs of Handoff use the control socket.
    Connection(daemon).send(APPS + "Attach", more=True, app="dev.handoff1.files", types=["dev.handoff1.content"]).wait("attached")


@test("an app that publishes without limit fills only its own share, receives an error, and does not affect others")
def greedy_publisher(stage):
    daemon = stage.daemon("one")
    published = 0
    with contextlib.ExitStack() as held:
        while published < 80:
            connection = held.enter_context(socket.socket(socket.AF_UNIX))
            connection.settimeout(60)
            connection.connect(daemon.socket)
            activity = {"type": "org.example.large", "userInfo": {"text": "x" * 900_000}}
            connection.sendall(json.dumps({
                "method": "dev.handoff1.Publish", "parameters": {"activity": activity}, "more": True}).encode() + b"\0")
            reply = b""
            while not reply.endswith(b"\0"):
                part = connection.recv(65536)
                expect(part, f"the connection closed after {published} activities")
                reply += part
            answer = json.loads(reply[:-1])
            if "error" in answer:
                break
            published += 1
        expect(answer.get("error") == "dev.handoff1.LimitExceeded", f"wrong reply: {answer}")
        message = answer["parameters"]["message"]
        expect("an app" in message and "stream" in message, f"the message has no remedy: {message}")
        expect(published == 18, f"{published} activities of 900 kB fit into 16 MiB")
        daemon.publish("org.example.small", "--user-info", '{"page": 1}')
    daemon.is_well()


LISTEN = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
os.setuid(65534)
listener.listen()
print(flush=True)
connection, _ = listener.accept()
connection.settimeout(60)
print(len(connection.recv(1 << 16)), flush=True)
"""


@test("handoffctl does not send an account file to another user's socket")
def foreign_daemon(stage):
    if os.getuid() != 0:
        raise Skip("needs root to switch to another user")
    own = stage.daemon("own")
    own.ctl("account", "create")
    file = os.path.join(stage.folder, "account")
    own.ctl("account", "export", file)
    path = os.path.join(stage.folder, "foreign.socket")
    other = subprocess.Popen([sys.executable, "-c", LISTEN, path], stdout=subprocess.PIPE)
    stage.processes.append(other)
    other.stdout.readline()
    result = run([os.path.join(BIN, "handoffctl"), "--socket", path, "account", "import", file], own.environment)
    expect(result.code == 3 and "65534" in result.errors, f"the error does not name the owner of the socket: {result}")
    expect(other.stdout.readline() == b"0\n", "the other user received data")


@test("a client that never reads its events does not delay others")
def slow_reader(stage):
    daemon = stage.daemon("one")
    daemon.ctl("account", "create")
    with socket.socket(socket.AF_UNIX) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        slow.connect(daemon.socket)
        # Unlimited calls whose replies are never read.
        slow.setblocking(False)
        sent = 0
        try:
            while sent < 1 << 23:
                sent += slow.send(GET_INFO * 100)
        except (BlockingIOError, BrokenPipeError, ConnectionResetError):
            pass
        daemon.is_well()
        with open(f"/proc/{daemon.process.pid}/status") as file:
            memory = int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))
        expect(memory < 100_000 or "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ,
               f"the daemon uses {memory} KiB")
    daemon.is_well()


@test("invalid data on the network port receives no reply")
def network_garbage(stage):
    daemon = stage.daemon("one")
    daemon.ctl("account", "create")
    port = daemon.ctl("status").line["port"]
    hello = bytes([22, 3, 1, 0, 4, 1, 0, 0, 0])
    for data in (b"", b"GET / HTTP/1.0\r\n\r\n", b"\0" * 5000, os.urandom(40) + hello, os.urandom(6000),
                 os.urandom(40) + struct.pack(">BHH", 22, 0x301, 0xFFFF), os.urandom(40) + struct.pack(">BHH", 22, 0x301, 1000)):
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            try:
                connection.sendall(data)
                got = connection.recv(100)
            except ConnectionResetError:
                got = b""
            expect(got == b"", f"{len(data)} bytes received the reply {got!r}")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.connect(("127.0.0.1", port))
        for size in (0, 1, 127, 128, 1199, 1200, 1201, 60_000):
            for first in (0, 1, 2, 255):
                datagrams.send((bytes([first]) + os.urandom(size))[:size])
        datagrams.settimeout(0.2)
        try:
            raise Failure(f"a datagram received the reply {datagrams.recv(2000)[:20]!r}")
        except TimeoutError:
            pass
    daemon.is_well()


@test("128 idle connections do not block another device")
def idle_connections(stage):
    origin, taker = stage.pair()
    port = origin.ctl("status").line["port"]
    held = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(128)]
    publish = origin.publish("com.example.editing", "--user-info", '{"a": 1}')
    taker.follow("watch").wait("added", id=publish.id)
    expect(taker.ctl("continue", "--print").line["userInfo"] == {"a": 1}, "wrong payload")
    for connection in held:
        connection.close()


@test("on a full disk the operation is refused, the old files are kept, and the daemon continues")
def full_disk(stage):
    daemon = stage.daemon("one", start=False, options=[])
    if os.geteuid() != 0:
        from harness import Skip
        raise Skip("mounting a small file system needs root")
    os.mkdir(daemon.state, 0o700)
    mounted = run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=0700", "tmpfs", daemon.state], dict(os.environ))
    expect(mounted.code == 0, str(mounted))
    stage.closers.append(lambda: run(["umount", "-l", daemon.state], dict(os.environ)))
    daemon.start()
    device = daemon.ctl("status").line["device"]
    with open(os.path.join(daemon.state, "filler"), "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
    refused = daemon.ctl("account", "create", code=1)
    expect(json.loads(refused.errors)["message"], str(refused))
    daemon.is_well()
    expect(daemon.ctl("account", "show").line["account"] is None, "an account exists that was never stored")
    os.unlink(os.path.join(daemon.state, "filler"))
    daemon.ctl("account", "create")
    daemon.kill()
    daemon.start()
    status = daemon.ctl("status").line
    expect(status["device"] == device and status["account"], f"wrong after a restart: {status}")


@test("a socket passed by the service manager is used, and left in place at exit")
def socket_activation(stage):
    activate = shutil.which("systemd-socket-activate")
    if not activate:
        from harness import Skip
        raise Skip("systemd-socket-activate is missing")
    daemon = stage.daemon("one", start=False)
    words = daemon.words()
    import subprocess
    with open(daemon.log, "ab") as log:
        process = subprocess.Popen(
            [activate, "-l", daemon.socket, "-E", "HOME", *words], env=daemon.environment, stdin=subprocess.DEVNULL,
            stdout=log, stderr=log)
    stage.processes.append(process)

    def is_listening():
        """The socket exists before it accepts connections, which its flags show."""
        with open("/proc/net/unix") as file:
            return any(line.rstrip().endswith(daemon.socket) and line.split()[3] == "00010000" for line in file)

    while not is_listening():
        expect(process.poll() is None, "the daemon exited")
    expect(daemon.ctl("status").line["name"] == "one", "wrong daemon")
    process.terminate()
    process.wait(60)
    expect(os.path.exists(daemon.socket), "the socket of the service manager was removed")


if __name__ == "__main__":
    main()
