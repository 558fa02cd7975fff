"""Sanitizes texts from other devices, and formats times."""

import unicodedata

from gi.repository import GLib

from .link import CODE_DIGITS

# Invisible characters that count as letters or marks (Default_Ignorable_Code_Point of Unicode).
_INVISIBLE = (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0)
_ZERO_WIDTH_JOINERS = (0x200C, 0x200D)
# The maximum length of a label. Longer texts could take any time to lay out.
MAX_LENGTH = 200


def _is_hidden(character: str) -> bool:
    code = ord(character)
    if 0x20 <= code <= 0x7E or code in _ZERO_WIDTH_JOINERS:
        return False
    # JSON may contain unpaired surrogates, which are not valid text. GTK rejects them.
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs") or code in _INVISIBLE


def visible(text: str, limit: int = MAX_LENGTH) -> str:
    """Returns an untrusted text with characters that move or hide others written as `\\u{…}`, cut at `limit`.

    Matches `VisibleText` of `handoffctl`: invisible characters cannot be used to imitate another name.
    """
    cut = text[:limit] + ("…" if len(text) > limit else "")
    return "".join(f"\\u{{{ord(each):X}}}" if _is_hidden(each) else each for each in cut)


def short(identifier: str) -> str:
    """Returns the first seven digits of an id, which identify a device for the user."""
    return visible(identifier[:7])


def groups(digits: str) -> str:
    """Returns the digits of a code as two groups of four."""
    half = CODE_DIGITS // 2
    return f"{digits[:half]} {digits[half:]}" if len(digits) == CODE_DIGITS else visible(digits)


def moment(seconds_ago: float) -> str:
    """Returns a time of today, or a day and a time. Stays valid, so that no timer is needed to update it."""
    now = GLib.DateTime.new_now_local()
    return _words(now, now.add_seconds(-max(0.0, min(seconds_ago, 10.0**9))))


def at(unix_seconds: float) -> str:
    """Returns a past or future time in the same format."""
    now = GLib.DateTime.new_now_local()
    ahead = unix_seconds - now.to_unix()
    return _words(now, now.add_seconds(ahead if abs(ahead) < 10.0**9 else 0.0))


def _words(now: GLib.DateTime, then: GLib.DateTime) -> str:
    same_day = then.format("%F") == now.format("%F")
    return then.format("%H:%M" if same_day else "%e %B, %H:%M").strip()


def span(seconds: int) -> str:
    """Returns a number of seconds as minutes and seconds."""
    return f"{seconds // 60}:{seconds % 60:02}"
