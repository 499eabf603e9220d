"""An application behind a real uvicorn, with the WebSockets that Roost serves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from roost.frontends.http.sockets import Socket
from roost.testing.waits import until


@asynccontextmanager
async def served_app(app: ASGIApp, **options: Any) -> AsyncIterator[str]:
    """Serve the application, and yield its host and port."""
    config = uvicorn.Config(app, port=0, ws=Socket, log_level="critical", lifespan="off", **options)
    server = uvicorn.Server(config)
    running = asyncio.get_running_loop().create_task(server.serve())
    await until(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await running
