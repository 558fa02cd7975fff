"""The page of a device without an account: create an account or join one."""

from typing import Callable

from gi.repository import Adw, Gtk
from handoff_locale import _

from .widgets import Row, button, name, status_page


class FirstRun(Gtk.ScrolledWindow):
    """`create` creates an account; `join` opens the dialog for joining one."""

    def __init__(self, create: Callable[[], None], join: Callable[[], None]) -> None:
        super().__init__(hscrollbar_policy=Gtk.PolicyType.NEVER, vexpand=True)
        rows = Gtk.ListBox(selection_mode=Gtk.SelectionMode.NONE)
        rows.add_css_class("boxed-list")
        self.create = button(_("_Create"), create, "suggested-action", valign=Gtk.Align.CENTER)
        self.join = button(_("_Join…"), join, valign=Gtk.Align.CENTER)
        for title, sentence, chosen in (
            (
                _("Create an Account on This Device"),
                _("For your first device. The account is a key that only your devices have. "
                  "No registration is needed."),
                self.create,
            ),
            (
                _("Join Another Device"),
                _("If another of your devices has an account. Enter the eight digits that it shows."),
                self.join,
            ),
        ):
            row = Row(title, sentence, activatable_widget=chosen)
            row.add_suffix(chosen)
            # A screen reader would read the row before the button's own name.
            name(chosen, title)
            rows.append(row)
        page = status_page(
            "dev.handoff1.Settings",
            _("Welcome to Handoff"),
            _("Start something on one of your devices and continue it on another. They find each other on the local "
              "network, without a server."),
        )
        page.set_child(Adw.Clamp(child=rows, maximum_size=520))
        self.set_child(page)

    def set_waiting(self, is_waiting: bool) -> None:
        """Sets whether the daemon is creating an account."""
        self.create.set_sensitive(not is_waiting)
