"""Handoff for Python: calls of the control socket, and apps that publish and continue activities. No dependencies, no
threads. docs/other-languages.md describes it, docs/control-protocol.md has the methods, events and fields."""
import ctypes, json, os, select, socket, struct, subprocess, time, traceback, unicodedata, urllib.parse

MAX_MESSAGE = 1 << 20
TIMEOUT, APP_TIMEOUT = 30, 5  # Seconds until the first reply. An app does not wait longer for a daemon that hangs.
MIN_DELAY, MAX_DELAY = 0.25, 60  # Seconds between two attempts of an app to connect.


def visible(text):
    """Returns text from another device with escapes in place of control and bidirectional characters."""
    hidden = {each for each in text if unicodedata.category(each) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")}
    return "".join(each.encode("unicode_escape").decode() if each in hidden else each for each in text)


class Refused(Exception):
    """An error reply. `name` is the error's name without its interface. The text is for display."""

    def __init__(self, error, parameters):
        self.name, self.parameters = error.rpartition(".")[2], parameters
        text = parameters.get("message")
        known = text if text and isinstance(text, str) else f"handoffd refused the request: {self.name}"
        super().__init__(visible(known))


class Unreachable(OSError):
    """The daemon is not running, does not reply, belongs to another user, or sent invalid data."""


def socket_path(folder="handoff", name="control.socket"):
    """Returns `$HANDOFF_SOCKET`, or the path of a socket in the user's runtime folder."""
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    return os.environ.get("HANDOFF_SOCKET") or os.path.join(runtime, folder, name)


class Follow:
    """A call on its own connection, and the iterator of its replies. A main loop waits for `fileno()`, and calls
    `read()`. `answered` is true after the first reply, and `done` after the last."""

    def __init__(self, method, parameters, path=None, timeout=None, **flags):
        self.path, self.answered, self.done = path or socket_path(), False, False
        self._bytes, self._deadline = b"", time.monotonic() + (timeout or TIMEOUT)
        text = json.dumps({"method": method, "parameters": parameters, **flags}, ensure_ascii=False, allow_nan=False)
        data = text.encode("utf-8", "replace") + b"\0"  # Names of files may have bytes that are not UTF-8.
        if len(data) > MAX_MESSAGE:
            raise Refused("LimitExceeded", {"limit": "message", "message": "the request is longer than 1 MiB"})
        self.socket = socket.socket(socket.AF_UNIX)
        self.fileno, self.close = self.socket.fileno, self.socket.close
        try:
            self.socket.settimeout(timeout or TIMEOUT)
            self.socket.connect(self.path)
            user = struct.unpack("3i", self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
            if user not in (os.getuid(), 0):
                raise Unreachable(f"the socket {self.path} belongs to another user")
            self.socket.sendall(data)
            self.socket.setblocking(False)
        except OSError as error:
            self._fail(error)

    def read(self, limit=None):
        """Returns the replies that have arrived, without waiting. An error is raised by the call that finds only it."""
        replies = []
        try:
            while not self.done and len(replies) != limit:
                replies += self._take()
        except BlockingIOError:
            pass
        except (Refused, OSError) as error:
            if not replies:
                self._fail(error)
        return replies

    def only(self):
        """Returns the first reply, and ends the call."""
        reply = next(self, {})
        self.close()
        return reply

    def __iter__(self):
        return self

    def __next__(self):
        waiting = select.poll()
        waiting.register(self.socket, select.POLLIN)
        while not self.done:
            if not waiting.poll(None if self.answered else 1000 * max(0, self._deadline - time.monotonic())):
                self._fail(Unreachable("handoffd did not reply in time"))
            for reply in self.read(1):
                return reply
        raise StopIteration

    def _take(self):
        # Later replies, errors and the bytes of a stream stay in the socket, which is then still readable.
        seen = self.socket.recv(65536, socket.MSG_PEEK)
        end = seen.find(b"\0")
        if not seen:
            raise Unreachable("handoffd closed the connection")
        if len(self._bytes) > 2 * MAX_MESSAGE:
            raise Unreachable("handoffd sent a message that is too long")
        if end < 0:
            self._bytes += self.socket.recv(len(seen))
            return []
        try:
            reply = json.loads(self._bytes + seen[:end])
            parameters, error = dict(reply.get("parameters") or {}), reply.get("error")
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise Unreachable("handoffd sent an invalid reply") from None
        self.answered = True
        if error is not None:
            raise Refused(str(error), parameters)
        self._bytes, self.done = b"", not reply.get("continues")
        self.socket.recv(end + 1)
        return [parameters]

    def _fail(self, error):
        self.close()
        if isinstance(error, (Refused, Unreachable)):
            raise error
        raise Unreachable(f"cannot reach handoffd at {self.path}: {error.strerror or error}") from None


def call(method, /, **parameters):
    """Calls a method of `dev.handoff1.Control`. Returns its reply."""
    return Follow("dev.handoff1.Control." + method, parameters).only()


def follow(method, /, **parameters):
    """Calls a method of `dev.handoff1.Control` that has several replies. Returns their iterator."""
    return Follow("dev.handoff1.Control." + method, parameters, more=True)


def _document(*words):
    done = subprocess.run(["handoffctl", "--json", "document", *words], stdin=subprocess.DEVNULL, capture_output=True)
    last = ((done.stderr if done.returncode else done.stdout).decode("utf-8", "replace").splitlines() or [""])[-1]
    result = json.loads(last) if last.startswith("{") else {"error": "Failed", "message": last}
    if "error" in result:
        raise Refused(result["error"], result)
    return result


def document_url(path):
    """Returns the URL by which other devices find a file."""
    return _document(os.path.abspath(path))["url"]


def local_path(url, continuation):
    """Returns the path of a document of an activity that was continued here. Waits while it is fetched."""
    if not url.startswith("handoff-document:"):
        raise ValueError("not the URL of a document")
    return _document(url, "--continuation", continuation)["path"]


class Activity:
    """An activity of an app. It is published again, with a new `id`, when the daemon has restarted."""

    def __init__(self, app, save, stream, fields):
        self.app, self.save, self.stream, self.id, self.is_current = app, save, stream, None, False
        self._known, self._files = {}, {}
        self._fields = self._outgoing({**fields, **(save() if save else {})})
        self._publish()

    def update(self, method="Update", /, **change):
        """Sends changed fields. `needsSave=True` is enough if `save` returns them."""
        change = self._outgoing(change)
        self.ask(method, change=change)  # If it is refused, nothing has changed.
        removed = ("needsSave", "expires", *(["expirationDate"] if change.get("expires") is False else []))
        fields = {**self._fields, **change}
        self._fields = {key: fields[key] for key in fields if fields[key] not in ("", None) and key not in removed}

    def become_current(self):
        """Offers the activity on the other devices, also if the daemon had withdrawn it, as after a day without use."""
        if self not in self.app.activities:
            self.app.activities.append(self)
            self._publish()
        for other in self.app.activities if "to" not in self._fields else []:
            other.is_current = other.is_current and "to" in other._fields
        self.is_current = True
        self.ask("BecomeCurrent")

    def invalidate(self):
        """Ends the activity and its streams."""
        self.ask("Invalidate")
        self._forget()

    def ask(self, method, **parameters):
        """Calls a method about this activity, such as `ResignCurrent`."""
        return self.app.ask(method, activity=self.id, **parameters) if self.id else {}

    def _forget(self):
        self.app.activities = [each for each in self.app.activities if each is not self]
        self.id, self.is_current = None, False

    def _publish(self):
        self.id = self.app.ask("Publish", activity={"needsSave": self.save is not None, **self._fields}).get("activity")
        if self.is_current:
            self.ask("BecomeCurrent")

    def _outgoing(self, change):
        """Replaces the URLs of files, as HandoffKit does. Only files that the latest state names can be fetched."""
        def mapped(value):
            if not str(value.get("$url")).startswith("file:"):
                return value
            try:
                parts = urllib.parse.urlsplit(value["$url"])
                path = os.fsdecode(urllib.parse.unquote_to_bytes(parts.path))
                if path not in self._known:
                    self._known[path] = len(self._known), document_url(path)
            except (Refused, OSError, ValueError):
                return value  # The daemon sends only its name.
            number, url = self._known[path]
            if number < 1024 and os.access(path, os.R_OK):
                files[f"document/{number}"] = path
                url += f"?fetch={number}"
            return {"$url": url + ("#" + parts.fragment if parts.fragment else "")}

        if "userInfo" not in change:
            return change
        files = {}
        change = {**change, "userInfo": json.loads(json.dumps(change["userInfo"]), object_hook=mapped)}
        self._files = files
        return {**change, "supportsContinuationStreams": True} if files else change


class App:
    """A connection to the daemon that is made again after it was lost. Call `process()` when `fileno()` is readable, or
    `run()`. `on_continue` gets the activity and the id of its continuation, and returns False to refuse it. `on_event`
    gets each event when it has been handled, `on_error` the exceptions of handlers and failures of the connection."""

    def __init__(self, name, types=(), *, on_continue=None, on_event=None, on_error=None, path=None, **attach):
        self.activities, self._path, self._attach = [], path, {"app": name, "types": list(types), **attach}
        self._on_continue, self._on_event = on_continue or (lambda *_: False), on_event or (lambda _: None)
        self._on_error = on_error or (lambda error: isinstance(error, Unreachable) or traceback.print_exception(
            type(error), error, error.__traceback__))
        self._events, self._session, self._since, self._delay = None, None, 0, MIN_DELAY / 2
        self._libc, self._poll = ctypes.CDLL(None), select.epoll()
        self._timer = open(self._libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC), "rb", 0)
        self._poll.register(self._timer, select.EPOLLIN)
        self.fileno = self._poll.fileno
        try:
            self._connect()
        except Unreachable as error:
            self._lost(error)

    def publish(self, type, save=None, stream=None, **fields):
        """Publishes an activity. `save` returns its current state: title, userInfo, and others. It is called now, and
        each time before the state is sent. `stream` gets a socket and the event if another device opens a stream."""
        self.activities.append(Activity(self, save, stream, {"type": type, **fields}))
        return self.activities[-1]

    def open_stream(self, **name):
        """Returns a socket that is connected to the app that a `continuation` is from, for a `resource` if given."""
        stream = self._follow("OpenStream", name, upgrade=True)
        next(stream)
        stream.socket.setblocking(True)
        return stream.socket

    def ask(self, method, **parameters):
        """Calls a method of the session. Does nothing while there is none: the next one publishes everything again."""
        try:
            return self._follow(method, {"session": self._session, **parameters}).only() if self._session else {}
        except (Refused, Unreachable) as error:
            if isinstance(error, Refused) and error.name != "NoSuchSession":
                raise
            self._lost(error)
            return {}

    def run(self):
        while True:
            self._poll.poll()
            self.process()

    def process(self):
        """Handles the events that have arrived, without waiting for others."""
        events = []
        try:
            if self._timer.fileno() in dict(self._poll.poll(0)):
                self._timer.read(8)
                self._connect()
            events = self._events.read() if self._events else []
        except (Refused, Unreachable) as error:
            self._lost(error)
        for event in events:
            try:
                self._handle(event)
                self._on_event(event)
            except Exception as error:
                self._on_error(error)

    def close(self):
        for each in (self._events, self._poll, self._timer):
            each and each.close()

    def _handle(self, event):
        name, stream, resource = event.get("event"), event.get("stream"), event.get("resource")
        activity = next((each for each in self.activities if each.id and each.id == event.get("activity")), None)
        if name == "continue":
            handled = False
            try:
                handled = self._on_continue(event["content"], event["continuation"]) is not False
            finally:
                self.ask("AnswerContinue", continuation=event["continuation"], handled=handled)
        elif activity and name == "save" and activity.save:
            activity.update("AnswerSave", **activity.save())
        elif activity and name == "stream" and resource in activity._files:
            words = ["handoffctl", "document", "--send", stream, activity._files[resource]]
            place = {"HANDOFF_SOCKET": self._path} if self._path else {}
            subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env={**os.environ, **place})
        elif activity and name == "stream" and resource is None and activity.stream:
            activity.stream(self.open_stream(stream=stream), event)
        elif activity and name == "withdrawn":
            activity._forget()

    def _follow(self, method, parameters, **flags):
        path = self._path or socket_path("handoff-app", "app.socket")
        timeout = TIMEOUT if "upgrade" in flags else APP_TIMEOUT
        return Follow("dev.handoff1." + method, parameters, path, timeout, **flags)

    def _connect(self):
        self._events = self._follow("Attach", self._attach, more=True)
        self._session, self._since = next(self._events).get("session"), time.monotonic()
        self._poll.register(self._events, select.EPOLLIN)
        for activity in list(self.activities):
            try:
                activity._publish()
            except Refused as error:
                activity._forget()
                self._on_error(error)

    def _lost(self, error):
        is_settled, self._session = self._session and time.monotonic() - self._since > 10, None
        if self._events:
            self._events.close()
        self._events = None
        for activity in self.activities:
            activity.id = None
        self._delay = MIN_DELAY if is_settled else min(2 * self._delay, MAX_DELAY)
        value = struct.pack("4l", 0, 0, int(self._delay), int(self._delay % 1 * 1e9))
        self._libc.timerfd_settime(self._timer.fileno(), 0, value, None)
        self._on_error(error)
