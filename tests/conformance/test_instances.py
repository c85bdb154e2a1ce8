"""Schema instances: what one looks like, and that none reaches another or its class."""

import asyncio
import copy
import gc
import io
import pickle
import types
import weakref

import pytest

from tests.conformance.lacking import REMEMBERS, without
from tests.conformance.material import meta, state, written
from tests.interpreters import FREE_THREADED

DATA = {"a": "1", "b": 2, "n": {"x": "3", "y": 4}, "l": [{"x": 5}]}
LOADED = {**DATA, "b": "2"}


def classes(ma, log):
    Inner = ma.Schema.from_dict({"x": ma.fields.Integer(), "y": ma.fields.Raw(load_only=True)})

    class Mixin:
        m = ma.fields.Raw()

    class Base(ma.Schema, Mixin):
        a = ma.fields.Integer()
        b = ma.fields.String()

    class S(Base):
        n = ma.fields.Nested(Inner)
        l = ma.fields.List(ma.fields.Nested(Inner))  # noqa: E741
        Meta = meta(unknown="exclude", exclude=["m"])

    return S


OPTIONS = {
    "plain": dict,
    "many": lambda: {"many": True},
    "only": lambda: {"only": ("a", "m", "n.x")},
    "exclude": lambda: {"exclude": ("b", "l.x")},
    "load_only": lambda: {"load_only": ("a",)},
    "dump_only": lambda: {"dump_only": ["a", "n.x"]},
    "partial": lambda: {"partial": ("a", "n.x")},
    "unknown": lambda: {"unknown": "include"},
    "set": lambda: {"only": {"a"}},
    "generator": lambda: {"only": iter(("a", "m"))},
}


def show(log, schema):
    """Everything a user can see of an instance."""
    log("class", repr(schema), sorted(dir(schema)))
    state(log, schema)
    for field in schema.fields.values():
        log("bound", type(field.parent).__name__, field.root is schema)


@pytest.mark.parametrize("calls", ["", "d", "l", "dl", "dldl"])
@pytest.mark.parametrize("options", OPTIONS)
def test_what_an_instance_looks_like(ma, log, options, calls):
    schema = classes(ma, log)(**OPTIONS[options]())
    for call in calls:
        if call == "d":
            log.attempt(schema.dump, DATA, many=False)
        else:
            log.attempt(schema.load, LOADED, many=False)
    show(log, schema)


LOOKS = written(
    {"copy": copy, "weakref": weakref}, "schema, cls, fields",
    nothing="",
    fields='schema.fields["a"]',
    declared='schema.declared_fields["a"]',
    dump_fields='schema.dump_fields.pop("b")',
    load_fields="schema.load_fields.clear()",
    nested='fields()["n"].schema',
    state='vars(schema).get("fields")',
    copy="copy.copy(schema)",
    deepcopy="copy.deepcopy(schema)",
    exclude='schema.exclude.add("x")',
    required='fields()["a"].required = True',
    data_key='fields()["a"].data_key = "A"',
    declared_key='schema.declared_fields["a"].data_key = "A"',
    nested_key='fields()["n"].schema.fields["x"].data_key = "X"',
    inner_key='fields()["l"].inner.schema.fields["x"].data_key = "X"',
    error_messages='schema.error_messages.update(type="changed")',
    field_messages='fields()["a"].error_messages.update(invalid="changed")',
    validators='fields()["a"].validators.append(len)',
    metadata='fields()["a"].metadata',
    attribute="schema.extra = 1",
    init="schema._init_fields()",
    many="schema.many = True",
    set_fields="schema.fields = {}",
    delete='schema.dump_fields and delattr(schema, "dump_fields")',
    fields_popped='fields().pop("b")',
    fields_added='fields().update(new=copy.copy(schema.declared_fields["a"]))',
    fields_and_more='fields()["a"] is schema.dump_fields["a"]',
    context='getattr(schema, "context", None)',
    weak="weakref.ref(schema)()",
    repr="repr(schema), dir(schema)",
    has='hasattr(schema, "fields"), hasattr(schema, "nothing")',
    only_read="schema.only, sorted(schema.exclude), schema == cls()",
    roots='fields()["n"].schema.fields["x"].root is fields()["n"].schema',
    dumped_copy='copy.copy(schema).dump({"a": 1, "n": {"x": 2}})',
    loaded_deepcopy='copy.deepcopy(schema).load({"a": 1, "n": {"x": 2}})',
    popped='schema.dump_fields.pop("a")',
    unknown='schema.unknown = "include"',
    partial="schema.partial = True",
    only='schema.only = {"a"}',
    get_attribute="schema.get_attribute = lambda obj, attr, default: 9",
    made_anew='schema.__init__(only=("b",))',
    given_context='schema.context = {"user": 1}',
    state_updated="vars(schema).update(dump_fields={})",
    another_class='schema.__class__ = type("Other", (cls,), {"get_attribute": lambda *args: 9})',
    index_errors="schema.opts.index_errors = False",
)  # fmt: skip


