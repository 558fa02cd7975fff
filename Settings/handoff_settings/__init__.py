"""The window of Handoff: what `handoffctl` does, for who has no terminal. GTK 4.8 and libadwaita 1.2 or later."""

import gi

gi.require_version("Gtk", "4.0")
gi.require_version("Gdk", "4.0")
gi.require_version("Adw", "1")
