"""The engine made of Ray: one actor per machine, which starts the node there and watches it.

The node is no child of the actor. Ray ends the children of its workers, and a node must go on when
Ray's processes die, so the node has a supervisor of its own and the actor starts that supervisor.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
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

    def keep(self) -> bool:
        """Start the node's supervisor if it does not run. Returns False if this machine must join.

        Raises the error that the node reports.
        """
        home = Home.find()
        folder = fleet_folder(home)
        if NodeConfig.read(folder) is None:
            return False
        supervisor.start(home, folder, supervisor.NODE)
        return True

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

    def keep_nodes(self, invite: Callable[[], str]) -> int:
        machines = [node for node in ray.nodes() if node["Alive"] and _runs_node(node)]
        actors = [(node, self._actor(node)) for node in machines]
        kept = {actor.keep.remote(): (node, actor) for node, actor in actors}
        waiting = list(kept)
        done, late = ray.wait(waiting, num_returns=len(waiting), timeout=ANSWER_SECONDS)
        for ref in late:
            logger.warning("the actor on %s does not answer", _address(kept[ref][0]))
        for ref in done:
            node, actor = kept[ref]
            try:
                if not ray.get(ref):
                    host = _address(node)
                    ray.get(actor.join.remote(invite(), host), timeout=ANSWER_SECONDS)
                    ray.get(actor.keep.remote(), timeout=ANSWER_SECONDS)
            except ray.exceptions.RayError as problem:
                logger.error("the node on %s does not start: %s", _address(node), _cause(problem))
        return len(machines)

    def ask_for(self, machines: int) -> None:
        self._looks += 1
        if machines != self._asked or self._looks % LOOKS_BETWEEN_REQUESTS == 0:
            request_resources(bundles=[{RESOURCE: 1}] * machines)
            self._asked = machines

    def close(self) -> None:
        ray.shutdown()

    def _actor(self, node: dict[str, Any]) -> Any:
        """Return the actor of a machine, made if there is none.

        A machine whose Ray was started again is another machine for Ray, and gets another actor.
        """
        return (
            ray.remote(NodeActor)
            .options(
                name=f"node-{node['NodeID']}",
                lifetime="detached",
                get_if_exists=True,
                max_restarts=-1,
                max_task_retries=1,
                num_cpus=0,
                resources={RESOURCE: 1},
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False),
            )
            .remote()
        )


def _runs_node(node: dict[str, Any]) -> bool:
    return bool(node["Resources"].get(RESOURCE, 0) >= 1)


def _address(node: dict[str, Any]) -> str:
    return str(node["NodeManagerAddress"])


def _cause(problem: Exception) -> str:
    """Return the last line of Ray's error, which names the exception of the actor."""
    return str(getattr(problem, "cause", None) or str(problem).strip().splitlines()[-1])
