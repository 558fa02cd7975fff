#!/usr/bin/env python3
"""Counts the bytes of its input, and continues the count and the bytes on another device. Uses only Python's standard library."""
import json, os, select, socket, sys

TYPE = "com.example.counting"
place = os.environ.get("HANDOFF_SOCKET") or os.environ["XDG_RUNTIME_DIR"] + "/handoff-app/app.socket"
count, text = 0, b""

class Refused(Exception):
    """An error that the daemon replied with."""

def connect():
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(place)
    return connection

def call(connection, method, parameters, **flags):
    message = {"method": "dev.handoff1." + method, "parameters": parameters, **flags}
    connection.sendall(json.dumps(message).encode() + b"\0")
    return receive(connection)

def receive(connection, data=b""):
    while not data.endswith(b"\0"):                    # byte by byte, because a stream may follow the NUL
        byte = connection.recv(1)
        if not byte:
            raise ConnectionError("handoffd has ended")
        data += byte
    reply = json.loads(data[:-1])
    if "error" in reply:
        raise Refused(reply)
    return reply["parameters"]

def open_stream(**name):                               # on a separate connection, which becomes the stream
    connection = connect()
    connection.settimeout(30)
    call(connection, "OpenStream", name, upgrade=True)
    return connection

def state():
    return {"title": f"Counting: {count}", "userInfo": {"count": count, "step": 1.0}}

def read_input():
    global count, text
    data = os.read(0, 4096) or sys.exit()
    count, text = count + len(data), text + data

def handle(event, ask, activity):
    global count, text
    if event["event"] == "save":
        ask("AnswerSave", activity=activity, change=state())
    elif event["event"] == "stream":
        with open_stream(stream=event["stream"]) as stream:
            stream.sendall(text)
    elif event["event"] == "continue":
        count = event["content"]["userInfo"]["count"]
        ask("AnswerContinue", continuation=event["continuation"], handled=True)
    if event["event"] in ("count", "continue"):
        ask("Update", activity=activity, change={"needsSave": True})               # the state is saved when it is needed
    if event["event"] == "continue":
        with open_stream(continuation=event["continuation"]) as stream, stream.makefile("rb") as file:
            text = file.read()
        print("text", text.decode(errors="replace"), flush=True)

def run():
    with connect() as events, connect() as calls:
        session = call(events, "Attach", {"app": "counter-py", "types": [TYPE]}, more=True)["session"]
        ask = lambda method, **parameters: call(calls, method, {"session": session, **parameters})
        description = {"type": TYPE, "supportsContinuationStreams": True, **state()}
        activity = ask("Publish", activity=description)["activity"]
        ask("BecomeCurrent", activity=activity)
        while True:
            event = {"event": "count"}
            if 0 in select.select([0, events], [], [])[0]:
                read_input()
            else:
                event = receive(events)
            try:
                handle(event, ask, activity)
            except (Refused, OSError) as error:        # affects only this event, such as a refused stream
                print("failed:", error, file=sys.stderr, flush=True)
            print(event["event"], count, flush=True)

while True:
    try:
        run()
    except Refused as error:
        sys.exit(f"refused: {error}")
    except OSError as error:                           # not running: the offered activity no longer exists
        print("away:", error, file=sys.stderr, flush=True)
        if select.select([0], [], [], 1)[0]:
            read_input()
