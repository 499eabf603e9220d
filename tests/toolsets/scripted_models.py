"""The APIs of two model vendors on loopback, played from scripts.

A script is a generator: it yields the calls of one turn, each as a member's name and its arguments,
and is sent the results of those calls. When it returns, the model says "Done.". The task of a
conversation, or else the API key, names the script, so that several agents can run at once.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from typing import Any, TypeAlias

from tests.support.local_web import Answer, Request, Web

Calls: TypeAlias = list[tuple[str, dict[str, Any]]]
Script: TypeAlias = Generator[Calls, list["Result"], None]


class Result:
    """What one call was answered: its text, its pictures and whether it failed."""

    def __init__(
        self, text: str, images: list[str], *, is_error: bool, state: dict[str, Any] | None
    ) -> None:
        self.text = text
        self.images = images
        """Pictures in base64."""
        self.is_error = is_error
        self.state = state
        """The tabs and changes of the report."""

    @property
    def tabs(self) -> list[dict[str, Any]]:
        assert self.state is not None
        return list(self.state["tabs"])


class ScriptedModels:
    """Plays one vendor's API in ``web``. Subclasses know the vendor's shapes."""

    path: str

    def __init__(self, web: Web) -> None:
        self._scripts: dict[str, Script] = {}
        self._asked: dict[str, list[str]] = {}
        self._tasks: dict[str, str] = {}
        """The agent of each turn, by the id of the turn's first call."""
        self._lock = threading.Lock()
        self._count = 0
        self.errors: list[BaseException] = []
        self.requests: list[dict[str, Any]] = []
        web.serve(self._respond, self.path)

    def plays(self, agent: str, script: Script) -> None:
        """Let the agent with that API key, or with that task, follow the script."""
        self._scripts[agent] = script

    def check(self) -> None:
        """Raise the error of a script that failed in the server's thread."""
        if self.errors:
            raise self.errors[0]

    def _respond(self, request: Request) -> Answer:
        body = json.loads(request.body)
        with self._lock:
            self.requests.append(body)
        task = self._task(body)
        agent = task if task in self._scripts else self._agent(request)
        try:
            script = self._scripts[agent]
            asked = self._asked.get(agent)
            calls = next(script) if asked is None else script.send(self._results(body, asked))
        except StopIteration:
            return self._answer([], [])
        except BaseException as error:
            self.errors.append(error)
            return self._answer([], [])
        with self._lock:
            ids = [f"call_{self._count + n}" for n in range(len(calls))]
            self._count += len(calls)
        self._asked[agent] = ids
        self._tasks[ids[0]] = agent
        return self._answer(calls, ids)

    def _answer(self, calls: Calls, ids: list[str]) -> Answer:
        body = json.dumps(self._message(calls, ids)).encode()
        return Answer(body, kind="application/json")

    def _agent(self, request: Request) -> str:
        return request.headers["authorization"].removeprefix("Bearer ")

    def _task(self, body: dict[str, Any]) -> str:
        raise NotImplementedError

    def _results(self, body: dict[str, Any], ids: list[str]) -> list[Result]:
        raise NotImplementedError

    def _message(self, calls: Calls, ids: list[str]) -> dict[str, Any]:
        raise NotImplementedError


class ScriptedClaude(ScriptedModels):
    path = "/v1/messages"

    def _task(self, body: dict[str, Any]) -> str:
        """The SDK continues a thread: only the first request holds the task."""
        previous = body["thread"].get("previous_message_id")
        if previous is not None:
            return self._tasks[previous.removeprefix("msg_")]
        return str(body["messages"][0]["content"])

    def _results(self, body: dict[str, Any], ids: list[str]) -> list[Result]:
        blocks = {one["tool_use_id"]: one for one in body["messages"][-1]["content"]}
        return [self._result(blocks[id]) for id in ids]

    @staticmethod
    def _result(block: dict[str, Any]) -> Result:
        assert block["type"] == "tool_result"
        assert block["toolset_name"] == "browser"
        parts = block["content"]
        texts = [part["text"] for part in parts if part["type"] == "text"]
        images = [part["source"]["data"] for part in parts if part["type"] == "image"]
        state = next((part for part in parts if part["type"] == "browser_state"), None)
        return Result("\n".join(texts), images, is_error=block.get("is_error", False), state=state)

    def _message(self, calls: Calls, ids: list[str]) -> dict[str, Any]:
        content: list[dict[str, Any]] = [
            {"type": "tool_use", "id": id, "name": name, "toolset_name": "browser", "input": given}
            for id, (name, given) in zip(ids, calls, strict=True)
        ]
        return {
            "id": f"msg_{ids[0] if ids else 'end'}",
            "type": "message",
            "role": "assistant",
            "model": "claude-scripted",
            "content": content or [{"type": "text", "text": "Done."}],
            "stop_reason": "tool_use" if content else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }


class ScriptedOpenAI(ScriptedModels):
    path = "/v1/responses"

    def _task(self, body: dict[str, Any]) -> str:
        given = body["input"]
        return given if isinstance(given, str) else str(given[0].get("content"))

    def _results(self, body: dict[str, Any], ids: list[str]) -> list[Result]:
        outputs = {
            one["call_id"]: one
            for one in body["input"]
            if one.get("type") == "function_call_output"
        }
        return [self._result(outputs[id]) for id in ids]

    @staticmethod
    def _result(output: dict[str, Any]) -> Result:
        parts = output["output"]
        payload = json.loads(next(part["text"] for part in parts if part["type"] == "input_text"))
        images = [
            part["image_url"].split(",", 1)[1] for part in parts if part["type"] == "input_image"
        ]
        result = payload.get("result")
        shown = result if isinstance(result, str) else json.dumps(result)
        text = payload.get("error", shown)
        return Result(text, images, is_error=not payload["ok"], state=payload.get("state"))

    def _message(self, calls: Calls, ids: list[str]) -> dict[str, Any]:
        said = {"type": "output_text", "text": "Done.", "annotations": []}
        final = {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [said],
        }
        output: list[dict[str, Any]] = [
            {
                "type": "function_call",
                "id": f"fc_{id}",
                "call_id": id,
                "name": f"browser_{name}",
                "arguments": json.dumps(given),
                "status": "completed",
            }
            for id, (name, given) in zip(ids, calls, strict=True)
        ]
        return {
            "id": f"resp_{self._count}",
            "object": "response",
            "created_at": 0,
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "model": "gpt-scripted",
            "output": output or [final],
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
        }
