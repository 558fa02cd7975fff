#!/usr/bin/env python3
"""Uncommitted work of a Git checkout that continues on another device: between two daemons with homes at different paths, and
in all states of both checkouts over a socket pair."""

import ctypes
import errno
import glob
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import checkouts
from browsers import until
from checkouts import PROGRAM, Checkout, Pair, Template, Transfer, carried, environment, pair, program, refused
from documents import configure
from harness import BIN, FULL_SAMPLES, ROOT, Failure, Follower, Skip, expect, main, run, test
from terminal import Screen

# ---- Between two daemons -------------------------------------------------------------------------------------------------


class Device:
    """A device with a home of its own, and one checkout."""

    def __init__(self, daemon, folder, checkout):
        self.daemon = daemon
        configure(daemon, f"checkouts = {os.path.realpath(daemon.folder)}/{folder}\n")
        self.environment = {**daemon.environment, **checkouts.settings(daemon.environment["HOME"]),
                            "PATH": BIN + ":" + daemon.environment["PATH"],
                            "XDG_CONFIG_HOME": daemon.environment["XDG_CONFIG_HOME"]}
        place = os.path.join(os.path.realpath(daemon.folder), folder, checkout)
        os.makedirs(os.path.dirname(place))
        subprocess.run(["cp", "-a", Template.get().made.place, place], check=True)
        self.checkout = Checkout(place, self.environment)

    def program(self, *words, code=0, cwd=None, as_json=True):
        more = ["--json"] if as_json else []
        done = subprocess.run([PROGRAM, *more, *words], env=self.environment, cwd=cwd or self.daemon.folder, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=60)
        expect(done.returncode == code, f"{words}: {done}")
        text = (done.stdout + done.stderr).decode()
        return [json.loads(line) for line in text.splitlines()] if as_json else text

    def publish(self, *words, within=20):
        log = os.path.join(self.daemon.folder, f"git-{len(self.daemon.stage.processes)}.log")
        words = [PROGRAM, "publish", "--json", *words, self.checkout.place]
        follower = Follower(self.daemon.stage, words, self.environment, log)
        follower.id = follower.wait("published", within=within)["id"]
        return follower


def two(stage):
    desk, laptop = stage.pair(("desk", "laptop"))
    return Device(desk, "src", "letters"), Device(laptop, "home/code", "host/mine")


def awaited(device, id):
    watch = device.daemon.follow("watch")
    watch.wait("added", id=id)
    watch.process.kill()


def withdrawn(device, id):
    """Waits until a device has learned that an offer has ended."""
    until("the end of the offer", lambda: all(each["id"] != id for each in device.daemon.ctl("list").lines))


def answered(device, answer, *words):
    """Runs the program on a terminal. Returns what that shows."""
    main_side, other_side = os.openpty()
    environment = {**device.environment, "TERM": "dumb"}
    with subprocess.Popen([PROGRAM, *words], env=environment, cwd=device.daemon.folder, stdin=other_side, stdout=other_side,
                          stderr=other_side, start_new_session=True):
        os.close(other_side)
        os.write(main_side, answer)
        shown = b""
        try:
            while piece := os.read(main_side, 4096):
                shown += piece
        except OSError:
            pass  # The program has exited.
    os.close(main_side)
    return shown.decode()


@test("handoffctl publish runs handoff-git with --git, and handoff-terminal with --session")
def through_handoffctl(stage):
    desk, laptop = two(stage)
    programs = os.path.join(desk.daemon.folder, "programs")
    os.mkdir(programs)
    os.symlink(PROGRAM, os.path.join(programs, "handoff-git"))
    environment = {**desk.environment, "PATH": f"{programs}:/usr/bin:/bin"}
    environment.pop("HANDOFF_SOCKET", None)
    words = [os.path.join(BIN, "handoffctl"), "--socket", desk.daemon.socket, "publish"]
    done = run([*words, "--session", "tmux:work"], environment)
    expect(done.code == 1 and "cannot run handoff-terminal: it is not installed" in done.errors, f"{done}")
    publish = Follower(stage, [*words, "--json", "--git", "--untracked", desk.checkout.place], environment,
                       os.path.join(desk.daemon.folder, "publish.log"))
    awaited(laptop, publish.wait("published")["id"])
    stub = os.path.join(programs, "handoff-terminal")
    with open(stub, "w") as file:
        file.write('#!/bin/sh\nprintf "%s|" "$@" "$HANDOFF_SOCKET"\n')
    os.chmod(stub, 0o755)
    done = run([*words, "--session", "tmux:work", "--read-only", "--to", "laptop"], environment)
    expect(done.output == f"share|--to|laptop|--read-only|tmux:work|{desk.daemon.socket}|", f"{done}")


