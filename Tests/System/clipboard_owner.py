#!/usr/bin/env python3
"""A program that has copied something, for tests of the clipboard: usage: clipboard_owner.py PROGRAM

Owns the clipboard with the types of a JSON object on standard input, whose values are the contents as base64, or null for a
type that is never answered. Prints the name of each type whose content is read, as lines of JSON, and "lost" when another
program owns the clipboard. It uses the classes of the agent, with the names of any types.
"""
import base64
import json
import os
import runpy
import sys


class Owner:
    def __init__(self, contents):
        self.contents = contents

    def changed(self, types):
        pass

    def owned(self):
        pass

    def provide(self, name, done):
        print(json.dumps(name), flush=True)
        if self.contents[name] is not None:
            done(base64.b64decode(self.contents[name]))

    def lost(self):
        print(json.dumps("lost"), flush=True)


agent = runpy.run_path(sys.argv[1])
owner = Owner(json.load(sys.stdin))
agent["KNOWN"] += [name for name in owner.contents if name not in agent["KNOWN"]]
loop = agent["Loop"]()
clipboard = agent["Wayland" if os.environ.get("WAYLAND_DISPLAY") else "X11"](loop, owner)
clipboard.own(list(owner.contents))
loop.run()
