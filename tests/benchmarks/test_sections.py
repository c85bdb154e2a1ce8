"""Sections of the page that are written by other commands than the page itself."""

import re

from benchmarks import sections

PAGE = "# Performance\n\nfigures\n\n## What is measured\n\nmethod\n"


def measured(page):
    (line,) = re.findall(r"^Measured \d{4}-\d\d-\d\d, commit \w+\.$", page.read_text(), re.M)
    return line


def test_a_section_is_put_in_replaced_and_carried_over(tmp_path):
    page = tmp_path / "performance.md"
    page.write_text("words\n")
    assert sections.carried(page, PAGE) == PAGE
    page.write_text(PAGE)
    sections.replace(page, "service", "make bench-service", ["## Service", "first\n"])
    assert page.read_text() == (
        "# Performance\n\nfigures\n\n<!-- section: service, by make bench-service -->\n\n"
        f"## Service\n\n{measured(page)}\n\nfirst\n\n<!-- end: service -->\n\n"
        "## What is measured\n\nmethod\n"
    )
    text = page.read_text()
    assert [*sections.stale(text)] == []
    for wrong, said in (("", "without date"), ("Measured 2020-01-01, commit abc.", "2020-01-01")):
        (found,) = sections.stale(text.replace(measured(page), wrong))
        assert said in found
    sections.replace(page, "many", "make bench-many", ["many"])
    sections.replace(page, "service", "make bench-service", ["second"])
    text = page.read_text()
    assert "first" not in text
    assert text.count("second") == text.count("many\n") == 1

    page.write_text(sections.carried(page, PAGE.replace("figures", "new figures")))
    text = page.read_text()
    assert text.index("new figures") < text.index("second") < text.index("## What is measured")
    assert text.count("<!-- section:") == text.count("<!-- end:") == 2
