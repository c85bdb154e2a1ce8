"""Sections of the page that are written by other commands than the page itself."""

from __future__ import annotations

from benchmarks import sections

PAGE = "# Performance\n\nfigures\n\n## What is measured\n\nmethod\n"


def test_a_section_is_put_in_replaced_and_carried_over(tmp_path):
    page = tmp_path / "performance.md"
    page.write_text(PAGE)
    sections.replace(page, "service", "make bench-service", ["## Service", "first\n"])
    assert page.read_text() == (
        "# Performance\n\nfigures\n\n<!-- section: service, by make bench-service -->\n\n"
        "## Service\n\nfirst\n\n<!-- end: service -->\n\n## What is measured\n\nmethod\n"
    )
    sections.replace(page, "many", "make bench-many", ["many"])
    sections.replace(page, "service", "make bench-service", ["second"])
    text = page.read_text()
    assert "first" not in text
    assert text.count("second") == text.count("many\n") == 1

    page.write_text(sections.carried(page, PAGE.replace("figures", "new figures")))
    text = page.read_text()
    assert text.index("new figures") < text.index("second") < text.index("## What is measured")
    assert text.count("<!-- section:") == text.count("<!-- end:") == 2


def test_a_page_without_sections_or_a_heading(tmp_path):
    page = tmp_path / "performance.md"
    assert sections.carried(page, PAGE) == PAGE
    page.write_text("words\n")
    assert sections.carried(page, PAGE) == PAGE
    sections.replace(page, "a", "make a", ["text"])
    assert page.read_text().endswith("text\n\n<!-- end: a -->\n")
