"""Worker processes run the same library, and values travel to and from them."""

import multiprocessing

import pytest

from tests.redirect.processes import WAYS_IN, succeed

PROGRAM = """
import multiprocessing, sys
{first}
import marshmallow
from marshmallow import Schema, ValidationError, fields

class Item(Schema):
    x = fields.Integer(required=True)

def work(value):
    if value is None:
        raise ValidationError({{"x": ["bad"]}}, "x", {{"x": 1}})
    ours = sys.modules.get("althaia.marshmallow") is marshmallow
    return ours, marshmallow.Schema, Item().load({{"x": value}})

if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    with context.Pool(2) as pool:
        for ours, schema, loaded in pool.map(work, ["1", "2", "3"]):
            assert ours and schema is Schema
        try:
            pool.apply(work, (None,))
        except ValidationError as error:
            assert error.messages == {{"x": ["bad"]}} and error.data == {{"x": 1}}
        else:
            raise AssertionError
    print("done")
"""


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.parametrize("way", [*WAYS_IN, "runner -m"])
def test_pool(way, method, tmp_path):
    first = "import althaia; althaia.patch()" if way == "patch()" else ""
    (tmp_path / "workers.py").write_text(PROGRAM.format(first=first, method=method))
    env = {"ALTHAIA_PATCH": "1"} if way == "environment" else {}
    words = {
        "runner": ["-m", "althaia", "workers.py"],
        "runner -m": ["-m", "althaia", "-m", "workers"],
    }
    assert "done" in succeed(*words.get(way, ["workers.py"]), cwd=tmp_path, env=env)