@test("work continues in the checkout with the same remote, is edited there, and continues back")
def there_and_back(stage):
    desk, laptop = two(stage)
    desk.checkout.write("a", b"staged\n")
    desk.checkout.git("add", "a")
    desk.checkout.write("a", b"changed\n")
    desk.checkout.write("new", b"untracked\n")
    before = checkouts.stored(desk.checkout.path(".git"))
    offer = desk.publish("--untracked")
    awaited(laptop, offer.id)
    shown = laptop.program("status", laptop.checkout.place)[0]
    expect([each["title"] for each in shown["offers"]] == ["letters: main"] and not shown["problem"], f"{shown}")
    card, done = laptop.program("continue")
    values = [card[each] for each in ("event", "device", "staged", "changed", "untracked")]
    expect(values == ["card", "desk", 1, 1, 1], f"{card}")
    expect(card["place"] == "here" and done["path"] == laptop.checkout.place and done["branch"] == "main", f"{card} {done}")
    expect(laptop.checkout.read("a") == b"changed\n" and laptop.checkout.read("new") == b"untracked\n", "other files")
    expect(laptop.checkout.index() == desk.checkout.index(), "another index")
    expect(checkouts.stored(desk.checkout.path(".git")) == before, "the offered checkout was written to")
    sent = offer.wait("sent")
    expect(sent["bytes"] < 1500, f"more than the work was sent: {sent}")
    # The same offer again: nothing changes, and nothing is in the way.
    text = laptop.program("continue", as_json=False)
    expect("letters: main, from desk" in text and "1 staged, 1 changed, 1 untracked" in text, text)
    expect(f"continued in {laptop.checkout.place}, branch main\n" == text[-len(laptop.checkout.place) - 27:], text)
    text = answered(laptop, b"n\n", "continue")
    expect("Continue? [Y/n] " in text and text.endswith("nothing was changed\r\n"), f"no prompt: {text!r}")
    # Later work of the same device: that here is unchanged, so it is replaced, and kept.
    desk.checkout.write("c", b"second\n")
    done = laptop.program("continue")[1]
    expect(laptop.checkout.read("c") == b"second\n" and done["path"] == laptop.checkout.place, f"{done}")
    expect(laptop.checkout.git("show", done["before"] + ":a") == b"changed\n", "the replaced work was not kept")
    expect(offer.interrupt() == 0, "Ctrl-C has another exit status")
    withdrawn(laptop, offer.id)
    laptop.program("continue", code=4)
    # Back: the work there contains that of this device, so it is replaced, and kept.
    laptop.checkout.write("b.txt", b"on the laptop\n")
    laptop.checkout.commit("on the laptop")
    laptop.checkout.write("a", b"later\n")
    back = laptop.publish("--untracked")
    awaited(desk, back.id)
    card, done = desk.program("continue", back.id[:8])
    expect(card["place"] == "here" and done["path"] == desk.checkout.place, f"{card} {done}")
    expect(desk.checkout.read("a") == b"later\n" and desk.checkout.head == laptop.checkout.head, "other work")
    expect(desk.checkout.git("show", done["before"] + ":a") == b"changed\n", "the replaced work was not kept")
    # Both sides changed: it continues in a new working tree.
    desk.checkout.write("a", b"on the desk\n")
    laptop.checkout.write("a", b"on the laptop\n")
    card, done = desk.program("continue")
    expect(card["place"] == "worktree" and "uncommitted work" in card["reason"], f"{card}")
    expect(done["branch"] == "handoff/main", f"{done}")
    expect(desk.checkout.read("a") == b"on the desk\n", "the work of this device was changed")
    with open(os.path.join(done["path"], "a"), "rb") as file:
        expect(file.read() == b"on the laptop\n", "other work in the new working tree")
    # Later work continues there, too.
    laptop.checkout.write("a", b"later on the laptop\n")
    card, again = desk.program("continue")
    expect(again["path"] == done["path"] and again["branch"] == done["branch"] and card["place"] == "here", f"{card} {again}")
    expect(desk.checkout.read("a") == b"on the desk\n", "the work of this device was changed")
    # A checkout that cannot be offered any more.
    laptop.checkout.git("checkout", "-qf", "other")
    laptop.checkout.write("a", b"other\n")
    laptop.checkout.commit()
    laptop.checkout.git("merge", "main", check=False)
    error = desk.program("continue", code=1)[-1]
    expect("a merge is in progress" in error["message"] and error["error"] == "Failed", f"{error}")
    expect("a merge is in progress" in laptop.program("publish", laptop.checkout.place, code=1)[0]["message"], "published")
    expect(back.process.poll() is None, "the publishing program ended")
    # The user's switch for this program.
    desk.checkout.git("checkout", "-qf", "main")
    off = desk.publish()
    awaited(laptop, off.id)
    desk.daemon.ctl("app", "disable", "dev.handoff1.git")
    off.interrupt()
    withdrawn(laptop, off.id)
    off = desk.publish()
    # Of another app, and published later.
    awaited(laptop, desk.daemon.publish("https://example.org/later").id)
    offers = laptop.program("status", laptop.checkout.place)[0]["offers"]
    expect(not offers, f"a disabled app offers {offers}")
    off.interrupt()


