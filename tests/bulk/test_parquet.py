"""Parquet: results that it has no room for, values that Python has no form for."""

import datetime as dt
import json
from decimal import Decimal
from importlib.util import find_spec

import pytest
from marshmallow import INCLUDE, Schema, fields, post_load, pre_load

from althaia import bulk
from tests.bulk.conftest import checked, converted, lines, written

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402


class Odd(Schema):
    n = fields.Integer()
    s = fields.String()
    prices = fields.Dict(values=fields.Decimal())
    exact = fields.Decimal(places=2, allow_nan=True)
    made = fields.Raw(load_only=True)

    @post_load
    def make(self, data, **kwargs):
        return object() if data.pop("made", None) else data


class Timed(Schema):
    at = fields.Raw(allow_none=True)


class Inner(Schema):
    n = fields.Integer(data_key="N")
    when = fields.Date()
    never = fields.Integer(dump_only=True)


class Open(Schema):
    """Takes keys in that no field is for, and puts in what it is told to."""

    class Meta:
        unknown = INCLUDE

    n = fields.Integer(data_key="N")
    x = fields.Integer(attribute="X")
    put = fields.Raw()
    inner = fields.Nested(lambda: Open(exclude=("inner",)))
    all = fields.List(fields.Nested(lambda: Open(exclude=("inner", "all"))))

    @post_load
    def place(self, data, **kwargs):
        return data | data.pop("put", {})


class Plucked(Schema):
    one = fields.Pluck(Inner, "n", allow_none=True)
    many = fields.Pluck(Inner, "when", many=True)
    own = fields.Pluck(lambda: Plucked(), "one")


class Made(Schema):
    method = fields.Method("dumped", deserialize="loaded")
    function = fields.Function(lambda of: of["missing"], lambda value: [value])
    constant = fields.Constant(5)
    listed = fields.List(fields.Function(lambda of: "fixed"))

    def dumped(self, of):
        return "fixed"

    def loaded(self, value):
        return value


class Temporal(Schema):
    """Whatever was loaded is there instead where ``put`` names a field."""

    VALUES = (
        dt.datetime(2020, 1, 1, 10, tzinfo=dt.timezone(dt.timedelta(hours=2))),
        dt.datetime(2020, 1, 1, 10),
        2.5,
    )
    time = fields.Time()
    times = fields.List(fields.Time())
    naive = fields.NaiveDateTime()
    aware = fields.AwareDateTime()
    day = fields.Date()
    number = fields.Integer()
    put = fields.List(fields.Raw())

    @post_load
    def place(self, data, **kwargs):
        if "put" in data:
            name, which = data.pop("put")
            data[name] = self.VALUES[which]
        return data


def stored(schema, tmp_path, *records, **options):
    """Convert records to Parquet: the summary, what was told, and the rows."""
    source, target = written(tmp_path / "in.ndjson", *records), tmp_path / "out.parquet"
    summary, told = converted(schema, source, target, **options)
    return summary, told, parquet.read_table(target).to_pylist()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"n": 2**70}, "OverflowError: "),
        ({"s": "\ud800"}, "UnicodeEncodeError: "),
        ({"prices": {"a": "1.5"}}, "TypeError: Object of type Decimal"),
        ({"exact": "NaN"}, "ArrowInvalid: "),
        ({"made": True}, "TypeError: a record is made of a mapping, not of object"),
    ],
)
@pytest.mark.parametrize("place", [0, 3])
def test_results_without_room_are_named_and_the_others_written(tmp_path, wrong, said, place):
    records = [{"n": 1}, {"n": "x"}, {"n": 2}, {"s": "é"}]
    records.insert(place, wrong)
    summary, told, rows = stored(Odd, tmp_path, *records)
    assert (summary.records, summary.invalid, summary.exceptions) == (5, 1, 1)
    assert [one.line for one in told] == sorted([place + 1, records.index({"n": "x"}) + 1])
    (failed,) = [one for one in told if one.kind == "exception"]
    assert failed.line == place + 1
    assert said in failed.errors
    assert [(row["n"], row["s"]) for row in rows] == [(1, None), (2, None), (None, "é")]


