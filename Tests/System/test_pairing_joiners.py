"""Joiners that do not keep to the protocol, or to the truth, at the window of a daemon."""

import os
import struct
import threading

from harness import BIN, expect, main, run
from pairing_stage import ENDS, Ed25519PrivateKey, Inviting, c, confirmed, members, p, pairing, pairing_test, spake2


@pairing_test("frames that the protocol does not have at their place end the session, and nothing else", limit=120)
def malformed(stage):
    window = Inviting(stage.daemon("inviter"))
    point, other = spake2.encoded(spake2.G), spake2.encoded(spake2.multiplied(spake2.G, 5))
    length = lambda size, kind, body=b"": struct.pack(">IB", size, kind) + body
    share = lambda body: c.frame(p.SHARE_A, body)
    salted = {
        "a share off the curve": share(point[:-1] + bytes([point[-1] ^ 1])),
        "a share at infinity": share(bytes(65)),
        "zeros behind the form": share(b"\x04" + bytes(64)),
        "coordinates beyond the field": share(b"\x04" + b"\xff" * 64),
        "x beyond the field": share(b"\x04" + (spake2.P + spake2.G[0]).to_bytes(33, "big")[-32:] + point[33:]),
        "a hybrid form": share(b"\x06" + point[1:]),
        "a compressed point, filled up": share(b"\x02" + point[1:33] + bytes(32)),
        "a compressed point": share(b"\x03" + point[1:33]),
        "a share cut short": share(point[:-1]),
        "a share with a byte more": share(point + b"\0"),
        "an empty share": share(b""),
        "a length of 0": length(0, p.SHARE_A),
        "a length of 2^32-1": length(0xFFFFFFFF, p.SHARE_A),
        "a length of 2^31": length(2**31, p.ACCOUNT),
        "a long refusal": length(8 * 2**20, p.REFUSAL),
        "an unknown kind": c.frame(10, b"x"),
        "kind 0": c.frame(0, b""),
        "kind 255": c.frame(255, bytes(65)),
        "a salt from the joiner": c.frame(p.SALT, bytes(16)),
        "a share of the inviter": c.frame(p.SHARE_B, point),
        "a confirmation first": c.frame(p.CONFIRM_A, bytes(32)),
        "an identity first": c.frame(p.IDENTITY, bytes(150)),
        "an account first": c.frame(p.ACCOUNT, bytes(100)),
        "stored first": c.frame(p.STORED, bytes(16)),
        "a refusal without a reason": c.frame(p.REFUSAL, b""),
        "a refusal with four bytes": c.frame(p.REFUSAL, bytes(4)),
        "two shares": share(point) + share(other),
        "JSON": b'{"method":"org.varlink.service.GetInfo"}\0',
    }
    for case, data in salted.items():
        session = window.session()
        session.expect(p.SALT)
        session.raw(data)
        ending = session.ending()
        expect(ending in ("closed", "failed", "cancelled"), f"{case}: {ending}")
        session.close()
    for reason in [*range(13), 127, 128, 255]:
        session = window.session()
        session.expect(p.SALT)
        session.refuse(reason, 1 if reason == 4 else None)
        expect(session.ending() in ("closed", "failed", "cancelled"), f"refusal {reason} does not end the session")
        session.close()
        expect(window.events() == ["opened"], f"a stranger's refusal {reason} ends the window: {window.seen}")
    shared = {
        "the share again": lambda j: j.session.send((p.SHARE_A, j.side.share)),
        "a confirmation of 31 bytes": lambda j: j.session.send((p.CONFIRM_A, j.keys.confirm_a[:-1])),
        "a confirmation of 33 bytes": lambda j: j.session.send((p.CONFIRM_A, j.keys.confirm_a + b"\0")),
        "an identity in the clear": lambda j: j.session.send((p.IDENTITY, bytes(150))),
        "the inviter's confirmation": lambda j: j.session.send((p.CONFIRM_B, j.keys.confirm_b)),
        "nothing, and the end": lambda j: j.session.tls.shutdown() or j.session.raw(b""),
    }
    for case, act in shared.items():
        joiner = window.joiner()
        try:
            act(joiner)
        except ENDS:
            pass
        joiner.session.sock.sendall(joiner.session._outgoing())
        ending = joiner.session.ending()
        expect(ending in ("closed", "failed"), f"{case}: {ending}")
    expect(window.events() == ["opened"], f"told: {window.events()}")
    window.admits()
    window.daemon.is_well()


