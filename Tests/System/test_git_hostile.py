#!/usr/bin/env python3
"""Work of a Git checkout from a device that sends hostile objects, names and descriptions, and checkouts whose configuration
would run programs. The rows are those in docs/hostile-activities.md."""

import glob
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import zlib

import checkouts
from checkouts import PROGRAM, Checkout, Transfer, environment, pair, program
from harness import Failure, expect, main, test

EVIL = "\x1b]0;EVIL\x07\u202e\x1b[2J"
NOTES = {"version": 1, "branch": "main", "time": 0, "untracked": True, "keys": ["k"], "added": [], "bases": [], "lfs": [],
         "files": 0}


def surroundings(stage):
    """Returns all files outside of the checkouts."""
    found = {}
    for folder, folders, names in os.walk(stage.folder):
        folders[:] = [each for each in folders if each not in ("to", "from") and not each.startswith("to-")]
        found.update({os.path.join(folder, name): checkouts.entry(os.path.join(folder, name)) for name in names})
    return found


class Attacker:
    """Builds objects that Git itself would not write."""

    def __init__(self, checkout):
        self.checkout = checkout

    def object(self, kind, data):
        whole = f"{kind} {len(data)}\0".encode() + data
        name = hashlib.sha1(whole).hexdigest()
        path = self.checkout.path(f".git/objects/{name[:2]}/{name[2:]}")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(zlib.compress(whole))
        return name

    def tree(self, *rows):
        return self.object("tree", b"".join(f"{mode} ".encode() + name + b"\0" + bytes.fromhex(id)
                                            for mode, name, id in rows))

    def commit(self, tree, *parents, message=b"x", time=0):
        rows = [f"tree {tree}", *(f"parent {each}" for each in parents)]
        rows += ["author a <a@b> 0 +0000", f"committer a <a@b> {time} +0000"]
        return self.object("commit", "\n".join([*rows, ""]).encode() + b"\n" + message)

    def blob(self, data=b"evil\n"):
        return self.object("blob", data)

    def state(self, work, index=None, head=None, **notes):
        """Returns a state with these trees."""
        head = head or self.checkout.head
        staged = self.commit(index or self.checkout.git("rev-parse", "HEAD^{tree}").decode().strip(), head)
        message = json.dumps({**NOTES, **notes}).encode() if "raw" not in notes else notes["raw"]
        return self.commit(work, head, staged, message=message)

    def whole(self, *rows):
        """Returns the tree of the head with more entries."""
        known = self.checkout.git("ls-tree", "-z", "HEAD").split(b"\0")[:-1]
        entries = [(row.split()[0].decode().lstrip("0"), row.split(b"\t")[1], row.split()[2].decode()) for row in known]
        entries = [each for each in entries if each[1] not in [row[1] for row in rows]] + list(rows)
        return self.tree(*sorted(entries, key=lambda row: row[1] + (b"/" if row[0] == "40000" else b"")))


class Hostile(Transfer):
    """A device that sends these objects and headers, or bytes."""

    def __init__(self, source, target, work=None, header=(), data=None, info=(), **options):
        super().__init__(program, source, target, **options)
        self.work, self.header, self.data, self.info = work, dict(header), data, dict(info)

    def run(self):
        here, there = socket.socketpair()
        serving = threading.Thread(target=self.serve, args=(there,))
        serving.start()
        info = {"version": 1, "name": "letters", "repository": "example.org/notes/letters", "branch": "main",
                "format": "sha1", "head": self.source.head, "subject": "s", "staged": 0, "changed": 1, "untracked": 0,
                "untrackedLeft": 0, "time": 0,                "bases": [], "remotes": {}, **self.info}
        title = self.info.get("title", "letters: main")
        try:
            with environment(self.target.environment):
                device = self.info.get("device", "desk")
                offered = program.Offered({"title": title, "userInfo": info, "origin": {"deviceName": device}})
                if offered.problem:
                    raise program.Failure(program.visible(offered.problem))
                self.place = program.Place(offered, self.options)
                self.card = program.card(offered, self.place)
                return program.received(program.Stream(here), offered, self.place, self.options)
        finally:
            here.shutdown(socket.SHUT_RDWR)
            serving.join(60)

    def serve(self, there):
        with there, there.makefile("rb") as file:
            while file.readline():
                data = self.data
                if data is None:
                    large = str(self.header.get("large"))
                    more = f"{large}\n" if len(large) == 40 else ""
                    pack = self.source.git("pack-objects", "--revs", "--stdout", "-q", input=f"{self.work}\n{more}".encode())
                    header = {"version": 1, "work": self.work, "large": None, "pack": len(pack), "shallow": [], **self.header}
                    data = json.dumps(header).encode() + b"\n" + pack
                try:
                    there.sendall(data)
                except OSError:
                    return
                if self.data is not None:
                    return


