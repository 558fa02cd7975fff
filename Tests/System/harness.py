"""The common parts of the system tests: daemons in folders of their own, commands, waiting for
events, and a runner.

Tests run the built programs as a person would. They never sleep for a fixed time. They read the
output of the programs, within the test's time limit. Each test has a folder of its own, so that
tests can run in parallel. The folder is kept when the test fails. Programs that take long to start
can be shared by the tests of a process (Stage.share).

Environment: HANDOFF_BIN (folder of handoffd and handoffctl; default .build/release), HANDOFF_KEEP=1
(keep all folders), HANDOFF_AT_ONCE (how many tests of a file run in parallel, each in its own
process; default 1), HANDOFF_SAMPLES=full (the samples of the release gate). If root runs the tests, they have their own loopback: each test with
HANDOFF_AT_ONCE, else the file.
"""

import ctypes
import json
import os
import queue
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.path.abspath(os.environ.get("HANDOFF_BIN", os.path.join(ROOT, ".build", "release")))
HOSTS = os.path.join(ROOT, "Tests", "Lab", "hosts")
TIME_LIMIT = 120
# Signals that no test sends, as exit codes: SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV.
CRASHES = (-4, -5, -6, -7, -8, -11)
NEW_NETWORK = 0x40000000  # CLONE_NEWNET
AT_ONCE = int(os.environ.get("HANDOFF_AT_ONCE", "1"))
# The maximum time that an app may take to save, after which its last saved state is sent. The default is one second, which
# a busy machine can exceed.
SAVE_TIMEOUT = "save-answer = 10 s\n"
# Whether samples have the size of the release gate. docs/testing.md lists them.
FULL_SAMPLES = os.environ.get("HANDOFF_SAMPLES") == "full"


# A shell's background jobs ignore it, and so would all programs that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Failure(Exception):
    """A test expectation that does not hold."""


class Skip(Exception):
    """The reason why the test cannot run here. In CI it is a failure, unless the missing part is optional."""

    def __init__(self, reason, optional=False):
        super().__init__(reason)
        self.optional = optional


class OutOfTime(Exception):
    """The test's time limit has passed."""


def release():
    """Returns the version of the programs, from the only file that defines it."""
    with open(os.path.join(ROOT, "Sources", "HandoffModel", "Version.swift")) as file:
        return re.search(r'static let number = "([0-9.]+)"', file.read())[1]


def expect(condition, message):
    if not condition:
        raise Failure(message)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def same(left, right):
    """Returns whether two JSON values are exactly equal: 1 is not 1.0, 0.0 is not -0.0."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(same(*pair) for pair in zip(left, right))
    if isinstance(left, float):
        return left.hex() == right.hex()
    return left == right


class Result:
    """The exit code and the output of a command."""

    def __init__(self, words, code, output, errors):
        self.words, self.code, self.output, self.errors = words, code, output, errors

    @property
    def lines(self):
        return [json.loads(line) for line in self.output.splitlines() if line.strip()]

    @property
    def line(self):
        expect(len(self.lines) == 1, f"{self.words}: one line expected, got: {self.output!r} {self.errors!r}")
        return self.lines[0]

    def __str__(self):
        return f"{' '.join(map(str, self.words))}: code {self.code}\n  output: {self.output}\n  errors: {self.errors}"


class Follower:
    """A running command that reports each event as one line of JSON."""

    def __init__(self, stage, words, environment, log, input=subprocess.DEVNULL):
        self.words = words
        self.log = log
        self.seen = []
        self.lines = queue.Queue()
        with open(log, "ab") as errors:
            self.process = subprocess.Popen(words, env=environment, stdin=input, stdout=subprocess.PIPE, stderr=errors)
        stage.processes.append(self.process)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put((time.monotonic(), line.decode("utf-8", "replace")))
        self.lines.put((time.monotonic(), None))

    def next(self, within=60):
        """Returns the next line as an object, or None at the end."""
        try:
            self.moment, text = self.lines.get(timeout=within)
        except queue.Empty:
            raise Failure(f"no further line within {within} s from {self.words}; seen: {self.seen}") from None
        if text is None:
            self.lines.put((self.moment, None))
            return None
        try:
            value = json.loads(text)
        except ValueError:
            raise Failure(f"invalid JSON from {self.words}: {text!r}") from None
        self.seen.append(value)
        return value

    def rest(self):
        """Returns all lines up to the end of the command, including those already read."""
        while self.next() is not None:
            pass
        return self.seen

    def wait(self, event, within=60, **fields):
        """Returns the next line with this event and these fields, skipping others."""
        limit = time.monotonic() + within
        while True:
            value = self.next(within=max(0.01, limit - time.monotonic()))
            if value is None:
                raise Failure(f"{self.words} ended before '{event}' {fields}; seen: {self.seen}; {tail(self.log)}")
            if value.get("event") == event and all(value.get(key) == fields[key] for key in fields):
                return value

    def interrupt(self, within=60):
        """Presses Ctrl-C. Returns the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(within)


