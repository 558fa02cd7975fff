"""The cost of an account of many devices: the part 'growth' of Benchmarks/run, and the data of its
plot. Needs root.

One account grows from two devices on simulated hosts to a hundred, with ten activities each. At
each number all daemons are restarted, and one of them changes a title repeatedly. The pauses
between the changes are long enough that no two are combined, and that the record in mDNS follows
each. This process has a connection to each daemon that watches the offers. The cost of reading them
is included in the figures, and all devices share this machine's processors.

HANDOFF_GROWTH: the numbers of devices (default 2,10,30,100; with --quick 2,10).
HANDOFF_GROWTH_PARTS: the measured parts (default streams,answers,changes,idle).
HANDOFF_GROWTH_IDLE: seconds of idling at each number (default 60; with --quick 10). All parts
except streams start four and a half minutes after the start, with --quick immediately. The whole
run takes three quarters of an hour.
"""

import concurrent.futures
import json
import os
import re
import select
import sys
import time

from common import Control, harness, settled, spread, until
from idle_part import switches
import streaming

APPS = "dev.handoff1."
ACTIVITIES = 10
# A record in mDNS follows a change within two seconds, plus up to one more at random.
PACE = 3.2
# Until the queries of a start are over, which are sent 1, 3, 7 ... 255 seconds after it.
SETTLING = 270
# Seconds between two polls. The daemons share the processors with this process.
PAUSE = 0.05
STREAMS = 1000
# The numbers of devices admitted at the same time, and by one device in total, within the limits of the protocol.
AT_ONCE, MAX_ADMISSIONS = 4, 40


def numbers(quick):
    return [int(text) for text in os.environ.get("HANDOFF_GROWTH", "2,10" if quick else "2,10,30,100").split(",")]


def parts():
    return os.environ.get("HANDOFF_GROWTH_PARTS", "streams,answers,changes,idle").split(",")


def processor(pid):
    """Returns the processor seconds of all threads of a process, by the scheduler's own clock."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def own_memory(pid):
    """Returns the private dirty memory of a process in KiB."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        return int(re.search(r"^Private_Dirty:\s+(\d+)", file.read(), re.M).group(1))


