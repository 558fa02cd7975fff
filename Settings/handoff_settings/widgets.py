"""Widgets shared by the pages. All texts are shown as plain text, never as markup."""

import re
from typing import Any, Callable, Hashable, Iterable, Optional

from gi.repository import Adw, Gdk, GLib, Gtk, Pango
from handoff_locale import _

_KINDS = {
    # Themes have no icon of that name.
    "laptop": "dev.handoff1.Settings-laptop-symbolic",
    "desktop": "computer-symbolic",
    "tablet": "tablet-symbolic",
    "phone": "phone-symbolic",
    "server": "network-server-symbolic",
    "vm": "computer-symbolic",
}
_KIND_NAMES = {
    "laptop": _("laptop"), "desktop": _("desktop computer"), "tablet": _("tablet"), "phone": _("phone"),
    "server": _("server"), "vm": _("virtual machine"),
}
MARGIN = 12
_DIALOG_WIDTH = 400
# The maximum height of a dialog's content, and the space that a screen needs around it: header,
# buttons and desktop panels. In pixels.
_MAX_DIALOG_CONTENT, _AROUND_DIALOG = 720, 220
_ICON_SIZE = 64
_MIN_TOAST_CHARACTERS, _MAX_TOAST_CHARACTERS = 18, 30


def show_kind(image: Gtk.Image, kind: str) -> None:
    """Shows the icon of a kind of device, with a name for screen readers."""
    image.set_from_icon_name(_KINDS.get(kind, "computer-symbolic"))
    name(image, _KIND_NAMES.get(kind, _("computer")))


def name(widget: Gtk.Widget, text: str) -> None:
    """Sets a widget's name for screen readers, replacing its text: GTK would read both."""
    widget.reset_relation(Gtk.AccessibleRelation.LABELLED_BY)
    widget.update_property([Gtk.AccessibleProperty.LABEL], [text])


def label(text: str = "", *classes: str, **properties: Any) -> Gtk.Label:
    """Returns a label that wraps."""
    made = Gtk.Label(
        label=text, wrap=True, wrap_mode=Pango.WrapMode.WORD_CHAR, justify=Gtk.Justification.CENTER, **properties
    )
    for each in classes:
        made.add_css_class(each)
    return made


def button(text: str, pressed: Callable[[], None], *classes: str, **properties: Any) -> Gtk.Button:
    """Returns a text button; an underscore marks its mnemonic, which some languages have in parentheses at the end."""
    made = Gtk.Button(label=text, use_underline=True, **properties)
    # Otherwise, GTK would read both the button and the label inside.
    name(made, re.sub(r"\(_.\)|_", "", text))
    made.connect("clicked", lambda _: pressed())
    for each in classes:
        made.add_css_class(each)
    return made


def icon_button(icon: str, text: str, pressed: Callable[[], None]) -> Gtk.Button:
    """Returns an icon button whose text is its tooltip and its name for screen readers."""
    made = Gtk.Button(icon_name=icon, tooltip_text=text, valign=Gtk.Align.CENTER)
    made.add_css_class("flat")
    made.connect("clicked", lambda _: pressed())
    name(made, text)
    return made


class Row(Adw.ActionRow):
    """A row of plain text."""

    def __init__(self, title: str = "", subtitle: str = "", **properties: Any) -> None:
        # Before any text is set, which would otherwise be parsed as markup.
        super().__init__(use_markup=False, **properties)
        self.set_title_lines(3)
        self.set_subtitle_lines(0)
        self.show(title, subtitle)

    def show(self, title: str, subtitle: str = "") -> None:
        """Sets the texts."""
        self.set_title(title)
        self.set_subtitle(subtitle)


def accept_files(widget: Gtk.Widget, dropped: Callable[[list[str]], None]) -> Gtk.DropTarget:
    """Lets files be dropped on a widget. `dropped` gets their URIs."""
    # Never a move, after which a file manager would delete the files.
    target = Gtk.DropTarget.new(Gdk.FileList, Gdk.DragAction.COPY)

    def drop(_target: Gtk.DropTarget, value: Gdk.FileList, _x: float, _y: float) -> bool:
        uris = [each.get_uri() for each in value.get_files()]
        # Deferred, because a window is opened.
        GLib.idle_add(lambda: dropped(uris))
        return bool(uris)

    target.connect("drop", drop)
    widget.add_controller(target)
    return target


class SwitchRow(Row):
    """A row with a switch. `changed` is called when the user moves it; `show_state` sets its position."""

    def __init__(self, changed: Callable[[bool], None], **properties: Any) -> None:
        super().__init__(**properties)
        self._changed = changed
        self._is_updating = False
        self.switch = Gtk.Switch(valign=Gtk.Align.CENTER)
        self.switch.connect("notify::active", self._moved)
        self.add_suffix(self.switch)
        self.set_activatable_widget(self.switch)

    def show_state(self, is_on: bool, may_change: bool = True) -> None:
        """Sets the state without calling `changed`."""
        self._is_updating = True
        self.switch.set_active(is_on)
        self._is_updating = False
        self.switch.set_sensitive(may_change)

    def _moved(self, switch: Gtk.Switch, _property: Any) -> None:
        if not self._is_updating:
            self._changed(switch.get_active())


