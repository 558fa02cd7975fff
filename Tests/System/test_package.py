"""The installed files: by scripts/install into a folder, and as a Debian package, inspected without installing it."""

import base64
import hashlib
import json
import os
import re
import shutil
import xml.etree.ElementTree

from harness import BIN, ROOT, Skip, expect, main, release, test
from installation import BROWSERS, INSTALLED, SETTINGS, call, needs, static

SCORE_LIMIT = 2.5
PAGES = os.path.join(ROOT, "docs", "man")
FIRST_PORT, LAST_PORT = 24863, 24872


def files(folder):
    return sorted(os.path.relpath(os.path.join(place, name), folder) for place, folders, names in os.walk(folder)
                  for name in names + [each for each in folders if os.path.islink(os.path.join(place, each))])


def install(stage, prefix="/usr", **more):
    image = os.path.join(stage.folder, "image" + prefix.replace("/", "-"))
    call("make", "install", environment={"PREFIX": prefix, "DESTDIR": image, **more})
    return image


# ---- scripts/install ---------------------------------------------------------------------------------------------------

@test("make install puts every file in its place, and make uninstall removes all of them")
def round_trip(stage):
    needs("make")
    image = install(stage)
    found = files(image)
    expect(set(INSTALLED + BROWSERS + SETTINGS) == set(found), f"not as listed: {set(INSTALLED + BROWSERS + SETTINGS) ^ set(found)}")
    for path in found:
        if os.path.islink(os.path.join(image, path)):
            leads = os.path.realpath(os.path.join(image, path))
            target = {"handoff-agents": "usr/lib/handoff/handoff-agents", "handoff-editor": "usr/lib/handoff/handoff-editor",
                      "handoff.py": "usr/lib/python3/dist-packages/handoff.py",
                      "handoff-git": "usr/lib/handoff/handoff-git",
                      "handoff-terminal": "usr/lib/handoff/handoff-terminal",
                      "handoff_send.py": "usr/share/handoff-settings/handoff_send.py"}.get(os.path.basename(path), "usr/share/webext/handoff")
            expect(leads == os.path.realpath(os.path.join(image, target)), f"{path} links to {leads}")
            continue
        mode = os.stat(os.path.join(image, path)).st_mode & 0o777
        is_program = "/bin/" in path or "/lib/handoff/" in path and not path.endswith(".py")
        expect(mode == (0o755 if is_program else 0o644), f"{path} has mode {mode:o}")
    call("make", "uninstall", environment={"PREFIX": "/usr", "DESTDIR": image})
    expect(files(image) == [], f"remaining files: {files(image)}")
    expect(not os.path.exists(os.path.join(image, "etc/handoff")), "its folder of settings remains")


@test("changed settings are neither overwritten nor removed")
def settings_stay(stage):
    needs("make")
    image = install(stage)
    path = os.path.join(image, "etc/handoff/handoffd.conf")
    with open(path, "w") as file:
        file.write("name = Desk\n")
    install(stage)
    with open(path) as file:
        expect(file.read() == "name = Desk\n", "the settings were overwritten")
    done = call("make", "uninstall", environment={"PREFIX": "/usr", "DESTDIR": image})
    expect(files(image) == ["etc/handoff/handoffd.conf"], f"remaining files: {files(image)}")
    expect("kept" in done.stdout, "it does not report what it kept")


