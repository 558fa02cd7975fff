#!/usr/bin/env python3
"""Neovim, Vim and Emacs continue the files of each other: two devices on loopback, whose homes are at different paths."""

import codecs
import hashlib
import json
import os
import shutil
import subprocess
import sys
import urllib.parse
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

from browsers import until
from documents import write
from editors import FOLDER, PROGRAM, TYPE, Editor, Terminal, hostile_app, need, pair, published
from harness import content, expect, main, run, test

EXTENSION = os.path.join(FOLDER, "vscode")
STUB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vscode_stub.js")
# As sudoedit, crontab and pass use them.
PRIVATE = ("/tmp/hidden", "/var/tmp/hidden", "/dev/shm/hidden", "/run/user/hidden")
TEXT = "first line\nzweite Zeile: äöü €\nthird line\n"


def offered(taker, name):
    """Waits until a file is offered. Returns the id."""
    return taker.watch.wait("added", type=TYPE, title=name)["id"]


def taken(taker, identifier):
    return taker.ctl("continue", identifier)


def between(stage, first, second):
    """Continues files of one editor in another that runs."""
    need(first, second, *["emacsclient"] * ("emacs" in (first, second)))
    origin, taker = pair(stage)
    data = codecs.BOM_UTF8 + TEXT.replace("\n", "\r\n").encode()
    here, there = (write(each, os.path.relpath(f"{each.checkout}/a dir/letter %x.md", os.path.realpath(each.folder)), data)
                   for each in (origin, taker))
    other = write(taker, "home/mine.txt", b"mine\n")
    mine = Editor(taker, second, other)
    left = Editor(origin, first, here)
    identifier = offered(taker, "letter %x.md")

    # The position is read when the file is continued.
    left.move(2, 17)
    taken(taker, identifier)
    state = mine.wait(there, _1=2)
    expect(state[1:6] == [2, 17, TEXT.rstrip("\n") if second != "emacs" else TEXT, False, False], f"{state}")
    expect(not mine.notes(), f"notes without a reason: {mine.notes()}")

    # Unsaved text is in the buffer, and not on the disk.
    left.type(3, "changed: ü\\n\u202e")
    left.move(3, 4)
    taken(taker, identifier)
    state = mine.wait(there, _4=True)
    expect(state[1:3] == [3, 4] and "changed: ü\\n\u202e" in state[3] and state[6] == 1, f"{state}")
    expect(content(there) == data and content(here) == data, "a file was written")
    expect("not saved yet" in mine.notes(), f"{mine.notes()}")

    # The file has changed on both disks, but not in the buffer of this device. Emacs regards a file with NUL as binary.
    added = b"four\r\nfi.ve\r\n" if "emacs" in (first, second) else b"four\r\nfi\0ve\r\n"
    for each in (here, there):
        with open(each, "ab") as file:
            file.write(added)
    left.do("edit!", "(revert-buffer t t)")
    mine.do("set nomodified", "(set-buffer-modified-p nil)")
    left.move(5, 4)
    taken(taker, identifier)
    mine.wait(there, _1=5, _2=4)
    left.type(3, "changed: ü\\n\u202e")
    left.move(5, 4)
    taken(taker, identifier)
    state = mine.wait(there, _4=True)
    expect(state[1:3] == [5, 4] and "changed: ü" in state[3], f"{state} {mine.notes()}")
    written = f"{mine.folder}/written"
    mine.do(f"write! {written}", f'(write-region nil nil "{written}" nil 1)')
    expect(content(written).endswith(b"\n" + added), f"{content(written)}")
    data = content(there)

    # An editor that saves by itself would write the text.
    mine.do("edit! | set autowriteall", "(progn (revert-buffer t t) (setq auto-save-visited-mode t))")
    taken(taker, identifier)
    state = mine.wait("", _6=2)
    expect("saved automatically" in mine.notes() and "changed: ü" in state[3], f"{state} {mine.notes()}")
    mine.do("set noautowriteall | diffoff! | quit!", "(progn (setq auto-save-visited-mode nil) (delete-window))")

    # It does not replace the unsaved text of this device.
    mine.type(1, "mine")
    # As handoffctl continue does on a terminal.
    done = run([sys.executable, "-B", PROGRAM, "continue", "--running", identifier], taker.environment)
    expect(done.code == 0 and done.output == "opened in a running editor\n", f"{done}")
    state = mine.wait("", _6=2)
    expect("changed: ü" in state[3] and content(there) == data, f"{state}")
    expect("unsaved changes here" in mine.notes(), f"{mine.notes()}")
    mine.end()
    shutil.rmtree(mine.folder)
    for each in os.listdir(os.path.dirname(there)):
        if each != os.path.basename(there):
            os.unlink(os.path.join(os.path.dirname(there), each))

    # A file that differs, on another branch: the text is shown next to it.
    newer = b"newer\n" + data
    with open(there, "wb") as file:
        file.write(newer)
    os.utime(there, (2_000_000_000, 2_000_000_000))
    with open(os.path.join(taker.checkout, ".git", "HEAD"), "w") as file:
        file.write("ref: refs/heads/other/\x1b[2J\n")
    mine = Editor(taker, second, other)
    taken(taker, identifier)
    state = mine.wait("", _6=2)
    notes = mine.notes()
    expect("newer than" in notes and "branch other/\\u{1B}[2J" in notes and "next to the file" in notes, f"{notes}")
    expect("changed: ü" in state[3] and content(there) == newer, f"{state}")
    mine.end()

    # Another editor has the file open: it is opened read-only.
    shutil.rmtree(mine.folder)
    with open(there, "wb") as file:
        file.write(data)
    holder = Editor(taker, second, there)
    holder.type(1, "of another editor")
    if second != "emacs":
        holder.do("preserve", "")
    mine = Editor(taker, second, other)
    taken(taker, identifier)
    state = mine.wait("", _6=2)
    expect("read-only" in mine.notes() and "changed: ü" in state[3], f"{mine.notes()} {state}")
    expect(content(there) == data, "the file was overwritten")
    holder.end()

    # A file that was deleted is in the editor only.
    left.do("write", "(save-buffer)")
    left.open(write(origin, os.path.relpath(f"{origin.checkout}/gone.md", os.path.realpath(origin.folder)), b"kept\n"))
    os.unlink(f"{origin.checkout}/gone.md")
    taken(taker, offered(taker, "gone.md"))
    mine.wait("", _3="kept\n" if second == "emacs" else "kept")

    # A file outside of shared folders is fetched as a copy, and its modelines have no effect.
    secret = write(origin, "home/private/draft.txt", b"# -*- tab-width: 77 -*-\n# vim: ts=77\ntext\n")
    left.open(secret)
    identifier = offered(taker, "draft.txt")
    taken(taker, identifier)
    until("the copy", lambda: "draft.txt" in mine.state()[0])
    expect("this is a copy" in mine.notes() and "/fetched/" in mine.state()[0], f"{mine.notes()}")
    expect(mine.evaluate("(buffer-local-value 'tab-width (window-buffer))" if second == "emacs" else "&tabstop") == 8,
           "a modeline of a copy has an effect")

    # A previous file can no longer be fetched, and private files are not offered.
    link = f"{origin.checkout}/linked"
    os.symlink(origin.folder, link)
    runtime = origin.environment["XDG_RUNTIME_DIR"]
    for each in (*PRIVATE, f"{origin.checkout}/.git/hidden", f"{origin.checkout}/COMMIT_EDITMSG", f"{origin.checkout}/hidden.gpg",
                 f"{origin.environment['HOME']}/.ssh/hidden", f"{runtime}/hidden", f"{link}/hidden"):
        left.open(each)
    left.open(write(origin, "home/private/last.txt", b"last\n"))
    offered(taker, "last.txt")
    titles = {each["activity"]["title"] if "activity" in each else each.get("title") for each in taker.watch.seen}
    expect("draft.txt" in titles and titles.isdisjoint({"COMMIT_EDITMSG", "hidden", "hidden.gpg"}), f"offered: {titles}")

    def names():
        return [each["title"] for each in taker.ctl("list").lines if each.get("type") == TYPE and each["deviceName"] == "origin"]

    # An editor withdraws the previous file after it has offered the next one.
    until(f"only the last file: {names()}", lambda: names() == ["last.txt"])
    hostile(origin, taker, mine)


