"""Hooks and validators of schemas: which are called, in which order, with what."""

import collections
import functools
import itertools
import json

import pytest

from tests.conformance.harness import FROM_FIRST_USE
from tests.conformance.lacking import REMEMBERS, has, without
from tests.conformance.material import Mapped, Plain, Query, written

MODES = FROM_FIRST_USE

KEEPS_OPTIONS = "schema.Schema._has_processors"
"""Releases that have it ask each function for its options: another one has none."""
PROCESSORS = ["pre_dump", "post_dump", "pre_load", "post_load"]
FLAGS = list(itertools.product([False, True], repeat=2))


def run_all(log, schema):
    rows = [{"f": "1"}, {"f": 2}]
    for one in (rows[0], None):
        log.attempt(schema.dump, one)
    for several in (rows, Query(*rows), None, []):
        log.attempt(schema.dump, several, many=True)
    for one in (rows[0], Mapped(rows[0]), 3):
        log.attempt(schema.load, one)
    for several in (rows, tuple(rows), [{"f": "bad"}, {"z": 1}], []):
        log.attempt(schema.load, several, many=True)
    log.attempt(schema.load, {"f": "bad"}, partial=("f",), unknown="exclude")
    log.attempt(schema.validate, rows[0])
    log.attempt(schema.dumps, rows[0])
    log.attempt(schema.loads, '{"f": "3"}')


@pytest.mark.parametrize(("pass_collection", "pass_original"), FLAGS)
@pytest.mark.parametrize("tag", PROCESSORS)
def test_processors(ma, log, tag, pass_collection, pass_original):
    decorate = getattr(ma, tag)
    options = {"pass_collection": pass_collection}
    if tag.startswith("post"):
        options["pass_original"] = pass_original

    class S(ma.Schema):
        f = ma.fields.Integer()
        process = decorate(**options)(log.hook("process"))

    run_all(log, S())
    run_all(log, S(many=True))


@pytest.mark.parametrize(
    "returned", ["none", "other", "list", "missing", "input", "fewer", "a generator"]
)
@pytest.mark.parametrize("pass_collection", [False, True])
@pytest.mark.parametrize("tag", PROCESSORS)
def test_what_processors_return(ma, log, tag, pass_collection, returned):
    values = {"none": None, "other": {"f": 7}, "list": [{"f": 8}], "missing": ma.missing}

    class S(ma.Schema):
        f = ma.fields.Integer()

        @getattr(ma, tag)(pass_collection=pass_collection)
        def process(self, data, **kwargs):
            if isinstance(data, list) and returned == "fewer":
                return data[1:]
            if isinstance(data, list) and returned == "a generator":
                return (dict(each) for each in data)
            return values.get(returned, data)

        check = ma.validates_schema(pass_original=True)(log.hook("check"))
        after = ma.post_dump(pass_original=True)(
            ma.post_load(pass_original=True)(log.hook("after"))
        )

    run_all(log, S())


@pytest.mark.parametrize(
    "error", ["validation", "field", "messages", "list", "other", "no messages", "no text"]
)
@pytest.mark.parametrize("tag", [*PROCESSORS, "validates_schema"])
@pytest.mark.parametrize("pass_collection", [False, True])
def test_processors_that_fail(ma, log, pass_collection, tag, error):
    errors = {
        "validation": lambda: ma.ValidationError("no"),
        "field": lambda: ma.ValidationError("no", "f"),
        "messages": lambda: ma.ValidationError({"f": ["a"], "g": "b"}, valid_data={"x": 1}),
        "list": lambda: ma.ValidationError(["a", {"b": "c"}], "unheard_of"),
        "other": lambda: ZeroDivisionError("no"),
        "no messages": lambda: ma.ValidationError([]),
        "no text": lambda: ma.ValidationError(""),
    }

    class S(ma.Schema):
        f = ma.fields.Integer(data_key="F")

        @getattr(ma, tag)(pass_collection=pass_collection)
        def process(self, data, **kwargs):
            log("process", data)
            raise errors[error]()

        def handle_error(self, error, data, **kwargs):
            log("handle_error", error, data, kwargs)

    schema = S()
    run_all(log, schema)
    log.attempt(schema.load, [{"F": 1}, {"F": "x"}], many=True)


