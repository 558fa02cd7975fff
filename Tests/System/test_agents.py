#!/usr/bin/env python3
"""Sessions of coding agents continue on another device, by stubs of the agents: each records how it was started, and resumes
only a session that is where the real agent expects it. Two devices on loopback, whose homes are at different paths."""

import glob
import json
import os
import re
import signal
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

from browsers import until
from documents import write
from editors import Terminal, hostile_app, need, pair
from harness import ROOT, Failure, Follower, content, expect, main, run, test

import handoff  # noqa: E402, editors makes it available
import handoff_desk as desk  # noqa: E402

PROGRAM = os.path.join(ROOT, "Integrations", "agents", "handoff-agents")
TYPE = "dev.handoff1.agent"
ID = "0196f0aa-1111-4222-8333-0123456789ab"
OTHER = "0196f0aa-9999-4222-8333-0123456789ab"
# The part of a real agent that a continuation uses: a database with export and import, and a search for the session.
STUB = """#!{python} -B
import glob, json, os, sys
words, home, here = sys.argv[1:], os.environ["HOME"], os.getcwd()
store = home + "/.database-NAME"
database = json.load(open(store)) if os.path.exists(store) else {{}}
if words == ["--version"]:
    print("NAME version VERSION (stub)")
elif words[:4] == ["session", "list", "--format", "json"]:
    rows = [{{"directory": "/elsewhere", "working_dir": "/elsewhere", "id": "x"}}]
    for each in database:
        rows.append({{"id": each, "directory": here, "updated": 1.7e12,
                     "working_dir": here, "updated_at": "2026-11-26T10:00:00Z"}})
    print(json.dumps(rows))
elif words[:1] == ["export"]:
    print(json.dumps({{"info": {{"id": words[1], **database[words[1]]}}, "messages": []}}))
elif words[:2] == ["session", "export"]:
    session = words[words.index("--session-id") + 1]
    print(json.dumps({{"id": session, **database[session]}}))
elif words[:1] == ["import"]:
    info = json.load(open(words[-1]))["info"]
    session = info.pop("id")
    database[session] = info
    json.dump(database, open(store, "w"))
    print("Imported session:" if info["title"] != "broken" else "File not found:", session)
elif words[:2] == ["session", "import"]:
    value = json.load(open(words[-1]))
    del value["id"]
    database["20261126_7"] = value
    json.dump(database, open(store, "w"))
    print("Session imported:", "20261126_7 - letters", sep=chr(10))
else:
    json.dump({{"words": words, "folder": here, "found": bool(glob.glob(os.path.expanduser(PATTERN))), "database": database}},
              open(home + "/started.part", "w"))
    os.rename(home + "/started.part", home + "/started")
"""
# Exported sessions, and what is imported: no commands and rules of the other device.
DATABASES = {"opencode": ({"title": "letters", "permission": [{"permission": "*", "pattern": "*", "action": "allow"}]},
                          {"title": "letters"}),
             "goose": ({"extension_data": {"enabled_extensions.v0": {"extensions": [{"cmd": "sh"}]}, "todo.v0": {"content": "x"}},
                        "recipe": {"extensions": []}, "goose_mode": "auto", "working_dir": "/elsewhere", "conversation": ["x"]},
                       {"extension_data": {"todo.v0": {"content": "x"}}, "working_dir": "HERE", "conversation": ["x"]})}
LINE = b'{"sessionId": "%s", "type": "user"}\n' % ID.encode()


def key(folder):
    return re.sub("[^A-Za-z0-9]", "-", folder)


