"""Tests of the parts of handoff-settings that need no screen. Run by test_settings.py with Debian's
Python:

/usr/bin/python3 settings_parts.py FOLDER-OF-THE-PACKAGE
"""

import json
import os
import sys
import tempfile
import time
import unittest

from played_daemon import PlayedDaemon, message

PACKAGE = sys.argv.pop(1)
sys.path[:0] = [PACKAGE, os.path.join(PACKAGE, os.pardir, "Integrations", "python")]

from handoff_settings import doctor, link, model, qrcode, sending, texts, values, varlink  # noqa: E402

from gi.repository import GLib  # noqa: E402

LINK = "handoff:pair/1/" + "abcdefghijklmnopqrstuvwx25" + "/192.0.2.1:24863,[fe80::1%eth0]:24863"


class Calling(unittest.TestCase):
    def setUp(self):
        self.loop = GLib.MainLoop()
        self.replies, self.failures = [], []
        GLib.timeout_add_seconds(30, self.loop.quit)

    def run_call(self, play, until=1, stays=False, **more):
        """Iterates the main loop until this many replies or failures have arrived."""
        self.played = PlayedDaemon(tempfile.mkdtemp(), play, stays)

        def count(list, value):
            list.append(value)
            if len(self.replies) + len(self.failures) >= until:
                self.loop.quit()

        self.call = varlink.Call("Test", {"text": "ü"}, reply=lambda each: count(self.replies, each),
                                 failed=lambda each: count(self.failures, each), path=self.played.path, **more)
        self.loop.run()

    def test_a_call_and_its_reply(self):
        self.run_call(lambda _: [message(parameters={"a": 1})])
        self.assertEqual(self.replies, [{"a": 1}])
        self.assertEqual(self.played.calls, [{"method": "dev.handoff1.Control.Test", "parameters": {"text": "ü"}}])

    def test_replies_in_pieces_and_several_at_once(self):
        whole = b"".join(message(parameters={"n": number}, continues=True) for number in range(3))
        for size in (1, 7, len(whole)):
            self.replies.clear()
            pieces = [whole[at:at + size] for at in range(0, len(whole), size)]
            self.run_call(lambda _, pieces=pieces: pieces, until=3, more=True, stays=True)
            self.assertEqual(self.replies, [{"n": 0}, {"n": 1}, {"n": 2}])
            self.call.cancel()

    def test_an_error_has_the_words_of_the_daemon(self):
        self.run_call(
            lambda _: [message(error="dev.handoff1.Control.NoAccount", parameters={"message": "there is none"})]
        )
        self.assertEqual((self.failures[0].message, self.failures[0].name), ("there is none", "NoAccount"))
        self.assertTrue(self.failures[0].is_refusal)

    def test_an_error_without_words(self):
        self.run_call(lambda _: [message(error="org.varlink.service.InvalidParameter", parameters={"parameter": "x"})])
        self.assertEqual(self.failures[0].message, "handoffd refused the request: InvalidParameter")

    def test_what_is_no_answer(self):
        for bytes in (
            b"nonsense\0",
            b"[1]\0",
            b"{\0",
            b'{"parameters": 3}\0',
            b"[" * 100_000 + b"\0",
            b"\xff\0",
            b"\0",
        ):
            self.failures.clear()
            self.run_call(lambda _, bytes=bytes: [bytes])
            self.assertEqual(["no valid reply" in each.message for each in self.failures], [True], bytes[:20])
            self.assertEqual(self.replies, [])

    def test_a_daemon_that_goes_away(self):
        self.run_call(lambda _: [b'{"param'])
        self.assertEqual([each.message for each in self.failures], ["handoffd sent no valid reply: it closed the connection"])

    def test_a_daemon_that_is_not_there(self):
        varlink.Call(
            "Test", path="/nonexistent/socket", failed=lambda each: (self.failures.append(each), self.loop.quit())
        )
        self.loop.run()
        self.assertIn("cannot reach handoffd at /nonexistent/socket", self.failures[0].message)
        self.assertFalse(self.failures[0].is_refusal)

    @unittest.skipIf(os.geteuid(), "only root can be another user")
    def test_another_user_is_told_nothing(self):
        played = PlayedDaemon(tempfile.mkdtemp(), lambda _: [message(parameters={})], user=65534)
        varlink.Call("Test", path=played.path, reply=self.replies.append,
                     failed=lambda each: (self.failures.append(each), self.loop.quit()))
        self.loop.run()
        self.assertEqual([each.message for each in self.failures], [
            f"cannot reach handoffd at {played.path}: the socket belongs to another user"])
        self.assertEqual((self.replies, played.calls), ([], []))

    def test_a_daemon_that_is_silent(self):
        self.run_call(lambda _: [], stays=True, timeout=1)
        self.assertEqual([each.message for each in self.failures], ["handoffd did not reply in time"])

    def test_silence_after_a_reply_is_none(self):
        self.run_call(lambda _: [message(parameters={}, continues=True)], stays=True, more=True, timeout=1)
        GLib.timeout_add(1500, self.loop.quit)
        self.loop.run()
        self.assertEqual(self.failures, [])

    def test_to_cancel_closes_the_connection_and_nothing_comes_any_more(self):
        self.run_call(lambda _: [message(parameters={}, continues=True)], stays=True, more=True)
        self.call.cancel()
        context = GLib.MainContext.default()
        while not self.played.closed.is_set():
            context.iteration(False)
        self.assertEqual((len(self.replies), self.failures), (1, []))


