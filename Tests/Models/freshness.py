"""A model of how a record in multicast DNS proves that it is fresh, and of hosts that copy records
(docs/protocol.md, Marks).

Cryptography is assumed to hold: a host that copies a record can announce it again anywhere, at any
time and with any address, and cannot change it. Devices of one account, with any clocks, start,
stop and move between two networks. The invariants of every history:

- No unicast results from a record that is older than `MEMORY`, or from an address that its device
did not put into it. The only exception, which docs/security.md names, is a wrong clock of the
author or of the reader, with which the record looks fresh to its reader.
- Two members in one network find each other within `FIND`.
- The time at which a device announces something does not depend on announcements that others
repeat.

Each of `MUTANTS` omits one rule. `test_freshness.py` runs the model, and shows that each of them
breaks an invariant.
"""

import heapq
import itertools
import random

PERIOD = 300  # Seconds for which a clock returns the same value.
MEMORY = 600  # Seconds for which a device remembers the salts of its own records.
ECHOES = 4  # The newest salts of another device that are echoed.
SCHEDULE = (0, 1, 3)  # Seconds after a new label at which its record is sealed, and then every `RENEWAL`.
RENEWAL = 240
FIND = 5
ANSWERS = 0.2  # Seconds until a starting device has read the records of the others.
# Copies of records of one device within seconds. More of them can keep devices whose clocks differ
# apart while they last.
COPIES = ECHOES - 1

MUTANTS = {
    "addresses are not bound": "age or address",
    "a period counts for a quarter of an hour": "age or address",
    "echoes of any age count": "age or address",
    "a stale record is taken": "age or address",
    "nothing is echoed": "not found",
    "records are sealed at the start alone": "not found",
    "one echo is kept": "not found",
    "a stale record is answered by a new record": "oracle",
}


class Broken(Exception):
    """A violated invariant. The first word names it."""


class Record:
    def __init__(self, device, moment, salt):
        self.author, self.boot, self.moment, self.salt = device.name, device.boot, moment, salt
        self.address, self.period, self.offset = device.address, device.period(moment), device.offset
        self.epoch = device.epoch
        self.echoes = {other: set(salts) for other, salts in device.echoes.items()}


class Device:
    def __init__(self, name, offset, epoch):
        self.name, self.offset, self.epoch = name, offset, epoch
        self.boot, self.network, self.address = 0, None, None
        self.begin()

    def begin(self):
        self.salts, self.echoes, self.found, self.record = {}, {}, set(), None
        self.boot += 1

    def period(self, moment):
        return (moment + self.offset) // PERIOD


