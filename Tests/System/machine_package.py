"""The Debian package on booted machines: installed, used, upgraded, removed and purged by apt. Needs root."""

import json
import os

from harness import expect, main, run, test
from machines import VERSIONS, Machines, package


def state(machine, name="ActiveState"):
    return machine.show(name)[name]


def second_user(machine):
    """Creates another user, who is logged in and has never used Handoff. Returns how a command is run as that user."""
    machine.root("useradd", "--create-home", "--uid", "1001", "bob")
    machine.root("loginctl", "enable-linger", "bob")
    machine.until("bob's manager", lambda: machine.exists("/run/user/1001/bus"))
    return lambda *words, **more: machine.root("runuser", "-u", "bob", "--", "env", "XDG_RUNTIME_DIR=/run/user/1001",
                                               "HOME=/home/bob", *words, **more)


@test("after apt install the first call starts the daemon, and a login does only for a user with an account", limit=300)
def first_day(stage):
    machine = Machines(stage, 1, install=False).machines[0]
    bob = second_user(machine)
    machine.install_package()
    expect(state(machine) == "inactive", "it runs before the first call")
    status = json.loads(machine.ctl("status").output)
    expect(status["account"] is None and state(machine) == "active", "the first call did not start it")
    expect(bob("systemctl", "--user", "is-active", "handoffd.socket").output.strip() == "active", "no socket for bob")
    expect(bob("systemctl", "--user", "is-active", "handoffd.service", code=None).output.strip() == "inactive",
           "a daemon runs for a user who has never used it")
    restart = lambda: machine.root("systemctl", "restart", "user@1000.service")
    restart()
    machine.until("the manager", lambda: machine.systemctl("is-active", "default.target", code=None).code == 0)
    expect(state(machine) == "inactive", "a login starts it without an account")
    machine.ctl("account", "create")
    account = json.loads(machine.ctl("account", "show").output)["account"]
    restart()
    machine.until("the daemon at login", lambda: machine.systemctl("show", "handoffd.service", "--property=ActiveState",
                                                                   code=None).output.strip() == "ActiveState=active")
    expect(json.loads(machine.ctl("account", "show").output)["account"] == account, "wrong account")
    main_pid = machine.show("MainPID")["MainPID"]
    flags = machine.user("cat", f"/proc/{main_pid}/status").output
    expect("NoNewPrivs:\t1" in flags and "Seccomp:\t2" in flags, "it is not confined")
    spaces = [machine.root("readlink", f"/proc/{pid}/ns/user").output for pid in (main_pid, "1")]
    expect(spaces[0] != spaces[1], "the namespace layer of the sandbox is not applied")
    expect(machine.root("readlink", f"/proc/{main_pid}/exe").output.strip() == "/usr/bin/handoffd", "wrong program")
    # The figures of the service as it is installed.
    memory = machine.root("sh", "-c", f"grep Pss: /proc/{main_pid}/smaps_rollup").output.split()[1]
    times = machine.show("ExecMainStartTimestampMonotonic", "ActiveEnterTimestampMonotonic")
    took = int(times["ActiveEnterTimestampMonotonic"]) - int(times["ExecMainStartTimestampMonotonic"])
    print(f"  PSS {int(memory) / 1024:.1f} MiB, start to ready {took / 1000:.1f} ms")


@test("two machines pair by a code and continue, and an upgrade keeps the account and the published activities", limit=400)
def upgrade(stage):
    origin, taker = Machines(stage, 2, install=False).machines
    bob = second_user(origin)
    for machine in (origin, taker):
        machine.install_package()
    origin.ctl("account", "create")
    pair = origin.follow("pair", "--yes")
    code = pair.wait("opened")["code"]
    taker.ctl("join", input=f"{code}\n".encode())
    pair.wait("joined")
    publish = origin.follow("publish", "com.example.editing", "--title", "Draft", "--user-info", '{"page": 3}')
    publish.wait("published")
    taker.until("the offer", lambda: taker.ctl("list").output.strip())
    expect(json.loads(taker.ctl("continue", "--print").output)["userInfo"] == {"page": 3}, "wrong activity")
    publish.wait("continued")

    before = json.loads(origin.ctl("status").output)
    process = origin.show("MainPID")
    origin.root("sh", "-c", "echo '# mine' >>/etc/handoff/handoffd.conf")
    origin.root("systemctl", "--global", "disable", "handoffd-autostart.service")
    origin.install_package(VERSIONS[1])
    version = origin.root("dpkg-query", "--show", "--showformat", "${Version}", "handoff").output
    expect(version == VERSIONS[1], f"version {version}")
    origin.until("the new daemon", lambda: state(origin) == "active" and origin.show("MainPID") != process)
    after = json.loads(origin.ctl("status").output)
    expect([after[key] for key in ("device", "account", "epoch")] == [before[key] for key in ("device", "account", "epoch")],
           f"the device changed: {before} {after}")
    enabled = origin.root("systemctl", "--global", "is-enabled", "handoffd.socket", "handoffd-autostart.service", code=None)
    expect(enabled.output.split() == ["enabled", "disabled"], f"the administrator's choice was not kept: {enabled}")
    expect("# mine" in origin.root("cat", "/etc/handoff/handoffd.conf").output, "the settings were overwritten")
    expect(bob("systemctl", "--user", "is-active", "handoffd.service", code=None).output.strip() == "inactive",
           "the upgrade started a daemon that was not running")
    publish.wait("published")
    taker.until("the offer of the new daemon", lambda: taker.ctl("continue", "--print", code=None).code == 0)


