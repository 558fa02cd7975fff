#!/usr/bin/env python3
"""A member that repeats, acknowledges and forwards in another member's place cannot verify an
address, and receives no advert. Needs root."""

import json
import os
import subprocess
import sys

from harness import ROOT, Failure, Lab, Skip, expect, main, test

PEER = os.path.join(ROOT, "Tests", "Peer")
TYPE = "com.example.editing"


def program(host, name, *words):
    try:
        import cryptography  # noqa: F401
        import OpenSSL  # noqa: F401
    except ImportError as error:
        raise Skip(f"the Python package '{error.name}' is not installed (pip install cryptography pyOpenSSL)") from None
    return [*host.prefix, sys.executable, os.path.join(PEER, name), *words]


def reports(process, until, within=60):
    """Returns the counts of the diverter, once they meet a condition."""
    for _ in range(5 * within):
        line = process.stdout.readline()
        expect(line, "the diverter has exited")
        counts = json.loads(line)
        if until(counts):
            return counts
    raise Failure(f"the diverter is at {counts}")


@test("a member that repeats, acknowledges and forwards adverts of another one receives none of its adverts", limit=150)
def diverted(stage):
    lab = Lab(stage, 3, "--no-avahi", "--ipv4-only")
    sender, victim = (stage.daemon(name, host=host, discovery="embedded") for name, host in zip(("sender", "victim"), lab.hosts))
    stage.join(sender, victim)
    places = [f"{daemon.host.addresses[0]}:{daemon.ctl('status').line['port']}" for daemon in (sender, victim)]
    file, state = (os.path.join(stage.folder, name) for name in ("account.handoff", "peer.json"))
    sender.ctl("account", "export", file)
    joined = lab.hosts[2].run(*program(lab.hosts[2], "handoff_peer.py")[len(lab.hosts[2].prefix):],
                              "--state", state, "--account", file, "hello", places[0])
    expect(joined.code == 0, str(joined))
    watch = victim.follow("watch")
    watch.wait("ready")
    watch.wait("added", id=sender.publish(TYPE, "--title", "before").id)
    process = subprocess.Popen(program(lab.hosts[2], "handoff_diverter.py", state, *places), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    stage.processes.append(process)
    reports(process, lambda counts: counts["repeated"] and counts["forged"])

    # The victim is unreachable for a moment. Its adverts are sent to each known address, including
    # that of the diverter.
    victim.host.link("down")
    offer = sender.publish(TYPE, "--title", "away")
    counts = reports(process, lambda counts: counts["diverted"] > 0)
    victim.host.link("up")
    watch.wait("added", id=offer.id)
    # Later the victim acknowledges an advert through the diverter, which forwards it to the sender.
    before = reports(process, lambda now: now["answered"])
    for number in range(10):
        watch.wait("added", id=sender.publish(TYPE, "--title", str(number)).id)
    after = reports(process, lambda now: now["forged"] >= before["forged"] + 3)
    print(f"    {before}, then {after}")
    expect(after["diverted"] == before["diverted"], f"adverts were sent to the diverter: {before}, then {after}")
    for daemon in (sender, victim):
        daemon.is_well()


if __name__ == "__main__":
    main()
