"""JSON without the module ``json``, which imports ``re`` and costs as much as all else here.

The C functions are those that ``json`` itself uses. Interpreters without them use ``json``.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner
except ImportError:
    make_scanner = None  # type: ignore[assignment, misc]


class _Options:
    """The options that the C scanner reads: those of ``json.loads``."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: "dict[str, str]" = {}


def loads(text: str, start: int = 0) -> "Any":
    """Return the JSON value that begins at ``start``. Raises ``ValueError`` if there is none."""
    if make_scanner is None:
        import json

        return json.JSONDecoder(strict=False).raw_decode(text, start)[0]
    try:
        return make_scanner(_Options)(text, start)[0]  # type: ignore[arg-type]
    except StopIteration:
        raise ValueError("no JSON") from None


def dumps(value: object) -> str:
    """Return the value as JSON on one line of ASCII."""
    if make_scanner is None:
        import json

        return json.dumps(value, separators=(",", ":"))
    encode = make_encoder(None, None, encode_basestring_ascii, None, ":", ",", False, False, True)  # type: ignore[arg-type]
    return "".join(encode(value, 0))