class Rows(Gtk.ListBox):
    """A list that keeps its row widgets while their contents change, so that the keyboard focus stays."""

    def __init__(self, make: Callable[[Any], Gtk.Widget], show: Callable[[Any, Any], None], **properties: Any) -> None:
        super().__init__(selection_mode=Gtk.SelectionMode.NONE, **properties)
        self.add_css_class("boxed-list")
        self._make, self._show = make, show
        self._rows: dict[Hashable, Gtk.Widget] = {}

    def show_all(self, items: Iterable[tuple[Hashable, Any]]) -> None:
        """Shows these items in this order, each with its key."""
        items = list(items)
        keys = [key for key, _ in items]
        for key in [each for each in self._rows if each not in set(keys)]:
            self.remove(self._rows.pop(key))
        for place, (key, item) in enumerate(items):
            row = self._rows.get(key)
            if row is None:
                row = self._rows[key] = self._make(item)
                self.insert(row, place)
            elif row.get_index() != place:
                self.remove(row)
                self.insert(row, place)
            self._show(row, item)
        self.set_visible(bool(items))


class Page(Gtk.ScrolledWindow):
    """A page of lists under headings, in a column of readable width."""

    def __init__(self) -> None:
        super().__init__(hscrollbar_policy=Gtk.PolicyType.NEVER, vexpand=True)
        self.column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=MARGIN)
        for edge in ("top", "bottom", "start", "end"):
            getattr(self.column, f"set_margin_{edge}")(MARGIN)
        self.set_child(Adw.Clamp(child=self.column, maximum_size=620, tightening_threshold=620))

    def add(self, *widgets: Gtk.Widget) -> None:
        """Appends widgets."""
        for each in widgets:
            self.column.append(each)

    def heading(self, text: str, explanation: str = "") -> Gtk.Widget:
        """Adds a heading, with a description below it."""
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=2, margin_top=MARGIN)
        title = label(text, "heading", xalign=0)
        box.append(title)
        if explanation:
            sentence = label(explanation, "dim-label", xalign=0)
            sentence.set_justify(Gtk.Justification.LEFT)
            box.append(sentence)
        self.add(box)
        return box


def status_page(icon: str, title: str, description: str = "") -> Adw.StatusPage:
    """Returns a page with a single message."""
    page = Adw.StatusPage(icon_name=icon, title=title, vexpand=True)
    describe(page, description)
    return page


def describe(page: Adw.StatusPage, description: str) -> None:
    """Sets the description, escaped because it is parsed as markup."""
    page.set_description(GLib.markup_escape_text(description))


def message(icon: str, title: str, description: str = "") -> Gtk.Box:
    """Returns a heading below an icon, for a dialog. Unlike a status page, it cannot shrink below its text."""
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=MARGIN)
    box.append(Gtk.Image(icon_name=icon, pixel_size=_ICON_SIZE, accessible_role=Gtk.AccessibleRole.PRESENTATION))
    box.append(label(title, "title-2"))
    if description:
        box.append(label(description))
    return box


def toast(text: str, stays: bool = False) -> Adw.Toast:
    """Returns a toast of any length. `stays` keeps it until the user closes it.

    The title of a toast is parsed as markup and cut to one line.
    """
    # Keeps short texts on one line: a wrapping label would otherwise be narrow. Libadwaita 1.2 can
    # give a long text its natural width even if the toast is narrower, so that width is limited.
    shown = label(
        text, xalign=0, width_chars=min(len(text), _MIN_TOAST_CHARACTERS), max_width_chars=_MAX_TOAST_CHARACTERS
    )
    shown.set_justify(Gtk.Justification.LEFT)
    return Adw.Toast(title=GLib.markup_escape_text(text), custom_title=shown, timeout=0 if stays else 6)


