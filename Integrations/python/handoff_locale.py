"""Translations of the texts that our programs show: `_` and `ngettext` of gettext. Command lines and logs are in English."""

import gettext
import locale
import os

DOMAIN = "handoff"
# The prefix of an installation, whose programs have a folder of modules two levels below it, or the root of a checkout.
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
# `scripts/translations compile` writes the latter.
_FOLDERS = (os.path.join(_ROOT, "share", "locale"), os.path.join(_ROOT, ".build", "locale"))


def _load() -> gettext.NullTranslations:
    """Returns the translations into the user's language; none if there is no such locale or file."""
    try:
        chosen = locale.setlocale(locale.LC_MESSAGES, "")
    except locale.Error:
        chosen = "C"
    # The C library, and thereby GTK, ignores LANGUAGE then. A window would have two languages.
    if chosen in ("C", "POSIX"):
        return gettext.NullTranslations()
    for folder in _FOLDERS:
        try:
            return gettext.translation(DOMAIN, folder)
        except Exception:  # A damaged file raises exceptions of many kinds.
            continue
    return gettext.NullTranslations()


_translations = _load()
_, ngettext = _translations.gettext, _translations.ngettext