def refused(transfer, *texts):
    before = transfer.target.unchanged()
    try:
        report = transfer.run()
    except program.Failure as failure:
        expect(not texts or any(text in str(failure) for text in texts), f"another reason: {failure}, not {texts}")
        expect("\x1b" not in str(failure) and "\u202e" not in str(failure), f"not escaped: {failure!r}")
        expect(transfer.target.unchanged() == before, f"the target was changed: {failure}")
        return
    raise Failure(f"not refused for {texts}: {report}")


@test("trees that Git would not write are refused before they are stored")
def trees(stage):
    source, target = pair(stage)
    evil, outside = Attacker(source), surroundings(stage)
    blob, link = evil.blob(), evil.blob(b"/tmp")
    inner = evil.tree(("100644", b"x", blob))
    hooks = evil.tree(("40000", b"hooks", evil.tree(("100755", b"post-checkout", blob))))
    modules = evil.blob(b'[submodule "x"]\n\tpath = x\n\turl = -u./x\n')
    rows = {
        "hasDotgit": [("40000", b".git", hooks)], "hasDotdot": [("40000", b"..", inner)], "hasDot": [("40000", b".", inner)],
        "hasDotgit ": [("40000", b".GIT", hooks)], "hasDotgit  ": [("40000", ".g\u200cit".encode(), hooks)],
        "hasDotgit   ": [("40000", b"git~1", hooks)], "fullPathname": [("100644", b"a/../../x", blob)],
        "duplicateEntries": [("100644", b"zz", blob), ("40000", b"zz", inner)],
        "duplicateEntries ": [("120000", b"zz", link), ("40000", b"zz", inner)],
        "treeNotSorted": None,
        "gitmodulesUrl": [("100644", b".gitmodules", modules)], "gitmodulesSymlink": [("120000", b".gitmodules", link)],
    }
    for reason, entries in rows.items():
        tree = evil.whole(*entries) if entries else evil.tree(("100644", b"z", blob), ("100644", b"a", blob))
        for kinds in ({"work": tree}, {"work": evil.whole(), "index": tree}):
            refused(Hostile(source, target, evil.state(**kinds)), reason.strip(), "objects were refused")
        expect(not target.git("cat-file", "-e", tree, check=False) and not target.git("for-each-ref", "refs/handoff"), "kept")
    expect(not target.git("rev-parse", "-q", "--verify", "refs/handoff", check=False), "a reference was written")
    expect(surroundings(stage) == outside, "files outside of the checkout were changed")


@test("links in the tree and in the checkout are never followed")
def links(stage):
    source, target = pair(stage)
    evil = Attacker(source)
    secret = os.path.join(stage.folder, "secret")
    os.mkdir(secret)
    with open(os.path.join(secret, "file"), "w") as file:
        file.write("of the user\n")
    outside = surroundings(stage)
    deep = evil.tree(("100644", b"file", evil.blob()))
    # A link of the user that Git ignores leads out of the checkout.
    target.write(".git/info/exclude", b"out\n")
    os.symlink(secret, target.path("out"))
    refused(Hostile(source, target, evil.state(evil.whole(("40000", b"out", deep)))), "would be overwritten: out")
    # A link that the work contains is created, and not followed by later work.
    linked = evil.whole(("120000", b"away", evil.blob(os.fsencode(secret))))
    report = Hostile(source, target, evil.state(linked, linked)).run()
    expect(os.readlink(target.path("away")) == secret and not report["different"], f"{report}")
    below = evil.whole(("40000", b"away", deep))
    Hostile(source, target, evil.state(below, below)).run()
    expect(target.read("away/file") == b"evil\n" and not os.path.islink(target.path("away")), "not a folder")
    expect(surroundings(stage) == outside, "files outside of the checkout were changed")
    # A repository of the user inside of the checkout.
    inside = Checkout(target.path("out2"), target.environment)
    target.git("init", "-q", "out2")
    with open(target.path(".git/info/exclude"), "a") as file:
        file.write("out2\n")
    hooks = evil.tree(("40000", b".git", evil.tree(("100644", b"config", evil.blob()))))
    refused(Hostile(source, target, evil.state(evil.whole(("40000", b"out2", hooks)))), "hasDotgit", "objects were refused")
    expect(inside.git("config", "core.bare").strip() == b"false", "its configuration was changed")


