#!/usr/bin/env python3
"""The languages of the window, of the extension and of desktop entries. The window also runs in en_XA, whose texts are in
brackets and longer: a text without brackets is not translated.

HANDOFF_PICTURES=FOLDER also writes pictures of the window in each language.
"""

import gettext
import json
import os
import re
import shutil
import subprocess

from browsers import until
from harness import ROOT, Skip, expect, main, run, test
from windows import PYTHON, Screen, SettingsWindow, digits, window_test

SCRIPT = os.path.join(ROOT, "scripts", "translations")
PSEUDO = "en_XA"
PICTURES = os.environ.get("HANDOFF_PICTURES")
# The minimum share of translated texts in percent. Texts are added before they are translated.
MIN_SHARE = 90
# The smallest widths of the window, and of the one that sends.
WIDTH, SEND_WIDTH, HEIGHT = 360, 320, 560
TYPE, OTHER = "com.example.editing", "com.example.drawing"
with open(os.path.join(ROOT, "po", "LINGUAS")) as linguas:
    LANGUAGES = linguas.read().split()
# In each language: the texts for 0, 1, 2 and 5.
COUNTS = {
    "de": ("0 Dateien", "1 Datei", "2 Dateien", "5 Dateien"),
    "es": ("0 archivos", "1 archivo", "2 archivos", "5 archivos"),
    "fr": ("0 fichier", "1 fichier", "2 fichiers", "5 fichiers"),
    "ja": ("0 個のファイル", "1 個のファイル", "2 個のファイル", "5 個のファイル"),
    "pt_BR": ("0 arquivo", "1 arquivo", "2 arquivos", "5 arquivos"),
    "zh_CN": ("0 个文件", "1 个文件", "2 个文件", "5 个文件"),
}
MESSAGES = """
import {{ readFileSync }} from "node:fs";
const texts = JSON.parse(readFileSync({folder!r} + "/messages.json"));
globalThis.chrome = {{ i18n: {{ getMessage: (key) => texts[key]?.message ?? "" }} }};
const {{ message }} = await import({module!r});
const counted = [0, 1, 2, 5, 1000000].map((count) => message("newOffers", {{ count }}));
console.log(JSON.stringify([...counted, message("sendPageTo", {{ device: "$& {{device}}" }}), message("unknown")]));
"""


def checkout(stage):
    """Returns a copy of the programs, with all translations."""
    folder = os.path.join(stage.folder, "checkout")
    if not os.path.exists(folder):
        if not shutil.which("msgfmt"):
            raise Skip("msgfmt is not installed (scripts/setup --tests)")
        for name in ("Settings", "Integrations"):
            shutil.copytree(os.path.join(ROOT, name), os.path.join(folder, name), ignore=shutil.ignore_patterns("__pycache__"))
        done = run([SCRIPT, "compile", "--pseudo", os.path.join(folder, ".build")], os.environ)
        expect(done.code == 0, str(done))
    return folder


def translation(stage, language):
    return gettext.translation("handoff", os.path.join(checkout(stage), ".build", "locale"), [language])


def written(stage, language, text, **values):
    """Returns a text of the window as a label shows it."""
    return translation(stage, language).gettext(text).replace("_", "").format(**values)


class LocalWindow(SettingsWindow):
    """A window in a language, used by English texts."""

    def __init__(self, stage, screen, daemon, language, **more):
        self.stage, self.language = stage, language
        super().__init__(stage, screen, daemon, package=os.path.join(checkout(stage), "Settings"), LANG="C.UTF-8",
                         LANGUAGE=language, **more)

    def text(self, english, **values):
        return written(self.stage, self.language, english, **values)

    def part(self, english, **values):
        """Returns a text without its brackets, which is a part of a longer one."""
        return self.text(english, **values).strip("⟦⟧~ ")

    def push(self, english, row=None):
        return self.press(self.text(english), row)

    def shows(self, *english):
        return self.see(*map(self.text, english))

    def picture(self, name):
        if PICTURES:
            os.makedirs(PICTURES, exist_ok=True)
            self.do("picture", path=os.path.join(PICTURES, f"{name}-{self.language}.png"), scale=1)


# ---- Without a window --------------------------------------------------------------------------------------------------

@test("every text is marked for translation, and every translation is valid, up to date and nearly complete")
def files(stage):
    if not shutil.which("xgettext"):
        raise Skip("xgettext is not installed (scripts/setup --tests)")
    done = run([SCRIPT, "check"], os.environ)
    expect(done.code == 0 and not done.errors, str(done))
    report = run([SCRIPT, "report"], os.environ).output
    shares = {line.split()[0]: float(line.split()[1]) for line in report.splitlines()}
    expect(list(shares) == LANGUAGES and min(shares.values()) >= MIN_SHARE, report)


