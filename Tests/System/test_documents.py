"""Documents of apps between two daemons: files in folders that both devices have, and files that are fetched."""

import hashlib
import json
import os

from documents import checkout, configure, write
from harness import Failure, expect, main, same, test
from kit import App

TYPE = "com.example.kit.editing"
KEY = "NSUserActivityDocumentURLKey"


def apps(stage, origin_roots="", taker_roots=""):
    """Two devices, an app that publishes on the first, and one that continues on the second."""
    origin, taker = stage.pair()
    configure(origin, origin_roots.replace("HERE", os.path.realpath(origin.folder)))
    configure(taker, taker_roots.replace("HERE", os.path.realpath(taker.folder)))
    author = App(origin)
    reader = App(taker, types=[TYPE]).handle()
    return origin, taker, author, reader


def offered(taker, **fields):
    """Waits until an activity with these fields, which an app opens, is offered to a device. Returns the offer."""
    watch = taker.follow("watch")
    while (offer := watch.next()) is not None:
        if offer.get("type") == TYPE and all(offer.get(key) == value for key, value in fields.items()):
            # An app does not report when its types are known, but it was attached before anything was published.
            watch.process.kill()
            return offer
    raise Failure(f"the watch ended: {watch.seen}")


def carry_on(taker, reader):
    """Continues the activity. Returns the data that the app received."""
    taker.ctl("continue", "--type", TYPE)
    return reader.wait("continue")


def fetched_files(daemon):
    """Returns the fetched files that exist on a device."""
    found = []
    for folder, _, names in os.walk(os.path.join(daemon.folder, "cache", "handoff", "documents")):
        found += [name for name in names if not (name.endswith(".lock") and folder.endswith("documents"))]
    return found


@test("of a file URL that a command publishes, only the name is sent to the other device")
def command_publishes(stage):
    origin, taker = stage.pair()
    publish = origin.publish(TYPE, "--user-info", json.dumps({"document": {"$url": f"file://{origin.folder}/Draft.txt"}}))
    offered(taker, id=publish.id)
    given = taker.ctl("continue", publish.id, "--print")
    same(given.line["userInfo"], {"document": {"$url": "handoff-document:name/Draft.txt"}})
    expect(origin.folder not in given.output, f"a path was sent: {given}")


@test("a document in a shared root arrives as the same document of the other device")
def shared_root(stage):
    origin, taker, author, reader = apps(stage, "root = notes HERE/Sync/Notes\n", "root = notes HERE/elsewhere\n")
    path = write(origin, "Sync/Notes/sub/Letter to Ada.md")
    there = write(taker, "elsewhere/sub/Letter to Ada.md", b"the same")
    author.do("document", path=path, type=TYPE)
    offer = offered(taker)
    expect(offer["title"] == "Letter to Ada.md", f"the title is not the name: {offer}")
    given = carry_on(taker, reader)
    expect(given["userInfo"][KEY] == "URL file://" + there.replace(" ", "%20"), f"not the same document: {given}")
    reader.do("access")
    access = reader.wait("access")
    expect(access["there"] and access["path"] == there and access["bytes"] == 8, f"not accessible: {access}")
    reader.do("unaccess")
    reader.wait("unaccess")
    expect(os.path.exists(there), "a file of the user was deleted")
    expect(os.path.realpath(origin.folder) not in str(given), f"a path was sent: {given}")


@test("a document in a checkout arrives in the other checkout of the same repository")
def repository(stage):
    origin, taker, author, reader = apps(stage, "checkouts = HERE/src\n", "checkouts = HERE/code\n")
    checkout(origin, "src/letters", "https://ada:secret-token@Example.org/notes/letters.git")
    checkout(taker, "code/host/mine", "git@example.org:notes/letters")
    path = write(origin, "src/letters/chapter/one.md")
    author.do("document", path=path, type=TYPE)
    offered(taker)
    given = carry_on(taker, reader)
    there = os.path.join(os.path.realpath(taker.folder), "code/host/mine/chapter/one.md")
    expect(given["userInfo"][KEY] == "URL file://" + there, f"not in the other checkout: {given}")
    reader.do("access")
    expect(reader.wait("access")["there"] is False, "the document is already there")


