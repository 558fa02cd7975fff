"""Checkouts for the tests of handoff-git: random states, their comparison, and the transfer of a state without daemons."""

import argparse
import contextlib
import hashlib
import importlib.machinery
import importlib.util
import os
import random
import socket
import stat
import subprocess
import sys
import tempfile
import threading

from harness import BIN, ROOT, Failure, expect

PROGRAM = os.path.join(ROOT, "Integrations", "git", "handoff-git")
REMOTE = "git@example.org:notes/letters.git"
NAMES = ["a", "b.txt", "c", "dir/x", "dir/y", "dir/deep/z", "crlf.bat", "-x", ":x", "*y", "ä ü", "line\nend", "latin-\udce9",
         "run.sh"]


def load():
    """Returns the program as a module."""
    sys.path.insert(0, os.path.dirname(PROGRAM))
    loader = importlib.machinery.SourceFileLoader("handoff_git_program", PROGRAM)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class Checkout:
    def __init__(self, place, environment):
        self.place, self.environment = os.path.realpath(place), environment

    def git(self, *words, check=True, input=None):
        more = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
        done = subprocess.run(["git", "-C", self.place, *words], env=self.environment, capture_output=True, **more)
        expect(not check or done.returncode == 0, f"git {words}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def path(self, name):
        return os.path.join(self.place, name)

    def write(self, name, content=b"words\n", mode=None):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.islink(path):
            os.unlink(path)
        with open(path, "wb") as file:
            file.write(content)
        if mode:
            os.chmod(path, mode)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def commit(self, message="more"):
        self.git("commit", "-qam", message, "--allow-empty")
        return self.head

    @property
    def head(self):
        return self.git("rev-parse", "HEAD").decode().strip()

    @property
    def branch(self):
        return self.git("symbolic-ref", "-q", "--short", "HEAD", check=False).decode().strip()

    def names(self, *words):
        return set(self.git("ls-files", "-z", *words).split(b"\0")[:-1])

    def untracked(self):
        return {each for each in self.names("-o", "--exclude-standard") if not each.endswith(b"/")}

    def index(self):
        """Returns the differences between the head and the index, with entries that are only intended."""
        return self.git("diff-index", "--cached", "-z", "--ita-visible-in-index", "--no-renames", "HEAD")

    def branches(self):
        rows = self.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags", "refs/stash").decode()
        return {row.split(" ", 1)[1]: row.split(" ", 1)[0] for row in rows.splitlines()}

    def files(self):
        """Returns the kind and content of every file and link outside of Git's folder."""
        found, top = {}, os.fsencode(self.place)
        for folder, folders, names in os.walk(top):
            if folder == top and b".git" in folders:
                folders.remove(b".git")
            for name in names + [each for each in folders if os.path.islink(os.path.join(folder, each))]:
                path = os.path.join(folder, name)
                if path != os.path.join(top, b".git"):
                    found[os.path.relpath(path, top)] = entry(path)
        return found

    def unchanged(self):
        """Returns all that a refused transfer leaves alone: all files, and Git's except objects and kept work."""
        skipped = ("objects/", "refs/handoff", "handoff-", "logs/refs/handoff")
        return self.files(), {path: mark for path, mark in stored(self.path(".git")).items()
                              if not path.startswith(tuple(self.path(f".git/{each}") for each in skipped))}

    def everything(self):
        return self.head, self.branch, self.index(), self.branches(), self.files()


def entry(path):
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        return "link", os.fsencode(os.readlink(path))
    if not stat.S_ISREG(status.st_mode):
        return ("special",)
    with open(path, "rb") as file:
        return "program" if status.st_mode & 0o100 else "file", file.read()


def stored(folder):
    """Returns the identity and time of each file of Git's folder. Git renews the times of objects and shared
    indexes that it meets again."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            status, is_renewed = os.lstat(os.path.join(place, name)), "/objects/" in place or name.startswith("sharedindex.")
            found[os.path.join(place, name)] = status.st_ino, status.st_size, is_renewed or status.st_mtime_ns
    return found


def settings(folder):
    """Creates the home of a user of Git. Returns the environment."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, ".gitconfig"), "w") as file:
        file.write("[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n"
                   "\tallow = always\n[gc]\n\tauto = 0\n[advice]\n\tdetachedHead = false\n")
    return {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8", "XDG_CONFIG_HOME": os.path.join(folder, ".config")}


def created(place, environment):
    """Creates a repository with a commit of all kinds of files."""
    os.makedirs(place)
    made = Checkout(place, environment)
    made.git("init", "-q")
    for name in NAMES:
        made.write(name, f"{name}\n".encode("utf-8", "surrogateescape") * 5, 0o755 if name == "run.sh" else None)
    made.write("crlf.bat", b"one\r\ntwo\r\n")
    made.write(".gitattributes", b"*.bat eol=crlf\n*.txt text\n")
    made.write(".gitignore", b"*.o\nbuild/\n")
    os.symlink("dir/x", made.path("link"))
    os.symlink("/etc/passwd", made.path("outside"))
    made.git("add", ".")
    made.commit("first")
    made.git("branch", "other")
    made.git("remote", "add", "origin", REMOTE)
    made.git("update-ref", "refs/remotes/origin/main", "HEAD")
    return made


# ---- Random states -------------------------------------------------------------------------------------------------------


def change(checkout, chance):
    """Makes one random change, as a user does."""
    tracked = sorted(os.fsdecode(each) for each in checkout.names() if os.path.lexists(checkout.path(os.fsdecode(each))))
    name, text = chance.choice(tracked or ["a"]), f"{chance.random()}\n".encode()
    fresh = chance.choice(["new", "dir/new", "deep/er/new", "q\"uote", "new\n2", "n.o", "é", ".x"]) + str(chance.randrange(3))
    path, is_file = checkout.path(name), name in tracked and not os.path.islink(checkout.path(name))

    def edit():
        checkout.write(name, (checkout.read(name) if is_file and os.path.isfile(path) else b"") + text)

    def remove():
        if os.path.lexists(path):
            os.unlink(path)

    def swap_for_folder():
        remove()
        checkout.write(f"{name}/inside", text)

    def swap_for_link():
        remove()
        os.symlink(chance.choice(["a", "/nowhere", "../../out"]), path)

    def folder_to_file():
        subprocess.run(["rm", "-rf", checkout.path("dir")], check=True)
        checkout.write("dir", text)

    def one_line_end():
        if is_file and os.path.isfile(path):
            checkout.write(name, checkout.read(name).replace(b"\n", b"\r\n", 1))

    def same_size():
        if is_file and os.path.isfile(path) and (content := checkout.read(name)):
            moment = os.stat(path).st_mtime_ns
            checkout.write(name, b"!" + content[1:])
            os.utime(path, ns=(moment, moment))

    def quietly(*words):
        return lambda: checkout.git(*words, check=False)

    def flagged():
        checkout.git("update-index", "--assume-unchanged", "--", name, check=False)
        edit()

    choices = [
        edit, edit, edit, lambda: (edit(), checkout.git("add", "--", name, check=False)),
        lambda: (edit(), checkout.git("add", "--", name, check=False), edit()), remove, quietly("rm", "-q", "-f", "--", name),
        quietly("rm", "-q", "--cached", "--", name), quietly("mv", "--", name, fresh), swap_for_folder, swap_for_link,
        folder_to_file, same_size, same_size,
        lambda: (swap_for_folder(), checkout.git("add", "-A", check=False)), one_line_end, flagged,
        lambda: os.path.lexists(path) and not os.path.islink(path) and os.chmod(path, 0o755),
        quietly("update-index", "--chmod=+x", "--", name), lambda: checkout.write(fresh, text),
        lambda: (checkout.write(fresh, text), checkout.git("add", "--", fresh, check=False)),
        lambda: (checkout.write(fresh, text), checkout.git("add", "-N", "--", fresh, check=False)),
        lambda: checkout.write("build/" + fresh.replace("/", ""), text), quietly("commit", "-qm", "staged"),
        quietly("commit", "-qam", "all"), quietly("checkout", "-q", "-b", f"topic/{chance.randrange(3)}"),
        quietly("checkout", "-q", "--detach"), quietly("checkout", "-q", "other"), lambda: checkout.write("empty", b""),
        lambda: (checkout.write(".gitattributes", b"*.bat eol=lf\n* text=auto\n"),
                 checkout.git("add", ".gitattributes", check=False)),
    ]
    with contextlib.suppress(OSError):
        chance.choice(choices)()


def randomly(checkout, chance, count):
    for _ in range(chance.randrange(count + 1)):
        change(checkout, chance)


# ---- The transfer without daemons ----------------------------------------------------------------------------------------


class Transfer:
    """Sends the state of one checkout to another as the program does, over a socket pair."""

    def __init__(self, program, source, target, **options):
        self.program, self.source, self.target, self.events = program, source, target, []
        self.options = argparse.Namespace(**{"untracked": False, "to": None, "branch": None, "worktree": None, "clone": None,
                                             "into": target.place if target else None, **options})

    def event(self, name, _, **fields):
        self.events.append((name, fields))

    def run(self):
        """Returns the report. Raises Failure of the program if the transfer is refused."""
        program = self.program
        with environment(self.source.environment):
            publication = program.Publication(program.Repository(self.source.place), self.options, self)
            fields = publication.fields()
        content = {"title": fields.get("title"), "userInfo": fields["userInfo"], "origin": {"deviceName": "desk"}}
        here, there = socket.socketpair()
        with environment(self.source.environment):
            serving = threading.Thread(target=publication._serve, args=(there, "laptop"))
            serving.start()
            try:
                offered = program.Offered(content)
                if offered.problem:
                    raise program.Failure(offered.problem)
                self.place = program.Place(offered, self.options)
                program.card(offered, self.place)
                return program.received(program.Stream(here), offered, self.place, self.options)
            finally:
                with contextlib.suppress(OSError):
                    here.shutdown(socket.SHUT_RDWR)
                serving.join(60)


@contextlib.contextmanager
def environment(variables):
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class Pair:
    """Two checkouts in random states, and what must hold after the work of the first one was continued in the second."""

    def __init__(self, program, folder, template, environment, number):
        self.program, self.chance, self.number = program, random.Random(number), number
        self.source, self.target = (Checkout(os.path.join(folder, f"{number}-{name}"), environment) for name in ("from", "to"))
        for each in (self.source, self.target):
            subprocess.run(["cp", "-a", template, each.place], check=True)
        self.outcome = "none"

    def check(self):
        randomly(self.source, self.chance, 12)
        randomly(self.target, self.chance, self.chance.choice([0, 0, 1, 4]))
        if self.leg(self.source, self.target) == "here" and self.chance.random() < 0.6:
            randomly(self.target, self.chance, 3)
            self.leg(self.target, self.source, is_return=True)

    def leg(self, source, target, is_return=False):
        """Checks one transfer. Returns the kind of place in which the work was continued."""
        about = f"pair {self.number}{' back' if is_return else ''}"
        untracked = self.chance.random() < 0.5
        before, was = target.everything(), (stored(source.path(".git")), source.files())
        is_unchanged, flagged = not target.git("status", "--porcelain", "-uno"), self._flagged(target)
        is_clean, unseen = is_unchanged and not flagged, self._unseen(target)
        transfer = Transfer(self.program, source, target, untracked=untracked)
        try:
            report = transfer.run()
        except self.program.Failure as failure:
            self.outcome = f"refused: {failure}"
            now = target.everything()
            expect(now == before, f"{about}: a refused transfer changed the target ({failure}): {difference(before, now)}")
            reasons = ("would be overwritten", "gitattributesBlob")
            expect(any(text in str(failure) for text in reasons), f"{about}: {failure}")
            return "refused"
        finally:
            now = (stored(source.path(".git")), source.files())
            expect(now == was, f"{about}: the source was changed: {difference(was, now)}")
        place = Checkout(report["path"], target.environment)
        self.outcome = transfer.place.kind
        expect(not report["different"], f"{about}: {report}")
        expect(place.head == source.head, f"{about}: another head")
        expect(place.index() == source.index(), f"{about}: another index: {place.index()} {source.index()}")
        wanted = source.names() | (source.untracked() if untracked else set())
        here, there = source.files(), place.files()
        hidden = unseen if transfer.place.kind == "here" and is_unchanged else set()
        wrong = {name: (here.get(name), there.get(name)) for name in wanted - hidden if here.get(name) != there.get(name)}
        expect(not wrong, f"{about}: other files: {wrong}")
        kept = target.branches()
        for name, tip in before[3].items():
            moved = kept.get(name)
            expect(moved and tip in target.git("rev-list", moved).decode().split(), f"{about}: {name} lost commits")
        if transfer.place.kind == "worktree":
            now = target.everything()
            expect((now[:3], now[4]) == (before[:3], before[4]), f"{about}: changed: {difference(before[4], now[4])}")
        else:
            self._replaced(about, target, before, report, is_clean, wanted)
        return transfer.place.kind

    def _replaced(self, about, target, before, report, is_clean, wanted):
        """Checks that each file of the target is still there, or in a commit."""
        now = target.files()
        replaced = [name for name, old in before[4].items() if now.get(name) != old]
        expect(is_clean or report["before"] or not replaced, f"{about}: uncommitted work was replaced: {replaced}")
        stored = set(target.git("rev-list", "--objects", "--no-object-names", "--all", before[0]).decode().split())
        for name, old in before[4].items():
            if now.get(name) != old and old[0] != "special":
                ids = {target.git("hash-object", "--stdin", "--no-filters", input=each).decode().strip()
                       for each in (old[1], old[1].replace(b"\r\n", b"\n"))}
                expect(ids & stored, f"{about}: {name} was lost: {old}")

    @staticmethod
    def _unseen(target):
        """Returns files that differ from the index. If Git does not see that, as with --assume-unchanged, other line ends, or a
        change within the second in which it read them, they stay as they are."""
        rows = [row.split(b"\t", 1) for row in target.git("ls-files", "-s", "-z").split(b"\0")[:-1]]
        files, found = target.files(), set()
        for words, name in rows:
            content = files.get(name, (None, b""))[1]
            whole = b"blob %d\0" % len(content) + content
            if hashlib.sha1(whole).hexdigest() != words.split()[1].decode():
                found.add(name)
        return found

    @staticmethod
    def _flagged(target):
        return {row[2:] for row in target.git("ls-files", "-v", "-z").split(b"\0") if row[:1].islower()}


def difference(left, right):
    if isinstance(left, dict):
        return {name: (left.get(name), right.get(name)) for name in left.keys() | right.keys()
                if left.get(name) != right.get(name)}
    return [(one, other) if not isinstance(one, dict) else difference(one, other)
            for one, other in zip(left, right) if one != other]


# ---- Common parts of the tests ----------------------------------------------------------------------------------------


program = load()


class Template:
    """A repository that all tests copy, and the home of its user."""

    folder = None

    @classmethod
    def get(cls):
        if not cls.folder:
            cls.folder = tempfile.mkdtemp(prefix="handoff-git-test-")
            cls.environment = settings(os.path.join(cls.folder, "home"))
            cls.made = created(os.path.join(cls.folder, "template"), cls.environment)
        return cls


def pair(stage, names=("from", "to"), template=None):
    """Returns two clean checkouts of one repository."""
    source = Template.get()
    places = [os.path.join(tempfile.mkdtemp(dir=stage.folder), name) for name in names]
    for place in places:
        subprocess.run(["cp", "-a", (template or source.made).place, place], check=True)
    made = [Checkout(place, source.environment) for place in places]
    for each in made:  # The copies have other times, without which `sparse-checkout` removes nothing.
        each.git("update-index", "-q", "--refresh")
    return made


def refused(transfer, *texts):
    """Runs a transfer, which must be refused for this reason, and change nothing at the target."""
    before = transfer.target and transfer.target.unchanged()
    try:
        report = transfer.run()
    except program.Failure as failure:
        expect(all(text in str(failure) for text in texts), f"another reason: {failure}, not {texts}")
        expect(not transfer.target or transfer.target.unchanged() == before, f"the target was changed: {failure}")
        return str(failure)
    raise Failure(f"not refused for {texts}: {report}")


def carried(source, target, kind="here", **options):
    """Continues the work, and checks that it is the same there. Returns the report and the new place."""
    transfer = Transfer(program, source, target, **options)
    report = transfer.run()
    place = Checkout(report["path"], source.environment)
    expect(transfer.place.kind == kind, f"continued in {transfer.place.kind}: {transfer.place.reason}")
    expect(not report["different"] and place.head == source.head and place.index() == source.index(), f"another state: {report}")
    wrong = difference(*({name: each.files().get(name) for name in source.names()} for each in (source, place)))
    expect(not wrong, f"other files: {wrong}")
    return report, place
