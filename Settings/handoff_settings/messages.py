"""Messages of the daemon and of `handoffctl doctor` that windows show translated, by `texts.sentence`.

The programs are in English, because commands and logs are. Other messages contain values, and are shown in English.
"""


def N_(text: str) -> str:  # noqa: N802, the keyword of gettext for texts that are translated elsewhere
    """Marks a text for translation."""
    return text


# The most frequent reason why nothing opens an offer.
NO_APP = N_("no app continues {type}")
KNOWN = (
    # ---- Switches
    N_("advertising is switched off"),
    N_("receiving is switched off"),
    N_("advertising is off in the configuration (advertise = off)"),
    N_("the screen is locked"),
    N_("the screen has not been unlocked since the start"),
    # ---- Pairing
    N_("the code is wrong; check it on the inviting device and join again"),
    N_("the code has expired after too many wrong attempts; another device on this network may be guessing: use the link "
       "that the inviting device shows, or open a new window there"),
    N_("the inviting device is busy with other devices; wait a moment and join again, or use the link"),
    N_("the user of the inviting device declined this device"),
    N_("no device on this network has a pairing window open"),
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
    N_("offers are shown as notifications"),
)