@test("any other document is fetched when it is accessed, on the main queue, and deleted afterwards")
def fetch(stage):
    origin, taker, author, reader = apps(stage)
    content = os.urandom(5_000_000)
    paths = [write(origin, "private/large.bin", content), write(origin, "private/folder/inside"),
             os.path.join(origin.folder, "private/missing")]
    paths[1] = os.path.dirname(paths[1])
    author.publish(TYPE)
    author.do("files", paths=paths)
    offered(taker, streams=True)
    given = carry_on(taker, reader)
    urls = given["userInfo"]["files"]
    expect("handoff-document:name/missing" in urls[2], f"an unreadable file has a URL: {urls}")
    expect(not any(origin.folder in url for url in urls), f"a path was sent: {urls}")
    # It is accessed twice, and so must be released twice.
    for _ in range(2):
        reader.do("access", index=0)
        access = reader.wait("access")
        expect(access["there"] and access["bytes"] == len(content), f"not accessible: {access}")
    with open(access["path"], "rb") as file:
        expect(hashlib.sha256(file.read()).digest() == hashlib.sha256(content).digest(), "the content differs")
    expect(os.stat(os.path.dirname(access["path"])).st_mode & 0o777 == 0o700, "other users can read it")
    for there in (True, False):
        reader.do("unaccess", index=0)
        expect(reader.wait("unaccess")["there"] is there, "it was not deleted with the last access")
    reader.do("fetch", index=1)
    folder = reader.wait("access")
    expect(folder["there"] and os.listdir(folder["path"]) == ["inside"], f"the folder is incomplete: {folder}")
    reader.do("unaccess", index=1)
    expect(reader.wait("unaccess")["there"] is False and not fetched_files(taker), "files remain")
    reader.do("fetch", index=2)
    failed = reader.wait("access")
    expect(failed["there"] is False and "missing is not available" in failed["message"], f"wrong reason: {failed}")


@test("a document that was changed or deleted since is fetched in its current state, or not at all")
def changed(stage):
    origin, taker, author, reader = apps(stage)
    path = write(origin, "private/draft.txt", b"first")
    author.do("document", path=path, type=TYPE)
    offered(taker, streams=True)
    carry_on(taker, reader)
    write(origin, "private/draft.txt", b"second, and longer")
    reader.do("access")
    expect(reader.wait("access")["bytes"] == len(b"second, and longer"), "not the current content")
    reader.do("unaccess")
    reader.wait("unaccess")
    os.unlink(path)
    reader.do("fetch")
    failed = reader.wait("access")
    expect(failed["there"] is False and "draft.txt" in failed["message"], f"wrong reason: {failed}")
    expect("private" not in failed["message"], f"the error contains the path: {failed}")
    # It is closed, so none of its files are served any more.
    write(origin, "private/draft.txt", b"third")
    author.do("close")
    author.state()  # The next command is answered after that.
    reader.do("fetch")
    failed = reader.wait("access")
    expect(failed["there"] is False, f"the error is not that its activity has ended: {failed}")


@test("an app that exits during a fetch causes an error, and leaves nothing behind")
def gone(stage):
    origin, taker, author, reader = apps(stage)
    # Holes of a sparse file would be fetched faster than the app is killed.
    path = write(origin, "private/huge.bin", os.urandom(1 << 20) * 512)
    author.do("document", path=path, type=TYPE)
    offered(taker, streams=True)
    carry_on(taker, reader)
    reader.do("fetch")
    reader.wait("progress")
    author.process.kill()
    failed = reader.wait("access")
    expect(failed["there"] is False and failed["code"] in (4608, 4609, 4610), f"wrong reason: {failed}")
    expect(not [name for name in fetched_files(taker) if name == "huge.bin"], "an incomplete document remains")


if __name__ == "__main__":
    main()
