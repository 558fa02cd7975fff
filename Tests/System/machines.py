"""Booted machines for tests (Tests/Lab/machines): commands on them, the state of their user's
service, and the package for them."""

import atexit
import os
import re
import shutil
import subprocess
import tempfile
import time

from harness import BIN, ROOT, Failure, Follower, release, run

MACHINES = os.path.join(ROOT, "Tests", "Lab", "machines")
VERSIONS = tuple(f"{release()}+test{number}" for number in (1, 2))
packages = {}
HOME = "/home/alice"
# Stands in for a desktop: it reports that the screen is locked when logind requests the lock.
LOCKER = """#!/bin/sh
export LC_ALL=C
gdbus monitor --system --dest org.freedesktop.login1 | while read -r line; do
    hint() {
        busctl call org.freedesktop.login1 "${line%%:*}" org.freedesktop.login1.Session SetLockedHint b "$1"
    }
    case $line in
        *'is owned by'*) : >~/locks ;;
        *.Session.Lock\ *) hint true ;;
        *.Session.Unlock\ *) hint false ;;
    esac
done
"""


SUSPEND = """
if ! [ -d /sys/power ]; then
    mount -o remount,rw /sys
    mkdir /sys/power
fi
mountpoint -q /sys/power || mount -t tmpfs tmpfs /sys/power
echo freeze mem >/sys/power/state
mkdir -p /etc/systemd/system/systemd-suspend.service.d /etc/systemd/logind.conf.d
cat >/usr/local/sbin/sleep-until-wake <<'END'
#!/bin/sh
ip link set host0 down
echo 1 >/sys/fs/cgroup/user.slice/cgroup.freeze
: >/run/asleep
until [ -e /run/wake ]; do sleep 0.05; done
rm /run/wake /run/asleep
echo 0 >/sys/fs/cgroup/user.slice/cgroup.freeze
ip link set host0 up
ip route replace 224.0.0.0/4 dev host0
END
chmod 755 /usr/local/sbin/sleep-until-wake
printf '[Service]\nExecStart=\nExecStart=/usr/local/sbin/sleep-until-wake\n' \\
    >/etc/systemd/system/systemd-suspend.service.d/test.conf
[ -z "$1" ] || printf '[Login]\nInhibitDelayMaxSec=%s\n' "$1" >/etc/systemd/logind.conf.d/test.conf
systemctl daemon-reload
[ -z "$1" ] || systemctl restart systemd-logind
"""


def package(version=VERSIONS[0]):
    """Builds the package of these programs once for all tests. Returns its path."""
    if not packages:
        packages["folder"] = tempfile.mkdtemp(prefix="handoff-deb-")
        atexit.register(shutil.rmtree, packages["folder"], ignore_errors=True)
    others = [path for key, path in packages.items() if key != "folder"]
    if version not in packages and others:
        packages[version] = renumbered(others[0], version)
    if version not in packages:
        done = subprocess.run([os.path.join(ROOT, "scripts", "deb"), "--version", version, "--output", packages["folder"]],
                              env={**os.environ, "HANDOFF_BIN": BIN, "DPKG_DEB_COMPRESSOR_LEVEL": "0"}, capture_output=True,
                              text=True, timeout=300)
        if done.returncode:
            raise Failure(f"no package: {done.stdout}{done.stderr}")
        # The packages of the extension and of the window are next to it.
        packages[version] = next(path for path in done.stdout.split() if os.path.basename(path).startswith("handoff_"))
    return packages[version]


def window_package():
    """Returns the path of the window's package, which is built with that of the programs."""
    made = os.path.dirname(package())
    return next(os.path.join(made, name) for name in os.listdir(made) if name.startswith("handoff-settings_"))


