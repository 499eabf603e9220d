"""Take the dashboard's pictures for the documents: a real Roost, real sessions, a real viewer.

Run it after a change of the page: ``python tools/picture_dashboard.py``. It needs Chromium and
Playwright (``pip install -e '.[dev]'``), and writes into docs/images.
"""

from __future__ import annotations

import argparse
import asyncio
import http.server
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Literal

from playwright.async_api import FloatRect, Page, ViewportSize, async_playwright, expect

from roost import ops
from roost.client.client import Client, connect
from roost.local.broker_start import ensure_broker
from roost.local.browsers import find_browser
from roost.local.endpoint import read_endpoint
from roost.local.home import Home
from roost.local.processes import end_tree
from roost.wire.hello import ClientKind, Hello

ColorScheme = Literal["light", "dark"]
IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
AGENTS = {
    "checkout flow": ("Your cart", "3 items · 84.00 €", 215, "cards"),
    "release notes": ("What is new", "Version 4.2, with dark mode and faster search", 265, "text"),
    "login bug": ("Sign in", "Please enter the code from your phone", 15, "form"),
    "dark mode": ("Appearance", "Theme, accent colour, density", 285, "form"),
    "search ranking": ("14 results", "for “noise cancelling headphones”", 140, "list"),
    "nightly tests": ("Orders", "412 open · 18 late", 45, "table"),
    "price compare": ("Headphones", "From 79.00 € in 12 shops", 190, "cards"),
    "invoice export": ("Invoices", "March 2026 · 37 documents", 330, "table"),
    "a11y audit": ("Contact us", "We answer within a day", 95, "form"),
    "docs review": ("Getting started", "Install, open a page, take a snapshot", 240, "text"),
    "dashboard KPIs": ("Revenue", "1.24 M€ this quarter · 8 % up", 165, "chart"),
    "i18n check": ("Bonjour", "Traduit de l’anglais", 355, "list"),
}
ASKS = "login bug"
PAGE = """<!doctype html><meta charset=utf-8><title>{title}</title><style>
html {{ font: 20px system-ui, sans-serif; color: hsl({hue} 45% 16%) }}
html {{ background: hsl({hue} 40% 97%) }}
body {{ margin: 0 }} nav {{ display: flex; gap: 28px; align-items: center; padding: 18px 56px;
background: hsl({hue} 60% 40%); color: white }} nav b {{ flex: 1; font-size: 24px }}
main {{ padding: 36px 56px }} h1 {{ margin: 0 0 6px; font-size: 42px }}
p {{ margin: 0; opacity: .75 }} section {{ margin-top: 30px }}
button {{ font: inherit; padding: 12px 30px; border: 0; border-radius: 10px; margin-top: 28px;
background: hsl({hue} 60% 40%); color: white }}
.cards {{ display: grid; grid-template-columns: repeat(4, 1fr); gap: 22px }}
.cards div {{ background: white; border-radius: 14px; padding: 18px; box-shadow: 0 2px 10px #0001 }}
.cards i {{ display: block; height: 120px; border-radius: 10px; margin-bottom: 14px;
background: linear-gradient(135deg, hsl({hue} 60% 82%), hsl({hue} 60% 62%)) }}
input {{ display: block; font: inherit; padding: 12px 16px; width: 420px; margin-top: 14px;
border: 1px solid hsl({hue} 30% 75%); border-radius: 10px }}
table {{ width: 100%; border-collapse: collapse; background: white }}
td {{ padding: 13px 18px; border-bottom: 1px solid hsl({hue} 30% 90%) }}
.list div {{ background: white; border-radius: 12px; padding: 16px 20px; margin-bottom: 12px }}
.text div {{ height: 14px; border-radius: 7px; background: hsl({hue} 30% 84%);
margin-bottom: 16px }}
.chart {{ display: flex; gap: 18px; align-items: end; height: 300px }}
.chart div {{ flex: 1; border-radius: 8px 8px 0 0; background: hsl({hue} 55% 50%) }}</style>
<nav><b>{brand}</b><span>Products</span><span>Help</span><span>Account</span></nav>
<main><h1>{title}</h1><p>{text}</p><section class="{kind}">{parts}</section>
<button>Continue</button></main>"""
PARTS = {
    "cards": "".join(f"<div><i></i>Item {n}<br><b>{20 + n * 7}.00 €</b></div>" for n in range(4)),
    "form": "<input placeholder=Name><input placeholder='Code from your phone'>",
    "table": "<table>"
    + "".join(f"<tr><td>#{1040 + n}<td>{19 + n * 13}.90 €<td>open" for n in range(5))
    + "</table>",
    "list": "".join(f"<div><b>Result {n}</b><br>In stock, tomorrow</div>" for n in range(1, 5)),
    "text": "".join(f"<div style='width: {w}%'></div>" for w in (96, 88, 92, 60, 94, 90, 40)),
    "chart": "".join(f"<div style='height: {h}%'></div>" for h in (40, 55, 48, 70, 62, 85, 96)),
}


WITHOUT_PATHS = """path => { for (const line of document.querySelectorAll(".findings li"))
  for (const text of line.childNodes) text.textContent = text.textContent.replaceAll(path, "~") }"""
