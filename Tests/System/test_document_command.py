"""`handoffctl document` between two daemons, and the documents that `handoffctl publish` offers."""

import json
import os
import subprocess

from documents import checkout, configure, write
from harness import Failure, content, expect, main, run, same, test
from streaming import APPS, Connection

TYPE = "com.example.editing"


def devices(stage, origin_roots="", taker_roots=""):
    origin, taker = stage.pair()
    for daemon, text in ((origin, origin_roots), (taker, taker_roots)):
        configure(daemon, text.replace("HERE", os.path.realpath(daemon.folder)))
    return origin, taker


def publish(origin, *paths, fragment=""):
    """Publishes an activity that names these files."""
    urls = [{"$url": "file://" + path.replace(" ", "%20") + fragment} for path in paths]
    return origin.publish(TYPE, "--user-info", json.dumps({"files": urls}))


def offered(taker, activity):
    """Waits until an activity is offered to a device."""
    watch = taker.follow("watch")
    while (offer := watch.next()) is not None:
        if offer.get("id") == activity:
            return watch.process.kill()
    raise Failure(f"the watch ended: {watch.seen}")


def received(taker, publisher):
    """Returns the URLs that the other device receives."""
    offered(taker, publisher.id)
    given = taker.ctl("continue", publisher.id, "--print")
    expect(taker.stage.folder not in given.output, f"a path was sent: {given}")
    return [url["$url"] for url in given.line["userInfo"]["files"]]


def text(daemon, *words):
    """Runs handoffctl without --json."""
    done = run([os.path.join(daemon.programs, "handoffctl"), "--socket", daemon.socket, *words], daemon.environment)
    return done


@test("a document in a shared root or a checkout is found at its place on the other device, without a transfer")
def shared(stage):
    origin, taker = devices(stage, "root = notes HERE/Sync/Notes\ncheckouts = HERE/src\n",
                            "root = notes HERE/elsewhere\ncheckouts = HERE/code\n")
    checkout(origin, "src/letters", "https://ada:secret-token@Example.org/notes/letters.git")
    checkout(taker, "code/host/mine", "git@example.org:notes/letters")
    here = [write(origin, "Sync/Notes/sub/Letter to Ada.md"), write(origin, "src/letters/one.md")]
    there = [write(taker, "elsewhere/sub/Letter to Ada.md"), write(taker, "code/host/mine/one.md")]
    publisher = publish(origin, *here, fragment="#line=7")
    urls = received(taker, publisher)
    for url, path, local in zip(urls, here, there):
        named = origin.ctl("document", path).line
        expect(named["shared"] and url == named["url"] + url[url.index("?"):], f"different URLs: {url} {named}")
        found = taker.ctl("document", url, "--from", publisher.id).line
        same_place = {"version": 1, "url": url, "path": local, "fragment": "line=7", "fetched": False}
        expect(same(found, same_place), f"not the same document: {found}")
        expect(text(taker, "document", url).output == local + "\n", "not only the path")
    # The file has not arrived there yet, so it is fetched.
    os.unlink(there[0])
    missing = taker.ctl("document", urls[0], code=1)
    expect("NoDocument" in missing.errors and "synchronised" in missing.errors, f"wrong reason: {missing}")
    copy = taker.ctl("document", urls[0], "--from", publisher.id).lines[-1]
    expect(copy["fetched"] and content(copy["path"]) == content(here[0]), f"not fetched: {copy}")
    expect(not os.path.exists(there[0]), "a shared folder was changed")