@pytest.mark.parametrize("moment", ["before", "between", "after"])
@pytest.mark.parametrize("look", LOOKS)
def test_looking_and_changing(ma, log, look, moment):
    cls = classes(ma, log)
    first, second = cls(), cls(many=True)

    def use():
        for schema in (first, second, cls(), cls(only=("a", "n"))):
            log.attempt(schema.dump, DATA, many=False)
            log.attempt(schema.load, LOADED, many=False)
            log.attempt(schema.load, {"a": "bad", "z": 1}, many=False)

    if moment != "before":
        use()
    log.attempt(LOOKS[look], first, cls, lambda: first.fields)
    use()
    if moment == "after":
        log.attempt(LOOKS[look], second, cls, lambda: second.fields)
        use()
        show(log, second)
    log("vars", sorted(vars(first)))


HOOK_LOOKS = {
    "once": lambda schema: [name for name, field in schema.fields.items() if field.required],
    "for-each": lambda schema: [schema.fields[name].name for name in ("a", "b", "n")],
    "with-the-rest": lambda schema: (list(schema.fields), sorted(schema.dump_fields), schema.only),
    "renames": lambda schema: setattr(schema.fields["a"], "data_key", "A"),
    "pops": lambda schema: schema.fields.pop("b", None) and None,
    "nested": lambda schema: list(schema.fields["n"].schema.fields),
    "parents": lambda schema: [field.parent is schema for field in schema.fields.values()],
}


@pytest.mark.parametrize("tag", ["pre_dump", "post_dump", "pre_load", "post_load"])
@pytest.mark.parametrize("look", HOOK_LOOKS)
def test_a_hook_that_reads_the_fields(ma, log, look, tag):
    class S(classes(ma, log)):
        @getattr(ma, tag)
        def hook(self, data, **options):
            log("looks", log.attempt(HOOK_LOOKS[look], self))
            return data

    for _ in range(14):
        schema = S()
        for _ in range(2):
            log.attempt(schema.dump, DATA)
            log.attempt(schema.load, LOADED)
        log.attempt(schema.dump, [DATA, DATA], many=True)
    log("vars", sorted(vars(schema)), list(schema.fields), list(schema.dump_fields))
    log("declared", [field.data_key for field in schema.declared_fields.values()])


@without(REMEMBERS)
def test_attributes_of_an_instance(ma, log):
    class S(ma.Schema):
        f = ma.fields.Raw()
        extra = "class"

        def __getattr__(self, name):
            if name.startswith("virtual"):
                return name
            raise AttributeError(name)

        def __setattr__(self, name, value):
            if name in ("f", "extra"):
                log("set", name, value)
            super().__setattr__(name, value)

        def __eq__(self, other):
            return isinstance(other, S)

        __hash__ = None

    schema = S()
    schema.f = 1
    schema.extra = "instance"
    log("values", schema.f, schema.extra, schema.virtual, S() == S())
    log.attempt(lambda: schema.nothing)
    for _ in range(3):
        log.attempt(schema.dump, {"f": 2})
    del schema.extra
    log("class", schema.extra)
    log("vars", sorted(vars(schema)))