@test("below /usr/local every file is where other programs look for it")
def local(stage):
    needs("make")
    found = files(install(stage, "/usr/local"))
    for path in ("usr/local/bin/handoffd", "usr/local/lib/systemd/user/handoffd.service", "etc/handoff/handoffd.conf",
                 "etc/firewalld/services/handoff.xml", "usr/local/share/zsh/site-functions/_handoffctl",
                 # Browsers only look in fixed places.
                 "usr/lib/mozilla/native-messaging-hosts/dev.handoff1.browser.json",
                 "etc/chromium/native-messaging-hosts/dev.handoff1.browser.json", "usr/share/chromium/extensions/handoff"):
        expect(path in found, f"no {path}: {found}")
    image = os.path.join(stage.folder, "image-usr-local")
    with open(os.path.join(image, "etc/chromium/native-messaging-hosts/dev.handoff1.browser.json")) as file:
        expect(json.load(file)["path"] == "/usr/local/lib/handoff/handoff-browser", "browsers would start another program")
    for program in ("handoffd", "handoff-desktop"):
        with open(os.path.join(image, f"usr/local/lib/systemd/user/{program}.service")) as file:
            expect(f"\nExecStart=/usr/local/bin/{program}\n" in file.read(), f"{program}.service starts another program")
    with open(os.path.join(image, "usr/local/share/dbus-1/services/dev.handoff1.Settings.service")) as file:
        expect("\nExec=/usr/local/bin/handoff-settings " in file.read(), "the bus starts another window")
    # Python only looks in the folders of its own version.
    folders = call("/usr/bin/python3", "-c", "import site; print(*site.getsitepackages())").stdout.split()
    module = os.path.join(next(each for each in folders if each.startswith("/usr/local/lib/")), "handoff.py")
    expect(module.lstrip("/") in found, f"no {module}: {found}")
    call("/usr/bin/python3", "-B", "-c", "import handoff; handoff.App", environment={"PYTHONPATH": image + os.path.dirname(module)})
    with open(os.path.join(image, "usr/local/share/dbus-1/services/dev.handoff1.Search.service")) as file:
        expect("\nExec=/usr/local/lib/handoff/handoff-search\n" in file.read(), "the bus starts another search")
    # It finds its parts relative to itself.
    version = call(os.path.join(image, "usr/local/bin/handoff-settings"), "--version").stdout
    expect(version.startswith("handoff-settings "), version)
    done = call(os.path.join(image, "usr/local/bin/handoff-settings"), environment={"DISPLAY": "", "WAYLAND_DISPLAY": ""}, code=1)
    expect("no display" in done.stderr or "gir1.2" in done.stderr, f"{done}")
    words = "import handoff_locale; print(handoff_locale._('Devices'))"
    german = call("/usr/bin/python3", "-B", "-c", words, environment={
        "PYTHONPATH": os.path.join(image, "usr/local/lib/handoff"), "LC_ALL": "C.UTF-8", "LANGUAGE": "de"}).stdout
    expect(german == "Geräte\n", german)


# ---- Units, firewalls, completions -------------------------------------------------------------------------------------

@test(f"the installed units are verified, and their exposure is at most {SCORE_LIMIT}")
def units(stage):
    needs("systemd-analyze", "make")
    image = install(stage)
    os.environ.setdefault("XDG_RUNTIME_DIR", stage.folder)
    user, system = (os.path.join(image, "usr/lib/systemd", kind) for kind in ("user", "system"))
    # Programs of the image do not exist for systemd. Any existing program will do.
    for place, _, names in os.walk(os.path.join(image, "usr/lib/systemd")):
        for name in names:
            path = os.path.join(place, name)
            with open(path) as file:
                text = re.sub(r"(?m)^Exec(Start|Reload)=/usr/bin/handoff(d|-desktop|ctl)\b", r"Exec\1=/bin/true", file.read())
            with open(path, "w") as file:
                file.write(text)
    os.rename(os.path.join(system, "handoffd@.service"), os.path.join(system, "handoffd@alice.service"))
    groups = (("--user", user, ("handoffd.service", "handoffd.socket", "handoffd-autostart.service",
                                "handoff-desktop.service", "handoff-desktop.socket", "handoff-deliver.service")),
              ("--system", system, ("handoffd@alice.service",)))
    for manager, folder, names in groups:
        done = call("systemd-analyze", "--no-pager", "verify", "--man=no", manager,
                    *(os.path.join(folder, name) for name in names))
        ours = [line for line in (done.stdout + done.stderr).splitlines() if "handoff" in line]
        expect(not ours, f"{names}: {ours}")
    merged = os.path.join(stage.folder, "handoffd.service")
    with open(merged, "w") as file:
        for name in ("handoffd.service", "handoffd.service.d/50-sandbox.conf"):
            with open(os.path.join(user, name)) as part:
                file.write(part.read() + "\n")
    for path in (merged, os.path.join(system, "handoffd@alice.service")):
        done = call("systemd-analyze", "--no-pager", "security", "--offline=yes", path)
        score = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
        expect(score and float(score.group(1)) <= SCORE_LIMIT, f"{path}: {score and score.group(1)}")
        print(f"  {os.path.basename(path)}: {score.group(1)}")


