"""Read just enough of PNG and JPEG to check that a picture is complete, and how large it is."""

from __future__ import annotations

import struct
import zlib

from roost.drivers.base import Picture

_PNG = b"\x89PNG\r\n\x1a\n"
_STANDALONE = frozenset({0x01, *range(0xD0, 0xD8)})
_FRAME_HEADERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def check_picture(picture: Picture, format: str) -> None:
    """Assert that the picture has that format, is complete, and has the size it claims."""
    assert picture.mime_type == f"image/{format}"
    read = _png_size if format == "png" else _jpeg_size
    assert read(picture.data) == (picture.width, picture.height)


def _png_size(data: bytes) -> tuple[int, int]:
    assert data.startswith(_PNG), "not a PNG"
    at, kinds, packed = len(_PNG), [], b""
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, at + 8 + length)
        assert checksum == zlib.crc32(kind + body), f"a damaged {kind!r} chunk"
        kinds.append(kind)
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    assert kinds[0] == b"IHDR"
    assert kinds[-1] == b"IEND"
    zlib.decompress(packed)
    width, height = struct.unpack_from(">II", data, len(_PNG) + 8)
    return width, height


def _jpeg_size(data: bytes) -> tuple[int, int]:
    assert data.startswith(b"\xff\xd8"), "not a JPEG"
    assert data.endswith(b"\xff\xd9"), "a JPEG without its end"
    at = 2
    while at < len(data):
        mark, kind = data[at], data[at + 1]
        assert mark == 0xFF, "a damaged JPEG"
        if kind in _FRAME_HEADERS:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        at += 2 if kind in _STANDALONE else 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    raise AssertionError("a JPEG without a frame")
