"""How long the control socket takes to answer while somebody floods the daemon: the part 'floods' of Benchmarks/run.

The floods come from this machine, from processes that give way to the daemon: an attacker's processor is not ours. Each is
measured in rounds of a second, and a round's figure is its 99th percentile.
"""

import os
import socket
import subprocess
import sys
import time

ROUNDS = 5
# Milliseconds in which the control socket answers 99 of 100 calls under each flood.
GOAL = 10
QUIET = "control socket p99, quiet"

# What each flood does, again and again: `port` is the daemon's, `app` the path of its app socket.
FLOODS = {
    "datagrams of noise": """
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
noise = [os.urandom(1200) for _ in range(64)]
def flood():
    for data in noise: sender.sendto(data, ("127.0.0.1", port))
""",
    "datagrams of the length of acknowledgements": """
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
noise = [b"\\1" + os.urandom(127) for _ in range(64)]
def flood():
    for data in noise: sender.sendto(data, ("127.0.0.1", port))
""",
    "connections that close": """
def flood():
    socket.create_connection(("127.0.0.1", port)).close()
""",
    "connections that say nothing": """
held = collections.deque(maxlen=200)
def flood():
    held.append(socket.create_connection(("127.0.0.1", port)))
""",
    "connections with a false token": """
def flood():
    with socket.create_connection(("127.0.0.1", port)) as stream:
        stream.sendall(os.urandom(40) + bytes([22, 3, 1, 1, 0, 1, 0, 0, 252]) + os.urandom(252))
        try: stream.recv(1)
        except OSError: pass
""",
    "app connections": """
def flood():
    with socket.socket(socket.AF_UNIX) as stream: stream.connect(app)
""",
    "app calls without an end": """
stream = socket.socket(socket.AF_UNIX)
stream.connect(app)
call = b'{"method":"org.varlink.service.GetInfo"}\\0' * 16
def flood():
    stream.sendall(call)
    stream.recv(65536)
""",
    "app calls that are too long": """
def flood():
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(app)
        try:
            for _ in range(64): stream.sendall(b"[" * 65536)
        except OSError: pass
""",
    "activities that change": """
events, calls = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
def call(stream, method, **call):
    stream.sendall(json.dumps({"method": "dev.handoff1." + method, **call}).encode() + b"\\0")
    reply = json.loads(stream.recv(65536).partition(b"\\0")[0])
    if "error" in reply: sys.exit(str(reply))
    return reply["parameters"]
for stream in (events, calls): stream.connect(app)
session = call(events, "Attach", more=True, parameters={"app": "flood", "types": []})["session"]
activity = call(calls, "Publish", parameters={
    "session": session, "activity": {"type": "com.example.flood", "title": "0"}})["activity"]
call(calls, "BecomeCurrent", parameters={"session": session, "activity": activity})
def flood():
    call(calls, "Update", parameters={
        "session": session, "activity": activity, "change": {"title": str(time.monotonic())}})
""",
}

PROGRAM = """
import collections, json, os, socket, sys, time
os.nice(19)
port, app = int(sys.argv[1]), sys.argv[2]
{flood}
print("ready", flush=True)
while True:
    try: flood()
    except (ConnectionError, BrokenPipeError, BlockingIOError): pass
"""


def measure(stage, harness, control, spread, quick):
    """The figures of all floods."""
    origin = stage.daemon("origin", options=["--app-socket", os.path.join(stage.folder, "app.socket")])
    taker = stage.daemon("taker")
    stage.join(origin, taker)
    asking = control(origin)
    port, app = asking.status()["port"], os.path.join(stage.folder, "app.socket")
    figures = {QUIET: rounds(asking, spread, quick)}
    for name, flood in FLOODS.items():
        processes = [subprocess.Popen([sys.executable, "-c", PROGRAM.format(flood=flood), str(port), app],
                                      stdout=subprocess.PIPE) for _ in range(2)]
        stage.processes += processes
        for process in processes:
            harness.expect(process.stdout.readline() == b"ready\n", f"the flood of {name} did not begin")
        figures["control socket p99, " + name] = rounds(asking, spread, quick)
        for process in processes:
            harness.expect(process.poll() is None, f"the flood of {name} ended")
            process.kill()
            process.wait()
        origin.is_well()
    return figures, "each is the 99th percentile of a second"


def rounds(asking, spread, quick):
    """The 99th percentile of each of some seconds, in milliseconds."""
    found = []
    for _ in range(2 if quick else ROUNDS):
        times, end = [], time.monotonic() + 1
        while (begin := time.monotonic()) < end:
            asking.status()
            times.append((time.monotonic() - begin) * 1000)
            time.sleep(0.001)
        times.sort()
        found.append(times[min(len(times) - 1, int(len(times) * 0.99))])
    return spread(found)


GOALS = [(QUIET, "ms", None, "")] + [
    (f"control socket p99, {name}", "ms", GOAL, f"{GOAL} ms") for name in FLOODS]
RATIOS = {f"control socket p99, {name}": QUIET for name in FLOODS}
