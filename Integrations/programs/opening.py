"""Continues media of another device in a player on this device."""

import math
import os
import re
import time
import urllib.parse

from gi.repository import Gio, GLib

import host
from handoff_locale import _
from fetching import Fetch
from mpris import PLAYER, PROPERTIES, TRACKS, is_media, is_stream, real

# In seconds: the timeout for opening an item, including the start of the player; the interval between two checks; the
# tolerance of the position; the time after which the user is notified of a running fetch.
TIMEOUT, INTERVAL, PRECISION = 30, 0.1, 0.3
SLOW = 3
MAX_LOOKS = 10
MAX_TRACKS = 50
NOT_MEDIA = _("not a file with sound or video")


class Request:
    """The media to play, from the state of an activity. Raises `ValueError` if its address cannot be used."""

    def __init__(self, content, continuation):
        info = content.get("userInfo") or {}
        self.title, self.continuation = content.get("title") or "media", continuation
        self.address = self.checked(info.get("url"))
        if not self.address:
            raise ValueError("no address that can be played")
        self.position = real(info.get("position"), 0, 10_000_000, 0.0)
        self.length, self.size = real(info.get("length"), 0, 10_000_000, 0.0), real(info.get("size"), 0, 2**60, 0.0)
        self.rate = real(info.get("rate"), 0.1, 10, 1.0)
        self.is_playing = info.get("playing") is not False
        kind = info.get("player")
        self.kind = kind if isinstance(kind, str) and re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}", kind) else ""
        tracks = info.get("tracks")
        tracks = [self.checked(each) for each in (tracks if isinstance(tracks, list) else [])[:MAX_TRACKS]]
        self.tracks = [each for each in tracks if each]
        # The URL for the player, and that of its last track; when it is left alone; whether its state is being read; how often
        # it was; whether it was started at the position.
        self.uri, self.last, self.limit, self.is_read, self.looks, self.is_started_there = None, None, math.inf, False, 0, False
        self.is_partial = False

    @staticmethod
    def checked(value):
        """Returns the URL of a document or of a stream, otherwise None."""
        url = value.get("$url") if isinstance(value, dict) else value
        is_text = isinstance(url, str) and len(url) < 8192
        return url if is_text and (is_stream(url) or url.startswith("handoff-document:")) else None


def is_usable(path):
    return is_media(path) and os.path.isfile(path)


def same(left, right):
    """Returns True if two URLs are equal. Players escape different characters of file names."""
    return left == right or left.startswith("file:") and urllib.parse.unquote(left) == urllib.parse.unquote(right)


def entry_for(kind, path):
    """Returns the desktop entry of an installed player: the player of the origin, or the default for a file, or None."""
    try:
        info = kind and Gio.DesktopAppInfo.new(f"{kind}.desktop")
    except TypeError:  # It is not installed.
        info = None
    # Check the categories, because the other device can send the id of any installed program.
    if info and {"AudioVideo", "Audio", "Video"} & {*(info.get_categories() or "").split(";")}:
        return info
    if path:
        return Gio.AppInfo.get_default_for_type(Gio.content_type_guess(path, None)[0], False)
    return None


