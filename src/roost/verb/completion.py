"""Completion in bash, zsh and fish: the scripts, and the words that they ask for."""

from __future__ import annotations

from roost.verb.arguments import COMMON, SHORT, UsedWronglyError
from roost.verb.table import Table

SCRIPTS = {
    "bash": """\
_roost() {
    local IFS=$'\\n'
    COMPREPLY=($(roost __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    [ ${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _roost roost
""",
    "zsh": """\
#compdef roost
_roost() {
    local -a found
    found=("${(@f)$(roost __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[*]}" ]]; then compadd -- $found; else _files; fi
}
# zsh runs this file as the function when it finds it in fpath.
if [[ "${funcstack[1]}" = _roost ]]; then _roost "$@"; else compdef _roost roost; fi
""",
    "fish": """\
function __roost_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (roost __complete $words[2..] 2>/dev/null)
    if test -n "$found"
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c roost -f -a '(__roost_complete)'
""",
}


def script(words: list[str]) -> str:
    """Return the script that a shell loads."""
    found = SCRIPTS.get(words[0]) if len(words) == 1 else None
    if found is None:
        raise UsedWronglyError(
            "completion takes a shell: bash, zsh or fish.", words[0] if words else "", list(SCRIPTS)
        )
    return found


def complete(table: Table, words: list[str]) -> str:
    """Return what the last word may become, one candidate a line."""
    *before, last = words or [""]
    plain = [word for word in before if not word.startswith("-")]
    return "\n".join(word for word in _candidates(table, plain, last) if word.startswith(last))


def _candidates(table: Table, before: list[str], last: str) -> list[str]:
    names, commands = table.entry("names"), table.entry("commands")
    if not before:
        first = [name.split()[0] for name in names]
        return sorted({*first, *commands, *table.entry("aliases"), "call", "help", "completion"})
    if before == ["help"]:
        return list(names)
    if before == ["completion"]:
        return list(SCRIPTS)
    found = table.verb(before)
    seconds = [name.split()[1] for name in names if name.split()[:-1] == before]
    if found is None or (seconds and found[2] == len(before) and not last.startswith("-")):
        return [*seconds, *_of_command(commands, before)]
    row = found[1]
    if last.startswith("-"):
        return [*row.get("flags", {}), *COMMON, *SHORT]
    number = len(before) - found[2]
    takes = row.get("positional", [])
    return list(takes[number].get("choices", ())) if number < len(takes) else []


def _of_command(commands: dict[str, dict[str, list[str]]], before: list[str]) -> list[str]:
    """Return the sub-commands and flags of a command that is not a verb."""
    about = commands.get(" ".join(before[:2])) or commands.get(before[0]) or {}
    return [*about.get("below", ()), *about.get("flags", ())]