@test("on Debian 13 the user service starts, confined, pairs with Debian 12, and keeps its account over an upgrade", limit=400)
def next_release(stage):
    older, newer = Machines(stage, 2, install=False, releases=("bookworm", "trixie")).machines
    expect("VERSION_ID=\"13\"" in newer.root("cat", "/etc/os-release").output, "it is not Debian 13")
    for machine in (older, newer):
        machine.install_package()
    older.ctl("account", "create")
    pair = older.follow("pair", "--yes")
    newer.ctl("join", input=f"{pair.wait('opened')['code']}\n".encode())
    pair.wait("joined")
    main_pid = newer.show("MainPID")["MainPID"]
    flags = newer.user("cat", f"/proc/{main_pid}/status").output
    expect("NoNewPrivs:\t1" in flags and "Seccomp:\t2" in flags, "it is not confined")
    # systemd 254 and later store the state of a user's service there.
    expect(newer.exists("/home/alice/.local/state/handoff/state/account"), "its state is elsewhere")
    for origin, taker in ((older, newer), (newer, older)):
        publish = origin.follow("publish", "com.example.editing", "--user-info", '{"page": 3}')
        activity = publish.wait("published")["id"]
        taker.until("the offer", lambda: taker.ctl("list").output.strip())
        expect(json.loads(taker.ctl("continue", "--print").output)["userInfo"] == {"page": 3}, "wrong activity")
        publish.wait("continued")
        origin.ctl("withdraw", activity)
        taker.until("the end of the offer", lambda: not taker.ctl("list").output.strip())
    before = json.loads(newer.ctl("status").output)
    newer.install_package(VERSIONS[1])
    newer.until("the new daemon", lambda: state(newer) == "active" and newer.show("MainPID")["MainPID"] != main_pid)
    after = json.loads(newer.ctl("status").output)
    expect([after[key] for key in ("device", "account", "epoch")] == [before[key] for key in ("device", "account", "epoch")],
           f"the device changed: {before} {after}")


@test("it can be installed and purged without a service manager, as for an image", limit=200)
def no_manager(stage):
    base = os.path.join(os.environ.get("HANDOFF_MACHINES", "/var/tmp/handoff-machines"), "base")
    path = package(VERSIONS[0])
    script = """
        set -eu
        mkdir "$1/upper" "$1/work" "$1/root"
        mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" "$1/root"
        mount -t proc proc "$1/root/proc"
        cp "$3" "$1/root/handoff.deb"
        inside() { chroot "$1/root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "${@:2}"; }
        inside "$1" apt-get --yes --no-install-recommends install /handoff.deb
        inside "$1" handoffctl --version
        inside "$1" test -L /etc/systemd/user/sockets.target.wants/handoffd.socket
        inside "$1" apt-get --yes purge handoff
        inside "$1" sh -c '! find /etc /usr /var/lib/systemd -name "*handoff*" | grep .'
    """
    done = run(["unshare", "-m", "--propagation", "private", "bash", "-c", script, "bash", stage.folder, base, path],
               dict(os.environ), 180)
    expect(done.code == 0 and "handoffctl " in done.output, str(done))


@test("removal stops it and keeps settings and state, and a purge deletes everything outside of home folders", limit=400)
def removal(stage):
    machine = Machines(stage, 1, install=False).machines[0]
    machine.install_package()
    machine.ctl("account", "create")
    status = json.loads(machine.ctl("status").output)
    machine.root("systemctl", "enable", "--now", "handoffd@alice.service")
    system = machine.user("env", "HANDOFF_SOCKET=/run/handoff-alice/control.socket", "handoffctl", "--json", "status")
    expect(json.loads(system.output)["device"] != status["device"], "both services are one device")
    processes = [machine.show("MainPID")["MainPID"],
                 machine.root("systemctl", "show", "handoffd@alice.service", "--property=MainPID", "--value").output.strip()]
    kept = ["/etc/handoff/handoffd.conf", "/home/alice/.config/handoff/state/account", "/var/lib/handoff-alice/identity"]
    expect(machine.exists(*kept) == kept, f"missing: {set(kept) - set(machine.exists(*kept))}")

    machine.apt("remove", "handoff")
    for process in processes:
        expect(not machine.exists(f"/proc/{process}"), "a daemon still runs")
    expect(machine.exists(*kept) == kept, "removal deleted files that it should keep")
    expect(not machine.exists("/usr/bin/handoffd", "/usr/lib/systemd/user/handoffd.service"), "programs remain")
    expect(machine.systemctl("is-active", "handoffd.socket", code=None).output.strip() != "active", "its socket still listens")

    machine.install_package()
    again = json.loads(machine.ctl("status").output)
    expect(again["device"] == status["device"] and again["account"] == status["account"], "the device changed")

    machine.apt("purge", "handoff")
    expect(machine.exists(*kept, "/etc/handoff") == ["/home/alice/.config/handoff/state/account"],
           f"remaining: {machine.exists(*kept, '/etc/handoff')}")
    left = machine.root("find", "/etc", "/usr", "/var/lib", "-name", "*handoff*", "-not", "-path", "/var/lib/dpkg/*")
    expect(left.output == "", f"remaining: {left.output}")


if __name__ == "__main__":
    main()
