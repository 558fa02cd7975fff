#!/usr/bin/env python3
"""Documents that continue in the readers and programs of another device: the real ones, on two session buses and screens."""

import datetime
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import time
import urllib.parse

from harness import ROOT, content, expect, main, run, test
from notifications import BusClient, NotificationServer, Writer
from readers_stage import PYTHON, Device, book, letter, pdf

# Prints the path of the document to offer when these programs were in front.
LATEST = f"""
import json, os, sys
sys.path[:0] = {[os.path.join(ROOT, "Integrations", each) for each in ("programs", "python")]}
import recent
found, _ = recent.latest(os.path.expanduser("~/.local/share/recently-used.xbel"), list(map(set, json.loads(sys.argv[1]))))
print(found.path, end="")
"""
OKULAR, ZATHURA = r"org\.kde\.okular-\d+", r"org\.pwmt\.zathura\.PID-\d+"


def devices(stage, **more):
    origin, taker = (Device(stage, daemon, **more) for daemon in stage.pair())
    return origin.service(), taker.service()


def okular(device, method, *arguments):
    """Calls a method of all windows. Returns the replies."""
    return [device.call(name, "/okular", f"org.kde.okular.{method}", *arguments) for name in device.names(OKULAR)]


def zathura(device):
    """Returns the documents and pages, from 0, of all windows."""
    interface, path = "org.pwmt.zathura", "/org/pwmt/zathura"
    replies = [device.call(name, path, "org.freedesktop.DBus.Properties.GetAll", interface) for name in device.names(ZATHURA)]
    found = [re.search(r"'filename': <'(.*?)'>, 'pagenumber': <(?:uint32 )?(\d+)>", reply) for reply in replies]
    return [(os.path.basename(match[1]), int(match[2])) for match in found if match]


@test("Okular and zathura open at the page that the other device shows when it is continued, and the offer ends with the window",
      limit=150)
def pages(stage):
    origin, taker = devices(stage)
    path, other = origin.file("a book.pdf", pdf(30)), origin.file("two.pdf", pdf(9))
    origin.setting("okularpartrc", "[General]\nShellOpenFileInTabs=true\n")
    window = origin.start("okular", path)
    identifier = taker.offered("Okular: a book.pdf")
    # After the offer: the page is read when the document is continued.
    okular(origin, "goToPage", "12")
    taker.daemon.ctl("continue", identifier)
    taker.until("page 12", lambda: okular(taker, "currentPage") == ["(uint32 12,)"])
    copy = taker.fetched("a book.pdf")
    expect(okular(taker, "currentDocument") == [f"('{copy}',)"], f"not the copy {copy}: {okular(taker, 'currentDocument')}")
    # The same activity again, at another page.
    okular(origin, "goToPage", "30")
    taker.daemon.ctl("continue", identifier)
    taker.until("page 30", lambda: "(uint32 30,)" in okular(taker, "currentPage"))
    # Another tab of the same window, which Okular does not announce.
    (name,) = origin.names(OKULAR)
    origin.call(name, "/okularshell", "org.kde.okular.openDocument", pathlib.Path(other).as_uri())
    origin.until("two tabs", lambda: origin.call(name, "/okular2", "org.kde.okular.currentDocument") == f"('{other}',)")
    origin.call(name, "/okular2", "org.kde.okular.goToPage", "4")
    taker.daemon.ctl("continue", identifier)
    taker.until("the other document", lambda: "(uint32 4,)" in okular(taker, "currentPage"))
    window.terminate()
    taker.until("no offer", lambda: not taker.offers())

    window = origin.start("zathura", path)
    identifier = taker.offered("Zathura: a book.pdf")
    (name,) = origin.names(ZATHURA)
    origin.call(name, "/org/pwmt/zathura", "org.pwmt.zathura.GotoPage", "6")
    taker.daemon.ctl("continue", identifier)
    taker.until("page 7", lambda: ("a book.pdf", 6) in zathura(taker))
    # Another document in the same window, which zathura does not announce.
    origin.call(name, "/org/pwmt/zathura", "org.pwmt.zathura.OpenDocument", other, "", "3")
    origin.until("the other document", lambda: ("two.pdf", 3) in zathura(origin))
    taker.daemon.ctl("continue", identifier)
    taker.until("the other document", lambda: ("two.pdf", 3) in zathura(taker))
    taker.offered("Zathura: two.pdf")
    # A reader that hangs: its last known state is continued.
    os.kill(window.pid, signal.SIGSTOP)
    taker.daemon.ctl("continue", identifier)
    os.kill(window.pid, signal.SIGKILL)
    taker.until("no offer", lambda: not taker.offers())
    origin.is_faultless()
    taker.is_faultless()


