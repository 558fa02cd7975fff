"""Receives the objects of a state."""
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from handoff_desk import header

from .capture import MARK, load
from .repository import CHUNK, Failure, alternate, environment, is_id, run, why

REFERENCES = "refs/handoff/"
# Days after which the references to continued states are deleted.
KEPT_DAYS = 30
MAX_LINE = 1 << 20
# Seconds without received bytes after which a stream is closed.
STREAM_TIMEOUT = 600
MAX_HAVE, MAX_TIPS = 512, 512


def has(repository):
    """Returns the commits that need not be sent: the tips of references, and the latest commits."""
    tips = repository.git("for-each-ref", "--sort=-committerdate", f"--count={MAX_TIPS}", "--format=%(objectname)^{commit}")
    found = repository.git("cat-file", "--batch-check=%(objectname) %(objecttype)", input=tips).decode().splitlines()
    latest = repository.git("rev-list", "--all", f"--max-count={MAX_HAVE}", check=False).decode().split()
    return list(dict.fromkeys([row.split()[0] for row in found if row.endswith(" commit")] + latest))


class Stream:
    """The connection to the device that offers a state."""

    def __init__(self, socket, progress=lambda *_: None):
        self._socket, self.progress = socket, progress
        self.file = socket.makefile("rb")

    def send(self, **message):
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def message(self):
        return header(self.file, MAX_LINE)

    def copy(self, size, target):
        """Copies bytes to a file. If the file is a closed pipe, drops the remaining bytes."""
        left = size
        while left:
            piece = self.file.read(min(left, CHUNK))
            if not piece:
                raise Failure("the connection ended before everything had arrived; continue it again")
            try:
                target.write(piece)
            except BrokenPipeError:
                target = open(os.devnull, "wb")
            left -= len(piece)
            self.progress(size - left, size)


def receive(repository, stream, is_new):
    """Requests the state, checks its objects and stores them. Returns the state, and the id of the commit of LFS objects."""
    tries = [has(repository)]
    tries += [[]] * bool(tries[0])  # A shallow clone may lack objects of the commits that it has.
    for number, have in enumerate(tries):
        stream.send(version=1, have=have, format=repository.format)
        reply = stream.message()
        names, boundary, size = [reply.get("work"), reply.get("large")], reply.get("shallow"), reply.get("pack")
        is_valid = is_id(names[0]) and (names[1] is None or is_id(names[1])) and type(size) is int and 0 < size < 1 << 40
        if not is_valid or not isinstance(boundary, list) or len(boundary) > 10_000 or not all(map(is_id, boundary)):
            raise Failure("the other device sent no valid message")
        if size > shutil.disk_usage(repository.objects).free:
            raise Failure(f"the work has {size:,} bytes, which is more than the free space of the disk")
        # `git prune` deletes it if this program is killed.
        quarantine = tempfile.mkdtemp(prefix="tmp_objdir-handoff-", dir=repository.objects)
        variables = {"GIT_OBJECT_DIRECTORY": quarantine, "GIT_ALTERNATE_OBJECT_DIRECTORIES": alternate(repository.objects)}
        try:
            if is_new and boundary:
                with open(os.path.join(repository.common, "shallow"), "w") as file:
                    file.writelines(f"{each}\n" for each in boundary)
            names = [each for each in names if each]
            try:
                _index(repository, stream, size, variables)
                _check_complete(repository, names, variables)
            except Incomplete:
                if number + 1 < len(tries):
                    continue
                raise
            state = load(repository, names[0], **variables)
            if not state.head:
                raise Failure("the other checkout has no commit")
            _move(quarantine, repository.objects)
        finally:
            shutil.rmtree(quarantine, ignore_errors=True)
        repository.git("update-ref", reference(state.commit, "work"), state.commit)
        if len(names) > 1:
            keep_large(repository, names[1])
        return state


class Incomplete(Failure):
    """Objects are missing."""

    def __init__(self, reason):
        super().__init__(f"both checkouts lack commits (a shallow clone): run git fetch --unshallow in one of them; {reason}")


def _check_complete(repository, names, variables):
    done = run("-C", repository.top, "rev-list", "--objects", "--quiet", *names, "--not", "--all", **variables)
    if done.returncode:
        raise Incomplete(why(done))


def reference(commit, kind):
    return f"{REFERENCES}{commit[:16]}/{kind}"


def _index(repository, stream, size, variables):
    """Checks the objects of a pack, with the names in their trees, and stores it. (`git fetch` of a bundle checks nothing.)"""
    words = ["git", "-C", repository.top, "index-pack", "--strict", "--fix-thin", "--stdin"]
    # A pipe could be filled by warnings about old trees, while this program waits for the other pipe.
    with tempfile.TemporaryFile() as errors, subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                                              stderr=errors, env=environment(**variables)) as process:
        try:
            stream.copy(size, process.stdin)
        except BaseException:
            process.kill()
            raise
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass  # It refused an object.
        process.wait()
        errors.seek(0)
        lines = b"".join(line for line in errors if not line.startswith(b"warning:"))
    if process.returncode:
        reason = why(subprocess.CompletedProcess(process.args, process.returncode, b"", lines))
        if "unresolved delta" in reason or "did not receive expected object" in reason:
            raise Incomplete(reason)
        raise Failure(f"the objects were refused: {reason}")


def _move(quarantine, objects):
    folder = os.path.join(quarantine, "pack")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    os.makedirs(os.path.join(objects, "pack"), exist_ok=True)
    for name in sorted(names, key=lambda name: name.endswith(".idx")):  # Git finds a pack by its index.
        if not os.path.exists(os.path.join(objects, "pack", name)):
            os.rename(os.path.join(folder, name), os.path.join(objects, "pack", name))


def keep_large(repository, commit):
    """Stores received LFS objects where git-lfs expects them."""
    for row in repository.git("ls-tree", "-z", commit).split(b"\0")[:-1]:
        words, _, name = row.partition(b"\t")
        if not re.fullmatch(rb"[0-9a-f]{64}", name) or not words.startswith(b"100644 blob "):
            continue
        path = repository.lfs(name.decode())
        if os.path.lexists(path):
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor, part = tempfile.mkstemp(prefix="handoff-", dir=os.path.dirname(path))
        digest = hashlib.sha256()
        command = ["git", "-C", repository.top, "cat-file", "blob", words.split()[2]]
        with open(descriptor, "wb") as file, subprocess.Popen(command, stdout=subprocess.PIPE, env=environment()) as blob:
            while piece := blob.stdout.read(CHUNK):
                digest.update(piece)
                file.write(piece)
        if digest.hexdigest().encode() == name:
            os.rename(part, path)
        else:
            os.unlink(part)


def kept(repository):
    """Returns the references to continued and replaced states: name, commit and time of each."""
    rows = repository.git("for-each-ref", "--format=%(refname) %(objectname) %(creatordate:unix)", REFERENCES).decode()
    return [(name, commit, int(moment or 0)) for name, commit, moment in (row.split(" ") for row in rows.splitlines())]


def expire(repository):
    """Deletes references to states that are older than a month, except those that an interrupted continuation needs."""
    limit = time.time() - KEPT_DAYS * 86400
    for name, commit, moment in kept(repository):
        if moment < limit and not os.path.exists(repository.path(MARK)):
            repository.git("update-ref", "-d", name, commit)
