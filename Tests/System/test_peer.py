"""The reference peer in Python (Tests/Peer), which was written only from docs/protocol.md, against
the daemon.

Needs the Python packages 'cryptography' and 'pyOpenSSL'.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

from harness import ROOT, Failure, Skip, expect, main, run, same, test

PEER = os.path.join(ROOT, "Tests", "Peer")


class Python:
    """A device that is the reference peer and a member of a daemon's account."""

    def __init__(self, stage, daemon, file=None):
        try:
            import cryptography  # noqa: F401
            import OpenSSL  # noqa: F401
        except ImportError as error:
            raise Skip(f"the Python package '{error.name}' is not installed (pip install cryptography pyOpenSSL)") from None
        self.stage, self.state = stage, (file or os.path.join(stage.folder, "peer")) + ".json"
        self.target = f"127.0.0.1:{daemon.ctl('status').line['port']}"
        if file is None:
            file = os.path.join(stage.folder, "account.handoff")
            daemon.ctl("account", "export", file)
        self.joined = self.ask("hello", "--account", file)

    def words(self, program, *words):
        return [sys.executable, os.path.join(PEER, program), *words]

    def ask(self, command, *words):
        asked = [*words, command] if command == "show" else [*words, command, self.target]
        result = run(self.words("handoff_peer.py", "--state", self.state, *asked), dict(os.environ))
        expect(result.code == 0, str(result))
        return result.line

    def get(self, activity, command="continue"):
        result = run(
            self.words("handoff_peer.py", "--state", self.state, command, self.target, activity), dict(os.environ))
        expect(result.code == 0, str(result))
        return result.line

    def offer(self, *words):
        process = subprocess.Popen(
            self.words("handoff_peer.py", "--state", self.state, "offer", self.target, *words), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.stage.processes.append(process)
        return process


def event(process, name, others=None):
    """Returns the next line of the peer with this event. The daemon may send any requests before it."""
    while line := process.stdout.readline():
        value = json.loads(line)
        if value["event"] == name:
            return value
        if others is not None:
            others.append(value["event"])
    raise Failure(f"the peer exited with {process.wait()} before '{name}'")


def account(stage):
    daemon = stage.daemon("daemon")
    daemon.ctl("account", "create")
    daemon.know_sessions()
    return daemon, Python(stage, daemon)


@test("the numbers in the protocol documentation are right, and the peer keeps its rules")
def numbers(stage):
    daemon, python = account(stage)
    for command in ("vectors", "selftest"):
        result = run(python.words("handoff_peer.py", command), dict(os.environ))
        expect(result.code == 0, str(result))


@test("a peer joins with an exported account file, and receives the current key")
def joining(stage):
    daemon, python = account(stage)
    expect(python.joined["device"] == daemon.ctl("status").line["device"], f"the wrong device answered: {python.joined}")
    expect(python.joined["joined"] and python.joined["epoch"] == 1, f"the epoch changed: {python.joined}")
    expect(daemon.ctl("account", "show").line["epoch"] == 1, "the daemon is in another epoch")
    expect(daemon.ctl("account", "show").line["tickets"] == [], "the ticket is still open")
    names = {device["name"] for device in daemon.ctl("devices").lines}
    expect(names == {"daemon", "Python"}, f"wrong devices: {names}")
    expect(set(python.joined["names"].values()) == names, f"the peer has other names: {python.joined}")
    # The secret of the file is void now, and its own key opens the gate.
    expect(python.ask("hello")["device"] == python.joined["device"], "the peer is not admitted with its own key")


@test("each of two account files admits a device, whichever is used first")
def two_files(stage):
    daemon = stage.daemon("daemon")
    daemon.ctl("account", "create")
    files = [os.path.join(stage.folder, f"{number}.handoff") for number in range(2)]
    for file in files:
        daemon.ctl("account", "export", file)
    joined = [Python(stage, daemon, file).joined for file in files]
    expect(all(each["joined"] and each["epoch"] == 1 for each in joined), f"{joined}")
    expect(daemon.ctl("account", "show").line["tickets"] == [], "a ticket is still open")
    expect(len(daemon.ctl("devices").lines) == 3, "a device is missing")


@test("a peer sees and continues an activity that the daemon offers, and the app is notified")
def continuing(stage):
    daemon, python = account(stage)
    content = {"page": 3, "scale": 1.0, "when": {"$date": 12.5}}
    publisher = daemon.publish("com.example.editing", "--title", "Draft", "--user-info", json.dumps(content))
    listed = python.ask("activities")["result"]["activities"]
    expect([entry["id"] for entry in listed] == [publisher.id], f"wrong list: {listed}")
    expect(listed[0]["title"] == "Draft" and listed[0]["type"] == "com.example.editing", f"wrong entry: {listed}")
    payload = python.get(publisher.id)["result"]
    expect(same(payload["userInfo"], content), f"wrong payload: {payload}")
    publisher.wait("continued", deviceName="Python")
    unknown = python.get("00" * 16)["error"]
    expect((unknown["code"], unknown["reason"]) == (4608, "unknownActivity"), f"wrong error: {unknown}")


@test("an activity sent to another device is neither listed for a member nor given to it")
def sent(stage):
    daemon, python = account(stage)
    couch = stage.daemon("couch")
    stage.join(daemon, couch)
    publisher = daemon.publish("com.example.editing", "--title", "Draft", "--to", "couch")
    couch.follow("watch").wait("added", id=publisher.id, sent=True)
    expect(python.ask("activities")["result"]["activities"] == [], "it is listed")
    refused = python.get(publisher.id)["error"]
    expect((refused["code"], refused["reason"]) == (4608, "unknownActivity"), f"it was given: {refused}")
    mine = daemon.publish("com.example.editing", "--title", "For you", "--to", "Python")
    listed = python.ask("activities")["result"]["activities"]
    expect([(entry["id"], entry.get("sent")) for entry in listed] == [(mine.id, True)], f"wrong list: {listed}")
    expect(python.get(mine.id)["result"]["title"] == "For you", "it was not given")


@test("a peer that was refused an activity cannot report that it continued it")
def refused_continuing(stage):
    daemon, python = account(stage)
    large = daemon.publish("com.example.editing", "--user-info", "@" + stage.file("big.json", json.dumps({"a": "x" * 66_000})))
    refused = python.get(large.id)["error"]
    expect(refused["code"] == 4611, f"wrong error: {refused}")
    small = daemon.publish("com.example.editing")
    python.get(small.id)
    small.wait("continued", deviceName="Python")
    large.interrupt()
    events = [line["event"] for line in large.rest()]
    expect("continued" not in events, f"the app was notified: {events}")
    log = [line["outcome"] for line in daemon.ctl("log").lines if line["event"] == "continuation"]
    expect(log == ["continued"], f"{log}")


@test("a peer declines an activity that was sent to it, and no other one")
def declining(stage):
    daemon, python = account(stage)
    couch = stage.daemon("couch")
    stage.join(daemon, couch)
    for words in ((), ("--to", "couch")):
        publisher = daemon.publish("com.example.editing", "--title", "Draft", *words)
        python.get(publisher.id, "decline")
        publisher.interrupt()
        events = [line["event"] for line in publisher.rest()]
        expect("declined" not in events, f"{words}: {events}")
    mine = daemon.publish("com.example.editing", "--title", "For you", "--to", "Python")
    python.get(mine.id, "decline")
    mine.wait("declined", deviceName="Python")
    log = [line["outcome"] for line in daemon.ctl("log").lines if line["event"] == "continuation"]
    expect(log == ["declined"], f"{log}")


@test("a device without the current key hands nothing over, and reports the missing key instead of a pause")
def key_missing(stage):
    daemon, python = account(stage)
    publisher = daemon.publish("com.example.editing", "--title", "Draft")
    sys.path.insert(0, PEER)
    import handoff_roster as r
    import handoff_link as l
    from handoff_peer import Peer
    peer = Peer(python.state)
    host, _, port = python.target.rpartition(":")
    link, key = peer.open_connection(host, int(port)), os.urandom(32)
    ask = lambda: peer.request(link, "continue", {"activity": publisher.id})
    expect(ask()["result"]["title"] == "Draft", "it hands nothing over with the key either")
    peer.n = peer.roster.next_epoch(peer.n)
    peer.roster.merge([r.sign_statement(peer.key, peer.roster.account, r.EPOCH, r.epoch_body(peer.n, [], key))])
    peer.send_frames(link, (l.STATEMENTS, peer.roster.encoded()))
    # The roster is merged and stored before it takes effect. Further requests would not be answered.
    limit = time.monotonic() + 60
    while "result" in (answer := ask()):
        expect(time.monotonic() < limit, "it hands over its activity without the current key")
        time.sleep(0.25)
    error = answer["error"]
    expect((error["code"], error["reason"]) == (4608, "accountKeyMissing"), f"wrong error: {error}")
    expect("paused" not in error["message"] and "account key" in error["message"], f"wrong words: {error}")
    peer.account_key = key
    peer.send_frames(link, (l.ACCOUNT_KEY, key))
    while "error" in (answer := ask()):
        expect(answer["error"]["reason"] == "accountKeyMissing", f"wrong error: {answer}")
        time.sleep(0.25)


@test("a peer's activity is acknowledged, shown and continued, and disappears when the peer sends a leave message")
def announcing(stage):
    daemon, python = account(stage)
    watch = daemon.follow("watch")
    watch.wait("ready")
    offer = python.offer("--type", "com.example.python", "--title", "Ça va", "--user-info", '{"page": 7, "scale": 2.0}')
    offered = event(offer, "offered")
    expect(offered["acknowledged"], f"the advert was not acknowledged: {offered}")
    shown = watch.wait("added", id=offered["activity"])
    expect((shown["title"], shown["deviceName"]) == ("Ça va", "Python"), f"wrong offer: {shown}")
    listed = daemon.ctl("list").lines
    expect([entry["id"] for entry in listed] == [offered["activity"]], f"wrong list: {listed}")
    status = daemon.ctl("status").line
    expect((status["published"], status["offered"]) == (0, 1), f"wrong numbers: {status}")
    taken = daemon.ctl("continue", offered["activity"], "--print").line
    expect(same(taken["userInfo"], {"page": 7, "scale": 2.0}), f"wrong payload: {taken}")
    asked = []
    event(offer, "wasContinued", asked)
    expect("continue" in asked, f"the peer received no request: {asked}")
    offer.stdin.close()
    expect(event(offer, "goodbye")["acknowledged"], "the leave message was not acknowledged")
    watch.wait("removed", id=offered["activity"])
    expect(offer.wait(60) == 0, "the peer failed")
    expect(daemon.ctl("list").lines == [], "the offer is still there")


@test("a peer that goes to sleep is shown as sleeping")
def sleeping(stage):
    daemon, python = account(stage)
    watch = daemon.follow("watch")
    watch.wait("ready")
    offer = python.offer("--type", "com.example.python", "--sleep")
    offered = event(offer, "offered")
    watch.wait("added", id=offered["activity"])
    offer.stdin.close()
    expect(event(offer, "goodbye")["acknowledged"], "its sleep was not acknowledged")
    watch.wait("removed", id=offered["activity"])
    expect(offer.wait(60) == 0, "the peer failed")
    found = next(device for device in daemon.ctl("devices").lines if device["name"] == "Python")
    expect(found["asleepSince"] is not None and not found["online"], f"{found}")


@test("a payload of another type than was offered is rejected")
def lying(stage):
    daemon, python = account(stage)
    watch = daemon.follow("watch")
    watch.wait("ready")
    offer = python.offer("--type", "com.example.python", "--lie", "com.example.other")
    offered = event(offer, "offered")
    watch.wait("added", id=offered["activity"])
    refused = daemon.ctl("continue", offered["activity"], "--print", code=1)
    expect("com.example.other" not in refused.output and "does not match the offer" in refused.errors, str(refused))
    offer.stdin.close()
    expect(offer.wait(60) == 0, "the peer failed")


@test("an account file admits one device and no second one")
def file_twice(stage):
    daemon, python = account(stage)
    file = os.path.join(stage.folder, "account.handoff")
    state = os.path.join(stage.folder, "second.json")
    again = run(
        python.words("handoff_peer.py", "--state", state, "--account", file, "hello", python.target), dict(os.environ))
    expect(again.code != 0, f"a used file admitted another device: {again}")
    expect(len(daemon.ctl("devices").lines) == 2, "there is one more device")


def until(condition, message, within=60):
    end = time.monotonic() + within
    while not condition():
        expect(time.monotonic() < end, message)
        time.sleep(0.05)


@test("a peer that is not connected is called, and receives the changes")
def calling(stage):
    daemon, python = account(stage)
    sys.path.insert(0, PEER)
    from handoff_peer import Peer
    from handoff_server import Server
    peer = Peer(python.state)
    host, _, port = python.target.rpartition(":")
    link = peer.open_connection(host, int(port))
    expect(peer.advertise(host, int(port), bytes.fromhex(link.hello["label"]))["acknowledged"], "no acknowledgement")
    link.close()
    server = Server(peer)
    daemon.ctl("device", "rename", "Python", "Zaphod")
    until(lambda: peer.roster.names[peer.device] == "Zaphod", "the peer was not called with its name")
    until(lambda: server.links, "the daemon sent no hello")
    caller = server.links[0]
    expect(caller.peer.hex() == python.joined["device"], "another device has called")
    until(lambda: caller.hello["roster"] == peer.roster.digest[:8].hex(), "the rosters differ")
    server.close()


@test("a member that answers in place of the called one is rejected")
def impostor(stage):
    daemon, python = account(stage)
    sys.path.insert(0, PEER)
    import handoff_crypto as c
    import handoff_link as l
    import handoff_roster as r
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from handoff_peer import Peer
    from handoff_server import Server
    peer, other = Peer(python.state), Ed25519PrivateKey.generate()
    host, _, port = python.target.rpartition(":")
    link = peer.open_connection(host, int(port))
    added = r.sign_statement(peer.key, peer.roster.account, r.ADD, c.raw_public(other))
    peer.roster.merge([added])
    peer.send_frames(link, (l.STATEMENTS, r.encode_list([added])))
    until(lambda: len(daemon.ctl("devices").lines) == 3, "the other member is not known")
    expect(peer.advertise(host, int(port), bytes.fromhex(link.hello["label"]))["acknowledged"], "no acknowledgement")
    link.close()
    peer.context = l.make_context(other)
    server = Server(peer)
    daemon.ctl("device", "rename", "Python", "Zaphod")
    until(lambda: server.ends or server.links, "the peer was not called")
    expect(not server.links, "the daemon sent its hello to another member than the called one")
    daemon.is_well()
    server.close()


@test("a member with its four connections is granted a fifth, in place of an unused one")
def room(stage):
    daemon, python = account(stage)
    sys.path.insert(0, PEER)
    from handoff_peer import Peer
    peer = Peer(python.state)
    host, _, port = python.target.rpartition(":")
    links = [peer.open_connection(host, int(port)) for _ in range(8)]
    expect("result" in peer.request(links[-1], "activities", {}), "the last connection does not work")
    listed = [entry for entry in daemon.ctl("status").line["peers"] if entry["name"] == "Python"]
    expect(len(listed) == 1 and listed[0]["connected"], f"wrong peers: {listed}")


@test("every message that the protocol forbids is refused, and the daemon keeps working", limit=180)
def adversary(stage):
    daemon, python = account(stage)
    result = run(python.words("handoff_adversary.py", python.state, python.target), dict(os.environ), within=160)
    wrong = [line for line in result.lines if not line["fine"]]
    expect(result.code == 0 and not wrong and len(result.lines) > 130, f"{wrong or result}")
    with open(daemon.log) as file:
        expect("with an earlier version of the protocol was refused" in file.read(), "a token of the former draft is not reported")
    daemon.is_well()


@test("a recorded call to a static address does not open again, even after a restart")
def recorded(stage):
    daemon, python = account(stage)
    sys.path.insert(0, PEER)
    import handoff_crypto as c
    import handoff_link as l
    from handoff_peer import Peer
    peer = Peer(python.state)
    (server,) = peer.roster.live - {peer.device}
    host, _, port = python.target.rpartition(":")

    def call():
        link = l.Link(None, peer.context)
        link.tls.set_connect_state()
        link._try_handshake()
        hello = link._outgoing()
        return c.gate_token(peer.pair(server).gate, server, c.STATIC_LABEL, hello, peer.serial()) + hello

    def opens(data):
        with socket.create_connection((host, int(port)), 5) as sock:
            try:
                sock.sendall(data)
                return sock.recv(64) != b""
            except ConnectionError:
                return False

    first, second = call(), call()
    expect(opens(first) and not opens(first), "a call opens once")
    number = f"{peer.device.hex()} {peer.boot} {peer.calls - 1}\n"
    path = os.path.join(daemon.state, "callers")
    while not os.path.exists(path) or number not in open(path).read():
        time.sleep(0.01)
    daemon.options[daemon.options.index("--port") + 1] = port
    daemon.kill()
    daemon.start()
    expect(not opens(first), "it opens after a restart")
    expect(opens(second) and not opens(first) and not opens(second), "the next call")


@test("with keep = off, the capability and the flag of kept activities are ignored, and their methods are answered as unknown")
def reserved(stage):
    daemon, python = account(stage)
    watch = daemon.follow("watch")
    sys.path.insert(0, PEER)
    import handoff_crypto as c
    import handoff_link as l
    from handoff_peer import Peer
    peer = Peer(python.state)
    host, _, port = python.target.rpartition(":")
    link = peer.open_connection(host, int(port))
    peer.send_frames(link, (l.HELLO, json.dumps(json.loads(peer.hello()) | {"capabilities": ["keep"]}).encode()))
    answer = peer.request(link, "keep", {"copy": "AAAA"})
    expect(answer.get("error", {}).get("reason") == "rejected", f"invalid records are accepted: {answer}")
    with open(daemon.configuration, "a") as file:
        file.write("keep = off\n")
    daemon.process.send_signal(signal.SIGHUP)
    until(lambda: "error" in peer.request(link, "kept", {}), "the setting has no effect")
    for method in ("keep", "kept", "fetchKept"):
        answer = peer.request(link, method, {"copy": "AAAA"})
        expect(answer.get("error", {}).get("reason") == "unknownMethod", f"{method}: {answer}")
    peer.offers["5a" * 16] = {"shown": {
        "id": "5a" * 16, "type": "com.example.peer", "title": "Kept", "streams": False, "webpageURL": False, "age": 0}}
    encode, flags = c.encode_announcement, 47

    def flagged(announcement, capacity):
        data = bytearray(encode(announcement, capacity))
        data[flags] |= 8
        return bytes(data)

    try:
        c.encode_announcement = flagged
        heard = peer.advertise(host, int(port), bytes.fromhex(link.hello["label"]))
    finally:
        c.encode_announcement = encode
    expect(heard["acknowledged"], f"the advert with the flag is not acknowledged: {heard}")
    watch.wait("added", id="5a" * 16)
    daemon.is_well()


@test("two devices that removed each other report it, and each rejoins an account by one command")
def mutual_removal(stage):
    desk, laptop = stage.pair(("desk", "laptop"))
    python = Python(stage, desk)
    while len(laptop.ctl("devices").lines) != 3:
        time.sleep(0.05)
    # Each removes the other while that is off, so that neither can notify the other.
    laptop.stop()
    desk.ctl("device", "remove", "laptop", "--yes", "--no-wait")
    desk.stop()
    laptop.start()
    laptop.ctl("device", "remove", "desk", "--yes", "--no-wait")
    desk.start()
    sys.path.insert(0, PEER)
    import handoff_link as l
    import handoff_roster as r
    from handoff_peer import Peer
    # A third device forwards the statements of each to the other.
    former, links = desk.ctl("status").line["account"], []
    for daemon in (desk, laptop):
        shutil.copy(python.state, f"{python.state}.{daemon.name}")
        peer = Peer(f"{python.state}.{daemon.name}")
        links.append((peer, peer.open_connection("127.0.0.1", daemon.ctl("status").line["port"])))
    everything = r.encode_list(
        list({s.id: s for peer, _ in links for s in r.decode_list(peer.roster.encoded()) if s.kind != r.EPOCH}.values()))
    for peer, link in links:
        peer.send_frames(link, (l.STATEMENTS, everything))
    for daemon in (desk, laptop):
        while daemon.ctl("status").line["standing"] == "member":
            time.sleep(0.05)
        status = daemon.ctl("status").line
        expect(status["standing"] == "removedMutually", f"{status}")
        expect(any("removed each other" in warning for warning in status["warnings"]), f"{status['warnings']}")
        (check,) = [each for each in daemon.ctl("doctor", code=None).lines if each["check"] == "account"]
        expect("removed each other" in check["message"] and "handoffctl join" in check["remedy"]
               and "handoffctl account create" in check["remedy"], f"{check}")
    created = desk.ctl("account", "create")
    expect(created.line["account"] != former and "new identity" in created.errors, str(created))
    pair = desk.follow("pair", "--yes")
    code = pair.wait("opened")["code"]
    joined = laptop.ctl("join", input=f"{code}\n".encode())
    expect(joined.lines[-1]["account"] == created.line["account"] and "new identity" in joined.errors, str(joined))
    for daemon in (desk, laptop):
        status = daemon.ctl("status").line
        expect(status["standing"] == "member" and not status["warnings"] and len(daemon.ctl("devices").lines) == 2, f"{status}")


@test("a removed device returns using only an account file, and a member that imports one is unchanged")
def removed_imports(stage):
    desk, laptop = stage.pair(("desk", "laptop"))
    former = laptop.ctl("status").line["device"]
    file = os.path.join(stage.folder, "again.handoff")
    desk.ctl("account", "export", file)
    again = laptop.ctl("account", "import", file)
    expect(again.line["joined"] and laptop.ctl("status").line["device"] == former, str(again))
    expect("AccountExists" in laptop.ctl("account", "create", code=1).errors, "a member creates an account")
    desk.ctl("device", "remove", "laptop", "--yes", "--no-wait")
    while laptop.ctl("status").line["standing"] == "member":
        time.sleep(0.05)
    expect(laptop.ctl("status").line["standing"] == "removed", "wrong membership")
    imported = laptop.ctl("account", "import", file)
    expect(imported.line["joined"] and "new identity" in imported.errors, str(imported))
    status = laptop.ctl("status").line
    expect(status["standing"] == "member" and status["device"] != former, f"{status}")


@test("a member that uses up the last sequence numbers is removed, and the others start again")
def numbers_used_up(stage):
    daemon, python = account(stage)
    sys.path.insert(0, PEER)
    import handoff_roster as r
    import handoff_link as l
    from handoff_peer import Peer
    peer = Peer(python.state)
    host, _, port = python.target.rpartition(":")
    link, key = peer.open_connection(host, int(port)), os.urandom(32)
    name = r.name_body(link.peer, r.LAST_NUMBER, "for ever")
    for kind, body in ((r.NAME, name), (r.EPOCH, r.epoch_body(r.LAST_NUMBER, [], key))):
        peer.roster.merge([r.sign_statement(peer.key, peer.roster.account, kind, body)])
    peer.n, peer.account_key = r.LAST_NUMBER, key
    peer.store()
    peer._derive()
    peer.send_frames(link, (l.STATEMENTS, peer.roster.encoded()), (l.ACCOUNT_KEY, key), (l.HELLO, peer.hello()))
    named = lambda: [device["name"] for device in daemon.ctl("devices").lines if device["self"]]
    # A roster is merged and stored before it takes effect, and requests are answered in the meantime.
    while daemon.ctl("account", "show").line["epoch"] != r.LAST_NUMBER:
        time.sleep(0.02)
    expect(named() == ["for ever"], "the change is not applied")
    daemon.ctl("device", "rename", "for ever", "again", code=1)
    daemon.ctl("device", "remove", "Python", "--yes", "--no-wait")
    expect(daemon.ctl("account", "show").line["epoch"] == 1 and named() == ["daemon"], "numbers of the removed device still count")
    daemon.is_well()


if __name__ == "__main__":
    main()