class Devices(unittest.TestCase):
    def test_when_a_device_fell_asleep_is_said_while_it_is_away(self):
        fields = {"id": "1", "name": "a", "asleepSince": 1_700_000_000.0}
        self.assertIn(values.Device.read(fields).asleep, ("14 November, 22:13", "14 November, 22:14"))
        self.assertEqual(values.Device.read({**fields, "online": True}).asleep, "")
        self.assertEqual(values.Device.read({**fields, "asleepSince": None}).asleep, "")


class Kept(unittest.TestCase):
    def words(self, is_own=False, **fields):
        return values.Kept.read({"asOf": 1_700_000_000, "since": None, **fields}).words(is_own)

    def test_each_state_has_its_times(self):
        self.assertEqual(self.words(state="asleep", since=1_700_000_060),
                         "asleep since 14 November, 22:14, as of 14 November, 22:13")
        self.assertEqual(self.words(state="asleep"), "asleep, as of 14 November, 22:13")
        self.assertEqual(self.words(state="offline"), "offline, as of 14 November, 22:13")
        self.assertEqual(self.words(state="another"), "offline, as of 14 November, 22:13")
        self.assertEqual(self.words(state="ended"), "closed there at 14 November, 22:13")
        self.assertEqual(self.words(True, state="ended"), "closed here at 14 November, 22:13")

    def test_invalid_fields_are_shown_as_far_as_possible(self):
        self.assertIsNone(values.Kept.read(None))
        self.assertIsNone(values.Kept.read("asleep"))
        self.assertTrue(values.Kept.read({"state": 3, "since": "x", "asOf": 1e300}).words().startswith("offline, as of "))

    def test_newer(self):
        self.assertIsNone(values.Newer.read("x"))
        newer = values.Newer.read({"activity": 3, "device": None, "here": "yes", "since": -1e300})
        self.assertEqual((newer.activity, newer.device, newer.is_here), ("", "", False))
        fields = {"activity": "a", "device": "b", "since": 1}
        found = values.published({"activities": [{"newer": fields}, {"newer": None}, {}, 3]})
        self.assertEqual([each.newer for each in found], [("b", "a")])


