from __future__ import annotations

from roost.frontends.mcp.claudezilla.states import difference, page_state


def test_a_state_is_told_in_claudezillas_words() -> None:
    state = page_state(
        {
            "url": "u",
            "title": "t",
            "viewport": {"width": 1},
            "links": [{"ref": "e1", "name": "Home", "url": "/h"}],
            "inputs": [{"ref": "e2", "name": "Mail", "type": "email"}],
            "alerts": [{"role": "alert", "text": "bad"}, {"role": "status", "text": "fine"}],
            "counts": {"links": {"shown": 1, "total": 9}},
        }
    )
    assert state["links"] == [{"ref": "e1", "text": "Home", "href": "/h"}]
    assert state["inputs"] == [{"ref": "e2", "label": "Mail", "type": "email"}]
    assert state["errors"] == ["bad"]
    assert state["counts"]["links"] == {"shown": 1, "total": 9}
    assert state["headings"] == []


def test_the_difference_says_what_changed_and_not_only_what_came_and_went() -> None:
    before = {"inputs": [{"ref": "e1", "value": "a"}, {"ref": "e2", "value": "b"}]}
    after = {"inputs": [{"ref": "e1", "value": "x"}, {"ref": "e3", "value": "c"}]}
    assert difference(before, after)["inputs"] == {
        "added": [{"ref": "e3", "value": "c"}],
        "removed": [{"ref": "e2", "value": "b"}],
        "changed": [{"before": {"ref": "e1", "value": "a"}, "after": {"ref": "e1", "value": "x"}}],
    }


def test_states_of_any_shape_are_compared() -> None:
    found = difference({"links": [{"text": "a"}, "x"], "buttons": 7}, {"links": ["x"]})
    assert found["links"] == {"added": [], "removed": [{"text": "a"}], "changed": []}
    assert found["buttons"] == {"added": [], "removed": [], "changed": []}
