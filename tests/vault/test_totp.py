"""One-time codes: the vectors of RFC 6238, and seeds as sites show them."""

from __future__ import annotations

import base64

import pytest

from roost.errors import BadRequest
from roost.vault.totp import Totp

SEEDS = {
    "sha1": b"12345678901234567890",
    "sha256": b"12345678901234567890123456789012",
    "sha512": b"1234567890123456789012345678901234567890123456789012345678901234",
}
VECTORS = [
    (59, "94287082", "46119246", "90693936"),
    (1111111109, "07081804", "68084774", "25091201"),
    (1111111111, "14050471", "67062674", "99943326"),
    (1234567890, "89005924", "91819424", "93441116"),
    (2000000000, "69279037", "90698825", "38618901"),
    (20000000000, "65353130", "77737706", "47863826"),
]
"""Time, and the codes with SHA-1, SHA-256 and SHA-512 (RFC 6238, appendix B)."""


@pytest.mark.parametrize("vector", VECTORS)
def test_the_codes_are_those_of_the_rfc(vector: tuple[int, str, str, str]) -> None:
    now, *codes = vector
    assert [Totp(SEEDS[name], 8, 30, name).code(now) for name in SEEDS] == codes


def test_a_seed_is_read_as_sites_show_it() -> None:
    seed = base64.b32encode(SEEDS["sha1"]).decode()
    spaced = " ".join(seed[at : at + 4] for at in range(0, len(seed), 4)).lower()
    address = f"otpauth://totp/A:b?secret={seed}&digits=8&period=60&algorithm=SHA256"
    assert Totp.parse(spaced) == Totp(SEEDS["sha1"])
    assert Totp.parse(address) == Totp(SEEDS["sha1"], 8, 60, "sha256")
    assert "1234" not in repr(Totp.parse(spaced))


@pytest.mark.parametrize(
    "text",
    ["", "not a seed!", "otpauth://hotp/x?secret=JBSWY3DP", "otpauth://totp/x?secret=JBSWY3DP&digits=99",
     "otpauth://totp/x?secret=JBSWY3DP&period=0", "otpauth://totp/x?secret=JBSWY3DP&algorithm=md5"],
)  # fmt: skip
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        Totp.parse(text)
