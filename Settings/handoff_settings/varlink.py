"""Calls of the daemon's control socket on GLib's main loop, by the module `handoff`.

Waits for no reply. Use only on the thread of the main loop.
"""

from dataclasses import dataclass, field
from typing import Callable, Optional

import handoff
from gi.repository import GLib
from handoff_locale import _

from .messages import translated


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
        path: Optional[str] = None, timeout: int = handoff.TIMEOUT,
    ):
        self._reply, self._failed = reply, failed
        self._replies: Optional[handoff.Follow] = None
        self._is_over = False
        # Only for the first reply: a followed call may be silent for hours afterwards.
        self._timer: Optional[int] = GLib.timeout_add_seconds(timeout, self._out_of_time)
        self._source: Optional[int] = GLib.idle_add(
            self._begin, method, parameters or {}, path, more, priority=GLib.PRIORITY_DEFAULT)

    def cancel(self) -> None:
        """Cancels the call. Nothing is reported afterwards."""
        self._is_over = True
        for source in (self._timer, self._source):
            if source:
                GLib.source_remove(source)
        self._timer = self._source = None
        if self._replies:
            self._replies.close()

    def _begin(self, method: str, parameters: dict, path: Optional[str], more: bool) -> bool:
        self._source = None
        try:
            flags = {"more": True} if more else {}
            self._replies = handoff.Follow("dev.handoff1.Control." + method, parameters, path, **flags)
            self._source = GLib.unix_fd_add_full(
                GLib.PRIORITY_DEFAULT, self._replies.fileno(), GLib.IOCondition.IN, self._read)
        except (handoff.Refused, OSError) as error:
            self._fail(error)
        return GLib.SOURCE_REMOVE

    def _read(self, _file: int, _condition: GLib.IOCondition) -> bool:
        while not self._is_over:
            try:
                reply = self._replies.read()
            except (handoff.Refused, OSError) as error:
                self._fail(error)
                break
            if reply is None:
                break
            if self._timer:
                GLib.source_remove(self._timer)
                self._timer = None
            if self._replies.done:
                self.cancel()
            self._reply(reply)
        return GLib.SOURCE_CONTINUE

    def _out_of_time(self) -> bool:
        self._timer = None
        self._fail(handoff.Unreachable(_("handoffd did not reply in time")))
        return GLib.SOURCE_REMOVE

    def _fail(self, error: Exception) -> None:
        self.cancel()
        if not isinstance(error, handoff.Refused):
            return self._failed(Failure(str(error)))
        text = str(error)
        if error.name == "MethodNotFound":
            text = _("handoffd is older than this window: update and restart it")
        self._failed(Failure(translated(text), error.name, error.parameters))
