"""A notification server for machines, which records the current notifications, and follows the
commands of a test.

played_notifier.py RECORD COMMANDS: RECORD has the number of all notifications so far as the first
line, and then a line of JSON for each current one. COMMANDS is a pipe that is created, with lines
ID KEY TOKEN: the user's choice.
"""

import json
import os
import sys
import threading

from bus_name import session_bus
from notifications import NotificationServer


def main():
    record, commands = sys.argv[1:]
    server = NotificationServer(session_bus())
    written = threading.Lock()

    def write():
        with written, server.changed:
            with open(record + ".new", "w") as file:
                for line in [len(server.notified()), *server.standing.values()]:
                    file.write(json.dumps(line) + "\n")
            os.rename(record + ".new", record)

    def follow():
        count = 0
        while True:
            with server.changed:
                server.changed.wait_for(lambda: len(server.seen) > count)
                count = len(server.seen)
            write()

    write()
    threading.Thread(target=follow, daemon=True).start()
    os.mkfifo(commands)
    while True:
        with open(commands) as lines:
            for line in lines:
                id, key, token = line.split()
                server.choose(int(id), key, token)
        write()


if __name__ == "__main__":
    main()
