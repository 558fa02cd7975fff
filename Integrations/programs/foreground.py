"""Detects the focused program on sway and X11. If several documents are open, its document is offered.

It is off unless the file ~/.config/handoff/foreground exists. Other desktops do not report the focused window to all
programs."""

import json
import os
import re
import socket
import struct
import subprocess

from gi.repository import GLib

import host

# The messages of sway: the request for events, and an event of a window.
HEAD, SUBSCRIBE, WINDOW = struct.Struct("=6sII"), 2, 0x80000003
MAX_MESSAGE = 1 << 20


def start(changed):
    """Calls a function with the process of the focused window, which may be 0, and the names of its program."""
    if not os.path.exists(os.path.join(GLib.get_user_config_dir(), "handoff", "foreground")):
        return
    path = os.environ.get("SWAYSOCK")
    try:
        if path:
            Sway(path, changed)
        elif os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
            X11(changed)
        else:
            host.log("this desktop does not report the focused program")
    except OSError as error:
        host.log(f"cannot detect the focused program: {error}")


class Sway:
    def __init__(self, path, changed):
        self.changed, self.data = changed, b""
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        request = b'["window"]'
        self.socket.sendall(HEAD.pack(b"i3-ipc", len(request), SUBSCRIBE) + request)
        condition = GLib.IOCondition.IN | GLib.IOCondition.HUP
        GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, self.socket.fileno(), condition, lambda *_: self._read())

    def _read(self):
        data = self.socket.recv(65536)
        self.data += data
        while len(self.data) >= HEAD.size:
            _, length, kind = HEAD.unpack_from(self.data)
            if length > MAX_MESSAGE:
                data = b""
                break
            end = HEAD.size + length
            if len(self.data) < end:
                break
            message, self.data = self.data[HEAD.size:end], self.data[end:]
            if kind == WINDOW:
                self._window(json.loads(message))
        if not data:
            self.socket.close()
        return bool(data)

    def _window(self, event):
        window = event.get("container") or {}
        if event.get("change") == "focus":
            properties = window.get("window_properties") or {}  # Of an X11 window.
            names = window.get("app_id"), properties.get("class"), properties.get("instance")
            self.changed(window.get("pid") or 0, {name.lower() for name in names if name})


class X11:
    """Uses xprop, which waits for changes, because Python has no module for X11."""

    def __init__(self, changed):
        self.changed = changed
        words = ["xprop", "-root", "-spy", "_NET_ACTIVE_WINDOW"]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        condition = GLib.IOCondition.IN | GLib.IOCondition.HUP
        GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, self.process.stdout.fileno(), condition, lambda *_: self._read())

    def _read(self):
        data = os.read(self.process.stdout.fileno(), 65536)
        windows = re.findall(rb"# (0x[1-9a-f][0-9a-f]{0,7})$", data, re.MULTILINE)
        if windows:
            host.run(["xprop", "-id", windows[-1].decode(), "_NET_WM_PID", "WM_CLASS"], self._window)
        return bool(data)

    def _window(self, _status, output, _errors):
        pid = re.search(rb"^_NET_WM_PID.* = (\d{1,9})$", output, re.MULTILINE)
        names = re.findall(rb'"([^"\\]{1,200})"', output)
        self.changed(int(pid[1]) if pid else 0, {name.decode("utf-8", "replace").lower() for name in names})
