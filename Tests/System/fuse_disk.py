"""A file system in memory over /dev/fuse. Errors occur at the calls at which network disks return
them, and sizes may be wrong. Needs root."""

import ctypes
import errno
import os
import stat
import struct
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)
LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR, RENAME, OPEN, READ, WRITE, STATFS, RELEASE = (
    1, 2, 3, 4, 9, 10, 11, 12, 14, 15, 16, 17, 18)
FSYNC, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, FSYNCDIR, CREATE, BATCH_FORGET, RENAME2 = (
    20, 25, 26, 27, 28, 29, 30, 35, 42, 45)


class Node:
    def __init__(self, mode):
        self.mode, self.data, self.children, self.mtime = mode, bytearray(), {}, int(time.time())


class FuseDisk:
    """Mounted at `path` until `close`.

    fails     operations ("flush", "fsync") of files that report that the disk is full
    hides     whether files report a size of 0 (with direct I/O, as for computed files)
    """

    def __init__(self, path, fails=(), hides=False):
        self.path, self.hides = path, hides
        self.fails = {{"flush": FLUSH, "fsync": FSYNC}[name] for name in fails}
        self.nodes, self.lock = {1: Node(stat.S_IFDIR | 0o755)}, threading.Lock()
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0,default_permissions".encode()
        if LIBC.mount(b"disk", path.encode(), b"fuse", 0, options) != 0:
            raise OSError(ctypes.get_errno(), "mount")
        threading.Thread(target=self._serve, daemon=True).start()

    def write(self, name, data):
        """Adds a file to the top folder."""
        number = max(self.nodes) + 1
        self.nodes[number] = Node(stat.S_IFREG | 0o644)
        self.nodes[number].data += data
        self.nodes[1].children[name.encode()] = number

    def close(self):
        LIBC.umount2(self.path.encode(), 2)
        os.close(self.device)

    def _serve(self):
        while True:
            try:
                request = os.read(self.device, 1 << 20)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                    continue
                return
            length, code, unique, node = struct.unpack_from("<IIQQ", request)
            if code in (FORGET, BATCH_FORGET):
                continue
            answer, failure = b"", 0
            try:
                answer = self._answer(code, node, request[40:length])
            except OSError as error:
                failure = error.errno
            head = struct.pack("<IiQ", 16 + len(answer), -failure, unique)
            try:
                os.write(self.device, head + answer)
            except OSError:
                pass

    def _attributes(self, number):
        node = self.nodes[number]
        size = 0 if self.hides and stat.S_ISREG(node.mode) else len(node.data)
        return struct.pack(
            "<6Q10I", number, size, (size + 511) // 512, node.mtime, node.mtime, node.mtime, 0, 0, 0, node.mode, 1, 0, 0, 0,
            4096, 0)

    def _entry(self, number):
        return struct.pack("<4Q2I", number, 0, 0, 0, 0, 0) + self._attributes(number)

    def _make(self, parent, name, mode):
        if name in self.nodes[parent].children:
            raise OSError(errno.EEXIST, "")
        number = max(self.nodes) + 1
        self.nodes[number] = Node(mode)
        self.nodes[parent].children[name] = number
        return number

    def _answer(self, code, number, body):
        if number not in self.nodes and code != INIT:
            raise OSError(errno.ENOENT, "")
        node = self.nodes.get(number)
        if code == INIT:
            return struct.pack("<4I2H2I2HI7I", 7, 31, 65536, 0, 0, 0, 65536, 1, 0, 0, 0, *[0] * 7)
        if code == LOOKUP:
            name = body.rstrip(b"\0")
            if name not in node.children:
                raise OSError(errno.ENOENT, "")
            return self._entry(node.children[name])
        if code in (GETATTR, SETATTR):
            if code == SETATTR:
                valid, size, mtime, mode = struct.unpack_from("<I", body)[0], *struct.unpack_from("<Q", body, 16), \
                    *struct.unpack_from("<Q", body, 40), *struct.unpack_from("<I", body, 68)
                if valid & 1:
                    node.mode = stat.S_IFMT(node.mode) | mode & 0o7777
                if valid & 8:
                    node.data = node.data[:size] + bytes(max(0, size - len(node.data)))
                if valid & 32:
                    node.mtime = mtime
            return struct.pack("<Q2I", 0, 0, 0) + self._attributes(number)
        if code == MKDIR:
            mode = struct.unpack_from("<I", body)[0]
            return self._entry(self._make(number, body[8:].rstrip(b"\0"), stat.S_IFDIR | mode & 0o7777))
        if code == CREATE:
            mode = struct.unpack_from("<2I", body)[1]
            made = self._make(number, body[16:].rstrip(b"\0"), stat.S_IFREG | mode & 0o7777)
            return self._entry(made) + struct.pack("<Q2I", 0, 0, 0)
        if code in (OPEN, OPENDIR):
            return struct.pack("<Q2I", 0, 1 if self.hides and code == OPEN else 0, 0)
        if code == READ:
            offset, size = struct.unpack_from("<QI", body, 8)
            return bytes(node.data[offset:offset + size])
        if code == WRITE:
            offset, size = struct.unpack_from("<QI", body, 8)
            node.data[len(node.data):] = bytes(max(0, offset - len(node.data)))
            node.data[offset:offset + size] = body[40:40 + size]
            return struct.pack("<2I", size, 0)
        if code == READDIR:
            offset, size = struct.unpack_from("<QI", body, 8)
            found = b""
            for place, (name, child) in enumerate(sorted(node.children.items())):
                entry = struct.pack("<QQII", child, place + 1, len(name), self.nodes[child].mode >> 12) + name
                entry += bytes(-len(entry) % 8)
                if place >= offset and len(found) + len(entry) <= size:
                    found += entry
            return found
        if code in (UNLINK, RMDIR):
            if node.children.pop(body.rstrip(b"\0"), None) is None:
                raise OSError(errno.ENOENT, "")
            return b""
        if code in (RENAME, RENAME2):
            target, names = struct.unpack_from("<Q", body)[0], body[8 if code == RENAME else 16:].split(b"\0")
            self.nodes[target].children[names[1]] = node.children.pop(names[0])
            return b""
        if code == STATFS:
            return struct.pack("<5Q4I6I", 1 << 20, 1 << 19, 1 << 19, 1 << 20, 1 << 19, 4096, 255, 4096, 0, *[0] * 6)
        if code in self.fails and stat.S_ISREG(node.mode):
            raise OSError(errno.ENOSPC, "")
        if code in (FLUSH, FSYNC, FSYNCDIR, RELEASE, RELEASEDIR):
            return b""
        raise OSError(errno.ENOSYS, "")
