"""``Schema._init_fields`` replaced, in a class or for the whole process: what runs, and when."""

import copy
from unittest import mock

import pytest

DATA = {"a": "1", "n": {"x": "2"}, "m": "3"}


def schema(ma, **members):
    fields = ma.fields

    class Inner(ma.Schema):
        x = fields.Integer(required=True)
        y = fields.String(validate=[])

    members = {
        "a": fields.Integer(),
        "n": fields.Nested(Inner),
        "l": fields.List(fields.Nested(Inner, only=("x",))),
        "m": fields.Method("get_m", "load_m"),
        "error_messages": {"type": "no record"},
        "get_m": lambda self, obj: type(self).__name__,
        "load_m": lambda self, value: value,
        **members,
    }
    return type("Made", (ma.Schema,), members)


def state(log, instance):
    """What there is of a schema on its way; looking is what builds it."""
    log("names", sorted(vars(instance)))
    for name in ("declared_fields", "fields", "load_fields", "dump_fields"):
        log(name, list(getattr(instance, name)))
    for name, field in instance.declared_fields.items():
        log("field", name, field.name, field.parent is instance, sorted(vars(field)))
    for name in ("only", "exclude", "load_only", "dump_only", "many", "partial", "unknown"):
        value = getattr(instance, name)
        log(name, type(value).__name__, sorted(value) if type(value) is set else value)
    log("messages", instance.error_messages)


def passes_on(self, original, log):
    original(self)


def passes_on_and_returns(self, original, log):
    return [original(self)]


def looks_before(self, original, log):
    state(log, self)
    original(self)


def looks_after(self, original, log):
    original(self)
    state(log, self)


def looks_both_times(self, original, log):
    state(log, self)
    original(self)
    state(log, self)


def looks_at_one(self, original, log):
    original(self)
    log("a", self.fields["a"].parent is self, self.fields["a"].name)


def reads_settings(self, original, log):
    log("settings", self.many, self.unknown, self.partial, self.error_messages, self.opts.unknown)
    original(self)
    log("settings", self.many, self.unknown, self.partial, self.error_messages)


def sets_before(self, original, log):
    self.mark = 1
    original(self)


def sets_after(self, original, log):
    original(self)
    self.mark = 1


def sets_settings(self, original, log):
    self.unknown = "include"
    original(self)
    self.many = not self.many


def sets_messages(self, original, log):
    original(self)
    self.error_messages = {"type": "mine"}


def drops_a_setting(self, original, log):
    original(self)
    del self.partial


def takes_out(self, original, log):
    del self.declared_fields["a"]
    original(self)


def replaces_declared(self, original, log):
    self.declared_fields = {"a": self._declared_fields["a"]}
    original(self)


def replaces_fields(self, original, log):
    original(self)
    self.dump_fields = {}


def calls_twice(self, original, log):
    original(self)
    original(self)


def calls_never(self, original, log):
    pass


def fails_before(self, original, log):
    log("keep", log.made.append(self))
    raise LookupError("before")


def fails_after(self, original, log):
    original(self)
    log("keep", log.made.append(self))
    raise LookupError("after")


def dumps_before(self, original, log):
    log.attempt(self.dump, {"a": 1})
    original(self)


def dumps_after(self, original, log):
    original(self)
    log.attempt(self.dump, {"a": 1})


def copies_before(self, original, log):
    other = copy.copy(self)
    original(other)
    log("other", list(other.fields))
    original(self)


def begins_anew(self, original, log):
    if not hasattr(self, "begun"):
        self.begun = True
        self.__init__()
    original(self)


def another_class(self, original, log):
    self.__class__ = type("Other", (type(self),), {})
    original(self)


def another_dictionary(self, original, log):
    vars(self)["__dict__"] = 1
    self.__dict__ = dict(self.__dict__)
    original(self)


def mends_unknown_names(self, original, log):
    """As an application does that has more columns than fields."""
    for _ in range(3):
        try:
            return original(self)
        except ValueError as error:
            log("mended", str(error))
            for name in self.only or ():
                if name not in self.declared_fields:
                    self.declared_fields[name] = type(self.declared_fields["a"])()
    return None


REPLACEMENTS = [
    passes_on, passes_on_and_returns, looks_before, looks_after, looks_both_times, looks_at_one,
    reads_settings, sets_before, sets_after, sets_settings, sets_messages, drops_a_setting,
    takes_out, replaces_declared, replaces_fields, calls_twice, calls_never, fails_before,
    fails_after, dumps_before, dumps_after, copies_before, begins_anew, another_class,
    another_dictionary, mends_unknown_names,
]  # fmt: skip