class Following(unittest.TestCase):
    """The model, over a simulated daemon."""

    STATUS = {"name": "Desk", "account": "ab", "advertising": True, "receiving": True, "holds": [], "warnings": []}

    def follow(self, answers, until):
        def play(call):
            for answer in answers.get(call["method"].rpartition(".")[2], []):
                yield answer

        self.played = PlayedDaemon(tempfile.mkdtemp(), play, stays=True)
        os.environ["HANDOFF_SOCKET"] = self.played.path
        loop, self.model, self.changes = GLib.MainLoop(), model.Model(), []

        def changed(_, part):
            self.changes.append(part)
            if until(self.model):
                loop.quit()

        self.model.connect("changed", changed)
        GLib.timeout_add_seconds(20, loop.quit)
        self.model.connect_daemon()
        loop.run()
        self.assertTrue(until(self.model), f"{self.changes} {self.model.phase} {self.model.reason}")

    def answers(self, offers=(), **more):
        return {
            "FollowChanges": [message(parameters={"changed": ["status", "devices", "apps", "more"]}, continues=True)],
            "Watch": [message(parameters=each, continues=True) for each in offers],
            "GetStatus": [message(parameters=self.STATUS)],
            "ListDevices": [message(parameters={"devices": [{"id": "2", "name": "b"}, {"id": "1", "self": True}]})],
            "ListApps": [message(parameters={"apps": []})], **more,
        }

    def offer(self, event, number, **more):
        return {
            "event": event,
            "activity": {"id": str(number), "device": "d", "type": "t", "title": f"title {number}", **more},
        }

    def test_it_is_ready_once_everything_was_told(self):
        self.follow(self.answers([{"event": "ready"}]), lambda each: each.phase == "ready")
        self.assertEqual(self.changes, ["phase"])
        self.assertEqual([each.id for each in self.model.devices], ["1", "2"])
        self.assertEqual(self.model.status.name, "Desk")

    def test_offers_come_change_and_go(self):
        events = [
            self.offer("added", 1),
            self.offer("added", 2),
            {"event": "ready"},
            self.offer("added", 3),
            self.offer("changed", 1, title="other"),
            self.offer("removed", 2),
            self.offer("added", 4, type=model._TABS),
        ]
        self.follow(self.answers(events), lambda each: each.phase == "ready" and len(each.offers) == 2
                    and each.offers[-1].title == "other")
        self.assertEqual([each.title for each in self.model.offers], ["title 3", "other"])

    def test_an_older_daemon_is_said(self):
        refusal = [message(error="org.varlink.service.MethodNotFound", parameters={"method": "x"})]
        self.follow({"FollowChanges": refusal}, lambda each: each.phase == "stopped")
        self.assertIn("older than this window", self.model.reason)


class Sending(unittest.TestCase):
    """The states of items, by the lines of `handoffctl send`."""

    def job(self, *names):
        items = [sending.Item(f"file:///nonexistent/{name}") for name in names]
        return sending.Job("ab", "", items, lambda: None)

    def published(self, job, id, title, type="dev.handoff1.content"):
        job._took_event({"event": "published", "id": id, "title": title, "type": type})

    def test_items_are_published_again_with_other_ids(self):
        job = self.job("a/x", "b/x", "y")
        for id, title in (("1", "x"), ("2", "x"), ("3", "y")):
            self.published(job, id, title)
        job._took_event({"event": "declined", "id": "1"})
        # The daemon restarts before the second run is complete, and again.
        for id, title in (("5", "x"), ("6", "y"), ("7", "x"), ("8", "y")):
            self.published(job, id, title)
        self.assertEqual([each.activity for each in job.parts], ["1", "7", "8"])
        job._took_event({"event": "declined", "id": "5"})
        self.assertEqual([each.state for each in job.parts], ["declined", "offered", "offered"])

    def test_a_page_is_received_when_it_is_continued(self):
        job = sending.Job("ab", "", [sending.Item("https://example.org/a")], lambda: None)
        self.published(job, "1", "https://example.org/a", "NSUserActivityTypeBrowsingWeb")
        job._took_event({"event": "continued", "id": "1"})
        self.assertEqual(job.parts[0].state, "received")

    def test_a_name_that_is_not_utf8(self):
        item = sending.Item("file:///a/bad%E9%20name%25")
        self.assertEqual((item.argument, item.title), (b"/a/bad\xe9 name%", "bad\ufffd name%"))

    def test_what_is_not_a_local_file(self):
        for uri in ("sftp://h/a", "file:///a%00b", "mtp:x", "", "x"):
            self.assertTrue(sending.Item(uri).problem, uri)

    def test_rate(self):
        meter = sending.Meter()
        self.assertEqual(meter.rate, 0)
        for second in range(20):
            meter.add(second * (100 if second < 10 else 200), float(second))
        self.assertEqual(meter.rate, 200)
        meter.add(0, 21.0)
        self.assertEqual(meter.rate, 0)


