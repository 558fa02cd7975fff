"""The window of keyboard shortcuts."""

from gi.repository import Gtk
from handoff_locale import _

_GROUPS = (
    (_("Pages"), (
        (_("Devices"), "<Alt>1"), (_("Offers"), "<Alt>2"), (_("Switches"), "<Alt>3"), (_("Problems"), "<Alt>4"),
        (_("Next page"), "<Control>Page_Down"), (_("Previous page"), "<Control>Page_Up"))),
    (_("Window"), (
        (_("Open the menu"), "F10"), (_("Show keyboard shortcuts"), "<Control>question"),
        (_("Close the window"), "<Control>w"), (_("Quit"), "<Control>q"))),
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