class Device:
    """A daemon with an app that offers some activities, and a watching connection."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.connections = []

    @property
    def pid(self):
        return self.daemon.process.pid

    def connect(self):
        connection = streaming.Connection(self.daemon)
        self.connections.append(connection)
        return connection

    def publish(self):
        """Offers activities. All except one have connections of their own, as with tools."""
        for number in range(1, ACTIVITIES):
            connection = self.connect().send(APPS + "Publish", more=True, activity={
                "type": "com.example.growth", "title": f"Document {number} of {self.daemon.name}"})
            connection.wait("published")
        self.session = self.connect().send(APPS + "Attach", more=True, app="growth", types=[]).wait("attached")["session"]
        self.calls = self.connect()
        self.changing = self.calls.call(APPS + "Publish", session=self.session, activity={
            "type": "com.example.growth", "title": f"Document of {self.daemon.name}", "needsSave": False})["activity"]
        self.calls.call(APPS + "BecomeCurrent", session=self.session, activity=self.changing)

    def change(self, title):
        """Sets a new title. Returns the time just before it was sent."""
        begin = time.monotonic()
        self.calls.call(APPS + "Update", session=self.session, activity=self.changing, change={"title": title})
        return begin

    def watch(self):
        self.control = Control(self.daemon)
        self.watching = Control(self.daemon)
        self.watching.call("Watch")
        self.watching.until("ready")

    def stop(self):
        for connection in self.connections:
            connection.close()
        self.connections = []
        self.daemon.kill()


class Account:
    """Devices of one account on simulated hosts, whose number grows."""

    def __init__(self, stage, maximum):
        streaming.allow_descriptors()
        self.stage, self.lab = stage, harness.Lab(stage, maximum, "--no-avahi", "--ipv4-only")
        self.devices = []

    def grow(self, count):
        """Adds devices, some at the same time, admitted by the existing ones."""
        hosts = self.lab.hosts[len(self.devices):count]
        new = [Device(self.stage.daemon(host.name, host=host)) for host in hosts]
        if not self.devices:
            new[0].daemon.ctl("account", "create")
            self.devices.append(new.pop(0))
        admissions = {device: 0 for device in self.devices}
        while new:
            hosting = sorted(admissions, key=admissions.get)[:AT_ONCE]
            pairs = list(zip(hosting, new))
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                for future in [pool.submit(self._join, *pair) for pair in pairs]:
                    future.result()
            for inviter, joiner in pairs:
                admissions[inviter] += 1
                admissions[joiner] = 0
            del new[:len(pairs)]
        self.devices += [device for device in admissions if device not in self.devices]
        settled(*(device.daemon for device in self.devices))

    @staticmethod
    def _join(inviter, joiner):
        window = inviter.daemon.follow("pair", "--yes")
        link = window.wait("opened")["link"]
        joiner.daemon.ctl("join", input=(link + "\n").encode(), within=60)
        window.wait("joined")
        window.process.wait(20)

    def begin(self):
        """Restarts all daemons, so that nothing remains of earlier measurements, and makes them
        offer their activities."""
        for device in self.devices:
            device.stop()  # Without leave messages, each of which would be sent to all remaining devices.
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda device: device.daemon.start(within=60), self.devices))
        self.started = time.monotonic()
        for device in self.devices:
            device.publish()
        wanted = ACTIVITIES * (len(self.devices) - 1)
        for device in self.devices:
            control = Control(device.daemon)
            until(f"all offers at {device.daemon.name}", lambda: control.status()["offered"] == wanted, 120, PAUSE)

    def settle(self, quick):
        """Waits until the activity that follows a start, or a change, is over."""
        time.sleep(5 if quick else max(10, self.started + SETTLING - time.monotonic()))

    def processor(self):
        return sum(processor(device.pid) for device in self.devices)


def received(account, sender, title):
    """Changes a title. Returns the milliseconds until each other device has notified its watcher."""
    waiting = {device.watching.stream.fileno(): device.watching for device in account.devices if device is not sender}
    poll = select.epoll()
    for descriptor in waiting:
        poll.register(descriptor, select.EPOLLIN)
    begin, moments, limit = sender.change(title), [], time.monotonic() + 30
    while len(moments) < len(account.devices) - 1:
        ready = poll.poll(1)
        harness.expect(time.monotonic() < limit, f"{len(moments)} devices of {len(account.devices)} have received {title}")
        for descriptor, _ in ready:
            moment, control = time.monotonic(), waiting[descriptor]
            event = control.until("changed")
            if event["activity"]["title"] == title:
                moments.append((moment - begin) * 1000)
                poll.unregister(descriptor)
    poll.close()
    return moments


def measure_changes(account, quick):
    """Measures how soon a change is received by each and by all, and its cost for all daemons together."""
    count = len(account.devices)
    sender = account.devices[count // 2]
    received(account, sender, "The first one")
    account.settle(quick)
    begin, before = time.monotonic(), account.processor()
    time.sleep(10 if quick else 20)
    quiet = (account.processor() - before) / (time.monotonic() - begin)
    each, last, repeats = [], [], 8 if quick else 20
    begin, before = time.monotonic(), account.processor()
    wire = account.lab.traffic()
    for number in range(repeats):
        next = time.monotonic() + PACE
        moments = received(account, sender, f"Title {number}")
        each += moments
        last.append(max(moments))
        time.sleep(max(0, next - time.monotonic()))
    used = account.processor() - before - quiet * (time.monotonic() - begin)
    packets = account.lab.traffic()[1] - wire[1]
    figures = {f"change heard by each, {count} devices": spread(each), f"change heard by all, {count} devices": spread(last),
               f"packets for a change, {count} devices": one(packets / repeats, repeats)}
    # The idle cost of many devices may vary by more than the cost of the changes. In that case
    # there is no result for them.
    if used > quiet * repeats * PACE / 2:
        figures |= {f"CPU of all for a change, {count} devices": one(1000 * used / repeats, repeats),
                    f"CPU of a device for a change, {count} devices": one(1000 * used / repeats / count, repeats)}
    return figures


def one(value, count=1):
    """A figure that was measured once, or as the quotient of `count`."""
    return {**spread([value]), "n": count}


def measure_answers(account, quick):
    """Measures how long a device takes to list all activities, and its status."""
    device, count = account.devices[0], len(account.devices)
    figures = {}
    account.settle(quick)
    for name, method in (("list", "ListActivities"), ("status", "GetStatus"), ("device list", "ListDevices")):
        times = []
        call = json.dumps({"method": f"dev.handoff1.Control.{method}"}).encode() + b"\0"
        for _ in range(20 if quick else 100):
            begin = time.monotonic()
            device.control.stream.sendall(call)
            answer = device.control.message()
            times.append((time.monotonic() - begin) * 1000)
            time.sleep(0.005)
        if method == "ListActivities":
            harness.expect(len(json.loads(answer)["parameters"]["activities"]) == ACTIVITIES * (count - 1), "not all activities are listed")
        figures[f"{name} by the socket, {count} devices"] = spread(times)
    # Not through the host, which costs more than the command. Its socket is a file.
    program = [os.path.join(device.daemon.programs, "handoffctl"), "--socket", device.daemon.socket, "--json"]
    for command in ("list", "status"):
        times = []
        for _ in range(10 if quick else 30):
            begin = time.monotonic()
            result = harness.run([*program, command], device.daemon.environment)
            times.append((time.monotonic() - begin) * 1000)
            harness.expect(result.code == 0, f"handoffctl {command} failed: {result}")
        figures[f"handoffctl {command}, {count} devices"] = spread(times)
    return figures


def measure_idle(account, quick):
    """Measures the traffic while all devices are idle, and its cost for a device."""
    count = len(account.devices)
    seconds = float(os.environ.get("HANDOFF_GROWTH_IDLE", "10" if quick else "60"))
    account.settle(quick)
    figures = {f"memory of a device, {count} devices": spread([own_memory(device.pid) for device in account.devices])}
    before = [(switches(device.pid), processor(device.pid)) for device in account.devices]
    begin, wire = time.monotonic(), account.lab.traffic()
    time.sleep(seconds)
    minutes = (time.monotonic() - begin) / 60
    sent, packets, reached = (now - then for then, now in zip(wire, account.lab.traffic()))
    after = [(switches(device.pid), processor(device.pid)) for device in account.devices]
    woken, used = ([(now[index] - then[index]) / minutes for then, now in zip(before, after)] for index in (0, 1))
    figures |= {
        f"idle, sent by all a minute, {count} devices": one(sent / 1024 / minutes),
        f"idle, sent by a device a minute, {count} devices": one(sent / 1024 / minutes / count),
        # To all hosts, including those of devices that are added later.
        f"idle, delivered to a device a minute, {count} devices": one(reached / 1024 / minutes / len(account.lab.hosts)),
        f"idle, packets of all a minute, {count} devices": one(packets / minutes),
        f"idle, wake-ups of a device a minute, {count} devices": spread(woken),
        f"idle, CPU of a device a minute, {count} devices": spread([1000 * value for value in used]),
    }
    return figures


def measure_streams(account, quick):
    """Measures many open and idle streams between two devices: the cost of each, and the time of a
    continuation during them."""
    taker, origin = (device.daemon for device in account.devices[:2])
    count = 100 if quick else STREAMS
    route = streaming.Route(origin, taker)
    ends = {"taker": taker.process.pid, "origin": origin.process.pid}

    def continuations():
        times = []
        for number in range(16 if quick else 64):
            if number % 8 == 0:
                time.sleep(1)  # A device accepts 20 requests a second from another, and 2 are one continuation.
            connection = streaming.Connection(taker)
            begin = time.monotonic()
            connection.send("dev.handoff1.Control.Continue", activity=route.activity, take=True)
            harness.expect(connection.next()["event"] == "continued", "the activity was not continued")
            times.append((time.monotonic() - begin) * 1000)
            connection.close()
        return spread(times)

    figures = {"continue, no stream is open": continuations()}
    before = {end: own_memory(pid) for end, pid in ends.items()}
    times, streams, begin = [], [], time.monotonic()
    for number in range(count):
        moment = time.monotonic()
        streams.append(route.open())
        times.append((time.monotonic() - moment) * 1000)
        # A device accepts a thousand openings at once from another, and a hundred a second.
        time.sleep(0.005 if number > 900 else 0)
    figures["stream opened"] = spread(times)
    figures["all streams opened"] = one(time.monotonic() - begin, count)
    for end, pid in ends.items():
        figures[f"memory of an open stream, {end}"] = one((own_memory(pid) - before[end]) / count, count)
    figures["continue, all streams are open"] = continuations()
    for number, (asked, taken) in enumerate(streams):
        content = number.to_bytes(4, "big") * 256
        for sender, receiver in ((asked, taken), (taken, asked)):
            sender.send(content)
            harness.expect(receiver.receive(len(content)) == content, f"wrong bytes in stream {number}")
    time.sleep(3)  # A stream that has moved nothing for a second releases the memory that it needed for that.
    for end, pid in ends.items():
        figures[f"memory of a used stream, {end}"] = one((own_memory(pid) - before[end]) / count, count)
    for pair in streams:
        for stream in pair:
            stream.close()
    route.publisher.close()
    route.handler.close()
    asking = Control(taker)
    wanted = ACTIVITIES * (len(account.devices) - 1)
    until("the end of the activity with streams", lambda: asking.status()["offered"] == wanted, 20, PAUSE)
    return figures


class Figures(dict):
    """Prints each figure as soon as it is known, because the run takes long."""

    def __ior__(self, more):
        for name, figure in more.items():
            print(f"{name}: median {figure['median']:.3f}, p95 {figure['p95']:.3f}, n {figure['n']}", file=sys.stderr, flush=True)
        return super().__ior__(more)


def measure(stage, quick):
    """Returns all figures."""
    sizes = numbers(quick)
    account = Account(stage, max(sizes))
    figures = Figures()
    for count in sizes:
        account.grow(count)
        account.begin()
        if "streams" in parts() and count == sizes[0]:
            figures |= measure_streams(account, quick)
            account.begin()
        for device in account.devices:
            device.watch()
        if "answers" in parts():
            figures |= measure_answers(account, quick)
        if "changes" in parts():
            figures |= measure_changes(account, quick)
        if "idle" in parts():
            figures |= measure_idle(account, quick)
    maximum = max(sizes)
    for name in [name for name in figures if name.startswith("memory of a device")]:
        count = int(name.split()[-2])
        if count < maximum:
            further = figures[f"memory of a device, {maximum} devices"]["median"] - figures[name]["median"]
            figures[f"memory for each further device, from {count} to {maximum}"] = one(further / (maximum - count))
    return figures, f"{ACTIVITIES} activities each"


# The prefixes of figures, their units, and their limits.
UNITS = [
    ("change heard", "ms", None), ("CPU of", "ms", None), ("packets for", "", None), ("list by", "ms", 5), ("status by", "ms", 5),
    ("device list by", "ms", None), ("handoffctl", "ms", None), ("idle, sent", "KiB", None), ("idle, delivered", "KiB", None),
    ("idle, packets", "", None), ("idle, wake-ups", "", None), ("idle, CPU", "ms", None), ("memory", "KiB", None),
    ("stream opened", "ms", None), ("all streams opened", "s", None), ("continue, no stream", "ms", None),
    ("continue, all streams", "ms", None),
]


def goals(figures):
    """Returns the rows of the table: name, unit, limit, and a description."""
    return [(name, unit, limit, f"{limit} ms" if limit else "") for start, unit, limit in UNITS
            for name in figures if name.startswith(start)]


RATIOS = {"continue, all streams are open": "continue, no stream is open"}
