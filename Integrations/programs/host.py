"""The common parts of the adapters: apps in the main loop, calls on the session bus, documents, and starting programs.
Only calls to the daemon block the loop. handoff.py limits them to seconds."""

import os
import re
import secrets
import subprocess
import sys

from gi.repository import Gio, GLib

import handoff

# Timeout in milliseconds for a reply of a program.
TIMEOUT = 2000
SYSTEMD = "org.freedesktop.systemd1"


def attach(app, types, **handlers):
    """Attaches an app, and handles its events in the main loop. Uses the control socket, because its ids are reserved."""
    app = handoff.App(app, types, path=handoff.socket_path(), **handlers)
    condition = GLib.IOCondition.IN | GLib.IOCondition.HUP
    GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, app.fileno(), condition, lambda *_: app.process() or True)
    return app


def call(bus, name, path, interface, method, arguments, done=None, timeout=TIMEOUT, flags=Gio.DBusCallFlags.NO_AUTO_START):
    """Calls a method. `arguments` is a variant or None. `done` receives the list of returned values, or None and the error."""
    def replied(bus, result):
        try:
            values, error = bus.call_finish(result).unpack(), None
        except (GLib.Error, UnicodeDecodeError) as failure:
            values, error = None, failure
        if done:
            done(values, error)

    bus.call(name, path, interface, method, arguments, None, flags, timeout, None, replied)


def log(text):
    print(f"handoff-programs: {handoff.visible(text, 1000)}", file=sys.stderr, flush=True)


def run(words, done):
    """Runs a program of Handoff. `done` receives its exit status, standard output and standard error, as bytes."""
    def ended(process, result):
        try:
            _, output, errors = process.communicate_finish(result)
            done(process.get_exit_status() if process.get_if_exited() else -1, output.get_data() or b"", errors.get_data() or b"")
        except GLib.Error as error:
            done(-1, b"", error.message.encode())

    try:
        flags = Gio.SubprocessFlags.STDOUT_PIPE | Gio.SubprocessFlags.STDERR_PIPE
        Gio.Subprocess.new(words, flags).communicate_async(None, None, ended)
    except GLib.Error as error:
        done(-1, b"", error.message.encode())


def fetch(url, continuation, done):
    """Finds or fetches a document of a continued activity. `done` receives its path, or None and the error as text."""
    def ended(status, output, errors):
        failed = status != 0 or not output
        done(None if failed else os.fsdecode(output[:-1]), errors.decode("utf-8", "replace").strip() if failed else None)

    if not url.startswith("handoff-document:"):
        return done(None, "not the URL of a document")
    run(["handoffctl", "document", "--continuation", continuation, url], ended)


def start(bus, name, words, done=None):
    """Starts a program outside this service, in a separate unit, or as a process if there is no service manager. `done`
    receives None or the error as text."""
    def start_unit(remains, replied):
        properties = [
            ("Description", GLib.Variant("s", f"{name[:128]} (Handoff)")), ("Type", GLib.Variant("s", "exec")),
            ("Slice", GLib.Variant("s", "app.slice")), ("CollectMode", GLib.Variant("s", "inactive-or-failed")), remains,
            ("ExecStartEx", GLib.Variant("a(sasas)", [(path, words, ["no-env-expand"])]))]
        call(bus, SYSTEMD, "/org/freedesktop/systemd1", SYSTEMD + ".Manager", "StartTransientUnit",
             GLib.Variant("(ssa(sv)a(sa(sv)))", (unit, "fail", properties, [])), replied, timeout=25_000)

    def replied(_, error):
        if error and os.environ.get("INVOCATION_ID"):
            # systemd before version 250 cannot keep a unit after its first process exits.
            start_unit(("KillMode", GLib.Variant("s", "process")), lambda _, error: ended(error))
        else:
            ended(error and start_process())

    def start_process():
        try:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True, cwd=os.path.expanduser("~"))
            GLib.child_watch_add(GLib.PRIORITY_DEFAULT, process.pid, lambda *_: process.poll())
        except (OSError, ValueError) as error:
            return error

    def ended(error):
        if error:
            log(f"cannot start {words[0]}: {error}")
        if done:
            done(str(error) if error else None)

    path = GLib.find_program_in_path(words[0])
    if not path:
        return done and done(f"{words[0]} is not installed")
    unit = f"app-handoff-{re.sub(r'[^A-Za-z0-9_.]', '_', name)[:128]}-{secrets.token_hex(8)}.service"
    start_unit(("ExitType", GLib.Variant("s", "cgroup")), replied)


def report(bus, title, text):
    """Shows a notification, if there is a server for it. The log contains no titles."""
    body = GLib.markup_escape_text(handoff.visible(text, 300))
    call(bus, "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications", "Notify",
         GLib.Variant("(susssasa{sv}i)", ("Handoff", 0, "dev.handoff1.Settings", handoff.visible(title), body, [], {}, -1)))
