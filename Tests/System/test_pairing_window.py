"""Attacks on a pairing window: guesses of the code, floods, and replayed messages."""

import contextlib
import socket
import threading
import time

from harness import expect, main
from pairing_stage import ENDS, Inviting, adversary, c, join, knock, members, p, pairing, pairing_test, port
from recording import spellings


def guess(window, digits, tried):
    """Tries one code, and waits while the daemon reports that it is busy. Returns the result."""
    while True:
        try:
            joiner = window.joiner(digits)
            joiner.confirm()
            return "right"
        except p.Ended as error:
            if error.reason != "busy":
                return error.reason
            tried.append(error.seconds)
            time.sleep(max(error.seconds, 0.05))


@pairing_test("at most five of the parallel guesses are checked")
def parallel(stage):
    window = Inviting(stage.daemon("inviter"))
    wrongs, busy = 0, 0
    for _ in range(40):
        ready, ends = [], []
        for number in range(4):
            try:
                ready.append(window.joiner(window.digits.other(1 + number)))
            except p.Ended as error:
                ends.append(error)
        # A session lasts five seconds, and may end before the others are ready.
        for joiner in ready:
            with contextlib.suppress(*ENDS):
                joiner.session.send((p.CONFIRM_A, joiner.keys.confirm_a))
        for joiner in ready:
            try:
                joiner.session.expect(p.CONFIRM_B)
            except ENDS as error:
                ends.append(error)
        reasons = [getattr(error, "reason", "closed") for error in ends]
        expect(reasons.count("wrongCode") <= 1, f"several were checked at the same time: {reasons}")
        wrongs += reasons.count("wrongCode")
        busy += reasons.count("busy")
        pauses = [error.seconds for error in ends if getattr(error, "reason", "") == "busy"]
        if "codeEnded" in window.events():
            break
        time.sleep(min(pauses, default=0.05))
    told = window.events()
    expect("codeEnded" in told and told.count("wrongCode") <= 5, f"reported: {told}")
    expect(4 <= wrongs <= 5 and busy >= 4, f"{wrongs} guesses were checked, {busy} were busy")
    expect(guess(window, window.digits, []) == "codeEnded", "the right code still works")
    window.admits(window.secret)


@pairing_test("during an endless flood of connections an honest daemon joins, if only after some attempts")
def flood_daemons(stage):
    window, taker = Inviting(stage.daemon("inviter")), stage.daemon("taker")
    done, count = threading.Event(), [0]

    def attack(number):
        held = []
        while not done.is_set():
            try:
                held.append(socket.create_connection(window.target, 5, (f"127.0.0.{2 + number}", 0)))
                count[0] += 1
            except OSError:
                pass
            if len(held) > 20:
                held.pop(0).close()
            done.wait(0.05)

    threads = [threading.Thread(target=attack, args=(number,), daemon=True) for number in range(4)]
    for thread in threads:
        thread.start()
    try:
        join(taker, window.digits, f"127.0.0.1:{window.target[1]}").wait("joined", within=60)
    finally:
        done.set()
    print(f"    {count[0]} hostile connections in the meantime")
    window.wait("joined")


@pairing_test("sessions that others start and leave open block neither the digits nor the link")
def held_sessions(stage):
    window, takers = Inviting(stage.daemon("inviter")), [stage.daemon(name) for name in ("first", "second")]
    done, count = threading.Event(), [0]

    def attack(number):
        held = []
        while not done.is_set():
            try:
                session = window.session(source=f"127.0.0.{2 + number}")
                session.expect(p.SALT)
                held.append(session)
                count[0] += 1
            except ENDS:
                pass
            done.wait(0.1)

    threads = [threading.Thread(target=attack, args=(number,), daemon=True) for number in range(4)]
    for thread in threads:
        thread.start()
    try:
        join(takers[0], window.digits, f"127.0.0.1:{window.target[1]}").wait("joined", within=90)
        window.wait("joined")
        print(f"    joined by the digits in parallel with {count[0]} sessions")
        window, before = Inviting(window.daemon), count[0]
        while count[0] < before + 8:
            time.sleep(0.02)  # Until they are at this window, too.
        join(takers[1], window.link).wait("joined", within=60)
        print(f"    joined by the link in parallel with {count[0]} sessions")
    finally:
        done.set()
        for thread in threads:
            thread.join(25)
    expect(members(window.daemon) == {"inviter", "first", "second"}, "wrong members")


@pairing_test("code and link work once")
def once(stage):
    daemon = stage.daemon("inviter")
    window = Inviting(daemon)
    window.admits(window.secret)
    for secret in (window.secret, window.digits):
        try:
            pairing.Joiner(window.session(secret), secret).exchange()
            raise AssertionError("the window is still open")
        except ENDS:
            pass
    again = Inviting(daemon)
    expect((again.code, again.link) != (window.code, window.link), "the secrets are the same again")
    for secret in (window.secret, again.digits.other()):
        try:
            joiner = pairing.Joiner(again.session(secret), secret)
            joiner.exchange()
            joiner.confirm()
            raise AssertionError("an old secret opens a new window")
        except ENDS:
            pass


def said(connection):
    """Returns all bytes of the caller, and the number of bytes that the other side had sent before
    the caller's second message."""
    by_caller = [data for is_caller, data in connection if is_caller]
    second = [number for number, (is_caller, _) in enumerate(connection) if is_caller][1]
    return b"".join(by_caller), sum(len(data) for is_caller, data in connection[:second] if not is_caller)


@pairing_test("a recorded pairing has no effect when it is replayed, and identifies no device")
def replay(stage):
    for by_link in (False, True):
        daemon = stage.daemon(f"Trillians-laptop-{by_link}")
        window = Inviting(daemon)
        recorder = adversary.Recorder(window.target)
        secret = window.secret if by_link else window.digits
        # The first session is interrupted, so that the window stays open for the replay.
        place = ("127.0.0.1", port(recorder.place))
        session = p.Session.call(*place, secret)
        pairing.Joiner(session, secret).exchange()
        session.sock.close()
        copied, flight = said(recorder.connections[0])
        got = knock(window.target, copied)
        # The digits' window greets every ClientHello. Its greeting is followed by an alert of 24 bytes and no salt.
        expect(len(got) <= (0 if by_link else flight + 24), f"a replay received {len(got)} bytes, the greeting has {flight}")
        expect(window.events() == ["opened"], f"reported: {window.events()}")
        joiner = pairing.join([place], secret, name="Zaphod Beeblebrox")
        window.wait("joined")
        got = knock(window.target, said(recorder.connections[-1])[0])
        expect(got == b"", f"a replay after the window received {got[:80]!r}")
        heard, identity = recorder.everything, joiner.account.roster
        secrets = {
            "name of the new device": joiner.name, "name of the inviting device": daemon.name,
            "code": window.digits.text, "link": window.link.split("/")[2], "secret of the link": window.secret.secret,
            "account": identity.account, "account key": joiner.account.account_key[:16],
            "id of the new device": c.device_id(c.raw_public(joiner.key))[:16], "its key": c.raw_public(joiner.key),
            "id of the inviting device": c.device_id(joiner.inviter)[:16], "its key ": joiner.inviter,
        }
        expect(len(heard) > 2000, "nothing was recorded")
        for name, value in secrets.items():
            found = [form for form in spellings(value) if form in heard]
            expect(not found, f"the {name} is in the recording: {found}")
        recorder.close()


if __name__ == "__main__":
    main()
