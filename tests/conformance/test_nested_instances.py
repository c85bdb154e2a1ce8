"""Schema instances that are nested: whose the fields of a copy are, and what each copy sees."""

# ruff: noqa: E741
import itertools

import pytest

from tests.conformance.lacking import has
from tests.conformance.material import written

ROW = {"x": 1, "n": {"a": 1, "b": "text", "c": {"d": 2}}, "more": {"a": 3}}
BAD = [{"n": {"b": 5}}, {"n": []}, {"n": {"a": "x", "q": 1}, "x": "y"}, {"n": None}]
COPIES = 4


def classes(ma, ordered=False, **of_field):
    """A schema that nests an instance, and that instance.

    :param ordered: marshmallow 3 then has OrderedDicts of fields, and marshmallow 4 does not ask
    """
    fields, options = ma.fields, type("Meta", (), {"ordered": ordered})
    Deep = ma.Schema.from_dict({"d": fields.Integer()})

    class Inner(ma.Schema):
        Meta = options
        a = fields.Integer(required=True)
        b = fields.String(validate=ma.validate.Length(max=4))
        c = fields.Nested(Deep)

    inner = Inner()

    class Outer(ma.Schema):
        Meta = options
        x = fields.Integer()
        n = fields.Nested(inner, **of_field)
        l = fields.List(fields.Nested(inner))

    return Outer, inner


def use(log, schema):
    log.attempt(schema.dump, ROW)
    log.attempt(schema.load, {"n": ROW["n"], "x": 1})
    for data in BAD:
        log.attempt(schema.load, data)


def relations(log, schema, inner):
    """What of a copy is the instance's own."""
    copied = schema.fields["n"].schema
    log("same schema", copied is inner, copied is schema.fields["n"].schema)
    for name in sorted(vars(inner)):
        log("same", name, getattr(copied, name) is getattr(inner, name))
    for name in ("fields", "load_fields", "dump_fields"):
        found = getattr(copied, name)
        log(name, type(found), [(key, field is inner.fields[key]) for key, field in found.items()])
    for field in copied.fields.values():
        log("bound", field.parent is inner, field.root is inner, field.name)
    log("names", sorted(vars(copied)))


