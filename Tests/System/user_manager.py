"""A systemd user manager with a bus of its own, for machines without a running systemd: in its own
mount namespace and control group, as root."""

import os
import shutil
import signal
import subprocess
import time

from harness import Failure, Skip, run

MANAGER = "/lib/systemd/systemd"
# systemd requires that the machine was booted with it, and that its own group has the name of a user manager's group.
BEGIN = """
set -eu
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system
for group in $GROUPS_OF_MANAGER; do echo $$ >"$group/cgroup.procs"; done
exec "$0" --user --unit=basic.target --log-target=console --log-level=info
"""


class UserManager:
    """`environment` is what a daemon needs to reach it. `variables`: more variables of the manager."""

    def __init__(self, stage, variables=()):
        if os.geteuid() != 0:
            raise Skip("a user manager of its own needs root")
        if not os.access(MANAGER, os.X_OK) or not shutil.which("dbus-daemon"):
            raise Skip("systemd and dbus-daemon are not installed")
        self.folder = os.path.join(stage.folder, "manager")
        os.mkdir(self.folder, 0o700)
        self.path = os.path.join(self.folder, "bus")
        self.bus = f"unix:path={self.path}"
        self.log = os.path.join(self.folder, "log")
        self.environment = {"XDG_RUNTIME_DIR": self.folder, "DBUS_SESSION_BUS_ADDRESS": self.bus}
        self.groups = [os.path.join(root, "user.slice", "user-0.slice", f"user@{os.getpid()}.service")
                       for root in self._hierarchies()]
        stage.closers.append(self._remove)
        try:
            for group in self.groups:
                os.makedirs(group, exist_ok=True)
        except OSError as error:
            # This depends on the system: a container may have read-only control groups, even for root.
            raise Skip(f"cannot create a control group: {error}", optional=True) from None
        self._start(stage, ["dbus-daemon", "--session", f"--address={self.bus}", "--nofork"], {})
        self._await(lambda: os.path.exists(self.path), "the bus")
        self.manager = self._start(
            stage, ["unshare", "--mount", "--propagation", "private", "sh", "-c", BEGIN, MANAGER],
            {"GROUPS_OF_MANAGER": " ".join(self.groups), **dict(variables)})
        self._await(self._is_there, "the manager")

    def call(self, *words):
        """Runs systemctl --user."""
        return run(["systemctl", "--user", *words], self._variables({}))

    def bus_call(self, method):
        """Calls a method of the bus itself."""
        done = run(["busctl", "--user", "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", method], self._variables({}))
        if done.code:
            raise Failure(str(done))

    def _is_there(self):
        # Not systemctl, which has a private socket to the manager that exists earlier.
        return run(["busctl", "--user", "status", "org.freedesktop.systemd1"], self._variables({})).code == 0

    @staticmethod
    def _hierarchies():
        with open("/proc/self/mounts") as file:
            mounts = [line.split() for line in file]
        roots = [mount[1] for mount in mounts
                 if mount[2] == "cgroup2" or (mount[2] == "cgroup" and "name=systemd" in mount[3])]
        if not roots:
            # As above, a container may have none.
            raise Skip("no control groups", optional=True)
        return roots

    def _variables(self, more):
        return {"PATH": "/usr/bin:/bin", "HOME": self.folder, "LANG": "C.UTF-8", **self.environment, **more}

    def _start(self, stage, words, more):
        with open(self.log, "ab") as log:
            process = subprocess.Popen(
                words, env=self._variables(more), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        stage.processes.append(process)
        return process

    def _await(self, condition, what, within=60):
        limit = time.monotonic() + within
        while not condition():
            if time.monotonic() > limit or (hasattr(self, "manager") and self.manager.poll() is not None):
                with open(self.log, errors="replace") as file:
                    raise Skip(f"{what} does not run here: {file.read()[-500:]}")
            time.sleep(0.05)  # There is no event for it.

    def _remove(self):
        for group in self.groups:
            for folder, _, _ in os.walk(group, topdown=False):
                self._empty(folder)

    @staticmethod
    def _empty(folder):
        try:
            with open(os.path.join(folder, "cgroup.procs")) as file:
                for line in file:
                    os.kill(int(line), signal.SIGKILL)
        except OSError:
            pass
        for _ in range(100):
            try:
                return os.rmdir(folder)
            except FileNotFoundError:
                return None
            except OSError:
                time.sleep(0.02)  # Until the processes have exited.
        raise Failure(f"{folder} remains")
