"""The vault's file: sealed, bound to origins, and never replaced by a half-written one."""

from __future__ import annotations

from pathlib import Path

import pytest

from roost.errors import BadRequest, NotFound, VaultLocked
from roost.testing.sealer import sealer_of
from roost.vault.store import LoginPage, Secret, Vault, checked_origin, fits, login_origin

ORIGIN = "https://site.test"


def _secret(name: str = "mail", **more: object) -> Secret:
    given = {"name": name, "origins": (ORIGIN,), "value": "c4nary-value", **more}
    return Secret(**given)  # type: ignore[arg-type]


def _vault(folder: Path) -> Vault:
    return Vault(folder / "vault.sealed", sealer_of(folder))


def test_secrets_come_back_and_stand_nowhere_in_the_file(tmp_path: Path) -> None:
    vault = _vault(tmp_path)
    assert vault.is_empty
    login = _secret("web", login=LoginPage("https://site.test/in", "ada", "web.totp"))
    vault.put(_secret(), login, _secret("web.totp", value="JBSWY3DPEHPK3PXP", is_totp=True))
    assert _vault(tmp_path).all() == vault.all()
    assert _vault(tmp_path).get("web") == login
    assert b"c4nary" not in (tmp_path / "vault.sealed").read_bytes()
    assert "c4nary" not in repr(vault.get("mail"))
    vault.remove("web")
    assert set(_vault(tmp_path).all()) == {"mail"}, "a login goes with its one-time codes"
    with pytest.raises(NotFound):
        vault.get("web")


def test_a_flipped_bit_and_a_foreign_file_are_named_and_not_overwritten(tmp_path: Path) -> None:
    _vault(tmp_path).put(_secret())
    path = tmp_path / "vault.sealed"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    for call in (lambda: _vault(tmp_path).all(), lambda: _vault(tmp_path).put(_secret("new"))):
        with pytest.raises(VaultLocked, match="damaged"):
            call()
    assert path.read_bytes() == data


def test_without_the_key_nothing_is_read_or_overwritten(tmp_path: Path) -> None:
    _vault(tmp_path).put(_secret())
    sealed = (tmp_path / "vault.sealed").read_bytes()
    (tmp_path / "key.json").unlink()
    with pytest.raises(VaultLocked, match="another key"):
        _vault(tmp_path).put(_secret("new"))
    assert (tmp_path / "vault.sealed").read_bytes() == sealed


@pytest.mark.parametrize(
    "wrong",
    [{"name": "../x"}, {"origins": ()}, {"value": ""}, {"source": "op:x"}, {"is_totp": True},
     {"value": "", "source": "nobody:x"}],
)  # fmt: skip
def test_a_secret_that_makes_no_sense_is_refused(tmp_path: Path, wrong: dict[str, object]) -> None:
    with pytest.raises(BadRequest):
        _vault(tmp_path).put(_secret(**wrong))  # type: ignore[arg-type]
    assert _vault(tmp_path).is_empty


@pytest.mark.parametrize(
    ("given", "origin"),
    [("github.com", "https://github.com"), ("HTTPS://GitHub.com:443/", "https://github.com"),
     ("http://localhost:3000", "http://localhost:3000"), ("*.a.test", "https://*.a.test"),
     ("http://[::1]:80", "http://[::1]")],
)  # fmt: skip
def test_an_origin_is_spelled_as_browsers_spell_it(given: str, origin: str) -> None:
    assert checked_origin(given) == origin


@pytest.mark.parametrize("given", ["", "file:///x", "https://a.test/path", "https://*", "a b.test"])
def test_text_that_is_not_an_origin_is_refused(given: str) -> None:
    with pytest.raises(BadRequest):
        checked_origin(given)


def test_a_star_fits_the_hosts_below_and_nothing_that_only_looks_like_them() -> None:
    bound = ("https://*.a.test", "http://b.test:8080")
    assert fits("https://x.a.test", bound)
    assert fits("https://x.y.a.test", bound)
    assert fits("http://b.test:8080", bound)
    for other in ("https://a.test", "http://x.a.test", "https://xa.test", "https://x.a.test:444",
                  "https://x.a.test.evil", "null", "http://b.test"):  # fmt: skip
        assert not fits(other, bound)
    assert login_origin("https://ada:pw@a.test/login?x=1") == "https://a.test"
