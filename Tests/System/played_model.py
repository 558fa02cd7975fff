"""A simulated model server for real coding agents, on loopback: the messages of Anthropic, and the responses and completions of
OpenAI. It keeps the requests, and replies to each with a text."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def message(text):
    """The events of a message of Anthropic."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": [], "stop_reason": None,
             "stop_sequence": None, "usage": usage}
    yield "message_start", {"message": start}
    yield "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}
    yield "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": text}}
    yield "content_block_stop", {"index": 0}
    yield "message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage}
    yield "message_stop", {}


def response(text):
    """The events of a response of OpenAI."""
    item = {"type": "message", "role": "assistant", "id": "m1", "content": [{"type": "output_text", "text": text}]}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    yield "response.created", {"response": {"id": "r1"}}
    yield "response.output_item.done", {"output_index": 0, "item": item}
    yield "response.completed", {"response": {"id": "r1", "usage": usage}}


def completion(text):
    """The chunks of a completion of OpenAI."""
    for delta, reason in (({"role": "assistant", "content": text}, None), ({}, "stop")):
        yield {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
               "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, data, kind="application/json"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.send(json.dumps({"object": "list", "data": [], "models": []}).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        kind = next((each for each in ("messages", "responses", "completions") if path.endswith("/" + each)), None)
        if kind is None:  # Token counts and telemetry.
            return self.send(b'{"input_tokens": 1}')
        text = self.server.reply
        with self.server.lock:
            self.server.requests.append(body.decode())
        if kind == "completions":
            lines = [json.dumps(each) for each in completion(text)] + ["[DONE]"]
            return self.send("".join(f"data: {each}\n\n" for each in lines).encode(), "text/event-stream")
        events = (message if kind == "messages" else response)(text)
        lines = (f"event: {name}\ndata: {json.dumps({'type': name, **fields})}\n\n" for name, fields in events)
        self.send("".join(lines).encode(), "text/event-stream")


class Model(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, stage):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests, self.reply, self.lock = [], "", threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()
        stage.closers.append(self.shutdown)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"
