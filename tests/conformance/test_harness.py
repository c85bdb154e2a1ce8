"""The harness sees every sort of difference: each is planted here, in one run of two."""

import math
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conformance import harness, versions
from tests.conformance.describe import Describer
from tests.engine import NEEDS_ENGINE

PLAIN = SimpleNamespace(planted=False, missing=object())
PLANTED = SimpleNamespace(planted=True, missing=object())


class Text(str):
    pass


class Growing(dict[str, Any]):
    def __missing__(self, key):
        self[key] = 0
        return 0


def raise_(error):
    raise error


def with_attributes(error, **attributes):
    vars(error).update(attributes)
    return error


def noted(error):
    error.add_note("look here")
    return error


def raise_from(cause):
    raise ValueError("x") from cause


ONE = [1]


def logged_and_emptied(log, data):
    log("seen", data)
    data.clear()


# Two expressions that a scenario returns, or raises in.
DIFFERENCES = {
    "value": ("1", "2"),
    "bool for int": ("1", "True"),
    "float for int": ("1", "1.0"),
    "subclass of str": ("'a'", "Text('a')"),
    "key order": ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}"),
    "mapping type": ("{'a': 1}", "Growing(a=1)"),
    "list for tuple": ("(1,)", "[1]"),
    "NaN for a number": ("0.0", "math.nan"),
    "sign of NaN": ("math.nan", "math.copysign(math.nan, -1)"),
    "sign of zero": ("0.0", "-0.0"),
    "nested deep": ("[{'a': [1]}]", "[{'a': [1, None]}]"),
    "identity": ("list(log.watch([1]))", "log.watch([1])"),
    "identity inside": ("{'a': ONE, 'b': ONE[:]}", "{'a': ONE, 'b': ONE}"),
    "side effect on what is watched": (
        "bool(log.watch(Growing()))", "bool(log.watch(Growing())['x'])",
    ),
    "what was logged and changed later": (
        "logged_and_emptied(log, [1])", "logged_and_emptied(log, [1, 2])",
    ),
    "exception": ("1", "raise_(ValueError())"),
    "exception type": ("raise_(KeyError('x'))", "raise_(LookupError('x'))"),
    "exception args": ("raise_(ValueError('x'))", "raise_(ValueError('x', 1))"),
    "exception cause": ("raise_from(KeyError('x'))", "raise_from(KeyError('y'))"),
    "exception without cause": ("raise_from(KeyError('x'))", "raise_(ValueError('x'))"),
    "exception note": ("raise_(ValueError('x'))", "raise_(noted(ValueError('x')))"),
    "log entry": ("log('call', 1)", "log('call', 2)"),
    "log count": ("log('call')", "[log('call'), log('call')][0]"),
    "log order": ("[log('a'), log('b')]", "list(reversed([log('b'), log('a')]))"),
    "attempted": ("bool(log.attempt(int, '1'))", "bool(log.attempt(int, '2'))"),
    "spied arguments": (
        "log.spy('f', lambda x=0: None)()", "log.spy('f', lambda x=0: None)(0)",
    ),
    "warning": ("None", "warnings.warn('x', stacklevel=1)"),
    "warning category": (
        "warnings.warn('x', UserWarning, stacklevel=1)",
        "warnings.warn('x', FutureWarning, stacklevel=1)",
    ),
    **{
        f"exception {name}": tuple(
            f"raise_(with_attributes(ValueError('x'), {name}=[{number}]))" for number in (1, 2)
        )
        for name in ("messages", "field_name", "data", "valid_data", "kwargs")
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", DIFFERENCES)
def test_a_planted_difference_is_seen(kind):
    plain, planted = DIFFERENCES[kind]

    def scenario(ma, log):
        names = {**globals(), "log": log, "math": math, "warnings": warnings}
        return eval(planted if ma.planted else plain, names)

    expected = harness.run(scenario, PLAIN)
    assert "NameError" not in str(expected.error)
    assert expected == harness.run(scenario, PLAIN), "not repeatable"
    assert expected != harness.run(scenario, PLANTED)


def test_what_legitimately_differs_is_equal():
    def scenario(ma, log):
        module = "althaia.marshmallow.fields" if ma.planted else "marshmallow.fields"
        cls = type("Thing", (), {"__module__": module})
        return [cls, cls(), repr(cls), repr(object()), ma.missing]

    assert harness.run(scenario, PLAIN) == harness.run(scenario, PLANTED)


def test_a_scenario_that_differs_fails_its_test_and_shows_no_frame_of_the_harness():
    def differs(ma, log):
        return "ours" if "althaia" in ma.__name__ else "upstream"

    with pytest.raises(AssertionError, match="the libraries differ") as error:
        harness.compare(differs)
    assert any(each.path.name == "harness.py" for each in error.traceback)
    assert not any(each.path.name == "harness.py" for each in error.traceback.filter(error))


def test_patches_and_registry_entries_end_with_the_scenario():
    upstream, _ = harness.libraries()
    registry = upstream.class_registry._registry
    before = dict(registry)

    def scenario(ma, log):
        log.patch(ma.fields.Integer, "num_type", float)
        type("Registered", (ma.Schema,), {})
        assert "Registered" in registry

    outcome = harness.run(scenario, upstream)
    assert not outcome.error
    assert upstream.fields.Integer.num_type is int
    assert registry == before


def test_describing_calls_no_user_code():
    class Hostile(list[int]):
        def __getattribute__(self, name):
            raise AssertionError(name)

        def __iter__(self):
            raise AssertionError

        __eq__ = __hash__ = __repr__ = __len__ = __iter__

    (label, *items) = Describer()(Hostile([1]))
    assert label.endswith("Hostile#0 (")
    assert items == ["int 0x1", ")"]


def test_cycles_end():
    cycle = [1]
    cycle.append(cycle)
    assert Describer()(cycle) == ("builtins.list#0 (", "int 0x1", "builtins.list#0", ")")


@NEEDS_ENGINE
def test_plans_are_on_and_off():
    _, ours = harness.libraries()
    seam, data, text = harness.seam, {"f": "1"}, '{"f": "1"}'

    def answered():
        schema = ours.Schema.from_dict({"f": ours.fields.Integer()})()
        schema.dump({"f": 1})
        return {
            "dump": seam.dump(schema, data, None),
            "dumps": seam.dumps(schema, data, (), None, {}),
            "serialize": seam.serialize(schema, data, False),
            "load": seam.load(schema, data, None, None, None, True),
            "loads": seam.loads(schema, text, None, None, None, {}),
            "validate": seam.validate(schema, data, None, None),
        }

    with harness.plans_at_once():
        planned = answered()
    assert planned == {hook: {"f": 1} for hook in planned} | {"dumps": '{"f": 1}', "validate": {}}
    with harness.plans_off():
        assert answered() == dict.fromkeys(planned, seam.DECLINED)


@NEEDS_ENGINE
def test_tracebacks_find_the_lines_of_the_engine():
    for hook in ("dump", "load", "validate"):
        assert Path(getattr(harness.seam, hook).__code__.co_filename).is_absolute()


@NEEDS_ENGINE
def test_a_class_is_changed_more_often_than_cpython_allows():
    _, ours = harness.libraries()

    class Changed(ours.Schema):
        f = ours.fields.Integer()

    for Changed.number in range(1100):
        versions.is_numbered(Changed)
    with harness.plans_at_once():
        versions.renew(Changed)
        assert versions.is_numbered(Changed)
        Changed(many=True).dump([{"f": 1}])
        assert harness.seam.dump(Changed(), {"f": "1"}, None) == {"f": 1}


@pytest.mark.skipif(not versions.HAS_LIMIT, reason="CPython numbers classes without end before")
def test_without_numbers_nothing_is_planned():
    class Plain:
        number = 0

    for Plain.number in range(1100):
        versions.is_numbered(Plain)
    assert not versions.is_numbered(Plain)
    versions.renew(Plain)
    assert versions.is_numbered(Plain)
