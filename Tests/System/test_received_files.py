"""The effect of a failing `continue --output` on existing files: nothing is lost, and nothing is
incomplete.

Each kind of content is sent to each kind of place, in one piece and byte by byte, while the sender,
the disk or the file system fails at one step after the other. The daemon and its app are simulated.
The file calls of the command are made to fail.
"""

import errno
import mmap
import os
import shutil
import struct
import tempfile

import faults
from harness import BIN, expect, main, run, test
from played_sender import PlayedSender, archive

OLD = b"what was there before" * 50
FILES = {"one": b"1" * 700, "two": b"2" * 3000}
# The kind of the content, the existing file, and whether the daemon accepts the file.
CASES = [
    ("file", "nothing", True), ("file", "another", True), ("file", "a beginning", True),
    ("file", "nothing", False), ("file", "another", False), ("file", "a beginning", False),
    ("stream", "nothing", False), ("stream", "another", False), ("folder", "nothing", False),
]
ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


class Place:
    """The destination of a content: `output` in a folder of its own, created for each attempt."""

    def __init__(self, stage, kind, before, passes, at_once):
        self.stage, self.kind, self.before, self.passes, self.at_once = stage, kind, before, passes, at_once
        self.plain = FILES if kind == "folder" else os.urandom(80_000 if at_once else 600)
        self.content = archive(FILES) if kind == "folder" else self.plain
        self.control = os.path.join(stage.folder, "control")
        os.makedirs(self.control, exist_ok=True)
        self.page_path = os.path.join(self.control, "page")
        with open(self.page_path, "wb") as file:
            file.write(bytes(4096))
        with open(self.page_path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 4096)
        self.folder = None

    def __str__(self):
        way = "passed" if self.passes else "written by the command"
        return f"{self.kind} over {self.before}, {way}, {'in one piece' if self.at_once else 'byte by byte'}"

    def prepare(self):
        if self.folder:
            shutil.rmtree(self.folder)
        self.folder = tempfile.mkdtemp(dir=self.stage.folder)
        self.output = os.path.join(self.folder, "output")
        if self.before == "another":
            with open(self.output, "wb") as file:
                file.write(OLD)
        elif self.before == "a beginning":
            self.receive(part=len(self.content) // 2, ending="cut")
            expect(len(os.listdir(self.folder)) == 1, f"{self}: no partial file was kept: {os.listdir(self.folder)}")

    def receive(self, step=0, error=0, within=30, **how):
        """Runs the command, with its `step`th file call failing. Returns its result and the number of such calls."""
        sender = PlayedSender(self.control, self.kind, self.content, self.at_once, self.passes, **how)
        struct.pack_into("<QQIIII", self.page, 0, 0, step, faults.FILES, faults.HOW["fail"], error, 0)
        environment = {
            "PATH": os.environ["PATH"], "LD_PRELOAD": faults.library(), "FAULTS_PAGE": self.page_path,
            "FAULTS_FOLDER": os.path.realpath(self.folder)}
        timeout = ["--timeout", "1"] if how.get("ending") == "silence" else []
        try:
            result = run([os.path.join(BIN, "handoffctl"), "--socket", sender.path, "continue", "--latest", "--output",
                          self.output, "--force", *timeout], environment, within)
        finally:
            sender.close()
        self.sender = sender
        return result, struct.unpack_from("<Q", self.page, 0)[0]

    def found(self):
        """Returns the content of the file, or None without one."""
        if os.path.isdir(self.output):
            contents = {}
            for name in os.listdir(self.output):
                with open(os.path.join(self.output, name), "rb") as file:
                    contents[name] = file.read()
            return contents
        try:
            with open(self.output, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def is_as_before(self, about):
        former = OLD if self.before == "another" else None
        found = self.found()
        shown = found if isinstance(found, dict) or found is None else f"{len(found)} bytes"
        expect(found == former, f"{self}, {about}: the existing file is lost, and there is now {shown}")
        self.leaves_nothing(about)

    def leaves_nothing(self, about):
        """Checks that nothing remains of content that cannot be resumed."""
        rest = [name for name in os.listdir(self.folder) if name != "output"]
        expect(len(rest) <= (self.kind == "file"), f"{self}, {about}: remaining files: {rest}")

    def is_whole(self, about):
        expect(self.found() == self.plain, f"{self}, {about}: the content is missing")

    def works(self, about):
        """Runs the same again, without a failure."""
        result, steps = self.receive()
        expect(result.code == 0, f"{self}, {about}: {result}")
        self.is_whole(about)
        expect(os.listdir(self.folder) == ["output"], f"{self}, {about}: remaining files: {os.listdir(self.folder)}")
        return steps


def places(stage):
    for case in CASES:
        for at_once in (True, False):
            yield Place(stage, *case, at_once)


@test("a failing file call loses no existing file, at every step", limit=400)
def every_step(stage):
    count = 0
    for place in places(stage):
        place.prepare()
        steps = place.works("with nothing that fails")
        expect(steps >= 4, f"{place}: only {steps} calls were seen")
        # Byte by byte there are as many writes as bytes. Test the first and the last, and the calls
        # before and after them.
        wanted = [*range(1, min(steps, 9) + 1), *range(max(10, steps - 8), steps + 1)]
        for step in wanted:
            place.prepare()
            error = ERRORS[step % len(ERRORS)]
            about = f"{errno.errorcode[error]} at call {step} of {steps}"
            result, _ = place.receive(step, error)
            count += 1
            if result.code == 0:
                # A call whose failure has no effect, such as the deletion of a file that does not exist.
                place.is_whole(about)
                continue
            expect(result.code == 1, f"{place}, {about}: {result}")
            expect("cannot" in result.errors, f"{place}, {about}: the error does not name the failed call: {result.errors}")
            if place.found() == place.plain:
                # The file has its name, and only the folder itself was not synced to the disk.
                expect("power" in result.errors, f"{place}, {about}: the error does not mention the existing file: {result.errors}")
                continue
            place.is_as_before(about)
            place.works(f"after {about}")
    print(f"    {count} failures")


@test("a failing sender loses no existing file", limit=200)
def senders(stage):
    count = 0
    for place in places(stage):
        size = len(place.content)
        endings = [(1, "cut"), (size - 1, "silence"), (None, "cut")]
        endings += [(None, ending) for ending in ("error", "garbage")]
        if place.kind != "file":
            # The size is unknown, so anything can follow in the middle.
            endings += [(part, ending) for part in (0, 1, size - 1) for ending in ("error", "garbage")]
        if place.passes:
            # A daemon that writes the file sends no messages in the middle of it.
            endings = [(1, "cut"), (1, "refusal"), (None, "error"), (None, "garbage")]
        for part, ending in endings:
            place.prepare()
            about = f"{ending} after {'all' if part is None else part} bytes"
            result, _ = place.receive(part=part, ending=ending)
            count += 1
            expect(result.code == 1, f"{place}, {about}: {result}")
            place.is_as_before(about)
            place.works(f"after {about}")
    print(f"    {count} failures")


@test("data after the sender's last message undoes nothing")
def behind_the_last_word(stage):
    for place in places(stage):
        for behind in (b"\0\0\0\7garbage", b"\0\0\0\0", b"\xff" * 70_000):
            place.prepare()
            result, _ = place.receive(behind=behind)
            expect(result.code == 0, f"{place}, {len(behind)} bytes after the end: {result}")
            place.is_whole("bytes behind")


@test("an archive with data after its end, or a truncated one, is never given its final name")
def archives(stage):
    for at_once in (True, False):
        for name, content in {
            "bytes behind its end": archive(FILES, b"x"), "a block behind its end": archive(FILES, b"x" * 512),
            "a file behind its end": archive(FILES, archive({"three": b"3"})), "cut off": archive(FILES)[:-9728],
            "empty": b"", "half a block": archive(FILES)[:700], "a file twice": archive(FILES)[:5120] + archive(FILES),
        }.items():
            place = Place(stage, "folder", "nothing", False, at_once)
            place.content = content
            place.prepare()
            result, _ = place.receive()
            expect(result.code == 1, f"{name}: {result}")
            place.is_as_before(name)


main()
