"""Files and folders in difficult conditions: large, special, changing, on full disks, and interrupted."""

import os
import shlex
import subprocess
import time

from fuse_disk import FuseDisk
from harness import BIN, Skip, content, expect, main, test

MIB = 1024 * 1024
# The number of files in a large folder.
MANY = int(os.environ.get("HANDOFF_FILES", "30000"))


def fuse(stage, name, **how):
    if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
        raise Skip("only root can mount, and /dev/fuse is needed")
    path = os.path.join(stage.folder, name)
    os.mkdir(path)
    disk = FuseDisk(path, **how)
    stage.closers.append(disk.close)
    return disk


def received(stage, source, into=None, code=0):
    """Returns the result of `continue --output` for a file or folder of the other device."""
    taker = stage.devices[1]
    into = into or os.path.join(stage.folder, "in")
    os.makedirs(into, exist_ok=True)
    offer = publish(stage, source)
    try:
        return taker.ctl("continue", offer.id, "--output", into, code=code, within=120)
    finally:
        offer.interrupt()


def pair(stage):
    stage.devices = stage.pair()
    stage.watch = stage.devices[1].follow("watch")
    return stage.devices


def publish(stage, source):
    """Offers a file or folder, and returns when the other device lists it."""
    offer = stage.devices[0].publish(source)
    stage.watch.wait("added", id=offer.id)
    return offer


@test("a file whose reported size differs from its content arrives completely, alone and in a folder")
def sizes(stage):
    pair(stage)
    for path in ("/proc/version", "/sys/kernel/mm/transparent_hugepage/enabled"):
        if not os.path.exists(path):
            raise Skip(f"no {path}")
        received(stage, path)
        expect(content(os.path.join(stage.folder, "in", os.path.basename(path))) == content(path), f"{path} differs")
    disk = fuse(stage, "computed", hides=True)
    disk.write("report", b"x" * 300_000)
    received(stage, os.path.join(disk.path, "report"))
    expect(content(os.path.join(stage.folder, "in", "report")) == b"x" * 300_000, "a computed file differs")
    received(stage, disk.path)
    expect(content(os.path.join(stage.folder, "in", "computed", "report")) == b"x" * 300_000, "in a folder it differs")


@test("a disk that becomes full when a file is closed or stored causes a failure, alone and in a folder")
def full(stage):
    pair(stage)
    tree = os.path.join(stage.folder, "tree")
    os.mkdir(tree)
    stage.file("tree/a", "a" * 5000)
    for name in ("flush", "fsync"):
        disk = fuse(stage, name, fails=[name])
        for source in (tree, os.path.join(tree, "a")):
            failed = received(stage, source, into=disk.path, code=1)
            expect("no space left" in failed.errors, f"{name}: {failed}")
            left = [entry for entry in os.listdir(disk.path) if not entry.startswith(".")]
            expect(left == [], f"{name}: it has its final name: {left}")


@test("a full disk also causes a failure of an account file and of standard output")
def full_output(stage):
    origin, taker = pair(stage)
    offer = publish(stage, stage.file("a", "a" * 5000))
    disk = fuse(stage, "flush", fails=["flush"])
    file = os.path.join(disk.path, "account")
    failed = origin.ctl("account", "export", file, code=1)
    expect("no space left" in failed.errors and not os.path.exists(file), f"the file exists: {failed}")
    for words in (["list"], ["continue", offer.id, "--output", "-"]):
        # The shell opens the file, as for people, so that nothing else closes it.
        command = shlex.join([os.path.join(BIN, "handoffctl"), "--socket", taker.socket, *words])
        failed = subprocess.run(["sh", "-c", f"exec {command} >{shlex.quote(disk.path)}/{words[0]}"], stderr=subprocess.PIPE,
                                text=True, timeout=60)
        expect(failed.returncode == 1 and "no space left" in failed.stderr, f"{words}: {failed}")


