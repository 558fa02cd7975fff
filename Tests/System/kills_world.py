"""Three devices of which one is hit by a fault in each round: two members of an account, and a
third device that joins and leaves.

A round makes one request (`kills_account.py`, `kills_transfers.py`), injects one fault into a
daemon or a command of `handoffctl` during it, and then checks the invariants. The daemon is
restarted immediately, as systemd does, and may be hit a second time while it starts.
"""

import contextlib
import json
import os
import select
import subprocess
import threading
import time
import types

import faults
from crash import DEADLY, WAYS, Scene, call
from harness import BIN, Failure, Result, expect

# In addition to the ways of crash.py, which hit a call: SIGKILL at any moment, and as soon as the
# request was acknowledged.
MOMENT, ACKNOWLEDGED = "any moment", "acknowledged"
KILLS = (*DEADLY, MOMENT, ACKNOWLEDGED)
COMMANDS = ("command", "other command")
# The weight of each way. A command has no other devices to send to.
DAEMON_WAYS = {MOMENT: 8, ACKNOWLEDGED: 2, "kill": 4, "power": 4, "kill at sending": 2, "tear": 3, "no space": 1,
               "disk error": 1, "disk full": 1}
COMMAND_WAYS = {MOMENT: 6, "kill": 4, "power": 3, "tear": 3, "no space": 1, "disk error": 1, "disk full": 1}
# The share of kills after which the start is hit, too.
AGAIN = 0.25
# The time that a start should take at most, in milliseconds. Slower starts are counted and are not
# failures, because the machine may be busy.
START_GOAL = 100


class Blow:
    """The victim of a round, and the way: at a call, by its number, or after some seconds."""

    def __init__(self, victim, way, step=0, delay=0.0, again=None):
        self.victim, self.way, self.step, self.delay, self.again = victim, way, step, delay, again

    @property
    def is_timed(self):
        return self.way in (MOMENT, ACKNOWLEDGED)

    def __str__(self):
        when = f"after {self.delay * 1000:.1f} ms" if self.is_timed else f"call {self.step}"
        return f"{self.victim}, {self.way}, {when}" + (", and its start" if self.again is not None else "")


class Keeper:
    """Restarts a daemon whenever it exits, until stopped. Has a thread of its own."""

    def __init__(self, world, daemon, blow):
        self.world, self.daemon, self.blow = world, daemon, blow
        self.ends, self.error = [], None
        self.wake_reader, self.wake_writer = os.pipe()
        self.thread = threading.Thread(target=self._keep, daemon=True)
        self.thread.start()

    def _keep(self):
        try:
            while True:
                ended = os.pidfd_open(self.daemon.process.pid)
                try:
                    ready, _, _ = select.select([ended, self.wake_reader], [], [])
                finally:
                    os.close(ended)
                if ended not in ready:
                    return
                self.ends.append(self.daemon.process.wait())
                # The fault that reports this is disarmed for the start.
                self.world.hit = True
                self._start()
        except Exception as error:
            self.error = error

    def _start(self):
        fault, again, self.blow.again = self.world.faults[self.daemon.name], self.blow.again, None
        fault.disarm()
        if again is not None:
            timer = None
            if again < 0:
                timer = threading.Timer(-again, lambda: self.daemon.process.kill())
                timer.start()
            else:
                fault.arm(int(again), "kill" if again % 1 else "power", WAYS["kill"]["kinds"])
            try:
                self.daemon.start()
            except Failure:
                expect(self.daemon.process.returncode == -9, f"{self.daemon.name} exited with {self.daemon.process.returncode}")
            if timer:
                timer.join()
            fault.suspend()
            # A daemon that is already ready is hit now.
            self.daemon.kill()
            fault.disarm()
            self.ends.append(-9)
        self.daemon.start()
        self.world.starts.append((self.daemon.ready - self.daemon.started) * 1000)

    def stop(self):
        """Returns how the daemon exited, once per exit. It runs again when this returns."""
        os.write(self.wake_writer, b"!")
        self.thread.join()
        # An exit at this very moment.
        if self.error is None and self.daemon.process.poll() is not None:
            self.ends.append(self.daemon.process.returncode)
            self._start()
        os.close(self.wake_reader)
        os.close(self.wake_writer)
        if self.error:
            raise self.error
        return self.ends


