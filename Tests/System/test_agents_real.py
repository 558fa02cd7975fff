#!/usr/bin/env python3
"""Real coding agents continue a session on another device: each shows the earlier conversation and sends it to the model. Needs
programs that scripts/setup does not install: docs/testing.md. Two devices on loopback, whose homes are at different paths."""

import json
import os
import shutil
import subprocess
import sys
import time

from browsers import until
from documents import write
from editors import need, pair
from harness import ROOT, Failure, Follower, Skip, expect, main, run, test
from played_model import Model

PROGRAM = os.path.join(ROOT, "Integrations", "agents", "handoff-agents")
# A folder with the programs or links to them.
FOLDER = os.environ.get("HANDOFF_AGENTS", "")
QUESTION, ANSWER = "remember the word quince", "it is a yellow fruit"


def claude(device, address):
    state = {"hasCompletedOnboarding": True, "theme": "dark", "projects": {device.checkout: {"hasTrustDialogAccepted": True}}}
    write(device, "home/.claude.json", json.dumps(state).encode())
    device.environment |= {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_AUTH_TOKEN": "x", "DISABLE_AUTOUPDATER": "1",
                           "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    return ["claude", "-p", QUESTION]


def codex(device, address):
    text = (f'model_provider = "played"\ncheck_for_update_on_startup = false\n[model_providers.played]\nname = "played"\n'
            f'base_url = "{address}/v1"\nwire_api = "responses"\n[projects."{device.checkout}"]\ntrust_level = "trusted"\n')
    write(device, "home/.codex/config.toml", text.encode())
    return ["codex", "exec", "--skip-git-repo-check", QUESTION]


def copilot(device, address):
    write(device, "home/.copilot/config.json", json.dumps({"trustedFolders": [device.checkout]}).encode())
    device.environment |= {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": f"{address}/v1", "COPILOT_MODEL": "played"}
    return ["copilot", "-p", QUESTION]


def aider(device, address):
    options = {"MODEL": "openai/played", "OPENAI_API_BASE": f"{address}/v1", "OPENAI_API_KEY": "x", "ANALYTICS": "false",
               "CHECK_UPDATE": "false", "SHOW_MODEL_WARNINGS": "false", "SHOW_RELEASE_NOTES": "false", "GITIGNORE": "false"}
    device.environment |= {f"AIDER_{name}": value for name, value in options.items()}
    return ["aider", "--yes-always", "--message", QUESTION]


class Screen:
    """A terminal of a device: a pane of tmux, because agents read the replies of a terminal."""

    def __init__(self, device, name, *command):
        self.words = ["tmux", "-u", "-S", os.path.join(device.folder, f"{name}.tmux"), "-f", "/dev/null"]
        self.environment = device.environment | {"TERM": "xterm-256color"}
        device.stage.closers.append(self.close)
        self.run("new-session", "-d", "-x", "110", "-y", "40", "-c", device.checkout, *command, ";",
                 "set", "remain-on-exit", "on")

    def run(self, *words):
        return subprocess.run([*self.words, *words], env=self.environment, check=True, capture_output=True, text=True).stdout

    def close(self):
        subprocess.run([*self.words, "kill-server"], capture_output=True)

    def text(self):
        return self.run("capture-pane", "-p", "-S", "-500")

    def sees(self, *texts):
        try:
            until(texts, lambda: all(each in self.text() for each in texts), 20)
        except Failure as error:
            raise Failure(f"{error}: {self.text()}") from None

    def type(self, text):
        def typed():
            self.run("send-keys", "C-u", ";", "send-keys", "-l", text)
            return text in self.text() or time.sleep(0.5) or text in self.text()

        until(f"the text '{text}'", typed)  # An agent drops keys that arrive while it starts.
        self.run("send-keys", "Enter")


def carry(name, source, target, model, seen):
    """Continues the session on another device, and asks the model there. `seen` are the earlier texts."""
    log = os.path.join(source.folder, f"publish-{len(seen)}.log")
    words = [sys.executable, "-B", PROGRAM, "publish", "--json", "--folder", source.checkout, name]
    publisher = Follower(source.stage, words, source.environment, log)
    identifier = publisher.wait("published")["id"]
    target.watch.wait("added", id=identifier)
    if name == "aider":  # Its session is in the folder of the project.
        shutil.copy(f"{source.checkout}/.aider.chat.history.md", target.checkout)
    screen = Screen(target, f"agent-{len(seen)}", sys.executable, "-B", PROGRAM, "continue", identifier)
    screen.sees("Continue? [Y/n]")
    # The folder of the first device does not exist on another machine.
    away = f"{source.folder}/away"
    os.rename(source.checkout, away)
    screen.run("send-keys", "y", "Enter")
    screen.sees(*(["Restored previous conversation history"] if name == "aider" else seen))
    question, model.reply = f"question {len(seen)}", f"the reply {len(seen)} of the model"
    before = len(model.requests)
    screen.type(question)
    screen.sees(model.reply)
    # An agent also sends other requests, such as for a title.
    sent = [each for each in model.requests[before:] if all(text in each for text in (*seen, question))]
    expect(sent, f"the model received {model.requests[before:]}"[:4000])
    if name != "aider":  # It has no sign of this.
        done = run([sys.executable, "-B", PROGRAM, "continue", "--json", identifier], target.environment)
        expect(done.code == 1 and "is open on this device" in done.errors, f"{done}")
    screen.close()
    os.rename(away, source.checkout)
    publisher.interrupt()
    seen += [question, model.reply]


def continued(stage, prepare):
    name = prepare.__name__
    path = f"{FOLDER}:{os.environ['PATH']}" if FOLDER else os.environ["PATH"]
    if not shutil.which(name, path=path):
        raise Skip(f"{name} is neither on PATH nor in HANDOFF_AGENTS", optional=True)
    need("tmux", "git")
    origin, taker = pair(stage)
    # The agent shortens the name of such a folder, and counts the letter twice.
    for each in (origin, taker):
        parent = f"{os.path.dirname(each.checkout)}/{each.name}-\U0001f600-{'long' * 40}"
        os.mkdir(parent)
        each.checkout = shutil.move(each.checkout, parent)
    model = Model(stage)
    for each in (origin, taker):
        each.environment["PATH"] = f"{FOLDER}:{each.environment['PATH']}"
        subprocess.run("rm -rf .git && git init -q -b main && git remote add origin https://example.org/notes/letters.git && "
                       "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first", shell=True, check=True,
                       cwd=each.checkout, env=each.environment)
        words = prepare(each, model.address)
    model.reply = ANSWER
    done = subprocess.run(words, cwd=origin.checkout, env=origin.environment, stdin=subprocess.DEVNULL, capture_output=True)
    expect(done.returncode == 0 and ANSWER.encode() in done.stdout, f"{done}")
    origin.watch = origin.follow("watch")
    seen = [QUESTION, ANSWER]
    carry(name, origin, taker, model, seen)
    carry(name, taker, origin, model, seen)  # Its older session is continued.


for each in (claude, codex, copilot, aider):
    test(f"a session of {each.__name__} continues in the program itself", 120)(lambda stage, each=each: continued(stage, each))


if __name__ == "__main__":
    main()
