"""The checks of the reference peer's pairing: vectors, two Python devices, and attackers between them."""

import json
import threading

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from OpenSSL import SSL

import handoff_crypto as c
import handoff_pairing as pairing
import handoff_pairing_adversary as adversary
import handoff_pairing_channel as p
import handoff_spake2 as spake2
import handoff_vectors

FAILURES = (c.Refused, OSError, SSL.Error)

# Two vectors of RFC 9382, appendix B: with both identities, and with none.
VECTORS = [
    {
        "A": "server",
        "B": "client",
        "w": "2ee57912099d31560b3a44b1184b9b4866e904c49d12ac5042c97dca461b1a5f",
        "x": "43dd0fd7215bdcb482879fca3220c6a968e66d70b1356cac18bb26c84a78d729",
        "pA": "04a56fa807caaa53a4d28dbb9853b9815c61a411118a6fe516a8798434751470f9"
        "010153ac33d0d5f2047ffdb1a3e42c9b4e6be662766e1eeb4116988ede5f912c",
        "y": "dcb60106f276b02606d8ef0a328c02e4b629f84f89786af5befb0bc75b6e66be",
        "pB": "0406557e482bd03097ad0cbaa5df82115460d951e3451962f1eaf4367a420676d0"
        "9857ccbc522686c83d1852abfa8ed6e4a1155cf8f1543ceca528afb591a1e0b7",
        "K": "0412af7e89717850671913e6b469ace67bd90a4df8ce45c2af19010175e37eed69"
        "f75897996d539356e2fa6a406d528501f907e04d97515fbe83db277b715d3325",
        "Ke": "0e0672dc86f8e45565d338b0540abe69",
        "Ka": "15bdf72e2b35b5c9e5663168e960a91b",
        "KcA": "00c12546835755c86d8c0db7851ae86f",
        "KcB": "a9fa3406c3b781b93d804485430ca27a",
        "confA": "58ad4aa88e0b60d5061eb6b5dd93e80d9c4f00d127c65b3b35b1b5281fee38f0",
        "confB": "d3e2e547f1ae04f2dbdbf0fc4b79f8ecff2dff314b5d32fe9fcef2fb26dc459b",
    },
    {
        "A": "",
        "B": "",
        "w": "7bf46c454b4c1b25799527d896508afd5fc62ef4ec59db1efb49113063d70cca",
        "x": "8cef65df64bb2d0f83540c53632de911b5b24b3eab6cc74a97609fd659e95473",
        "pA": "04a65b367a3f613cf9f0654b1b28a1e3a8a40387956c8ba6063e8658563890f46c"
        "a1ef6a676598889fc28de2950ab8120b79a5ef1ea4c9f44bc98f585634b46d66",
        "y": "d7a66f64074a84652d8d623a92e20c9675c61cb5b4f6a0063e4648a2fdc02d53",
        "pB": "04589f13218822710d98d8b2123a079041052d9941b9cf88c6617ddb2fcc049466"
        "2eea8ba6b64692dc318250030c6af045cb738bc81ba35b043c3dcb46adf6f58d",
        "K": "041a3c03d51b452537ca2a1fea6110353c6d5ed483c4f0f86f4492ca3f378d40a9"
        "94b4477f93c64d928edbbcd3e85a7c709b7ea73ee97986ce3d1438e135543772",
        "Ke": "fc6374762ba5cf11f4b2caa08b2cd1b9",
        "Ka": "907ae0e26e8d6234318d91583cd74c86",
        "KcA": "5dbd2f477166b7fb6d61febbd77a5563",
        "KcB": "7689b4654407a5faeffdc8f18359d8a3",
        "confA": "dfb4db8d48ae5a675963ea5e6c19d98d4ea028d8e898dad96ea19a80ade95dca",
        "confB": "d0f0609d1613138d354f7e95f19fb556bf52d751947241e8c7118df5ef0ae175",
    },
]


def selftest():
    """Prints the failures. Returns the exit code."""
    failed = spake2.wrong_vectors(VECTORS) + handoff_vectors.wrong(["pairing"])
    failed += [name for name, check in CHECKS.items() if not check()]
    print(json.dumps({"selftest": "failed" if failed else "passed", "failed": failed}))
    return 1 if failed else 0


class Inviting:
    """A window of a Python device that answers on a thread, until it has paired."""

    def __init__(self, **more):
        self.key = Ed25519PrivateKey.generate()
        self.account = pairing.Account.founded(self.key)
        self.window = pairing.Window(self.key, self.account, **more)
        self.joined, self.ends = [], []
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        while not self.joined:
            inviter = None
            try:
                inviter = self.window.accept()
                inviter.run()
                self.joined.append(inviter.joiner)
            except FAILURES as error:
                self.ends.append(str(error))
                if inviter:
                    inviter.session.close()
                if self.window.listener.fileno() < 0:
                    return

    @property
    def target(self):
        host, _, port = self.window.place.rpartition(":")
        return host, int(port)


def fails(act):
    try:
        act()
    except FAILURES as error:
        return str(error) or repr(error)
    return None


def pairs(by_link):
    inviting = Inviting()
    secret = p.read_link(inviting.window.link)[0] if by_link else inviting.window.digits
    joiner = pairing.join([inviting.target], secret)
    inviting.thread.join(10)
    both = {c.device_id(c.raw_public(key)) for key in (joiner.key, inviting.key)}
    return joiner.account.roster.live == both and inviting.joined == [c.raw_public(joiner.key)]


