#!/usr/bin/env python3
"""Receives a file or folder that another device offers, using only Python's standard library and
docs/transfers.md.

    fetch_transfer.py SOCKET ACTIVITY FOLDER [BYTES]

With BYTES it stops after this many bytes of a file, and the next run resumes. Prints the received
items as JSON.
"""
import hashlib, io, json, os, socket, struct, sys, tarfile

SMALLEST, LARGEST, CHUNK, BLOCK = 1, 65536, 1 << 20, 4096


class Failed(Exception):
    """A failed transfer, with the reason and a message for people."""


def call(path, method, upgrade=False, **parameters):
    """Returns the last reply to a call, and the connection."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    message = {"method": method, "parameters": parameters} | ({"upgrade": True} if upgrade else {})
    connection.sendall(json.dumps(message).encode() + b"\0")
    data = b""
    while not data.endswith(b"\0"):
        data += connection.recv(1) or sys.exit("handoffd closed the connection")  # The bytes after the NUL are the stream.
    reply = json.loads(data[:-1])
    return (reply["parameters"], connection) if "error" not in reply else sys.exit(f"refused: {reply}")


class Stream:
    def __init__(self, connection):
        self.connection, self.file = connection, connection.makefile("rb")

    def exactly(self, count):
        data = self.file.read(count)
        if len(data) < count:
            raise Failed("gone", "the stream ended")
        return data

    def u32(self):
        return struct.unpack(">I", self.exactly(4))[0]

    def send(self, **message):
        data = json.dumps(message).encode()
        self.connection.sendall(struct.pack(">I", len(data)) + data)

    def receive(self, member):
        """Returns the next message, which must have this member."""
        length = self.u32()
        if not SMALLEST <= length <= LARGEST:
            raise Failed("malformed", f"a message of {length} bytes")
        message = json.loads(self.exactly(length))
        if "error" in message:
            raise Failed(message["error"]["reason"], message["error"]["message"])
        if member not in message:
            raise Failed("malformed", f"not {member}: {message}")
        return message

    def chunks(self):
        while length := self.u32():
            if length > CHUNK:
                raise Failed("malformed", f"a chunk of {length} bytes")
            yield self.exactly(length)


def checked(name, is_inside=False):
    """Checks a name that becomes a file here, or any name of a file inside a received folder."""
    is_plain = is_inside or len(name.encode()) <= 255 and name.isprintable() and not name.startswith((".", "-"))
    if not name or "/" in name or "\0" in name or name in (".", "..") or not is_plain:
        raise Failed("name", "this name is not used here")
    return name


def digest(data):
    """Returns the digest with which the partial file is compared."""
    hasher = hashlib.sha256()
    for offset in range(0, len(data), BLOCK):
        block = data[offset:offset + BLOCK]
        if block.strip(b"\0"):
            hasher.update(struct.pack(">Q", offset) + block)
    hasher.update(struct.pack(">Q", len(data)))
    return hasher.hexdigest()


def receive_file(stream, header, folder, limit):
    part = os.path.join(folder, f".{header['id']}.part")  # The id is the same for the same content.
    have = open(part, "rb").read() if os.path.exists(part) else b""
    if 0 < len(have) <= header["size"]:
        stream.send(have=len(have), sha256=digest(have))
    else:
        stream.send(have=0)
    start = stream.receive("from")
    with open(part, "ab") as file:
        file.truncate(start["from"])
        stream.send(go=True)
        left = start["length"]
        while left:
            data = stream.exactly(min(left, 65536, limit or left))
            file.write(data)
            left -= len(data)
            limit = limit and limit - len(data)
            if limit == 0 and left:
                raise Failed("cancelled", "cut on purpose")
    stream.receive("complete")
    os.rename(part, os.path.join(folder, checked(header["name"])))
    return {"resumed": start["from"]}


def receive_folder(stream, header, folder):
    stream.send(have=0)
    stream.receive("from")
    stream.send(go=True)
    archive = io.BytesIO(b"".join(stream.chunks()))
    missing = stream.receive("complete").get("omitted", 0)
    top = os.path.join(folder, checked(header["name"]))
    os.mkdir(top)
    with tarfile.open(fileobj=archive, mode="r:") as tar:
        for entry in tar:
            path = os.path.join(top, *(checked(name, is_inside=True) for name in entry.name.split("/")))
            if entry.isdir():
                os.mkdir(path)
            elif entry.isfile():
                with open(path, "xb") as file:
                    file.write(tar.extractfile(entry).read())
                os.chmod(path, entry.mode & 0o777)
            else:
                raise Failed("unsafe", "neither a file nor a folder")
    return {"missing": missing}


def fetch(path, activity, folder, limit):
    reply, continuing = call(path, "dev.handoff1.Control.Continue", activity=activity, take=True)
    _, connection = call(path, "dev.handoff1.OpenStream", upgrade=True, continuation=reply["continuation"])
    stream = Stream(connection)
    try:
        header = stream.receive("version")
        if header["version"] != 1 or header["kind"] not in ("file", "folder"):
            raise Failed("unsupported", "another version or kind")
        if header["kind"] == "file":
            result = receive_file(stream, header, folder, limit)
        else:
            result = receive_folder(stream, header, folder)
        stream.send(done=True)
        connection.shutdown(socket.SHUT_WR)
        return {"kind": header["kind"], "name": header["name"], "ended": stream.file.read() == b"", **result}
    except Failed as failure:
        return {"failed": failure.args[0], "message": failure.args[1]}
    finally:
        connection.close()
        continuing.close()


if __name__ == "__main__":
    print(json.dumps(fetch(*sys.argv[1:4], int(sys.argv[4]) if len(sys.argv) > 4 else None)))
