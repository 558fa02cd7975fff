"""The Debian package as it is, in the root file systems of Debian 13 and Ubuntu 24.04: installed,
used, upgraded, removed and purged.

The systems are not booted. A process with another root has the apt, the libc, the OpenSSL and the
systemd tools of that release, on this kernel. machine_package.py tests the package with a service
manager. Needs root, and the root file systems of Tests/Lab/roots. There is no network, and none is
needed: each root has fetched the dependencies of the package.
"""

import ctypes
import json
import os
import re
import shutil
import subprocess

from harness import ROOT, Failure, Skip, expect, main, run, test
from machines import VERSIONS, package

ROOTS = os.path.join(ROOT, "Tests", "Lab", "roots")
INTERFACES = os.path.join(ROOT, "Sources", "HandoffControl", "Interfaces")
NEW_MOUNTS = 0x00020000  # CLONE_NEWNS
# The releases: their names, and their versions of systemd.
RELEASES = {"trixie": ("Debian 13", 'VERSION_ID="13"', 257), "noble": ("Ubuntu 24.04", 'VERSION_ID="24.04"', 255)}


class Root:
    """The root file system of a release, in which daemons run. Changes to it are lost with the test."""

    programs = "/usr/bin"

    def __init__(self, stage, release):
        if os.geteuid() != 0:
            raise Skip("changing the root needs root")
        base = run([ROOTS, "path", release], dict(os.environ)).output.strip()
        if not base:
            # Ubuntu's archive may be unreachable, and only Ubuntu's keyring can verify its packages.
            raise Skip(f"no root file system of {release} (Tests/Lab/roots build {release})", optional=release == "noble")
        own_mounts()
        place = os.path.join(stage.folder, "over")
        self.path = os.path.join(place, "root")
        self.prefix = ["chroot", self.path]
        stage.closers.append(lambda: subprocess.run(["umount", "--recursive", "--lazy", place], check=True))
        os.mkdir(place)
        mount("-t", "tmpfs", "-o", "size=1g,mode=755", "tmpfs", place)
        for name in ("upper", "work", "root"):
            os.mkdir(os.path.join(place, name))
        mount("-t", "overlay", "-o", f"lowerdir={base},upperdir={place}/upper,workdir={place}/work", "overlay", self.path)
        mount("-t", "proc", "proc", self.path + "/proc")
        # The test's own folder has the same path in the root, for sockets and files.
        inside = self.path + stage.folder
        os.makedirs(inside)
        mount("--bind", stage.folder, inside)
        self.stage = stage

    def run(self, *words, code=0, within=120):
        result = run([*self.prefix, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
                      *words], dict(os.environ), within)
        if code is not None and result.code != code:
            raise Failure(str(result))
        return result

    def apt(self, *words):
        return self.run("apt-get", "--yes", "--no-install-recommends", *words)

    def install(self, version, *more):
        """Installs the package of the programs by apt, which must find its dependencies."""
        paths = [shutil.copy(path, self.stage.folder) for path in (package(version), *more)]
        return self.apt("install", *paths)

    def version(self, name="handoff"):
        return self.run("dpkg-query", "--show", "--showformat", "${Version}", name).output

    def left(self):
        """Returns the files of this project in the root, other than the records of dpkg."""
        return self.run("find", "/etc", "/usr", "/var/lib", "-name", "*handoff*", "-not", "-path", "/var/lib/dpkg/*").output.split()


def mount(*words):
    done = run(["mount", *words], dict(os.environ))
    expect(done.code == 0, str(done))


def own_mounts():
    """Enters a mount namespace of its own, so that nothing remains mounted in any case."""
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_MOUNTS) != 0:
        raise Skip("this kernel or container does not allow namespaces")
    mount("--make-rprivate", "/")


def for_each_release(name, limit):
    """Registers a function, which receives a stage and a release, as a test for each release."""

    def register(function):
        for release, (called, *_) in RELEASES.items():
            test(f"{called}: {name}", limit=limit)(lambda stage, release=release: function(stage, release))

    return register


def offered(daemon, activity):
    """Waits until an activity is offered to a device."""
    daemon.follow("watch").wait("added", id=activity)


@for_each_release("apt installs it with its dependencies, the device pairs with one here, both continue, and it is upgraded", 300)
def used(stage, release):
    root = Root(stage, release)
    expect(RELEASES[release][1] in root.run("cat", "/etc/os-release").output, "wrong release")
    root.install(VERSIONS[0])
    expect(root.version() == VERSIONS[0], root.version())
    expect("not found" not in root.run("ldd", "/usr/bin/handoffd", "/usr/bin/handoff-desktop", "/usr/bin/handoffctl").output,
           "a library is missing")
    here = stage.daemon("here")
    there = stage.daemon("there", host=root, interface="lo")
    inside = os.readlink(f"/proc/{there.process.pid}/root")
    expect(inside == root.path, f"the daemon runs in {inside}")

    # The code is typed in the root, and the payload is sent both ways.
    here.ctl("account", "create")
    pair = here.follow("pair", "--yes")
    there.ctl("join", input=f"{pair.wait('opened')['code']}\n".encode(), within=60)
    pair.wait("joined")
    for origin, taker in ((here, there), (there, here)):
        publish = origin.publish("com.example.editing", "--title", f"From {origin.name}", "--user-info", '{"page": 3}')
        offered(taker, publish.id)
        expect(taker.ctl("continue", publish.id, "--print").line["userInfo"] == {"page": 3}, "wrong activity")
        publish.wait("continued")
        publish.interrupt()
    # A file is sent over a stream.
    draft = stage.file("draft.txt", "A letter to Ada. " * 60_000)
    sent = here.publish("com.example.reading", "--stream", draft)
    received = os.path.join(there.folder, "received.txt")
    offered(there, sent.id)
    there.ctl("continue", sent.id, "--output", received)
    with open(draft) as one, open(received) as other:
        expect(one.read() == other.read(), "wrong file")
    sent.interrupt()

    before = there.ctl("status").line
    expect(there.stop() == 0, "the daemon did not exit cleanly")
    root.install(VERSIONS[1])
    expect(root.version() == VERSIONS[1], root.version())
    there.start()
    after = there.ctl("status").line
    expect([after[key] for key in ("device", "account", "epoch")] == [before[key] for key in ("device", "account", "epoch")],
           f"the device changed: {before} {after}")
    publish = here.publish("com.example.editing", "--user-info", '{"page": 4}')
    offered(there, publish.id)
    expect(there.ctl("continue", publish.id, "--print").line["userInfo"] == {"page": 4}, "wrong activity after the upgrade")