class Opening:
    """Opens one request at a time. A new request replaces an unfinished one."""

    def __init__(self, players):
        self.bus, self.players, self.request, self.timer, self.queue = players.bus, players.players, None, 0, None

    def accept(self, content, continuation):
        """Handles the event `continue`. Returns False if the activity cannot be used."""
        try:
            request = self.request = Request(content, continuation)
        except ValueError:
            return False
        self.queue = None
        if is_stream(request.address):
            self._open(request, request.address)
        else:
            GLib.timeout_add_seconds(SLOW, self._is_slow, request, content["origin"]["deviceName"])
            Fetch(request, lambda *words: self._fetched(request, *words), lambda *words: self._completed(request, *words))
        return True

    def _fetched(self, request, path, result):
        """Without a path, `result` is the error. Otherwise it is True if the file is complete."""
        if request is not self.request:
            return
        if not path or not is_usable(path):
            return self._fail(NOT_MEDIA if path else result)
        request.is_partial = not result
        self._open(request, GLib.filename_to_uri(path, None))

    def _completed(self, request, path, result):
        if not path:
            host.report(self.bus, _("Cannot play all of {title}").format(title=request.title), result)
        else:
            # Play the complete file if the part could not be opened.
            GLib.timeout_add_seconds(SLOW, lambda: self._fetched(request, path, True))

    def _is_slow(self, request, device):
        if request is self.request and not request.uri:
            host.report(self.bus, _("Fetching {title}").format(title=request.title), _("from {device}").format(device=device))

    def _locate(self, address, continuation, done):
        """Locates an item. `done` receives the URL of a stream or of a local file, or None and the reason."""
        def fetched(path, error):
            is_there = path and is_usable(path)
            done(GLib.filename_to_uri(path, None) if is_there else None, error or NOT_MEDIA)

        if is_stream(address):
            return done(address, None)
        host.fetch(address, continuation, fetched)

    def _open(self, request, uri):
        request.uri = uri
        running = sorted((each for each in self.players.values() if request.kind == each.kind), key=lambda each: each.is_playing)
        if not running:
            return self._start()

        def opened(_values, error):
            if request is self.request:
                self._start() if error else self._expect()

        running[0].call(PLAYER, "OpenUri", GLib.Variant("(s)", (self._address(running[0].stem),)), opened)

    def _address(self, player):
        """Returns the URL to open. With `appending:`, mpv waits at the end of a part until more has arrived."""
        uri = self.request.uri
        return f"appending://{GLib.filename_from_uri(uri)[0]}" if self.request.is_partial and player == "mpv" else uri

    def _start(self):
        request = self.request
        path = None if is_stream(request.uri) else GLib.filename_from_uri(request.uri)[0]
        installed = [each for each in (request.kind, "mpv", "vlc") if each in ("mpv", "vlc") and GLib.find_program_in_path(each)]
        info = None if request.kind in installed else entry_for(request.kind, path)
        name = (info.get_id() or "").removesuffix(".desktop") if info else next(iter(installed), None)
        if name == "mpv":
            # The position must apply only to this file, and not to other files that are opened later.
            words = ["mpv", "--player-operation-mode=pseudo-gui", f"--speed={request.rate:.3f}",
                     f"--pause={'no' if request.is_playing else 'yes'}",
                     "--{", f"--start={request.position:.3f}", self._address("mpv"), "--}"]
        elif name == "vlc":
            words = ["vlc", f"--rate={request.rate:.3f}", *([] if request.is_playing else ["--start-paused"]), request.uri,
                     f":start-time={request.position:.3f}"]
        elif info and info.get_filename():
            words = ["gio", "launch", info.get_filename(), request.uri]
        else:
            return self._fail(_("no player for it is installed"))
        request.is_started_there = name in ("mpv", "vlc")
        host.start(self.bus, name, words, lambda error: self._fail(error) if error and request is self.request else None)
        self._expect()

    def _fail(self, reason):
        host.report(self.bus, _("Cannot play {title}").format(title=self.request.title), reason)
        self.request = None

    # ---- Position --------------------------------------------------------------------------------------------------

    def _expect(self):
        """Waits until a player has opened the request. Polls the player, because there is no event for the end of a seek."""
        self.request.limit = time.monotonic() + TIMEOUT
        if not self.timer:
            self.timer = GLib.timeout_add(int(1000 * INTERVAL), self._look)

    def _look(self):
        request = self.request
        if not request or time.monotonic() > request.limit:
            self.request, self.timer = None, 0
            return GLib.SOURCE_REMOVE
        if not request.uri:
            # The timer ran for the previous request, and this one is being fetched, which can take hours.
            self.timer = 0
            return GLib.SOURCE_REMOVE
        player = next((each for each in self.players.values() if same(each.url, request.uri)), None)
        if player and not request.is_read:
            request.is_read = True
            player.read(lambda has_replied: self._adjust(player, request))
        return GLib.SOURCE_CONTINUE

    def _adjust(self, player, request):
        """Corrects the position, then the status and the rate."""
        request.is_read = False
        if request is not self.request or not same(player.url, request.uri):
            return
        request.looks += 1
        distance = request.position - player.position
        is_there = request.is_started_there or request.position < PRECISION or -10 * PRECISION < distance < PRECISION
        if not (player.is_playing or player.is_paused):
            # Some players only open it.
            if request.looks == MAX_LOOKS:
                player.call(PLAYER, "Play")
            return
        if not is_there and player.values.get("CanSeek") and request.looks < 3 * MAX_LOOKS:
            # Repeat the seek, because it has no effect while a player opens an item. Some players have only the second form.
            if player.track and request.looks < 2 * MAX_LOOKS:
                position = GLib.Variant("(ox)", (player.track, int(1e6 * request.position)))
                return player.call(PLAYER, "SetPosition", position)
            return player.call(PLAYER, "Seek", GLib.Variant("(x)", (int(1e6 * distance),)))
        self.request = None
        if player.is_playing != request.is_playing:
            player.call(PLAYER, "Play" if request.is_playing else "Pause")
        if abs(player.rate - request.rate) > 0.01:
            player.call(PROPERTIES, "Set", GLib.Variant("(ssv)", (PLAYER, "Rate", GLib.Variant("d", request.rate))))
        self.queue, request.last = (request, player), request.uri
        self.changed(player)

    # ---- Following tracks ------------------------------------------------------------------------------------------

    def changed(self, player):
        """Adds the next track when the last one that was added plays, so that only one is fetched ahead."""
        request, target = self.queue or (None, None)
        if target is not player or not request.tracks or not same(player.url, request.last or ""):
            return
        request.last = None

        def listed(values, _error):
            tracks = values[0] if values and isinstance(values[0], list) else []
            if tracks and is_current():
                self._locate(request.tracks.pop(0), request.continuation, lambda uri, _reason: located(uri, tracks[-1]))

        def located(uri, last):
            if uri and is_current():
                request.last = uri
                player.call(TRACKS, "AddTrack", GLib.Variant("(sob)", (uri, last, False)))

        def is_current():
            return self.queue and self.queue[0] is request

        player.call(PROPERTIES, "Get", GLib.Variant("(ss)", (TRACKS, "Tracks")), listed)
