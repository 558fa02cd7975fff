"""Readers: offers the most recently opened document of Okular, zathura, Evince or Foliate. Okular and zathura report the page.

Okular and zathura send no notifications about pages and documents, so both are read when another device continues the activity.
The document is also read after the start of the program and after a change of the recent documents."""

import json
import os
import re
import urllib.parse

from gi.repository import Gio, GLib

import files
import host

APP, TYPE = "dev.handoff1.readers", "dev.handoff1.reading"
BUS = "org.freedesktop.DBus"
# Milliseconds after the start of a program at which its document is read, until it has one.
ATTEMPTS = (100, 400, 1500, 4000, 15_000)
# Timeout in milliseconds for each call while the daemon waits for the state. The daemon waits for one second in total.
TIMEOUT = 300
MAX_OPEN = 64
# The state is read only when another device continues the activity.
SAVES = {"savesOnContinue": True}


class Reader:
    """A program with a document. `id` is that of its desktop entry."""

    def __init__(self, readers, bus_name):
        self.readers, self.bus_name, self.activity = readers, bus_name, None
        # The path that the program has reported, and the path of the offered document.
        self.path = self.document = None
        # True if it had no document at the last read. True if it is read again for this reason.
        self.is_empty, self.is_awaited = True, False
        self.pid = 0
        host.call(readers.bus, BUS, "/org/freedesktop/DBus", BUS, "GetConnectionUnixProcessID", GLib.Variant("(s)", (bus_name,)),
                  lambda values, _: setattr(self, "pid", values[0] if values else 0))

    def call(self, path, interface, method, arguments, kind, done):
        """Calls a method. `done` receives the returned value if it is of this kind, otherwise None."""
        def replied(values, _error):
            value = values[0] if values else None
            done(value if isinstance(value, kind) else None)

        host.call(self.readers.bus, self.bus_name, path, interface, method, arguments, replied, TIMEOUT)

    def state(self, done):
        """Passes the path of the document (empty without a document, None without a reply), and its page (from 1) or None."""
        raise NotImplementedError

    def end(self):
        if self.activity:
            self.readers.end(self.activity)
        self.activity = None

    def close(self):
        self.end()


class Okular(Reader):
    id, pattern, namespace = "org.kde.okular", r"org\.kde\.okular-\d+", "org.kde"

    def state(self, done):
        # Each tab is a part: /okular, /okular2 and so on. The window has the title of the current tab.
        def parts(text):
            found = re.findall(r'<node name="(okular\d*)"', text or "")[:MAX_OPEN]
            self._document(found[::-1], None, done)

        self.call("/", "org.freedesktop.DBus.Introspectable", "Introspect", None, str, parts)

    def _document(self, parts, window, done):
        def titled(text):
            self._document(parts, text or "", done)

        def named(path):
            if len(parts) > 1 and (not path or os.path.basename(path) not in window):
                return self._document(parts[1:], window, done)
            self.call(f"/{parts[0]}", "org.kde.okular", "currentPage", None, int, lambda page: done(path, page))

        if not parts:
            done(None, None)
        elif len(parts) > 1 and window is None:
            self.call("/okular/okular__Shell_1", "org.freedesktop.DBus.Properties", "Get",
                      GLib.Variant("(ss)", ("org.qtproject.Qt.QWidget", "windowTitle")), str, titled)
        else:
            self.call(f"/{parts[0]}", "org.kde.okular", "currentDocument", None, str, named)


class Zathura(Reader):
    id, pattern, namespace = "org.pwmt.zathura", r"org\.pwmt\.zathura\.PID-\d+", "org.pwmt.zathura"

    def state(self, done):
        def read(values):
            path, page = ((values or {}).get(key) for key in ("filename", "pagenumber"))
            done(None if values is None else path or "", page + 1 if isinstance(page, int) else None)

        self.call("/org/pwmt/zathura", "org.freedesktop.DBus.Properties", "GetAll",
                  GLib.Variant("(s)", ("org.pwmt.zathura",)), dict, read)


class Evince(Reader):
    """A process of Evince, with one document. Evince has no interface for the page."""

    id, loaded, watch = "org.gnome.Evince", None, 0

    def state(self, done):
        done(self.loaded or "", None)

    def close(self):
        super().close()
        self.readers.bus.signal_unsubscribe(self.watch)


class Foliate(Reader):
    """Foliate. It writes the file of a book when the book is opened and at each new location. It cannot open a location."""

    id = pattern = namespace = "com.github.johnfactotum.Foliate"
    monitor = None

    def state(self, done):
        folder = os.path.join(GLib.get_user_data_dir(), self.id)
        if not self.monitor and os.path.isdir(folder):
            self.monitor = Gio.File.new_for_path(folder).monitor_directory(Gio.FileMonitorFlags.NONE, None)
            self.monitor.connect("changed", lambda *_: self.readers.read(self))
        files.background(lambda: self._latest(folder), lambda path: done(path, None))

    def close(self):
        super().close()
        if self.monitor:
            self.monitor.cancel()

    @staticmethod
    def _latest(folder):
        try:
            books = [each for each in os.scandir(folder) if each.name.endswith(".json") and each.is_file()]
            latest = max((each.stat().st_mtime, each.name) for each in books)[1]
            with open(os.path.join(folder, "library", "uri-store.json"), "rb") as file:
                uris = dict(json.loads(file.read(1 << 24))["uris"])
        except (FileNotFoundError, ValueError):  # Foliate has never run before, or is writing the file.
            return ""
        return files.path_of(uris.get(urllib.parse.unquote(latest[:-5])) or "") or ""


