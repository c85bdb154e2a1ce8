"""The document made from a run's results."""

from benchmarks import report, results


def result(median=None, wrong=None):
    ratio = median and {"median": median, "low": median - 0.1, "high": median + 0.1}
    return {"wrong": wrong, "failed": None, "us": median and 10 / median, "ratio": ratio}


def case(name, others):
    return {
        "name": name,
        "title": f"title of {name}",
        "family": "dump",
        "objects": 1,
        "goal": {"table": "dump", "reach": 10, "aim": None},
        "results": {"upstream": result(1.0), **others},
    }


RUN = {
    "machine": {
        "processor": "A processor",
        "cores": 2,
        "system": "Linux x86_64",
        "python": "3.11.7",
        "compiler": "GCC 12",
    },
    "libraries": {
        name: {"label": label, "versions": versions, "absent": None}
        for name, label, versions in (
            ("upstream", "marshmallow 4.4.0", {"Python": "3.11.7", "marshmallow": "4.4.0"}),
            ("althaia", "althaia", {"althaia": "4.4.0"}),
            ("msgspec", "msgspec", {"msgspec": "0.22.0"}),
        )
    },
    "cases": [
        case("fast", {"althaia": result(12.0), "msgspec": result(14.0)}),
        case("slow", {"althaia": result(9.0)}),
        case("broken", {"althaia": result(wrong="output: 1 became 2"), "msgspec": result(3.0)}),
    ],
}


def test_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    monkeypatch.setattr(report, "DOCUMENT", tmp_path / "docs" / "performance.md")
    # `make bench-all` has what charts need; the tests ask for the text.
    monkeypatch.setattr(report, "_draw", lambda run, version: None)
    results.save(RUN)
    report.write()
    written = report.DOCUMENT.read_text().splitlines()

    def line(word):
        return next(text for text in written if word in text)

    assert "| 10.00 | **12.0× ±0.1** | 14.0× |" in line("`fast`")
    assert "**9.0× ±0.1** | – |" in line("`slow`")
    assert "| **WRONG** | 3.0× |" in line("`broken`")
    said = line("- **msgspec**")
    assert "fast 1.2×" in said
    assert "broken" not in said
    assert "stops at the first error" in said
    assert "3.11.7 (GCC 12) on A processor, 2 cores" in line("A processor")
    assert line("msgspec 0.22.0")
