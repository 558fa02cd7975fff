"""Every outcome of a pairing without a new member, and the messages for both users: as text, or with --json."""

import json
import os
import re
import signal
import subprocess
import time

from harness import BIN, Result, expect, main
from pairing_stage import ENDS, p, pairing, pairing_test, python_window
from terminal import Terminal


class Scene:
    """An inviting and a joining device, and the results of the two commands of one pairing."""

    def __init__(self, stage, json_output, number):
        self.stage, self.json = stage, json_output
        self.inviter = stage.daemon(f"inviter{number}{json_output}")
        self.taker = stage.daemon(f"taker{number}{json_output}")
        self.inviter.ctl("account", "create")
        self.joined = self.paired = None

    def opens(self):
        self.window = Terminal(self.inviter, *(["--json"] if self.json else []), "pair")
        if self.json:
            opened = json.loads(self.window.sees(r'\{[^\n]*"opened"[^\n]*\n').group())
            self.code, self.place = opened["code"], opened["addresses"][0]
        else:
            self.code = "".join(self.window.sees(r"code +(\d{4}) (\d{4})\b").groups())
            self.place = self.window.sees(r"address +(\S+:\d+)\s").group(1)
        return self

    def joins(self, code, *words, wait=True):
        words = [os.path.join(BIN, "handoffctl"), "--socket", self.taker.socket, *(["--json"] if self.json else []),
                 "join", *words]
        self.joining = subprocess.Popen(
            words, env=self.taker.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.stage.processes.append(self.joining)
        self.joining.stdin.write(code + "\n")
        self.joining.stdin.flush()
        if wait:
            self.join_ends()
        return self

    def join_ends(self):
        output, errors = self.joining.communicate(timeout=60)
        self.joined = Result(["join"], self.joining.returncode, output, errors)

    def closes(self):
        """Stops the window, unless it has already exited."""
        if self.window.process.poll() is None:
            self.window.interrupt()
        self.window.ends()
        return self

    def asked(self):
        # Keys typed before the question are discarded, so that no device is admitted by mistake.
        self.window.sees(r"to this account\?")


def wrong_code(scene):
    scene.opens().joins(p.Digits(scene.code).other().text, "--peer", scene.place)
    scene.window.sees(r'"guessesLeft":4' if scene.json else "wrong code +4 guesses left")
    scene.closes()


def someone_else(scene):
    scene.opens()
    host, _, number = scene.place.rpartition(":")
    for guess in range(5):
        while True:
            digits = p.Digits(scene.code).other(1 + guess)
            try:
                joiner = pairing.Joiner(p.Session.call(host, int(number), digits), digits)
                joiner.exchange()
                joiner.confirm()
            except p.Ended as error:
                if error.reason != "busy":
                    break
                time.sleep(max(error.seconds, 0.05))
    scene.window.sees(r'"codeEnded"' if scene.json else "code ended +.*only the link")
    scene.joins(scene.code, "--peer", scene.place).closes()


def nobody_there(scene):
    # Without discovery the search fails immediately, whatever else pairs on this machine. The lab tests the search.
    expect(scene.taker.stop() == 0, "the joining daemon did not exit cleanly")
    scene.taker.options[scene.taker.options.index("--discovery") + 1] = "static"
    scene.taker.start()
    scene.joins("12345678")


def nobody_answers(scene):
    scene.joins("12345678", "--peer", "127.0.0.1:1")


def refused_by_python(reason):
    def act(scene):
        window = python_window()
        scene.joins(window.digits.text, "--peer", window.place, wait=False)
        inviter = window.accept()
        inviter.session.refuse(reason)
        window.close()
        scene.join_ends()

    return act


def other_version(scene):
    window = python_window(protocol=b"handoff-pair/2")
    scene.joins(window.digits.text, "--peer", window.place, wait=False)
    try:
        window.accept()
    except ENDS:
        pass
    window.close()
    scene.join_ends()


def not_trusted(scene):
    window = python_window()
    scene.joins(window.digits.text, "--peer", window.place, wait=False)
    inviter = window.accept()
    inviter.exchange()
    inviter.session.expect(p.CONFIRM_A)
    inviter.session.send((p.CONFIRM_B, bytes(32)))
    scene.join_ends()


def member_already(scene):
    scene.taker.ctl("account", "create")
    scene.opens().joins(scene.code, "--peer", scene.place).closes()


def cancelled_there(scene):
    scene.opens().joins(scene.code, "--peer", scene.place, wait=False)
    scene.asked()
    scene.window.interrupt()
    scene.join_ends()
    scene.closes()


def given_up_here(scene):
    scene.opens().joins(scene.code, "--peer", scene.place, wait=False)
    scene.asked()
    scene.joining.send_signal(signal.SIGINT)
    scene.join_ends()
    scene.window.sees('"gone"' if scene.json else "gone +.*disconnected")
    scene.closes()


def declined(scene):
    scene.opens().joins(scene.code, "--peer", scene.place, wait=False)
    scene.asked()
    scene.window.type("n\n")
    scene.join_ends()
    scene.window.ends()


# name: a function of the scene, the reason and text of `join`, and the text of `pair` (None: it does not fail).
OUTCOMES = {
    "a wrong code": (wrong_code, "wrongCode", "code is wrong", None),
    "another device tried": (someone_else, "codeUsed", "another device on this network", None),
    "no device invites": (nobody_there, "nobodyThere", "no device on this network has a pairing window", None),
    "no device responds": (nobody_answers, "unreachable", "no device responds at 127.0.0.1:1", None),
    "the window is closed": (refused_by_python(3), "windowClosed", "window .* has closed", None),
    "another version": (other_version, "versionsDiffer", "incompatible version", None),
    "a false inviter": (not_trusted, "untrusted", "does not know the code", None),
    "in an account already": (member_already, None, "already in account", None),
    "cancelled there": (cancelled_there, "cancelled", "cancelled on the inviting device", None),
    "given up here": (given_up_here, None, "", None),
    "declined": (declined, "declined", "declined this device", "declined the device"),
    "removed": (refused_by_python(8), "removed", "was permanently removed from that account", None),
    "no room": (refused_by_python(9), "accountFull", "no room", None),
    "failed there": (refused_by_python(10), "failed", "pairing failed on the inviting device", None),
}

for number, (case, outcome) in enumerate(OUTCOMES.items()):

    @pairing_test(f"words: {case}", limit=150)
    def words(stage, number=number, outcome=outcome):
        act, reason, joined, paired = outcome
        # The unit tests of the commands show that both formats contain the same. Here each reason is used once.
        json_output = number % 2 == 1
        scene = Scene(stage, json_output, number)
        act(scene)
        expect(scene.joined.code != 0, f"join did not fail: {scene.joined}")
        if json_output and reason:
            error = json.loads(scene.joined.errors.splitlines()[-1])
            expect((error["error"], error["reason"]) == ("PairingFailed", reason), f"{error}")
            expect(re.search(joined, error["message"]), f"message: {error}")
        else:
            expect(re.search(joined, scene.joined.errors), f"text: {scene.joined}")
        if paired:
            expect(re.search(paired, scene.window.shown), f"pair printed: {scene.window.shown!r}")
            expect(scene.window.process.returncode != 0, "pair did not fail")


if __name__ == "__main__":
    main()