@test("the firewall profiles open the default port and the nine after it, and multicast DNS")
def firewalls(stage):
    root = xml.etree.ElementTree.parse(os.path.join(ROOT, "packaging/firewalld/handoff.xml")).getroot()
    ports = {(port.get("protocol"), port.get("port")) for port in root.findall("port")}
    expect(root.tag == "service" and root.findtext("short") and root.findtext("description"), "no firewalld service")
    expect(ports == {("tcp", f"{FIRST_PORT}-{LAST_PORT}"), ("udp", f"{FIRST_PORT}-{LAST_PORT}")}, f"{ports}")
    expect([item.get("service") for item in root.findall("include")] == ["mdns"], "without mdns")
    with open(os.path.join(ROOT, "packaging/ufw/handoff")) as file:
        lines = file.read().splitlines()
    fields = dict(line.split("=", 1) for line in lines[1:])
    expect(lines[0] == "[Handoff]" and set(fields) == {"title", "description", "ports"}, f"no ufw profile: {lines}")
    expect(fields["ports"] == f"{FIRST_PORT}:{LAST_PORT}/tcp|{FIRST_PORT}:{LAST_PORT}/udp|5353/udp", fields["ports"])
    with open(os.path.join(ROOT, "config/handoffd.conf")) as file:
        expect(f"default       {FIRST_PORT}, or one of the next nine ports" in file.read(), "the default port has changed")
    if shutil.which("ufw"):
        folder = os.path.join(stage.folder, "applications.d")
        os.mkdir(folder)
        shutil.copy(os.path.join(ROOT, "packaging/ufw/handoff"), folder)
        program = ("import sys, gettext; gettext.install('ufw'); import ufw.applications as a; p = a.get_profiles(sys.argv[1]); "
                   "all(a.verify_profile(n, p[n]) for n in p) or sys.exit(1); print(sorted(p))")
        expect("['Handoff']" in call("/usr/bin/python3", "-c", program, folder).stdout, "ufw does not accept the profile")


@test("the shells can parse their completion scripts")
def completions(stage):
    for shell, check in (("bash", ["-n"]), ("zsh", ["-n"]), ("fish", ["--no-execute"])):
        needs(shell)
        path = stage.file(f"completion.{shell}", call(os.path.join(BIN, "handoffctl"), "completion", shell).stdout)
        call(shell, *check, path)


# ---- Manual pages ------------------------------------------------------------------------------------------------------

def page(name):
    """Returns the text of a page, without its markup."""
    done = call("mandoc", "-Tutf8", "-Owidth=400", os.path.join(PAGES, name))
    return re.sub(".\b", "", done.stdout)


def commands():
    """Returns all commands with the names of their options, from the program's help."""
    ctl = os.path.join(BIN, "handoffctl")
    overview = call(ctl, "help").stdout
    block = overview.split("Commands:\n")[1].split("\n\n")[0]
    for line in block.splitlines():
        if not line.startswith("   "):
            words = [word for word in line.split("  ")[1].split() if re.fullmatch("[a-z][a-z-]*", word)]
            text = call(ctl, "help", *words).stdout
            yield " ".join(words), set(re.findall(r"^  (--[a-z-]+)", text, re.M)) - {"--socket", "--json", "--help"}


