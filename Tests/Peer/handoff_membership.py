"""The vectors of membership: which devices are members of an account after which statements.

A statement is written as the key of its signer, its action, and the key of its subject; see
"Vectors of membership" in docs/protocol.md. The founding statement, by key 0, is part of every
roster and is not written.
"""

import random
import re
import struct

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import handoff_crypto as c
import handoff_roster as r

FIRST_TICKET, LAST_KEY, NONCE, ACCOUNT_KEY = 100, 199, b"\x07" * 16, b"\x01" * 32

CASES = {
    "members": "0+1 1+2 0n0.1=desk 0n1.1=phone 1n2.1=tablet 0e1",
    "unknownSigner": "0+1 3+4 3-1 3e1 0e1",
    "unknownNamed": "0n3.1=ghost 0n0.1=desk",
    "leave": "0+1 1+2 1-1/2 0e1/1",
    "keepsNone": "0+1 1+2 2+3 0-1 0e1/1",
    "keepsSome": "0+1 1+2 1+3 2+4 3+5 0-1/2 0e1/1",
    "keepsDifferent": "0+1 0+2 1+3 1+4 0-1/3,4 2-1/4 0e1/1",
    "keepsTwice": "0+1 1+2 1+3 0-1/2 0-1/2,3 0e1/1",
    "keepsThrice": "0+1 1+2 0-1/2 0-1/2,3 0-1/2,4 0e1/1",
    "keepsUnknown": "0+1 0-1/2 0e1/1",
    "mutual": "0+1 0+2 1+3 2+4 1-2/4 2-1/3 0e1/1,2",
    "mutualTwo": "0+1 0-1 1-0/1 0e1/0,1 1e1/0,1",
    "answered": "0+1 0+2 0-1 1-0/1,2 1-2 0e1/1 1e2/0,1,2",
    "answeredDrops": "0+1 0+2 1+3 0-1/3 1-0 0e1/1",
    "circle": "0+1 0+2 0+3 1-2 2-3 3-1 0e1/1,2,3",
    "founderKept": "0+1 1+2 1-0/1 1e1/0",
    "founderDropped": "0+1 1+2 1-0 1e1/0",
    "overRemoved": "0+1 1+2 2+3 0-1/2 0-2/3 0e1/1,2",
    "removedRemoves": "0+1 0+2 0-1 1-2 0e1/1,2",
    "voidRemoves": "0+1 0+2 1+3 0-1 3-2 0e1/1,2",
    "voidAgain": "0+1 0+2 1+3 0-1 2+3 0e1/1",
    "voidSameAgain": "0+1 1+3 0-1 1+3 0e1/1",
    "removedAgain": "0+1 0+2 0-1 2+1 0e1/1",
    "removedFirst": "0+1 0-2 1+2 0e1/2",
    "removedUnknown": "0+1 0-2 0e1",
    "ticketOpen": "0+1 0t100 0e1",
    "ticketUsed": "0+1 0t100 100u2 0e1",
    "ticketTwice": "0+1 0t100 100u2 100u3 0e1",
    "ticketClosed": "0+1 0t100 100u2 0-100/2 0e1",
    "ticketTwiceClosed": "0+1 0t100 100u2 100u3 0-100/2 0e1",
    "ticketTwiceClosedNone": "0+1 0t100 100u2 100u3 0-100 0e1",
    "ticketTwiceClosedTwice": "0+1 0t100 100u2 100u3 0-100/2 1-100/3 0e1",
    "ticketRevoked": "0+1 0t100 0-100 100u2 0e1",
    "ticketClosedRevoked": "0+1 0t100 100u2 0-100/2 1-100 0e1",
    "ticketIssuerRemoved": "0+1 1t100 0-1 100u2 0e1/1",
    "ticketIssuerKept": "0+1 1t100 100u2 1-100/2 0-1/100 0e1/1",
    "ticketIssuerKeptDevice": "0+1 1t100 100u2 1-100/2 0-1/2 0e1/1",
    "ticketUserAdded": "0+1 0t100 100u2 100u3 0-100 1+2 0e1",
    "nameCounter": "0+1 0n1.2=new 1n1.1=old",
    "nameEqual": "0+1 0n1.1=one 1n1.1=two",
    "nameBySigner": "0+1 0n1.1=one 0n1.3=three 0n1.2=two",
    "nameByRemoved": "0+1 0+2 0n2.1=desk 1n2.9=mine 0-1",
    "nameByVoid": "0+1 1+2 0+3 0n3.1=desk 2n3.9=mine 0-1",
    "nameOfRemoved": "0+1 0n1.1=desk 0-1",
    "epochEqual": "0+1 0e1 1e1",
    "epochGreater": "0+1 0e1 1e2 1e1",
    "epochEnded": "0+1 0+2 0e1 1e2 0-2",
    "epochAfter": "0+1 0+2 0e1 1e2 0-2 1e3/2",
    "epochAfterLess": "0+1 0+2 1e9 0-2 0e1/2",
    "epochByRemoved": "0+1 0+2 0-2 0e1/2 2e9/2",
    "epochByVoid": "0+1 1+2 0-1 0e1/1 2e9/1",
    "epochTicketRemoved": "0+1 0t100 0e1 0-100",
    "epochTicketNamed": "0+1 0t100 0-100 0e1/100",
    "epochUnknownRemoved": "0+1 0e1 0-3",
    "epochKnownLater": "0+1 0e1 0-3 1+3",
}


