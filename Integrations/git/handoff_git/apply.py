"""Replaces the state of a working tree with another state.

The files are those of the trees of two states: no filter, hook or attribute decides what is written. Each path must have
the content of the old or of the new state, otherwise nothing is replaced. The references to both states are written
first, so an interruption at any point loses nothing, and the same steps complete it.
"""
import fcntl
import hashlib
import json
import os
import shutil
import stat
import tempfile

from .capture import BASES, MARK, Capture, bases, load
from .placing import Condition, branch_for
from .receive import expire, reference
from .repository import GITLINK, LINK, PROGRAM, Failure, Files, blob, contents, listed, mode_of, pointers, shown
from .writing import Writer, part_name, rename_new


def apply(repository, new, branch, is_fresh=False, source=""):
    """Changes the working tree to the state. `is_fresh`: it has no files yet. Returns a report."""
    with Lock(repository):
        if os.path.exists(repository.path(MARK)):
            raise Failure(f"an earlier continuation was interrupted in {shown(repository.top)}: run handoff-git resume there")
        with Capture(repository, stored=True) as capture:
            old = capture.state(new.notes["untracked"])
            known = {*new.notes["bases"], *new.keys, *bases(repository)}
            if len(old.notes["keys"]) > 1 and old.notes["keys"][-1] not in known:
                old = capture.state()
        condition = None if is_fresh else Condition(repository)
        if condition and (problem := condition.obstacle(old.keys & known)):
            raise Failure(f"{shown(repository.top)} has changed: {problem}")
        branch = branch_for(repository, new.notes["branch"], new.head, branch)
        before = reference(new.commit, f"before-{old.commit[:16]}")
        repository.git("update-ref", before, old.commit)
        tip = repository.commit(f"refs/heads/{branch}") if branch else None
        mark = {"tip": tip, "work": new.commit, "before": old.commit, "branch": branch, "source": source, "reference": before,
                "isFresh": is_fresh, "isClean": bool(condition and condition.is_clean),
                "hasHidden": bool(condition and condition.has_hidden)}
        return Application(repository, old, new, mark).run(is_new=True)


