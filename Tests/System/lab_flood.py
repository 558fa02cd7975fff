#!/usr/bin/env python3
"""A neighbour floods the network with multicast DNS: the cost of that, and whether members still
find each other. Needs root.

Environment: HANDOFF_FLOOD_RATE (default 2000): packets a second.
"""

import os
import shutil
import subprocess
import time

from harness import ROOT, Lab, expect, main, test

TYPE = "com.example.editing"
RATE = os.environ.get("HANDOFF_FLOOD_RATE", "2000")
# The maximum share of a processor for the daemon, and the maximum time until a restarted member is found.
MAX_WORK = 0.25
FOUND = 10


def processor(daemon):
    """Returns the processor time that a daemon has used, in seconds."""
    with open(f"/proc/{daemon.process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def flood(stage, host, kind):
    """Starts a flood from a host, which ends with the test."""
    process = subprocess.Popen(
        [*host.prefix, shutil.which("python3"), os.path.join(ROOT, "Tests", "System", "mdns_flood.py"), kind, RATE, host.addresses[0]],
        stdout=subprocess.PIPE, text=True)
    stage.closers.append(process.kill)
    expect(process.stdout.readline() == "flooding\n", "the flood has not started")
    return process


for kind in ("ours", "others", "queries", "mixed"):

    @test(f"a flood of multicast DNS costs little, and a restarted member is found ({kind})", limit=150)
    def flooded(stage, kind=kind):
        lab = Lab(stage, 3, "--no-avahi", "--ipv4-only")
        origin, taker = (stage.daemon(name, host=host, discovery="embedded")
                         for name, host in zip(("origin", "taker"), lab.hosts))
        stage.join(origin, taker)
        watch = taker.follow("watch")
        watch.wait("ready")
        process = flood(stage, lab.hosts[2], kind)
        # The counters of the flood give the elapsed time.
        process.stdout.readline()
        begin, before = time.monotonic(), processor(taker)
        for _ in range(10):
            process.stdout.readline()
        work = (processor(taker) - before) / (time.monotonic() - begin)
        times = []
        for _ in range(3):
            origin.kill()
            origin.start()
            begin = time.monotonic()
            publish = origin.publish(TYPE)
            watch.wait("added", id=publish.id, within=60)
            times.append(time.monotonic() - begin)
            publish.interrupt()
            watch.wait("removed", id=publish.id, within=60)
        print(f"    {kind}: {work:.0%} of a processor; found after {', '.join(f'{seconds:.1f}' for seconds in times)} s")
        expect(work <= MAX_WORK, f"{work:.0%} of a processor")
        expect(max(times) <= FOUND, f"found after {times} s")


if __name__ == "__main__":
    main()