@test("any other document is fetched into a private folder, only the path is printed, and no copy is replaced")
def fetched(stage):
    origin, taker = devices(stage)
    data = os.urandom(3_000_000)
    large = write(origin, "private/large file.bin", data)
    write(origin, "private/folder/inside")
    publisher = publish(origin, large, os.path.dirname(large) + "/folder", os.path.join(origin.folder, "missing"))
    urls = received(taker, publisher)
    expect("?fetch=" not in urls[2] and urls[2].endswith("name/missing"), f"a missing file can be fetched: {urls}")
    done = text(taker, "document", urls[0], "--from", publisher.id[:8])
    path = done.output.rstrip("\n")
    expect(done.code == 0 and not done.errors and done.output.count("\n") == 1, f"not only the path: {done}")
    expect(os.path.basename(path) == "large file.bin" and content(path) == data, f"not the document: {path}")
    expect(path.startswith(os.path.join(taker.folder, "cache", "handoff", "fetched")), f"not in the cache: {path}")
    expect(os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700, "other users can read it")
    write(origin, "private/large file.bin", b"saved since")
    second = text(taker, "document", urls[0], "--from", publisher.id[:8]).output.rstrip("\n")
    expect(content(path) == data and content(second) == b"saved since", f"not the current content: {second}")
    folder = taker.ctl("document", urls[1], "--from", publisher.id).lines[-1]
    expect(os.listdir(folder["path"]) == ["inside"], f"not the folder: {folder}")
    chosen = taker.ctl("document", urls[0], "--from", publisher.id, "--output", os.path.join(taker.folder, "mine.bin"))
    expect(chosen.lines[-1]["path"] == os.path.join(taker.folder, "mine.bin"), f"not where it was requested: {chosen}")
    expect([line.get("event") for line in chosen.lines] == ["stream", None], f"other events: {chosen}")
    taker.environment["XDG_CACHE_HOME"] = os.path.join(taker.folder, "mine.bin")
    unusable = taker.ctl("document", urls[0], "--from", publisher.id, code=1)
    expect("cannot create" in unusable.errors and "mine.bin" in unusable.errors, f"wrong reason: {unusable}")
    missing = taker.ctl("document", urls[2], "--from", publisher.id, code=1)
    expect("the other device could not read it" in missing.errors, f"wrong reason: {missing}")


@test("a document that was deleted, and one whose activity has ended, are errors without a path of the other device")
def gone(stage):
    origin, taker = devices(stage)
    path = write(origin, "private/draft.txt")
    publisher = publish(origin, path)
    url, = received(taker, publisher)
    for number in (1, 99999):
        other = taker.ctl("document", f"handoff-document:name/passwd?fetch={number}", "--from", publisher.id, code=1)
        expect('"unsupported"' in other.errors, f"an unknown number: {other}")
    os.unlink(path)
    deleted = taker.ctl("document", url, "--from", publisher.id, code=1)
    expect('"unreadable"' in deleted.errors and "private" not in deleted.errors, f"wrong reason: {deleted}")
    os.mkfifo(path)
    pipe = taker.ctl("document", url, "--from", publisher.id, code=1)
    expect('"unreadable"' in pipe.errors, f"wrong reason: {pipe}")
    publisher.interrupt()
    ended = taker.ctl("document", url, "--from", publisher.id, code=None)
    expect(ended.code in (1, 4) and "private" not in ended.errors, f"wrong reason: {ended}")


@test("documents are offered again after the daemon was restarted, and a changed payload can name other files")
def republished(stage):
    origin, taker = devices(stage)
    paths = [write(origin, f"private/{name}", name.encode()) for name in ("a.txt", "b.txt")]

    def payload(*paths):
        return json.dumps({"files": [{"$url": "file://" + path} for path in paths]})

    file = stage.file("payload", payload())
    publisher = origin.publish(TYPE, "--user-info", "@" + file)
    offered(taker, publisher.id)
    # Only now the activity has documents, and so streams.
    stage.file("payload", payload(paths[0]))
    first, = received(taker, publisher)
    stage.file("payload", payload(paths[1], paths[0]))
    expect(received(taker, publisher)[1] == first, "a document has another number")
    origin.restart()
    publisher.id = publisher.wait("published")["id"]
    urls = received(taker, publisher)
    expect(urls[1] == first, f"a document has another number: {urls}")
    for url, path in zip(urls, reversed(paths)):
        copy = taker.ctl("document", url, "--from", publisher.id).lines[-1]["path"]
        expect(content(copy) == content(path), f"another document: {url} {copy}")


