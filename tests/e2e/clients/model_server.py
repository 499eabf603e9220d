"""A scripted model on loopback that speaks the protocols of four coding agents.

A script is a list of tool calls. The server looks at how many results a conversation already
holds, answers with the next call, and says ``DONE`` after the last one. A conversation whose first
words hold the name of a further script (a sub-agent's prompt) follows that script.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DONE = "All done."
MEET_SECONDS = 60.0
Step = tuple[str, Mapping[str, Any]]
"""A tool's name without the client's prefix, and its arguments."""
Turn = Step | Sequence[Step]
"""What one answer of the model holds: one call, or several at once."""
MEET: Sequence[Step] = ()
"""A turn at which each script waits until all scripts of sub-agents have come to theirs."""
Call = tuple[str | None, str, Mapping[str, Any]]
"""The namespace, the name as the client spells it, and the arguments of a call."""


@dataclass
class Model:
    """What the scripted model says, and what it was asked."""

    address: str
    script: Sequence[Turn]
    scripts: Mapping[str, Sequence[Turn]] = field(default_factory=dict)
    """The scripts of sub-agents, by a word in their prompts."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of the requests that offered tools, oldest first."""
    paths: list[str] = field(default_factory=list)
    holds: threading.Event = field(default_factory=threading.Event)
    """While this is not set, the model does not give its last answer in the main conversation."""
    is_held: threading.Event = field(default_factory=threading.Event)
    """Set once a client waits for the last answer."""
    among: str = "browser_"
    """Part of a tool's name that every request of the conversation itself offers."""
    unknown: list[str] = field(default_factory=list)
    """Tools that the script names and a request did not offer."""

    def __post_init__(self) -> None:
        self.meeting = threading.Barrier(max(1, len(self.scripts)))

    def turn(self, body: Mapping[str, Any]) -> Sequence[Step]:
        """Return the calls that follow in the conversation, or none after the last one."""
        begin = _beginning(body)
        word = next((word for word in self.scripts if word in begin), None)
        done = _results(body)
        for turn in self.script if word is None else self.scripts[word]:
            if turn is MEET:
                if done == 0:
                    self.meeting.wait(MEET_SECONDS)
                continue
            steps: Sequence[Any] = [turn] if isinstance(turn[0], str) else turn
            if done <= 0:
                return steps
            done -= len(steps)
        if word is None:
            self.is_held.set()
            self.holds.wait(60)
        return []

    def results(self, word: str | None = None) -> str:
        """Return everything the model was last told, as one text. ``word``: by the sub-agent that
        follows the script of that name."""
        found = [one for one in self.asked if word is None or word in _beginning(one)]
        last = {key: value for key, value in found[-1].items() if key != "tools"} if found else {}
        return json.dumps(last, ensure_ascii=False)

    def tools(self) -> list[str]:
        """Return the names of Roost's tools in the first request, as the client spells them."""
        return [name for name, _ in _offered(self.asked[0]) if "browser_" in name]


