"""The engine of the crash tests, which plays a scene repeatedly and injects the fault one call
later each time.

A scene sets up some daemons, makes a request, and then checks the invariants. It is played until it
completes without a fault, so that a fault has hit every call that it makes. For ways that mostly
repeat another one, and for victims that do not receive the request themselves, the gates play only
some steps, starting at a random one. The release gate (HANDOFF_SAMPLES=full) plays twice as many.

Environment: HANDOFF_CRASH=all: every step in all ways. HANDOFF_CRASH_ROUNDS (default 0): additional
plays of each scene, with the fault at random steps in random ways. HANDOFF_CRASH_PLAYS (default 8):
number of plays that run at a time.
"""

import concurrent.futures
import errno
import json
import os
import random
import shutil
import socket
import time

import faults
from harness import FULL_SAMPLES, Failure, OutOfTime, Stage, expect, leave_network, tail

# A disk that fails for a while makes the others wait longer each time, up to a minute.
CONVERGE = 75
ROUNDS = int(os.environ.get("HANDOFF_CRASH_ROUNDS", "0"))
ALL = os.environ.get("HANDOFF_CRASH") == "all"
PLAYS = int(os.environ.get("HANDOFF_CRASH_PLAYS", "8"))
# The number of these plays that may belong to one victim and way.
WIDTH = 3
MAX_STEPS = 400

# The ways to inject a fault: the kind of fault, the calls to hit, and every how many of them in the
# release gate. The gate hits half as many.
LASTING = faults.FILES | faults.KINDS["reply"]
WAYS = {
    "kill": dict(how="kill", kinds=LASTING, stride=4),
    "power": dict(how="power", kinds=LASTING),
    "kill at sending": dict(how="kill", kinds=faults.KINDS["send"], stride=4),
    "tear": dict(how="tear", kinds=faults.KINDS["write"] | faults.STREAMS, stride=6),
    "no space": dict(how="fail", kinds=faults.FILES, error=errno.ENOSPC, stride=6),
    "disk error": dict(how="fail", kinds=faults.FILES, error=errno.EIO, stride=6),
    "disk full": dict(how="fail all", kinds=faults.FILES, error=errno.ENOSPC, stride=6),
}
DEADLY = ("kill", "power", "kill at sending", "tear")