@pairing_test("who knows the code, but does not prove who it is, is not let in", limit=120)
def identities(stage):
    daemon = stage.daemon("inviter")
    inviter = Inviting(daemon).admits().inviter  # Its public key, which it shows to whoever knows the code.
    window = Inviting(daemon, automatic=False)
    key, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    own, spki = c.spki(c.raw_public(key)), c.spki
    binding = lambda joiner: joiner.session.binding

    def made(named=b"Zaphod", signer=key, role=0, bound=None, shown=own, signed=None, purpose=pairing.PURPOSE):
        def make(joiner):
            data = purpose + bytes([role]) + (bound or binding(joiner)) + (signed or shown)
            return shown + bytes([len(named) & 255]) + named + signer.sign(data)

        return make

    cases = {
        "signed by another key": made(signer=other),
        "bound to another session": made(bound=bytes(32)),
        "the role of the inviter": made(role=1),
        "an unknown role": made(role=2),
        "another purpose": made(purpose=b"handoff/1 statement\0"),
        "signed for another key": made(signed=spki(c.raw_public(other))),
        "the inviter's own key": made(shown=spki(inviter)),
        "a key of another kind": made(shown=own[:8] + b"\x71" + own[9:]),
        "a key of small order": made(shown=spki(b"\1" + bytes(31))),
        "no name": made(named=b""),
        "a name of 65 bytes": made(named=b"x" * 65),
        "a name that is no UTF-8": made(named=b"\xff\xfe"),
        "a name cut inside a character": made(named="é".encode()[:1]),
        "a byte behind": lambda joiner: made()(joiner) + b"\0",
        "cut short": lambda joiner: made()(joiner)[:-1],
        "a name longer than what follows": lambda joiner: own + b"\x40" + made()(joiner)[45:],
        "nothing": lambda joiner: b"",
    }
    for case, make in cases.items():
        joiner = confirmed(window)
        joiner.session.send_sealed(p.IDENTITY, make(joiner))
        ending = joiner.session.ending()
        expect(ending in ("closed", "failed"), f"{case}: {ending}")
        joiner.session.close()
    sealed = {
        "sealed for another frame": lambda s: s.sealed(p.ACCOUNT, pairing.identity(key, "Zaphod", 0, s.binding)),
        "a bit changed": lambda s: bytes([s.sealed(p.IDENTITY, pairing.identity(key, "Zaphod", 0, s.binding))[0] ^ 1])
        + s.sealed(p.IDENTITY, pairing.identity(key, "Zaphod", 0, s.binding))[1:],
        "sealed as if by the inviter": lambda s: setattr(s, "is_joiner", False)
        or s.sealed(p.IDENTITY, pairing.identity(key, "Zaphod", 0, s.binding)),
        "a later number": lambda s: s.sealed(p.IDENTITY, b"") and s.sealed(
            p.IDENTITY, pairing.identity(key, "Zaphod", 0, s.binding)),
        "513 bytes": lambda s: os.urandom(513),
    }
    for case, make in sealed.items():
        joiner = confirmed(window)
        joiner.session.send((p.IDENTITY, make(joiner.session)))
        joiner.session.is_joiner = True
        ending = joiner.session.ending()
        expect(ending in ("closed", "failed"), f"{case}: {ending}")
        joiner.session.close()
    expect("confirm" not in window.events(), f"the user was asked: {window.events()}")
    # What is odd about a name, but text, is asked, and shown so that it does no harm.
    joiner = confirmed(window, name="a\x1b[2J\u202eb\n")
    joiner.identify()
    window.answer(True)
    joiner.take()
    joiner.stored()
    window.wait("joined")
    plain = run([os.path.join(BIN, "handoffctl"), "--socket", daemon.socket, "devices"], daemon.environment)
    expect(not any(bad in plain.output for bad in "\x1b\u202e"), f"control characters reach the terminal: {plain.output!r}")
    expect(plain.output.count("\n") <= 5, f"a name breaks a line: {plain.output!r}")


