"""``ALTHAIA_STRICT``: what gets no step of its own is an error, unless the user meant it."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from typing import Any

import pytest

import althaia
from althaia import marshmallow as ma
from althaia.engine import planner
from tests.conformance.material import schema_of

fields = ma.fields
WITHOUT_GIL = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


@pytest.fixture(autouse=True)
def strict(at_once: None) -> Iterator[None]:
    planner.be_strict(True)
    yield
    planner.be_strict(False)


def test_what_upstream_has_passes() -> None:
    schema = schema_of(ma, {"a": fields.Integer(), "b": fields.List(fields.UUID())})
    assert schema.dump({"a": "1"}) == {"a": 1}


def test_a_field_of_upstreams_own() -> None:
    class Event(ma.Schema):
        when = fields.DateTime(format=b"iso")

    with pytest.raises(althaia.StrictError) as caught:
        Event().dump({})
    error = caught.value
    assert (error.schema_class, error.field, error.reason) == (Event, "when", "format is a bytes")
    assert str(error) == (
        f"ALTHAIA_STRICT: {__name__}.{Event.__qualname__}, field 'when', runs without a plan of "
        "its own: format is a bytes. Change that or unset ALTHAIA_STRICT; althaia.explain() "
        "shows the whole schema"
    )


def test_a_field_that_loads() -> None:
    schema = schema_of(ma, {"n": fields.Dict(keys=fields.Integer(required=1))})
    assert schema.dump({}) == {}
    with pytest.raises(althaia.StrictError, match=r"field 'n\.keys', .* required is neither"):
        schema.load({})


def test_a_field_inside_another() -> None:
    schema = schema_of(ma, {"all": fields.List(fields.DateTime(format=b"iso"))})
    with pytest.raises(althaia.StrictError, match=r"field 'all\.items', .* format is a bytes"):
        schema.dump({})


def test_a_nested_schema() -> None:
    inner = schema_of(ma, {"when": fields.DateTime(format=b"iso")})
    schema = schema_of(ma, {"n": fields.Nested(inner)})
    assert schema.dump({}) == {}
    with pytest.raises(althaia.StrictError, match="field 'when'"):
        schema.dump({"n": {}})


def make_dict() -> dict[str, Any]:
    return {}


def test_a_whole_schema() -> None:
    schema = schema_of(ma, {"a": fields.Raw()})
    schema.dict_class = make_dict
    with pytest.raises(althaia.StrictError, match=r"Schema runs without .* is no class"):
        schema.dump({})


def own(cls: Any, **namespace: Any) -> Any:
    return type("Own", (cls,), namespace)


def test_what_the_user_overrides_is_the_users_choice() -> None:
    class Own(ma.Schema):
        a = own(fields.Integer, _serialize=lambda *args, **kwargs: 1)()
        b = own(fields.Integer, num_type=complex)()
        c = own(fields.Raw, serialize=lambda *args, **kwargs: 2)()
        d = fields.Integer()

        def get_attribute(self, obj: Any, attr: str, default: Any) -> Any:
            return 5

    schema = Own()
    schema.fields["d"]._serialize = lambda *args, **kwargs: 3
    assert schema.dump({}) == {"a": 1, "b": 5 + 0j, "c": 2, "d": 3}


def test_what_the_user_patches_is_the_users_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields.Integer, "_serialize", lambda *args, **kwargs: 1)
    assert schema_of(ma, {"a": fields.Integer()}).dump({"a": 5}) == {"a": 1}


@pytest.mark.skipif(WITHOUT_GIL, reason="no instance is lazy without the GIL")
def test_a_tool_that_replaces_datetimes_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """freezegun does this while time is frozen; time-machine replaces no class."""

    class Day(ma.Schema):
        day = fields.Date()

    class Fake(datetime.date):
        __module__ = "freezegun.api"

    with monkeypatch.context() as frozen:
        frozen.setattr(datetime, "date", Fake)
        assert Day().load({"day": "2024-02-29"})["day"] == datetime.date(2024, 2, 29)
    assert Day().load({"day": "2024-02-29"})["day"] == datetime.date(2024, 2, 29)


def test_instances_are_lazy_from_the_first_on() -> None:
    planner.build_at_once(False)
    planner.be_strict(True)
    # The first instance of all in a process is built in full: field classes are examined with it.
    ma.Schema.from_dict({"a": fields.Integer()})()
    cls = ma.Schema.from_dict({"a": fields.Integer()})
    schema = cls()
    with pytest.raises(AttributeError):
        object.__getattribute__(schema, "fields")
    assert schema.dump({"a": "1"}) == {"a": 1}


def test_no_half_built_plan_is_left() -> None:
    schema = schema_of(ma, {"when": fields.DateTime(format=b"iso")})
    for _ in range(3):
        with pytest.raises(althaia.StrictError):
            schema.dump({})
    schema.fields["when"].format = "iso"
    assert schema.dump({}) == {}


def test_from_the_environment() -> None:
    script = """
from althaia import marshmallow as ma
schema = ma.Schema.from_dict({"when": ma.fields.DateTime(format=b"iso")})()
schema.dump({})
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "ALTHAIA_STRICT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("althaia.engine.strict.StrictError: ")


def test_where_no_plans_run_it_says_so() -> None:
    script = "import althaia.marshmallow as ma; type('S', (ma.Schema,), {})().dump({})"
    for strict, warnings in (("1", 1), ("0", 0)):
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "ALTHAIA_STRICT": strict, "ALTHAIA_PLANS": "0"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("finds nothing: no plans run: ALTHAIA_PLANS=0") == warnings


@pytest.mark.parametrize("tool", ["freezegun", "time_machine"])
def test_the_tools_that_stop_the_clock(tool: str) -> None:
    module = pytest.importorskip(tool)
    schema = schema_of(ma, {"at": fields.DateTime(), "day": fields.Date()})
    stop = module.freeze_time if tool == "freezegun" else module.travel
    for _ in range(2):
        with stop(datetime.datetime(2024, 2, 29, 10, tzinfo=datetime.UTC)):
            now = datetime.datetime(2024, 2, 29, 10)
            given = schema.dump({"at": now, "day": datetime.date.today()})
            assert given == {"at": "2024-02-29T10:00:00", "day": "2024-02-29"}
            assert schema.load(given) == {"at": now, "day": datetime.date.today()}
