"""Messages of D-Bus as bytes, little-endian: the part of the format that the simulated services and clients need."""

import struct

CALL, REPLY, ERROR, SIGNAL = 1, 2, 3, 4
NO_REPLY = 1
# The codes of the fields of a header.
PATH, INTERFACE, MEMBER, ERROR_NAME, ANSWERS, TO, SENDER, SIGNATURE, DESCRIPTORS = range(1, 10)
KINDS = {PATH: "o", ANSWERS: "u", SIGNATURE: "g", DESCRIPTORS: "u"}


def padded(data, to):
    return data + bytes(-len(data) % to)


def text(value):
    return struct.pack("<I", len(value.encode())) + value.encode() + b"\0"


def message(kind, serial, fields, signature="", body=b"", flags=NO_REPLY):
    """A message. The fields of its header are given by their codes, except for the signature."""
    head = Writer()
    for code, value in {**fields, **({SIGNATURE: signature} if signature else {})}.items():
        kind_of_value = KINDS.get(code, "s")
        head.align(8).data += bytes([code])
        head.signature(kind_of_value)
        {"u": head.number, "g": head.signature}.get(kind_of_value, head.text)(value)
    start = b"l" + bytes([kind, flags, 1]) + struct.pack("<III", len(body), serial, len(head.data))
    return padded(start + head.data, 8) + body


class Writer:
    """Writes values in the bus's format, little-endian."""

    def __init__(self):
        self.data = b""

    def align(self, to):
        self.data += bytes(-len(self.data) % to)
        return self

    def number(self, value):
        self.align(4).data += struct.pack("<I", value)
        return self

    def text(self, value):
        value = value.encode()
        self.number(len(value)).data += value + b"\0"
        return self

    def signature(self, value):
        self.data += bytes([len(value)]) + value.encode() + b"\0"
        return self

    def texts(self, values):
        inner = Writer()
        for value in values:
            inner.text(value)
        self.number(len(inner.data)).data += inner.data
        return self


class Reader:
    """Reads such values one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def align(self, to):
        self.at += -self.at % to

    def unpack(self, format, size):
        self.align(size)
        (value,) = struct.unpack_from(format, self.data, self.at)
        self.at += size
        return value

    def number(self):
        return self.unpack("<I", 4)

    def text(self):
        length = self.number()
        value = self.data[self.at:self.at + length].decode()
        self.at += length + 1
        return value

    def signature(self):
        length = self.data[self.at]
        value = self.data[self.at + 1:self.at + 1 + length].decode()
        self.at += length + 2
        return value

    def texts(self):
        length = self.number()
        end = self.at + length
        values = []
        while self.at < end:
            values.append(self.text())
        return values

    def variant(self):
        return self.value(self.signature())

    def value(self, kind):
        """Reads a value of any type: structures as lists, dictionaries as dictionaries."""
        if kind in ("s", "o"):
            return self.text()
        if kind[0] == "(":
            self.align(8)
            return self.values(kind[1:-1])
        if kind[0] == "a":
            length = self.number()
            self.align(8 if kind[1] in "({" else 4 if kind[1] in "aisoub" else 1)
            end = self.at + length
            found = []
            while self.at < end:
                if kind[1] == "{":
                    self.align(8)
                found.append(self.values(kind[2:-1]) if kind[1] == "{" else self.value(kind[1:]))
            return dict(found) if kind[1] == "{" else found
        return {"y": lambda: self.unpack("<B", 1), "u": self.number, "b": lambda: bool(self.number()),
                "i": lambda: self.unpack("<i", 4), "g": self.signature, "v": self.variant}[kind]()

    def values(self, kinds):
        """Reads values of these types."""
        found = []
        while kinds:
            end = 1
            while kinds[end - 1] == "a":
                end += 1
            if kinds[end - 1] in "({":
                depth = 1
                while depth:
                    depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(kinds[end], 0)
                    end += 1
            found.append(self.value(kinds[:end]))
            kinds = kinds[end:]
        return found

    def entries(self):
        length = self.number()
        self.align(8)
        end = self.at + length
        values = {}
        while self.at < end:
            self.align(8)
            key = self.text()
            values[key] = self.variant()
        return values