@test("invalid descriptions, branches and paths are refused, and text is escaped")
def descriptions(stage):
    source, target = pair(stage)
    evil = Attacker(source)
    work = evil.whole(("100644", b"new", evil.blob()))
    for name in ("--upload-pack=touch x", "-x", "../../x", "refs/../../x", "a..b", "a\nb", "a b", "x.lock", "", "@{-1}", "HEAD",
                 "a\\b", EVIL, "x" * 5000, "/"):
        refused(Hostile(source, target, evil.state(work, branch=name)), "not a valid", "git update-ref failed")
        refused(Hostile(source, target, evil.state(work), branch=name or "-"), "not a valid", "git update-ref failed")
    outside = surroundings(stage)
    for path in ("../../x", ".git/hooks/x", "/etc/passwd", "a/../b", ".GIT/x", "x//y", "./x", "x/."):
        refused(Hostile(source, target, evil.state(work, added=[f"100644 {path}"])), "is refused", "git add failed", "exists")
    refused(Hostile(source, target, evil.state(work, added=["120000 b", "100644 b/x"])), "invalid description")
    expect(surroundings(stage) == outside, "files outside of the checkout were changed")
    for kind in ("worktree", "clone"):  # A new folder is removed again.
        place = os.path.join(stage.folder, f"to-{kind}")
        more = {kind: place, "into": None if kind == "clone" else target.place}
        refused(Hostile(source, target, evil.state(work, branch="-x"), **more), "not a valid")
        expect(not os.path.exists(place) and target.git("worktree", "list").count(b"\n") == 1, f"a {kind} remains")
    for notes in ({"added": ["../../x"]}, {"added": ["777 x"]}, {"added": ["100644 \0"]}, {"added": ["100644 \ud800"]},
                  {"added": 3}, {"lfs": None}, {"keys": [1]}, {"branch": 3}, {"version": 2}, {"time": "x"}, {"bases": {}},
                  {"raw": b"[" * 100_000}, {"raw": b"\xff"}, {"raw": b""}, {"raw": b"[]"}):
        refused(Hostile(source, target, evil.state(work, **notes)), "invalid description")
    for commit in (evil.commit(work), evil.commit(work, source.head), source.head):
        refused(Hostile(source, target, commit), "did not send the state of a checkout", "no commit", "invalid description")
    refused(Hostile(source, target, work), "failed", "refused", "lack")
    hooked = evil.state(work, lfs=["../../x", "/etc/passwd", ".git/config"])
    expect(not Hostile(source, target, hooked).run()["different"], "paths of LFS files are only compared")
    for info in ({"head": "--help"}, {"head": None}, {"head": 3}, {"staged": "x"}, {"staged": -1}, {"time": 1.5}, {"version": 2},
                 {"bases": [1]}, {"bases": 3}, {"name": []}, {"format": {}}, {"branch": 1}):
        refused(Hostile(source, target, evil.state(work), info=info), "no valid description")
    refused(Hostile(source, target, evil.state(work), info={"problem": EVIL}))
    refused(Hostile(source, target, evil.state(work), info={"format": EVIL}), "object formats")
    text = Hostile(source, target, evil.state(work), info={key: EVIL for key in ("title", "subject", "branch", "device", "name")})
    text.run()
    expect("\x1b" not in text.card[1] and "\u202e" not in text.card[1] and "\\u{1B}" in text.card[1], f"{text.card[1]!r}")
    expect(b"\x1b" not in target.git("reflog"), "in the log")