@test("a device without a checkout gets a clone without the remote, and names the missing checkout")
def cloned(stage):
    desk, laptop = two(stage)
    shutil.rmtree(laptop.checkout.place)
    desk.checkout.git("remote", "set-url", "origin", "https://ada:secret@example.org/notes/letters.git")
    desk.checkout.git("remote", "add", "evil", "ext::sh -c 'touch /tmp/evil'")
    desk.checkout.write("a", b"changed\n")
    offer = desk.publish("--to", "laptop")
    awaited(laptop, offer.id)
    error = laptop.program("continue", code=1)[-1]
    expect("no checkout of example.org/notes/letters was found" in error["message"], f"{error}")
    place = os.path.join(laptop.daemon.folder, "clone")
    card, done = laptop.program("continue", "--clone", place)
    made = Checkout(place, laptop.environment)
    expect(card["place"] == "clone" and made.read("a") == b"changed\n" and made.branch == "main", f"{card} {done}")
    expect(made.git("remote", "-v").count(b"\n") == 2 and b"secret" not in made.git("config", "-l"), "other remotes")
    expect(made.git("config", "branch.main.merge").strip() == b"refs/heads/main", "no upstream")
    made.git("fsck", "--strict")
    expect("not an empty folder" in laptop.program("continue", "--clone", place, code=1)[-1]["message"], "cloned again")
    offer.process.kill()
    desk.daemon.stop()
    withdrawn(laptop, offer.id)
    expect(laptop.program("continue", code=4)[-1]["error"] == "NothingToContinue", "continued")
    laptop.daemon.stop()
    expect(laptop.program("continue", code=3)[-1]["error"] == "DaemonNotReachable", "continued")


@test("an offer that is chosen on the desktop continues in a new terminal, and with handoffctl continue in its terminal")
def on_the_desktop(stage):
    desk, laptop = two(stage)
    record, programs = os.path.join(stage.folder, "record"), os.path.join(stage.folder, "programs")
    os.mkdir(programs)
    with open(os.path.join(programs, "xdg-terminal-exec"), "w") as file:
        file.write(f"#!/bin/sh\nexec \"$@\" </dev/null >'{record}' 2>&1\n")
    os.chmod(file.name, 0o755)
    laptop.daemon.extra = {name: laptop.environment[name] for name in ("HOME", "XDG_CONFIG_HOME")}
    laptop.daemon.extra |= {"PATH": f"{programs}:{laptop.environment['PATH']}", "DISPLAY": ":0"}
    with open(os.path.join(ROOT, "packaging", "handlers", "dev.handoff1.git.json")) as file:
        manifest = {**json.load(file), "exec": [PROGRAM, "open"], "terminal": [os.path.join(programs, "here"), "continue"]}
    with open(os.path.join(programs, "here"), "w") as file:
        file.write(f"#!/bin/sh\ngrep ^SigBlk /proc/self/status\nexec {PROGRAM} \"$@\"\n")
    os.chmod(file.name, 0o755)
    folder = os.path.join(laptop.environment["XDG_CONFIG_HOME"], "handoff", "handlers.d")
    os.makedirs(folder)
    with open(os.path.join(folder, "dev.handoff1.git.json"), "w") as file:
        json.dump(manifest, file)
    laptop.daemon.restart()
    laptop.publish()  # Its own offer is from the same app.
    desk.checkout.write("a", b"work\n")
    offer = desk.publish()
    awaited(laptop, offer.id)
    expect(laptop.daemon.ctl("continue", offer.id).line["opens"]["name"] == "Git", "another app")
    limit = time.monotonic() + 30
    while not os.path.exists(record) or b"continued in" not in checkouts.entry(record)[1]:
        expect(time.monotonic() < limit, "it does not continue")
        time.sleep(0.02)
    expect(laptop.checkout.read("a") == b"work\n", "other work")
    # In the terminal of the command, after a choice there.
    second = desk.publish("--untracked")
    awaited(laptop, second.id)
    desk.checkout.write("a", b"more work\n")
    os.unlink(record)
    command = [os.path.join(BIN, "handoffctl"), "--socket", laptop.daemon.socket, "continue"]
    environment = {name: value for name, value in laptop.environment.items() if name != "HANDOFF_SOCKET"}
    screen = Screen(stage, command, environment)
    screen.sees("letters: main")
    screen.type("\r")
    screen.sees(r"SigBlk:\t0+\r")
    screen.sees(r"Continue\? \[Y/n\] ")
    screen.type("y\n")
    screen.sees("continued in ")
    expect(screen.ends() == 0 and laptop.checkout.read("a") == b"more work\n", f"{screen.raw}")
    # In a new one with a time limit, and without a command for terminals.
    for words, terminal in ((["--timeout", "20"], manifest["terminal"]), ([], [])):
        with open(os.path.join(folder, "dev.handoff1.git.json"), "w") as file:
            json.dump({**manifest, "terminal": terminal}, file)
        screen = Screen(stage, [*command, *words, second.id], environment)
        screen.sees("opened in Git")
        expect(screen.ends() == 0, f"{screen.raw}")
        until("the new terminal", lambda: os.path.exists(record))
        # A request replaces an earlier one of the same device for the same activity.
        until("the end of its program", lambda: subprocess.run(
            ["pgrep", "-f", f"continue --wait {second.id}"], stdout=subprocess.DEVNULL).returncode)
        os.unlink(record)


