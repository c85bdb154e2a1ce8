"""A schema in use is changed, in every way; the next call must see it, as upstream's does."""

import collections
import copy
import datetime as dt
import decimal

import pytest

from tests.conformance.harness import FROM_FIRST_USE
from tests.conformance.material import Color, Plain, schema_of, subclass, written

MODES = FROM_FIRST_USE


def fail(ma, text="changed"):
    def failing(value):
        raise ma.ValidationError(text)

    return failing


def add_hook(cls, tag, hook, **config):
    cls.added = hook
    cls._hooks[tag].append(("added", False, config))


# ``f`` is the schema's ``fields``.
CHANGES = written(
    {"add_hook": add_hook, "collections": collections, "copy": copy, "fail": fail,
     "schema_of": schema_of}, "ma, cls, schema, f",
    nothing="",
    data_key='f["a"].data_key = "A"',
    data_key_back='f["c"].data_key = None',
    data_key_collides='f["a"].data_key = "b"',
    attribute='f["a"].attribute = "b"',
    attribute_dotted='f["a"].attribute = "n.x"',
    attribute_of_no_key='f["a"].attribute = "x.y"',
    attribute_none='f["c"].attribute = None',
    dump_default='f["z"].dump_default = 9',
    dump_default_callable='f["z"].dump_default = lambda: 10',
    dump_default_mutable='f["z"].dump_default = []',
    load_default='f["z"].load_default = 9',
    load_default_callable='f["z"].load_default = list',
    required='f["z"].required = True',
    not_required='f["r"].required = False',
    allow_none='f["a"].allow_none = True',
    as_string='f["a"].as_string = True',
    strict='f["a"].strict = True',
    strict_odd='f["a"].strict = "yes"',
    allow_nan='f["x"].allow_nan = True',
    format='f["d"].format = "%Y"',
    places='f["e"].places = None',
    check='f["a"]._CHECK_ATTRIBUTE = False',
    load_only='f["a"].load_only = True',
    dump_only='f["a"].dump_only = True',
    validators_append='f["a"].validators.append(fail(ma))',
    validators_clear='f["v"].validators.clear()',
    validators_replace='f["v"].validators[0] = fail(ma)',
    validators_new='f["v"].validators = (fail(ma),)',
    validators_of_a_copy='cls._declared_fields["v"].validators.append(fail(ma))',
    validator_state='f["v"].validators[0].max = 100',
    validator_error='f["v"].validators[0].error = "between {min} and {max}"',
    validator_choices='f["o"].validators[0].choices.append(9)',
    validate='f["a"].validate = fail(ma)',
    messages='f["a"].error_messages.update(invalid="edited {input}", required="edited")',
    messages_replaced='f["a"].error_messages = {"invalid": ["a", "list"]}',
    messages_missing='f["a"].error_messages = {}',
    schema_messages='schema.error_messages.update(unknown="edited", type="edited")',
    pre_load='f["a"].pre_load.append(lambda value: "7")',
    post_load='f["a"].post_load.append(lambda value: [value])',
    inner='f["l"].inner = ma.fields.String()',
    inner_data='f["l"].inner.as_string = True',
    inner_validators='f["l"].inner.validators.append(fail(ma))',
    inner_required='f["l"].inner.required = True',
    tuple_fields='f["t"].tuple_fields.reverse()',
    tuple_fields_item='f["t"].tuple_fields[0] = ma.fields.Constant(3)',
    tuple_fields_longer='f["t"].tuple_fields.append(ma.fields.Raw())',
    tuple_length='f["t"].validate_length = ma.validate.Length(equal=3)',
    value_field='f["m"].value_field = None',
    key_field='f["m"].key_field = ma.fields.Constant("k")',
    key_field_raw='f["m"].key_field = ma.fields.Raw()',
    mapping_type='f["m"].mapping_type = collections.OrderedDict',
    method_name='f["f"].serialize_method_name = "other"',
    method='f["f"]._serialize_method = lambda obj: "other"',
    method_none='f["f"]._serialize_method = None',
    load_method='f["f"]._deserialize_method = lambda value: "other"',
    method_on_class='cls.compute = cls.parse = lambda self, value: "new"',
    method_on_instance='schema.compute = lambda obj: "new"',
    function='f["g"].serialize_func = lambda obj: "new"',
    function_none='f["g"].serialize_func = None',
    load_function='f["g"].deserialize_func = lambda value: "new"',
    constant='f["k"].constant = "new"',
    enum_by_value='f["u"].by_value = True',
    enum_field='f["u"].field = ma.fields.Constant("c")',
    enum_class='f["u"].enum = collections.namedtuple("NoEnum", "x")',
    enum_choices='f["u"].choices_text = "changed"',
    nested_many='f["n"].many = True',
    nested_unknown='f["n"].unknown = "exclude"',
    nested_schema='f["n"]._schema = schema_of(ma, {"y": ma.fields.Constant(1)})',
    nested_schema_required='f["n"]._schema = schema_of(ma, {"y": ma.fields.Raw(required=True)})',
    nested_schema_many='f["n"].schema.many = True',
    nested_schema_unknown='f["n"].schema.unknown = "include"',
    nested_schema_partial='f["n"].schema.partial = True',
    nested_schema_none='f["n"]._schema = None',
    nested_nested='f["n"].nested, f["n"]._schema = {"x": ma.fields.Constant(5)}, None',
    nested_field='f["n"].schema.fields["x"].data_key = "X"',
    nested_field_required='f["n"].schema.fields["x"].required = False',
    nested_dump_fields='f["n"].schema.dump_fields.clear()',
    nested_load_fields='f["n"].schema.load_fields.clear()',
    nested_dict_class='f["n"].schema.dict_class = collections.OrderedDict',
    pluck_field='f["p"].field_name = "y"',
    pluck_many='f["p"].many = True',
    pluck_key='f["p"].schema.fields["x"].data_key = "X"',
    state_update='vars(f["a"]).update(data_key="U", required=True)',
    state_replaced='f["a"].__dict__ = {**vars(f["a"]), "data_key": "replaced"}',
    state_of_schema='vars(schema)["dump_fields"] = vars(schema)["load_fields"] = {}',
    state_of_schema_replaced='schema.__dict__ = {**vars(schema), "dump_fields": {"b": f["b"]}}',
    field_class="""class Other(ma.fields.Integer):
    def _serialize(self, value, *args, **kwargs):
        return ("other", value)
    _deserialize = _serialize
f["a"].__class__ = Other""",
    schema_class="""class Other(cls):
    def get_attribute(self, obj, attr, default):
        return "other"
    def handle_error(self, error, data, **kwargs):
        raise RuntimeError("handled") from error
schema.__class__ = Other""",
    dump_fields_removed='schema.dump_fields.pop("a")',
    dump_fields_added='schema.dump_fields["new"] = ma.fields.Constant(1)',
    dump_fields_item='schema.dump_fields["a"] = ma.fields.Constant(1)',
    dump_fields_emptied="schema.dump_fields.clear()",
    dump_fields_replaced='schema.dump_fields = {"a": f["a"]}',
    dump_fields_ordered="""schema.dump_fields = collections.OrderedDict(
    reversed(schema.dump_fields.items())
)""",
    dump_fields_mapping='schema.dump_fields = collections.ChainMap({"a": f["a"]})',
    dump_fields_no_field='schema.dump_fields["a"] = "text"',
    dump_fields_reordered="""first = next(iter(schema.dump_fields))
schema.dump_fields[first] = schema.dump_fields.pop(first)""",
    load_fields_removed='schema.load_fields.pop("a")',
    load_fields_added='schema.load_fields["q"] = ma.fields.Raw(required=True)',
    load_fields_emptied="schema.load_fields.clear()",
    load_fields_replaced='schema.load_fields = {"a": f["a"]}',
    load_fields_mapping='schema.load_fields = collections.ChainMap({"a": f["a"]})',
    fields_only='f.pop("a")',
    init_fields='schema.only = {"a", "b"}; schema._init_fields()',
    dict_class="schema.dict_class = collections.OrderedDict",
    dict_class_on_class="cls.dict_class = collections.OrderedDict",
    many="schema.many = True",
    unknown='schema.unknown = "include"',
    partial="schema.partial = True",
    partial_names='schema.partial = ("r", "n.x")',
    partial_grows='schema.partial = ["r"]; schema.partial.append("n.x")',
    index_errors="schema.opts.index_errors = False",
    index_errors_gone="del schema.opts.index_errors",
    index_errors_gone_of_one="schema.opts = copy.copy(schema.opts); del schema.opts.index_errors",
    opts="schema.opts = copy.copy(schema.opts); schema.opts.index_errors = False",
    get_attribute="schema.get_attribute = lambda obj, attr, default: attr",
    get_attribute_on_class="cls.get_attribute = lambda self, obj, attr, default: attr",
    handle_error="schema.handle_error = lambda *args, **kwargs: 1 / 0",
    hook='add_hook(cls, "post_dump", lambda self, data, **kwargs: {"hooked": data})',
    hooks="""cls.added = lambda self, data, **kwargs: {"hooked": data}
cls._hooks = collections.defaultdict(list, {"post_dump": [("added", False, {})]})""",
    pre_load_hook='add_hook(cls, "pre_load", lambda self, data, **kw: {**data, "b": "hooked"})',
    post_load_hook='add_hook(cls, "post_load", lambda self, data, **kw: {**data, "b": "hooked"})',
    validates_hook="""check = lambda self, value, **kwargs: fail(ma)(value)
add_hook(cls, "validates", check, field_names=("a",))""",
    validates_schema_hook="""check = lambda self, data, **kwargs: fail(ma)(data)
add_hook(cls, "validates_schema", check, skip_on_field_errors=True)""",
    truthy='f["w"].truthy = {"ja"}',
    truthy_edited='f["w"].truthy.add("ja")',
    class_of_a_field='type(f["a"])._own = True',
    method_of_a_fields_class='type(f["a"])._serialize = lambda self, *args, **kwargs: "changed"',
    own_serialize='schema._serialize = lambda obj, *, many: ["serialized", many]',
)  # fmt: skip


