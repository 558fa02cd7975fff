#!/usr/bin/env python3
"""A stand-in for a compositor with ext-data-control, which Debian 12 has not: ext_data_control.py SOCKET COMPOSITOR

Passes everything between one client and a compositor with wlr-data-control, and changes the name of the interface: the two
protocols have the same requests and events. Sources are cancelled twice, as KWin 5.27 does.
"""
import os
import select
import socket
import struct
import sys

WLR, EXT = b"zwlr_data_control_manager_v1", b"ext_data_control_manager_v1"


def renamed(arguments, start, old, new):
    size, = struct.unpack_from("=I", arguments, start)
    if arguments[start + 4:start + 3 + size] != old:
        return arguments
    end = start + 4 + size + -size % 4
    return arguments[:start] + struct.pack("=I", len(new) + 1) + new + b"\0" * (1 + -(len(new) + 1) % 4) + arguments[end:]


class Direction:
    registry = manager = None
    sources = set()

    def __init__(self, source, target, is_client):
        self.source, self.target, self.is_client, self.bytes = source, target, is_client, b""

    def move(self):
        data, files, *_ = socket.recv_fds(self.source, 1 << 16, 28)
        if not data:
            sys.exit()
        self.bytes, out = self.bytes + data, b""
        while len(self.bytes) >= 8 and len(self.bytes) >= struct.unpack_from("=I", self.bytes, 4)[0] >> 16:
            number, word = struct.unpack_from("=II", self.bytes)
            arguments, self.bytes = self.bytes[8:word >> 16], self.bytes[word >> 16:]
            if self.is_client and (number, word & 0xffff) == (1, 1):
                Direction.registry = struct.unpack("=I", arguments)[0]
            elif number == Direction.registry and word & 0xffff == 0:
                if self.is_client and EXT in arguments:
                    Direction.manager = struct.unpack("=I", arguments[-4:])[0]
                arguments = renamed(arguments, 4, EXT if self.is_client else WLR, WLR if self.is_client else EXT)
            elif self.is_client and (number, word & 0xffff) == (Direction.manager, 0):
                Direction.sources.add(struct.unpack("=I", arguments)[0])
            message = struct.pack("=II", number, (8 + len(arguments)) << 16 | word & 0xffff) + arguments
            is_cancelled = not self.is_client and number in Direction.sources and word & 0xffff == 1
            out += message * (2 if is_cancelled else 1)
        if files:
            socket.send_fds(self.target, [out], files)
        elif out:
            self.target.sendall(out)
        for file in files:
            os.close(file)


with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(f"{sys.argv[1]}.new")
    listener.listen()
    os.rename(f"{sys.argv[1]}.new", sys.argv[1])
    client, compositor = listener.accept()[0], socket.socket(socket.AF_UNIX)
    compositor.connect(sys.argv[2])
both = {client: Direction(client, compositor, True), compositor: Direction(compositor, client, False)}
while True:
    for source in select.select(list(both), [], [])[0]:
        both[source].move()
