"""The common parts of readers and recent documents. Selects the files to offer and open, and the programs to use."""

import os
import re
import tempfile
import threading

from gi.repository import Gio, GLib

import handoff
import host
from handoff_locale import _

# Types of files that programs only read. Files of other types could be run. The list is the same as for received files.
FAMILIES = (
    "audio/", "font/", "image/", "video/", "application/vnd.oasis.opendocument.",
    "application/vnd.openxmlformats-officedocument.", "application/vnd.comicbook")
TYPES = set("""
    application/epub+zip application/geo+json application/gpx+xml application/json application/msword application/ogg
    application/oxps application/pdf application/rtf application/vnd.amazon.mobi8-ebook application/vnd.apple.keynote
    application/vnd.apple.numbers application/vnd.apple.pages application/vnd.ms-excel application/vnd.ms-powerpoint
    application/x-fictionbook+xml application/x-mobipocket-ebook application/x-subrip application/xhtml+xml application/xml
    text/calendar text/css text/csv text/html text/markdown text/plain text/richtext text/rtf text/tab-separated-values
    text/vcard text/x-bibtex text/x-chdr text/x-c++hdr text/x-c++src text/x-csrc text/x-log text/x-makefile text/x-patch
    text/x-readme text/x-tex text/xml""".split())
# The first bytes of programs, scripts and desktop entries.
PROGRAMS = (b"\x7fELF", b"MZ", b"#!", b"\xef\xbb\xbf#!", b"\xca\xfe\xba\xbe", b"L\0\0\0\x01\x14\x02\0", b"[Desktop Entry]")
# Folders with temporary or special files. Removable media are below /run/media.
PRIVATE = ("/tmp", "/var/tmp", "/dev", "/proc", "/sys", "/run", "/var/run")
MEDIA = "/run/media/"
# The options that select a page, counted from 1, by the last part of the id of the program.
PAGES = {"okular": ["--page", "{}"], "zathura": ["--page={}"], "evince": ["--page-index={}"]}
MAX_PAGE = 1_000_000
# Executables of desktop entries that start another program. For example, the entry of Emacs uses a shell.
WRAPPERS = {"bash", "env", "flatpak", "gjs", "java", "perl", "python3", "sh", "snap"}


def background(work, done):
    """Calls a function in a thread, because a disk or network folder can hang. `done` receives its result, or None."""
    def run():
        try:
            result = work()
        except Exception as error:
            host.log(f"{type(error).__name__}: {error}")
            result = None
        GLib.idle_add(lambda: done(result) and False)

    threading.Thread(target=run, daemon=True).start()


def document_type(path):
    """Returns the type of a regular file that is a document, otherwise None. Reads its first bytes."""
    try:
        if not os.path.isfile(path):
            return None
        # Otherwise the call would block if a pipe has replaced the file.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            start = file.read(4096)
    except (OSError, ValueError):
        return None
    # Also check the type that the name alone indicates, because programs may use the name.
    kinds = [Gio.content_type_guess(path, data)[0] for data in ((None, start) if start else (None,))]
    is_document = all(kind.startswith(FAMILIES) or kind in TYPES for kind in kinds)
    return kinds[-1] if is_document and not start.startswith(PROGRAMS) else None


def fetched_folder():
    """Returns the folder of copies of documents, which are deleted 14 days after their last change."""
    return os.path.realpath(os.path.join(GLib.get_user_cache_dir(), "handoff", "fetched")) + "/"


def offered(path):
    """Returns the path without links of a document that may be offered to other devices, otherwise None."""
    if not path.startswith("/") or "\0" in path or len(path) > 4096:
        return None
    real = os.path.realpath(path)
    # Offer documents that were fetched from other devices like those in the home folder.
    bases = fetched_folder(), os.path.realpath(os.path.expanduser("~")) + "/"
    for each in (path, real):
        base = next((base for base in (*bases, MEDIA) if each.startswith(base)), "")
        folders = () if base else (*PRIVATE, tempfile.gettempdir())
        if any(each.startswith(folder + "/") for folder in folders) or "/." in each[len(base) - 1 if base else 0:]:
            return None
    try:
        real.encode()  # The URL of a document is UTF-8.
    except UnicodeEncodeError:
        return None
    return real if document_type(real) else None


def is_page(page):
    return type(page) is int and 1 <= page <= MAX_PAGE


def path_of(uri):
    """Returns the path of a `file:` URI, otherwise None."""
    return Gio.File.new_for_uri(uri).get_path() if uri.startswith("file:///") and "\0" not in uri else None


