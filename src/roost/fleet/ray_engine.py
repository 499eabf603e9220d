"""The engine made of Ray: one actor per machine, which starts the node there and watches it.

The node is not a child of the actor. Ray ends the children of its workers, and a node must go on
when Ray's processes die, so the node has a supervisor of its own and the actor starts that
supervisor.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import ray
from ray.autoscaler.sdk import request_resources
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from roost.errors import BrowserLost
from roost.fleet import membership, supervisor
from roost.fleet.config import fleet_folder
from roost.fleet.node import NodeConfig
from roost.fleet.ray_runtime import RESOURCE, RayConfig
from roost.fleet.tokens import JoinToken
from roost.local.home import Home

NAMESPACE = "roost"
ANSWER_SECONDS = 60.0
"""A node that is started for the first time starts its supervisor and waits for the report."""
LOOKS_BETWEEN_REQUESTS = 15
"""Ray keeps a request for resources until the next one, so an equal one is rarely repeated."""
logger = logging.getLogger(__name__)


class NodeActor:
    """Runs in a worker of Ray on one machine."""

    def keep(self) -> str | None:
        """Start the node's supervisor if it does not run.

        Returns the node's id, or None if this machine must join first. Raises the error that the
        node reports.
        """
        home = Home.find()
        folder = fleet_folder(home)
        config = NodeConfig.read(folder)
        if config is None:
            return None
        supervisor.start(home, folder, supervisor.NODE)
        return config.id

    def join(self, token: str, host: str) -> None:
        """Let this machine join the fleet.

        host: address of this machine in Ray's cluster.
        """
        folder = fleet_folder(Home.find())
        asyncio.run(membership.join(JoinToken.parse(token), folder, host, membership.DOOR_PORT))


class RayEngine:
    """An ``Engine``. Raises ``BrowserLost`` if Ray cannot be reached."""

    def __init__(self, config: RayConfig) -> None:
        try:
            ray.init(
                address=config.address,
                namespace=NAMESPACE,
                log_to_driver=False,
                configure_logging=False,
            )
        except (ConnectionError, RuntimeError) as problem:
            raise BrowserLost(
                f"Ray at {config.address} cannot be reached: {problem}",
                hint="Check the address, and RAY_AUTH_TOKEN_PATH if Ray wants a token.",
            ) from None
        self._asked = 0
        self._looks = 0
        self._node_ids: dict[str, str] = {}
        """The id of the node on each machine, by Ray's id of the machine."""

    def keep_nodes(self, invite: Callable[[], str], drained: frozenset[str]) -> int:
        machines = [node for node in ray.nodes() if node["Alive"] and _runs_node(node)]
        staying = [each for each in machines if self._node_ids.get(each["NodeID"]) not in drained]
        for machine in machines:
            if machine not in staying:
                self._let_go(machine)
        actors = [(each, _actor(each)) for each in staying]
        asked = {actor.keep.remote(): (each, actor) for each, actor in actors}
        waiting = list(asked)
        done, late = ray.wait(waiting, num_returns=len(waiting), timeout=ANSWER_SECONDS)
        for ref in late:
            logger.warning("the actor on %s does not answer", _address(asked[ref][0]))
        for ref in done:
            machine, actor = asked[ref]
            try:
                self._node_ids[machine["NodeID"]] = ray.get(ref) or _joined(machine, actor, invite)
            except ray.exceptions.RayError as problem:
                logger.error("no node on %s: %s", _address(machine), _cause(problem))
        return len(staying)

    def _let_go(self, machine: dict[str, Any]) -> None:
        """End the actor of a machine, so that Ray takes the machine for idle and may end it."""
        with suppress(ValueError):  # it was ended before
            ray.kill(ray.get_actor(_name(machine)))
            logger.info("the node on %s is drained; the machine may go", _address(machine))

    def ask_for(self, machines: int) -> None:
        self._looks += 1
        if machines != self._asked or self._looks % LOOKS_BETWEEN_REQUESTS == 0:
            request_resources(bundles=[{RESOURCE: 1}] * machines)
            self._asked = machines

    def close(self) -> None:
        ray.shutdown()


def _actor(machine: dict[str, Any]) -> Any:
    """Return the actor of a machine, made if there is none.

    A machine whose Ray was started again is another machine for Ray, and gets another actor.
    """
    return (
        ray.remote(NodeActor)
        .options(
            name=_name(machine),
            lifetime="detached",
            get_if_exists=True,
            max_restarts=-1,
            max_task_retries=1,
            num_cpus=0,
            resources={RESOURCE: 1},
            scheduling_strategy=NodeAffinitySchedulingStrategy(machine["NodeID"], soft=False),
        )
        .remote()
    )


def _joined(machine: dict[str, Any], actor: Any, invite: Callable[[], str]) -> str:
    """Let a machine join that Ray has added, and return the id of its node."""
    ray.get(actor.join.remote(invite(), _address(machine)), timeout=ANSWER_SECONDS)
    return str(ray.get(actor.keep.remote(), timeout=ANSWER_SECONDS))


def _name(machine: dict[str, Any]) -> str:
    return f"node-{machine['NodeID']}"


def _runs_node(machine: dict[str, Any]) -> bool:
    return bool(machine["Resources"].get(RESOURCE, 0) >= 1)


def _address(machine: dict[str, Any]) -> str:
    return str(machine["NodeManagerAddress"])


def _cause(problem: Exception) -> str:
    """Return the last line of Ray's error, which names the exception of the actor."""
    return str(getattr(problem, "cause", None) or str(problem).strip().splitlines()[-1])
