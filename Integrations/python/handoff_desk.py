"""The common parts of handoff-editor, handoff-agents, handoff-git and handoff-terminal: choosing an offer, the card that is
shown before it is continued, the place of its document here, and a terminal."""
import json, os, re, select, shutil, socket, subprocess, sys, threading, time, urllib.parse

import handoff
from handoff import visible

# Words between the name of a terminal emulator and a command. The first installed one is used, after that of $TERMINAL.
TERMINALS = {"xdg-terminal-exec": [], "x-terminal-emulator": ["-e"], "gnome-terminal": ["--"], "kgx": ["--"], "ptyxis": ["--"],
             "konsole": ["-e"], "xfce4-terminal": ["-x"], "mate-terminal": ["-x"], "alacritty": ["-e"], "kitty": [], "foot": [],
             "xterm": ["-e"]}
# Seconds until the daemon sends the activity for which it started this program.
OPEN_TIMEOUT = 60
# Seconds without a byte after which a stream is closed.
STREAM_TIMEOUT = 120
# Streams of an app that are open at the same time, each to another device.
MAX_STREAMS = 16
MAX_LINE = 1 << 16
FAILED, OFFLINE, NO_OFFER, INTERRUPTED = 1, 3, 4, 130


class Failure(Exception):
    """A reason why an activity is not continued, for display."""

    name = "Failed"


class NoOffer(Failure):
    """No offer of another device matches."""

    name = "NothingToContinue"


class Output:
    """Lines of JSON, or text for people. Threads may print events."""

    def __init__(self, program, as_json):
        self.program, self.as_json, self._lock = program, as_json, threading.Lock()

    def event(self, name, text, /, **fields):
        line = json.dumps({"version": 1, "event": name, **fields}) if self.as_json else text
        if line:
            with self._lock:
                print(line, flush=True)

    def error(self, name, message):
        line = json.dumps({"version": 1, "error": name, "message": message}) if self.as_json else f"{self.program}: {message}"
        print(line, file=sys.stderr, flush=True)

    def accepted(self, card, yes):
        """Shows the card, and asks the user on a terminal. A card is a list of pairs, and of what is missing here."""
        rows, missing = card["rows"], card["missing"]
        lines = [f"  {name + ':':<9} {text}" for name, text in rows] + [f"  missing:  {text}" for text in missing]
        self.event("card", "\n".join(lines), **dict(rows), missing=missing)
        if yes or self.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return True
        if input("Continue? [Y/n] ").strip().lower() in ("", "y", "yes"):
            return True
        self.event("declined", "nothing was changed")
        return False


def as_number(value, least, greatest):
    """Returns a whole number of another device, within limits, or None."""
    return max(least, min(value, greatest)) if type(value) is int else None


def as_text(value, limit=1000):
    """Returns a text of another device in a form that can be displayed, or an empty one."""
    return visible(value, limit) if isinstance(value, str) else ""


def shown(path):
    home = os.path.expanduser("~")
    path = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return visible("~" + path[len(home):] if path.startswith(home + "/") else path, 4096)