def wrong_code_is_refused():
    inviting = Inviting()
    refused = fails(lambda: pairing.join([inviting.target], inviting.window.digits.other()))
    inviting.window.close()
    return "wrongCode" in (refused or "")


def wrong_link_gets_no_byte():
    inviting = Inviting()
    refused = fails(lambda: p.Session.call(*inviting.target, p.LinkSecret(bytes(16))))
    inviting.window.close()
    return refused is not None


def passing_tcp_on_is_harmless():
    inviting = Inviting()
    recorder = adversary.Recorder(inviting.target)
    host, _, port = recorder.place.rpartition(":")
    joiner = pairing.join([(host, int(port))], inviting.window.digits, name="Zaphod Beeblebrox")
    inviting.thread.join(10)
    recorded = recorder.everything
    secrets = [joiner.name.encode(), inviting.window.digits.text.encode(), c.raw_public(joiner.key), joiner.account.account_key]
    return len(recorded) > 1000 and not any(secret in recorded for secret in secrets) and bool(inviting.joined)


def one_between_fails():
    """An attacker that terminates TLS gets as far as the joiner's confirmation, which the inviter rejects."""
    inviting = Inviting()
    between = adversary.Between(inviting.target)
    host, _, port = between.place.rpartition(":")
    refused = fails(lambda: pairing.join([(host, int(port))], inviting.window.digits))
    inviting.window.close()
    kinds = [kind for _, kind, _ in between.frames]
    return "wrongCode" in (refused or "") and kinds == [p.SALT, p.SHARE_A, p.SHARE_B, p.CONFIRM_A, p.REFUSAL]


def a_joiner_tells_one_guess():
    """A false inviter can check the code with which it made its share, and no other."""
    key = Ed25519PrivateKey.generate()
    results = []
    for guess in ("00000003", "00000007"):
        window = pairing.Window(key, pairing.Account.founded(key), digits="00000007")
        call = lambda: pairing.join([("127.0.0.1", int(window.place.rpartition(":")[2]))], window.digits)
        caller = threading.Thread(target=fails, args=(call,), daemon=True)
        caller.start()
        session = window.accept().session
        salt, side, share_a, confirm_a = adversary.false_inviter(session, p.Digits(guess))
        candidates = [p.Digits(p.code(number)) for number in range(10)]
        fit = adversary.codes_that_fit(candidates, salt, share_a, side, confirm_a, session.binding)
        recorded = adversary.codes_that_fit_a_listener(
            candidates, salt, share_a, side.share, confirm_a, [session.binding])
        session.refuse(1)
        caller.join(10)
        results.append(([code.text for code in fit], recorded))
    return results == [([], []), (["00000007"], [])]


def a_listener_would_find_a_weak_scalar():
    """The search of an attacker who chose nothing can succeed with an inviter whose scalar is 1."""
    candidates, salt, binding = [p.Digits(p.code(number)) for number in range(4)], bytes(16), bytes(32)
    fits = []
    for own in (1, None):
        a, b = (spake2.Side(is_a, candidates[2].w(salt), p.JOINER, p.INVITER, own=None if is_a else own) for is_a in (True, False))
        confirm_a = a.keys(b.share, b"handoff/1 pair" + binding).confirm_a
        found = adversary.codes_that_fit_a_listener(candidates, salt, a.share, b.share, confirm_a, [binding])
        fits.append([code.text for code in found])
    return fits == [["00000002"], []]


def malformed_points_are_refused():
    bad = [bytes(65), b"\x04" + bytes(64), b"\x02" + spake2.encoded(spake2.G)[1:], spake2.encoded(spake2.G)[:-1]]
    bad += [spake2.encoded(spake2.G)[:-1] + b"\0", b"\x04" + b"\xff" * 64]
    return all(fails(lambda: spake2.decoded(data)) for data in bad)


def a_share_alone_tells_nothing():
    """A party that sends w times N, which results in infinity, receives a confirmation that it could not compute."""
    side = spake2.Side(True, 7, p.JOINER, p.INVITER)
    first, second = (side.keys(spake2.encoded(spake2.multiplied(spake2.N, 7)), b"") for _ in range(2))
    return first.confirm_a != second.confirm_a


def identities_are_bound():
    key, binding = Ed25519PrivateKey.generate(), bytes(range(32))
    good = pairing.identity(key, "Zaphod", 0, binding)
    if pairing.read_identity(good, 0, binding) != (c.raw_public(key), "Zaphod"):
        return False
    bad = [(good, 1, binding), (good, 0, bytes(32)), (good[:-1], 0, binding), (good[:-1] + bytes([good[-1] ^ 1]), 0, binding)]
    bad += [(pairing.identity(key, name, 0, binding), 0, binding) for name in (b"", b"x" * 65, b"\xff")]
    return all(fails(lambda: pairing.read_identity(*case)) for case in bad)


CHECKS = {
    "pairs by digits": lambda: pairs(False),
    "pairs by link": lambda: pairs(True),
    "a wrong code is refused": wrong_code_is_refused,
    "a wrong link gets no byte": wrong_link_gets_no_byte,
    "passing TCP on is harmless": passing_tcp_on_is_harmless,
    "one between fails": one_between_fails,
    "a joiner tells one guess": a_joiner_tells_one_guess,
    "a listener would find a weak scalar": a_listener_would_find_a_weak_scalar,
    "malformed points are refused": malformed_points_are_refused,
    "a share alone tells nothing": a_share_alone_tells_nothing,
    "identities are bound": identities_are_bound,
}
