"""Where a jar's cookies are looked for (roost.drivers.firefox.jars); the browser is played."""

from __future__ import annotations

from scripted_link import Heard, ScriptedLink

from roost.drivers.firefox.connection import BidiConnection
from roost.drivers.firefox.jars import SHARED_JAR, SITES_KEPT, Jars
from roost.testing.waits import answer_of, started


async def test_cookies_are_looked_for_at_the_sites_visited_last() -> None:
    link, heard = ScriptedLink(), Heard()
    bidi = BidiConnection(link, heard.word, heard.end, lambda method, params: None)
    bidi.begin()
    jars = Jars(bidi, None)
    for number in range(SITES_KEPT + 50):
        jars.visited(SHARED_JAR, f"https://s{number}.example/page")
        jars.visited(SHARED_JAR, "https://again.example/")
    reading = await started(jars.read_cookies(SHARED_JAR))
    for asked in link.sent:
        link.says(type="success", id=asked["id"], result={"cookies": []})

    assert await answer_of(reading) == []
    sites = [one["params"]["partition"].get("sourceOrigin") for one in link.sent]
    assert len(sites) == 2 + SITES_KEPT, "twice for the jar, once for each site"
    assert sites[-1] == "https://again.example"
    assert "https://s0.example" not in sites