@test("invalid messages and packs are refused")
def messages(stage):
    source, target = pair(stage)
    evil = Attacker(source)
    work = evil.state(evil.whole(("100644", b"new", evil.blob())))
    for header in ({"work": "--help"}, {"work": "HEAD"}, {"work": None}, {"pack": -1}, {"pack": "3"}, {"pack": 1 << 50},
                   {"pack": 0}, {"shallow": ["x"]}, {"shallow": 3}, {"large": "--all"}, {"large": 3},
                   {"error": EVIL}, {"error": [1]}):
        refused(Hostile(source, target, work, header=header), "no valid message", "refused")
    refused(Hostile(source, target, work, header={"work": "1" * 40}), "lack commits")
    refused(Hostile(source, target, work, data=b'{"work": "' + work.encode() +
                    b'", "large": null, "pack": 1000, "shallow": []}\nPACK'), "connection ended")
    for data in (b"", b"\n", b"[1]\n", b"x" * 2_000_000, b"{" * 5000 + b"\n", b"\xff\n"):
        refused(Hostile(source, target, data=data), "no valid message", "ended the connection")
    garbage = b'{"work": "%s", "large": null, "pack": 2000, "shallow": []}\n' % work.encode() + os.urandom(2000)
    refused(Hostile(source, target, data=garbage), "objects were refused")
    # An LFS object with other content, and names that are paths.
    rows = [("100644", hashlib.sha256(b"other").hexdigest().encode(), evil.blob()), ("100644", b"zz", evil.blob()),
            ("120000", hashlib.sha256(b"/tmp").hexdigest().encode(), evil.blob(b"/tmp"))]
    large = evil.commit(evil.tree(*sorted(rows, key=lambda row: row[1])))
    Hostile(source, target, work, header={"large": large}).run()
    found = [name for _, _, names in os.walk(target.path(".git/lfs")) for name in names]
    expect(not found and not os.path.exists("/tmp/zz"), f"stored: {found}")
    left = [name for name in os.listdir(target.path(".git/objects")) if name.startswith("tmp_")]
    expect(not left, f"left: {left}")


@test("addresses of remotes are only those of servers, without passwords")
def remotes(stage):
    for text in ("ext::sh -c touch% x", "--upload-pack=x", "-oProxyCommand=x@host:y", "file:///etc", "/etc", "../x", "fd::3",
                 "a b@c:d", "ssh://-oProxyCommand=x/y", "ssh://a@-x/y", "https://h/x\ny", "https://h/?token=secret",
                 "http::https://h/x",
                 "user:password@host:path", "x", "", "https://", "host:-x\x1b", "h:a:b", None, 3, ["x"], "C:\\x", "https://h/ä"):
        expect(program.placing.address(text) is None, f"accepted: {text!r} as {program.placing.address(text)}")
    for text, result in (("https://ada:secret@h/x.git", "https://h/x.git"), ("ssh://git:secret@h:2222/x", "ssh://git@h:2222/x"),
                         ("git@h:x/y.git", "git@h:x/y.git"), ("https://token@h/x", "https://h/x"), ("git://h/x", "git://h/x")):
        expect(program.placing.address(text) == result, f"{text}: {program.placing.address(text)}")
        expect(program.placing.identity(text).startswith("h"), f"{text}: {program.placing.identity(text)}")
    source, target = pair(stage)
    evil = Attacker(source)
    names = {"origin": "https://h/x", "-x": "https://h/x", "a.b c": "https://h/x", "evil": "ext::sh -c x",
             "two": "https://a:b@h/x"}
    place = os.path.join(stage.folder, "clone")
    Hostile(source, target, evil.state(evil.whole()), info={"remotes": names}, clone=place, into=None).run()
    made = Checkout(place, target.environment)
    expect(made.git("config", "--get-regexp", r"^remote\..*url") == b"remote.origin.url https://h/x\n", "other remotes")
    expect(not os.listdir(made.path(".git/hooks")) if os.path.exists(made.path(".git/hooks")) else True, "hooks")
    for name in ("../..", "--help", "h/../../x", "h", "h/x?fetch=1", "h/x#y", "H/x.git", "h/x\n", EVIL):
        transfer = Hostile(source, target, info={"repository": name}, into=None)
        refused(transfer, "no checkout of")
    expect(not os.path.exists(target.path("x")), "a command ran")