def moment(value):
    """Returns a time in seconds since 1970 as text."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(value))
    except (OverflowError, ValueError, OSError, TypeError):
        return "an unknown time"


def take(type, prefix, what):
    """Continues an offer. Returns the activity and the id of the continuation. `what` names the kind of activity in errors."""
    if prefix is not None and not re.fullmatch(r"[0-9A-Za-z-]{1,64}", prefix):
        raise NoOffer(f"{visible(prefix)} is not the id of an offer")
    offers = [each for each in handoff.call("ListActivities")["activities"]
              if each["type"] == type and each["id"].startswith(prefix or "")]
    if not offers:
        raise NoOffer(f"no other device offers {what}" + (f" with the id {visible(prefix)}" if prefix else ""))
    if prefix and len(offers) > 1:
        raise Failure(f"several offers match {visible(prefix)}: " + ", ".join(each["id"] for each in offers))
    reply = handoff.call("Continue", activity=offers[0]["id"], **{"from": offers[0]["device"], "take": True})
    return reply["activity"], reply["continuation"]


def stream_of(continuation, path=None):
    """Opens a stream to the program that published the activity."""
    stream = handoff.Follow("dev.handoff1.OpenStream", {"continuation": continuation}, path, upgrade=True)
    stream.read(wait=True)
    stream.settimeout(STREAM_TIMEOUT)
    return stream


def send(stream, data):
    """Sends bytes to a stream. Each part has its own timeout: `sendall` has one for all of them, in which a slow link may not
    transfer a large file."""
    rest = memoryview(data)
    while rest:
        rest = rest[stream.send(rest[:1 << 16]):]


class Streams:
    """The streams over which an app sends, each on its own thread. Each device has one: a new one replaces the previous one, so
    that a device that does not read cannot prevent the streams of others."""

    def __init__(self):
        self._open, self._lock = {}, threading.Lock()

    def start(self, stream, event, parts):
        """Sends the items of an iterable, which runs on the thread of the stream."""
        device = (event.get("origin") or {}).get("device")
        with self._lock:
            old = self._open.pop(device, None)
            is_full = len(self._open) >= MAX_STREAMS
            if not is_full:
                self._open[device] = stream
        if old:
            try:
                old.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # It has ended by itself.
        if is_full:
            return stream.close()
        threading.Thread(target=self._run, args=(stream, device, parts), daemon=True).start()

    def _run(self, stream, device, parts):
        with stream:
            try:
                stream.settimeout(STREAM_TIMEOUT)
                for data in parts:
                    send(stream, data)
                stream.shutdown(socket.SHUT_WR)
                stream.recv(1)  # Wait until the other device closes the stream. Closing it first would drop bytes.
            except OSError:
                pass
            finally:
                with self._lock:
                    if self._open.get(device) is stream:
                        del self._open[device]


def header(file, limit=MAX_LINE):
    """Returns the object in the next line of JSON of a stream."""
    line = file.readline(limit)
    try:
        value = json.loads(line)
        if not line.endswith(b"\n") or not isinstance(value, dict):
            raise ValueError
    except (ValueError, RecursionError):
        raise Failure("the other device sent no valid message" if line else "the other device ended the connection") from None
    if "error" in value:
        raise Failure("the other device refused: " + visible(str(value["error"]), 1000))
    return value


def here(url):
    """Returns the path that the document of this URL has here without a transfer, or the reason why it has none."""
    bare = re.sub(r"\?fetch=[0-9]+$", "", url)
    if not bare.startswith("handoff-document:"):
        return None, "the other device did not name it"
    if bare.startswith("handoff-document:name/"):
        return None, "on the other device, it is in no checkout or shared folder of documents.conf"
    done = subprocess.run(["handoffctl", "document", bare], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode == 0:
        return os.fsdecode(done.stdout[:-1]), None
    reason = done.stderr.decode("utf-8", "replace").strip().rpartition("handoffctl: ")[2]
    return None, visible(reason, 300) or "it is not here"


def url_of(value):
    url = value.get("$url") if isinstance(value, dict) else None
    is_valid = isinstance(url, str) and url.startswith("handoff-document:") and len(url) < 16_384 and "\0" not in url
    return url if is_valid else None


def name_of(url):
    """Returns the last component of the URL of a document, for display."""
    return visible(urllib.parse.unquote(re.split("[?#]", url.rstrip("/"))[0].rpartition("/")[2])) if url else "unknown"


def checkout(path):
    """Returns the checkout of a path, or None, without running git: a repository can name programs that git would run."""
    while path != (path := os.path.dirname(path)):
        if os.path.exists(os.path.join(path, ".git")):
            return path
    return None


def branch(path):
    """Returns the branch of the checkout of a path; the commit if it has none; None outside of a checkout."""
    folder = os.path.join(checkout(path) or "/nonexistent", ".git")
    try:
        if os.path.isfile(folder):  # Of a linked working tree.
            with open(folder, encoding="utf-8", errors="surrogateescape") as file:
                folder = os.path.join(os.path.dirname(folder), file.read(8192).removeprefix("gitdir: ").rstrip("\n"))
        with open(os.path.join(folder, "HEAD"), encoding="utf-8", errors="replace") as file:
            return visible(file.read(4096).strip().removeprefix("ref: refs/heads/")) or None
    except (OSError, ValueError):
        return None


def in_terminal(words, folder=None):
    """Starts a command, or without words the user's shell, in a terminal emulator, which keeps the folder of its caller."""
    name = next((each for each in (os.environ.get("TERMINAL"), *TERMINALS) if each and shutil.which(each)), None)
    if not name:
        raise Failure("no terminal emulator is installed")
    if not (os.environ.get("TERMINAL") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY")):
        raise Failure("there is no graphical session for a terminal emulator")
    words = [*TERMINALS.get(os.path.basename(name), ["-e"]), *words] if words else []
    subprocess.Popen([name, *words], cwd=folder or os.path.expanduser("~"), start_new_session=True,
                     env={name: value for name, value in os.environ.items() if name != "TERMINAL"},
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def open_in_terminal(type, program):
    """Continues the activity that the user chose on the desktop, in a terminal. The daemon has started this program for it."""
    is_done = False

    def chosen(content, _):
        nonlocal is_done
        is_done = True  # Also if it fails.
        in_terminal([sys.executable, "-B", program, "continue", "--wait", content["id"]])

    app = handoff.App(type, [type], on_continue=chosen, path=handoff.socket_path())
    while not is_done and select.select([app.fileno()], [], [], OPEN_TIMEOUT)[0]:
        app.process()


def run(options, output):
    """Runs the command of the program. Returns its exit status."""
    try:
        return options.run(options, output) or 0
    except (KeyboardInterrupt, EOFError):
        return 0 if options.command == "publish" else INTERRUPTED
    except NoOffer as error:
        code, name, message = NO_OFFER, error.name, str(error)
    except handoff.Unreachable as error:
        code, name, message = OFFLINE, "DaemonNotReachable", str(error)
    except (Failure, handoff.Refused, OSError) as error:
        code, name, message = FAILED, getattr(error, "name", "Failed"), str(error)
    output.error(name, visible(message, 4000))
    if getattr(options, "wait", False) and sys.stdin.isatty():
        try:
            input("Press Enter to close this window. ")
        except (KeyboardInterrupt, EOFError):
            pass
    return code