def test_many_results_without_room(tmp_path):
    records = [{"n": 2**70 if i % 3 == 0 else i, "exact": "1"} for i in range(100)]
    summary, told, rows = stored(Odd, tmp_path, *records, size=500)
    assert [one.line for one in told] == list(range(1, 101, 3))
    assert summary.exceptions == 34
    assert [row["n"] for row in rows] == [i for i in range(100) if i % 3]
    assert rows[0]["exact"] == Decimal("1.00")


def test_keys_without_a_column_are_named(tmp_path):
    known = {"N": 1, "x": 2, "inner": {"N": 4}}
    for record, keys in (
        ({"z": 5, "N": 1}, "z"),
        ({"inner": {"w": 1, "z": 2}}, "w, z"),
        ({"all": [{}, {"z": 1}]}, "z"),
        ({"put": {"deep": 3, 5: 6}}, "5, deep"),
    ):
        summary, told, rows = stored(Open, tmp_path, known, record, known)
        assert [(one.line, one.kind) for one in told] == [(2, "exception")]
        said = told[0].errors.removeprefix("TypeError: Parquet has no column for ")
        assert sorted(said.split(", ")) == keys.split(", ")
        assert summary.valid == 2
        assert [(row["N"], row["x"], row["inner"]["N"]) for row in rows] == [(1, 2, 4)] * 2


def test_a_plucked_field_is_its_own_column(tmp_path):
    full = {"one": 3, "many": ["2020-01-02", "2020-01-03"], "own": 4}
    _, told, rows = stored(Plucked, tmp_path, full, {"one": None, "many": []}, {})
    assert told == []
    assert rows == [
        full | {"many": [dt.date(2020, 1, 2), dt.date(2020, 1, 3)]},
        {"one": None, "many": [], "own": None},
        {"one": None, "many": None, "own": None},
    ]
    kept = Plucked(only=("one",))
    stored(kept, tmp_path, {"one": 3})
    assert checked(kept, tmp_path / "out.parquet")[0].good


def test_the_loaded_value_is_written_where_another_is_dumped(tmp_path):
    records = [{"method": "hello", "function": "é", "listed": ["a", 1]}, {"method": {"a": 1}}]
    _, told, rows = stored(Made, tmp_path, *records)
    assert told == []
    assert [tuple(row.values()) for row in rows] == [
        ("hello", '["é"]', "5", ["a", "1"]),
        ('{"a": 1}', None, "5", None),
    ]


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"time": "10:00:00+02:00"}, "ValueError: 10:00:00+02:00 would be 10:00:00 in a column of"),
        ({"times": ["10:00:00", "10:00:00Z"]}, "ValueError: 10:00:00+00:00 would be 10:00:00"),
        ({"put": ["naive", 0]}, "ValueError: 2020-01-01 08:00:00+00:00 would be 2020-01-01 08"),
        ({"put": ["aware", 1]}, "ValueError: 2020-01-01 10:00:00 would be 2020-01-01 10:00:00+"),
        ({"put": ["day", 1]}, "ValueError: 2020-01-01 10:00:00 would be 2020-01-01 in"),
        ({"put": ["number", 2]}, "ValueError: 2.5 would be 2 in a column of type int64"),
    ],
)
def test_what_a_column_would_change_is_no_value_of_it(tmp_path, record, said):
    good = {"time": "10:00:00", "naive": "2020-01-01T10:00:00", "aware": "2020-01-01T10:00:00Z"}
    _, told, rows = stored(Temporal, tmp_path, good, record, {"day": "2020-01-01", "number": 2})
    assert [one.line for one in told] == [2]
    assert told[0].errors.startswith(said)
    assert rows[0]["time"] == dt.time(10)
    assert rows[0]["aware"] == dt.datetime(2020, 1, 1, 10, tzinfo=dt.UTC)
    assert (rows[1]["day"], rows[1]["number"]) == (dt.date(2020, 1, 1), 2)


