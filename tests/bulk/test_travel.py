"""Schemas on their way to another process."""

import pickle
import sys

import pytest

from althaia.bulk.travel import pack, unpack
from tests.bulk import schemas
from tests.interpreters import sends_by_value
from tests.redirect import processes

PROGRAM = """
import pickle, sys
import althaia
althaia.patch()
from althaia.bulk.travel import pack
from marshmallow import Schema, fields, validates, ValidationError

class Here(Schema):
    a = fields.Integer(required=True)
    b = fields.String()
    @validates("a")
    def positive(self, value, **_):
        if value < 0:
            raise ValidationError("negative")

made = {
    "class": Here,
    "instance": Here(only=["a"]),
    "generated": Schema.from_dict({"a": fields.Integer(), "b": fields.String()}),
}
for schema in made.values():
    instance = schema() if isinstance(schema, type) else schema
    for _ in range(5):
        instance.load({"a": 1}), instance.dump({"a": 1})
        type(instance)().load({"a": 1})
print(pickle.dumps({name: pack(schema) for name, schema in made.items()}).hex())
"""


def test_a_class_of_a_module_goes_by_name():
    packed = pack(schemas.OrderSchema)
    assert unpack(packed) is schemas.OrderSchema
    assert len(packed) < 100


@sends_by_value
@pytest.mark.parametrize("patched", [False, True])
def test_others_go_by_value_without_plans(patched, tmp_path):
    pytest.importorskip("cloudpickle")
    packed = bytes.fromhex(processes.succeed("-c", PROGRAM, cwd=tmp_path))
    assert b"althaia" not in b"".join(pickle.loads(packed).values())
    reading = f"""
import pickle
{"import althaia; althaia.patch()" if patched else ""}
from althaia.bulk.travel import unpack
for name, packed in pickle.loads({packed!r}).items():
    schema = unpack(packed)
    schema = schema() if isinstance(schema, type) else schema
    # A field's "no default" has to be the one object that marshmallow compares with.
    assert schema.load({{"a": 1}}) == {{"a": 1}}, (name, schema.load({{"a": 1}}))
    assert schema.validate({{"a": "x"}}) == {{"a": ["Not a valid integer."]}}
    if name != "generated":
        assert schema.validate({{"a": -1}}) == {{"a": ["negative"]}}
    assert ("b" in schema.fields) == (name != "instance")
"""
    processes.succeed("-c", reading, cwd=tmp_path)


def test_without_cloudpickle_it_says_what_to_do(monkeypatch):
    from althaia.bulk import BulkError

    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(BulkError, match=r"cloudpickle: pip install 'althaia\[many\]', or move it"):
        pack(schemas.OrderSchema())
