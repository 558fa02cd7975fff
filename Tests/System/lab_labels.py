"""An observer's view of an account whose key changes: its members do not change their labels at the
same time. Needs root."""

import os
import socket
import time

from harness import Lab, expect, main, test
from recording import texts

TYPE = "com.example.editing"
# Seconds over which the members spread their new labels, and the tolerance for the last one.
SPREAD, LATE = 180, 30
# Members that change within this many seconds could be linked. Three do so by chance once in ten thousand times.
TOGETHER = 1
PAUSE = 0.1


@test("after a removal three members change their labels at independent times, and can continue activities throughout", limit=300)
def spread(stage):
    lab = Lab(stage, 4, "--no-avahi", "--ipv4-only")
    members = [stage.daemon(name, host=host) for name, host in zip(("one", "two", "three", "four"), lab.hosts)]
    for member in members[1:]:
        stage.join(members[0], member)
    stay = members[:3]
    recording = os.path.join(stage.folder, "frames.pcap")
    lab.command("capture", recording)
    restarted = {}
    for member in members:
        # By then its record is in the recording.
        expect(member.stop() == 0, f"{member.name} did not exit cleanly")
        restarted[member] = time.time()
        member.start()
    watch = stay[1].follow("watch")
    watch.wait("ready")
    publish = stay[0].publish(TYPE)
    watch.wait("added", id=publish.id)

    def labels(member):
        """Returns the times at which a member announced its labels, by the clock of this machine."""
        source = socket.inet_aton(f"10.80.0.{members.index(member) + 1}")
        moments = {}
        for (instance, _), moment in texts(recording, source).items():
            moments.setdefault(instance, moment)
        return sorted(moments.values())

    limit = time.monotonic() + 60
    while not all(labels(member)[-1:] > [restarted[member]] for member in stay):
        expect(time.monotonic() < limit, f"not all have announced a label: {[labels(member) for member in stay]}")
        time.sleep(PAUSE)
    removed = time.time()
    epoch = stay[0].ctl("account", "show").line["epoch"]
    stay[0].ctl("device", "remove", "four", "--yes", "--no-wait")
    tries, slowest = 0, 0
    while not all(labels(member)[-1] > removed for member in stay) or tries < 20:
        expect(time.time() < removed + SPREAD + LATE, f"not all have new labels: {[labels(member) for member in stay]}")
        for _ in range(20):
            begin = time.monotonic()
            taken = stay[1].ctl("continue", publish.id, "--print", "--timeout", "5").line
            expect(taken["id"] == publish.id, "wrong activity")
            slowest, tries = max(slowest, time.monotonic() - begin), tries + 1
            time.sleep(max(0, PAUSE - (time.monotonic() - begin)))
    changes = [[moment - removed for moment in labels(member) if moment > removed] for member in stay]
    print("   new labels after " + ", ".join(f"{change[0]:.1f}" for change in changes) + " s; "
          f"continued {tries} times, the slowest in {slowest:.2f} s", flush=True)
    expect(all(len(change) == 1 for change in changes), f"more than one new label: {changes}")
    expect(max(changes)[0] - min(changes)[0] > TOGETHER, f"all at the same time: {changes}")
    expect(all(member.ctl("account", "show").line["epoch"] > epoch for member in stay), "the key has not changed")


if __name__ == "__main__":
    main()
