"""Schema classes as plain data, drawn at random, and made into classes of either library."""

import collections

from hypothesis import strategies as st

from tests.conformance.material import FIELDS, VALUES

NAMES = ["a", "b", "c", "d", "items", "get"]
SIMPLE = [kind for kind in FIELDS if not kind.startswith(("nested", "pluck", "list-nested"))]
OVERRIDES = [
    *("serialize", "get_value", "_serialize", "deserialize", "_deserialize", "_validate"),
    *("_validated", "_format_num"),
]
VALIDATORS = {
    "length": lambda ma: ma.validate.Length(min=1, max=3),
    "range": lambda ma: ma.validate.Range(min=0, max=50, max_inclusive=False),
    "one-of": lambda ma: ma.validate.OneOf([1, "text", None, 1.5]),
    "none-of": lambda ma: ma.validate.NoneOf(["text", 42]),
    "equal": lambda ma: ma.validate.Equal(1),
    "regexp": lambda ma: ma.validate.Regexp("^[a-z]+$", error="not {regex}: {input}"),
    "email": lambda ma: ma.validate.Email(),
    "url": lambda ma: ma.validate.URL(relative=True),
    "contains": lambda ma: ma.validate.ContainsOnly([1, 2, "t", "e", "x"]),
    "predicate": lambda ma: ma.validate.Predicate("isalpha"),
    "and": lambda ma: ma.validate.And(ma.validate.Length(max=2), ma.validate.Length(min=1)),
    "false": lambda ma: lambda value: False,
    "fails": lambda ma: _fail(ma, "failed"),
    "fails-dict": lambda ma: _fail(ma, {"sub": ["failed"]}),
    "breaks": lambda ma: lambda value: value + 1,
}
HOOKS = ["pre_dump", "post_dump", "pre_load", "post_load", "validates_schema"]
SCHEMA_OVERRIDES = ["get_attribute", "dump", "load", "handle_error", "_serialize", "_deserialize"]

value_names = st.sampled_from(sorted(VALUES))


def _fail(ma, messages):
    def fail(value):
        raise ma.ValidationError(messages)

    return fail


MODES = st.sampled_from(["raise", "exclude", "include"])


def _names(count):
    return st.lists(st.sampled_from(NAMES), max_size=count)


def _seldom(strategy):
    return st.one_of(st.none(), st.none(), st.none(), strategy)


def _optional(**options):
    return st.fixed_dictionaries({}, optional=options)


field_options = _optional(
    data_key=st.sampled_from(["", "key", "a", "b", "other", "with.dot"]),
    attribute=st.sampled_from(["a", "x", "a.b", "x.y.z", "items"]),
    required=st.just(True),
    allow_none=st.booleans(),
    load_only=st.just(True),
    dump_only=st.just(True),
    dump_default=st.sampled_from(["missing", "none", "one", "text", "list()"]),
    load_default=st.sampled_from(["missing", "none", "one", "text", "list()"]),
    validate=st.lists(st.sampled_from(sorted(VALIDATORS)), max_size=3),
    pre_load=st.sampled_from(["str", "identity"]),
    post_load=st.sampled_from(["str", "identity"]),
)
# Most fields have few options: a schema of odd ones alone says little.
sparse_options = st.one_of(st.just({}), st.just({}), field_options)


def _field(kind, **more):
    return st.fixed_dictionaries(
        {
            "kind": st.just(kind),
            "options": sparse_options,
            "override": _seldom(st.sampled_from(OVERRIDES)),
            "subclass": st.booleans(),
            **more,
        }
    )


simple_fields = st.sampled_from(SIMPLE).flatmap(_field)


def _deeper(inner):
    fields = inner.filter(lambda field: field["kind"] not in ("method-none",))
    schemas = _schemas(fields, max_fields=3)
    nested_options = _optional(only=_names(2), exclude=_names(1), unknown=MODES)
    form = st.sampled_from(["class", "instance", "lambda", "name"])
    return st.one_of(
        _field("list of", inner=st.tuples(fields)),
        _field("dict of", inner=st.tuples(simple_fields, fields)),
        _field("tuple of", inner=st.lists(fields, min_size=1, max_size=2).map(tuple)),
        _field("one schema", schema=schemas, nested=nested_options, form=form),
        _field("many schemas", schema=schemas, nested=nested_options, form=form),
        _field("pluck of", schema=schemas, name=st.sampled_from(NAMES)),
    )


def _schemas(fields, max_fields):
    return st.fixed_dictionaries(
        {
            "fields": st.dictionaries(
                st.sampled_from(NAMES), fields, min_size=1, max_size=max_fields
            ),
            "meta": _optional(
                unknown=MODES, index_errors=st.just(False), dump_only=_names(1), load_only=_names(1)
            ),
            "hooks": st.lists(
                st.tuples(st.sampled_from(HOOKS), st.booleans(), st.booleans()), max_size=2
            ),
            "override": _seldom(st.sampled_from(SCHEMA_OVERRIDES)),
            "dict_class": st.one_of(st.none(), st.none(), st.just("ordered")),
        }
    )


