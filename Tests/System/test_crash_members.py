"""Pairing, removal, rotation, names and leaving, with a daemon killed, a power failure, or a disk
failure at every step. test_crash.py lists the invariants of every scene."""

import threading
import time

from crash import CONVERGE, Scene, call, every_step
from harness import FULL_SAMPLES, SHARED, Failure, Stage, expect, main, test

LIMIT = 900


def has(scene, daemon, other):
    """Returns whether a daemon lists a device."""
    view = scene.view(daemon)
    return view is not None and other in {id for id, _ in view["devices"]}


class Pairing(Scene):
    """A device that is admitted by pairing."""

    victims = ("one", "two", "three")

    def prepare(self):
        self.one = self.member("one")
        self.three = self.member("three", self.one)
        self.two = self.daemon("two")
        self.joined = self.told = False

    def pair(self):
        """Returns whether both commands report success."""
        window = self.one.follow("pair", "--yes")
        opened = window.wait("opened")
        secret = opened["link"] if self.step % 2 else opened["code"]
        port = opened["addresses"][0].rsplit(":", 1)[1]
        words = [] if self.step % 2 else ["--peer", f"127.0.0.1:{port}"]
        joined = self.two.ctl("join", *words, input=(secret + "\n").encode(), code=None)
        self.joined = joined.code == 0
        # A device killed at the end may have completed everything.
        if self.joined and not self.struck:
            window.process.wait(60)
        elif window.process.poll() is None:
            window.interrupt()
        while (line := window.next()) is not None:
            self.told |= line["event"] == "joined"
        if not self.joined and not self.struck:
            raise Failure(str(joined))

    def act(self):
        self.pair()
        self.until(lambda: self.is_one(self.one, self.two, self.three), "agreement after pairing")

    def check(self):
        two = call(self.two, "GetStatus")
        if self.joined or self.told:
            expect(two["account"] is not None, "it was notified that it has joined, and has no account")
        if two["account"] is not None:
            expect(two["account"] == self.account(self.one), "wrong account")
            expect(has(self, self.one, two["device"]), "it has the account, but the device that admitted it does not list it")
        elif self.step % 3 == 0 and has(self, self.one, two["device"]):
            self.one.ctl("device", "remove", two["device"], "--yes", "--no-wait")
            self.agree(self.one, self.three, leaving=[two["device"]])
            return self.hand_over(self.one, self.three)
        else:
            self.pair()
        self.agree(self.one, self.two, self.three)
        listed = {device["name"]: device for device in call(self.one, "ListDevices")["devices"]}
        expect(not any(device["unfinished"] for device in listed.values()), f"a change is incomplete: {listed}")
        self.hand_over(self.two, self.three)


class Members(Scene):
    """Three devices of one account."""

    victims = ("one", "two", "three")
    # Joining takes longer than the rest of a play. The gate starts the devices from copies of state folders.
    saved, lock = None, threading.Lock()

    def prepare(self):
        if FULL_SAMPLES:
            self.join()
        else:
            with Members.lock:
                Members.saved = Members.saved or saved()
            self.one, self.two, self.three = (self.daemon(each.name, state=each.state) for each in Members.saved.daemons)
            self.agree(self.one, self.two, self.three)
            self.until(lambda: all(self.is_connected(daemon) for daemon in self.stage.daemons), "connections")
        self.account_id, self.epoch = self.account(self.one), call(self.one, "GetStatus")["epoch"]
        self.done = None

    def join(self):
        self.one = self.member("one")
        self.two = self.member("two", self.one)
        self.three = self.member("three", self.one, self.two)

    @staticmethod
    def is_connected(daemon):
        return all(device["online"] for device in call(daemon, "ListDevices")["devices"])


def saved():
    """Returns a stage with the state folders of three devices of one account, which do not run."""
    stage = Stage("saved states")
    SHARED.append(stage)
    Members(stage).join()
    for daemon in stage.daemons:
        expect(daemon.stop() == 0, f"{daemon.name} did not exit cleanly")
    return stage


