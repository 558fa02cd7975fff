"""The common parts of the tests of editors and coding agents: real editors under a pseudo-terminal, and checkouts."""

import fcntl
import json
import os
import pty
import shutil
import subprocess
import sys
import termios
import threading

from browsers import until
from documents import checkout, configure, write
from harness import BIN, ROOT, Failure, Follower, Skip, content

sys.path.insert(0, os.path.join(ROOT, "Integrations", "python"))

import handoff  # noqa: E402

FOLDER = os.path.join(ROOT, "Integrations", "editors")
PROGRAM = os.path.join(FOLDER, "handoff-editor")
TYPE = "dev.handoff1.editor"
VIM = ("[expand('%:p'),line('.'),charcol('.'),join(getline(1,'$'),\"\\n\"),&modified?v:true:v:false,&readonly?v:true:v:false,"
       "winnr('$')]")
EMACS = """(with-current-buffer (window-buffer (selected-window)) (json-encode (list (or buffer-file-name "") (line-number-at-pos)
 (1+ (- (point) (line-beginning-position))) (buffer-substring-no-properties (point-min) (point-max))
 (if (buffer-modified-p) t json-false) (if buffer-read-only t json-false) (length (window-list)))))"""
# Vim has modelines off for root.
NO_SETTINGS = ["--cmd", "set modeline", "-i", "NONE"]
# Evaluates the expressions of the test in a Vim, which has no server without a screen.
PROBE = """
function! Probed(channel, line)
  try
    let value = eval(a:line)
  catch
    let value = v:exception
  endtry
  call writefile([json_encode(value)], 'FOLDER/answer.part')
  call rename('FOLDER/answer.part', 'FOLDER/answer')
endfunction
let g:ask = 'exec 3<>FOLDER/ask; while read -r line <&3; do printf "%s\\n" "$line"; done'
let g:probe = job_start(['sh', '-c', g:ask], {'out_cb': 'Probed'})
"""

# Publishes a payload, and sends a header and bytes over its streams.
SERVER = """
import json, sys
sys.path.insert(0, sys.argv[1])
import handoff
header, data = sys.argv[4].encode(), sys.argv[5].encode()
def serve(stream, event):
    with stream:
        stream.sendall(header + b"\\n" + data)
app = handoff.App("hostile", path=handoff.socket_path())
activity = app.publish(sys.argv[2], stream=serve, supportsContinuationStreams=True,
                       title="x\\u202e\\x1b[2J", userInfo=json.loads(sys.argv[3]))
activity.become_current()
print(json.dumps({"event": "published", "id": activity.id}), flush=True)
app.run()
"""


def need(*names):
    for name in names:
        if not shutil.which(name):
            raise Skip(f"{name} is not installed")


def pair(stage):
    """Two devices whose users have a checkout of the same repository at different paths. Returns each with the checkout."""
    origin, taker = stage.pair()
    for daemon, folder in ((origin, "home/src"), (taker, "home/code/host")):
        daemon.environment |= {"PATH": f"{BIN}:{daemon.environment['PATH']}", "TERM": "xterm", "SHELL": "/bin/sh",
                               "NVIM_LOG_FILE": f"{daemon.folder}/nvim.log"}
        here = os.path.realpath(daemon.folder)
        configure(daemon, f"checkouts = {here}/{folder}\n")
        checkout(daemon, f"{folder}/letters", "https://example.org/notes/letters.git")
        write(daemon, f"{folder}/letters/.git/HEAD", b"ref: refs/heads/main\n")
        daemon.checkout = f"{here}/{folder}/letters"
        daemon.watch = daemon.follow("watch")
        daemon.watch.wait("ready")
    return origin, taker


def hostile_app(origin, taker, type, info, header, data):
    """Starts a program that publishes any payload and sends any bytes. Returns it, with the id of its offer."""
    words = [sys.executable, "-c", SERVER, os.path.join(ROOT, "Integrations", "python"), type, json.dumps(info), header, data]
    follower = Follower(origin.stage, words, origin.environment, os.path.join(origin.folder, "hostile.log"))
    follower.id = follower.wait("published")["id"]
    taker.watch.wait("added", id=follower.id)
    return follower


def published(daemon):
    """Returns how many files a device offers: each editor offers one, once it is connected."""
    with handoff.Follow("dev.handoff1.Control.ListPublished", {}, daemon.socket) as replies:
        return sum(each["type"] == TYPE for each in replies.read(wait=True)["activities"])


