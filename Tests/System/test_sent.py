#!/usr/bin/env python3
"""Items that a user sends to one device: their single prompt there, and the reports to the sender.
Two daemons on loopback, a real bus, and a simulated notification server."""

import os
import signal
import subprocess
import time

from browsers import until
from desk import TYPE, received
from harness import expect, main, test
from notifications import EXPIRED
from receiver import Receiver, film, receivers

NAMES = ["a.pdf", "b.txt", "c.png"]


@test("files sent together are one prompt in their order, no offer displaces it, and one choice saves all of them")
def together(stage):
    desk = Receiver(stage)
    send = desk.send(*NAMES)
    prompt = desk.prompt("origin sent you 3 files")
    expect(prompt["body"] == "a.pdf, b.txt and c.png · go to: Downloads", f"wrong: {prompt}")
    expect(prompt["actions"] == ["default", "Save All", "continue", "Save All", "dismiss", "Decline"], f"{prompt}")
    # GNOME shows notifications of low urgency only in its list.
    expect(prompt["hints"]["urgency"] == 1, f"{prompt}")
    for title in ("Draft", "Next"):
        desk.publish(TYPE, "--title", title)
        desk.prompt(f"Editor: {title}")
    expect(desk.prompt("origin sent you 3 files")["id"] == prompt["id"], "wrong prompt")
    desk.server.choose(prompt["id"], "continue")
    for name in NAMES:
        received(os.path.join(desk.folder, name), f"words of {name}".encode())
    expect(desk.prompt("3 files saved to Fetched"), "they are not reported together")
    expect(send.process.wait(60) == 0, f"the sender's command does not exit: {send.seen}")


@test("items are sent to several devices by one command, once to each, which ends when all have accepted them")
def several(stage):
    origin, *others = [stage.daemon(name) for name in ("origin", "desk", "phone")]
    for other in others:
        stage.join(origin, other)
    names = ("a.pdf", "https://example.org/")
    send = origin.follow("send", "desk", stage.file(names[0], "words"), names[1], "--to", "phone", "--to", "desk")
    for name in names * 2:
        send.wait("published", title=name)
    for other in others:
        until("both items", lambda other=other: len(other.ctl("list").lines) == 2)
        offers = {line["title"]: line["id"] for line in other.ctl("list").lines}
        expect(other.ctl("continue", offers[names[1]], "--print").line["webpageURL"] == names[1], "another page")
        expect(send.process.poll() is None, "it has ended before all items were accepted")
        folder = os.path.join(stage.folder, f"for {other.name}")
        os.mkdir(folder)
        other.ctl("continue", offers[names[0]], "--output", folder)
        received(os.path.join(folder, names[0]), b"words")
    expect(send.process.wait(60) == 0, f"{send.rest()}")
    expect(sum(event["event"] == "published" for event in send.rest()) == 4, f"{send.seen}")


@test("Decline is reported to the sender, whose command ends for each item with a message")
def declined(stage):
    desk = Receiver(stage)
    send = desk.send(*NAMES[:2])
    desk.server.choose(desk.prompt("origin sent you 2 files")["id"], "dismiss")
    for _ in range(2):
        event = send.wait("declined", deviceName="taker")
        expect(event["device"] == desk.ctl("status").line["device"], f"{event}")
    expect(send.process.wait(60) == 1, f"the sender's command does not exit: {send.seen}")
    desk.server.none()
    until("no declined item is offered", lambda: desk.ctl("list").lines == [])
    log = desk.origin.ctl("log").lines
    expect([line["outcome"] for line in log if line["event"] == "continuation"] == ["declined"] * 2, f"{log}")


@test("an item sent to an offline device is reported as waiting, and is accepted once the device is online")
def waiting(stage):
    desk = Receiver(stage)
    identifier = desk.ctl("status").line["device"]
    desk.daemon.stop()
    until("a device that is off", lambda: not any(
        line["online"] for line in desk.origin.ctl("devices").lines if line["id"] == identifier))
    send = desk.send("a.pdf")

    def note():
        with open(send.log) as file:
            return file.read()

    until("a note", note)
    expect(f"waiting: taker ({identifier[:7]}) is offline" in note(), note())
    # Waiting is not a failure.
    expect(send.process.poll() is None, "the command has exited")
    desk.daemon.start()
    desk.server.choose(desk.prompt("origin sent you a.pdf")["id"], "continue")
    expect(send.process.wait(60) == 0, f"the sender's command does not exit: {send.seen}")


