"""Running somebody else's script on both sides, tried on one of the same shape."""

import pytest

from benchmarks import upstream_script

SCRIPT = """\
import argparse, sys
import marshmallow
parser = argparse.ArgumentParser()
parser.add_argument("--iterations", type=int, default=1)
parser.add_argument("--repeat", type=int, default=1)
parser.add_argument("--object-count", type=int, required=True)
options = parser.parse_args()
print("starting")
patched = sys.modules.get("althaia.marshmallow") is marshmallow
print(f"Result: {options.object_count / (4 if patched else 1):.2f} usec/dump")
"""


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "benchmark.py"
    file.write_text(SCRIPT)
    return file


def test_both_result_lines_and_the_ratio_for_each_way_of_use(script):
    said = []
    assert upstream_script.run(script, say=said.append) == 0
    assert said[:4] == [
        "benchmark.py --object-count 1000",
        "  marshmallow  Result: 1000.00 usec/dump",
        "  althaia      Result: 250.00 usec/dump",
        "  ratio        4.00×",
    ]
    assert said[4::4] == [
        "benchmark.py --iterations=5 --repeat=5 --object-count 20000",
        "benchmark.py --iterations=10 --repeat=10 --object-count 10000",
    ]


def test_what_can_go_wrong_is_said(tmp_path, script):
    with pytest.raises(FileNotFoundError, match=r"nope\.py: no such file"):
        upstream_script.run(tmp_path / "nope.py")
    for text, said in (("raise SystemExit('no good')", "no good"), ("print('done')", "'done'")):
        script.write_text(text)
        with pytest.raises(upstream_script.ScriptFailed, match=said):
            upstream_script.run(script, quick=True)
