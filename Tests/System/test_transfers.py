"""Files and folders that are received by a program which implements only docs/transfers.md."""

import json
import os
import re
import sys

from harness import ROOT, content, expect, main, run, test

PROGRAM = os.path.join(ROOT, "Tests", "System", "fetch_transfer.py")
MIB = 1024 * 1024


def fetch(daemon, activity, folder, *more):
    """Runs the program on a device. Returns its output."""
    result = run([sys.executable, PROGRAM, daemon.socket, activity, folder, *map(str, more)], daemon.environment)
    expect(result.code == 0, str(result))
    return json.loads(result.output)


def folders(stage):
    """A folder with content, and one to receive into."""
    made = [os.path.join(stage.folder, name) for name in ("source", "target")]
    for folder in made:
        os.mkdir(folder)
    return made


def write(path, content, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, mode)


def offered(taker, activity):
    """Waits until an activity is offered to a device."""
    watch = taker.follow("watch")
    offer = watch.wait("added", id=activity)
    watch.process.kill()
    return offer


@test("a published file arrives as the page documents, at any size, repeatedly")
def file(stage):
    origin, taker = stage.pair()
    source, target = folders(stage)
    for size in (0, 1, 5 * MIB + 3):
        path, data = os.path.join(source, f"draft {size}.bin"), os.urandom(size)
        write(path, data)
        publish = origin.publish("com.example.editing", "--stream", path)
        offered(taker, publish.id)
        for _ in range(2):
            got = fetch(taker, publish.id, target)
            expect(got == {"kind": "file", "name": f"draft {size}.bin", "ended": True, "resumed": 0}, f"{got}")
            expect(content(os.path.join(target, got["name"])) == data, f"{size} bytes: wrong content")
        publish.interrupt()


@test("an interrupted transfer is resumed, and restarts if the file has changed")
def resumed(stage):
    origin, taker = stage.pair()
    source, target = folders(stage)
    path, data = os.path.join(source, "draft.bin"), os.urandom(4 * MIB)
    write(path, data)
    publish = origin.publish("com.example.editing", "--stream", path)
    offered(taker, publish.id)
    got = fetch(taker, publish.id, target, MIB)
    expect(got["failed"] == "cancelled", f"it was not interrupted: {got}")
    (part,) = os.listdir(target)
    got = fetch(taker, publish.id, target, 2 * MIB)
    expect(got["failed"] == "cancelled" and os.path.getsize(os.path.join(target, part)) == 3 * MIB, f"not resumed: {got}")
    with open(os.path.join(target, part), "r+b") as kept:
        kept.write(bytes(1))
    got = fetch(taker, publish.id, target, MIB)
    expect(os.path.getsize(os.path.join(target, part)) == MIB, f"a damaged partial file was kept: {got}")
    got = fetch(taker, publish.id, target)
    expect(got.get("resumed") == MIB and content(os.path.join(target, "draft.bin")) == data, f"{got}")


@test("a published folder arrives as the page documents, with all kinds of names")
def folder(stage):
    origin, taker = stage.pair()
    source, target = folders(stage)
    files = {
        "a.txt": (b"a", 0o644), "bin/run": (b"#!/bin/sh\n", 0o755), ".hidden": (b"h", 0o600), "Ünïcode/naïve.txt": (b"u", 0o644),
        "/".join(["long" * 20] * 3) + "/file": (os.urandom(MIB), 0o644), "none": (b"", 0o644),
        "- dash": (b"d", 0o644), "new\nline": (b"n", 0o644), os.fsdecode(b"caf\xe9"): (b"l", 0o644), "\u200e.txt": (b"m", 0o644)}
    for name, (data, mode) in files.items():
        write(os.path.join(source, name), data, mode)
    os.mkdir(os.path.join(source, "empty"))
    os.symlink("/etc/passwd", os.path.join(source, "link"))
    publish = origin.publish("com.example.editing", "--stream", source)
    offered(taker, publish.id)
    got = fetch(taker, publish.id, target)
    # The link is omitted.
    expect(got == {"kind": "folder", "name": "source", "ended": True, "missing": 1}, f"{got}")
    received = {}
    for place, _, names in os.walk(os.path.join(target, "source")):
        for name in names:
            path = os.path.join(place, name)
            received[os.path.relpath(path, os.path.join(target, "source"))] = (content(path), os.stat(path).st_mode & 0o777)
    expect(received == files, f"wrong files: {received.keys() ^ files.keys()}")
    expect(os.listdir(os.path.join(target, "source", "empty")) == [], "the empty folder did not arrive")


@test("items sent to a device arrive as the page documents, and the sender is notified")
def sent(stage):
    origin, taker = stage.pair()
    source, target = folders(stage)
    path = os.path.join(source, "note.txt")
    write(path, b"a note")
    send = origin.follow("send", "taker", path)
    watch = taker.follow("watch")
    got = fetch(taker, watch.wait("added", sent=True)["id"], target)
    expect(got.get("name") == "note.txt" and content(os.path.join(target, "note.txt")) == b"a note", f"{got}")
    expect(send.process.wait(20) == 0, f"the sender's command does not exit: {send.seen}")


@test("the page's example has the lengths that it states")
def example(stage):
    with open(os.path.join(ROOT, "docs", "transfers.md")) as page:
        lines = re.findall(r"^(?:sender|receiver) +([0-9a-f]{8}) (\{.*\})$", page.read(), re.M)
    expect(len(lines) == 6 and all(int(length, 16) == len(text) for length, text in lines), f"{lines}")


main()
