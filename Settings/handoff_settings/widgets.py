"""Pieces that the pages share. Every text that is shown goes through here as plain text: none is read as markup."""

from typing import Any, Callable, Hashable, Iterable, Optional

from gi.repository import Adw, Gdk, GLib, Gtk, Pango

_KINDS = {
    # Themes have none of that name.
    "laptop": "dev.handoff1.Settings-laptop-symbolic",
    "desktop": "computer-symbolic",
    "tablet": "tablet-symbolic",
    "phone": "phone-symbolic",
    "server": "network-server-symbolic",
    "vm": "computer-symbolic",
}
_KIND_NAMES = {"desktop": "desktop computer", "vm": "virtual machine", "other": "computer"}
MARGIN = 12
_DIALOG_WIDTH = 400
# The most pixels of a dialog's content, and what a screen needs above and below it: header, buttons, and the desktop's bars.
_MAX_DIALOG_CONTENT, _AROUND_DIALOG = 720, 220
_ICON_SIZE = 64
_TOAST_CHARACTERS = 18


def show_kind(image: Gtk.Image, kind: str) -> None:
    """Shows the icon of a kind of device, which a screen reader names."""
    image.set_from_icon_name(_KINDS.get(kind, "computer-symbolic"))
    name(image, _KIND_NAMES.get(kind, kind))


def name(widget: Gtk.Widget, text: str) -> None:
    """Sets the name by which a screen reader calls a widget, in place of the text that it shows: GTK would read both."""
    widget.reset_relation(Gtk.AccessibleRelation.LABELLED_BY)
    widget.update_property([Gtk.AccessibleProperty.LABEL], [text])


def label(text: str = "", *classes: str, **properties: Any) -> Gtk.Label:
    """Text that breaks where it has to."""
    made = Gtk.Label(
        label=text, wrap=True, wrap_mode=Pango.WrapMode.WORD_CHAR, justify=Gtk.Justification.CENTER, **properties
    )
    for each in classes:
        made.add_css_class(each)
    return made


def button(text: str, pressed: Callable[[], None], *classes: str, **properties: Any) -> Gtk.Button:
    """A button with a text, whose underscore marks its key."""
    made = Gtk.Button(label=text, use_underline=True, **properties)
    # GTK would read it and the label inside.
    name(made, text.replace("_", ""))
    made.connect("clicked", lambda _: pressed())
    for each in classes:
        made.add_css_class(each)
    return made


def icon_button(icon: str, text: str, pressed: Callable[[], None]) -> Gtk.Button:
    """A button with an icon alone, whose text is shown on hovering and read aloud."""
    made = Gtk.Button(icon_name=icon, tooltip_text=text, valign=Gtk.Align.CENTER)
    made.add_css_class("flat")
    made.connect("clicked", lambda _: pressed())
    name(made, text)
    return made


class Row(Adw.ActionRow):
    """A row of plain text."""

    def __init__(self, title: str = "", subtitle: str = "", **properties: Any) -> None:
        # Before any text, which would be read as markup otherwise.
        super().__init__(use_markup=False, **properties)
        self.set_title_lines(3)
        self.set_subtitle_lines(0)
        self.show(title, subtitle)

    def show(self, title: str, subtitle: str = "") -> None:
        """Shows other texts."""
        self.set_title(title)
        self.set_subtitle(subtitle)


class SwitchRow(Row):
    """A row with a switch. `asked` is called when the user moves it; what it shows is what `show_state` says."""

    def __init__(self, asked: Callable[[bool], None], **properties: Any) -> None:
        super().__init__(**properties)
        self._asked = asked
        self._is_told = False
        self.switch = Gtk.Switch(valign=Gtk.Align.CENTER)
        self.switch.connect("notify::active", self._moved)
        self.add_suffix(self.switch)
        self.set_activatable_widget(self.switch)

    def show_state(self, is_on: bool, may_change: bool = True) -> None:
        """Shows a state without asking for it."""
        self._is_told = True
        self.switch.set_active(is_on)
        self._is_told = False
        self.switch.set_sensitive(may_change)

    def _moved(self, switch: Gtk.Switch, _property: Any) -> None:
        if not self._is_told:
            self._asked(switch.get_active())


