"""The link of a pairing window (docs/protocol.md), as far as it has to be judged before the daemon reads it."""

import re
from typing import Optional
from urllib.parse import unquote

# Of the longest link that a daemon makes.
LONGEST = 512
_PLACE = r"(?:[A-Za-z0-9.\-]+|\[[A-Za-z0-9.\-:%_]+\]):[1-9][0-9]{0,4}"
_LINK = re.compile(rf"handoff:/{{0,3}}(pair/1/[a-z2-7]{{26}}/{_PLACE}(?:,{_PLACE}){{0,7}})")


def read(text: str) -> Optional[str]:
    """The link in a text, in the one form that the daemon reads; None when it is no link.

    Desktops give a link to its program as a URI, which they may have written anew: with slashes, and with brackets and
    commas as `%5B` and `%2C`.
    """
    text = text.strip()
    if len(text) > 4 * LONGEST:
        return None
    for form in (text, unquote(text)):
        match = _LINK.fullmatch(form)
        if match and len(match.group(1)) + len("handoff:") <= LONGEST:
            return "handoff:" + match.group(1)
    return None


def places(link: str) -> list[str]:
    """Where the link says that the other device is, as host:port."""
    return link.rpartition("/")[2].split(",")


def is_code(text: str) -> bool:
    """Whether a text is the eight digits; spaces and dashes between them do not matter."""
    return re.fullmatch(r"[0-9]{8}", re.sub(r"[\s\-–]", "", text)) is not None


def lack(text: str) -> str:
    """Why a text is neither a code nor a link, for the user who types it."""
    digits = re.sub(r"[\s\-–]", "", text)
    if not digits:
        return "Enter the code to join."
    if re.fullmatch(r"[0-9]+", digits):
        count = "1 digit" if len(digits) == 1 else f"{len(digits)} digits"
        return f"A code has eight digits. This has {count}."
    if text.strip().startswith("handoff:"):
        return "This link is incomplete or not a pairing link. Copy it again."
    return "A code has eight digits and nothing else."