@test("Evince and LibreOffice open the document that the other device shows, and each is offered once, while it is open",
      limit=150)
def documents(stage):
    origin, taker = devices(stage)
    for device in (origin, taker):
        device.evince_daemon()
    path = origin.file("paper.pdf", pdf(3))
    window = origin.start("evince", path)
    identifier = taker.offered("Document Viewer: paper.pdf")
    taker.daemon.ctl("continue", identifier)
    origin.offered("Document Viewer: paper.pdf")
    # It also reports the document to the desktop, as LibreOffice does. The service finds it by that when it is started later.
    origin.until("the list", lambda: os.path.exists(os.path.join(origin.data, "recently-used.xbel")))
    origin.programs.terminate()
    taker.until("no offer", lambda: not taker.offers())
    origin.service()
    taker.offered("Document Viewer: paper.pdf")

    path = os.path.join(origin.folder, "letter.odt")
    letter(path)
    origin.start("soffice", "--norestore", "--nologo", path)
    taker.daemon.ctl("continue", taker.offered("LibreOffice Writer: letter.odt"))
    origin.offered("LibreOffice Writer: letter.odt")
    expect(os.path.exists(lock(taker.fetched("letter.odt"))), "the document is not open")
    origin.key("letter.odt", "ctrl+w")
    taker.until("only one offer", lambda: [each["title"] for each in taker.offers()] == ["Document Viewer: paper.pdf"])
    expect(not os.path.exists(lock(path)), "the offer has ended before the document was closed")
    window.terminate()
    taker.until("no offer", lambda: not taker.offers())
    origin.is_faultless()
    taker.is_faultless()


@test("Foliate opens the book that was read last on the other device, while it is open", limit=150)
def books(stage):
    origin, taker = devices(stage)
    for device in (origin, taker):
        device.needs("foliate", optional=True)
    paths = [os.path.join(origin.folder, name) for name in ("first.epub", "tale.epub")]
    for number, path in enumerate(paths):
        book(path, f"urn:x:{number}")
    first = origin.start("foliate", paths[0])
    taker.offered("Foliate: first.epub")
    origin.start("foliate", paths[1])
    taker.daemon.ctl("continue", taker.offered("Foliate: tale.epub"))
    origin.offered("Foliate: tale.epub")
    first.terminate()
    taker.until("no offer", lambda: not taker.offers())
    origin.is_faultless()
    taker.is_faultless()


