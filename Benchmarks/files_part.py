"""Files and folders as people send them: the part 'files' of Benchmarks/run.

Times are those of 'handoffctl continue --output' from its start to its exit. They include the start
of a process, the continuation, the stream, the writes to the disk, and the rename. The floor is the
bare program that reads a file, sends it and writes it to a new file, as a receiver does, and for a
folder with tar at both ends. For a file with holes the floor is one process that copies the data,
and rsync does the same over ssh.
"""

import hashlib
import os
import shutil
import subprocess
import time

MIB = 1024 * 1024
FAST = "MiB/s"
FLOOR, FILE = "file floor, file to a new file", "a file, publish to continue"
FOLDER, TAR = "a folder of small files", "the same by tar to tar, no network"
BARE_TAR = "the same by tar, bare program, tar"
SPARSE, SPARSE_CP = "a file with holes, publish to continue", "the same by cp, no network"
SPARSE_RSYNC = "the same by rsync --sparse over ssh"
SCP = "scp, file to a new file"


def make_sparse(path, quick):
    """Creates a sparse file of 20 GiB with 200 MiB of data in 25 places, like a disk of a virtual
    machine. With --quick it has 2 GiB."""
    size, count = (2 if quick else 20) << 30, 25
    block = os.urandom(MIB)
    with open(path, "wb") as file:
        file.truncate(size)
        for place in range(count):
            file.seek(size // count * place + 12345)
            for _ in range(8):
                file.write(block)


def digest(path):
    """Returns the data of a file and its position. Everything else is zero."""
    found, block = hashlib.sha256(), bytes(MIB)
    with open(path, "rb") as file:
        for place, piece in enumerate(iter(lambda: file.read(MIB), b"")):
            if piece != block:
                found.update(b"%d" % place + piece)
    return found.hexdigest(), os.path.getsize(path)


def measure(stage, harness, ask_floor, others, spread, quick, folder):
    """Returns all figures in MiB of content a second, except for sparse files, which are in
    seconds. `ask_floor` returns seconds."""
    size = (256 if quick else 1024) * MIB
    source, target = os.path.join(folder, "file.bin"), os.path.join(folder, "received")
    block = os.urandom(MIB)
    with open(source, "wb") as file:
        for _ in range(size // MIB):
            file.write(block)
    tree, count = os.path.join(folder, "tree"), 1000 if quick else 10_000
    small = os.urandom(4096)
    for number in range(count):
        place = os.path.join(tree, str(number // 100))
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, f"{number}.txt"), "wb") as file:
            file.write(small)
    origin, taker = stage.pair()
    published, watch = {}, taker.follow("watch")
    watch.wait("ready")
    holes = os.path.join(folder, "holes.img")
    make_sparse(holes, quick)
    pipes = [os.path.join(folder, name) for name in ("from-tar", "to-tar")]
    for pipe in pipes:
        os.mkfifo(pipe)
    archive = int(subprocess.run(f"tar -C '{tree}' -cf - . | wc -c", shell=True, check=True, capture_output=True).stdout)
    for path in (source, tree, holes):
        published[path] = origin.publish("com.example.reading", "--stream", path)
        watch.wait("added", id=published[path].id)

    def clear():
        if os.path.isdir(target):
            shutil.rmtree(target)
        elif os.path.exists(target):
            os.unlink(target)

    def floor():
        clear()
        return ask_floor(size, source, target)

    def receive(path):
        clear()
        begin = time.monotonic()
        taker.ctl("continue", published[path].id, "--output", target, within=120)
        seconds = time.monotonic() - begin
        if path == source:
            harness.expect(os.path.getsize(target) == size, "not all of the file arrived")
        return seconds

    def bare_tar():
        clear()
        os.mkdir(target)
        begin = time.monotonic()
        both = [subprocess.Popen(["tar", "-C", tree, "-cf", pipes[0], "."]), subprocess.Popen(["tar", "-C", target, "-xf", pipes[1]])]
        ask_floor(archive, *pipes)
        harness.expect([process.wait(20) for process in both] == [0, 0], "tar failed")
        return time.monotonic() - begin

    def copy_holes():
        clear()
        begin = time.monotonic()
        subprocess.run(["cp", "--sparse=auto", "--reflink=never", holes, target], check=True)
        return time.monotonic() - begin

    def rsync_holes():
        if os.path.exists(others.target):
            os.unlink(others.target)
        seconds = others.rsync_time(holes, "--sparse")
        os.unlink(others.target)
        return seconds

    def tar():
        clear()
        os.mkdir(target)
        begin = time.monotonic()
        reader = subprocess.Popen(["tar", "-C", tree, "-cf", "-", "."], stdout=subprocess.PIPE)
        done = subprocess.run(["tar", "-C", target, "-xf", "-"], stdin=reader.stdout)
        harness.expect(done.returncode == 0 and reader.wait(20) == 0, "tar failed")
        return time.monotonic() - begin

    def rate(amount, way):
        return way, lambda seconds: amount / MIB / seconds

    def seconds(way):
        return way, lambda value: value

    ways = {FLOOR: rate(size, floor), FILE: rate(size, lambda: receive(source)), SCP: rate(size, others.scp),
            TAR: rate(4096 * count, tar), BARE_TAR: rate(4096 * count, bare_tar), FOLDER: rate(4096 * count, lambda: receive(tree)),
            SPARSE_CP: seconds(copy_holes), SPARSE: seconds(lambda: receive(holes))}
    if others.rsync and quick:  # It reads and sends all zeros. 20 GiB take longer than everything else.
        ways[SPARSE_RSYNC] = seconds(rsync_holes)
    figures = {}
    for number in range(4 if quick else 8):
        for name, (way, shown) in ways.items():
            if way is not None:
                value = shown(way())
                if number > 0:  # The first of each warms up.
                    figures.setdefault(name, []).append(value)
    if others.rsync and not quick:
        figures[SPARSE_RSYNC] = [rsync_holes()]
    receive(holes)
    harness.expect(digest(target) == digest(holes), "the sparse file arrived with other content")
    room, limit = (os.stat(path).st_blocks for path in (target, holes))
    harness.expect(room <= limit + 2048, f"{limit} blocks became {room}")
    clear()
    return {name: spread(values) for name, values in figures.items()}, ""


def goals(figures):
    """Returns the rows of the table: name, unit, limit, and a description."""
    floor, tar = (figures.get(name, {}).get("median") for name in (FLOOR, BARE_TAR))
    return [
        (FLOOR, FAST, None, "the bare C program"), (FILE, FAST, 0.9 * floor if floor else None, "0.9 x the floor, or more"),
        (SCP, FAST, None, "another program"), (TAR, FAST, None, "other programs"), (BARE_TAR, FAST, None, "the bare C program"),
        (FOLDER, FAST, 0.9 * tar if tar else None, "0.9 x the bare program, or more"),
        (SPARSE_CP, "s", None, "another program"), (SPARSE_RSYNC, "s", None, "another program"),
        (SPARSE, "s", None, "no goal: see the ratio"),
    ]


RATIOS = {FILE: FLOOR, SCP: FLOOR, FOLDER: BARE_TAR, BARE_TAR: TAR, SPARSE: SPARSE_CP}