def read(tmp_path, values, **options):
    """Convert a column from Parquet: lines and kinds of what was told, the errors, the values."""
    file, target = tmp_path / "x.parquet", tmp_path / "y.ndjson"
    parquet.write_table(pyarrow.table({"at": values}), file)
    _, told = converted(Timed, file, target, **options)
    kinds = [(one.line, one.kind) for one in told]
    return kinds, [one.errors for one in told], [each.get("at", ...) for each in lines(target)]


def bad(line):
    return [(line, "unreadable")]


FORMLESS = [
    *(
        (pyarrow.array([1_000, 1_001, None], kind), 2, [whole, None], "to microseconds")
        for kind, whole in (
            (pyarrow.timestamp("ns"), "1970-01-01T00:00:00.000001"),
            (pyarrow.timestamp("ns", tz="UTC"), "1970-01-01T00:00:00.000001+00:00"),
            (pyarrow.time64("ns"), "00:00:00.000001"),
            (pyarrow.duration("ns"), 1e-6),
        )
    ),
    *(
        (pyarrow.array([b"ab", b"\xff\xfe", "é".encode()], kind), 2, ["ab", "é"], "byte 0xff")
        for kind in (pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary(2))
    ),
    *(
        (pyarrow.array([1, None], pyarrow.timestamp(unit, "Nowhere/Place")), 1, [None], "Nowhere/P")
        for unit in ("us", "ns")
    ),
    (
        pyarrow.array([0, 400_000_000_000, 86_400], pyarrow.timestamp("s")),
        *(2, ["1970-01-01T00:00:00", "1970-01-02T00:00:00"], ""),
    ),
    (pyarrow.array([0, 10_000_000, 1], pyarrow.date32()), 2, ["1970-01-01", "1970-01-02"], ""),
    (pyarrow.array([b"a", b"\xff", b"b"]).view(pyarrow.string()), 2, ["a", "b"], ""),
]


@pytest.mark.skipif(find_spec("pandas") is not None, reason="pandas has a form for nanoseconds")
@pytest.mark.parametrize(("values", "line", "whole", "said"), FORMLESS)
def test_a_value_that_python_has_no_form_for_costs_its_row_only(
    tmp_path, values, line, whole, said
):
    kinds, (told,), made = read(tmp_path, values)
    assert (kinds, made) == (bad(line), whole)
    assert told.startswith("has a value that cannot be read: ")
    assert said in told


def test_a_page_that_is_broken_is_an_error_of_the_file(tmp_path):
    file = tmp_path / "x.parquet"
    table = pyarrow.table({"at": [f"text {i}" for i in range(1_000)]})
    parquet.write_table(table, file, compression="snappy", use_dictionary=False)
    data = bytearray(file.read_bytes())
    data[60:160] = b"\xff" * 100
    file.write_bytes(data)
    with pytest.raises(bulk.BulkError, match=r"x\.parquet: cannot be read as Parquet: "):
        checked(Timed, file)


def refused(tmp_path, schema, record):
    source = written(tmp_path / "in.ndjson", record)
    return [one.errors for one in converted(schema, source, tmp_path / "out.parquet")[1]]


class Tagged(Schema):
    tags = fields.List(fields.String())
    numbers = fields.List(fields.Integer())
    how = fields.Raw(load_only=True)

    @post_load
    def make(self, data, **kwargs):
        how = {"str": str, "dict": dict.fromkeys, "set": set, "tuple": tuple}[data.pop("how")]
        return {key: how(value) for key, value in data.items()}


NO_LIST = "TypeError: a column of lists has no room for a"
OUT_OF_RANGE = "OverflowError: date value out of range"
AWARE = Schema.from_dict({"at": fields.AwareDateTime()})
PLACED = Schema.from_dict({"a": fields.Integer(attribute="x.y")})
REFUSED = [
    (PLACED, {"a": 1}, "TypeError: Parquet has no column for x"),
    (AWARE, {"at": "0001-01-01T00:00:00+05:00"}, OUT_OF_RANGE),
    (AWARE, {"at": "9999-12-31T23:00:00-05:00"}, OUT_OF_RANGE),
    (AWARE, {"at": "0001-01-01T05:00:00+05:00"}, None),
    *((Tagged, {"tags": ["a"], "how": how}, f"{NO_LIST} {how}") for how in ("str", "dict")),
    *((Tagged, {"numbers": [1], "how": how}, f"{NO_LIST} {how}") for how in ("str", "dict")),
    *((Tagged, {"tags": ["a"], "how": how}, None) for how in ("set", "tuple")),
    *((Tagged, {"numbers": [1], "how": how}, None) for how in ("set", "tuple")),
]


