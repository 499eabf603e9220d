"""Read a policy that a person wrote: the name of a preset, or a TOML document.

Nothing is applied if any word is wrong. The error names the word, and the known word that is
nearest to it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Final

from roost.api.operations import OPERATIONS
from roost.core import policy
from roost.core.addresses import checked_domain, host_of
from roost.core.policy import Group
from roost.core.policy_layers import PolicyLayer, PolicyRule
from roost.errors import BadRequest
from roost.vocabulary import Verdict

TEXT_CHARS: Final = 64 * 1024
ENTRIES_MAX: Final = 1000
_ASKED_BY_CAREFUL = (policy.UPLOAD, policy.DOWNLOAD, policy.EVALUATE, policy.LOGIN)
_DENIED_BY_LOCKDOWN = (policy.EVALUATE, policy.UPLOAD)

PRESETS: Final[Mapping[str, PolicyLayer]] = {
    "open": PolicyLayer(source="open"),
    "careful": PolicyLayer(
        source="careful",
        rules=(PolicyRule(verdict=Verdict.ASK, operations=_ASKED_BY_CAREFUL),),
    ),
    "lockdown": PolicyLayer(
        source="lockdown",
        rules=(PolicyRule(verdict=Verdict.DENY, operations=_DENIED_BY_LOCKDOWN),),
        origins=(),
    ),
}
PRESET_HELP: Final[Mapping[str, str]] = {
    "open": "Everything is allowed. This is the default.",
    "careful": "Asks before uploads, downloads and evaluate, and before a click, Enter or submit in"
    " a form with a filled password field.",
    "lockdown": "Only the listed origins can be opened, read and acted on: those in `origins`, or"
    " else those of the session's `allow` list. No evaluate, no upload.",
}
WORDS: Final[Mapping[str, str]] = {
    policy.ANYTHING: "Every operation.",
    Group.READ: "Everything that only reads a page: snapshot, screenshot, console, network …",
    Group.ACT: "Everything that acts in a page: click, type, press keys, drag, evaluate, upload …",
    Group.NAVIGATE: "Open an address, go back or forward, reload, open a tab at an address.",
    Group.JAR: "Read or change cookies and storage.",
    policy.EVALUATE: "Run JavaScript in the page.",
    policy.UPLOAD: "Give files to a page.",
    policy.DOWNLOAD: "Save a file that a page offers.",
    policy.LOGIN: "Click, press Enter or submit in a form with a filled password field.",
    policy.CDP: "Attach a DevTools client (Playwright, Puppeteer …). It passes everything unread,"
    " so a policy that restricts anything denies it unless a rule allows `cdp` by name.",
}
"""The words of a policy besides the operations' own."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a policy file: what a value looks like, what it does, and how it is read."""

    value: str
    help: str
    read: Callable[[Any], Any]


def _texts(given: Any) -> tuple[str, ...]:
    is_list = isinstance(given, list) and all(isinstance(one, str) and one for one in given)
    if not is_list:
        raise ValueError("expected a list of texts")
    if len(given) > ENTRIES_MAX:
        raise ValueError(f"expected at most {ENTRIES_MAX} entries")
    return tuple(given)


def _origins(given: Any) -> tuple[str, ...]:
    return tuple(map(_origin, _texts(given)))


def _origin(text: str) -> str:
    if "://" not in text:
        try:
            return checked_domain(text)
        except BadRequest as error:
            raise ValueError(f"{error.message} {error.hint}") from None
    found = re.fullmatch(r"(https?)://[^/?#\\@]+/?", text, re.IGNORECASE)
    host = host_of(text)
    if found is None or not host:
        raise ValueError(f"expected an origin like https://example.com:8443, not {text[:80]!r}")
    scheme = found[1].lower()
    port = re.search(r":(\d+)/?$", text)
    usual = {"http": "80", "https": "443"}[scheme]
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}" + (f":{port[1]}" if port and port[1] != usual else "")


def _operations(given: Any) -> tuple[str, ...]:
    known = {*WORDS, *operation_words()}
    return tuple(_known(one.removeprefix("browser_"), known, "operation") for one in _texts(given))


def operation_words() -> dict[str, str]:
    """Return the word of each operation that a policy judges, with the operation's title."""
    return {
        kind.policy_word(): kind.title
        for kind in OPERATIONS.values()
        if kind.conduct and kind.policy_word() not in WORDS
    }


def _known(word: str, known: Iterable[str], what: str) -> str:
    if word in known:
        return word
    near = get_close_matches(word, known, 1, 0.4)
    advice = f"; the nearest is {near[0]!r}" if near else f"; known are {', '.join(sorted(known))}"
    raise ValueError(f"there is no {what} {word[:64]!r}{advice}")


