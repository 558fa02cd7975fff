"""Files and folders as people send them: the part 'files' of Benchmarks/run.

Times are those of 'handoffctl continue --output' from its start to its end, so with the start of a process, the continuation,
the stream, what is written to the disk, and the name. The floor is the bare program that reads a file, sends it and writes it
to a new file, as a receiver does.
"""

import os
import shutil
import subprocess
import time

MIB = 1024 * 1024
FAST = "MiB/s"
FLOOR, FILE = "file floor, file to a new file", "a file, publish to continue"
FOLDER, TAR = "a folder of small files", "the same by tar to tar, no network"
SCP = "scp, file to a new file"


def measure(stage, harness, ask_floor, scp, spread, quick, folder):
    """All figures in MiB of content a second; `ask_floor` and `scp` answer seconds."""
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
    for path in (source, tree):
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

    def tar():
        clear()
        os.mkdir(target)
        begin = time.monotonic()
        reader = subprocess.Popen(["tar", "-C", tree, "-cf", "-", "."], stdout=subprocess.PIPE)
        done = subprocess.run(["tar", "-C", target, "-xf", "-"], stdin=reader.stdout)
        harness.expect(done.returncode == 0 and reader.wait(20) == 0, "tar failed")
        return time.monotonic() - begin

    ways = {FLOOR: (size, floor), FILE: (size, lambda: receive(source)), SCP: (size, scp),
            TAR: (4096 * count, tar), FOLDER: (4096 * count, lambda: receive(tree))}
    figures = {}
    for number in range(4 if quick else 8):
        for name, (amount, way) in ways.items():
            if way is None:
                continue
            seconds = way()
            if number > 0:  # The first of each warms up.
                figures.setdefault(name, []).append(amount / MIB / seconds)
    clear()
    return {name: spread(values) for name, values in figures.items()}, ""


def goals(figures):
    """Rows for the table: name, unit, limit, and words for it."""
    floor = figures.get(FLOOR, {}).get("median")
    return [
        (FLOOR, FAST, None, "the bare C program"), (FILE, FAST, 0.9 * floor if floor else None, "0.9 x the floor, or more"),
        (SCP, FAST, None, "another program"), (TAR, FAST, None, "other programs"),
        (FOLDER, FAST, None, "no goal: see the ratio"),
    ]


RATIOS = {FILE: FLOOR, SCP: FLOOR, FOLDER: TAR}
