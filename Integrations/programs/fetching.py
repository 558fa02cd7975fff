"""Fetches a media file, which can be played before it is complete."""

import glob
import hashlib
import os
import time

from gi.repository import Gio, GLib

import host

# Milliseconds between two checks of the part. A file that arrives before the first check is played as a complete file.
INTERVAL = 500
# Bytes, and proportion of the file, that must have arrived after the playback position.
AHEAD, MARGIN = 4 << 20, 0.02
# The suffix of the name of a part, after its key.
SUFFIX, DIGITS = ".handoff-part", 33
# Formats whose index may be at the end, without which they cannot be played.
INDEXED = {"video/x-msvideo", "video/vnd.avi", "video/x-ms-wmv", "audio/x-ms-wma", "application/vnd.ms-asf"}
BOXED = {"video/mp4", "audio/mp4", "video/quicktime", "video/3gpp", "audio/x-m4a", "video/x-m4v", "audio/x-m4b"}


def has_index(path):
    """Returns True if an incomplete file can be played, because its index is not at the end."""
    kind, _ = Gio.content_type_guess(path, None)
    if kind in INDEXED or kind not in BOXED:
        return kind not in INDEXED
    with open(path, "rb") as file:
        for _ in range(16):
            head = file.read(16)
            size = int.from_bytes(head[:4], "big")
            size = int.from_bytes(head[8:], "big") if size == 1 else size
            if head[4:8] in (b"moov", b"mdat") or size < 8:
                return head[4:8] == b"moov" and file.seek(0, os.SEEK_END) > size
            file.seek(size - len(head), os.SEEK_CUR)
    return False


class Fetch:
    """A running fetch. `ready` receives the path, and True if the file is complete, or None and the error. If the file was
    incomplete, `ended` receives the same values at the end."""

    def __init__(self, request, ready, ended):
        self.request, self.ready, self.ended, self.began = request, ready, ended, time.monotonic()
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        # The same name as in DocumentCommand.folder(for:).
        key = hashlib.sha256(f"{request.continuation} {request.address}".encode()).hexdigest()[:32]
        self.folder, self.is_playing = os.path.join(cache, "handoff", "fetched", key), False
        self.timer = GLib.timeout_add(INTERVAL, self._look)
        host.fetch(request.address, request.continuation, self._fetched)

    def _fetched(self, path, error):
        if self.timer:
            GLib.source_remove(self.timer)
        (self.ended if self.is_playing else self.ready)(path, error if error else True)

    def _look(self):
        try:
            (part,) = glob.glob(os.path.join(glob.escape(self.folder), ".*" + SUFFIX))
            if self._is_enough(os.path.getsize(part), time.monotonic() - self.began):
                # Create a link with a separate name, because the part is renamed when it is complete. Both are the same file.
                path = os.path.join(self.folder, "playing", os.path.basename(part)[1:-DIGITS - len(SUFFIX)])
                os.makedirs(os.path.dirname(path), exist_ok=True)
                os.path.exists(path) or os.link(part, path)
                if has_index(path):
                    self.is_playing, self.timer = True, 0
                    self.ready(path, False)
                    return GLib.SOURCE_REMOVE
        except (OSError, ValueError, OverflowError):  # The sizes in the file are those of the other device.
            pass
        return GLib.SOURCE_CONTINUE

    def _is_enough(self, arrived, seconds):
        """Returns True if the rest is expected to arrive before it is played."""
        size, length, position = self.request.size, self.request.length, self.request.position
        if not size or not length or position > length:
            return False
        rest = (size - arrived) * seconds / max(arrived, 1)
        return arrived > size * (position / length + MARGIN) + AHEAD and rest < 0.8 * (length - position)
