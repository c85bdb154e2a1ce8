"""What commands cannot do: one line that says what is wrong and where, and the exit code 2."""

import pytest

from tests.engine import NEEDS_ENGINE

SHOP = """
from marshmallow import Schema, fields, validate

class Order(Schema):
    number = fields.Int(required=True)

class Mine(Order):
    def __init__(self, shop): super().__init__()

class Coded(Schema):
    code = fields.Str(validate=validate.Regexp("[A-Z]{3}$"))

class Broken(Schema):
    bad = fields.Function(lambda obj: 1 / 0)

class Doubled(Schema):
    a = fields.Function(lambda obj: obj["a"] * 2)

def orders(): return [{"number": 1}]
def none(): return []
def failing(): 1 / 0
plain = [{"number": "x"}, {"number": "y"}]
three = 3
"""
NO_SCHEMA = "a marshmallow schema class or instance is needed, not "
RAISED = "raised ZeroDivisionError: division by zero ("
REFUSED = [
    ("explain shop:", "is not of the form package.module:Name"),
    ("explain shop.nope:X", "there is no module 'shop.nope'"),
    ("explain shop:Nope", "has no attribute 'Nope'"),
    ("explain shop:three", NO_SCHEMA),
    ("explain shop:fields.Int", NO_SCHEMA),
    ("explain shop:Mine", "made without arguments, name an instance instead: Mine."),
    ("explain ./shop.py:Order", "'./shop.py' is no name of a module"),
    ("explain shop/shop.py:Order", "write package.module, not a path"),
    ("explain nowhere", "there is no module 'nowhere'"),
    ("explain json", "json has no schema classes"),
    ("explain bad", f"the module {RAISED}"),
    ("explain bad:Order", f"the module {RAISED}"),
    ("doctor nowhere", "there is no module 'nowhere'"),
    ("doctor shop:nothing", "has no attribute 'nothing'"),
    ("doctor bad:app", f"bad:app {RAISED}"),
    ("check shop:Order none.ndjson", "none.ndjson: No such file"),
    ("check shop:Nope good.ndjson", "has no attribute 'Nope'"),
    ("check shop:fields good.ndjson", "is no schema"),
    ("check shop:Order good.txt", "its name does not say"),
    ("check shop:Mine good.ndjson", "missing 1 required positional argument: 'shop'"),
    ("check shop:Order - -", "can be read once"),
    ("convert shop:Order good.ndjson -", "-: is not written: name a file"),
    (
        "convert shop:Order good.ndjson /dev/stdout --to-format csv",
        "/dev/stdout: is no regular file",
    ),
    ("bench shop:Nope", "has no attribute 'Nope'"),
    ("bench nowhere:Order", "no module 'nowhere'"),
    ("bench shop:three", NO_SCHEMA),
    ("bench bad:Order", RAISED),
    ("bench exits:Order", "raised SystemExit ("),
    ("bench shop:Order --source shop:nothing", "has no attribute 'nothing'"),
    ("bench shop:Order --source shop:failing", "shop:failing raised ZeroDivisionError"),
    ("bench shop:Order --data missing.json", "missing.json"),
    ("bench shop:Order --objects 0", "--rounds and --objects are at least 1"),
    ("bench shop:Broken --dump", "ZeroDivisionError"),
    ("bench shop:Coded --load", "cannot be measured: load: ValidationError: {'code'"),
    ("bench shop:Doubled", "name objects of your own with --source MODULE:NAME"),
    ("bench shop:Doubled --source shop:three", "TypeError"),
    ("compare shop:Order", "one of --objects and --data is required"),
    ("compare shop:Order --objects shop:orders --load", "and --data for --load"),
    ("compare shop:Nope --objects shop:orders", "no attribute 'Nope'"),
    ("compare shop:orders --objects shop:orders", NO_SCHEMA),
    ("compare bad:Order --objects shop:orders", RAISED),
    ("compare shop:Order --objects shop:none", "gives no objects"),
    ("compare shop:Order --data missing.json", "No such file"),
    ("compare shop:Order --objects shop:plain", "every dump of 2 dict of shop:plain raised an"),
    ("compare shop:Order --data plain.json", "dump [0]: ValueError: invalid literal for int()"),
]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(words, said, marks=NEEDS_ENGINE if words.startswith("compare") else ())
        for words, said in REFUSED
    ],
    ids=[words for words, _ in REFUSED],
)
def test_it_is_said_in_one_line(run, tmp_path, words, said):
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "bad.py").write_text("\n1 / 0\n")
    (tmp_path / "exits.py").write_text("import sys; sys.exit()\n")
    (tmp_path / "good.ndjson").write_text('{"number": 1}\n')
    (tmp_path / "plain.json").write_text('[{"number": "x"}, {"number": "y"}]')
    done = run("-m", "althaia", *words.split())
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"python -m althaia {words.split()[0]}: ")
    assert said in line
    if "bad" in words:
        assert line.endswith(f"({tmp_path / 'bad.py'}, line 2)")
