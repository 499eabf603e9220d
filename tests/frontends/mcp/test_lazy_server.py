"""The SDK is imported when it is first needed, and only callers that need it wait."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from roost.frontends.mcp import lazy_server
from roost.frontends.mcp.lazy_server import LazyServer
from roost.testing.waits import SECONDS, turn


async def test_the_loop_goes_on_while_the_module_is_imported() -> None:
    server = LazyServer()
    module = server.begin()
    assert server.begin() is module
    await turn()
    async with asyncio.timeout(SECONDS):
        assert await server.module() is sys.modules[lazy_server.SERVER]


async def test_a_caller_that_gives_up_does_not_stop_the_import_for_others() -> None:
    server = LazyServer()
    impatient = asyncio.get_running_loop().create_task(server.module())
    await turn()
    impatient.cancel()
    async with asyncio.timeout(SECONDS):
        assert (await server.module()).make_server


async def test_a_failed_import_is_raised_to_the_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lazy_server, "SERVER", "roost.no_such_module")
    with pytest.raises(ImportError):
        async with asyncio.timeout(SECONDS):
            await LazyServer().module()


async def test_any_other_failure_of_the_import_is_told_to_the_caller(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "broken_sdk.py").write_text("raise AttributeError('half an upgrade')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(lazy_server, "SERVER", "broken_sdk")
    with pytest.raises(AttributeError):
        async with asyncio.timeout(SECONDS):
            await LazyServer().module()


@pytest.mark.slow
def test_an_import_that_ran_out_of_descriptors_half_way_is_tried_again() -> None:
    """The test uses a separate process, in which the SDK was not imported before."""
    code = """
import asyncio, errno, os, sys
from roost.frontends.mcp.lazy_server import LazyServer

class NoDescriptors:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("mcp.server."):
            sys.meta_path.remove(self)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

async def main():
    server = LazyServer()
    sys.meta_path.insert(0, NoDescriptors())
    try:
        await server.module()
    except OSError as error:
        print(error.strerror)
    print((await server.module()).make_server.__name__)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert done.stdout.splitlines() == [os.strerror(errno.EMFILE), "make_server"], done.stderr


@pytest.mark.slow
def test_a_broker_without_mcp_clients_does_not_load_the_sdk() -> None:
    code = "import roost.daemon.main, sys; print('mcp' in sys.modules, 'mcp_types' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert done.stdout.split() == ["False", "False"], done.stderr
