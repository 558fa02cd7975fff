#!/usr/bin/env python3
"""doctor finds problems and names their remedies.

Daemons on this machine's loopback interface. Conditions that concern the whole machine are
simulated for one program only: in a mount or user namespace of its own, by a limit of its process,
or by a clock that is loaded before the C library.
"""

import json
import os
import shutil
import signal
import subprocess

import harness
from harness import Skip, expect, run, test
from logind import Logind

TYPE = "com.example.editing"
IN_NAMESPACE = ["unshare", "--mount", "--propagation", "private", "sh", "-c"]


def doctor(daemon, *options, prefix=()):
    return run([*prefix, os.path.join(harness.BIN, "handoffctl"), "--socket", daemon.socket, *options, "doctor"],
               daemon.environment)


def checks(daemon, code=None, prefix=()):
    """Returns the findings of doctor by name. If a name has several, the worst one."""
    result = doctor(daemon, "--json", prefix=prefix)
    expect(result.code in (0, 1) and (code is None or result.code == code), str(result))
    expect(result.code == int(any(line["state"] == "problem" for line in result.lines)), str(result))
    found = {}
    for line in result.lines:
        expect(line["version"] == 1 and line["state"] in ("ok", "warning", "problem") and line["message"], f"{line}")
        expect((line["remedy"] is None) == (line["state"] == "ok"), f"{line}")
        states = ("ok", "warning", "problem")
        if states.index(found.get(line["check"], {"state": "ok"})["state"]) <= states.index(line["state"]):
            found[line["check"]] = line
    return found


def ask_until(daemon, check, **fields):
    """Polls until a check has these fields, because a simulated condition may take effect later.
    The test's time limit ends it."""
    while True:
        found = checks(daemon)[check]
        if all(found[key] == value for key, value in fields.items()):
            return found


def is_root():
    if os.geteuid() != 0:
        raise Skip("folders in place of /etc and /run need root")


def machine(stage, etc=(), run=()):
    """Returns a command prefix with which the command sees these files below /etc and /run, given
    as pairs of paths and texts."""
    is_root()
    folders = []
    for name, files in (("etc", etc), ("run", run)):
        folder = os.path.join(stage.folder, name)
        if not os.path.exists(folder):
            os.mkdir(folder)
            if name == "etc":
                leave = shutil.ignore_patterns("ufw", "firewalld", "nftables*", "iptables", "avahi", "ssl", "alternatives", "handoff")
                shutil.copytree("/etc", folder, symlinks=True, ignore=leave, ignore_dangling_symlinks=True,
                                dirs_exist_ok=True)
        for path, text in files:
            path = os.path.join(folder, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)
        folders.append(folder)
    mounts = 'mount --bind "$0" /etc && mount --bind "$1" /run'
    return [*IN_NAMESPACE, mounts + ' && shift && exec "$@"', *folders]


def account(stage, **more):
    origin = stage.daemon("origin", **more)
    origin.ctl("account", "create")
    return origin