@test("no hook, filter, monitor or transport of a checkout runs, at either device")
def programs(stage):
    source, target = pair(stage)
    for each in (source, target):
        record = os.path.join(stage.folder, "ran")
        script = f"#!/bin/sh\necho $0 $* >>'{record}'\ncat\n".encode()
        each.write(".husky/script", script, 0o755)
        for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-merge", "pre-push"):
            each.write(f".husky/{name}", script, 0o755)
        each.git("add", ".")
        each.git("commit", "-qm", "hooks", "--date=@0 +0000")
    target.git("fetch", "-q", source.place, "main")
    target.git("reset", "-q", "--hard", "FETCH_HEAD")
    for each in (source, target):
        scripts = ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "core.sshCommand",
                   "core.pager", "diff.external", "core.alternateRefsCommand", "gpg.program")
        values = [(key, "true") for key in ("filter.evil.required", "commit.gpgSign", "log.showSignature")]
        for key, value in [("core.hooksPath", ".husky"), *((key, ".husky/script") for key in scripts), *values]:
            each.git("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "config", key, value)
    source.write("a", b"work\n")
    source.write(".gitattributes", b"* filter=evil diff=evil\n")
    source.write(".husky/pre-commit", b"#!/bin/sh\necho evil\n", 0o755)
    for name in ("HEAD", "config", "objects/x", "refs/x"):
        source.write(f"inner.repository/{name}", b"[core]\n\tfsmonitor = .husky/script\n")
    off = ("core.fsmonitor=false", "filter.evil.process=", "filter.evil.clean=", "filter.evil.required=false")
    source.git(*(word for each in off for word in ("-c", each)), "add", "inner.repository")
    if os.path.exists(record):
        os.unlink(record)
    transfer = Transfer(program, source, target)
    counts = program.Repository.counts  # `git status` of a user's own checkout runs the user's own filters.
    program.Repository.counts = lambda repository: {"staged": 0, "changed": 0, "untracked": 0}
    try:
        report = transfer.run()
    finally:
        program.Repository.counts = counts
    ran = open(record).read() if os.path.exists(record) else ""
    expect(not ran, f"these ran: {ran}")
    expect(report["hooks"] == [".husky/pre-commit", "inner.repository/config"] and target.read("a") == b"work\n", f"{report}")


def state_of(checkout, untracked=False):
    with environment(checkout.environment), program.capture.Capture(program.Repository(checkout.place)) as work:
        return work.state(untracked)


@test("replaced work is kept if the other device only claims to contain it")
def claims(stage):
    for is_tracked in (True, False):
        source, target = pair(stage)
        evil = Attacker(source)
        name = "a" if is_tracked else "new"
        target.write(name, b"work of the user\n")
        key = state_of(target, untracked=True).notes["keys"][-1]
        work = evil.state(evil.whole(("100644", name.encode(), evil.blob())), keys=[key], bases=[key])
        report = Hostile(source, target, work, info={"bases": [key]}).run()
        expect(target.read(name) == b"evil\n" and report["before"], f"{report}")
        expect(target.git("show", f"{report['before']}:{name}") == b"work of the user\n", "other work was kept")


@test("work that cannot be written is refused before a file is replaced")
def unwritable(stage):
    source, target = pair(stage)
    evil, usage = Attacker(source), shutil.disk_usage
    work = evil.state(evil.whole(("100644", b"new", evil.blob(bytes(1_000_000)))))
    for row, texts in ((("120000", b"new", evil.blob(b"a\0b")), ["the link new is invalid", "objects were refused"]),
                       (("120000", b"new", evil.blob(b"x" * 5000)), ["the link new is invalid", "objects were refused"]),
                       (("100644", b"x" * 256, evil.blob()), ["is refused", "objects were refused"])):
        refused(Hostile(source, target, evil.state(evil.whole(("100644", b"a", evil.blob()), row))), *texts)
    refused(Hostile(source, target, evil.state(evil.whole(), branch="\ud800")), "not a valid")
    for free, text in ((100_000, "the files are larger than the free space"), (10, "which is more than the free space")):
        shutil.disk_usage = lambda _, free=free: usage("/")._replace(free=free)
        try:
            refused(Hostile(source, target, work), text)
        finally:
            shutil.disk_usage = usage


@test("submodules instead of files, long keys, times beyond all years and warnings about old trees do no harm")
def harmless(stage):
    source, target = pair(stage)
    evil = Attacker(source)
    module = evil.whole(("160000", b"a", source.head))
    report = Hostile(source, target, evil.state(module, module, keys=["k" * 5000])).run()
    expect(not report["different"] and os.listdir(target.path("a")) == [], f"{report}")
    with environment(target.environment):
        expect(max(map(len, program.capture.bases(program.Repository(target.place)))) < 5000, "a long key is sent later")
    # More warnings than fit into a pipe.
    blob = evil.blob()
    trees = [("40000", b"%04d" % each, evil.tree(("100664", b"f%04d" % each, blob))) for each in range(1000)]
    old = evil.whole(("40000", b"old", evil.tree(*trees)))
    expect(not Hostile(source, target, evil.state(old, old)).run()["different"], "old trees")
    commit = evil.commit(evil.whole(), time=1 << 62)
    pack = source.git("pack-objects", "--revs", "--stdout", "-q", input=f"{commit}\n".encode())
    target.git("unpack-objects", "-q", input=pack)
    target.git("update-ref", "refs/handoff/x/work", commit)
    done = subprocess.run([sys.executable, "-B", PROGRAM, "status", target.place], env=target.environment, capture_output=True)
    expect(done.returncode == 0 and b"refs/handoff/x/work (" in done.stdout, f"{done}")


@test("packs of earlier requests of a stream are not kept")
def packs(stage):
    source, _ = pair(stage)
    folder, before = os.path.join(stage.folder, "scratch"), tempfile.tempdir
    os.mkdir(folder)
    here, there = socket.socketpair()
    tempfile.tempdir = folder
    try:
        with environment(source.environment):
            transfer = Transfer(program, source, source)
            publication = program.Publication(program.Repository(source.place), transfer.options, transfer)
            serving = threading.Thread(target=publication._serve, args=(there, "x"))
            serving.start()
            with here, here.makefile("rb") as file:
                for _ in range(3):
                    here.sendall(b'{"have": []}\n')
                    file.read(json.loads(file.readline())["pack"])
                found = sorted(map(os.path.basename, glob.glob(f"{folder}/handoff-git-*/*")))
                here.shutdown(socket.SHUT_RDWR)
            serving.join(60)
    finally:
        tempfile.tempdir = before
    expect(found == ["index", "objects"], f"{found}")


@test("a device that requests work gets only that, whatever it sends")
def requests(stage):
    source, target = pair(stage)
    source.git("checkout", "-q", "-b", "private", "other")
    source.write("secret", b"never offered\n")
    source.git("add", ".")
    secret = source.commit()
    source.git("checkout", "-q", "main")
    source.write("ignored.o", b"ignored\n")
    source.write("new", b"untracked\n")
    for have in ([], [secret], ["f" * 40] * 2000, [source.head]):
        replies = request(source, {"version": 1, "have": have})
        expect(b"error" not in replies.split(b"\n", 1)[0], f"{replies[:200]}")
        pack = replies.split(b"\n", 1)[1]
        subprocess.run(["git", "init", "-q", "--bare", "x"], cwd=stage.folder, env=source.environment, check=True)
        x = Checkout(os.path.join(stage.folder, "x"), source.environment)
        if not have:
            x.git("index-pack", "--stdin", "--strict", input=pack)
            found = x.git("cat-file", "--batch-all-objects", "--batch")
            for text in (b"never offered", b"ignored\n", b"untracked\n"):
                expect(text not in found, f"{text} was sent")
    for message in ({"have": ["--all"]}, {"have": [EVIL]}, {"have": 3}, {"have": ["HEAD"]}, {}, {"have": [None]}):
        replies = request(source, message)
        expect(b"PACK" not in replies, f"{message}: {replies[:100]}")
    for data in (b"x\n", b"\n", b"[]\n", b"x" * 2_000_000):
        expect(b"PACK" not in request(source, data=data), f"{data[:20]}")


def request(source, message=None, data=None):
    """Returns the reply of a publishing program to a message."""
    class Quiet:
        def event(self, *_, **__):
            pass

    here, there = socket.socketpair()
    with environment(source.environment):
        transfer = Transfer(program, source, source)
        publication = program.Publication(program.Repository(source.place), transfer.options, Quiet())
        serving = threading.Thread(target=publication._serve, args=(there, "x"))
        serving.start()
        try:
            here.sendall(data or json.dumps(message).encode() + b"\n")
            here.shutdown(socket.SHUT_WR)
            with here.makefile("rb") as file:
                return file.read()
        except OSError:
            return b""
        finally:
            serving.join(60)


if __name__ == "__main__":
    main()
