"""Media players of the session bus (MPRIS). Offers playback, which another device can continue at the same second. The player
on this device is then paused.

The player that started playing last is offered. A paused player is offered for half an hour, or until another player plays.
The position is read from the player when another device continues it, so playback causes no wake-ups. If the player has
org.mpris.MediaPlayer2.TrackList, the list of tracks is sent, starting with the current one."""

import itertools
import os
import re
import time
import urllib.parse

from gi.repository import Gio, GLib

import handoff
import host
import opening
from mpris import BETWEEN_TRACKS, PLAYER, PREFIX, PROPERTIES, TRACKS, Player, is_stream, local_media

APP = "dev.handoff1.players"
TYPE = "dev.handoff1.playing"
BUS = "org.freedesktop.DBus"
# Players that are never used, by the first part of their names.
EXCLUDED = {
    # Browsers. Their extension offers the page, which most browsers do not publish over MPRIS.
    "brave", "chrome", "chromium", "edge", "epiphany", "falkon", "firefox", "librewolf", "msedge", "opera",
    "plasma-browser-integration", "qutebrowser", "vivaldi", "zen",
    # A proxy for the players of this bus. A call could start it.
    "playerctld",
    # Proxies for players of phones and other devices. They have no address that could be opened.
    "GSConnect", "Valent", "bluez", "kdeconnect", "ShairportSync",
}
# Seconds for which a paused player is offered; seconds from 1970 to the beginning of dates in activities.
PAUSED, EPOCH = 1800, 978307200
# Timeout in milliseconds for each call while the daemon waits for the state. The daemon waits for one second in total.
SAVE_TIMEOUT = 300
# Other devices can fetch the files of the latest tracks only.
MAX_PLAYERS, MAX_FILES, MAX_TRACKS = 64, 64, 50