@pytest.mark.parametrize(("schema", "record", "said"), REFUSED)
def test_what_a_column_has_no_room_for(tmp_path, schema, record, said):
    assert refused(tmp_path, schema, record) == ([said] if said else [])


class Nothing(Schema):
    never = fields.Integer(dump_only=True)

    class Meta:
        unknown = INCLUDE


@pytest.mark.parametrize(
    "schema", [Nothing, Schema.from_dict({"n": fields.List(fields.Nested(Nothing))})]
)
def test_a_schema_without_fields_is_refused(tmp_path, schema):
    with pytest.raises(bulk.BulkError, match="Nothing has no fields that are loaded"):
        refused(tmp_path, schema, {})
    assert [one.name for one in tmp_path.iterdir()] == ["in.ndjson"]


def test_parts_of_one_name_make_a_row_unreadable(tmp_path):
    text = pyarrow.array(["a", "b"])
    twice = pyarrow.StructArray.from_arrays([text, text], names=["x", "x"])
    assert read(tmp_path, twice)[0] == bad(1) + bad(2)


def test_nulls_are_left_out_where_empty_is_missing(tmp_path):
    class Inner(Schema):
        a = fields.Integer()
        b = fields.String()

    class Outer(Schema):
        one = fields.Nested(Inner)
        many = fields.List(fields.Nested(Inner))

    assert read(tmp_path, ["a", "", None], empty="missing")[2] == ["a", "", ...]
    rows = [{"one": {"a": 1, "b": None}, "many": [{"a": None, "b": "x"}, {"a": 2, "b": None}]}]
    file, made = tmp_path / "x.parquet", tmp_path / "x.ndjson"
    parquet.write_table(pyarrow.Table.from_pylist(rows), file)
    assert not checked(Outer, file)[0].valid
    assert converted(Outer, file, made, empty="missing")[0].good
    assert lines(made) == [{"one": {"a": 1}, "many": [{"b": "x"}, {"a": 2}]}]


class Holding(Schema):
    s = fields.String()
    extra = fields.Dict(data_key="Extra")
    pair = fields.Tuple((fields.Integer(), fields.String()))
    dicts = fields.List(fields.Dict())
    inner = fields.Nested(lambda: Holding(only=("extra", "dicts")), many=True)


@pytest.mark.parametrize("empty", ["field", "missing", "null"])
def test_dictionaries_and_tuples_are_read_as_they_were_written(tmp_path, empty):
    part = {"Extra": {"a": {"b": [1]}}, "dicts": [{}, {"a": None}]}
    record = {"s": "{}", **part, "pair": [1, "x"], "inner": [part, part]}
    _, told, (row,) = stored(Holding, tmp_path, record)
    assert (told, row["pair"], row["s"]) == ([], '[1, "x"]', "{}")
    made = tmp_path / "back.ndjson"
    assert converted(Holding, tmp_path / "out.parquet", made, empty=empty)[1] == []
    assert lines(made) == [record]


def test_text_that_is_no_json_is_refused_by_its_field(tmp_path):
    file = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"Extra": ["{", "x"]}), file)
    _, told = checked(Holding, file)
    assert [one.errors for one in told] == [{"Extra": ["Not a valid mapping type."]}] * 2


class Hooked(Holding):
    @pre_load
    def unpack(self, data, **kwargs):
        return {"extra": json.loads(data["packed"])}


def test_a_hook_is_given_the_text(tmp_path):
    file = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"packed": ['{"a": 1}']}), file)
    assert checked(Hooked(unknown=INCLUDE), file)[1] == []
