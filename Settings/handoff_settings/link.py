"""Pairing links (docs/protocol.md), as far as they must be checked before the daemon reads them."""

import re
from typing import Optional
from urllib.parse import unquote

from handoff_locale import _, ngettext

# The number of digits in a pairing code, as `Limits.pairingCodeDigits` of the daemon.
CODE_DIGITS = 8
# The maximum length of a link created by a daemon.
MAX_LENGTH = 512
_PLACE = r"(?:[A-Za-z0-9.\-]+|\[[A-Za-z0-9.\-:%_]+\]):[1-9][0-9]{0,4}"
_LINK = re.compile(rf"handoff:/{{0,3}}(pair/1/[a-z2-7]{{26}}/{_PLACE}(?:,{_PLACE}){{0,7}})")


def read(text: str) -> Optional[str]:
    """Returns the link in a text, in the only form that the daemon accepts; None if there is none.

    Desktops pass links to programs as URIs, which they may have rewritten with slashes, and with brackets and commas as
    `%5B` and `%2C`.
    """
    text = text.strip()
    if len(text) > 4 * MAX_LENGTH:
        return None
    for form in (text, unquote(text)):
        match = _LINK.fullmatch(form)
        if match and len(match.group(1)) + len("handoff:") <= MAX_LENGTH:
            return "handoff:" + match.group(1)
    return None


def places(link: str) -> list[str]:
    """Returns the addresses of the other device in a link, as host:port."""
    return link.rpartition("/")[2].split(",")


def is_code(text: str) -> bool:
    """Returns whether a text consists of the digits of a code; spaces and dashes are ignored."""
    return re.fullmatch(rf"[0-9]{{{CODE_DIGITS}}}", re.sub(r"[\s\-–]", "", text)) is not None


def error(text: str) -> str:
    """Returns why a text is neither a code nor a link, for the user who types it."""
    digits = re.sub(r"[\s\-–]", "", text)
    if not digits:
        return _("Enter the code to join.")
    if re.fullmatch(r"[0-9]+", digits):
        return ngettext(
            "A code has eight digits. This has {count} digit.", "A code has eight digits. This has {count} digits.",
            len(digits)).format(count=len(digits))
    if text.strip().startswith("handoff:"):
        return _("This link is incomplete or not a pairing link. Copy it again.")
    return _("A code has eight digits and nothing else.")
