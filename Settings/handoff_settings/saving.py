"""Saves items that another device has sent in a folder of the user's choice (`handoff-settings --save`)."""

import re
from typing import Callable, Optional

from gi.repository import Adw, Gio, GLib, Gtk
from handoff_locale import _

from .process import Process
from .texts import visible

NAME = "dev.handoff1.Settings"


class Receiving:
    """An item, and the process of `handoffctl continue` that saves it."""

    def __init__(self, device: str, activity: str, changed: Callable[[], None]) -> None:
        self._words = ["handoffctl", "continue", activity, "--from", device, "--json", "--output"]
        self._changed = changed
        self._process: Optional[Process] = None
        self.title, self.status = "", _("Waiting")
        self.is_over = self.is_saved = self._has_reason = False

    def start(self, folder: str) -> None:
        """Starts the process."""
        # A trailing slash: into this folder, under the item's own name.
        words = [*self._words, folder.rstrip("/") + "/"]
        try:
            self._process = Process(words, self._take, self._take, lambda _: self._end())
        except GLib.Error as error:
            self.fail(_("handoffctl cannot be started: {error}").format(error=error.message))

    def cancel(self) -> None:
        """Ends the process. What has arrived is kept, and is resumed by the next attempt."""
        if self._process and not self.is_over:
            self._process.interrupt()

    def _take(self, fields: dict) -> None:
        event, size = fields.get("event"), fields.get("size")
        if event == "stream":
            self.title = visible(str(fields.get("name") or self.title))
        if event in ("stream", "progress"):
            here = fields.get("received", fields.get("from")) or 0
            self.status = GLib.format_size(here)
            if size:
                self.status = _("{part} of {whole}").format(part=self.status, whole=GLib.format_size(size))
        elif event == "received":
            self.is_saved, self.status = True, _("Saved")
        elif "error" in fields and not self.is_saved:
            self.status = visible(str(fields.get("message") or fields["error"]), 400)
            self._has_reason = True
        self._changed()

    def _end(self) -> None:
        self.is_over = True
        if not self.is_saved and not self._has_reason:
            self.status = _("Not saved")
        self._changed()

    def fail(self, problem: str) -> None:
        """Ends without a process."""
        self.is_over, self.status = True, problem
        self._changed()


class SavingWindow(Adw.ApplicationWindow):
    """The items with their progress. Closing it cancels those that are arriving."""

    def __init__(self, application: Adw.Application, items: list[tuple[str, str]]) -> None:
        super().__init__(application=application, title=_("Save Items"), default_width=420)
        self._items = [Receiving(device, activity, self._refresh) for device, activity in items]
        self._rows = [Adw.ActionRow(title_lines=1, subtitle_lines=3, use_markup=False) for each in items]
        self._folder: Optional[Gio.File] = None
        header = Adw.HeaderBar()
        self._button = Gtk.Button(label=_("Cancel"))
        self._button.connect("clicked", lambda *_: self._pressed())
        header.pack_start(self._button)
        rows = Gtk.ListBox(selection_mode=Gtk.SelectionMode.NONE, css_classes=["boxed-list"], valign=Gtk.Align.START)
        for row in self._rows:
            rows.append(row)
        for side in ("top", "bottom", "start", "end"):
            getattr(rows, f"set_margin_{side}")(18)
        scroller = Gtk.ScrolledWindow(
            child=rows, hscrollbar_policy=Gtk.PolicyType.NEVER, propagate_natural_height=True, max_content_height=480,
            vexpand=True)
        content = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        content.append(header)
        content.append(scroller)
        self.set_content(content)
        self.connect("close-request", lambda *_: [item.cancel() for item in self._items] and False)
        self._chooser = Gtk.FileChooserNative(
            title=_("Save In"), action=Gtk.FileChooserAction.SELECT_FOLDER, transient_for=self, modal=True)
        self._chooser.connect("response", self._chosen)
        self._refresh()

    def choose(self) -> None:
        """Lets the user choose the folder."""
        self._chooser.show()

    def _chosen(self, chooser: Gtk.FileChooserNative, response: int) -> None:
        folder = chooser.get_file() if response == Gtk.ResponseType.ACCEPT else None
        if folder is None:
            return self.close()
        self.save(folder)

    def save(self, folder: Gio.File) -> None:
        """Saves the items in a folder."""
        if folder.get_path() is None:
            for item in self._items:
                item.fail(_("This location is not available as a local folder"))
            return
        self._folder = folder
        for item in self._items:
            item.start(folder.get_path())

    def _pressed(self) -> None:
        if self._folder and all(item.is_over for item in self._items) and any(item.is_saved for item in self._items):
            Gtk.show_uri(self, self._folder.get_uri(), 0)
        self.close()

    def _refresh(self) -> None:
        for row, item in zip(self._rows, self._items):
            row.set_title(item.title or _("Item"))
            row.set_subtitle(item.status)
        if all(item.is_over for item in self._items):
            is_saved = any(item.is_saved for item in self._items)
            self._button.set_label(_("Open Folder") if is_saved else _("Close"))


def run(words: list[str]) -> int:
    """Runs the program. `words` are the items, as DEVICE/ACTIVITY in hexadecimal digits."""
    items = [re.fullmatch("([0-9a-f]{8,64})/([0-9a-f]{8,64})", word) for word in words]
    if not items or None in items:
        print("handoff-settings: --save needs items as DEVICE/ACTIVITY")
        return 2
    # A process of its own, because several prompts can be answered at the same time.
    application = Adw.Application(application_id=NAME, flags=Gio.ApplicationFlags.NON_UNIQUE)

    def activate(_: Adw.Application) -> None:
        window = SavingWindow(application, [item.groups() for item in items])
        window.present()
        window.choose()

    application.connect("activate", activate)
    return application.run([])
