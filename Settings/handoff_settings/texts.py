"""Formats ids, codes and times. `visible` sanitizes texts from other devices."""

from gi.repository import GLib
from handoff import visible

from .link import CODE_DIGITS


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
