"""What the window shows of the daemon, kept by what the daemon tells. Nothing is asked for while nothing changes."""

import os
from typing import Callable, Optional

from gi.repository import Gio, GLib, GObject

from . import values
from .varlink import Call, Failure, socket_path

# The connection is tried again this often, this far apart in milliseconds, when the daemon's socket appears: the file is
# there before anybody listens.
_TRIES, _PAUSE = 10, 200
# The list of open tabs, which browsers offer to each other.
_TABS = "dev.handoff1.browser.tabs"

# How each part of what the daemon says is asked for, and read.
_PARTS: dict[str, tuple[str, Callable]] = {
    "status": ("GetStatus", values.Status.read),
    "devices": ("ListDevices", values.devices),
    "apps": ("ListApps", values.apps),
}

Done = Callable[[Optional[Failure]], None]


class Model(GObject.Object):
    """The daemon as it is now.

    `phase` is `connecting`, `ready` or `stopped`; `reason` says why it is the last. The signal `changed` names what to
    look at again: `phase`, `status`, `devices`, `apps` or `offers`.
    """

    __gsignals__ = {"changed": (GObject.SignalFlags.RUN_FIRST, None, (str,))}

    def __init__(self) -> None:
        super().__init__()
        self.phase = "connecting"
        self.reason = ""
        self.status = values.Status()
        self.devices: list[values.Device] = []
        self.apps: list[values.App] = []
        self.offers: list[values.Offer] = []
        self._follow: Optional[Call] = None
        self._watch: Optional[Call] = None
        self._asked: dict[str, Call] = {}
        self._has_said: set[str] = set()
        self._is_listed = False
        self._monitor: Optional[Gio.FileMonitor] = None
        self._retry: Optional[int] = None

    # ---- The connection ------------------------------------------------------------------------------------------

    def connect_daemon(self) -> None:
        """Begins to follow the daemon, also after it could not be reached."""
        self._end()
        self._enter("connecting")
        self._begin()

    def _begin(self, tries: int = 1) -> None:
        self._has_said.clear()
        self._is_listed = False
        self.offers = []

        def lost(failure: Failure) -> None:
            was_ready = self.phase == "ready"
            self._end()
            if was_ready:
                # One that was there comes back at once, as after an update, or when this device has left its account.
                self._enter("connecting")
                self._try_again(_TRIES)
            elif tries > 1 and not failure.is_refusal:
                self._try_again(tries - 1)
            else:
                self._stop(failure)

        self._follow = Call("FollowChanges", more=True, reply=self._took_changes, failed=lost)
        self._watch = Call("Watch", more=True, reply=self._took_offer, failed=lost)

    def _try_again(self, tries: int) -> None:
        def now() -> bool:
            self._retry = None
            self._begin(tries)
            return GLib.SOURCE_REMOVE

        self._retry = GLib.timeout_add(_PAUSE, now)

    def _stop(self, failure: Failure) -> None:
        self.reason = failure.message
        self._enter("stopped")
        self._await_socket()

    def _end(self) -> None:
        for call in (self._follow, self._watch, *self._asked.values()):
            if call:
                call.cancel()
        self._follow = self._watch = None
        self._asked.clear()
        if self._retry:
            GLib.source_remove(self._retry)
            self._retry = None
        if self._monitor:
            self._monitor.cancel()
            self._monitor = None

    def _enter(self, phase: str) -> None:
        if self.phase != phase:
            self.phase = phase
            self.emit("changed", "phase")

    def _await_socket(self) -> None:
        """Waits for the file of the socket, or for the first folder on the way to it that is missing."""
        folder, awaited = os.path.split(socket_path())
        while not os.path.isdir(folder) and folder != os.path.dirname(folder):
            folder, awaited = os.path.split(folder)

        def seen(
            _monitor: Gio.FileMonitor, file: Gio.File, other: Optional[Gio.File], event: Gio.FileMonitorEvent
        ) -> None:
            created = (Gio.FileMonitorEvent.CREATED, Gio.FileMonitorEvent.MOVED_IN, Gio.FileMonitorEvent.RENAMED)
            names = {each.get_basename() for each in (file, other) if each}
            if event in created and awaited in names:
                self._end()
                self._enter("connecting")
                self._begin(_TRIES)

        try:
            self._monitor = Gio.File.new_for_path(folder).monitor_directory(Gio.FileMonitorFlags.WATCH_MOVES, None)
        except GLib.Error:
            return  # Then the user presses the button.
        self._monitor.connect("changed", seen)

    # ---- What the daemon tells -----------------------------------------------------------------------------------

    def _took_changes(self, results: dict) -> None:
        for part in values.texts(results, "changed"):
            if part in _PARTS:
                self._ask(part)

    def _ask(self, part: str, is_new: bool = False) -> None:
        """Asks for a part. With `is_new` the views look at it in any case: a switch may stand where it was put."""
        method, read = _PARTS[part]

        def reply(results: dict) -> None:
            value = read(results)
            # The daemon tells of changes that are not shown, too.
            if is_new or part not in self._has_said or value != getattr(self, part):
                setattr(self, part, value)
                self._said(part)

        # What is asked already may be old by the time of its answer.
        if part in self._asked:
            self._asked[part].cancel()
        # When the daemon goes away, the call that follows it says so.
        self._asked[part] = Call(method, reply=reply, failed=lambda failure: self._refused(part, failure))

    def _refused(self, part: str, failure: Failure) -> None:
        if failure.is_refusal:
            self._end()
            self._stop(failure)

    def _took_offer(self, results: dict) -> None:
        event, offer = results.get("event"), values.Offer.read(results.get("activity"))
        if event == "ready":
            self._is_listed = True
            return self._said("offers")
        if offer.type == _TABS:
            return
        others = [each for each in self.offers if each.key != offer.key]
        if event == "changed" and len(others) < len(self.offers):
            self.offers = [offer if each.key == offer.key else each for each in self.offers]
        elif event == "added":
            # Those that were there come the newest first, and the others one after the other.
            self.offers = [offer, *others] if self._is_listed else [*others, offer]
        elif event == "removed":
            self.offers = others
        if self._is_listed:
            self._said("offers")

    def _said(self, part: str) -> None:
        self._has_said.add(part)
        if self._has_said == {"status", "devices", "apps", "offers"} and self.phase != "ready":
            # The views look at everything when it changes.
            self._enter("ready")
        elif self.phase == "ready":
            self.emit("changed", part)

    # ---- What the user changes -----------------------------------------------------------------------------------

    def do(self, method: str, parameters: dict, done: Done, part: str) -> None:
        """Calls a method that is answered once. `done` gets None, or why it failed; `part` is what changes by it.

        That is asked for at once: what somebody else has changed back within the daemon's pause is told by nobody.
        """
        def replied(_results: dict) -> None:
            if self.phase == "ready":
                self._ask(part, is_new=True)
            done(None)

        Call(method, parameters, reply=replied, failed=done)

    def device(self, identifier: str) -> Optional[values.Device]:
        """The device with this id, while it is in the account."""
        return next((each for each in self.devices if each.id == identifier), None)