def key(number):
    return Ed25519PrivateKey.from_private_bytes(struct.pack(">I", number) * 8)


def identifier(number):
    """Returns the id of a device, or of a ticket, which are the keys from 100 on."""
    raw = c.raw_public(key(number))
    return r.ticket_id(raw) if number >= FIRST_TICKET else c.device_id(raw)


IDS = {identifier(number): number for number in range(LAST_KEY + 1)}


def statement(account, text):
    signer, verb, rest = re.fullmatch(r"(\d+)([-+tune])(.*)", text).groups()
    subject, _, more = rest.partition("/")
    named = [int(number) for number in more.split(",")] if more else []
    if verb == "n":
        device, counter, name = re.fullmatch(r"(\d+)\.(\d+)=(.*)", rest).groups()
        kind, body = r.NAME, r.name_body(identifier(int(device)), int(counter), name)
    elif verb == "e":
        kind, body = r.EPOCH, r.epoch_body(int(subject), map(identifier, named), ACCOUNT_KEY)
    elif verb == "-":
        kind, body = r.REMOVE, r.remove_body(identifier(int(subject)), [identifier(number) for number in named])
    else:
        kind, body = {"+": r.ADD, "t": r.TICKET, "u": r.USE}[verb], c.raw_public(key(int(subject)))
    return r.sign_statement(key(int(signer)), account, kind, body)


def judged(case):
    """Returns the result of the statements of a case, which does not depend on their order."""
    account = r.account_id(c.raw_public(key(0)), NONCE)
    found = r.sign_statement(key(0), account, r.FOUND, NONCE)
    statements = [statement(account, text) for text in case.split()]
    roster = r.Roster([found, *statements])
    shuffle = random.Random(1).shuffle
    for _ in range(8):
        shuffle(statements)
        if r.Roster([*statements, found]).digest != roster.digest:
            raise SystemExit(f"the result depends on the order of '{case}'")
    numbers = lambda ids: " ".join(str(number) for number in sorted(IDS[i] for i in ids))
    epoch = roster.epoch
    return {
        "statements": case,
        "live": numbers(roster.live),
        "void": numbers(roster.keys.keys() - roster.live - roster.removed),
        "removed": numbers(roster.removed),
        "tickets": numbers(roster.tickets),
        "names": " ".join(f"{number}={name}" for number, name in sorted((IDS[i], n) for i, n in roster.names.items())),
        "epoch": f"{IDS[epoch.by]}e{epoch.fields[0]}" if epoch else "",
        "digest": roster.digest[:8].hex(),
        "removedDigest": roster.removed_digest[:8].hex(),
    }


def computed():
    return {name: judged(case) for name, case in CASES.items()}


def shown(values):
    """Returns the block of the page: a line for each case, with the fields that are not empty. Only
    the file has the digests."""
    lines = []
    for name, value in values.items():
        fields = [f"{field} {value[field]}" for field in ("live", "void", "removed", "tickets", "names", "epoch") if value[field]]
        lines.append(" | ".join([f"{name}: {value['statements']}", *fields]))
    return "\n".join(lines) + "\n"
