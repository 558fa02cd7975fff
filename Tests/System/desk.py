"""A device with simulated apps: their desktop entries, manifests and programs, and their use by the daemon."""

import json
import os
import shutil
import sys
import time

from harness import BIN, ROOT, Failure, Skip, expect, run

sys.path.append(os.path.join(ROOT, "Integrations", "python"))
import handoff  # noqa: E402

TYPE = "com.example.editing"
APP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "played_app.py")


def german(stage):
    """Returns the environment of a session in German, with the translations of the checkout."""
    if not shutil.which("msgfmt"):
        raise Skip("msgfmt is not installed (scripts/setup --tests)")
    done = run([os.path.join(ROOT, "scripts", "translations"), "compile", stage.folder], os.environ)
    expect(done.code == 0, str(done))
    return {"LANG": "C.UTF-8", "LANGUAGE": "de", "TEXTDOMAINDIR": os.path.join(stage.folder, "locale")}


class Desk:
    """A device whose apps are those of a test: its folders, programs and files."""

    def __init__(self, stage, manager=None, real=(), log_level="info", configuration=""):
        self.stage = stage
        self.origin = stage.daemon("origin")
        self.daemon = stage.daemon("taker", start=False, options=["--log-level", log_level], configuration=configuration)
        self.home = os.path.join(self.daemon.folder, "home")
        self.config = os.path.join(self.home, ".config", "handoff")
        self.data = os.path.join(self.daemon.folder, "data")
        self.system = os.path.join(self.daemon.folder, "system")
        self.programs = os.path.join(self.daemon.folder, "programs")
        for folder in (self.data, self.system, self.programs):
            os.makedirs(folder)
        for name in real:
            if not shutil.which(name):
                raise Skip(f"{name} is not installed")
            os.symlink(shutil.which(name), os.path.join(self.programs, name))
        self.daemon.extra = {
            "PATH": self.programs, "XDG_DATA_HOME": self.data, "XDG_DATA_DIRS": self.system,
            "XDG_CONFIG_HOME": os.path.dirname(self.config), "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
            **(manager.environment if manager else {}),
        }
        self.records = 0

    def start(self):
        self.daemon.start()
        self.stage.join(self.origin, self.daemon)
        self.watch = self.daemon.follow("watch")
        self.watch.wait("ready")
        return self

    def ctl(self, *words, **more):
        return self.daemon.ctl(*words, **more)

    def write(self, folder, name, content):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "w") as file:
            file.write(content)
        os.rename(path + ".new", path)
        return path

    def record(self):
        self.records += 1
        return os.path.join(self.daemon.folder, f"record-{self.records}")

    def command(self, record, *options):
        return [sys.executable, APP, record, *options]

    def entry(self, id, types=(), team=None, domains=(), exec="/bin/true", folder=None, extra=""):
        lines = ["[Desktop Entry]", "Type=Application", f"Name=The {id}", f"Exec={exec}"]
        if types:
            lines.append(f"X-Handoff-ActivityTypes={';'.join(types)};")
        if team:
            lines.append(f"X-Handoff-TeamID={team}")
        if domains:
            lines.append(f"X-Handoff-Domains={';'.join(domains)};")
        return self.write(folder or self.data, f"applications/{id}.desktop", "\n".join(lines) + f"\n{extra}\n")

    def manifest(self, id, words, **fields):
        return self.write(self.config, f"handlers.d/{id}.json", json.dumps({"name": f"The {id}", "exec": words, **fields}))

    def app(self, id, *options, **fields):
        """Installs a simulated app with a manifest. Returns its record."""
        record = self.record()
        self.manifest(id, self.command(record, "--app", id, *options), **fields)
        return record

    def browser(self, status=0):
        """Installs a simulated xdg-open, which writes its arguments to a file, one per line. Returns its path."""
        record = self.record()
        path = self.write(self.programs, "xdg-open", f"""#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word" >>'{record}.part'; done
/bin/mv '{record}.part' '{record}'
exit {status}
""")
        os.chmod(path, 0o755)
        return record

    def publish(self, type=TYPE, *words):
        publish = self.origin.publish(type, *words)
        self.offer = self.watch.wait("added", id=publish.id)
        return publish

    def opens(self, **fields):
        """Waits until the only offer opens in this way. Returns the way."""
        offer = self.offer
        limit = time.monotonic() + 60
        while not all(offer["opens"].get(key) == value for key, value in fields.items()):
            try:
                offer = self.watch.wait("changed", within=max(0.01, limit - time.monotonic()))
            except Failure as error:
                raise Failure(f"it opens by {offer['opens']}, not {fields}: {error}") from None
        self.offer = offer
        return offer["opens"]


def awaited(path, within=60):
    """Waits until a file exists, which a started program writes at its own pace."""
    limit = time.monotonic() + within
    while not os.path.exists(path):
        expect(time.monotonic() < limit, f"{path} does not exist")
        time.sleep(0.02)


def events(record, event, within=60, **fields):
    """Waits until a simulated app has recorded an event. Returns it."""
    limit = time.monotonic() + within
    seen = []
    while time.monotonic() < limit:
        if os.path.exists(record):
            with open(record) as file:
                seen = [json.loads(line) for line in file.read().split("\n")[:-1]]
        for line in seen:
            if line["event"] == event and all(line.get(key) == value for key, value in fields.items()):
                return line
        time.sleep(0.02)  # The app writes at its own pace.
    raise Failure(f"no '{event}' in {record}: {seen}")


def error(result):
    return json.loads(result.errors)


def downloads(desk, has_app=True):
    """Installs the app with which an installed device receives files. Returns the folder of received files."""
    folder = os.path.join(desk.home, "Fetched")
    desk.write(os.path.dirname(desk.config), "user-dirs.dirs", 'XDG_DOWNLOAD_DIR="$HOME/Fetched"\n')
    os.symlink(os.path.join(BIN, "handoffctl"), os.path.join(desk.programs, "handoffctl"))
    if has_app:
        with open(os.path.join(ROOT, "packaging", "handlers", "dev.handoff1.files.json")) as file:
            desk.write(desk.config, "handlers.d/dev.handoff1.files.json", file.read())
    return folder


def received(path, content):
    """Waits until a file is complete, which is when it is given its final name."""
    limit = time.monotonic() + 60
    while not os.path.exists(path):
        expect(time.monotonic() < limit, f"{path} did not arrive: {os.listdir(os.path.dirname(os.path.dirname(path)))}")
        time.sleep(0.02)
    with open(path, "rb") as file:
        expect(file.read() == content, f"{path} has other content")


def newer_state(stage, origin, receiver):
    """Publishes a draft on `origin`, and a newer state of it on a third device, which edits it exclusively. Returns both
    activities once `receiver` knows their lineage."""
    third = stage.daemon("third")
    stage.join(origin, third)
    editors = [handoff.App("com.example.Editor", path=each.socket) for each in (origin, third)]
    draft = editors[0].publish(TYPE, title="Draft", userInfo={"page": 1})
    draft.become_current()
    newer = editors[1].publish(
        TYPE, title="Letter", userInfo={"page": 2}, lineage={"id": draft.id, "step": 1}, exclusive=True)
    newer.become_current()

    def known():
        offers = {each["id"]: each for each in receiver.ctl("list").lines}
        return draft.id in offers and offers.get(newer.id, {}).get("exclusive")

    limit = time.monotonic() + 60
    while not known():
        expect(time.monotonic() < limit, f"the states are unknown: {receiver.ctl('list')}")
        time.sleep(0.05)
    return draft, newer