def test_order_of_everything(ma, log):
    class Base(ma.Schema):
        f = ma.fields.Integer(
            validate=log.spy("validator", lambda value: True),
            pre_load=log.spy("pre", lambda value: value),
            post_load=[log.spy("post", lambda value: value)],
        )

        zz = ma.post_load(log.hook("zz"))
        check = ma.validates("f")(log.hook("check"))

    class S(Base):
        g = ma.fields.Nested(Base)
        aa = ma.pre_load(ma.post_load(ma.pre_dump(ma.post_dump(log.hook("aa")))))
        whole = ma.validates_schema(skip_on_field_errors=False, pass_original=True)(
            log.hook("whole")
        )
        all_of_them = ma.validates_schema(pass_collection=True)(log.hook("all"))

        @ma.validates("f", "g")
        def check_more(self, value, data_key):
            log("check more", value, data_key)

    schema = S()
    for _ in range(2):
        log.attempt(schema.load, {"f": "1", "g": {"f": 2}})
        log.attempt(schema.load, [{"f": "x", "g": {"f": 2}}, {"f": 1}], many=True)
        log.attempt(schema.dump, [{"f": "1", "g": {"f": 2}}], many=True)


@pytest.mark.parametrize("how", ["missing", "validation", "other", "ok", "excluded", "unheard_of"])
def test_validates(ma, log, how):
    class S(ma.Schema):
        f = ma.fields.Integer(attribute="x", data_key="F")
        g = ma.fields.Integer(attribute="a.b")
        h = ma.fields.Integer()

        @ma.validates("unheard_of" if how == "unheard_of" else "f", "g", "h")
        def check(self, value, data_key):
            log("check", value, data_key)
            if how == "validation":
                raise ma.ValidationError({"sub": ["x"]}, valid_data=[1])
            if how == "other":
                raise KeyError(value)

    schema = S(exclude=("f",)) if how == "excluded" else S()
    for data in ({"F": 1, "g": 2, "h": 3}, {}, {"F": "x", "h": 1}, {"h": "x"}):
        log.attempt(schema.load, data)
        log.attempt(schema.load, [data, data], many=True)
        log.attempt(schema.validate, data)


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("pass_original", [True, False])
@pytest.mark.parametrize("pass_collection", [True, False])
def test_validates_schema(ma, log, pass_collection, pass_original, skip):
    class S(ma.Schema):
        f = ma.fields.Integer(data_key="F")
        g = ma.fields.Integer()

        @ma.validates_schema(
            pass_collection=pass_collection, pass_original=pass_original, skip_on_field_errors=skip
        )
        def check(self, *args, **kwargs):
            log("check", args, kwargs)
            raise ma.ValidationError("no", field_name="f")

        @ma.validates_schema
        def other(self, data, **kwargs):
            raise ma.ValidationError({"g": {0: ["x"]}, "F": "y"})

    for data in ({"F": 1, "g": 2}, {"F": "x"}, {}, 3):
        log.attempt(S().load, data)
        log.attempt(S().load, [data, {"F": 3}], many=True)
        log.attempt(S().validate, data)


KINDS_OF_HOOKS = {
    "static": staticmethod,
    "class": classmethod,
    "property": property,
    "function": lambda tagged: tagged,
    "partial": lambda tagged: functools.partial(tagged, 1),
    "instance": lambda tagged: tagged,
}


