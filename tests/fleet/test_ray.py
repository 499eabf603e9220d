"""A fleet on Ray: machines are network namespaces, processes are real and killed with kill -9."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import httpx
import pytest

from roost.fleet.authority import client_context
from roost.fleet.ray_runtime import RayConfig, environment, installed_ray
from roost.local.deadline import Deadline
from roost.local.processes import Process, wait_until_gone
from tests.fleet.network import Host, hosts, reason_not_to

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
URL = "https://shop.example/cart"
WAIT_SECONDS = 90.0


@dataclass
class RayFleet:
    """A running fleet: its head, its nodes, and a user's client."""

    head: Host
    nodes: list[Host]
    client: httpx.Client

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.head.roost("fleet", "status", "--json"))
        return found

    def open(self, name: str) -> str:
        answer = self.client.post("/session", json={"sessionId": name})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["sessionId"])

    def call(self, session: str, tool: str, **arguments: object) -> httpx.Response:
        return self.client.post(f"/session/{session}/tools/{tool}", json=arguments)

    def addresses(self, session: str) -> list[str] | None:
        """Return the addresses of the session's tabs, or None if the session does not answer."""
        try:
            answer = self.call(session, "browser_tabs", action="list")
        except httpx.HTTPError:
            return None
        return [tab["url"] for tab in answer.json()["tabs"]] if answer.is_success else None


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayFleet]:
    """A head and two nodes with browsers in memory."""
    if (reason := reason_not_to()) is not None:
        pytest.skip(reason)
    if installed_ray() is None:
        pytest.skip("Ray is not installed")
    with hosts(tmp_path_factory.mktemp("fleet"), 3) as (head, *nodes):
        for node in nodes:
            (node.home / "config.toml").write_text('browser = "fake"\n')
        up = json.loads(head.roost("fleet", "up", "--address", head.address, "--json"))
        assert up["ray"] == f"{head.address}:8880"
        tokens = [up["joinToken"], head.roost("fleet", "invite").strip()]
        joining = [
            node.start("fleet", "join", token) for node, token in zip(nodes, tokens, strict=True)
        ]
        for each in joining:
            said, problem = each.communicate(timeout=WAIT_SECONDS)
            assert each.returncode == 0, said + problem
        token = head.roost("fleet", "token", "add", "ann").splitlines()[0]
        with httpx.Client(
            base_url=up["address"],
            verify=client_context(head.home / "fleet" / "ca.pem"),
            headers={"authorization": f"Bearer {token}"},
            timeout=WAIT_SECONDS,
        ) as client:
            running = RayFleet(head, nodes, client)
            _wait_for(lambda: _ready_nodes(running) == 2)
            yield running


def test_sessions_outlive_the_processes_of_ray_and_of_roost(fleet: RayFleet) -> None:
    sessions = [fleet.open(name) for name in ("a", "b")]
    for session in sessions:
        assert fleet.call(session, "browser_navigate", url=URL).is_success
    victims = {
        "the actor": lambda: _one(fleet.nodes[0], "ray::NodeActor"),
        "Ray's node": lambda: _one(fleet.nodes[0], "raylet/raylet"),
        "Ray's starter": lambda: _one(fleet.nodes[1], "ray.scripts", "start"),
        "Ray's head": lambda: _one(fleet.head, "gcs_server"),
        "the engine": lambda: _one(fleet.head, "roost.fleet engine"),
        "a node": lambda: _one(fleet.nodes[0], "roost.fleet node"),
        "a broker": lambda: _one(fleet.nodes[1], "roost.daemon"),
        "the gateway": lambda: _one(fleet.head, "roost.fleet gateway"),
    }
    for name, find in victims.items():
        victim = _found(find)
        os.kill(victim.pid, signal.SIGKILL)
        assert wait_until_gone(victim, WAIT_SECONDS)
        for session in sessions:
            _wait_for(partial(_is_as_it_was, fleet, session), name)
    for find in victims.values():
        _found(find)  # all of them run again
    kept = {each["id"] for each in fleet.status()["sessions"]}
    assert kept == set(sessions)


