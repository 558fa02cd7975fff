#!/usr/bin/env python3
"""Counts the bytes of its input; the count goes on at another device. Handoff with Python's standard library alone."""
import json, os, select, socket

place = os.environ.get("HANDOFF_SOCKET") or os.environ["XDG_RUNTIME_DIR"] + "/handoff-app/app.socket"
events, calls = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
count = 0

def send(connection, method, **message):
    message["method"] = "dev.handoff1." + method
    connection.sendall(json.dumps(message).encode() + b"\0")

def receive(connection, data=b""):
    while not data.endswith(b"\0"):
        data += connection.recv(1) or exit("handoffd went away")
    reply = json.loads(data[:-1])
    return exit(f"refused: {reply}") if "error" in reply else reply["parameters"]

def call(method, **parameters):
    send(calls, method, parameters={"session": session, **parameters})
    return receive(calls)

def state():
    return {"title": f"Counting: {count}", "userInfo": {"count": count, "step": 1.0}}

events.connect(place)
calls.connect(place)
send(events, "Attach", parameters={"app": "counter-py", "types": ["com.example.counting"]}, more=True)
session = receive(events)["session"]
activity = call("Publish", activity={"type": "com.example.counting", **state()})["activity"]
call("BecomeCurrent", activity=activity)
while True:
    event = {"event": "count"}
    if 0 in select.select([0, events], [], [])[0]:
        count += len(os.read(0, 4096)) or exit()
    else:
        event = receive(events)
    if event["event"] == "save":
        call("AnswerSave", activity=activity, change=state())
    elif event["event"] == "continue":
        count = event["content"]["userInfo"]["count"]
        call("AnswerContinue", continuation=event["continuation"], handled=True)
    if event["event"] in ("count", "continue"):
        call("Update", activity=activity, change={"needsSave": True})     # the state is asked for when it is needed
    print(event["event"], count, flush=True)
