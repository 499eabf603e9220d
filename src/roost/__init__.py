"""Roost: many agents, one browser.

``await roost.connect()`` connects from Python; ``roost.ops`` has the operations to call. Imports
are lazy, because the shim and the hook import this package and must stay small.
"""

__version__ = "0.2.0"
__all__ = ["Client", "Notice", "RoostError", "__version__", "connect", "errors", "ops"]

TYPE_CHECKING = False  # the module ``typing`` would cost every verb milliseconds
if TYPE_CHECKING:
    from typing import Any

    from roost import errors
    from roost.api import operations as ops
    from roost.api.broker import Notice
    from roost.client.client import Client, connect
    from roost.errors import RoostError

_WHERE = {
    "Client": ("roost.client.client", "Client"),
    "Notice": ("roost.api.broker", "Notice"),
    "RoostError": ("roost.errors", "RoostError"),
    "connect": ("roost.client.client", "connect"),
    "errors": ("roost.errors", None),
    "ops": ("roost.api.operations", None),
}


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    if name not in _WHERE:
        raise AttributeError(f"module 'roost' has no attribute {name!r}")
    module, attribute = _WHERE[name]
    found = import_module(module)
    return found if attribute is None else getattr(found, attribute)