@pytest.mark.parametrize(
    "of_field",
    [{}, {"many": True}, {"only": ("a", "c.d")}, {"only": ["a"], "exclude": ("a",)},
     {"exclude": ["b"]}, {"only": ("nope",)}, {"unknown": "exclude"}],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("ordered", [False, True])
def test_whose_the_fields_of_a_copy_are(ma, log, of_field, ordered):
    outer, inner = classes(ma, ordered, **of_field)
    for _ in range(COPIES):
        schema = outer()
        use(log, schema)
        if of_field.get("only") != ("nope",):
            relations(log, schema, inner)
            use(log, schema)


def test_names_that_run_code(ma, log):
    class Names(list):
        def __iter__(self):
            log("asked for", len(self))
            return super().__iter__()

    Inner = ma.Schema.from_dict({"a": ma.fields.Integer(), "b": ma.fields.String()})
    selected = Inner(only=Names("ab"))
    Outer = ma.Schema.from_dict(
        {"n": ma.fields.Nested(selected), "more": ma.fields.Nested(Inner(), only=Names("a"))}
    )
    for _ in range(3 * COPIES):
        use(log, Outer())


def test_a_field_that_the_instance_has_lost(ma, log):
    class Inner(ma.Schema):
        own = ma.fields.Method("tag_of")

        def tag_of(self, obj):
            return getattr(self, "tag", None)

    inner = Inner()
    inner.fields.pop("own")
    outer = ma.Schema.from_dict({"n": ma.fields.Nested(inner)})
    for tag in range(2 * COPIES):
        schema = outer()
        schema.fields["n"].schema.tag = tag
        log("dumped", outer().dump({"n": {}}), schema.dump({"n": {}}))


def test_a_copy_is_allocated_by_its_class(ma, log):
    class Inner(ma.Schema):
        a = ma.fields.Integer()
        b = ma.fields.Integer()

        def __new__(cls, *args, **options):
            log("new", args, options)
            return super().__new__(cls)

    Outer = ma.Schema.from_dict({"n": ma.fields.Nested(Inner())})
    for options in ({}, {"only": ["n.a"]}):
        for _ in range(COPIES):
            schema = Outer(**options)
            log.attempt(schema.dump, {"n": {"a": 1, "b": 2}})
            log.attempt(schema.load, {"n": {"a": 1}})


@pytest.mark.parametrize("only", [None, ("unknown",)])
def test_the_field_while_the_instance_is_copied(ma, log, only):
    """As another thread sees it, and after a copy that failed."""

    class Inner(ma.Schema):
        a = ma.fields.Integer()

        def __copy__(self):
            log("nested", callable(made.fields["n"].nested), made.fields["n"]._schema)
            copied = object.__new__(type(self))
            vars(copied).update(vars(self))
            return copied

    inner = Inner()

    Outer = ma.Schema.from_dict({"n": ma.fields.Nested(lambda: inner, only=only)})
    for _ in range(COPIES):
        made = Outer()
        for _ in range(2):
            log.attempt(made.dump, {"n": {"a": 1}})
        log("after", callable(made.fields["n"].nested), made.fields["n"]._schema is None)


CHANGES = written(
    {}, "ma, inner, fields",
    set_key='fields["a"].data_key = "key"',
    set_dump_only='fields["b"].dump_only = True',
    leave_out='inner.exclude.add("b")',
    load_only='inner.load_only = {"a"}',
    declare='inner.declared_fields["e"] = ma.fields.String(dump_default="new")',
    take_field_away='del fields["b"], inner.dump_fields["b"]',
    set_many="inner.many = True",
    set_only='inner.only = ("a",)',
    own_bind="""def on_bind_field(self, name, field):
    field.metadata["bound"] = field.metadata.get("bound", 0) + 1
    field.data_key = name.upper()
type(inner).on_bind_field = on_bind_field""",
    own_attribute="inner.get_attribute = lambda obj, attr, default: (attr, obj.get(attr, default))",
    new_option='type(inner).opts.fields = ("a",)',
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_the_instance_changes(ma, log, change):
    outer, inner = classes(ma)
    shared = outer()
    for _ in range(COPIES):
        use(log, outer())
    use(log, shared)
    CHANGES[change](ma, inner, inner.fields)
    for schema in (outer(), shared, outer(), outer(), shared):
        use(log, schema)
    relations(log, outer(), inner)
    log("metadata", [field.metadata for field in inner.fields.values()])


@pytest.mark.parametrize("kind", ["method", "datetime", "constant"])
def test_what_binding_changes(ma, log, kind):
    fields = ma.fields
    made = {
        "method": lambda: fields.Method("of_schema"),
        "datetime": lambda: fields.DateTime(),
        "constant": lambda: fields.Constant(5),
    }[kind]()

    class Inner(ma.Schema):
        f = made

        def of_schema(self, obj):
            return self is schemas[-1].fields["n"].schema

    inner = Inner()

    Outer = ma.Schema.from_dict({"n": fields.Nested(inner)})
    schemas = []
    for _ in range(COPIES):
        schemas.append(Outer())
        before = vars(inner.fields["f"]).copy()
        log.attempt(schemas[-1].dump, {"n": {"f": None}})
        after = vars(inner.fields["f"])
        log("bound anew", [name for name, each in before.items() if after[name] is not each])


CHANGES_INSIDE = written(
    {}, "ma, field",
    other_inside="field.inner = ma.fields.String(validate=ma.validate.Length(max=1))",
    validator_inside="field.inner.validators = [ma.validate.OneOf([1])]",
    fewer_inside='field.inner.only = {"a"}',
    fewer_in_list='field.only = {"a"}',
    binding_inside="""class Text(ma.fields.String):
    def _bind_to_schema(self, name, parent):
        super()._bind_to_schema(name, parent)
        self.metadata["bound"] = self.metadata.get("bound", "") + name
        self.error_messages = {**self.error_messages, "invalid": self.metadata["bound"]}
field.inner = Text()""",
)  # fmt: skip
INSIDE = {
    "list": (lambda f, n: f.List(f.Integer(validate=lambda value: value < 5)), [1, 7]),
    "lists": (lambda f, n: f.List(f.List(f.Dict)), [[{"k": 1}]]),
    "dict": (lambda f, n: f.Dict(keys=f.String(), values=f.DateTime()), {"k": "2020-01-01"}),
    "tuple": (lambda f, n: f.Tuple([f.Integer(), f.List(f.String())]), [1, ["x"]]),
    "nested": (lambda f, n: f.List(f.Nested(n)), [{"a": 1, "b": 2}]),
    "nested-only": (lambda f, n: f.List(f.Nested(n, only=("a",))), [{"a": 1}]),
    "values": (lambda f, n: f.Dict(values=f.Nested(n, exclude=("a",))), {"k": {"b": 2}}),
    "pluck": (lambda f, n: f.List(f.Pluck(n, "a")), [1]),
    "self": (lambda f, n: f.List(f.Nested(lambda: n())), [{"a": 1}]),
    "enclosed": (lambda f, n: f.List(f.Nested(n(partial=True))), [{"a": 1}]),
}


# Only a list has a field called `inner`, which the changes change.
IN_LISTS = [kind for kind in INSIDE if kind not in ("dict", "tuple", "values")]


@pytest.mark.parametrize(
    ("kind", "change"),
    [*itertools.product(INSIDE, [""]), *itertools.product(IN_LISTS, CHANGES_INSIDE)],
)
def test_fields_inside_fields(ma, log, kind, change):
    Deep = ma.Schema.from_dict({"a": ma.fields.Integer(required=True), "b": ma.fields.Integer()})
    make, value = INSIDE[kind]

    class Inner(ma.Schema):
        f = make(ma.fields, Deep)

        @ma.post_load
        def loaded(self, data, **kwargs):
            return {**data, "seen": sorted(self.fields)}

    inner = Inner()

    class Outer(ma.Schema):
        n = ma.fields.Nested(inner)
        m = ma.fields.Nested(inner, only=("f",))

    rows = [value, [value], {"q": 1}, [{"b": "x"}], None, [], {}]
    for turn in range(3 * COPIES):
        schema = Outer()
        if turn == COPIES and change:
            CHANGES_INSIDE[change](ma, inner.fields["f"])
        for row in rows:
            log.attempt(schema.dump, {"n": {"f": row}, "m": {"f": value}})
            log.attempt(schema.load, {"n": {"f": row}, "m": {"f": value}})
        field = schema.fields["n"].schema.fields["f"]
        log("same", field is inner.fields["f"], schema.fields["m"].schema.fields["f"] is field)
        within = getattr(field, "inner", None)
        log("bound", within and (within.parent is field, within.name, within.root is inner))


@pytest.mark.parametrize("name", ["load_only", "dump_only", "only", "exclude"])
@pytest.mark.parametrize("changed", [False, True])
def test_a_hook_that_reads_an_option(ma, log, name, changed):
    Inner = ma.Schema.from_dict({"a": ma.fields.Integer(), "b": ma.fields.Integer()})

    class Outer(ma.Schema):
        n = ma.fields.Nested(Inner)
        m = ma.fields.Nested(Inner, dump_only=True)

        @ma.pre_dump
        def before(self, data, **kwargs):
            found = getattr(self, name)
            log("found", type(found), found and sorted(found), found is getattr(self, name))
            if changed and isinstance(found, set):
                found.add("n.a")
            return data

    only = {"only": ("n.a", "m")}
    for options in ({}, {}, {}, only, only, {"load_only": ("n.b",)}):
        schema = Outer(**options)
        data = {"n": {"a": 1, "b": 2}, "m": {"a": 1, "b": 2}}
        for _ in range(2):
            log.attempt(schema.dump, data)
            log.attempt(schema.load, {"n": data["n"]})
        left = sorted(vars(schema).items())
        log("left", [name for name, _ in left], [str(each) for _, each in left][:3])


@pytest.mark.parametrize("container", ["dict", "tuple", "nested"])
def test_a_field_of_the_own_beside_a_nested_one(ma, log, container):
    Inner = ma.Schema.from_dict({"a": ma.fields.Integer()})

    class Own(ma.fields.String):
        def _serialize(self, value, attr, obj, **more):
            return f"{getattr(self, 'context', self.name)}{value}"

        _deserialize = _serialize

    class OwnNested(ma.fields.Nested):
        def get_value(self, *args, **more):
            log("parent", type(self.parent).__name__)
            return super().get_value(*args, **more)

    field, value = {
        "dict": (ma.fields.Dict(keys=Own(), values=ma.fields.Nested(Inner)), {"x": {"a": 1}}),
        "tuple": (ma.fields.Tuple((Own(), ma.fields.Nested(Inner))), ("x", {"a": 1})),
        "nested": (OwnNested(Inner), {"a": 1}),
    }[container]
    cls = type("Outer", (ma.Schema,), {"d": field})
    options = {"context": {"of": "p"}} if has("schema.Schema.__init__(context)") else {}
    for _ in range(12):
        log.attempt(cls(**options).dump, {"d": value})
        log.attempt(cls(**options).load, {"d": value})


@pytest.mark.parametrize("options", [{}, {"many": True}, {"only": ("a",)}, {"exclude": ("a",)}])
@pytest.mark.parametrize("replaced", [False, True])
def test_an_instance_that_a_function_makes(ma, log, replaced, options):
    fields = ma.fields

    class Deep(ma.Schema):
        d = fields.List(fields.Integer())
        m = fields.Method("get_m")

        def get_m(self, obj):
            return type(self).__name__, self.many

    class Inner(ma.Schema):
        a = fields.Integer()
        deep = fields.Nested(lambda: Deep())
        here = fields.Method("is_here")

        def is_here(self, obj):
            return self is outer.fields["n"].schema

    class Counted(Inner):
        def _init_fields(self):
            log("fields")
            super()._init_fields()

    inner = Counted if replaced else Inner

    class Outer(ma.Schema):
        n = fields.Nested(lambda: inner(partial=True, unknown="exclude"), **options)

    rows = {"a": 1, "q": 2, "deep": {"d": [3]}}
    rows = [rows] if options.get("many") else rows
    for _ in range(COPIES):
        outer = Outer()
        log.attempt(outer.dump, {"n": rows})
        log.attempt(outer.load, {"n": rows})
        schema = outer.fields["n"].schema
        deep = schema.fields["deep"].schema if "deep" in schema.fields else schema
        for each in (schema, deep):
            log("vars", sorted(vars(each)), each.many, each.partial, each.only, each.exclude)
            for field in each.fields.values():
                log("parent", field.root is field.parent, type(field.parent))
        log("own", schema is outer.fields["n"].schema, schema is Outer().fields["n"].schema)


def test_a_field_of_a_copy_that_reads_the_root(ma, log):
    """The stack overflowed once."""
    Leaf = ma.Schema.from_dict({"a": ma.fields.Integer()})

    class Own(ma.fields.Field):
        def _serialize(self, value, *args, **kwargs):
            return type(self.root).__name__

    class Inner(ma.Schema):
        leaves = ma.fields.List(ma.fields.Nested(lambda: Leaf()))
        own = Own()

    fields = {"one": ma.fields.Nested(Inner()), "many": ma.fields.List(ma.fields.Nested(Inner()))}
    cls, item = ma.Schema.from_dict(fields), {"leaves": [{"a": 1}]}
    for _ in range(20):
        outer, own = cls(), item | {"own": 1}
        log.attempt(outer.load, {"one": item, "many": [item]})
        log.attempt(outer.dump, {"one": own, "many": [own]})
        log("leaf", list(outer.fields["one"].schema.fields["leaves"].inner.schema.fields))