class Reading(unittest.TestCase):
    def test_fields_of_other_kinds_are_as_if_missing(self):
        for wrong in (None, 3, "x", [], {}, True, [1, {"id": 3}]):
            fields = {
                key: wrong
                for key in ("devices", "apps", "holds", "warnings", "name", "account", "id", "opens", "age", "title")
            }
            values.Status.read(fields)
            values.devices(fields)
            values.apps(fields)
            values.Offer.read(fields)
            values.Offer.read(wrong)
            values.Peer.read(wrong)
            values.texts(fields, "warnings")

    def test_the_strongest_hold_is_told(self):
        holds = [{"direction": "receive", "by": by, "message": by} for by in ("session", "user", "policy", "new")]
        status = values.Status.read(
            {"holds": [*holds, {"direction": "receive", "by": "policy", "device": "ab", "message": "one"}]}
        )
        self.assertEqual(status.restriction("receive").message, "policy")
        self.assertIsNone(status.restriction("advertise"))

    def test_a_hold_of_one_device_is_none_of_all(self):
        status = values.Status.read(
            {"holds": [{"direction": "receive", "by": "user", "device": "ab", "message": "one"}]}
        )
        self.assertIsNone(status.restriction("receive"))

    def test_checks_with_what_is_wrong_first(self):
        lines = [
            json.dumps({"check": state, "state": state, "message": "m", "remedy": None})
            for state in ("ok", "warning", "problem")
        ]
        found = doctor.read("\n".join(lines + ["nonsense", "3", '{"state": "new"}', '{"state": "ok", "message": 3}']))
        self.assertEqual([each.state for each in found], ["problem", "warning", "ok", "ok"])


class Solving(unittest.TestCase):
    """The commands of remedies that have a button."""

    def check(self, remedy):
        return doctor.Check("x", "problem", "m", remedy).command

    def test_commands_that_can_be_run(self):
        for remedy, words in (
            ("handoffctl advertise on", ["handoffctl", "advertise", "on"]),
            ("handoffctl receive on --device 3f9c2ab", ["handoffctl", "receive", "on", "--device", "3f9c2ab"]),
            ("handoffctl network trust, if you trust it", ["handoffctl", "network", "trust"]),
            ("handoffctl withdraw 3f9c2ab (removes it)", ["handoffctl", "withdraw", "3f9c2ab"]),
            ("sudo timedatectl set-ntp true (on both)", ["timedatectl", "set-ntp", "true"]),
            ("sudo systemctl enable --now avahi-daemon; or set discovery = auto in handoffd.conf",
             ["systemctl", "enable", "--now", "avahi-daemon"]),
            ("chmod 700 '/a b;c'", ["chmod", "700", "/a b;c"]),
        ):
            self.assertEqual(self.check(remedy)[1], words)

    def test_what_is_not_such_a_command(self):
        for remedy in ("", "handoffctl advertise online", "see with: handoffctl advertise on", "chmod 700 '/a'; rm -r /",
                       "chmod 700 '/a'\\''b'", "handoffctl receive on --device x", "sudo ufw allow Handoff"):
            words = self.check(remedy)
            self.assertIn(words and words[1], (None, ["chmod", "700", "/a"]), remedy)


