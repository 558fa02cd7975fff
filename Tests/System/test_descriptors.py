"""A daemon that starts with few descriptors: it exits with a reason, or runs and finds devices once there are more."""

import subprocess
import time

from harness import Failure, expect, main, tail, test

# Fewer are not enough for a start. With more, every part has its descriptors.
MIN, MAX = 12, 60


@test("with any number of descriptors the daemon exits with a reason, or runs and reports discovery", limit=300)
def few(stage):
    short = 0
    for count in range(MIN, MAX):
        daemon = stage.daemon(f"d{count}", start=False)
        words = daemon.words
        daemon.words = lambda *more: ["prlimit", f"--nofile={count}:4096", *words(*more)]
        try:
            daemon.start(within=5)
        except Failure:
            if daemon.process.poll() is not None:
                expect(daemon.process.poll() == 1, f"{count}: it exited with {daemon.process.poll()}: {tail(daemon.log)}")
                continue
            # It runs, but had no descriptor to notify its manager.
        # By then discovery has tried to start.
        time.sleep(0.3)
        expect(daemon.process.poll() is None, f"{count}: it exited with {daemon.process.poll()}: {tail(daemon.log)}")
        with open(daemon.log) as file:
            short += "too many open files" in file.read()
        subprocess.run(["prlimit", "--nofile=4096", "--pid", str(daemon.process.pid)], check=True, timeout=10)
        limit = time.monotonic() + 30
        while (status := daemon.ctl("status").line)["discoveryState"] != "running":
            expect(time.monotonic() < limit, f"{count}: discovery is {status['discoveryState']}")
            time.sleep(0.1)
        expect(daemon.stop() == 0, f"{count}: the daemon did not exit cleanly")
    expect(short >= 5, f"only {short} starts lacked descriptors")


if __name__ == "__main__":
    main()