# ---- Branches and heads --------------------------------------------------------------------------------------------------


@test("a branch is moved only if it loses no commit, otherwise the work is on a new one")
def branches(stage):
    def state(source_commits, target_commits, wanted="main", **options):
        source, target = pair(stage)
        for checkout, count in ((source, source_commits), (target, target_commits)):
            for number in range(count):
                checkout.write("c", f"{checkout.place} {number}\n".encode())
                checkout.commit()
        source.write("a", b"work\n")
        tips = target.branches()
        report, _ = carried(source, target, **options)
        expect(target.branch == wanted == (report["branch"] or ""), f"on {target.branch}, not on {wanted}")
        for name, tip in tips.items():
            if name != "refs/heads/main" or not source_commits or target_commits:
                expect(target.branches()[name] == tip, f"{name} was moved")
        return target

    state(2, 0)
    state(0, 2, "handoff/main")
    state(2, 1, "handoff/main")
    state(0, 0, "work/new", branch="work/new")
    source, target = pair(stage)
    source.git("checkout", "-q", "--detach")
    source.commit()
    source.write("a", b"work\n")
    carried(source, target)
    expect(target.branch == "" and target.branches()["refs/heads/main"] != source.head, "not detached")
    # No branch contains the commits of a detached head at the target.
    source, target = pair(stage)
    target.git("checkout", "-q", "--detach")
    target.write("c", b"only here\n")
    target.commit()
    alone = target.head
    source.write("a", b"work\n")
    report, _ = carried(source, target)
    expect(report["before"] and alone in target.git("rev-list", report["before"]).decode(), f"commits were lost: {report}")
    target.git("checkout", "-q", "--force", "--detach", "other")
    report, _ = carried(source, target)
    expect(not report["before"], f"kept although a branch contains it: {report}")
    # A branch of that name is checked out in another working tree, or is the folder of others.
    source, target = pair(stage)
    target.git("checkout", "-q", "other")
    target.git("worktree", "add", "-q", target.place + "-second", "main")
    source.write("a", b"work\n")
    carried(source, target)
    expect(target.branch == "handoff/main", target.branch)
    source, target = pair(stage)
    source.git("branch", "-qD", "other")
    source.git("checkout", "-q", "-b", "other/part")
    carried(source, target)
    expect(target.branch == "handoff/other/part", target.branch)
    refused(Transfer(program, source, target, branch="-x"), "not a valid")
    target.git("checkout", "-q", "other")
    target.commit()
    refused(Transfer(program, source, target, branch="other"), "exists with other commits")


@test("an unfinished operation is not offered, and is not touched at the target")
def operations(stage):
    def stop(checkout, *words):
        checkout.git("checkout", "-q", "other")
        checkout.write("a", b"other\n")
        checkout.commit()
        checkout.git("checkout", "-q", "main")
        checkout.write("a", b"main\n")
        checkout.commit()
        checkout.git(*words, check=False)

    for words, text in ((("merge", "other"), "a merge"), (("rebase", "other"), "a rebase"),
                        (("cherry-pick", "other"), "a cherry-pick"), (("revert", "--no-edit", "HEAD~1"), "a revert"),
                        (("bisect", "start"), "a bisection")):
        source, target = pair(stage)
        stop(source, *words)
        if text == "a revert" and not os.path.exists(source.path(".git/REVERT_HEAD")):
            source.git("revert", "--no-commit", "HEAD")
        refused(Transfer(program, source, target), text)
        target.write("a", b"work\n")
        # Its branch is behind that of the work, so it could be moved otherwise.
        target.git("fetch", "-q", source.place, "main")
        target.git("reset", "-q", "--soft", "FETCH_HEAD")
        target.write("c", b"later\n")
        target.commit()
        target.write("a", b"work\n")
        before = source.everything()
        carried(target, source, kind="worktree")
        now = source.everything()
        expect(now[:3] == before[:3] and now[4] == before[4], f"{text} was touched")
        expect(all(now[3][name] == tip for name, tip in before[3].items()), f"a branch of {text} was moved")
    source, target = pair(stage)
    source.write("a", b"stashed\n")
    source.git("stash", "-q")
    source.write("a", b"other\n")
    source.commit()
    source.git("stash", "pop", check=False)
    refused(Transfer(program, source, target), "unmerged files")
    empty = Checkout(tempfile.mkdtemp(dir=stage.folder), source.environment)
    empty.git("init", "-q")
    refused(Transfer(program, empty, target), "no commit")
    bare = Checkout(tempfile.mkdtemp(dir=stage.folder), source.environment)
    bare.git("init", "-q", "--bare")
    for each, text in ((bare, "no working tree"), (Checkout(stage.folder, source.environment), "not a git repository")):
        with environment(source.environment):
            try:
                program.Repository(each.place)
                raise Failure(f"{each.place} is a checkout")
            except program.Failure as failure:
                expect(text in str(failure), f"{failure}")