def schema_class(ma):
    fields = ma.fields
    child = ma.Schema.from_dict({"x": fields.Integer(required=True), "y": fields.Raw()})

    class S(ma.Schema):
        a = subclass(fields.Integer)()
        b = fields.String()
        c = fields.Raw(data_key="C", attribute="D")
        d = fields.DateTime()
        e = fields.Decimal(places=1)
        f = fields.Method("compute", deserialize="parse")
        g = fields.Function(lambda obj: "function", deserialize=lambda value: [value])
        k = fields.Constant("constant")
        l = fields.List(fields.Integer())  # noqa: E741
        m = fields.Dict(keys=fields.String(), values=fields.Integer())
        n = fields.Nested(child)
        o = fields.Raw(validate=ma.validate.OneOf([1, 2]))
        p = fields.Pluck(child, "x")
        r = fields.Raw(required=True)
        t = fields.Tuple((fields.Integer(), fields.String()))
        u = fields.Enum(Color)
        v = fields.Integer(validate=ma.validate.Range(min=1, max=9))
        w = fields.Boolean(truthy={"yes"})
        x = fields.Float()
        z = fields.Raw()

        def compute(self, obj):
            return "computed"

        def other(self, obj):
            return "other"

        def parse(self, value):
            return ("parsed", value)

    return S