class Dialog(Adw.Window):
    """A modal window with a heading and replaceable content. Its buttons are always visible; only the content above
    them scrolls. Escape closes it."""

    def __init__(self, parent: Optional[Gtk.Window], title: str) -> None:
        super().__init__(transient_for=parent, modal=True, title=title, destroy_with_parent=True)
        self.set_size_request(320, -1)
        self._place = Adw.Bin(vexpand=True)
        self._scrolled = Gtk.ScrolledWindow(child=self._place, hscrollbar_policy=Gtk.PolicyType.NEVER, vexpand=True)
        self._actions = Adw.Bin()
        content = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        for each in (Adw.HeaderBar(), self._scrolled, self._actions):
            content.append(each)
        self.set_content(content)
        # The font may change, and the size of the screen is known only now.
        for changed in ("notify::gtk-xft-dpi", "notify::gtk-font-name"):
            self._fit_at(Gtk.Settings.get_default(), changed)
        self.connect("map", lambda _: self.fit())
        self._refits = 0
        self.connect("notify::default-height", lambda *_: GLib.idle_add(self._refit))
        keys = Gtk.ShortcutController()
        keys.add_shortcut(Gtk.Shortcut(
            trigger=Gtk.ShortcutTrigger.parse_string("Escape"), action=Gtk.NamedAction.new("window.close")))
        self.add_controller(keys)

    def _fit_at(self, settings: Gtk.Settings, changed: str) -> None:
        handler = settings.connect(changed, lambda *_: GLib.idle_add(self.fit))
        self.connect("destroy", lambda _: settings.disconnect(handler))

    def show_content(
        self, *widgets: Gtk.Widget, actions: Iterable[Gtk.Button] = (), focus: Optional[Gtk.Widget] = None
    ) -> None:
        """Replaces the content by these widgets, one below the other, above the buttons of `actions`."""
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=MARGIN, valign=Gtk.Align.CENTER)
        for edge in ("top", "bottom", "start", "end"):
            getattr(box, f"set_margin_{edge}")(2 * MARGIN)
        for each in widgets:
            box.append(each)
        self._place.set_child(box)
        self._actions.set_child(_button_row(*actions))
        self._refits = 0
        self.fit()
        if focus:
            focus.grab_focus()

    def fit(self) -> bool:
        """Makes the dialog as high as its content, within the limits of the screen.

        Sets a minimum height, because a default size set while the window is being shown is ignored.
        """
        scale = Gtk.Settings.get_default().get_property("gtk-xft-dpi") / (96 * 1024)
        wanted = max(int(_DIALOG_WIDTH * min(max(1.0, scale), 1.5)), self._place.measure(Gtk.Orientation.HORIZONTAL, -1)[0],
                     self._actions.measure(Gtk.Orientation.HORIZONTAL, -1)[0])
        height = self._place.measure(Gtk.Orientation.VERTICAL, wanted)[1]
        monitors = Gdk.Display.get_default().get_monitors()
        screens = [monitors.get_item(number).get_geometry().height for number in range(monitors.get_n_items())]
        above = self._actions.measure(Gtk.Orientation.VERTICAL, wanted)[1]
        limit = max(0, min([_MAX_DIALOG_CONTENT, *(each - _AROUND_DIALOG for each in screens)]) - above)
        self._scrolled.set_min_content_height(min(height, limit))
        self.set_default_size(wanted, -1)
        return GLib.SOURCE_REMOVE

    def _refit(self) -> bool:
        """Requests the height again if the window system has confirmed an earlier, smaller one after the request.

        It may insist on its size, so the height is requested at most three times for a content.
        """
        if self.get_mapped() and self._refits < 3 and self.get_height() < self.measure(Gtk.Orientation.VERTICAL, -1)[0]:
            self._refits += 1
            self.fit()
        return GLib.SOURCE_REMOVE


def _button_row(*buttons: Gtk.Button) -> Gtk.Box:
    """Returns buttons in a row, for the lower edge of a dialog."""
    box = Gtk.Box(spacing=MARGIN, homogeneous=True, visible=bool(buttons))
    for edge in ("top", "bottom", "start", "end"):
        getattr(box, f"set_margin_{edge}")(MARGIN if edge in ("top", "bottom") else 2 * MARGIN)
    for each in buttons:
        each.set_hexpand(True)
        box.append(each)
    return box


def beside(*buttons: Gtk.Button) -> Gtk.FlowBox:
    """Returns buttons in a row, or in a column if the width is insufficient."""
    box = Gtk.FlowBox(selection_mode=Gtk.SelectionMode.NONE, max_children_per_line=len(buttons), homogeneous=True,
                      column_spacing=MARGIN, row_spacing=MARGIN)
    for each in buttons:
        box.append(each)
        # Only the button can have the keyboard focus, not its wrapper.
        each.get_parent().set_focusable(False)
    return box


def waiting(text: str) -> Gtk.Box:
    """Returns a text beside a spinner."""
    box = Gtk.Box(spacing=MARGIN, halign=Gtk.Align.CENTER)
    spinner = Gtk.Spinner()
    # A hidden spinner would keep animating, and wake the processor for each frame.
    spinner.connect("map", lambda _: spinner.start())
    spinner.connect("unmap", lambda _: spinner.stop())
    box.append(spinner)
    # The height of a dialog is computed for the natural width of its text. In a narrower dialog,
    # the end would be cut off.
    box.append(label(text, max_width_chars=30))
    return box
