"""Requests to an account during which a fault hits a device: pairing, account files, removal, leaving, keys, names."""

import os
import time

from crash import CONVERGE, call
from harness import expect


class Act:
    """One request. `act` may be hit by a fault. `check` checks the invariants, and completes the request."""

    victims = ("one", "two", "guest", "command")

    def __init__(self, world):
        self.world, self.acknowledged = world, False

    def __str__(self):
        return type(self).__name__

    @classmethod
    def fits(cls, world):
        return True

    def prepare(self):
        pass

    def act(self):
        raise NotImplementedError

    def check(self):
        raise NotImplementedError


class Rotation(Act):
    """A new key."""

    def act(self):
        w = self.world
        done = w.command(w.one, "account", "rotate")
        self.acknowledged = done.line["epoch"] if w.excused(done) else False

    def check(self):
        w = self.world
        epoch = call(w.one, "GetStatus")["epoch"]
        expect(epoch >= max(w.epoch, self.acknowledged), f"epoch {self.acknowledged} was acknowledged, but the epoch is {epoch}")
        w.settled()


class Name(Act):
    """A device that is named."""

    def prepare(self):
        w = self.world
        self.name = f"two {w.round}"
        self.before = dict(w.view(w.one)["devices"])[w.ids["two"]]

    def act(self):
        w = self.world
        self.acknowledged = w.excused(w.command(w.one, "device", "rename", w.ids["two"], self.name))

    def check(self):
        w = self.world
        self.is_right()
        w.settled()
        # The call of the killed command may have been executed in the meantime.
        self.is_right()

    def is_right(self):
        w = self.world
        name = dict(w.view(w.one)["devices"])[w.ids["two"]]
        expect(name == self.name or name == self.before and not self.acknowledged,
               f"{self.name} was {'acknowledged' if self.acknowledged else 'requested'}, but the name is {name}")


class Joining(Act):
    """A third device that joins the account."""

    # Files that remain unused: a killed command may leave one open.
    stale = ()

    @classmethod
    def fits(cls, world):
        return world.third not in world.members

    def joined(self):
        """Checks that the third device is in the account, according to all."""
        w = self.world
        expect(w.account(w.third) == w.account(w.one), "wrong account")
        w.members = [w.one, w.two, w.third]
        # The file that admitted the device is closed by the members. Revoking it before that removes the device.
        w.agree(*w.members, stale=self.stale)
        w.close_tickets()
        w.settled()
        w.hand_over(w.third, w.two)


class Import(Joining):
    """A device that joins by a file."""

    def prepare(self):
        w = self.world
        self.file = os.path.join(w.stage.folder, f"account-{w.round}")
        w.one.ctl("account", "export", self.file)

    def act(self):
        w = self.world
        done = w.command(w.third, "account", "import", self.file)
        # The command waits for eight seconds. The device continues to join.
        self.acknowledged = '"NotJoined"' not in done.errors and w.excused(done)

    def check(self):
        w = self.world
        if w.account(w.third) is None:
            expect(not self.acknowledged, "it reported that it has joined, and has no account")
            again = w.third.ctl("account", "import", self.file, code=None)
            # The call of the killed command may be executed in the meantime.
            expect(again.code == 0 or any(name in again.errors for name in ('"NotJoined"', '"AccountExists"')),
                   f"the file does not admit it: {again}")
            limit = time.monotonic() + CONVERGE
            while w.account(w.third) is None:
                expect(time.monotonic() < limit, f"it has not joined within {CONVERGE} s")
                time.sleep(0.05)
        os.unlink(self.file)
        self.joined()


class Export(Joining):
    """A file that admits one device. The file that has its name in the end must do that."""

    victims = ("one", "command", "command")

    def prepare(self):
        self.file = os.path.join(self.world.output, "account")

    def act(self):
        w = self.world
        self.acknowledged = w.excused(w.command(w.one, "account", "export", self.file))

    def check(self):
        w = self.world
        expect(os.path.exists(self.file) or not self.acknowledged, "the file was reported as written, and does not exist")
        if not os.path.exists(self.file):
            self.stale = [ticket["id"] for ticket in call(w.one, "GetStatus")["tickets"]]
            w.one.ctl("account", "export", self.file)
        w.third.join(self.file)
        for name in os.listdir(w.output):
            os.unlink(os.path.join(w.output, name))
        self.joined()


