"""Replaces the state of a working tree by another one.

The files are those of the trees of two states: no filter, hook or attribute decides what is written. Each path must have
the content of the old or of the new state, otherwise nothing is replaced. The references to both states are written
first, so an interruption at any point loses nothing, and the same steps complete it.
"""
import ctypes
import fcntl
import hashlib
import json
import os
import shutil
import stat
import subprocess

from .capture import Capture, bases, load
from .receive import branch_for, expire, obstacle, reference
from .repository import (CHUNK, GITLINK, LINK, PROGRAM, Failure, blob, environment, listed, mode_of, pointers, shown)

MARK, BASES = "handoff-continue", "handoff-bases"
LIBC = ctypes.CDLL(None, use_errno=True)
NO_REPLACE = 1


def apply(repository, new, branch, is_fresh=False, source=""):
    """Brings the working tree to the state. `is_fresh`: it has no files yet. Returns a report."""
    with Lock(repository):
        if os.path.exists(repository.path(MARK)):
            raise Failure(f"an earlier continuation was interrupted in {shown(repository.top)}: run handoff-git resume there")
        with Capture(repository, stored=True) as capture:
            old = capture.state(new.notes["untracked"])
            known = {*new.notes["bases"], *new.keys, *bases(repository)}
            if len(old.notes["keys"]) > 1 and old.notes["keys"][-1] not in known:
                old = capture.state()
        replaces = bool(old.keys & known)
        if not is_fresh and (problem := obstacle(repository, replaces)):
            raise Failure(f"{shown(repository.top)} has changed: {problem}")
        branch = branch_for(repository, new.notes["branch"], new.head, branch)
        before = reference(new.commit, f"before-{old.commit[:16]}")
        repository.git("update-ref", before, old.commit)
        counts = repository.counts()
        mark = {"work": new.commit, "before": old.commit, "branch": branch, "source": source, "reference": before,
                "isFresh": is_fresh, "isClean": not counts["staged"] and not counts["changed"]}
        return Application(repository, old, new, mark).run(is_new=True)


def resume(repository, leave=False):
    """Completes an interrupted continuation, or with `leave` leaves the files as they are. Returns a report, or None if none
    was interrupted."""
    with Lock(repository):
        try:
            with open(repository.path(MARK)) as file:
                mark = json.load(file)
        except FileNotFoundError:
            return None
        old, new = load(repository, mark["before"]), load(repository, mark["work"])
        application = Application(repository, old, new, mark)
        return application.leave() if leave else application.run(is_new=False)


class Lock:
    """Excludes other continuations in this working tree. The kernel releases it with the process."""

    def __init__(self, repository):
        self._file = open(repository.path("handoff-lock"), "w")

    def __enter__(self):
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Failure("another continuation is running in this checkout") from None

    def __exit__(self, *_):
        self._file.close()


