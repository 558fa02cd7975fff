"""JSON bodies of frames, parsed as strictly as docs/protocol.md requires. A violation closes the connection."""

import json

from handoff_crypto import Refused, is_type

MAX_LEVELS, MAX_LISTED = 32, 1024
HEX_SIZES = {"label": 16, "roster": 8, "epoch": 8}
TEXT_SIZES = {"software": 128, "kind": 32, "device": 128}
RANGES = {"version": (1, 2**63 - 1), "port": (1, 65535), "boot": (1, 2**63 - 1), "seq": (0, 2**32 - 1), "seenBoot": (1, 2**63 - 1),
          "listSeq": (0, 2**32 - 1)}


def _distinct(pairs):
    found = dict(pairs)
    if len(found) != len(pairs) or any("\0" in key for key in found):
        raise Refused("a key twice, or a NUL in one")
    return found


def _levels(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max((_levels(part) for part in inner), default=0)


def read_object(body):
    """Parses one object. Members that are null are treated as absent."""
    try:
        value = json.loads(body.decode("utf-8"), object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise Refused("no JSON") from error
    if not isinstance(value, dict) or _levels(value) > MAX_LEVELS:
        raise Refused("no object, or a deep one")
    return {key: member for key, member in value.items() if member is not None}


def _is_integer(value, minimum, maximum):
    return type(value) is int and minimum <= value <= maximum


def _is_text(value, maximum):
    return isinstance(value, str) and 1 <= len(value.encode()) <= maximum


def _is_hex(value, size):
    return isinstance(value, str) and len(value) == 2 * size and all(digit in "0123456789abcdefABCDEF" for digit in value)


def read_hello(body, device):
    """Parses the hello of a device, which its certificate identifies."""
    hello = read_object(body)
    fits = {"version", "port", "boot", "roster"} <= hello.keys()
    fits &= all(_is_integer(hello[name], *RANGES[name]) for name in RANGES.keys() & hello.keys())
    fits &= all(_is_text(hello[name], TEXT_SIZES[name]) for name in TEXT_SIZES.keys() & hello.keys())
    fits &= all(_is_hex(hello[name], HEX_SIZES[name]) for name in HEX_SIZES.keys() & hello.keys())
    fits = fits and hello.get("listSeq", 0) <= hello.get("seq", -1 if "listSeq" in hello else 0)
    words = hello.get("capabilities", [])
    fits &= isinstance(words, list) and len(words) <= 16 and all(_is_text(word, 32) for word in words)
    if not fits or hello.get("device", device.hex()) != device.hex():
        raise Refused("a hello that breaks a rule")
    return hello


def read_request(body, last):
    """Parses a request whose id is greater than the one before."""
    request = read_object(body)
    if not _is_integer(request.get("id"), last + 1, 2**63 - 1) or not _is_text(request.get("method"), 64):
        raise Refused("a request that breaks a rule")
    if not isinstance(request.get("parameters", {}), dict):
        raise Refused("parameters that are not an object")
    return request


def read_list(result):
    """Returns the valid elements of a reply to `activities`. Raises if the whole reply is invalid."""
    elements = result.get("activities")
    if not isinstance(elements, list) or len(elements) > MAX_LISTED:
        raise Refused("no list, or a long one")
    taken = [element for element in elements if _is_listed(element)]
    if len({element["id"].lower() for element in taken}) != len(taken):
        raise Refused("an id twice")
    return taken


def _is_listed(element):
    if not isinstance(element, dict):
        return False
    element = {key: member for key, member in element.items() if member is not None}
    texts = all(isinstance(element.get(key, ""), str) and len(element.get(key, "").encode()) <= maximum
                for key, maximum in (("title", 4096), ("team", 255)))
    flags = all(isinstance(element.get(key, False), bool) for key in ("streams", "webpageURL"))
    kind = isinstance(element.get("type"), str) and is_type(element["type"])
    return _is_hex(element.get("id"), 16) and kind and texts and flags and _is_integer(element.get("age"), 0, 2**32 - 1)
