"""Pairing between simulated hosts, by real multicast DNS, including a man in the middle. Needs root."""

import json
import os
import subprocess
import sys
import time

from harness import Failure, Lab, expect, main
from pairing_stage import PEER, Call, join, members, pairing_test

TYPE = "com.example.editing"


def two(stage, lab, discovery):
    origin = stage.daemon("origin", host=lab.hosts[0], discovery=discovery)
    taker = stage.daemon("taker", host=lab.hosts[1], discovery=discovery)
    origin.ctl("account", "create")
    return origin, taker


def window(daemon, automatic=True):
    call = Call(daemon, "Pair", automatic=automatic)
    call.window = call.wait("opened")["window"]
    return call


def last(call, within=90):
    """Returns the reply with which a join ends."""
    while (answer := call.next(within)) is not None:
        if answer.get("event") == "joined" or "error" in answer:
            return answer
    raise Failure(f"ended without a reply: {call.seen}")


def false_inviter(stage, host, place):
    """Starts a man in the middle on a host, who forwards frames to the true inviting device, and
    reports their kinds."""
    process = subprocess.Popen(
        [*host.prefix, sys.executable, os.path.join(PEER, "handoff_false_inviter.py"), host.addresses[0], place],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    stage.processes.append(process)
    expect(json.loads(process.stdout.readline())["event"] == "announced", "the false inviter does not run")
    return process


for kind in ("avahi", "embedded"):
    for options in ([], ["--ipv6-only"], ["--ipv4-only"]):

        @pairing_test(f"two hosts pair with {kind} {' '.join(options)}".rstrip(), limit=120)
        def two_hosts(stage, kind=kind, options=options):
            lab = Lab(stage, 2, "--avahi" if kind == "avahi" else "--no-avahi", *options)
            origin, taker = two(stage, lab, kind)
            publish = origin.publish(TYPE, "--title", "Draft")
            watch = taker.follow("watch")
            watch.wait("ready")
            opened = window(origin)
            begin = time.monotonic()
            call = join(taker, opened.window["code"])
            call.wait("joined", within=60)
            joined = time.monotonic()
            watch.wait("added", id=publish.id)
            print(f"    code entered to joined {joined - begin:.2f} s, to the first activity {watch.moment - begin:.2f} s")
            opened.wait("joined")
            expect(members(taker) == members(origin) == {"origin", "taker"}, "wrong members")
            expect(taker.ctl("continue", "--print").line["id"] == publish.id, "wrong activity")

    for alone in (True, False):
        outcome = "alone gains nothing, and is detected" if alone else "next to the real inviter gains nothing"

        @pairing_test(f"a man in the middle that announces itself {outcome} ({kind})", limit=180)
        def between(stage, kind=kind, alone=alone):
            lab = Lab(stage, 3, "--avahi" if kind == "avahi" else "--no-avahi", "--ipv4-only")
            origin = stage.daemon("origin", host=lab.hosts[0], discovery="static" if alone else kind)
            taker = stage.daemon("taker", host=lab.hosts[1], discovery=kind)
            origin.ctl("account", "create")
            opened = window(origin)
            process = false_inviter(stage, lab.hosts[2], opened.window["addresses"][0])
            ended = last(join(taker, opened.window["code"]))
            if alone and "wrongCode" not in opened.events():
                # The joining device receives the refusal first.
                opened.wait("wrongCode")
            told = opened.events()
            reason = ended.get("reason", "joined")
            print(f"    join: {reason}; the inviting device received: {told}")
            if alone:
                expect(reason in ("wrongCode", "untrusted") and "wrongCode" in told, f"{ended}, {told}")
            if reason != "joined":
                expect(taker.ctl("account", "show").line["account"] is None, "an account exists")
                join(taker, opened.window["link"]).wait("joined", within=60)
            if "joined" not in told:
                opened.wait("joined")
            process.stdin.close()
            kinds = [json.loads(line)["kind"] for line in process.stdout]
            print(f"    frames that passed the man in the middle: {kinds}")
            # A joining device that detects two windows may end one call, and repeat it. A proof passes once.
            begins = [place for place, kind in enumerate(kinds) if kind == 1] + [len(kinds)]
            calls = [kinds[begin:end] for begin, end in zip(begins, begins[1:])]
            expect(all(call == [1, 2, 3, 4, 9][:len(call)] for call in calls), f"frames that passed: {kinds}")
            expect(kinds.count(4) == 1 or not alone and not kinds, f"frames that passed: {kinds}")
            expect(members(taker) == members(origin) == {"origin", "taker"}, "wrong members")


@pairing_test("two hosts pair by the link, which needs no discovery")
def by_link(stage):
    lab = Lab(stage, 2, "--no-avahi", "--ipv4-only")
    origin, taker = two(stage, lab, "static")
    opened = window(origin)
    expect(any(place.startswith(lab.hosts[0].addresses[0] + ":") for place in opened.window["addresses"]),
           f"wrong addresses: {opened.window}")
    begin = time.monotonic()
    join(taker, opened.window["link"]).wait("joined", within=60)
    print(f"    link entered to joined {time.monotonic() - begin:.2f} s")
    opened.wait("joined")


@pairing_test("a joining device reports that it is on no network, or that no device invites")
def timed_out(stage):
    lab = Lab(stage, 2, "--no-avahi", "--ipv4-only")
    origin, taker = two(stage, lab, "embedded")
    lab.hosts[1].link("down")
    begin = time.monotonic()
    reason = last(join(taker, "12345678")).get("reason")
    expect(reason in ("noNetwork", "nobodyThere"), f"reported: {reason}")
    print(f"    {reason} after {time.monotonic() - begin:.1f} s")
    lab.hosts[1].link("up")
    reason = last(join(taker, "12345678")).get("reason")
    expect(reason == "nobodyThere", f"reported: {reason}")
    opened = window(origin)
    join(taker, opened.window["code"]).wait("joined", within=60)


if __name__ == "__main__":
    main()