class Players:
    def __init__(self, bus):
        self.bus, self.players = bus, {}
        # The activity, what it contains: player, its URL, title and status; the address that was sent for that URL.
        self.activity, self.shown, self.address, self.turn = None, (), None, 0
        # The player whose state another device received last.
        self.sent = None
        # The path whose document was looked up last, with its URL; files that other devices may fetch, by their numbers.
        self.document, self.looked_up, self.files, self.numbers = ("", None), None, {}, itertools.count()
        self.timer = 0
        self.opening = opening.Opening(self)
        self.app = host.attach(APP, [TYPE], on_continue=self.opening.accept, on_event=self._event)
        bus.signal_subscribe(BUS, BUS, "NameOwnerChanged", "/org/freedesktop/DBus", PREFIX[:-1],
                             Gio.DBusSignalFlags.MATCH_ARG0_NAMESPACE, lambda *words: self._owned(*words[5].unpack()))
        self._bus_call("ListNames", None, self._listed)

    # ---- Players ---------------------------------------------------------------------------------------------------

    def _bus_call(self, method, arguments, done):
        host.call(self.bus, BUS, "/org/freedesktop/DBus", BUS, method, arguments, done)

    def _listed(self, values, _error):
        for name in values[0] if values else ():
            if name.startswith(PREFIX):
                self._bus_call("GetNameOwner", GLib.Variant("(s)", (name,)),
                               lambda owner, _, name=name: owner and self._owned(name, "", owner[0]))

    def _owned(self, name, old, owner):
        known = self.players.get(name)
        if known and known.owner == owner or name[len(PREFIX):].split(".")[0] in EXCLUDED:
            return
        if known:
            self.players.pop(name).close()
        if owner and len(self.players) < MAX_PLAYERS:
            self.players[name] = Player(self.bus, name, owner, self._changed)
        elif known:
            self._choose()

    def _changed(self, player):
        self._choose()
        self.opening.changed(player)

    # ---- Publishing ------------------------------------------------------------------------------------------------

    def _choose(self):
        """Publishes the state of the player to offer, unless it has not changed."""
        offered = [each for each in self.players.values() if each.turn and each.is_offerable]
        player = max(offered, key=lambda each: (each.is_playing, each.turn), default=None)
        if self.shown and self.shown[0].is_between_tracks and not (player and player.is_playing):
            self.timer = self.timer or GLib.timeout_add(1000 * BETWEEN_TRACKS + 100, self._stopped)
            return
        shown = (player, player.url, player.title, player.is_playing) if player else ()
        if shown == self.shown:
            return
        address, path = None, None
        if player and is_stream(player.url):
            address = player.url
        elif player and (path := local_media(player.url)):
            if self.document[0] != path:
                return self._look_up(path)
            address = self.document[1]
        self.shown, self.address = shown, address
        if address:
            self._publish(player, path)
        else:
            self._end()

    def _stopped(self):
        self.timer = 0
        self._choose()
        return GLib.SOURCE_REMOVE

    def _look_up(self, path):
        """Finds the URL of a document for other devices. The previous state is offered until then."""
        def named(status, output, _errors):
            if status:
                host.log("cannot offer the file of a player")
            self.looked_up, self.document = None, (path, None if status else output.decode().strip())
            self._choose()

        if self.looked_up != path:
            self.looked_up = path
            host.run(["handoffctl", "document", path], named)

    def _fetchable(self, url, path):
        """Returns the URL of a document with the number by which other devices can fetch it."""
        number = next((number for number, each in self.files.items() if each == path), None)
        if number is None:
            number = next(self.numbers)
            self.files[number] = path
            self.files.pop(number - MAX_FILES, None)
        return f"{url}?fetch={number}"

    def _state(self, player):
        path = local_media(player.url)
        url = self._fetchable(self.address, path) if path else self.address
        # For a radio station, the position is the playing time.
        position = player.position if path or player.length else 0.0
        return {"url": {"$url": url}, "position": position, "playing": player.is_playing, "rate": player.rate,
                "player": player.kind, "app": player.identity, "length": player.length / 1e6,
                **({"size": os.path.getsize(path)} if path else {})}

    def _publish(self, player, path):
        fields = {"title": player.title, "userInfo": self._state(player), "needsSave": True}
        if player.is_paused:
            fields["expirationDate"] = time.time() - EPOCH + PAUSED
        try:
            if not self.activity:
                # The position of a copy would be that of the last change.
                self.activity = self.app.publish(TYPE, savesOnContinue=True, supportsContinuationStreams=True, keep=False,
                                                 **fields)
            else:
                self.activity.update(**({} if player.is_paused else {"expires": False}), **fields)
            # Do not do this at the next track, because the user has not chosen it.
            if self.turn != player.turn:
                self.turn = player.turn
                self.activity.become_current()
        except handoff.Refused as error:
            host.log(f"cannot publish: {error}")
            self._end()

    def _end(self):
        if self.activity:
            self.activity.invalidate()
        self.activity, self.turn = None, 0

    # ---- Events ----------------------------------------------------------------------------------------------------

    def _event(self, event):
        name, activity = event.get("event"), self.activity
        if name == "withdrawn" and activity and activity.id is None:
            self._give_up()
        elif activity and activity.id == event.get("activity"):
            if name == "save":
                self._save()
            elif name == "continued":
                self._continued(activity)
            elif name == "stream":
                self._send(event)

    def _continued(self, activity):
        """Pauses the player that another device continued. That device may still fetch its files. A player that has started
        since then continues to be offered."""
        player, self.sent = self.sent or (self.shown[0] if self.shown else None), None
        if not player:
            return
        player.call(PLAYER, "Pause")
        if self.shown and self.shown[0] is not player:
            player.turn = 0
        else:
            self._give_up()
            activity.ask("ResignCurrent")

    def _give_up(self):
        """Offers nothing until a player starts to play."""
        for player in self.players.values():
            player.turn = 0
        self.shown, self.turn = (), 0

    def _save(self):
        """Reports the current state, or an estimated state if the player does not reply in time."""
        activity, player = self.activity, self.shown[0] if self.shown else None
        self.sent = None

        def is_same():
            return player and self.shown[:2] == (player, player.url)

        def answer(tracks):
            if not activity.id or activity is not self.activity:
                return
            state = {"userInfo": {**self._state(player), **({"tracks": tracks} if tracks else {})}} if is_same() else {}
            self.sent = self.shown[0] if self.shown else None
            try:
                activity.update("AnswerSave", needsSave=True, **state)
            except handoff.Refused as error:
                host.log(f"cannot report the state: {error}")

        def read(has_replied):
            if has_replied and is_same():
                self._read_tracks(player, answer)
            else:
                answer([])

        if player:
            player.read(read, timeout=SAVE_TIMEOUT)
        else:
            answer([])

    def _read_tracks(self, player, done):
        """Reads the addresses of the tracks after the current one."""
        def listed(values, _error):
            tracks = values[0] if values and isinstance(values[0], list) else []
            following = tracks[tracks.index(player.track) + 1:][:MAX_TRACKS] if player.track in tracks else []
            if not following:
                return done([])
            player.call(TRACKS, "GetTracksMetadata", GLib.Variant("(ao)", (following,)), described, timeout=SAVE_TIMEOUT)

        def described(values, _error):
            tracks = values[0] if values and isinstance(values[0], list) else []
            urls = [each.get("xesam:url") for each in tracks if isinstance(each, dict)]
            done([{"$url": url} for url in map(self._other_address, urls) if url])

        player.call(PROPERTIES, "Get", GLib.Variant("(ss)", (TRACKS, "Tracks")), listed, timeout=SAVE_TIMEOUT)

    def _other_address(self, url):
        """Returns the address to send for another track. A file next to the current one is in the same shared folder."""
        if not isinstance(url, str) or is_stream(url):
            return url
        path = local_media(url)
        if not path:
            return None
        folder, name = os.path.split(path)
        is_near = folder == os.path.dirname(self.document[0]) and self.document[1]
        place = self.document[1].rpartition("/")[0] if is_near else "handoff-document:name"
        return self._fetchable(f"{place}/{urllib.parse.quote(os.fsencode(name))}", path)

    def _send(self, event):
        match = re.fullmatch(r"document/([0-9]{1,6})", event.get("resource") or "")
        path = self.files.get(int(match[1])) if match else None
        if path:
            host.run(["handoffctl", "document", "--send", event["stream"], path], lambda *_: None)
