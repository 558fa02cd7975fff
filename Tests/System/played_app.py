"""An app for tests, which attaches to the daemon and records its events.

played_app.py RECORD [--app ID] [--team T] [--refuse] [--stay] [--bus-name NAME] [TYPE...]: a line
of JSON to RECORD for its start, and one for each event. It runs until the daemon exits, or longer
with --stay. With a name on the session bus it also records the calls to that name.
"""

import argparse
import json
import os
import signal
import sys
import threading

# On a machine of the tests, the module is installed.
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "Integrations", "python"))
import handoff  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("record")
    parser.add_argument("--app", default="played")
    parser.add_argument("--team")
    parser.add_argument("--refuse", action="store_true")
    parser.add_argument("--stay", action="store_true")
    parser.add_argument("--bus-name")
    parser.add_argument("types", nargs="*")
    options = parser.parse_intermixed_args()

    def note(**fields):
        with open(options.record, "a") as file:
            file.write(json.dumps(fields) + "\n")

    with open("/proc/self/cgroup") as file:
        groups = file.read()
    descriptors = sorted(int(name) for name in os.listdir("/proc/self/fd"))
    note(event="started", pid=os.getpid(), session=os.getsid(0), environment=dict(os.environ), groups=groups,
         words=sys.argv, descriptors=[number for number in descriptors if is_open(number)], folder=os.getcwd())

    if options.bus_name:
        from bus import Reader
        from bus_name import BusName
        name = BusName(options.bus_name)

        def serve():
            while call := name.calls.get():
                note(event="called", path=call["path"], interface=call.get("interface"), member=call["member"],
                     platform=Reader(call["body"]).entries())

        threading.Thread(target=serve, daemon=True).start()

    path = handoff.socket_path("handoff-app/app.socket")
    attach = {"app": options.app, "types": options.types, "team": options.team}
    session, answers = None, []
    try:
        for event in handoff.Follow("dev.handoff1.Attach", attach, path, more=True):
            session = event.get("session") or session
            note(**event)
            if event["event"] == "continue":
                answers.append(handoff.Follow("dev.handoff1.AnswerContinue", {
                    "session": session, "continuation": event["continuation"], "handled": not options.refuse}, path))
    except handoff.Refused as error:
        return note(event="error", error=error.name, parameters=error.parameters)
    except handoff.Unreachable:
        pass
    if options.stay:
        signal.pause()


def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