class World:
    """One history. `chance` decides its events, and only `attack` the attacker's actions."""

    def __init__(self, seed, mutant=None, attacked=True):
        self.chance, self.attack = random.Random(seed), random.Random(seed + 1)
        self.mutant, self.attacked = mutant, attacked
        self.queue, self.order, self.now = [], itertools.count(), 0.0
        self.salt, self.copies, self.recent = itertools.count(), [], {}
        self.published, self.places = [], itertools.count()
        years = 365 * 24 * 3600
        offsets = (0, 0, 0, 40, -200, 2 * 24 * 3600, -10 * years, -80 * years)
        self.devices = [Device(name, self.chance.choice(offsets), self.chance.choice((1, 1, 2))) for name in range(3)]
        for device in self.devices:
            self.at(self.chance.uniform(0, 4), self.start, device, self.chance.randrange(2))
        self.at(self.chance.uniform(0, 60), self.move)
        if attacked:
            self.at(self.attack.uniform(0, 2), self.replay)

    def at(self, wait, *what):
        heapq.heappush(self.queue, (self.now + wait, next(self.order), what))

    def run(self, until):
        while self.queue and self.queue[0][0] <= until:
            self.now, _, (body, *words) = heapq.heappop(self.queue)
            body(*words)
        return self

    # ---- Devices ----

    def start(self, device, network):
        device.begin()
        device.network, device.address = network, next(self.places)
        for other in self.devices:
            other.found.discard(device.name)
        self.at(ANSWERS, self.read_all, device, device.boot)
        schedule = SCHEDULE[:1] if self.mutant == "records are sealed at the start alone" else SCHEDULE
        for wait in schedule:
            self.at(wait, self.seal, device, device.boot)
        self.at(schedule[-1] + RENEWAL, self.renew, device, device.boot)
        for other in self.devices:
            self.at(FIND, self.check, device, device.boot, other, other.boot)

    def stop(self, device):
        device.network, device.record = None, None

    def move(self):
        """A device stops, moves or restarts, independent of the others, and hours may pass."""
        device = self.chance.choice(self.devices)
        if self.chance.random() < 0.3:
            self.stop(device)
        else:
            self.start(device, self.chance.randrange(2))
        self.at(self.chance.choice((2, 20, 200, 700, 2000, 90_000)) * self.chance.random(), self.move)

    def read_all(self, device, boot):
        for other in self.devices:
            if device.boot == boot and other.network == device.network and other.record:
                self.read(device, other.record, other.address)

    def renew(self, device, boot):
        self.seal(device, boot)
        if device.boot == boot and device.network is not None:
            self.at(RENEWAL, self.renew, device, boot)

    def seal(self, device, boot):
        if device.boot != boot or device.network is None:
            return
        salt = next(self.salt)
        device.salts[salt] = self.now
        device.record = Record(device, self.now, salt)
        self.published.append((round(self.now, 6), device.name))
        self.copies = [*self.copies[-40:], device.record]
        for other in self.devices:
            if other is not device and other.network == device.network:
                self.read(other, device.record, device.address)

    def read(self, device, record, address):
        """Handles a record that a device sees at an address. All unicasts are sent here."""
        if device.network is None:
            return
        if address != record.address and self.mutant != "addresses are not bound":
            return
        window = 3 if self.mutant == "a period counts for a quarter of an hour" else 1
        by_clock = abs(device.period(self.now) - record.period) <= window
        by_echo = any(
            self.now - device.salts[salt] <= MEMORY or self.mutant == "echoes of any age count"
            for salt in record.echoes.get(device.name, ()) if salt in device.salts)
        if not by_clock and not by_echo and self.mutant != "a stale record is taken":
            if self.mutant != "nothing is echoed":
                kept = 1 if self.mutant == "one echo is kept" else ECHOES
                seen = [salt for salt in device.echoes.get(record.author, []) if salt != record.salt]
                device.echoes[record.author] = [*seen, record.salt][-kept:]
            if self.mutant == "a stale record is answered by a new record":
                self.at(0.1, self.seal, device, device.boot)
            return
        right = by_clock and not by_echo and record.offset != device.offset
        if address != record.address or (self.now - record.moment > MEMORY and not right):
            raise Broken(f"age or address: {self.now - record.moment:.0f} s, {address} for {record.address}")
        # The greeting reaches the author, if that is the device at the address.
        author = self.devices[record.author]
        if author.network == device.network and author.address == address and author.boot == record.boot:
            device.found.add(author.name)
            author.found.add(device.name)

    def check(self, device, boot, other, other_boot):
        apart = device is other or device.network is None or device.network != other.network
        if not apart and (device.boot, other.boot) == (boot, other_boot) and other.name not in device.found:
            raise Broken(f"not found: clocks {device.offset} and {other.offset}, epochs {device.epoch} and {other.epoch}")

    # ---- The attacker ----

    def replay(self):
        if self.copies:
            record = self.attack.choice(self.copies)
            address = record.address if self.attack.random() < 0.7 else -1
            for device in self.devices:
                key, last = (device.name, record.author), self.recent.get((device.name, record.author), [])
                last = [moment for moment in last if self.now - moment < FIND]
                if len(last) < COPIES and record is not self.devices[record.author].record:
                    self.recent[key] = [*last, self.now]
                    self.read(device, record, address)
        self.at(self.attack.choice((0.3, 3, 300)) * self.attack.random(), self.replay)


def history(seed, mutant=None):
    """Runs one history, with and without the attacker. Raises the violated invariant."""
    until = random.Random(seed).choice((30, 1000, 3000))
    with_attacker, alone = (World(seed, mutant, attacked).run(until) for attacked in (True, False))
    if with_attacker.published != alone.published:
        raise Broken("oracle: a copied record has changed the time at which a device announces something")
