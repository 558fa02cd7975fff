"""Writes the files of a state. Does not follow links, and does not replace files that were changed after they were checked."""
import contextlib
import ctypes
import errno
import os
import shutil
import stat
import subprocess

from .receive import reference
from .repository import CHUNK, GITLINK, LINK, PROGRAM, Failure, environment, shown

LIBC = ctypes.CDLL(None, use_errno=True)
NO_REPLACE, CURRENT_FOLDER = 1, -100


def part_name(state):
    """Returns the name of an incomplete file. The name stays the same after an interruption."""
    return f".handoff-{state.commit[:16]}".encode()


def rename_new(part, name, folder=CURRENT_FOLDER):
    """Renames a file or link to a new name. Raises FileExistsError if the name exists."""
    if LIBC.renameat2(folder, part, folder, name, NO_REPLACE):
        number = ctypes.get_errno()
        if number != errno.EINVAL:
            raise OSError(number, os.strerror(number))
        # NFS and some file systems in user space cannot do this with one call.
        os.link(part, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        os.unlink(part, dir_fd=folder)


class Writer:
    """`plan`: mode and blob of each path in the old and the new state. `seen`: the result of lstat when it was checked."""

    def __init__(self, repository, state, plan, seen, pointers):
        self.repository, self.files, self._plan, self._seen, self._pointers = repository, repository.files, plan, seen, pointers
        self._part, self._kept = part_name(state), reference(state.commit, "work")
        self._links = set(map(os.fsencode, state.notes["lfs"]))
        self.unfetched = set()

    def write(self):
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
        """Verifies that a path was not changed after the first check."""
        now, then = self.files.status(path), self._seen[path]
        fields = [each and (each.st_ino, each.st_mode, each.st_size, each.st_mtime_ns) for each in (now, then)]
        if fields[0] != fields[1] and not (now and stat.S_ISDIR(now.st_mode)) and not (then and stat.S_ISDIR(then.st_mode)):
            raise Failure(f"{shown(path)} was changed meanwhile; the work is kept in {self._kept}")
        return now

    def _remove(self, path, before):
        status = self._same(path)
        if status is None or before[0] == GITLINK or stat.S_ISDIR(status.st_mode):
            return  # A submodule stays, as with git checkout.
        folder, name = self.files.parent(path)
        try:
            os.unlink(name, dir_fd=folder)
        except OSError as error:
            raise self._failure(path, "removed", error) from None
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
            if status:
                os.unlink(name, dir_fd=folder)
            return os.mkdir(name, dir_fd=folder)
        try:
            os.unlink(self._part, dir_fd=folder)
        except FileNotFoundError:
            pass
        blobs.stdin.write(object_name.encode() + b"\n")
        blobs.stdin.flush()
        length = int(blobs.stdout.readline().split()[2])
        try:
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
            else:
                rename_new(self._part, name, folder)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(self._part, dir_fd=folder)
            raise self._failure(path, "written", error) from None

    def _failure(self, path, done, error):
        return Failure(f"{shown(path)} cannot be {done}: {error.strerror}; the work is kept in {self._kept}")

    def _content(self, path, name, length, source, file):
        """Writes a blob, or the LFS object to which it refers if the other device had that object in its working tree."""
        large = self._pointers.get(name) if path in self._links else None
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
