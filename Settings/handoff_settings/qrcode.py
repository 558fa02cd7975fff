"""QR codes from libqrencode, which `handoffctl` also requires to draw the same codes on terminals."""

import ctypes
from typing import Optional

from gi.repository import Gdk, GLib

_LEVEL_M, _MODE_8 = 1, 2
# The quiet zone around a code, in modules. Cameras need it.
_MARGIN = 4


class _QRcode(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int), ("width", ctypes.c_int), ("data", ctypes.POINTER(ctypes.c_ubyte))]


def modules(text: str) -> Optional[list[list[bool]]]:
    """Returns the rows of the code, True for a dark module; None without the library or for overlong texts."""
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
    # The lowest bit is set for dark modules.
    rows = [[code.contents.data[row * width + column] & 1 == 1 for column in range(width)] for row in range(width)]
    library.QRcode_free(code)
    return rows


def texture(text: str, size: int) -> Optional[Gdk.Texture]:
    """Returns the code as an image of about `size` pixels. It is black on white even in dark styles, for cameras."""
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
