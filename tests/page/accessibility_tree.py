# ruff: noqa: E501 - a document on one line reads better than a folded one
"""Chromium's own accessibility tree, reduced to what a person can operate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.page.page_world import PageWorld

OPERABLE_ROLES = frozenset(
    "button checkbox combobox ColorWell Date DateTime DisclosureTriangle DisclosureTriangleGrouped InputTime link listbox "
    "ListBoxOption menuitem menuitemcheckbox menuitemradio MenuListPopup option PopUpButton radio searchbox slider "
    "spinbutton switch tab textbox ToggleButton treeitem".split()
)


@dataclass(frozen=True)
class OperableNode:
    role: str
    name: str
    tag: str
    markup: str
    ref: str
    visible: bool


def operable_nodes(page: PageWorld) -> list[OperableNode]:
    """Return every node that Chromium lists as operable, with our bundle's ref of its element."""
    page.cdp.send("DOM.enable")
    page.cdp.send("Accessibility.enable")
    nodes = page.cdp.send("Accessibility.getFullAXTree")["nodes"]
    listed = [node for node in nodes if is_operable(node)]
    if not listed:
        return []
    found_elements = describe(page, [node["backendDOMNodeId"] for node in listed])
    return [
        OperableNode(node["role"]["value"], node.get("name", {}).get("value", ""), **found)
        for node, found in zip(listed, found_elements, strict=True)
        if found is not None
    ]


def is_operable(node: dict[str, Any]) -> bool:
    if node.get("ignored") or "backendDOMNodeId" not in node:
        return False
    properties = {
        entry["name"]: entry["value"].get("value") for entry in node.get("properties", [])
    }
    return (
        node["role"]["value"] in OPERABLE_ROLES
        or bool(properties.get("focusable"))
        and node["role"]["value"] != "RootWebArea"
    )


def describe(page: PageWorld, backend_ids: list[int]) -> list[dict[str, Any] | None]:
    """Mark each element, and ask the bundle about it by that mark."""
    world = page.world()
    objects = [
        page.cdp.send("DOM.resolveNode", {"backendNodeId": number, "executionContextId": world})[
            "object"
        ]["objectId"]
        for number in backend_ids
    ]
    reply = page.cdp.send(
        "Runtime.callFunctionOn",
        {
            "executionContextId": world,
            "returnByValue": True,
            "arguments": [{"objectId": number} for number in objects],
            "functionDeclaration": """(...elements) => elements.map((element, index) => {
                if (element.nodeType !== 1 || element.getRootNode().host?.shadowRoot === null) return null;
                element.setAttribute("data-listed", index);
                const found = __roost.resolve({target: `[data-listed="${index}"]`});
                const markup = element.cloneNode(false).outerHTML.slice(0, 160);
                return {tag: element.localName, markup, ref: found.ref ?? "", visible: found.visible ?? false};
            })""",
        },
    )
    assert "exceptionDetails" not in reply, reply
    described: list[dict[str, Any] | None] = reply["result"]["value"]
    return described
