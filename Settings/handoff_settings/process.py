"""A process of handoffctl whose output is read as it arrives. No widgets."""

import json
import signal
from typing import Callable, Optional, Sequence, Union

from gi.repository import Gio, GLib


class Process:
    """Starts handoffctl with `--json`, and calls a function with each object of its standard output or standard error.

    Then calls `ended` once: with the exit status, or None after a signal. Raises GLib.Error if it cannot be started.
    """

    def __init__(
        self, words: Sequence[Union[str, bytes]], took_event: Callable[[dict], None], took_error: Callable[[dict], None],
        ended: Callable[[Optional[int]], None], data: Optional[bytes] = None
    ) -> None:
        """`data` is its standard input."""
        flags = Gio.SubprocessFlags.STDOUT_PIPE | Gio.SubprocessFlags.STDERR_PIPE
        if data:
            flags |= Gio.SubprocessFlags.STDIN_PIPE
        self._process = Gio.Subprocess.new(words, flags)
        self._ended = ended
        # The two outputs, and the exit status.
        self._open = 3
        if data:
            close = Gio.OutputStreamSpliceFlags.CLOSE_SOURCE | Gio.OutputStreamSpliceFlags.CLOSE_TARGET
            source = Gio.MemoryInputStream.new_from_bytes(GLib.Bytes.new(data))
            self._process.get_stdin_pipe().splice_async(source, close, GLib.PRIORITY_DEFAULT, None, None)
        self._read(self._process.get_stdout_pipe(), took_event)
        self._read(self._process.get_stderr_pipe(), took_error)
        self._process.wait_async(None, lambda *_: self._closed())

    def interrupt(self) -> None:
        """Ends the process as Ctrl-C does. Background jobs of a shell ignore SIGINT."""
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the process immediately."""
        self._process.force_exit()

    def _read(self, stream: Gio.InputStream, take: Callable[[dict], None], rest: bytes = b"") -> None:
        def got(_stream: Gio.InputStream, result: Gio.AsyncResult) -> None:
            try:
                piece = stream.read_bytes_finish(result).get_data()
            except GLib.Error:
                piece = b""
            if not piece:
                return self._closed()
            *lines, left = (rest + piece).split(b"\n")
            for line in lines:
                try:
                    fields = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(fields, dict):
                    take(fields)
            self._read(stream, take, left)

        stream.read_bytes_async(65536, GLib.PRIORITY_DEFAULT, None, got)

    def _closed(self) -> None:
        self._open -= 1
        if self._open == 0:
            self._ended(self._process.get_exit_status() if self._process.get_if_exited() else None)