class Pairing(Joining):
    """A device that is admitted by pairing."""

    victims = ("one", "two", "guest", "command", "other command")

    def act(self):
        self.pair(self.world.command)

    def pair(self, command):
        w = self.world
        window = w.one.follow("pair", "--yes")
        w.running["other command"] = window.process
        try:
            opened = window.wait("opened")
            by_link = w.round % 2 == 0
            words = [] if by_link else ["--peer", f"127.0.0.1:{opened['addresses'][0].rsplit(':', 1)[1]}"]
            done = command(w.third, "join", *words, input=(opened["link" if by_link else "code"] + "\n").encode())
            self.acknowledged = w.excused(done) if command == w.command else done.code == 0
            if self.acknowledged and not w.struck:
                window.process.wait(60)
        finally:
            if window.process.poll() is None:
                window.interrupt()
        while (line := window.next()) is not None:
            self.acknowledged |= line["event"] == "joined"

    def check(self):
        w = self.world
        if w.account(w.third) is None:
            expect(not self.acknowledged, "it was notified that it has joined, and has no account")
            self.pair(self.join_again)
        self.joined()

    @staticmethod
    def join_again(daemon, *words, input):
        done = daemon.ctl(*words, code=None, input=input)
        # The account that it received before may be stored in the meantime.
        expect(done.code == 0 or '"AccountExists"' in done.errors, f"it is not admitted: {done}")
        return done


class Going(Act):
    """A third device that leaves."""

    @classmethod
    def fits(cls, world):
        return world.third in world.members

    def prepare(self):
        w = self.world
        self.former, self.epoch = w.ids.pop("guest"), w.epoch

    def has_it(self):
        view = self.world.view(self.world.one)
        return view is not None and self.former in dict(view["devices"])

    def gone(self):
        """Checks that the others have a new key, and the third device becomes a new device."""
        w = self.world
        w.members = [w.one, w.two]
        w.agree(w.one, w.two, leaving=[self.former])
        w.settled()
        limit = time.monotonic() + CONVERGE
        while (status := call(w.third, "GetStatus"))["account"] is not None or status["device"] == self.former:
            w.third.ctl("account", "leave", "--yes", code=None)
            expect(time.monotonic() < limit, f"it does not leave: {status}")
            time.sleep(0.02)
        w.ids["guest"] = status["device"]


class Removal(Going):
    """A device that is removed."""

    def act(self):
        w = self.world
        done = w.command(w.one, "device", "remove", self.former, "--yes", "--timeout", "50")
        self.acknowledged = w.said_by(done, "removed")
        w.excused(done)

    def check(self):
        w = self.world
        if self.has_it():
            expect(not self.acknowledged, "the removal was acknowledged, and is not in effect")
            # The call of the killed command may be executed in the meantime, and this one then finds no such device.
            w.one.ctl("device", "remove", self.former, "--yes", "--no-wait", code=None)
        self.gone()
        expect(w.epoch > self.epoch, "no new key after a removal")


class Leaving(Going):
    """A device that leaves."""

    def act(self):
        w = self.world
        self.acknowledged = w.excused(w.command(w.third, "account", "leave", "--yes"))

    def check(self):
        w = self.world
        status = call(w.third, "GetStatus")
        has_left = status["account"] is None
        expect((status["device"] != self.former) == has_left, f"it left only partially: {status}")
        expect(has_left or not self.acknowledged, f"it was notified that it has left, and has not: {status}")
        # A device that leaves without being able to notify another one remains a member for the
        # others, until the user removes it.
        if self.has_it():
            w.one.ctl("device", "remove", self.former, "--yes", "--no-wait", code=None)
        self.gone()


ACTS = (Rotation, Name, Import, Export, Pairing, Removal, Leaving)
