"""Texts of other devices, made safe to show; and times in words."""

import unicodedata

from gi.repository import GLib

# What shows nothing, though it counts as a letter or a mark (Default_Ignorable_Code_Point of Unicode).
_INVISIBLE = (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0)
_ZERO_WIDTH_JOINERS = (0x200C, 0x200D)
# No label is longer: to lay out a text of any length takes any time.
LONGEST = 200


def _is_hidden(character: str) -> bool:
    code = ord(character)
    if 0x20 <= code <= 0x7E or code in _ZERO_WIDTH_JOINERS:
        return False
    # Halves of surrogate pairs, which JSON may hold, are no text at all, and GTK takes none.
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs") or code in _INVISIBLE


def visible(text: str, longest: int = LONGEST) -> str:
    """A text of somebody else with characters that move or hide other ones written as `\\u{…}`, and cut at `longest`.

    As `handoffctl` shows it (`VisibleText`): nobody can pass for another one by what cannot be seen.
    """
    cut = text[:longest] + ("…" if len(text) > longest else "")
    return "".join(f"\\u{{{ord(each):X}}}" if _is_hidden(each) else each for each in cut)


def short(identifier: str) -> str:
    """The first seven digits of an id, by which people tell devices apart."""
    return visible(identifier[:7])


def groups(digits: str) -> str:
    """Eight digits as two groups of four."""
    return f"{digits[:4]} {digits[4:]}" if len(digits) == 8 else visible(digits)


def moment(seconds_ago: float) -> str:
    """When that was: a time of today, or a day and a time. Stays true, so that nothing has to wake up for it."""
    now = GLib.DateTime.new_now_local()
    return _words(now, now.add_seconds(-max(0.0, min(seconds_ago, 10.0**9))))


def at(unix_seconds: float) -> str:
    """A moment, also one to come, in the same words."""
    now = GLib.DateTime.new_now_local()
    ahead = unix_seconds - now.to_unix()
    return _words(now, now.add_seconds(ahead if abs(ahead) < 10.0**9 else 0.0))


def _words(now: GLib.DateTime, then: GLib.DateTime) -> str:
    same_day = then.format("%F") == now.format("%F")
    return then.format("%H:%M" if same_day else "%e %B, %H:%M").strip()


def span(seconds: int) -> str:
    """A number of seconds as minutes and seconds."""
    return f"{seconds // 60}:{seconds % 60:02}"
