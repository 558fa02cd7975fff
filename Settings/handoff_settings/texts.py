"""Formats ids, codes and times. `visible` sanitizes texts from other devices."""

from gi.repository import GLib
from handoff import visible
from handoff_locale import _

from .link import CODE_DIGITS
from .messages import translated


def sentence(message: str) -> str:
    """Returns a message of the daemon as a sentence, in the user's language if it is known. Messages are fragments."""
    text = translated(message)
    # Names of programs are in small letters.
    return text if text.startswith("handoff") else text[:1].upper() + text[1:]


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
    if same_day:
        # Translators: a time of today. See g_date_time_format().
        return then.format(_("%H:%M")).strip()
    # Translators: a day and a time. See g_date_time_format().
    return then.format(_("%e %B, %H:%M")).strip()


def span(seconds: int) -> str:
    """Returns a number of seconds as minutes and seconds."""
    return f"{seconds // 60}:{seconds % 60:02}"
