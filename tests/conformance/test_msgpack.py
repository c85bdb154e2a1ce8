"""Schemas that dump to MessagePack and load from it: what the ``msgpack`` package makes of it."""

import datetime as dt
import hashlib
import types

import pytest

package = pytest.importorskip("msgpack")
theirs = types.SimpleNamespace(dumps=package.packb, loads=package.unpackb)


def made(ma):
    """A schema with every way in which values reach the sink."""
    from althaia import msgpack as ours

    fields = ma.fields
    Inner = ma.Schema.from_dict({"x": fields.Integer(), "raw": fields.Raw()})

    class S(ma.Schema):
        class Meta:
            render_module = theirs if ma.__name__ == "marshmallow" else ours
            unknown = "include"

        a = fields.String()
        raw = fields.Raw()
        at = fields.Date()
        nested = fields.Nested(Inner)
        rows = fields.List(fields.Nested(Inner))
        pair = fields.Tuple((fields.Raw(), fields.Nested(Inner)))
        table = fields.Dict(keys=fields.String(), values=fields.Raw())
        late = fields.Raw(data_key="ж" * 20)
        last = fields.Function(lambda obj: obj.get("last", ma.missing))

    return S()


INNER = {"x": 1, "raw": [1, {"k": None}]}
OBJECTS = {
    "nothing": {},
    "all": {
        "a": "é", "raw": {"k": [1.5]}, "at": dt.date(2024, 2, 29), "nested": INNER,
        "rows": [INNER, {}, {"raw": 1}], "pair": ([], INNER), "table": {"é": [2]}, "late": b"x",
        "last": [3],
    },
    "many rows": {"raw": [0], "rows": [INNER] * 17, "late": [0] * 16},
    "very many rows": {"raw": [0], "rows": [{"x": 1}] * 65_537, "late": [{}]},
    "an error in a value": {"raw": [2**70]},
    "a lone surrogate": {"a": "\ud800", "raw": "\ud800"},
    "too large": {"raw": 2**64},
    "of no form": {"raw": [object], "late": {1, 2}},
}  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("many", [False, True])
def test_dumps(ma, log, name, many):
    schema = made(ma)
    log("first", log.attempt(schema.dumps, {}))
    obj = dict(OBJECTS[name])
    if name == "very many rows":
        # Nobody knows before how many there are.
        obj["rows"] = iter(obj["rows"])
    dumped = schema.dumps([obj, {}, obj] if many else obj, many=many)
    return dumped if len(dumped) < 1000 else hashlib.sha256(dumped).hexdigest()


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"a": "é", "raw": {"k": [1]}, "nested": {"x": "1", "more": 2}, "more": [b"x"]},
        {"rows": [{"x": 1}, {"x": "no"}, 5], "pair": [1, {"x": 2}], "table": {"k": 1, b"k": 2}},
        {"at": "2024-02-29", "late": 2**64 - 1, "ж" * 20: -(2**63), "\u20ac": None},
    ],
)
def test_loads(ma, log, data):
    schema = made(ma)
    packed = package.packb(data)
    log("before", log.attempt(schema.loads, package.packb({})))
    log("many", log.attempt(schema.loads, package.packb([data, data]), many=True))
    log("partial", log.attempt(schema.loads, packed, partial=("nested.x",)))
    log("excluded", log.attempt(schema.loads, packed, unknown="exclude"))
    return schema.loads(packed)