# Payloads that no editor of this project sends.
def payloads(folder):
    bad = f"{folder}/pwned"
    quoted = urllib.parse.quote(bad, safe="")
    names = ["+!touch%20PWNED", "%2Btouch", "|touch%20PWNED", "a%0a:!touch%20PWNED", "`touch%20PWNED`", "$(touch%20PWNED)",
             "%1b]52;c;AAAA%07", "a'%22%5c);call%20system(%22touch%20PWNED%22)", "-c", "--help", "%23%25", "%ff%fe", "..", ""]
    files = [f"handoff-document:git/example.org%2Fnotes%2Fletters/{name.replace('PWNED', quoted)}" for name in names]
    files += ["file:///etc/passwd", "/etc/passwd", "handoff-document:git/example.org%2Fnotes%2Fletters/%2e%2e/%2e%2e/x",
              "http://a/b", "handoff-document:root/x/" + "y" * 20_000]
    good = "handoff-document:git/example.org%2Fnotes%2Fletters/plain.md"
    for file in files:
        yield {"file": {"$url": file}, "line": 1, "column": 1}
    for value in (-1, 0, 2**60, 1.5, True, "1|!touch " + bad, None, [1], {"a": 1}):
        yield {"file": {"$url": good}, "line": value, "column": value, "unsaved": value, "changed": value, "time": value,
               "sha256": value, "branch": value, "editor": value}
    yield {"file": {"$url": good}, "line": 2, "branch": f"\x1b]0;x\x07\u202e`touch {bad}`' | call system('touch {bad}')",
           "editor": "../../../bin/sh"}
    yield {"file": good}
    yield {}