@pytest.mark.parametrize(
    "kind",
    [*list(KINDS_OF_HOOKS)[:-1], pytest.param("instance", marks=without(KEEPS_OPTIONS))],
)
def test_hooks_of_odd_kinds(ma, log, kind):
    def process(*args, **kwargs):
        log("process", len(args), kwargs)
        return {"f": 5}

    made = KINDS_OF_HOOKS[kind](ma.post_dump(process))
    schema = type("S", (ma.Schema,), {"f": ma.fields.Raw(), "p": made})()
    if kind == "instance":
        schema.p = lambda data, **kwargs: {"from": "instance"}
    for _ in range(2):
        log.attempt(schema.dump, {"f": 1})
        log.attempt(schema.dump, [{"f": 1}], many=True)


def test_hooks_are_inherited_and_overridden(ma, log):
    class Mixin:
        mixed = ma.post_dump(log.hook("mixin"))

    class Base(ma.Schema):
        f = ma.fields.Raw()
        process = ma.post_dump(log.hook("base"))

        silenced = ma.post_dump(log.hook("silenced"))

    class S(Mixin, Base):
        silenced = None

        def process(self, data, **kwargs):
            log("untagged")
            return data

    log("hooks", dict(S._hooks), dict(Base._hooks))
    log.attempt(S().dump, {"f": 1})
    log.attempt(Base().dump, {"f": 1})
    S.process = lambda self, data, **kwargs: {"patched": data}
    log.attempt(S().dump, {"f": 1})
    Base.process = lambda self, data, **kwargs: {"patched": data}
    log.attempt(Base().dump, {"f": 1})


def test_hooks_of_nested_schemas(ma, log):
    class Inner(ma.Schema):
        x = ma.fields.Integer()

        @ma.pre_dump
        @ma.pre_load
        def before(self, data, **kwargs):
            log("before", data, kwargs)
            return {"x": 1} if data == "make" else data

        @ma.post_dump(pass_collection=True, pass_original=True)
        def envelope(self, data, original, many, **kwargs):
            log("envelope", data, original, many)
            return {"items": data}

        @ma.post_load
        def build(self, data, **kwargs):
            return Plain(**data)

    class S(ma.Schema):
        one = ma.fields.Nested(Inner)
        many = ma.fields.Nested(Inner, many=True)
        listed = ma.fields.List(ma.fields.Nested(Inner))
        plucked = ma.fields.Pluck(Inner, "x")

    data = {"one": "make", "many": [{"x": 2}, "make"], "listed": ["make"]}
    for _ in range(2):
        log.attempt(S().dump, data)
        log.attempt(S().load, {"one": {"x": 1}, "many": [{"x": 2}], "plucked": 4})
        log.attempt(S().load, {"one": {"x": "bad"}, "many": [{"x": "bad"}]})
        log.attempt(S().dump, {"plucked": {"x": 3}})


HOOK_CHANGES = written(
    {}, "hooks, tag, entry",
    append="hooks[tag].append(entry)",
    replace="hooks[tag] = [entry]",
    exchange="hooks[tag][:] = [entry]",
)  # fmt: skip
TAGS = [*PROCESSORS, "validates", "validates_schema"]


def entry_of(tag):
    """What marshmallow's decorators enter for a method ``process``."""
    if tag == "validates":
        return "process", False, {"field_names": ("f",)}
    if tag == "validates_schema":
        return "process", False, {"pass_original": True, "skip_on_field_errors": False}
    return "process", False, {"pass_original": tag.startswith("post")}


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("change", HOOK_CHANGES)
@pytest.mark.parametrize("tag", TAGS)
def test_hooks_that_come_and_go_between_calls(ma, log, tag, change, nested):
    class S(ma.Schema):
        f = ma.fields.Integer()
        process = log.hook("process")

    class Parent(ma.Schema):
        child = ma.fields.Nested(S)
        children = ma.fields.List(ma.fields.Nested(S))

    def use():
        row = {"child": {"f": 1}, "children": [{"f": 2}, {"f": 3}]} if nested else {"f": 1}
        for _ in range(4):
            log.attempt(schema.dump, row)
            log.attempt(schema.dump, [row], many=True)
            log.attempt(schema.dumps, row)
            log.attempt(schema.load, row)
            log.attempt(schema.loads, json.dumps(row))
            log("entries that looking for hooks leaves", list(S._hooks), list(Parent._hooks))

    schema = Parent() if nested else S()
    use()
    change = HOOK_CHANGES[change]
    for after in (lambda: S._hooks[tag].clear(), lambda: S._hooks.pop(tag)):
        change(S._hooks, tag, entry_of(tag))
        use()
        after()
        use()


