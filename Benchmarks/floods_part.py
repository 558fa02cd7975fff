"""The response time of the control socket while clients flood the daemon: the part 'floods' of
Benchmarks/run.

The floods are sent from this machine, by processes with a lower priority than the daemon, because
an attacker uses another machine's processor. Each is measured in rounds of a second, and a round's
figure is its 99th percentile. That of invalid tokens is repeated in an account of 253 devices,
together with the time until such a connection is closed, and the time in which a member is
connected during it. This needs the packages of Tests/Peer.
"""

import os
import socket
import subprocess
import sys
import time

ROUNDS = 5
# The largest account, in which all members except three exist only in its roster.
DEVICES, ADDED_BY_ONE = 253, 60
TOKENS = "connections with a false token"
CLOSING = "until a false token is closed, {} devices"
CALL = "call of a member under false tokens, {} devices"
# The limit in milliseconds for 99 of 100 calls to the control socket under each flood.
GOAL = 10
QUIET = "control socket p99, quiet"

# The repeated action of each flood. `port` is the daemon's, `app` the path of its app socket.
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
    """Returns the figures of all floods."""
    origin = stage.daemon("origin", options=["--app-socket", os.path.join(stage.folder, "app.socket")])
    taker = stage.daemon("taker")
    stage.join(origin, taker)
    asking = control(origin)
    port, app = asking.status()["port"], os.path.join(stage.folder, "app.socket")
    figures = {QUIET: rounds(asking, spread, quick)}
    sys.path.insert(0, os.path.join(harness.ROOT, "Tests", "Peer"))
    peer, link = member(stage, origin, port)

    def under(name, measured):
        processes = [subprocess.Popen([sys.executable, "-c", PROGRAM.format(flood=FLOODS[name]), str(port), app],
                                      stdout=subprocess.PIPE) for _ in range(2)]
        stage.processes += processes
        for process in processes:
            harness.expect(process.stdout.readline() == b"ready\n", f"the flood of {name} did not start")
        found = measured()
        for process in processes:
            harness.expect(process.poll() is None, f"the flood of {name} has ended")
            process.kill()
            process.wait()
        origin.is_well()
        return found

    for name in FLOODS:
        figures["control socket p99, " + name] = under(name, lambda: rounds(asking, spread, quick))
    for devices in (3, DEVICES):
        if devices == DEVICES:
            fill(peer, link)
            figures[f"control socket p99, {TOKENS}, {DEVICES} devices"] = under(TOKENS, lambda: rounds(asking, spread, quick))
        figures[CLOSING.format(devices)] = spread([closing(port) for _ in range(200)])
        figures[CALL.format(devices)] = under(TOKENS, lambda: spread([call(peer, link, port) for _ in range(100)]))
    return figures, "each is the 99th percentile of a second"


def member(stage, origin, port):
    """A third member, written in Python, and its connection."""
    from handoff_peer import Peer
    file = os.path.join(stage.folder, "third.handoff")
    origin.ctl("account", "export", file)
    peer = Peer(os.path.join(stage.folder, "third.json"), file)
    return peer, peer.open_connection("127.0.0.1", port)


def fill(peer, link):
    """Adds devices that never run until the account is full."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    import handoff_crypto as c
    import handoff_link as l
    import handoff_roster as r
    signers, statements = [peer.key], []
    for number in range(DEVICES - len(peer.roster.live)):
        signers.append(Ed25519PrivateKey.generate())
        body = c.raw_public(signers[-1])
        statements.append(r.sign_statement(signers[number // ADDED_BY_ONE], peer.roster.account, r.ADD, body))
    peer.roster.merge(statements)
    assert len(peer.roster.live) == DEVICES
    peer.send_frames(link, (l.STATEMENTS, peer.roster.encoded()), (l.HELLO, peer.hello()))
    peer.request(link, "activities", {})  # Statements are stored before anything else is read.


def closing(port):
    """Returns the milliseconds until a connection with an invalid token is closed."""
    with socket.create_connection(("127.0.0.1", port)) as stream:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = os.urandom(40) + bytes([22, 3, 1, 1, 0, 1, 0, 0, 252]) + os.urandom(252)
        begin = time.monotonic()
        try:
            stream.sendall(data)
            stream.recv(1)
        except ConnectionError:
            pass
        return (time.monotonic() - begin) * 1000


def call(peer, link, port):
    """Returns the milliseconds until a member is connected, with the handshake in Python."""
    import handoff_link as l
    begin = time.monotonic()
    new = l.Link.call("127.0.0.1", port, peer.context, peer.pair(link.peer).gate, link.peer,
                      bytes.fromhex(link.hello["label"]), epoch=(peer.device, peer.keys.gate))
    took = (time.monotonic() - begin) * 1000
    new.sock.close()
    time.sleep(0.15)  # A device may make 10 connections a second.
    return took


def rounds(asking, spread, quick):
    """Returns the 99th percentile of each of some seconds, in milliseconds."""
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
    (f"control socket p99, {name}", "ms", GOAL, f"{GOAL} ms") for name in [*FLOODS, f"{TOKENS}, {DEVICES} devices"]] + [
    (CLOSING.format(devices), "ms", None, "") for devices in (3, DEVICES)] + [
    (CALL.format(devices), "ms", 100, "100 ms") for devices in (3, DEVICES)]
RATIOS = {f"control socket p99, {name}": QUIET for name in FLOODS}