def data():
    return {
        "a": "1", "b": 2, "c": 3, "D": 4, "d": dt.datetime(2020, 1, 1),
        "e": decimal.Decimal("1.25"), "l": ["1"], "m": {"q": "1"}, "n": {"x": "1", "y": 2},
        "p": {"x": 3, "y": 4}, "t": ("1", 2), "u": Color.RED,
    }  # fmt: skip


GOOD = {
    "a": "1", "b": "2", "C": 3, "d": "2020-01-01T00:00:00", "e": "1.5", "f": 1, "g": 2, "k": 3,
    "l": ["1"], "m": {"q": "1"}, "n": {"x": "1", "y": 2}, "o": 1, "p": 3, "r": 1,
    "t": ["1", "2"], "u": "RED", "v": 5, "w": "yes", "x": "2.5", "z": 0,
}  # fmt: skip
BAD = {
    "a": "x", "b": 2, "d": "no", "e": "no", "l": ["x", 1], "m": {"q": "x"}, "n": {"y": 2, "z": 1},
    "o": 9, "p": "x", "t": ["1"], "u": "BLUE", "v": 50, "w": "ja", "x": "nan", "unknown": 1,
}  # fmt: skip


def use(log, schema):
    log("use")
    for _ in range(2):
        log.attempt(schema.dump, data())
        log.attempt(schema.dump, [data(), {}], many=True)
        log.attempt(schema.load, copy.deepcopy(GOOD))
        log.attempt(schema.load, copy.deepcopy(BAD))
    log.attempt(schema.dump, Plain(**data()))
    log.attempt(schema.load, [copy.deepcopy(BAD), {}, None, copy.deepcopy(GOOD)], many=True)
    log.attempt(schema.load, {"a": None})
    log.attempt(schema.validate, copy.deepcopy(BAD))


