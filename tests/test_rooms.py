"""The structure of the code: import contracts, room signs, sizes, names, and light imports."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import roost

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "roost"
FILES = sorted(SOURCE.rglob("*.py"))
ROOMS = sorted(path.parent for path in FILES if path.name == "__init__.py")
LINES_MAX = 620
SIGN_PARTS = ("Lives here:", "May import:", "Never here:", "Tests:")
NAMED = re.compile(r"``((?:[a-z_]+\.)*[a-z_]+(?:/|\b))``")
"""What a sign sets in double backticks and may be a module: ``page``, ``page.py``, ``source/``."""
NOT_MODULES = {"now", "roost", "session"}
"""Names in that form on signs that mean something else: an argument, the command, a variable."""
NAMED_PATH = re.compile(r"\b(?:docs|(?:extension/)?tests)(?:/[\w.*/]+)?")

UNTESTED = {
    # Only a Protocol, or only data: whoever uses them is tested.
    "core/events.py",
    "drivers/link.py",
    # Started as processes in tests/e2e and tests/drivers.
    "daemon/__main__.py",
    "keeper/__main__.py",
    "keeper/chromium.py",
    # The work behind operations: held by roost.testing.broker_api, directly and over the socket.
    "broker/work/views.py",
    "broker/work/space_work.py",
    # Page work: proven in real browsers, in tests/e2e/pages and tests/drivers.
    "broker/work/page_actions.py",
    "broker/work/page_readings.py",
    "page/actions.py",
    "page/snapshots.py",
}
"""Source files without a test file of their own, and why. This set may only shrink."""

BESIDE_ROOMS = {"e2e", "extension", "plugin", "soak", "support"}
"""Test folders that mirror no room: they test several rooms, test what is beside ``src``, or hold
what tests share."""

BANNED = re.compile(r"\b\w*(utils?|helpers?|[a-z]Manager|Manager[A-Z]?)\b")
DEFINED = re.compile(r"^ *(?:class|(?:async )?def) (\w+)", re.MULTILINE)
PROTOCOL_WORDS = {
    # Method names of a browser's protocol stand in that driver's folder, and in its tests.
    re.compile(
        r"[\"'](Target|Page|Runtime|Fetch|Emulation|Network|Browser|Input)\.[a-z]\w+[\"']"
    ): (
        "drivers/chromium/",
        "drivers/extension/",
        "frontends/cdp/",
        "keeper/",
        "link/",
        "tests/support/own_browser.py",
    ),
    re.compile(r"[\"'](browsingContext|browser|script|storage|session)\.[a-z]+[A-Z]\w*[\"']"): (
        "drivers/extension/",
        "drivers/firefox/",
        "keeper/",
        "link/",
        "tests/support/own_firefox.py",
    ),
}


def _name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def _python(code: str) -> str:
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE.parent)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_rooms_import_only_what_their_signs_allow() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.relative_to(ROOT).as_posix())
def test_every_room_has_its_sign(room: Path) -> None:
    if room == SOURCE:
        return  # the entrance says what it is for in its own words

    assert [part for part in SIGN_PARTS if part not in _sign(room)] == []


@pytest.mark.slow
def test_signs_say_what_their_rooms_import() -> None:
    command = [sys.executable, str(ROOT / "tools" / "gen_signs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.relative_to(ROOT).as_posix())
def test_every_module_that_a_sign_names_exists(room: Path) -> None:
    named = {found.group(1) for found in NAMED.finditer(_sign(room))} - NOT_MODULES

    assert {name for name in named if not _exists(name, room)} == set()


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.relative_to(ROOT).as_posix())
def test_every_module_of_a_room_is_named_on_its_sign(room: Path) -> None:
    if room == SOURCE:
        return  # docs/architecture.md is the map of all rooms
    modules = {module.stem for module in room.glob("*.py")} - {"__init__", "__main__"}
    sign = _sign(room)

    assert {name for name in modules if not re.search(rf"``{name}(\.py)?``", sign)} == set()


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.relative_to(ROOT).as_posix())
def test_every_room_inside_a_room_is_named_on_its_sign(room: Path) -> None:
    if room == SOURCE:
        return  # docs/architecture.md is the map of all rooms
    inside = {other.name for other in ROOMS if other.parent == room}
    named = {found.group(1).strip("/").split(".")[-1] for found in NAMED.finditer(_sign(room))}

    assert inside - named == set()


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.relative_to(ROOT).as_posix())
def test_every_path_of_tests_and_docs_that_a_sign_names_exists(room: Path) -> None:
    sign = _sign(room)
    paths = NAMED_PATH.findall(sign)

    assert [path for path in paths if not any(ROOT.glob(path.rstrip("/.")))] == []
    if room != SOURCE:
        assert NAMED_PATH.search(sign, sign.index("Tests:")), "say where the room's tests are"


@pytest.mark.parametrize("name", ["no_such", "no_such.py", "core.no_such", "roost.no_such"])
def test_a_module_that_does_not_exist_is_noticed(name: str) -> None:
    (named,) = NAMED.findall(f"Lives here: ``{name}``.")

    assert not _exists(named, SOURCE / "core")


def _sign(room: Path) -> str:
    return ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""


def _exists(name: str, room: Path) -> bool:
    """Return whether a name on a room's sign exists, in the room or as another room.

    A name may be dotted, such as ``roost.testing.drivers.check_driver``. A dotted name that does
    not start with a room of Roost, such as ``chrome.debugger``, is not checked.
    """
    path = name.removesuffix(".py").strip("/")
    parts = path.removeprefix("roost.").split(".")
    if name.startswith("roost.") or len(parts) > 1:
        if not name.startswith("roost.") and not _is_module(SOURCE / parts[0]):
            return True
        if _is_module(SOURCE.joinpath(*parts)):
            return True
        owner = SOURCE.joinpath(*parts[:-1])
        return _is_module(owner) and hasattr(
            import_module(".".join(("roost", *parts[:-1]))), parts[-1]
        )
    return any(_is_module(base / path) for base in (room, SOURCE))


def _is_module(path: Path) -> bool:
    return path.is_dir() or path.with_name(f"{path.name}.py").is_file()


def test_every_test_folder_mirrors_a_room_and_is_a_package() -> None:
    tests = ROOT / "tests"
    folders = {path.parent for path in tests.rglob("*.py")} - {tests}
    strays = [
        name
        for name in sorted(folder.relative_to(tests).as_posix() for folder in folders)
        if name.split("/")[0] not in BESIDE_ROOMS and not (SOURCE / name / "__init__.py").exists()
    ]

    assert strays == []
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


def _has_tests(path: Path, tests: dict[Path, str]) -> bool:
    """Return whether a test file is named after the source file, or imports it by name.

    A test file with a room's name tests all of the room, unless a module has that name, too.
    """
    folder = path.parent.relative_to(SOURCE)
    inner = folder.parts[-1] if folder.parts else "roost"
    names = {f"test_{path.stem}.py"}
    if not path.with_name(f"{inner}.py").exists():
        names.add(f"test_{inner}.py")
    module = ".".join(("roost", *folder.parts, path.stem))
    room = folder.parts[0] if folder.parts else ""
    return any(
        (test.name in names and room in test.relative_to(ROOT).parts)
        or re.search(rf"{module}\b", text)
        for test, text in tests.items()
    )


def test_every_source_file_has_a_test_file_or_a_reason_for_none() -> None:
    tests = {test: test.read_text(encoding="utf-8") for test in (ROOT / "tests").rglob("test_*.py")}
    untested = {
        _name(path)
        for path in FILES
        if path.name != "__init__.py" and path.parent.name != "testing"
        if not _has_tests(path, tests)
    }

    assert untested - UNTESTED == set(), "write its tests"
    assert UNTESTED - untested == set(), "it has tests, or is gone: take it off the list"


def test_no_file_is_too_long_to_read() -> None:
    lines = {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}

    assert {name: count for name, count in lines.items() if count > LINES_MAX} == {}


def test_nothing_is_called_by_a_name_that_says_nothing() -> None:
    names = [_name(path) for path in FILES if BANNED.search(path.stem)]
    for path in FILES:
        for name in DEFINED.findall(path.read_text(encoding="utf-8")):
            names += [f"{_name(path)}: {name}"] if BANNED.fullmatch(name) else []

    assert names == []


def test_literals_of_the_same_values_have_one_order() -> None:
    """``typing`` takes them for equal and keeps one of the two, so that the order of imports would
    decide which order a schema shows. Give the type one name."""
    orders: dict[frozenset[object], set[tuple[object, ...]]] = {}
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "Literal[" in text else ():
            if not isinstance(node, ast.Subscript) or ast.unparse(node.value) != "Literal":
                continue
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            values = tuple(ast.unparse(part) for part in parts)
            orders.setdefault(frozenset(values), set()).add(values)

    assert [found for found in orders.values() if len(found) > 1] == []


@pytest.mark.parametrize("words", PROTOCOL_WORDS, ids=["chromium", "firefox"])
def test_a_protocols_method_names_stand_only_under_its_driver(words: re.Pattern[str]) -> None:
    allowed = PROTOCOL_WORDS[words]
    strays = [
        f"{_name(path)}: {found.group()}"
        for path in FILES
        if not _name(path).startswith(allowed)
        for found in words.finditer(path.read_text(encoding="utf-8"))
    ]

    assert strays == []


def test_the_public_surface_is_complete_and_importable() -> None:
    assert sorted(roost.__all__) == roost.__all__
    assert set(roost.__all__) == {*roost._WHERE, "__version__"}
    for name in roost.__all__:
        assert getattr(roost, name) is not None
    for name, (module, attribute) in roost._WHERE.items():
        found = import_module(module)
        assert getattr(roost, name) is (getattr(found, attribute) if attribute else found)
    with pytest.raises(AttributeError, match="no_such_name"):
        roost.__getattr__("no_such_name")


HEAVY = {"asyncio", "pydantic", "pydantic_core", "click", "rich", "sqlite3", "ssl", "threading"}


@pytest.mark.parametrize(
    "module",
    [
        "roost",
        "roost.errors",
        "roost.__main__",
        "roost.hook.stop",
        "roost.local.broker_start",
        "roost.shim.main",
        "roost.wire.hello",
    ],
)
def test_the_entrance_is_light(module: str) -> None:
    """Every agent pays for what importing this loads."""
    # Subtracted: what a bare interpreter of this build has loaded anyway.
    loaded = _python(f"import sys; b = set(sys.modules); import {module}; print(*sys.modules)")

    assert HEAVY & set(loaded.split()) == set()


def test_the_table_of_the_page_bundle_names_each_of_its_files_once() -> None:
    folder = SOURCE / "page" / "source"
    table = [
        line.split("|")[2]
        for line in (folder / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    named = re.findall(r"`(\w+)`", "".join(table))
    assert sorted(named) == sorted(path.stem for path in folder.glob("*.ts"))
