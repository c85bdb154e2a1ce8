"""What changes between two instances of a class, or while several are alive and in use."""

import copy  # noqa: F401

import pytest

from tests.invalidation.usage import use

DATA = {
    "a": "1", "b": 2, "c": {"x": "3", "y": 4}, "n": 5, "d": "abc", "e": ["6"], "f": {"g": 7},
    "m": 8, "l": [{"x": 9}], "t": [1, {"x": 2}],
}  # fmt: skip


def make_class(ma):
    Inner = type("Inner", (ma.Schema,), {"x": ma.fields.Integer(), "y": ma.fields.Raw()})
    Base = type("Base", (ma.Schema,), {"a": ma.fields.Integer()})

    class Own(Base):
        b = ma.fields.Raw()
        c = ma.fields.Nested(Inner)
        d = ma.fields.String(validate=ma.validate.Length(max=3))
        e = ma.fields.List(ma.fields.Integer())
        f = ma.fields.Dict(values=ma.fields.Integer())
        m = ma.fields.Method("get_m", "load_m")
        l = ma.fields.List(ma.fields.Nested(Inner))  # noqa: E741
        t = ma.fields.Tuple([ma.fields.Integer(), ma.fields.Nested(Inner)])

        class Meta:
            load_only = ()
            exclude = []

        def get_m(self, obj):
            return "early"

        def load_m(self, value):
            return "early"

    return Own


def _all(log, cls):
    """New instances in the ways they are made, each used once or more."""
    for _ in range(3):
        log.attempt(lambda: cls().dump(DATA))
        log.attempt(lambda: cls(many=True).dump([DATA, DATA]))
        log.attempt(lambda: cls(only=("a", "c.x")).dump(DATA))
        log.attempt(lambda: cls(exclude=("b",)).dump(DATA))
        log.attempt(lambda: cls(unknown="exclude").load(DATA))
        log.attempt(lambda: cls(partial=True, dump_only=("a",)).load({"a": 1}))
        log.attempt(lambda: cls(load_only=("b",)).dump(DATA))
        log.attempt(lambda: cls(only=("nobody",)).dump(DATA))


CLASS_CHANGES = [
    "cls._declared_fields['a'].data_key = 'k'",
    "cls.__mro__[1]._declared_fields['a'].data_key = 'k'",
    "cls._declared_fields.update(a=ma.fields.String())",
    "cls._declared_fields.update(n=ma.fields.Raw())",
    "cls._declared_fields.pop('b')",
    "cls._declared_fields = {'n': ma.fields.Raw()}",
    "cls._declared_fields.update(a=cls._declared_fields.pop('a'))",
    "cls.b = ma.fields.String()",
    "cls._declared_fields['a'].__class__ = ma.fields.String",
    "cls.opts.exclude = ('a',)",
    "cls.opts.dump_only = ('b',)",
    "cls.opts.unknown = 'include'",
    "cls.opts.many = True",
    "cls.opts = cls.OPTIONS_CLASS(type('Meta', (), {'exclude': ('b',)}))",
    "cls.Meta.exclude = ('a',)",
    "cls.on_bind_field = lambda self, name, field: setattr(field, 'data_key', name.upper())",
    (
        "cls._bind_field = lambda self, name, field: ma.Schema._bind_field(self, name, field) or "
        "setattr(field, 'attribute', f'{name}2')"
    ),
    "cls._init_fields = lambda self: self.dump_fields.update(self.declared_fields)",
    (
        "cls.__init__ = lambda self, **options: ma.Schema.__init__(self, **{**options, 'exclude': "
        "('a',)})"
    ),
    "cls.__new__ = staticmethod(lambda kind, **options: object.__new__(kind))",
    "cls.error_messages = {'unknown': 'what?'}",
    "cls.__mro__[1].error_messages = {'unknown': 'what?'}",
    "cls.set_class = set",
    "cls.dict_class = type('Own', (dict,), {})",
    "cls.__bases__ = (type('Other', (ma.Schema,), {'z': ma.fields.Raw()}),)",
    (
        "cls._declared_fields['a'].__class__ = type('Copied', (ma.fields.Integer,), "
        "{'__deepcopy__': lambda self, memo: ma.fields.String(data_key='copied')})"
    ),
    (
        "cls._declared_fields['a'].__class__ = type('Copied', (ma.fields.Integer,), {'__copy__': "
        "lambda self: ma.fields.String(data_key='copied')})"
    ),
    (
        "cls._declared_fields['a'].__class__ = type('Bound', (ma.fields.Integer,), "
        "{'_bind_to_schema': lambda self, name, schema: ma.fields.Integer._bind_to_schema(self, "
        "name, schema) or setattr(self, 'data_key', 'bound')})"
    ),
    "cls._declared_fields['d'].validators.append(ma.validate.Length(max=1))",
    "cls._declared_fields['d'].validators[0].max = 1",
    "cls._declared_fields['d'].error_messages.update(invalid='what?')",
    "cls._declared_fields['e'].inner.as_string = True",
    "cls._declared_fields['f'].value_field.as_string = True",
    "cls._declared_fields['c'].nested._declared_fields['x'].data_key = 'k'",
    "cls._declared_fields['c'].nested.get_attribute = lambda self, obj, attr, default: 9",
    "cls._declared_fields['c'].nested = {'y': ma.fields.Raw()}",
    "cls._declared_fields['c'].only = ('y',)",
    "cls.opts.exclude.append('a')",
    "cls.opts.fields = ('b',)",
    "cls._bind_field = lambda self, name, field: None",
    "cls.__mro__[1]._init_fields = lambda self: setattr(self, 'dump_fields', {})",
    "cls.get_attribute = lambda self, obj, attr, default: attr",
]


@pytest.mark.parametrize("change", CLASS_CHANGES)
def test_class_changes_between_instances(ma, log, change):
    cls = make_class(ma)
    before = [cls() for _ in range(3)]
    _all(log, cls)
    used = cls()
    use(log, used, DATA)
    unused = [cls() for _ in range(3)]
    exec(change, {**globals(), "ma": ma, "cls": cls})
    _all(log, cls)
    use(log, used, DATA)
    for schema in before + unused:
        use(log, schema, DATA)
    log("fields", [list(schema.fields) for schema in (*before, *unused, used)])
    log.attempt(lambda: list(cls().fields))