@test("there is no problem if two devices find each other")
def well(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    watch.wait("ready")
    origin.publish(TYPE)
    watch.wait("added")
    found = checks(taker, code=0, prefix=machine(stage))
    for name in ("daemon", "account", "switches", "discovery", "port", "firewall", "files", "state", "devices"):
        expect(found[name]["state"] == "ok", f"{found.get(name)}")
    expect("origin" in found["devices"]["message"], f"{found['devices']}")
    text = doctor(taker)
    expect("\nok       daemon     handoffd" in "\n" + text.output, str(text))
    # Problems are listed first, with their remedies.
    states = [line.split()[0] for line in text.output.splitlines() if not line.startswith(" ")]
    expect(states == sorted(states, key=["problem", "warning", "ok"].index), str(text))
    expect("\n                    -> " in text.output, str(text))


@test("1: a daemon that is not running, and the other checks still run")
def no_daemon(stage):
    origin = stage.daemon("origin", start=False)
    found = checks(origin, code=1)
    expect(found["daemon"]["state"] == "problem" and "systemctl --user start handoffd" in found["daemon"]["remedy"], f"{found}")
    expect("clock" in found and "sandbox" in found and "account" not in found, f"{found}")


@test("2: a frozen daemon")
def hangs(stage):
    origin = account(stage)
    origin.process.send_signal(signal.SIGSTOP)
    try:
        found = checks(origin, code=1)
    finally:
        origin.process.send_signal(signal.SIGCONT)
    expect("does not respond" in found["daemon"]["message"] and found["daemon"]["remedy"], f"{found}")


@test("3: no account")
def no_account(stage):
    found = checks(stage.daemon("origin"), code=1)
    expect(found["account"]["state"] == "problem" and "handoffctl join" in found["account"]["remedy"], f"{found}")


@test("4: features that the user has disabled, with the command that enables them")
def switches(stage):
    origin = account(stage)
    origin.ctl("receive", "off")
    found = checks(origin, code=1)
    expect(found["switches"]["remedy"] == "handoffctl receive on", f"{found}")
    origin.ctl(*found["switches"]["remedy"].split()[1:])
    expect(checks(origin)["switches"]["state"] == "ok", "the remedy does not work")


@test("5: features that the administrator has disabled, with the file")
def policy(stage):
    origin = stage.daemon("origin", start=False)
    words, prefix = origin.words, machine(stage, etc=[("handoff/policy.d/10-x.conf", "advertise = no\n")])
    origin.words = lambda *more: [*prefix, *words(*more)]
    origin.start()
    origin.ctl("account", "create")
    found = checks(origin, code=1)
    expect(found["switches"]["state"] == "problem" and "10-x.conf:1" in found["switches"]["message"], f"{found}")
    expect("/etc/handoff/policy.d" in found["switches"]["remedy"], f"{found}")


@test("6: a locked screen")
def locked(stage):
    logind = Logind(stage)
    logind.session("2", Type="wayland", LockedHint=True)
    origin = stage.daemon("origin", start=False, configuration="lock-delay = 0 s\n")
    origin.extra = logind.environment
    origin.start()
    origin.ctl("account", "create")
    found = ask_until(origin, "switches", state="warning")
    expect("lock-delay" in found["remedy"], f"{found}")


@test("7: Avahi is not running although it is the only configured discovery")
def avahi(stage):
    origin = stage.daemon("origin", start=False, discovery="avahi")
    # If Avahi runs, this daemon cannot reach it.
    origin.extra = {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"}
    origin.start()
    origin.ctl("account", "create")
    found = ask_until(origin, "discovery", state="problem")
    expect("systemctl enable --now avahi-daemon" in found["remedy"], f"{found}")


@test("8: Avahi blocks other programs from using multicast DNS")
def selfish(stage):
    origin = account(stage)
    ask_until(origin, "discovery", state="ok")
    found = checks(origin, code=1, prefix=machine(
        stage, etc=[("avahi/avahi-daemon.conf", "[server]\ndisallow-other-stacks=yes\n")], run=[("avahi-daemon/pid", "1\n")]))
    expect(found["discovery"]["state"] == "problem" and "disallow-other-stacks=no" in found["discovery"]["remedy"], f"{found}")


@test("9, 10: an active firewall is reported with the command that allows the ports")
def firewalls(stage):
    origin = account(stage)
    port = origin.ctl("status").line["port"]
    for etc, run, name, remedy in (
            ([("ufw/ufw.conf", "ENABLED=yes\n")], [], "ufw", f"sudo ufw allow {port}"),
            ([("ufw/ufw.conf", "ENABLED=no\n")], [("firewalld.pid", "1\n")], "firewalld", f"--add-port={port}/tcp"),
            ([("systemd/system/sysinit.target.wants/nftables.service", "")], [], "nftables", f"{port}, 24863-24872"),
            ([("iptables/rules.v4", "*filter\n")], [], "iptables", f"{port},24863:24872")):
        found = checks(origin, prefix=machine(stage, etc=etc, run=run))["firewall"]
        expect(found["state"] == "warning" and found["message"].startswith(f"{name} is active"), f"{found}")
        expect(remedy in found["remedy"], f"{found}")
        for folder, files in (("etc", etc), ("run", run)):
            for path, _ in files:
                os.unlink(os.path.join(stage.folder, folder, path))


@test("11: a clock that is far ahead of another device's clock")
def clock(stage):
    source = stage.file("clock.c", "#include <time.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n"
                        "time_t time(time_t *to) { struct timespec now; syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);\n"
                        "now.tv_sec += 7200; if (to) *to = now.tv_sec; return now.tv_sec; }\n")
    library = os.path.join(stage.folder, "clock.so")
    try:
        done = subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], capture_output=True, text=True, timeout=60)
    except OSError:
        raise Skip("no C compiler (cc) found") from None
    expect(done.returncode == 0, done.stderr)
    origin, taker = stage.daemon("origin", start=False), stage.daemon("taker")
    origin.extra = {"LD_PRELOAD": library}
    origin.start()
    stage.join(origin, taker)
    watch = taker.follow("watch")
    watch.wait("ready")
    origin.publish(TYPE)
    watch.wait("added")
    found = checks(taker)["clock"]
    expect(found["state"] == "warning" and "origin" in found["message"] and "timedatectl" in found["remedy"], f"{found}")


