"""A scripted model on loopback that speaks the protocols of four coding agents.

The script is a list of tool calls. The server looks at how many results a conversation already
holds, answers with the next call, and says ``DONE`` after the last one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DONE = "All done."
Step = tuple[str, Mapping[str, Any]]
"""A tool's name without the client's prefix, and its arguments."""


@dataclass
class Model:
    """What the scripted model says, and what it was asked."""

    address: str
    script: Sequence[Step]
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of the requests that offered tools, oldest first."""
    paths: list[str] = field(default_factory=list)
    holds: threading.Event = field(default_factory=threading.Event)
    """While this is not set, the model does not give its last answer."""
    is_held: threading.Event = field(default_factory=threading.Event)
    """Set once a client waits for the last answer."""
    among: str = "browser_"
    """Part of a tool's name that every request of the conversation itself offers."""
    unknown: list[str] = field(default_factory=list)
    """Tools that the script names and a request did not offer."""

    def step(self, results: int) -> Step | None:
        """Return the call that follows so many results, or None after the last one."""
        if results < len(self.script):
            return self.script[results]
        self.is_held.set()
        self.holds.wait(60)
        return None

    def results(self) -> str:
        """Return everything the model was last told, as one text."""
        return json.dumps(self.asked[-1], ensure_ascii=False)

    def tools(self) -> list[str]:
        """Return the names of Roost's tools in the first request, as the client spells them."""
        return [name for name, _ in _offered(self.asked[0]) if "browser_" in name]


@contextmanager
def scripted_model(script: Sequence[Step], among: str = "browser_") -> Iterator[Model]:
    """Serve the script until the context ends. ``among``: see ``Model``."""

    class Handler(_Handler):
        model: Model

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model = Model(f"http://127.0.0.1:{server.server_port}", script, among=among)
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
            self._events(_messages(body, *self._next(body)))
        elif path.endswith("/responses"):
            self._events(_responses(*self._next(body)))
        elif path.endswith("/chat/completions"):
            self._events(_chat(*self._next(body)))
        elif "GenerateContent" in path:
            self._events(_gemini(*self._next(body)))
        elif "generateContent" in path:
            ((_, answer),) = _gemini(*self._next(body))
            self._json(answer)
        else:
            self._json({})

    def _next(self, body: dict[str, Any]) -> tuple[str | None, str | None, Mapping[str, Any]]:
        """Return the namespace, name and arguments of the next call; no name: say ``DONE``."""
        offered = _offered(body)
        if not any(self.model.among in name for name, _ in offered):
            return None, None, {}  # a title, a summary, or a client without its tools
        self.model.asked.append(body)
        step = self.model.step(_results(body))
        if step is None:
            return None, None, {}
        wanted, arguments = step
        found = [one for one in offered if one[0].endswith(wanted)]
        if not found:
            self.model.unknown.append(wanted)
            return None, None, {}
        name, namespace = found[0]
        return namespace, name, arguments

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


Events = Iterator[tuple[str | None, object]]


def _messages(
    body: Mapping[str, Any], namespace: str | None, name: str | None, arguments: Mapping[str, Any]
) -> Events:
    """Anthropic Messages: Claude Code."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    message |= {"model": body.get("model", "x"), "stop_reason": None, "usage": usage}
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta: dict[str, Any] = {"type": "text_delta", "text": DONE}
    if name is not None:
        block = {"type": "tool_use", "id": f"toolu_{_results(body)}", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    reason = "end_turn" if name is None else "tool_use"
    for event in (
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ):
        yield str(event["type"]), event


def _responses(namespace: str | None, name: str | None, arguments: Mapping[str, Any]) -> Events:
    """OpenAI Responses: Codex."""
    item: dict[str, Any] = {"type": "message", "id": "m", "role": "assistant"}
    item["content"] = [{"type": "output_text", "text": DONE}]
    if name is not None:
        item = {"type": "function_call", "id": "f", "call_id": f"call_{name}", "name": name}
        item |= {"arguments": json.dumps(arguments)}
        item |= {"namespace": namespace} if namespace else {}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage |= {"input_tokens_details": None, "output_tokens_details": None}  # type: ignore[dict-item]
    for event in (
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {"id": "r", "usage": usage}},
    ):
        yield str(event["type"]), event


def _chat(namespace: str | None, name: str | None, arguments: Mapping[str, Any]) -> Events:
    """OpenAI chat completions: opencode."""
    delta: dict[str, Any] = {"role": "assistant", "content": DONE}
    if name is not None:
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": f"call_{name}", "type": "function", "function": function}
        delta = {"role": "assistant", "content": None, "tool_calls": [call]}
    reason = "stop" if name is None else "tool_calls"
    about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    for part, finish in ((delta, None), ({}, reason)):
        choice = {"index": 0, "delta": part, "finish_reason": finish}
        yield None, {**about, "choices": [choice]}
    yield None, "[DONE]"


def _gemini(namespace: str | None, name: str | None, arguments: Mapping[str, Any]) -> Events:
    """Gemini generateContent: Gemini CLI."""
    part: dict[str, Any] = {"text": DONE}
    if name is not None:
        part = {"functionCall": {"name": name, "args": dict(arguments)}}
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    yield None, {"candidates": [candidate], "usageMetadata": usage}