# Tool: program, version, how the real agent is told to resume, where the session is on a device with this checkout (None: not
# in a file), the first line, whether the id has to be named, the id.
TOOLS = {
    "claude": ("claude", "2.1.268", ["--resume", ID], lambda folder: f".claude/projects/{key(folder)}/{ID}.jsonl", LINE, False,
               ID),
    "codex": ("codex", "0.149.0", ["resume", "--cd", ".", ID],
              lambda folder: f".codex/sessions/2026/11/26/rollout-2026-11-26T10-00-00-{ID}.jsonl",
              b"CODEX", False, ID),
    "gemini": ("gemini", "0.58.1", ["--resume", ID],
               lambda folder: ".gemini/tmp/letters/chats/session-2026-11-26T10-00-0196f0aa.jsonl",
               LINE, False, ID),
    "copilot": ("copilot", "1.0.9", [f"--resume={ID}"], lambda folder: f".copilot/session-state/{ID}/events.jsonl", LINE,
                True, ID),
    "kiro": ("kiro-cli", "1.2", ["chat", "--resume-id", ID], lambda folder: f".kiro/sessions/cli/{ID}.jsonl", LINE, True, ID),
    "opencode": ("opencode", "1.18.0", ["--session", "ses_abc"], None, None, False, "ses_abc"),
    "goose": ("goose", "1.52.0", ["session", "--resume", "--session-id", "20261126_7"], None, None, False, "20261126_1"),
    "amp": ("amp", "0.1", ["threads", "continue", f"T-{ID}"], None, None, True, f"T-{ID}"),
    "aider": ("aider", "0.86", ["--restore-chat-history"], None, None, False, "project"),
    "crush": ("crush", "0.89", ["--continue"], None, None, False, "project"),
}


def stub(device, program, version, pattern="'/'"):
    """Installs a stub of an agent on a device."""
    text = STUB.format(python=sys.executable).replace("NAME", program).replace("VERSION", version).replace("PATTERN", pattern)
    path = write(device, f"programs/{program}", text.encode())
    os.chmod(path, 0o755)
    return path


def devices(stage):
    origin, taker = pair(stage)
    for each in (origin, taker):
        each.home = os.path.realpath(each.environment["HOME"])
        each.environment["PATH"] = f"{os.path.realpath(each.folder)}/programs:{each.environment['PATH']}"
        write(each, "home/.gemini/projects.json", json.dumps({"projects": {each.checkout: "letters"}}).encode())
        for program, version, *_ in TOOLS.values():
            stub(each, program, version)
    return origin, taker


def publish(origin, taker, *words):
    """Offers a session. Returns the command and the id of its offer."""
    log = os.path.join(origin.folder, "publish.log")
    command = [sys.executable, "-B", PROGRAM, "publish", "--json", "--folder", origin.checkout, *words]
    follower = Follower(origin.stage, command, origin.environment, log)
    identifier = follower.wait("published")["id"]
    taker.watch.wait("added", id=identifier)
    return follower, identifier


def carry_on(taker, identifier, *words, code=0):
    done = run([sys.executable, "-B", PROGRAM, "continue", "--json", *words, identifier], taker.environment)
    expect(done.code == code, f"{done}")
    return done


@test("the session of each agent in the table is resumed by the agent's own argument, in the same checkout", 120)
def resumed(stage):
    origin, taker = devices(stage)
    for name, (program, version, arguments, place, first, is_named, session) in TOOLS.items():
        data = None
        if place:
            meta = json.dumps({"type": "session_meta", "payload": {"id": ID, "cwd": origin.checkout}}).encode() + b"\n"
            data = (meta if first == b"CODEX" else first) + b'{"text": "\\u001b[2J secret"}\n' * 1000
            write(origin, f"home/{place(origin.checkout)}", data + b'{"incompl')
            stub(taker, program, version, repr("~/" + place(taker.checkout)))
        elif name in DATABASES:
            write(origin, f"home/.database-{program}", json.dumps({session: DATABASES[name][0]}).encode())
        elif session == "project":
            for each in (origin, taker):
                each_path = ".aider.chat.history.md" if name == "aider" else ".crush/crush.db"
                write(each, os.path.relpath(f"{each.checkout}/{each_path}", os.path.realpath(each.folder)), b"history")
        follower, identifier = publish(origin, taker, name, *(["--session", session] if is_named else []))
        # In a terminal, with the question.
        environment = taker.environment
        terminal = Terminal(stage, [sys.executable, "-B", PROGRAM, "continue", identifier], environment, taker.folder)
        until(f"the question for {name}", lambda: b"Continue? [Y/n]" in terminal.output)
        shown = terminal.output.decode()
        expect(f"session {session} of {name}" in shown and "from:     origin" in shown and "as of:    20" in shown, shown)
        path = os.path.join(taker.home, place(taker.checkout)) if place else None
        expect(path is None or not os.path.exists(path), "something was transferred before the answer")
        terminal.keys("y\r")
        record = os.path.join(taker.home, "started")
        try:
            until(f"the start of {name}", lambda: os.path.exists(record))
        except Failure as error:
            raise Failure(f"{error}: {terminal.output.decode()}") from None
        started = json.loads(content(record))
        os.unlink(record)
        expect(started["words"] == arguments and started["folder"] == taker.checkout, f"{name}: {started}")
        expect(started["found"], f"{name} does not find the session")
        expect(path is None or content(path) == data, f"{name}: another transcript")
        if name in DATABASES:
            imported = json.loads(json.dumps(DATABASES[name][1]).replace("HERE", taker.checkout))
            expect(started["database"] == {arguments[-1]: imported}, f"{started}")
        follower.interrupt()