@pytest.mark.parametrize("used", [True, False])
@pytest.mark.parametrize("how", ["copy", "deepcopy"])
def test_copies(ma, log, how, used):
    cls = classes(ma, log)
    schema = cls(only=("a", "n.x"))
    if used:
        log.attempt(schema.dump, DATA)
        log.attempt(schema.load, LOADED)
    twin = getattr(copy, how)(schema)
    log("shared", twin.fields is schema.fields, twin.fields["a"] is schema.fields["a"])
    # Without the GIL every schema is allocated with room for its plans.
    plain = FREE_THREADED or type(vars(twin)) is dict
    log("vars", sorted(vars(twin)) == sorted(vars(schema)), plain)
    twin.fields["a"].data_key = "A"
    twin.many = True
    for each in (twin, schema, twin):
        log.attempt(each.dump, DATA, many=False)
        log.attempt(each.load, LOADED, many=False)


def test_what_was_set_before_the_construction(ma, log):
    class S(ma.Schema):
        m = ma.fields.Method("show", deserialize="read")

        def __init__(self, own="", **kwargs):
            for name in ("mark", "many", "partial", "unknown", "error_messages"):
                setattr(self, name, own)
            if own:
                self.show = lambda obj: own
                self.read = lambda value: own
            super().__init__(**kwargs)

        def show(self, obj):
            return "class"

        def read(self, value):
            return "class"

    for own in ("", "one", "", "two"):
        schema = S(own)
        log("used", schema.dump({}), schema.load({"m": 1}))
        log("vars", sorted(vars(schema)))
        schema = S(own)
        del schema.mark, schema.many
        log("vars", sorted(vars(schema)))


@pytest.mark.parametrize("how", ["class", "instance"])
def test_a_dictionary_that_somebody_else_holds(ma, log, how):
    shared = {}

    class S(ma.Schema):
        a = ma.fields.Integer()
        b = ma.fields.Integer()

        def __init__(self, **kwargs):
            held = self.__dict__ = shared if how == "class" else {}
            super().__init__(**kwargs)
            held["mark"] = "seen"

    first = S()
    second = S(only=("a",))
    log("fields", list(first.fields), list(second.fields))
    log("mark", first.mark, second.mark, list(shared))
    log("dumped", first.dump({"a": 1, "b": 2}), second.dump({"a": 1, "b": 2}))


@without(REMEMBERS)
def test_the_end_of_an_instance(ma, log):
    class S(ma.Schema):
        a = ma.fields.Integer()

        def __del__(self):
            log("end")

    # A run of the GC in between would end upstream's instances, which are in cycles.
    gc.disable()
    try:
        for _ in range(3):
            S().dump({"a": 1})
        schema = S()
        log("fields", list(schema.fields))
    finally:
        gc.enable()
    del schema, S
    gc.collect()


def test_the_table_of_hooks(ma, log):
    class S(ma.Schema):
        after = ma.post_dump(log.hook("after"))

    S().dump({})
    log("shown", repr(S._hooks), type(copy.deepcopy(S._hooks)).__name__)
    restored = pickle.loads(pickle.dumps(S._hooks))
    log("restored", type(restored).__name__, restored, restored["none"])


def test_a_nested_schema_that_changes_its_options(ma, log):
    class Inner(ma.Schema):
        x = ma.fields.Integer()
        y = ma.fields.Integer()

        def __init__(self, only=None, exclude=(), **kwargs):
            log("given", list(only or ()), list(exclude))
            for options in (only, exclude):
                if isinstance(options, ma.schema.OrderedSet):
                    options.pop()
            super().__init__(only=only, exclude=exclude, **kwargs)

    class S(ma.Schema):
        n = ma.fields.Nested(Inner)
        l = ma.fields.List(ma.fields.Nested(Inner))  # noqa: E741

    data = {"n": {"x": 1, "y": 2}, "l": [{"x": 3, "y": 4}]}
    for options in ({"only": ("n.x", "n.y", "l")}, {"exclude": ("n.x", "l.y")}):
        for _ in range(3):
            schema = S(**options)
            log("dumped", schema.dump(data))
        log("options", list(schema.fields["n"].only or ()), list(schema.fields["n"].exclude))