def _fields():
    return st.recursive(simple_fields, _deeper, max_leaves=4)


schemas = _schemas(_fields(), max_fields=5)
"""Descriptions of schema classes."""

instance_options = _optional(
    only=st.lists(st.sampled_from([*NAMES, "a.a", "b.c"]), min_size=1, max_size=3),
    exclude=st.lists(st.sampled_from([*NAMES, "a.b"]), max_size=2),
    many=st.booleans(),
    unknown=MODES,
    partial=st.sampled_from([True, False, (), ("a",), ("a.a", "b")]),
    load_only=_names(1),
    dump_only=_names(1),
)
instances = st.one_of(st.just({}), st.just({}), instance_options)
"""Options of a schema instance."""


def default(ma, name):
    return {"missing": ma.missing, "none": None, "one": 1, "text": "text", "list()": list}[name]


PROCESSORS = {"str": str, "identity": lambda value: value}


def _options(ma, described):
    options = dict(described)
    for name, value in described.items():
        if name.endswith("_default"):
            options[name] = default(ma, value)
        elif name in ("pre_load", "post_load"):
            options[name] = PROCESSORS[value]
        elif name == "validate":
            options[name] = [VALIDATORS[each](ma) for each in value]
    if "load_default" in options:
        options.pop("required", None)
    return options


def logged(log, name, original):
    """A method that records that it was called, and goes on."""

    def method(self, *args, **kwargs):
        log(name, [type(arg).__name__ for arg in args], sorted(kwargs))
        return original(self, *args, **kwargs)

    return method


def build_field(ma, log, described):
    """A field of library ``ma`` from its description."""
    kind = described["kind"]
    fields = ma.fields
    options = _options(ma, described["options"])
    inner = [build_field(ma, log, each) for each in described.get("inner", ())]
    if kind == "list of":
        field = fields.List(inner[0], **options)
    elif kind == "dict of":
        field = fields.Dict(keys=inner[0], values=inner[1], **options)
    elif kind == "tuple of":
        field = fields.Tuple(inner, **options)
    elif kind == "pluck of":
        field = fields.Pluck(build_schema(ma, log, described["schema"]), described["name"])
        _set(ma, field, options)
    elif kind in ("one schema", "many schemas"):
        cls = build_schema(ma, log, described["schema"])
        nested = {
            "class": lambda: cls,
            "instance": lambda: cls(),
            "lambda": lambda: lambda: cls,
            "name": lambda: cls.__name__,
        }[described["form"]]()
        many = True if kind == "many schemas" else None
        field = fields.Nested(nested, many=many, **described["nested"], **options)
    else:
        field = FIELDS[kind](ma)
        _set(ma, field, options)
    override = described["override"]
    if override is not None or described["subclass"]:
        base = type(field)
        members = {}
        if override is not None and hasattr(base, override):
            members[override] = logged(log, override, getattr(base, override))
        field.__class__ = type(base.__name__, (base,), members)
    return field


def _set(ma, field, options):
    for name, value in options.items():
        if name == "validate":
            field.validators.extend(value)
        elif name in ("pre_load", "post_load"):
            getattr(field, name).append(value)
        else:
            setattr(field, name, value)


def build_schema(ma, log, described):
    """A schema class of library ``ma`` from its description."""
    members = {name: build_field(ma, log, field) for name, field in described["fields"].items()}
    members["Meta"] = type("Meta", (), dict(described["meta"]))
    if described["dict_class"]:
        members["dict_class"] = collections.OrderedDict
    for number, (tag, collection, original) in enumerate(described["hooks"]):
        members[f"hook_{number}"] = _hook(ma, log, tag, collection, original)
    override = described["override"]
    if override is not None:
        members[override] = logged(log, override, getattr(ma.Schema, override))
    # The name by which a field may nest it; the same for both libraries, and its own.
    return type(f"Schema_{abs(hash(repr(described))) % 10**12}", (ma.Schema,), members)


def _hook(ma, log, tag, collection, original):
    def hook(self, data, *args, **kwargs):
        log(tag, data, args, kwargs)
        if tag == "validates_schema":
            if isinstance(data, dict) and len(data) == 1:
                raise ma.ValidationError({"a": ["from the schema"]})
            return None
        if isinstance(data, dict) and tag.startswith("post"):
            return {**data, "hooked": tag}
        return data

    options = {"pass_collection": collection}
    if tag.startswith("post") or tag == "validates_schema":
        options["pass_original"] = original
    return getattr(ma, tag)(**options)(hook)
