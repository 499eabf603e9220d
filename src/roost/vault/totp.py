"""One-time codes of authenticator apps: TOTP (RFC 6238) over HOTP (RFC 4226)."""

from __future__ import annotations

import base64
import binascii
import hmac
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from roost.errors import BadRequest

_HASHES = ("sha1", "sha256", "sha512")


@dataclass(frozen=True, slots=True)
class Totp:
    """The seed of one authenticator entry. ``parse`` reads what a site shows beside its QR code."""

    seed: bytes = field(repr=False)
    digits: int = 6
    period: int = 30
    algorithm: str = "sha1"

    @classmethod
    def parse(cls, text: str) -> Totp:
        """Read an ``otpauth://totp/…`` address or a base32 seed. Raises ``BadRequest``."""
        text = text.strip()
        if not text.lower().startswith("otpauth:"):
            return cls(_seed(text))
        parts = urlsplit(text)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        try:
            totp = cls(
                _seed(query.get("secret", "")),
                int(query.get("digits", "6")),
                int(query.get("period", "30")),
                query.get("algorithm", "SHA1").lower().replace("-", ""),
            )
        except ValueError:
            raise _wrong() from None
        is_usual = 6 <= totp.digits <= 8 and 1 <= totp.period <= 300
        if parts.netloc.lower() != "totp" or not is_usual or totp.algorithm not in _HASHES:
            raise _wrong()
        return totp

    def code(self, now: float) -> str:
        """Return the code at that time (seconds since 1970)."""
        counter = int(now // self.period).to_bytes(8, "big")
        digest = hmac.new(self.seed, counter, self.algorithm).digest()
        at = digest[-1] & 0x0F
        number = int.from_bytes(digest[at : at + 4], "big") & 0x7FFF_FFFF
        return str(number % 10**self.digits).zfill(self.digits)


def _seed(text: str) -> bytes:
    letters = "".join(text.split()).replace("-", "").rstrip("=").upper()
    try:
        seed = base64.b32decode(letters + "=" * (-len(letters) % 8))
    except (binascii.Error, ValueError):
        raise _wrong() from None
    if not seed:
        raise _wrong()
    return seed


def _wrong() -> BadRequest:
    return BadRequest(
        "value: this is not a seed for one-time codes.",
        hint="Give what the site shows as set-up key (base32), or the otpauth:// address.",
        field="value",
    )