def call(daemon, method, **parameters):
    """Calls a daemon. Returns None if it does not run, or exits before it has answered."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(60)
        try:
            client.connect(daemon.socket)
            client.sendall(json.dumps({"method": f"dev.handoff1.Control.{method}", "parameters": parameters}).encode()
                           + b"\0")
            answer = b""
            while not answer.endswith(b"\0"):
                more = client.recv(65536)
                if not more:
                    return None
                answer += more
        except (ConnectionError, FileNotFoundError):
            return None
    answer = json.loads(answer[:-1])
    expect("error" not in answer, f"{daemon.name} refuses {method}: {answer}")
    return answer["parameters"]


class Scene:
    """One play. Subclasses define `prepare`, `act` and `check`, and the names of possible victims."""

    # Names of the victims, one at a time.
    victims = ("one",)
    ways = tuple(WAYS)

    def __init__(self, stage, step=0):
        self.stage, self.step = stage, step
        self.faults = {}
        # Devices by the names of their daemons. No daemon may have another device later.
        self.ids = {}

    def daemon(self, name, start=True, state=None):
        """`state` is a folder to copy as the state of the device."""
        daemon = self.stage.daemon(name, start=False, options=["--log-level", "debug", "--no-desktop"])
        if state:
            shutil.copytree(state, daemon.state)
        self.faults[name] = faults.Faults(daemon)
        if start:
            daemon.start()
            self.ids[name] = call(daemon, "GetStatus")["device"]
        return daemon

    def member(self, name, *others):
        """Starts a further daemon in the account of the others, which all know it."""
        daemon = self.daemon(name)
        if others:
            self.stage.join(others[0], daemon)
            self.agree(*others, daemon)
        else:
            daemon.ctl("account", "create")
        return daemon

    def prepare(self):
        raise NotImplementedError

    def act(self):
        """Makes the request. It may return early, or fail in any way, when `struck`."""
        raise NotImplementedError

    def check(self):
        """Checks the invariants. All daemons run again, without faults."""
        raise NotImplementedError

    # ---- For act

    @property
    def struck(self):
        return any(fault.struck for fault in self.faults.values())

    def until(self, condition, what, within=CONVERGE):
        """Waits for a condition, or for the fault."""
        limit = time.monotonic() + within
        while not self.struck and not condition():
            if time.monotonic() > limit:
                raise Failure(f"timed out after {within} s waiting for {what}; {self.views()}")
            time.sleep(0.1)

    # ---- For check

    def views(self, *daemons):
        return {daemon.name: self.view(daemon) for daemon in daemons or self.stage.daemons}

    @staticmethod
    def view(daemon):
        """Returns a daemon's view of its account."""
        status, listed = call(daemon, "GetStatus"), call(daemon, "ListDevices")
        if status is None or listed is None:
            return None
        return {
            "device": status["device"], "account": status["account"], "epoch": status["epoch"], "warnings": status["warnings"],
            "tickets": sorted(ticket["id"] for ticket in status["tickets"]),
            "devices": sorted((device["id"], device["name"]) for device in listed["devices"]),
        }

    def is_one(self, *daemons, epoch=None, stale=()):
        """Returns whether exactly these devices are the account, and all of them agree."""
        views = list(self.views(*daemons).values())
        first = views[0]
        # A victim that is down has no view.
        return (None not in views and first["account"] is not None
                and all({**view, "device": None} == {**first, "device": None} for view in views)
                and not first["warnings"] and set(first["tickets"]) <= set(stale)
                and {id for id, _ in first["devices"]} == {view["device"] for view in views}
                and (epoch is None or first["epoch"] == epoch))

    def agree(self, *daemons, stale=(), leaving=(), within=CONVERGE):
        """Waits until these are the account, and fails as soon as an unknown device is in it.
        Devices that leave may remain for a while."""
        limit = time.monotonic() + within
        allowed = {call(daemon, "GetStatus")["device"] for daemon in daemons} | set(leaving)
        while not self.is_one(*daemons, stale=stale):
            views = self.views(*daemons)
            for name, view in views.items():
                if view["account"] is not None:
                    unknown = {id for id, _ in view["devices"]} - allowed
                    expect(not unknown, f"{name} has devices that were not admitted: {unknown}; {views}")
            expect(time.monotonic() < limit, f"no agreement within {within} s: {views}")
            time.sleep(0.1)

    def hand_over(self, origin, taker):
        """Proves that two devices work together."""
        publish = origin.publish("com.example.crash", "--title", "Draft")
        taker.follow("watch").wait("added", within=CONVERGE, id=publish.id)
        # If two devices close one file, a new key is generated during this, and withdraws the offer
        # until all devices have the key.
        limit = time.monotonic() + CONVERGE
        while (taken := taker.ctl("continue", publish.id, "--print", code=None)).code != 0:
            expect(time.monotonic() < limit, f"not continued within {CONVERGE} s: {taken}")
            time.sleep(0.05)
        expect(taken.line["title"] == "Draft", f"wrong activity: {taken}")

    def account(self, daemon):
        return call(daemon, "GetAccount")["account"]


class Play:
    """The result of one play of a scene."""

    def __init__(self, scene_class, victim=None, way=None, step=0):
        """Without a victim, counts the calls."""
        self.name = f"{scene_class.__name__}, {victim}, {way}, step {step}"
        self.struck, self.error, self.what, self.calls = False, None, "", {}
        self.stage = Stage(self.name)
        try:
            scene = scene_class(self.stage, step)
            scene.prepare()
            if victim is None:
                self._count(scene)
            else:
                self._play(scene, victim, way, step)
        except OutOfTime:
            raise
        except Exception as error:
            place = error.__traceback__
            while place.tb_next and "crash" in os.path.basename(place.tb_next.tb_frame.f_code.co_filename):
                place = place.tb_next
            self.error = f"{self.name} ({self.what}): {type(error).__name__}: {error} (line {place.tb_lineno})"
            for daemon in self.stage.daemons:
                self.error += f"\n  log of {daemon.name}:{tail(daemon.log, 25)}"
            self.error += f"\n  kept: {self.stage.folder}"
        finally:
            self.stage.close(keep=self.error is not None)

    def _count(self, scene):
        for fault in scene.faults.values():
            fault.disarm()
            fault.steps()
            fault.arm(0, kinds=faults.ALL)
        scene.act()
        for name, fault in scene.faults.items():
            fault.suspend()
            self.calls[name] = [faults.WORDS[line.split(" ", 2)[1]] for line in fault.steps()]

    def _play(self, scene, victim, way, step):
        fault = scene.faults[victim]
        fault.disarm()
        fault.steps()
        fault.arm(step, **{key: value for key, value in WAYS[way].items() if key != "stride"})
        try:
            scene.act()
        except Failure:
            # A command that timed out, or was refused, is excused only by a fault.
            if not fault.struck:
                raise
        fault.suspend()
        self.struck = fault.struck
        seen = fault.steps()
        self.what = next((line for line in seen if line.startswith(f"{step} ")), "not struck")
        fault.disarm()
        for daemon in scene.stage.daemons:
            if daemon is fault.daemon and self.struck and way in DEADLY:
                fault.ended(60)
                expect(daemon.process.returncode == -9, f"{daemon.name} exited with {daemon.process.returncode}")
            if daemon.process is None or daemon.process.poll() is not None:
                daemon.start()
        scene.check()
        for name, id in scene.ids.items():
            found = {daemon.name: daemon for daemon in scene.stage.daemons}[name]
            expect(call(found, "GetStatus")["device"] == id, f"{name} has another identity")


