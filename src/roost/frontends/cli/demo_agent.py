"""One agent of the demo: ``python -m roost.frontends.cli.demo_agent NAME``.

Orders come in on stdin and answers go out on stdout, one JSON object per line; what the agent then
does, it does through ``roost.connect()``, like any other agent. It leaves when stdin ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any, cast

import roost
from roost.api.broker import Notices
from roost.api.operations import Answers, parse
from roost.api.views import View
from roost.errors import RoostError


async def main(name: str) -> None:
    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(orders), sys.stdin
    )
    async with await roost.connect(name=name, start=False) as client:
        _say({"agent": client.agent, "session": client.session})
        with client.watch() as notices:
            async with asyncio.TaskGroup() as group:
                listening = group.create_task(_listen(notices), name="listen")
                while order := await orders.readline():
                    _say(await _obey(client, json.loads(order)))
                listening.cancel()


async def _obey(client: roost.Client, order: dict[str, Any]) -> dict[str, Any]:
    try:
        operation = cast(Answers[View], parse(order["op"], order["args"]))
        return {"ok": (await client.call(operation)).to_wire()}
    except RoostError as error:
        return {"error": error.to_wire()}


async def _listen(notices: Notices) -> None:
    async for notice in notices:
        _say({"event": notice.to_wire()})


def _say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