class Daemon:
    """One handoffd with its own folder, sockets and name, on this machine or on a host of a lab."""

    def __init__(self, stage, name, host=None, options=None, discovery="embedded", interface=None, port="0",
                 configuration=""):
        self.stage, self.name, self.host = stage, name, host
        self.folder = os.path.join(stage.folder, name)
        os.makedirs(os.path.join(self.folder, "home"), mode=0o700)
        self.state = os.path.join(self.folder, "state")
        self.socket = os.path.join(self.folder, "run", "control.socket")
        self.log = os.path.join(self.folder, "daemon.log")
        self.configuration = os.path.join(self.folder, "handoffd.conf")
        os.mkdir(os.path.dirname(self.socket), 0o700)
        with open(self.configuration, "w") as file:
            file.write(configuration)
        if interface is None:
            interface = "lo" if host is None else "eth0"
        self.options = ["--port", port, "--interface", interface, "--discovery", discovery,
                        "--name", name] + list(options or [])
        self.process = None
        self.extra = {}  # Additional environment variables of the daemon.
        self.environment = {
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": os.path.join(self.folder, "home"), "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": os.path.join(self.folder, "run"), "HANDOFF_SOCKET": self.socket,
            "HANDOFF_GREASE": "always",
        }
        for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "HANDOFF_MUTANT"):
            if name in os.environ:
                self.environment[name] = os.environ[name]

    @property
    def prefix(self):
        return self.host.prefix if self.host else []

    @property
    def programs(self):
        return self.host.programs if self.host else BIN

    def words(self, *more):
        return [*self.prefix, os.path.join(self.programs, "handoffd"), "--config", self.configuration, "--state-dir", self.state,
                "--socket", self.socket, *self.options, *more]

    def start(self, *more, within=60):
        """Starts the daemon, and returns when it reports that it is ready."""
        path = os.path.join(self.folder, "notify")
        if os.path.exists(path):
            os.unlink(path)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.bind(path)
            self.started = time.monotonic()
            with open(self.log, "ab") as log:
                self.process = subprocess.Popen(
                    self.words(*more), env={**self.environment, **self.extra, "NOTIFY_SOCKET": path}, stdin=subprocess.DEVNULL,
                    stdout=log, stderr=log)
            self.stage.processes.append(self.process)
            ended = os.pidfd_open(self.process.pid)
            try:
                limit = time.monotonic() + within
                while True:
                    ready, _, _ = select.select([notify, ended], [], [], max(0, limit - time.monotonic()))
                    if notify in ready:
                        if b"READY=1" in notify.recv(4096).splitlines():
                            self.ready = time.monotonic()
                            return self
                    elif ended in ready:
                        raise Failure(f"{self.name} exited with {self.process.wait()} during its start: {tail(self.log)}")
                    else:
                        raise Failure(f"{self.name} was not ready within {within} s: {tail(self.log)}")
            finally:
                os.close(ended)

    def fails(self, *more, within=60):
        """Runs the daemon, which must exit on its own. Returns its result."""
        return run(self.words(*more), self.environment, within)

    def stop(self, within=60):
        """Stops the daemon cleanly. Returns its exit code."""
        self.process.terminate()
        return self.process.wait(within)

    def kill(self):
        self.process.kill()
        self.process.wait(60)

    def restart(self):
        expect(self.stop() == 0, f"{self.name} did not exit cleanly")
        return self.start()

    def ctl(self, *words, code=0, input=None, within=60):
        """Runs handoffctl --json. Fails unless it exits with `code` (None: any)."""
        result = run([*self.prefix, os.path.join(self.programs, "handoffctl"), "--socket", self.socket, "--json", *words],
                     self.environment, within, input)
        if code is not None and result.code != code:
            raise Failure(f"exit code {code} expected: {result}")
        return result

    def follow(self, *words, input=subprocess.DEVNULL):
        log = os.path.join(self.folder, f"{words[0]}-{len(self.stage.processes)}.log")
        return Follower(
            self.stage, [*self.prefix, os.path.join(self.programs, "handoffctl"), "--socket", self.socket, "--json", *words],
            self.environment, log, input)

    def publish(self, *words):
        """Publishes an activity, and returns when the daemon has accepted it."""
        follower = self.follow("publish", *words)
        follower.id = follower.wait("published")["id"]
        return follower

    def know_sessions(self):
        """Waits until the daemon knows the user's sessions, which it requests at its start. Returns its status. Until then,
        it hands nothing over."""
        while "session" in {hold["by"] for hold in self.ctl("status").line["holds"]}:
            time.sleep(0.02)
        return self.ctl("status").line

    def join(self, file):
        """Joins an account by a file, and returns when the device has the key."""
        imported = self.ctl("account", "import", file, code=None)
        # The command waits for eight seconds. The device continues to join.
        expect(imported.code == 0 or '"NotJoined"' in imported.errors, str(imported))
        while self.ctl("account", "show").line["epoch"] is None:
            time.sleep(0.05)

    def is_well(self):
        """Checks that the daemon still runs and answers."""
        expect(self.process.poll() is None, f"{self.name} has exited with {self.process.returncode}: {tail(self.log)}")
        expect(self.ctl("status").line["name"] == self.name, f"{self.name} does not know its name")