@test("the check finds a text that is not marked, a wrong placeholder, and a language that is missing")
def faults(stage):
    if not shutil.which("xgettext"):
        raise Skip("xgettext is not installed (scripts/setup --tests)")
    folder = os.path.join(stage.folder, "changed")
    for name in ("Integrations", "Settings", "WebExtension", "packaging", "po", "scripts"):
        shutil.copytree(os.path.join(ROOT, name), os.path.join(folder, name), ignore=shutil.ignore_patterns("__pycache__"))
    os.symlink(os.path.join(ROOT, "Sources"), os.path.join(folder, "Sources"))

    def change(path, old, new):
        with open(os.path.join(folder, path), encoding="utf-8") as file:
            text = file.read()
        expect(old in text, f"no {old!r} in {path}")
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            file.write(text.replace(old, new, 1))

    change("Settings/handoff_settings/switches.py", '_("Pause"), _(', '"Pause the handoff", _(')
    devices = "Settings/handoff_settings/devices.py"
    change(devices, '_("Rename {device}").format(device=shown)', '_("Rename {device}".format(device=shown))')
    change("WebExtension/popup.js", 'message("untitledPage")', '"A page without a title"')
    change("WebExtension/popup.js", 'message("noMatchingTabs")', 'message("noTabs")')
    change("po/de.po", '"An {device} senden"', '"An {geraet} senden"')
    change("po/LINGUAS", "zh_CN\n", "zh_CN\npl\n")
    change("Settings/handoff_settings/messages.py", 'N_("the clock is synchronised")', 'N_("the clock is synchronized")')
    done = run([os.path.join(folder, "scripts", "translations"), "check"], os.environ)
    for words in ("Pause the handoff", "a text with values has no translation", "A page without a title",
                  "no text for the key noTabs", "the key untitledPage is not used",
                  "po/de.po:", "argument 'device'", "po/pl.po is missing", "po/handoff.pot is outdated", "clock is synchronized"):
        expect(words in done.errors, f"not reported: {words}: {done}")
    expect(done.code == 1, f"{done}")


@test("each language has its plural forms, in programs and in browsers")
def plurals(stage):
    expect(sorted(COUNTS) == sorted(LANGUAGES), f"other languages: {LANGUAGES}")
    for language, texts in COUNTS.items():
        found = translation(stage, language)
        for number, text in zip((0, 1, 2, 5), texts):
            got = found.ngettext("{count} file", "{count} files", number).format(count=number)
            expect(got == text, f"{language}: {got!r} and not {text!r}")
        words = MESSAGES.format(folder=os.path.join(checkout(stage), ".build", "_locales", language),
                                module=os.path.join(ROOT, "WebExtension", "language.js"))
        done = run(["node", "--input-type=module", "--eval", words], {"PATH": os.environ["PATH"]})
        expect(done.code == 0, str(done))
        *counted, sent, unknown = json.loads(done.output)
        wanted = [found.ngettext("{count} new offer", "{count} new offers", number).format(count=number)
                  for number in (0, 1, 2, 5, 1000000)]
        expect(counted == wanted, f"{language}: {counted} and not {wanted}")
        # Values are neither parsed nor replaced again.
        expect("$& {device}" in sent and unknown == "", f"{language}: {sent!r}, {unknown!r}")


