"""An exception that leaves a planned call says which field it was; only when asked to."""

import threading

import pytest

import althaia
from althaia.marshmallow import Schema, ValidationError, fields, post_dump, post_load, pre_load
from althaia.trust import notes


class Line(Schema):
    amount = fields.Int()
    at = fields.DateTime()


class Order(Schema):
    number = fields.Int()
    lines = fields.List(fields.Nested(Line))
    by_name = fields.Dict(keys=fields.Str(), values=fields.Nested(Line))
    also = fields.Nested(Line, many=True)


def explode(value):
    if value == "bad":
        raise LookupError(value)
    return value


class Own(fields.Field):
    def _serialize(self, value, attr, obj, **kwargs):
        return explode(value)

    def _deserialize(self, value, attr, data, **kwargs):
        return explode(value)


class Leaf(Schema):
    value = Own()


class Tree(Schema):
    leaves = fields.List(fields.Nested(Leaf))
    table = fields.Dict(values=Own())
    plain = fields.List(Own())


@pytest.fixture(autouse=True)
def on():
    if althaia.explain(Order).as_dict()["no_plans"]:
        pytest.skip("no plans run in this build")
    notes.switch(True)
    yield
    notes.switch(False)


def notes_of(call, *args, **options):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        call(*args, **options)
    return getattr(caught.value, "__notes__", [])


BAD = {"amount": 1, "at": 3}
GOOD = {"amount": 1, "at": None}


class Key:
    def __repr__(self):
        raise AssertionError


@pytest.mark.parametrize("method", ["dump", "dumps"])
@pytest.mark.parametrize(
    ("schema", "data", "path"),
    [
        (Order, {"lines": [GOOD, GOOD, BAD]}, ".lines[2].at"),
        (Order, {"by_name": {"one": GOOD, "two": BAD}}, ".by_name['two'].at"),
        (Order, {"also": [BAD]}, ".also[0].at"),
        # A step leaves a dictionary with such keys to the field, and asks none for its repr.
        (Tree, {"table": {Key(): "bad"}}, ".table"),
    ],
)
def test_the_path_of_a_dump(method, schema, data, path):
    dump, name = getattr(schema(), method), f"althaia: while dumping {schema.__name__}"
    assert notes_of(dump, data) == [f"{name}{path}"]
    assert notes_of(dump, [{}, data], many=True) == [f"{name}[1]{path}"]


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize(
    ("tree", "path"),
    [
        ({"leaves": [{}, {"value": "bad"}]}, ".leaves[1].value"),
        ({"table": {"one": "good", "two": "bad"}}, ".table['two']"),
        ({"plain": ["good", "bad"]}, ".plain[1]"),
    ],
)
def test_the_path_of_a_load(text, tree, path):
    from althaia import json

    def load(data, **options):
        return Tree().loads(json.dumps(data), **options) if text else Tree().load(data, **options)

    assert notes_of(load, tree) == [f"althaia: while loading Tree{path}"]
    assert notes_of(load, [{}, tree], many=True) == [f"althaia: while loading Tree[1]{path}"]


def test_a_hook_is_named():
    class Hooked(Leaf):
        @post_dump
        def total(self, data, **kwargs):
            raise LookupError

        @pre_load
        def cut(self, data, **kwargs):
            raise LookupError

    assert notes_of(Hooked().dump, {}) == ["althaia: while dumping Hooked, in its hook total"]
    assert notes_of(Hooked().load, {}) == ["althaia: while loading Hooked, in its hook cut"]


def test_an_exception_that_user_code_has_caught_leaves_nothing_behind():
    class Careful(Schema):
        first = fields.Method("try_first")
        second = Own()

        def try_first(self, obj):
            try:
                return Leaf().dump({"value": "bad"})
            except LookupError:
                return None

    assert notes_of(Careful().dump, {"second": "bad"}) == ["althaia: while dumping Careful.second"]


def test_a_call_inside_a_call_has_a_note_of_its_own():
    class Outer(Schema):
        first = fields.Function(lambda obj: Leaf().dump({"value": "bad"}))

    assert notes_of(Outer().dump, {}) == [
        "althaia: while dumping Leaf.value",
        "althaia: while dumping Outer.first",
    ]


def test_an_answer_to_a_bad_input_gets_none():
    class Refusing(Leaf):
        @post_load
        def refuse(self, data, **kwargs):
            raise ValidationError("no")

    assert notes_of(Order().load, {"number": "x", "lines": [{"at": 1}]}) == []
    assert notes_of(Refusing().load, {"value": "good"}) == []


def test_threads_do_not_mix_their_paths():
    found = []

    def fail(index):
        for _ in range(200):
            order = {"lines": [GOOD] * index + [BAD]}
            found.append((index, *notes_of(Order().dump, order)))

    threads = [threading.Thread(target=fail, args=(index,)) for index in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert set(found) == {
        (index, f"althaia: while dumping Order.lines[{index}].at") for index in range(4)
    }


PROGRAM = """
import althaia
{first}
from marshmallow import Schema, fields
class Order(Schema):
    at = fields.DateTime()
order = Order()
for _ in range(20):
    try:
        order.dump({{"at": 3}})
    except TypeError as error:
        found = getattr(error, "__notes__", [])
print(found)
"""


@pytest.mark.parametrize(
    ("first", "variables", "expected"),
    [
        ("althaia.patch(notes=True)", {}, True),
        ("althaia.patch()", {"ALTHAIA_NOTES": "1"}, True),
        ("althaia.patch(notes=False)", {"ALTHAIA_NOTES": "1"}, False),
        ("althaia.patch()", {}, False),
        ("althaia.patch(notes=True)", {"ALTHAIA_DISABLE": "1"}, False),
    ],
)
def test_how_it_is_switched_on(program, first, variables, expected):
    said = program(PROGRAM.format(first=first), env=variables)
    assert said.strip() == ("['althaia: while dumping Order.at']" if expected else "[]")
