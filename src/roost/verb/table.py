"""The generated table of verbs. A run reads the file and parses the one row that it needs."""

from roost.verb.plain_json import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = __file__.rpartition("/")[0] + "/verbs.json"


class Table:
    """The text of ``verbs.json``: an object with one line for each entry."""

    def __init__(self) -> None:
        with open(FILE, encoding="utf-8") as file:
            self._text = file.read()

    def entry(self, name: str) -> "Any":
        """Return a top-level entry: ``verbs``, ``aliases``, ``commands`` and so on."""
        return loads(self._text, self._text.index(f'\n"{name}": ') + len(name) + 5)

    def verb(self, words: "list[str]") -> "tuple[str, dict[str, Any], int] | None":
        """Return the verb that the words begin with, its row, and how many words name it."""
        for count in (2, 1):
            name = " ".join(words[:count])
            if len(words) >= count and '"' not in name:
                at = self._text.find(f'\n "{name}": ')
                if at >= 0:
                    return name, loads(self._text, at + len(name) + 6), count
        for count in (2, 1):
            name = self.entry("aliases").get(" ".join(words[:count]))
            if name is not None and len(words) >= count:
                return (
                    name,
                    loads(self._text, self._text.index(f'\n "{name}": ') + len(name) + 6),
                    count,
                )
        return None
