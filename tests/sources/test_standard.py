"""Whatever somebody has put into the standard library's ``json`` takes effect."""

from __future__ import annotations

import json
import json.decoder
from typing import Any

import pytest

from althaia.json import loads

REPLACED = "somebody else's"


def theirs(*args: Any, **kwargs: Any) -> Any:
    return REPLACED


def test_json_loads_may_be_this_very_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json, "loads", loads)
    assert json.loads("[1]", parse_int=str) == ["1"]
    with pytest.raises(json.JSONDecodeError):
        json.loads("[")


def test_the_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json, "_default_decoder", json.JSONDecoder(parse_int=str))
    assert loads("[1]") == ["1"]


@pytest.mark.parametrize("method", ["decode", "raw_decode"])
def test_methods_of_the_class(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    result = REPLACED if method == "decode" else (REPLACED, 3)
    monkeypatch.setattr(json.decoder.JSONDecoder, method, lambda *args, **kwargs: result)
    assert loads("[1]") == REPLACED


@pytest.mark.parametrize("method", ["decode", "raw_decode", "scan_once"])
def test_methods_of_the_decoder(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    decoder = json._default_decoder  # type: ignore[attr-defined]
    result = REPLACED if method == "decode" else (REPLACED, 3)
    monkeypatch.setattr(decoder, method, lambda *args, **kwargs: result)
    assert loads("[1]") == REPLACED


def test_a_descriptor_in_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    scan = property(lambda self: lambda text, at: (REPLACED, len(text)))
    monkeypatch.setattr(json.JSONDecoder, "scan_once", scan, raising=False)
    assert loads("[1]") == json.loads("[1]") == REPLACED
    monkeypatch.undo()
    assert loads("[1]") == [1]


def test_the_class_of_the_decoder() -> None:
    class Other(json.JSONDecoder):
        decode = theirs

    decoder = json._default_decoder  # type: ignore[attr-defined]
    decoder.__class__ = Other
    try:
        assert loads("[1]") == REPLACED
    finally:
        decoder.__class__ = json.JSONDecoder


def test_the_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json, "detect_encoding", lambda data: "rot13")
    with pytest.raises(LookupError, match="rot13"):
        loads(b"[1]")


def test_a_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    constants = json.decoder._CONSTANTS  # type: ignore[attr-defined]
    if type(constants) is not dict:
        pytest.skip("nobody can replace one here")
    monkeypatch.setitem(constants, "NaN", REPLACED)
    assert loads("[NaN, 1]") == json.loads("[NaN, 1]") == [REPLACED, 1]


def test_constants_are_the_same_objects() -> None:
    text = "[NaN, Infinity, -Infinity]"
    assert [*map(id, loads(text))] == [*map(id, json.loads(text))]