def _limit(least: int) -> Callable[[Any], int]:
    def read(given: Any) -> int:
        is_number = isinstance(given, int) and not isinstance(given, bool)
        if not is_number or not least <= given <= 100_000:
            raise ValueError(f"expected a number from {least} to 100000")
        return int(given)

    return read


def _verdict(given: Any) -> Verdict:
    if not isinstance(given, str):
        raise ValueError("expected allow, ask or deny")
    return Verdict(_known(given, [one.value for one in Verdict], "verdict"))


def _preset(given: Any) -> str:
    if not isinstance(given, str):
        raise ValueError(f"expected one of {', '.join(PRESETS)}")
    return _known(given, PRESETS, "preset")


KEYS: Final[Mapping[str, Entry]] = {
    "preset": Entry(
        '`"open"`, `"careful"`, `"lockdown"`', "Begin with this preset. Default: open.", _preset
    ),
    "origins": Entry(
        "list of origins",
        "Only these may be opened, read and acted on. In a new session of a browser that Roost"
        " manages, nothing else can be reached, not even by a page.",
        _origins,
    ),
    "read_only": Entry("list of origins", "These may be read, but not acted on.", _origins),
    "profiles": Entry("list of texts", "Only these profiles may be cloned.", _texts),
    "limits": Entry("table", "Limits for each session, see below.", lambda given: given),
    "rule": Entry(
        "list of tables (`[[rule]]`)",
        "Rules, see below. The first rule that fits decides; rules of a preset come last.",
        lambda given: given,
    ),
}
LIMITS: Final[Mapping[str, Entry]] = {
    "tabs": Entry("number", "Tabs at a time.", _limit(1)),
    "downloads": Entry("number", "Downloads in all.", _limit(0)),
    "actions_per_minute": Entry("number", "Actions and navigations a minute.", _limit(1)),
}
RULE_KEYS: Final[Mapping[str, Entry]] = {
    "verdict": Entry('`"allow"`, `"ask"`, `"deny"`', "What the rule says. Needed.", _verdict),
    "operations": Entry("list of texts", "What it covers: see below. Needed.", _operations),
    "origins": Entry("list of origins", "Where. Default: everywhere.", _origins),
    "clients": Entry(
        "list of texts",
        "For which client programs, by file name: `claude`, `codex`. Default: all.",
        _texts,
    ),
}


def read_policy(text: str, source: str) -> PolicyLayer:
    """Return the layer that the text describes.

    source: where the text comes from, for errors and refusals.
    Raises ``BadRequest`` if anything in the text is wrong.
    """
    if len(text) > TEXT_CHARS:
        raise BadRequest(f"{source}: a policy has at most {TEXT_CHARS} characters.", field="policy")
    word = text.strip()
    if re.fullmatch(r"[A-Za-z_-]{1,64}", word):
        try:
            return replace(PRESETS[_preset(word)], source=f"{source} ({word})")
        except ValueError as wrong:
            raise _wrong(source, str(wrong)) from None
    try:
        return policy_of(tomllib.loads(text), source)
    except tomllib.TOMLDecodeError as error:
        raise _wrong(source, f"not TOML ({error})") from None


def policy_of(given: Mapping[str, Any], source: str) -> PolicyLayer:
    """Return the layer that a TOML table describes. Raises ``BadRequest`` if anything is wrong."""
    try:
        read = _read(given, KEYS, "")
        base = PRESETS[read.pop("preset", "open")]
        limits = _read(_table(read.pop("limits", {}), "limits"), LIMITS, "limits.")
        rules = read.pop("rule", [])
        if not isinstance(rules, list) or len(rules) > ENTRIES_MAX:
            raise ValueError("rule: expected a list of tables, written [[rule]]")
        own = tuple(_rule(one, number) for number, one in enumerate(rules, 1))
        return replace(base, source=source, rules=(*own, *base.rules), **limits, **read)
    except ValueError as wrong:
        raise _wrong(source, str(wrong)) from None


def _rule(given: Any, number: int) -> PolicyRule:
    where = f"rule {number}: "
    read = _read(_table(given, f"rule {number}"), RULE_KEYS, where)
    for needed in ("verdict", "operations"):
        if not read.get(needed):
            raise ValueError(f"{where}{needed} is missing")
    return PolicyRule(**read)


def _read(given: Mapping[str, Any], keys: Mapping[str, Entry], where: str) -> dict[str, Any]:
    read = {}
    for name, value in given.items():
        _known(name, keys, f"key {where}".strip())
        try:
            read[name] = keys[name].read(value)
        except ValueError as wrong:
            raise ValueError(f"{where}{name}: {wrong}") from None
    return read


def _table(given: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(given, dict):
        raise ValueError(f"{where}: expected a table")
    return given


def _wrong(source: str, what: str) -> BadRequest:
    return BadRequest(
        f"{source}: {what}.",
        hint="Nothing was applied: the policy stays as it was. `roost policy --help` names the"
        " reference of policy files.",
        field="policy",
    )