class Terminal:
    """A program under a pseudo-terminal, whose output is read and kept."""

    def __init__(self, stage, words, environment, folder):
        self.leader, follower = pty.openpty()
        subprocess.run(["stty", "rows", "24", "cols", "100"], stdin=follower, check=True)
        self.process = subprocess.Popen(words, env=environment, stdin=follower, stdout=follower, stderr=follower, cwd=folder,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        stage.processes.append(self.process)
        os.close(follower)
        self.output = b""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            while data := os.read(self.leader, 65536):
                self.output += data
        except OSError:
            pass

    def keys(self, text):
        os.write(self.leader, text.encode())


class Editor:
    """An editor on a device, with the program of this project and without the user's settings."""

    count = 0
    problem = ""

    def __init__(self, daemon, name, *paths):
        Editor.count += 1
        self.daemon, self.name = daemon, name
        self.folder = os.path.join(daemon.folder, f"{name}-{Editor.count}")
        os.mkdir(self.folder, 0o700)
        before = published(daemon)
        self.terminal = Terminal(daemon.stage, [*self.words(), *paths], daemon.environment, daemon.folder)
        try:
            until(f"{name}", self.state)
            until("its offer", lambda: published(daemon) > before)
        except Failure as error:
            raise Failure(f"{error}; {self.problem} {self.terminal.output[-1500:]!r}") from None

    def words(self):
        """Returns the command that starts the editor."""
        if self.name == "nvim":
            return ["nvim", *NO_SETTINGS, "--listen", f"{self.folder}/server", "-u", f"{FOLDER}/handoff.lua"]
        if self.name == "emacs":
            server = f'(progn (setq server-socket-dir "{self.folder}" server-name "server") (server-start))'
            return ["emacs", "-nw", "-Q", "-l", f"{FOLDER}/handoff.el", "--eval", server]
        os.mkfifo(os.path.join(self.folder, "ask"))
        with open(os.path.join(self.folder, "probe.vim"), "w") as file:
            file.write(PROBE.replace("FOLDER", self.folder))
        return ["vim", "-N", *NO_SETTINGS, "-u", f"{FOLDER}/handoff.vim", "-S", os.path.join(self.folder, "probe.vim")]

    def evaluate(self, text):
        """Returns the value of an expression, or None if the editor does not reply."""
        if self.name == "vim":
            answer = os.path.join(self.folder, "answer")
            try:
                asking = os.open(os.path.join(self.folder, "ask"), os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                return None  # It has not started yet.
            with open(asking, "w") as file:
                file.write(text + "\n")
            until("an answer of vim", lambda: os.path.exists(answer))
            value = content(answer)
            os.unlink(answer)
            return json.loads(value)
        words = ["emacsclient", "-s", f"{self.folder}/server", "-e", text]
        if self.name == "nvim":
            words = ["nvim", "--server", f"{self.folder}/server", "--remote-expr", f"json_encode({text})"]
        done = subprocess.run(words, env=self.daemon.environment, capture_output=True, timeout=60)
        answer = done.stdout.strip() or done.stderr.strip()  # Neovim 0.7 writes it to standard error.
        if done.returncode or not answer:
            self.problem = answer
            return None
        value = json.loads(answer)
        return json.loads(value) if self.name == "emacs" and isinstance(value, str) else value

    def do(self, vim, emacs):
        """Executes a command of the editor."""
        text = f"(with-current-buffer (window-buffer (selected-window)) {emacs} 1)" if self.name == "emacs" else \
            "execute('{}')".format(vim.replace("'", "''"))
        value = self.evaluate(text)
        if value is None or str(value).startswith("Vim"):
            raise Failure(f"{self.name} does not execute {text}: {value}")

    def state(self):
        """Returns the path, line, column, text, and if it is unsaved, if it is read-only, and the number of windows."""
        return self.evaluate(EMACS if self.name == "emacs" else VIM)

    def wait(self, path, **more):
        """Waits until a file is in front. Returns the state."""
        def found():
            state = self.state()
            return state if state and (state[0] == path if path is not None else True) and \
                all(state[int(place[1:])] == value for place, value in more.items()) else None
        try:
            return until(f"{path} in {self.name}", found) or self.state()
        except Failure as error:
            raise Failure(f"{error}: {self.state()} {self.notes()} {self.terminal.output[-600:]!r}") from None

    def notes(self):
        if self.name == "emacs":
            return " ".join(self.evaluate("(json-encode handoff--notes)") or [])
        value = self.evaluate("execute('HandoffNotes')")
        return " ".join(value.split("\n")) if value else ""

    def move(self, line, column):
        self.do(f"call setcursorcharpos({line}, {column})",
                f"(progn (goto-char (point-min)) (forward-line {line - 1}) (forward-char {column - 1}) "
                f"(set-window-point (selected-window) (point)))")

    def type(self, line, text):
        """Replaces a line, without saving it."""
        self.do(f"call setline({line}, {json.dumps(text, ensure_ascii=False)})",
                f"(save-excursion (goto-char (point-min)) (forward-line {line - 1}) (delete-region (point) (line-end-position)) "
                f"(insert {json.dumps(text, ensure_ascii=False)}))")

    def open(self, path):
        self.do(f"edit {path}", f'(find-file "{path}")')

    def end(self):
        """Ends the editor without a trace, which a killed one would leave."""
        before = published(self.daemon)
        if self.name == "emacs":
            self.evaluate("(let (kill-emacs-hook) (kill-emacs))")
        else:
            self.terminal.keys("\x1c\x0e:qall!\r")
        self.terminal.process.wait(60)
        until("the end of its offer", lambda: published(self.daemon) < before)
        os.close(self.terminal.leader)