@test("a folder whose receiver was killed continues where it was", limit=180)
def killed(stage):
    taker = pair(stage)[1]
    tree = os.path.join(stage.folder, "tree")
    os.mkdir(tree)
    for number in range(30):
        with open(os.path.join(tree, f"{number:02}"), "wb") as file:
            file.write(os.urandom(10 * MIB))
    target = os.path.join(stage.folder, "in")
    os.mkdir(target)
    offer = publish(stage, tree)
    starts = []
    for _ in range(3):
        follower = taker.follow("continue", offer.id, "--output", target)
        starts.append(follower.wait("stream")["from"])
        part = [entry for entry in os.listdir(target) if entry.endswith(".handoff-part")][0]
        count = len(os.listdir(os.path.join(target, part)))
        while follower.process.poll() is None and len(os.listdir(os.path.join(target, part))) < count + 5:
            time.sleep(0.001)
        follower.process.kill()
        follower.process.wait(20)
    last = taker.ctl("continue", offer.id, "--output", target, within=120)
    starts.append([line for line in last.lines if line.get("event") == "stream"][0]["from"])
    expect(starts[0] == 0 and starts == sorted(set(starts)), f"it starts at {starts}")
    expect(subprocess.run(["diff", "-r", tree, os.path.join(target, "tree")]).returncode == 0, "the content differs")
    expect(os.listdir(target) == ["tree"], f"left behind: {os.listdir(target)}")
    found = {line["check"] for line in taker.ctl("doctor", code=None).lines}
    expect("parts" not in found, "doctor counts parts that do not exist")


@test("doctor counts partial files, and names a command that deletes them")
def interrupted(stage):
    taker = pair(stage)[1]
    path = stage.file("large", "")
    with open(path, "wb") as file:
        file.write(os.urandom(64 * MIB))
    target = os.path.join(stage.folder, "in")
    os.mkdir(target)
    offer = publish(stage, path)
    follower = taker.follow("continue", offer.id, "--output", target)
    follower.wait("stream")
    follower.process.kill()
    follower.process.wait(20)
    check, limit = [], time.monotonic() + 20
    # The daemon has the file open until it notices that the command has exited.
    while not check and time.monotonic() < limit:
        check = [line for line in taker.ctl("doctor", code=None).lines if line["check"] == "parts"]
    expect(len(check) == 1 and target in check[0]["message"], f"not counted: {check}")
    expect(subprocess.run(["sh", "-c", check[0]["remedy"].partition(": ")[2]]).returncode == 0, "the command fails")
    expect(os.listdir(target) == [], f"left behind: {os.listdir(target)}")


@test("a large folder takes the sender 3 s of processor time for 100,000 files, and arrives", limit=600)
def many(stage):
    taker = pair(stage)[1]
    tree = os.path.join(stage.folder, "tree")
    for group in range(10):
        os.makedirs(os.path.join(tree, str(group)))
    # Most of them in one folder.
    for number in range(MANY):
        with open(os.path.join(tree, str(number % 10 if number < 1000 else 0), str(number)), "w") as file:
            file.write(str(number))
    target = os.path.join(stage.folder, "in")
    os.mkdir(target)
    offer = publish(stage, tree)
    clock = os.sysconf("SC_CLK_TCK")

    def spent():
        with open(f"/proc/{offer.process.pid}/stat") as file:
            words = file.read().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / clock

    before = spent()
    taker.ctl("continue", offer.id, "--output", target, within=500)
    took = spent() - before
    print(f"    {took:.1f} s of processor time", flush=True)
    expect(sum(len(files) for _, _, files in os.walk(os.path.join(target, "tree"))) == MANY, "not all files arrived")
    # A debug build takes about ten times as long, and a quadratic one a hundred times.
    expect(took < (60 if "debug" in BIN else 3) * max(MANY / 100_000, 0.5), f"it took {took} s")


main()
