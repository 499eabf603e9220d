"""Read Snappy's block format, with which Firefox compresses larger localStorage values. No I/O.

https://github.com/google/snappy/blob/main/format_description.txt
"""

from __future__ import annotations

LITERAL = 0
UNPACKED_BYTES = 32 * 1024 * 1024
"""Limit on the uncompressed size. Browsers let a whole origin store less."""


def unpacked(data: bytes) -> bytes:
    """Decompress the data. Raises ``ValueError`` if it is not in Snappy's format."""
    try:
        return _unpacked(data)
    except IndexError:
        raise ValueError("it ends too soon") from None


def _unpacked(data: bytes) -> bytes:
    length, at = _length(data)
    out = bytearray()
    while at < len(data):
        kind, upper = data[at] & 3, data[at] >> 2
        at += 1
        if kind == LITERAL:
            extra = max(0, upper - 59)  # 60 to 63: the size follows in 1 to 4 bytes
            size = (int.from_bytes(data[at : at + extra], "little") if extra else upper) + 1
            at += extra
            out += data[at : at + size]
            at += size
            continue
        if kind == 1:
            size, offset = (upper & 7) + 4, (upper >> 3) << 8 | data[at]
            at += 1
        else:
            width = 2 if kind == 2 else 4
            size, offset = upper + 1, int.from_bytes(data[at : at + width], "little")
            at += width
        _repeat(out, offset, size)
    if len(out) != length:
        raise ValueError(f"{len(out)} bytes instead of {length}")
    return bytes(out)


def _length(data: bytes) -> tuple[int, int]:
    """Return the varint at the start, and the position after it."""
    length = shift = at = 0
    while True:
        byte = data[at]
        length |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
    if length > UNPACKED_BYTES:
        raise ValueError(f"{length} bytes are too many")
    return length, at


def _repeat(out: bytearray, offset: int, size: int) -> None:
    """Append ``size`` bytes from ``offset`` bytes back. Source and target may overlap, so copy byte
    by byte."""
    if not 0 < offset <= len(out):
        raise ValueError("a copy of what is not there")
    for _ in range(size):
        out.append(out[-offset])
