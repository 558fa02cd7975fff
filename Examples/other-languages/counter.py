#!/usr/bin/env python3
"""Counts the bytes of its input, and continues the count and the bytes on another device. Uses the module handoff."""
import os, select, sys
import handoff

TYPE = "com.example.counting"
count, text = 0, b""

def state():                                           # requested when it is needed
    return {"title": f"Counting: {count}", "userInfo": {"count": count, "step": 1.0}}

def send_text(stream, event):                          # another device requests the bytes
    with stream:
        stream.sendall(text)

def carry_on(content, continuation):                   # the user continues the count of another device here
    global count, text
    count = content["userInfo"]["count"]
    activity.update(needsSave=True)
    try:
        with app.open_stream(continuation=continuation) as stream, stream.makefile("rb") as file:
            text = file.read()
        print("text", text.decode(errors="replace"), flush=True)
    except (handoff.Refused, OSError) as error:        # the count is continued without the bytes
        failed(error)

def failed(error):                                     # the activity is published again when the daemon has restarted
    is_away = isinstance(error, handoff.Unreachable)
    print("away:" if is_away else f"failed: {getattr(error, 'name', '')}", error, file=sys.stderr, flush=True)

try:
    app = handoff.App("counter-py", [TYPE], on_continue=carry_on, on_error=failed,
                      on_event=lambda event: print(event["event"], count, flush=True))
    activity = app.publish(TYPE, save=state, stream=send_text, supportsContinuationStreams=True)
    activity.become_current()
except handoff.Refused as error:                       # another attempt would be refused too
    sys.exit(f"refused: {error}")
while True:
    if 0 in select.select([0, app], [], [])[0]:
        data = os.read(0, 4096) or sys.exit()
        count, text = count + len(data), text + data
        activity.update(needsSave=True)
        print("count", count, flush=True)
    else:
        app.process()
