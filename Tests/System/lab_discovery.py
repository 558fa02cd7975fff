"""Handoff between simulated hosts, by real multicast DNS. Needs root."""

import time

from harness import Lab, expect, main, same, test

TYPE = "com.example.editing"
# Less than the 25 s after which a D-Bus call to Avahi times out, in seconds.
FROZEN = 20
INFO = {"page": 3, "scale": 1.0, "text": "Grüße", "data": {"$data": "AAH/"}}


def pair(stage, lab, discovery="auto"):
    origin = stage.daemon("origin", host=lab.hosts[0], discovery=discovery)
    taker = stage.daemon("taker", host=lab.hosts[1], discovery=discovery)
    stage.join(origin, taker)
    return origin, taker


def hand_over(origin, taker, watch=None, within=60):
    """Publishes on one, and continues on the other. Then withdraws the activity."""
    watch = watch or taker.follow("watch")
    publish = origin.publish(TYPE, "--title", "Draft", "--user-info", '{"page": 3, "scale": 1.0, "text": "Grüße", '
                             '"data": {"$data": "AAH/"}}')
    watch.wait("added", id=publish.id, within=within)
    taken = taker.ctl("continue", publish.id, "--print").line
    expect(same(taken["userInfo"], INFO), f"wrong payload: {taken}")
    publish.wait("continued", deviceName="taker")
    expect(publish.interrupt() == 0, "Ctrl-C is reported as a failure")
    watch.wait("removed", id=publish.id, within=within)


def in_use(daemon, kind):
    found = daemon.ctl("status").line["discovery"]
    expect(found == kind, f"{daemon.name} uses {found}, not {kind}")


for kind in ("avahi", "embedded"):
    for options in ([], ["--ipv6-only"], ["--ipv4-only"]):

        @test(f"two hosts hand over with {kind} {' '.join(options)}".rstrip(), limit=120)
        def two_hosts(stage, kind=kind, options=options):
            lab = Lab(stage, 2, "--avahi" if kind == "avahi" else "--no-avahi", *options)
            origin, taker = pair(stage, lab, kind)
            hand_over(origin, taker)
            in_use(origin, kind)
            taker.restart()
            hand_over(origin, taker)
            origin.restart()
            hand_over(origin, taker)


@test("auto uses Avahi if it runs, and the embedded responder if it does not, and both find each other")
def mixed(stage):
    lab = Lab(stage, 2, "--no-avahi")
    lab.hosts[0].avahi("start")
    origin, taker = pair(stage, lab)
    hand_over(origin, taker)
    in_use(origin, "avahi")
    in_use(taker, "embedded")


@test("auto switches to Avahi when it appears")
def avahi_appears(stage):
    lab = Lab(stage, 2, "--no-avahi")
    origin, taker = pair(stage, lab)
    hand_over(origin, taker)
    lab.hosts[0].avahi("start")
    limit = time.monotonic() + 60
    while origin.ctl("status").line["discovery"] != "avahi":
        expect(time.monotonic() < limit, "auto did not switch to Avahi within 60 s")
        time.sleep(0.1)
    hand_over(origin, taker)


@test("a restart of Avahi loses nothing")
def avahi_restarts(stage):
    lab = Lab(stage, 2, "--avahi")
    origin, taker = pair(stage, lab, "avahi")
    watch = taker.follow("watch")
    publish = origin.publish(TYPE, "--user-info", '{"a": 1}')
    watch.wait("added", id=publish.id)
    for host in lab.hosts:
        host.avahi("restart")
        expect(taker.ctl("continue", publish.id, "--print").line["userInfo"] == {"a": 1}, "wrong payload")
    publish.interrupt()
    watch.wait("removed", id=publish.id)
    hand_over(origin, taker, watch)


@test("kill -9 of Avahi loses nothing, and a device that starts afterwards is found when Avahi runs again")
def avahi_killed(stage):
    lab = Lab(stage, 3, "--avahi")
    origin, taker = pair(stage, lab, "avahi")
    watch = taker.follow("watch")
    publish = origin.publish(TYPE, "--user-info", '{"a": 1}')
    watch.wait("added", id=publish.id)
    lab.hosts[1].avahi("kill")
    expect(taker.ctl("continue", publish.id, "--print").line["userInfo"] == {"a": 1}, "wrong payload")
    third = stage.daemon("third", host=lab.hosts[2], discovery="avahi")
    stage.join(origin, third)
    lab.hosts[1].avahi("start")
    late = third.publish(TYPE, "--title", "Late")
    watch.wait("added", id=late.id)
    expect(taker.ctl("continue", late.id, "--print").line["deviceName"] == "third", "wrong device")


