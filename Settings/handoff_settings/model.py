"""The daemon's state as shown by the window, updated by its notifications. Requests nothing without changes."""

import os
from typing import Callable, Optional

import handoff
from gi.repository import Gio, GLib, GObject

from . import values
from .varlink import Call, Failure

# The number of connection attempts when the daemon's socket appears, and the delay between them in
# milliseconds. The file exists before the daemon listens.
_TRIES, _PAUSE = 10, 200
# The activity type for lists of open tabs, which browsers offer to each other.
_TABS = "dev.handoff1.browser.tabs"

# The method, its parameters and the parser for each part of the daemon's state.
_PARTS: dict[str, tuple[str, dict, Callable]] = {
    "status": ("GetStatus", {}, values.Status.read),
    "devices": ("ListDevices", {}, values.devices),
    "apps": ("ListApps", {}, values.apps),
    "recent": ("ListActivities", {"recent": True}, values.activities),
    "published": ("ListPublished", {}, values.published),
}
# The parts without which nothing is shown. An older daemon has no recent activities.
_NEEDED = {"status", "devices", "apps", "offers"}

Done = Callable[[Optional[Failure]], None]


class Model(GObject.Object):
    """The current state of the daemon.

    `phase` is `connecting`, `ready` or `stopped`; `reason` is the error if it is `stopped`. The signal `changed` names
    the part that changed: `phase`, `status`, `devices`, `apps`, `offers`, `recent` or `published`.
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
        # Those of `ListActivities`, some of which may be on offer.
        self.recent: list[values.Offer] = []
        # Those of which other devices have a newer state.
        self.published: list[values.Published] = []
        self._follow: Optional[Call] = None
        self._watch: Optional[Call] = None
        self._requests: dict[str, Call] = {}
        self._known: set[str] = set()
        self._is_listed = False
        self._monitor: Optional[Gio.FileMonitor] = None
        self._retry: Optional[int] = None

    # ---- The connection ------------------------------------------------------------------------------------------

    def connect_daemon(self) -> None:
        """Starts following the daemon. Can be called again after a failure."""
        self._end()
        self._enter("connecting")
        self._begin()

    def _begin(self, tries: int = 1) -> None:
        self._known.clear()
        self._is_listed = False
        self.offers = []
        self.recent = []
        self.published = []

        def lost(failure: Failure) -> None:
            was_ready = self.phase == "ready"
            self._end()
            if was_ready:
                # A daemon that was running returns quickly, as after an update, or when this device
                # has left its account.
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
        for call in (self._follow, self._watch, *self._requests.values()):
            if call:
                call.cancel()
        self._follow = self._watch = None
        self._requests.clear()
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
        """Watches for the socket file, or for the first missing folder of its path."""
        folder, awaited = os.path.split(handoff.socket_path())
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
            return  # The user can retry with the button.
        self._monitor.connect("changed", seen)

    # ---- Updates from the daemon -----------------------------------------------------------------------------------

    def _took_changes(self, results: dict) -> None:
        for part in values.texts(results, "changed"):
            if part in _PARTS:
                self._request(part)
            if part == "recent":
                self._request("published")

    def _request(self, part: str, is_new: bool = False) -> None:
        """Requests a part. With `is_new`, always notifies the views: a switch may be in the wrong position."""
        method, parameters, read = _PARTS[part]

        def reply(results: dict) -> None:
            value = read(results)
            # The daemon also reports changes that are not shown.
            if is_new or part not in self._known or value != getattr(self, part):
                setattr(self, part, value)
                self._updated(part)

        # A pending request may return an outdated state.
        if part in self._requests:
            self._requests[part].cancel()
        # The call that follows the daemon reports a lost connection.
        self._requests[part] = Call(method, parameters, reply=reply, failed=lambda failure: self._refused(part, failure))

    def _refused(self, part: str, failure: Failure) -> None:
        if failure.is_refusal:
            self._end()
            self._stop(failure)

    def _took_offer(self, results: dict) -> None:
        event, offer = results.get("event"), values.Offer.read(results.get("activity"))
        if event == "ready":
            self._is_listed = True
            self._request("published")
            return self._updated("offers")
        if offer.type == _TABS:
            return
        others = [each for each in self.offers if each.key != offer.key]
        if event == "changed" and len(others) < len(self.offers):
            self.offers = [offer if each.key == offer.key else each for each in self.offers]
        elif event == "added":
            # Existing offers arrive newest first, later ones one by one.
            self.offers = [offer, *others] if self._is_listed else [*others, offer]
        elif event == "removed":
            self.offers = others
        if self._is_listed:
            self._updated("offers")
            # A newer state of an activity of this device is another device's offer or copy.
            self._request("published")

    def _updated(self, part: str) -> None:
        self._known.add(part)
        if self._known >= _NEEDED and self.phase != "ready":
            # The views refresh everything when the phase changes.
            self._enter("ready")
        elif self.phase == "ready":
            self.emit("changed", part)

    # ---- Changes by the user -----------------------------------------------------------------------------------

    def do(self, method: str, parameters: dict, done: Done, part: str) -> None:
        """Calls a method with one reply. `done` gets None, or the failure; `part` is the part that it changes.

        The part is requested immediately: the daemon reports no change that was undone within its delay.
        """
        def replied(_results: dict) -> None:
            if self.phase == "ready":
                self._request(part, is_new=True)
            done(None)

        Call(method, parameters, reply=replied, failed=done)

    def device(self, identifier: str) -> Optional[values.Device]:
        """Returns the device with this id if it is in the account."""
        return next((each for each in self.devices if each.id == identifier), None)