def use(log, cls, **options):
    for looks in (False, True, False, True):
        made = log.attempt(cls, **options)
        if isinstance(made, Exception):
            continue
        if looks:
            log.attempt(state, log, made)
        log.attempt(made.dump, DATA)
        log.attempt(made.load, {**DATA, "more": 1})
        log.attempt(made.load, 7)
        log.attempt(state, log, made)
        log.attempt(made.validate, DATA)
        log.attempt(cls(**options).load, DATA)
        log.attempt(cls(**options).dump, DATA)


@pytest.mark.parametrize(
    "options", [{}, {"only": ("a", "n.x", "l.x")}, {"exclude": ["n.y"]}, {"many": True},
                {"only": ("a", "nobody")}, {"load_only": ("a",), "partial": True}],
    ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("where", ["class", "base"])
@pytest.mark.parametrize("replace", REPLACEMENTS, ids=lambda each: each.__name__)
def test_it_runs_where_upstream_runs_it(ma, log, replace, where, options):
    original = ma.Schema._init_fields
    log.made = []

    def replacement(self):
        log("init fields", type(self).__name__, self.__class__.__name__)
        return replace(self, original, log)

    cls = schema(ma)
    for _ in range(3):
        log.attempt(cls, **options)
    if where == "class":
        cls._init_fields = replacement
    else:
        log.patch(ma.Schema, "_init_fields", replacement)
    try:
        use(log, cls, **options)
    except LookupError as error:
        log("failed", error)
    for made in log.made:
        log.attempt(state, log, made)
        log.attempt(made.dump, DATA)


@pytest.mark.parametrize("kind", ["mock", "autospec", "property", "static", "class"])
def test_other_callables_than_functions(ma, log, kind):
    original = ma.Schema._init_fields
    cls = schema(ma)
    for _ in range(3):
        cls()
    if kind == "mock":
        cls._init_fields = mock.Mock(return_value=None)
    elif kind == "autospec":
        cls._init_fields = mock.create_autospec(lambda self: None, side_effect=original)
    elif kind == "property":
        cls._init_fields = property(lambda self: lambda: log("bound", len(self.declared_fields)))
    elif kind == "static":
        cls._init_fields = staticmethod(lambda: log("static"))
    else:
        cls._init_fields = classmethod(lambda cls: log("class", cls.__name__))
    for _ in range(4):
        made = log.attempt(cls)
        if not isinstance(made, Exception):
            log.attempt(state, log, made)
            log.attempt(made.dump, DATA)


def test_nested_schemas_bind_by_it(ma, log):
    original = ma.Schema._init_fields
    cls = schema(ma)
    for _ in range(3):
        cls().dump(DATA)

    def replacement(self):
        log("init fields", type(self).__name__, self.only)
        original(self)

    log.patch(ma.Schema, "_init_fields", replacement)
    for _ in range(4):
        log.attempt(cls().dump, {**DATA, "l": [{"x": 1}]})
        log.attempt(cls(only=("n.x",)).load, {"n": {"x": 1}})


def test_it_is_put_back(ma, log):
    original = ma.Schema._init_fields
    cls = schema(ma)
    for replacement in (None, passes_on, looks_after, None, calls_never, None):
        if replacement is None:
            ma.Schema._init_fields = original
        else:
            ma.Schema._init_fields = lambda self, run=replacement: run(self, original, log)
        try:
            use(log, cls)
        finally:
            ma.Schema._init_fields = original


@pytest.mark.parametrize("name", ["_bind_to_schema", "__deepcopy__"])
@pytest.mark.parametrize("where", ["DateTime", "String", "List", "own"])
def test_a_callable_that_is_no_descriptor_replaces_binding(ma, log, name, where):
    own = type("Own", (ma.fields.Date,), {})
    fields = {
        "DateTime": ma.fields.DateTime(),
        "String": ma.fields.String(),
        "List": ma.fields.List(ma.fields.Integer()),
        "own": own(),
    }
    cls = schema(ma, **fields)
    for _ in range(3):
        cls().dump(DATA)
    owner = own if where == "own" else getattr(ma.fields, where)
    replacement = mock.MagicMock(side_effect=lambda *args: ma.fields.Integer())
    with mock.patch.object(owner, name, replacement):
        for _ in range(3):
            log.attempt(cls().dump, DATA)
            log.attempt(cls().load, DATA)
            log("calls", replacement.call_count)
    log.attempt(cls().dump, DATA)
