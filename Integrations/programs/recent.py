"""Offers the latest document of the programs that report their documents to the desktop, as most GTK and KDE programs do.

A document is offered for some hours after it was last opened or saved. A LibreOffice document is offered while it is open."""

import datetime
import os
import shlex
import time
import xml.parsers.expat

from gi.repository import Gio, GLib

import files

APP, TYPE = "dev.handoff1.documents", "dev.handoff1.document"
# Seconds since the last use of a document; seconds from 1970 to the beginning of dates in activities.
MAX_AGE, EPOCH = 8 * 3600, 978307200
# Delay in milliseconds after a change. Programs replace the file several times when they open a document.
DELAY = 500
# Maximum size of the list in bytes. The list of a user with thousands of documents has about 4 MB.
MAX_SIZE = 8 << 20
# Maximum number of documents that are searched on disk.
MAX_TRIED = 50
MAX_FOCUSED = 8
BOOKMARK = "http://www.freedesktop.org/standards/desktop-bookmarks "
# Programs whose documents readers.py offers while they are open, by the names of their executables.
READERS = {"okular", "zathura", "evince"}
# Programs that record documents which are not open in them: downloads, and files that were copied or chosen.
EXCLUDED = {"WebBrowser", "FileManager"}
OFFICE = {"soffice", "libreoffice"}


class Document:
    """An entry of the list. `program` is the name of the executable that used it last."""

    def __init__(self, uri, used):
        self.uri, self.used, self.program, self.name, self.is_private, self.program_used = uri, used, "", "", False, 0.0
        # The path and the desktop entry of the offer.
        self.path = self.entry = None


def seconds(text):
    """Returns the time of an ISO date in UTC, otherwise 0."""
    try:
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")[:40]).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def listed(data):
    """Returns the documents of a list. Raises `ExpatError` if it is incomplete or invalid."""
    found, parser = [], xml.parsers.expat.ParserCreate(namespace_separator=" ")

    def refuse(*_):
        raise xml.parsers.expat.ExpatError("entities are not supported")

    def start(tag, fields):
        if tag == "bookmark":
            found.append(Document(fields.get("href", ""), seconds(fields.get("modified", ""))))
        elif found and tag == BOOKMARK + "private":
            found[-1].is_private = True
        elif found and tag == BOOKMARK + "application":
            used = seconds(fields.get("modified", ""))
            if used >= found[-1].program_used:
                found[-1].program_used, found[-1].name = used, fields.get("name", "")
                found[-1].program = executable(fields.get("exec", ""))

    parser.StartElementHandler, parser.EntityDeclHandler = start, refuse
    parser.Parse(data, True)
    return found


def executable(command):
    """Returns the name of the program of a command, which is never run."""
    try:
        words = shlex.split(shlex.split(command[:1000])[0])
        return os.path.basename(words[0])
    except (ValueError, IndexError):
        return ""


def installed(document, kind):
    """Returns the desktop entry of the program that used a document, if it opens this type."""
    def file(name):
        path = GLib.find_program_in_path(name) if name and os.path.basename(name) not in files.WRAPPERS else None
        return path and os.path.realpath(path)

    program = file(document.program)
    for info in Gio.AppInfo.get_all_for_type(kind):
        if {document.program, document.name} & files.names_of(info) or program and program == file(info.get_executable()):
            return info
    return None


def lock_of(path):
    """Returns the path of the file by which LibreOffice marks a document that is open."""
    return os.path.join(os.path.dirname(path), f".~lock.{os.path.basename(path)}#")


def latest(path, focused):
    """Returns the document to offer, or None, and the latest URI of Evince, or None.

    The document is the latest one of the first of the `focused` programs (names) that has one, otherwise of all programs."""
    with open(path, "rb") as file:
        data = file.read(MAX_SIZE + 1)
    if len(data) > MAX_SIZE:
        raise ValueError(f"{path} is larger than {MAX_SIZE} bytes")
    now = time.time()
    # Allow one minute of difference to other clocks.
    fresh = [each for each in listed(data) if now - MAX_AGE < each.used < now + 60 and not each.is_private]
    fresh.sort(key=lambda each: -each.used)
    evince = next((each.uri for each in fresh if each.program == "evince"), None)
    found = []
    for document in fresh[:MAX_TRIED]:
        local = document.program not in READERS and files.path_of(document.uri)
        document.path = local and files.offered(local)
        document.entry = document.path and installed(document, files.document_type(document.path))
        if document.entry and not EXCLUDED & set((document.entry.get_categories() or "").split(";")):
            is_closed = document.program in OFFICE and os.access(os.path.dirname(document.path), os.W_OK)
            if not is_closed or os.path.exists(lock_of(document.path)):
                found.append(document)
                if not focused:
                    break

    def rank(document):
        names = {name.lower() for name in (document.program, *files.names_of(document.entry))}
        return next((index for index, each in enumerate(focused) if each & names), len(focused))

    return min(found, key=rank, default=None), evince


class Recent(files.Adapter):
    is_editing = True

    def __init__(self, bus, readers):
        super().__init__(bus, APP, TYPE)
        self.readers, self.activity, self.offered, self.lock = readers, None, (), None
        self.is_reading = self.is_changed = False
        self.timer = 0
        # The names of the programs that were focused, the most recent first.
        self.focused = []
        folder = GLib.get_user_data_dir()
        # GLib would poll for a missing folder every few seconds.
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.path = os.path.join(folder, "recently-used.xbel")
        self.monitor = self._watch(self.path)
        self._changed()

    def focus(self, names):
        """Offers the document of the focused program, if it has one."""
        self.focused = [names, *(each for each in self.focused if each != names)][:MAX_FOCUSED]
        self._changed()

    def _watch(self, path):
        monitor = Gio.File.new_for_path(path).monitor_file(Gio.FileMonitorFlags.WATCH_MOVES, None)
        monitor.connect("changed", lambda *_: self._changed())
        return monitor

    def _changed(self):
        if not self.timer:
            self.timer = GLib.timeout_add(DELAY, self._read)

    def _read(self):
        self.timer, self.is_changed = 0, True
        if not self.is_reading:
            self.is_reading, self.is_changed = True, False
            self.readers.refresh()
            focused = list(self.focused)
            files.background(lambda: latest(self.path, focused) if os.path.exists(self.path) else (None, None), self._found)
        return GLib.SOURCE_REMOVE

    def _found(self, found):
        self.is_reading = False
        if self.is_changed:
            self._changed()
        if not found:  # The list is incomplete or invalid. Keep the previous state.
            return
        document, evince = found
        if evince:
            self.readers.find_evince(evince)
        offered = (document.path, document.used) if document else ()
        if offered != self.offered:
            self.offered = offered
            self._offer(document)

    def _offer(self, document):
        if self.lock:
            self.lock.cancel()
        self.lock = None
        if document:
            if document.program in OFFICE:
                self.lock = self._watch(lock_of(document.path))
            self.activity = self.offer(
                self.activity, document.path, files.id_of(document.entry), document.entry.get_name(), needsSave=False,
                expirationDate=document.used + MAX_AGE - EPOCH)
        elif self.activity:
            self.end(self.activity)
            self.activity = None
