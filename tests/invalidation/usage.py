"""What every test here does: use a schema until its plan is in place, change something, use
it again. Each runs on the real marshmallow too, given the same change; nothing may differ.
"""

import contextlib
from functools import wraps
from unittest import mock

import pytest

from althaia import seam
from tests.conformance.harness import engine
from tests.conformance.material import written


def checked(function):
    """A scenario in which an error outside of ``log.attempt`` is a mistake in the test, not
    something to compare."""

    @wraps(function)
    def scenario(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            pytest.fail(f"the scenario itself failed: {type(error).__name__}: {error}")

    return scenario


def use(log, schema, *objects):
    """Dump each object several times, alone and in collections; load those that are data."""
    for obj in objects:
        for _ in range(3):
            log.attempt(schema.dump, obj)
        log.attempt(schema.dump, [obj, obj], many=True)
        if type(obj) is dict:
            for _ in range(3):
                log.attempt(schema.load, obj, unknown="exclude")
            log.attempt(schema.load, [obj, obj], many=True)


def settle(log, schema, *objects):
    """Use a schema until it has a plan, and make sure that it has one.

    :raises AssertionError: plans are on, and none answered.
    """
    use(log, schema, *objects)
    before = calls(schema)
    log.attempt(schema.dump, objects[0])
    if plans_are_on(schema):
        assert calls(schema) == before + 1, f"no plan answers for {schema!r}"


def plans_are_on(schema):
    """Whether plans could answer for this schema: it is ours, and nobody switched them off."""
    if not isinstance(schema, seam.modules["schema"]["Schema"]) or engine is None:
        return False
    return seam.dump is engine.dump


def calls(schema):
    """How many dumps plans have answered for the schema's class."""
    if engine is None:
        return 0
    from althaia.engine.plan import statistics_of

    return statistics_of(type(schema)).dump.calls


@contextlib.contextmanager
def changed(target, name, value, way):
    """``target.name`` is ``value``, set in one of :data:`WAYS`, and put back afterwards."""
    if way == "mock":
        with mock.patch.object(target, name, value):
            yield
        return
    had = name in vars(target)
    old = vars(target).get(name)
    SETTERS[way](target, name, value)
    try:
        yield
    finally:
        if had:
            SETTERS[way](target, name, old)
        else:
            del vars(target)[name]


SETTERS = {
    "setattr": setattr,
    "object.__setattr__": object.__setattr__,
    **written(
        {}, "target, name, value",
        dict_update="target.__dict__.update({name: value})",
        dict_item="vars(target)[name] = value",
        dict_replaced="target.__dict__ = {**target.__dict__, name: value}",
    ),
}  # fmt: skip

WAYS = [*SETTERS, "mock"]
"""The ways to set an attribute of an instance."""
