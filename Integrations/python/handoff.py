"""Handoff for Python: calls of the control socket, and apps that publish and continue activities. No dependencies, no
threads. docs/other-languages.md describes it, docs/control-protocol.md has the methods, events and fields."""
import ctypes, json, os, select, socket, struct, subprocess, sys, time, unicodedata

TIMEOUT, APP_TIMEOUT = 30, 5  # Seconds until the first reply. An app does not wait longer for a daemon that hangs.
MIN_DELAY, MAX_DELAY = 0.25, 60  # Seconds between two attempts of an app to connect.


def visible(text, limit=200):
    """Returns text from another device, cut at `limit`, with `\\u{…}` for characters that move or hide others."""
    def shown(each):  # Several scripts need the two joiners. The others are fillers, which count as letters or marks.
        hidden = unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") and each not in "\u200c\u200d"
        return f"\\u{{{ord(each):X}}}" if hidden or each in "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0" else each

    return "".join(map(shown, text[:limit])) + "…" * (len(text) > limit)


class Refused(Exception):
    """An error reply. `name` is the error's name without its interface. The text is for display."""

    def __init__(self, error, parameters):
        self.name, self.parameters = error.rpartition(".")[2], parameters
        super().__init__(visible(str(parameters.get("message") or f"handoffd refused the request: {self.name}"), 4096))


class Unreachable(OSError):
    """The daemon is not running, does not reply, belongs to another user, or sent invalid data."""


def socket_path(name="handoff/control.socket"):
    """Returns `$HANDOFF_SOCKET`, or the path of a socket in the user's runtime folder."""
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return os.environ.get("HANDOFF_SOCKET") or os.path.join(runtime, name)


class Follow(socket.socket):
    """A call on its own connection, and its replies. In a main loop, call `read()` when it is readable, until None."""

    def __init__(self, method, parameters, path=None, timeout=None, **flags):
        super().__init__(socket.AF_UNIX)
        path, self.done, self._bytes, self._timeout = path or socket_path(), False, b"", timeout or TIMEOUT
        text = json.dumps({"method": method, "parameters": parameters, **flags}, ensure_ascii=False, allow_nan=False)
        data = text.encode("utf-8", "replace") + b"\0"  # Names of files may have bytes that are not UTF-8.
        if len(data) > 1 << 20:
            raise Refused("LimitExceeded", {"message": "the request is longer than 1 MiB"})
        try:
            self.settimeout(self._timeout)
            self.connect(path)
            credentials = self.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            if struct.unpack("3i", credentials)[1] not in (os.getuid(), 0):
                raise OSError("the socket belongs to another user")
            self.sendall(data)
        except OSError as error:
            raise Unreachable(f"cannot reach handoffd at {path}: {error.strerror or error}") from None

    def __iter__(self):
        return iter(lambda: self.read(wait=True), None)

    def read(self, wait=False):
        """Returns the next reply, or None after the last one. Unless it waits, also if no other has arrived."""
        if self.done:
            return None
        try:
            self.settimeout(self._timeout if wait else 0)
            while not self._bytes.endswith(b"\0"):
                # What follows a reply stays in the socket, which is then still readable: events, or bytes of a stream.
                seen = self.recv(65536, socket.MSG_PEEK)
                if not seen:
                    raise OSError("it closed the connection")
                self._bytes += self.recv(seen.find(b"\0") + 1 or len(seen))
            reply = json.loads(self._bytes[:-1])
            parameters, error = dict(reply.get("parameters") or {}), reply.get("error")
        except BlockingIOError:
            return None
        except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise Unreachable(f"handoffd sent no valid reply: {error}") from None
        self._bytes, self._timeout, self.done = b"", None, not reply.get("continues")
        if error:
            raise Refused(str(error), parameters)
        return parameters


def call(method, /, **parameters):
    """Calls a method of `dev.handoff1.Control`. Returns its reply."""
    with Follow("dev.handoff1.Control." + method, parameters) as replies:
        return replies.read(wait=True)


def follow(method, /, **parameters):
    """Calls a method of `dev.handoff1.Control` that has several replies. Returns an iterable of them."""
    return Follow("dev.handoff1.Control." + method, parameters, more=True)