def run(words, environment, within=60, input=None):
    try:
        done = subprocess.run(words, env=environment, timeout=within, capture_output=True,
                              **({"input": input} if input is not None else {"stdin": subprocess.DEVNULL}))
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{' '.join(map(str, words))} did not exit within {within} s: {error.stdout} {error.stderr}") from None
    return Result(words, done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def tail(path, count=15):
    try:
        with open(path, errors="replace") as file:
            return "\n    | " + "\n    | ".join(file.read().splitlines()[-count:])
    except OSError as error:
        return f"({error})"


class Stage:
    """The folder of one test, and all of its processes."""

    def __init__(self, name):
        self.folder = tempfile.mkdtemp(prefix="handoff-")
        self.name = name
        self.processes = []
        self.closers = []
        self.daemons = []
        self.shared = []

    def share(self, other):
        """Uses a stage that outlives this test. Its `clear` is the last step of the test. It ends after the last test of
        this process, or if a test fails that uses it."""
        if other not in self.shared:
            self.shared.append(other)
        if other not in SHARED:
            SHARED.append(other)

    @property
    def all_daemons(self):
        return [daemon for each in (self, *self.shared) for daemon in each.daemons]

    def daemon(self, name, start=True, **more):
        daemon = Daemon(self, name, **more)
        self.daemons.append(daemon)
        return daemon.start() if start else daemon

    def join(self, first, second):
        """Creates an account on the first device and adds the second to it by a ticket."""
        if first.ctl("account", "show").line["account"] is None:
            first.ctl("account", "create")
        file = os.path.join(self.folder, f"account-{len(os.listdir(self.folder))}")
        first.ctl("account", "export", file)
        second.join(file)
        os.unlink(file)

    def pair(self, names=("origin", "taker"), **more):
        """Starts two daemons of one account."""
        first, second = (self.daemon(name, **more) for name in names)
        self.join(first, second)
        return first, second

    def file(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(content)
        return path

    def end(self):
        """Stops all processes of the test."""
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(60)
        for closer in reversed(self.closers):
            closer()

    def close(self, keep):
        self.end()
        self.remove(keep)

    def remove(self, keep):
        """Removes the folder, unless it is to be kept."""
        if not keep and not os.environ.get("HANDOFF_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)


class Host:
    """A simulated host of a lab."""

    programs = BIN

    def __init__(self, lab, name):
        self.lab, self.name = lab, name
        self.prefix = ["env", f"LAB={lab.name}", HOSTS, "exec", name]

    def run(self, *words, within=60, input=None):
        return run([*self.prefix, *words], dict(os.environ), within, input)

    def avahi(self, what, *lines):
        """`lines` are `SECTION/KEY=VALUE` entries for the configuration of an avahi-daemon that is started."""
        self.lab.command("avahi", self.name, what, *lines)

    def link(self, what):
        self.lab.command("link", self.name, what)

    @property
    def addresses(self):
        return self.lab.command("address", self.name).output.split()


class Lab:
    """Simulated hosts of a test, which end with it."""

    def __init__(self, stage, count, *options, name=""):
        """`name` distinguishes several labs of one test, whose hosts do not see each other."""
        if os.geteuid() != 0:
            raise Skip("simulated hosts need root")
        self.name = os.path.basename(stage.folder) + name
        stage.closers.append(self.down)
        self.timeout = 60 + 2 * count
        self.command("up", str(count), *options)
        self.hosts = [Host(self, f"h{number}") for number in range(1, count + 1)]

    def command(self, *words):
        result = run([HOSTS, *words], {**os.environ, "LAB": self.name}, self.timeout)
        expect(result.code == 0, str(result))
        return result

    def traffic(self):
        """Returns the bytes and packets that all hosts have sent, and the bytes that have reached
        them, since the start."""
        sent = packets = reached = 0
        for line in self.command("exec", "switch", "cat", "/proc/net/dev").output.splitlines():
            name, _, rest = line.partition(":")
            if name.strip().startswith("p"):
                fields = [int(text) for text in rest.split()]
                sent, packets, reached = sent + fields[0], packets + fields[1], reached + fields[8]
        return sent, packets, reached

    def down(self):
        run([HOSTS, "down"], {**os.environ, "LAB": self.name}, self.timeout)


def virtual_screen(stage, size="1280x1024x24", *options):
    """Starts an X server of its own, which ends with the test. Returns its display, such as `:3`."""
    if not shutil.which("Xvfb"):
        raise Skip("Xvfb is not installed (scripts/setup --tests)")
    # Two servers that start at the same time can choose the same number, and one of them then exits.
    for _ in range(5):
        read, write = os.pipe()
        # Without -noreset it restarts when its last client leaves, and a client that connects meanwhile can wait forever.
        words = ["Xvfb", "-displayfd", str(write), "-screen", "0", size, "-noreset", "-nolisten", "tcp", *options]
        stage.processes.append(subprocess.Popen(
            words, pass_fds=[write], env={"PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL))
        os.close(write)
        with os.fdopen(read) as file:
            if display := file.readline().strip():
                return f":{display}"
    raise Failure("Xvfb did not start")


has_own_network = False
TESTS = []
# Stages that several tests of this process share. A test that fails ends those that it uses.
SHARED = []


def test(name, limit=TIME_LIMIT):
    """Registers a function, which receives a stage, as a test. `name` states the behaviour and
    `limit` is in seconds."""

    def register(function):
        TESTS.append((name, limit, function))
        return function

    return register


def out_of_time(*_):
    raise OutOfTime


def run_test(name, limit, function):
    """Runs one test. Returns 'ok', 'FAILED' or 'skipped', and the reason."""
    stage = Stage(name)
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(limit)
    verdict, reason = "ok", ""
    try:
        function(stage)
        for shared in stage.shared:
            shared.clear()
        for daemon in stage.all_daemons:
            if daemon.process and daemon.process.poll() in CRASHES:
                raise Failure(f"{daemon.name} crashed with signal {-daemon.process.returncode}: {tail(daemon.log, 60)}")
    except Skip as error:
        must_run = os.environ.get("CI") == "true" and not error.optional
        verdict, reason = "FAILED" if must_run else "skipped", str(error)
    except OutOfTime:
        frames = "".join(traceback.format_exc().splitlines(keepends=True)[-8:])
        verdict, reason = "FAILED", f"not done within {limit} s\n{frames}"
    except Exception as error:
        verdict = "FAILED"
        reason = str(error) if isinstance(error, Failure) else traceback.format_exc()
        place = traceback.extract_tb(error.__traceback__)
        reason += "".join(f"\n    at {os.path.basename(item.filename)}:{item.lineno}" for item in place[-3:])
    finally:
        signal.alarm(0)
        if verdict == "FAILED":
            for daemon in stage.all_daemons:
                reason += f"\n  log of {daemon.name}:{tail(daemon.log)}"
            for shared in stage.shared:
                SHARED.remove(shared)
                shared.end()
                shared.remove(keep=True)
            reason += f"\n  kept: {' '.join(each.folder for each in [stage, *stage.shared])}"
        stage.end()
        crashed = [daemon.name for daemon in stage.daemons if daemon.process and daemon.process.returncode in CRASHES]
        if verdict == "ok" and crashed:
            verdict, reason = "FAILED", f"{', '.join(crashed)} crashed at the end; kept: {stage.folder}"
        stage.remove(keep=verdict == "FAILED")
    return verdict, reason


def run_and_report(name, limit, function):
    """Runs one test and prints its result. Returns its verdict."""
    begin = time.monotonic()
    verdict, reason = run_test(name, limit, function)
    print(f"{verdict} {name} ({time.monotonic() - begin:.1f} s)" + (f": {reason}" if reason else ""), flush=True)
    return verdict


def leave_network():
    """Enters a network namespace with its own loopback if root runs the tests. On a shared one each
    daemon reads the multicast of all others."""
    global has_own_network
    if os.geteuid() == 0 and ctypes.CDLL(None).unshare(NEW_NETWORK) == 0:
        has_own_network = True
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def limit_rate(stage, megabits=None):
    """Limits the rate of the tests' own network until it is called without a rate, or the test ends. Without this, a transfer
    can end while the process of a test waits for a processor."""
    if not has_own_network:
        return
    words = ["tc", "qdisc", "replace" if megabits else "delete", "dev", "lo", "root"]
    if megabits:
        stage.closers.append(lambda: limit_rate(stage))
        words += ["tbf", "rate", f"{megabits}mbit", "burst", "256k", "limit", "16m"]
    subprocess.run(words, capture_output=True)


def end_shared():
    """Ends the stages that the tests of this process share. Returns whether all of their daemons exited without a crash."""
    good = True
    for stage in SHARED:
        stage.end()
        crashed = [daemon.name for daemon in stage.daemons if daemon.process and daemon.process.returncode in CRASHES]
        if crashed:
            good = False
            print(f"FAILED {stage.name} (0.0 s): {', '.join(crashed)} crashed at the end; kept: {stage.folder}", flush=True)
        stage.remove(keep=bool(crashed))
    SHARED.clear()
    return good


def in_parallel(tests, count):
    """Runs tests in their own processes and networks, `count` at a time. Yields the verdict of each."""
    verdicts = ("ok", "FAILED", "skipped")
    running = {}

    def reap():
        pid, status = os.wait()
        while pid not in running:  # A program that a test has left, if this is the first process of a container.
            pid, status = os.wait()
        name, code = running.pop(pid), os.waitstatus_to_exitcode(status)
        if code not in range(len(verdicts)):
            print(f"FAILED {name} (0.0 s): the process of the test exited with {code}", flush=True)
            return "FAILED"
        return verdicts[code]

    for name, limit, function in tests:
        if len(running) == count:
            yield reap()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            code = -1
            try:
                leave_network()
                code = verdicts.index(run_and_report(name, limit, function))
                if not end_shared():
                    code = verdicts.index("FAILED")
            finally:
                sys.stdout.flush()
                os._exit(code & 255)
        running[pid] = name
    while running:
        yield reap()


def main():
    """Runs the tests of the calling file, or those whose names contain one of the command line's words."""
    words = sys.argv[1:]
    counts = {"ok": 0, "FAILED": 0, "skipped": 0}
    for program in ("handoffd", "handoffctl"):
        if not os.access(os.path.join(BIN, program), os.X_OK) and not os.environ.get("HANDOFF_NO_PROGRAMS"):
            print(f"FAILED: no {program} in {BIN}; build it with scripts/build\n0 passed, 1 failed")
            sys.exit(1)
    tests = [test for test in TESTS if not words or any(word in test[0] for word in words)]
    if AT_ONCE > 1:
        verdicts = in_parallel(tests, AT_ONCE)
    else:
        leave_network()
        verdicts = (run_and_report(*test) for test in tests)
    for verdict in verdicts:
        counts[verdict] += 1
    if not end_shared():
        counts["FAILED"] += 1
    if counts["skipped"]:
        print(f"{counts['skipped']} skipped")
    print(f"{counts['ok']} passed, {counts['FAILED']} failed", flush=True)
    sys.exit(1 if counts["FAILED"] or not counts["ok"] + counts["skipped"] else 0)