class World(Scene):
    """The three devices, and the acknowledged results."""

    def __init__(self, stage, chance):
        super().__init__(stage)
        self.chance = chance
        self.starts, self.steps, self.took, self.round, self.notes = [], {}, {}, 0, []
        self.one = self.member("one")
        self.two = self.member("two", self.one)
        self.third = self.daemon("guest")
        self.members = [self.one, self.two]
        self.epoch = call(self.one, "GetStatus")["epoch"]
        self.output = os.path.join(stage.folder, "output")
        os.mkdir(self.output)
        # The files of commands are all in one folder.
        folder = os.path.join(stage.folder, "command")
        os.mkdir(folder)
        self.faults["command"] = faults.Faults(types.SimpleNamespace(folder=folder, state=self.output, name="command"))
        self.blow, self.timer, self.running, self.hit = None, None, {}, False

    # ---- A round -------------------------------------------------------------------------------------------------

    def play(self, kinds):
        """Plays one round of one of these kinds. Returns a description, the blow, and the number of
        killed processes."""
        self.round += 1
        kind = self.chance.choice([kind for kind in kinds if kind.fits(self)])
        act = kind(self)
        act.prepare()
        self.blow = self._blow(act)
        self.notes = [*self.notes[-30:], f"{self.round}: {act}; {self.blow}"]
        killed = self._strike(act)
        act.check()
        for name, id in self.ids.items():
            found = {daemon.name: daemon for daemon in self.stage.daemons}[name]
            expect(call(found, "GetStatus")["device"] == id, f"{name} has another identity")
        self._tidy()
        return type(act).__name__, self.blow, killed

    def _blow(self, act):
        victim = self.chance.choice(act.victims)
        ways = COMMAND_WAYS if victim in COMMANDS else DAEMON_WAYS
        if victim == "other command":
            ways = {MOMENT: 1}
        way = self.chance.choices(list(ways), list(ways.values()))[0]
        again = None
        if victim not in COMMANDS and way in KILLS and self.chance.random() < AGAIN:
            again = self.chance.choice((-self.chance.uniform(0, 0.03), self.chance.randint(1, 6),
                                        self.chance.randint(1, 6) + 0.5))
        last = self.steps.get((type(act).__name__, victim, way), 8)
        return Blow(victim, way, self.chance.randint(1, last + 1),
                    self.chance.uniform(0, 1.1 * self.took.get(type(act).__name__, 0.1)), again)

    def _strike(self, act):
        blow, name = self.blow, type(act).__name__
        is_command = blow.victim in COMMANDS
        keeper = None if is_command else Keeper(self, next(d for d in self.stage.daemons if d.name == blow.victim), blow)
        fault = self.faults["command" if is_command else blow.victim]
        self.hit, begin = False, time.monotonic()
        fault.disarm()
        fault.steps()
        if blow.way == MOMENT:
            self.timer = threading.Timer(blow.delay, self._kill)
            self.timer.start()
        elif not blow.is_timed:
            fault.arm(blow.step, **{key: value for key, value in WAYS[blow.way].items() if key != "stride"})
        refused = None
        try:
            act.act()
        except Failure as error:
            refused = error
        took = time.monotonic() - begin
        if self.timer:
            self.timer.cancel()
            self.timer.join()
            self.timer = None
        if blow.is_timed and not self.hit and not is_command:
            self._kill()
        if not blow.is_timed and not (keeper and keeper.ends):
            fault.suspend()
        self.hit = self.struck or bool(keeper and keeper.ends)
        # Only a fault excuses a failure.
        if refused and not self.hit:
            if keeper:
                keeper.stop()  # Nothing else would end its child processes.
            raise refused
        if not self.hit and not blow.is_timed:
            key = (name, blow.victim, blow.way)
            self.steps[key] = max(self.steps.get(key, 1), min(fault.count, 200))
        if not self.hit:
            self.took[name] = 0.7 * self.took.get(name, took) + 0.3 * took
        if not (keeper and keeper.ends):
            fault.disarm()
        self.running = {}
        if is_command:
            return int(self.hit and blow.way in KILLS)
        if self.hit and blow.way in KILLS:
            # It is dead, and the keeper may not have noticed yet.
            limit = time.monotonic() + 60
            while not keeper.ends and keeper.error is None:
                expect(time.monotonic() < limit, f"{blow.victim} was hit by the fault and still runs")
                time.sleep(0.001)
        ends = keeper.stop()
        for code in ends:
            expect(code == -9 or blow.way not in KILLS and code >= 0, f"{blow.victim} exited with {code}")
        fault.disarm()
        return ends.count(-9)

    @property
    def struck(self):
        return self.hit or any(fault.struck for fault in self.faults.values())

    def _kill(self):
        if self.blow.victim in COMMANDS:
            process = self.running.get(self.blow.victim)
        else:
            process = next(daemon.process for daemon in self.stage.daemons if daemon.name == self.blow.victim)
        if process is not None and process.poll() is None:
            self.hit = True
            process.kill()
            # Later checks must see that it is dead.
            process.wait()

    def _tidy(self):
        self.stage.processes[:] = [process for process in self.stage.processes if process.poll() is None]
        for daemon in self.stage.daemons:
            with contextlib.suppress(FileNotFoundError):
                if os.path.getsize(daemon.log) > 4 << 20:
                    os.truncate(daemon.log, 0)

    # ---- For acts ------------------------------------------------------------------------------------------------

    def command(self, daemon, *words, input=None, within=60):
        """Runs the command that may be hit by the fault. Returns its result, whatever it is."""
        environment = {**daemon.environment, **self.faults["command"].environment}
        words = [os.path.join(BIN, "handoffctl"), "--socket", daemon.socket, "--json", *words]
        process = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.stage.processes.append(process)
        self.running["command"] = process
        try:
            output, errors = process.communicate(input, timeout=within)
        except subprocess.TimeoutExpired:
            raise Failure(f"{words} did not exit within {within} s") from None
        code = process.returncode
        expect(code >= 0 or code == -9 and self.blow.victim == "command", f"{words} exited with {code}: {errors[-500:]}")
        return Result(words, code, output.decode("utf-8", "replace"), errors.decode("utf-8", "replace"))

    def excused(self, result):
        """Returns whether a command has succeeded. Fails if it has not and there was no fault."""
        expect(result.code == 0 or self.struck, f"it failed without a fault: {result}")
        return result.code == 0

    @staticmethod
    def said_by(result, event):
        """Returns whether a command has printed this before it exited, in whatever way."""
        lines = result.output.split("\n")[:-1]
        return any(json.loads(line).get("event") == event for line in lines if line)

    def close_tickets(self):
        """Closes exported files that were not used."""
        for ticket in call(self.one, "GetStatus")["tickets"]:
            self.one.ctl("account", "export", "--revoke", ticket["id"])

    def settled(self):
        """Waits for agreement, after which the account's state is known again."""
        self.agree(*self.members)
        epoch = call(self.one, "GetStatus")["epoch"]
        expect(epoch >= self.epoch, f"the key of epoch {self.epoch} is lost: {epoch}")
        self.epoch = epoch