class Removal(Members):
    """A device that is removed."""

    def act(self):
        removal = self.one.follow("device", "remove", "three", "--yes", "--timeout", "60")
        told = removal.next()
        self.done = told is not None and told["event"] == "removed"
        # It waits until all devices have received the removal, which a victim does not.
        self.until(lambda: removal.process.poll() is not None, "an end of the removal")
        if removal.process.poll() is None:
            removal.interrupt()
        self.until(lambda: self.is_one(self.one, self.two), "agreement after the removal")

    def check(self):
        three = self.ids["three"]
        if self.done:
            expect(not has(self, self.one, three), "the removal was acknowledged, and is not in effect")
        elif has(self, self.one, three):
            self.one.ctl("device", "remove", three, "--yes", "--no-wait")
        self.agree(self.one, self.two, leaving=[three])
        epoch = call(self.one, "GetStatus")["epoch"]
        expect(epoch > self.epoch, "no new key after a removal")
        self.hand_over(self.one, self.two)
        expect(call(self.stage.daemons[2], "GetStatus")["epoch"] in (None, *range(epoch)), "the removed device has the key")
        expect(call(self.stage.daemons[2], "ListActivities")["activities"] == [], "an activity is offered to the removed device")


class Rotation(Members):
    """A new key."""

    def act(self):
        done = self.one.ctl("account", "rotate", code=None)
        self.done = done.line["epoch"] if done.code == 0 else None
        self.until(lambda: self.is_one(self.one, self.two, self.three, epoch=self.epoch + 1), "agreement on the new key")

    def check(self):
        if self.done is not None:
            expect(call(self.one, "GetStatus")["epoch"] >= self.done, "the new key was acknowledged, and does not exist")
        else:
            # It may have been stored all the same, and another member may have generated one in the meantime.
            self.agree(self.one, self.two, self.three)
            self.one.ctl("account", "rotate")
        self.agree(self.one, self.two, self.three)
        expect(call(self.one, "GetStatus")["epoch"] > self.epoch, "no new key")
        self.hand_over(self.three, self.two)


class Name(Members):
    """A device that is named."""

    def act(self):
        self.done = self.one.ctl("device", "rename", "two", "zwei", code=None).code == 0
        self.until(lambda: all(self.is_named(daemon) for daemon in (self.one, self.two, self.three)), "the name")

    def is_named(self, daemon):
        view = self.view(daemon)
        return view is not None and (self.ids["two"], "zwei") in view["devices"]

    def check(self):
        if self.done:
            expect(self.is_named(self.one), "the name was acknowledged, and is not set")
        else:
            self.one.ctl("device", "rename", self.ids["two"], "zwei")
        self.agree(self.one, self.two, self.three)
        expect(self.is_named(self.three), f"two is not named: {self.view(self.three)}")
        self.hand_over(self.two, self.three)


class Leaving(Members):
    """A device that leaves."""

    victims = ("two", "one")

    def act(self):
        # It is another device afterwards.
        self.former = self.ids.pop("two")
        self.done = self.two.ctl("account", "leave", "--yes", code=None).code == 0
        self.until(lambda: self.is_one(self.one, self.three), "agreement without the one that left")

    def check(self):
        limit = time.monotonic() + CONVERGE
        while True:
            status = call(self.two, "GetStatus")
            has_left = status["account"] is None
            expect((status["device"] != self.former) == has_left, f"it left only partially: {status}")
            if has_left:
                break
            expect(not self.done, f"it was notified that it has left, and has not: {status}")
            # The others may have received it already. The remainder can then still be done.
            self.two.ctl("account", "leave", "--yes", code=None)
            expect(time.monotonic() < limit, f"it does not leave: {status}; {self.views()}")
            time.sleep(0.1)
        # A device that leaves without being able to notify another one remains a member for the
        # others, until the user removes it.
        if not self.tells_others():
            # The others may receive it in the meantime. The command then finds no such device.
            self.one.ctl("device", "remove", self.former, "--yes", "--no-wait", code=None)
        self.agree(self.one, self.three, leaving=[self.former])
        self.hand_over(self.one, self.three)
        self.stage.join(self.one, self.two)
        self.agree(self.one, self.two, self.three, leaving=[self.former])

    def tells_others(self):
        limit = time.monotonic() + 5
        while has(self, self.one, self.former):
            if time.monotonic() > limit:
                return False
            time.sleep(0.05)
        return True


for scene in (Pairing, Removal, Rotation, Name, Leaving):

    @test(f"at every step: {scene.__doc__.rstrip('.').lower()}", limit=LIMIT)
    def plays(stage, scene=scene):
        every_step(stage, scene)


if __name__ == "__main__":
    main()
