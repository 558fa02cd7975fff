"""Unknown devices on the network receive no bytes, and nothing that they could read. Needs root."""

import base64
import os
import shutil

from harness import Failure, Lab, expect, main, test
from recording import segments, spellings

TYPE = "com.example.secret-type"
TITLE = "Divorce papers for Zaphod"
PAYLOAD = "swordfish-payload"


def send(host, address, port, data):
    """Sends these bytes as an unknown device on a host. Returns the data received until the other
    side closes, or 5 s pass."""
    program = (
        "import socket,sys\n"
        "data = sys.stdin.buffer.read()\n"
        "c = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5)\n"
        "got = b''\n"
        "try:\n"
        "    c.sendall(data)\n"
        "    while piece := c.recv(4096): got += piece\n"
        "except (ConnectionError, TimeoutError): pass\n"
        "sys.stdout.write(str(len(got)))\n")
    result = host.run(shutil.which("python3"), "-c", program, address, str(port), input=data)
    expect(result.code == 0, str(result))
    return int(result.output)


@test("unknown devices see no offer, and receive no bytes: openssl s_client, a copied token, a replayed connection", limit=150)
def not_one_byte(stage):
    lab = Lab(stage, 4, "--no-avahi", "--ipv4-only")
    origin, taker = (stage.daemon(name, host=host) for name, host in zip(("origin", "taker"), lab.hosts))
    other = stage.daemon("other", host=lab.hosts[2])
    none = stage.daemon("none", host=lab.hosts[3])
    stage.join(origin, taker)
    other.ctl("account", "create")
    watches = [daemon.follow("watch") for daemon in (other, none)]
    recording = os.path.join(stage.folder, "recording.pcap")
    lab.command("capture", recording)
    # The connection over which it joined may still be open, and its start is not in the recording.
    taker.restart()
    publish = origin.publish(TYPE, "--title", TITLE)
    taker.follow("watch").wait("added", id=publish.id)
    expect(taker.ctl("continue", "--print").line["id"] == publish.id, "wrong activity")
    lab.command("capture", "stop")

    # The token and the ClientHello of a real connection, in either direction.
    ports = {origin.ctl("status").line["port"]: origin, taker.ctl("status").line["port"]: taker}
    tcp, _ = segments(recording)
    openings = [(source, target, data) for source, target, data in tcp
                if target in ports and len(data) > 100 and data[40:42] == b"\x16\x03"]
    expect(openings, "no token with a ClientHello was recorded")
    caller, port, opening = openings[-1]
    whole = b"".join(data for source, target, data in tcp if (source, target) == (caller, port))
    server = ports[port]
    address = server.host.addresses[0]
    fresh = bytearray(opening)
    fresh[40 + 5 + 6 + 10] ^= 1  # Another random value in the ClientHello.
    outsiders = lab.hosts[2:]
    for name, data in (
            ("a replayed token and ClientHello", opening), ("a replayed connection", whole),
            ("a copied token with another ClientHello", bytes(fresh)),
            ("another token with the ClientHello", os.urandom(40) + opening[40:]),
            ("the ClientHello alone", opening[40:]), ("the token alone", opening[:40])):
        for host in outsiders:
            got = send(host, address, port, data)
            expect(got == 0, f"{name} from {host.name} received {got} bytes")
    for words in ([], ["-tls1_3"], ["-tls1_3", "-groups", "X25519", "-alpn", "handoff/1"]):
        for host in outsiders:
            result = host.run("openssl", "s_client", "-connect", f"{address}:{port}", *words)
            expect("SSL handshake has read 0 bytes" in result.output, f"openssl s_client received data: {result}")

    for daemon, watch in zip((other, none), watches):
        expect(daemon.ctl("list").lines == [], f"{daemon.name} lists something")
        watch.interrupt()
        while (line := watch.next()) is not None:
            expect(line["event"] != "added", f"{daemon.name} was offered {line}")
        expect(daemon.ctl("status").line["peers"] == [], f"{daemon.name} has a peer")
    for daemon in (origin, taker, other, none):
        daemon.is_well()
    expect(taker.ctl("continue", "--print").line["id"] == publish.id, "the members are disturbed")


