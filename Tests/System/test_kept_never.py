#!/usr/bin/env python3
"""What other devices must never keep: searched for in their memory.

Two daemons on this machine's loopback interface. Reading the memory of a daemon needs root.
"""

import os
import re

from browsers import until
from harness import Skip, expect, test

TYPE = "com.example.editing"


def memory_contains(daemon, texts):
    """Returns those of the texts that are somewhere in the memory of a daemon."""
    found = set()
    with open(f"/proc/{daemon.process.pid}/maps") as maps, open(f"/proc/{daemon.process.pid}/mem", "rb", 0) as memory:
        for line in maps:
            start, end = (int(each, 16) for each in re.match(r"(\w+)-(\w+) r", line).groups()) if " r" in line[:40] else (0, 0)
            try:
                memory.seek(start)
                content = memory.read(end - start) or b""
            except (OSError, ValueError, OverflowError):
                continue  # Not readable, such as [vvar].
            found |= {text for text in texts if text.encode() in content}
    return found


def secret(name):
    """The user info of an activity, with a text that occurs nowhere else, and the text."""
    text = f"{name}-{os.urandom(8).hex()}"
    return text, '{"text": "' + text + '"}'


@test("content that must stay on its device is not in the memory of another one")
def never(stage):
    if os.geteuid():
        raise Skip("only root can read the memory of the daemons")
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    watch.wait("ready")
    texts = {}
    for name, words in {"kept": ["--keep"], "excluded": ["--no-keep"], "sent": ["--to", "taker"]}.items():
        texts[name], info = secret(name)
        watch.wait("added", id=origin.publish(TYPE, *words, "--title", name, "--user-info", info).id)
    texts["clipboard"], _ = secret("clipboard")
    path = os.path.join(stage.folder, "content")
    with open(path, "w") as file:
        file.write(texts["clipboard"])
    with open(path) as file:
        watch.wait("added", id=origin.follow("copy", input=file).wait("published")["id"])
    texts["streamed"], _ = secret("streamed")
    document = stage.file("report.txt", texts["streamed"])
    file = origin.publish(document)
    watch.wait("added", id=file.id)
    expect(origin.stop() == 0, "the origin did not exit cleanly")
    offers = until("the copy", lambda: [each for each in taker.ctl("list").lines if each["kept"]])
    expect([each["title"] for each in offers] == ["kept"], f"{offers}")
    # A copy is in the memory of the daemon, which shows that the search works.
    taker.ctl("continue", offers[0]["id"], "--print")
    found = memory_contains(taker, texts.values())
    expect(found == {texts["kept"]}, f"in memory: {sorted(found)}")


@test("a file cannot be published to be kept")
def files(stage):
    daemon = stage.daemon("origin")
    daemon.ctl("publish", "--keep", stage.file("report.txt", "text"), code=2)
    daemon.ctl("publish", "--keep", "--no-keep", TYPE, code=2)


if __name__ == "__main__":
    from harness import main
    main()