def entry(id):
    """Returns an installed desktop entry, otherwise None."""
    try:
        return Gio.DesktopAppInfo.new(f"{id}.desktop") if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,200}", id) else None
    except TypeError:
        return None


def id_of(info):
    return info.get_id().removesuffix(".desktop")


def names_of(info):
    """Returns the possible names of a program: its executable, its desktop entry, and the last part of that entry."""
    id, executable = id_of(info), os.path.basename(info.get_executable() or "")
    return {id, id.rpartition(".")[2].lower(), id if executable in WRAPPERS else executable} - {""}


def chosen(app, kind):
    """Returns the desktop entry with this id if it opens documents of this type, otherwise the default, or None."""
    info = entry(app)
    if info:
        readers = names_of(info) & PAGES.keys()  # Some have a separate entry for each type.
        for each in Gio.AppInfo.get_all_for_type(kind):
            if each.get_id() == info.get_id() or readers & names_of(each):
                return info
    return Gio.AppInfo.get_default_for_type(kind, False)


def command(info, path, page):
    """Returns the command of a desktop entry that opens a file, at a page if the program can."""
    options = [option.format(page) for name in names_of(info) & PAGES.keys() if page for option in PAGES[name]]
    if not options:
        return ["gio", "launch", info.get_filename(), path]
    words, uri = [], Gio.File.new_for_path(path).get_uri()
    for word in GLib.shell_parse_argv(info.get_commandline())[1]:
        if word.startswith(("@", "%")):  # The file, or Flatpak's marker before it.
            words, options = [*words, *options], []
        if word in ("%u", "%U", "%f", "%F"):
            words.append(uri if word in ("%u", "%U") else path)
        elif not word.startswith("%"):
            words.append(word)
    return [*words, *options, path] if options else words


class Adapter:
    """An app that publishes documents of one type, and continues those of other devices."""

    # True if its programs can change documents.
    is_editing = False

    def __init__(self, bus, app, type):
        self.bus, self.type = bus, type
        self.app = host.attach(app, [type], on_continue=self._continue, on_event=self._event)

    def offer(self, activity, path, app, name, method="Update", initial=None, **fields):
        """Publishes or changes the activity of a document. `app` is the id of its program. `name` is its display name.
        `initial` has more fields of a new activity."""
        fields["title"] = f"{name[:100]}: {os.path.basename(path)}"
        document = {"$url": Gio.File.new_for_path(path).get_uri()}
        fields["userInfo"] = {"document": document, "app": app, **fields.get("userInfo", {})}
        if activity and activity.path != path and method == "Update":
            # Other devices could fetch the former document of this activity, too.
            self.end(activity)
            activity = None
        try:
            if activity:
                activity.update(method, **fields)
            else:
                activity = self.app.publish(self.type, **fields, **(initial or {}))
            activity.path = path
            if method == "Update":
                activity.become_current()
        except handoff.Refused as error:
            host.log(f"cannot offer a document: {error}")
        return activity

    def end(self, activity):
        """Ends an activity. Fetches of its document that are in progress still complete."""
        try:
            activity.ask("Invalidate", keepStreams=True)
        except handoff.Refused as error:
            host.log(str(error))
        self.app.activities = [each for each in self.app.activities if each is not activity]

    def _event(self, event):
        pass

    def _continue(self, content, continuation):
        info = content.get("userInfo") or {}
        document, app, page = (info.get(key) for key in ("document", "app", "page"))
        url = document.get("$url") if isinstance(document, dict) else None
        if not isinstance(url, str) or not url.startswith("handoff-document:"):
            return False
        app, page = app if isinstance(app, str) else "", page if is_page(page) else None
        name = content.get("title") or _("a document")
        host.fetch(url, continuation, lambda path, error: self._fetched(name, path, error, app, page))

    def _fetched(self, name, path, error, app, page):
        def failed(error):
            if error:
                host.report(self.bus, _("Cannot open {document}").format(document=handoff.visible(name)), error)

        def started(error):
            failed(error)
            if not error and self.is_editing and os.path.realpath(path).startswith(fetched_folder()):
                # Otherwise its changes would be lost.
                host.report(self.bus, _("{document} is a copy").format(document=handoff.visible(name)),
                            _("Save it under another name to keep your changes."))

        def typed(kind):
            info = kind and chosen(app, kind)
            if not kind:
                failed(_("The file is not a document. Programs and scripts are not opened."))
            elif not info:
                failed(_("No program opens files of the type {type}.").format(type=kind))
            else:
                host.start(self.bus, id_of(info), command(info, path, page), started)

        failed(error) if error else background(lambda: document_type(path), typed)
