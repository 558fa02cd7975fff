#!/usr/bin/env python3
"""Items that a user sends to one device: their single prompt there, and the reports to the sender.
Two daemons on loopback, a real bus, and a simulated notification server."""

import os

from browsers import until
from desk import TYPE, received
from harness import expect, main, test
from receiver import Receiver

NAMES = ["a.pdf", "b.txt", "c.png"]


@test("files sent together are one prompt in their order, no offer displaces it, and one choice saves all of them")
def together(stage):
    desk = Receiver(stage)
    send = desk.send(*NAMES)
    prompt = desk.prompt("origin sent you 3 files")
    expect(prompt["body"] == "a.pdf, b.txt and c.png · go to: Downloads", f"wrong: {prompt}")
    expect(prompt["actions"] == ["default", "Save All", "continue", "Save All", "dismiss", "Dismiss"], f"{prompt}")
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
    expect(send.process.wait(20) == 0, f"the sender's command does not exit: {send.seen}")


@test("Dismiss is reported to the sender, whose command ends for each item with a message")
def declined(stage):
    desk = Receiver(stage)
    send = desk.send(*NAMES[:2])
    desk.server.choose(desk.prompt("origin sent you 2 files")["id"], "dismiss")
    for _ in range(2):
        event = send.wait("declined", deviceName="taker")
        expect(event["device"] == desk.ctl("status").line["device"], f"{event}")
    expect(send.process.wait(20) == 1, f"the sender's command does not exit: {send.seen}")
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
    expect(send.process.wait(30) == 0, f"the sender's command does not exit: {send.seen}")


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


if __name__ == "__main__":
    main()
