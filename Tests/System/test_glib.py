"""HandoffGLib: a GTK 4 app whose parts belong to the main actor, served by GLib's loop, between two daemons."""

import os
import subprocess
import threading

from browsers import until
from harness import BIN, expect, main, test
from windows import Screen

PROGRAM = os.path.join(BIN, "GTKProgram")
TYPE = "com.example.gtk.reading"
WITHIN = 40


class Reader:
    """A GTKProgram connected to a daemon. `wait` reads its lines."""

    def __init__(self, stage, screen, daemon):
        self.log = os.path.join(daemon.folder, "gtk.log")
        with open(self.log, "ab") as errors:
            self.process = subprocess.Popen(
                [PROGRAM], env=screen.environment(daemon), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
        stage.processes.append(self.process)
        # An app whose main actor is blocked prints nothing, and does not exit.
        guard = threading.Timer(WITHIN, self.process.kill)
        guard.daemon = True
        guard.start()

    def read(self, page):
        self.process.stdin.write(f"{page}\n".encode())
        self.process.stdin.flush()

    def wait(self, wanted):
        """Reads lines until the wanted one."""
        for line in self.process.stdout:
            if line.decode().strip() == wanted:
                return
        expect(False, f"'{wanted}' was not printed: {open(self.log).read()[-2000:]}")


@test("a GTK 4 app saves and continues on the main actor")
def gtk(stage):
    screen = Screen(stage)
    desk, laptop = stage.pair(("desk", "laptop"))
    here, there = Reader(stage, screen, desk), Reader(stage, screen, laptop)
    for reader in (here, there):
        reader.wait("shown main")
    # The connection to the daemon starts on another thread.
    until("the app at its daemon", lambda: laptop.ctl("apps").lines)
    here.read(7)
    here.wait("saved 7 main")
    watch = laptop.follow("watch")
    watch.wait("added", type=TYPE)
    watch.interrupt()
    laptop.ctl("continue", "--type", TYPE)
    there.wait("continues 7 main")
    there.wait("task main")
    for reader in (here, there):
        reader.process.stdin.close()
        expect(reader.process.wait(20) == 0, "the app did not exit at the end of its input")


if __name__ == "__main__":
    main()
