"""The layers of a policy, and their rules. ``core.policy`` judges by them."""

from __future__ import annotations

from dataclasses import dataclass

from roost.vocabulary import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRule:
    """One rule of a policy.

    operations: words of operations and groups (``core.policy``).
    origins: origins and domain list entries. Empty: everywhere.
    clients: file names of client programs. Empty: all.
    """

    verdict: Verdict
    operations: tuple[str, ...]
    origins: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyLayer:
    """What one source says agents may do. ``core.policy`` says how layers are judged.

    source: where the layer comes from, for refusals: ``config.toml``, ``--policy careful`` …
    origins: the only origins that may be opened, read and acted on. None: all. Empty: those of the
        session's domain list, or none at all.
    read_only: origins that may be read but not acted on.
    profiles: the only profiles that may be cloned. None: all.
    tabs, downloads, actions_per_minute: limits for each session. None: none.
    """

    source: str
    rules: tuple[PolicyRule, ...] = ()
    origins: tuple[str, ...] | None = None
    read_only: tuple[str, ...] = ()
    profiles: tuple[str, ...] | None = None
    tabs: int | None = None
    downloads: int | None = None
    actions_per_minute: int | None = None

    @property
    def is_open(self) -> bool:
        """The layer restricts nothing."""
        return self == PolicyLayer(source=self.source)
