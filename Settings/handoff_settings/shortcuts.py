"""The window of keyboard shortcuts."""

from gi.repository import Gtk

_GROUPS = (
    ("Pages", (
        ("Devices", "<Alt>1"), ("Offers", "<Alt>2"), ("Switches", "<Alt>3"), ("Problems", "<Alt>4"),
        ("Next page", "<Control>Page_Down"), ("Previous page", "<Control>Page_Up"))),
    ("Window", (
        ("Open the menu", "F10"), ("Show keyboard shortcuts", "<Control>question"), ("Close the window", "<Control>w"),
        ("Quit", "<Control>q"))),
)


class ShortcutsWindow(Gtk.ShortcutsWindow):
    """All shortcuts of the window."""

    def __init__(self) -> None:
        super().__init__(modal=True)
        section = Gtk.ShortcutsSection(section_name="shortcuts", visible=True)
        for title, shortcuts in _GROUPS:
            group = Gtk.ShortcutsGroup(title=title, visible=True)
            for words, keys in shortcuts:
                group.append(Gtk.ShortcutsShortcut(title=words, accelerator=keys, visible=True))
            section.append(group)
        self.set_child(section)