class Readers(files.Adapter):
    def __init__(self, bus):
        super().__init__(bus, APP, TYPE)
        # The programs by their names on the bus, in the order in which their documents were opened.
        self.open = {}
        for kind in (Okular, Zathura, Foliate):
            self._subscribe(BUS, BUS, "NameOwnerChanged", kind.namespace, self._owner_changed,
                            Gio.DBusSignalFlags.MATCH_ARG0_NAMESPACE)
        for member in ("DocumentLoaded", "Closed"):
            self._subscribe(None, "org.gnome.evince.Window", member, None, self._evince)
        host.call(bus, BUS, "/org/freedesktop/DBus", BUS, "ListNames", None,
                  lambda values, _: [self._started(name) for name in (values[0] if values else ())])

    def refresh(self):
        """Reads the documents again, because the programs may have opened other documents."""
        for reader in list(self.open.values()):
            self.read(reader)

    def find_evince(self, uri):
        """Finds the Evince process that has opened this document, possibly before this program was started."""
        def found(values, _):
            if values and values[0].startswith(":"):
                self._evince_loaded(values[0], uri)

        name = "org.gnome.evince.Daemon"
        host.call(self.bus, name, "/org/gnome/evince/Daemon", name, "FindDocument", GLib.Variant("(sb)", (uri, False)), found)

    def focus(self, pid):
        """Offers the document of the focused program."""
        reader = next((each for each in self.open.values() if pid and each.pid == pid), None)
        if reader and reader is not next(reversed(self.open.values())):
            self.open[reader.bus_name] = self.open.pop(reader.bus_name)
            self._offer_last()

    # ---- Bus -------------------------------------------------------------------------------------------------------

    def _subscribe(self, sender, interface, member, argument, done, flags=Gio.DBusSignalFlags.NONE):
        return self.bus.signal_subscribe(sender, interface, member, None, argument, flags,
                                         lambda _, sender, *words: done(sender, words[2], words[3].unpack()))

    def _owner_changed(self, _sender, _member, arguments):
        name, old, new = arguments
        if old:
            self._closed(name)
        if new:
            self._started(name)

    def _started(self, name):
        kind = next((each for each in (Okular, Zathura, Foliate) if re.fullmatch(each.pattern, name)), None)
        if kind and name not in self.open and len(self.open) < MAX_OPEN:
            self.open[name] = kind(self, name)
            self._await(self.open[name])

    def _await(self, reader, attempts=ATTEMPTS):
        """Reads a program repeatedly until it has a document, while it starts or loads another document."""
        def attempt():
            if reader.is_empty and self.open.get(reader.bus_name) is reader:
                self.read(reader, is_last=len(attempts) == 1)
                self._await(reader, attempts[1:])
            else:
                reader.is_awaited = False

        reader.is_awaited = bool(attempts)
        if attempts:
            GLib.timeout_add(attempts[0], lambda: attempt() and False)

    def _evince(self, sender, member, arguments):
        if member == "DocumentLoaded" and len(arguments) == 1:
            self._evince_loaded(sender, arguments[0])
        elif member == "Closed":
            self._closed(sender)

    def _evince_loaded(self, sender, uri):
        if sender not in self.open and len(self.open) < MAX_OPEN:
            reader = self.open[sender] = Evince(self, sender)
            reader.watch = self._subscribe(BUS, BUS, "NameOwnerChanged", sender, lambda *_: self._closed(sender))
        if sender in self.open:
            self.open[sender].loaded = files.path_of(str(uri))
            self.read(self.open[sender])

    def _closed(self, name):
        reader = self.open.pop(name, None)
        if reader:
            reader.close()
            self._offer_last()

    # ---- Activities ------------------------------------------------------------------------------------------------

    def _offer_last(self):
        activities = [each.activity for each in self.open.values() if each.activity]
        if activities:
            activities[-1].become_current()

    def read(self, reader, method="Update", is_last=False):
        """Offers the document of a program if it has changed. With another method, also offers an unchanged document."""
        def got(path, page):
            if isinstance(path, str):
                reader.is_empty = not path
            # Without a reply, or while the program loads a document, offer the previous document.
            is_between = path == "" and reader.document and not is_last
            if is_between and not reader.is_awaited:
                self._await(reader)
            if not isinstance(path, str) or path == reader.path or is_between:
                return method == "Update" or offer(reader.path, reader.document, page)
            files.background(lambda: files.offered(path.removeprefix("file://")), lambda real: offer(path, real, page))

        def offer(path, document, page):
            if self.open.get(reader.bus_name) is not reader:
                return
            is_other, reader.path, reader.document = path != reader.path, path, document
            if document:
                if is_other:
                    self.open[reader.bus_name] = self.open.pop(reader.bus_name)
                entry = files.entry(reader.id)
                reader.activity = self.offer(
                    reader.activity, document, reader.id, entry.get_name() if entry else reader.id, method,
                    initial=SAVES, needsSave=True, userInfo={"page": page} if files.is_page(page) else {})
            elif reader.activity:
                reader.end()
                self._offer_last()

        reader.state(got)

    def _event(self, event):
        for reader in self.open.values():
            if reader.activity and reader.activity.id == event.get("activity") and event.get("event") == "save":
                return self.read(reader, "AnswerSave")
