"""Whatever somebody has put into the standard library's ``json`` takes effect."""

import json
import json.decoder

import pytest

from althaia.json import loads

REPLACED = "somebody else's"


def theirs(*args, **kwargs):
    return REPLACED


def test_json_loads_may_be_this_very_function(monkeypatch):
    monkeypatch.setattr(json, "loads", loads)
    assert json.loads("[1]", parse_int=str) == ["1"]
    with pytest.raises(json.JSONDecodeError):
        json.loads("[")


DECODER = json._default_decoder
CLASS = json.decoder.JSONDecoder
SCANNER = property(lambda self: lambda text, at: (REPLACED, len(text)))
OTHER = type("Other", (json.JSONDecoder,), {"decode": theirs})


@pytest.mark.parametrize(
    ("owner", "name", "value", "expected"),
    [
        (json, "_default_decoder", json.JSONDecoder(parse_int=str), ["1"]),
        (CLASS, "decode", theirs, REPLACED),
        (CLASS, "raw_decode", lambda *args, **kwargs: (REPLACED, 3), REPLACED),
        (CLASS, "scan_once", SCANNER, REPLACED),
        (DECODER, "decode", theirs, REPLACED),
        (DECODER, "raw_decode", lambda *args, **kwargs: (REPLACED, 3), REPLACED),
        (DECODER, "scan_once", lambda *args, **kwargs: (REPLACED, 3), REPLACED),
        (DECODER, "__class__", OTHER, REPLACED),
    ],
)
def test_what_was_replaced(monkeypatch, owner, name, value, expected):
    monkeypatch.setattr(owner, name, value, raising=False)
    assert loads("[1]") == json.loads("[1]") == expected
    monkeypatch.undo()
    assert loads("[1]") == [1]


def test_the_encoding(monkeypatch):
    monkeypatch.setattr(json, "detect_encoding", lambda data: "rot13")
    with pytest.raises(LookupError, match="rot13"):
        loads(b"[1]")


def test_a_constant(monkeypatch):
    constants = json.decoder._CONSTANTS
    if type(constants) is not dict:
        pytest.skip("nobody can replace one here")
    monkeypatch.setitem(constants, "NaN", REPLACED)
    assert loads("[NaN, 1]") == json.loads("[NaN, 1]") == [REPLACED, 1]


def test_constants_are_the_same_objects():
    text = "[NaN, Infinity, -Infinity]"
    assert [*map(id, loads(text))] == [*map(id, json.loads(text))]
