"""The units under a real user manager, on booted machines with Avahi and D-Bus. Needs root (Tests/Lab/machines)."""

import json
import os
import time

from harness import expect, main, run, test
from machines import MACHINES, Machines


@test("the socket starts the service, which is sandboxed, restarted after a crash, and keeps one identity", limit=240)
def life(stage):
    machine = Machines(stage, 1).machines[0]
    machine.systemctl("enable", "--now", "handoffd.socket")
    modes = machine.user("stat", "-c", "%a", "/run/user/1000/handoff", "/run/user/1000/handoff/control.socket",
                         "/run/user/1000/handoff-app/app.socket").output.split()
    expect(modes == ["700", "600", "600"], f"wrong modes: {modes}")
    expect(machine.show("ActiveState")["ActiveState"] == "inactive", "it runs before the first call")
    status = json.loads(machine.ctl("status").output)
    expect(machine.show("ActiveState", "SubState")["SubState"] == "running", "the call did not start it")

    main_pid = machine.show("MainPID")["MainPID"]
    flags = machine.user("cat", f"/proc/{main_pid}/status").output
    expect("NoNewPrivs:\t1" in flags and "Seccomp:\t2" in flags, f"not confined:\n{flags}")
    spaces = [machine.root("readlink", f"/proc/{pid}/ns/{space}").output for space in ("user", "mnt")
              for pid in (main_pid, "1")]
    expect(spaces[0] != spaces[1] and spaces[2] != spaces[3], f"the namespace layer is not applied: {spaces}")
    mounts = machine.user("cat", f"/proc/{main_pid}/mounts").output
    expect(any(line.split()[1] == "/" and line.split()[3].startswith("ro") for line in mounts.splitlines()),
           "it can write to the system")

    machine.ctl("account", "create")
    files = machine.root("find", "/home/alice", "-path", "*handoff*", "-printf", "%m %y %p\n").output
    for line in files.splitlines():
        mode, kind, path = line.split(" ", 2)
        if kind == "f":
            expect(mode == "600", f"{path} has mode {mode}")

    machine.user("kill", "-KILL", main_pid)
    machine.until("a restart after kill -9", lambda: machine.show("SubState", "NRestarts") ==
                  {"SubState": "running", "NRestarts": "1"})
    again = json.loads(machine.ctl("status").output)
    expect(again["device"] == status["device"], "the identity changed after a crash")

    machine.systemctl("reload", "handoffd.service")
    machine.systemctl("stop", "handoffd.service")
    expect(machine.show("Result")["Result"] == "success", "the service did not exit cleanly")
    machine.user("test", "-S", "/run/user/1000/handoff/control.socket")
    expect(json.loads(machine.ctl("status").output)["device"] == status["device"], "the socket does not start it again")
    machine.user("test", "-S", "/run/user/1000/handoff-app/app.socket")


@test("a daemon whose loop hangs is detected by the watchdog and restarted", limit=240)
def watchdog(stage):
    machine = Machines(stage, 1).machines[0]
    machine.root("mkdir", "-p", "/etc/systemd/user/handoffd.service.d")
    machine.root("sh", "-c", "printf '[Service]\\nWatchdogSec=3\\n' >/etc/systemd/user/handoffd.service.d/60-test.conf")
    machine.systemctl("daemon-reload")
    machine.systemctl("enable", "--now", "handoffd.socket", "handoffd.service")
    # It must live for longer than the interval while it is healthy.
    began = time.monotonic()
    machine.until("two intervals", lambda: time.monotonic() - began > 7)
    expect(machine.show("NRestarts")["NRestarts"] == "0", "the watchdog killed a healthy daemon")
    machine.user("kill", "-STOP", machine.show("MainPID")["MainPID"])
    machine.until("a restart by the watchdog",
                  lambda: machine.show("SubState", "NRestarts") == {"SubState": "running", "NRestarts": "1"}, within=40)


