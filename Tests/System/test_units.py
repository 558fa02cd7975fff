"""Files that describe the programs: the systemd units, as systemd's own tools rate them, and the picture of the targets."""

import os
import re
import shutil
import subprocess

from harness import ROOT, Skip, expect, main, test

UNITS = os.path.join(ROOT, "systemd")
SCORE_LIMIT = 2.5

# Directives that a user manager applies only inside a user namespace, and otherwise ignores silently.
NEEDS_USER_NAMESPACE = {
    "BindPaths", "BindReadOnlyPaths", "CapabilityBoundingSet", "ExecPaths", "InaccessiblePaths", "NoExecPaths",
    "PrivateDevices", "PrivateIPC", "PrivateMounts", "PrivateNetwork", "PrivateTmp", "ProcSubset", "ProtectClock",
    "ProtectControlGroups", "ProtectHome", "ProtectHostname", "ProtectKernelLogs", "ProtectKernelModules",
    "ProtectKernelTunables", "ProtectProc", "ProtectSystem", "ReadOnlyPaths", "ReadWritePaths", "RootDirectory",
    "TemporaryFileSystem",
}


def settings(path):
    """Returns the settings of a unit file in order: section, key, value."""
    section, found = None, []
    with open(path) as file:
        for line in file:
            line = line.strip()
            if line.startswith("["):
                section = line[1:-1]
            elif line and line[0] not in "#;":
                key, _, value = line.partition("=")
                found.append((section, key, value))
    return found


def copies(stage):
    """Copies the units into a folder of their own, with a program that exists."""
    if not shutil.which("systemd-analyze"):
        raise Skip("systemd-analyze is missing")
    folder = os.path.join(stage.folder, "units")
    shutil.copytree(UNITS, folder)
    os.rename(os.path.join(folder, "handoffd@.service"), os.path.join(folder, "handoffd@alice.service"))
    for name in ("handoffd.service", "handoff-desktop.service", "handoff-deliver.service", "handoff-programs.service",
                 "handoff-clipboard.service", "handoffd@alice.service"):
        path = os.path.join(folder, name)
        with open(path) as file:
            text = re.sub(r"(?m)^Exec(Start|Reload)=(/usr/lib/handoff/)?handoff(d|-desktop|ctl|-programs|-clipboard)\b",
                          r"Exec\1=/bin/true", file.read())
        with open(path, "w") as file:
            file.write(text)
    return folder


def analyze(*words):
    return subprocess.run(["systemd-analyze", "--no-pager", *words], capture_output=True, text=True,
                          env={**os.environ, "SYSTEMD_COLORS": "0", "LANG": "C.UTF-8"})


