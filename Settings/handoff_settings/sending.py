"""Items to send, and the process of `handoffctl send` for each device. No widgets."""

import os
from collections import deque
from typing import Callable, Optional

from gi.repository import Gio, GLib
from handoff_locale import _, ngettext

from .process import Process

# The maximum number of items that `handoffctl send` offers individually. More files are one transfer.
MAX_SEPARATE = 32
# The maximum length of a text in bytes. The system limits an argument of a program to 128 KiB.
MAX_TEXT = 100_000
# The activity type of offers whose content is streamed.
_CONTENT = "dev.handoff1.content"
_FINAL = ("received", "declined", "failed", "withdrawn", "kept")
# The time in seconds over which a rate is measured, and the minimum.
_WINDOW, _MIN_WINDOW = 5.0, 0.5


class Item:
    """A file, a folder or a page. `problem` is the reason why it cannot be sent, if it is known."""

    def __init__(self, uri: str) -> None:
        self._file = Gio.File.new_for_uri(uri)
        self.uri = self._file.get_uri()
        self.is_page = self._file.get_uri_scheme() in ("http", "https")
        self.path: Optional[bytes] = None
        self.title = uri.encode("utf-8", "replace").decode()
        self.is_folder = False
        self.size: Optional[int] = None
        self.problem = "" if self.is_page else (
            _("This location is not available as a local file. Copy the item to this device first."))
        if not self.is_page:
            self._locate(self._file)

    def _locate(self, file: Gio.File) -> None:
        """Uses a file if it is in the file system, as a mounted remote location can be."""
        path = file.get_path()
        if path is not None:
            self._file, self.path, self.problem = file, os.fsencode(path), ""
            self.title = (os.path.basename(self.path) or self.path).decode("utf-8", "replace")

    @property
    def argument(self) -> bytes:
        """The argument of `handoffctl send`."""
        return self.path if self.path else self.uri.encode()

    def check(self, done: Callable[[], None]) -> None:
        """Reads the type and size without blocking, which can take long in a network folder."""
        if self.is_page:
            return done()

        def located(file: Gio.File, result: Gio.AsyncResult) -> None:
            try:
                target = file.query_info_finish(result).get_attribute_string("standard::target-uri")
            except GLib.Error as error:
                target = None
                if error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.NOT_FOUND):
                    self.problem = _("It does not exist.")
            if target:
                self._locate(Gio.File.new_for_uri(target))
            query() if self.path else done()

        def checked(file: Gio.File, result: Gio.AsyncResult) -> None:
            self.problem = self._read(file, result)
            done()

        def query(attributes: str = "standard::type,standard::size,access::can-read", then: Callable = checked) -> None:
            self._file.query_info_async(attributes, Gio.FileQueryInfoFlags.NONE, GLib.PRIORITY_DEFAULT, None, then)

        if self.path:
            query()
        else:
            # Files in the trash and recent files are elsewhere in the file system.
            query("standard::target-uri", located)

    def _read(self, file: Gio.File, result: Gio.AsyncResult) -> str:
        try:
            info = file.query_info_finish(result)
        except GLib.Error as error:
            if not error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.NOT_FOUND):
                return error.message
            # Dolphin replaces bytes that are not UTF-8 in the names of files that it passes to programs.
            return _("It does not exist.") if "\ufffd" not in file.get_uri() and "%EF%BF%BD" not in self.uri else (
                _("It does not exist under this name. The file manager does not support names that are not UTF-8."))
        kind = info.get_file_type()
        self.is_folder = kind == Gio.FileType.DIRECTORY
        if kind not in (Gio.FileType.DIRECTORY, Gio.FileType.REGULAR):
            return _("It is neither a file nor a folder.")
        self.size = None if self.is_folder else info.get_size()
        may_read = info.get_attribute_boolean("access::can-read") or not info.has_attribute("access::can-read")
        return "" if may_read else _("You do not have permission to read it.")


def check_all(items: list[Item], done: Callable[[], None]) -> None:
    """Checks items, and calls `done` once afterwards."""
    left = len(items)

    def checked() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            done()

    for each in items:
        each.check(checked)
    if not items:
        done()


class Part:
    """One of the offers to a device: an item, the text, or all files together.

    `state` is `starting`, `offered`, `accepted`, `sending`, `interrupted`, or final: `received`, `declined`, `failed`,
    `withdrawn`, `kept`. `detail` is the reason, for display.
    """

    def __init__(self, title: str, total: Optional[int] = None, problem: str = "") -> None:
        self.title, self.total, self.sent = title, total, 0
        self.state, self.detail = ("failed", problem) if problem else ("starting", "")
        # The activity, and the number of its publication at this device.
        self.activity, self.number = "", 0
        self.is_streamed = True

    @property
    def is_over(self) -> bool:
        return self.state in _FINAL

    def enter(self, state: str, detail: str = "") -> None:
        """Sets the state."""
        self.state, self.detail = state, detail


