"""A sample of the runs of kills.py, and the failures that it has found.

HANDOFF_KILLS (default 60) is the number of kills, and HANDOFF_SEED selects them.
"""

import errno
import os
import types

import faults
from harness import BIN, Failure, expect, main, run, test
from kills import endure

KILLS = int(os.environ.get("HANDOFF_KILLS", "60"))
SEED = int(os.environ.get("HANDOFF_SEED", "1"))


@test(f"{KILLS} random kills of daemons and commands lose no acknowledged change", limit=300 + 5 * KILLS)
def kills(stage):
    summary = endure(KILLS, SEED, worlds=3)
    summary.show()
    if summary.failures:
        raise Failure(f"{len(summary.failures)} failed (seed {SEED}); the first: {summary.failures[0]}")
    expect(summary.kills >= KILLS, f"only {summary.kills} kills")


@test("an account file has its name only when it is complete, at whatever step its writer is killed")
def export(stage):
    one = stage.daemon("one")
    one.ctl("account", "create")
    folder, control = (os.path.join(stage.folder, name) for name in ("output", "control"))
    os.mkdir(folder)
    os.mkdir(control)
    path = os.path.join(folder, "account")
    fault = faults.Faults(types.SimpleNamespace(folder=control, state=folder))
    words = [os.path.join(BIN, "handoffctl"), "--socket", one.socket, "--json", "account", "export", path]
    kinds, least, count = faults.FILES | faults.KINDS["reply"], None, 0
    for how, error in (("kill", 0), ("power", 0), ("tear", 0), ("fail", errno.ENOSPC), ("fail", errno.EIO)):
        for step in range(50):
            # Step 0 injects no fault.
            fault.arm(step, how, kinds, error)
            done = run(words, {**one.environment, **fault.environment})
            struck = fault.struck
            fault.disarm()
            about = f"{how} at step {step}: {done}"
            expect(struck or done.code == 0, about)
            expect(done.code != 0 or os.path.exists(path), f"it was reported, and does not exist; {about}")
            if os.path.exists(path):
                length = os.path.getsize(path)
                # The account's data grows, and never shrinks.
                least = least or length
                expect(length >= least, f"it has {length} bytes of {least}; {about}")
                os.unlink(path)
            expect(os.listdir(folder) == [], f"{os.listdir(folder)} remains; {about}")
            for ticket in one.ctl("status").line["tickets"]:
                one.ctl("account", "export", "--revoke", ticket["id"])
            if step > 0 and not struck:
                break
            count += 1
        else:
            raise Failure(f"no end of the steps of {how}")
        expect(step > 4, f"only {step} steps were seen")
    print(f"    {count} faults")


if __name__ == "__main__":
    main()
