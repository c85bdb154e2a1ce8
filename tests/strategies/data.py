"""Objects to dump and data to load, as plain descriptions made anew for each library."""

import functools
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st

from tests.conformance.material import OBJECTS, VALUES
from tests.strategies.schemas import NAMES

# What a kind of field takes gladly; a random value is nearly always refused.
FITTING = {
    "integer": ["int", "digits", "zero", "big", "minus", "true", "float", "int-subclass"],
    "float": ["float", "int", "decimal-digits", "nan", "float-subclass"],
    "decimal": ["decimal", "decimal-digits", "int", "decimal-exponent"],
    "string": ["str", "empty", "unicode", "str-subclass", "bytes", "plain-str-subclass"],
    "boolean": ["true", "false", "yes", "one", "false-text"],
    "datetime": ["datetime", "datetime-utc", "iso-datetime", "iso-z", "datetime-odd-zone"],
    "naive": ["datetime", "iso-datetime", "iso-basic"],
    "aware": ["datetime-utc", "iso-z", "datetime"],
    "date": ["date", "iso-date", "datetime"],
    "time": ["time", "iso-time", "time-micro"],
    "timedelta": ["timedelta", "int", "float", "timedelta-minus"],
    "uuid": ["uuid", "uuid-text", "uuid-hex", "sixteen-bytes"],
    "ip": ["ipv4", "ipv4-text", "ipv6-text", "ip-interface", "ip-interface-text"],
    "enum": ["enum", "enum-name", "enum-value", "one", "enum-alias", "int-enum"],
    "email": ["email", "not-email", "str"],
    "url": ["url", "url-relative", "not-url"],
    "list": ["list", "empty-list", "list-of-none", "tuple", "list-of-dicts"],
    "tuple": ["tuple", "list", "namedtuple"],
    "dict": ["dict", "empty-dict", "dict-of-lists", "int-keyed", "mapping-proxy"],
    "validated": ["int", "one"],
}

value_names = st.sampled_from(sorted(VALUES))
Described = Any

# What every program draws from is made once: hypothesis validates each strategy that it is given.
_LEAF = st.just("value")
_ODD = st.tuples(_LEAF, value_names)
_NONE = st.just(("value", "none"))
_EXTRA = st.dictionaries(st.sampled_from([*NAMES, "x", "unknown"]), _ODD, max_size=1)


def _mostly(fit):
    return st.one_of(fit, fit, fit, fit, _ODD, _NONE)


@functools.cache
def _leaves(kind):
    known = FITTING.get(kind)
    return _mostly(st.tuples(_LEAF, st.sampled_from(known)) if known else _ODD)


@functools.cache
def _kinds(kinds):
    return st.one_of(st.just("dict"), st.just("dict"), st.sampled_from(kinds))


def values_for(field, depth=3):
    """Descriptions of values for a described field: most fit, some do not."""
    kind = field["kind"]
    if depth == 0:
        return _ODD
    fit: st.SearchStrategy[Described]
    if kind == "list of":
        items = st.lists(values_for(field["inner"][0], depth - 1), max_size=3)
        fit = st.tuples(st.sampled_from(["list", "tuple", "query"]), items)
    elif kind == "dict of":
        pair = st.tuples(*(values_for(each, depth - 1) for each in field["inner"]))
        fit = st.tuples(st.just("mapping"), st.lists(pair, max_size=3))
    elif kind == "tuple of":
        fit = st.tuples(
            st.just("tuple"), st.tuples(*(values_for(each, depth - 1) for each in field["inner"]))
        )
    elif kind == "pluck of":
        fit = st.one_of(objects_for(field["schema"], depth - 1), _ODD)
    elif kind == "many schemas":
        objects = st.lists(objects_for(field["schema"], depth - 1), max_size=3)
        fit = st.tuples(st.just("list"), objects)
    elif kind == "one schema":
        fit = objects_for(field["schema"], depth - 1)
    else:
        return _leaves(kind.partition("-")[0])
    return _mostly(fit)


def objects_for(schema, depth=3, kinds=None):
    """Descriptions of objects (or of mappings to load) for a described schema."""
    entries = {}
    for name, field in schema["fields"].items():
        for key in {name, field["options"].get("data_key", name)}:
            entries[key] = values_for(field, depth)
    content = st.builds(
        lambda known, more: {**more, **known}, st.fixed_dictionaries({}, optional=entries), _EXTRA
    )
    full = st.builds(lambda known, more: {**more, **known}, st.fixed_dictionaries(entries), _EXTRA)
    kind = _kinds(tuple(kinds or sorted(OBJECTS)))
    return st.tuples(st.just("object"), kind, st.one_of(full, full, content))


def build_value(described):
    """The value that a description stands for, made anew."""
    sort, *rest = described
    if sort == "value":
        return VALUES[rest[0]]()
    if sort == "mapping":
        made = {}
        for key, value in rest[0]:
            with suppress(Exception):  # Not every key can be hashed and compared.
                made[build_value(key)] = build_value(value)
        return made
    if sort == "object":
        kind, content = rest
        made = {key: build_value(value) for key, value in content.items()}
        try:
            return OBJECTS[kind](**made)
        except Exception:
            return made
    items = [build_value(each) for each in rest[0]]
    if sort == "tuple":
        return tuple(items)
    return iter(items) if sort == "query" else items
