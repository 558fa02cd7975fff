"""Devices that keep each other's activities: their start, sleep and memory."""

import base64
import contextlib

from clocks import Clock
from logind import Logind
from policies import with_etc

TYPE = "com.example.editing"


def devices(stage, *names, policies=False, clocks=False, **more):
    """Starts daemons of one account. The first has a simulated logind, and with `policies` a folder of policies. With `clocks`
    all have clocks of their own."""
    logind = Logind(stage)
    found = [stage.daemon(name, start=False, **more) for name in names]
    for daemon in found:
        daemon.extra = {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"}
    found[0].extra = logind.environment
    if policies:
        found[0].policies = with_etc(stage, found[0])
    for daemon in found:
        if clocks:
            daemon.clock = Clock(daemon)
        daemon.start()
    for other in found[1:]:
        stage.join(found[0], other)
    return logind, *found


def kept(daemon, *words):
    """The copies that a device lists, by the id of the offer."""
    return {each["id"]: each for each in daemon.ctl("list", *words).lines if each["kept"]}


def mappings(daemon):
    """Yields the writable mappings of a daemon: their content, the size that is locked, in KiB, and their flags."""
    with open(f"/proc/{daemon.process.pid}/smaps") as maps, open(f"/proc/{daemon.process.pid}/mem", "rb", 0) as memory:
        for line in maps:
            words = line.split()
            if not words[0].endswith(":"):
                begin, end = (int(each, 16) for each in words[0].split("-"))
                is_writable = words[1].startswith("rw")
            elif words[0] == "Locked:":
                locked = int(words[1])
            elif words[0] == "VmFlags:" and is_writable:
                with contextlib.suppress(OSError):
                    memory.seek(begin)
                    yield memory.read(end - begin), locked, set(words[1:])


def memory(daemon, is_locked=False):
    """The memory of a daemon, or the part that is locked for copies."""
    return b"".join(content for content, locked, _ in mappings(daemon) if locked or not is_locked)


def traces(daemon, secrets, is_locked=False):
    """Returns the secrets in that memory, as text or inside of base64, and the number of times."""
    image, found = memory(daemon, is_locked), {}
    for name, secret in secrets.items():
        # A text has one of three encodings, depending on its position. Its first and last bytes also depend on its neighbours.
        forms = [secret.encode(), *(base64.b64encode(bytes(skip) + secret.encode())[4 if skip else 0:-4] for skip in range(3))]
        if count := sum(image.count(form) for form in forms):
            found[name] = count
    return found


def bytes_kept(daemon):
    """The size of the memory that the daemon has locked for copies, in KiB."""
    return sum(locked for _, locked, _ in mappings(daemon))
