"""The values of secrets: read when they are used, and registered with the redactor first.

The redactor (``vault.redaction``) then removes them from replies (``doors.caller``), notices, the
journal, the audit trail and the log.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

from roost.broker.clock import Clock
from roost.errors import VaultLocked
from roost.vault import providers
from roost.vault.redaction import Redactor
from roost.vault.store import Secret, Vault
from roost.vault.totp import Totp

FETCHES = 4
"""Providers that run at a time. Each blocks a thread, which other work needs as well."""
CODES_KEPT = 20
"""One-time codes of each secret that replies are searched for."""


class SecretValues:
    """Gives out values for one use, and registers each with the redactor first.

    A value of a provider is known only after its first use. Until then it cannot be redacted.
    After a restart of the broker, ``known_again`` fetches what was used before.
    """

    def __init__(self, vault: Vault, clock: Clock, redactor: Redactor) -> None:
        self.vault = vault
        self.redactor = redactor
        self._clock = clock
        self._fetched: set[str] = set()
        """Names of the secrets of providers whose value the redactor knows."""
        self._fetching = asyncio.Semaphore(FETCHES)
        self._codes: dict[str, deque[str]] = {}

    async def register_stored(self) -> None:
        """Register all values that the vault holds. Raises ``VaultLocked`` without the key."""
        if not self.vault.is_empty:
            secrets = await asyncio.to_thread(self.vault.all)
            await asyncio.to_thread(self.redactor.register_all, stored_values(secrets.values()))

    async def known_again(self, names: Iterable[str]) -> None:
        """Make sure that the redactor knows the values of these secrets, which pages may show.

        Raises ``VaultLocked`` if a provider does not give its value now. A secret that the person
        has removed cannot be fetched.
        """
        unknown = set(names) - self._fetched
        if unknown:
            secrets = self.vault.all()
            held = [secrets[name] for name in sorted(unknown & secrets.keys())]
            await asyncio.gather(*(self.value(one) for one in held if one.source))

    def stored(self, *secrets: Secret) -> None:
        """Store the secrets and register their values."""
        self.vault.put(*secrets)
        for name, values in stored_values(secrets).items():
            self.redactor.register(name, *values)

    def remove(self, name: str) -> None:
        """Forget a secret. Its value is still removed from replies until the broker ends: a page
        may show it."""
        self.vault.remove(name)

    async def value(self, secret: Secret) -> str:
        """Return the value to fill in now: for one-time codes, the code of this moment.

        Raises ``VaultLocked`` if the provider does not give it. The error repeats nothing of the
        provider's output.
        """
        try:
            return await self.fetched(secret)
        except providers.ProviderFailed as failure:
            raise VaultLocked(
                f"The value of secret {secret.name} cannot be read: {failure.why}.",
                hint="Ask the person to unlock its provider. `roost secret test"
                f" {secret.name}` says more to them.",
                secret=secret.name,
            ) from None

    async def fetched(self, secret: Secret) -> str:
        """Like ``value``, but raises ``ProviderFailed``."""
        value = secret.value
        if secret.source:
            async with self._fetching:
                value = await asyncio.to_thread(providers.fetch, secret.source)
            self.redactor.register(secret.name, value)
            self._fetched.add(secret.name)
        if not secret.is_totp:
            return value
        code = Totp.parse(value).code(self._clock.now())
        codes = self._codes.setdefault(secret.name, deque(maxlen=CODES_KEPT))
        codes.append(code)
        self.redactor.replace(f"{secret.name} code", *codes)
        return code


def stored_values(secrets: Iterable[Secret]) -> dict[str, tuple[str, ...]]:
    """Return the values in the vault by the name of their secret."""
    return {one.name: (one.value,) for one in secrets if one.value}
