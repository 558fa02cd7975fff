"""The commands of README.md, docs/account.md and docs/install.md: each line is run here, or by the test that is named below."""

import html
import os
import re

from harness import BIN, ROOT, expect, main, run, test
from transcripts import Play, blocks, differences, steps

README, INSTALL = "README.md", "docs/install.md"
# The pages whose transcripts use one account of two devices, in the order in which they run.
TUTORIAL = (README, "docs/account.md")
# Lines for a whole system: the file that runs the same, and a text in it that does.
ELSEWHERE = {
    "scripts/setup --package && make && make deb": ("scripts/test", "scripts/setup --tests"),
    "sudo apt install ./handoff_*.deb": ("Tests/System/root_package.py", 'self.apt("install"'),
    "sudo apt install ./.build/deb/handoff_*.deb": ("Tests/System/root_package.py", 'self.apt("install"'),
    'rpmbuild -bb --define "_sourcedir $PWD" handoff.spec': ("scripts/release", "rpmbuild -bb"),
    "makepkg": ("Tests/System/test_release.py", '"makepkg", "--nodeps"'),
    "make": ("scripts/test", "scripts/build"),
    "sudo make install": ("Tests/System/test_package.py", '"make", "install"'),
    # On booted machines.
    "systemctl --user daemon-reload": ("Tests/System/machines.py", 'self.systemctl("daemon-reload")'),
    "systemctl --user enable --now handoffd.socket handoff-desktop.socket handoffd-autostart.service":
        ("Tests/System/machine_sandbox.py", '"enable", "--now", "handoffd.socket", "handoff-desktop.socket"'),
    "ln -s /dev/null ~/.config/systemd/user/$unit.service.d/50-sandbox.conf":
        ("Tests/System/machine_units.py", '"ln", "-s", "/dev/null"'),
    # The profiles are parsed as the firewalls do. No firewall runs.
    "sudo firewall-cmd --permanent --add-service=handoff && sudo firewall-cmd --reload":
        ("Tests/System/test_package.py", "packaging/firewalld/handoff.xml"),
    "sudo ufw allow Handoff": ("Tests/System/test_package.py", "ufw.applications"),
}
HERE = {"scripts/demo"}
# Of the loop around a line above.
AROUND = {"for unit in handoffd handoff-desktop; do", "mkdir -p ~/.config/systemd/user/$unit.service.d", "done"}


def path(name):
    return os.path.join(ROOT, name)


@test("the transcripts of the README and of docs/account.md match the real output exactly", limit=280)
def transcripts(stage):
    play = Play(stage, "desk", "laptop")
    play.file("desk", "report.odt", "A report. " * 1000)
    os.mkdir(os.path.join(play.home("laptop"), "Documents"))
    shown = [lines for name in TUTORIAL for lines in blocks(path(name)) if steps(lines)]
    for lines in shown:
        # An account file admits a device that is in no account yet.
        if "account export" in lines[0]:
            file = Play(stage, "tower", "tablet", called={"desk": "tower", "laptop": "tablet"})
            file.devices["desk"].ctl("account", "create")
            file.run(lines)
        else:
            play.run(lines)
    expect(len(shown) >= 5, f"only {len(shown)} transcripts")
    with open(os.path.join(play.home("desk"), "report.odt")) as one, \
            open(os.path.join(play.home("laptop"), "Documents", "report.odt")) as other:
        expect(one.read() == other.read(), "the wrong file arrived")


# Transcripts that need more than devices on loopback, by their typed line: the file that compares each.
COMPARED_ELSEWHERE = {"handoffctl network list": "Tests/HandoffCommandsTests/NetworkCommandTests.swift"}


@test("the transcripts of all other pages match the real output exactly", limit=120)
def other_transcripts(stage):
    play, elsewhere = Play(stage, "desk"), set()
    play.devices["desk"].ctl("account", "create")
    for name in pages():
        for block in blocks(path(name)):
            expect(not any(line.startswith("$ handoffctl") for line in block), f"{name}: the device is missing in {block[0]}")
            if name in TUTORIAL or not steps(block):
                continue
            if steps(block)[0].command in COMPARED_ELSEWHERE:
                elsewhere.add(steps(block)[0].command)
            else:
                play.run(block)
    expect(elsewhere == set(COMPARED_ELSEWHERE), f"on no page: {set(COMPARED_ELSEWHERE) - elsewhere}")
    for place in COMPARED_ELSEWHERE.values():
        with open(path(place)) as file:
            expect("command-reference.md" in file.read(), f"{place} reads no page")


