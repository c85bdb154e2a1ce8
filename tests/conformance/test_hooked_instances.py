"""Instances that were built in full and came out alike: whose fields a call goes by."""

import gc
import weakref
from collections import OrderedDict

import pytest

from tests.conformance.material import HOLDERS, subclass, watching, written

pytestmark = pytest.mark.usefixtures("hooked_at_once")

OBJ = {"id": 1, "own": "x", "listed": ["a"], "pair": (1, "b"), "inner": {"x": "c"}, "call": 5}
RECORD = {"id": "1", "own": "x", "listed": ["a"], "pair": ["1", "b"], "inner": {"x": "c"}}


def schema(ma, log, on_bind=None, init=None):
    own, fields = watching(ma, log), ma.fields

    class Inner(ma.Schema):
        x = own()

    class Outer(ma.Schema):
        id = fields.Int()
        own_field = own(data_key="own", attribute="own")
        listed = fields.List(own())
        pair = fields.Tuple((fields.Int(), own()))
        inner = fields.Nested(Inner)
        call = fields.Method("called", deserialize="called")

        def called(self, obj):
            log("called", self.tag)
            return self.tag

        def __init__(self, tag, **options):
            self.tag = tag
            super().__init__(**options)
            if init is not None:
                init(self)

        def on_bind_field(self, field_name, field_obj):
            if on_bind is not None:
                on_bind(self, field_name, field_obj)

    return Outer


def use(log, made):
    log("dumped", log.attempt(made.dump, OBJ))
    log("loaded", log.attempt(made.load, dict(RECORD)))
    log("refused", log.attempt(made.load, {"id": "?", "own": 1, "more": made.tag}))


BINDING = written(
    {}, "self, name, field",
    same_key='field.data_key = f"{name}_key"',
    other_keys='field.data_key = f"{name}_{self.tag}"',
    own_attribute="field.own_tag = self.tag % 2",
    own_object="field.own_object = self",
    own_default="field.dump_default = field.load_default = self.tag * 1.5",
    own_validator="field.validators = [*field.validators, lambda value: None]",
    shared_validators="field.validators.append(lambda value: None)",
    more_required="if self.tag == 3: field.required = True",
    another_class='if self.tag == 2 and name == "id": field.__class__ = type(field).__mro__[1]',
    other_order="""if self.tag == 2:
    vars(field)["required"] = vars(field).pop("required")""",
    own_messages="""said = f"no {name} of {self.tag}"
field.error_messages = {**field.error_messages, "invalid": said}""",
    own_method='if name == "id": field._serialize = lambda value, *args, **kwargs: self.tag',
    inner_parent='if name == "listed": field.inner.own_tag = self.tag',
    bound_so_often="""field.metadata["bound"] = field.metadata.get("bound", 0) + 1
field.load_default = field.metadata["bound"]""",
)  # fmt: skip
same_key = BINDING["same_key"]


@pytest.mark.parametrize("on_bind", ["", *BINDING])
def test_what_on_bind_field_leaves(ma, log, on_bind):
    cls = schema(ma, log, BINDING.get(on_bind))
    for tag in range(1, 6):
        use(log, cls(tag))
    kept = cls(6)
    for _ in range(4):
        use(log, kept)


INIT = written(
    {"OrderedDict": OrderedDict}, "self",
    fewer='if self.tag % 2: del self.dump_fields["id"]',
    reordered="self.dump_fields = dict(reversed(self.dump_fields.items()))",
    mixed='if self.tag == 3: self.load_fields["id"] = type(self)("x").fields["own_field"]',
    of_own_type='self.dump_fields = type("Own", (dict,), {})(self.dump_fields)',
    in_order="self.dump_fields = OrderedDict(reversed(self.dump_fields.items()))",
    ordered="self.ordered = self.tag == 2",
    shadowed='self.get_attribute = lambda obj, name, default: f"{name} of {self.tag}"',
    own_hook="self._hooks = {}",
    own_options="""self.unknown = "include" if self.tag % 2 else "exclude"
self.error_messages["unknown"] = f"unknown to {self.tag}\"""",
    exchanged='self.fields["id"] = self.dump_fields["id"] = self.fields["own_field"]',
    own_parent='self.fields["own_field"].parent = None',
    same_fields="""kept = vars(type(self)).get("kept_fields")
if kept is None:
    type(self).kept_fields = dict(self.fields)
else:
    self.dump_fields = dict(kept)""",
)  # fmt: skip


