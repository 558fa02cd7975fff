"""An avahi-daemon that does not announce this device, on simulated hosts. Needs root."""

import time

from harness import Lab, expect, main, test

TYPE = "com.example.editing"
# The time within which the daemon must notice, and change: a call that a restart of Avahi leaves without a reply counts as
# lost after 25 s, the next attempt follows within 10 s, and its announcement is checked for 5 s.
NOTICED = 70

REFUSALS = {
    "user services are not published": ["publish/disable-user-service-publishing=yes"],
    "nothing is published": ["publish/disable-publishing=yes"],
    "the interface is not allowed": ["server/allow-interfaces=eth9"],
    "the interface is denied": ["server/deny-interfaces=eth0"],
    "a client may have two objects": ["server/objects-per-client-max=2"],
    "a group may have one entry": ["server/entries-per-entry-group-max=1"],
}


def wait(daemon, condition, message):
    """Waits until the status of a daemon meets a condition."""
    limit = time.monotonic() + NOTICED
    while not condition(status := daemon.ctl("status").line):
        expect(time.monotonic() < limit, f"{message}: {status['discovery']}, {status['discoveryState']}")
        time.sleep(0.1)
    return status


def log_lines(daemon, text):
    with open(daemon.log) as file:
        return [line for line in file if text in line]


def found(origin, taker):
    """Checks that a device that starts now finds an offer of the first."""
    publish = origin.publish(TYPE)
    taker.follow("watch").wait("added", id=publish.id, within=NOTICED)
    publish.interrupt()


for title, lines in REFUSALS.items():

    @test(f"auto uses the embedded responder if Avahi does not announce the device: {title}", limit=180)
    def automatic(stage, lines=lines):
        lab = Lab(stage, 2, "--no-avahi")
        lab.hosts[0].avahi("start", *lines)
        origin = stage.daemon("origin", host=lab.hosts[0], discovery="auto")
        taker = stage.daemon("taker", host=lab.hosts[1], discovery="auto")
        stage.join(origin, taker)
        wait(origin, lambda status: status["discovery"] == "embedded" and status["discoveryState"] == "running",
             "auto did not change to the embedded responder")
        taker.restart()
        found(origin, taker)
        expect(len(log_lines(origin, "without avahi-daemon")) == 1, "not exactly one line for the change")
        # Avahi may announce again.
        lab.hosts[0].avahi("restart")
        wait(origin, lambda status: status["discovery"] == "avahi" and status["discoveryState"] == "running",
             "auto did not return to Avahi")
        taker.restart()
        found(origin, taker)

    @test(f"a configured Avahi that does not announce the device is reported: {title}", limit=120)
    def configured(stage, lines=lines):
        lab = Lab(stage, 1, "--no-avahi")
        lab.hosts[0].avahi("start", *lines)
        origin = stage.daemon("origin", host=lab.hosts[0], discovery="avahi")
        origin.ctl("account", "create")
        status = wait(origin, lambda status: any("not announced" in text for text in status["warnings"]),
                      "no warning in status")
        checks = {line["check"]: line for line in origin.ctl("doctor", code=1).lines if "check" in line}
        found = checks["discovery"]
        expect(found["state"] == "problem" and "discovery = auto" in found["remedy"], f"{found}")
        time.sleep(11)  # Two more attempts, which must not be reported again.
        expect(len(log_lines(origin, "not announced")) == 1, f"{log_lines(origin, 'not announced')}")
        lab.hosts[0].avahi("restart")
        wait(origin, lambda status: status["discoveryState"] == "running" and not status["warnings"],
             "the warning remains")


if __name__ == "__main__":
    main()
