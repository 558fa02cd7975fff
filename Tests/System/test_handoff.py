"""Handoff between two daemons of one account, on loopback with embedded discovery."""

import ctypes
import json
import os
import signal
import subprocess
import time

from clocks import DAY, Clock
from harness import BIN, SAVE_TIMEOUT, Failure, expect, main, run, same, test

TYPE = "com.example.editing"

# Every type that userInfo supports, at the limits of its range, in the tagged form.
USER_INFO = {
    "null": None, "true": True, "false": False,
    "zero": 0, "negative": -1, "beyond a double": 9007199254740993,
    "smallest": -9223372036854775808, "largest": 9223372036854775807, "unsigned": {"$uint": "18446744073709551615"},
    "integral double": 1.0, "negative zero": -0.0, "fraction": 0.1, "huge": 1.7976931348623157e308, "tiny": 5e-324,
    "not a number": {"$double": "nan"}, "infinite": {"$double": "inf"}, "minus infinite": {"$double": "-inf"},
    "empty": "", "text": "Grüße, 世界 👩‍👩‍👧 \u202e\u0007\u0000 end", "line\nbreak": "\r\n\t\"\\/",
    "é": "composed key", "e\u0301": "decomposed key",
    "data": {"$data": "AAH/gA=="}, "no data": {"$data": ""},
    "date": {"$date": 0.0}, "old date": {"$date": -63114076800.5}, "url": {"$url": "https://example.org/a%20b#c"},
    "uuid": {"$uuid": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"},
    "array": [1, 1.0, "1", [], {}, None, [[[]]]], "set": {"$set": [1, "a", {"$date": 1.5}]},
    "dictionary": {"a": {"b": {"c": [{"$data": "AA=="}]}}},
    "numbered": {"$dict": [[1, "one"], [2.5, "two and a half"], [{"$uuid": "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"}, 3]]},
    "dollar": {"$dict": [["$data", "no tag"]]},
}


def shown(daemon, watch=None, **fields):
    """Waits until an activity with these fields is offered to the daemon."""
    watch = watch or daemon.follow("watch")
    return watch.wait("added", **fields)


@test("an activity is published, offered and continued with its payload, and its origin learns which device continued it")
def whole_way(stage):
    origin, taker = stage.pair()
    publish = origin.publish(TYPE, "--title", "Draft", "--user-info", '{"page": 3}', "--web-url", "https://example.org/d")
    offer = shown(taker, id=publish.id)
    expect(offer["type"] == TYPE and offer["title"] == "Draft", f"wrong offer: {offer}")
    expect(offer["deviceName"] == "origin" and offer["streams"] is False, f"wrong offer: {offer}")
    expect(offer["opens"]["kind"] in ("web", "nothing"), f"wrong opens: {offer}")
    listed = taker.ctl("list").line
    expect(listed["id"] == publish.id and listed["version"] == 1, f"wrong list: {listed}")
    taken = taker.ctl("continue", "--print", publish.id[:8]).line
    expect(taken["id"] == publish.id and taken["title"] == "Draft", f"wrong activity: {taken}")
    expect(same(taken["userInfo"], {"page": 3}), f"wrong payload: {taken}")
    expect(taken["webpageURL"] == "https://example.org/d", f"wrong web page: {taken}")
    expect(taken["origin"]["deviceName"] == "origin", f"wrong origin: {taken}")
    told = publish.wait("continued")
    expect(told["deviceName"] == "taker", f"wrong taker: {told}")
    expect(told["device"] == taker.ctl("status").line["device"], f"wrong taker: {told}")


@test("a device lists what it publishes and which devices see it, and its user can withdraw it")
def withdrawn(stage):
    origin, taker = stage.pair()
    expect(origin.ctl("list", "--mine").lines == [], "something is already published")
    publish = origin.publish(TYPE, "--title", "Draft")
    watch = taker.follow("watch")
    shown(taker, watch, id=publish.id)
    own = origin.ctl("list", "--mine").line
    expect(own["id"] == publish.id and own["offered"] is True and own["app"] == "handoffctl", f"wrong list: {own}")

    def who_sees_it():
        return run([os.path.join(BIN, "handoffctl"), "--socket", origin.socket, "list", "--mine"], origin.environment).errors

    expect("seen by: taker" in who_sees_it(), who_sees_it())
    origin.ctl("advertise", "off")
    listed = run([os.path.join(BIN, "handoffctl"), "--socket", origin.socket, "list", "--mine"], origin.environment)
    expect("  no: " in listed.output, str(listed))
    # Otherwise both changes could be announced as one, which changes nothing.
    watch.wait("removed", id=publish.id)
    origin.ctl("advertise", "on")
    shown(taker, watch, id=publish.id)
    expect(origin.ctl("withdraw", publish.id[:6]).line["withdrawn"] == publish.id, "the wrong activity was withdrawn")
    watch.wait("removed", id=publish.id)
    expect(publish.process.wait(60) == 1, "its publisher still runs")
    expect("NoSuchActivity" in origin.ctl("withdraw", publish.id, code=1).errors, "it is listed twice")


@test("a page and a file are sent to one device, and no other device learns of them")
def sent(stage):
    origin, taker = stage.pair()
    third = stage.daemon("third")
    stage.join(origin, third)
    while {device["name"] for device in origin.ctl("devices").lines if device["online"]} != {"origin", "taker", "third"}:
        time.sleep(0.05)
    watch = taker.follow("watch")
    page = origin.follow("send", "taker", "https://example.org/d")
    offer = watch.wait("added", type="NSUserActivityTypeBrowsingWeb")
    expect(offer["sent"] is True, f"not marked as sent: {offer}")
    taker.ctl("continue", "--print", offer["id"])
    expect(page.process.wait(60) == 0, "it still runs although the page was accepted")
    path = stage.file("report.txt", "forty-two\n")
    file = origin.follow("send", taker.ctl("status").line["device"][:8], path)
    offer = watch.wait("added", type="dev.handoff1.content", title="report.txt")
    # Anything offered to all devices later does reach the third one.
    origin.publish(TYPE)
    shown(third, type=TYPE)
    expect([line["type"] for line in third.ctl("list").lines] == [TYPE], f"the third device learned of it: {third.ctl('list').lines}")
    taker.ctl("continue", offer["id"], "--output", stage.folder + "/taken.txt")
    expect(open(stage.folder + "/taken.txt").read() == "forty-two\n", "wrong content")
    expect(file.process.wait(60) == 0, "it still runs although the file was accepted")
    refused = origin.ctl("send", "nobody", path, code=1)
    expect("no other device of the account has this name" in refused.errors, refused.errors)


@test("of a folder everything that can be sent arrives, whatever its name, and both sides report the rest and exit with status 1")
def incomplete(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    folder, target = os.path.join(stage.folder, "photos"), os.path.join(stage.folder, "in")
    os.makedirs(os.path.join(folder, ".git/hooks"))
    os.mkdir(target)
    names = [b"-rf", b"line\nfeed", b"caf\xe9", "\u200eLRM.jpg".encode(), "so\u00adft".encode(), b".env", b"a:b"]
    for name in names:
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(name)
    for name in ("config", "hooks/pre-commit"):
        with open(os.path.join(folder, ".git", name), "w") as file:
            file.write("evil")
    os.symlink("/etc/passwd", os.path.join(folder, "link"))
    sending = origin.follow("send", "taker", folder)
    offer = watch.wait("added", title="photos (contains a repository)")
    taken = taker.ctl("--json", "continue", offer["id"], "--output", target, code=1)
    expect([line.get("repository") for line in taken.lines if line.get("event") == "stream"] == [True], taken.output)
    for text in ("TransferIncomplete", "1 entry is missing: link", "missing: link", "config is set aside as config.set-aside"):
        expect(text in taken.errors, f"not reported: {text}\n{taken.errors}")
    expect(sending.process.wait(60) == 1, "wrong exit status of the sender")
    got = os.path.join(target, "photos")
    for name in names:
        with open(os.path.join(os.fsencode(got), name), "rb") as file:
            expect(file.read() == name, f"{name} differs")
    expect(sorted(os.listdir(got + "/.git")) == ["config.set-aside", "hooks.set-aside"], "not set aside")


@test("the receiver of files drops its privileges before any data arrives, and can still open the received file")
def confined(stage):
    origin, taker = stage.pair()
    # The version of Landlock that the kernel supports (landlock_create_ruleset(2)).
    confines = ctypes.CDLL(None).syscall(444, None, 0, 1) > 0
    opened = os.path.join(stage.folder, "opened")
    watch = taker.follow("watch")
    script = stage.file("opener", f"#!/bin/sh\ngrep NoNewPrivs /proc/$$/status > {opened}.part\necho \"$1\" >> {opened}.part\nmv {opened}.part {opened}\n")
    os.chmod(script, 0o755)
    for more in (["--downloads"], ["--open-with", f"{script} %f"]):
        handler = taker.follow("handle", "dev.handoff1.content", *more)
        sending = origin.follow("send", "taker", stage.file("report.txt", "words"))
        # Attached, and no activity was continued yet.
        offer = watch.wait("added", title="report.txt")
        deadline = time.monotonic() + 60
        while "dev.handoff1.content" not in taker.ctl("list", "--here").output and time.monotonic() < deadline:
            time.sleep(0.05)
        with open(f"/proc/{handler.process.pid}/status") as file:
            expect("NoNewPrivs:\t1" in file.read() or not confines, f"{more}: not confined")
        taker.ctl("continue", offer["id"])
        expect(handler.process.wait(60) == 0 and sending.process.wait(60) == 0, f"{more}: no file was received")
    deadline = time.monotonic() + 60
    while not os.path.exists(opened) and time.monotonic() < deadline:
        time.sleep(0.05)
    with open(opened) as file:
        privileges, path = file.read().splitlines()
    expect(privileges == "NoNewPrivs:\t0", "the program that opens the file is confined, too")
    expect(os.path.basename(path).startswith("report"), f"wrong file: {path}")


@test("each of several sent items is accepted separately, and the others are withdrawn")
def sent_several(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    paths = [stage.file(f"{name}.txt", name) for name in ("one", "two")]
    send = origin.follow("send", "taker", *paths, "https://example.org/d")
    offers = [watch.wait("added") for _ in range(3)]
    expect({offer["title"] for offer in offers} == {"one.txt", "two.txt", "https://example.org/d"}, f"wrong: {offers}")
    for offer in offers:
        page = offer["type"] == "NSUserActivityTypeBrowsingWeb"
        taker.ctl("continue", offer["id"], *(["--print"] if page else ["--output", stage.folder + "/" + offer["title"] + ".taken"]))
    expect(send.process.wait(60) == 0, "it still runs although every item was accepted")
    for path in paths:
        expect(open(path + ".taken").read() == open(path).read(), f"{path} arrived as something else")
    send = origin.follow("send", "taker", *paths)
    offers = [watch.wait("added") for _ in range(2)]
    taker.ctl("continue", offers[0]["id"], "--output", stage.folder + "/again.txt")
    expect(send.interrupt() == 0, "Ctrl-C is reported as a failure")
    left = {offer["id"] for offer in offers}
    while left:
        left.discard(watch.wait("removed")["id"])
    expect(taker.ctl("list").lines == [], "something is still offered")


@test("every type of userInfo arrives unchanged")
def every_type(stage):
    origin, taker = stage.pair()
    publish = origin.publish(TYPE, "--user-info", "@" + stage.file("info.json", json.dumps(USER_INFO)))
    shown(taker, id=publish.id)
    info = taker.ctl("continue", "--print").line["userInfo"]
    for key in USER_INFO:
        expect(key in info, f"{key!r} is missing")
        expect(same(info[key], USER_INFO[key]), f"{key!r}: sent {USER_INFO[key]!r}, received {info[key]!r}")
    expect(info.keys() == USER_INFO.keys(), f"unexpected keys: {info.keys() - USER_INFO.keys()}")


@test("userInfo with 24 levels arrives, and with 25 levels is refused by publish")
def depth(stage):
    def nested(levels):
        value = 1
        for _ in range(levels - 1):
            value = [value]
        return {"a": value}

    origin, taker = stage.pair()
    publish = origin.publish(TYPE, "--user-info", json.dumps(nested(24)))
    shown(taker, id=publish.id)
    expect(same(taker.ctl("continue", "--print").line["userInfo"], nested(24)), "it arrived changed")
    refused = origin.ctl("publish", TYPE, "--user-info", json.dumps(nested(25)), code=None)
    expect(refused.code in (1, 2) and refused.errors, str(refused))


@test("invalid userInfo is refused by publish")
def bad_user_info(stage):
    origin = stage.daemon("origin")
    origin.ctl("account", "create")
    for text in ('[]', '{', '{"a": 1, "a": 2}', '{"a": {"$new": 1}}', '{"a": {"$data": "?"}}', '{"a": 1e999}',
                 '{"a": 99999999999999999999}', '{"a": {"$uint": "1"}}', '{"a": {"$date": 1}}' + "x", "\ufeff{}"):
        refused = origin.ctl("publish", TYPE, "--user-info", text, code=None, within=60)
        expect(refused.code in (1, 2) and json.loads(refused.errors)["message"], f"{text}: {refused}")
    origin.is_well()


@test("watch reports what is offered, marks the end of that list, and then reports changes")
def watching(stage):
    origin, taker = stage.pair()
    empty = taker.follow("watch")
    expect(empty.next()["event"] == "ready", f"unexpected offers: {empty.seen}")
    first = origin.publish(TYPE, "--title", "One")
    shown(taker, empty, id=first.id)
    late = taker.follow("watch")
    expect(late.next()["id"] == first.id and late.next()["event"] == "ready", f"wrong beginning: {late.seen}")
    second = origin.publish("com.example.reading", "--title", "Two")
    for watch in (empty, late):
        shown(taker, watch, id=second.id)
    expect(second.interrupt() == 0, "Ctrl-C is reported as a failure")
    for watch in (empty, late):
        watch.wait("removed", id=second.id)


@test("Ctrl-C on publish withdraws the activity immediately")
def interrupt(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    publish = origin.publish(TYPE)
    shown(taker, watch, id=publish.id)
    expect(publish.interrupt() == 0, "Ctrl-C is reported as a failure")
    watch.wait("removed", id=publish.id, within=20)
    expect(taker.ctl("list").lines == [], "it is still listed")


@test("continue chooses the latest activity unless one is named, and refuses an ambiguous id")
def choice(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    first = origin.publish(TYPE, "--title", "First")
    shown(taker, watch, id=first.id)
    second = origin.publish("com.example.reading", "--title", "Second")
    shown(taker, watch, id=second.id)
    expect(taker.ctl("continue", "--latest", "--print").line["title"] == "Second", "not the latest activity")
    expect(taker.ctl("continue", "--type", TYPE, "--print").line["title"] == "First", "wrong type")
    expect(taker.ctl("continue", "--from", "origin", "--print").line["title"] == "Second", "wrong device")
    taker.ctl("continue", "--from", "nobody", "--print", code=4)
    taker.ctl("continue", "--type", "com.example.other", "--print", code=4)


@test("continue exits with 4 when nothing is offered, and with 3 without a daemon")
def nothing(stage):
    _, taker = stage.pair()
    refused = taker.ctl("continue", "--print", code=4)
    expect(json.loads(refused.errors)["error"] == "NothingToContinue", str(refused))
    taker.ctl("continue", "--print", "abcdef0", code=4)
    taker.stop()
    refused = taker.ctl("status", code=3)
    expect(taker.socket in json.loads(refused.errors)["message"], str(refused))


@test("without a handler continue exits with 1 and names the type")
def no_handler(stage):
    origin, taker = stage.pair()
    publish = origin.publish("com.example.unheard-of")
    shown(taker, id=publish.id)
    refused = taker.ctl("continue", code=1)
    error = json.loads(refused.errors)
    expect("com.example.unheard-of" in error["message"], str(refused))
    expect(error.get("code") == 4608, str(refused))


@test("a handler receives willContinue and then the activity, and its command receives JSON on standard input")
def handler(stage):
    origin, taker = stage.pair()
    output = os.path.join(stage.folder, "got")
    publish = origin.publish(TYPE, "--title", "x; touch /tmp/bad $(false)", "--user-info", json.dumps(USER_INFO))
    shown(taker, id=publish.id)
    handle = taker.follow("handle", TYPE, "--exec", f"cat >'{output}.part' && mv '{output}.part' '{output}' && env >'{output}.env'")
    while taker.ctl("list").line["opens"]["kind"] != "app":
        time.sleep(0.02)  # The handler attaches at its own pace, and does not report it.
    taker.ctl("continue", publish.id)
    will = handle.wait("willContinue")
    expect(will["type"] == TYPE, f"wrong event: {will}")
    done = handle.wait("continue")
    expect(done["continuation"] == will["continuation"], f"wrong continuation: {will} {done}")
    publish.wait("continued", deviceName="taker")
    with open(output) as file:
        got = json.load(file)
    expect(same(got["userInfo"], USER_INFO), "the payload differs")
    expect(got["title"] == "x; touch /tmp/bad $(false)" and got["origin"]["deviceName"] == "origin", f"wrong: {got}")
    with open(output + ".env") as file:
        expect("touch /tmp/bad" not in file.read(), "the environment contains data of the peer")


@test("continue fails if the handler's command fails, and the origin is not notified")
def handler_refuses(stage):
    origin, taker = stage.pair()
    publish = origin.publish(TYPE)
    shown(taker, id=publish.id)
    handle = taker.follow("handle", TYPE, "--exec", "cat >/dev/null; exit 7")
    while taker.ctl("list").line["opens"]["kind"] != "app":
        time.sleep(0.02)
    refused = taker.ctl("continue", publish.id, code=1)
    expect(json.loads(refused.errors).get("code") == 4608, str(refused))
    handle.wait("continue")
    publish.interrupt()
    heard = publish.rest()
    expect(not any(line["event"] == "continued" for line in heard), f"the origin was notified: {heard}")


@test("the publisher of a file is requested to save, and the current content of the file arrives")
def save(stage):
    origin, taker = stage.pair(configuration=SAVE_TIMEOUT)
    path = stage.file("info.json", '{"state": "old"}')
    publish = origin.publish(TYPE, "--user-info", "@" + path)
    shown(taker, id=publish.id)
    with open(path + ".new", "w") as file:
        file.write('{"state": "new"}')
    os.replace(path + ".new", path)
    taken = taker.ctl("continue", "--print").line
    expect(taken["userInfo"] == {"state": "new"}, f"wrong state: {taken['userInfo']}")
    publish.wait("saved")


@test("a publisher that does not answer delays the payload by one second, and its last saved state arrives")
def frozen_owner(stage):
    origin, taker = stage.pair()
    publish = origin.publish(TYPE, "--user-info", "@" + stage.file("info.json", '{"state": "old"}'))
    shown(taker, id=publish.id)
    publish.process.send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    taken = taker.ctl("continue", "--print").line
    expect(taken["userInfo"] == {"state": "old"}, f"wrong state: {taken}")
    expect(time.monotonic() - begin < 15, "it took much longer than the deadline")
    publish.process.send_signal(signal.SIGCONT)


@test("an activity whose owner was killed is refused with Apple's code, or is no longer offered")
def dead_owner(stage):
    origin, taker = stage.pair()
    publish = origin.publish(TYPE)
    watch = taker.follow("watch")
    shown(taker, watch, id=publish.id)
    publish.process.kill()
    # The activity ends when the daemon receives the end of its connection, which is later than the signal.
    publish.process.wait(60)
    while publish.id in origin.ctl("list", "--mine").output:
        pass
    result = taker.ctl("continue", "--print", publish.id, code=None)
    expect(result.code == 4 or result.code == 1 and json.loads(result.errors).get("code") == 4608, str(result))
    watch.wait("removed", id=publish.id, within=20)


@test("a request ends with one answer if the activity's owner is killed while it saves")
def owner_dies_asked(stage):
    origin, taker = stage.pair()
    publish = origin.publish(TYPE, "--user-info", "@" + stage.file("info.json", '{"a": 1}'))
    shown(taker, id=publish.id)
    publish.process.send_signal(signal.SIGSTOP)
    take = taker.follow("continue", "--print", publish.id)
    publish.process.kill()
    code = take.process.wait(60)
    expect(code in (0, 1, 4), f"code {code}: {take.seen}")
    origin.is_well()
    taker.is_well()


@test("an origin that was killed is reported as unreachable with Apple's error code")
def dead_origin(stage):
    origin, taker = stage.pair()
    publish = origin.publish(TYPE)
    shown(taker, id=publish.id)
    origin.kill()
    result = taker.ctl("continue", "--print", publish.id, "--timeout", "10", code=None)
    expect(result.code == 4 or result.code == 1 and json.loads(result.errors).get("code") in (4609, 4610), str(result))
    taker.is_well()


@test("an origin that is frozen delays the command by the requested timeout and no more")
def frozen_origin(stage):
    origin, taker = stage.pair()
    publish = origin.publish(TYPE)
    shown(taker, id=publish.id)
    origin.process.send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    result = taker.ctl("continue", "--print", publish.id, "--timeout", "2", code=1)
    expect(json.loads(result.errors).get("code") in (4609, 4610), str(result))
    expect(time.monotonic() - begin < 15, "it took much longer than the timeout")
    taker.ctl("status")
    origin.process.send_signal(signal.SIGCONT)
    expect(taker.ctl("continue", "--print", publish.id).line["id"] == publish.id, "it does not work afterwards")


@test("a payload above 64 KiB is published with a warning, and a device that requests it receives 4611")
def oversize(stage):
    origin, taker = stage.pair()
    fits = origin.publish(TYPE, "--user-info", "@" + stage.file("fits.json", json.dumps({"a": "x" * 60_000})))
    shown(taker, id=fits.id)
    expect(len(taker.ctl("continue", "--print").line["userInfo"]["a"]) == 60_000, "it arrived shorter")
    large = origin.publish(TYPE, "--user-info", "@" + stage.file("big.json", json.dumps({"a": "x" * 66_000})))
    shown(taker, id=large.id)
    refused = taker.ctl("continue", large.id, "--print", code=1)
    expect(json.loads(refused.errors).get("code") == 4611, str(refused))


@test("offers survive a restart of the daemon that lists them")
def taker_restarts(stage):
    origin, taker = stage.pair()
    publish = origin.publish(TYPE, "--user-info", '{"a": 1}')
    shown(taker, id=publish.id)
    taker.restart()
    shown(taker, id=publish.id)
    expect(taker.ctl("continue", "--print").line["userInfo"] == {"a": 1}, "wrong payload")
    publish.wait("continued", deviceName="taker")


@test("a publisher continues after its daemon restarts, and the offer reappears")
def origin_restarts(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    publish = origin.publish(TYPE, "--user-info", '{"a": 1}')
    shown(taker, watch, id=publish.id)
    expect(origin.stop() == 0, "the daemon did not exit cleanly")
    while (event := watch.next())["event"] == "changed" and event["kept"] is None:
        pass
    expect(event["event"] == "changed" and event["kept"]["state"] == "offline", f"{event}")
    origin.start()
    again = publish.wait("published")["id"]
    shown(taker, watch, id=again)
    expect(taker.ctl("continue", "--print").line["userInfo"] == {"a": 1}, "wrong payload")


@test("after kill -9 of both daemons the account still exists, and they find each other again")
def both_killed(stage):
    origin, taker = stage.pair()
    account = origin.ctl("account", "show").line["account"]
    for daemon in (origin, taker):
        daemon.kill()
    for daemon in (origin, taker):
        daemon.start()
    expect(taker.ctl("account", "show").line["account"] == account, "wrong account")
    publish = origin.publish(TYPE)
    shown(taker, id=publish.id)


@test("an account file works once, and a damaged file or one for a member is refused")
def tickets(stage):
    first, second, third = (stage.daemon(name) for name in ("first", "second", "third"))
    first.ctl("account", "create")
    refused = first.ctl("account", "create", code=1)
    expect(json.loads(refused.errors)["error"] == "AccountExists", str(refused))
    path = os.path.join(stage.folder, "account")
    first.ctl("account", "export", path)
    expect(os.stat(path).st_mode & 0o777 == 0o600, "the account file is readable by other users")
    first.ctl("account", "export", path, code=1)
    with open(path, "rb") as file:
        content = file.read()
    # Change a byte in the middle to another value. Any value will do because most of the file is random.
    flipped = content[:40] + bytes([content[40] ^ 1]) + content[41:]
    for damaged in (b"", content[:-1], content + b"x", b"\0" * len(content), flipped):
        with open(path + ".bad", "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(damaged)
        refused = second.ctl("account", "import", path + ".bad", code=1)
        expect(json.loads(refused.errors)["error"] == "InvalidAccountFile", str(refused))
    expect(second.ctl("account", "show").line["account"] is None, "a refused file had an effect")
    second.join(path)
    device = second.ctl("status").line["device"]
    again = second.ctl("account", "import", path, code=None)
    expect(again.code in (0, 1), str(again))
    status = second.ctl("status").line
    expect(status["device"] == device and status["account"] == first.ctl("account", "show").line["account"],
           f"a second import of the same file changed something: {status}")
    publish = first.publish(TYPE)
    shown(second, id=publish.id)
    expect({device["name"] for device in second.ctl("devices").lines} >= {"first", "second"}, "wrong devices")
    refused = third.ctl("account", "import", path, code=1)
    expect(json.loads(refused.errors)["error"] == "NotJoined", str(refused))
    expect(third.ctl("list").lines == [], "a used file admits another device")


@test("one command that sends 33 items uses two connections, and other tools work beside several such commands")
def many_things(stage):
    origin, taker = stage.pair()
    pages = [f"https://example.org/{number}" for number in range(32)]
    sending = [origin.follow("send", "taker", "--text", f"text {number}", *pages) for number in range(4)]
    watch = taker.follow("watch")
    for command in sending:
        for _ in range(33):
            command.wait("published")
    for _ in range(4 * 33):
        watch.wait("added")
    origin.ctl("status")

    def connections():
        with open("/proc/net/unix") as file:
            return sum(line.rstrip().endswith(origin.socket) and " 03 " in line for line in file)

    # The daemon may close the connection of `status` after that command has exited.
    limit = time.monotonic() + 60
    while (count := connections()) > 8:
        expect(time.monotonic() < limit, f"{count} connections of 4 commands")
        time.sleep(0.05)
    expect(sending[0].interrupt() == 0, "wrong exit code")
    # The offers of one command are withdrawn, and the others remain.
    for _ in range(33):
        watch.wait("removed")
    expect(len(taker.ctl("list").lines) == 3 * 33, "wrong number of offers")


@test("nothing is offered to a device of another account or without an account")
def other_accounts(stage):
    origin, taker = stage.pair()
    other, none = stage.daemon("other"), stage.daemon("none")
    other.ctl("account", "create")
    watches = [other.follow("watch"), none.follow("watch")]
    publish = origin.publish(TYPE)
    shown(taker, id=publish.id)
    expect(taker.ctl("continue", "--print").line["id"] == publish.id, "wrong activity")
    for daemon, watch in zip((other, none), watches):
        expect(daemon.ctl("list").lines == [], "an unknown device lists something")
        watch.interrupt()
        while (line := watch.next()) is not None:
            if line["event"] == "added":
                raise Failure(f"an unknown device was offered {line}")


@test("text from a peer is displayed with its control and bidirectional characters made visible")
def hostile_title(stage):
    origin, taker = stage.pair()
    publish = origin.publish(TYPE, "--title", "a\u202eb\x1b[2Jc\u2066d")
    offer = shown(taker, id=publish.id)
    expect(offer["title"] == "a\u202eb\x1b[2Jc\u2066d", f"JSON must contain the text unchanged: {offer}")
    plain = run([os.path.join(BIN, "handoffctl"), "--socket", taker.socket, "list"], taker.environment)
    for character in "\u202e\x1b\u2066":
        expect(character not in plain.output, f"{character!r} reaches the terminal: {plain.output!r}")


@test("titles = no removes titles from offers, but not from payloads")
def no_titles(stage):
    origin = stage.daemon("origin", configuration="titles = no\n")
    taker = stage.daemon("taker")
    stage.join(origin, taker)
    publish = origin.publish(TYPE, "--title", "Secret plan")
    offer = shown(taker, id=publish.id)
    expect(offer["title"] is None, f"the offer contains the title: {offer}")
    expect(taker.ctl("continue", "--print").line["title"] == "Secret plan", "the payload lacks the title")


def settled(daemon, within=60):
    """Returns the epoch, once the file with which a device joined is closed."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        status = daemon.ctl("status").line
        if not status["tickets"] and not status["warnings"]:
            return status["epoch"]
    raise Failure(f"{daemon.name} has an open ticket, or lacks the key: {status}")


@test("without multicast, a static peer is connected in both directions")
def static_peer(stage):
    origin = stage.daemon("origin", discovery="static")
    taker = stage.daemon("taker", discovery="static")
    taker.ctl("peer", "add", f"127.0.0.1:{origin.ctl('status').line['port']}")
    stage.join(origin, taker)
    publish = origin.publish(TYPE, "--user-info", '{"a": 1}')
    shown(taker, id=publish.id)
    expect(taker.ctl("continue", "--print").line["userInfo"] == {"a": 1}, "wrong payload")
    publish.wait("continued", deviceName="taker")


@test("a static peer works with a wrong clock, in both directions, before and after either side restarts")
def static_peer_with_another_clock(stage):
    for days in (-2, 2):
        origin, taker = (stage.daemon(f"{name}{days}", discovery="static", start=False) for name in ("origin", "taker"))
        Clock(taker).set(days * DAY)
        for daemon in (origin, taker):
            daemon.start()
        ports = {daemon: daemon.ctl("status").line["port"] for daemon in (origin, taker)}
        taker.ctl("peer", "add", f"127.0.0.1:{ports[origin]}")
        stage.join(origin, taker)
        for daemon in (None, taker, origin):
            if daemon:
                daemon.options[daemon.options.index("--port") + 1] = str(ports[daemon])
                daemon.stop()
                daemon.start()
            publish = origin.publish(TYPE, "--user-info", '{"a": 1}')
            taker.follow("watch").wait("added", id=publish.id, within=60)
            expect(taker.ctl("continue", "--print").line["userInfo"] == {"a": 1}, "wrong payload")
            publish.process.terminate()
        # In the other direction the device that knows the address has the correct clock.
        for daemon in (origin, taker):
            daemon.stop()
        taker.start()
        origin.start()
        taker.ctl("peer", "remove", f"127.0.0.1:{ports[origin]}")
        origin.ctl("peer", "add", f"127.0.0.1:{ports[taker]}")
        publish = taker.publish(TYPE)
        origin.follow("watch").wait("added", id=publish.id, within=60)


@test("a member that was offline is found at its static address although the account's key has changed")
def straggler_without_multicast(stage):
    origin, taker, third = (stage.daemon(name, discovery="static") for name in ("origin", "taker", "third"))
    ports = {daemon: daemon.ctl("status").line["port"] for daemon in (origin, taker, third)}
    taker.ctl("peer", "add", f"127.0.0.1:{ports[origin]}")
    stage.join(origin, taker)
    origin.ctl("peer", "add", f"127.0.0.1:{ports[taker]}")
    publisher = origin.publish(TYPE)
    taker.follow("watch").wait("added", id=publisher.id)
    before = settled(taker)
    expect(taker.stop() == 0, "the taker did not exit cleanly")
    third.ctl("peer", "add", f"127.0.0.1:{ports[origin]}")
    stage.join(origin, third)
    origin.ctl("account", "rotate")
    third.follow("watch").wait("added", id=publisher.id)
    epoch = settled(origin)
    expect(epoch > before, "the account's key has not changed")
    taker.options[taker.options.index("--port") + 1] = str(ports[taker])
    taker.start()
    taker.follow("watch").wait("added", id=publisher.id, within=60)
    expect(settled(taker) == epoch, "the taker does not have the key")


@test("a request for a stream skips activities without one and prefers an activity with one")
def without_stream(stage):
    origin, taker = stage.pair()
    folder = os.path.join(stage.folder, "small")
    os.mkdir(folder)
    stage.file("small/six", "6bytes")
    watch = taker.follow("watch")
    sending = origin.publish("com.example.other", "--stream", folder)
    shown(taker, watch, id=sending.id)
    plain = origin.publish(TYPE)
    shown(taker, watch, id=plain.id)
    output = os.path.join(stage.folder, "output")
    os.mkdir(output)
    for words in ([plain.id], ["--type", TYPE], ["--latest", "--type", TYPE]):
        expect("StreamFailed" in taker.ctl("continue", "--output", output, *words, code=1).errors, f"{words}")
    received = taker.ctl("continue", "--latest", "--output", output).lines[-1]
    expect(received["event"] == "received" and received["bytes"] == 6, f"{received}")
    plain.interrupt()
    expect(not any(line.get("event") == "continued" for line in plain.rest()), f"{plain.seen}")
    expect(sending.wait("stream", state="finished")["bytes"] == 6, "the size is that of the archive")


def into_closed_pipe(daemon, words, error=False, ignored=False):
    """Runs a command whose standard output, or standard error, is a pipe without a reader. Returns
    how it ended and what it printed on the other one."""
    reader, writer = os.pipe()
    os.close(reader)
    command = ["sh", "-c", "trap '' PIPE; exec \"$@\"", "sh"] if ignored else []
    try:
        streams = (subprocess.PIPE, writer) if error else (writer, subprocess.PIPE)
        process = subprocess.Popen([*command, os.path.join(BIN, "handoffctl"), "--socket", daemon.socket, *words],
                                   env=daemon.environment, stdin=subprocess.DEVNULL, stdout=streams[0], stderr=streams[1])
    finally:
        os.close(writer)
    output, errors = process.communicate(timeout=60)
    return process.returncode, (output if error else errors).decode()


@test("a command whose reader has closed the pipe ends silently by SIGPIPE, as cat does")
def closed_pipe(stage):
    origin, taker = stage.pair()
    path = stage.file("large", "text " * 100_000)
    sending = origin.publish(TYPE, "--stream", path)
    taker.follow("watch").wait("added")
    for words in (["--version"], ["help"], ["status"], ["devices"], ["--json", "devices"], ["list"], ["watch"], ["doctor"],
                  ["completion", "bash"], ["completion", "words", "--", "st"], ["account", "export", "-"], ["pair", "--yes"],
                  ["publish", "com.example.other"], ["continue", "--output", "-"]):
        for ignored in (False, True):
            ended = into_closed_pipe(taker, words, ignored=ignored)
            expect(ended[0] == -signal.SIGPIPE and "pipe" not in ended[1], f"{words}, ignored: {ignored}: {ended}")
    for words in (["no-such-command"], ["continue", "ffffff"], ["send", "origin", "no-such-file"]):
        ended = into_closed_pipe(taker, words, error=True)
        expect(ended[0] == -signal.SIGPIPE, f"{words}: {ended}")
    sending.interrupt()


@test("ten activities are listed, the most recent first")
def ten(stage):
    origin, taker = stage.pair()
    watch = taker.follow("watch")
    ids = []
    for number in range(10):
        publish = origin.publish(TYPE, "--title", f"{number} " + "long title " * 8)
        shown(taker, watch, id=publish.id)
        ids.insert(0, publish.id)
    expect([line["id"] for line in taker.ctl("list").lines] == ids, "wrong order, or some are missing")


if __name__ == "__main__":
    main()