@pairing_test("a device that knows the code may go away, and another one be asked about", limit=90)
def gone(stage):
    window = Inviting(stage.daemon("inviter"), automatic=False)
    first = confirmed(window, name="first")
    first.identify()
    expect(window.wait("confirm")["device"]["name"] == "first", "another name")
    try:
        second = window.joiner()
        second.confirm()
        raise AssertionError("two devices wait for the user")
    except p.Ended as error:
        expect(error.reason == "busy", str(error))
    first.session.sock.close()
    expect(window.wait("gone")["device"]["name"] == "first", "another one is gone")
    late = threading.Thread(target=window.answer, args=(True,), daemon=True)
    late.start()
    joiner = pairing.join([window.target], window.digits, name="third")
    expect(window.wait("joined")["device"]["name"] == "third", "another one joined")
    expect(members(window.daemon) == {"inviter", joiner.name}, "who is in?")


@pairing_test("before the user agrees, and when he does not, a device that knows the code gets no key")
def declined(stage):
    window = Inviting(stage.daemon("inviter"), automatic=False)
    joiner = confirmed(window)
    joiner.identify()
    # Neither "stored" nor a second identity moves anything before the answer.
    window.answer(False)
    expect(joiner.session.ending() == "declined", "it was not told")
    expect(members(window.daemon) == {"inviter"}, "who is in?")
    early = Inviting(window.daemon, automatic=False)
    joiner = confirmed(early)
    joiner.identify()
    early.wait("confirm")
    joiner.stored()
    expect(joiner.session.ending() in ("closed", "failed"), "'stored' before the account was taken")
    expect(members(window.daemon) == {"inviter"}, "who is in?")


@pairing_test("a device that was removed is not let in again with its key", limit=90)
def removed(stage):
    daemon = stage.daemon("inviter")
    joiner = Inviting(daemon).admits()
    device = c.device_id(c.raw_public(joiner.key)).hex()
    removal = daemon.follow("device", "remove", device[:12], "--yes")
    removal.wait("removed")
    window = Inviting(daemon)
    try:
        pairing.join([window.target], window.digits, joiner.key)
        raise AssertionError("a removed key was let in")
    except p.Ended as error:
        expect(error.reason == "removed", str(error))
    expect(device not in {entry["id"] for entry in daemon.ctl("devices").lines}, "it is a member again")
    Inviting(daemon).admits()


@pairing_test("who does not say that it has stored the account is listed as unfinished, and may come again", limit=120)
def unfinished(stage):
    daemon = stage.daemon("inviter")
    window = Inviting(daemon)
    joiner = confirmed(window)
    joiner.identify()
    joiner.take()
    joiner.session.sock.close()
    device = c.device_id(c.raw_public(joiner.key)).hex()
    expect(window.refused() == "failed" and "joined" not in window.events(), f"told: {window.seen}")
    entry = next(entry for entry in daemon.ctl("devices").lines if entry["id"] == device)
    expect(entry["unfinished"] is True, f"{entry}")
    Inviting(daemon).admits(key=joiner.key)
    entry = next(entry for entry in daemon.ctl("devices").lines if entry["id"] == device)
    expect(entry["unfinished"] is False, f"{entry}")


if __name__ == "__main__":
    main()
