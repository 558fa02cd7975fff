"""Completion in real shells: keys are typed at a terminal, and the shell prints the words that it parsed."""

import os
import re
import shutil
import subprocess

from harness import BIN, ROOT, Skip, expect, main, test
from terminal import Screen

# 'show' has the completion of handoffctl, and then prints its words, each on a line. This shows how
# the shell parses the completed text. A special prompt marks when the shell is ready.
SETUP = {
    "bash": """
        PS1='ready> '; bind 'set bell-style none' 2>/dev/null; bind 'set enable-bracketed-paste off'
        show() { printf 'GOT<%s>\\n' "$@"; echo END; }
        source <(handoffctl completion bash); complete -F _handoffctl show
    """,
    "zsh": """
        PS1='ready> '; unsetopt beep zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste; setopt no_prompt_sp
        autoload -Uz compinit; compinit -D -u
        show() { printf 'GOT<%s>\\n' "$@"; echo END; }
        source <(handoffctl completion zsh); compdef _handoffctl show
    """,
    # As packages install it: a function that is loaded when it is first needed.
    "zsh installed": """
        PS1='ready> '; unsetopt beep; unset zle_bracketed_paste; setopt no_prompt_sp
        mkdir functions; handoffctl completion zsh >functions/_handoffctl; fpath=($PWD/functions $fpath)
        autoload -Uz compinit; compinit -D -u
        show() { printf 'GOT<%s>\\n' "$@"; echo END; }
        compdef _handoffctl show
    """,
}


PROGRAMS = {"handoff-agents": "agents", "handoff-editor": "editors", "handoff-git": "git", "handoff-terminal": "terminal"}
PATH = ":".join([BIN, *(os.path.join(ROOT, "Integrations", each) for each in PROGRAMS.values()), "/usr/bin:/bin"])


def script(setup, program):
    """Returns the commands of a shell with the completion of a program, as scripts/install makes it from that of handoffctl."""
    setup = re.sub(r"(handoffctl completion \w+)", rf"\1 | sed s/handoffctl/{program}/g", setup)
    return setup.replace("_handoffctl", f"_{program}")


# After it a shell may clear the line, and turn on modes of the terminal.
PROMPT = r"ready> (?:\x1b\[[0-9?]*[a-zA-Z])*$"


def device_named(stage, name):
    """A device whose account has another one with this name."""
    first, second = stage.pair(("Living room", name))
    watch = first.follow("watch")
    second.publish("com.example.editing", "--title", "Letter")
    watch.wait("added")
    return first


class Shell(Screen):
    def __init__(self, stage, name, daemon=None, completed="handoffctl"):
        setup, name = script(SETUP[name], completed), name.split()[0]
        program = shutil.which(name)
        if not program:
            raise Skip(f"{name} is not installed (scripts/setup --tests)")
        self.name, self.folder = name, os.path.join(stage.folder, f"{name}-home")
        os.makedirs(self.folder)
        for file in ("Draft one.txt", "notes.txt"):
            open(os.path.join(self.folder, file), "w").close()
        socket = daemon.socket if daemon else os.path.join(stage.folder, "nobody")
        environment = {"PATH": PATH, "HOME": self.folder, "LANG": "C.UTF-8", "HANDOFF_SOCKET": socket}
        file = stage.file(f"{name}-setup", setup)
        words = {"bash": ["--noprofile", "--rcfile", file, "-i"], "zsh": ["-f", "-i"]}[name]
        super().__init__(stage, ["env", "-C", self.folder, program, *words], environment)
        if name == "zsh":
            self.type(f"source {file}\n")
        self.sees(PROMPT)

    def got(self, keys):
        """Types keys and Enter. Returns the words that the shell parsed."""
        self.type(f"show {keys}\n")
        found = self.sees(r"(?s)((?:GOT<[^\n]*>\r?\n)+)END\r?\n").group(1)
        self.sees(PROMPT)
        return [line[4:-1] for line in found.replace("\r", "").splitlines()]

    def leave(self):
        """Stops the shell. Interactive ones ignore SIGTERM."""
        self.type("exit\n")
        self.ends()

    def lists(self, keys, *wanted):
        """Types keys and Tab until there is a list. The first Tab may only insert the common prefix."""
        self.type(f"show {keys}\t\t\t")
        for pattern in wanted:
            self.sees(pattern)
        self.type("\x15\n")  # Without the line.
        self.sees(PROMPT)


class Fish:
    """Fish prints its completions on request."""

    def __init__(self, stage, daemon=None):
        self.program = shutil.which("fish")
        if not self.program:
            raise Skip("fish is not installed (scripts/setup --tests)")
        self.folder = os.path.join(stage.folder, "fish-home")
        os.makedirs(self.folder)
        open(os.path.join(self.folder, "Draft one.txt"), "w").close()
        socket = daemon.socket if daemon else os.path.join(stage.folder, "nobody")
        self.environment = {"PATH": PATH, "HOME": self.folder, "LANG": "C.UTF-8",
                            "HANDOFF_SOCKET": socket}

    def offers(self, line, completed="handoffctl"):
        setup = script('handoffctl completion fish | source; complete -C "$argv[1]"', completed)
        done = subprocess.run(
            [self.program, "-c", setup, f"{completed} {line}"],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=30)
        expect(done.returncode == 0 and not done.stderr, f"fish: {done.returncode} {done.stderr}")
        return [row.partition("\t")[0] for row in done.stdout.splitlines()]


