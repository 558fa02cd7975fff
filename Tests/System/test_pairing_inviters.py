"""Inviters that know the code but violate the protocol, or send false data, when a daemon joins."""

import os
import struct

from harness import expect, main
from pairing_stage import (
    ENDS, NOT_TRUSTED, Ed25519PrivateKey, c, has_no_account, join, members, p, pairing, pairing_test, python_window, r,
    spake2)


def forged(statements):
    """Statements of which the last has an invalid signature. Its last byte would be 0 in one of sixteen signatures."""
    return statements[:-1] + bytes([statements[-1] ^ 1])


def lies():
    """The violations of an inviter that knows the code: by name, a function of an Inviter after
    which the session ends."""
    key, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()

    def confirmed(inviter):
        inviter.exchange()
        inviter.check()
        inviter.confirm()

    def identified(inviter):
        confirmed(inviter)
        inviter.identify()

    def shares(data):
        def act(inviter):
            inviter.session.send((p.SALT, inviter.salt))
            inviter.session.expect(p.SHARE_A)
            inviter.session.raw(data)

        return act

    def first(data):
        return lambda inviter: inviter.session.raw(data)

    def identity(make):
        def act(inviter):
            confirmed(inviter)
            inviter.session.expect(p.IDENTITY)
            inviter.session.send_sealed(p.IDENTITY, make(inviter))

        return act

    def account(make):
        def act(inviter):
            identified(inviter)
            inviter.session.send_sealed(p.ACCOUNT, make(inviter))

        return act

    def reflected(inviter):
        inviter.session.send((p.SALT, inviter.salt))
        inviter.session.send((p.SHARE_B, inviter.session.expect(p.SHARE_A)))

    def wrong_confirmation(inviter):
        inviter.exchange()
        inviter.check()
        inviter.session.send((p.CONFIRM_B, inviter.keys.confirm_a))

    def reflected_identity(inviter):
        confirmed(inviter)
        body = inviter.session.expect(p.IDENTITY)
        inviter.session.send((p.IDENTITY, body))

    def twice(inviter):
        identified(inviter)
        inviter.admit()
        body = inviter.session.sealed(p.ACCOUNT, inviter.account.encoded[:-1])
        inviter.session.send((p.ACCOUNT, body), (p.ACCOUNT, inviter.session.sealed(p.ACCOUNT, inviter.account.encoded)))

    def not_admitted(inviter):
        return inviter.account.encoded

    def admitted(change):
        def make(inviter):
            inviter.admit()
            return change(inviter, inviter.account)

        return make

    def of_another(inviter):
        own = Ed25519PrivateKey.generate()
        found = pairing.Account.founded(own)
        add = r.sign_statement(own, found.roster.account, r.ADD, inviter.joiner)
        found.roster.merge([add])
        return found.encoded

    def with_removal(who):
        def make(inviter):
            inviter.admit()
            inviter.account.roster.merge([r.sign_statement(
                inviter.key, inviter.account.roster.account, r.REMOVE, r.remove_body(c.device_id(who(inviter))))])
            return inviter.account.encoded

        return make

    point = spake2.encoded(spake2.G)
    return {
        "a length of 2^32-1": first(struct.pack(">IB", 0xFFFFFFFF, p.SALT)),
        "an account first": first(c.frame(p.ACCOUNT, bytes(100))),
        "a share off the curve": shares(c.frame(p.SHARE_B, point[:-1] + bytes([point[-1] ^ 1]))),
        "the joiner's share back": reflected,
        "the joiner's confirmation back": wrong_confirmation,
        "an identity by another key": identity(lambda i: pairing.identity(key, "x", 1, i.session.binding)[:-64] + bytes(64)),
        "an identity of another session": identity(lambda i: pairing.identity(key, "x", 1, bytes(32))),
        "an identity in the joiner's role": identity(lambda i: pairing.identity(key, "x", 0, i.session.binding)),
        "an identity with a name that is no text": identity(lambda i: pairing.identity(key, b"\xff", 1, i.session.binding)),
        "an account without the joiner": account(not_admitted),
        "an account from which the inviter is removed": account(with_removal(lambda i: c.raw_public(i.key))),
        "an account with another key": account(admitted(
            lambda i, a: struct.pack(">Q", a.n) + os.urandom(32) + a.roster.encoded())),
        "an account cut short": account(admitted(lambda i, a: a.encoded[:-1])),
        "an account with a byte behind": account(admitted(lambda i, a: a.encoded + b"\0")),
        "an account with a forged statement": account(admitted(
            lambda i, a: a.encoded + forged(r.encode_list([r.sign_statement(
                i.key, a.roster.account, r.ADD, c.raw_public(other))])))),
        "two accounts": twice,
        "an account of 8 MiB of zeros": account(lambda i: bytes(8 * 2**20)),
    }


@pairing_test("a false inviter that knows the code leaves nothing behind on a joining device", limit=280)
def false_accounts(stage):
    taker = stage.daemon("taker")
    for case, act in lies().items():
        window = python_window()
        call = join(taker, window.digits, window.place)
        # A joiner whose connection closes calls again, and receives the same false data once more.
        # Then the calls are not answered.
        ends = []
        try:
            for timeout in (20, 1.5):
                window.listener.settimeout(timeout)
                inviter = window.accept()
                try:
                    act(inviter)
                    ends.append(inviter.session.ending(15))
                except ENDS as error:
                    ends.append(error)
                finally:
                    inviter.session.close()
        except TimeoutError:
            pass  # It does not call again.
        window.close()
        expect(ends and "open" not in ends, f"{case}: {ends}")
        ended = call.wait("PairingFailed", within=60)
        expect(ended["reason"] not in ("declined", "alreadyMember", "nobodyThere"), f"{case}: {ended}")
        expect(ended["message"], f"{case}: no message")
        has_no_account(taker)
    window = python_window()
    call = join(taker, window.digits, window.place)
    window.accept().run()
    call.wait("joined")
    expect(members(taker) == {"taker", "Python"}, "an honest inviter no longer works")


# The meaning of each byte of a refusal to the joining device. Busy, 4, is retried. Others count as failed.
REFUSALS = {
    1: NOT_TRUSTED, 2: ("codeUsed",), 3: ("windowClosed",), 5: ("declined",), 6: ("cancelled",), 8: ("removed",),
    9: ("accountFull",),
}


@pairing_test("every refusal of an inviter is understood, at every point of the session", limit=280)
def refusals(stage):
    taker = stage.daemon("taker")
    places = ("first", "after the shares", "after the confirmation", "instead of the account")
    for reason in [*range(11), 255]:
        if reason == 4:
            continue
        place = places[reason % len(places)]
        window = python_window()
        call = join(taker, window.digits, window.place)
        try:
            inviter = window.accept()
            if place != "first":
                inviter.exchange()
            if place in places[2:]:
                inviter.check()
            if place == places[2] and reason != 1:
                inviter.confirm()
            if place == places[3]:
                inviter.confirm()
                inviter.identify()
            inviter.session.refuse(reason)
            window.close()  # Further calls are not answered.
            ended = call.wait("PairingFailed", within=60)
        finally:
            window.close()
        wanted = REFUSALS.get(reason, ("failed",))
        if reason == 7:
            wanted = ("failed", "alreadyMember")
        expect(ended["reason"] in wanted, f"refusal {reason}, {place}: {ended}")
        has_no_account(taker)


if __name__ == "__main__":
    main()
