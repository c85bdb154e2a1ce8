"""What one process pickles, another opens, redirected or not, with or without althaia."""

import base64
import pickle

import pytest

SETUP = """
import base64, pickle, sys
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


def save(what, protocol=4):
    pickled = f"pickle.dumps(things[{what!r}], {protocol})"
    return f"{SETUP}\nprint(base64.b64encode({pickled}).decode())"


def open_(what, data):
    return f"""{SETUP}
opened = pickle.loads(base64.b64decode({data!r}))
expected = things[{what!r}]
if isinstance(expected, ValidationError):
    assert type(opened) is ValidationError and opened.args == expected.args, opened
    assert vars(opened) == vars(expected), vars(opened)
elif isinstance(expected, (validate.Range, fields.Integer)):
    assert type(opened) is type(expected)
else:
    assert opened == expected, opened
print("opened")
"""


WHAT = (
    "exception",
    "class",
    "inner class",
    "field class",
    "function",
    "method",
    "validator",
    "field",
    "classes",
)


@pytest.mark.parametrize("what", WHAT)
def test_both_ways_between_redirected_and_not(what, patched, program):
    ours, real = patched(save(what)).strip(), program(save(what)).strip()
    assert "althaia" not in str(base64.b64decode(ours))
    for data in (ours, real):
        for open_in in (patched, program):
            assert "opened" in open_in(open_(what, data))


def test_protocol_0_and_copyreg(patched, program):
    assert patched(save("exception", 0)) == program(save("exception", 0))


def test_an_exception_opens_where_althaia_was_never_imported(patched):
    error = pickle.loads(base64.b64decode(patched(save("exception"))))
    assert type(error).__module__ == "marshmallow.exceptions"
    assert error.messages == {"x": ["bad"]}


def test_a_pickle_opens_before_marshmallow_is_imported(patched):
    data = patched(save("exception")).strip()
    patched(
        f"""
        import base64, pickle, sys
        error = pickle.loads(base64.b64decode({data!r}))
        assert sys.modules["marshmallow"] is sys.modules["althaia.marshmallow"]
        assert type(error) is sys.modules["marshmallow"].ValidationError
        """
    )


def test_pickled_under_our_own_name_opens_redirected(patched, program):
    data = program(
        SETUP.replace("import marshmallow", "from althaia import marshmallow").replace(
            "from marshmallow", "from althaia.marshmallow"
        )
        + "print(base64.b64encode(pickle.dumps(error)).decode())"
    ).strip()
    assert "althaia" in str(base64.b64decode(data))
    assert "opened" in patched(open_("exception", data))