@test("hostile URLs and names have no effect outside the shared folder, and a name that is not UTF-8 is an error")
def hostile(stage):
    origin, taker = devices(stage, "", "root = notes HERE/notes\n")
    write(taker, "notes/a.md")
    write(taker, "secret/b.md")
    os.symlink(os.path.join(taker.folder, "secret"), os.path.join(taker.folder, "notes", "link"))
    for url, code in (("root/notes/%2e%2e/secret/b.md", 2), ("root/notes/../secret/b.md", 2),
                      ("root/notes/..%2Fsecret%2Fb.md", 2), ("root/notes/link/b.md", 1), ("root/notes/%00", 2),
                      ("root//etc/passwd", 2), ("root/notes/a.md?fetch=0x1", 2), ("git/%2E%2E%2Fx/a", 2),
                      ("root/notes/" + "a/" * 3000, 2), ("name/%1B%5B2J?fetch=1", 1)):
        refused = taker.ctl("document", "handoff-document:" + url, code=code)
        expect(not refused.output and "\x1b" not in refused.errors, f"not refused: {refused}")
    # A name with control characters is shown, but does not control the terminal or the output.
    strange = os.path.join(os.path.realpath(origin.folder), "x\n\x1b[31m\u202etxt.exe")
    write(origin, os.path.basename(strange))
    named = origin.ctl("document", strange)
    expect(named.line["url"] == "handoff-document:name/x%0A%1B%5B31m%E2%80%AEtxt.exe", f"not the name: {named}")
    publisher = publish(origin, strange.replace("\n", "%0A").replace("\x1b", "%1B").replace("[", "%5B"))
    url, = received(taker, publisher)
    copy = taker.ctl("document", url, "--from", publisher.id).lines[-1]["path"]
    expect(os.path.basename(copy) == "x__[31mtxt.exe" and os.path.exists(copy), f"an unsafe name: {copy!r}")
    folder = os.path.realpath(origin.folder).encode()
    with open(folder + b"/\xff.txt", "wb"):
        pass
    refused = text(origin, "document", folder + b"/\xff.txt")
    expect(refused.code == 1 and "not UTF-8" in refused.errors, f"wrong reason: {refused}")
    # The working directory can be unusual as well.
    done = subprocess.run([os.path.join(origin.programs, "handoffctl"), "document", "-x.md"], cwd=folder,
                          env=origin.environment, capture_output=True)
    expect(done.returncode == 2, f"an option: {done}")
    write(origin, "-x.md")
    done = subprocess.run([os.path.join(origin.programs, "handoffctl"), "document", "--", "-x.md"], cwd=folder,
                          env=origin.environment, capture_output=True)
    expect(done.stdout == b"handoff-document:name/-x.md\n", f"not a relative path: {done}")


@test("programs that use only the control protocol send and fetch documents by the command")
def programs(stage):
    origin, taker = devices(stage)
    path = write(origin, "private/draft.txt", b"of a program")
    url = origin.ctl("document", path).line["url"]
    events = Connection(origin)
    session = events.send(APPS + "Attach", more=True, app="author", types=[]).wait("attached")["session"]
    calls = Connection(origin)
    activity = calls.call(APPS + "Publish", session=session, activity={
        "type": TYPE, "userInfo": {"file": {"$url": url + "?fetch=5"}}, "supportsContinuationStreams": True})["activity"]
    calls.call(APPS + "BecomeCurrent", session=session, activity=activity)
    reader = Connection(taker)
    attached = reader.send(APPS + "Attach", more=True, app="reader", types=[TYPE]).wait("attached")["session"]
    offered(taker, activity)
    continuing = taker.follow("continue", activity)
    event = reader.wait("continue")
    Connection(taker).call(APPS + "AnswerContinue", session=attached, continuation=event["continuation"], handled=True)
    continuing.wait("continued")
    fetch = taker.follow("document", "--continuation", event["continuation"], event["content"]["userInfo"]["file"]["$url"])
    request = events.wait("stream")
    expect(request["resource"] == "document/5", f"another resource: {request}")
    sent = origin.ctl("document", "--send", request["stream"], path).line
    expect(sent["bytes"] == 12, f"not sent: {sent}")
    copy = fetch.rest()[-1]
    expect(copy["fetched"] and content(copy["path"]) == b"of a program", f"not fetched: {copy}")
    again = origin.ctl("document", "--send", request["stream"], path, code=1)
    expect("NoSuchStream" in again.errors, f"a stream can be accepted twice: {again}")
    # The program no longer has the file: the other device gets the reason.
    fetch = taker.follow("document", "--continuation", event["continuation"], url + "?fetch=6")
    request = events.wait("stream", resource="document/6")
    origin.ctl("document", "--send", request["stream"], os.path.join(origin.folder, "private", "none"), code=1)
    expect(fetch.next() is None and fetch.process.wait(20) == 1, "a missing file was fetched")
    with open(fetch.log) as file:
        errors = file.read()
    expect('"unreadable"' in errors and "private" not in errors, f"wrong reason: {errors}")

    fetch = taker.follow("document", "--continuation", event["continuation"], url + "?fetch=7")
    events.wait("stream", resource="document/7")
    expect(fetch.interrupt() == 130, "Ctrl-C has another exit status")


if __name__ == "__main__":
    main()
