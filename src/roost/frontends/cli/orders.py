"""The operations that commands ask the broker for, by name.

An ``Order`` names an operation and the view that the operation answers. A command does not import
``roost.api``: building the models of all operations takes longer than everything else that the
command does. The broker checks the arguments. ``Answer`` reads the reply as the view would read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from roost.api.jar_views import ProfilesView, ProfileView
    from roost.api.page_views import ActionView
    from roost.api.policy_views import JudgementView, PolicyView
    from roost.api.secret_views import SecretsView, SecretTestView
    from roost.api.views import (
        BrowserView,
        DashboardView,
        DisposedView,
        FrontView,
        Pong,
        SessionsView,
        SessionView,
        StatusView,
        TabsView,
        TokenView,
    )

R = TypeVar("R")


class Order(Generic[R]):
    """An operation by its name on the wire. ``R``: the view that it answers."""

    def __init__(self, op: str) -> None:
        self.op = op


class Answer:
    """A view as it came over the wire.

    A field that the broker left out is None, as in the view. Times are text in ISO 8601.
    """

    def __init__(self, wire: dict[str, Any]) -> None:
        self._wire = wire

    def __getattr__(self, name: str) -> Any:
        first, *rest = name.split("_")
        if not first:
            raise AttributeError(name)
        return _read(self._wire.get(first + "".join(word.capitalize() for word in rest)))

    def to_wire(self) -> dict[str, Any]:
        """Return the view as JSON data, in camelCase, without fields that are None."""
        return self._wire


def _read(value: Any) -> Any:
    if isinstance(value, dict):
        return Answer(value)
    return [_read(one) for one in value] if isinstance(value, list) else value


PING: Order[Pong] = Order("ping")
STATUS: Order[StatusView] = Order("roost_status")
BROKER_STAY: Order[Pong] = Order("broker_stay")
BROKER_STOP: Order[Pong] = Order("broker_stop")
BROWSER_START: Order[BrowserView] = Order("browser_start")
DASHBOARD_OPEN: Order[DashboardView] = Order("dashboard_open")
POLICY_EXPLAIN: Order[JudgementView] = Order("policy_explain")
POLICY_FORGET: Order[PolicyView] = Order("policy_forget")
POLICY_RELOAD: Order[PolicyView] = Order("policy_reload")
POLICY_SET: Order[PolicyView] = Order("policy_set")
POLICY_SHOW: Order[PolicyView] = Order("policy_show")
PROFILE_IMPORT: Order[ProfileView] = Order("profile_import")
PROFILE_LIST: Order[ProfilesView] = Order("profile_list")
PROFILE_REMOVE: Order[ProfilesView] = Order("profile_remove")
LOGIN: Order[ActionView] = Order("browser_login")
SECRET_ADD: Order[SecretsView] = Order("secret_add")
SECRET_LIST: Order[SecretsView] = Order("secret_list")
SECRET_REMOVE: Order[SecretsView] = Order("secret_remove")
SECRET_TEST: Order[SecretTestView] = Order("secret_test")
SESSION_ANSWER: Order[SessionView] = Order("session_answer")
SESSION_DISPOSE: Order[DisposedView] = Order("session_dispose")
SESSION_FRONT: Order[FrontView] = Order("session_front")
SESSION_LIST: Order[SessionsView] = Order("session_list")
SESSION_OPEN: Order[SessionView] = Order("session_open")
SESSION_PAUSE: Order[SessionView] = Order("session_pause")
SESSION_RESUME: Order[SessionView] = Order("session_resume")
SESSION_SHOW: Order[SessionView] = Order("session_show")
SESSION_TOKEN: Order[TokenView] = Order("session_token")
TABS: Order[TabsView] = Order("browser_tabs")
