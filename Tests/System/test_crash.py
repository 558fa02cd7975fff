"""The account after a daemon is killed, the power fails, or the disk does, at every step.

The invariants of every scene: the state folder can be opened again. Every change that a command has
reported as done exists. The identity of the device is unchanged. All members reach the same view,
which contains only devices that the user admitted. The account works.
"""

import os

from crash import Scene, call, every_step
from harness import expect, main, test

LIMIT = 600


class FirstStart(Scene):
    """A daemon that generates its identity."""

    def prepare(self):
        self.daemon("one", start=False)
        self.was = None

    def act(self):
        one, = self.stage.daemons
        one.start()
        self.was = call(one, "GetStatus")
        self.was = self.was and self.was["device"]

    def check(self):
        one, = self.stage.daemons
        if self.was:
            expect(call(one, "GetStatus")["device"] == self.was, "the identity differs from the one that it reported")
        one.ctl("account", "create")


class Restart(Scene):
    """A member that starts again."""

    victims = ("two",)

    def prepare(self):
        self.one = self.member("one")
        self.two = self.member("two", self.one)
        self.two.kill()

    def act(self):
        self.two.start()
        self.until(lambda: self.is_one(self.one, self.two), "agreement")

    def check(self):
        self.agree(self.one, self.two)
        self.hand_over(self.two, self.one)


class Create(Scene):
    """An account that is created."""

    def prepare(self):
        self.one = self.daemon("one")
        self.made = None

    def act(self):
        done = self.one.ctl("account", "create", code=None)
        if done.code == 0:
            self.made = done.line["account"]

    def check(self):
        account = self.account(self.one)
        if self.made:
            expect(account == self.made, f"{self.made} was created, but the account is {account}")
        elif account is None:
            self.one.ctl("account", "create")
        two = self.member("two", self.one)
        self.hand_over(two, self.one)


class Export(Scene):
    """A file that admits one device."""

    def prepare(self):
        self.one, self.two = self.member("one"), self.daemon("two")
        self.before = self.account(self.one)
        self.file = os.path.join(self.stage.folder, "account")
        self.is_written = False

    def act(self):
        self.is_written = self.one.ctl("account", "export", self.file, code=None).code == 0

    def check(self):
        expect(self.account(self.one) == self.before, "wrong account")
        tickets = {ticket["id"] for ticket in call(self.one, "GetStatus")["tickets"]}
        if self.is_written:
            expect(len(tickets) == 1, f"the exported file has no ticket: {tickets}")
        else:
            # The ticket of a file that was never written may be open. It admits no device, and expires after a day.
            expect(len(tickets) <= 1, f"too many tickets: {tickets}")
            expect(not os.path.exists(self.file), "a file exists although the command failed")
            self.one.ctl("account", "export", self.file)
        stale = set() if self.is_written else tickets
        self.two.join(self.file)
        self.agree(self.one, self.two, stale=stale)
        self.hand_over(self.one, self.two)


class Import(Scene):
    """A device that joins by a file, which is closed."""

    victims = ("one", "two", "three")

    def prepare(self):
        self.one = self.member("one")
        self.three = self.member("three", self.one)
        self.two = self.daemon("two")
        self.file = os.path.join(self.stage.folder, "account")
        self.one.ctl("account", "export", self.file)
        self.epoch = call(self.one, "GetStatus")["epoch"]
        self.joined = False

    def act(self):
        self.joined = self.two.ctl("account", "import", self.file, code=None).code == 0
        self.until(lambda: self.is_one(self.one, self.two, self.three, epoch=self.epoch), "the closing of the file")

    def check(self):
        account = self.account(self.two)
        if self.joined:
            expect(account is not None, "it reported that it has joined, and has no account")
        if account is None:
            self.two.join(self.file)
        expect(self.account(self.two) == self.account(self.one), "wrong account")
        self.agree(self.one, self.two, self.three)
        for daemon in (self.one, self.two, self.three):
            expect(call(daemon, "GetStatus")["tickets"] == [], "the used file is still valid")
        self.hand_over(self.two, self.three)


for scene in (FirstStart, Restart, Create, Export, Import):

    @test(f"at every step: {scene.__doc__.rstrip('.').lower()}", limit=LIMIT)
    def plays(stage, scene=scene):
        every_step(stage, scene)


if __name__ == "__main__":
    main()