@test("a configuration error is shown, restarts nothing, and is resolved once it is corrected", limit=240)
def mistake(stage):
    machine = Machines(stage, 1).machines[0]
    file = "/home/alice/.config/handoff/handoffd.conf"

    def configure(text):
        machine.user("sh", "-c", f"mkdir -p {os.path.dirname(file)} && printf %s '{text}' >{file}")

    def status():
        return machine.systemctl("status", "handoffd.service", code=None).output

    configure("titles = perhaps")
    machine.systemctl("enable", "--now", "handoffd.socket")
    asked = machine.ctl("status", code=None)
    expect(asked.code != 0 and "titles" in asked.errors, f"a waiting command receives no reason: {asked}")
    machine.until("the end of the start", lambda: machine.show("ActiveState")["ActiveState"] == "failed")
    shown = machine.show("NRestarts", "ExecMainStatus")
    expect(shown == {"NRestarts": "0", "ExecMainStatus": "78"}, f"restarted: {shown}")
    expect(file in status() and "titles" in status(), f"no reason: {status()}")
    sockets = machine.systemctl("show", "handoffd.socket", "--property=ActiveState").output.strip()
    expect(sockets == "ActiveState=active", f"the socket: {sockets}")

    configure("titles = no")
    machine.ctl("status")
    configure("titles = perhaps")
    refused = machine.systemctl("reload", "handoffd.service", code=None)
    expect(refused.code != 0, "the reload of an invalid configuration succeeded")
    expect("titles" in status(), f"no reason: {status()}")
    machine.ctl("status")
    configure("titles = yes")
    machine.systemctl("reload", "handoffd.service")
    expect(machine.show("SubState", "NRestarts") == {"SubState": "running", "NRestarts": "0"}, "it was restarted")


@test("without user namespaces the service runs with the sandbox drop-in masked", limit=240)
def masked(stage):
    machine = Machines(stage, 1).machines[0]
    machine.user("mkdir", "-p", "/home/alice/.config/systemd/user/handoffd.service.d")
    machine.user("ln", "-s", "/dev/null", "/home/alice/.config/systemd/user/handoffd.service.d/50-sandbox.conf")
    machine.systemctl("daemon-reload")
    machine.systemctl("enable", "--now", "handoffd.socket", "handoffd.service")
    pid = machine.show("MainPID")["MainPID"]
    spaces = [machine.root("readlink", f"/proc/{process}/ns/user").output for process in (pid, "1")]
    expect(spaces[0] == spaces[1], "the drop-in was not masked")
    machine.ctl("status")


@test("two machines hand over with their system's Avahi, between their services", limit=240)
def hand_over(stage):
    origin, taker = Machines(stage, 2).machines
    for machine in (origin, taker):
        machine.systemctl("enable", "--now", "handoffd.socket", "handoffd.service")
    origin.ctl("account", "create")
    # Through a pipe between the machines, so that the ticket is not written to a disk.
    ticket = run([MACHINES, "user", origin.name, "handoffctl", "account", "export", "/home/alice/ticket"],
                 {**os.environ, "LAB": origin.lab.name})
    expect(ticket.code == 0, str(ticket))
    moved = f"'{MACHINES}' user {origin.name} cat /home/alice/ticket | " \
            f"'{MACHINES}' user {taker.name} handoffctl account import -"
    done = run(["sh", "-c", moved], {**os.environ, "LAB": origin.lab.name})
    expect(done.code == 0, str(done))
    expect(json.loads(taker.ctl("status").output)["discovery"] == "avahi", "auto does not use Avahi")
    origin.user("systemd-run", "--user", "--unit=writer", "--collect", "handoffctl", "publish", "com.example.editing",
                "--title", "Draft", "--user-info", '{"page": 3}')
    taker.until("the offer", lambda: taker.ctl("list").output.strip() != "")
    taken = json.loads(taker.ctl("continue", "--print").output)
    expect(taken["userInfo"] == {"page": 3} and taken["title"] == "Draft", f"wrong activity: {taken}")
    origin.until("the change at the origin", lambda: "continued" in
                 origin.user("journalctl", "--user", "--no-pager", "-u", "writer").output)


if __name__ == "__main__":
    main()
