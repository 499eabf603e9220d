"""Read a picture's size from its bytes, because each browser rounds the size differently."""

from __future__ import annotations

import struct

_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def picture_size(data: bytes) -> tuple[int, int]:
    """Return the width and height of a PNG or JPEG."""
    if data.startswith(b"\x89PNG"):
        width, height = struct.unpack_from(">II", data, 16)
        return width, height
    at = 2
    while at + 9 <= len(data):
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 + length
    raise ValueError("neither PNG nor JPEG")