def resume(repository, leave=False):
    """Completes an interrupted continuation. With `leave`, leaves the files as they are. Returns a report, or None if no
    continuation was interrupted."""
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
    """Excludes other continuations in this working tree. The kernel releases the lock when the process ends."""

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
    """The steps from the old state to the new one. `mark` describes them, so that `resume` can complete them."""

    def __init__(self, repository, old, new, mark):
        self.repository, self.files, self.old, self.new, self.mark = repository, repository.files, old, new, mark
        self._lock = repository.path("index.lock")
        self._token = f"handoff {new.commit}"
        self._links = set(map(os.fsencode, new.notes["lfs"])) | set(map(os.fsencode, old.notes["lfs"]))
        self._plan = self._difference(old.work)
        if mark["isClean"]:
            # Keep the form, such as the line ends, of a file that Git regards as unchanged and that the work does not change.
            changed = self._difference(old.index)
            self._plan = {path: row for path, row in self._plan.items() if path in changed}
        names = {name for path, row in self._plan.items() if path in self._links for _, name in row if name}
        self._pointers = pointers(repository, names)

    def run(self, is_new):
        if is_new:
            self._write_mark()
        try:
            self._take_lock()
            self._check(is_new)
            index = self._new_index()
        except BaseException:
            if is_new:
                self.leave()
            raise
        self.files.forget()
        writer = Writer(self.repository, self.new, self._plan, self._seen, self._pointers)
        try:
            writer.write()
            self._replace_index(index)
            self._move_head()
        except BaseException as failure:
            self._drop_lock()
            if not isinstance(failure, (Failure, OSError)):
                raise
            raise Failure(f"{failure}. The continuation is incomplete: correct this, then run handoff-git resume in "
                          f"{shown(self.repository.top)}") from None
        different, keys = self._different()
        keys = list(dict.fromkeys([*bases(self.repository), *self.new.notes["bases"], *self.new.notes["keys"], *keys]))
        with open(self.repository.path(BASES), "w") as file:
            json.dump(keys, file)
        os.unlink(self.repository.path(MARK))
        report = {"path": self.repository.top, "branch": self.mark["branch"], "head": self.new.head,
                  "work": reference(self.new.commit, "work"), "before": self._forget_clean(),
                  "changed": len(self._plan), "pointers": len(writer.unfetched), "different": different,
                  "hooks": self._hooks(), "submodules": sum(GITLINK in (each[0] for each in row) for row in self._plan.values())}
        expire(self.repository)
        return report

    def leave(self):
        """Ends the continuation without further changes."""
        self._drop_copy()
        self._drop_lock()
        os.unlink(self.repository.path(MARK))
        return {"path": self.repository.top, "work": reference(self.new.commit, "work"), "before": self.mark["reference"]}

    def _drop_lock(self):
        try:
            with open(self._lock) as file:
                if file.read() == self._token:
                    os.unlink(self._lock)
        except (FileNotFoundError, UnicodeDecodeError):
            pass  # Another command holds it.

    def _take_lock(self):
        """Acquires Git's lock of the index, so that no other Git command changes it during the continuation."""
        self._drop_lock()  # That of a continuation that was killed.
        part = self.repository.path("handoff-lock.new")
        with open(part, "w") as file:
            file.write(self._token)
        try:
            # A lock that exists has its content, so it is recognised after an interruption.
            rename_new(os.fsencode(part), os.fsencode(self._lock))
        except FileExistsError:
            os.unlink(part)
            raise Failure(f"{shown(self._lock)} exists: another Git command is running. If one was killed, delete it") from None

    def _difference(self, tree):
        """Returns the mode and blob of each path that differs between a tree and the new state. Absent: (None, None)."""
        rows = self.repository.git("diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", tree, self.new.work)
        rows = rows.split(b"\0")[:-1]
        plan = {}
        for words, path in zip(rows[::2], rows[1::2]):
            before, after, first, second, _ = words.decode().lstrip(":").split()
            parts = path.lower().split(b"/")
            if any(each in (b"", b".", b"..", b".git") or len(each) > 255 for each in parts):
                raise Failure(f"the path {shown(path)} is refused")
            plan[path] = tuple((None, None) if mode == "000000" else (mode, name)
                               for mode, name in ((before, first), (after, second)))
        return plan

    def _is(self, path, status, entry):
        """Returns True if a path has the content of an entry of a state."""
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

    def _check_new(self):
        """Checks that the new links and files can be written: an error would interrupt the continuation."""
        links = {path: after[1] for path, (_, after) in self._plan.items() if after[0] == LINK}
        targets = contents(self.repository, set(links.values()), limit=4096)
        if invalid := [path for path, name in links.items() if not targets.get(name) or b"\0" in targets[name]]:
            raise Failure(f"the link {shown(invalid[0])} is invalid; nothing was changed")
        names = [after[1] for _, after in self._plan.values() if after[0] and after[0] != GITLINK]
        rows = self.repository.git("cat-file", "--batch-check=%(objectname) %(objectsize)",
                                   input="".join(f"{each}\n" for each in names).encode()).splitlines()
        sizes = [row.split()[1] for row in rows]
        if b"missing" in sizes:
            raise Failure("objects of the files are missing here (a partial clone); nothing was changed")
        if sum(map(int, sizes)) > shutil.disk_usage(self.repository.top).free:
            raise Failure("the files are larger than the free space of the disk; nothing was changed")
        # Git has no file of this name: the file system ignores the case.
        if os.path.lexists(self.repository.path("hEAD")) and len({path.lower() for path in self._plan}) < len(self._plan):
            raise Failure("names of files differ only in case, which this file system ignores; nothing was changed")
        for path in {os.path.dirname(path) for path in self._plan}:
            folder = os.path.join(os.fsencode(self.repository.top), path)
            while not os.path.lexists(folder):
                folder = os.path.dirname(folder)
            if os.path.isdir(folder) and not os.access(folder, os.W_OK | os.X_OK, effective_ids=True):
                raise Failure(f"the folder {shown(folder)} is not writable; nothing was changed")

    def _check(self, is_new):
        """Checks that each path has the content of one of the states, and no other file is in the way of a new one."""
        if is_new:
            self._check_new()
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
                others |= self._others_in(path, removed)  # Files become a folder, or a folder a file.
            elif not self._is(path, status, before) and not self._is(path, status, after):
                others.add(path)
            elif status is None and after[0]:
                others |= self._above(path, removed)
        if others:
            raise Failure(f"{len(others)} files here would be overwritten: {listed(others)}; nothing was changed. Move them, or "
                          f"use --worktree FOLDER. The work is kept in {reference(self.new.commit, 'work')}")

    def _others_in(self, path, removed):
        """Returns the files in a folder that are not removed."""
        top = os.path.join(os.fsencode(self.repository.top), path)
        found = {os.path.relpath(os.path.join(folder, name), os.fsencode(self.repository.top))
                 for folder, folders, names in os.walk(top)
                 for name in names + [each for each in folders if os.path.islink(os.path.join(folder, each))]}
        return {each for each in found if each not in removed and os.path.basename(each) != part_name(self.new)}

    def _above(self, path, removed):
        """Returns the file or link that exists instead of a folder of a path, unless it is removed."""
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

    def _new_index(self):
        """Creates the index of the new state. Keeps the known times of unchanged files. Returns its path."""
        path = self.repository.path("index")
        copy = self._drop_copy()
        if os.path.exists(path):
            shutil.copyfile(path, copy)
        self.repository.git("read-tree", "-i", "-m", self.new.index, GIT_INDEX_FILE=copy)
        if added := self.new.notes["added"]:
            with tempfile.TemporaryDirectory(prefix="handoff-git-") as folder:
                try:
                    self._intend(added, folder, copy)
                except OSError as error:
                    raise Failure(f"the other device sent an invalid description: {error}") from None
        return copy

    def _drop_copy(self):
        copy = self.repository.path("index.handoff")
        for stale in (copy, copy + ".lock"):
            if os.path.exists(stale):
                os.unlink(stale)
        return copy

    def _intend(self, added, folder, index):
        """Marks paths as `git add --intent-to-add` does. Git reads their modes from files, which are empty ones here."""
        files, paths = Files(folder), []
        for mode, path in (each.split(" ", 1) for each in added):
            path = os.fsencode(path)
            if any(part in (b"", b".", b"..", b".git") for part in path.lower().split(b"/")):
                raise Failure(f"the path {shown(path)} is refused")
            place, name = files.parent(path, create=True)
            if mode == LINK:
                os.symlink(b"-", name, dir_fd=place)
            else:
                os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o700 if mode == PROGRAM else 0o600, dir_fd=place))
            paths.append(path)
        files.forget(0)
        self.repository.git("add", "--force", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul",
                            input=b"\0".join(paths), GIT_INDEX_FILE=index, GIT_DIR=self.repository.folder, GIT_WORK_TREE=folder)

    def _replace_index(self, copy):
        repository = self.repository
        repository.git("update-index", "-q", "--refresh", check=False, GIT_INDEX_FILE=copy)
        os.rename(copy, repository.path("index"))
        self._drop_lock()

    def _move_head(self):
        repository, head, branch = self.repository, self.new.head, self.mark["branch"]
        words = ["-m", f"handoff: continued from {self.mark['source']}".rstrip()]
        if branch is None:
            repository.git("update-ref", "--no-deref", *words, "HEAD", head)
            return
        name = f"refs/heads/{branch}"
        if repository.commit(name) != head:
            repository.git("update-ref", *words, name, head, self.mark["tip"] or "0" * len(head))
        if repository.branch != branch:
            repository.git("symbolic-ref", *words, "HEAD", name)

    def _forget_clean(self):
        """Deletes the reference to the replaced state if all of its work is in branches. Returns it otherwise."""
        # Untracked files can be replaced in a clean checkout, too.
        is_clean = self.mark["isClean"] and not self.mark["hasHidden"] and not self.old.notes.get("files") and self._has_branch()
        # The keys are only a claim of the other device. Nothing is lost if its trees have all of the replaced work.
        is_contained = (self.old.head, self.old.index, self.old.notes["added"]) == (
            self.new.head, self.new.index, self.new.notes["added"]) and not any(row[0][0] for row in self._plan.values())
        if is_clean or self.mark["isFresh"] or is_contained:
            self.repository.git("update-ref", "-d", self.mark["reference"])
            return None
        return self.mark["reference"]

    def _has_branch(self):
        """Returns whether a reference contains the replaced head. The commits of a detached head are otherwise in no branch."""
        limits = ["--not", "--exclude=refs/handoff/*", "--all"]
        return not self.old.head or not self.repository.git("rev-list", "--max-count=1", self.old.head, *limits)

    def _different(self):
        """Returns the paths that differ from the state, because another program may have changed them, and the keys of the
        current state."""
        try:
            with Capture(self.repository, stored=True) as capture:
                now = capture.state(self.new.notes["untracked"], is_stored=False)
        except Failure as failure:
            return [str(failure)], set()
        index = [] if now.index == self.new.index else ["the index"]
        if not index and now.keys & self.new.keys:
            return [], now.keys
        # The others are untracked files of this device, and files that kept their form.
        paths = self._difference(now.work).keys() & self._plan.keys()
        return index + [shown(path) for path in paths], now.keys

    def _hooks(self):
        """Returns the written files that Git may run: hooks, if the checkout has a folder for them, and the configurations of
        repositories among the files."""
        top, folder = self.repository.top, os.path.expanduser(self.repository.settings.get("core.hookspath", ""))
        prefix = os.path.relpath(os.path.join(top, folder), top) if folder else ".."
        written = [path for path, row in self._plan.items() if row[1][0]]
        heads = {os.path.dirname(path) for path in written if os.path.basename(path) == b"HEAD"}
        return [shown(path) for path in written if os.fsdecode(path).startswith(prefix + "/") or
                os.path.basename(path) == b"config" and os.path.dirname(path) in heads]