@test("the manual pages have no errors")
def lint(stage):
    needs("mandoc", "man")
    for name in sorted(os.listdir(PAGES)):
        path = os.path.join(PAGES, name)
        done = call("mandoc", "-Tlint", "-Wwarning", path, code=None)
        expect(not done.stdout and not done.stderr, f"mandoc: {done.stdout}{done.stderr}")
        done = call("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path)
        expect(not done.stderr, f"man: {done.stderr}")


@test("the manual pages and the command reference describe these programs and settings")
def fresh(stage):
    call("scripts/manual", "--check")


@test("handoffctl(1) documents every command and option of the program, and no other")
def tool_page(stage):
    needs("mandoc")
    text = page("handoffctl.1").split("\nCOMMANDS\n")[1].split("\nENVIRONMENT\n")[0]
    parts = re.split(r"(?m)^     (?=[a-z])", text)[1:]
    known = dict(commands())
    expect(len(known) > 15, f"only {list(known)}")
    said = {}
    for part in parts:
        names = [name for name in known if re.match(re.escape(name) + r"\s", part)]
        name = max(names, key=len, default=part.splitlines()[0])
        said[name] = set(re.findall(r"^             (--[a-z-]+)", part, re.M))
    expect(set(said) == set(known), f"page {sorted(said)}, program {sorted(known)}")
    for name, options in known.items():
        expect(said[name] == options, f"{name}: page {said[name]}, program {options}")


@test("handoffd(1) documents every option of the program, and no other")
def daemon_page(stage):
    needs("mandoc")
    said = set(re.findall(r"^     (--[a-z-]+)", page("handoffd.1").split("\nOPTIONS\n")[1], re.M))
    known = set(re.findall(r"^  (--[a-z-]+)", call(os.path.join(BIN, "handoffd"), "--help").stdout, re.M)) | {"--version"}
    expect(said == known, f"page {said}, program {known}")


def keys(source):
    """Returns the setting keys in a source file: those of the rows of its table, or those of its message."""
    with open(os.path.join(ROOT, "Sources", source)) as file:
        text = file.read()
    rows = re.findall(r'^        (?:Setting|PolicyKey)\(\s*"([a-z-]+)"', text, re.M)
    message = re.search(r"unknown key '[^']+'; allowed keys: ([a-z, -]+)\"", text)
    return set(rows) | set(message.group(1).split(", ") if message else [])


@test("the manual pages of settings document every known setting, and no other")
def settings_pages(stage):
    needs("mandoc")
    for name, source in (("handoffd.conf.5", "HandoffDaemon/Configuration/Setting+All.swift"),
                         ("handoff-policy.conf.5", "HandoffDaemon/Configuration/PolicyKey.swift"),
                         ("handoff-documents.conf.5", "HandoffDocuments/Roots/DocumentsFile.swift")):
        said = set(re.findall(r"^     ([a-z-]+) = ", page(name).split("\nSETTINGS\n")[1], re.M))
        known = keys(source)
        expect(said == known and known, f"{name}: {said - known} too many, {known - said} missing")


# ---- The Debian package ------------------------------------------------------------------------------------------------

@test("the package passes lintian, depends on the libraries it links and loads, and keeps settings as conffiles", limit=240)
def package(stage):
    needs("dh", "lintian", "dpkg-deb")
    if not all(static(os.path.join(BIN, name)) for name in ("handoffd", "handoff-desktop", "handoff-browser", "handoffctl")):
        raise Skip("these programs were not built by scripts/build", optional=True)
    # Minimal compression, which otherwise takes most of the time.
    made = call("scripts/deb", "--output", stage.folder, environment={"DPKG_DEB_COMPRESSOR_LEVEL": "0"}).stdout.split()
    window, extension, path = (next(each for each in made if f"/{name}_" in each) for name in ("handoff-settings", "webext-handoff", "handoff"))
    done = call("lintian", "--allow-root", "--fail-on", "warning,error", *made, code=None)
    expect(done.returncode == 0, f"lintian:\n{done.stdout}{done.stderr}")
    image = os.path.join(stage.folder, "extension")
    call("dpkg-deb", "--extract", extension, image)
    found = set(files(image))
    expect(not set(BROWSERS) - found and not set(INSTALLED) & found, f"of the extension: {found}")
    depends = call("dpkg-deb", "--field", path, "Depends").stdout
    for library in ("libssl3", "libnettle8", "libsystemd0", "libavahi-client3", "libavahi-core7", "libc6"):
        expect(re.search(rf"\b{library}\b", depends), f"no {library} in {depends}")
    control = os.path.join(stage.folder, "control")
    call("dpkg-deb", "--control", path, control)
    with open(os.path.join(control, "conffiles")) as file:
        conffiles = file.read().split()
    wanted = {"/etc/handoff/handoffd.conf", "/etc/handoff/documents.conf", "/etc/ufw/applications.d/handoff"}
    expect(set(conffiles) == wanted, f"conffiles: {conffiles}")
    for script in ("postinst", "prerm", "postrm"):
        call("sh", "-n", os.path.join(control, script))
    image = os.path.join(stage.folder, "package")
    call("dpkg-deb", "--extract", path, image)
    found = {name.removesuffix(".gz") for name in files(image)}
    expect(not set(INSTALLED) - found, f"missing: {set(INSTALLED) - found}")
    expect(not set(BROWSERS + SETTINGS) & found, "files of a separate package are in that of the programs")
    image = os.path.join(stage.folder, "window")
    call("dpkg-deb", "--extract", window, image)
    found = {name.removesuffix(".gz") for name in files(image)}
    expect(not set(SETTINGS) - found and not set(INSTALLED) & found, f"of the window: {found}")
    image = os.path.join(stage.folder, "package")
    sizes = [f"{name} {os.path.getsize(os.path.join(image, 'usr/bin', name)) / 1e6:.1f} MB" for name in ("handoffd", "handoff-desktop", "handoffctl")]
    print(f"  {', '.join(sizes)}")


@test("the extension and its host know each other by the ids that browsers assign")
def extension_ids(stage):
    def read(path):
        with open(os.path.join(ROOT, path)) as file:
            return json.load(file)
    manifest = read("WebExtension/manifest.json")
    # Chromium computes the id from the key: half of its hash, in other letters.
    digest = hashlib.sha256(base64.b64decode(manifest["key"])).hexdigest()[:32]
    chromium = "".join(chr(ord("a") + int(digit, 16)) for digit in digest)
    firefox = manifest["browser_specific_settings"]["gecko"]["id"]
    expect(read("packaging/browser/chromium.json")["allowed_origins"] == [f"chrome-extension://{chromium}/"], chromium)
    expect(read("packaging/browser/firefox.json")["allowed_extensions"] == [firefox], firefox)
    with open(os.path.join(ROOT, "Sources/HandoffBrowser/Host/BrowserCaller.swift")) as file:
        source = file.read()
    expect(f'"{chromium}"' in source and f'"{firefox}"' in source, "the host expects another extension")
    said = call(os.path.join(BIN, "handoffctl"), "--version").stdout.split()[1]
    expect(manifest["version"] == said, f"the extension is {manifest['version']}, handoffctl {said}")


@test("the desktop entry and the metadata of the window are valid, and links of a pairing code open in it")
def window_entry(stage):
    needs("desktop-file-validate", "appstreamcli")
    entry = os.path.join(ROOT, "Settings/dev.handoff1.Settings.desktop")
    done = call("desktop-file-validate", entry)
    expect(not done.stdout and not done.stderr, f"{done}")
    description = os.path.join(ROOT, "Settings/dev.handoff1.Settings.metainfo.xml")
    call("appstreamcli", "validate", "--no-net", description)
    component = xml.etree.ElementTree.parse(description).getroot()
    expect(component.findtext("project_license") == "Apache-2.0", "no licence")
    expect(all("".join(each.itertext()).strip() for each in component.findall("releases/release")), "a release without a description")
    with open(entry) as file:
        expect("\nMimeType=x-scheme-handler/handoff;\n" in file.read(), "no links")
    program = os.path.join(ROOT, "Settings/handoff-settings")
    versions = {call(each, "--version").stdout.split()[1] for each in (program, os.path.join(BIN, "handoffctl"))}
    expect(len(versions) == 1, f"{versions}")


@test("every version number is that of Version.swift")
def versions(stage):
    """Programs, packages and change log. The extension is compared together with its ids."""
    version = release()
    places = {
        "debian/changelog": rf"\Ahandoff \({re.escape(version)}\) ",
        "CHANGELOG.md": rf"(?m)^## {re.escape(version)}$",
        "WebExtension/manifest.json": rf'"version": "{re.escape(version)}"',
        "packaging/rpm/handoff.spec": rf"(?m)^Version: +{re.escape(version)}$",
        "Settings/handoff-settings": rf'(?m)^VERSION = "{re.escape(version)}"$',
        "Settings/dev.handoff1.Settings.metainfo.xml": rf'<release version="{re.escape(version)}" ',
        "packaging/arch/PKGBUILD": rf"(?m)^pkgver={re.escape(version)}$",
        "docs/command-reference.md": rf"handoffd/{re.escape(version)} runs",
    }
    for path, expression in places.items():
        with open(os.path.join(ROOT, path)) as file:
            expect(re.search(expression, file.read()), f"{path} has another version than {version}")
    for program in ("handoffctl", "handoffd", "handoff-desktop", "handoff-browser"):
        said = call(os.path.join(BIN, program), "--version").stdout
        expect(version in said.split(), f"{program} reports {said!r}")


if __name__ == "__main__":
    main()