def _document(*words):
    done = subprocess.run(["handoffctl", "document", *words], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise Refused("Failed", {"message": done.stderr.decode("utf-8", "replace").strip()})
    return os.fsdecode(done.stdout[:-1])


def local_path(url, continuation):
    """Returns the path of a document of an activity that was continued here. Waits while it is fetched."""
    if not url.startswith("handoff-document:"):
        raise ValueError("not the URL of a document")
    return _document(url, "--continuation", continuation)


class Activity:
    """An activity of an app. It is published again, with a new `id`, when the daemon has restarted."""

    def __init__(self, app, save, stream, fields):
        self.app, self.save, self.stream, self.id, self._is_current, self._files = app, save, stream, None, False, {}
        self._fields = self._outgoing({**fields, **(save() if save else {})})

    def update(self, method="Update", /, **change):
        """Sends changed fields. `needsSave=True` is enough if `save` returns them."""
        change = self._outgoing(change)
        self.ask(method, change=change)  # If it is refused, nothing has changed.
        self._fields.update({"expirationDate": None} if change.get("expires") is False else {}, **change)

    def become_current(self):
        """Offers the activity on the other devices, also if the daemon had withdrawn it, as after a day without use."""
        self.app.activities = [*(each for each in self.app.activities if each is not self), self]
        self._is_current = True
        self.ask("BecomeCurrent") if self.id else self._publish()

    def invalidate(self):
        """Ends the activity and its streams."""
        self.ask("Invalidate")
        self._forget()

    def ask(self, method, **parameters):
        """Calls a method about this activity, such as `ResignCurrent`."""
        self._is_current = self._is_current and method != "ResignCurrent"
        return self.app.ask(method, activity=self.id, **parameters) if self.id else {}

    def _forget(self):
        self.app.activities, self.id = [each for each in self.app.activities if each is not self], None

    def _publish(self):
        self.id = self.app.ask("Publish", activity={"needsSave": bool(self.save), **self._fields}).get("activity")
        if self._is_current:
            self.ask("BecomeCurrent")

    def _outgoing(self, fields):
        fields = json.loads(json.dumps(fields), object_hook=self._mapped)
        return {**fields, "supportsContinuationStreams": True} if self._files else fields

    def _mapped(self, value):
        """Replaces the URL of a file, as HandoffKit does. Other devices can fetch it while the activity exists."""
        file, *fragment = str(value.get("$url")).split("#", 1)
        if not file.startswith("file:"):
            return value
        try:
            if file not in self._files:
                self._files[file] = f"{_document(file)}?fetch={len(self._files)}"
        except (Refused, OSError, ValueError):
            return value  # The daemon sends only its name.
        return {"$url": "#".join([self._files[file], *fragment])}


class App:
    """A connection to the daemon that is made again after it was lost. `on_continue` gets an activity and the id of its
    continuation, and refuses it by returning False or raising the reason. `on_event` gets each event after it was handled."""

    def __init__(self, name, types=(), *, on_continue=lambda *_: False, on_event=lambda _: None, on_error=None,
                 path=None, **attach):
        self._on_continue, self._on_event, self._on_error = on_continue, on_event, on_error or (
            lambda error: isinstance(error, Unreachable) or sys.excepthook(type(error), error, error.__traceback__))
        self.activities, self._attach = [], {"app": name, "types": list(types), **attach}
        self._path, self._events, self._session = path or socket_path("handoff-app/app.socket"), None, None
        self._libc, self._poll, self._delay = ctypes.CDLL(None), select.epoll(), MIN_DELAY
        self._timer = open(self._libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC), "rb", 0)
        self._poll.register(self._timer, select.EPOLLIN)
        self.fileno = self._poll.fileno
        try:
            self._connect()
        except Unreachable as error:
            self._lost(error)

    def publish(self, type, save=None, stream=None, **fields):
        """Publishes an activity. `save` returns its current state: it is called now, and before the state is sent.
        `stream` gets a socket and the event if another device opens a stream."""
        activity = Activity(self, save, stream, {"type": type, **fields})
        activity._publish()
        self.activities.append(activity)
        return activity

    def open_stream(self, **name):
        """Returns a socket that is connected to the app that a `continuation` is from, for a `resource` if given."""
        stream = Follow("dev.handoff1.OpenStream", name, self._path, upgrade=True)
        stream.read(wait=True)
        stream.settimeout(None)
        return stream

    def ask(self, method, **parameters):
        """Calls a method of the session. Does nothing while there is none: the next one publishes everything again."""
        if not self._session:
            return {}
        try:
            with Follow("dev.handoff1." + method, {**parameters, "session": self._session}, self._path, APP_TIMEOUT) as replies:
                return replies.read(wait=True)
        except (Refused, Unreachable) as error:
            if isinstance(error, Refused) and error.name != "NoSuchSession":
                raise
            self._lost(error)
            return {}

    def run(self):
        while self._poll.poll():
            self.process()

    def process(self):
        """Handles the events that have arrived, without waiting for others. Call it when `fileno()` is readable."""
        try:
            if self._timer.read(8):
                self._connect()
            while self._events and (event := self._events.read()) is not None:
                self._try(self._handle, event, event.get("event"), event.get("resource"))
        except (Refused, Unreachable) as error:
            self._lost(error)

    def close(self):
        for each in (self._events, self._poll, self._timer):
            each and each.close()
        self._events = self._session = None

    def _handle(self, event, name, resource):
        activity = next((each for each in self.activities if each.id and each.id == event.get("activity")), None)
        files = {f"document/{number}": file for number, file in enumerate(activity._files)} if activity else {}
        if name == "continue":
            answer = {"continuation": event["continuation"], "handled": False}
            try:
                answer["handled"] = self._on_continue(event["content"], event["continuation"]) is not False
            except Exception as error:
                answer["failure"] = visible(str(error) or type(error).__name__, 500)
                raise
            finally:
                self.ask("AnswerContinue", **answer)
        elif activity and name == "save" and activity.save:
            activity.update("AnswerSave", **activity.save())
        elif name == "stream" and resource in files:
            subprocess.Popen(["handoffctl", "document", "--send", event["stream"], files[resource]],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             env={**os.environ, "HANDOFF_SOCKET": self._path})
        elif activity and name == "stream" and resource is None and activity.stream:
            activity.stream(self.open_stream(stream=event["stream"]), event)
        elif activity and name == "withdrawn":
            activity._forget()
        self._on_event(event)

    def _try(self, action, *words):
        try:
            action(*words)
        except Exception as error:
            self._on_error(error)

    def _connect(self):
        self._events = Follow("dev.handoff1.Attach", self._attach, self._path, APP_TIMEOUT, more=True)
        self._session, self._delay = self._events.read(wait=True).get("session"), MIN_DELAY
        self._poll.register(self._events, select.EPOLLIN)
        for activity in list(self.activities):
            self._try(activity._publish)

    def _lost(self, error):
        if self._events:
            self._events.close()
        self._events = self._session = None
        for activity in self.activities:
            activity.id = None
        self._libc.timerfd_settime(self._timer.fileno(), 0, struct.pack("4l", 0, 0, *divmod(int(self._delay * 1e9), 10**9)), None)
        self._delay = min(2 * self._delay, MAX_DELAY)
        self._on_error(error)