@test("a session that is newer or differs is kept, an older one is continued and kept as a copy", 90)
def kept(stage):
    origin, taker = devices(stage)
    place = TOOLS["claude"][3]
    mine = write(origin, f"home/{place(origin.checkout)}", LINE * 3)
    write(origin, f"home/{place(origin.checkout)[:-6]}/subagents/agent-1.jsonl", LINE)
    # Of another folder, and later.
    write(origin, f"home/.claude/projects/-elsewhere/{OTHER}.jsonl", LINE)
    follower, identifier = publish(origin, taker)
    there = f"home/{place(taker.checkout)}"
    for other, word in ((LINE * 5, "is newer"), (b'{"other": 1}\n' + LINE * 2, "differs")):
        path = write(taker, there, other)
        done = carry_on(taker, identifier, code=1)
        expect(word in done.errors and content(path) == other, f"{done}")
        expect(os.listdir(os.path.dirname(path)) == [os.path.basename(path)], "files are left")
    write(taker, there, LINE * 2)
    placed = carry_on(taker, identifier).lines[-1]
    expect(placed["event"] == "placed" and placed["command"] == ["claude", "--resume", ID] and placed["folder"] == taker.checkout,
           f"{placed}")
    expect(content(path) == content(mine) and content(os.path.join(placed["kept"], f"{ID}.jsonl")) == LINE * 2, f"{placed}")
    expect(content(path[:-6] + "/subagents/agent-1.jsonl") == LINE, "the session's folder is missing")
    again = carry_on(taker, identifier).lines[-1]
    expect(again["replaced"] == [], f"{again}")
    # An agent that was killed leaves an incomplete line, which the other device did not receive.
    for lines in (2, 3):
        write(taker, there, LINE * lines + b'{"incompl')
        placed = carry_on(taker, identifier).lines[-1]
        expect(content(path) == content(mine) and len(placed["replaced"]) == 1, f"an incomplete line: {placed}")

    # A session that is open.
    agent = subprocess.Popen(["claude"], executable="/usr/bin/cat", stdin=subprocess.PIPE)
    stage.processes.append(agent)
    mark = json.dumps({"pid": agent.pid, "sessionId": ID}).encode()
    write(origin, "home/.claude/sessions/1.json", mark)
    # The state is read when it is continued, unless the program is too slow then.
    until("an open session",
          lambda: "it is open on origin: exit the agent there first" in carry_on(taker, identifier).lines[0]["missing"])
    mine = write(taker, "home/.claude/sessions/1.json", mark)
    expect("is open on this device" in carry_on(taker, identifier, code=1).errors, "a session that is open is continued")
    os.unlink(mine)
    # The user starts the agent here while the question is shown.
    words = [sys.executable, "-B", PROGRAM, "continue", identifier]
    terminal = Terminal(stage, words, taker.environment, taker.folder)
    until("the question", lambda: b"Continue? [Y/n]" in terminal.output)
    mine = write(taker, "home/.claude/sessions/1.json", mark)
    terminal.keys("y\r")
    until("the refusal", lambda: b"is open on this device" in terminal.output)
    os.unlink(mine)
    agent.kill()

    # A list of files that is longer than 64 KiB. Other files than transcripts are replaced, also a database and its log.
    for number in range(380):
        write(origin, f"home/{place(origin.checkout)[:-6]}/tool-results/{number:0120}.txt", b"")
    write(origin, f"home/{place(origin.checkout)[:-6]}/state.db", b"new")
    write(origin, f"home/{place(origin.checkout)[:-6]}/state.db-wal", b"a log in use")
    state = write(taker, there[:-6] + "/state.db", b"old")
    write(taker, there[:-6] + "/state.db-wal", b"log")
    placed = carry_on(taker, identifier).lines[-1]
    expect(placed["replaced"] == [state] and content(state) == b"new" and not os.path.exists(f"{state}-wal"), f"{placed}")
    expect([content(f"{placed['kept']}/{ID}/state.db{end}") for end in ("", "-wal")] == [b"old", b"log"], "no copies")
    expect(len(os.listdir(path[:-6] + "/tool-results")) == 380, "files are missing")

    # A link that leads elsewhere is not followed.
    outside = write(taker, "home/outside.jsonl", LINE)
    os.unlink(path)
    os.symlink(outside, path)
    expect("through a link" in carry_on(taker, identifier, code=1).errors and content(outside) == LINE, "a link was followed")
    os.unlink(path)

    # What is missing is reported before anything is transferred.
    os.rename(f"{taker.folder}/programs/claude", f"{taker.folder}/programs/claude-not")
    done = carry_on(taker, identifier, code=1)
    expect(done.lines[0]["missing"][0] == "claude is not installed" and not os.path.exists(path), f"{done}")
    os.makedirs(f"{taker.home}/.nvm/versions/node/v22/bin")
    os.rename(f"{taker.folder}/programs/claude-not", f"{taker.home}/.nvm/versions/node/v22/bin/claude")
    expect(carry_on(taker, identifier).lines[-1]["event"] == "placed", "not found where its installer stores it")
    os.unlink(path)
    stub(taker, "claude", "3.0.0")
    done = carry_on(taker, identifier, code=1)
    expect("version 3.0.0 here, and 2.1.268 on origin" in done.lines[0]["missing"][0], f"{done}")
    stub(taker, "claude", "2.9.9")
    os.rename(taker.checkout, f"{taker.home}/away")
    done = carry_on(taker, identifier, code=1)
    expect("the folder letters" in done.lines[0]["missing"][0] and not os.path.exists(path), f"{done}")
    os.mkdir(f"{taker.home}/else where")
    state = f"{taker.home}/.local/state/handoff/agents"
    for name in ("incoming-x", "replaced-x"):
        os.mkdir(f"{state}/{name}")
        os.utime(f"{state}/{name}", (1, 1))
    placed = carry_on(taker, identifier, "--in", f"{taker.home}/else where").lines[-1]
    expect(placed["folder"] == f"{taker.home}/else where", f"{placed}")
    expect(content(f"{taker.home}/.claude/projects/{key(placed['folder'])}/{ID}.jsonl") == LINE * 3, "not in the folder's place")
    # A terminal that is closed during the transfer.
    with open(f"{origin.home}/{place(origin.checkout)}", "r+b") as file:
        file.seek(200 << 20)
        file.write(LINE)
    words = [sys.executable, "-B", PROGRAM, "continue", "--json", "--in", placed["folder"], identifier]
    process = subprocess.Popen(words, env=taker.environment, stdout=subprocess.DEVNULL)
    stage.processes.append(process)
    until("the transfer", lambda: glob.glob(f"{state}/incoming-*/0"))
    process.send_signal(signal.SIGHUP)
    process.wait(20)
    left = os.listdir(state)
    expect(not [each for each in left if each.startswith("incoming") or each == "replaced-x"], f"{left}")
    follower.interrupt()


