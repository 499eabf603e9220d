"""A starlette application on uvicorn that does nothing, to measure what HTTP itself costs."""

from __future__ import annotations

import socket
import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


async def nothing(request: Request) -> JSONResponse:
    await request.body()
    return JSONResponse({})


def main() -> None:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    app = Starlette(routes=[Route("/{path:path}", nothing, methods=["POST"])])
    config = uvicorn.Config(app, http="httptools", log_level="error", access_log=False)
    uvicorn.Server(config).run([listening])


main()