def words_and_files(stage, name):
    shell = Shell(stage, name)
    expect(shell.got("acc\tex\t--rev\tx") == ["account", "export", "--revoke", "x"], "commands and options")
    expect(shell.got("continue --output=Dr\t--pr\t") == ["continue", "--output=Draft one.txt", "--print"], "a file after =")
    expect(shell.got("account import no\t") == ["account", "import", "notes.txt"], "a file")
    expect(shell.got("publish x --user-info @no\t") == ["publish", "x", "--user-info", "@notes.txt"], "a file after @")
    expect(shell.got("continue 3f\tx") == ["continue", "3fx"], "output without a daemon")
    shell.lists("p", "pair", "peer", "publish")
    shell.leave()


def names_from_others(stage, name):
    other = "$(touch pwned) `touch pwned`;'\"!x"
    shell = Shell(stage, name, device_named(stage, other))
    expect(shell.got("device rename Liv\t--js\t") == ["device", "rename", "Living room", "--json"], "a name with a space")
    found = shell.got("device rename \\$\tz")
    expect(found == ["device", "rename", other, "z"], f"a name with all characters that shells interpret: {found}")
    shell.leave()
    expect(not os.path.exists(os.path.join(shell.folder, "pwned")), "the shell executed a device's name")


@test("bash completes commands, options and files")
def bash_words(stage):
    words_and_files(stage, "bash")


@test("bash completes names of devices with any characters")
def bash_devices(stage):
    names_from_others(stage, "bash")


@test("bash lists the meaning of ids, and completes inside quotes")
def bash_lists(stage):
    first, second = stage.pair(("Kitchen", "Living room"))
    for number in (1, 2):
        second.publish("com.example.editing", "--title", f"Letter {number}")
    watch = first.follow("watch")
    for _ in range(2):
        watch.wait("added")
    shell = Shell(stage, "bash", first)
    shell.lists("continue ", "Letter [12]", "Letter [12]")
    expect(shell.got("continue --from='Liv\t--type=com\t") ==
           ["continue", "--from=Living room", "--type=com.example.editing"], "inside quotes, and after =")
    shell.leave()


@test("zsh completes commands, options and files")
def zsh_words(stage):
    words_and_files(stage, "zsh")


@test("zsh completes names of devices with any characters")
def zsh_devices(stage):
    names_from_others(stage, "zsh installed")


@test("fish completes commands, options, files and names of devices")
def fish_all(stage):
    fish = Fish(stage)
    expect(fish.offers("acc") == ["account"], "a command")
    expect(fish.offers("account export --rev") == ["--revoke"], "an option")
    expect(fish.offers("account import Dr") == ["Draft one.txt"], f"a file: {fish.offers('account import Dr')}")
    found = fish.offers("continue --output=Dr")
    expect(found == ["--output=Draft one.txt"], f"a file after =: {found}")
    expect(fish.offers("continue ") == [], "output without a daemon")
    shutil.rmtree(fish.folder)
    fish = Fish(stage, device_named(stage, "$(touch pwned)"))
    expect(set(fish.offers("device rename ")) == {"Living room", "$(touch pwned)"}, f"{fish.offers('device rename ')}")
    expect(fish.offers("send ") == ["$(touch pwned)"], f"this device: {fish.offers('send ')}")
    expect(not os.path.exists(os.path.join(fish.folder, "pwned")), "the shell executed a device's name")


def offer_of_work(stage):
    """A device that receives an offer of the type of handoff-git from another one, and its id."""
    first, second = stage.pair(("Kitchen", "Living room"))
    second.publish("dev.handoff1.git", "--title", "$(touch pwned)")
    second.publish("com.example.editing")
    watch = first.follow("watch")
    return first, watch.wait("added", type="dev.handoff1.git")["id"]


def other_programs(stage, name):
    daemon, identifier = offer_of_work(stage)
    shell = Shell(stage, name, daemon, "handoff-git")
    expect(shell.got("cont\t--int\tno\t--y\t") == ["continue", "--into", "notes.txt", "--yes"], "commands, options and files")
    expect(shell.got("continue --into=Dr\t--b\tx") == ["continue", "--into=Draft one.txt", "--branch", "x"], "a file after =")
    expect(shell.got(f"continue {identifier[0]}\tx") == ["continue", identifier, "x"], "the only offer")
    expect(shell.got("publish --to Liv\t--u\t") == ["publish", "--to", "Living room", "--untracked"], "a device")
    shell.leave()
    expect(not os.path.exists(os.path.join(shell.folder, "pwned")), "the shell executed a title")


@test("bash completes the commands, offers and devices of handoff-git")
def bash_programs(stage):
    other_programs(stage, "bash")


@test("zsh completes the commands, offers and devices of handoff-git")
def zsh_programs(stage):
    other_programs(stage, "zsh")


@test("fish completes the commands, offers and devices of all programs")
def fish_programs(stage):
    daemon, identifier = offer_of_work(stage)
    fish = Fish(stage, daemon)
    for program, wanted in (("handoff-git", {"publish", "continue", "resume"}), ("handoff-agents", {"publish", "continue"}),
                            ("handoff-editor", {"continue"}), ("handoff-terminal", {"share", "attach"})):
        expect(wanted <= set(fish.offers("", program)), f"{program}: {fish.offers('', program)}")
    expect(fish.offers("continue ", "handoff-git") == [identifier] and not fish.offers("attach ", "handoff-terminal"), "offers")
    expect(fish.offers("share --to ", "handoff-terminal") == ["Living room"], "a device")
    expect(fish.offers("continue --editor n", "handoff-editor") == ["nvim"], "a choice")


if __name__ == "__main__":
    main()