@contextmanager
def scripted_model(
    script: Sequence[Turn],
    among: str = "browser_",
    scripts: Mapping[str, Sequence[Turn]] | None = None,
) -> Iterator[Model]:
    """Serve the script until the context ends. ``among``, ``scripts``: see ``Model``."""

    class Handler(_Handler):
        model: Model

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model = Model(f"http://127.0.0.1:{server.server_port}", script, scripts or {}, among=among)
    model.holds.set()
    Handler.model = model
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield model
    finally:
        model.holds.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    model: Model
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._json({"data": [], "models": []})

    def do_HEAD(self) -> None:
        self._json({})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        self.model.paths.append(self.path)
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens") or ":countTokens" in path:
            self._json({"input_tokens": 1, "totalTokens": 1})
        elif path.endswith("/messages"):
            self._events(_messages(body, self._next(body)))
        elif path.endswith("/responses"):
            self._events(_responses(self._next(body)))
        elif path.endswith("/chat/completions"):
            self._events(_chat(self._next(body)))
        elif "GenerateContent" in path:
            self._events(_gemini(self._next(body)))
        elif "generateContent" in path:
            ((_, answer),) = _gemini(self._next(body))
            self._json(answer)
        else:
            self._json({})

    def _next(self, body: dict[str, Any]) -> list[Call]:
        """Return the next calls. None: say ``DONE``."""
        offered = _offered(body)
        if not any(self.model.among in name for name, _ in offered):
            return []  # a title, a summary, or a client without its tools
        self.model.asked.append(body)
        calls: list[Call] = []
        for wanted, arguments in self.model.turn(body):
            found = [one for one in offered if one[0].endswith(wanted)]
            if not found:
                self.model.unknown.append(wanted)
                return []
            name, namespace = found[0]
            calls.append((namespace, name, arguments))
        return calls

    def _json(self, answer: object) -> None:
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _events(self, events: Iterator[tuple[str | None, object]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for name, data in events:
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write((f"event: {name}\n" if name else "").encode())
            self.wfile.write(f"data: {text}\n\n".encode())
        self.close_connection = True


def _offered(body: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    """Return the names of the offered tools, each with its namespace, if it has one."""
    found: list[tuple[str, str | None]] = []
    for tool in body.get("tools") or ():
        if tool.get("type") == "namespace":  # Codex
            found += [(inner["name"], tool["name"]) for inner in tool["tools"]]
        elif "functionDeclarations" in tool:  # Gemini
            found += [(inner["name"], None) for inner in tool["functionDeclarations"]]
        else:
            found.append(((tool.get("function") or tool).get("name", ""), None))
    return found


def _results(body: Mapping[str, Any]) -> int:
    """Count the tool results in the conversation."""
    if "contents" in body:  # Gemini
        parts = [part for content in body["contents"] for part in content.get("parts", ())]
        return sum("functionResponse" in part for part in parts)
    if "input" in body:  # Codex
        return sum(item.get("type") == "function_call_output" for item in body["input"])
    count = 0
    for message in body.get("messages", ()):
        content = message.get("content")
        count += message.get("role") == "tool"  # opencode
        if isinstance(content, list):  # Claude Code
            count += sum(block.get("type") == "tool_result" for block in content)
    return count


def _beginning(body: Mapping[str, Any]) -> str:
    """Return the conversation before the first answer of the model, as one text."""
    items = [*(body.get("messages") or body.get("contents") or body.get("input") or ())]
    said = [item for item in items if item.get("role") in ("user", "developer")]
    first = next((n for n, item in enumerate(items) if item.get("role") in ("assistant", "model")
                  or item.get("type") == "function_call"), len(items))  # fmt: skip
    return json.dumps([item for item in items[:first] if item in said], ensure_ascii=False)


def _call_id(prefix: str) -> str:
    """Return an id that no other call has. Clients tell calls of sub-agents apart by it."""
    return f"{prefix}_{uuid.uuid4().hex}"


Events = Iterator[tuple[str | None, object]]


def _messages(body: Mapping[str, Any], calls: Sequence[Call]) -> Events:
    """Anthropic Messages: Claude Code."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    message |= {"model": body.get("model", "x"), "stop_reason": None, "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"type": "text", "text": ""}, {"type": "text_delta", "text": DONE})
    ]
    if calls:
        blocks = [
            (
                {"type": "tool_use", "id": _call_id("toolu"), "name": name, "input": {}},
                {"type": "input_json_delta", "partial_json": json.dumps(arguments)},
            )
            for _, name, arguments in calls
        ]
    for index, (block, delta) in enumerate(blocks):
        events += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    reason = "tool_use" if calls else "end_turn"
    events += [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ]
    yield from ((str(event["type"]), event) for event in events)


def _responses(calls: Sequence[Call]) -> Events:
    """OpenAI Responses: Codex."""
    items: list[dict[str, Any]] = []
    for namespace, name, arguments in calls:
        item = {"type": "function_call", "id": "f", "call_id": _call_id("call"), "name": name}
        item |= {"arguments": json.dumps(arguments)}
        items.append(item | ({"namespace": namespace} if namespace else {}))
    if not items:
        content = [{"type": "output_text", "text": DONE}]
        items = [{"type": "message", "id": "m", "role": "assistant", "content": content}]
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage |= {"input_tokens_details": None, "output_tokens_details": None}  # type: ignore[dict-item]
    for event in (
        {"type": "response.created", "response": {"id": "r"}},
        *({"type": "response.output_item.done", "item": item} for item in items),
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
    ):
        yield str(event["type"]), event


def _chat(calls: Sequence[Call]) -> Events:
    """OpenAI chat completions: opencode."""
    delta: dict[str, Any] = {"role": "assistant", "content": DONE}
    if calls:
        made = [
            {
                "index": index,
                "id": _call_id("call"),
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for index, (_, name, arguments) in enumerate(calls)
        ]
        delta = {"role": "assistant", "content": None, "tool_calls": made}
    reason = "tool_calls" if calls else "stop"
    about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    for part, finish in ((delta, None), ({}, reason)):
        choice = {"index": 0, "delta": part, "finish_reason": finish}
        yield None, {**about, "choices": [choice]}
    yield None, "[DONE]"


def _gemini(calls: Sequence[Call]) -> Events:
    """Gemini generateContent: Gemini CLI."""
    parts: list[dict[str, Any]] = [
        {"functionCall": {"name": name, "args": dict(arguments)}} for _, name, arguments in calls
    ]
    content = {"role": "model", "parts": parts or [{"text": DONE}]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    yield None, {"candidates": [candidate], "usageMetadata": usage}