def change_it(ma, log, change, schema):
    log.attempt(lambda: CHANGES[change](ma, type(schema), schema, schema.fields) and None)


@pytest.mark.parametrize("change", CHANGES)
def test_after_a_change(ma, log, change):
    cls = schema_class(ma)
    schema, other = cls(), cls()
    use(log, schema)
    use(log, other)
    change_it(ma, log, change, schema)
    use(log, schema)
    use(log, other)
    # Here and not in a function, so that they go through text as well.
    for each in (schema, other, cls()):
        for _ in range(2):
            log.attempt(each.dump, data())
            log.attempt(each.load, copy.deepcopy(GOOD))
            log.attempt(each.load, copy.deepcopy(BAD))


@pytest.mark.parametrize("change", CHANGES)
def test_before_the_first_use(ma, log, change):
    schema = schema_class(ma)()
    change_it(ma, log, change, schema)
    use(log, schema)


@pytest.mark.parametrize("how", ["copy", "deepcopy"])
@pytest.mark.parametrize("change", CHANGES)
def test_copies_of_a_used_schema(ma, log, change, how):
    schema = schema_class(ma)()
    use(log, schema)
    twin = getattr(copy, how)(schema)
    use(log, twin)
    change_it(ma, log, change, twin)
    use(log, twin)
    use(log, schema)


@pytest.mark.parametrize("change", CHANGES)
def test_a_nested_schema_that_is_changed(ma, log, change):
    nested = ma.fields.Nested(schema_class(ma))
    outer = schema_of(ma, {"s": nested, "t": ma.fields.List(nested)})

    def use_it():
        obj, record = {"s": data(), "t": [data(), None]}, {"s": GOOD, "t": [BAD]}
        log.attempt(outer.dump, obj)
        log.attempt(outer.dump, [obj, obj], many=True)
        log.attempt(outer.load, copy.deepcopy(record))
        log.attempt(outer.load, [copy.deepcopy(record), {"s": BAD}], many=True)

    use_it()
    use_it()
    change_it(ma, log, change, outer.fields["s"].schema)
    use_it()
    use_it()


@pytest.mark.parametrize("where", ["alone", "in a collection", "nested"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_hook_that_changes_the_schema_before_the_work(ma, log, change, where):
    class S(schema_class(ma)):
        @ma.pre_dump(pass_collection=where == "in a collection")
        @ma.pre_load(pass_collection=where == "in a collection")
        def before(self, given, **kwargs):
            if number > 2:
                change_it(ma, log, change, self)
            return given

        after = ma.post_dump(ma.post_load(log.hook("after")))

    listed = ma.fields.List(ma.fields.Nested(S))
    cls = ma.Schema.from_dict({"s": listed}) if where == "nested" else S
    rows = data(), copy.deepcopy(GOOD)
    dumped, loaded = [{"s": [row, row]} for row in rows] if where == "nested" else rows
    for many in (False, True):
        dumping, loading = cls(many=many), cls(many=many)
        for number in range(5):  # noqa: B007
            log.attempt(dumping.dump, [dumped, dumped] if many else dumped)
            log.attempt(loading.load, [loaded, loaded] if many else loaded)


@pytest.mark.parametrize("first", ["attribute", "dump_fields_removed", "field_class", "hook"])
@pytest.mark.parametrize("second", ["data_key", "dump_fields_added", "nested_field", "many"])
def test_one_change_after_another(ma, log, first, second):
    schema = schema_class(ma)()
    for change in ("nothing", first, second, first):
        change_it(ma, log, change, schema)
        use(log, schema)


def test_a_schema_with_slots(ma, log):
    class S(ma.Schema):
        __slots__ = ("extra",)
        f = ma.fields.Integer()

    schema = S()
    schema.extra = 3
    for _ in range(3):
        log.attempt(schema.dump, {"f": "1"})
    plain, slots = schema.__getstate__()
    log("copied", copy.copy(schema).extra, type(plain), sorted(plain), slots)
