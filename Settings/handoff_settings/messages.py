"""Messages of the daemon and of `handoffctl doctor` that the windows translate. Other messages are shown in English.

The programs are in English, because commands and logs are.
"""

import re

from handoff_locale import _


def N_(text: str) -> str:  # noqa: N802, the keyword of gettext for texts that are translated elsewhere
    """Marks a text for translation."""
    return text


# A name in braces is a value.
_KNOWN = (
    # ---- Switches
    N_("advertising is switched off"),
    N_("receiving is switched off"),
    N_("advertising is off in the configuration (advertise = off)"),
    N_("the screen is locked"),
    N_("the screen has not been unlocked since the start"),
    # ---- Offers
    N_("no app continues {type}"),
    N_("{app} continues it, but is disabled"),
    # ---- Pairing
    N_("the code is wrong; check it on the inviting device and join again"),
    N_("the code has expired after too many wrong attempts; another device on this network may be guessing: use the link "
       "that the inviting device shows, or open a new window there"),
    N_("the inviting device is busy with other devices; wait a moment and join again, or use the link"),
    N_("the user of the inviting device declined this device"),
    N_("no device on this network has a pairing window open"),
    N_("no device responds at {addresses}; check that handoffctl pair is still running there, that both devices are on "
       "the same network, and that no firewall blocks the connection"),
    N_("this device is not connected to a network; connect it and join again"),
    N_("the inviting device has an incompatible version of handoff; update both devices"),
    N_("the account has no room for another device; remove one that is no longer used"),
    N_("a pairing window is already open; close it first"),
    N_("the window has closed and no device has joined; open a new one"),
    N_("pairing was cancelled"),
    N_("you declined the device, and the window is closed"),
    N_("the other device is already in an account; it must leave that account first"),
    # ---- Checks
    N_("advertising and receiving are on"),
    N_("the clock is synchronised"),
    N_("the daemon runs in its own user namespace"),
    N_("users can create the namespaces that the daemon's unit requires"),
    N_("the daemon can open enough files"),
    N_("one app continues activities"),
    N_("{number} apps continue activities"),
    N_("no app continues activities here: only web pages open, and handoffctl continue --print works"),
    N_("offers are shown as notifications"),
    N_("offers are shown as notifications; no notification server has been needed yet"),
    N_("no notification is shown: no notification server responds"),
    N_("no notification is shown: you have no active session, or its screen is locked"),
    N_("no notification is shown: handoffd.conf has 'notifications = off'"),
    N_("{program} runs, as {name}"),
    N_("this device is in account {id}"),
    N_("this is the only device in its account"),
    N_("{name} is online"),
    N_("the clock is not synchronised: pauses may end at the wrong time"),
    N_("cannot determine whether the clock is synchronised"),
    N_("no firewall found: neither ufw nor firewalld is active, and no nftables or iptables rules are saved"),
    N_("{firewall} is active, and other devices are online"),
    N_("{firewall} is active, and may block port {port} and, for pairing, ports 24863 to 24872 (TCP and UDP), and "
       "multicast DNS (UDP 5353)"),
    N_("only this user can access the state folder {path}"),
    N_("other users can access the state folder {path} (mode {mode}): the daemon will not start again"),
    N_("devices are found at fixed addresses only, as configured"),
    N_("devices are found by multicast DNS ({name})"),
    N_("the daemon listens on port {port}, TCP and UDP"),
    N_("no network: no interface that this device may use is up and has an address"),
    N_("the extension is installed, but no browser that it works in"),
)
# Values that can contain spaces.
_LONG = ("addresses", "app", "name", "path")


def _pattern(message: str) -> re.Pattern:
    parts = re.split(r"\{(\w+)\}", message)
    return re.compile("".join(
        (f"(?P<{part}>.+)" if part in _LONG else rf"(?P<{part}>\S+)") if place % 2 else re.escape(part)
        for place, part in enumerate(parts)))


_PATTERNS = [(_pattern(message), message) for message in _KNOWN if "{" in message]


def translated(message: str) -> str:
    """Returns a message in the user's language if it is known."""
    if message in _KNOWN:
        return _(message)
    for pattern, known in _PATTERNS:
        found = pattern.fullmatch(message)
        if found:
            return _(known).format(**found.groupdict())
    return message
