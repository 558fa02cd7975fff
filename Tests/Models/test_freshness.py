#!/usr/bin/env python3
"""Runs the model of freshness: no history may violate an invariant, and omitting a rule must
violate the one that it protects."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "System"))
from freshness import MUTANTS, Broken, history  # noqa: E402
from harness import expect, main, test  # noqa: E402

HISTORIES = 3000


def first_break(mutant, kind):
    """Returns the number of the first history in which omitting a rule violates the invariant."""
    for seed in range(HISTORIES):
        try:
            history(seed, mutant)
        except Broken as broken:
            if str(broken).startswith(kind):
                return seed
    return None


@test("no record leads to a unicast later than ten minutes or at another address, and members find each other")
def holds(stage):
    begin = time.monotonic()
    for seed in range(HISTORIES):
        try:
            history(seed)
        except Broken as broken:
            raise AssertionError(f"history {seed}: {broken}") from None
    print(f"   {HISTORIES} histories in {time.monotonic() - begin:.1f} s", flush=True)


for rule, promise in MUTANTS.items():

    @test(f"the model detects the violation when {rule}")
    def mutant(stage, rule=rule, promise=promise):
        seed = first_break(rule, promise)
        expect(seed is not None, f"no violation in {HISTORIES} histories")
        print(f"   history {seed}", flush=True)


if __name__ == "__main__":
    main()