@test("with the setting, the document of the program in front is offered, on X11 and sway", limit=150)
def front(stage):
    for program in ("openbox", "xprop", "sway"):
        Device.needs(program, optional=True)
    daemons = stage.pair()
    origin, taker = Device(stage, daemons[0]), Device(stage, daemons[1], screen=False)
    paths = [origin.file(name, pdf(1)) for name in ("first.pdf", "second.pdf")]
    origin.setting("handoff/foreground", "")

    def changes(focus):
        """Opens two documents, then gives the focus to each of their windows."""
        origin.service()
        windows = []
        for path in paths:
            windows.append(origin.start("zathura", path))
            taker.offered(f"Zathura: {os.path.basename(path)}")
        for index in (0, 1, 0):
            origin.until("the window", lambda: focus(windows[index].pid, os.path.basename(paths[index])))
            taker.offered(f"Zathura: {os.path.basename(paths[index])}")
        origin.is_faultless()
        for process in (*windows, origin.programs):
            process.terminate()
        taker.until("no offer", lambda: not taker.offers())

    origin.start("openbox")
    changes(lambda pid, name: run(["xdotool", "search", "--name", name, "windowactivate"], origin.environment).code == 0)
    del origin.environment["DISPLAY"]
    origin.environment |= {"WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1",
                           "GDK_BACKEND": "wayland"}
    # It refuses to run for a user that could become root.
    origin.start(*(["unshare", "--user", "--map-user=1000", "--map-group=1000"] if os.geteuid() == 0 else []), "sway")
    runtime = origin.environment["XDG_RUNTIME_DIR"]

    def find(pattern):
        return origin.until(pattern, lambda: glob.glob(os.path.join(runtime, pattern)))[0]

    origin.environment |= {"SWAYSOCK": find("sway-ipc.*.sock"), "WAYLAND_DISPLAY": os.path.basename(find("wayland-?"))}
    changes(lambda pid, name: run(["swaymsg", f"[pid={pid}] focus"], origin.environment).code == 0)


@test("values of another device select neither a program, an option nor a file, and only documents are opened")
def hostile(stage):
    programs = os.path.join(stage.folder, "programs")
    records = os.path.join(stage.folder, "records")
    for folder in (programs, records):
        os.mkdir(folder)
    for name in ("gio", "okular", "zathura", "evince", "evil"):
        stand_in(programs, name, records)
    daemons = stage.pair()
    taker = Device(stage, daemons[1], screen=False, programs=programs)
    server = NotificationServer(taker.bus)
    taker.entry("evil", "evil %f", "application/x-evil")
    taker.entry("reader", "evil --read %f", "application/pdf")
    taker.setting("mimeapps.list", "[Default Applications]\napplication/pdf=okularApplication_pdf.desktop\n")
    taker.service()
    origin = Device(stage, daemons[0], screen=False)
    default = "/usr/share/applications/okularApplication_pdf.desktop"

    def continued(path, title="a", fields=(), url=None, code=0, kind="reading"):
        """Continues a document. Returns the words of the program that is started, and the notifications."""
        document = {"$url": url or pathlib.Path(path).as_uri()} if url != 5 else 5
        info = {"document": document, **dict(fields)}
        publish = daemons[0].publish(f"dev.handoff1.{kind}", "--title", title, "--user-info", json.dumps(info))
        taker.until("the offer", lambda: publish.id in [each["id"] for each in taker.offers()])
        before = len(os.listdir(records)), len(server.seen)
        taker.daemon.ctl("continue", publish.id, code=code)
        if code:
            return None, []
        taker.until("an effect", lambda: (len(done(records)), len(server.seen)) != before)
        publish.interrupt()
        words = done(records)
        for name in os.listdir(records):
            os.unlink(os.path.join(records, name))
        return words[0] if words else None, server.seen[before[1]:]

    def opened(path, **more):
        words, shown = continued(path, **more)
        expect(words and not shown, f"{path} {more} was not opened: {shown}")
        copy = words[-1].removeprefix("file://")
        expect(copy.startswith(os.path.join(taker.home, ".cache/handoff/fetched/")), f"not a fetched file: {words}")
        return [*words[:-1], os.path.basename(copy)]

    path = origin.file("a.pdf", pdf(1))
    expect(opened(path, fields={"page": 3}) == ["okular", "--page", "3", "a.pdf"], "not the default with the page")
    for app, words in (("org.pwmt.zathura", ["zathura", "--page=3"]), ("org.gnome.Evince", ["evince", "--page-index=3"])):
        got = opened(path, fields={"app": app, "page": 3})
        expect(got == [*words, "a.pdf"], f"{app} is opened by {got}")
    got = opened(path, fields={"app": "reader", "page": 3})
    expect(got[:2] == ["gio", "launch"] and got[2].endswith("/reader.desktop"), f"not the chosen program: {got}")
    for page in (-1, 0, 2 ** 40, 1.5, True, None, "1; rm", "3 --help", [3], {"a": 1}):
        got = opened(path, fields={"page": page})
        expect(got == ["gio", "launch", default, "a.pdf"], f"page {page!r}: {got}")
    for app in ("evil", "../evil", "a/evil", "evil.desktop", "--help", "$(id)", "evil\n", "e" * 300, "", 5, ["evil"], None):
        got = opened(path, fields={"app": app})
        expect(got == ["gio", "launch", default, "a.pdf"], f"app {app!r}: {got}")
    for name in ("--help.pdf", "-p.pdf", "$(id) `id`; 'a' %u.pdf", "#1.pdf"):
        got = opened(origin.file(name, pdf(1)), fields={"page": 2})
        expect(len(got) == 4 and got[:3] == ["okular", "--page", "2"], f"{name}: {got}")
    refused = [("a.pdf", b"#!/bin/sh\n"), ("b.txt", b"\x7fELF"), ("c.desktop", b"[Desktop Entry]\n"), ("d.sh", b"id\n"),
               ("e.py", b"id()\n"), ("f.jar", b"PK"), ("g", b"text"), ("h.html", b"#!/bin/sh\n")]
    for name, data in refused:
        words, shown = continued(origin.file(name, data), title="\x1b[2J\u202eb<b>")
        expect(not words and "not a document" in shown[0]["body"], f"{name}: {words} {shown}")
        expect(shown[0]["summary"] == "Cannot open \\u{1B}[2J\\u{202E}b<b>", f"{shown}")
    for url in ("file:///etc/passwd", "handoff-document:name/passwd", "handoff-document:root/x/../../etc/passwd",
                "handoff-document:git/x/--help", "handoff-document:name/a?fetch=7"):
        words, shown = continued(path, url=url)
        expect(not words and shown[0]["summary"] == "Cannot open a", f"{url}: {words} {shown}")
    continued(origin.file("copy.pdf", pdf(1)), title="a\u202e", kind="document")
    taker.until("the notification", lambda: [each for each in server.seen if each["summary"] == "a\\u{202E} is a copy"])
    for url in ("https://example.org/a.pdf", "javascript:alert(1)", "--help", "/etc/passwd", 5):
        continued(path, url=url, code=1)
    taker.is_faultless()


