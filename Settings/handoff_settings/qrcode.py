"""QR codes, by libqrencode, which is there wherever `handoffctl` is: it draws the same codes on terminals."""

import ctypes
from typing import Optional

from gi.repository import Gdk, GLib

_LEVEL_M, _MODE_8 = 1, 2
# Modules of white around a code, without which cameras do not find it.
_MARGIN = 4


class _QRcode(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int), ("width", ctypes.c_int), ("data", ctypes.POINTER(ctypes.c_ubyte))]


def modules(text: str) -> Optional[list[list[bool]]]:
    """The rows of the code from the top, True for a dark module; None without the library, or for a text that is too long."""
    try:
        library = ctypes.CDLL("libqrencode.so.4")
    except OSError:
        return None
    library.QRcode_encodeString.restype = ctypes.POINTER(_QRcode)
    library.QRcode_encodeString.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int]
    library.QRcode_free.argtypes = [ctypes.POINTER(_QRcode)]
    code = library.QRcode_encodeString(text.encode(), 0, _LEVEL_M, _MODE_8, 1)
    if not code:
        return None
    width = code.contents.width
    # The lowest bit says whether a module is dark.
    rows = [[code.contents.data[row * width + column] & 1 == 1 for column in range(width)] for row in range(width)]
    library.QRcode_free(code)
    return rows


def texture(text: str, size: int) -> Optional[Gdk.Texture]:
    """The code as a picture of about `size` pixels, black on white in dark styles too: that is what cameras read."""
    rows = modules(text)
    if rows is None:
        return None
    blank = [False] * (len(rows) + 2 * _MARGIN)
    edge = [False] * _MARGIN
    framed = [blank] * _MARGIN + [edge + row + edge for row in rows] + [blank] * _MARGIN
    scale = max(1, size // len(framed))
    width = scale * len(framed)
    data = b"".join(
        b"".join((b"\0\0\0" if dark else b"\xff\xff\xff") * scale for dark in row) * scale for row in framed)
    return Gdk.MemoryTexture.new(width, width, Gdk.MemoryFormat.R8G8B8, GLib.Bytes.new(data), 3 * width)
