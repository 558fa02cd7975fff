"""Reading recordings of a network, and searching texts in them."""

import base64
import struct


def packets(path):
    """Yields the IP packets of a recording, which may still grow: (time, whether to one receiver,
    source, destination, protocol, content)."""
    with open(path, "rb") as file:
        head = file.read(24)
        order = "<" if head[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
        while len(record := file.read(16)) == 16:
            seconds, microseconds, size, _ = struct.unpack(order + "IIII", record)
            frame = file.read(size)
            if len(frame) < size:
                return
            kind = struct.unpack(">H", frame[12:14])[0]
            if kind == 0x0800:
                protocol, start = frame[23], 14 + (frame[14] & 15) * 4
                end = 14 + struct.unpack(">H", frame[16:18])[0]
                addresses = frame[26:30], frame[30:34]
            elif kind == 0x86DD:
                protocol, start = frame[20], 54
                end = 54 + struct.unpack(">H", frame[18:20])[0]
                addresses = frame[22:38], frame[38:54]
            else:
                continue
            yield seconds + microseconds / 1e6, not frame[0] & 1, *addresses, protocol, frame[start:end]


def segments(path):
    """Yields the TCP segments with data, and the UDP datagrams, of a recording: (source port,
    destination port, data)."""
    tcp, udp = [], []
    for *_, protocol, body in packets(path):
        if protocol == 6:
            data = body[(body[12] >> 4) * 4:]
            if data:
                tcp.append((*struct.unpack(">HH", body[:4]), data))
        elif protocol == 17:
            udp.append((*struct.unpack(">HH", body[:4]), body[8:]))
    return tcp, udp


def names(packet, at):
    """Returns the labels of a DNS name, and its end."""
    labels, end = [], None
    while length := packet[at]:
        if length >= 0xC0:
            end = end or at + 2
            at = (length & 0x3F) << 8 | packet[at + 1]
        else:
            labels.append(packet[at + 1:at + 1 + length])
            at += 1 + length
    return labels, end or at + 1


def texts(path, source):
    """Returns the TXT records of the Handoff service that a host has announced, in their order:
    (instance, data), and the time of the first announcement."""
    found = {}
    for moment, _, sender, _, protocol, body in packets(path):
        if protocol != 17 or sender != source or body[:2] != struct.pack(">H", 5353):
            continue
        packet = body[8:]
        # A query can contain records that others have announced, as known answers (RFC 6762, 7.1).
        if not packet[2] & 0x80:
            continue
        questions, *counts = struct.unpack(">HHHH", packet[4:12])
        at = 12
        for _ in range(questions):
            at = names(packet, at)[1] + 4
        for _ in range(sum(counts)):
            owner, at = names(packet, at)
            kind, _, lifetime, size = struct.unpack(">HHIH", packet[at:at + 10])
            if kind == 16 and lifetime and owner[1:3] == [b"_handoff", b"_tcp"]:
                found.setdefault((owner[0], packet[at + 10:at + 10 + size]), moment)
            at += 10 + size
    return found


def spellings(text):
    """Returns the encodings in which a text could be in a packet."""
    raw = text if isinstance(text, bytes) else text.encode()
    forms = {raw, raw.lower(), raw.upper(), raw[::-1], raw.hex().encode(), raw.hex().upper().encode()}
    forms |= {raw.decode("latin-1").encode(code) for code in ("utf-16-le", "utf-16-be")}
    for shift in range(3):
        # The part of base64 that does not depend on the preceding and following bytes.
        coded = base64.b64encode(b"\0" * shift + raw)
        forms.add(coded[(shift * 8 + 5) // 6 + 1:-4])
    for shift in range(5):
        coded = base64.b32encode(b"\0" * shift + raw).rstrip(b"=")
        forms |= {coded[(shift * 8 + 4) // 5 + 1:-2], coded[(shift * 8 + 4) // 5 + 1:-2].lower()}
    return {form for form in forms if len(form) >= 5}