class Okular(BusClient):
    """A simulated Okular. A value is a signature and the body of a reply; there is no reply without one."""

    def __init__(self, bus):
        self.values = {"Introspect": text('<node><node name="okular"/><node name="okular/../x"/></node>')}
        super().__init__(bus)
        self.call("RequestName", "su", Writer().text("org.kde.okular-1").number(4).data)

    def called(self, call):
        if call["member"] in self.values:
            self.reply(call, *self.values[call["member"]])


def text(value):
    return "s", Writer().text(value).data


@test("values of a reader that are not documents, or no pages, are not sent, and one that does not reply delays nothing")
def readers(stage):
    daemons = stage.pair()
    origin, taker = (Device(stage, daemon, screen=False) for daemon in daemons)
    origin.service()
    path, secret = origin.file("a.pdf", pdf(1)), os.path.join(origin.home, ".secret.pdf")
    shutil.copy(path, secret)
    reader = Okular(origin.bus)
    silent = Okular(origin.bus)
    silent.call("RequestName", "su", Writer().text("org.kde.okular-2").number(4).data)
    reader.values |= {"currentDocument": text(path), "currentPage": ("u", Writer().number(2).data)}
    identifier = taker.offered("Okular: a.pdf")

    def page():
        return taker.daemon.ctl("continue", "--print", identifier).line["userInfo"].get("page")

    # The page of a reader that replies too late is not sent.
    origin.until("the page", lambda: page() == 2)
    for value in (("u", Writer().number(0).data), ("u", Writer().number(2 ** 32 - 1).data), text("3"), ("", b"")):
        reader.values["currentPage"] = value
        expect((got := page()) is None, f"page {value}: {got}")
    for member in ("Introspect", "currentDocument"):
        before = reader.values[member]
        for value in (("u", Writer().number(5).data), ("", b"")):
            reader.values[member] = value
            expect(page() is None, f"{member} {value}")
        reader.values[member] = before
    # Okular is busy, for example printing.
    del reader.values["currentDocument"]
    expect(page() is None, "a page of another document")
    for value in (secret, "https://example.org/a.pdf", "a.pdf", f"{origin.folder}/../.secret.pdf", "file:///etc/passwd",
                  "x" * 1_000_000):
        reader.values["currentDocument"] = text(value)
        gone = taker.daemon.ctl("continue", "--print", identifier, code=1)
        expect("ContinuationFailed" in gone.errors, f"{value[:100]}: {gone}")
        taker.until("no offer", lambda: not taker.offers())
        reader.values["currentDocument"] = text(path)
        release(reader)
        identifier = taker.offered("Okular: a.pdf")
    # Okular loads another document, and then has none.
    reader.values["currentDocument"] = text("")
    expect(page() is None, "the document was withdrawn while another one is loaded")
    reader.values["currentDocument"] = text(path)
    origin.is_faultless()


