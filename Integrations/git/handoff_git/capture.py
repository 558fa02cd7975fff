"""Captures the state of a checkout as commits, without writing to its index, references or files.

The state is a commit. Its tree is the working tree, with the bytes that are on disk. Its parents are the head and a
commit of the index, as in a stash. Its message is a JSON object.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from .repository import (FILE, GITLINK, LINK, Failure, alternate, blob, environment, is_id, mode_of, pointers, run, shown,
                         why)

VERSION = 1
# Files in the folder of Git: the continuation that is being applied, and the keys of applied ones.
MARK, BASES = "handoff-continue", "handoff-bases"
# A larger amount is usually not work, but a folder of packages or build results that is not ignored.
MAX_UNTRACKED, MAX_UNTRACKED_BYTES = 10_000, 1 << 30
MAX_KEYS, MAX_KEY = 64, 1_000
WHO = {f"GIT_{role}_{field}": value for role in ("AUTHOR", "COMMITTER")
       for field, value in (("NAME", "Handoff"), ("EMAIL", "handoff@localhost"))}


class State:
    """A captured state: the ids of its commit, its head (None: no commit yet) and the trees of index and working tree."""

    def __init__(self, commit, head, index, work, notes):
        self.commit, self.head, self.index, self.work, self.notes = commit, head, index, work, notes

    @property
    def keys(self):
        return set(self.notes["keys"])


class Capture:
    """A copy of the index, and a folder of objects, either temporary or that of the repository."""

    def __init__(self, repository, stored=False):
        self.repository = repository
        self._scratch = tempfile.mkdtemp(prefix="handoff-git-")
        self.objects = repository.objects if stored else os.path.join(self._scratch, "objects")
        os.makedirs(self.objects, exist_ok=True)
        self._index = os.path.join(self._scratch, "index")
        self.variables = {} if stored else {
            "GIT_OBJECT_DIRECTORY": self.objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES": alternate(repository.objects)}
        self.skipped = set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.repository.files.forget()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def git(self, *words, **more):
        return self.repository.git(*words, GIT_INDEX_FILE=self._index, GIT_OPTIONAL_LOCKS="0", **{**self.variables, **more})

    def line(self, *words, **more):
        return self.git(*words, **more).decode().strip()

    def tree_of_index(self):
        """Copies the index. Returns its tree, which is empty if there is no index."""
        try:
            shutil.copyfile(self.repository.path("index"), self._index)
        except FileNotFoundError:
            if os.path.exists(self._index):
                os.unlink(self._index)
        return self.line("write-tree")

    def state(self, untracked=False, is_offered=False, is_stored=True):
        """Returns the current state. With `untracked`, the working tree includes untracked files, except ignored ones. An
        offered state must be complete without the work in submodules. A state that is not stored has no commit."""
        repository = self.repository
        if problems := repository.problems():
            raise Failure(f"{shown(repository.top)}: {problems[0]}; finish or abort it first")
        index = self.tree_of_index()
        head = repository.commit("HEAD") or None
        entries = [row.split(b"\t", 1) for row in self.git("ls-files", "-s", "-v", "-z").split(b"\0")[:-1]]
        entries = [(*words.decode().split(), path) for words, path in entries]
        added = self._intended(entries, index)
        if is_offered:
            for _, mode, name, _, path in entries:
                if mode == GITLINK:
                    self._check_submodule(path, name)
        change, is_clean = self._changed(entries)
        # The remaining steps change the copy of the index, whose tree becomes that of the working tree.
        self._update(change)
        trees = [self.line("write-tree")]
        others = self._untracked() if untracked else {}
        if others:
            self._update(others)
            trees.append(self.line("write-tree"))
        mark = json.dumps(added) if added else ""
        notes = {
            "version": VERSION, "branch": repository.branch, "time": int(time.time()), "untracked": untracked,
            "keys": [f"{head} {index} {tree} {mark}".strip() for tree in trees], "added": added,
            "bases": bases(repository), "lfs": sorted(map(os.fsdecode, is_clean)), "files": len(others),
        }
        return self._store(head, index, trees[-1], notes) if is_stored else State(None, head, index, trees[-1], notes)

    def _store(self, head, index, work, notes):
        parent = ["-p", head] if head else []
        date = f"@{notes['time']} +0000"
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, **WHO}
        staged = self.line("commit-tree", *parent, index, input=b"index", **dates)
        commit = self.line("commit-tree", *parent, "-p", staged, work, input=json.dumps(notes).encode(), **dates)
        return State(commit, head, index, work, notes)

    def _intended(self, entries, index):
        """Returns the modes and paths of `git add --intent-to-add`, which are in the index and not in its tree."""
        empty = self.repository.hash(b"blob 0\0").hexdigest()
        paths = {path: mode for _, mode, name, _, path in entries if name == empty}
        if not paths:
            return []
        known = set(self.git("ls-tree", "-r", "-z", "--name-only", "--full-tree", index).split(b"\0"))
        return sorted(f"{mode} {os.fsdecode(path)}" for path, mode in paths.items() if path not in known)

    def _changed(self, entries):
        """Returns the new mode and blob of each tracked path whose bytes differ (None: removed), and the paths of LFS files
        whose content matches their pointer."""
        repository, change, differing = self.repository, {}, {}
        for tag, mode, name, _, path in entries:
            if mode == GITLINK:
                continue
            status = repository.files.status(path)
            kind = status and mode_of(status, None if repository.has_modes else mode)
            if kind == "special":
                raise Failure(f"{shown(path)} is neither a file nor a link")
            if not kind:
                # A sparse checkout has no file there.
                if tag not in "Ss" or status:
                    change[path] = None
                continue
            if blob(repository, path, status) != name:
                differing[path] = kind, name, status
            elif kind != mode:
                change[path] = kind, name
        names = {name for _, name, _ in differing.values()} if repository.has_lfs() else ()
        references = pointers(repository, names, **self.variables)
        is_clean = set()
        for path, (kind, name, status) in differing.items():
            oid, size = references.get(name, (None, None))
            if size == status.st_size and kind != LINK and blob(repository, path, status, kind=hashlib.sha256) == oid:
                is_clean.add(path)
                change[path] = kind, name
            else:
                change[path] = kind, blob(repository, path, repository.files.status(path) or status, self.objects)
        return change, is_clean

    def _check_submodule(self, path, name):
        folder = os.path.join(os.fsencode(self.repository.top), path)
        status = self.repository.files.status(path)
        staged = self.repository.line("rev-parse", "--quiet", "--verify", b"HEAD:" + path)
        if staged != name:
            raise Failure(f"submodule {shown(path)}: another commit is staged; commit it, or unstage it, first")
        if status and os.path.lexists(os.path.join(folder, b".git")):
            if run("-C", folder, "rev-parse", "HEAD").stdout.decode().strip() != name:
                raise Failure(f"submodule {shown(path)} is at another commit; update or commit it first")
            if run("-C", folder, "status", "--porcelain", "--ignore-submodules=none", GIT_OPTIONAL_LOCKS="0").stdout:
                raise Failure(f"submodule {shown(path)} has uncommitted work, which is not sent; commit it first")

    def _untracked(self):
        found, total = {}, 0
        for path in self.git("ls-files", "-z", "--others", "--exclude-standard").split(b"\0")[:-1]:
            if path.endswith(b"/"):
                self.skipped.add(path)  # Another repository.
                continue
            status = self.repository.files.status(path)
            kind = status and mode_of(status)
            if not kind or kind == "special":
                continue
            total += status.st_size
            if len(found) == MAX_UNTRACKED or total > MAX_UNTRACKED_BYTES:
                raise Failure(f"there are more than {MAX_UNTRACKED:,} untracked files, or 1 GiB of them: ignore or remove "
                              "those that are no work (.gitignore)")
            found[path] = kind, blob(self.repository, path, status, self.objects)
        return found

    def _update(self, change):
        """Changes the copy of the index. Removals are first, because a folder can replace a file."""
        zero = "0" * self.repository.hash().digest_size * 2
        rows = [os.fsencode(f"0 {zero}\t") + path for path, entry in change.items() if not entry]
        rows += [os.fsencode(f"{entry[0]} {entry[1]}\t") + path for path, entry in change.items() if entry]
        if rows:
            self.git("update-index", "--add", "--replace", "-z", "--index-info", input=b"\0".join(rows) + b"\0")

    # ---- Sending ---------------------------------------------------------------------------------------------------

    def pack(self, state, have):
        """Returns a file with the objects of the state that are missing on a device with these commits, and the commit of the
        LFS objects, or None."""
        repository = self.repository
        if any(name.endswith(".promisor") or name == "extensions.partialclone" for name in repository.settings):
            raise Failure(f"{shown(repository.top)} is a partial clone, whose missing objects cannot be sent")
        known = self.git("cat-file", "--batch-check=%(objectname) %(objecttype)",
                         input="".join(f"{each}^{{commit}}\n" for each in have).encode()).decode().splitlines()
        limits = [f"^{row.split()[0]}" for row in known if row.endswith(" commit")]
        revisions = "\n".join([state.commit, *limits, ""]).encode()
        large = self._large(revisions)
        # Without a name: a device may request any number of packs, one after another.
        file = tempfile.TemporaryFile(dir=self._scratch)
        words = ("-C", repository.top, "pack-objects", "--revs", "--thin", "--delta-base-offset", "--stdout", "-q")
        done = subprocess.run(["git", *words], input=(f"{large}\n" if large else "").encode() + revisions, stdout=file,
                                    stderr=subprocess.PIPE, env=environment(**self.variables))
        if done.returncode:
            raise Failure(f"git pack-objects failed: {why(done)}")
        return file, large

    def _large(self, revisions):
        """Returns a commit of the LFS objects for the pointers among these objects. The remotes may not have them yet."""
        repository = self.repository
        if not repository.has_lfs():
            return None
        objects = {row[:row.find(b" ")].decode() if b" " in row else row.decode()
                   for row in self.git("rev-list", "--objects", "--stdin", input=revisions).splitlines()}
        rows = {}
        for oid, size in pointers(repository, objects, **self.variables).values():
            path = repository.lfs(oid)
            if os.path.isfile(path) and os.path.getsize(path) == size:
                name = self.line("hash-object", "-w", "--no-filters", "--", path)
                rows[oid] = f"{FILE} blob {name}\t{oid}\0"
        if not rows:
            return None
        tree = self.line("mktree", "-z", input="".join(rows.values()).encode())
        dates = {"GIT_AUTHOR_DATE": "@0 +0000", "GIT_COMMITTER_DATE": "@0 +0000", **WHO}
        return self.line("commit-tree", tree, input=b"LFS objects", **dates)


def bases(repository):
    """Returns the keys of the states that were continued here. The local work contains these states."""
    try:
        with open(repository.path(BASES)) as file:
            # A longer one, from another device, could make later offers too large to publish.
            return [each for each in json.load(file) if isinstance(each, str) and len(each) <= MAX_KEY][-MAX_KEYS:]
    except (OSError, ValueError):
        return []


def load(repository, commit, **variables):
    """Returns a received or stored state. Raises Failure if it is malformed."""
    def parts(name):
        head, _, message = repository.git("cat-file", "commit", name, **variables).partition(b"\n\n")
        rows = [line.split(b" ", 1) for line in head.splitlines()]
        return [[row[1].decode() for row in rows if row[0] == kind] for kind in (b"tree", b"parent")] + [message]

    (work,), parents, message = parts(commit)
    (index,), heads, _ = parts(parents[-1]) if parents else ((None,), None, None)
    if not heads == parents[:-1] or len(parents) > 2:
        raise Failure("the other device did not send the state of a checkout")
    try:
        notes = json.loads(message)
        texts = [notes["keys"], notes["added"], notes["bases"], notes["lfs"]]
        is_valid = all(isinstance(each, list) and all(isinstance(text, str) for text in each) for each in texts)
        is_valid = is_valid and isinstance(notes["branch"], (str, type(None))) and isinstance(notes["untracked"], bool)
        if not is_valid or notes["version"] != VERSION or not isinstance(notes["time"], int) or not is_id(work):
            raise ValueError("another version")
        if not all(re.fullmatch(r"(100644|100755|120000) [^\0]+", each) for each in notes["added"]):
            raise ValueError("modes")
        for path in notes["added"] + notes["lfs"]:
            os.fsencode(path)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Failure(f"the other device sent an invalid description: {type(error).__name__}") from None
    return State(commit, heads[0] if heads else None, index, work, notes)
