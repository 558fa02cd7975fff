"""Reports which parts of the user's home and session a process can reach, as JSON on one line of
the named file. Uses only Python. machine_sandbox.py runs it in place of the daemon, and of
handoff-desktop.

    sandbox_probe.py REPORT HOME RUNTIME MANAGER        REPORT: a file, or - for standard output
"""

import json
import os
import socket
import subprocess
import sys

SECRETS = (".ssh/id_ed25519", ".gnupg/private", ".mozilla/firefox/profile/logins.json", ".config/chromium/Default/Cookies",
           ".local/share/keyrings/login.keyring", ".git-credentials", "Documents/letter.txt")
WRITES = (".bashrc", ".ssh/authorized_keys", ".config/systemd/user/evil.service", ".config/autostart/evil.desktop",
          ".local/share/applications/evil.desktop", ".config/handoff/handlers.d/evil.json", ".config/handoff/handoffd.conf",
          ".config/handoff/defaults", ".config/handoff/documents.conf")
SOCKETS = ("bus", "systemd/private", "gnupg/S.gpg-agent", "keyring/ssh")
DESKTOP = "handoff-desktop/desktop.socket"


def can(action):
    try:
        return bool(action())
    except (OSError, ValueError, subprocess.SubprocessError):
        return False


def read(path):
    with open(path, "rb") as file:
        return file.read(1)


def write(path):
    with open(path, "ab") as file:
        return file.writable()


def connect(path):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(path)
        return True


def call(path, method, **parameters):
    """Returns the reply of a Varlink service."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(path)
        connection.sendall(json.dumps({"method": method, "parameters": parameters}).encode() + b"\0")
        reply = b""
        while not reply.endswith(b"\0"):
            reply += connection.recv(65536) or b"\0"
        return json.loads(reply.rstrip(b"\0"))


def error(path, method, **parameters):
    return call(path, "dev.handoff1.Desktop." + method, **parameters).get("error")


def probe(home, runtime, manager, asks_desktop):
    def service(*words):
        return subprocess.run(["systemd-run", "--user", "--wait", "--quiet", *words], timeout=30,
                              capture_output=True).returncode == 0

    reached = [path for path in SECRETS if can(lambda: read(f"{home}/{path}"))]
    reached += [f"write {path}" for path in WRITES if can(lambda: write(f"{home}/{path}"))]
    reached += [f"socket {path}" for path in SOCKETS if can(lambda: connect(f"{runtime}/{path}"))]
    reached += [f"manager {path}" for path in ("environ", "root/etc/hostname") if can(lambda: read(f"/proc/{manager}/{path}"))]
    reached += ["service manager"] if can(lambda: service("/bin/true")) else []
    desktop = f"{runtime}/{DESKTOP}"
    answers = {}
    if asks_desktop and can(lambda: connect(desktop)):
        answers = {
            "machine": "chassis" in call(desktop, "dev.handoff1.Desktop.GetMachine").get("parameters", {}),
            "unknown app": error(desktop, "StartApp", app="evil", type="com.example.a"),
            "command": error(desktop, "StartApp", app="/bin/sh", type="com.example.a"),
            "file": error(desktop, "OpenPage", url="file:///etc/passwd"),
            "script": error(desktop, "OpenPage", url="javascript:alert(1)"),
            "option": error(desktop, "OpenPage", url="--help"),
        }
    return {
        "reached": reached, "home": sorted(os.listdir(home)), "runtime": sorted(os.listdir(runtime)), "desktop": answers,
        "state": can(lambda: write(os.environ.get("STATE_DIRECTORY", "/nonexistent") + "/probe")),
        "configuration": can(lambda: read(f"{home}/.config/handoff/settings")),
    }


if __name__ == "__main__":
    # In place of handoff-desktop no other program answers at its socket.
    in_desktop = sys.argv[1] == "-"
    report = json.dumps(probe(*sys.argv[2:5], asks_desktop=not in_desktop))
    if in_desktop:
        print(report)
    else:
        with open(sys.argv[1] + ".part", "w") as file:
            file.write(report)
        os.rename(sys.argv[1] + ".part", sys.argv[1])
