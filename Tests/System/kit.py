"""An app that uses HandoffKit, as a test drives it: commands go to its standard input, what HandoffKit tells it comes back."""

import json
import os
import subprocess

from harness import BIN, Failure, Follower, expect

PROGRAM = os.path.join(BIN, "KitProgram")


class App(Follower):
    """A KitProgram at a daemon's socket. `mode` says what serves its callbacks: runloop, dispatch or none."""

    def __init__(self, daemon, types=(), team=None, mode="runloop", program=PROGRAM, configure=True):
        expect(os.access(PROGRAM, os.X_OK), f"no KitProgram in {BIN}; build it with scripts/build")
        log = os.path.join(daemon.folder, f"app-{len(daemon.stage.processes)}.log")
        self.daemon = daemon
        super().__init__(daemon.stage, [program, mode], daemon.environment, log, input=subprocess.PIPE)
        if configure:
            self.do("app", types=list(types), team=team)

    def do(self, what, **fields):
        """Gives a command."""
        fields = {key: value for key, value in fields.items() if value is not None}
        self.process.stdin.write(json.dumps({"do": what, **fields}).encode() + b"\n")
        self.process.stdin.flush()

    def handle(self, how="accept"):
        """Takes activities over from now on; returns when the daemon knows."""
        self.do("handle", how=how)
        self.wait("connected")
        return self

    def publish(self, type, name="activity", **fields):
        """Publishes; answers the activity's id, once the daemon has it."""
        self.do("publish", type=type, name=name, **fields)
        self.wait("published", name=name)

    def state(self, name="activity"):
        """The app's counter and the activity's userInfo, as they are now."""
        self.do("state", name=name)
        return self.wait("state")

    def until(self, event, **fields):
        """What was told from here on, up to this event, as names and the event itself."""
        begin = len(self.seen)
        last = self.wait(event, **fields)
        return [line["event"] for line in self.seen[begin:]], last

    def quiet(self, *events):
        """Fails when one of these events has come, up to now. Whatever the app was to be told before is told."""
        begin = len(self.seen)
        self.state()
        came = [line for line in self.seen[begin:] if line["event"] in events]
        expect(not came, f"nothing of that kind was to come: {came}")

    @property
    def cpu(self):
        """The processor time that it has used, in seconds."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def descriptors(self):
        """How many are open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    @property
    def memory(self):
        """What is resident, in bytes."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def is_well(self):
        """Whether it still runs and answers."""
        if self.process.poll() is not None:
            raise Failure(f"the app has ended with {self.process.returncode}: {open(self.log).read()[-2000:]}")
        self.state()

    def end(self):
        """Ends its input, and with it the app; answers the exit code."""
        self.process.stdin.close()
        return self.process.wait(20)


def only_on(app, place, but=()):
    """Fails unless all callbacks came at a place: main, queue or elsewhere."""
    wrong = [line for line in app.seen if line["where"] != place and line["event"] not in but]
    expect(not wrong, f"callbacks not on {place}: {wrong}")
