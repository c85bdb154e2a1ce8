"""``althaia.json.dumps`` is ``json.dumps``: the same text, the same errors, the same calls."""

import copy
import gc
import inspect
import json
import random
import sys
import threading

import pytest
from hypothesis import example, given, strategies as st

import althaia.marshmallow as ma
from althaia.json import dump_bytes, dumps
from althaia.marshmallow import fields
from tests.sinks.outcomes import outcome
from tests.sinks.values import OPTIONS, VALUES, Default, Plain

ENCODES_UNTIL_STACK_ENDS = sys.version_info >= (3, 14)
"""Before CPython 3.14 a thousand levels were an error."""
ENDLESS = {"circular list", "circular dict", "100000 levels", "enum", "bytes"}


def same(value, *more, **options):
    assert outcome(dumps, value, *more, **options) == outcome(json.dumps, value, *more, **options)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("value", VALUES)
def test_the_same_text_or_error(value, options):
    if "circles" in options and value in ENDLESS:
        pytest.skip("json itself may crash")
    if value == "100000 levels" and OPTIONS[options].get("indent") and ENCODES_UNTIL_STACK_ENDS:
        pytest.skip("json takes gigabytes: its text grows with the square of the depth")
    given = VALUES[value]()
    same(given, **OPTIONS[options] | {"default": None})
    theirs, ours = Default(), Default()
    expected = outcome(json.dumps, given, **OPTIONS[options] | {"default": theirs})
    assert outcome(dumps, given, **OPTIONS[options] | {"default": ours}) == expected
    assert ours.calls == theirs.calls


def test_most_values_are_encoded_here(monkeypatch):
    """Without our encoder the comparisons above would compare json with itself."""
    monkeypatch.setattr("althaia.formats.codec.DUMPS", never)
    for name in ("floats", "escapes", "astral", "nested", "keys", "subclasses", "namedtuple"):
        for options in ("none", "unescaped", "sorted compact"):
            if (name, options) != ("keys", "sorted compact"):
                assert isinstance(dumps(VALUES[name](), **OPTIONS[options]), str)
    assert dumps({"a": [1, {}]}, indent=2).count("\n") == 5


texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=30)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | texts
    | st.sampled_from(["subclasses", "enum", "object", "set", "decimal"]).map(lambda n: VALUES[n]())
)
keys = texts | st.integers() | st.floats() | st.none() | st.booleans() | st.just((1,))
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(texts, inner, max_size=5)
        | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=20,
)
options = st.fixed_dictionaries(
    {},
    optional={
        "ensure_ascii": st.booleans(),
        "allow_nan": st.booleans(),
        "sort_keys": st.booleans(),
        "indent": st.none() | st.integers(-1, 5) | texts,
        "separators": st.none() | st.tuples(texts, texts),
        "default": st.just(Default()),
    },
)


@given(value=values, options=options)
@example(value={"\ud800": ["\udfff"]}, options={"ensure_ascii": False})
def test_random_values(value, options):
    same(value, **options)


CHANGES = [
    "value.pop('d', None); inner.pop('z', None)",
    "value['new'] = 1; inner[f'new {len(inner)}'] = 2; len(rows) < 10 and rows.append(len(rows))",
    "inner.clear(); value.clear(); rows.clear()",
    "inner['z'] = value['c'] = ['replaced']; rows[-1:] = ['replaced']",
]


def changing(change):
    """A value with an object inside, and a ``default`` that changes what is around it."""
    inner = {"x": Plain(), "y": [1, Plain()], "z": 3}
    value = {"a": 1, "b": [Plain(), inner, 4, 5], "c": inner, "d": {"e": Plain(), "f": 1}}
    names = {"inner": inner, "value": value, "rows": value["b"]}
    return value, lambda found: exec(change, names)


@pytest.mark.parametrize("options", [{}, {"sort_keys": True}])
@pytest.mark.parametrize("change", CHANGES)
def test_default_changes_what_is_encoded(change, options):
    # Keys that were met twice are remembered.
    for _ in range(3):
        value, default = changing(change)
        expected = outcome(json.dumps, value, default=default, **options)
        value, default = changing(change)
        found = outcome(dumps, value, default=default, **options)
        # From 3.12 on json writes an entry as it is when it is reached, unless it sorts.
        assert found == expected if options else found[0] is str


