"""The panel, as it goes over the link."""

from __future__ import annotations

import json

from roost.drivers.panel import Panel, PanelAnswer, PanelGroup, PanelLoop, PanelPool, PanelTab


def test_a_panel_goes_over_the_link_as_the_popup_page_reads_it() -> None:
    group = PanelGroup(
        key="s1",
        name="Research",
        color="blue",
        paused=True,
        tabs=(PanelTab("News", "https://news.example/"),),
        loop=PanelLoop(2, 20),
        question="Solve the captcha",
    )
    panel = Panel(
        groups=(group,),
        pool=PanelPool(1, 12),
        questions=("claude",),
        answers=(PanelAnswer("codex", True),),
    )
    assert json.loads(json.dumps(panel.to_wire())) == {
        "groups": [
            {
                "key": "s1",
                "name": "Research",
                "color": "blue",
                "paused": True,
                "waits": False,
                "tabs": [{"title": "News", "url": "https://news.example/"}],
                "loop": {"iteration": 2, "limit": 20},
                "question": "Solve the captcha",
            }
        ],
        "pool": {"used": 1, "capacity": 12},
        "questions": ["claude"],
        "answers": [{"name": "codex", "allow": True}],
    }