def hostile(origin, taker, mine):
    """Continues hostile payloads in a running editor, which must survive all of them and run nothing."""
    plain = write(taker, os.path.relpath(f"{taker.checkout}/plain.md", os.path.realpath(taker.folder)), b"1\n2\n3\n")
    folder = os.path.realpath(taker.folder)
    before = set(os.listdir(taker.checkout))
    for info in payloads(folder):
        publisher = origin.publish(TYPE, "--title", "x\u202e\x1b[2J", "--user-info", json.dumps(info))
        taker.watch.wait("added", id=publisher.id)
        taken(taker, publisher.id)
        publisher.interrupt()
    good = {"file": {"$url": "handoff-document:git/example.org%2Fnotes%2Fletters/plain.md"}, "unsaved": True}
    base = hashlib.sha256(b"1\n2\n3\n").hexdigest()
    for header in ("", "[]", "[" * 60_000, '{"size": -1}', '{"size": "1"}', json.dumps({"size": 2**40, "base": base}),
                   json.dumps({"size": 100, "base": base}), '{"error": "\\u001b[2J"}'):
        app = hostile_app(origin, taker, TYPE, good, header, "short")
        taken(taker, app.id)
        until(f"a message for {header[:40]}", lambda: "text was not received" in mine.notes())
        state = mine.state()
        expect(state[0] == plain and not state[4], f"{header[:40]}: {state}")
        app.process.kill()
        clean = origin.publish(TYPE, "--user-info", json.dumps({"file": {"$url": good["file"]["$url"]}}))
        taker.watch.wait("added", id=clean.id)
        taken(taker, clean.id)
        until("no message", lambda: "text was not received" not in mine.notes())
        clean.interrupt()
    publisher = origin.publish(TYPE, "--user-info", json.dumps(
        {"file": {"$url": "handoff-document:git/example.org%2Fnotes%2Fletters/plain.md"}, "line": 2**60, "column": 2**60}))
    taker.watch.wait("added", id=publisher.id)
    taken(taker, publisher.id)
    state = mine.wait(plain, _1=3)
    expect(state[4] is False and state[3].startswith("1\n2\n3"), f"{state}")
    expect(not os.path.exists(os.path.join(folder, "pwned")) and set(os.listdir(taker.checkout)) <= before | {".plain.md.swp"},
           f"something ran: {os.listdir(taker.checkout)}")
    expect(b"\x1b]52" not in mine.terminal.output and b"\x1b]0;x" not in mine.terminal.output, "escapes reach the terminal")
    expect(mine.evaluate("1" if mine.name != "emacs" else '(json-encode 1)') == 1, "the editor does not reply")
    publisher.interrupt()


for first, second in (("nvim", "vim"), ("vim", "emacs"), ("emacs", "nvim")):
    def each(stage, first=first, second=second):
        between(stage, first, second)
    test(f"a file in {first} continues in {second}: position, unsaved text, conflicts, copies, hostile values", 120)(each)


