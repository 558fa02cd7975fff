#!/usr/bin/env python3
"""Documents that continue in the readers and programs of another device: the real ones, on two session buses and screens."""

import os
import re
import signal

from harness import expect, main, test
from readers_stage import Device, book, letter, pdf

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


@test("Okular and zathura open at the page that the other device shows when it is continued, and the offer ends with the window")
def pages(stage):
    origin, taker = devices(stage)
    path = origin.file("a book.pdf", pdf(30))
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
    window.terminate()
    taker.until("no offer", lambda: not taker.offers())

    other = origin.file("two.pdf", pdf(9))
    window = origin.start("zathura", path)
    identifier = taker.offered("Zathura: a book.pdf")
    (name,) = origin.names(ZATHURA)
    origin.call(name, "/org/pwmt/zathura", "org.pwmt.zathura.GotoPage", "6")
    taker.daemon.ctl("continue", identifier)
    taker.until("page 7", lambda: ("a book.pdf", 6) in zathura(taker))
    # Another document in the same window, which zathura does not announce.
    origin.call(name, "/org/pwmt/zathura", "org.pwmt.zathura.OpenDocument", other, "", "3")
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


@test("Evince, Foliate and LibreOffice open the document that the other device shows, and each is offered once, while it is open")
def documents(stage):
    origin, taker = devices(stage)
    for device in (origin, taker):
        device.evince_daemon()
    path = origin.file("paper.pdf", pdf(3))
    window = origin.start("evince", path)
    identifier = taker.offered("Document Viewer: paper.pdf")
    taker.daemon.ctl("continue", identifier)
    origin.offered("Document Viewer: paper.pdf")
    # It also reports the document to the desktop, as LibreOffice does.
    origin.until("the list", lambda: os.path.exists(os.path.join(origin.data, "recently-used.xbel")))

    path = os.path.join(origin.folder, "tale.epub")
    book(path)
    foliate = origin.start("foliate", path)
    taker.daemon.ctl("continue", taker.offered("Foliate: tale.epub"))
    origin.offered("Foliate: tale.epub")
    foliate.terminate()
    # The document that was opened before it.
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


def lock(path):
    return os.path.join(os.path.dirname(path), f".~lock.{os.path.basename(path)}#")


if __name__ == "__main__":
    main()