@test("uncommitted changes, another branch and another commit are reported", 120)
def states(stage):
    need("git")
    origin, taker = devices(stage)
    for each in (origin, taker):
        subprocess.run(f"rm -rf .git && git init -q -b main && git remote add origin https://example.org/notes/letters.git && "
                       f"git -c user.name=a -c user.email=a@b commit -q --allow-empty -m {each.name}", shell=True, check=True,
                       cwd=each.checkout, env=each.environment)
    write(origin, f"home/{TOOLS['claude'][3](origin.checkout)}", LINE)
    write(origin, "home/src/letters/draft.md", b"draft\n")
    follower, identifier = publish(origin, taker)

    def reports(*texts):
        # The state is sent without that of git if git takes too long.
        until(texts, lambda: all(each in " | ".join(carry_on(taker, identifier).lines[0]["missing"]) for each in texts))

    reports("uncommitted changes in 1 file of", "another commit", "last minute")
    subprocess.run(["git", "checkout", "-q", "-b", "other"], check=True, cwd=taker.checkout, env=taker.environment)
    missing = " | ".join(carry_on(taker, identifier).lines[0]["missing"])
    expect("on branch other, that of origin on main" in missing and "newer session" not in missing, missing)
    # As after /clear in the agent.
    write(origin, f"home/{TOOLS['claude'][3](origin.checkout).replace(ID, OTHER)}", LINE)
    missing = " | ".join(carry_on(taker, identifier).lines[0]["missing"])
    expect("origin has a newer session in this folder" in missing, missing)
    follower.interrupt()