def renumbered(path, version):
    """Returns the same package with another version, which takes a tenth of the time of a build."""
    folder = tempfile.mkdtemp(dir=packages["folder"])
    subprocess.run(["dpkg-deb", "--raw-extract", path, folder], check=True)
    control = os.path.join(folder, "DEBIAN", "control")
    with open(control) as file:
        text = file.read()
    with open(control, "w") as file:
        file.write(re.sub(r"(?m)^Version: .*$", f"Version: {version}", text))
    name, _, architecture = os.path.basename(path).rsplit("_", 2)
    made = os.path.join(packages["folder"], f"{name}_{version}_{architecture}")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", folder, made], check=True, capture_output=True)
    return made


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

    def until(self, what, condition, within=30, seen=lambda: ""):
        """Waits for a condition. The failure message contains the result of `seen`."""
        limit = time.monotonic() + within
        while not condition():
            if time.monotonic() > limit:
                journal = self.user("journalctl", "--user", "--no-pager", "-n", "30", code=None).output
                raise Failure(f"timed out after {within} s waiting for {what} {seen()}\n{journal}")
            time.sleep(0.1)

    def put(self, folder, *paths):
        """Copies files into a folder of the machine."""
        self.lab.command("put", self.name, *paths, folder)

    def exists(self, *paths):
        """Returns the paths that exist."""
        return [path for path in paths if self.root("test", "-e", path, code=None).code == 0]

    def follow(self, *words):
        """Starts a command of handoffctl that continues to run."""
        stage = self.lab.stage
        log = os.path.join(stage.folder, f"{self.name}-{words[0]}-{len(stage.processes)}.log")
        return Follower(stage, [MACHINES, "user", self.name, "handoffctl", "--json", *words],
                        {**os.environ, "LAB": self.lab.name}, log)

    def apt(self, *words):
        return self.lab.command("exec", self.name, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--yes",
                                "--no-install-recommends", *words, within=180)

    def install_package(self, version=VERSIONS[0]):
        path = package(version)
        self.put("/var/cache/test", path)
        self.apt("install", f"/var/cache/test/{os.path.basename(path)}")

    def can_suspend(self, delay=""):
        """Makes logind suspend this machine as if its kernel could. The last step is replaced: the network is cut and the
        user's processes are frozen, as in a machine that sleeps, until `wake`. `delay` is the maximum delay that logind
        grants, in seconds."""
        self.root("sh", "-eu", "-c", SUSPEND, "sh", delay)

    def suspend(self, code=0):
        self.root("systemctl", "--no-block", "suspend", code=code)
        self.until("the sleep", lambda: self.exists("/run/asleep"))

    def wake(self):
        """Returns before logind reports that the machine is awake."""
        self.root("touch", "/run/wake")

    def cut(self):
        """Ends the machine as a power cut does."""
        self.lab.command("cut", self.name)

    def start(self):
        self.lab.command("start", self.name)

    def install(self):
        """Installs programs and units for its user, without a package."""
        self.lab.command("put", self.name, *(os.path.join(BIN, name) for name in ("handoffd", "handoff-desktop", "handoffctl")),
                         "/usr/bin")
        units = [os.path.join(ROOT, "systemd", name)
                 for name in ("handoffd.service", "handoffd.service.d", "handoffd.socket", "handoff-desktop.service",
                              "handoff-desktop.service.d", "handoff-desktop.socket")]
        self.lab.command("put", self.name, *units, "/etc/systemd/user")
        self.systemctl("daemon-reload")


class Machines:
    """Booted machines of a test, which end with it."""

    def __init__(self, stage, count, install=True, releases=()):
        self.stage, self.name = stage, os.path.basename(stage.folder)
        stage.closers.append(lambda: self.command("down"))
        self.command("up", str(count), *releases, within=120)
        self.machines = [Machine(self, f"m{number}") for number in range(1, count + 1)]
        for machine in self.machines if install else []:
            machine.install()

    def command(self, *words, code=0, input=None, within=60):
        result = run([MACHINES, *words], {**os.environ, "LAB": self.name}, within, input)
        if code is not None and result.code != code:
            raise Failure(str(result))
        return result


def write(machine, path, content, mode="644"):
    machine.user("sh", "-c", 'mkdir -p "${1%/*}" && cat >"$1" && chmod "$2" "$1"', "sh", path, mode, input=content.encode())


def session(machine, type):
    """Starts a session of alice as a display manager does. Returns its id."""
    def ids():
        return {line.split()[0] for line in machine.root("loginctl", "list-sessions", "--no-legend").output.splitlines()}

    before = ids()
    machine.user("rm", "-f", f"{HOME}/locks")
    machine.root("sh", "-c", "cat >/etc/pam.d/test-desk", input=b"account required pam_permit.so\nsession required pam_systemd.so\n")
    write(machine, f"{HOME}/locker", LOCKER, "755")
    machine.root("systemd-run", f"--unit=desk-{type}", "--property=User=alice", "--property=PAMName=test-desk",
                 f"--setenv=XDG_SESSION_TYPE={type}", "--setenv=XDG_SESSION_CLASS=user", f"{HOME}/locker")
    machine.until("the locker", lambda: machine.exists(f"{HOME}/locks"))
    return next(iter(ids() - before))
