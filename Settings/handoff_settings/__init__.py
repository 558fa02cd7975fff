"""The Handoff window: the functions of `handoffctl` without a terminal. Requires GTK 4.8 and libadwaita 1.2."""

import gi

gi.require_version("Gtk", "4.0")
gi.require_version("Gdk", "4.0")
gi.require_version("Adw", "1")
