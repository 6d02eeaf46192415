from remeasure.reporting.html import Cell, Html, Line, join, link, paragraph, table, tag


def test_text_is_escaped_once_and_markup_stays() -> None:
    assert tag("p", "a < b & c") == "<p>a &lt; b &amp; c</p>"
    assert tag("p", tag("b", "x < y")) == "<p><b>x &lt; y</b></p>"
    assert join("1 < 2", None, Html("<hr>")) == "1 &lt; 2\n<hr>"


def test_attributes() -> None:
    assert tag("i", "", kind="a b", aria_label='say "x"', id=None) == (
        '<i class="a b" aria-label="say &quot;x&quot;"></i>'
    )
    assert link("here", "there") == '<a href="#here">there</a>'


def test_a_paragraph_of_what_is_known() -> None:
    assert paragraph(["One.", None, "Two."]) == "<p>One. Two.</p>"
    assert "Not enough of this is measured" in paragraph([None])


def test_a_table_names_its_rows_columns_and_itself() -> None:
    html = table(
        ("what", Cell("n", "number")),
        [("a", Cell("1", "number", 1.0)), Line(("b", "2"), "row-b", {"verdict": "close"})],
        caption="Counts",
    )
    assert '<th scope="col" class="number">n</th>' in html
    assert '<th scope="row">a</th><td class="number" data-sort="1.0">1</td>' in html
    assert '<tr id="row-b" data-verdict="close">' in html
    assert "<caption><span>Counts</span></caption>" in html
    assert 'role="group" aria-label="Counts"' in html


def test_a_notebook_shows_it() -> None:
    html = tag("p", "x")
    assert html._repr_html_() == "<p>x</p>"
    assert repr(html) == "<HTML, 8 characters>"
