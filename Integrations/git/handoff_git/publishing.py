"""The offer of a checkout: its description, and its objects for the devices that continue it."""
import os
import re
import threading
import time

from . import capture
from .placing import address, document, identity
from .receive import STREAM_TIMEOUT, Stream
from .repository import Failure, Repository, is_id, visible

MAX_STREAMS = 4
# The keys in a payload that are needed only for the summary.
MAX_KEYS = 12


class Publication:
    """The offer of a checkout. Its state is read when another device continues it."""

    def __init__(self, repository, options, output):
        self.repository, self.options, self.output = repository, options, output
        self._places = threading.Semaphore(MAX_STREAMS)

    def fields(self):
        try:
            return self._described()
        except (Failure, OSError) as failure:
            return {"userInfo": {"version": 1, "name": self._name(), "problem": str(failure)}, "needsSave": True}

    def _name(self):
        return os.path.basename(self.repository.top).encode("utf-8", "replace").decode()

    def _described(self):
        repository = Repository(self.repository.top)
        remotes = {name: address(url) for name, url in repository.remotes().items()}
        head, branch = repository.commit("HEAD"), repository.branch
        problems = repository.problems() + ([] if head else ["it has no commit"])
        counts = repository.counts()
        left = 0 if self.options.untracked else counts["untracked"]
        counts["untracked"] -= left
        info = {
            "version": 1, "name": self._name(), "repository": identity(repository.remotes().get("origin")),
            "remotes": {name: url for name, url in remotes.items() if url and re.fullmatch(r"[A-Za-z0-9_][\w.-]*", name)},
            "branch": branch, "head": head, "subject": repository.line("log", "-1", "--format=%s", "--no-show-signature")[:120],
            "format": repository.format, **counts, "untrackedLeft": left, "time": int(time.time()),
            "problem": problems[0] if problems else None, "bases": capture.bases(repository)[-MAX_KEYS:],
        }
        if info["repository"]:
            info["checkout"] = {"$url": document(info["repository"])}  # By which the other device names a missing checkout.
        title = f"{self._name()}: {branch or head[:8]}".encode("utf-8", "replace")[:1000].decode("utf-8", "ignore")
        return {"title": title, "userInfo": {name: value for name, value in info.items() if value is not None}, "needsSave": True}

    def serve(self, socket, event):
        threading.Thread(target=self._serve, args=(socket, visible(event["origin"]["deviceName"])), daemon=True).start()

    def _serve(self, socket, device):
        socket.settimeout(STREAM_TIMEOUT)
        stream = Stream(socket)
        try:
            with socket, self._places, capture.Capture(Repository(self.repository.top)) as work:
                state = None
                while stream.file.peek(1):
                    request = stream.message()
                    have = request.get("have")
                    if not isinstance(have, list) or not all(map(is_id, have)):
                        raise Failure("the request is invalid")
                    try:
                        state = state or work.state(self.options.untracked, is_offered=True)
                        if not state.head:
                            raise Failure("the checkout has no commit")
                        size = self._send(socket, stream, work, state, have)
                        self.output.event("sent", f"sent to {device}: {size:,} bytes", device=device, bytes=size,
                                          work=state.commit)
                    except Failure as failure:
                        stream.send(error=str(failure))
                        raise
        except (Failure, OSError) as failure:
            message = visible(str(failure), 1000)
            self.output.event("failed", f"not sent to {device}: {message}", device=device, message=message)

    def _send(self, socket, stream, work, state, have):
        file, large = work.pack(state, have)
        with file:
            size = file.seek(0, 2)
            file.seek(0)
            boundary = []
            if work.repository.line("rev-parse", "--is-shallow-repository") == "true":
                with open(os.path.join(work.repository.common, "shallow")) as lines:
                    boundary = lines.read().split()
            stream.send(version=1, work=state.commit, large=large, pack=size, shallow=boundary)
            while piece := file.read(1 << 18):
                socket.sendall(piece)
        return size
