"""How Ray runs on this machine: its configuration, its environment and its command.

Ray starts a node on every machine and asks for more machines. Ray connects machines with TLS of an
authority of its own, because a certificate that names an address must not let a node pass for the
gateway. Nothing here imports Ray: only ``ray_engine.py`` does, in the processes that need it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import ipaddress
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from roost.errors import BadRequest, Internal
from roost.fleet.authority import Authority, certificate_request
from roost.fleet.config import PORT, kept_secret, read_config
from roost.local.home import Home, write_secret
from roost.wire.framing import encode

RAY_PORT = PORT + 3
RESOURCE = "roost"
"""The resource of Ray that a machine has when it is to run a node."""
OBJECT_STORE_BYTES = 80 * 1024 * 1024
"""Ray's minimum. Roost puts nothing into Ray's object store."""
STARTED = "Ray runtime started"
_MARK = "ROOST_RAY_FOLDER"
_FILES = ("ray.json", "ray.token", "ray.key", "ray.pem", "ray-ca.pem")


@dataclass(frozen=True, slots=True)
class RayConfig:
    """How this machine takes part in a Ray cluster.

    address: HOST:PORT of Ray's head.
    host: address of this machine in the cluster, or None if somebody else runs Ray here.
    is_head: this machine runs Ray's head.
    runs_node: this machine is to run browsers.
    redis: HOST:PORT of the Redis in which Ray's head keeps its state, or None to keep none.
    variables: the person's variables of Ray for a cluster that Roost did not start.
    """

    address: str
    host: str | None
    is_head: bool
    runs_node: bool
    redis: str | None = None
    variables: dict[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        write_secret(folder / "ray.json", encode(asdict(self)))

    @classmethod
    def read(cls, folder: Path) -> RayConfig | None:
        """Return what ``write`` wrote, or None. Raises ``Internal`` if it cannot be read."""
        return read_config(cls, folder / "ray.json", hint="Stop the fleet and start it again.")


def installed_ray() -> str | None:
    """Return the version of Ray on this machine, or None."""
    try:
        return importlib.metadata.version("ray")
    except importlib.metadata.PackageNotFoundError:
        return None


def software() -> dict[str, str | None]:
    """Return the versions that must be the same on all machines of a Ray cluster."""
    major, minor, _ = platform.python_version_tuple()
    return {"ray": installed_ray(), "python": f"{major}.{minor}"}


def check_software(here: dict[str, str | None], there: object) -> None:
    """Raise ``BadRequest`` if a machine with the versions ``there`` cannot join this cluster."""
    theirs = there if isinstance(there, dict) else {}
    if theirs.get("ray") is None:
        raise BadRequest(
            f"ray: this fleet uses Ray {here['ray']}, and this machine has none.",
            hint=f"Install roost[fleet] with ray=={here['ray']}. The join token is still good.",
            field="ray",
        )
    for name, shown in (("ray", "Ray"), ("python", "Python")):
        if theirs.get(name) != here[name]:
            raise BadRequest(
                f"{name}: this fleet uses {shown} {here[name]}, "
                f"and this machine {str(theirs.get(name))[:20]}.",
                hint="Install the same version on both. The join token is still good.",
                field=name,
            )


# --- the head -----------------------------------------------------------------------------------


def set_up_head(folder: Path, host: str, redis: str | None) -> RayConfig:
    """Write what Ray's head needs on this machine, and return its configuration."""
    address = resolved(host)
    authority = _ray_authority(folder)
    key, request = certificate_request()
    kept_secret(folder, "ray.token")
    _write_identity(folder, key, authority.sign_machine(address, request), authority.pem)
    config = RayConfig(
        address=f"{_bracketed(address)}:{RAY_PORT}",
        host=address,
        is_head=True,
        runs_node=False,
        redis=redis,
    )
    config.write(folder)
    return config


def use_ray_of_others(folder: Path, address: str) -> RayConfig:
    """Write that the fleet uses a cluster that somebody else runs, and return the configuration."""
    variables = {name: value for name, value in os.environ.items() if name.startswith("RAY_")}
    config = RayConfig(address, None, is_head=False, runs_node=False, variables=variables)
    config.write(folder)
    return config


def terms(folder: Path, asked: dict[str, Any]) -> dict[str, str] | None:
    """Return what a machine that joins needs for Ray, or None if this fleet has no Ray of its own.

    Raises ``BadRequest`` if the machine's versions differ.
    """
    config = RayConfig.read(folder)
    if config is None or not config.is_head:
        return None
    check_software(software(), asked.get("versions"))
    match asked:
        case {"request": str(request), "host": str(host)}:
            pass
        case _:
            raise BadRequest("body: expected request and host.", field="body")
    authority = _ray_authority(folder)
    return {
        "address": config.address,
        "token": kept_secret(folder, "ray.token").decode(),
        "authority": authority.pem.decode(),
        "certificate": authority.sign_machine(host, request.encode()).decode(),
    }


