"""An app that uses HandoffKit, driven by a test: commands are written to its standard input, and
its output reports the callbacks of HandoffKit."""

import json
import os
import subprocess

from harness import BIN, Failure, Follower, expect

PROGRAM = os.path.join(BIN, "KitProgram")


class App(Follower):
    """A KitProgram connected to a daemon's socket. `mode` is what serves its callbacks: runloop, dispatch or none."""

    def __init__(self, daemon, types=(), team=None, mode="runloop", program=PROGRAM, configure=True):
        expect(os.access(PROGRAM, os.X_OK), f"no KitProgram in {BIN}; build it with scripts/build")
        log = os.path.join(daemon.folder, f"app-{len(daemon.stage.processes)}.log")
        self.daemon = daemon
        super().__init__(daemon.stage, [program, mode], daemon.environment, log, input=subprocess.PIPE)
        if configure:
            self.do("app", types=list(types), team=team)

    def do(self, what, **fields):
        """Sends a command."""
        fields = {key: value for key, value in fields.items() if value is not None}
        self.process.stdin.write(json.dumps({"do": what, **fields}).encode() + b"\n")
        self.process.stdin.flush()

    def handle(self, how="accept"):
        """Continues activities from now on. Returns when the daemon knows."""
        self.do("handle", how=how)
        self.wait("connected")
        return self

    def publish(self, type, name="activity", **fields):
        """Publishes an activity. Returns its id, once the daemon has it."""
        self.do("publish", type=type, name=name, **fields)
        self.wait("published", name=name)

    def state(self, name="activity"):
        """Returns the current counter of the app and the userInfo of its activity."""
        self.do("state", name=name)
        return self.wait("state")

    def block(self, callback):
        """Makes the next call of this callback block. Returns when the app has received the command."""
        self.do("block", **{"in": callback})
        self.state()

    def until(self, event, **fields):
        """Returns the callbacks from here on, up to this event, as names and the event itself."""
        begin = len(self.seen)
        last = self.wait(event, **fields)
        return [line["event"] for line in self.seen[begin:]], last

    def quiet(self, *events):
        """Fails if one of these events has occurred so far. All callbacks up to now have been reported."""
        begin = len(self.seen)
        self.state()
        came = [line for line in self.seen[begin:] if line["event"] in events]
        expect(not came, f"unexpected events: {came}")

    @property
    def cpu(self):
        """Returns the processor time that it has used, in seconds."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def descriptors(self):
        """Returns the number of open descriptors."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    @property
    def memory(self):
        """Returns the resident memory, in bytes."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def is_well(self):
        """Checks that it still runs and answers."""
        if self.process.poll() is not None:
            raise Failure(f"the app has exited with {self.process.returncode}: {open(self.log).read()[-2000:]}")
        self.state()

    def end(self):
        """Closes its input, which ends the app. Returns the exit code."""
        self.process.stdin.close()
        return self.process.wait(60)


def only_on(app, place, but=()):
    """Fails unless all callbacks occurred on a place: main, queue or elsewhere."""
    wrong = [line for line in app.seen if line["where"] != place and line["event"] not in but]
    expect(not wrong, f"callbacks not on {place}: {wrong}")
