"""A media player on the session bus, and the checks of values from players and other devices."""

import ipaddress
import itertools
import math
import os
import re
import socket
import time
import urllib.parse

from gi.repository import Gio, GLib

import host

PREFIX = "org.mpris.MediaPlayer2."
PATH = "/org/mpris/MediaPlayer2"
ROOT = "org.mpris.MediaPlayer2"
PLAYER = "org.mpris.MediaPlayer2.Player"
TRACKS = "org.mpris.MediaPlayer2.TrackList"
PROPERTIES = "org.freedesktop.DBus.Properties"
STREAMS = ("http", "https", "rtsp")
# A playlist file could refer to any other file of this device.
PLAYLISTS = {
    "application/vnd.apple.mpegurl", "application/xspf+xml", "audio/mpegurl", "audio/x-mpegurl", "audio/x-ms-asx",
    "audio/x-scpls", "video/x-ms-wvx", "video/x-ms-wmx", "audio/x-ms-wax", "video/vnd.mpegurl",
}
MEDIA = ("audio/", "video/", "application/ogg", "application/vnd.rn-realmedia", "application/mxf")
# Maximum time in seconds for which some players report a stop before the next track.
BETWEEN_TRACKS = 2
MAX_TEXT, MAX_URL = 256, 2048


def text(value, limit=MAX_TEXT):
    """Returns a text that is truncated to a number of bytes. For a value of another type, returns an empty text."""
    return value.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore") if isinstance(value, str) else ""


def real(value, least, most, default):
    """Returns a number as a float. For a value that is out of range or of another type, returns the default."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number and least <= value <= most else default


def is_stream(url):
    """Returns True for the URL of a stream. It has only visible ASCII characters, and is not a local address."""
    match = re.fullmatch(r"([a-z]+)://[A-Za-z0-9\[][!-~]*", url) if len(url) <= MAX_URL else None
    if not match or match[1] not in STREAMS:
        return False
    try:
        parts = urllib.parse.urlsplit(url)
        host, _ = (parts.hostname or "localhost").rstrip("."), parts.port
    except ValueError:
        return False
    try:
        address = ipaddress.ip_address(host if ":" in host else socket.inet_aton(host))
    except (OSError, ValueError):
        return ":" not in host and host != "localhost" and not host.endswith(".localhost")
    address = getattr(address, "ipv4_mapped", None) or address
    return not (address.is_loopback or address.is_unspecified)


def is_media(path):
    """Returns True if the name of a file is that of an audio or video file."""
    kind, _ = Gio.content_type_guess(path, None)
    return kind.startswith(MEDIA) and kind not in PLAYLISTS


def local_media(url):
    """Returns the path of the media file of a `file:` URL, or None."""
    try:
        path, machine = GLib.filename_from_uri(url)
        return path if not machine and is_media(path) and os.path.isfile(path) else None
    except (GLib.Error, ValueError):
        return None


class Player:
    """A player on the bus. `turn` increases with the time at which it started to play, and is 0 if it is not offered."""

    turns = itertools.count(1)

    def __init__(self, bus, name, owner, changed):
        self.bus, self.name, self.owner, self._changed = bus, name, owner, changed
        self.stem = name[len(PREFIX):].split(".")[0]
        self.values, self.entry, self.identity, self.turn = {}, "", "", 0
        self._position, self._moment, self._stopped = 0.0, time.monotonic(), -math.inf
        # Subscribe only to signals of this player. Those of other players, such as browsers, are frequent.
        self._subscription = bus.signal_subscribe(
            owner, PROPERTIES, "PropertiesChanged", PATH, PLAYER, Gio.DBusSignalFlags.NONE, self._signalled)
        self.call(PROPERTIES, "GetAll", GLib.Variant("(s)", (ROOT,)), self._described)

    def close(self):
        self._stopped = -math.inf
        self.bus.signal_unsubscribe(self._subscription)

    def call(self, interface, method, arguments=None, done=None, **more):
        host.call(self.bus, self.owner, PATH, interface, method, arguments, done, **more)

    def read(self, done=lambda _: None, **more):
        """Reads the state of the player. `done` receives True if the player has replied."""
        def received(values, _error):
            values = values if values and isinstance(values[0], dict) else None
            if values:
                self._update(values[0])
                self._position = real(self.values.get("Position"), 0, 2**60, 0.0) / 1e6
            done(bool(values))

        self.call(PROPERTIES, "GetAll", GLib.Variant("(s)", (PLAYER,)), received, **more)

    is_playing = property(lambda self: self.values.get("PlaybackStatus") == "Playing")
    is_paused = property(lambda self: self.values.get("PlaybackStatus") == "Paused")
    is_between_tracks = property(lambda self: time.monotonic() - self._stopped < BETWEEN_TRACKS)
    rate = property(lambda self: real(self.values.get("Rate"), 0.1, 10, 1.0))
    length = property(lambda self: real(self.metadata.get("mpris:length"), 0, 2**60, 0.0))
    has_address = property(lambda self: self.url.startswith("file:") or is_stream(self.url))
    is_offerable = property(lambda self: (self.is_playing or self.is_paused) and self.has_address)
    kind = property(lambda self: self.entry or self.stem)

    @property
    def metadata(self):
        value = self.values.get("Metadata")
        return value if isinstance(value, dict) else {}

    @property
    def url(self):
        url = text(self.metadata.get("xesam:url"), 4 * MAX_URL)
        # A file that mpv has opened during the fetch.
        return GLib.filename_to_uri(url[12:], None) if url.startswith("appending:///") and "\0" not in url else url

    @property
    def track(self):
        value = self.metadata.get("mpris:trackid")
        return value if isinstance(value, str) and GLib.variant_is_object_path(value) else None

    @property
    def title(self):
        """Returns the artist and title, the name of the file, or the name of the player, in this order of preference."""
        artists = self.metadata.get("xesam:artist")
        artist = text(artists[0] if isinstance(artists, list) and artists else artists).strip()
        name = text(urllib.parse.unquote(self.url.partition("?")[0].rpartition("/")[2]))
        title = text(self.metadata.get("xesam:title")).strip() or name or self.identity or self.kind
        return f"{artist} – {title}" if artist else title

    @property
    def position(self):
        """Returns the estimated position in seconds, for a player that does not reply."""
        return self._position + (time.monotonic() - self._moment) * self.rate * self.is_playing

    def _described(self, values, _error):
        if values and isinstance(values[0], dict):
            self.identity = text(values[0].get("Identity"))
            self.entry = text(values[0].get("DesktopEntry")).removesuffix(".desktop")
        self.read()

    def _signalled(self, _bus, _sender, _path, _interface, _signal, parameters):
        if parameters.get_type_string() != "(sa{sv}as)":
            return
        _, values, invalidated = parameters.unpack()
        self._update(values)
        if {"PlaybackStatus", "Metadata"} & {*invalidated}:
            self.read()

    def _update(self, values):
        was_playing, old, url, self._position = self.is_playing, self.values, self.url, self.position
        self._moment = time.monotonic()
        self.values = {**old, **{key: value for key, value in values.items() if key != "Metadata" or isinstance(value, dict)}}
        if self.url != url:
            self._position = 0.0
        # Also offer a player that was paused before it was detected.
        if self.is_playing and not was_playing and not (self.turn and self.is_between_tracks) or self.is_paused and not old:
            self.turn = next(self.turns)
        if was_playing != self.is_playing:
            self._stopped = self._moment if was_playing and not self.is_paused else -math.inf
        self._changed(self)
