"""The rows of the window that sends: devices, items, and the progress at a device."""

from typing import Callable, Optional

from gi.repository import GLib, Gtk
from handoff_locale import _, ngettext

from . import values
from .devices import state_of
from .sending import Item, Job, Part
from .texts import span, visible
from .widgets import MARGIN, Row, Rows, icon_button, name, show_kind

# More rows are not shown, because creating them takes time.
MAX_ROWS = 100
_STATES = {
    "starting": _("Starting"), "offered": _("Waiting"), "accepted": _("Accepted"), "sending": _("Sending"),
    "interrupted": _("Interrupted"), "received": _("Received"), "declined": _("Declined"), "failed": _("Not sent"),
    "withdrawn": _("Withdrawn"), "kept": _("Kept until accepted"),
}
_COUNTS = {
    "starting": lambda count: ngettext("{count} starting", "{count} starting", count),
    "offered": lambda count: ngettext("{count} waiting", "{count} waiting", count),
    "accepted": lambda count: ngettext("{count} accepted", "{count} accepted", count),
    "sending": lambda count: ngettext("{count} sending", "{count} sending", count),
    "interrupted": lambda count: ngettext("{count} interrupted", "{count} interrupted", count),
    "received": lambda count: ngettext("{count} received", "{count} received", count),
    "declined": lambda count: ngettext("{count} declined", "{count} declined", count),
    "failed": lambda count: ngettext("{count} not sent", "{count} not sent", count),
    "withdrawn": lambda count: ngettext("{count} withdrawn", "{count} withdrawn", count),
    "kept": lambda count: ngettext("{count} kept until accepted", "{count} kept until accepted", count),
}
_ICONS = {
    "received": "emblem-ok-symbolic", "declined": "action-unavailable-symbolic", "failed": "dialog-error-symbolic",
    "withdrawn": "action-unavailable-symbolic", "interrupted": "dialog-warning-symbolic",
    "sending": "document-send-symbolic",
}
_MAX_SECONDS = 360_000


class RecipientRow(Row):
    """A device that can be chosen."""

    def __init__(self, toggled: Callable[[str, bool], None]) -> None:
        super().__init__()
        self._device: Optional[values.Device] = None
        self._icon = Gtk.Image()
        self._check = Gtk.CheckButton(valign=Gtk.Align.CENTER)
        self.add_prefix(self._icon)
        self.add_prefix(self._check)
        self.set_activatable_widget(self._check)
        self._check.connect("toggled", lambda check: toggled(self._device.id, check.get_active()))

    def show_device(self, device: values.Device, is_chosen: bool) -> None:
        self._device = device
        show_kind(self._icon, device.kind)
        self.show(visible(device.label), "  ·  ".join(state_of(device)))
        name(self._check, _("Send to {device}").format(device=visible(device.label)))
        self._check.set_active(is_chosen)


class ItemRow(Row):
    """An item that can be removed."""

    def __init__(self, item: Item, remove: Callable[[str], None]) -> None:
        super().__init__()
        self._icon = Gtk.Image(accessible_role=Gtk.AccessibleRole.PRESENTATION)
        self.add_prefix(self._icon)
        self._remove = icon_button("list-remove-symbolic", _("Remove"), lambda: remove(item.uri))
        self.add_suffix(self._remove)

    def show_item(self, item: Item) -> None:
        kind = "folder" if item.is_folder else "web-browser" if item.is_page else "text-x-generic"
        self._icon.set_from_icon_name("dialog-error-symbolic" if item.problem else f"{kind}-symbolic")
        size = _("Folder") if item.is_folder else _("Page") if item.is_page else ""
        if item.size is not None:
            size = GLib.format_size(item.size)
        self.show(visible(item.title), visible(item.problem, 1000) or size)
        name(self._remove, _("Remove {item}").format(item=visible(item.title)))


class PartRow(Row):
    """The outcome of an item at a device."""

    def __init__(self) -> None:
        super().__init__()
        self._icon = Gtk.Image(accessible_role=Gtk.AccessibleRole.PRESENTATION)
        self.add_prefix(self._icon)

    def show_part(self, part: Part) -> None:
        self._icon.set_from_icon_name(_ICONS.get(part.state, "content-loading-symbolic"))
        words = _STATES[part.state]
        if part.state == "sending" and part.total:
            words = _amount(part.sent, part.total)
        elif part.state == "sending":
            words = _amount(part.sent)
        self.show(visible(part.title), words + (f": {visible(part.detail, 1000)}" if part.detail else ""))


class JobView(Gtk.Box):
    """The progress and the outcomes at one device."""

    def __init__(self, job: Job, device: values.Device) -> None:
        super().__init__(orientation=Gtk.Orientation.VERTICAL, spacing=MARGIN)
        self.job, self._device = job, device
        shown = visible(device.label)
        self._row = Row()
        icon = Gtk.Image()
        show_kind(icon, device.kind)
        self._row.add_prefix(icon)
        self._cancel = icon_button("process-stop-symbolic", _("Cancel sending to {device}").format(device=shown), job.cancel)
        self._row.add_suffix(self._cancel)
        self._bar = Gtk.ProgressBar()
        name(self._bar, _("Sent to {device}").format(device=shown))
        self._parts = Rows(lambda _: PartRow(), lambda row, part: row.show_part(part))
        first = Gtk.ListBox(selection_mode=Gtk.SelectionMode.NONE)
        first.add_css_class("boxed-list")
        first.append(self._row)
        for each in (first, self._bar, self._parts):
            self.append(each)

    def refresh(self, device: Optional[values.Device], hold: str) -> None:
        """Shows the state of the job. `hold` is the reason why this device offers nothing."""
        job = self.job
        self._device = device or self._device
        self._row.show(visible(self._device.label), self._words(hold))
        sent, total = job.progress
        self._bar.set_visible(not job.is_over)
        over = sum(each.is_over for each in job.parts)
        self._bar.set_fraction(min(1.0, sent / total) if total else over / len(job.parts))
        self._cancel.set_visible(not job.is_over)
        # Failures first, because the list may be cut.
        parts = sorted(job.parts, key=lambda each: each.state not in ("failed", "declined", "interrupted"))
        self._parts.show_all((id(each), each) for each in parts[:MAX_ROWS])

    def _words(self, hold: str) -> str:
        job = self.job
        if job.is_over:
            return outcome([job])
        if job.count("sending"):
            sent, total = job.progress
            words = [_amount(sent, total)]
            if job.meter.rate >= 1:
                words.append(_("{size}/s").format(size=GLib.format_size(int(job.meter.rate))))
                left = max(0, total - sent) / job.meter.rate if total else _MAX_SECONDS
                if left < _MAX_SECONDS:
                    words.append(_("{time} left").format(time=span(int(left))))
            return "  ·  ".join(words)
        if hold:
            return hold
        if not self._device.online:
            return _("Offline. The items are offered when it is online.")
        if job.count("interrupted"):
            return _("Interrupted. Sending resumes when the device requests it again.")
        if job.count("offered"):
            return _("Waiting until they are accepted there")
        return _STATES["accepted" if job.count("accepted") else "starting"]


def outcome(jobs: list[Job]) -> str:
    """Returns the number of items by their state, in one line."""
    counts = ((sum(each.count(state) for each in jobs), words) for state, words in _COUNTS.items())
    return ", ".join(words(count).format(count=count) for count, words in counts if count)


def _amount(sent: int, total: Optional[int] = None) -> str:
    if not total:
        return _("{size} sent").format(size=GLib.format_size(sent))
    return _("{part} of {whole}").format(part=GLib.format_size(sent), whole=GLib.format_size(total))
