"""The window that sends files, folders and text to one or several devices."""

from typing import Callable, Optional

from gi.repository import Adw, Gio, GLib, Gtk
from handoff_locale import _, ngettext

from . import values
from .model import Model
from .send_rows import MAX_ROWS, ItemRow, JobView, RecipientRow, outcome
from .sending import MAX_TEXT, Item, Job, check_all
from .texts import sentence, visible
from .widgets import MARGIN, Page, Rows, SwitchRow, accept_files, beside, button, label, name


class SendWindow(Adw.Window):
    """Chooses devices and items, and then shows how they are sent. `open_main` opens the main window."""

    def __init__(
        self, application: Adw.Application, model: Model, device: str, open_main: Callable[[], None]
    ) -> None:
        super().__init__(application=application, title=_("Send"), default_width=520, default_height=640)
        self.set_size_request(320, 300)
        self._model, self._open_main = model, open_main
        # The device by its id, name or start of the id, as requested; empty if none was.
        self._requested = device
        self._has_requested, self._unknown = False, ""
        self._chosen: set[str] = set()
        self._items: dict[str, Item] = {}
        self._views: list[JobView] = []
        self._is_checking = self._is_stopping = self._is_closed = False
        self._chooser: Optional[Gtk.FileChooserNative] = None
        self._handler = model.connect("changed", lambda *_: self.refresh())
        self._lay_out()
        self.connect("close-request", lambda _: self._close())
        self.connect("destroy", lambda _: self._destroyed())
        accept_files(self, self.add)
        self.refresh()

    def _lay_out(self) -> None:
        self._recipients = Rows(
            lambda _: RecipientRow(self._toggle), lambda row, each: row.show_device(each, each.id in self._chosen))
        self._list = Rows(lambda item: ItemRow(item, self._remove), lambda row, item: row.show_item(item))
        self._total = label("", "dim-label", xalign=0)
        self._buffer = Gtk.TextBuffer()
        self._buffer.connect("changed", lambda _: self.refresh())
        text = Gtk.TextView(
            buffer=self._buffer, wrap_mode=Gtk.WrapMode.WORD_CHAR, accepts_tab=False, top_margin=8, bottom_margin=8,
            left_margin=8, right_margin=8)
        name(text, _("Text"))
        framed = Gtk.Frame(child=Gtk.ScrolledWindow(child=text, min_content_height=80))
        page = Page()
        page.heading(_("To"))
        page.add(self._recipients)
        page.heading(_("Files and Folders"))
        adding = beside(
            button(_("Add _Files…"), self.choose), button(_("Add F_older…"), lambda: self.choose(are_folders=True)))
        adding.set_halign(Gtk.Align.START)
        page.add(self._list, self._total, adding)
        page.heading(_("Text"))
        page.add(framed)
        self._keep = SwitchRow(lambda _: None)
        self._keep.show(
            _("Keep until Accepted"),
            _("Items are offered also after the next login. Files are sent as they are when they are accepted."))
        keeping = Gtk.ListBox(selection_mode=Gtk.SelectionMode.NONE)
        keeping.add_css_class("boxed-list")
        keeping.append(self._keep)
        page.add(keeping)
        self._progress = Page()
        self._stack = Gtk.Stack(vexpand=True)
        self._stack.add_named(page, "choose")
        self._stack.add_named(self._progress, "progress")
        self._reason = label("", "dim-label", xalign=0, hexpand=True)
        self._reason.set_justify(Gtk.Justification.LEFT)
        self._open = button(_("_Open Handoff"), self._open_main, valign=Gtk.Align.CENTER)
        self._send = button(_("_Send"), self._start, "suggested-action", valign=Gtk.Align.CENTER)
        self._cancel = button(_("_Cancel"), self.cancel, valign=Gtk.Align.CENTER)
        self._done = button(_("_Close"), self.close, "suggested-action", valign=Gtk.Align.CENTER)
        bar = Gtk.Box(spacing=MARGIN)
        for edge in ("top", "bottom", "start", "end"):
            getattr(bar, f"set_margin_{edge}")(MARGIN)
        for each in (self._reason, self._open, self._send, self._cancel, self._done):
            bar.append(each)
        content = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        for each in (Adw.HeaderBar(), self._stack, bar):
            content.append(each)
        self.set_content(content)
        keys = Gtk.ShortcutController()
        for trigger, action in (("Escape", self.close), ("<Control>Return", self._start)):
            keys.add_shortcut(Gtk.Shortcut(
                trigger=Gtk.ShortcutTrigger.parse_string(trigger),
                action=Gtk.CallbackAction.new(lambda *_, action=action: action() or True)))
        self.add_controller(keys)

    def _destroyed(self) -> None:
        self._is_closed = True
        self._model.disconnect(self._handler)

    # ---- Choosing ----------------------------------------------------------------------------------------------------

    @property
    def _text(self) -> str:
        return self._buffer.get_text(self._buffer.get_start_iter(), self._buffer.get_end_iter(), True)

    def takes(self, device: str) -> bool:
        """Returns whether items of another request for a device can be added."""
        return device == self._requested and not self._views and not self._is_checking

    def add(self, uris: list[str]) -> None:
        """Adds items. Once sending has started, opens another window for them."""
        if not self.takes(self._requested):
            return self.get_application().activate_action("send-to", GLib.Variant("(sas)", ("", uris)))
        added = {each.uri: each for each in map(Item, uris) if each.uri not in self._items}
        self._items.update(added)
        check_all(list(added.values()), self.refresh)

    def add_text(self, text: str) -> None:
        """Adds a text."""
        self._buffer.insert(self._buffer.get_end_iter(), text)

    def choose(self, are_folders: bool = False, is_first: bool = False) -> None:
        """Opens a file chooser. With `is_first`, cancelling it closes an empty window."""
        if self._chooser:
            return
        action = Gtk.FileChooserAction.SELECT_FOLDER if are_folders else Gtk.FileChooserAction.OPEN
        self._chooser = Gtk.FileChooserNative(
            title=_("Send Folders") if are_folders else _("Send Files"), transient_for=self, modal=True, action=action,
            select_multiple=True, accept_label=_("_Add"))

        def answered(chooser: Gtk.FileChooserNative, response: int) -> None:
            self._chooser = None
            if response == Gtk.ResponseType.ACCEPT:
                self.add([each.get_uri() for each in chooser.get_files()])
            elif is_first and not self._items and not self._text:
                self.close()

        self._chooser.connect("response", answered)
        self._chooser.show()

    def _remove(self, uri: str) -> None:
        self._items.pop(uri, None)
        self.refresh()

    def _toggle(self, device: str, is_chosen: bool) -> None:
        if (device in self._chosen) != is_chosen:
            self._chosen ^= {device}
            self.refresh()

    def _choose_requested(self, others: list[values.Device]) -> None:
        """Chooses the requested device, or the only one, once the devices are known."""
        if not others or self._has_requested:
            return
        wanted, self._has_requested = self._requested, True
        found = [each for each in others if wanted in ("", each.id, each.name, each.label)] or [
            each for each in others if each.id.startswith(wanted)]
        if len(found) == 1:
            self._chosen.add(found[0].id)
        elif wanted and not found:
            self._unknown = _("{device} is not one of your other devices.").format(device=visible(wanted)) + " "

    def _hindrance(self, others: list[values.Device]) -> tuple[str, bool]:
        """Returns why nothing can be sent, and whether the main window can change that."""
        model = self._model
        if model.phase == "stopped":
            return _("Handoff is not running: {error}").format(error=visible(model.reason, 1000)), True
        if model.phase != "ready" or self._is_checking:
            return _("Please wait…"), False
        if not model.status.account:
            return _("This device is not in an account."), True
        if not others:
            return _("Add another device first."), True
        if not self._chosen:
            return self._unknown + _("Choose a device."), False
        if len(self._text.encode("utf-8", "replace")) > MAX_TEXT:
            return _("The text is longer than {size}. Send it as a file.").format(size=GLib.format_size(MAX_TEXT)), False
        if self._text or any(not each.problem for each in self._items.values()):
            return "", False
        return _("None of the items can be sent.") if self._items else _("Add a file or a folder, or enter a text."), False

    def refresh(self) -> None:
        """Shows the current state."""
        if self._is_closed:
            return
        if self._views:
            return self._show_progress()
        others = [each for each in self._model.devices if not each.is_self] if self._model.phase == "ready" else []
        is_first = bool(others) and not self._has_requested
        self._choose_requested(others)
        self._chosen &= {each.id for each in others}
        self._recipients.show_all((each.id, each) for each in others)
        if is_first:
            self._recipients.child_focus(Gtk.DirectionType.TAB_FORWARD)
        items = list(self._items.values())
        self._list.show_all((each.uri, each) for each in items[:MAX_ROWS])
        sizes = sum(each.size or 0 for each in items)
        words = [ngettext("{count} item", "{count} items", len(items)).format(count=len(items)), GLib.format_size(sizes)]
        if len(items) > MAX_ROWS:
            words.append(_("only the first {number} are shown").format(number=MAX_ROWS))
        if any(each.is_folder for each in items):
            words.append(_("without the content of folders"))
        self._total.set_label(", ".join(words))
        self._total.set_visible(len(items) > 1)
        reason, is_elsewhere = self._hindrance(others)
        self._show_bar(reason, is_elsewhere)
        self._send.set_sensitive(not reason)

    def _show_bar(self, reason: str, is_elsewhere: bool = False) -> None:
        self._reason.set_label(reason)
        self._open.set_visible(is_elsewhere)
        self._send.set_visible(not self._views)
        self._cancel.set_visible(self.is_busy)
        self._done.set_visible(bool(self._views) and not self.is_busy)

    # ---- Sending -----------------------------------------------------------------------------------------------------

    @property
    def is_busy(self) -> bool:
        """True while items are being sent, or wait for a device."""
        return any(not each.job.is_over for each in self._views)

    def _start(self) -> None:
        if not self._send.get_sensitive() or self._views:
            return
        # They may have been deleted since they were chosen.
        self._is_checking = True
        self.refresh()
        check_all(list(self._items.values()), self._checked)

    def _checked(self) -> None:
        if self._is_closed:
            return
        self._is_checking = False
        devices = [each for each in self._model.devices if each.id in self._chosen]
        self.refresh()
        if not self._send.get_sensitive() or not devices:
            return
        for device in devices:
            job = Job(device.id, self._text, list(self._items.values()), self._changed, self._keep.switch.get_active())
            view = JobView(job, device)
            self._views.append(view)
            self._progress.add(view)
        self._stack.set_visible_child_name("progress")
        for each in self._views:
            each.job.start()
        self.refresh()
        (self._cancel if self.is_busy else self._done).grab_focus()

    def _show_progress(self) -> None:
        restrictions = [each for each in self._model.status.restrictions if each.direction == "advertise"]
        for view in self._views:
            device = view.job.device
            hold = next((each.message for each in restrictions if each.device in (None, device)), "")
            view.refresh(self._model.device(device), visible(sentence(hold), 1000))
        self._show_bar(_("Items that are waiting are withdrawn when you cancel.") if self.is_busy else "")

    def _changed(self) -> None:
        had_focus = self._cancel.has_focus()
        self.refresh()
        if self.is_busy:
            return
        if had_focus:
            self._done.grab_focus()
        if self._is_stopping:
            self.destroy()
        elif not self.get_visible():
            self._notify()

    def _notify(self) -> None:
        """Shows the outcome of a window that was closed. It stays available if something was not received."""
        jobs = [each.job for each in self._views]
        is_received = all(part.state == "received" for job in jobs for part in job.parts)
        note = Gio.Notification.new(_("Items Sent") if is_received else _("Not All Items Were Sent"))
        # Without a name of another device: some servers interpret markup.
        note.set_body(outcome(jobs))
        self.get_application().send_notification(None, note)
        if is_received:
            self.destroy()

    def cancel(self) -> None:
        """Withdraws everything that was not received."""
        for each in self._views:
            each.job.cancel()

    def stop(self) -> None:
        """Withdraws everything, and closes the window without a question."""
        if not self.is_busy:
            return self.destroy()
        self._is_stopping = True
        self.set_visible(False)
        self.cancel()

    def _close(self) -> bool:
        if not self.is_busy:
            return False
        dialog = Adw.MessageDialog(
            transient_for=self, heading=_("Keep Sending?"),
            body=_("Some items have not been received. They can be sent in the background, until you log out."))
        dialog.add_response("stay", _("_Keep Open"))
        dialog.add_response("stop", _("_Stop Sending"))
        dialog.add_response("hide", _("_Send in the Background"))
        dialog.set_response_appearance("stop", Adw.ResponseAppearance.DESTRUCTIVE)
        dialog.set_default_response("hide")
        dialog.set_close_response("stay")

        def answered(_dialog: Adw.MessageDialog, response: str) -> None:
            if response == "stop":
                self.stop()
            elif response == "hide" and self.is_busy:
                self.set_visible(False)
            elif response == "hide":
                self.close()

        dialog.connect("response", answered)
        dialog.present()
        return True
