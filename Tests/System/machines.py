"""Booted machines for tests (Tests/Lab/machines): commands on them, and what their user's service does."""

import os
import time

from harness import BIN, ROOT, Failure, run

MACHINES = os.path.join(ROOT, "Tests", "Lab", "machines")


class Machine:
    """A booted machine with a user, alice, whose manager runs."""

    def __init__(self, lab, name):
        self.lab, self.name = lab, name

    def root(self, *words, code=0, input=None):
        return self.lab.command("exec", self.name, *words, code=code, input=input)

    def user(self, *words, code=0, input=None, within=60):
        return self.lab.command("user", self.name, *words, code=code, input=input, within=within)

    def ctl(self, *words, **more):
        return self.user("handoffctl", "--json", *words, **more)

    def systemctl(self, *words, **more):
        return self.user("systemctl", "--user", *words, **more)

    def show(self, *properties):
        output = self.systemctl("show", "handoffd.service", *(f"--property={name}" for name in properties)).output
        return dict(line.split("=", 1) for line in output.splitlines() if "=" in line)

    def until(self, what, condition, within=30):
        limit = time.monotonic() + within
        while not condition():
            if time.monotonic() > limit:
                journal = self.user("journalctl", "--user", "--no-pager", "-n", "30", code=None).output
                raise Failure(f"{what} did not happen within {within} s\n{journal}")
            time.sleep(0.1)

    def install(self):
        """Installs programs and units for its user, without a package."""
        self.lab.command("put", self.name, os.path.join(BIN, "handoffd"), os.path.join(BIN, "handoffctl"), "/usr/bin")
        units = [os.path.join(ROOT, "systemd", name)
                 for name in ("handoffd.service", "handoffd.service.d", "handoffd.socket")]
        self.lab.command("put", self.name, *units, "/etc/systemd/user")
        self.systemctl("daemon-reload")


class Machines:
    """Booted machines of a test; they end with it."""

    def __init__(self, stage, count, install=True):
        self.name = os.path.basename(stage.folder)
        stage.closers.append(lambda: self.command("down"))
        self.command("up", str(count), within=120)
        self.machines = [Machine(self, f"m{number}") for number in range(1, count + 1)]
        for machine in self.machines if install else []:
            machine.install()

    def command(self, *words, code=0, input=None, within=60):
        result = run([MACHINES, *words], {**os.environ, "LAB": self.name}, within, input)
        if code is not None and result.code != code:
            raise Failure(str(result))
        return result