def recorded(stage, discovery, options):
    """Records everything from the start of two daemons to their end. Returns the file and the texts
    that must not be in it."""
    lab = Lab(stage, 2, *options)
    recording = os.path.join(stage.folder, "recording.pcap")
    lab.command("capture", recording)
    secrets = {"title": TITLE, "type": TYPE, "payload": PAYLOAD, "domain": "secret-page", "team": "SECRETTEAM"}
    daemons = []
    for number, host in enumerate(lab.hosts):
        host.run("hostname", f"workstation-of-ford-{number}")
        daemon = stage.daemon(f"d{number}", start=False, host=host, discovery=discovery)
        daemon.name = f"Trillian's laptop {number}"
        daemon.options[-1] = daemon.name
        daemon.environment.update({"USER": "ford-prefect", "LOGNAME": "ford-prefect"})
        daemon.start()
        daemons.append(daemon)
        secrets |= {f"device name {number}": "Trillian", f"host name {number}": "workstation-of-ford"}
    secrets["user name"] = "ford-prefect"
    origin, taker = daemons
    stage.join(origin, taker)
    watch = taker.follow("watch")
    publish = origin.publish(TYPE, "--title", TITLE, "--user-info", f'{{"a": "{PAYLOAD}"}}', "--team", "SECRETTEAM",
                             "--web-url", "https://secret-page.example/")
    watch.wait("added", id=publish.id)
    taker.ctl("continue", "--print")
    publish.wait("continued")
    origin.restart()
    again = publish.wait("published")["id"]
    watch.wait("added", id=again)
    for daemon in daemons:
        secrets[f"device id of {daemon.name}"] = bytes.fromhex(daemon.ctl("status").line["device"])[:16]
    secrets["account id"] = bytes.fromhex(origin.ctl("account", "show").line["account"])
    secrets["activity id"] = bytes.fromhex(again)
    publish.interrupt()
    watch.wait("removed", id=again)
    for daemon in daemons:
        daemon.stop()
    lab.command("capture", "stop")
    return recording, secrets


for discovery, options in (("embedded", ["--no-avahi"]), ("avahi", ["--avahi"])):

    @test(f"a recording of everything contains no title, type, user, host or device name ({discovery})", limit=150)
    def unreadable(stage, discovery=discovery, options=options):
        recording, secrets = recorded(stage, discovery, options)
        with open(recording, "rb") as file:
            content = file.read()
        tcp, udp = segments(recording)
        expect(tcp and any(5353 in (source, target) for source, target, _ in udp), "nothing was recorded")
        expect(b"_handoff" in content, "the service was never announced")
        expect(any(len(data) == 1200 for _, _, data in udp), "no sealed datagram was recorded")
        lowered = content.lower()
        for name, secret in secrets.items():
            for form in spellings(secret):
                if form in content or form.lower() in lowered:
                    raise Failure(f"the {name} is in the recording, as {form!r}")
        # 5353 is mDNS, and 9 the end mark of the recording.
        sizes = {len(data) for source, target, data in udp if not {5353, 9} & {source, target}}
        expect(sizes <= {128, 1200}, f"datagrams of other sizes than 128 and 1200: {sizes}")


@test("the search in recordings can find each of its texts")
def search_works(stage):
    for form in (b"x" + TITLE.encode(), TITLE.encode("utf-16-le"), base64.b64encode(b"ab" + TITLE.encode() + b"cd"),
                 base64.b32encode(b"abc" + TITLE.encode() + b"d"), TITLE.encode().hex().encode()):
        expect(any(spelling in form for spelling in spellings(TITLE)), f"not found: {form!r}")


if __name__ == "__main__":
    main()
