"""Creates the terminal pictures of docs/agents.md, docs/editors.md, docs/git.md and docs/terminal.md.
Run by scripts/screenshots, with the names of pages for only these.

Two daemons on loopback are the devices desk and laptop. Their shells and programs run in tmux, and each
window of a picture is the content of a pane, with its colours. Only the coding agent is a stub, which
says so. Parts that differ each time are replaced: the home folders, the moments, and the sizes.
"""

import html
import os
import re
import subprocess
import sys
import time

from editors import PROGRAM as EDITOR
from harness import BIN, ROOT, Failure, Stage, expect, leave_network
from terminal_picture import BAR, CELL, LINE, MARGIN, STYLE
from test_agents import ID, PROGRAM as AGENTS, key
from test_live_terminal import PROGRAM as TERMINAL, Server, same_screens, until

IMAGES = os.path.join(ROOT, "docs", "images")
GIT = os.path.join(ROOT, "Integrations", "git", "handoff-git")
REMOTE = "git@example.org:ada/parser.git"
COLUMNS = 98
# The prompts have the colours of the devices: blue and magenta.
PROMPT = {"desk": r"\[\e[34m\]desk$\[\e[0m\] ", "laptop": r"\[\e[35m\]laptop$\[\e[0m\] "}
# The same commits have the same ids each time.
AUTHOR = {f"GIT_{who}_{field}": value for who in ("AUTHOR", "COMMITTER")
          for field, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", "2026-11-26T18:00:00Z"))}
# The 16 colours of a terminal, for text and behind it.
LIGHT = ["#24292f", "#b3261e", "#116329", "#7d4e00", "#0550ae", "#8250df", "#0f6d76", "#57606a"]
DARK = ["#484f58", "#ffa198", "#7ee787", "#f2cc60", "#79c0ff", "#d2a8ff", "#76e3ea", "#b1bac4"]
BEHIND = ["#24292f", "#ffc1ba", "#8ddb8c", "#f2d675", "#9ecbff", "#dcc8ff", "#a5e3e8", "#d0d7de"]
LIGHT, DARK, BEHIND = (" ".join(f".{kind}{number} {{ fill: {colour} }}" for number, colour in enumerate(colours))
                       for kind, colours in (("c", LIGHT), ("c", DARK), ("b", BEHIND)))
COLOURS = f"""\
  {LIGHT}
  {BEHIND}
  .on {{ fill: #24292f }} .front {{ fill: #1f2328 }} .inverse {{ fill: #ffffff }} .cursor {{ fill: none; stroke: #57606a }}
  @media (prefers-color-scheme: dark) {{
    {DARK}
    .front {{ fill: #e6edf3 }} .inverse {{ fill: #0d1117 }} .cursor {{ stroke: #b1bac4 }}
  }}
"""
PARSER = """\
#include "parser.h"

/* The length of a word, or 0 at the end. */
size_t word(const char *text)
{
    size_t length = 0;
    while (text[length] && text[length] != ' ')
        length++;
    return length;
}
"""
TESTS = """\
#!/bin/sh
for name in word line comment; do
    printf '\\033[32mok\\033[0m    %s\\n' $name
done
"""
AGENT = """#!/bin/sh
case $1 in
    --version) echo "2.1.268 (stub)" ;;
    *) printf 'a stub, not the real claude: started in ~/%s with\\n%s\\n' "${PWD#$HOME/}" "$*" ;;
esac
"""


class Cell:
    """The style of a run of characters. Colours are numbers of the 16, or None."""

    def __init__(self):
        self.front = self.behind = None
        self.bold = self.inverse = self.line = False

    def set(self, parameters):
        numbers = [int(each or 0) for each in parameters.split(";")]
        while numbers:
            number = numbers.pop(0)
            if number == 0:
                self.__init__()
            elif number in (1, 22):
                self.bold = number == 1
            elif number in (7, 27):
                self.inverse = number == 7
            elif number in (4, 24):
                self.line = number == 4
            elif number in (38, 48):
                expect(numbers.pop(0) == 5, f"a colour that is not of a palette: {parameters}")
                setattr(self, "front" if number == 38 else "behind", nearest(numbers.pop(0)))
            elif number in (39, 49):
                setattr(self, "front" if number == 39 else "behind", None)
            elif 30 <= number <= 37 or 90 <= number <= 97:
                self.front = number % 10
            elif 40 <= number <= 47 or 100 <= number <= 107:
                self.behind = number % 10
            else:
                raise Failure(f"an unknown style: {parameters}")


def nearest(number):
    """Returns the colour of the 8 for one of the 256: the 8 have a light and a dark shade in the picture."""
    if number < 16:
        return number % 8
    if number >= 232:
        return 7
    levels = [(number - 16) // step % 6 for step in (36, 6, 1)]
    levels = [level and 55 + 40 * level for level in levels]
    return sum(1 << place for place, level in enumerate(levels) if level > 0.9 * max(levels)) if any(levels) else 0


class Window:
    """What one device shows: a title, lines with escape sequences, and the place of the cursor if a program has the screen."""

    def __init__(self, title, lines, cursor=None):
        self.title, self.lines, self.cursor = title, lines, cursor
        while self.lines and not self.lines[-1].strip():
            self.lines.pop()

    @property
    def height(self):
        return BAR + len(self.lines) * LINE + 2 * MARGIN - 6

    def drawn(self, top, width):
        parts = [f'<rect class="back" x="0.5" y="{top + 0.5}" width="{width - 1}" height="{self.height - 1}" rx="8"/>',
                 f'<path class="bar" d="M1 {top + BAR}v-{BAR - 9}a8 8 0 0 1 8-8H{width - 9}a8 8 0 0 1 8 8v{BAR - 9}z"/>']
        parts += [f'<circle class="dot" cx="{x}" cy="{top + BAR / 2}" r="5"/>' for x in (20, 38, 56)]
        parts.append(f'<text class="name" x="{width / 2}" y="{top + BAR / 2 + 4}" text-anchor="middle">{self.title}</text>')
        style = Cell()
        for number, line in enumerate(self.lines):
            y, column = top + BAR + MARGIN + number * LINE + 9, 0
            # The rest of a line that begins with a prompt is typed.
            is_typed = bool(re.match(r"\x1b\[3[45]m(desk|laptop)\$\x1b\[(0|39)m ", line))
            for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
                if sequence := re.fullmatch(r"\x1b\[([0-9;]*)m", piece):
                    style.set(sequence[1])
                elif piece:
                    parts += run(style, piece, MARGIN + column * CELL, y, is_typed and column > 0)
                    column += len(piece)
        if self.cursor:
            column, row = self.cursor
            parts.append(f'<rect class="cursor" x="{MARGIN + column * CELL:.1f}" y="{top + BAR + MARGIN + row * LINE - 5}" '
                         f'width="{CELL}" height="{LINE}"/>')
        return parts


def run(style, text, x, y, is_typed):
    """Returns the elements of characters that have the same style."""
    parts, wide = [], len(text) * CELL
    front, ground = style.front if style.front is None else f"c{style.front}", None
    if style.inverse:
        front, ground = "inverse" if style.behind is None else f"b{style.behind}", front or "front"
    elif style.behind is not None:
        # These grounds are light in both schemes.
        front, ground = "on", f"b{style.behind}"
    if ground:
        parts.append(f'<rect class="{ground}" x="{x:.1f}" y="{y - 14}" width="{wide:.1f}" height="{LINE}"/>')
    names = " ".join(filter(None, ["typed" if is_typed else "strong" if style.bold else None, front]))
    shown = text.strip()
    if shown:
        x += (len(text) - len(text.lstrip())) * CELL
        name = f' class="{names}"' if names else ""
        line = ' text-decoration="underline"' if style.line else ""
        # The text has the width of its cells in every font.
        parts.append(f'<text{name}{line} x="{x:.1f}" y="{y}" textLength="{len(shown) * CELL:.1f}" '
                     f'lengthAdjust="spacingAndGlyphs" xml:space="preserve">{html.escape(shown, quote=False)}</text>')
    return parts


def picture(name, title, windows):
    width, top, parts = round(COLUMNS * CELL + 2 * MARGIN), 0, []
    for window in windows:
        parts += window.drawn(top, width)
        top += window.height + 12
    top -= 12
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" width="{width}" height="{top}" role="img">',
            f"<title>{title}</title>", f"<style>{STYLE}{COLOURS}</style>"]
    with open(os.path.join(IMAGES, f"{name}.svg"), "w") as file:
        file.write("\n".join([*head, *parts, "</svg>", ""]))


class Device:
    """A device, with a shell in a terminal."""

    def __init__(self, stage, daemon, sources):
        self.stage, self.daemon, self.name, self.sources = stage, daemon, daemon.name, sources
        self.home = os.path.realpath(daemon.environment["HOME"])
        programs = os.path.join(daemon.folder, "programs")
        os.mkdir(programs)
        for path in (os.path.join(BIN, "handoffctl"), EDITOR, AGENTS, TERMINAL, GIT):
            os.symlink(path, os.path.join(programs, os.path.basename(path)))
        daemon.environment |= {"PATH": f"{programs}:{daemon.environment['PATH']}", "SHELL": "/bin/bash", **AUTHOR}
        self.write(".config/handoff/documents.conf", f"checkouts = ~/{sources}\n")
        self.write(".config/nvim/init.lua", f"dofile('{ROOT}/Integrations/editors/handoff.lua')\nvim.o.number = true\n"
                   "vim.o.swapfile = false\n")
        self.write(".bashrc", f"PS1='{PROMPT[self.name]}'\nHISTFILE=\nunset TMUX\n")
        self.write(".tmux.conf", "set -g status-right ''\nset -g default-terminal screen-256color\n"
                   "set -g default-command bash\nset -g automatic-rename off\n")
        self.git("config", "--global", "init.defaultBranch", "main", folder=self.home)

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def git(self, *words, folder=None):
        subprocess.run(["git", "-C", folder or os.path.join(self.home, self.sources, "parser"), *words], check=True,
                       env=self.daemon.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def shell(self, rows=60):
        """Starts a terminal."""
        server = Server(self.stage, self.daemon, f"{self.name}{len(self.stage.closers)}", "exec /bin/bash", rows=rows,
                        columns=COLUMNS, SHELL="/bin/bash")
        server.run("set-option", "-g", "status", "off")
        server.sees(r"\$")
        return server

    def window(self, server, title=None, has_cursor=False):
        """Returns the content of a terminal."""
        text = self.masked(server.run("capture-pane", "-p", "-e", "-t", f"={server.name}:"))
        cursor = None
        if has_cursor:
            where = server.run("display-message", "-p", "-t", f"={server.name}:", "#{cursor_x} #{cursor_y}")
            cursor = tuple(map(int, where.split()))
        return Window(title or self.name, text.splitlines(), cursor)

    def masked(self, text):
        text = text.replace(self.home, "/home/ada")
        text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "2026-11-26 18:20", text)
        text = re.sub(r"\b\d+ s ago", "2 s ago", text)
        # Compressed, with the moment.
        return re.sub(r"\b\d{3}(?= bytes| of \d{3} bytes)", "900", text)


def typed(server, command, pattern=None):
    """Types a command, and waits for its output, or for the next prompt."""
    server.type("-l", command)
    server.type("Enter")
    if pattern:
        server.sees(pattern)
    else:
        until(f"the end of {command}", lambda: re.search(r"\$$", server.screen().rstrip()) and not
              server.screen().rstrip().endswith(command))


def devices(stage):
    found = [Device(stage, daemon, sources) for daemon, sources in zip(stage.pair(("desk", "laptop")), ("src", "code"))]
    for device in found:
        folder = os.path.join(device.home, device.sources, "parser")
        os.makedirs(folder)
        device.git("init")
        device.git("remote", "add", "origin", REMOTE)
        device.write(f"{device.sources}/parser/parser.c", PARSER)
        device.write(f"{device.sources}/parser/parser.h", "#include <stddef.h>\n\nsize_t word(const char *text);\n")
        device.write(f"{device.sources}/parser/README", "A parser.\n")
        device.git("add", ".")
        device.git("commit", "-m", "parse words")
    return found


def git(stage):
    desk, laptop = devices(stage)
    folder = "src/parser"
    desk.git("switch", "-c", "faster")
    desk.write(f"{folder}/parser.c", PARSER.replace("text[length] != ' '", "text[length] > ' '"))
    desk.git("commit", "-am", "stop at every space")
    desk.write(f"{folder}/README", "A parser of words.\n")
    desk.git("add", "README")
    desk.write(f"{folder}/parser.h", "#include <stddef.h>\n\n/* The length of a word. */\nsize_t word(const char *text);\n")
    one, other = desk.shell(), laptop.shell()
    typed(one, "git -C ~/src/parser status -sb")
    typed(one, "handoff-git publish ~/src/parser", "offered")
    laptop.daemon.follow("watch").wait("added")
    typed(other, "handoff-git continue", r"\[Y/n\]")
    typed(other, "y", r"continued in .*\nlaptop\$\s*$")
    typed(other, "git -C ~/code/parser status -sb")
    one.sees("sent to laptop")
    return "Git: the uncommitted work on desk is continued on laptop", [desk.window(one), laptop.window(other)]


def terminal(stage):
    desk, laptop = devices(stage)
    desk.write("src/parser/check", TESTS, 0o755)
    desk.daemon.environment["TMUX_TMPDIR"] = desk.daemon.folder
    stage.closers.append(lambda: subprocess.run(["tmux", "kill-server"], env=desk.daemon.environment, capture_output=True))
    work = desk.shell(15)
    typed(work, "tmux new -s work", r"\[work\]")
    typed(work, "cd ~/src/parser; clear", r"^desk\$")
    typed(work, "nvim parser.c", "All")
    work.type("C-b", "%")
    work.sees(r"│desk\$")
    work.type("C-b", "M-Right")
    # Neovim has drawn its new width.
    work.sees(r"parser\.c.{43}All│")
    typed(work, "cd ~/src/parser; clear; ./check", "comment")
    one = desk.shell()
    typed(one, "handoff-terminal share tmux:work", "is offered")
    laptop.daemon.follow("watch").wait("added")
    other = laptop.shell(15)
    other.type("-l", "handoff-terminal attach")
    other.sees("attach")
    before = laptop.window(other)
    other.type("Enter")
    one.sees("laptop is attached")
    other.sees("shown on laptop")
    # Typed on the laptop.
    typed(other, "git log --oneline", "parse words")
    same_screens(work, other, 15)
    return ("Terminals: a tmux session of desk is used on laptop",
            [desk.window(one), before, laptop.window(other, "laptop, attached", True),
             desk.window(work, "desk, session work", True)])


def editors(stage):
    desk, laptop = devices(stage)
    one, other = desk.shell(14), laptop.shell(14)
    one.type("-l", "cd ~/src/parser; clear")
    one.type("Enter")
    typed(one, "nvim parser.c", "All")
    laptop.daemon.follow("watch").wait("added")
    one.type("-l", "7GO/* TODO: stop at a tab, too. */")
    one.type("Escape")
    one.sees(r"\[\+\]")
    typed(other, "handoff-editor continue", r"\[Y/n\]")
    card = laptop.window(other)
    typed(other, "y", r"\[\+\]")
    return ("Editors: an unsaved file in Neovim on desk is continued on laptop",
            [desk.window(one, "desk, nvim parser.c", True), card, laptop.window(other, "laptop, after the confirmation", True)])


def agents(stage):
    desk, laptop = devices(stage)
    for device in (desk, laptop):
        path = os.path.join(device.daemon.folder, "programs", "claude")
        with open(path, "w") as file:
            file.write(AGENT)
        os.chmod(path, 0o755)
    folder = os.path.join(desk.home, "src", "parser")
    transcript = desk.write(f".claude/projects/{key(folder)}/{ID}.jsonl", f'{{"sessionId": "{ID}", "type": "user"}}\n')
    # The agent has exited.
    os.utime(transcript, (time.time() - 600,) * 2)
    desk.write("src/parser/README", "A parser of words.\n")
    one, other = desk.shell(), laptop.shell()
    typed(one, "cd ~/src/parser; handoff-agents publish", "withdraws it")
    laptop.daemon.follow("watch").wait("added")
    typed(other, "handoff-agents continue", r"\[Y/n\]")
    typed(other, "y", r"--resume.*\s+laptop\$")
    return ("Coding agents: a session of desk is continued on laptop, by a stub of the agent",
            [desk.window(one), laptop.window(other)])


def main():
    leave_network()
    pages = {"agents": agents, "editors": editors, "git": git, "terminal": terminal}
    for name in sys.argv[1:] or pages:
        stage = Stage(name)
        try:
            picture(f"terminal-{name}", *pages[name](stage))
        finally:
            stage.close(keep=False)


if __name__ == "__main__":
    sys.exit(main())