# ---- Kinds of checkouts --------------------------------------------------------------------------------------------------


@test("submodules are carried if they are clean, and never changed")
def submodules(stage):
    part, whole = pair(stage)
    whole.git("submodule", "add", "-q", part.place, "part")
    whole.commit("with a submodule")
    source, target = pair(stage, template=whole)
    source.write("a", b"work\n")
    target.git("reset", "-q", "--hard", "HEAD~1")
    report, _ = carried(source, target)
    expect(report["submodules"] == 1, f"{report}")
    inside = Checkout(source.path("part"), source.environment)
    inside.write("b.txt", b"work\n")
    refused(Transfer(program, source, target), "part has uncommitted work")
    inside.commit()
    refused(Transfer(program, source, target), "part is at another commit")
    source.git("add", "part")
    refused(Transfer(program, source, target), "part: another commit is staged")
    source.commit()
    target.git("reset", "-q", "--hard")
    carried(source, target)


@test("linked working trees, sparse checkouts, shallow clones, split indexes and other formats")
def kinds(stage):
    source, target = pair(stage)
    for each in (source, target):
        each.git("worktree", "add", "-q", "-b", "linked", each.place + "-linked")
    linked = [Checkout(each.place + "-linked", each.environment) for each in (source, target)]
    linked[0].write("a", b"work\n")
    linked[0].git("add", "a")
    linked[0].write("crlf.bat", b"one\ntwo\r\n")
    carried(*linked)
    # Sparse: the origin's is complete at the target. At a sparse target, the work is in a new working tree.
    source, target = pair(stage)
    source.git("sparse-checkout", "set", "--no-cone", "dir")
    source.write("dir/x", b"work\n")
    expect(not os.path.exists(source.path("dir/../c")) and b"c" in source.names(), "not sparse")
    before = target.files()
    report = Transfer(program, source, target).run()
    expect(checkouts.difference(before, target.files()).keys() == {b"dir/x"} and not report["different"], f"{report}")
    source, target = pair(stage)
    target.git("sparse-checkout", "set", "--no-cone", "dir")
    source.write("a", b"work\n")
    _, place = carried(source, target, kind="worktree")
    expect(place.git("status", "--porcelain") == b" M a\n", "not complete")
    # Shallow: in both directions.
    source, target = pair(stage)
    for number in range(4):
        source.write("c", str(number).encode())
        source.commit()
    source.git("update-ref", "refs/remotes/origin/main", "HEAD")
    shallow = Checkout(os.path.join(stage.folder, "shallow"), source.environment)
    source.git("clone", "-q", "--depth", "2", f"file://{source.place}", shallow.place)
    shallow.write("a", b"work\n")
    shallow.git("commit", "-qam", "local")
    shallow.write("b.txt", b"work\n")
    carried(shallow, source)
    refused(Transfer(program, shallow, target), "git fetch --unshallow")
    carried(shallow, target, kind="clone", clone=os.path.join(stage.folder, "clone of shallow"), into=None)
    second = Checkout(os.path.join(stage.folder, "second"), source.environment)
    source.git("clone", "-q", "--depth", "1", f"file://{source.place}", second.place)
    source.git("checkout", "-q", "HEAD~2", "--", "c")  # A blob that the shallow clone lacks.
    carried(source, second)
    # Formats of the index and of objects.
    source, target = pair(stage)
    for each, words in ((source, ("--split-index",)), (target, ("--index-version=4", "--untracked-cache"))):
        each.git("update-index", *words)
        each.git("config", "core.splitIndex", "true" if each is source else "false")
    source.write("a", b"work\n")
    source.git("add", "a")
    target.git("config", "core.fileMode", "false")
    before = checkouts.stored(source.path(".git"))
    carried(source, target)
    expect(checkouts.stored(source.path(".git")) == before, "a split index was written")
    wide = Checkout(os.path.join(stage.folder, "sha256"), source.environment)
    source.git("init", "-q", "--object-format=sha256", wide.place)
    wide.write("a")
    wide.git("add", "a")
    wide.commit()
    refused(Transfer(program, wide, target), "object formats")
    wide.write("a", b"work\n")
    carried(wide, target, kind="clone", clone=os.path.join(stage.folder, "clone of sha256"), into=None)
    partial = Checkout(os.path.join(stage.folder, "partial"), source.environment)
    source.git("config", "uploadpack.allowFilter", "true")
    source.git("clone", "-q", "--filter=blob:none", f"file://{source.place}", partial.place)
    partial.write("a", b"partial\n")
    refused(Transfer(program, partial, target), "partial clone")


