"""How gcov's counts of C lines become counts of our own."""

from buildtools import coverage

C = """
/* "althaia/engine/run.pyx":3
 * def f(a):
 */
static int f(void) {
  /* "althaia/engine/run.pyx":4
 */
  one();
  two();
}
three();
"""


def test_a_line_ran_if_any_c_line_made_of_it_did(tmp_path):
    (tmp_path / "run.c").write_text(C)
    found = {"althaia/engine/run.pyx": {3: 0, 4: 0}, "althaia/x.h": {7: 0}}
    counted = [(5, 1), (8, 0), (9, 2), (11, 5)]
    lines = [{"line_number": number, "count": count} for number, count in counted]
    coverage._add(found, tmp_path, {"file": "run.c", "lines": lines})
    coverage._add(found, tmp_path, {"file": "/usr/include/x.h", "lines": lines})
    coverage._add(
        found, tmp_path, {"file": "althaia/x.h", "lines": [{"line_number": 7, "count": 0}]}
    )
    assert found == {"althaia/engine/run.pyx": {3: 1, 4: 2}, "althaia/x.h": {7: 0}}
    assert list(coverage.report(found)) == [
        "althaia/engine/run.pyx: 2 of 2; not ",
        "althaia/x.h: 0 of 1; not 7",
        "2 of 3 lines ran (66.7%)",
    ]