def unusual_dictionaries(ma, log):
    """Schema classes whose instances have a dictionary that cannot be replaced, or not unseen."""

    def init_module(self, **options):
        types.ModuleType.__init__(self, "name")
        ma.Schema.__init__(self, **options)

    def init_schema(self, **options):
        ma.Schema.__init__(self, **options)

    watched = property(lambda self: {}, lambda self, value: log("set"))
    return {
        "Namespace": ((ma.Schema, types.SimpleNamespace), {}),
        "Module": ((ma.Schema, types.ModuleType), {"__init__": init_module}),
        "Buffer": ((ma.Schema, io.StringIO), {}),
        "Future": ((asyncio.Future, ma.Schema), {"__init__": init_schema}),
        "Failure": ((ma.Schema, Exception), {}),
        "ReadOnly": ((ma.Schema,), {"__dict__": property(lambda self: {"a": 1})}),
        "Watched": ((ma.Schema,), {"__dict__": watched}),
    }


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    "name", ["Namespace", "Module", "Buffer", "Future", "Failure", "ReadOnly", "Watched"]
)
def test_a_dictionary_that_cannot_be_replaced(ma, log, name, nested):
    bases, members = unusual_dictionaries(ma, log)[name]
    cls = type(name, bases, {"a": ma.fields.Integer(), **members})
    data = {"a": "1"}
    if nested:
        cls = ma.Schema.from_dict({"inner": ma.fields.Nested(cls)})
        data = {"inner": data}
    shared = cls()
    for _ in range(4):
        for schema in (shared, cls()):
            log.attempt(schema.dump, data)
            log.attempt(schema.load, data)
            log.attempt(schema.dump, [data, data], many=True)
            log.attempt(schema.loads, "[]", many=True)


@pytest.mark.parametrize("method", ["dump", "load", "dumps", "validate", "loads"])
def test_a_method_called_on_something_else(ma, log, method):
    S = ma.Schema.from_dict({"a": ma.fields.Integer()})
    for given in (S, types.SimpleNamespace(many=False), io.StringIO(), types, None, 3):
        for _ in range(3):
            log.attempt(getattr(ma.Schema, method), given, "{}" if method == "loads" else {"a": 1})


NEW = written(
    {}, "log, cls, args, options",
    as_it_is="return object.__new__(cls)",
    with_attributes="""schema = object.__new__(cls)
schema.request, schema.only = {"of": "a test"}, "is replaced"
return schema""",
    with_a_method_of_its_own="""schema = object.__new__(cls)
schema.shown = lambda obj: "the instance's"
return schema""",
    the_only_instance="""if "instance" not in vars(cls): cls.instance = object.__new__(cls)
return cls.instance""",
    # It does what django-rest-marshmallow does.
    a_list_where_many_is_wanted="""if options.get("many"):
    return [cls(**{**options, "many": False})]
return object.__new__(cls)""",
    constructed="""schema = object.__new__(cls)
cls.__init__(schema, exclude=("a",))
log("constructed", list(schema.fields))
return schema""",
)  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("new", NEW)
def test_a_class_that_makes_its_instances_itself(ma, log, new, options):
    class S(classes(ma, log)):
        m = ma.fields.Method("shown")
        Meta = meta(unknown="exclude")

        def __new__(cls, *args, **options):
            return NEW[new](log, cls, args, options)

        def shown(self, obj):
            return "the class's"

    for _ in range(30):
        made = S(**OPTIONS[options]())
        schema = made[0] if isinstance(made, list) else made
        log("dump", log.attempt(schema.dump, DATA), type(made).__name__)
        log("load", log.attempt(schema.load, LOADED))
    show(log, schema)
    log("copied", log.attempt(copy.copy(schema).dump, DATA))
    log("deepcopied", log.attempt(copy.deepcopy(schema).load, LOADED))