@test("a frozen Avahi delays neither the control socket nor devices that know each other")
def avahi_frozen(stage):
    lab = Lab(stage, 2, "--avahi")
    origin, taker = pair(stage, lab, "avahi")
    hand_over(origin, taker)
    for host in lab.hosts:
        host.avahi("freeze")
    watch = taker.follow("watch")
    watch.wait("ready")
    for _ in range(20):
        # Avahi remains frozen. Requests that depend on it are answered only when its calls time out.
        origin.ctl("status", within=FROZEN)
        taker.ctl("list", within=FROZEN)
    hand_over(origin, taker, watch, within=FROZEN)
    for host in lab.hosts:
        host.avahi("thaw")
    hand_over(origin, taker, watch)


@test("a frozen Avahi does not delay the start or the exit of the daemon")
def start_frozen(stage):
    lab = Lab(stage, 1, "--avahi")
    lab.hosts[0].avahi("freeze")
    daemon = stage.daemon("one", host=lab.hosts[0], discovery="avahi", start=False).start(within=FROZEN)
    daemon.ctl("status", within=FROZEN)
    expect(daemon.stop(within=FROZEN) == 0, "the daemon did not exit cleanly")


for kind in ("avahi", "embedded"):

    @test(f"without a network the daemon works, and finds its devices when the cable is plugged in again ({kind})", limit=120)
    def cable(stage, kind=kind):
        lab = Lab(stage, 2, "--avahi" if kind == "avahi" else "--no-avahi")
        origin, taker = pair(stage, lab, kind)
        hand_over(origin, taker)
        lab.hosts[0].link("down")
        publish = origin.publish(TYPE)
        taker.ctl("list")
        refused = taker.ctl("continue", "--print", "--timeout", "3", code=None)
        expect(refused.code in (1, 4), str(refused))
        lab.hosts[0].link("up")
        taker.follow("watch").wait("added", id=publish.id, within=60)
        expect(taker.ctl("continue", publish.id, "--print").line["id"] == publish.id, "wrong activity")


@test("a daemon that starts without any network is found when one appears")
def late_network(stage):
    lab = Lab(stage, 2, "--no-avahi")
    origin, taker = pair(stage, lab, "embedded")
    for daemon, host in zip((origin, taker), lab.hosts):
        expect(daemon.stop() == 0, f"{daemon.name} did not exit cleanly")
        host.link("down")
        daemon.start()
    publish = origin.publish(TYPE)
    for host in lab.hosts:
        host.link("up")
    taker.follow("watch").wait("added", id=publish.id, within=60)


@test("a changed address is followed")
def address_change(stage):
    lab = Lab(stage, 2, "--no-avahi", "--ipv4-only")
    origin, taker = pair(stage, lab, "embedded")
    hand_over(origin, taker)
    for words in (["flush", "dev", "eth0"], ["add", "10.80.0.77/24", "brd", "+", "dev", "eth0"]):
        done = lab.hosts[0].run("ip", "address", *words)
        expect(done.code == 0, str(done))
    lab.hosts[0].run("ip", "route", "add", "224.0.0.0/4", "dev", "eth0")
    hand_over(origin, taker)


@test("an offer of a device that lost power is withdrawn, and its neighbour keeps working", limit=180)
def power_loss(stage):
    lab = Lab(stage, 2, "--no-avahi")
    origin, taker = pair(stage, lab, "embedded")
    watch = taker.follow("watch")
    publish = origin.publish(TYPE)
    watch.wait("added", id=publish.id)
    lab.hosts[0].link("down")
    origin.kill()
    refused = taker.ctl("continue", publish.id, "--print", "--timeout", "10", code=None)
    expect(refused.code in (1, 4), str(refused))
    watch.wait("removed", id=publish.id, within=90)
    taker.is_well()


if __name__ == "__main__":
    main()