def test_a_short_cut_of_the_link_moves_nothing_and_a_long_one_moves_the_sessions(
    fleet: RayFleet,
) -> None:
    session = fleet.open("cut")
    assert fleet.call(session, "browser_navigate", url=URL).is_success
    place = _place(fleet, session)
    host = next(each for each in fleet.nodes if each.address == place.address)
    host.set_link(is_up=False)
    _wait_for(
        lambda: fleet.client.get("/fleet/sessions").is_success
    )  # the gateway serves others meanwhile
    host.set_link(is_up=True)
    _wait_for(partial(_is_as_it_was, fleet, session))
    assert _place(fleet, session) == place
    host.set_link(is_up=False)
    try:
        _wait_for(lambda: _place(fleet, session).address not in ("", place.address))
        _wait_for(partial(_is_as_it_was, fleet, session))
        moved = _place(fleet, session)
        assert moved.epoch > place.epoch
    finally:
        host.set_link(is_up=True)
    _wait_for(lambda: _ready_nodes(fleet) == 2)
    assert _place(fleet, session) == moved, "a machine that is back takes nothing from others"
    assert fleet.addresses(session) == [URL]


def test_a_drained_machine_is_free_to_go_for_ray(fleet: RayFleet) -> None:
    """Ray ends idle machines, and a machine with an actor is not idle."""
    node = fleet.nodes[0]
    names = {each["address"].split(":")[0]: each["name"] for each in fleet.status()["nodes"]}
    fleet.head.roost("fleet", "drain", names[node.address])
    _wait_for(lambda: node.processes("ray::NodeActor") == [])
    fleet.head.roost("fleet", "drain", "--undo", names[node.address])
    _found(lambda: _one(node, "ray::NodeActor"))


def test_a_machine_that_leaves_gives_its_sessions_away_and_keeps_no_process(
    fleet: RayFleet,
) -> None:
    session = fleet.open("c")
    assert fleet.call(session, "browser_navigate", url=URL).is_success
    leaving = fleet.nodes.pop()
    leaving.roost("fleet", "leave")
    _wait_for(lambda: fleet.addresses(session) == [URL])
    assert [
        process
        for word in ("ray::", "raylet", "ray.scripts", "roost.fleet")
        for process in leaving.processes(word)
    ] == []
    assert not (leaving.home / "fleet" / "ray.token").exists()


def test_ray_refuses_a_machine_without_its_token_or_its_certificate(fleet: RayFleet) -> None:
    """Ray's port is open to other machines, and whoever may use it runs code on all of them."""
    folder = fleet.nodes[0].home / "fleet"
    stranger = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    stranger.load_verify_locations(folder / "ray-ca.pem")
    assert _greeting(fleet.head.address, stranger) == b""
    stranger.load_cert_chain(folder / "ray.pem", folder / "ray.key")
    assert _greeting(fleet.head.address, stranger) != b""
    code = "import ray, sys; ray.init(address=sys.argv[1], log_to_driver=False)"
    variables = environment(folder, RayConfig("", "127.0.0.1", is_head=False, runs_node=True))
    del variables["RAY_AUTH_TOKEN_PATH"]
    done = subprocess.run(
        [sys.executable, "-c", code, f"{fleet.head.address}:8880"],
        env=os.environ | variables | {"RAY_AUTH_TOKEN": "0" * 64},
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )
    assert done.returncode != 0
    assert "authentication" in done.stderr.lower()


def _greeting(host: str, context: ssl.SSLContext) -> bytes:
    """Return how Ray's head greets an HTTP/2 client, or nothing if Ray ends the connection."""
    context.set_alpn_protocols(["h2"])
    try:
        with (
            socket.create_connection((host, 8880), WAIT_SECONDS) as plain,
            context.wrap_socket(plain, server_hostname=host) as connected,
        ):
            connected.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0")
            return connected.recv(64)
    except (ssl.SSLError, ConnectionError):
        return b""


def _is_as_it_was(fleet: RayFleet, session: str) -> bool:
    return fleet.addresses(session) == [URL]


class Place(NamedTuple):
    """Where a session is: the address of its machine, or an empty text, and its epoch."""

    address: str
    epoch: int


def _place(fleet: RayFleet, session: str) -> Place:
    status = fleet.status()
    (row,) = (each for each in status["sessions"] if each["id"] == session)
    hosts = {each["id"]: each["address"].split(":")[0] for each in status["nodes"]}
    return Place(hosts.get(row["node"], ""), row["epoch"])


def _ready_nodes(fleet: RayFleet) -> int:
    nodes = fleet.status()["nodes"]
    return sum(node["state"] == "ready" and node["slots"] > 0 for node in nodes)


def _one(host: Host, *words: str) -> Process | None:
    return next(iter(host.processes(*words)), None)


def _found(find: Callable[[], Process | None]) -> Process:
    """Wait until the process runs, and return it."""
    _wait_for(lambda: find() is not None)
    process = find()
    assert process is not None
    return process


def _wait_for(is_so: Callable[[], bool], what: str = "") -> None:
    deadline = Deadline(WAIT_SECONDS)
    while not is_so():
        assert not deadline.has_passed(), what
        select.select([], [], [], 0.1)
