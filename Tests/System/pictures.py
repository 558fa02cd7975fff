"""Pictures of a virtual display."""

import struct
import zlib


def png(width, height, rows):
    """Returns a picture of rows of red, green and blue (PNG, 2nd edition)."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 9)) + chunk(b"IEND", b""))


def on_display(data, left=0, top=0, right=None, bottom=None):
    """Returns the content of a part of a display, without the black around it, or None if it is
    empty. `data` is its memory, in the xwd format."""
    header = struct.unpack(">25I", data[:100])
    size, width, height, line, colours = header[0], header[4], header[5], header[12], header[19]
    start = size + colours * 12
    rows = [[data[at:at + 3] for at in range(start + y * line + 4 * left, start + y * line + 4 * min(width, right or width), 4)]
            for y in range(top, min(height, bottom or height))]
    lit = [(x, y) for y, row in enumerate(rows) for x, pixel in enumerate(row) if pixel != b"\0\0\0"]
    if not lit:
        return None
    (left, right), (top, bottom) = ((min(values), max(values) + 1) for values in zip(*lit))
    shown = [b"".join(pixel[::-1] for pixel in row[left:right]) for row in rows[top:bottom]]
    return png(right - left, bottom - top, shown)
