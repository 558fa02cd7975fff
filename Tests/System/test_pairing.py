"""Pairing between daemons, and with the reference peer, as a user does it, and the messages that the user sees."""

import os
import re
import subprocess
import sys

from harness import BIN, expect, main, run
from pairing_stage import (
    CODE_DIGITS, PEER, Inviting, c, has_no_account, join, members, p, pairing, pairing_test, python_window)
from terminal import Terminal

TYPE = "com.example.editing"


@pairing_test("the Python peer's pairing passes its own checks", limit=260)
def checks(stage):
    result = run([sys.executable, os.path.join(PEER, "handoff_pairing.py"), "selftest"], dict(os.environ), within=240)
    expect(result.code == 0, str(result))


for by_link in (False, True):
    how = "the link" if by_link else "the digits"

    @pairing_test(f"the Python peer joins by {how}, and is a member in every respect", limit=90)
    def python_joins(stage, by_link=by_link):
        daemon = stage.daemon("inviter")
        window = Inviting(daemon, automatic=False)
        secret = window.secret if by_link else window.digits
        expect(len(window.code) == CODE_DIGITS and window.code.isdigit(), f"no digits: {window.code}")
        expect(1 <= len(window.places) <= 8 and len(window.link) <= 512, f"link: {window.link}")
        expect(0 < window.window["seconds"] <= 180, f"{window.window}")
        joiner = pairing.Joiner(window.session(secret), secret, name="Ford")
        joiner.exchange()
        joiner.confirm()
        joiner.identify()
        expect(joiner.inviter_name == "inviter", f"the daemon reports its name as {joiner.inviter_name}")
        expect(c.device_id(joiner.inviter).hex() == daemon.ctl("status").line["device"], "the wrong device answered")
        device = window.answer(True)
        expect(device == {"id": c.device_id(c.raw_public(joiner.key)).hex(), "name": "Ford"}, f"wrong device in the question: {device}")
        joiner.take()
        window.wait("joining")
        joiner.stored()
        window.wait("joined")
        expect(members(daemon) == {"inviter", "Ford"}, "wrong members")
        state = os.path.join(stage.folder, "peer.json")
        joiner.account.write(state, joiner.key)
        hello = run([sys.executable, os.path.join(PEER, "handoff_peer.py"), "--state", state, "hello",
                     f"127.0.0.1:{daemon.ctl('status').line['port']}"], dict(os.environ))
        expect(hello.code == 0 and hello.line["device"] == daemon.ctl("status").line["device"], str(hello))
        entry = next(line for line in daemon.ctl("devices").lines if line["name"] == "Ford")
        expect(entry["unfinished"] is False, f"{entry}")
        expect(entry["admittedBy"] == daemon.ctl("status").line["device"], f"{entry}")
        daemon.restart()
        expect(members(daemon) == {"inviter", "Ford"}, "wrong members after a restart")

    @pairing_test(f"a daemon joins the Python peer by {how}, and keeps the account over a restart", limit=90)
    def python_invites(stage, by_link=by_link):
        daemon, window = stage.daemon("taker"), python_window()
        call = join(daemon, window.link) if by_link else join(daemon, window.digits, window.place)
        inviter = window.accept()
        inviter.exchange()
        inviter.check()
        inviter.confirm()
        inviter.identify()
        expect(inviter.joiner_name == "taker", f"the daemon reports its name as {inviter.joiner_name}")
        waiting = call.wait("waiting")["device"]
        own = c.device_id(c.raw_public(window.key)).hex()
        expect(waiting == {"id": own, "name": "Python"}, f"wrong side for the confirmation: {waiting}")
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
            expect(members(daemon) == {"taker", "Python"}, "wrong members")
            daemon.restart()


@pairing_test("two daemons find each other using only the digits")
def by_discovery(stage):
    inviter, taker, other = (stage.daemon(name) for name in ("inviter", "taker", "other"))
    window = Inviting(inviter, automatic=False)
    call = join(taker, window.digits)
    call.wait("looking")
    call.wait("calling")
    device = window.answer(True)
    expect(device == {"id": taker.ctl("status").line["device"], "name": "taker"}, f"wrong device in the question: {device}")
    expect(call.wait("joined")["device"]["name"] == "inviter", "joined the wrong device")
    window.wait("joined")
    publish = inviter.publish(TYPE, "--title", "Draft")
    taker.follow("watch").wait("added", id=publish.id)
    has_no_account(other)


@pairing_test("of several inviting devices the one with the code is found")
def several(stage):
    windows = [Inviting(stage.daemon(f"inviter{number}")) for number in range(3)]
    taker = stage.daemon("taker")
    # Each inviter with another code counts one wrong code, and the device asks for a new code
    # instead of continuing. Its user tries again.
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


@pairing_test("at two terminals: code, question and answer")
def terminals(stage):
    inviter, taker = stage.daemon("inviter"), stage.daemon("taker")
    inviter.ctl("account", "create")
    pair = Terminal(inviter, "pair")
    code = pair.sees(r"code +(\d{4} \d{4})\b").group(1)
    join = Terminal(taker, "join")
    join.sees("Code shown on the other device: ")
    join.type("12 34\n")
    join.sees("8 digits")
    join.type(p.Digits(code).other().text + "\n")
    join.sees("the code is wrong")
    pair.sees("wrong code +4 guesses left")
    join.sees("Code shown on the other device: ")
    join.type(f" {code} \n")
    identifier = taker.ctl("status").line["device"]
    pair.sees(rf"Admit .*taker.*{identifier[:7]}.* to this account\?")
    join.sees("waiting +for .*inviter.* to confirm")
    pair.type("y\n")
    pair.sees("joined .*taker")
    join.sees("joined account .*2 devices")
    expect((pair.ends(), join.ends()) == (0, 0), "wrong exit codes")
    expect(members(taker) == {"inviter", "taker"}, "wrong members")


@pairing_test("the link is shown on a terminal and under --json, never in a file, and secrets are neither arguments nor logged",
              limit=90)
def secrets(stage):
    inviter, taker = stage.daemon("inviter"), stage.daemon("taker")
    inviter.ctl("account", "create")
    pair = Terminal(inviter, "pair", "--yes")
    link = pair.sees(r"(handoff:pair/1/\S+)\s").group(1)
    # The command does not wrap long lines, and leaves that to the terminal.
    refused = taker.ctl("join", link, code=None)
    expect(refused.code != 0 and link not in refused.errors + refused.output, f"a link as an argument: {refused}")
    joined = taker.ctl("join", input=(link + "\n").encode())
    expect(joined.lines[-1]["event"] == "joined", str(joined))
    expect(pair.ends() == 0, "wrong exit code")
    plain = follow_plain(stage, inviter, "pair", "--yes")
    text = plain.stdout.readline()
    while "code" not in text:
        text += plain.stdout.readline()
    plain.terminate()
    text += plain.communicate(timeout=20)[0]
    digits = re.search(r"\d{4} \d{4}", text)
    expect("handoff:" not in text and digits, f"in a pipe: {text}")
    for daemon in (inviter, taker):
        with open(daemon.log) as file:
            log = file.read()
        for secret in (link, link.split("/")[2], digits[0], digits[0].replace(" ", "")):
            expect(secret not in log, f"the log of {daemon.name} contains a secret")


def follow_plain(stage, daemon, *words):
    process = subprocess.Popen(
        [os.path.join(BIN, "handoffctl"), "--socket", daemon.socket, *words], env=daemon.environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    stage.processes.append(process)
    return process


if __name__ == "__main__":
    main()
