"""Uploads come from the agent's folders, and downloads go to the session's own folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roost import ops
from roost.errors import BadRequest, NotFound
from tests.support.agent import refused
from tests.support.house import House, lacks
from tests.support.local_web import Answer, Web

PICKER = """
<input id=one type=file><input id=many type=file multiple hidden>
<button id=ask onclick="many.click()">Choose files</button>
<script>
  const read = async (input) =>
    Promise.all([...input.files].map(async (f) => [f.name, await f.text()]));
</script>
"""


def put(house: House, name: str, text: str = "content") -> Path:
    path = house.work / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


async def test_a_field_that_is_named_gets_the_files(house: House, web: Web) -> None:
    put(house, "a.txt", "alpha")
    async with house.guest(web) as agent:
        await agent.show(PICKER)
        done = await agent.call(ops.FileUpload(target="#one", paths=["a.txt"]))
        assert "1 file " in done.did
        assert await agent.run("() => read(one)") == [["a.txt", "alpha"]]


async def test_without_a_target_the_files_go_to_the_field_that_asked(
    house: House, web: Web
) -> None:
    put(house, "a.txt", "alpha")
    path = put(house, "deep/b.txt", "beta")
    async with house.guest(web) as agent:
        await agent.show(PICKER)
        asked = await agent.click("#ask")
        assert asked.chooser is not None
        assert asked.chooser.multiple
        done = await agent.call(ops.FileUpload(paths=["a.txt", str(path)]))
        assert done.chooser is None
        assert await agent.run("() => read(many)") == [["a.txt", "alpha"], ["b.txt", "beta"]]
        await refused(NotFound, agent.call(ops.FileUpload(paths=["a.txt"])))


async def test_a_page_that_asked_for_one_file_does_not_get_two(house: House, web: Web) -> None:
    put(house, "a.txt")
    put(house, "b.txt")
    async with house.guest(web) as agent:
        await agent.show(PICKER)
        asked = await agent.click("#one")
        assert asked.chooser is not None
        assert not asked.chooser.multiple
        for target in (None, "#one"):
            both = ops.FileUpload(target=target, paths=["a.txt", "b.txt"])
            error = await refused(BadRequest, agent.call(both))
            assert error.details["field"] == "paths"


async def test_a_file_chooser_ends_when_its_page_is_left(house: House, web: Web) -> None:
    put(house, "a.txt")
    async with house.guest(web) as agent:
        await agent.show(PICKER)
        await agent.click("#ask")
        left = await agent.show(PICKER)
        assert left.status == 200
        assert (await agent.click("body")).chooser is None
        await refused(NotFound, agent.call(ops.FileUpload(paths=["a.txt"])))


async def test_files_outside_the_agents_folders_are_refused(
    house: House, web: Web, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    (house.work / "link.txt").unlink(missing_ok=True)
    (house.work / "link.txt").symlink_to(secret)
    (house.work / "folder").mkdir(exist_ok=True)
    async with house.guest(web) as agent:
        await agent.show(PICKER)
        for path in (
            "missing.txt",
            "folder",
            str(secret),
            "link.txt",
            f"../{secret.name}",
            str(house.home.token),
            str(house.home.journal),
            "a\0b",
            "",
        ):
            call = agent.call(ops.FileUpload(target="#one", paths=[path]))
            error = await refused(BadRequest, call)
            assert error.details["field"] == "paths", path
        error = await refused(BadRequest, agent.call(ops.FileUpload(target="body", paths=[])))
        assert error.details["field"] == "target"


def attachment(name: str, body: bytes = b"data") -> Answer:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Answer(body, kind="application/octet-stream", headers=headers)


@pytest.mark.parametrize(
    ("target", "field"), [("#b", "f"), ("text=Choose", "f"), ("#zone", "g"), ("#label", "h")]
)
async def test_a_button_that_opens_a_file_chooser_is_clicked_and_gets_the_files(
    house: House, web: Web, target: str, field: str
) -> None:
    async with house.guest(web) as agent:
        put(house, "one.txt")
        await agent.show(
            "<button id=b onclick='f.click()'>Choose …</button><input id=f type=file hidden>"
            "<div id=zone><p>Drop here</p><input id=g type=file hidden></div>"
            "<label id=label>Label <input id=h type=file hidden></label>"
        )
        done = await agent.call(ops.FileUpload(paths=["one.txt"], target=target))
        assert done.did.startswith("Gave 1 file to")
        assert await agent.run(f"() => {field}.files[0]?.name") == "one.txt"


async def test_a_second_upload_by_a_button_works_or_says_how_to_upload(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        put(house, "one.txt")
        put(house, "two.txt")
        await agent.show(
            "<button id=b onclick='f.click()'>Choose …</button><input id=f type=file hidden>"
        )
        await agent.call(ops.FileUpload(paths=["one.txt"], target="#b"))
        again = agent.call(ops.FileUpload(paths=["two.txt"], target="#b"))
        if lacks(house, "repeated file choosers"):
            assert "file field" in (await refused(BadRequest, again)).hint
            await agent.call(ops.FileUpload(paths=["two.txt"], target="#f"))
        else:
            await again
        assert await agent.run("() => f.files[0].name") == "two.txt"


async def test_an_upload_to_a_button_without_a_file_chooser_is_refused(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        put(house, "one.txt")
        await agent.show("<button id=b>Nothing</button>")
        error = await refused(
            BadRequest, agent.call(ops.FileUpload(paths=["one.txt"], target="#b"))
        )
        assert "not a field for files" in error.message
        assert "file field" in error.hint


async def downloads(agent: Any) -> list[tuple[str, str]]:
    found = await agent.call(ops.Downloads())
    return [(one.name, one.state) for one in found.downloads]


async def test_a_download_link_saves_the_file_in_the_sessions_folder(
    house: House, web: Web
) -> None:
    url = web.serve(attachment("report.csv", b"1,2"))
    async with house.agent(web) as agent:
        page = await agent.show(f"<a href='{url}'>Get</a>")
        done = await agent.click("text=Get")
        assert done.url == page.url
        expected = agent.files / "downloads" / "report.csv"
        assert done.downloads == [str(expected)]
        assert expected.read_bytes() == b"1,2"
        assert (await agent.click("body")).downloads is None, "told once"
        again = await agent.click("text=Get")
        assert again.downloads == [str(expected.with_name("report (1).csv"))]
        assert await downloads(agent) == [("report.csv", "done"), ("report (1).csv", "done")]


async def test_downloads_by_attribute_by_script_and_in_a_new_tab_are_saved(
    house: House, web: Web
) -> None:
    url = web.serve(Answer(b"plain", kind="text/plain"))
    popup = web.serve(attachment("popup.bin"))
    async with house.agent(web) as agent:
        await agent.show(
            f"<a id=a href='{url}' download=named.txt>A</a>"
            "<a id=b download=blob.txt>B</a>"
            "<script>b.href = URL.createObjectURL(new Blob(['blob']))</script>"
            f"<a id=c href='{popup}' target=_blank>C</a>"
        )
        for target, name in (("#a", "named.txt"), ("#b", "blob.txt")):
            done = await agent.click(target)
            assert done.downloads == [str(agent.files / "downloads" / name)]
        await agent.click("#c")
        while ("popup.bin", "done") not in await downloads(agent):
            pass  # the tab it opened is closed by the browser, whenever it likes


async def test_navigating_to_a_file_downloads_it_and_keeps_the_page(house: House, web: Web) -> None:
    url = web.serve(attachment("direct.bin", b"x" * 100_000))
    async with house.agent(web) as agent:
        page = await agent.show("Here", title="Here")
        done = await agent.go(url)
        assert (done.url, done.title) == (page.url, "Here")
        assert done.downloads == [str(agent.files / "downloads" / "direct.bin")]


async def test_a_file_name_from_the_server_cannot_leave_the_folder(house: House, web: Web) -> None:
    names = ["../../../evil.sh", "/etc/passwd", ".bashrc", "a\\\\b.exe", "%2e%2e%2fup", "x" * 300]
    async with house.agent(web) as agent:
        await agent.show("Here")
        for name in names:
            done = await agent.go(web.serve(attachment(name)))
            assert done.downloads is not None
            if len(name) > 255 and lacks(house, "very long names of downloads"):
                assert done.downloads[0].endswith(" (failed)")
                continue
            folder, _, name = done.downloads[0].rpartition("/")
            assert folder == str(agent.files / "downloads")
            assert not name.startswith(".")
            assert (agent.files / "downloads" / name).read_bytes() == b"data"


async def test_a_failed_download_is_reported(house: House, web: Web) -> None:
    def torn(request: object) -> Answer:
        answer = attachment("torn.bin", b"half")
        answer.headers["Content-Length"] = "1000000"
        return answer

    url = web.serve(torn)
    async with house.agent(web) as agent:
        await agent.show("Here")
        await agent.go(url)
        while (state := (await downloads(agent))[0][1]) == "running":
            pass
        assert state == "failed"


async def test_downloads_are_private_to_their_session_and_removed_with_it(
    house: House, web: Web
) -> None:
    url = web.serve(attachment("mine.bin"))
    async with house.agent(web) as other:
        async with house.agent(web) as agent:
            await agent.show("Here")
            await agent.go(url)
            folder = agent.files
            assert (folder / "downloads" / "mine.bin").exists()
            assert await downloads(other) == []
        async with house.operator() as operator:
            await operator.call(ops.Ping())
        assert not folder.exists()