@test("hostile sessions, folders, files and texts have no effect outside of the session's place", 120)
def hostile(stage):
    origin, taker = devices(stage)
    bad = f"{taker.home}/pwned"
    good = {"version": 1, "tool": "claude", "session": ID, "toolVersion": "2.0",
            "folder": {"$url": "handoff-document:git/example.org%2Fnotes%2Fletters/"}, "name": "letters"}
    listed = json.dumps({"files": [[f"{ID}.jsonl", 3]]})

    def attempt(change, header=listed, data="{}\n", code=1):
        follower = hostile_app(origin, taker, TYPE, {**good, **change}, header, data)
        identifier = follower.id
        done = carry_on(taker, identifier, code=code)
        follower.process.kill()
        expect("Traceback" not in done.errors, f"{done}")
        expect(not re.search("[\x00-\x09\x0b-\x1f\u202e]", done.output + done.errors), f"{done}")
        expect(not os.path.exists(bad) and not os.path.exists(f"{taker.home}/started"), f"something ran: {done}")
        return done

    def before():
        return sorted(os.path.join(place, each) for place, _, files in os.walk(taker.home) for each in files)

    files = before()
    for session in ("../../x", "--dangerously-skip-permissions", "", "/etc/passwd", f"{ID}\n", f"{ID}; touch {bad}", "*",
                    ID.upper(), "\x1b]0;x\x07", ["a"], {"$url": "file:///x"}, None, 2**60):
        expect("is not the id of a session" in attempt({"session": session}).errors, f"{session}")
    for tool in ("sh", "../../bin/sh", "", None, ["claude"], "claude\x00", "\u202eedualc"):
        expect("is not known" in attempt({"tool": tool}).errors, f"{tool}")
    for folder in ("handoff-document:git/example.org%2Fnotes%2Fletters/../../..", "file:///etc", "/etc", {"$url": "file:///etc"},
                   None,
                   {"$url": "handoff-document:git/a\0b/"},
                   {"$url": "handoff-document:root/x/%2e%2e/"}, {"$url": "handoff-document:name/$(touch%20" + bad + ")"}, [1]):
        expect("the folder" in attempt({"folder": folder}).errors, f"{folder}")
    for name in ("../x.jsonl", "/etc/passwd", f"../{ID}.jsonl", f"{OTHER}.jsonl", f"{ID}/../../x", f"{ID}/.hidden", f"{ID}/-x",
                 f"{ID}/a\n", f"{ID}.jsonl\x00", "\x1b[2J", "", f"{ID}/" + "a/" * 600 + "b", f"{ID}//a", "export"):
        done = attempt({}, json.dumps({"files": [[name, 3]]}))
        expect("is not a file of this session" in done.errors, f"{name!r}: {done}")
    for header in ("", "[]", "nonsense", "[" * 60_000, '{"files": 1}', '{"files": [[1, 2]]}', '{"files": [["a", -1]]}',
                   '{"files": [["a", 1e99]]}', json.dumps({"files": [[f"{ID}.jsonl", 2**60]]}), '{"files": []}',
                   json.dumps({"files": [[f"{ID}.jsonl", 3]] * 2}), '{"error": "\\u001b[2J"}',
                   json.dumps({"files": [[f"{ID}.jsonl", 4000]]})):
        attempt({}, header)
    expect(before() == files, f"files: {set(before()) ^ set(files)}")
    name, data = TOOLS["gemini"][3]("").rpartition("/")[2], LINE.decode().replace(ID, OTHER)
    done = attempt({"tool": "gemini", "toolVersion": "0.1"}, json.dumps({"files": [[name, len(data)]]}), data)
    expect("is not a file of this session" in done.errors, f"{done}")
    other = '{"info": {"id": "ses_other"}, "id": "20261126_2", "extension_data": {}}'
    for tool, session, exports in (("opencode", "ses_abc", ("[", "[]", '{"info": 1}', "[" * 60_000, other)),
                                   ("goose", "20261126_1", ("{}", other))):
        for data in exports:
            header = json.dumps({"files": [["export", len(data)]]})
            done = attempt({"tool": tool, "session": session, "toolVersion": "1.0"}, header, data)
            expect("sent an invalid session" in done.errors or "sent another session" in done.errors, f"{data[:80]}: {done}")
    expect(before() == files, f"files: {set(before()) ^ set(files)}")
    data = '{"info": {"id": "ses_abc", "title": "broken"}}'  # The agent exits with 0 after this error.
    done = attempt({"tool": "opencode", "session": "ses_abc", "toolVersion": "1.0"},
                   json.dumps({"files": [["export", len(data)]]}), data)
    expect("opencode reports: File not found" in done.errors, f"{done}")
    os.unlink(f"{taker.home}/.database-opencode")
    texts = {"name": "\x1b[2J", "branch": "\x1b]52;c;AAAA\x07`touch " + bad + "`", "head": "--upload-pack=x",
             "toolVersion": "2.\x1b[2J", "uncommitted": 2**62, "time": -(2**60)}
    attempt(texts, code=0)
    attempt({name: [value] for name, value in texts.items()} | {"time": 2**60}, code=0)
    expect(len(before()) == len(files) + 2, f"{set(before()) ^ set(files)}")
    for words in (["claude", "--session", "../../x"], ["claude", "--session=--help"], ["sh"], ["--session", ID]):
        done = run([sys.executable, "-B", PROGRAM, "publish", "--folder", origin.checkout, *words], origin.environment)
        expect(done.code in (1, 2) and "Traceback" not in done.errors, f"{done}")
    done = run([sys.executable, "-B", PROGRAM, "publish", "--folder", origin.checkout], origin.environment)
    expect(done.code == 1 and "no session" in done.errors, f"{done}")


