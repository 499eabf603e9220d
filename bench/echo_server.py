"""A minimal JSON-lines server on asyncio: ``python -m bench.echo_server SOCKET``."""

from __future__ import annotations

import asyncio
import json
import sys


class Echo(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            self._transport.write(json.dumps({"id": message["id"], "ok": {}}).encode() + b"\n")


async def main(path: str) -> None:
    server = await asyncio.get_running_loop().create_unix_server(Echo, path)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
