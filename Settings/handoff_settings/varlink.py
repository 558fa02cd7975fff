"""A client of the daemon's control socket (docs/control-protocol.md): Varlink over Gio, on GLib's main loop.

Never blocks. Use only on the thread of the main loop.
"""

import json
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

from gi.repository import Gio, GLib

CONTROL = "dev.handoff1.Control."
# The daemon's messages have at most 1 MiB.
_MAX_MESSAGE = 2 * 1024 * 1024
_CHUNK = 64 * 1024
# The timeout for a first reply, in seconds. Calls that wait for other devices have no further
# timeout.
_TIMEOUT = 30


def socket_path() -> str:
    """Returns the daemon's socket: `$HANDOFF_SOCKET`, or the default."""
    named = os.environ.get("HANDOFF_SOCKET")
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return named or os.path.join(runtime, "handoff", "control.socket")


@dataclass
class Failure:
    """A failed call with a message for display. `name` is the daemon's error name without its interface."""

    message: str
    name: Optional[str] = None
    parameters: dict = field(default_factory=dict)

    @property
    def is_refusal(self) -> bool:
        """True if the daemon returned the error; otherwise it was unreachable or did not reply."""
        return self.name is not None


class Call:
    """A call over its own connection, so that calls do not wait for each other.

    `reply` gets the parameters of each reply, `failed` at most one `Failure`, which is the last event. With `more` the
    call lasts until the last reply or `cancel`, which the daemon treats as the end of the request.
    """

    def __init__(
        self, method: str, parameters: Optional[dict] = None, *, more: bool = False,
        reply: Callable[[dict], None] = lambda _: None, failed: Callable[[Failure], None] = lambda _: None,
        path: Optional[str] = None, timeout: int = _TIMEOUT,
    ):
        self._path = path or socket_path()
        self._message = {"method": CONTROL + method, "parameters": parameters or {}, **({"more": True} if more else {})}
        self._reply, self._failed = reply, failed
        self._cancellable = Gio.Cancellable()
        self._connection: Optional[Gio.SocketConnection] = None
        self._received = bytearray()
        self._is_over = False
        # Only for the first reply: a followed call may be silent for hours afterwards.
        self._timer = GLib.timeout_add_seconds(timeout, self._out_of_time)
        client = Gio.SocketClient(enable_proxy=False)
        client.connect_async(Gio.UnixSocketAddress.new(self._path), self._cancellable, self._connected)

    def cancel(self) -> None:
        """Cancels the call. Nothing is reported afterwards."""
        if self._is_over:
            return
        self._is_over = True
        self._stop_timer()
        self._cancellable.cancel()
        if self._connection:
            self._connection.close_async(GLib.PRIORITY_DEFAULT, None, None)

    # ---- Connection ----------------------------------------------------------------------------------------------

    def _connected(self, client: Gio.SocketClient, result: Gio.AsyncResult) -> None:
        try:
            connection = client.connect_finish(result)
        except GLib.Error as error:
            return self._fail(Failure(f"cannot reach handoffd at {self._path}: {error.message}"))
        self._connection = connection
        if self._is_over:
            connection.close_async(GLib.PRIORITY_DEFAULT, None, None)
            return
        try:
            user = connection.get_socket().get_credentials().get_unix_user()
        except GLib.Error as error:
            return self._fail(Failure(f"cannot identify the process at {self._path}: {error.message}"))
        # Codes and links must not be sent to another user.
        if user not in (os.getuid(), 0):
            return self._fail(Failure(f"the socket {self._path} belongs to another user"))
        self._send(json.dumps(self._message).encode() + b"\0")
        self._receive()

    def _send(self, data: bytes) -> None:
        def sent(stream: Gio.OutputStream, result: Gio.AsyncResult) -> None:
            try:
                count = stream.write_bytes_finish(result)
            except GLib.Error as error:
                return self._fail(Failure(f"cannot send to handoffd: {error.message}"))
            if count < len(data) and not self._is_over:
                self._send(data[count:])

        self._connection.get_output_stream().write_bytes_async(
            GLib.Bytes.new(data), GLib.PRIORITY_DEFAULT, self._cancellable, sent)

    def _receive(self) -> None:
        self._connection.get_input_stream().read_bytes_async(
            _CHUNK, GLib.PRIORITY_DEFAULT, self._cancellable, self._took)

    def _took(self, stream: Gio.InputStream, result: Gio.AsyncResult) -> None:
        try:
            data = stream.read_bytes_finish(result).get_data() or b""
        except GLib.Error as error:
            return self._fail(Failure(f"lost the connection to handoffd: {error.message}"))
        if self._is_over:
            return
        if not data:
            return self._fail(Failure("handoffd closed the connection"))
        self._received += data
        *messages, rest = self._received.split(b"\0")
        self._received = rest
        if len(rest) > _MAX_MESSAGE:
            return self._fail(Failure("handoffd sent a message that is too long"))
        for message in messages:
            self._read(message)
        if not self._is_over:
            self._receive()

    # ---- Messages ------------------------------------------------------------------------------------------------

    def _read(self, message: bytes) -> None:
        if self._is_over:
            return
        try:
            value: Any = json.loads(message)
        except (ValueError, RecursionError):
            value = None
        parameters = (value.get("parameters") or {}) if isinstance(value, dict) else None
        if not isinstance(parameters, dict):
            return self._fail(Failure("handoffd sent an invalid reply"))
        self._stop_timer()
        error = value.get("error")
        if error is not None:
            return self._fail(_refusal(str(error), parameters))
        if not value.get("continues"):
            self.cancel()
        self._reply(parameters)

    def _out_of_time(self) -> bool:
        self._timer = None
        self._fail(Failure("handoffd did not reply in time"))
        return GLib.SOURCE_REMOVE

    def _stop_timer(self) -> None:
        if self._timer:
            GLib.source_remove(self._timer)
        self._timer = None

    def _fail(self, failure: Failure) -> None:
        if self._is_over:
            return
        self.cancel()
        self._failed(failure)


def _refusal(error: str, parameters: dict) -> Failure:
    name = error.rpartition(".")[2]
    message = parameters.get("message")
    if name == "MethodNotFound":
        message = "handoffd is older than this window: update and restart it"
    if not isinstance(message, str) or not message:
        message = f"handoffd refused the request: {name}"
    return Failure(message, name, parameters)
