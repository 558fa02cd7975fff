"""Pairing between daemons, and with the reference peer, as a user does it, and in the words that he is told."""

import json
import os
import sys
import time

from harness import BIN, Failure, expect, main, run, test
from pairing_stage import (
    PEER, Call, Ed25519PrivateKey, Inviting, c, has_no_account, join, members, p, pairing, pairing_test, python_window,
    wrong)

TYPE = "com.example.editing"


@pairing_test("the Python peer's pairing passes its own checks", limit=120)
def checks(stage):
    result = run([sys.executable, os.path.join(PEER, "handoff_pairing.py"), "selftest"], dict(os.environ), within=100)
    expect(result.code == 0, str(result))


for by_link in (False, True):
    how = "the link" if by_link else "the digits"

    @pairing_test(f"the Python peer joins by {how}, and is a member in every respect", limit=90)
    def python_joins(stage, by_link=by_link):
        daemon = stage.daemon("inviter")
        window = Inviting(daemon, automatic=False)
        secret = window.secret if by_link else window.digits
        expect(len(window.code) == 8 and window.code.isdigit(), f"no digits: {window.code}")
        expect(1 <= len(window.places) <= 8 and len(window.link) <= 512, f"link: {window.link}")
        expect(0 < window.window["seconds"] <= 180, f"{window.window}")
        joiner = pairing.Joiner(window.session(secret), secret, name="Ford")
        joiner.exchange()
        joiner.confirm()
        joiner.identify()
        expect(joiner.inviter_name == "inviter", f"the daemon calls itself {joiner.inviter_name}")
        expect(c.device_id(joiner.inviter).hex() == daemon.ctl("status").line["device"], "another device answered")
        device = window.answer(True)
        expect(device == {"id": c.device_id(c.raw_public(joiner.key)).hex(), "name": "Ford"}, f"asked about {device}")
        joiner.take()
        window.wait("joining")
        joiner.stored()
        window.wait("joined")
        expect(members(daemon) == {"inviter", "Ford"}, "who is in?")
        state = os.path.join(stage.folder, "peer.json")
        joiner.account.write(state, joiner.key)
        hello = run([sys.executable, os.path.join(PEER, "handoff_peer.py"), "--state", state, "hello",
                     f"127.0.0.1:{daemon.ctl('status').line['port']}"], dict(os.environ))
        expect(hello.code == 0 and hello.line["device"] == daemon.ctl("status").line["device"], str(hello))
        entry = next(line for line in daemon.ctl("devices").lines if line["name"] == "Ford")
        expect(entry["unfinished"] is False, f"{entry}")
        expect(entry["admittedBy"] == daemon.ctl("status").line["device"], f"{entry}")
        daemon.restart()
        expect(members(daemon) == {"inviter", "Ford"}, "who is in after a restart?")

    @pairing_test(f"a daemon joins the Python peer by {how}, and keeps the account over a restart", limit=90)
    def python_invites(stage, by_link=by_link):
        daemon, window = stage.daemon("taker"), python_window()
        call = join(daemon, window.link) if by_link else join(daemon, window.digits, window.place)
        inviter = window.accept()
        inviter.exchange()
        inviter.check()
        inviter.confirm()
        inviter.identify()
        expect(inviter.joiner_name == "taker", f"the daemon calls itself {inviter.joiner_name}")
        waiting = call.wait("waiting")["device"]
        own = c.device_id(c.raw_public(window.key)).hex()
        expect(waiting == {"id": own, "name": "Python"}, f"whose user has to agree? {waiting}")
        has_no_account(daemon)
        inviter.admit()
        inviter.hand_over()
        joined = call.wait("joined")
        account = window.account.roster.account.hex()
        expect((joined["account"], joined["device"]["id"]) == (account, own), f"{joined}")
        expect([answer["event"] for answer in call.seen if answer["event"] == "calling"] == ["calling"], f"{call.seen}")
        for _ in range(2):
            shown = daemon.ctl("account", "show").line
            expect((shown["account"], shown["epoch"]) == (account, 1), f"{shown}")
            expect(members(daemon) == {"taker", "Python"}, "who is in?")
            daemon.restart()


@pairing_test("two daemons find each other by the digits alone", limit=90)
def by_discovery(stage):
    inviter, taker, other = (stage.daemon(name) for name in ("inviter", "taker", "other"))
    window = Inviting(inviter, automatic=False)
    call = join(taker, window.digits)
    call.wait("looking")
    call.wait("calling")
    device = window.answer(True)
    expect(device == {"id": taker.ctl("status").line["device"], "name": "taker"}, f"asked about {device}")
    expect(call.wait("joined")["device"]["name"] == "inviter", "joined another device")
    window.wait("joined")
    publish = inviter.publish(TYPE, "--title", "Draft")
    taker.follow("watch").wait("added", id=publish.id)
    has_no_account(other)


@pairing_test("of several inviting devices the one with the code is found", limit=120)
def several(stage):
    windows = [Inviting(stage.daemon(f"inviter{number}")) for number in range(3)]
    taker = stage.daemon("taker")
    # Each wrong one sees one wrong code, and the device asks for a new code rather than go on; its user tries again.
    reasons = []
    for _ in range(3):
        call = join(taker, windows[1].digits)
        while (answer := call.next(60)) is not None and answer.get("event") != "joined" and "error" not in answer:
            pass
        if answer.get("event") == "joined":
            expect(answer["device"]["name"] == "inviter1", f"{answer}")
            return
        reasons.append(answer)
        has_no_account(taker)
    join(taker, windows[1].link).wait("joined")
    print(f"    three inviting devices: {reasons}")


if __name__ == "__main__":
    main()