@test("more than 32 files are one prompt and one folder, with progress, and equal names are numbered")
def together_as_one(stage):
    desk = Receiver(stage)
    paths = []
    for folder in ("one", "two"):
        os.mkdir(os.path.join(stage.folder, folder))
        for number in range(250):
            paths.append(stage.file(f"{folder}/f{number}", f"{folder} {number}"))
    send = desk.origin.follow("send", "taker", *paths)
    desk.server.choose(desk.prompt("origin sent you 500 files")["id"], "continue")
    expect(send.process.wait(60) == 0, f"the sender's command does not exit: {send.seen}")
    folder = os.path.join(desk.folder, "500 files")
    expect(len(os.listdir(folder)) == 500, f"{len(os.listdir(folder))} files")
    for name, words in (("f7", b"one 7"), ("f7 (2)", b"two 7")):
        received(os.path.join(folder, name), words)
    finished = [each for each in send.rest() if each.get("state") == "finished"]
    size = sum(os.path.getsize(path) for path in paths)
    expect(len(finished) == 1 and finished[0]["bytes"] == size, f"{finished}")


@test("progress is shown with an amount, Cancel keeps the part, and the transfer is resumed")
def cancelled(stage):
    desk = Receiver(stage)
    path = film(stage)
    send = desk.origin.follow("send", "taker", path)
    desk.server.choose(desk.prompt("origin sent you film.bin")["id"], "continue")
    note = desk.halve(send)
    expect(note["actions"] == ["cancel", "Cancel"] and note["hints"]["urgency"] == 0, f"wrong: {note}")
    expect(" of 512.0 MiB · from origin" in note["body"] and "value" not in note["hints"], f"wrong: {note}")
    desk.server.choose(note["id"], "cancel")
    desk.server.none()
    until("no receiver", lambda: not receivers(desk))
    desk.origin.process.send_signal(signal.SIGCONT)
    send.wait("stream", state="failed")
    expect([name for name in os.listdir(desk.folder) if name != "film.bin"], "the part was deleted")
    desk.ctl("continue", desk.ctl("list").line["id"])
    resumed = send.wait("stream", state="started")
    expect(resumed["from"] > 0, f"it starts again: {resumed}")
    expect(send.process.wait(60) == 0, f"the sender's command does not exit: {send.seen}")
    expect(os.listdir(desk.folder) == ["film.bin"], f"{os.listdir(desk.folder)}")
    expect(subprocess.run(["cmp", path, os.path.join(desk.folder, "film.bin")]).returncode == 0, "it differs")


@test("an item that its sender withdraws in the middle is awaited for a while, which can be cancelled")
def withdrawn(stage):
    desk = Receiver(stage)
    send = desk.origin.follow("send", "taker", film(stage))
    desk.server.choose(desk.prompt("origin sent you film.bin")["id"], "continue")
    desk.halve(send)
    desk.origin.process.send_signal(signal.SIGCONT)
    send.interrupt()
    until("no offer", lambda: desk.ctl("list").lines == [])
    desk.server.choose(desk.prompt("Saving film.bin")["id"], "cancel")
    until("no receiver", lambda: not receivers(desk))
    desk.server.none()


@test("a receiver that is killed is reported as not saved")
def killed(stage):
    desk = Receiver(stage)
    send = desk.origin.follow("send", "taker", film(stage))
    desk.server.choose(desk.prompt("origin sent you film.bin")["id"], "continue")
    desk.halve(send)
    for number in receivers(desk):
        os.kill(number, signal.SIGKILL)
    desk.origin.process.send_signal(signal.SIGCONT)
    expect(desk.prompt("Could not save film.bin")["body"] == "The app that received it has ended", "wrong reason")


@test("32 items are one prompt, and are all saved and reported together")
def many(stage):
    desk = Receiver(stage)
    names = [f"{number}.txt" for number in range(32)]
    send = desk.send(*names)
    desk.server.choose(desk.prompt("origin sent you 32 files")["id"], "continue")
    expect(send.process.wait(60) == 0, f"the sender's command does not exit: {send.seen}")
    expect(sorted(os.listdir(desk.folder)) == sorted(names), f"{os.listdir(desk.folder)}")
    expect(desk.prompt("32 files saved to Fetched"), "they are not reported together")


@test("Save As starts its window with the items, which stay on offer until they are saved")
def save_as(stage):
    desk = Receiver(stage, saves=True)
    send = desk.send("a.pdf", "b.txt")
    prompt = desk.prompt("origin sent you 2 files")
    expect(prompt["actions"][4:] == ["save-as", "Save As…", "dismiss", "Decline"], f"{prompt}")
    desk.server.choose(prompt["id"], "save-as")
    until("the window", lambda: os.path.exists(desk.saves))
    with open(desk.saves) as file:
        words = file.read().splitlines()
    expect(words[0] == "--save" and len(words) == 3, f"{words}")
    place = os.path.join(stage.folder, "elsewhere")
    os.mkdir(place)
    for item in words[1:]:
        device, activity = item.split("/")
        desk.ctl("continue", activity, "--from", device, "--output", place)
    expect(send.process.wait(60) == 0, f"the sender's command does not exit: {send.seen}")
    expect(sorted(os.listdir(place)) == ["a.pdf", "b.txt"] and not os.path.exists(desk.folder), f"{os.listdir(place)}")