def accept(folder: Path, given: object, key: bytes, host: str) -> RayConfig:
    """Write the ``terms`` that the gateway gave to this machine."""
    match given:
        case {
            "address": str(address),
            "token": str(token),
            "authority": str(authority),
            "certificate": str(certificate),
        }:
            pass
        case _:
            raise Internal("The gateway's answer about Ray is not valid.")
    write_secret(folder / "ray.token", token.encode())
    _write_identity(folder, key, certificate.encode(), authority.encode())
    config = RayConfig(address=address, host=host, is_head=False, runs_node=True)
    config.write(folder)
    return config


def forget(home: Home, folder: Path) -> None:
    """Remove what ``set_up_head`` or ``accept`` wrote, but not the authority of Ray's machines."""
    for name in _FILES:
        (folder / name).unlink(missing_ok=True)
    remove_scratch(home)


def remove_scratch(home: Home) -> None:
    """Remove the folder of Ray's logs and sockets, when Ray does not run."""
    shutil.rmtree(scratch_folder(home), ignore_errors=True)


def resolved(host: str) -> str:
    """Return the address of a host: Ray's machines know each other by addresses."""
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        raise BadRequest(f"address: {host} is not a known address.", field="address") from None


# --- the processes ------------------------------------------------------------------------------


def environment(folder: Path, config: RayConfig) -> dict[str, str]:
    """Return the variables that Ray's processes need, and the processes that call Ray.

    The person configures a cluster of their own by Ray's variables.
    """
    variables = {"RAY_USAGE_STATS_ENABLED": "0"} | config.variables
    if config.host is not None:
        variables |= {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(folder / "ray.token"),
            "RAY_USE_TLS": "1",
            "RAY_TLS_SERVER_CERT": str(folder / "ray.pem"),
            "RAY_TLS_SERVER_KEY": str(folder / "ray.key"),
            "RAY_TLS_CA_CERT": str(folder / "ray-ca.pem"),
        }
        if config.redis is not None:
            variables["RAY_REDIS_ADDRESS"] = config.redis
    return variables


def launch_arguments(config: RayConfig, scratch: Path) -> list[str]:
    """Return the command that runs Ray on this machine until it is terminated."""
    assert config.host is not None
    where = (
        ["--head", "--port", str(RAY_PORT), "--include-dashboard=false"]
        if config.is_head
        else ["--address", config.address]
    )
    resources = {RESOURCE: 1} if config.runs_node else {}
    return [
        sys.executable,
        "-P",
        "-m",
        "ray.scripts.scripts",
        "start",
        "--block",
        "--disable-usage-stats",
        "--log-style=record",
        "--include-log-monitor=false",
        f"--node-ip-address={config.host}",
        "--num-cpus=0",
        "--num-gpus=0",
        f"--resources={json.dumps(resources)}",
        f"--object-store-memory={OBJECT_STORE_BYTES}",
        f"--temp-dir={scratch}",
        *where,
    ]


def scratch_folder(home: Home) -> Path:
    """Return the folder of Ray's logs and sockets, made if there is none.

    Ray puts sockets there, whose paths have at most 107 bytes, so it does not lie in ROOST_HOME.
    """
    digest = hashlib.sha256(str(home.path).encode()).hexdigest()[:8]
    folder = Path(tempfile.gettempdir()) / f"roost-ray-{os.getuid()}-{digest}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    if status.st_uid != os.getuid() or not folder.is_dir() or folder.is_symlink():
        raise Internal(f"{folder} belongs to somebody else.", hint="Set TMPDIR to another folder.")
    return folder


def end_processes(scratch: Path) -> None:
    """Kill all processes of this machine's Ray.

    A killed starter leaves them, and they hold the port that the next Ray needs. Workers hide their
    command line, so the processes are known by a variable that they inherit.
    """
    mark = f"{_MARK}={scratch}".encode()
    for entry in os.listdir("/proc"):
        with suppress(OSError):
            if entry.isdigit() and mark in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                os.kill(int(entry), signal.SIGKILL)


def run(folder: Path, scratch: Path, config: RayConfig) -> subprocess.Popen[bytes]:
    """Start Ray. Its output goes to the pipe ``stdout``."""
    end_processes(scratch)
    for old in scratch.glob("session_*"):
        shutil.rmtree(old, ignore_errors=True)
    return subprocess.Popen(
        launch_arguments(config, scratch),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | environment(folder, config) | {_MARK: str(scratch)},
        start_new_session=True,
    )


def end(started: subprocess.Popen[bytes], scratch: Path, seconds: float) -> None:
    """End Ray with all its processes."""
    started.terminate()
    with suppress(subprocess.TimeoutExpired):
        started.wait(seconds)
    end_processes(scratch)
    started.wait()


def _ray_authority(folder: Path) -> Authority:
    own = folder / "ray-authority"
    own.mkdir(mode=0o700, exist_ok=True)
    return Authority.of(own)


def _write_identity(folder: Path, key: bytes, certificate: bytes, authority: bytes) -> None:
    write_secret(folder / "ray.key", key)
    write_secret(folder / "ray.pem", certificate)
    write_secret(folder / "ray-ca.pem", authority)


def _bracketed(address: str) -> str:
    return f"[{address}]" if ipaddress.ip_address(address).version == 6 else address
