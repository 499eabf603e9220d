"""Take the dashboard's pictures for the documents: a real Roost, real sessions, a real viewer.

Run it after a change of the page: ``python tools/picture_dashboard.py``. It needs Chromium and
Playwright (``pip install -e '.[dev]'``), and writes into docs/images.
"""

from __future__ import annotations

import asyncio
import http.server
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

from playwright.async_api import Page, ViewportSize, async_playwright

from roost import ops
from roost.client.client import Client, connect
from roost.local.broker_start import ensure_broker
from roost.local.browsers import find_browser
from roost.local.endpoint import read_endpoint
from roost.local.home import Home
from roost.local.processes import end_tree
from roost.wire.hello import ClientKind, Hello

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
AGENTS = {
    "Claude Code: checkout": ("Your cart", "3 items · 84.00 €", 215),
    "Claude Code: docs": ("Release notes", "What is new in this version", 265),
    "Codex: login bug": ("Sign in", "Please enter the code from your phone", 15),
    "Codex: dark mode": ("Settings", "Appearance · Language · Privacy", 285),
    "Gemini: search": ("14 results", "for “noise cancelling headphones”", 140),
    "nightly tests": ("Orders", "412 open · 18 late", 45),
}
ASKS = "Codex: login bug"
PAGE = """<!doctype html><meta charset=utf-8><title>{title}</title><style>
html {{ font: 22px system-ui, sans-serif }}
html {{ background: hsl({hue} 45% 95%); color: hsl({hue} 45% 18%) }}
body {{ margin: 48px 64px }} header {{ display: flex; gap: 16px; align-items: center }}
i {{ width: 44px; height: 44px; border-radius: 12px; background: hsl({hue} 60% 50%) }}
section {{ display: grid; grid-template-columns: repeat(3, 1fr); gap: 24px; margin-top: 32px }}
section div {{ background: white; border-radius: 12px; height: 170px; padding: 20px }}
b {{ display: block; height: 16px; width: 70%; border-radius: 8px; background: hsl({hue} 40% 80%) }}
button {{ font: inherit; padding: 10px 28px; border: 0; border-radius: 10px; margin-top: 28px;
background: hsl({hue} 60% 45%); color: white }}</style>
<header><i></i><h1>{title}</h1></header><p>{text}</p>
<section><div><b></b></div><div><b></b></div><div><b></b></div></section><button>Continue</button>"""


class _Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        number = self.path.strip("/")
        title, text, hue = list(AGENTS.values())[int(number) if number.isdecimal() else 0]
        body = PAGE.format(title=title, text=text, hue=hue).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def site() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


async def picture(home: Home) -> None:
    async with AsyncExitStack() as open_things:
        base = open_things.enter_context(site())
        for number, name in enumerate(AGENTS):
            agent = await open_things.enter_async_context(await connect(home=home, name=name))
            await agent.call(ops.Navigate(url=f"{base}/{number}"))
            await agent.call(ops.Click(target="button"))
            if name == ASKS:
                reason = "Type the code from your phone, then press Continue."
                await agent.call(ops.Handoff(reason=reason, wait_seconds=0))
        said = Hello(token="", kind=ClientKind.CLI, operator=True)
        async with Client(home, said, start=False) as operator:
            login = await operator.call(ops.DashboardOpen())
        playwright = await open_things.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(
            executable_path=str(find_browser("chromium")), args=["--no-sandbox"]
        )
        size = ViewportSize(width=1320, height=860)
        page = await browser.new_page(viewport=size, color_scheme="light")
        await page.goto(f"{login.address}#code={login.code}")
        for number in range(len(AGENTS)):
            await page.locator(".tile .picture.drawn").nth(number).wait_for()
        await shoot(page, "dashboard")
        await page.locator("#inbox button", has_text="Look").click()
        await page.get_by_role("button", name="Take over").click()
        await page.locator("#large-picture .picture.drawn").wait_for()
        await shoot(page, "dashboard-take-over")
        await browser.close()


async def shoot(page: Page, name: str) -> None:
    await page.screenshot(path=IMAGES / f"{name}.png")
    sys.stdout.write(f"wrote docs/images/{name}.png\n")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="roost-", ignore_cleanup_errors=True) as folder:
        home = Home(Path(folder))
        home.create()
        home.config.write_text('browser = "chromium"\nheadless = true\n', encoding="utf-8")
        ensure_broker(home)
        try:
            asyncio.run(picture(home))
        finally:
            endpoint = read_endpoint(home)
            if endpoint is not None:
                end_tree(endpoint.process, 5.0)


if __name__ == "__main__":
    main()
