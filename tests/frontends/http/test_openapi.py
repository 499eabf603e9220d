from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from roost.api.operations import OPERATIONS
from roost.errors import BY_CODE
from roost.frontends.http.bodies import names_session
from roost.frontends.http.openapi import description
from roost.frontends.http.replies import STATUS
from tests.frontends.http.http_callers import http_door

DESCRIBED = description("http://127.0.0.1:1")


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()


def test_every_operation_is_described_with_all_its_arguments_but_the_session() -> None:
    for operation in OPERATIONS.values():
        about = DESCRIBED["paths"][f"/session/{{sessionId}}/tools/{operation.op}"]["post"]
        body = about["requestBody"]["content"]["application/json"]["schema"]
        fields = {info.alias or name for name, info in operation.model_fields.items()}
        if names_session(operation):
            fields -= {"session"}
        assert set(body["properties"] if fields else body.get("properties", {})) == fields
        assert body["additionalProperties"] is False
        assert about["summary"] == operation.title


def test_every_error_has_a_status_and_stands_in_the_description() -> None:
    assert set(STATUS) == set(BY_CODE.values())
    error = DESCRIBED["components"]["schemas"]["Error"]
    assert error["properties"]["code"]["enum"] == sorted(BY_CODE)


def test_every_reference_in_the_description_resolves() -> None:
    for reference in references(DESCRIBED):
        _, _, kind, name = reference.split("/")
        assert name in DESCRIBED["components"][kind]


def test_every_status_is_described_with_the_codes_that_come_with_it() -> None:
    for kind, status in STATUS.items():
        described = DESCRIBED["components"]["responses"][str(status)]["content"]
        _, only = described["application/json"]["schema"]["allOf"]
        assert kind.code in only["properties"]["code"]["enum"]
    for path in DESCRIBED["paths"].values():
        for route in path.values():
            assert "default" not in route["responses"], "whatever else there may be is said"


async def test_the_description_is_served_to_holders_of_a_token_with_the_servers_address(
    tmp_path: Path,
) -> None:
    async with http_door(tmp_path) as here:
        session = await here.session("work")
        for caller in (here.operator, session):
            served = await caller.ask("GET", "/openapi.json")
            assert served["openapi"].startswith("3.1")
            assert served["servers"] == [{"url": here.house.broker.http}]
        assert "token" not in json.dumps(served["servers"])
