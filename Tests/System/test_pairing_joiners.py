"""Joiners that violate the protocol, or send false data, at the window of a daemon."""

import os
import struct

from harness import BIN, expect, main, run
from pairing_stage import ENDS, Ed25519PrivateKey, Inviting, c, confirmed, p, pairing, pairing_test, spake2


@pairing_test("frames that the protocol does not allow at their position end the session, and nothing else")
def malformed(stage):
    window = Inviting(stage.daemon("inviter"))
    point, other = spake2.encoded(spake2.G), spake2.encoded(spake2.multiplied(spake2.G, 5))
    length = lambda size, kind, body=b"": struct.pack(">IB", size, kind) + body
    share = lambda body: c.frame(p.SHARE_A, body)
    salted = {
        "a share off the curve": share(point[:-1] + bytes([point[-1] ^ 1])),
        "an empty share": share(b""),
        "a length of 2^32-1": length(0xFFFFFFFF, p.SHARE_A),
        "a long refusal": length(8 * 2**20, p.REFUSAL),
        "an unknown kind": c.frame(10, b"x"),
        "a confirmation first": c.frame(p.CONFIRM_A, bytes(32)),
        "a refusal without a reason": c.frame(p.REFUSAL, b""),
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
    for reason in (0, 1, 4, 6, 255):
        session = window.session()
        session.expect(p.SALT)
        session.refuse(reason, 1 if reason == 4 else None)
        expect(session.ending() in ("closed", "failed", "cancelled"), f"refusal {reason} does not end the session")
        session.close()
        expect(window.events() == ["opened"], f"an unknown device's refusal {reason} ends the window: {window.seen}")
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
    expect(window.events() == ["opened"], f"reported: {window.events()}")
    window.admits()
    window.daemon.is_well()


@pairing_test("a device that knows the code but does not prove its identity is not admitted")
def identities(stage):
    daemon = stage.daemon("inviter")
    inviter = Inviting(daemon).admits().inviter  # Its public key, which it shows to any device that knows the code.
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
        "an unknown role": made(role=2),
        "signed for another key": made(signed=spki(c.raw_public(other))),
        "the inviter's own key": made(shown=spki(inviter)),
        "a key of small order": made(shown=spki(b"\1" + bytes(31))),
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
        "a bit changed": lambda s: bytes([s.sealed(p.IDENTITY, pairing.identity(key, "Zaphod", 0, s.binding))[0] ^ 1])
        + s.sealed(p.IDENTITY, pairing.identity(key, "Zaphod", 0, s.binding))[1:],
        "513 bytes": lambda s: os.urandom(513),
    }
    for case, make in sealed.items():
        joiner = confirmed(window)
        joiner.session.send((p.IDENTITY, make(joiner.session)))
        joiner.session.is_joiner = True
        ending = joiner.session.ending()
        expect(ending in ("closed", "failed"), f"{case}: {ending}")
        joiner.session.close()
    expect("confirm" not in window.events(), f"the user received a question: {window.events()}")
    # An unusual name that is text is shown in the question, in a harmless form.
    joiner = confirmed(window, name="a\x1b[2J\u202eb\n")
    joiner.identify()
    window.answer(True)
    joiner.take()
    joiner.stored()
    window.wait("joined")
    plain = run([os.path.join(BIN, "handoffctl"), "--socket", daemon.socket, "devices"], daemon.environment)
    expect(not any(bad in plain.output for bad in "\x1b\u202e"), f"control characters reach the terminal: {plain.output!r}")
    expect(plain.output.count("\n") <= 5, f"a name breaks a line: {plain.output!r}")


if __name__ == "__main__":
    main()
