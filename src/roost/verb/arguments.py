"""Words of the command line to a call, by a row of the table of verbs."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COMMON = {
    "--session": ("session", "ID"),
    "--output": ("output", "FILE"),
    "--timeout": ("timeout", "SECONDS"),
    "--json": ("json", None),
    "--raw": ("raw", None),
    "--operator": ("operator", None),
    "--help": ("help", None),
}
"""Flags that every verb takes. Those without a value stand alone."""
SHORT = {"-s": "--session", "-o": "--output", "-h": "--help"}


class UsedWronglyError(Exception):
    """The words do not make a call. The text says why. ``near``: words that may have been meant."""

    def __init__(self, text: str, wrong: str = "", known: "list[str] | None" = None) -> None:
        super().__init__(text)
        self.wrong = wrong
        self.known = known or []


class Call:
    """What the words ask for: an operation with arguments, and how to answer."""

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        """Common flags by name, for example ``session``."""
        self.arguments: dict[str, Any] = {}
        """The operation's arguments."""


def split(words: "list[str]") -> "tuple[Call, list[str]]":
    """Return the common flags before the verb, and the words from the verb on."""
    call, left = Call(), list(words)
    while left and left[0].startswith("-") and left[0] not in ("-", "--"):
        word = left.pop(0)
        name, value = _named(word)
        if name not in COMMON:
            raise UsedWronglyError(f"There is no flag {word} before a verb.", name, list(COMMON))
        _common(call, name, value, left)
    return call, left


def fill(call: Call, name: str, row: "dict[str, Any]", words: "list[str]") -> None:
    """Add the words after the verb to the call."""
    flags = row.get("flags", {})
    shorts = {about["short"]: flag for flag, about in flags.items() if "short" in about}
    others = {other: flag for flag, about in flags.items() for other in about.get("aliases", ())}
    call.arguments.update(row.get("fixed", {}))
    plain: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--":
            plain += left
            break
        if not word.startswith("-") or word == "-" or word[1:2].isdigit() or word[1:2] == ".":
            plain.append(word)
            continue
        flag, value = _named(word, shorts)
        flag = others.get(flag, flag)
        if flag in flags:
            _flag(call, flag, flags[flag], value, left)
        elif flag in COMMON:
            _common(call, flag, value, left)
        else:
            known = [*flags, *others, *COMMON]
            raise UsedWronglyError(f"{name} has no flag {flag}.", flag, known)
    if not call.options.get("help"):
        _positional(call, name, row, plain)
    if "output" in call.options and row.get("file"):
        call.arguments["filename"] = os.path.abspath(call.options.pop("output"))


def _named(word: str, shorts: "dict[str, str] | None" = None) -> "tuple[str, str | None]":
    """Return the long name of a flag and the value that stands in the same word, if any."""
    if word.startswith("--"):
        flag, equals, value = word.partition("=")
        return flag, value if equals else None
    known = {**SHORT, **(shorts or {})}
    value = word[2:].removeprefix("=")
    return known.get(word[:2], word[:2]), value or None


def _common(call: Call, flag: str, value: "str | None", left: "list[str]") -> None:
    name, takes = COMMON[flag]
    if takes is None:
        _no_value(flag, value)
        call.options[name] = True
    else:
        call.options[name] = _value(flag, takes, value, left)


def _flag(
    call: Call, flag: str, about: "dict[str, Any]", value: "str | None", left: "list[str]"
) -> None:
    name = about["name"]
    if "value" not in about:
        _no_value(flag, value)
        call.arguments[name] = not about.get("off")
        return
    text = _value(flag, about["value"], value, left)
    _check_choice(flag, about, text)
    if about.get("path"):
        text = os.path.abspath(text)
    if about.get("many"):
        more = [text] if about.get("whole") else text.split(",")
        call.arguments[name] = [*call.arguments.get(name, ()), *more]
    else:
        call.arguments[name] = text


def _value(flag: str, takes: str, value: "str | None", left: "list[str]") -> str:
    if value is not None:
        return value
    if not left:
        raise UsedWronglyError(f"{flag} needs a value: {flag} {takes}.")
    return left.pop(0)


def _no_value(flag: str, value: "str | None") -> None:
    if value is not None:
        raise UsedWronglyError(f"{flag} takes no value.")


def _check_choice(what: str, about: "dict[str, Any]", text: str) -> None:
    choices = about.get("choices")
    if choices and text not in choices and not about.get("many"):
        raise UsedWronglyError(f"{what}: {text} is none of {', '.join(choices)}.", text, choices)


def _positional(call: Call, name: str, row: "dict[str, Any]", words: "list[str]") -> None:
    takes, left = row.get("positional", ()), list(words)
    for number, about in enumerate(takes):
        needed = sum(1 for one in takes[number:] if one.get("required"))
        if not left or (not about.get("required") and len(left) <= needed):
            if about.get("required"):
                raise UsedWronglyError(f"{name} needs {about['shown']}.")
            continue
        given = left[:] if about.get("many") else [left[0]]
        del left[: len(given)]
        if about.get("path"):
            given = [os.path.abspath(one) for one in given]
        if about["name"] == "fields":
            call.arguments["fields"] = _fields(row.get("fixed", {}).get("fields"), given)
        elif about.get("many"):
            call.arguments[about["name"]] = given
        else:
            _check_choice(about["shown"], about, given[0])
            call.arguments[about["name"]] = given[0]
    if left:
        raise UsedWronglyError(f"{name} takes no further word: {left[0]}.")


def _fields(value: object, given: "list[str]") -> "list[dict[str, Any]]":
    """Return the fields of a form: one target with that value, or words like ``e5=Ada``."""
    if isinstance(value, bool):
        return [{"target": given[0], "value": value}]
    fields = []
    for word in given:
        target, equals, text = word.partition("=")
        if word.startswith("text=") or not equals:
            raise UsedWronglyError(f"{word} is not TARGET=VALUE.")
        said: object = {"true": True, "false": False}.get(text, text)
        fields.append({"target": target, "value": said})
    return fields
