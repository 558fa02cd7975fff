"""Open documents: those of readers, with the page, and the latest recent document of the other programs."""

import foreground
from readers import Readers
from recent import Recent


class Documents:
    def __init__(self, bus):
        self.readers = Readers(bus)
        self.recent = Recent(bus, self.readers)
        foreground.start(self._focused)

    def _focused(self, pid, names):
        self.readers.focus(pid)
        self.recent.focus(names)
