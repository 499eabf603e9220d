"""Values are registered with the redactor before anybody gets them, and failures tell no output."""

from __future__ import annotations

from pathlib import Path

import pytest

from roost.broker.secret_values import SecretValues
from roost.errors import VaultLocked
from roost.testing.clock import FakeClock
from roost.testing.sealer import sealer_of
from roost.vault.redaction import Redactor
from roost.vault.store import Secret, Vault
from roost.vault.totp import Totp

ORIGINS = ("https://site.test",)
SEED = "JBSWY3DPEHPK3PXP"


def _values(folder: Path) -> SecretValues:
    return SecretValues(Vault(folder / "vault.sealed", sealer_of(folder)), FakeClock(), Redactor())


async def test_a_value_is_removed_from_replies_as_soon_as_it_is_stored_and_after_a_restart(
    tmp_path: Path,
) -> None:
    values = _values(tmp_path)
    await values.register_stored()
    assert values.redactor.is_idle, "without secrets nothing is searched"
    values.stored(Secret(name="mail", origins=ORIGINS, value="c4nary-value"))
    assert values.redactor.text("c4nary-value") == "[secret mail]"
    later = _values(tmp_path)
    await later.register_stored()
    assert later.redactor.text("c4nary-value") == "[secret mail]"
    later.remove("mail")
    assert later.redactor.text("c4nary-value") == "[secret mail]", "a page may still show it"


async def test_the_value_of_a_provider_is_registered_before_it_is_given_out(tmp_path: Path) -> None:
    values = _values(tmp_path)
    secret = Secret(name="ci", origins=ORIGINS, source="command:printf c4nary-out")
    assert await values.value(secret) == "c4nary-out"
    assert values.redactor.text("c4nary-out") == "[secret ci]"


async def test_a_provider_that_fails_is_named_without_its_words(tmp_path: Path) -> None:
    secret = Secret(
        name="ci", origins=ORIGINS, source="command:sh -c 'echo c4nary >&2; echo c4nary; exit 4'"
    )
    with pytest.raises(VaultLocked, match="sh ended with code 4") as refusal:
        await _values(tmp_path).value(secret)
    assert "c4nary" not in str(refusal.value.to_wire())


async def test_a_one_time_code_is_of_this_moment_and_removed_from_replies(tmp_path: Path) -> None:
    values = _values(tmp_path)
    secret = Secret(name="otp", origins=ORIGINS, value=SEED, is_totp=True)
    code = await values.value(secret)
    assert code == Totp.parse(SEED).code(FakeClock().now())
    assert values.redactor.text(f"the code is {code}") == "the code is [secret otp code]"


async def test_after_a_restart_the_values_of_providers_that_were_used_are_fetched_again(
    tmp_path: Path,
) -> None:
    values = _values(tmp_path)
    counter = tmp_path / "calls"
    source = f"command:sh -c 'echo >> {counter}; printf c4nary-out'"
    values.stored(Secret(name="ci", origins=ORIGINS, source=source))
    values.stored(Secret(name="mail", origins=ORIGINS, value="c4nary-value"))
    later = _values(tmp_path)
    await later.register_stored()
    assert later.redactor.text("c4nary-out") == "c4nary-out"
    for _ in range(2):
        await later.known_again(["ci", "mail", "removed"])
    assert later.redactor.text("c4nary-out") == "[secret ci]"
    assert len(counter.read_text()) == 1, "the provider is asked once"


async def test_what_a_locked_provider_holds_stays_unknown_and_is_said(tmp_path: Path) -> None:
    values = _values(tmp_path)
    values.stored(Secret(name="ci", origins=ORIGINS, source="command:false"))
    with pytest.raises(VaultLocked, match="The value of secret ci"):
        await values.known_again(["ci"])