@test("without a locale, or with an unknown one or a damaged file, programs are in English")
def fallbacks(stage):
    root = checkout(stage)
    words = "import handoff_locale as each; print(each._('Devices'), each.ngettext('{count} file', '{count} files', 1))"

    def shown(**variables):
        done = run([PYTHON, "-B", "-c", words], {"PYTHONPATH": os.path.join(root, "Integrations", "python"), **variables})
        expect(done.code == 0 and not done.errors, f"{variables}: {done}")
        return done.output.strip()

    english, german = "Devices {count} file", "Geräte {count} Datei"
    for variables in ({}, {"LANG": "C"}, {"LC_ALL": "POSIX"}, {"LANG": "xx_XX.UTF-8"}, {"LANG": "C", "LANGUAGE": "de"},
                      {"LANG": "nonsense", "LANGUAGE": "de"}, {"LANG": "C.UTF-8", "LANGUAGE": "xx"},
                      {"LANG": "C.UTF-8", "LANGUAGE": ""}, {"LANG": "C.UTF-8", "LANGUAGE": "../de"}):
        expect(shown(**variables) == english, f"{variables}: {shown(**variables)}")
    for variables in ({"LANG": "C.UTF-8", "LANGUAGE": "de"}, {"LANG": "C.UTF-8", "LANGUAGE": "xx:de:fr"},
                      {"LC_ALL": "C.UTF-8", "LANGUAGE": "de_AT"}):
        expect(shown(**variables) == german, f"{variables}: {shown(**variables)}")
    path = os.path.join(root, ".build", "locale", "de", "LC_MESSAGES", "handoff.mo")
    with open(path, "rb") as file:
        good = file.read()
    damaged = [b"", b"nonsense", good[:20], good[:200], good[:len(good) // 2], good.replace(b"UTF-8", b"UTF-9"),
               good.replace(b"n != 1", b"n != x"), bytes(len(good))]
    try:
        for content in damaged:
            with open(path, "wb") as file:
                file.write(content)
            expect(shown(LANG="C.UTF-8", LANGUAGE="de") == english, f"{content[:20]}")
    finally:
        with open(path, "wb") as file:
            file.write(good)


@test("desktop entries and metadata have all languages, and are valid")
def entries(stage):
    for program in ("msgfmt", "desktop-file-validate", "appstreamcli"):
        if not shutil.which(program):
            raise Skip(f"{program} is not installed (scripts/setup --tests)")
    folder = os.path.join(checkout(stage), ".build", "entries")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text = file.read()
        for language in LANGUAGES:
            mark = f'xml:lang="{language}"' if name.endswith(".xml") else f"[{language}]="
            expect(text.count(mark) == text.count(mark.replace(language, "de")) > 0, f"{name} in {language}")
    for name in ("dev.handoff1.Settings.desktop", "handoffd.desktop"):
        done = run(["desktop-file-validate", os.path.join(folder, name)], os.environ)
        expect(not done.output and not done.errors, f"{done}")
    done = run(["appstreamcli", "validate", "--no-net", os.path.join(folder, "dev.handoff1.Settings.metainfo.xml")], os.environ)
    expect(done.code == 0, f"{done}")


# ---- The window --------------------------------------------------------------------------------------------------------

def untranslated(window, *data):
    """Returns the texts of the window without brackets that are not data: names, numbers, ids, sizes and times."""
    found = []
    for text in window.do("words"):
        rest = re.sub(r"⟦[^⟦⟧]*⟧", "", re.sub(r"⟦[^⟦⟧]*⟧", "", text))
        for each in (*data, "Handoff"):
            rest = rest.replace(each, "")
        rest = re.sub(r"\b[0-9a-f]{7}\b|\b[0-9.]+.(bytes?|kB|MB)\b", "", rest.replace("\xa0", " "))
        if re.search(r"[A-Za-z]{2}", rest):
            found.append(text)
    return found


class Tour:
    """All pages and dialogs of the window in a language. Calls `check` with a name for each."""

    def __init__(self, stage, language, check):
        self.stage, self.check = stage, check
        screen = Screen(stage)
        self.study, self.kitchen, attic = (stage.daemon(name, start=False) for name in ("Study", "Kitchen", "Attic"))
        for daemon in (self.study, self.kitchen, attic):
            daemon.extra = {"XDG_DATA_DIRS": os.path.join(stage.folder, "data")}
            daemon.start()
        self.first = LocalWindow(stage, screen, attic, language)
        self.study.ctl("account", "create")
        stage.join(self.study, self.kitchen)
        self.window = LocalWindow(stage, screen, self.study, language)
        self.first.shows("Welcome to Handoff")
        self.window.shows("Online")
        for each in (self.first, self.window):
            each.do("size", width=WIDTH, height=HEIGHT)

    def all(self):
        self.first_run()
        self.pages()
        self.dialogs()
        self.sending()
        self.shortcuts()

    def show(self, window, name, *english):
        window.shows(*english)
        self.check(window, name)

    def first_run(self):
        first = self.first
        self.show(first, "first-run", "Welcome to Handoff")
        first.push("_Join…")
        self.show(first, "join", "Enter the code to join.")
        for text, reason in (("x", "A code has eight digits and nothing else."),
                             ("handoff:pair/1/x", "This link is incomplete or not a pairing link. Copy it again.")):
            first.do("type", name=first.text("Digits or link"), text=text)
            first.shows(reason)
            self.check(first, "join-wrong")
        first.push("_Cancel")

    def pages(self):
        window = self.window
        self.show(window, "devices", "Online", "This device")
        for type, title in ((TYPE, "Letter"), (OTHER, "Picture")):
            self.kitchen.publish(type, "--title", title)
        handler = self.study.follow("handle", TYPE)
        window.push("Offers").see("Letter", "Picture")
        window.see(window.part("opens in {app}", app="handoffctl"))
        self.check(window, "offers")
        window.push("Switches")
        self.show(window, "switches", "Pause", "running")
        window.push("One _Hour").shows("_Resume Now")
        self.check(window, "paused")
        window.push("Problems").shows("Passed Checks", "_Resume Now")
        self.check(window, "problems")
        window.push("_Resume Now")
        window.push("Devices").shows("Online")
        handler.interrupt()

    def dialogs(self):
        window = self.window
        window.push("_Add a Device…")
        window.see(window.part("Valid for {time}", time=""))
        self.check(window, "pairing")
        window.push("_Cancel")
        window.push("Rename", "Kitchen").shows("All your devices show this name.")
        window.do("type", text="Study")
        self.check(window, "rename")
        window.push("_Cancel").push("Remove", "Kitchen").shows("_Cancel")
        self.check(window, "remove")
        window.push("_Cancel").push("_Leave the Account…").shows("Leave the Account?")
        self.check(window, "leave")
        window.push("_Cancel")

    def shortcuts(self):
        """Comes last: GTK reports errors of its own when this window is closed."""
        self.window.do("action", name="win.show-help-overlay")
        self.show(self.window, "shortcuts", "Next page", "Quit")

    def sending(self):
        window = self.window
        paths = [os.path.join(self.stage.folder, name) for name in ("One.txt", "Two.txt")]
        for path in paths:
            with open(path, "w") as file:
                file.write("text")
        window.do("drop", uris=[f"file://{path}" for path in paths], row="Kitchen")
        window.see("One.txt", "Two.txt")
        window.do("size", text="One.txt", width=SEND_WIDTH, height=HEIGHT)
        self.check(window, "send")
        window.push("_Send").shows("Waiting")
        self.check(window, "sending")
        window.do("close", text="Two.txt")
        window.shows("Keep Sending?")
        self.check(window, "keep-sending")
        window.push("_Stop Sending")


def fits(window, name):
    """Checks that no text is cut."""
    window.picture(name)
    # GTK cuts the labels in the window of shortcuts.
    if name != "shortcuts":
        window.do("uncut")
    window.do("inside")


@window_test("in the pseudo-locale every text of the window has brackets, and none is cut at the smallest width", 200)
def pseudo(stage):
    def check(window, name):
        fits(window, name)
        left = untranslated(window, *DATA, *(GTK_TEXTS if name == "shortcuts" else ()))
        expect(left == [], f"{name}: not translated: {left}")

    Tour(stage, PSEUDO, check).all()


@window_test("no German text is cut at the smallest width of the window", 200)
def narrow(stage):
    Tour(stage, "de", fits).all()


@window_test("the layout is mirrored for languages that are written from right to left")
def mirrored(stage):
    tour = Tour(stage, PSEUDO, fits)
    window = tour.window
    # A button at the start of a row, and one at the end.
    buttons = ((window, window.text("_Leave the Account…"), 1), (tour.first, tour.first.text("_Create"), -1))
    for window, name, sign in buttons:
        former = window.do("left", name=name)["left"]
        window.do("direction", is_mirrored=True)
        until("the mirrored layout", lambda: sign * (window.do("left", name=name)["left"] - former) > 20)
    for name, window in (("devices", tour.window), ("first-run", tour.first)):
        fits(window, f"mirrored-{name}")
    window = tour.window
    window.do("drop", uris=["file:///etc/hostname"], row="Kitchen")
    window.see("hostname")
    window.do("size", text="hostname", width=SEND_WIDTH, height=HEIGHT)
    fits(window, "mirrored-send")


@window_test("with a damaged translation the window is in English")
def damaged(stage):
    path = os.path.join(checkout(stage), ".build", "locale", "de", "LC_MESSAGES", "handoff.mo")
    with open(path, "r+b") as file:
        file.truncate(1000)
    window = LocalWindow(stage, Screen(stage), stage.daemon("Attic"), "de")
    window.see("Welcome to Handoff")


DATA = ("handoffctl", "handoff:pair/1/x", "Study", "Kitchen", "Attic", "Letter", "Picture", "One.txt", "Two.txt", TYPE, OTHER)
if PICTURES:
    for each in [each for each in LANGUAGES if each != "de"]:
        window_test(f"pictures in {each}", 200)(lambda stage, each=each: Tour(stage, each, fits).all())


# Texts of GTK, which has no pseudo-locale.
GTK_TEXTS = ("Alt", "Ctrl", "Page Down", "Page Up", "Shortcuts", "Search")


if __name__ == "__main__":
    main()
