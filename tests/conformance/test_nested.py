"""Nested schemas in every form, with every option, resolved at every moment."""

import copy
import json

import pytest

from tests.conformance.material import HOLDERS, Mapped, Plain, schema_of, written

ITEM = {"x": "1", "y": 2, "z": {"x": 5}}
OBJECTS = [
    ITEM, {}, None, 3, "text", [], [ITEM], (ITEM, {}), Plain(x=1, y=Plain()), Mapped(ITEM),
    [None, ITEM], {"x": "bad", "q": 1}, [{"x": "bad"}, ITEM, 3],
]  # fmt: skip


def inner_class(ma):
    class Inner(ma.Schema):
        x = ma.fields.Integer(required=True)
        y = ma.fields.Raw(data_key="Y", attribute="y")
        z = ma.fields.Nested({"x": ma.fields.Integer()})

    return Inner


FORMS = {
    "class": lambda ma, inner: {"nested": inner},
    "instance": lambda ma, inner: {"nested": inner()},
    "instance-many": lambda ma, inner: {"nested": inner(many=True)},
    "instance-only": lambda ma, inner: {"nested": inner(only=("x",))},
    "instance-unknown": lambda ma, inner: {"nested": inner(unknown="include")},
    "instance-partial": lambda ma, inner: {"nested": inner(partial=True)},
    "name": lambda ma, inner: {"nested": "Inner"},
    "full-name": lambda ma, inner: {"nested": f"{inner.__module__}.Inner"},
    "unheard-of": lambda ma, inner: {"nested": "NoSuchSchema"},
    "lambda-class": lambda ma, inner: {"nested": lambda: inner},
    "lambda-instance": lambda ma, inner: {"nested": lambda: inner(exclude=("y",))},
    "lambda-name": lambda ma, inner: {"nested": lambda: "Inner"},
    "lambda-dict": lambda ma, inner: {"nested": lambda: {"x": ma.fields.Raw()}},
    "dict": lambda ma, inner: {"nested": {"x": ma.fields.Raw()}},
    "number": lambda ma, inner: {"nested": 3},
    "lambda-none": lambda ma, inner: {"nested": lambda: None},
    "lambda-raises": lambda ma, inner: {"nested": lambda: 1 / 0},
    "many": lambda ma, inner: {"nested": inner, "many": True},
    "not-many": lambda ma, inner: {"nested": inner(many=True), "many": False},
    "only": lambda ma, inner: {"nested": inner, "only": ("x", "z.x")},
    "only-instance": lambda ma, inner: {"nested": inner(only=("x", "y")), "only": ("y", "z")},
    "exclude": lambda ma, inner: {"nested": inner, "exclude": ("x", "z.x")},
    "exclude-instance": lambda ma, inner: {"nested": inner(exclude=("x",)), "exclude": ("y",)},
    "only-wrong": lambda ma, inner: {"nested": inner, "only": ("nope",)},
    "unknown": lambda ma, inner: {"nested": inner, "unknown": "exclude"},
    "none": lambda ma, inner: {"nested": inner, "allow_none": True},
    "required": lambda ma, inner: {"nested": inner, "required": True},
    "default": lambda ma, inner: {"nested": inner, "dump_default": dict, "load_default": dict},
    "default-none": lambda ma, inner: {"nested": inner, "load_default": None},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("holder", ["alone", "list", "dict", "tuple"])
def test_forms(ma, log, holder, form):
    hold, fill = HOLDERS[holder]
    field = hold(ma, ma.fields.Nested(**FORMS[form](ma, inner_class(ma))))
    schema = schema_of(ma, {"a": ma.fields.Integer(), "f": field})
    for obj in OBJECTS:
        value = fill(lambda: obj)  # noqa: B023
        log.attempt(schema.dump, {"a": 1, "f": value})
        log.attempt(schema.load, {"a": 1, "f": value})
    log.attempt(schema.dump, {})
    log.attempt(schema.load, {"a": "bad"})
    log.attempt(schema.load, [{"f": OBJECTS[-1]}, {}], many=True, partial=("f.x",))


@pytest.mark.parametrize("many", [True, False])
@pytest.mark.parametrize("name", ["x", "y", "z", "nope"])
def test_pluck(ma, log, name, many):
    schema = schema_of(
        ma,
        {
            "f": ma.fields.Pluck(inner_class(ma), name, many=many),
            "g": ma.fields.List(ma.fields.Pluck("Inner", name)),
            "h": ma.fields.Pluck(inner_class(ma)(many=True), name, many=many),
        },
    )
    for obj in OBJECTS:
        for key in "fgh":
            log.attempt(schema.dump, {key: obj})
            log.attempt(schema.load, {key: obj})
            log.attempt(schema.load, {key: obj, "q": 1}, unknown="exclude", partial=True)


@pytest.mark.parametrize("gives", ["none", "missing"])
@pytest.mark.parametrize("way", ["dump", "post_dump"])
def test_a_nested_schema_that_gives_nothing(ma, log, way, gives):
    def nothing(self, *args, **kwargs):
        return None if gives == "none" else ma.missing

    own = ma.post_dump(nothing) if way == "post_dump" else nothing
    inner = type("Inner", (ma.Schema,), {"x": ma.fields.Integer(), way: own})
    for field in (ma.fields.Nested(inner), ma.fields.Pluck(inner, "x")):
        schema = schema_of(ma, {"f": field, "g": ma.fields.Integer()})
        log.attempt(schema.dump, {"f": {"x": 1}, "g": 2})


OPTIONS = [
    {}, {"only": ("a",)}, {"only": ("a", "n.x")}, {"only": ("n.z.x", "m.x")},
    {"only": ["n", "n.x"]}, {"only": {"n.x", "l.y"}}, {"only": ()}, {"only": ("n.nope",)},
    {"only": ("nope",)}, {"only": ("a.b",)}, {"only": "a"}, {"exclude": ("n",)},
    {"exclude": ("nope",)}, {"exclude": ("n.x", "m.z", "l.z.x", "d.y")}, {"exclude": "a"},
    {"only": ("n.x", "n.y"), "exclude": ("n.y",)}, {"only": ("a", "n"), "exclude": ("a",)},
    {"load_only": ("a", "n.x")}, {"dump_only": ("a", "n.x", "l")},
    {"load_only": ("n",), "dump_only": ("m",)}, {"partial": True}, {"partial": ("n.x",)},
    {"unknown": "include"}, {"many": True},
]  # fmt: skip


def outer_class(ma):
    inner = inner_class(ma)

    class Outer(ma.Schema):
        a = ma.fields.Integer(required=True)
        n = ma.fields.Nested(inner)
        m = ma.fields.Nested(lambda: inner(many=True))
        l = ma.fields.List(ma.fields.Nested(inner))  # noqa: E741
        d = ma.fields.Dict(values=ma.fields.Nested(inner))
        p = ma.fields.Pluck(inner, "x")

    return Outer


OUTER = {"a": 1, "n": ITEM, "m": [ITEM, {"x": "bad"}], "l": [ITEM], "d": {"k": ITEM}, "p": ITEM}
LOADED = {
    "a": 1, "n": {"x": "1", "Y": 2, "z": {"x": 5}}, "m": [{"x": 1}, {"Y": 2}],
    "l": [{"x": 1, "q": 2}], "d": {"k": {"x": 1, "z": {"x": "bad"}}}, "p": "7",
}  # fmt: skip


def in_order(options):
    """Options as a name that is the same in each process: sets are sorted."""
    shown = {k: sorted(v) if isinstance(v, set) else v for k, v in options.items()}
    return str(shown)


@pytest.mark.parametrize("options", OPTIONS, ids=in_order)
def test_options(ma, log, options):
    made = log.attempt(outer_class(ma), **options)
    if isinstance(made, Exception):
        return
    good = copy.deepcopy(OUTER)
    good["m"] = [ITEM]
    for _ in range(2):
        log.attempt(made.dump, good)
        log.attempt(made.dump, [good, {}], many=True)
        log.attempt(made.dump, OUTER)
        log.attempt(made.load, copy.deepcopy(LOADED))
        log.attempt(made.load, [copy.deepcopy(LOADED), {}], many=True)
    log("fields", list(made.fields), list(made.dump_fields), list(made.load_fields))
    log("options", made.only, made.exclude, made.load_only, made.dump_only)
    for name in ("n", "m", "p"):
        if name in made.fields:
            nested = made.fields[name].schema
            log(name, list(nested.fields), nested.only, nested.exclude, nested.many)


@pytest.mark.parametrize("options", OPTIONS, ids=in_order)
def test_options_of_the_nested_field(ma, log, options):
    given = {k: v for k, v in options.items() if k in ("only", "exclude", "many", "unknown")}
    made = log.attempt(ma.fields.Nested, outer_class(ma), **given)
    if isinstance(made, Exception):
        return
    for extra in ({}, {"only": ("f.a", "f.n.x")}, {"exclude": ("f.m", "f.n.y")}):
        schema = log.attempt(schema_of, ma, {"f": made}, **extra)
        if isinstance(schema, Exception):
            continue
        for _ in range(2):
            log.attempt(schema.dump, {"f": OUTER})
            log.attempt(schema.dump, {"f": [OUTER]})
            log.attempt(schema.load, {"f": copy.deepcopy(LOADED)})


def test_schemas_that_nest_each_other(ma, log):
    class Author(ma.Schema):
        name = ma.fields.String()
        books = ma.fields.List(ma.fields.Nested("Book", exclude=("author",)))
        best = ma.fields.Nested(lambda: Book(only=("title",)))

    class Book(ma.Schema):
        title = ma.fields.String()
        author = ma.fields.Nested(Author, exclude=("books",))
        sequel = ma.fields.Nested(lambda: Book())

    author = {"name": "A", "books": [{"title": "T"}], "best": {"title": "T"}}
    book = {"title": "T", "author": author, "sequel": {"title": "U", "sequel": {"title": "V"}}}
    author["books"][0]["author"] = author
    narrow = Book(only=("sequel.title",)), Book(exclude=("sequel.sequel",))
    for schema in (Author(), Book(), *narrow):
        for _ in range(2):
            log.attempt(schema.dump, book)
            log.attempt(schema.dump, author)
            log.attempt(schema.load, {"title": 1, "sequel": {"title": "x", "sequel": {"title": 2}}})


@pytest.mark.parametrize("first", ["dump", "load"])
@pytest.mark.parametrize("form", ["class", "instance", "many", "pluck", "list"])
def test_a_schema_that_is_false(ma, log, form, first):
    class Inner(ma.Schema):
        x = ma.fields.Integer()

        def __len__(self):
            return 0

    nested = {
        "class": ma.fields.Nested(Inner),
        "instance": ma.fields.Nested(Inner()),
        "many": ma.fields.Nested(Inner, many=True),
        "pluck": ma.fields.Pluck(Inner, "x"),
        "list": ma.fields.List(ma.fields.Nested(Inner)),
    }
    schema = schema_of(ma, {"f": nested[form]})
    value = [{"x": 1}] if form in ("many", "list") else {"x": "2"}
    for name in (first, "dump", "load", "dump", "load"):
        given = 3 if form == "pluck" and name == "load" else value
        log.attempt(getattr(schema, name), {"f": given})
        log.attempt(getattr(schema, name), [{"f": given}] * 2, many=True)


CHANGES = written(
    {}, "ma, log, self, data",
    unknown='self.unknown = ma.INCLUDE if "open" in data else ma.RAISE',
    partial="self.partial = not self.partial",
    many="self.many = not self.many",
    fields="""names = ["a", "b"] if "open" in data else ["a"]
self.dump_fields = {name: self.fields[name] for name in names}""",
    handler='self.handle_error = log.spy("handled", lambda error, data, **options: None)',
)  # fmt: skip
MOMENTS = {
    "unknown": "pre_load", "partial": "post_load", "many": "post_dump", "fields": "pre_dump",
    "handler": "pre_load",
}  # fmt: skip


def changing_item(ma, log, change):
    """A nested schema whose hooks or properties answer otherwise for each value."""

    def hook(self, data, **options):
        CHANGES[change](ma, log, self, data)
        return data

    asked = iter(range(1000))

    def compute(self):
        return ma.INCLUDE if next(asked) % 2 else ma.RAISE

    members = {name: ma.fields.Integer(required=True) for name in "ab"}
    if change == "computed":
        members["unknown"] = property(compute, lambda self, value: None)
    else:
        members["hook"] = getattr(ma, MOMENTS[change])(hook)
    return type("Item", (ma.Schema,), members)


@pytest.mark.parametrize("form", ["list", "mapping", "rows", "rows-deeper"])
@pytest.mark.parametrize("change", [*CHANGES, "computed"])
def test_a_nested_schema_that_differs_from_value_to_value(ma, log, change, form):
    """What its hooks change is seen by the next value: upstream calls it anew for each."""
    item = ma.fields.Nested(changing_item(ma, log, change))
    values = [
        {"a": 1, "b": 2, "open": 1}, {"a": 1}, {"a": 1, "z": 3}, {"open": 1}, {"a": 5, "b": 6},
    ]  # fmt: skip
    field, given = {
        "list": (ma.fields.List(item), {"f": values}),
        "mapping": (ma.fields.Dict(values=item), {"f": dict(zip("pqrst", values, strict=True))}),
        "rows": (item, [{"f": value} for value in values]),
        "rows-deeper": (
            ma.fields.Nested(schema_of(ma, {"g": item})),
            [{"f": {"g": value}} for value in values],
        ),
    }[form]
    schema = schema_of(ma, {"f": field}, many=form.startswith("rows"))
    for _ in range(4):
        log.attempt(schema.load, given)
        log.attempt(schema.dump, given)


# ---- Fields that resolve their schema in another way ------------------------------------


@pytest.mark.parametrize("name", ["nested", "only", "exclude", "many", "unknown"])
def test_a_computed_part_of_a_nested_field(ma, log, name):
    Inner = ma.Schema.from_dict({"a": ma.fields.Integer(), "b": ma.fields.Integer()})

    def get(self):
        self.asked = getattr(self, "asked", 0) + 1
        log("asked", self.name)
        return self.given

    def give(self, value):
        log("given")
        self.given = value

    Computed = type("Computed", (ma.fields.Nested,), {name: property(get, give)})

    class Outer(ma.Schema):
        x = Computed(Inner)
        y = ma.fields.List(Computed(lambda: Inner(), only=("a",)))

    for _ in range(4):
        schema = Outer()
        log.attempt(schema.dump, {"x": {"a": 1, "b": 2}, "y": [{"a": 1, "b": 2}]})
        log.attempt(schema.load, {"x": {"a": 1}, "y": [{"a": 1}]})
        log.attempt(schema.load, {"x": {"a": 1, "z": 1}, "y": [{"z": 1}]})
        log("times", schema.fields["x"].asked)


@pytest.mark.parametrize("direction", ["dump", "load", "loads"])
@pytest.mark.parametrize("name", ["many", "partial", "unknown"])
def test_a_computed_setting_of_a_nested_schema(ma, log, name, direction):
    """Asked in upstream's order, and not at all where upstream needs it for no value."""
    settings = {"many": False, "partial": False, "unknown": "raise"}

    def get(self):
        log("asked")
        if self.context_is_missing:
            raise LookupError(name)
        return settings[name]

    class Child(ma.Schema):
        context_is_missing = False
        a = ma.fields.Integer(required=True)

    setattr(Child, name, property(get, lambda self, value: None))

    class Parent(ma.Schema):
        one = ma.fields.Nested(Child)
        all = ma.fields.Nested(Child, many=True)
        plucked = ma.fields.Pluck(Child, "a")

    schema = Parent()
    call = getattr(schema, direction)
    values = [{"one": None}, {"all": 5}, {"one": {"a": 1}, "plucked": 3}, {"all": [{"a": 1}, {}]}]
    for missing in (False, True):
        Child.context_is_missing = missing
        for value in values * 3:
            log(repr(value))
            log.attempt(call, json.dumps(value) if direction == "loads" else value)
        log.attempt(getattr(Parent(many=True), direction), values)


def test_a_nested_schema_without_its_settings(ma, log):
    class Forgetful(ma.Schema):
        a = ma.fields.Integer()

        def __init__(self, **options):
            pass

    class Child(ma.Schema):
        a = ma.fields.Integer()

        def __getattr__(self, name):
            log("asked", name)
            if name in ("many", "partial"):
                return False
            raise AttributeError(name)

    class Parent(ma.Schema):
        forgetful = ma.fields.Nested(Forgetful)
        child = ma.fields.Nested(Child)

    schema = Parent()
    child = schema.fields["child"].schema
    del child.many, child.partial
    for _ in range(4):
        for data in ({"forgetful": {"a": 1}}, {"child": {"a": 1}}, {"child": {"a": "no"}}):
            log.attempt(schema.load, data)
            log.attempt(schema.dump, data)


@pytest.mark.parametrize("where", ["schema", "field"])
@pytest.mark.parametrize("fails", [False, True])
def test_many_is_an_object_with_a_truth_of_its_own(ma, log, fails, where):
    class Truth:
        def __bool__(self):
            log("asked")
            if fails:
                raise LookupError("truth")
            return False

    Child = ma.Schema.from_dict({"a": ma.fields.Integer()})
    Parent = ma.Schema.from_dict({"n": ma.fields.Nested(Child), "p": ma.fields.Pluck(Child, "a")})
    schema = Parent()
    for field in schema.fields.values():
        (field.schema if where == "schema" else field).many = Truth()
    for data in ({"n": None}, {"n": {"a": 1}}, {"p": {"a": 1}}, {"p": 1}) * 3:
        log(repr(data))
        log.attempt(schema.dump, data)
        log.attempt(schema.load, data)