@test("systemd-analyze verify reports nothing")
def verify(stage):
    folder = copies(stage)
    os.environ.setdefault("XDG_RUNTIME_DIR", stage.folder)
    for words in (["--user", "handoffd.service", "handoffd.socket", "handoff-desktop.service", "handoff-desktop.socket",
                   "handoff-deliver.service", "handoff-programs.service", "handoff-programs.path", "handoff-clipboard.service"],
                  ["--system", "handoffd@alice.service"]):
        done = analyze("verify", "--man=no", words[0], *(os.path.join(folder, name) for name in words[1:]))
        ours = [line for line in (done.stdout + done.stderr).splitlines() if "handoff" in line]
        expect(done.returncode == 0 and not ours, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")


@test(f"the exposure score is at most {SCORE_LIMIT}, with the sandbox merged")
def score(stage):
    folder = copies(stage)
    paths = [os.path.join(folder, "handoffd@alice.service")]
    for unit in ("handoffd.service", "handoff-desktop.service"):
        paths.append(os.path.join(stage.folder, unit))
        with open(paths[-1], "w") as file:
            for name in (unit, f"{unit}.d/50-sandbox.conf"):
                with open(os.path.join(folder, name)) as part:
                    file.write(part.read() + "\n")
    for path in paths:
        done = analyze("security", "--offline=yes", path)
        found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
        expect(found, f"no score: {done.stdout}{done.stderr}")
        expect(float(found.group(1)) <= SCORE_LIMIT, f"{os.path.basename(path)}: {found.group(1)}")


@test("a file with directives of the namespace layer also has PrivateUsers=yes, and the services themselves have neither")
def namespaces(stage):
    for folder, _, names in os.walk(UNITS):
        for name in names:
            path = os.path.join(folder, name)
            service = {key: value for section, key, value in settings(path) if section == "Service"}
            used = NEEDS_USER_NAMESPACE & service.keys()
            expect(not used or service.get("PrivateUsers") == "yes", f"{name}: {used} without PrivateUsers=yes")
    for name in ("handoffd.service", "handoff-desktop.service"):
        used = NEEDS_USER_NAMESPACE & {key for _, key, _ in settings(os.path.join(UNITS, name))}
        expect(not used, f"{name} must start where user namespaces are forbidden, but has {used}")


@test("the user units have the settings that the daemon relies on")
def contract(stage):
    service = settings(os.path.join(UNITS, "handoffd.service"))
    for wanted in (
            ("Type", "notify"), ("WatchdogSec", "3min"), ("Restart", "on-failure"), ("LimitCORE", "0"),
            ("RuntimeDirectory", "handoff handoff-app"), ("RuntimeDirectoryMode", "0700"),
            ("RuntimeDirectoryPreserve", "yes"), ("StateDirectory", "handoff/state"), ("StateDirectoryMode", "0700"),
            ("NoNewPrivileges", "yes"), ("MemoryDenyWriteExecute", "yes")):
        expect(("Service", *wanted) in service, f"handoffd.service lacks {'='.join(wanted)}")
    for name in ("handoffd.service", "handoffd@.service"):
        found = settings(os.path.join(UNITS, name))
        filters = [value for _, key, value in found if key == "SystemCallFilter"]
        expect(filters.index("setpriority") > filters.index("~@privileged @resources"),
               f"{name}: the threads of streams cannot lower their priority: {filters}")
        limit = [int(value) for _, key, value in found if key == "LimitNOFILE"]
        expect(limit and limit[0] > 3 * 4096, f"{name}: too few open files for all streams: {limit}")
    listening = settings(os.path.join(UNITS, "handoffd.socket"))
    streams = [value for _, key, value in listening if key == "ListenStream"]
    expect(streams == ["%t/handoff/control.socket", "%t/handoff-app/app.socket"], f"wrong sockets: {streams}")
    expect(("Socket", "SocketMode", "0600") in listening and ("Socket", "DirectoryMode", "0700") in listening,
           "other users could reach the sockets")


@test("the sandbox exposes only the daemon's own folders and the desktop's socket, and nothing else of the home and runtime folders")
def view(stage):
    found = settings(os.path.join(UNITS, "handoffd.service.d", "50-sandbox.conf"))
    for wanted in (("ProtectSystem", "strict"), ("ProtectHome", "tmpfs"), ("TemporaryFileSystem", "%h:ro"),
                   ("PrivateUsers", "yes"), ("PrivateTmp", "yes")):
        expect(("Service", *wanted) in found, f"the sandbox lacks {'='.join(wanted)}")
    shown = {word for _, key, value in found if key in ("BindPaths", "BindReadOnlyPaths") for word in value.split()}
    expect(shown == {"-%E/handoff", "-%t/handoff-desktop", "-%t/systemd/notify"}, f"it exposes {shown}")
    expect(not any(key in ("BindPaths", "ReadWritePaths") for _, key, _ in found), "something is writable")
    # Before systemd 254, a state folder equal to that of the configuration would let the daemon
    # declare apps of its own.
    service = settings(os.path.join(UNITS, "handoffd.service"))
    states = [value for _, key, value in service if key == "StateDirectory"]
    expect(all("/" in value for value in states), f"the state is in the configuration folder: {states}")
    wants = {word for _, key, value in service if key in ("Wants", "After") for word in value.split()}
    expect("handoff-desktop.socket" in wants, "the desktop's socket does not exist when the daemon starts")
    template = settings(os.path.join(UNITS, "handoffd@.service"))
    expect(("Service", "ProtectHome", "tmpfs") in template, "handoffd@.service can see home folders")
    expect(any(key == "ExecStart" and "--no-desktop" in value for _, key, value in template),
           "handoffd@.service uses a desktop")
    listening = settings(os.path.join(UNITS, "handoff-desktop.socket"))
    for wanted in (("ListenStream", "%t/handoff-desktop/desktop.socket"), ("SocketMode", "0600"), ("DirectoryMode", "0700")):
        expect(("Socket", *wanted) in listening, f"handoff-desktop.socket lacks {'='.join(wanted)}")


@test("the sandbox of the desktop's program lets it read declarations of apps and reach every bus, and write nothing")
def desktop_view(stage):
    found = settings(os.path.join(UNITS, "handoff-desktop.service.d", "50-sandbox.conf"))
    for wanted in (("PrivateUsers", "yes"), ("ProtectSystem", "strict"), ("ProtectHome", "read-only")):
        expect(("Service", *wanted) in found, f"the sandbox lacks {'='.join(wanted)}")
    keys = {key for _, key, _ in found}
    # Apps, buses in /tmp, and abstract ones.
    hiding = keys & {"InaccessiblePaths", "TemporaryFileSystem", "PrivateTmp", "PrivateNetwork", "RootDirectory"}
    expect(not hiding, f"it hides files that the program needs: {hiding}")
    expect(not keys & {"BindPaths", "ReadWritePaths"}, "something is writable")


@test("the picture of the targets has every dependency of Package.swift, and no other")
def architecture(stage):
    done = subprocess.run([os.path.join(ROOT, "scripts", "architecture"), "--check"], capture_output=True, text=True)
    expect(done.returncode == 0, f"run scripts/architecture:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
