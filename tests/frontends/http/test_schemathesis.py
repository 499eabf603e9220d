"""schemathesis finds no difference between the OpenAPI description and a real broker.

It runs all its checks, on valid and invalid data. Every status and error code must be described for
its route. The seed is fixed, so all runs find the same.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from roost.api.operations import OPERATIONS, Audience
from tests.support.house import House, house_of

PROCESS_SECONDS = 560.0
ACCEPTED = ["2xx", "401", "403", "404", "408", "409", "422", "423", "429"]
"""What good data may be answered: in these runs tabs and sessions are guessed (404), time is short
(408), the browser in memory has no pages (422), sessions are paused (423), the pool is small (429).
Not 400: what is wrong with a request, the description says."""
MORE_THAN_A_SCHEMA_CAN_SAY = {
    "pages": "sessionId in the body and X-DevBrowser-Session are alike, or there is one of them",
    "pages/{name}": "the operator's token says nothing about the session, so a header must",
    "session": "what a session is made of is not changed by finding it",
    "browser_batch": "each step names a tool and has its arguments",
    "browser_cookies": "what set and delete need",
    "browser_drop": "files or data to drop",
    "browser_fill_form": "a value that fits the field",
    "browser_find": "either text or regex",
    "browser_hold_key": "a key that there is",
    "browser_init_script": "one of script, path and remove",
    "browser_keydown": "a key that there is",
    "browser_keyup": "a key that there is",
    "browser_mouse_down": "both coordinates or neither",
    "browser_mouse_up": "both coordinates or neither",
    "browser_navigate": "an address has a scheme",
    "browser_network_state_set": "a state, a throttle, or both",
    "browser_read": "an address has a scheme",
    "browser_route": "an answer, or what is changed",
    "browser_route_har": "a file that is there",
    "browser_set_credentials": "an origin",
    "browser_set_headers": "an origin",
    "browser_emulate": "what belongs together, such as width and height",
    "browser_storage": "what get, set and delete need",
    "browser_swipe": "both coordinates or neither",
    "browser_tap": "a target, or both coordinates",
    "browser_webmcp_call": "arguments that are a JSON object",
    "browser_pdf_save": "a name of a file in one's folders",
    "browser_scroll": "a target, a direction, or both distances",
    "browser_storage_state": "a file that is there",
    "browser_tabs": "an address has a scheme; what select and close need",
    "browser_take_screenshot": "a name of a file in one's folders",
    "browser_zoom_screenshot": "a name of a file in one's folders; an area inside the page",
    "browser_wait_for": "one of text, textGone, selector, url, time",
    "page_open": "an address has a scheme",
    "policy_explain": "an operation that a policy knows",
    "profile_import": "a source that is there",
    "secret_add": "an origin",
    "session_open": "an address has a scheme; clone needs a profile",
    "tab_space_grant": "somebody waits",
}
"""Only here may data that fits the schema be answered 400, and why."""
ENDLESS = ["/events$"]
"""A stream has no end that schemathesis would wait for: tests/frontends/http/test_events.py."""
ENDS_THE_BROKER = ["broker_stop"]
"""When the operator says it; a session's token does not."""
ENDS_THE_SESSION = ["session_dispose", "^/session/{sessionId}$"]
OPERATORS = [op for op, row in OPERATIONS.items() if row.audience is Audience.OPERATOR]
NOT_THE_OPERATORS = [rf"/tools/(?!({'|'.join(OPERATORS)})$)"]
"""In a session that it guesses at, every other operation answers alike: test_attacks.py."""


def _config(parameters: str = "") -> str:
    names = "|".join(map(re.escape, MORE_THAN_A_SCHEMA_CAN_SAY))
    return f"""{parameters}
[phases.coverage]
unexpected-methods = ["DELETE", "PATCH"]

[checks.positive_data_acceptance]
expected-statuses = {json.dumps(ACCEPTED)}

[[operations]]
include-path-regex = '(^/|/tools/)({names})$'
checks.positive_data_acceptance.expected-statuses = {json.dumps([*ACCEPTED, "400"])}
"""


IN_ONE_SESSION = """
[parameters]
"path.sessionId" = "work"
"query.timeoutMs" = 100
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house_of(folder=tmp_path_factory.mktemp("roost") / "home") as house:
        house.says("up")
        yield house
        assert "Traceback" not in house.home.log.read_text(encoding="utf-8")


def check(
    house: House, token: str, folder: Path, config: str, without: list[str], *phases: str
) -> None:
    """Run schemathesis, and fail with its own report."""
    address = house.endpoint.http
    headers = {"authorization": f"Bearer {token}"}
    described = folder / "openapi.json"
    served = httpx.get(f"{address}/openapi.json", headers=headers, timeout=PROCESS_SECONDS)
    described.write_bytes(served.content)
    settings = folder / "schemathesis.toml"
    settings.write_text(config, encoding="utf-8")
    command = [
        sys.executable, "-m", "schemathesis.cli", "--config-file", str(settings), "run",
        str(described), "--url", str(address), "-H", f"Authorization: Bearer {token}",
        "--phases", ",".join(phases), "--max-examples", "2", "--seed", "1", "--no-color",
        "--generation-database", "none", "--exclude-path-regex", "|".join(without),
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=PROCESS_SECONDS, check=False
    )
    assert "Test cases:" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_session_calls_everything_with_good_and_bad_data(house: House, tmp_path: Path) -> None:
    operator = {"authorization": f"Bearer {house.home.operator_token()}"}
    body = {"sessionId": "work"}
    with httpx.Client(base_url=str(house.endpoint.http), timeout=PROCESS_SECONDS) as client:
        opened = client.post("/session", json=body, headers=operator).json()
        own = {"authorization": f"Bearer {opened['token']}"}
        page, at = {"url": "https://site.test/"}, "/session/work/tools/browser_navigate"
        assert client.post(at, json=page, headers=own).is_success
    config, without = _config(IN_ONE_SESSION), [*ENDLESS, *ENDS_THE_SESSION]
    phases = ("coverage", "fuzzing")
    check(house, opened["token"], tmp_path, config, without, *phases)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_operator_guesses_at_sessions(house: House, tmp_path: Path) -> None:
    without = [*ENDLESS, *ENDS_THE_BROKER, *NOT_THE_OPERATORS]
    token = house.home.operator_token()
    check(house, token, tmp_path, _config(), without, "fuzzing")
