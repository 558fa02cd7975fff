"""Pasting the clipboard of another device on X11: the part 'clipboard' of Benchmarks/run. Needs Xvfb and xclip."""

import os
import subprocess
import time

import harness
from common import until

AGENT = os.path.join(harness.ROOT, "Integrations", "clipboard", "handoff-clipboard")
TYPE = "dev.handoff1.clipboard"
PICTURE = os.urandom(20_000_000)


def measure(stage, quick, spread):
    origin, taker = stage.pair()
    watch, environments = taker.follow("watch"), []
    for daemon in (origin, taker):
        environment = {**daemon.environment, "PATH": f"{harness.BIN}:/usr/bin:/bin",
                       "DISPLAY": harness.virtual_screen(stage, "320x240x24")}
        stage.processes.append(subprocess.Popen(["/usr/bin/python3", "-B", AGENT, "--grace", "0"], env=environment))
        environments.append(environment)

    def xclip(environment, *words, data=None):
        return subprocess.run(["xclip", "-selection", "clipboard", *words], env=environment, input=data, timeout=60,
                              stdout=subprocess.DEVNULL if data else subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    for daemon in (origin, taker):
        until("the agent", lambda: any(app["id"] == TYPE and app["running"] for app in daemon.ctl("apps").lines))
    figures = {"paste text": [], "paste the same text again": [], "paste 20 MB": []}
    for number in range(10 if quick else 40):
        # The agent of the other device owns the new clipboard when it has only the new type.
        for kind, data, name in (("UTF8_STRING", f"text {number}".encode(), "paste text"),
                                 ("image/png", PICTURE[number:], "paste 20 MB")):
            xclip(environments[0], "-t", kind, data=data)
            watch.wait("added")
            until("the clipboard", lambda: kind in xclip(environments[1], "-o", "-t", "TARGETS").decode().split("\n"))
            for figure in (name, "paste the same text again") if name == "paste text" else (name,):
                began = time.monotonic()
                harness.expect(xclip(environments[1], "-o", "-t", kind) == data, "another content was pasted")
                figures[figure].append(1000 * (time.monotonic() - began))
            time.sleep(0.1)  # A device limits the requests of another.
    return {name: spread(values) for name, values in figures.items()}, "with the start of xclip"


GOALS = [("paste text", "ms", 50, "50 ms"), ("paste the same text again", "ms", None, "from memory"),
         ("paste 20 MB", "ms", None, "no goal")]
