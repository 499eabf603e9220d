"""HTML as Markdown and as an outline, without a browser."""

from __future__ import annotations

from roost.wire.html_text import markdown, outline

DOCUMENT = """<!doctype html><title>The  docs</title><script>let evil = 1</script>
<header><nav><a href="/home">Home</a></nav></header>
<main><h1>Guide</h1><p>Read <b>this</b> &amp; <a href="more?x=1">that <i>page</i></a>.</p>
<h2>Steps</h2><ol><li>One<li>Two <ul><li>Inner</li></ul></li></ol>
<pre><code>x = 1
  y = 2</code></pre><blockquote><p>Quoted</p></blockquote>
<table><tr><th>Name</th><th>Age</th></tr><tr><td>Ada</td><td>36|7</td></tr></table>
<img src=a.png alt="A picture"><style>p { color: red }</style></main>"""


def test_a_document_becomes_markdown_with_absolute_links() -> None:
    title, text = markdown(DOCUMENT, "https://example.com/docs/")
    assert title == "The docs"
    assert "[Home](https://example.com/home)" in text
    assert "# Guide" in text
    assert "Read **this** & [that _page_](https://example.com/docs/more?x=1)." in text
    assert "1. One\n2. Two" in text
    assert "  - Inner" in text
    assert "```\nx = 1\n  y = 2\n```" in text
    assert "> Quoted" in text
    assert "| Name | Age |\n| Ada | 36\\|7 |" in text
    assert "![A picture]" in text
    assert "evil" not in text
    assert "color" not in text


def test_an_outline_is_the_headings_by_their_level() -> None:
    assert outline(DOCUMENT, "https://example.com/") == ("The docs", "- Guide\n  - Steps")


def test_broken_and_deep_markup_is_read_to_its_end() -> None:
    for html in (
        "<p>a</div></b><p>b", "<div>" * 5000 + "a<p>b", "<a href=x><p>a</a>b", "a<!--",
        "<td>a</td>b",
        "<head><title>T</title><body>a", "<svg><path><g></svg>a", "<select><option>x</select>a",
    ):  # fmt: skip
        text = markdown(html, "https://example.com/")[1]
        assert "a" in text
    assert "b" in markdown("<div>" * 5000 + "a<p>b", "https://e/")[1]
    assert markdown("", "https://e/") == ("", "")