@test("a device that does not read cannot prevent later streams of itself, and each file has its own timeout")
def slow(stage):
    origin, taker = devices(stage)
    place = TOOLS["claude"][3]
    write(origin, f"home/{place(origin.checkout)}", LINE * 200_000)
    follower, identifier = publish(origin, taker)
    device = next(each["device"] for each in taker.ctl("list").lines if each.get("id") == identifier)

    def stream():
        words = {"activity": identifier, "from": device, "take": True}
        with handoff.Follow("dev.handoff1.Control.Continue", words, taker.socket) as replies:
            return desk.stream_of(replies.read(wait=True)["continuation"], taker.socket)

    held = [stream() for _ in range(20)]
    placed = carry_on(taker, identifier).lines[-1]
    expect(placed["event"] == "placed", f"{placed}")
    for each in held:
        each.close()
    follower.interrupt()

    # `sendall` has one timeout for all bytes.
    class Slow:
        data = b""

        def send(self, data):
            self.data += data[:1000]
            return len(data[:1000])

    sent, link = os.urandom(200_000), Slow()
    desk.send(link, sent)
    expect(link.data == sent, "other bytes")


def module_of_program():
    loader = SourceFileLoader("handoff_agents", PROGRAM)
    module = module_from_spec(spec_from_loader("handoff_agents", loader))
    loader.exec_module(module)
    return module


@test("a session with too many files is refused, not sent in part")
def many(stage):
    module, paths = module_of_program(), {f"{number}.txt": stage.file(f"{number}.txt", "x") for number in range(3)}
    module.MAX_FILES, module.version, module.document = 2, lambda _: None, lambda _: None
    tool = module.Claude()
    tool.files = lambda *_: paths
    parts = module.Publication(tool, ID, stage.folder, True)._parts()
    expect(json.loads(next(parts)) == {"error": "the session has 3 files, which are too many"}, "another header")


@test("the folder of a session of Claude Code has the name that version 2.1.332 gave it")
def names(_):
    module = module_of_program()
    for folder, end in ((f"/tmp/longhome/{'a' * 120}/{'b' * 120}", "bbb-le47vm"), (f"/tmp/longhome/{'d' * 187}", "ddd-fxjnah"),
                        (f"/tmp/longhome/{'d' * 186}", "ddd"), ("/tmp/longhome/x\U0001f600y", "-tmp-longhome-x--y"),
                        ("/tmp/longhome/\xfc \xf1_x.y/c", "-tmp-longhome-----x-y-c"), ("/tmp/\udcff", "-tmp--")):
        name = os.path.basename(module.TOOLS["claude"].base(folder))
        expect(name.endswith(end) and len(name) in (200, 207, len(folder), len(folder) + 1), f"{folder}: {name}")


if __name__ == "__main__":
    main()
