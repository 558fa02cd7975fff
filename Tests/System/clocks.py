"""Clocks of a daemon that a test sets (`Tests/Faults/clock.c`). Those of the machine are unchanged."""

import mmap
import os
import struct
import time

import faults

DAY = 24 * 3600
YEAR = 365 * DAY


class Clock:
    """The clocks of one daemon. Create it before the daemon starts."""

    def __init__(self, daemon, ahead=0):
        page = os.path.join(daemon.folder, "clock.page")
        with open(page, "wb") as file:
            file.write(bytes(4096))
        with open(page, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 4096)
        struct.pack_into("<q", self.page, 0, ahead)
        daemon.extra = {**daemon.extra, "LD_PRELOAD": faults.library("clock"), "CLOCK_PAGE": page}

    def set(self, ahead):
        """Sets the wall clock this many seconds ahead of the machine's."""
        struct.pack_into("<q", self.page, 0, ahead)

    def jump(self, ahead):
        """Makes all clocks jump, including those since boot, to this many seconds ahead of the machine's."""
        # Together. A daemon that reads both in between would see them change against each other.
        struct.pack_into("<qq", self.page, 0, ahead, ahead)


def before_1970():
    """Returns the offset in seconds of a clock that shows a day of the year 1969."""
    return -int(time.time()) - 100 * DAY
