"""A checkout: runs Git commands without starting programs of the repository, and reads files without following links."""
import contextlib
import errno
import hashlib
import os
import re
import stat
import subprocess
import zlib

from handoff import visible
from handoff_desk import Failure

LINK, GITLINK, FILE, PROGRAM = "120000", "160000", "100644", "100755"
CHUNK = 1 << 20
MAX_DEPTH = 256
# Disables hooks, the file system monitor, nested checkouts, all transports, and the splitting of an index into several files.
SETTINGS = {
    "core.hooksPath": "/dev/null", "core.fsmonitor": "false", "core.splitIndex": "false", "core.protectHFS": "true",
    "core.protectNTFS": "true", "submodule.recurse": "false", "protocol.allow": "never", "gc.auto": "0",
    "maintenance.auto": "false", "gc.writeCommitGraph": "false",
}
OPERATIONS = {
    "MERGE_HEAD": "a merge", "rebase-merge": "a rebase", "rebase-apply": "a rebase or git am",
    "CHERRY_PICK_HEAD": "a cherry-pick", "REVERT_HEAD": "a revert", "sequencer": "a cherry-pick or revert",
    "BISECT_LOG": "a bisection",
}
POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n\Z")


def shown(path):
    """Returns a path, as bytes or text, for display."""
    return visible(os.fsdecode(path).encode("utf-8", "replace").decode())


def listed(paths, limit=5):
    paths = sorted(paths)
    return ", ".join(map(shown, paths[:limit])) + (f" and {len(paths) - limit} more" if len(paths) > limit else "")


def is_id(text):
    return isinstance(text, str) and re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", text) is not None


class Repository:
    """A checkout with a working tree. `top` and `folder` (that of Git, of this working tree) are absolute paths."""

    def __init__(self, path):
        self._path, self._off = path, {}
        done = run("-C", path, "rev-parse", "--is-inside-work-tree", "--is-bare-repository", "--show-object-format",
                   "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir")
        found = os.fsdecode(done.stdout).split("\n")[:-1]
        if found[:2] == ["false", "true"]:
            raise Failure(f"{shown(path)} has no working tree")
        if found[:1] != ["true"] or len(found) != 6:
            raise Failure(why(done) or f"{shown(path)} is not a Git checkout")
        self.format, self.top, self.folder, self.common = found[2:]
        self._path, self.objects = self.top, os.path.join(self.common, "objects")
        self.hash = hashlib.sha256 if self.format == "sha256" else hashlib.sha1
        self.settings = self._read_settings()
        names = {name.rpartition(".")[0] for name in self.settings if name.startswith("filter.")}
        self._off = {f"{name}.{key}": "false" if key == "required" else ""
                     for name in names for key in ("clean", "smudge", "process", "required")}
        self.has_modes = self.settings.get("core.filemode") != "false"
        self.files = Files(self.top)

    def git(self, *words, input=None, check=True, has_filters=False, **variables):
        """Runs a Git command. Returns its output. Prevents the filters that Git may start when it writes an index."""
        done = run("-C", self._path, *words, input=input, settings={} if has_filters else self._off, **variables)
        if check and done.returncode:
            raise Failure(f"git {words[0]} failed: {why(done)}")
        return done.stdout if not done.returncode or not check else b""

    def succeeds(self, *words, **more):
        return run("-C", self._path, *words, **more).returncode == 0

    def line(self, *words, **more):
        """Returns the line that a command prints, or an empty text if it fails."""
        done = run("-C", self._path, *words, **more)
        return os.fsdecode(done.stdout).rstrip("\n") if done.returncode == 0 else ""

    def commit(self, name):
        return self.line("rev-parse", "--quiet", "--verify", "--end-of-options", name + "^{commit}")

    def _read_settings(self):
        """Returns the user's settings, without those of this program. Of several values, returns the last one."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(["git", "-C", self.top, "config", "-z", "--list"], env=kept, capture_output=True)
        rows = [os.fsdecode(row).partition("\n") for row in done.stdout.split(b"\0")[:-1]]
        return {name: value if separator else "true" for name, separator, value in rows}

    @property
    def branch(self):
        """The name of the current branch; None if the head is detached."""
        name = self.line("symbolic-ref", "--quiet", "HEAD")
        return name.removeprefix("refs/heads/") or None

    def path(self, name):
        return os.path.join(self.folder, name)

    def lfs(self, oid=""):
        folder = self.settings.get("lfs.storage") or "lfs"
        return os.path.join(self.common, folder, "objects", oid[:2], oid[2:4], oid)

    def has_lfs(self):
        return "lfs.storage" in self.settings or os.path.isdir(os.path.join(self.common, "lfs"))

    def remotes(self):
        """Returns the addresses of the remotes by their names."""
        return {name[len("remote."):-len(".url")]: url for name, url in self.settings.items()
                if name.startswith("remote.") and name.endswith(".url")}

    def problems(self):
        """Returns the reasons why the state of the working tree cannot be offered or replaced."""
        found = list(dict.fromkeys(text for name, text in OPERATIONS.items() if os.path.lexists(self.path(name))))
        return [f"{text} is in progress" for text in found] or (
            ["it has unmerged files"] if self.git("ls-files", "-u", "-z") else [])

    def counts(self):
        """Returns the numbers of staged, changed and untracked files, as in `git status`."""
        rows = self.git("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=none",
                        has_filters=True, GIT_OPTIONAL_LOCKS="0").split(b"\0")
        marks = [row[:2] for row in rows if row]
        untracked = marks.count(b"??")
        staged = sum(mark[:1] not in b" ?!" for mark in marks)
        return {"staged": staged, "changed": sum(mark[1:] not in b" ?!" for mark in marks), "untracked": untracked}


def environment(settings=(), **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    rows = {**SETTINGS, **dict(settings)}
    for number, (key, value) in enumerate(rows.items()):
        kept |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return {**kept, "GIT_CONFIG_COUNT": str(len(rows)), "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C.UTF-8", **more}


def run(*words, input=None, settings=(), **variables):
    return subprocess.run(["git", *words], env=environment(settings, **variables), capture_output=True,
                          **({"stdin": subprocess.DEVNULL} if input is None else {"input": input}))


def why(done):
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return visible(" ".join(lines[:3]).removeprefix("fatal: "), 400)


def alternate(path):
    """Returns a folder of objects, quoted for the environment variable with a list of folders that are separated by colons."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Files:
    """The files of a folder, by paths in bytes. Does not follow links in any component of a path."""

    def __init__(self, top):
        self._open = []
        self._open.append((b"", os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)))

    def __del__(self):
        self.forget(0)

    def parent(self, path, create=False):
        """Returns the descriptor of the folder of a path, and the name in it."""
        *folders, name = path.split(b"/")
        if len(folders) > MAX_DEPTH:
            raise Failure(f"{shown(path)} is nested in too many folders")
        same = 1
        while same < len(self._open) and same <= len(folders) and self._open[same][0] == folders[same - 1]:
            same += 1
        self.forget(same)
        for each in folders[same - 1:]:
            here = self._open[-1][1]
            if create:
                try:
                    os.mkdir(each, dir_fd=here)
                except FileExistsError:
                    pass
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            self._open.append((each, os.open(each, flags, dir_fd=here)))
        return self._open[-1][1], name

    def forget(self, depth=1):
        """Closes the open folders, because other programs may have replaced them."""
        for _, descriptor in self._open[depth:]:
            os.close(descriptor)
        del self._open[depth:]

    def status(self, path):
        """Returns the result of lstat, or None if the path does not exist."""
        try:
            folder, name = self.parent(path)
            return os.lstat(name, dir_fd=folder)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:
                return None
            raise

    def pieces(self, path, status):
        """Returns an iterable of the bytes that Git stores for a file or link: `status.st_size` of them."""
        folder, name = self.parent(path)
        if stat.S_ISLNK(status.st_mode):
            yield os.readlink(name, dir_fd=folder)
            return
        with open(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder), "rb", 0) as file:
            while piece := file.read(CHUNK):
                yield piece