class Showing(unittest.TestCase):
    def test_what_cannot_be_seen_is_written(self):
        for text, shown in (
            ("plain ü 🏠 <b>&", "plain ü 🏠 <b>&"),
            ("a\u202eb", "a\\u{202E}b"),
            ("a\nb\x00", "a\\u{A}b\\u{0}"),
            ("\u2028", "\\u{2028}"),
            ("\ud800", "\\u{D800}"),
            ("\u3164", "\\u{3164}"),
            ("👩\u200d👧", "👩\u200d👧"),
            ("\u00ad\ufeff", "\\u{AD}\\u{FEFF}"),
        ):
            self.assertEqual(texts.visible(text), shown)

    def test_long_texts_are_cut(self):
        self.assertEqual(texts.visible("x" * 10_000, 10), "x" * 10 + "…")
        self.assertEqual(texts.visible("x" * 10, 10), "x" * 10)

    def test_times(self):
        self.assertRegex(texts.moment(0), r"^\d\d:\d\d$")
        self.assertRegex(texts.moment(3 * 86400), r"^\d+ \w+, \d\d:\d\d$")
        for wrong in (-5, 1e300, float("inf")):
            texts.moment(wrong)
        self.assertEqual((texts.span(179), texts.span(5)), ("2:59", "0:05"))

    def test_moments_to_come(self):
        now = time.time()
        self.assertRegex(texts.at(now + 15 * 60), r"\d\d:\d\d$")
        self.assertNotEqual(texts.at(now + 15 * 60), texts.at(now))
        self.assertEqual(texts.at(now - 3600), texts.moment(3600))
        for wrong in (-1e300, 1e300, float("inf"), float("-inf")):
            texts.at(wrong)

    def test_codes(self):
        self.assertEqual(texts.groups("12345678"), "1234 5678")


class Links(unittest.TestCase):
    def test_a_link_in_the_forms_that_desktops_give(self):
        for text in (
            LINK,
            f" {LINK}\n",
            LINK.replace("handoff:", "handoff:///"),
            LINK.replace("[", "%5B").replace("]", "%5D").replace("%eth0", "%25eth0"),
            LINK.replace(",", "%2C").replace("%eth0", "%25eth0"),
        ):
            self.assertEqual(link.read(text), LINK, text)
        self.assertEqual(link.places(LINK), ["192.0.2.1:24863", "[fe80::1%eth0]:24863"])

    def test_what_is_no_link(self):
        for text in (
            "",
            "12345678",
            "handoff:",
            LINK.upper(),
            LINK + " x",
            LINK + "\nx",
            LINK.replace("/1/", "/2/"),
            LINK + "/x",
            LINK + "?x",
            LINK + "," + "a" * 500,
            "x" * 100_000,
            "handoff:pair/1/" + "a" * 25 + "/h:1",
            LINK + "<b>",
            "https://example.org/" + LINK,
            LINK + "\u202e",
            "handoff:pair/1/" + "a" * 26 + "/" + ",".join(["h:1"] * 9),
        ):
            self.assertIsNone(link.read(text), text[:80])

    def test_codes(self):
        for text in ("12345678", "1234 5678", "12-34-56-78", " 1234\u20135678 "):
            self.assertTrue(link.is_code(text), text)
        for text in ("", "1234567", "123456789", "1234567x", "١٢٣٤٥٦٧٨"):
            self.assertFalse(link.is_code(text), text)

    def test_why_a_text_is_no_code(self):
        for text, reason in (("", "Enter"), ("1", "1 digit."), ("1234 567", "7 digits."), ("x", "nothing else"),
                             (LINK[:30], "incomplete")):
            self.assertIn(reason, link.error(text), text)

    def test_a_code_to_scan(self):
        rows = qrcode.modules(LINK)
        self.assertEqual(len(rows), len(rows[0]))
        # The corners are known: a dark ring around a light one around a dark square.
        corner = [row[:7] for row in rows[:7]]
        self.assertEqual(corner[0], [True] * 7)
        self.assertEqual(corner[1], [True] + [False] * 5 + [True])
        self.assertEqual(corner[3], [True, False, True, True, True, False, True])
        self.assertIsNone(qrcode.modules("x" * 5000))
        size = qrcode.texture(LINK, 220).get_width()
        self.assertLessEqual(size, 220)


if __name__ == "__main__":
    unittest.main()