@test("a server without actions shows the items, which are continued with handoffctl")
def without_actions(stage):
    desk = Receiver(stage, capabilities=("body",))
    send = desk.send("a.pdf")
    expect(desk.prompt("origin sent you a.pdf")["actions"] == [], "it has actions")
    desk.ctl("continue", desk.ctl("list").line["id"])
    expect(send.process.wait(60) == 0, f"the sender's command does not exit: {send.seen}")
    received(os.path.join(desk.folder, "a.pdf"), b"words of a.pdf")


@test("documents of a chosen device are saved without a prompt, anything else and larger files are not")
def accepted(stage):
    desk = Receiver(stage)
    data = [line for line in desk.ctl("devices").lines if not line["self"]][0]
    expect(data["acceptLimit"] is None, f"{data}")
    desk.send("before.pdf")
    desk.server.end(desk.prompt("origin sent you before.pdf")["id"], EXPIRED)
    desk.ctl("device", "accept", "origin", "always", "--limit", "1K")
    data = [line for line in desk.ctl("devices").lines if not line["self"]][0]
    expect(data["acceptLimit"] == 1024, f"{data}")
    send = desk.send("a.pdf")
    expect(send.process.wait(60) == 0, f"the sender's command does not exit: {send.seen}")
    received(os.path.join(desk.folder, "a.pdf"), b"words of a.pdf")
    expect(desk.prompt("a.pdf saved to Fetched"), "it is not reported")
    expect(not any("a.pdf" in note["summary"] and "sent you" in note["summary"] for note in desk.server.notified()),
           f"a prompt was shown: {desk.server.seen}")
    # The same file again has another name.
    expect(desk.send("a.pdf").process.wait(60) == 0, "the sender's command does not exit")
    received(os.path.join(desk.folder, "a (2).pdf"), b"words of a.pdf")
    folder = os.path.join(stage.folder, "letters")
    os.mkdir(folder)
    program = stage.file("tool.txt", "words")
    os.chmod(program, 0o755)
    waiting = [desk.origin.follow("send", "taker", path) for path in (
        stage.file("run.sh", "#!/bin/sh"), stage.file("x.desktop", "[Desktop Entry]"),
        stage.file("large.txt", "x" * 1025), program, folder)]
    desk.prompt("origin sent you 6 files")
    # Each is sent again when its user accepts it.
    desk.server.choose(desk.prompt("origin sent you 6 files")["id"], "continue")
    for send in waiting:
        expect(send.process.wait(60) == 0, f"the sender's command does not exit: {send.seen}")
    names = ["a (2).pdf", "a.pdf", "before.pdf", "large.txt", "letters", "run.sh", "tool.txt", "x.desktop"]
    until("all", lambda: sorted(os.listdir(desk.folder)) == names)
    # It survives a restart, and ends with 'ask'.
    desk.daemon.stop()
    desk.daemon.start()
    expect(desk.send("c.txt").process.wait(60) == 0, "the sender's command does not exit")
    desk.ctl("device", "accept", "origin", "ask")
    desk.send("d.txt")
    desk.prompt("origin sent you d.txt")


@test("hostile names are shown in one line, and are saved under harmless names")
def hostile(stage):
    desk = Receiver(stage)
    names = ["run\u202efdp.sh", "a\nb.txt", "<b>x.txt", "-rf", ".profile", "  ", "\u0600\u202a.pdf", "x" * 251 + ".txt"]
    send = desk.send(*names)
    prompt = desk.prompt(f"origin sent you {len(names)} files")
    shown = "".join(prompt[field] for field in ("summary", "body"))
    expect(not any(ord(letter) < 32 or letter in "\u202a\u202e<" for letter in shown), f"{prompt}")
    desk.server.choose(prompt["id"], "continue")
    expect(send.process.wait(60) == 0, f"the sender's command does not exit: {send.seen}")
    desk.prompt(f"{len(names)} files saved to Fetched")
    for name in os.listdir(desk.folder):
        expect(name[0] not in ".-" and not any(ord(letter) < 32 or letter in "\u202a\u202e" for letter in name), f"{name!r}")


@test("two devices that send at the same time have a prompt each, and one can be declined")
def two(stage):
    desk = Receiver(stage)
    other = stage.daemon("other")
    stage.join(desk.origin, other)
    first = desk.send("a.pdf")
    desk.prompt("origin sent you a.pdf")
    second = other.follow("send", "taker", stage.file("b.txt", "words of b.txt"))
    desk.server.choose(desk.prompt("other sent you b.txt")["id"], "continue")
    expect(second.process.wait(60) == 0, f"the sender's command does not exit: {second.seen}")
    desk.server.choose(desk.prompt("origin sent you a.pdf")["id"], "dismiss")
    expect(first.process.wait(60) == 1, f"the sender's command does not exit: {first.seen}")
    expect(os.listdir(desk.folder) == ["b.txt"], f"{os.listdir(desk.folder)}")


if __name__ == "__main__":
    main()