def every_step(stage, scene_class, ways=None):
    """Plays a scene with a fault for each victim at each step in each way, and prints a summary.
    All ways run in parallel, because a play mostly waits."""
    tracks = [(victim, way) for victim in scene_class.victims for way in ways or scene_class.ways]
    with players() as pool, \
            concurrent.futures.ThreadPoolExecutor(len(tracks)) as runners:
        calls = {}
        if not ALL and not FULL_SAMPLES:
            counting = pool.submit(Play, scene_class).result()
            complain([counting])
            calls = counting.calls
        running = [runners.submit(one_way, pool, scene_class, *track, calls.get(track[0])) for track in tracks]
        try:
            for done in concurrent.futures.as_completed(running):
                done.result()
        except BaseException:
            # Cancel everything that has not started.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if ROUNDS:
        at_random(scene_class, ways or scene_class.ways)


def players():
    """Threads that play scenes, each in a network of its own, which the programs that it starts share."""
    return concurrent.futures.ThreadPoolExecutor(PLAYS, initializer=leave_network)


def one_way(pool, scene_class, victim, way, calls):
    """Injects a fault into one victim in one way, at each step or some. Without the kinds of its calls, the end
    is the first play that completes without a fault."""
    stride = 1 if ALL else WAYS[way].get("stride", 1) * (1 if victim == scene_class.victims[0] else 3)
    last = MAX_STEPS
    if calls is not None:
        stride *= 2
        last = sum(bool(kind & WAYS[way]["kinds"]) for kind in calls)
    # Plays beyond the last step show nothing, so several steps are tried at a time only if there are many.
    width = WIDTH if stride == 1 else 1
    begin, struck, step, is_over = time.monotonic(), 0, random.randint(1, stride), False
    while not is_over and step <= last:
        numbers = range(step, min(step + width * stride, last + 1), stride)
        done = [future.result() for future in
                [pool.submit(Play, scene_class, victim, way, number) for number in numbers]]
        complain(done)
        step += width * stride
        struck += sum(play.struck for play in done)
        is_over = not all(play.struck for play in done)
    expect(is_over or calls is not None, f"{scene_class.__name__}: no end after {step} steps")
    if struck > 0 or is_over:
        print(f"   {scene_class.__name__}: {victim}, {way}: {struck} steps, "
              f"{time.monotonic() - begin:.1f} s", flush=True)


def at_random(scene_class, ways):
    """Plays a scene this many times, with the fault at a random step."""
    seed = int.from_bytes(os.urandom(4), "big")
    chance, begin = random.Random(seed), time.monotonic()
    with players() as pool:
        batch = [pool.submit(Play, scene_class, chance.choice(scene_class.victims), chance.choice(ways),
                             chance.randint(1, 60)) for _ in range(ROUNDS)]
        done = [future.result() for future in batch]
    complain(done)
    print(f"   {scene_class.__name__}: {ROUNDS} more at random (seed {seed}), {sum(play.struck for play in done)} struck, "
          f"{time.monotonic() - begin:.1f} s", flush=True)


def complain(plays):
    errors = [play.error for play in plays if play.error]
    if errors:
        raise Failure(f"{len(errors)} of {len(plays)} plays failed; the first:\n{errors[0]}")