@test("12: an invalid manifest, with file and reason")
def manifest(stage):
    origin = stage.daemon("origin", start=False)
    folder = os.path.join(origin.environment["HOME"], ".config", "handoff", "handlers.d")
    os.makedirs(folder)
    with open(os.path.join(folder, "broken.json"), "w") as file:
        file.write('{"name": "Broken"')
    origin.start()
    origin.ctl("account", "create")
    result = doctor(origin, "--json")
    while "broken.json" not in result.output:
        result = doctor(origin, "--json")
    line = next(line for line in result.lines if "broken.json" in line["message"])
    expect(line["check"] == "apps" and line["state"] == "warning" and "fix" in line["remedy"], f"{line}")
    with open(os.path.join(folder, "broken.json"), "w") as file:
        json.dump({"name": "Whole", "exec": ["/bin/true"], "types": [TYPE]}, file)
    expect(ask_until(origin, "apps", state="ok")["message"] == "one app continues activities", "the remedy does not work")


@test("13: user namespaces are disabled, so that the unit does not start")
def namespaces(stage):
    origin = stage.daemon("origin", start=False)
    prefix = ["unshare", "--user", "--map-root-user", "sh", "-c", 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" "$@"']
    if run([*prefix, "/bin/true"], origin.environment).code != 0:
        raise Skip("no user namespace can be created here")
    found = checks(origin, code=1, prefix=prefix)
    expect(found["sandbox"]["state"] == "problem" and "50-sandbox.conf" in found["sandbox"]["remedy"], f"{found}")
    origin.start()
    found = checks(origin, prefix=prefix)
    expect(found["sandbox"]["state"] == "warning" and "sysctl" in found["sandbox"]["remedy"], f"{found}")


@test("14: a state folder that other users can enter")
def folder(stage):
    origin = account(stage)
    os.chmod(origin.state, 0o755)
    found = checks(origin, code=1)
    expect(found["state"]["remedy"] == f"chmod 700 '{origin.state}'", f"{found}")
    subprocess.run(found["state"]["remedy"], shell=True, check=True, timeout=10)
    expect(checks(origin)["state"]["state"] == "ok", "the remedy does not work")


@test("15: the limit of open files is low")
def files(stage):
    origin = stage.daemon("origin", start=False)
    words = origin.words
    origin.words = lambda *more: ["prlimit", "--nofile=512", "--memlock=4096", *words(*more)]
    origin.start()
    origin.ctl("account", "create")
    found = checks(origin)
    expect(found["files"]["state"] == "warning" and "512" in found["files"]["message"]
           and "LimitNOFILE" in found["files"]["remedy"], f"{found}")
    expect(found["memory"]["state"] == "warning" and "LimitMEMLOCK" in found["memory"]["remedy"], f"{found}")


@test("16: an account of one device, and only static addresses")
def static(stage):
    found = checks(account(stage, discovery="static"))
    expect(found["discovery"]["state"] == "warning" and "handoffctl peer add" in found["discovery"]["remedy"], f"{found}")
    expect(found["devices"]["state"] == "warning" and "handoffctl pair" in found["devices"]["remedy"], f"{found}")


@test("17: an offline device, with the time at which it was last seen")
def gone(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    watch.wait("ready")
    origin.publish(TYPE, "--no-keep")
    watch.wait("added")
    origin.stop()
    watch.wait("removed")
    found = checks(taker)["devices"]
    expect(found["state"] == "warning" and "origin" in found["message"] and "just now" in found["message"]
           and "handoffctl peer add" in found["remedy"], f"{found}")


@test("18: no network, which pair reports as well")
def alone(stage):
    is_root()
    origin = stage.daemon("origin", start=False)
    at = origin.options.index("--interface")
    del origin.options[at:at + 2]
    words = origin.words
    origin.words = lambda *more: ["unshare", "--net", *words(*more)]
    origin.start()
    origin.ctl("account", "create")
    found = checks(origin, code=1)
    expect(found["network"]["state"] == "problem" and found["network"]["message"].startswith("no network: "), f"{found}")
    expect("discovery" not in found or found["discovery"]["state"] != "ok", f"{found}")
    pair = subprocess.Popen([os.path.join(harness.BIN, "handoffctl"), "--socket", origin.socket, "pair", "--yes"],
                            env=origin.environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE)
    stage.processes.append(pair)
    line = pair.stderr.readline()
    expect("this device has no address at which it can be reached" in line, line)
    pair.send_signal(signal.SIGINT)
    expect(pair.wait(30) == 130, "wrong exit status of an interrupted window")


@test("19: an interface that does not exist, which is also reported at the start")
def no_interface(stage):
    origin = stage.daemon("origin", interface="nope0")
    origin.ctl("account", "create")
    found = checks(origin, code=1)
    expect(found["network"]["state"] == "problem" and found["network"]["message"].endswith(": nope0"), f"{found}")
    with open(origin.log) as log:
        expect("A configured network interface does not exist interface=nope0" in log.read(), harness.tail(origin.log))
    both = stage.daemon("both", options=["--interface", "nope0"])
    both.ctl("account", "create")
    found = checks(both)
    expect(found["network"]["state"] == "warning" and found["discovery"]["state"] == "ok", f"{found}")


if __name__ == "__main__":
    harness.main()