class Rows(Gtk.ListBox):
    """A list whose rows stay the same widgets while their contents change, so that the keyboard's place in it stays."""

    def __init__(self, make: Callable[[Any], Gtk.Widget], show: Callable[[Any, Any], None], **properties: Any) -> None:
        super().__init__(selection_mode=Gtk.SelectionMode.NONE, **properties)
        self.add_css_class("boxed-list")
        self._make, self._show = make, show
        self._rows: dict[Hashable, Gtk.Widget] = {}

    def show_all(self, items: Iterable[tuple[Hashable, Any]]) -> None:
        """Shows these items, each under its key, in this order."""
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
    """A page of lists under headings, in a column that is not too wide to read."""

    def __init__(self) -> None:
        super().__init__(hscrollbar_policy=Gtk.PolicyType.NEVER, vexpand=True)
        self.column = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=MARGIN)
        for edge in ("top", "bottom", "start", "end"):
            getattr(self.column, f"set_margin_{edge}")(MARGIN)
        self.set_child(Adw.Clamp(child=self.column, maximum_size=620, tightening_threshold=620))

    def add(self, *widgets: Gtk.Widget) -> None:
        """Adds widgets below those that are there."""
        for each in widgets:
            self.column.append(each)

    def heading(self, text: str, explanation: str = "") -> Gtk.Widget:
        """Adds a heading, with a sentence below it."""
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
    """A page that says one thing."""
    page = Adw.StatusPage(icon_name=icon, title=title, vexpand=True)
    describe(page, description)
    return page


def describe(page: Adw.StatusPage, description: str) -> None:
    """Shows another description, which would be read as markup."""
    page.set_description(GLib.markup_escape_text(description))


def message(icon: str, title: str, description: str = "") -> Gtk.Box:
    """A heading below an icon, for a dialog. Unlike a status page, which scrolls by itself, it is never smaller than its text."""
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=MARGIN)
    box.append(Gtk.Image(icon_name=icon, pixel_size=_ICON_SIZE, accessible_role=Gtk.AccessibleRole.PRESENTATION))
    box.append(label(title, "title-2"))
    if description:
        box.append(label(description))
    return box


def toast(text: str, stays: bool = False) -> Adw.Toast:
    """A toast of any length. `stays` keeps it until the user closes it.

    A toast's own title is read as markup, and cut to one line.
    """
    # A few words are one line: a label that may wrap would rather be narrow.
    shown = label(text, xalign=0, width_chars=min(len(text), _TOAST_CHARACTERS))
    shown.set_justify(Gtk.Justification.LEFT)
    return Adw.Toast(title=GLib.markup_escape_text(text), custom_title=shown, timeout=0 if stays else 6)


class Dialog(Adw.Window):
    """A window over another one, with a heading and one content at a time, whose buttons are always on the screen: only what is above
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
        # A larger font, and a screen whose size is known only now.
        for changed in ("notify::gtk-xft-dpi", "notify::gtk-font-name"):
            self._fit_at(Gtk.Settings.get_default(), changed)
        self.connect("map", lambda _: self.fit())
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
        """Shows these widgets, one below the other and above the buttons of `actions`, in place of all others."""
        box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=MARGIN, valign=Gtk.Align.CENTER)
        for edge in ("top", "bottom", "start", "end"):
            getattr(box, f"set_margin_{edge}")(2 * MARGIN)
        for each in widgets:
            box.append(each)
        self._place.set_child(box)
        self._actions.set_child(_choices(*actions))
        self.fit()
        if focus:
            focus.grab_focus()

    def fit(self) -> bool:
        """Makes the dialog as high as its content is, as far as the screen allows.

        The content's height is the least one of the window: one that is only asked for gets lost where the window is shown at
        the same time.
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


def _choices(*buttons: Gtk.Button) -> Gtk.Box:
    """Buttons beside each other, at the lower edge of a dialog."""
    box = Gtk.Box(spacing=MARGIN, homogeneous=True, visible=bool(buttons))
    for edge in ("top", "bottom", "start", "end"):
        getattr(box, f"set_margin_{edge}")(MARGIN if edge in ("top", "bottom") else 2 * MARGIN)
    for each in buttons:
        each.set_hexpand(True)
        box.append(each)
    return box


def beside(*buttons: Gtk.Button) -> Gtk.FlowBox:
    """Buttons beside each other, or below each other where there is no room."""
    box = Gtk.FlowBox(selection_mode=Gtk.SelectionMode.NONE, max_children_per_line=len(buttons), homogeneous=True,
                      column_spacing=MARGIN, row_spacing=MARGIN)
    for each in buttons:
        box.append(each)
        # The button takes the keyboard's focus, and nothing around it.
        each.get_parent().set_focusable(False)
    return box


def waiting(text: str) -> Gtk.Box:
    """A text beside something that turns."""
    box = Gtk.Box(spacing=MARGIN, halign=Gtk.Align.CENTER)
    spinner = Gtk.Spinner()
    # It would go on turning where nobody sees it, and wake the processor for each frame.
    spinner.connect("map", lambda _: spinner.start())
    spinner.connect("unmap", lambda _: spinner.stop())
    box.append(spinner)
    # A dialog is as high as its text is at the width that it would like to have: where that is more than there is, the end is cut off.
    box.append(label(text, max_width_chars=30))
    return box