"""A picture shows no folder of the machine that took it."""


class _Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        number = self.path.strip("/")
        title, text, hue, kind = list(AGENTS.values())[int(number) if number.isdecimal() else 0]
        about = {"title": title, "text": text, "hue": hue, "kind": kind, "parts": PARTS[kind]}
        body = PAGE.format(brand="Northwind", **about).encode()
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


async def picture(home: Home, folder: Path, schemes: Sequence[ColorScheme], phone: bool) -> None:
    async with AsyncExitStack() as open_things:
        base = open_things.enter_context(site())
        for number, name in enumerate(AGENTS):
            agent = await open_things.enter_async_context(await connect(home=home, name=name))
            await agent.call(ops.Navigate(url=f"{base}/{number}"))
            await agent.call(ops.Click(target="button"))
            if number % 3 == 0:
                await agent.call(ops.Evaluate(function="() => console.warn('slow image', 3)"))
            if name == ASKS:
                reason = "Type the code from your phone, then press Continue."
                await agent.call(ops.Handoff(reason=reason, wait_seconds=0))
        said = Hello(token="", kind=ClientKind.CLI, operator=True)
        operator = await open_things.enter_async_context(Client(home, said, start=False))
        playwright = await open_things.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(
            executable_path=str(find_browser("chromium")), args=["--no-sandbox"]
        )
        for scheme in schemes:
            for width, height in ((1440, 900), (390, 844))[: 2 if phone else 1]:
                login = await operator.call(ops.DashboardOpen())
                size = ViewportSize(width=width, height=height)
                page = await browser.new_page(viewport=size, color_scheme=scheme)
                await page.goto(f"{login.address}#code={login.code}")
                end = "" if scheme == "light" else "-dark"
                await views(page, folder, end if width > 1000 else f"{end}-phone")
                await page.close()
        await browser.close()


async def views(page: Page, folder: Path, end: str) -> None:
    """Take a picture of each view of the page."""
    await page.locator(".tile .picture.drawn").first.wait_for()
    if not end.endswith("-phone"):
        await expect(page.locator(".tile .picture.drawn")).to_have_count(len(AGENTS))
    await shoot(page, folder, f"dashboard{end}")
    for view in ("Feed", "House"):
        await page.locator("nav").get_by_role("button", name=view, exact=True).click()
        if view == "House":
            await page.locator(".findings").wait_for()
            await page.locator("td", has_text="%").first.wait_for()
            await page.evaluate(WITHOUT_PATHS, str(Path(sys.prefix).parent))
        await shoot(page, folder, f"dashboard-{view.lower()}{end}")
    await page.locator("nav").get_by_role("button", name="Wall", exact=True).click()
    await page.locator("#inbox button", has_text="Look").click()
    await page.get_by_role("button", name="Take over").click()
    await page.locator("#large-picture .picture.drawn").wait_for()
    await page.locator("#large-details li").first.wait_for()
    await shoot(page, folder, f"dashboard-take-over{end}")
    await page.get_by_role("button", name="Show the agent").click()
    box = await page.locator("#large-picture canvas").bounding_box()
    assert box is not None
    await draw(page, box, (0.03, 0.40), (0.40, 0.62))
    await page.get_by_label("Arrow").check()
    await draw(page, box, (0.62, 0.30), (0.17, 0.78))
    await page.locator("#draw-text").fill("The code is asked for twice. Join both fields.")
    await shoot(page, folder, f"dashboard-drawing{end}")
    await page.get_by_role("button", name="Send").click()
    await expect(page.locator("#draw-tools")).to_be_hidden()
    await page.get_by_role("button", name="Give back to the agent").click()
    await expect(page.locator("#large-controls")).to_be_hidden()


async def draw(
    page: Page, box: FloatRect, start: tuple[float, float], end: tuple[float, float]
) -> None:
    for x, y in (start, end):
        await page.mouse.move(box["x"] + box["width"] * x, box["y"] + box["height"] * y, steps=4)
        if (x, y) == start:
            await page.mouse.down()
    await page.mouse.up()


async def shoot(page: Page, folder: Path, name: str) -> None:
    await page.screenshot(path=folder / f"{name}.png")
    sys.stdout.write(f"wrote {name}.png\n")


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--folder", type=Path, default=IMAGES, help="Where to write.")
    read.add_argument("--every", action="store_true", help="Also dark, and as wide as a phone.")
    given = read.parse_args()
    with tempfile.TemporaryDirectory(prefix="roost-", ignore_cleanup_errors=True) as folder:
        home = Home(Path(folder))
        home.create()
        home.config.write_text('browser = "chromium"\nheadless = true\n', encoding="utf-8")
        ensure_broker(home)
        try:
            schemes: list[ColorScheme] = ["light", "dark"] if given.every else ["light"]
            asyncio.run(picture(home, given.folder, schemes, given.every))
        finally:
            endpoint = read_endpoint(home)
            if endpoint is not None:
                end_tree(endpoint.process, 5.0)


if __name__ == "__main__":
    main()