def release(reader):
    """Lets a program start again."""
    name = Writer().text("org.kde.okular-1")
    reader.call("ReleaseName", "s", name.data)
    reader.call("RequestName", "su", name.number(4).data)


@test("only the latest document that may leave the device is offered, and an incomplete, large or hostile list changes nothing")
def recent(stage):
    programs = os.path.join(stage.folder, "programs")
    os.mkdir(programs)
    for name in ("editor", "browser", "okular", "viewer"):
        stand_in(programs, name, programs)
    daemons = stage.pair()
    origin, taker = Device(stage, daemons[0], screen=False, programs=programs), Device(stage, daemons[1], screen=False)
    origin.entry("org.example.Editor", "editor %f", "text/plain")
    origin.entry("viewer", "viewer %f", "text/plain")
    origin.entry("wrapper", "sh -c editor", "text/plain")
    origin.entry("browser", "browser %f", "text/plain", "Categories=Network;WebBrowser;")
    home = pathlib.Path(origin.home)
    allowed, other = origin.file("letter.txt"), origin.file("other.txt")
    elsewhere = {name: str(home / name) for name in (
        ".ssh/a.txt", ".gnupg/a.txt", ".hidden/a.txt", "Documents/.a.txt", ".local/share/Trash/files/a.txt", "../outside.txt")}
    for path in elsewhere.values():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        pathlib.Path(path).write_text("text")
    os.symlink(elsewhere[".ssh/a.txt"], home / "Documents/link.txt")
    os.mkfifo(home / "Documents/pipe.txt")
    os.mkdir(home / "Documents/folder.txt")
    bad = os.fsencode(origin.folder) + b"/bad\xe9.txt"
    pathlib.Path(os.fsdecode(bad)).write_text("text")
    now = time.time()
    entries = [bookmark(path, now - index) for index, path in enumerate((
        *elsewhere.values(), f"{origin.folder}/../.ssh/a.txt", f"{origin.folder}/link.txt", f"{origin.folder}/pipe.txt",
        f"{origin.folder}/folder.txt", f"{origin.folder}/gone.txt", origin.file("script.txt", b"#!/bin/sh"), origin.file("a.sh"),
        "/dev/zero", "/proc/self/environ", "/etc/\0passwd", os.fsdecode(bad)))]
    entries += [
        bookmark(origin.file("private.txt"), now, "<bookmark:private/>"),
        bookmark(origin.file("future.txt"), now + 7200), bookmark(origin.file("old.txt"), now - 9 * 3600),
        bookmark(origin.file("download.txt"), now, program="browser"),
        bookmark(origin.file("unknown.txt"), now, program="sh -c id"),
        bookmark(origin.file("reader.txt"), now, program="okular"), bookmark(origin.file("closed.txt"), now, program="soffice"),
        bookmark(allowed, now - 100).replace("file://", "sftp://host"), '<bookmark href="" modified="never"/>', "<bookmark/>",
        bookmark(allowed, now - 300)]

    def write(text):
        path = os.path.join(origin.data, "recently-used.xbel")
        with open(path + ".new", "w") as file:
            file.write(text)
        os.rename(path + ".new", path)

    def logged(text):
        with open(origin.log, errors="replace") as log:
            return text in log.read()

    write(xbel(*entries))
    origin.service()
    taker.offered("The org.example.Editor: letter.txt")
    newer = bookmark(other, now - 1)
    write(xbel(newer)[:-30])
    origin.until("the incomplete list", lambda: logged("ExpatError"))
    write(xbel(newer, *[bookmark(other, now)] * 40_000))
    origin.until("the large list", lambda: logged("is larger than"))
    write('<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + xbel(newer, "&b;"))
    origin.until("the entities", lambda: logged("entities are not supported"))
    (offer,) = taker.offers()
    expect(offer["title"] == "The org.example.Editor: letter.txt", f"another document: {offer}")
    write(xbel(newer, *entries))
    # In the same activity, another device could fetch the former document, too.
    expect(taker.offered("The org.example.Editor: other.txt") != offer["id"], "another document has the same activity")
    expect(len(taker.offers()) == 1, f"several: {taker.offers()}")
    # Of the programs that were in front, the last one that has a document.
    write(xbel(newer, bookmark(allowed, now - 300, program="viewer")))
    for focused, path in (([], other), ([["none"], ["viewer"]], allowed), ([["org.example.editor"], ["viewer"]], other)):
        got = run([PYTHON, "-B", "-c", LATEST, json.dumps(focused)], origin.environment)
        expect(got.output == path, f"{focused}: {got}")
    write(xbel(newer, *entries))
    origin.daemon.ctl("app", "disable", "dev.handoff1.documents")
    taker.until("no offer of the disabled app", lambda: not taker.offers())
    origin.daemon.ctl("app", "enable", "dev.handoff1.documents")
    taker.offered("The org.example.Editor: other.txt")
    os.unlink(other)
    write(xbel(newer, *entries))
    taker.offered("The org.example.Editor: letter.txt")
    os.unlink(allowed)
    write(xbel(newer, *entries))
    taker.until("no offer", lambda: not taker.offers())
    origin.is_faultless()


def stand_in(folder, name, records):
    """Installs a program that records its arguments."""
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(f"""#!/bin/sh
record=$(mktemp {records}/part.XXXXXX)
printf '%s\\0' {name} "$@" >"$record"
mv "$record" "$record.done"
""")
    os.chmod(path, 0o755)


def done(records):
    """Returns the words of the recorded programs."""
    names = [name for name in os.listdir(records) if name.endswith(".done")]
    return [urllib.parse.unquote(content(os.path.join(records, name)).decode()).split("\0")[:-1] for name in names]


def bookmark(path, used, extra="", program="editor"):
    moment = datetime.datetime.fromtimestamp(used, datetime.timezone.utc).isoformat().replace("+00:00", "Z")
    return f"""<bookmark href="file://{urllib.parse.quote(os.fsencode(path))}" added="{moment}" modified="{moment}">
<info><metadata owner="http://freedesktop.org"><mime:mime-type type="text/plain"/>{extra}<bookmark:applications>
<bookmark:application name="{program}" exec="&apos;{program} %u&apos;" modified="{moment}" count="1"/>
</bookmark:applications></metadata></info></bookmark>"""


def xbel(*entries):
    return f"""<xbel version="1.0" xmlns:bookmark="http://www.freedesktop.org/standards/desktop-bookmarks"
xmlns:mime="http://www.freedesktop.org/standards/shared-mime-info">{"".join(entries)}</xbel>"""


def lock(path):
    return os.path.join(os.path.dirname(path), f".~lock.{os.path.basename(path)}#")


if __name__ == "__main__":
    main()