def groups(daemon):
    """Returns the key agreements of a daemon's connections so far, by kind."""
    with open(daemon.log) as file:
        found = re.findall(r"(Connection[a-z ]* is open)\b.* group=(\w+)", file.read())
    return {kind: {group for other, group in found if other == kind} for kind, _ in found}


@test("Debian 13: two devices there agree on keys by X25519 with ML-KEM, and with one here by X25519", limit=300)
def hybrid(stage):
    root = Root(stage, "trixie")
    root.install(VERSIONS[0])
    debug = {"options": ["--log-level", "debug"], "interface": "lo"}
    desk, couch = (stage.daemon(name, host=root, **debug) for name in ("desk", "couch"))
    here = stage.daemon("here", **debug)
    desk.ctl("account", "create")
    for joiner, group in ((couch, "X25519MLKEM768"), (here, "X25519")):
        pair = desk.follow("pair", "--yes")
        joiner.ctl("join", input=f"{pair.wait('opened')['code']}\n".encode(), within=60)
        pair.wait("joined")
        publish = desk.publish("com.example.editing", "--user-info", '{"page": 3}')
        offered(joiner, publish.id)
        expect(joiner.ctl("continue", publish.id, "--print").line["userInfo"] == {"page": 3}, "wrong activity")
        publish.interrupt()
        sent = joiner.publish("com.example.reading", "--stream", stage.file("draft.txt", "A letter to Ada. " * 60_000))
        offered(desk, sent.id)
        desk.ctl("continue", sent.id, "--output", os.path.join(desk.folder, f"from-{joiner.name}.txt"))
        sent.interrupt()
        kinds = ("Connection is open", "Connection to an inviter is open", "Connection of a stream is open")
        expect(groups(joiner) == {kind: {group} for kind in kinds}, f"{joiner.name}: {groups(joiner)}")
    expect(groups(desk)["Connection is open"] == {"X25519MLKEM768", "X25519"}, f"desk: {groups(desk)}")


@for_each_release("removal keeps only settings, and a purge leaves no file", 200)
def gone(stage, release):
    root = Root(stage, release)
    before = root.left()
    extension = os.path.join(os.path.dirname(package(VERSIONS[0])), f"webext-handoff_{VERSIONS[0]}_all.deb")
    root.install(VERSIONS[0], extension)
    expect(root.version("webext-handoff") == VERSIONS[0], "the extension is not installed")
    for path in ("/etc/systemd/user/sockets.target.wants/handoffd.socket", "/usr/share/webext/handoff/manifest.json"):
        expect(os.path.lexists(root.path + path), f"no {path}")
    with open(root.path + "/etc/handoff/handoffd.conf", "a") as file:
        file.write("name = Desk\n")
    root.apt("remove", "handoff", "webext-handoff")
    with open(root.path + "/etc/handoff/handoffd.conf") as file:
        expect("name = Desk" in file.read(), "removal deleted settings")
    expect(not os.path.exists(root.path + "/usr/bin/handoffd"), "the program remains")
    root.apt("purge", "handoff", "webext-handoff")
    expect(root.left() == before == [], f"remaining files: {root.left()}")


@for_each_release("its varlinkctl reads the interface files, and calls the daemon", 120)
def varlinkctl(stage, release):
    root = Root(stage, release)
    said = int(re.search(r"systemd (\d+)", root.run("varlinkctl", "--version").output)[1])
    expect(said >= RELEASES[release][2], f"systemd {said}")
    for name in sorted(os.listdir(INTERFACES)):
        path = shutil.copy(os.path.join(INTERFACES, name), stage.folder)
        root.run("varlinkctl", "validate-idl", path)
    # A parser that accepts everything would show nothing.
    with open(path, "a") as file:
        file.write("method Half(\n")
    expect(root.run("varlinkctl", "validate-idl", path, code=None).code != 0, "it accepts an invalid interface")
    daemon = stage.daemon("here")
    address = f"unix:{daemon.socket}"
    info = json.loads(root.run("varlinkctl", "info", "--json=short", address).output)
    expect({"dev.handoff1", "dev.handoff1.Control"} <= set(info["interfaces"]), f"{info}")
    described = root.run("varlinkctl", "introspect", address, "dev.handoff1.Control").output
    expect("method ListActivities" in described, described)
    status = json.loads(root.run("varlinkctl", "call", "--json=short", address, "dev.handoff1.Control.GetStatus", "{}").output)
    expect(status["name"] == "here", f"{status}")


if __name__ == "__main__":
    main()
