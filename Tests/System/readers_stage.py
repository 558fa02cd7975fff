"""Devices with real readers: a home, a session bus, a screen and handoff-programs each, and the documents that they open."""

import os
import re
import shutil
import subprocess
import zipfile

from browsers import until
from harness import BIN, ROOT, Skip, expect, run, tail, virtual_screen
from notifications import SessionBus

PROGRAM = os.path.join(ROOT, "Integrations", "programs", "handoff-programs")
# Debian's Python, for which its package of PyGObject is built.
PYTHON = "/usr/bin/python3"
ODT = "application/vnd.oasis.opendocument.text"


def pdf(pages):
    """Returns a PDF with pages that show their numbers."""
    kids = " ".join(f"{3 + 2 * page} 0 R" for page in range(pages))
    objects = ["<</Type/Catalog/Pages 2 0 R>>", f"<</Type/Pages/Kids[{kids}]/Count {pages}>>"]
    for page in range(pages):
        text = f"BT /F 48 Tf 72 700 Td (Page {page + 1}) Tj ET"
        font = "<</Font<</F <</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {4 + 2 * page} 0 R/Resources{font}>>")
        objects.append(f"<</Length {len(text)}>>stream\n{text}\nendstream")
    data, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode()


def archive(path, kind, files):
    """Writes a document that is an archive of files, with its type in the first one."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", kind)
        for name, text in files.items():
            file.writestr(name, '<?xml version="1.0"?>' + text)


def letter(path):
    office, package = "urn:oasis:names:tc:opendocument:xmlns:office:1.0", "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    entries = "".join(f'<m:file-entry m:full-path="{name}" m:media-type="{kind}"/>'
                      for name, kind in (("/", ODT), ("content.xml", "text/xml")))
    archive(path, ODT, {
        "META-INF/manifest.xml": f'<m:manifest xmlns:m="{package}" m:version="1.2">{entries}</m:manifest>',
        "content.xml": f'<o:document-content xmlns:o="{office}" o:version="1.2"><o:body><o:text/></o:body></o:document-content>'})


def book(path, identifier):
    html = '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:e="http://www.idpf.org/2007/ops"><head><title>T</title></head><body>'
    archive(path, "application/epub+zip", {
        "META-INF/container.xml": '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        "c.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i"><metadata '
        f'xmlns:d="http://purl.org/dc/elements/1.1/"><d:identifier id="i">{identifier}</d:identifier><d:title>Tale</d:title>'
        '<d:language>en</d:language></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="n" href="n.xhtml" media-type="application/xhtml+xml" properties="nav"/></manifest><spine>'
        '<itemref idref="a"/></spine></package>',
        "a.xhtml": f"{html}<p>text</p></body></html>",
        "n.xhtml": f'{html}<nav e:type="toc"><ol><li><a href="a.xhtml">A</a></li></ol></nav></body></html>'})


class Place:
    """The folder of a device, as the stage of a bus."""

    def __init__(self, stage, folder):
        self.stage, self.folder, self.processes = stage, folder, stage.processes

    def file(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(content)
        return path


class Device:
    """A daemon with a home, a bus, and a screen if it runs windows."""

    def __init__(self, stage, daemon, screen=True, programs=None):
        if run([PYTHON, "-c", "from gi.repository import Gio"], dict(os.environ)).code:
            raise Skip("PyGObject is not installed (scripts/setup --tests)")
        self.stage, self.daemon = stage, daemon
        self.home = os.path.join(daemon.folder, "home")
        self.data = os.path.join(self.home, ".local", "share")
        self.folder = os.path.join(self.home, "Documents")
        os.makedirs(self.folder)
        self.bus = SessionBus(Place(stage, daemon.folder))
        self.environment = {
            **daemon.environment, **self.bus.environment,
            "PATH": ":".join([*([programs] if programs else []), BIN, "/usr/bin:/bin"]),
            # The sandbox of Foliate's page needs the file of the screen's socket, which tests that run in parallel may remove.
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
            "GSETTINGS_BACKEND": "memory", "NO_AT_BRIDGE": "1", "GDK_BACKEND": "x11", "QT_ACCESSIBILITY": "0",
            **({"DISPLAY": virtual_screen(stage)} if screen else {})}
        self.watch = daemon.follow("watch")
        self.log = os.path.join(daemon.folder, "programs.log")

    def service(self):
        """Starts handoff-programs."""
        self.programs = self.start(PYTHON, "-B", PROGRAM, "documents", log=self.log)
        self.until("the service", lambda: {"dev.handoff1.documents", "dev.handoff1.readers"} <= {
            app["id"] for app in self.daemon.ctl("apps").lines if app["running"]})
        return self

    def entry(self, id, command, kind, extra=""):
        """Installs a desktop entry, which opens files of a type, before the service is started."""
        folder = os.path.join(self.data, "applications")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{id}.desktop"), "w") as file:
            file.write(f"[Desktop Entry]\nType=Application\nName=The {id}\nExec={command}\nMimeType={kind};\n{extra}\n")
        run(["update-desktop-database", folder], self.environment)

    def setting(self, name, text):
        path = os.path.join(self.home, ".config", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def evince_daemon(self):
        """Lets the bus start the program by which processes of Evince find each other."""
        name = "org.gnome.evince.Daemon.service"
        shutil.copy(f"/usr/share/dbus-1/services/{name}", self.bus.services)

    @staticmethod
    def needs(program, optional=False):
        if not shutil.which(program):
            raise Skip(f"{program} is not installed" + (" (scripts/setup --tests)" * (not optional)), optional)

    def start(self, *words, log=None):
        self.needs(words[0])
        with open(log or os.path.join(self.daemon.folder, "windows.log"), "ab") as log:
            process = subprocess.Popen(
                words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.home,
                start_new_session=True)
        self.stage.processes.append(process)
        return process

    def until(self, what, condition, within=60):
        return until(what, condition, within)

    def file(self, name, content=b"text\n"):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def call(self, name, path, method, *arguments):
        """Calls a method. Returns the reply as text, empty if it failed."""
        words = ["gdbus", "call", "--session", "-d", name, "-o", path, "-m", method, *arguments]
        return run(words, self.environment).output.strip()

    def key(self, title, key):
        """Presses a key in the window with a title."""
        words = ["xdotool", "search", "--sync", "--name", title, "windowfocus", "key", key]
        done = run(words, self.environment)
        expect(done.code == 0, f"no such window: {done}")

    def names(self, pattern):
        """Returns the names on the bus that match a pattern."""
        reply = self.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.ListNames")
        return re.findall(f"'({pattern})'", reply)

    def offers(self, **more):
        """Returns the offers of documents of the other device."""
        offers = self.daemon.ctl("list", **more).lines
        return [each for each in offers if each["type"] in ("dev.handoff1.reading", "dev.handoff1.document")]

    def offered(self, title):
        """Waits until a document is offered by the other device. Returns its id."""
        def found():
            return next((each["id"] for each in self.offers() if each["title"] == title), None)
        return self.until(f"'{title}' in {self.offers}", found)

    def fetched(self, name):
        """Returns the path of a fetched document, None until there is one."""
        for folder, _, names in os.walk(os.path.join(self.home, ".cache", "handoff", "fetched")):
            if name in names:
                return os.path.join(folder, name)
        return None

    def is_faultless(self):
        expect(self.programs.poll() is None, f"the service has exited: {tail(self.log)}")
        with open(self.log, errors="replace") as log:
            expect("Traceback" not in log.read(), f"an error in the service: {tail(self.log, 40)}")
