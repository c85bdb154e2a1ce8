"""Random schemas, objects and changes between calls: the libraries never differ.

``HYPOTHESIS_PROFILE=nightly`` tries many more.
"""

import pytest
from hypothesis import given, strategies as st

from tests.conformance import harness
from tests.conformance.material import FIELDS
from tests.strategies import contexts, instances
from tests.strategies.data import build_value, objects_for, values_for
from tests.strategies.programs import LOADABLE, programs, run_program
from tests.strategies.schemas import build_field, build_schema, schemas, simple_fields

PROGRAMS = {
    "schemas": (run_program, programs()),
    "instances": (instances.run_program, instances.programs),
    "instances with a context": (contexts.run_program, contexts.programs),
}


@pytest.mark.parametrize("kind", PROGRAMS)
@pytest.mark.parametrize("mode", harness.FROM_FIRST_USE)
@given(data=st.data())
def test_programs(kind, mode, data):
    run, made = PROGRAMS[kind]
    harness.compare(run, mode, program=data.draw(made))


def _dump_and_load(ma, log, schema, objects, inputs):
    try:
        made = build_schema(ma, log, schema)()
    except Exception as error:
        log("not made", error)
        return
    for described in objects:
        log.attempt(made.dump, build_value(described))
    log.attempt(made.dump, [build_value(described) for described in objects], many=True)
    for described in inputs:
        log.attempt(made.load, log.watch(build_value(described)))
    log.attempt(made.load, [build_value(described) for described in inputs], many=True)


@given(st.data())
def test_one_schema_and_many_objects(data):
    schema = data.draw(schemas)
    objects = data.draw(st.lists(objects_for(schema), min_size=1, max_size=4))
    inputs = data.draw(st.lists(objects_for(schema, kinds=LOADABLE), min_size=1, max_size=4))
    harness.compare(_dump_and_load, schema=schema, objects=objects, inputs=inputs)


def _one_field(ma, log, field, values):
    made = build_field(ma, log, field)
    log.attempt(ma.Schema.from_dict, {"f": made})
    schema = ma.Schema.from_dict({"f": made})()
    key = made.data_key or "f"
    for described in values:
        log.attempt(schema.dump, {made.attribute or "f": build_value(described)})
        log.attempt(schema.load, {key: build_value(described)})


@given(st.data())
def test_one_field_and_many_values(data):
    field = data.draw(simple_fields)
    values = data.draw(st.lists(values_for(field), min_size=1, max_size=8))
    harness.compare(_one_field, field=field, values=values)


moments = st.datetimes(timezones=st.none() | st.timezones())
# Texts that look right, and values that are dumped and what that gives is loaded.
LIKELY = {
    "integer": st.one_of(st.integers().map(str), st.text("0123456789 _-+.eE\u0660", max_size=12)),
    "float": st.one_of(st.floats().map(repr), st.text("0123456789 _-+.eEinfaN", max_size=12)),
    "decimal-nan": st.one_of(st.decimals().map(str), st.text("0123456789-+.eEsNa", max_size=9)),
    "datetime": st.one_of(
        moments.map(str),
        st.text("0123456789-:T.+Z W", max_size=32),
        st.from_regex(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{0,7})?)?(Z|[+-]\d\d:\d\d)?"),
    ),
    "date": st.one_of(st.dates().map(str), st.text("0123456789-W", max_size=12)),
    "time": st.one_of(st.times().map(str), st.text("0123456789:.+Z", max_size=20)),
    "uuid": st.one_of(
        st.uuids().map(str),
        st.text("0123456789abcdefABCDEF-{}urn:_ ", min_size=30, max_size=45),
        st.uuids().map(lambda value: value.hex),
    ),
    "email": st.one_of(
        st.emails(),
        st.from_regex(r"[\w.+%'-]{1,12}@[\w.-]{1,12}(\.[\w-]{0,4})?\s?", fullmatch=True),
        st.text("ab1.@-_+ \n\"'é\u0660[]", max_size=24),
    ),
    "url": st.one_of(
        st.from_regex(
            r"(https?|ftp|HTTP)://([\w.:@-]{1,12}|\[[0-9a-f:]*\])(:\d{0,6})?(/[\w%/.~-]*)?"
            r"(\?[\w&=]*)?(#\w*)?\s?",
            fullmatch=True,
        ),
        st.text("htps:/.ab1-_@?#[]% \n\u0660", max_size=30),
    ),
    "ip": st.one_of(st.ip_addresses().map(str), st.text("0123456789.:abcdef%", max_size=40)),
    "boolean": st.text("yesnotrufalYESNO10", max_size=5),
    "enum": st.sampled_from(["RED", "GREEN", "CRIMSON", "red", "__class__", "name", "value", ""]),
    "native integer": st.one_of(st.integers(), st.floats(), st.booleans(), st.decimals()),
    "native float": st.one_of(st.floats(), st.integers()),
    "decimal-places": st.one_of(st.decimals(), st.integers(), st.floats()),
    "native datetime": moments,
    "datetime-timestamp": moments,
    "datetime-rfc": moments,
    "native date": st.one_of(st.dates(), st.datetimes()),
    "native time": st.times(timezones=st.none() | st.timezones()),
    "timedelta": st.timedeltas(),
    "timedelta-days": st.timedeltas(),
    "native uuid": st.uuids(),
    "native ip": st.ip_addresses(),
    "string": st.one_of(st.text(), st.binary(), st.integers(), st.floats(), st.booleans()),
}


def _likely(ma, log, kind, values):
    schema = ma.Schema.from_dict({"f": FIELDS[kind.removeprefix("native ")](ma)})()
    for value in values:
        dumped = log.attempt(schema.dump, {"f": value})
        loaded = log.attempt(schema.load, {"f": value})
        for found, call in ((dumped, schema.load), (loaded, schema.dump)):
            if isinstance(found, dict):
                log.attempt(call, found)


@pytest.mark.parametrize("kind", LIKELY)
@given(data=st.data())
def test_likely_values(kind, data):
    values = data.draw(st.lists(LIKELY[kind], min_size=3, max_size=8))
    harness.compare(_likely, kind=kind, values=values)