class Meter:
    """Measures a rate over the last seconds."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()

    def add(self, position: int, now: float) -> None:
        """Adds a sample. A position below the last one restarts the measurement."""
        if self._samples and self._samples[-1][1] > position:
            self._samples.clear()
        self._samples.append((now, position))
        # Keeps one sample from before the window, so that there is always an interval.
        while len(self._samples) > 2 and now - self._samples[1][0] >= _WINDOW:
            self._samples.popleft()

    @property
    def rate(self) -> float:
        """The number of bytes per second; 0 if it is unknown."""
        if not self._samples or self._samples[-1][0] - self._samples[0][0] < _MIN_WINDOW:
            return 0.0
        (start, first), (end, last) = self._samples[0], self._samples[-1]
        return (last - first) / (end - start)


class Job:
    """Sends items to one device by a process, which also resumes after the daemon or the device was restarted.

    `changed` is called after each change, and the last time when the process has ended. With `is_kept`, the process
    ends immediately, and a service offers the items.
    """

    def __init__(
        self, device: str, text: str, items: list[Item], changed: Callable[[], None], is_kept: bool = False
    ) -> None:
        self.device, self._changed, self._is_kept = device, changed, is_kept
        good = [each for each in items if not each.problem]
        self._words = [b"handoffctl", b"--json", b"send", device.encode("utf-8", "replace")]
        if is_kept:
            self._words.append(b"--wait")
        if text:
            self._words.append(b"--text=" + text.encode("utf-8", "replace"))
        self.parts = [Part(_("Text"), len(text.encode("utf-8", "replace")))] if text else []
        files = [each for each in good if each.path]
        self._input: Optional[bytes] = None
        if len(good) + bool(text) > MAX_SEPARATE and files:
            # The system limits the length of all arguments.
            self._input = b"".join(each.argument + b"\0" for each in files)
            self._words.append(b"--files0-from=-")
            good = [each for each in good if not each.path]
        self._words += [b"--", *(each.argument for each in good)]
        self.parts += [Part(each.title, each.size) for each in good]
        if self._input:
            has_folder = any(each.is_folder for each in files)
            total = None if has_folder else sum(each.size or 0 for each in files)
            title = ngettext("{count} item", "{count} items", len(files)) if has_folder else ngettext(
                "{count} file", "{count} files", len(files))
            self.parts.append(Part(title.format(count=len(files)), total))
        self.parts += [Part(each.title, problem=each.problem) for each in items if each.problem]
        self.meter = Meter()
        self.is_over = False
        self._process: Optional[Process] = None
        self._is_cancelled = False
        self._error = ""
        self._count = 0

    def start(self) -> None:
        """Starts the process."""
        try:
            self._process = Process(self._words, self._took_event, self._took_error, self._ended, self._input)
        except GLib.Error as error:
            self._end(False, _("handoffctl cannot be started: {error}").format(error=error.message))

    def cancel(self) -> None:
        """Withdraws everything that was not received. A second call does not wait for the daemon."""
        if self._process and not self.is_over:
            if self._is_cancelled:
                self._process.kill()
            else:
                self._process.interrupt()
            self._is_cancelled = True

    @property
    def progress(self) -> tuple[int, Optional[int]]:
        """The number of bytes sent, and the total number if it is known."""
        parts = [each for each in self.parts if each.is_streamed and each.state not in _FINAL[1:]]
        totals = [each.total for each in parts]
        return sum(each.sent for each in parts), None if None in totals else sum(totals)

    def count(self, *states: str) -> int:
        """Returns the number of parts in any of these states."""
        return sum(each.state in states for each in self.parts)

    # ---- The process -------------------------------------------------------------------------------------------------

    def _ended(self, status: Optional[int]) -> None:
        self._end(status == 0, self._error or (
            _("handoffctl was ended by a signal") if status is None else
            _("{program} exited with status {status}").format(program="handoffctl", status=status)))

    def _end(self, is_success: bool, error: str) -> None:
        self.is_over = True
        for part in self.parts:
            if part.is_over:
                continue
            # The exit status is 0 after a withdrawal too.
            if self._is_cancelled:
                part.enter("withdrawn")
            elif is_success:
                part.enter("kept" if self._is_kept else "received")
            else:
                part.enter("failed", error)
        self._changed()

    def _took_error(self, fields: dict) -> None:
        # Other lines are notes for terminals.
        if "error" in fields:
            self._error = _text(fields, "message")

    def _took_event(self, fields: dict) -> None:
        event, activity = fields.get("event"), _text(fields, "id")
        if event == "published":
            part = self._next(_text(fields, "title"))
            if part:
                self._count += 1
                part.activity, part.number = activity, self._count
                part.is_streamed = fields.get("type") == _CONTENT
                part.enter("offered")
        elif event == "waiting":
            # It is stored, and is sent even if the process is ended now. In their order.
            part = next((each for each in self.parts if not each.is_over), None)
            if part:
                part.enter("kept")
        else:
            part = next((each for each in self.parts if each.activity and each.activity == activity), None)
            if part and not part.is_over:
                self._update(part, str(event), fields)
        self._changed()

    def _next(self, title: str) -> Optional[Part]:
        """Returns the part that was published: in their order, and again, with other ids, after a restart of the
        daemon."""
        left = [each for each in self.parts if not each.is_over]
        named = [each for each in left if each.title == title]
        return min(named or left, key=lambda each: each.number, default=None)

    def _update(self, part: Part, event: str, fields: dict) -> None:
        state = fields.get("state")
        if event == "continued":
            part.enter("accepted" if part.is_streamed else "received")
        elif event == "declined":
            part.enter("declined")
        elif event == "progress":
            self._move(part, fields.get("sent"), fields.get("total"))
        elif event == "stream" and state == "started":
            self._move(part, fields.get("from"), fields.get("size"))
        elif event == "stream" and state == "failed":
            part.enter("interrupted", _text(fields, "message"))
            self.meter = Meter()
        elif event == "stream" and state == "finished":
            missing = _count(fields.get("missing"))
            part.enter("received", ngettext(
                "without {count} of its entries", "without {count} of its entries", missing
            ).format(count=missing) if missing else "")
            part.sent = part.total = _count(fields.get("bytes")) or part.sent

    def _move(self, part: Part, sent: object, total: object) -> None:
        part.enter("sending")
        part.sent = _count(sent) or 0
        known = _count(total)
        part.total = part.total if known is None else max(known, part.sent)
        self.meter.add(self.progress[0], GLib.get_monotonic_time() / 1e6)


def _text(fields: dict, key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _count(value: object) -> Optional[int]:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