@pytest.mark.parametrize("init", INIT)
def test_what_init_leaves(ma, log, init):
    cls = schema(ma, log, None, INIT[init])
    for tag in range(1, 6):
        made = log.attempt(cls, tag)
        if not isinstance(made, Exception):
            use(log, made)


def set_hook(cls, hook):
    cls.clean = hook
    cls._hooks["pre_dump"] = [("clean", False, {})]
    cls._hooks["pre_load"] = [("clean", False, {})]


CHANGES = written(
    {"set_hook": set_hook}, "cls, own, ma, log",
    set_class_attribute="""own.data_key = property(
    lambda self: log("asked", self.root.tag) or "own", lambda self, value: None
)""",
    replace_method="""own._serialize = lambda self, *args, **kwargs: (
    (log("replaced", self.root.tag), "r")[1]
)""",
    replace_hook='cls.on_bind_field = lambda self, name, field: log("replaced hook", name)',
    add_attribute='cls.get_attribute = lambda self, obj, name, default: f"{name} of {self.tag}"',
    change_declared="""cls._declared_fields["id"].data_key = "changed"
cls._declared_fields["more"] = ma.fields.Constant(7)""",
    change_options='cls.opts.unknown = "include"',
    call_hook="""def hook(self, data, **kwargs):
    log("hook", self.tag)
    self.fields["id"].data_key = self.dump_fields["id"].data_key = f"hooked {self.tag}"
    return data
set_hook(cls, hook)""",
    call_hook_that_changes_nothing="""def hook(self, data, **kwargs):
    log("hook", self.tag, list(self.fields))
    return data
set_hook(cls, hook)""",
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_the_class_changes(ma, log, change):
    cls = schema(ma, log, same_key)
    made = [cls(tag) for tag in range(1, 5)]
    for each in made[:2]:
        use(log, each)
    CHANGES[change](cls, type(cls._declared_fields["own_field"]), ma, log)
    for each in (*made, cls(5), cls(6)):
        use(log, each)


def test_an_instance_is_changed_between_calls(ma, log):
    cls = schema(ma, log, same_key)
    for tag in range(1, 5):
        made = cls(tag)
        use(log, made)
        made.fields["id"].data_key = f"changed {tag}"
        use(log, made)
        made.fields["inner"].schema.fields["x"].load_only = True
        use(log, made)


def test_nothing_is_kept(ma, log):
    Payload = subclass()
    payload = Payload()
    cls = schema(ma, log, lambda self, name, field: setattr(field, "own_payload", self.payload))
    cls.payload = payload
    gone = []
    for tag in range(4):
        made = cls(tag)
        made.session = Payload()
        use(log, made)
        gone += [weakref.ref(made), weakref.ref(made.session)]
    del made, cls.payload
    gone.append(weakref.ref(payload))
    del payload
    gc.collect()
    log("gone", [each() is None for each in gone])


@pytest.mark.parametrize("outer", ["dump", "load"])
@pytest.mark.parametrize("within", ["dump", "load"])
def test_another_prototype_while_fields_are_used(ma, log, outer, within):
    """The class changes in the middle of a call, and a call in it goes by another prototype."""

    Inner = ma.Schema.from_dict({"x": ma.fields.String()})

    class Outer(ma.Schema):
        first = ma.fields.Method("change", deserialize="change")
        inner = ma.fields.Nested(Inner)
        listed = ma.fields.List(ma.fields.Nested(lambda: Inner(only=("x",))))
        text = watching(ma, log)()

        def on_bind_field(self, field_name, field_obj):
            field_obj.data_key = f"{field_name}_key"

        def change(self, value):
            if self.tag < 3 or self.within:
                return "again"
            self.within = True
            Outer.clean = lambda self: None
            for each in (made_within(10), made_within(11), self, self):
                call(each, within)
            return "first"

    def made_within(tag, within=True):
        made = Outer()
        made.tag, made.within = tag, within
        return made

    def call(made, direction):
        log.attempt(getattr(made, direction), GIVEN[direction])

    value = {"inner": {"x": "a"}, "listed": [{"x": "b"}, {"x": "c"}], "text": "d"}
    GIVEN = {"dump": value, "load": {f"{name}_key": each for name, each in value.items()}}
    GIVEN["load"]["first_key"] = 1
    for tag in range(1, 6):
        made = made_within(tag, within=False)
        call(made, outer)
        inner, listed = made.fields["inner"], made.fields["listed"].inner
        log("own", inner.schema.fields["x"].root is inner.schema, listed._schema is not None)


OVERRIDDEN = (
    "_validate", "_validate_all", "_validate_missing", "make_error", "_validated", "_format_num",
    "_to_string", "serialize", "deserialize", "get_value", "_bind_to_schema",
)  # fmt: skip


@pytest.mark.parametrize("name", OVERRIDDEN)
@pytest.mark.parametrize("inside", [False, True])
def test_a_method_that_a_field_overrides(ma, log, name, inside):
    """It is called with the instance's own field, which is bound to the instance."""
    kind = ma.fields.List if name == "_bind_to_schema" else ma.fields.Integer

    def see(self):
        log(name, self.name, type(self.parent).__name__, getattr(self.root, "tag", None))
        return super(Own, self)

    def method(self, *args, **kwargs):
        found = getattr(see(self), name)(*args, **kwargs)
        if name == "_bind_to_schema":
            self.load_default, self.data_key = args[1].tag, f"{args[0]}_key"
        return found

    computed = isinstance(getattr(kind, name), property)
    body = property(lambda self: getattr(see(self), name)) if computed else method
    Own = type("Own", (kind,), {name: body})
    own = Own(ma.fields.Int()) if kind is ma.fields.List else Own(strict=True, required=True)
    members = {"own": own, "tag": None, "other": ma.fields.Int()}
    if inside:
        members["own"] = ma.fields.List(own)
    cls = type("S", (ma.Schema,), members)
    value = [1] if kind is ma.fields.List else 1
    values = [value, None, "x", ma.missing]
    schema = None
    for tag in range(1, 6):
        schema = object.__new__(cls)
        schema.tag = tag
        schema.__init__()
        for each in values:
            given = [each] if inside and each is not ma.missing else each
            for key in ("own", "own_key"):
                row = {"other": 2} if given is ma.missing else {key: given, "other": 2}
                log.attempt(schema.dump, row)
                log.attempt(schema.load, dict(row))
        log("root", schema.fields["own"].root is schema, vars(schema.fields["own"])["name"])


@pytest.mark.parametrize("around", ["alone", "list", "dict"])
@pytest.mark.parametrize("given", ["kept", "called", "called for kept"])
@pytest.mark.parametrize(
    "options", [{}, {"only": ("a", "m")}, {"exclude": ("c",), "many": True}], ids=str
)
@pytest.mark.parametrize("on_bind", ["", "same_key", "own_object", "bound_so_often"])
def test_copies_of_a_nested_instance(ma, log, around, given, options, on_bind):
    """Binding calls the hook for the fields of the instance, which all copies share."""

    Deep = ma.Schema.from_dict({"d": ma.fields.Int()})

    class Inner(ma.Schema):
        tag = "class's"
        a = watching(ma, log)(required=True)
        c = ma.fields.List(ma.fields.Nested(Deep, only=("d",)))
        m = ma.fields.Method("get", deserialize="get")

        def get(self, obj):
            log("method", self.tag, sorted(self.fields))
            return self.tag

        if on_bind:
            on_bind_field = BINDING[on_bind]

    def made():
        inner = Inner()
        inner.tag = len(options)
        return inner

    inner = made()
    nested = {"kept": inner, "called": made, "called for kept": lambda: inner}[given]
    inside, put = HOLDERS[around]
    field = inside(ma, ma.fields.Nested(nested, **options))
    outer = ma.Schema.from_dict({"n": field, "x": ma.fields.Int()})
    rows = [{"a": "1", "c": [{"d": 2}], "m": 1, "a_key": "2"}, {"c": 1}]
    before = outer()
    for tag in range(5):
        for schema in (outer(), before):
            for each in rows:
                value = put(lambda: [each] if options.get("many") else each)  # noqa: B023
                log.attempt(schema.dump, {"n": value, "x": 1})
                log.attempt(schema.load, {"n": value, "x": 1})
        field = schema.fields["n"]
        field = getattr(field, "inner", getattr(field, "value_field", field))
        copied = field.schema
        log("own", copied is inner, list(copied.fields))
        if tag == 2:
            inner.fields["a"].required = False
            inner.tag = "changed"
        if tag == 3:
            Deep.also = None
            inner.get = lambda obj: "of the instance"