class Application:
    def __init__(self, repository, old, new, mark):
        self.repository, self.files, self.old, self.new, self.mark = repository, repository.files, old, new, mark
        self._lock, self._part = repository.path("index.lock"), f".handoff-{new.commit[:16]}".encode()
        self._token = f"handoff {new.commit}"
        self._links = set(map(os.fsencode, new.notes["lfs"])) | set(map(os.fsencode, old.notes["lfs"]))
        self._plan = self._difference(old.work)
        if mark["isClean"]:
            # A file that Git regards as unchanged here, and that the work does not change, keeps its form, such as its line ends.
            changed = self._difference(old.index)
            self._plan = {path: row for path, row in self._plan.items() if path in changed}
        files = repository.git("ls-tree", "-r", "-z", "--name-only", "--full-tree", new.work).split(b"\0")
        if not set(map(os.fsencode, new.notes["added"])) <= set(files):
            raise Failure("the other device sent an invalid description: a file is missing")
        names = {name for path, row in self._plan.items() if path in self._links for _, name in row if name}
        self._pointers = pointers(repository, names)
        self.unfetched = set()

    def run(self, is_new):
        if is_new:
            self._write_mark()
        try:
            self._take_lock()
            self._check(is_new)
        except BaseException:
            if is_new:
                self.leave()
            raise
        self.files.forget()
        try:
            self._write()
            self._replace_index()
            self._move_head()
        except (Failure, OSError) as failure:
            self._drop_lock()
            raise Failure(f"{failure}. The continuation is incomplete: correct this, then run handoff-git resume in "
                          f"{shown(self.repository.top)}") from None
        different, keys = self._different()
        keys = list(dict.fromkeys([*bases(self.repository), *self.new.notes["bases"], *self.new.notes["keys"], *keys]))
        with open(self.repository.path(BASES), "w") as file:
            json.dump(keys, file)
        os.unlink(self.repository.path(MARK))
        report = {"path": self.repository.top, "branch": self.mark["branch"], "head": self.new.head,
                  "work": reference(self.new.commit, "work"), "before": self._forget_clean(),
                  "changed": len(self._plan), "pointers": len(self.unfetched), "different": different,
                  "hooks": self._hooks(), "submodules": sum(GITLINK in (each[0] for each in row) for row in self._plan.values())}
        expire(self.repository)
        return report

    def leave(self):
        """Ends the continuation without further changes."""
        self._drop_lock()
        os.unlink(self.repository.path(MARK))
        return {"path": self.repository.top, "work": reference(self.new.commit, "work"), "before": self.mark["reference"]}

    def _drop_lock(self):
        try:
            with open(self._lock) as file:
                if file.read() == self._token:
                    os.unlink(self._lock)
        except (FileNotFoundError, UnicodeDecodeError):
            pass  # A new index has its name, or another command holds it.

    def _take_lock(self):
        """Takes Git's lock of the index, so that no other command of Git changes it meanwhile."""
        self._drop_lock()  # That of a continuation that was killed.
        try:
            with open(self._lock, "x") as file:
                file.write(self._token)
        except FileExistsError:
            raise Failure(f"{shown(self._lock)} exists: another Git command is running. If one was killed, delete it") from None

    def _difference(self, tree):
        """Returns the mode and blob of each path in a tree and in the new state, if they differ. Absent: (None, None)."""
        rows = self.repository.git("diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", tree, self.new.work)
        rows = rows.split(b"\0")[:-1]
        plan = {}
        for words, path in zip(rows[::2], rows[1::2]):
            before, after, first, second, _ = words.decode().lstrip(":").split()
            parts = path.lower().split(b"/")
            if any(each in (b"", b".", b"..", b".git") for each in parts):
                raise Failure(f"the path {shown(path)} is refused")
            plan[path] = tuple((None, None) if mode == "000000" else (mode, name)
                               for mode, name in ((before, first), (after, second)))
        return plan

    def _is(self, path, status, entry):
        """Returns whether a path has the content of an entry of a state."""
        mode, name = entry
        kind = status and mode_of(status, None if self.repository.has_modes else mode)
        if mode == GITLINK or status is None:
            return mode in (None, GITLINK) and kind is None
        if mode is None or kind is None:
            return False
        if (kind == LINK) != (mode == LINK) or kind == "special" or kind != mode:
            return False
        if blob(self.repository, path, status) == name:
            return True
        oid, size = self._pointers.get(name, (None, None))
        return size == status.st_size and blob(self.repository, path, status, kind=hashlib.sha256) == oid

    def _check(self, is_new):
        """Checks that each path has the content of one of the states, and no other file is in the way of a new one."""
        with Capture(self.repository) as capture:
            index = capture.tree_of_index()
        if index not in ((self.old.index,) if is_new else (self.old.index, self.new.index)):
            raise Failure("the index was changed meanwhile; the work is kept in " + reference(self.new.commit, "work"))
        removed = {path for path, (before, after) in self._plan.items() if before[0] and before[0] != GITLINK and not after[0]}
        others, self._seen = set(), {}
        for path, (before, after) in self._plan.items():
            status = self.files.status(path)
            self._seen[path] = status
            if status and stat.S_ISDIR(status.st_mode) and after[0] and after[0] != GITLINK:
                others |= self._strangers(path, removed)  # Files become a folder, or a folder a file.
            elif not self._is(path, status, before) and not self._is(path, status, after):
                others.add(path)
            elif status is None and after[0]:
                others |= self._above(path, removed)
        if others:
            raise Failure(f"{len(others)} files here would be overwritten: {listed(others)}; nothing was changed. Move them, or "
                          f"use --worktree FOLDER. The work is kept in {reference(self.new.commit, 'work')}")

    def _strangers(self, path, removed):
        """Returns the files in a folder that are not removed."""
        top = os.path.join(os.fsencode(self.repository.top), path)
        found = {os.path.relpath(os.path.join(folder, name), os.fsencode(self.repository.top))
                 for folder, folders, names in os.walk(top)
                 for name in names + [each for each in folders if os.path.islink(os.path.join(folder, each))]}
        return {each for each in found if each not in removed and os.path.basename(each) != self._part}

    def _above(self, path, removed):
        """Returns the file or link that has the place of a folder of a path, unless it is removed."""
        parts = path.split(b"/")
        for count in range(1, len(parts)):
            place = b"/".join(parts[:count])
            status = self.files.status(place)
            if status and not stat.S_ISDIR(status.st_mode):
                is_free = place in removed or self._plan.get(place, ((None,), (None,)))[0][0] and not self._plan[place][1][0]
                return set() if is_free else {place}
        return set()

    def _write_mark(self):
        path = self.repository.path(MARK)
        with open(path + ".new", "w") as file:
            json.dump(self.mark, file)
            file.flush()
            os.fsync(file.fileno())
        os.rename(path + ".new", path)

    def _write(self):
        for path, (before, after) in self._plan.items():
            if before[0] and not after[0]:
                self._remove(path, before)
        self.files.forget()
        with subprocess.Popen(["git", "-C", self.repository.top, "cat-file", "--batch"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, env=environment()) as blobs:
            for path, (before, after) in self._plan.items():
                if after[0]:
                    self._put(path, before, after, blobs)
            blobs.stdin.close()
        self.files.forget()

    def _same(self, path):
        """Checks that a path was not changed since it was checked."""
        now, then = self.files.status(path), self._seen[path]
        fields = [each and (each.st_ino, each.st_mode, each.st_size, each.st_mtime_ns) for each in (now, then)]
        if fields[0] != fields[1] and not (now and stat.S_ISDIR(now.st_mode)) and not (then and stat.S_ISDIR(then.st_mode)):
            raise Failure(f"{shown(path)} was changed meanwhile; the work is kept in {reference(self.new.commit, 'work')}")
        return now

    def _remove(self, path, before):
        status = self._same(path)
        if status is None or before[0] == GITLINK or stat.S_ISDIR(status.st_mode):
            return  # A submodule stays, as with git checkout.
        folder, name = self.files.parent(path)
        os.unlink(name, dir_fd=folder)
        self.files.forget()
        while b"/" in path:
            path = path.rpartition(b"/")[0]
            try:
                folder, name = self.files.parent(path)
                os.rmdir(name, dir_fd=folder)
            except OSError:
                break

    def _put(self, path, before, after, blobs):
        status = self._same(path)
        mode, object_name = after
        if status and stat.S_ISDIR(status.st_mode):
            if mode == GITLINK:
                return
            self._remove_empty(path)
            status = None
        folder, name = self.files.parent(path, create=True)
        if mode == GITLINK:
            return os.mkdir(name, dir_fd=folder)
        try:
            os.unlink(self._part, dir_fd=folder)
        except FileNotFoundError:
            pass
        blobs.stdin.write(object_name.encode() + b"\n")
        blobs.stdin.flush()
        length = int(blobs.stdout.readline().split()[2])
        if mode == LINK:
            os.symlink(blobs.stdout.read(length), self._part, dir_fd=folder)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self._part, flags, 0o777 if mode == PROGRAM else 0o666, dir_fd=folder)
            with open(descriptor, "wb") as file:
                self._content(path, object_name, length, blobs.stdout, file)
        blobs.stdout.read(1)
        if status:
            os.rename(self._part, name, src_dir_fd=folder, dst_dir_fd=folder)
        elif LIBC.renameat2(folder, self._part, folder, name, NO_REPLACE):
            number = ctypes.get_errno()
            os.unlink(self._part, dir_fd=folder)
            raise Failure(f"{shown(path)} cannot be created: {os.strerror(number)}; the work is kept in "
                          + reference(self.new.commit, "work"))

    def _content(self, path, name, length, source, file):
        """Writes a blob, or the LFS object that it refers to if the other device had that in its working tree."""
        large = self._pointers.get(name) if path in self._links and os.fsdecode(path) in self.new.notes["lfs"] else None
        place = large and self.repository.lfs(large[0])
        if large and os.path.isfile(place) and os.path.getsize(place) == large[1]:
            source.read(length)
            with open(place, "rb") as data:
                shutil.copyfileobj(data, file, CHUNK)
            return
        if large:
            self.unfetched.add(path)
        while length:
            piece = source.read(min(length, CHUNK))
            file.write(piece)
            length -= len(piece)

    def _remove_empty(self, path):
        self.files.forget()
        for folder, _, _ in os.walk(os.path.join(os.fsencode(self.repository.top), path), topdown=False):
            os.rmdir(folder)

    def _replace_index(self):
        repository, path = self.repository, self.repository.path("index")
        copy = path + ".handoff"
        for stale in (copy, copy + ".lock"):
            if os.path.exists(stale):
                os.unlink(stale)
        more = {"GIT_INDEX_FILE": copy}
        if os.path.exists(path):
            shutil.copyfile(path, copy)
        repository.git("read-tree", "-i", "-m", self.new.index, **more)
        if added := self.new.notes["added"]:
            repository.git("add", "--force", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul",
                           input=b"\0".join(map(os.fsencode, added)), **more)
        repository.git("update-index", "-q", "--refresh", check=False, **more)
        os.rename(copy, self._lock)
        os.rename(self._lock, path)

    def _move_head(self):
        repository, head, branch = self.repository, self.new.head, self.mark["branch"]
        words = ["-m", f"handoff: continued from {self.mark['source']}".rstrip()]
        if branch is None:
            repository.git("update-ref", "--no-deref", *words, "HEAD", head)
            return
        name = f"refs/heads/{branch}"
        if branch_for(repository, branch, head, branch):
            repository.git("update-ref", *words, name, head, repository.commit(name) or "0" * len(head))
            repository.git("symbolic-ref", *words, "HEAD", name)

    def _forget_clean(self):
        """Deletes the reference to the replaced state if that had no uncommitted work. Returns it otherwise."""
        flags = {row[:1] for row in self.repository.git("ls-files", "-v", "-z").split(b"\0")}
        is_clean = self.mark["isClean"] and not any(flag.islower() for flag in flags)
        if is_clean or self.mark["isFresh"] or self.old.keys & self.new.keys:
            self.repository.git("update-ref", "-d", self.mark["reference"])
            return None
        return self.mark["reference"]

    def _different(self):
        """Returns the paths that differ from the state, as another program may have changed them meanwhile, and the keys of
        the state now."""
        try:
            with Capture(self.repository, stored=True) as capture:
                now = capture.state(self.new.notes["untracked"])
        except Failure as failure:
            return [str(failure)], set()
        index = [] if now.index == self.new.index else ["the index"]
        if not index and now.keys & self.new.keys:
            return [], now.keys
        # Others are untracked files of this device, and files that kept their form.
        paths = self._difference(now.work).keys() & self._plan.keys()
        return index + [shown(path) for path in paths], now.keys

    def _hooks(self):
        """Returns the written files that Git runs as hooks, because the checkout is configured so."""
        top, folder = self.repository.top, self.repository.hooks()
        prefix = os.path.relpath(os.path.join(top, folder), top) if folder else ".."
        return [shown(path) for path, row in self._plan.items() if row[1][0] and shown(path).startswith(prefix + "/")]
