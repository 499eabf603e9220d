"""Commands name operations and read answers without the models (roost.frontends.cli.orders)."""

from __future__ import annotations

import typing
from datetime import UTC, datetime

import pytest

from roost.api import jar_views, views
from roost.api.operations import OPERATIONS
from roost.api.views import SessionView, TabView
from roost.frontends.cli import orders
from roost.frontends.cli.orders import Answer, Order
from roost.vocabulary import Color, JarPolicy, Lifetime

ORDERS = [name for name, value in vars(orders).items() if isinstance(value, Order)]


@pytest.mark.parametrize("name", ORDERS)
def test_an_order_names_an_operation_and_the_view_that_it_answers(name: str) -> None:
    known = {**vars(views), **vars(jar_views), "Order": Order}
    (view,) = typing.get_args(eval(orders.__annotations__[name], known))
    assert OPERATIONS[getattr(orders, name).op].reply is view


def test_an_answer_reads_as_the_view_does() -> None:
    tab = TabView(tab="t1", url="https://site.test/", title="Shop", current=True)
    view = SessionView(
        id="s1",
        name="shop",
        color=Color.BLUE,
        jar=JarPolicy.FRESH,
        lifetime=Lifetime.NAMED,
        browser="chromium",
        named=True,
        created_at=datetime(2026, 11, 18, tzinfo=UTC),
        paused=False,
        tabs=[tab],
    )
    answer = Answer(view.to_wire())
    for name in set(SessionView.model_fields) - {"tabs", "created_at"}:
        assert getattr(answer, name) == getattr(view, name), name
    assert datetime.fromisoformat(answer.created_at) == view.created_at
    (read,) = answer.tabs
    for name in TabView.model_fields:
        assert getattr(read, name) == getattr(tab, name), name
    assert answer.to_wire() == view.to_wire()
