"""``CoreSettings``: what the core decides by besides its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from roost.vocabulary import CLONED_JARS, POOL_LIMIT, BrowserId, JarPolicy, Reads


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreSettings:
    """The settings the core decides by.

    The broker passes them at each start; the journal does not store them.

    default_browser: browser of a new session whose caller names none.
    pool_limits: number of slots per browser (else ``POOL_LIMIT``); 0 means no limit.
    default_policy: jar policy of new sessions per browser (else fresh).
    reads: whether agents may read each other's tabs.
    clones: the maximum number of cloned jars.
    grouped: browsers that show sessions as tab groups.
    personal: browsers that belong to the person. The core asks the person before an agent may use
        one.
    """

    default_browser: BrowserId
    pool_limits: Mapping[BrowserId, int] = field(default_factory=dict)
    default_policy: Mapping[BrowserId, JarPolicy] = field(default_factory=dict)
    reads: Reads = Reads.PRIVATE
    clones: int = CLONED_JARS
    grouped: frozenset[BrowserId] = frozenset()
    personal: frozenset[BrowserId] = frozenset()

    def limit(self, browser: BrowserId) -> int:
        return self.pool_limits.get(browser, POOL_LIMIT)

    def policy(self, browser: BrowserId) -> JarPolicy:
        return self.default_policy.get(browser, JarPolicy.FRESH)
