from __future__ import annotations

import errno
import os
import pwd
import stat
import threading
from pathlib import Path

import pytest

from roost.errors import BadRequest, Unauthorized
from roost.local import home as home_module
from roost.local.home import (
    Home,
    home_note,
    read_secret,
    socket_path,
    user_folder,
    write_secret,
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def mode(path: Path) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


def become_somebody_else(monkeypatch: pytest.MonkeyPatch) -> int:
    uid = os.getuid() + 4242
    monkeypatch.setattr(os, "getuid", lambda: uid)
    return uid


def test_the_variable_roost_home_decides() -> None:
    assert Home.find({"ROOST_HOME": "/srv/roost"}) == Home(Path("/srv/roost"))


def test_a_relative_roost_home_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert Home.find({"ROOST_HOME": "here/../there"}).path == tmp_path / "there"


@pytest.mark.parametrize("given", [{}, {"ROOST_HOME": ""}])
def test_without_roost_home_only_the_password_database_decides(given: dict[str, str]) -> None:
    misleading = {"HOME": "/x", "XDG_STATE_HOME": "/x", "XDG_RUNTIME_DIR": "/x", "TMPDIR": "/x"}

    found = Home.find({**misleading, **given})

    assert found.path == Path(pwd.getpwuid(os.getuid()).pw_dir) / ".local/state/roost"


def test_a_user_the_database_does_not_know_is_told_what_to_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nobody(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", nobody)

    with pytest.raises(BadRequest) as caught:
        user_folder()
    assert "ROOST_HOME" in caught.value.hint


def test_every_file_of_the_home_has_its_own_name(home: Home) -> None:
    paths = [
        home.token,
        home.endpoint,
        home.journal,
        home.audit,
        home.log,
        home.config,
        home.files,
        home.profiles,
        home.start_lock,
        home.broker_lock,
    ]

    assert {path.parent for path in paths} == {home.path}
    assert len(set(paths)) == len(paths)


def test_the_home_is_made_for_this_user_only_and_may_already_exist(tmp_path: Path) -> None:
    home = Home(tmp_path / "some" / "where")

    home.create()
    home.create()

    assert mode(home.path) == 0o700


@pytest.mark.parametrize("open_mode", [0o720, 0o702, 0o777])
def test_a_home_others_can_write_is_refused_with_the_fix(home: Home, open_mode: int) -> None:
    home.create()
    home.path.chmod(open_mode)

    with pytest.raises(Unauthorized) as caught:
        home.create()
    assert caught.value.hint == f"chmod 700 {home.path}"


def test_somebody_elses_home_is_refused(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.create()
    become_somebody_else(monkeypatch)

    with pytest.raises(Unauthorized):
        home.create()


def test_a_home_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(Unauthorized):
        Home(tmp_path / "file" / "home").create()


def test_the_token_is_made_once_secret_and_random(home: Home) -> None:
    token = home.operator_token()

    assert home.operator_token() == token
    assert len(bytes.fromhex(token)) == 32
    assert mode(home.token) == 0o600
    assert os.listdir(home.path) == ["token"]
    assert Home(home.path / "other").operator_token() != token


def test_the_first_token_that_is_written_counts(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = home_module._link_secret

    def somebody_is_faster(path: Path, data: bytes) -> None:
        link(path, b"a" * 64)
        link(path, data)

    monkeypatch.setattr(home_module, "_link_secret", somebody_is_faster)

    assert home.operator_token() == "a" * 64
    assert os.listdir(home.path) == ["token"]


def test_concurrent_callers_get_the_same_token(home: Home) -> None:
    barrier = threading.Barrier(8)
    tokens: list[str] = []

    def ask() -> None:
        barrier.wait(timeout=10)
        tokens.append(home.operator_token())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)

    assert len(tokens) == 8
    assert len(set(tokens)) == 1


def test_a_damaged_token_is_refused_and_not_replaced(home: Home) -> None:
    home.create()
    write_secret(home.token, b"short")

    with pytest.raises(Unauthorized):
        home.operator_token()
    assert read_secret(home.token) == b"short"


def test_a_token_others_can_read_is_refused_with_the_fix(home: Home) -> None:
    home.operator_token()
    home.token.chmod(0o644)

    with pytest.raises(Unauthorized) as caught:
        home.operator_token()
    assert caught.value.hint == f"chmod 600 {home.token}"


def test_a_secret_file_is_replaced_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    write_secret(path, b"old and long")
    path.chmod(0o644)

    write_secret(path, b"new")

    assert read_secret(path) == b"new"
    assert mode(path) == 0o600
    assert os.listdir(tmp_path) == ["secret"]


def test_a_secret_that_cannot_be_put_in_place_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder" / "inside").mkdir(parents=True)

    with pytest.raises(OSError, match="folder"):
        write_secret(tmp_path / "folder", b"x")
    assert os.listdir(tmp_path) == ["folder"]


def test_a_missing_secret_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert read_secret(tmp_path / "nothing") is None
    assert read_secret(tmp_path / "file" / "below") is None


def test_a_secret_behind_a_link_is_refused(tmp_path: Path) -> None:
    write_secret(tmp_path / "real", b"x")
    (tmp_path / "link").symlink_to(tmp_path / "real")

    with pytest.raises(Unauthorized):
        read_secret(tmp_path / "link")


def test_a_secret_that_is_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)

    with pytest.raises(Unauthorized):
        read_secret(tmp_path / "pipe")


def test_a_secret_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_secret(tmp_path / "secret", b"x")
    become_somebody_else(monkeypatch)

    with pytest.raises(Unauthorized):
        read_secret(tmp_path / "secret")


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    run_root, temporary_root = tmp_path / "run", tmp_path / "tmp"
    run_root.mkdir()
    temporary_root.mkdir()
    return run_root, temporary_root


def place(home: Home, roots: tuple[Path, Path]) -> Path:
    return socket_path(home, run_root=roots[0], temporary_root=roots[1])


def test_the_socket_lies_in_the_runtime_folder_if_that_is_ours(
    home: Home, roots: tuple[Path, Path]
) -> None:
    runtime = roots[0] / str(os.getuid())
    runtime.mkdir()

    path = place(home, roots)

    assert path.parent == runtime / "roost"
    assert mode(path.parent) == 0o700
    assert place(home, roots) == path
    assert os.listdir(roots[1]) == []


def test_the_socket_lies_in_tmp_if_there_is_no_runtime_folder(
    home: Home, roots: tuple[Path, Path]
) -> None:
    path = place(home, roots)

    assert path.parent == roots[1] / f"roost-{os.getuid()}"
    assert mode(path.parent) == 0o700


def test_a_runtime_folder_that_is_a_link_is_not_used(home: Home, roots: tuple[Path, Path]) -> None:
    (roots[0] / "elsewhere").mkdir()
    (roots[0] / str(os.getuid())).symlink_to(roots[0] / "elsewhere")

    assert place(home, roots).is_relative_to(roots[1])


def test_a_runtime_folder_of_another_user_is_not_used(
    home: Home, roots: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    uid = become_somebody_else(monkeypatch)
    (roots[0] / str(uid)).mkdir()

    with pytest.raises(Unauthorized):  # the one in tmp, which the real us makes, is refused too
        place(home, roots)
    assert os.listdir(roots[0] / str(uid)) == []


def test_a_link_somebody_left_in_tmp_is_refused(home: Home, roots: tuple[Path, Path]) -> None:
    (roots[1] / "trap").mkdir(mode=0o700)
    (roots[1] / f"roost-{os.getuid()}").symlink_to(roots[1] / "trap")

    with pytest.raises(Unauthorized):
        place(home, roots)


@pytest.mark.parametrize("open_mode", [0o750, 0o705, 0o777])
def test_a_socket_folder_others_can_enter_is_refused_with_the_fix(
    home: Home, roots: tuple[Path, Path], open_mode: int
) -> None:
    folder = place(home, roots).parent
    folder.chmod(open_mode)

    with pytest.raises(Unauthorized) as caught:
        place(home, roots)
    assert caught.value.hint == f"chmod 700 {folder}"


def test_two_homes_have_two_sockets_and_one_home_by_two_names_has_one(
    tmp_path: Path, roots: tuple[Path, Path]
) -> None:
    home, other = Home(tmp_path / "home"), Home(tmp_path / "other")
    home.create()
    (tmp_path / "alias").symlink_to(home.path)

    assert place(home, roots) != place(other, roots)
    assert place(Home(tmp_path / "alias"), roots) == place(home, roots)


def test_the_socket_path_is_short_however_long_the_home(tmp_path: Path) -> None:
    home = Home(tmp_path.joinpath(*["folder" * 10] * 10))

    assert len(os.fsencode(socket_path(home))) < 100


def test_a_write_that_fails_leaves_no_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("roost.local.home.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_secret(tmp_path / "secret", b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_home_that_differs_from_the_password_database_is_reported(tmp_path: Path) -> None:
    note = home_note({"HOME": str(tmp_path)})
    assert note is not None
    assert str(tmp_path) in note
    assert str(user_folder()) in note
    assert "ROOST_HOME" in note
    assert home_note({"HOME": str(user_folder())}) is None
    assert home_note({"HOME": str(tmp_path), "ROOST_HOME": "/r"}) is None
    assert home_note({}) is None
