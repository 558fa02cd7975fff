"""The resources that a process in the daemon's place can reach: the shipped units with a probe
instead of handoffd, on booted machines. Needs root (Tests/Lab/machines)."""

import json
import os

from harness import ROOT, expect, main, test
from machines import Machines
from sandbox_probe import SECRETS, SOCKETS, WRITES

HOME = "/home/alice"
RUNTIME = "/run/user/1000"
PROBE = "/opt/test/sandbox_probe.py"
LISTEN = """
import os, select, socket
for path in ("gnupg/S.gpg-agent", "keyring/ssh"):
    os.makedirs(os.path.dirname(f"/run/user/1000/{path}"), exist_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"/run/user/1000/{path}")
    listener.listen()
    globals()[path] = listener
open("/run/user/1000/agents-listen", "w").close()
select.select([], [], [])
"""
# The user's files and services, none of which the daemon needs.
PLANT = f"""
set -eu
cd {HOME}
for path in {' '.join(SECRETS)}; do mkdir -p "${{path%/*}}" 2>/dev/null || true; done
for path in {' '.join(WRITES)}; do case $path in */*) mkdir -p "${{path%/*}}";; esac; done
for path in {' '.join(SECRETS)}; do [ -d "$path" ] && rmdir "$path"; echo secret >"$path"; done
echo yes >.config/handoff/settings
rm -f {' '.join(path for path in WRITES if 'handoff' in path)}
"""


def prepare(stage):
    machine = Machines(stage, 1).machines[0]
    machine.put("/opt/test", os.path.join(ROOT, "Tests", "System", "sandbox_probe.py"))
    machine.user("sh", "-c", PLANT)
    machine.user("systemd-run", "--user", "--quiet", "--unit=agents", "/usr/bin/python3", "-c", LISTEN)
    machine.until("the agents", lambda: machine.exists(f"{RUNTIME}/agents-listen"))
    machine.systemctl("enable", "--now", "handoffd.socket", "handoff-desktop.socket")
    return machine


def manager(machine):
    return machine.root("systemctl", "show", "user@1000.service", "--property=MainPID", "--value").output.strip()


def reported(machine, path):
    machine.until(f"a report in {path}", lambda: machine.exists(path))
    return json.loads(machine.root("cat", path).output)


def start_probe(machine, service, report, *lines):
    """Starts a service with the probe in place of its program."""
    folder = f"/etc/systemd/user/{service}.d"
    machine.root("mkdir", "-p", folder)
    words = f"/usr/bin/python3 {PROBE} {report} {HOME} {RUNTIME} {manager(machine)}"
    drop_in = "\n".join(["[Service]", "Type=exec", "Restart=no", *lines, "ExecStart=", f"ExecStart={words}"]) + "\n"
    machine.root("sh", "-c", f"cat >{folder}/90-probe.conf", input=drop_in.encode())
    machine.systemctl("daemon-reload")
    machine.systemctl("start", service)


@test("a compromised daemon reaches only its own files in home and session, and through the desktop only declared apps",
      limit=240)
def confined(stage):
    machine = prepare(stage)
    # Outside the sandbox everything is reachable, which proves that the probe checks the right things.
    outside = f"{HOME}/outside"
    machine.user("/usr/bin/python3", PROBE, outside, HOME, RUNTIME, manager(machine))
    free = reported(machine, outside)
    wanted = {*SECRETS, *(f"write {path}" for path in WRITES), *(f"socket {path}" for path in SOCKETS), "service manager"}
    expect(wanted <= set(free["reached"]), f"the probe does not reach existing items: {wanted - set(free['reached'])}")
    machine.user("sh", "-c", f"cd {HOME} && rm -f {' '.join(path for path in WRITES if 'handoff' in path)}")

    report = f"{HOME}/.config/handoff/state/report"
    start_probe(machine, "handoffd.service", report)
    found = reported(machine, report)
    expect(found["reached"] == [], f"it reaches {found['reached']}")
    expect(found["home"] == [".config"], f"it sees of the home: {found['home']}")
    expect(set(found["runtime"]) == {"handoff", "handoff-app", "handoff-desktop", "systemd"},
           f"it sees of the runtime folder: {found['runtime']}")
    expect(found["state"] and found["configuration"], f"it does not see its own files: {found}")
    service = "dev.handoff1.Desktop.NotStarted"
    invalid = "org.varlink.service.InvalidParameter"
    expect(found["desktop"] == {"machine": True, "unknown app": service, "command": invalid, "file": invalid,
                                "script": invalid, "option": invalid}, f"the desktop replies {found['desktop']}")
    written = machine.exists(*(f"{HOME}/{path}" for path in WRITES if "handoff" in path))
    expect(written == [], f"it has written {written}")


@test("the desktop's program reads the whole home folder and reaches every bus and service, and can write no file", limit=240)
def desktop(stage):
    machine = prepare(stage)
    # Opened by the service manager. The program itself could not.
    report = f"{HOME}/report"
    start_probe(machine, "handoff-desktop.service", "-", f"StandardOutput=file:{report}")
    machine.until("the probe's end", lambda: machine.systemctl("is-active", "handoff-desktop.service", code=None).output
                  != "active\n")
    found = reported(machine, report)
    wanted = {*SECRETS, *(f"socket {path}" for path in SOCKETS), "service manager"}
    expect(set(found["reached"]) == wanted, f"it reaches {found['reached']}")
    expect(found["configuration"], "it cannot read the user's choices")


@test("without a configuration folder, and with the desktop stopped, the service starts, and its socket is found", limit=240)
def bare(stage):
    machine = Machines(stage, 1).machines[0]
    machine.systemctl("enable", "--now", "handoffd.socket")
    machine.ctl("status")
    machine.until("the desktop", lambda: machine.systemctl("is-active", "handoff-desktop.service", code=None).output
                  == "active\n")
    # Its death does not affect the daemon, and it is restarted.
    pid = machine.systemctl("show", "handoff-desktop.service", "--property=MainPID", "--value").output.strip()
    machine.user("kill", "-KILL", pid)
    machine.until("another desktop", lambda: machine.systemctl(
        "show", "handoff-desktop.service", "--property=MainPID", "--value").output.strip() not in (pid, "0"))
    machine.ctl("status")
    expect(machine.show("NRestarts")["NRestarts"] == "0", "the daemon exited with it")


if __name__ == "__main__":
    main()