@test("a transcript with an additional, missing or different line is detected")
def letters(stage):
    shown = ["published  41f8069", "handoffctl: offered", "joined account d95ccfef-db748ce6-f289dcb3-b08101c2; 2 devices"]
    other = ["published  1234567", "joined account 00000000-db748ce6-f289dcb3-b08101c2; 2 devices", "handoffctl: offered"]
    expect(not differences(shown, other), "parts that differ each time are compared")
    for wrong in (shown[1:], [*shown, ""], ["published 41f8069", *shown[1:]], ["Published  41f8069", *shown[1:]], shown[::-1]):
        expect(differences(wrong, shown) and differences(shown, wrong), f"not detected: {wrong}")
    expect(not differences(["published  41f8069", "…"], shown) and differences(["…", "published  41f8069"], shown), "gaps")


@test("all other lines that are typed on the pages for new users are run in some test")
def lines(stage):
    typed = set()
    for name in (README, INSTALL):
        for block in blocks(path(name)):
            if not steps(block):
                typed |= {re.split(r"  +# ", line)[0].strip() for line in block}
    known = set(ELSEWHERE) | HERE | AROUND
    expect(typed == known, f"not run anywhere: {typed - known}; on no page: {known - typed}")
    for line, (name, text) in ELSEWHERE.items():
        with open(path(name)) as file:
            expect(text in file.read(), f"{name} no longer runs '{line}'")


def pages():
    """Returns the pages of the project, as paths from its root."""
    found = [name for name in os.listdir(ROOT) if name.endswith(".md")]
    for folder in ("docs", "Examples", "Tests/Peer"):
        for place, _, names in os.walk(path(folder)):
            found += [os.path.relpath(os.path.join(place, name), ROOT) for name in names if name.endswith(".md")]
    return sorted(found)


def anchors(name):
    """Returns the targets of links in a page: its headings, spelled as web sites spell them, and its named anchors."""
    with open(path(name)) as file:
        text = file.read()
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    spelled = {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
    return spelled | set(re.findall(r'<a id="([^"]+)"></a>', text))


@test("every link between pages has a target, and the index lists every page")
def links(stage):
    dead, linked = [], set()
    for name in pages():
        with open(path(name)) as file:
            targets = re.findall(r"\]\(([^)\s]+)\)", file.read())
        for target in targets:
            if re.match(r"[a-z]+:", target):
                continue
            place, _, anchor = target.partition("#")
            whole = os.path.normpath(os.path.join(os.path.dirname(name), place)) if place else name
            if name == "docs/README.md":
                linked.add(whole)
            if not os.path.exists(path(whole)) or anchor and whole.endswith(".md") and anchor not in anchors(whole):
                dead.append(f"{name}: {target}")
    expect(not dead, f"without a target: {dead}")
    within = {name for name in pages() if re.match(r"docs/(decisions/)?[^/]*\.md$", name)} - {"docs/README.md"}
    expect(within <= linked, f"not in docs/README.md: {sorted(within - linked)}")


def typed_in(picture):
    """Returns the commands that are typed in a picture of a terminal."""
    with open(path(f"docs/images/{picture}.svg")) as file:
        return {html.unescape(text) for text in re.findall(r'class="typed"[^>]*>([^<]*)<', file.read())}


@test("the picture of the README shows its first two transcripts")
def picture(stage):
    shown = typed_in("first-handoff")
    transcripts = [steps(block) for block in blocks(path(README)) if steps(block)][:2]
    typed = {step.command for transcript in transcripts for step in transcript}
    expect(shown == typed, f"update it with scripts/screenshots terminal: picture {shown}, page {typed}")


@test("the pages for developers have pictures, whose commands are on the page")
def page_pictures(stage):
    for name in ("agents", "editors", "git", "terminal"):
        shown = {text for text in typed_in(f"terminal-{name}") if "handoff-" in text}
        with open(path(f"docs/{name}.md")) as file:
            text = file.read()
        expect(shown, f"terminal-{name} has no command")
        expect(re.search(rf"!\[[^]]{{40,}}\]\(images/terminal-{name}\.svg\)", text), f"docs/{name}.md does not show its picture")
        expect(all(each in text for each in shown), f"update the picture with scripts/screenshots terminal: {shown}, {name}.md")


@test("scripts/demo hands over an activity and a file, and leaves nothing behind", limit=120)
def demo(stage):
    done = run([path("scripts/demo"), "--no-build"], {**os.environ, "HANDOFF_BIN": BIN, "TMPDIR": stage.folder}, 110)
    expect(done.code == 0 and "The payload is identical: " in done.output, str(done))
    expect(os.listdir(stage.folder) == [], f"left: {os.listdir(stage.folder)}")


if __name__ == "__main__":
    main()
