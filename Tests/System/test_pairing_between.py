"""Attackers between two daemons that pair, and false inviters that do not know the code."""

import os
import time

from harness import expect, main
from pairing_stage import (
    NOT_TRUSTED, Inviting, adversary, has_no_account, join, members, p, pairing_test, python_window, spake2)


def pairs_honestly(window, taker):
    """Checks after an attack that the same window and the same device can pair without the attacker."""
    deadline = time.monotonic() + 40
    while True:
        call = join(taker, window.digits, f"127.0.0.1:{window.target[1]}")
        try:
            call.wait("joined", within=60)
            window.wait("joined")
            return
        except Exception:
            last = call.seen[-1] if call.seen else {}
            if last.get("reason") != "busy" or time.monotonic() > deadline:
                raise


@pairing_test("a pairing succeeds through a proxy that only forwards TCP")
def passing_on(stage):
    window, taker = Inviting(stage.daemon("inviter")), stage.daemon("taker")
    recorder = adversary.Recorder(window.target)
    join(taker, window.digits, recorder.place).wait("joined")
    window.wait("joined")
    expect(len(recorder.everything) > 2000, "no frames passed")
    expect(members(taker) == {"inviter", "taker"}, "wrong members")


@pairing_test("a man in the middle that terminates TLS is detected, and both devices are notified")
def ending_tls(stage):
    window, taker = Inviting(stage.daemon("inviter")), stage.daemon("taker")
    between = adversary.Between(window.target)
    reason = join(taker, window.digits, between.place).refused()
    expect(reason in NOT_TRUSTED, f"the joining device received: {reason}")
    expect(window.wait("wrongCode")["guessesLeft"] == 4, "the inviting device was not notified")
    kinds = [kind for _, kind, _ in between.frames]
    expect(kinds == [p.SALT, p.SHARE_A, p.SHARE_B, p.CONFIRM_A, p.REFUSAL], f"frames that passed: {kinds}")
    has_no_account(taker)
    # The data that passed inside TLS does not reveal the code, however many codes are tried.
    candidates = [window.digits.other(step) for step in range(-8, 8)]
    fit = adversary.codes_that_fit_a_listener(
        candidates, between.body(p.SALT), between.body(p.SHARE_A), between.body(p.SHARE_B), between.body(p.CONFIRM_A),
        between.bindings)
    expect(fit == [] and len(between.bindings) == 2, f"a listener can find the code: {fit}")
    # With the link there is not even a session, because the token belongs to the joiner's ClientHello.
    before = len(between.frames)
    link = p.write_link(window.secret, [between.place])
    refused = join(taker, link).wait("PairingFailed", within=60)
    expect(len(between.frames) == before and refused, f"frames passed under a link: {between.frames[before:]}")
    has_no_account(taker)
    between.close()
    pairs_honestly(window, taker)


def changes():
    point = spake2.encoded(spake2.multiplied(spake2.G, 77))
    only = lambda wanted, change: lambda _, kind, body: (kind, change(body) if kind == wanted else body)
    drop = lambda wanted: lambda _, kind, body: None if kind == wanted else (kind, body)
    return {
        "another share B": only(p.SHARE_B, lambda _: point),
        "a refusal turned into a confirmation": lambda _, kind, body: (
            (p.CONFIRM_B, os.urandom(32)) if kind == p.REFUSAL else (kind, body)),
        "an identity instead of the confirmation": lambda _, kind, body: (
            (p.IDENTITY, os.urandom(180)) if kind == p.CONFIRM_A else (kind, body)),
        "no refusal": drop(p.REFUSAL),
    }


@pairing_test("no change by a man in the middle leads to a pairing", limit=240)
def changing(stage):
    taker = stage.daemon("taker")
    for number, (case, change) in enumerate(changes().items()):
        # Each with its own daemon, because one allows wrong guesses at three codes only.
        inviter = stage.daemon(f"inviter{number}")
        window = Inviting(inviter)
        between = adversary.Between(window.target, change)
        ended = join(taker, window.digits, between.place).wait("PairingFailed", within=60)
        expect(ended["reason"] not in ("declined", "alreadyMember"), f"{case}: {ended}")
        expect(not {"confirm", "joining", "joined"} & set(window.events()), f"{case}: {window.events()}")
        has_no_account(taker)
        expect(members(inviter) == {inviter.name}, f"{case}: wrong members")
        between.close()
        window.close()
        inviter.stop()


@pairing_test("a man in the middle that guesses has five attempts at a code, and both devices are notified", limit=240)
def guessing(stage):
    window, taker = Inviting(stage.daemon("inviter")), stage.daemon("taker")
    reasons = []
    number = 0
    while number < 5:
        guessed = window.digits.other(1 + number)
        false = python_window(digits=guessed.text)
        call = join(taker, window.digits, false.place)
        session = false.accept().session
        salt, side, share_a, confirm_a = adversary.false_inviter(session, guessed)
        # A failed guess at the joining device. The attacker cannot determine which code would have been right.
        candidates = [guessed, window.digits, window.digits.other(9)]
        expect(adversary.codes_that_fit(candidates, salt, share_a, side, confirm_a, session.binding) == [], "a guess matches")
        session.send((p.CONFIRM_B, os.urandom(32)))
        reason = call.refused()
        expect(session.ending() in ("closed", "wrongCode", "failed", "cancelled"), "the device continues")
        session.close()
        false.close()
        # It has waited too long for a slow false inviter, so no guess was made.
        if reason == "unreachable":
            continue
        number += 1
        reasons.append(reason)
        # And one at the inviting device, as soon as that accepts attempts again.
        while True:
            try:
                joiner = window.joiner(guessed)
                joiner.confirm()
                raise AssertionError("a wrong code was accepted")
            except p.Ended as error:
                if error.reason != "busy":
                    break
                time.sleep(max(error.seconds, 0.05))
    expect(set(reasons) <= set(NOT_TRUSTED), f"the joining device received: {reasons}")
    window.wait("codeEnded")
    expect(window.events().count("wrongCode") in (4, 5), f"the inviting device received: {window.events()}")
    has_no_account(taker)
    join(taker, window.link).wait("joined")


@pairing_test("the search for the code succeeds if a false inviter has guessed it")
def guessing_right(stage):
    """The control of the test above: with the right code the same search finds it."""
    taker, false = stage.daemon("taker"), python_window()
    call = join(taker, false.digits, false.place)
    session = false.accept().session
    salt, side, share_a, confirm_a = adversary.false_inviter(session, false.digits)
    fit = adversary.codes_that_fit(
        [false.digits.other(), false.digits], salt, share_a, side, confirm_a, session.binding)
    expect(fit == [false.digits], f"the search does not find the code: {fit}")
    session.close()
    call.close()


if __name__ == "__main__":
    main()
