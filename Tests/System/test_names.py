#!/usr/bin/env python3
"""Devices of one account with the same name: the output of every command, and the names that it
accepts. Daemons on this machine's loopback interface."""

import os

from harness import BIN, expect, main, run, test

TYPE = "com.example.editing"


def plain(daemon, *words):
    return run([os.path.join(BIN, "handoffctl"), "--socket", daemon.socket, *words], daemon.environment)


def identity(daemon):
    return daemon.ctl("status").line["device"]


@test("the id is shown next to a name that this device and another one share, even if only that one offers", limit=120)
def shown(stage):
    origin, taker = stage.pair()
    offer = origin.publish(TYPE)
    watch = taker.follow("watch")
    watch.wait("added", id=offer.id)
    taker.ctl("device", "rename", "origin", "taker")
    label = f"taker ({identity(origin)[:7]})"
    watch.wait("changed", id=offer.id, deviceName=label)
    expect(taker.ctl("list").line["deviceName"] == label, "list --json")
    expect(label in plain(taker, "list").output, "list")
    continued = plain(taker, "continue", "--from", label, "--print")
    expect(continued.code == 0 and label in continued.output, f"{continued}")
    expect(f"from {label}" in plain(taker, "log").output, f"{plain(taker, 'log')}")
    labels = {line["label"] for line in taker.ctl("devices").lines}
    expect(labels == {label, f"taker ({identity(taker)[:7]})"}, f"{labels}")
    paused = plain(taker, "receive", "off", "--device", label)
    expect(label in paused.output and label in plain(taker, "status").output, f"{paused}")
    refused = plain(taker, "continue", "--from", label, "--print")
    expect(refused.code == 1 and label in refused.errors, f"{refused}")


@test("a name that this device and another one share is refused with both ids by every command that accepts one", limit=120)
def refused(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    watch.wait("added", id=origin.publish(TYPE).id)
    taker.ctl("device", "rename", "origin", "taker")
    file = stage.file("note.txt", "x")
    ids = [identity(daemon)[:7] for daemon in (origin, taker)]
    for words in (
        ["why", "taker"], ["send", "taker", file], ["publish", TYPE, "--to", "taker"], ["device", "rename", "taker", "x"],
        ["device", "remove", "--yes", "taker"], ["continue", "--from", "taker", "--print"],
        ["receive", "off", "--device", "taker"], ["advertise", "off", "--device", "taker"], ["pause", "--device", "taker"],
        ["resume", "--device", "taker"],
    ):
        result = plain(taker, *words)
        expect(result.code == 1 and all(id in result.errors for id in ids), f"{result}")
    expect(plain(taker, "why", ids[0]).output, "an id is ambiguous")


if __name__ == "__main__":
    main()