@test("LFS files have their content at the target, also if no remote has it, and filters never run")
def large_files(stage):
    if not shutil.which("git-lfs"):
        raise Skip("git-lfs is not installed (scripts/setup --tests)")
    source, target = pair(stage)
    for each in (source, target):
        each.git("lfs", "install", "--local")
        each.write(".gitattributes", b"*.iso filter=lfs diff=lfs merge=lfs -text\n")
        each.write("old.iso", b"old")
        each.git("add", ".")
        each.git("-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "lfs", "--date=@0 +0000")
    target.git("fetch", "-q", source.place, "main")
    target.git("reset", "-q", "--hard", "FETCH_HEAD")
    source.write("commit.iso", b"committed")
    source.git("add", ".")
    source.commit()
    source.write("staged.iso", b"staged")
    source.git("add", ".")
    source.write("staged.iso", b"changed again")
    source.write("commit.iso", b"changed")
    report, _ = carried(source, target)
    expect(not report["pointers"] and target.read("old.iso") == b"old", f"{report}")
    for name, content in (("commit.iso", b"committed"), ("staged.iso", b"staged")):
        target.git("checkout", "--", name)
        expect(target.read(name) == content, f"the object of {name} is missing")
    # Content that the target never fetched stays a pointer.
    target.git("checkout", "-qf", "other")
    shutil.rmtree(target.path(".git/lfs"))
    source.git("reset", "-q", "--hard")
    report = Transfer(program, source, target).run()
    expect(report["pointers"] == 2 and target.read("old.iso").startswith(b"version https://git-lfs"), f"{report}")


@test("untracked files are included on request, except ignored ones and other repositories, and never overwritten")
def untracked(stage):
    source, target = pair(stage)
    source.write("new", b"work\n")
    source.write("x.o", b"ignored\n")
    source.git("init", "-q", "nested")
    source.write("nested/file")
    target.write("own", b"of the target\n")
    carried(source, target)
    expect(not os.path.exists(target.path("new")) and target.read("own") == b"of the target\n", "other files")
    carried(source, target, untracked=True)
    expect(target.read("new") == b"work\n" and not os.path.exists(target.path("x.o")), "other files")
    expect(not os.path.exists(target.path("nested")), "a nested repository was carried")
    for name, content in (("new", b"other\n"), ("new/file", b"other\n")):
        source, target = pair(stage)
        source.write("new", b"work\n")
        target.write(name, content)
        refused(Transfer(program, source, target, untracked=True), "would be overwritten", name)
    for name, also in (("x.o", "x.o"), ("build", "build/x")):  # Ignored at the target, and tracked at the origin.
        source, target = pair(stage)
        source.write(also, b"work\n")
        source.git("add", "-f", also)
        target.write(name, b"ignored\n")
        with open(target.path(".git/info/exclude"), "a") as file:
            file.write("build\n")
        refused(Transfer(program, source, target), "would be overwritten", name)
        carried(source, target, kind="worktree", worktree=target.place + "-new")
    source, target = pair(stage)
    os.mkfifo(source.path("pipe"))
    carried(source, target, untracked=True)
    os.unlink(source.path("a"))
    os.mkfifo(source.path("a"))
    refused(Transfer(program, source, target), "a is neither a file nor a link")
    source, target = pair(stage)
    program.capture.MAX_UNTRACKED, limit = 3, program.capture.MAX_UNTRACKED
    for number in range(4):
        source.write(f"new{number}")
    try:
        refused(Transfer(program, source, target, untracked=True), "untracked files")
    finally:
        program.capture.MAX_UNTRACKED = limit


@test("a working tree of a bare repository continues work, also in another one next to it")
def of_bare(stage):
    source, target = pair(stage)
    bare, place = (Checkout(target.place + each, target.environment) for each in (".git", "-main"))
    source.git("clone", "-q", "--bare", target.place, bare.place)
    bare.git("remote", "set-url", "origin", checkouts.REMOTE)
    bare.git("worktree", "add", "-q", place.place, "main")
    source.write("a", b"work\n")
    carried(source, place)
    place.write("c", b"of this device\n")
    source.write("b.txt", b"more\n")
    report, _ = carried(source, place, kind="worktree")
    expect(report["path"].startswith(place.place + "-main") and place.read("c") == b"of this device\n", f"{report}")


@test("descriptions of an offered checkout leave no open folders")
def described(stage):
    source, _ = pair(stage)
    with environment(source.environment):
        publication = program.Publication(program.Repository(source.place), Transfer(program, source, None).options, None)
        count = len(os.listdir("/proc/self/fd"))
        expect("problem" not in publication.fields()["userInfo"], "not described")
        expect(len(os.listdir("/proc/self/fd")) == count, "a description leaves an open folder")


@test("new folders of objects have the mode of a repository that several users share")
def shared_repository(stage):
    source, target = pair(stage)
    target.git("init", "-q", "--shared=group")
    os.chmod(target.path(".git/objects"), 0o2775)
    before = set(os.listdir(target.path(".git/objects")))
    # Based on the work there, so that it is replaced, and kept as objects.
    source.write("a", b"work\n")
    carried(source, target)
    target.write("a", os.urandom(9))
    carried(target, source)
    source.write("c", b"more\n")
    carried(source, target)
    made = {each for each in os.listdir(target.path(".git/objects")) if len(each) == 2} - before
    modes = {each: os.stat(target.path(f".git/objects/{each}")).st_mode & 0o2770 for each in made}
    expect(modes and set(modes.values()) == {0o2770}, f"{modes}")


@test("a folder that cannot be written, names that differ only in case, and a full disk lose nothing")
def not_writable(stage):
    source, target = pair(stage)
    source.git("mv", "c", "C")
    source.write("dir/x", b"work\n")
    with open(target.path(".git/hEAD"), "w"):  # As on a file system that ignores the case.
        refused(Transfer(program, source, target), "differ only in case")
    os.unlink(target.path(".git/hEAD"))
    access = os.access
    os.access = lambda path, *words, **more: not path.endswith(b"/dir") and access(path, *words, **more)
    try:
        refused(Transfer(program, source, target), "/dir is not writable; nothing was changed")
    finally:
        os.access = access
    writer = program.apply.Writer
    content = writer._content

    def full(self, path, *words):
        if path == b"dir/x":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        content(self, path, *words)

    writer._content = full
    try:
        Transfer(program, source, target).run()
        raise Failure("it continued on a full disk")
    except program.Failure as failure:
        expect("dir/x cannot be written: No space left" in str(failure) and "handoff-git resume" in str(failure), f"{failure}")
    finally:
        writer._content = content
    expect(not [name for name in os.listdir(target.path("dir")) if name.startswith(".handoff")], "a part remains")
    with environment(target.environment):
        report = program.apply.resume(program.Repository(target.place))
    expect(not report["different"] and target.read("dir/x") == b"work\n", f"{report}")


# ---- Random states and interruptions -------------------------------------------------------------------------------------


@test("random states of two checkouts: equal at the target, and nothing is lost", limit=3000)
def randomly(stage):
    made, outcomes = Template.get(), {}
    for number in range(500 if FULL_SAMPLES else 20):
        each = Pair(program, stage.folder, made.made.place, made.environment, number)
        each.check()
        outcomes[each.outcome.split(":")[0]] = outcomes.get(each.outcome.split(":")[0], 0) + 1
        for name in os.listdir(stage.folder):
            if name.startswith(f"{number}-"):
                shutil.rmtree(os.path.join(stage.folder, name))
    expect(outcomes.get("here") and outcomes.get("worktree"), f"{outcomes}")


def is_running(group):
    """Returns whether a process of a group runs. Zombies do not."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                state, _, found = file.read().rpartition(")")[2].split()[:3]
        except OSError:  # It has ended.
            continue
        if int(found) == group and state != "Z":
            return True
    return False


@test("a program that is killed at any moment loses nothing, and the continuation is completed", limit=1500)
def killed(stage):
    chance = random.Random(7)
    kills = {"before": 0, "during": 0, "after": 0}
    span = 0.0
    for number in range(100 if FULL_SAMPLES else 6):
        source, target = pair(stage)
        for each in range(60):
            source.write(f"many/{each}", f"{each}\n".encode() * 50)
        source.git("add", ".")
        source.git("rm", "-q", "dir/x")
        source.write("a", b"work\n")
        source.write("dir/y", b"work\n")
        target.write("own", b"of the target\n")
        if number == 0:  # Measures the time that a continuation takes here.
            begin = time.monotonic()
            carried(source, pair(stage)[1])
            span = 2 * (time.monotonic() - begin)
        child = os.fork()
        if child == 0:
            try:
                os.setpgid(0, 0)
                Transfer(program, source, target).run()
            finally:
                os._exit(0)
        os.setpgid(child, child)  # Either process can be the first.
        if number % 4 < 2:
            time.sleep(chance.random() * span)
        else:  # While the files and the index are replaced.
            limit = time.monotonic() + 20
            while not os.path.exists(target.path(".git/handoff-continue")) and time.monotonic() < limit:
                time.sleep(0.001)
            time.sleep(chance.random() * span / 12)
        with_children = number % 2
        (os.killpg if with_children else os.kill)(child, signal.SIGKILL)
        os.waitpid(child, 0)
        # A Git process that was not killed can still hold a lock.
        until("the end of its Git processes", lambda: not is_running(child))
        mark = target.path(".git/handoff-continue")
        expect(target.read("own") == b"of the target\n", "a file of the target was lost")
        # A Git process that was killed leaves the lock of its reference. As the message of Git advises.
        for pattern in ("HEAD.lock", "packed-refs.lock", "refs/**/*.lock"):
            for lock in glob.glob(target.path(f".git/{pattern}"), recursive=True):
                os.unlink(lock)
        if os.path.exists(mark):
            kills["during"] += 1
            refused_now = Transfer(program, source, target)
            try:
                refused_now.run()
                raise Failure("continued over an interrupted continuation")
            except program.Failure as failure:
                expect("handoff-git resume" in str(failure), f"{failure}")
            with environment(target.environment):
                report = program.apply.resume(program.Repository(target.place))
                expect(not report["different"] and program.apply.resume(program.Repository(target.place)) is None, f"{report}")
        else:
            kills["after" if target.index() else "before"] += 1
            expect(not os.path.exists(target.path(".git/index.lock")), "a lock without a mark")
        carried(source, target)
        expect(not [name for name in target.files() if b".handoff" in name], f"{sorted(target.files())}")
    print(f"    {kills}")


def killed_at(number, names):
    """Kills this process at a line of the functions with these names, counted in the order of execution."""
    left = number

    def line(frame, event, _):
        nonlocal left
        left -= event in ("line", "return")
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return line

    def called(frame, event, _):
        code = frame.f_code
        return line if code.co_name in names and code.co_filename.startswith(os.path.dirname(PROGRAM)) else None

    sys.settrace(called)


@test("a program that is killed at each line that replaces the index can complete the continuation", limit=600)
def killed_at_lines(stage):
    source, target = pair(stage)
    source.write("a", b"work\n")
    source.git("add", "a")
    source.write("new", b"new\n")
    source.git("add", "new")
    source.write("dir/y", b"work\n")
    source.commit()
    source.write("a", b"more\n")
    names = {"_take_lock", "_drop_lock", "_replace_index"}
    names |= {"_move_head", "_new_index", "_drop_copy", "write", "_put", "_remove"} if FULL_SAMPLES else set()

    def is_killed(number, names, act):
        child = os.fork()
        if child == 0:
            try:
                killed_at(number, names)
                act()
            finally:
                os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        expect(code in (0, -signal.SIGKILL), f"exit code {code}")
        return code != 0

    expect(is_killed(1, {"_take_lock"}, Transfer(program, source, target).run), "the continuation was not interrupted")
    number, place = 0, target.place + "-copy"
    while True:
        number += 1
        subprocess.run(["cp", "-a", target.place, place], check=True)
        with environment(target.environment):
            if not is_killed(number, names, lambda: program.apply.resume(program.Repository(place))):
                break
            report = program.apply.resume(program.Repository(place))
        expect(report and not report["different"], f"line {number}: {report}")
        expect(not [each for each in os.listdir(os.path.join(place, ".git")) if each.endswith((".lock", ".handoff"))],
               f"line {number}: locks remain")
        expect(Checkout(place, target.environment).index() == source.index(), f"line {number}: another index")
        shutil.rmtree(place)
    expect(number > 12, f"only {number} lines")


@test("files are created on a file system that cannot rename without replacing, such as NFS")
def no_exclusive_rename(stage):
    libc = program.apply.rename_new.__globals__["LIBC"]
    renameat2, calls = libc.renameat2, []

    def refuse(*words):
        calls.append(words)
        ctypes.set_errno(errno.EINVAL)
        return -1

    source, target = pair(stage)
    source.write("new", b"new\n")
    os.symlink("new", source.path("newlink"))
    libc.renameat2 = refuse
    try:
        carried(source, target, untracked=True)
    finally:
        libc.renameat2 = renameat2
    expect(len(calls) == 3 and not [each for each in os.listdir(target.place) if each.startswith(".handoff")], f"{calls}")


@test("if the sending program is killed, nothing changes, and the work continues later", limit=600)
def killed_sender(stage):
    chance, outcomes = random.Random(8), {"refused": 0, "done": 0}
    for number in range(60 if FULL_SAMPLES else 5):
        source, target = pair(stage)
        source.write("large", os.urandom(6_000_000))
        source.git("add", "large")
        here, there = socket.socketpair()
        child = os.fork()
        if child == 0:
            try:
                here.close()
                os.environ.update(source.environment)
                transfer = Transfer(program, source, target)
                program.Publication(program.Repository(source.place), transfer.options, transfer)._serve(there, "laptop")
            finally:
                os._exit(0)
        there.close()
        # The share of the bytes after which it is killed: before the first one, during the transfer, or never.
        share, before = chance.uniform(-0.2, 1.2) if number else 2, target.unchanged()

        def kill(done, total):
            if done >= share * total:
                os.kill(child, signal.SIGKILL)

        try:
            with environment(target.environment), here:
                kill(0, 1)
                state = program.receive.receive(program.Repository(target.place), program.Stream(here, kill), False)
                expect(state.head == source.head, "another state")
                outcomes["done"] += 1
        except (program.Failure, OSError):
            outcomes["refused"] += 1
            expect(target.unchanged() == before, "the target was changed")
            expect(not [each for each in os.listdir(target.path(".git/objects")) if each.startswith("tmp_")], "parts remain")
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        carried(source, target)
    expect(outcomes["refused"] and outcomes["done"], f"{outcomes}")


if __name__ == "__main__":
    main()
