# ruff: noqa: E501 - a document on one line reads better than a folded one
"""Text and Markdown of a page: what a person sees, and nothing else."""

from __future__ import annotations

import textwrap

from tests.page.page_world import PageWorld

PAGE = """
<style>.x{}</style><script>var secret</script><noscript>secret</noscript><template>secret</template>
<h1>Title</h1><p>One <b>bold</b> and <i>soft</i> <code>x = 1</code>
<a href=/next>next page</a>.</p><div style=display:none>secret</div><p style=visibility:hidden>secret</p>
<ul><li>first<li>second<ol><li>inner</ol></ul><blockquote><p>quoted</p></blockquote>
<pre>def f():
    return 1</pre><table><tr><th>Name<th>Age<tr><td>Bob<td>3</table>
<img src=cat.png alt="A cat"><label>E-mail <input value=a@b.c></label><input type=password value=hunter2>
<select><option>no<option selected>yes</select><textarea>two
lines</textarea><details><summary>More</summary>secret</details><x-host></x-host>
"""
SHADOW = "() => document.querySelector('x-host').attachShadow({mode:'open'}).innerHTML = '<p>in shadow</p>'"


def test_text_is_what_a_person_sees(page: PageWorld) -> None:
    text = page.show(PAGE, SHADOW).call("content")["text"]
    assert "secret" not in text
    assert "hunter2" not in text
    assert text.startswith("Title\n\nOne bold and soft x = 1 next page.\n\nfirst\nsecond\n")
    assert "def f():\n    return 1" in text
    assert "Name\tAge\nBob\t3" in text
    for piece in ("a@b.c", "yes", "two\nlines", "More", "in shadow"):
        assert piece in text, piece


def test_markdown_keeps_the_structure(page: PageWorld) -> None:
    text = page.show(PAGE, SHADOW).call("content", format="markdown")["text"]
    assert "secret" not in text
    assert "hunter2" not in text
    assert text.startswith(
        textwrap.dedent(
            """\
            # Title

            One **bold** and *soft* `x = 1` [next page](/next).

            - first
            - second
              1. inner

            > quoted

            ```
            def f():
                return 1
            ```

            | Name | Age |
            | --- | --- |
            | Bob | 3 |

            ![A cat](cat.png)"""
        )
    )


def test_html_is_the_markup_without_password_values(page: PageWorld) -> None:
    html = page.show(PAGE).call("content", format="html")["text"]
    assert "var secret" in html
    assert "hunter2" not in html


def test_content_of_one_part_is_read_by_selector_or_ref(page: PageWorld) -> None:
    page.show(PAGE)
    assert page.call("content", selector="h1")["text"] == "Title"
    assert page.call("content", selector=page.ref("h1"), format="markdown")["text"] == "# Title"
    assert page.error("content", selector="#none")["code"] == "NOT_FOUND"


def test_long_content_is_cut_and_says_how_long_it_is(page: PageWorld) -> None:
    reply = page.show(f"<p>{'x' * 1000}").call("content", maxLength=100)
    assert (len(reply["text"]), reply["length"], reply["truncated"]) == (100, 1000, True)


def test_cutting_never_leaves_half_a_character(page: PageWorld) -> None:
    reply = page.show("<p>" + "🎉" * 20).call("content", maxLength=10)
    assert reply["text"] == "🎉🎉🎉🎉…"


def test_a_page_of_the_python_manual_reads_well(page: PageWorld, python_doc: str) -> None:
    text = page.open(f"{python_doc}/library/json.html").call(
        "content", selector="[role=main]", format="markdown", maxLength=200_000
    )["text"]
    assert "## Basic Usage" in text
    assert "```\n>>> import json" in text
