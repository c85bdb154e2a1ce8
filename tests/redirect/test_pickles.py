"""What one process pickles, another opens, redirected or not, with or without althaia."""

import base64
import json
import pickle

SETUP = """
import base64, json, pickle, sys
import marshmallow
from marshmallow import ValidationError, fields, utils, validate, class_registry
from marshmallow.exceptions import RegistryError, StringNotCollectionError
error = ValidationError({"x": ["bad"]}, "x", {"x": 1}, {"y": 2})
things = {
    "exception": error,
    "class": marshmallow.Schema,
    "inner class": marshmallow.Schema.Meta,
    "field class": fields.String,
    "function": utils.get_value,
    "method": marshmallow.Schema.from_dict,
    "validator": validate.Range(min=1, max=3),
    "field": fields.Integer(data_key="X"),
    "classes": (RegistryError, StringNotCollectionError, validate.Length),
}
"""
SAVE = (
    SETUP
    + """
saved = {name: pickle.dumps(value, 4) for name, value in things.items()}
saved["protocol 0"] = pickle.dumps(error, 0)
print(json.dumps({name: base64.b64encode(each).decode() for name, each in saved.items()}))
"""
)
OPEN = (
    SETUP
    + """
for name, data in json.loads(input_).items():
    opened, expected = pickle.loads(base64.b64decode(data)), things.get(name, error)
    if isinstance(expected, ValidationError):
        assert type(opened) is ValidationError and opened.args == expected.args, opened
        assert vars(opened) == vars(expected), vars(opened)
    elif isinstance(expected, (validate.Range, fields.Integer)):
        assert type(opened) is type(expected)
    else:
        assert opened == expected, opened
print("opened")
"""
)


def test_both_ways_between_redirected_and_not(patched, program):
    ours, real = patched(SAVE), program(SAVE)
    found = {name: base64.b64decode(data) for name, data in json.loads(ours).items()}
    assert not any(b"althaia" in data for data in found.values())
    assert json.loads(real)["protocol 0"] == json.loads(ours)["protocol 0"]
    for data in (ours, real):
        for open_in in (patched, program):
            assert "opened" in open_in(f"input_ = {data.strip()!r}\n{OPEN}")
    # Where althaia was never imported, and before marshmallow is.
    error = pickle.loads(found["exception"])
    assert type(error).__module__ == "marshmallow.exceptions"
    assert error.messages == {"x": ["bad"]}
    patched(
        f"""
        import pickle, sys
        error = pickle.loads({found["exception"]!r})
        assert sys.modules["marshmallow"] is sys.modules["althaia.marshmallow"]
        assert type(error) is sys.modules["marshmallow"].ValidationError
        """
    )


def test_pickled_under_our_own_name_opens_redirected(patched, program):
    ours = SAVE.replace("import marshmallow", "from althaia import marshmallow")
    data = program(ours.replace("from marshmallow", "from althaia.marshmallow"))
    assert b"althaia" in base64.b64decode(json.loads(data)["exception"])
    assert "opened" in patched(f"input_ = {data.strip()!r}\n{OPEN}")