# Stands in for handoff-editor: requests the text, and records the replies.
REQUESTS = """#!{python} -B
import sys
with open(sys.argv[0] + ".log", "a", buffering=1) as log:
    for line in iter(sys.stdin.readline, ""):
        log.write(line)
        if '"front"' in line:
            print('{{"do": "text", "path": "/dev/null/text"}}', '{{"do": "state"}}', sep="\\n", flush=True)
"""


@test("a daemon of Emacs offers and continues files only while it has a frame")
def daemonized(stage):
    need("emacs", "emacsclient")
    origin, _ = pair(stage)
    name = os.path.join(stage.folder, "server")
    server = f'(setq server-socket-dir "{stage.folder}" server-name "server")'
    words = ["emacs", "-Q", "-l", f"{FOLDER}/handoff.el", "--eval", server, "--fg-daemon=server"]
    with open(os.path.join(stage.folder, "emacs.log"), "w") as log:
        stage.processes.append(subprocess.Popen(words, env=origin.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def evaluated(text):
        done = subprocess.run(["emacsclient", "-s", name, "-e", text], env=origin.environment, capture_output=True, timeout=60)
        return done.stdout.strip()

    def is_running():
        return any(each["id"] == TYPE and each["running"] for each in origin.ctl("apps").lines)

    until("the daemon", lambda: evaluated("after-init-time"))
    expect(evaluated("(featurep 'handoff)") == b"t" and evaluated("handoff--process") == b"nil", "it is connected without a frame")
    path = write(origin, "home/letter.md", b"text\n")
    for _ in range(2):
        client = Terminal(stage, ["emacsclient", "-s", name, "-nw", path], origin.environment, origin.folder)
        until("the offer", lambda: published(origin) == 1 and is_running())
        evaluated("(delete-frame (selected-frame))")
        client.process.wait(60)
        until("the end of the offer", lambda: published(origin) == 0 and not is_running())
    evaluated("(progn (handoff-stop) (let (kill-emacs-hook) (kill-emacs)))")


@test("an editor that cannot write its text sends a reply without it")
def unwritable(stage):
    need("nvim", "vim", "emacs", "node")
    folder = os.path.join(stage.folder, "editors")
    shutil.copytree(FOLDER, folder)
    program, file = os.path.join(folder, "handoff-editor"), stage.file("a.md", "text\n")
    with open(program, "w") as script:
        script.write(REQUESTS.format(python=sys.executable))
    environment = {**os.environ, "TERM": "xterm", "HOME": stage.folder}
    for name, words in (("nvim", ["-u", f"{folder}/handoff.lua"]), ("vim", ["-N", "-u", f"{folder}/handoff.vim"]),
                        ("emacs", ["-nw", "-Q", "-l", f"{folder}/handoff.el"]), ("node", [STUB, f"{folder}/vscode"])):
        terminal = Terminal(stage, [name, *words, file], environment, stage.folder)
        log = f"{program}.log"
        replies = until(f"replies of {name}", lambda: os.path.exists(log) and [
            each for each in map(json.loads, content(log).splitlines()) if "front" not in each][1:] and content(log).splitlines())
        text, state = (each for each in map(json.loads, replies) if "front" not in each)
        expect(text.get("text") is True and "file" not in text["state"] and state["state"]["file"] == file, f"{name}: {replies}")
        terminal.process.kill()
        terminal.process.wait()
        os.unlink(log)


# Requests the text of an editor twice. The editor replies to the first request after its timeout.
LATE = """
import os, sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
loader = SourceFileLoader("handoff_editor", sys.argv[1])
module = module_from_spec(spec_from_loader("handoff_editor", loader))
loader.exec_module(module)
class Streams:
    def start(self, stream, event, parts):
        print(parts, file=sys.stderr, flush=True)
editor = module.Editor.__new__(module.Editor)
editor.path, editor.front, editor._bytes, editor._text, editor._streams = "/a", None, b"", None, Streams()
editor._serve(None, {})
editor._serve(None, {})
editor.name, editor.path, editor.state = "vim", sys.argv[1], {}
print(editor._save()["userInfo"]["unsaved"], file=sys.stderr, flush=True)
"""


@test("the late reply of an editor is not taken for that to a later request, and its text counts as unsaved")
def late(stage):
    process = subprocess.Popen([sys.executable, "-c", LATE, PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    stage.processes.append(process)
    path = json.loads(process.stdout.readline())["path"]
    expect(b"does not reply" in process.stderr.readline(), "a reply without one of the editor")
    with open(path, "w") as file:
        file.write("the text")
    process.stdin.write(b'{"text": true, "state": {"file": "/a"}}\n')
    process.stdin.flush()
    reply = process.stderr.readline()
    expect(b"the text" in reply and not os.path.exists(path), f"{reply}")
    # Otherwise the other device would open the file without its unsaved text, and without a note.
    expect(process.stderr.readline() == b"True\n", "the text of a busy editor counts as saved")


class Stub:
    """The extension for VS Code, in a stub of VS Code."""

    def __init__(self, daemon, file, *options):
        words = ["node", STUB, EXTENSION, file, *options]
        before = published(daemon)
        self.daemon = daemon
        self.process = subprocess.Popen(words, env=daemon.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        daemon.stage.processes.append(self.process)
        until("the offer of the extension", lambda: published(daemon) > before)

    def change(self, **change):
        """Returns the path, line, character, text, if it is unsaved, and the messages, after a change."""
        self.process.stdin.write(json.dumps(change).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        before = published(self.daemon)
        self.process.stdin.close()
        expect(self.process.wait(60) == 0, "the extension does not end")
        until("the end of its offer", lambda: published(self.daemon) < before)


@test("files of temporary folders, version control and passwords are private")
def private(stage):
    loader = SourceFileLoader("handoff_editor", PROGRAM)
    module = module_from_spec(spec_from_loader("handoff_editor", loader))
    loader.exec_module(module)
    home = os.environ["HOME"], os.path.join(os.path.realpath(stage.folder), "home")
    try:
        os.environ["HOME"] = home[1]
        os.environ["TMPDIR"] = f"{home[1]}/tmp/"
        for path in (*PRIVATE, "/tmp/crontab.x/crontab", "/var/tmp/hosts.x", "/dev/shm/pass.x/a.txt", f"{home[1]}x/a",
                     f"{home[1]}/tmp/a", *(f"{home[1]}/{each}" for each in (
                         "a.gpg", ".netrc", ".authinfo.gpg", "src/.git/worktrees/a/COMMIT_EDITMSG", ".ansible/tmp/x/a.yml",
                         "bare/COMMIT_EDITMSG", "bare/git-rebase-todo", ".password-store/a", ".ssh/config", "svn-commit.2.tmp"))):
            expect(module.is_private(path), f"{path} is offered")
        for path in ("a.md", "tmp.md", "var/tmp/a", "src/letters/netrc.c", "notes/COMMIT_EDITMSG.md", ".gitignore", "run/a"):
            expect(not module.is_private(f"{home[1]}/{path}"), f"{path} is not offered")
    finally:
        os.environ["HOME"] = home[0]
        del os.environ["TMPDIR"]


@test("the extension for VS Code continues files in a stub of VS Code")
def extension(stage):
    need("node")
    origin, taker = pair(stage)
    data = "first\nsmile \U0001f600 line\n"
    here, there = (write(each, os.path.relpath(f"{each.checkout}/letter.md", os.path.realpath(each.folder)), data.encode())
                   for each in (origin, taker))
    other = write(taker, "home/mine.txt", b"mine\n")
    left = Stub(origin, here)
    identifier = offered(taker, "letter.md")
    left.change(line=2, character=9)
    mine = Stub(taker, other)
    taken(taker, identifier)
    until("the position", lambda: mine.change()[:5] == [there, 2, 9, data, False])
    left.change(text=("unsaved\n" + data).replace("\n", "\r\n"), line=3, character=9)
    taken(taker, identifier)
    until("the text", lambda: mine.change()[:5] == [there, 3, 9, "unsaved\n" + data, True])
    expect("not saved yet" in mine.change()[5] and content(there) == data.encode(), "no message, or a file was written")
    taken(taker, identifier)
    until("the text next to the file", lambda: mine.change()[0] == "")
    expect("unsaved changes here" in mine.change()[5], f"{mine.change()}")
    mine.end()
    mine = Stub(taker, other, "afterDelay")
    taken(taker, identifier)
    until("the text next to the file", lambda: mine.change()[0] == "")
    expect("saved automatically" in mine.change()[5] and content(there) == data.encode(), f"{mine.change()}")
    for stub in (left, mine):
        stub.end()
    until("the end of the offers", lambda: published(origin) == published(taker) == 0)


@test("without a running editor, the file is opened by a command with a card, and in a terminal")
def started(stage):
    need("vim", "nvim")
    origin, taker = pair(stage)
    data = TEXT.encode()
    here, there = (write(each, os.path.relpath(f"{each.checkout}/letter.md", os.path.realpath(each.folder)), data)
                   for each in (origin, taker))
    left = Editor(origin, "vim", here)
    identifier = offered(taker, "letter.md")
    left.type(1, "unsaved")
    left.move(2, 3)

    def command(*words, code=0):
        done = run([sys.executable, "-B", PROGRAM, "continue", *words], taker.environment)
        expect(done.code == code, f"{done}")
        return done

    card, prepared = command("--json", identifier).lines
    expect(card["event"] == "card" and card["what"] == "letter.md, line 2, with unsaved text" and card["from"] == "origin"
           and card["missing"] == [] and card["as of"].startswith("20"), f"{card}")
    expect(prepared["file"] == there and prepared["apply"] and content(prepared["text"]).startswith(b"unsaved\n"), f"{prepared}")
    os.unlink(prepared["text"])
    for wrong in ("../../x", "--help-", "ffffffff"):
        expect("NothingToContinue" in command("--json", "--", wrong, code=4).errors, wrong)
    os.unlink(there)
    card, prepared = command("--json", identifier).lines
    expect(card["missing"] == ["letter.md is not on this device, it is opened as a copy"], f"{card}")
    os.unlink(prepared["text"])
    write(taker, os.path.relpath(there, os.path.realpath(taker.folder)), data)

    # A file that was never saved.
    draft = os.path.join(origin.checkout, "draft.md")
    left.do("set hidden", "")
    left.open(draft)
    left.type(1, "never saved")
    card, prepared = command("--json", offered(taker, "draft.md")).lines
    expect(prepared["file"] is None and content(prepared["text"]) == b"never saved\n", f"{prepared}")
    expect(not os.path.exists(draft), "the text was written to the disk")
    expect("draft.md is not on this device" in card["missing"][0], f"{card}")
    os.unlink(prepared["text"])
    left.open(here)
    left.move(2, 3)
    identifier = offered(taker, "letter.md")

    # The daemon starts the program, which starts a terminal emulator, here one that records its command.
    record, programs = os.path.join(taker.folder, "record"), os.path.join(taker.folder, "programs")
    os.mkdir(programs)
    path = os.path.join(programs, "x-terminal-emulator")
    with open(path, "w") as file:
        file.write(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >{record}.part\nmv {record}.part {record}\n")
    os.chmod(path, 0o755)
    handlers = os.path.join(taker.folder, "config", "handoff", "handlers.d")
    os.makedirs(handlers)
    taker.extra |= {"XDG_CONFIG_HOME": os.path.join(taker.folder, "config"), "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent",
                    "PATH": f"{programs}:{taker.environment['PATH']}"}
    with open(os.path.join(handlers, f"{TYPE}.json"), "w") as file:
        json.dump({"name": "Editor", "exec": [sys.executable, "-B", PROGRAM, "open"], "types": [TYPE]}, file)
    taker.restart()
    watch = taker.follow("watch")
    watch.wait("added", id=identifier)
    # Without a graphical session, a terminal emulator would exit unnoticed.
    taker.ctl("continue", identifier, code=1)
    taker.extra["DISPLAY"] = ":0"
    taker.restart()
    watch = taker.follow("watch")
    watch.wait("added", id=identifier)
    taken(taker, identifier)
    until("the terminal", lambda: os.path.exists(record))
    words = content(record).decode().splitlines()
    expect(words[0] == "-e" and words[-3:] == ["continue", "--wait", identifier], f"{words}")
    # What that terminal runs opens the real editor.
    probe = Editor.__new__(Editor)
    probe.daemon, probe.name, probe.folder = taker, "nvim", taker.folder
    environment = {**taker.environment, "NVIM_LISTEN_ADDRESS": f"{taker.folder}/server"}
    words[-3:] = ["continue", "--yes", "--editor", "nvim", identifier]
    probe.terminal = Terminal(stage, words[1:], environment, taker.folder)
    state = probe.wait(there, _4=True)
    expect(state[1:3] == [2, 3] and state[3].startswith("unsaved\n") and content(there) == data, f"{state}")
    # The file with the request is removed after the editor has received it.
    until("no files", lambda: not [each for each in os.listdir(os.path.dirname(taker.socket)) if each.startswith("handoff-")])


if __name__ == "__main__":
    main()
