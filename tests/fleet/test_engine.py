"""What the fleet asks of its engine, and which machines the cluster of Ray accepts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from hypothesis import given
from hypothesis import strategies as st

from roost.errors import BadRequest, Internal
from roost.fleet import ray_runtime
from roost.fleet.authority import Authority, certificate_request
from roost.fleet.engine import Demand, Engine, tend, wanted
from roost.fleet.ray_runtime import RESOURCE, RayConfig, check_software
from roost.local.home import Home

HERE: dict[str, str | None] = {"ray": "2.60.0", "python": "3.11"}
EXAMPLES = Path(__file__).parents[2] / "docs" / "how-to" / "fleet"
COUNTS = st.integers(0, 200)


class FakeEngine:
    """An engine that has machines, and remembers for how many it was asked."""

    def __init__(self, machines: int) -> None:
        self.machines = machines
        self.asked: list[int] = []
        self.joined: list[str] = []

    def keep_nodes(self, invite: Callable[[], str], drained: frozenset[str]) -> int:
        self.joined.append(invite())
        self.drained = drained
        return self.machines - len(drained)

    def ask_for(self, machines: int) -> None:
        self.asked.append(machines)

    def close(self) -> None:
        """Nothing is open."""


def test_waiting_sessions_become_a_request_for_machines() -> None:
    engine = FakeEngine(2)
    checked: Engine = engine
    ready = {"id": "a", "state": "ready", "slots": 12, "sessions": 12}
    lost = {"id": "c", "state": "lost", "slots": 0, "sessions": 0}
    status: dict[str, Any] = {"nodes": [ready, ready, lost], "waiting": 13}
    tend(checked, lambda: status, lambda: "token")
    assert (engine.asked, engine.joined) == ([4], ["token"])


def test_only_drained_machines_without_sessions_may_go() -> None:
    engine = FakeEngine(3)
    empty = {"id": "a", "state": "draining", "slots": 12, "sessions": 0}
    full = {"id": "b", "state": "draining", "slots": 12, "sessions": 3}
    idle = {"id": "c", "state": "ready", "slots": 12, "sessions": 0}
    tend(engine, lambda: {"nodes": [empty, full, idle], "waiting": 0}, lambda: "token")
    assert (engine.drained, engine.asked) == (frozenset({"a"}), [2])


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_fleet_never_gives_up_machines_and_asks_for_no_more_than_wait(
    ready: int, coming: int, slots: int, waiting: int
) -> None:
    machines = ready + coming
    more = wanted(Demand(ready, slots * ready, waiting), machines) - machines
    assert 0 <= more <= waiting
    assert more == 0 or (coming + more) * max(1, slots if ready else 1) >= waiting


def test_machines_that_are_coming_are_not_asked_for_again() -> None:
    assert wanted(Demand(machines=1, slots=10, waiting=10), machines=1) == 2
    assert wanted(Demand(machines=1, slots=10, waiting=10), machines=2) == 2


@pytest.mark.parametrize(
    ("there", "named"),
    [
        (None, "has none"),
        ({"ray": None, "python": "3.11"}, "has none"),
        ({"ray": "2.55.0", "python": "3.11"}, "Ray 2.60.0, and this machine 2.55.0"),
        ({"ray": "2.60.0", "python": "3.13"}, "Python 3.11, and this machine 3.13"),
    ],
)
def test_a_machine_with_other_versions_is_told_which_to_install(there: object, named: str) -> None:
    with pytest.raises(BadRequest, match=named) as refused:
        check_software(HERE, there)
    assert "The join token is still good" in refused.value.hint


def test_equal_versions_are_accepted() -> None:
    check_software(HERE, dict(HERE))


def test_the_certificates_of_ray_and_of_the_fleet_have_different_authorities(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Users trust the fleet's authority, and Ray's certificates name addresses of machines."""
    monkeypatch.setattr(ray_runtime, "software", lambda: HERE)
    fleet = Authority.of(tmp_path)
    ray_runtime.set_up_head(tmp_path, "127.0.0.1", None)
    _, request = certificate_request()
    asked = {"request": request.decode(), "host": "10.0.0.9", "versions": HERE}
    given_terms = ray_runtime.terms(tmp_path, asked)
    assert given_terms is not None
    assert given_terms["authority"].encode() != fleet.pem
    certificate = x509.load_pem_x509_certificate(given_terms["certificate"].encode())
    certificate.verify_directly_issued_by(
        x509.load_pem_x509_certificate(given_terms["authority"].encode())
    )
    with pytest.raises(BadRequest, match="host"):
        ray_runtime.terms(tmp_path, asked | {"host": "gateway.example"})


def test_a_fleet_without_a_ray_of_its_own_offers_none(tmp_path: Path) -> None:
    assert ray_runtime.terms(tmp_path, {}) is None
    ray_runtime.use_ray_of_others(tmp_path, "10.0.0.1:6379")
    assert ray_runtime.terms(tmp_path, {}) is None


def test_what_a_machine_remembers_of_ray_is_read_back_or_named(tmp_path: Path) -> None:
    config = RayConfig("10.0.0.1:8880", "10.0.0.2", is_head=False, runs_node=True)
    assert RayConfig.read(tmp_path) is None
    config.write(tmp_path)
    assert RayConfig.read(tmp_path) == config
    (tmp_path / "ray.json").write_text("{")
    with pytest.raises(Internal, match="cannot be read"):
        RayConfig.read(tmp_path)


def test_the_folder_of_another_user_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    made = ray_runtime.scratch_folder(Home(tmp_path / "home"))
    made.rmdir()
    made.symlink_to(tmp_path)
    with pytest.raises(Internal, match="belongs to somebody else"):
        ray_runtime.scratch_folder(Home(tmp_path / "home"))


def test_the_example_for_the_cluster_launcher_is_valid() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    autoscaler = pytest.importorskip("ray.autoscaler")
    schema = json.loads((Path(autoscaler.__file__).parent / "ray-schema.json").read_text())
    example = yaml.safe_load((EXAMPLES / "aws.yaml").read_text())
    jsonschema.validate(example, schema)
    machine = example["available_node_types"]["machine"]
    assert machine["resources"][RESOURCE] == 1


def test_the_example_for_kuberay_names_the_resource_and_asks_for_a_token() -> None:
    example = yaml.safe_load((EXAMPLES / "kuberay.yaml").read_text())
    assert (example["apiVersion"], example["kind"]) == ("ray.io/v1", "RayCluster")
    workers = example["spec"]["workerGroupSpecs"][0]
    assert json.loads(json.loads(workers["rayStartParams"]["resources"])) == {RESOURCE: 1}
    for group in (example["spec"]["headGroupSpec"], workers):
        names = {each["name"] for each in group["template"]["spec"]["containers"][0]["env"]}
        assert names == {"RAY_AUTH_MODE", "RAY_AUTH_TOKEN"}
