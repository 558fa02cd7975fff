"""Conditions under which a library would abort the daemon, on simulated hosts. Needs root."""

import os
import struct
import subprocess
import sys
import time

from harness import Lab, expect, main, test

CNAME = 5


def alias(owner, target, lifetime=10):
    from mdns_flood import name, record
    return record(name(*owner.encode().split(b".")), CNAME, name(*target.encode().split(b".")), lifetime=lifetime)


def packet(records):
    return struct.pack("!HHHHHH", 0, 0x8400, 0, len(records), 0, 0) + b"".join(records)


def send_aliases(address):
    """Announces aliases of the names that devices browse, like those that abort libavahi-core by its assertions."""
    from mdns_flood import GROUP, PORT, multicast_socket
    sock = multicast_socket(address)
    service = "_handoff._tcp.local"
    instance = "x" * 16 + "." + service
    packets = [
        [alias(service, service)],
        [alias(instance, service), alias(service, instance)],
        [alias(service, "a.local"), alias(service, "b.local"), alias("a.local", "c.local"), alias("b.local", "c.local")],
        [alias(service, "z.local"), alias(service, "y.local"), alias("z.local", "y.local"), alias("y.local", "z.local")],
    ]
    for round in range(3):
        for records in packets:
            sock.sendto(packet(records), (GROUP, PORT))
            time.sleep(0.3)
        time.sleep(2)


@test("aliases of the browsed names do not stop the daemon")
def aliases(stage):
    lab = Lab(stage, 2, "--no-avahi", "--ipv4-only")
    origin = stage.daemon("origin", host=lab.hosts[0], discovery="embedded")
    origin.ctl("account", "create")
    done = lab.hosts[1].run(sys.executable, os.path.abspath(__file__), "--send", lab.hosts[1].addresses[0])
    expect(done.code == 0, str(done))
    # The records expire in the meantime.
    time.sleep(12)
    origin.is_well()


@test("a network that appears while there are no descriptors does not stop the daemon")
def appears(stage):
    lab = Lab(stage, 1, "--no-avahi")
    lab.hosts[0].link("down")
    origin = stage.daemon("origin", host=lab.hosts[0], discovery="embedded", interface="br7")
    origin.ctl("account", "create")
    pid = str(origin.process.pid)
    used = max(int(name) for name in os.listdir(f"/proc/{pid}/fd")) + 1
    subprocess.run(["prlimit", f"--nofile={used}:4096", "--pid", pid], check=True, timeout=10)
    for words in ("link add br7 type bridge", "link set br7 up", "address add 10.81.0.1/24 dev br7"):
        done = lab.hosts[0].run("ip", *words.split())
        expect(done.code == 0, str(done))
    lab.hosts[0].link("up")
    time.sleep(3)
    expect(origin.process.poll() is None, f"it exited with {origin.process.poll()}")
    subprocess.run(["prlimit", "--nofile=4096", "--pid", pid], check=True, timeout=10)
    limit = time.monotonic() + 60
    while (status := origin.ctl("status").line)["discoveryState"] != "running":
        expect(time.monotonic() < limit, f"discovery is {status['discoveryState']}")
        time.sleep(0.1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--send"]:
        send_aliases(sys.argv[2])
    else:
        main()