def mode_of(status, known=None):
    """Returns Git's mode of a file, or None for a folder. `known`: the mode to keep if the file system has none."""
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFLNK:
        return LINK
    if kind == stat.S_IFREG:
        return known if known in (FILE, PROGRAM) else PROGRAM if status.st_mode & stat.S_IXUSR else FILE
    return None if kind == stat.S_IFDIR else "special"


def blob(repository, path, status, objects=None, kind=None):
    """Returns the id of a file's bytes, or with `kind` another digest of them. Stores the bytes below `objects`, if given."""
    digest = (kind or repository.hash)(b"" if kind else b"blob %d\0" % status.st_size)
    part, length = None, 0
    packer = zlib.compressobj(1)
    if objects:
        part = os.path.join(objects, f"tmp_obj_{os.getpid()}")
        file = open(part, "wb")
        file.write(packer.compress(b"blob %d\0" % status.st_size))
    for piece in repository.files.pieces(path, status):
        digest.update(piece)
        length += len(piece)
        if objects:
            file.write(packer.compress(piece))
    if length != status.st_size:
        raise Failure(f"{shown(path)} was changed while it was read; try again")
    name = digest.hexdigest()
    if objects:
        file.write(packer.flush())
        file.close()
        os.chmod(part, 0o444)
        with contextlib.suppress(FileExistsError):
            os.mkdir(os.path.join(objects, name[:2]))
            # Of a repository that several users share (core.sharedRepository).
            os.chmod(os.path.join(objects, name[:2]), os.stat(objects).st_mode & 0o7777)
        os.replace(part, os.path.join(objects, name[:2], name[2:]))
    return name


def contents(repository, ids, limit=1024, **variables):
    """Returns the contents of blobs below a size by their ids. Others are missing."""
    if not ids:
        return {}
    rows = repository.git("cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)",
                          input="".join(f"{each}\n" for each in ids).encode(), **variables).decode().splitlines()
    small = [row.split()[0] for row in rows if row.split()[1:2] == ["blob"] and int(row.split()[2]) < limit]
    data = repository.git("cat-file", "--batch", input="".join(f"{each}\n" for each in small).encode(), **variables)
    found = {}
    while data:
        header, _, data = data.partition(b"\n")
        length = int(header.split()[2])
        found[header.split()[0].decode()], data = data[:length], data[length + 1:]
    return found


def pointers(repository, ids, **variables):
    """Returns the LFS objects (id and size) to which these blobs refer, by the ids of the blobs."""
    matches = {each: POINTER.match(data) for each, data in contents(repository, ids, **variables).items()}
    return {each: (match[1].decode(), int(match[2])) for each, match in matches.items() if match}
