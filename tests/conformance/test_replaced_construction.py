"""``Schema._init_fields`` replaced, in a class or for the whole process: what runs, and when."""

import copy
from unittest import mock

import pytest

from tests.conformance.material import state, written

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


REPLACEMENTS = written(
    {"copy": copy, "state": state}, "self, original, log",
    passes_on="original(self)",
    passes_on_and_returns="return [original(self)]",
    looks_before="state(log, self); original(self)",
    looks_after="original(self); state(log, self)",
    looks_both_times="state(log, self); original(self); state(log, self)",
    looks_at_one="""original(self)
log("a", self.fields["a"].parent is self, self.fields["a"].name)""",
    reads_settings="""log(
    "settings", self.many, self.unknown, self.partial, self.error_messages, self.opts.unknown
)
original(self)
log("settings", self.many, self.unknown, self.partial, self.error_messages)""",
    sets_before="self.mark = 1; original(self)",
    sets_after="original(self); self.mark = 1",
    sets_settings='self.unknown = "include"; original(self); self.many = not self.many',
    sets_messages='original(self); self.error_messages = {"type": "mine"}',
    drops_a_setting="original(self); del self.partial",
    takes_out='del self.declared_fields["a"]; original(self)',
    replaces_declared='self.declared_fields = {"a": self._declared_fields["a"]}; original(self)',
    replaces_fields="original(self); self.dump_fields = {}",
    calls_twice="original(self); original(self)",
    calls_never="",
    fails_before='log("keep", log.made.append(self)); raise LookupError("before")',
    fails_after='original(self); log("keep", log.made.append(self)); raise LookupError("after")',
    dumps_before='log.attempt(self.dump, {"a": 1}); original(self)',
    dumps_after='original(self); log.attempt(self.dump, {"a": 1})',
    copies_before="""other = copy.copy(self)
original(other)
log("other", list(other.fields))
original(self)""",
    begins_anew="""if not hasattr(self, "begun"):
    self.begun = True
    self.__init__()
original(self)""",
    another_class='self.__class__ = type("Other", (type(self),), {}); original(self)',
    another_dictionary="""vars(self)["__dict__"] = 1
self.__dict__ = dict(self.__dict__)
original(self)""",
    # As an application does that has more columns than fields.
    mends_unknown_names="""for _ in range(3):
    try:
        return original(self)
    except ValueError as error:
        log("mended", str(error))
        for name in self.only or ():
            if name not in self.declared_fields:
                self.declared_fields[name] = type(self.declared_fields["a"])()""",
)  # fmt: skip


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
@pytest.mark.parametrize("replace", REPLACEMENTS)
def test_it_runs_where_upstream_runs_it(ma, log, replace, where, options):
    original = ma.Schema._init_fields
    log.made = []

    def replacement(self):
        log("init fields", type(self).__name__, self.__class__.__name__)
        return REPLACEMENTS[replace](self, original, log)

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
    cls._init_fields = {
        "mock": mock.Mock(return_value=None),
        "autospec": mock.create_autospec(lambda self: None, side_effect=original),
        "property": property(lambda self: lambda: log("bound", len(self.declared_fields))),
        "static": staticmethod(lambda: log("static")),
        "class": classmethod(lambda cls: log("class", cls.__name__)),
    }[kind]
    for _ in range(4):
        made = log.attempt(cls)
        if not isinstance(made, Exception):
            log.attempt(state, log, made)
            log.attempt(made.dump, DATA)


def test_it_is_put_back(ma, log):
    original = ma.Schema._init_fields
    cls = schema(ma)
    for replacement in ("", "passes_on", "looks_after", "", "calls_never", ""):
        run = REPLACEMENTS.get(replacement)
        if run is None:
            ma.Schema._init_fields = original
        else:
            ma.Schema._init_fields = lambda self, run=run: run(self, original, log)
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