@pytest.mark.parametrize("options", [{}, {"sort_keys": True}, {"indent": 1}])
def test_dictionaries_that_are_alike(options):
    rng = random.Random(7)
    names = ["id", "é", "日", "a", "b", ""]
    rows = []
    for _ in range(400):
        keys = rng.sample(names, rng.randrange(7))
        rows.append({key: dict.fromkeys(keys, 1) for key in keys})
    more = [{"id": i, f"k{i}": i} for i in range(300)] + [{i: i} for i in range(300)]
    assert dumps([rows, more, rows], **options) == json.dumps([rows, more, rows], **options)
    for ascii_only in (True, False):
        for row in rows:
            options["ensure_ascii"] = ascii_only
            assert dumps(row, **options) == json.dumps(row, **options)


@pytest.mark.parametrize("size", [*range(65_400, 65_600, 7), 200_000, 3_000_000])
@pytest.mark.parametrize("last", ["", "é", "日"])
def test_long_text(size, last):
    value = ["x" * 1_000] * (size // 1_000) + ["y" * (size % 1_000), last]
    for ascii_only in (True, False):
        text = dumps(value, ensure_ascii=ascii_only)
        assert text == json.dumps(value, ensure_ascii=ascii_only)
        assert hash(text) == hash(json.dumps(value, ensure_ascii=ascii_only))


def test_no_metaclass_is_asked():
    def asked(*args):
        raise TypeError("hashed or compared")

    Strange = type("Meta", (type,), {"__hash__": asked, "__eq__": asked})("Strange", (), {})
    for value in (Strange(), [Strange()], {"a": Strange()}, {Strange(): 1}):
        for options in ({}, {"indent": 1}, {"sort_keys": True}, {"default": repr}):
            same(value, **options)


class Meddler:
    def __init__(self, mapping):
        self.mapping = mapping
        self.itself = self

    def __del__(self):
        self.mapping.clear()
        self.mapping.update((f"new {n}", [n]) for n in range(3))


@pytest.mark.parametrize("options", [{}, {"sort_keys": True}])
@pytest.mark.parametrize("threshold", range(1, 40))
def test_the_collector_changes_what_is_encoded(threshold, options):
    """Nothing is asserted about the text: where the collector runs is the interpreter's affair."""
    before = gc.get_threshold()
    try:
        for number in range(12):
            mapping = {f"{n} {number % 3}": [object()] for n in range(40, 0, -1)}
            Meddler(mapping)
            gc.set_threshold(threshold, 1, 1)
            made = dumps(mapping, default=lambda value: None, **options)
            gc.set_threshold(*before)
            assert isinstance(json.loads(made), dict)
    finally:
        gc.set_threshold(*before)


def test_default_gives_what_is_being_encoded():
    for options in ({}, {"indent": 1}):
        for value in ([Plain()], {"a": [{"b": Plain()}]}, Plain()):
            same(value, default=lambda found: found, **options)


def test_deep_values_on_a_small_stack():
    value = []
    for _ in range(100_000):
        value = Plain({"a": value})
    results = []
    size = threading.stack_size(128 * 1024)
    try:
        thread = threading.Thread(
            target=lambda: results.append(outcome(dumps, value, default=lambda found: found.inside))
        )
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
    assert results == [(RecursionError,)]
    while value:  # Taken apart by hand: freeing a chain recurses as well.
        value = value.inside.pop("a")


PATCHES = [
    ("json.JSONEncoder.default", lambda self, value: "patched"),
    ("json.JSONEncoder.encode", lambda self, value: "patched"),
    ("json.JSONEncoder.item_separator", " ; "),
    ("json.encoder.encode_basestring_ascii", lambda text: '"patched"'),
    ("json.encoder.encode_basestring", lambda text: '"patched"'),
    ("json.encoder.c_make_encoder", None),
    ("json.encoder._make_iterencode", lambda *args, **kwargs: lambda value, level: ["patched"]),
    ("json._default_encoder.default", lambda value: "patched"),
    ("json._default_encoder.sort_keys", True),
    ("json._default_encoder", json.JSONEncoder(indent=4)),
    ("json.JSONEncoder", type("Other", (json.JSONEncoder,), {"key_separator": " = "})),
]


@pytest.mark.parametrize(("target", "replacement"), PATCHES)
def test_patches_are_obeyed(target, replacement, monkeypatch):
    value = {"b": ["ä", 5.0, {1}], "a": 2}
    left_out = {"ensure_ascii": True, "indent": None, "default": None}
    cases = [{}, {"indent": 1}, {"ensure_ascii": False}, left_out]
    before = [outcome(dumps, value, **options) for options in cases]
    monkeypatch.setattr(target, replacement)
    for options in cases:
        same(value, **options)
    monkeypatch.undo()
    assert [outcome(dumps, value, **options) for options in cases] == before


def never(*args, **options):
    raise AssertionError("json itself was used")


def test_what_a_copy_notes_in_the_class_is_no_patch(monkeypatch):
    copy.copy(json.JSONEncoder())
    assert not json.JSONEncoder.__annotations__
    monkeypatch.setattr(json, "dumps", never)
    assert dumps([1]) == "[1]"


@pytest.mark.parametrize("name", ["default", "cls", "indent", "separators"])
@pytest.mark.parametrize("value", [None, repr])
def test_options_that_change_nothing_are_done_here(monkeypatch, name, value):
    monkeypatch.setattr(json, "dumps", never)
    if value is None or name == "default":
        assert dumps({"a": 1}, **{name: value}) == '{"a": 1}'
    else:
        with pytest.raises(AssertionError, match="itself was used"):
            dumps({"a": 1}, **{name: value})


def test_another_class_or_dictionary_of_the_encoder_is_obeyed():
    class Other(json.JSONEncoder):
        def encode(self, value):
            return "another's"

    encoder = json._default_encoder
    state = vars(encoder)
    try:
        encoder.__class__ = Other
        assert dumps([1]) == json.dumps([1]) == "another's"
        encoder.__class__ = json.JSONEncoder
        encoder.__dict__ = state | {"sort_keys": True}
        assert dumps({"b": 1, "a": 2}) == json.dumps({"b": 1, "a": 2}) == '{"a": 2, "b": 1}'
    finally:
        encoder.__class__ = json.JSONEncoder
        encoder.__dict__ = state
    assert dumps({"b": 1, "a": 2}) == '{"b": 1, "a": 2}'


LIAR = type("Liar", (), {"__class__": property(lambda self: str)})()


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("number", range(4))
def test_what_only_says_that_it_is_text(number, options):
    value = (LIAR, [LIAR], {"a": LIAR}, {LIAR: 1})[number]
    expected = outcome(json.dumps, value, **OPTIONS[options])[0]
    assert outcome(dumps, value, **OPTIONS[options])[0] is expected

    class Rows(ma.Schema):
        a = fields.Raw()

        @ma.post_dump
        def replace(self, data, **kwargs):
            return value

    assert outcome(Rows().dumps, {}, **OPTIONS[options])[0] is expected


def test_json_dumps_may_be_this_very_function_and_has_its_signature(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(json, "dumps", dumps)
        assert json.dumps({(): 1, "a": 2}, skipkeys=True) == '{"a": 2}'
    assert inspect.signature(dumps) == inspect.signature(json.dumps)
    assert outcome(dumps) == (TypeError, outcome(dumps)[1], {}, None)
    same(1, 2)
    assert dumps(obj=[1]) == "[1]"


@pytest.mark.parametrize("text", ["a", "ä", "ж", "\U0001f600"])
def test_the_text_is_stored_as_narrow_as_it_can_be(text):
    made = dumps([text], ensure_ascii=False)
    assert type(made) is str
    assert made.__sizeof__() == f'["{text}"]'.__sizeof__()


@pytest.mark.parametrize("length", [1, 127, 128, 300])
@pytest.mark.parametrize("text", ["日", "日\ud800"])
def test_long_text_as_bytes(text, length):
    rows = [{"a": text * length, "b": {"c": [text * length]}, "d": "é"}] * 3
    schema = ma.Schema.from_dict({name: fields.Raw() for name in "abd"})(many=True)
    expected = outcome(lambda: json.dumps(rows, ensure_ascii=False).encode())
    assert outcome(lambda: dump_bytes(schema, rows, ensure_ascii=False)) == expected


def test_dictionaries_that_share_their_keys():
    """The keys of instances' dictionaries are shared, whatever the order of each."""

    class Point:
        def __init__(self, names):
            for name in names:
                setattr(self, name, [name])

    points = [Point(names) for names in ("xyz", "xyz", "zyx", "xz", "yxz", "zyx", "xyz") * 3]
    for point in points[::5]:
        vars(point).pop("x")
    for point in points[::7]:
        vars(point)["x"] = 7
    for options in ({}, {"sort_keys": True}):
        values = [vars(point) for point in points]
        assert dumps(values, **options) == json.dumps(values, **options)