def tables_of_hooks(log, hooks):
    """Tables of hooks that answer otherwise than a dictionary, or say that they are asked."""

    class Answering(dict):
        def __getitem__(self, tag):
            log("asked for", tag)
            return hooks[tag]

    class Forgetting(dict):
        def __missing__(self, tag):
            log("made", tag)
            return hooks[tag]

    class Attributes(dict):
        def __getattr__(self, name):
            log("asked for", name)
            return self[name]

    class Factory(collections.defaultdict):
        @property
        def default_factory(self):
            log("factory")
            return list

    class Hooks(list):
        def __len__(self):
            log("length")
            return 0

    def factory():
        log("made")
        return []

    return {
        "answering": Answering({tag: [] for tag in hooks}),
        "forgetting": Forgetting(),
        "attributes": Attributes(hooks),
        "attributes missing": Attributes({tag: [] for tag in hooks if tag != "post_dump"}),
        "property": Factory(list, hooks),
        "no entries": Factory(list),
        "own factory": collections.defaultdict(factory),
        "own lists": {tag: Hooks(each) for tag, each in hooks.items()},
        "tuples": {tag: tuple(each) for tag, each in hooks.items()},
        "deques": {tag: collections.deque(each) for tag, each in hooks.items()},
        "iterators": {tag: iter(each) for tag, each in hooks.items()},
        "none": dict.fromkeys(hooks),
        "nothing": {},
    }


@pytest.mark.parametrize("of", ["class", "instance"])
@pytest.mark.parametrize(
    "table",
    [
        # The former releases keep what the table was when they asked it first.
        pytest.param(name, marks=without(REMEMBERS)) if name.startswith("own") else name
        for name in tables_of_hooks(None, dict.fromkeys(TAGS, ()))
    ],
)
def test_a_table_of_hooks_that_answers_itself(ma, log, table, of):
    class S(ma.Schema):
        f = ma.fields.Function(lambda obj: log("field"), deserialize=lambda value: log("field"))

        def process(self, data, **kwargs):
            return dict(data, f=5)

    hooks = {tag: [] for tag in TAGS}
    hooks["post_dump"] = hooks["post_load"] = [("process", False, {})]
    schema = S()
    if not has(REMEMBERS):
        log.attempt(schema.dump, {"f": 1})
        log.attempt(schema.load, {"f": 1})
    (S if of == "class" else schema)._hooks = tables_of_hooks(log, hooks)[table]
    for _ in range(3):
        for call in (schema.dump, schema.dumps, schema.load):
            log.attempt(call, {"f": 1})
        log.attempt(schema.dump, [{"f": 1}], many=True)
        log.attempt(schema.loads, '{"f": "x"}')
        if of == "class" and table == "own factory":
            S._hooks.pop("post_dump", None)


@pytest.mark.parametrize("tag", ["post_load", "validates_schema"])
def test_the_original_holds_what_the_fields_were_given(ma, log, tag):
    class S(ma.Schema):
        s = ma.fields.String()
        f = ma.fields.Float()
        r = ma.fields.Raw()

        @getattr(ma, tag)(pass_original=True)
        def look(self, data, original, **kwargs):
            log("same", [data[name] is original[name] for name in original])
            return data

    schema = S()
    for _ in range(4):
        log.attempt(schema.loads, '{"s": "hello world", "f": 1.5, "r": {"a": "some text"}}')
