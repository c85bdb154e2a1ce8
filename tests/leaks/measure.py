"""What a process of its own measures: ``python -m tests.leaks.measure NAME ROUNDS``."""

import gc
import itertools
import json
import sys
import weakref

from althaia import marshmallow as ma
from benchmarks.cases.kinds import KINDS

fields = ma.fields


class Inner(ma.Schema):
    a = fields.Integer()
    b = fields.String()
    deeper = fields.Nested(lambda: Inner())


TREE = {"a": 1, "b": "x"}
for _ in range(3):
    TREE = {**TREE, "deeper": TREE}


class Hooked(ma.Schema):
    def on_bind_field(self, field_name, field_obj):
        field_obj.data_key = field_name


class Slug(fields.String):
    def _serialize(self, value, attr, obj, **kwargs):
        return super()._serialize(value, attr, obj, **kwargs)


# Those that JSON can say.
LONE = {name: kind for name, kind in KINDS.items() if name not in ("decimal", "function")}


class Everything(ma.Schema):
    absent = fields.Raw(dump_default=list, load_default=list)
    locals().update({name: make(fields) for name, (make, *_) in LONE.items()})
    inner = fields.Nested(Inner)
    many = fields.Nested(Inner, many=True)
    pluck = fields.Pluck(Inner, "a")
    method = fields.Method("compute", deserialize="compute")
    function = fields.Function(lambda obj: 1, deserialize=lambda value: value)
    slug = Slug(validate=ma.validate.Length(max=50))
    path = fields.Raw(attribute="inner.b", dump_only=True)

    def compute(self, obj):
        return 1

    @ma.post_dump
    def after(self, data, **kwargs):
        return data

    @ma.pre_load
    def before(self, data, **kwargs):
        return data


class Row:
    def __init__(self):
        vars(self).update(
            {name: value for name, (_, value, _) in LONE.items()},
            slug="s", inner=TREE, many=[{"a": 1, "b": "x"}, {"a": 2}],
            pluck={"a": 9},
        )  # fmt: skip


# All references there are, which a debug build of CPython counts.
total_references = getattr(sys, "gettotalrefcount", lambda: 0)

# The interpreter's cache of attributes of types refers to the names that it holds.
# It has another name from 3.13 on.
clear_caches = getattr(sys, "_clear_internal_caches", None) or getattr(
    sys, "_clear_type_cache", gc.collect
)


def settle():
    # Without the GIL the first collection leaves memory that another thread might be reading, some
    # hundred blocks, to the second.
    gc.collect()
    gc.collect()
    clear_caches()


def grown(work, rounds, *watched):
    """How many memory blocks and references all rounds leave behind."""
    for _ in range(300):
        work()
    settle()
    # Types that all modules made by Cython share: of functions, of generators.
    types = [each for each in gc.get_objects() if isinstance(each, type)]
    types = tuple(each for each in types if str(each.__module__).startswith("_cython"))
    references, of_types = counts(watched), counts(types)
    blocks = sys.getallocatedblocks()
    total = total_references()
    for _ in itertools.repeat(None, rounds):
        work()
    settle()
    total = total_references() - total
    blocks = sys.getallocatedblocks() - blocks
    now = counts(watched)
    return {
        "blocks": blocks,
        "total": total,
        "references": [after - before for before, after in zip(references, now, strict=True)],
        "types": sum(counts(types)) - sum(of_types),
    }


def counts(watched):
    return [sys.getrefcount(each) for each in watched]


def attempt(function, *args):
    try:
        function(*args)
    except Exception:
        return
    raise AssertionError("nothing was wrong")


def dumps(rounds):
    schema, row = Everything(), Row()
    data = vars(row)

    def work():
        schema.dump(row)
        schema.dump([data, row], many=True)

    return grown(work, rounds, schema, row, data, data["datetime"], *schema.fields.values())


def loads(rounds):
    schema = Everything()
    data = loadable(schema)
    schema.load(data)

    def work():
        schema.load(data)
        schema.load([data], many=True)

    return grown(work, rounds, schema, data, *schema.fields.values())


def errors(rounds):
    schema = Everything()
    bad = dict.fromkeys(schema.fields, object)
    worse = {"inner": {"a": "x"}, "many": [{}, {"a": "x"}], "list": ["x"], "dict": {1: "x"}}

    def work():
        for wrong in ({"integer": "x"}, {"inner": {"a": "x"}}, {"list": [1, 2, "x"]}):
            attempt(schema.dump, wrong)
        for given in (bad, worse, 3):
            attempt(schema.load, given)
        schema.validate(worse)

    return grown(work, rounds, schema, bad, worse, *schema.fields.values())


def loadable(schema):
    """What :class:`Everything` loads without an error."""
    data = schema.dump(Row())
    for name in ("constant", "function", "method", "path", "absent"):
        data.pop(name)
    return data


def texts(rounds, cls=Everything, write=json.dumps):
    """Text in both directions, valid and not."""
    schema, row = cls(), Row()
    text = write(loadable(schema))
    worse = write({"integer": "x", "string": 1, "inner": {"c": [{}]}})

    def work():
        schema.dumps(row)
        schema.dumps([row, row], many=True)
        schema.loads(text)
        attempt(schema.loads, text[:-1])
        attempt(schema.loads, worse)
        attempt(schema.dumps, {"integer": "x"})

    return grown(work, rounds, schema, row, text, worse, *schema.fields.values())


def streams(rounds):
    """Streams of text in both directions, with errors among the lines, and left unfinished."""
    import althaia

    schema = Inner()
    rows = [{"a": 1, "b": "x"}] * 40
    lines = b'{"a": 1}\n{"a": "x"}\n{"a"\n\n{"b": "y"}\n'

    def work():
        assert b"".join(althaia.stream(schema, rows))
        for _ in althaia.loads_stream(schema, [lines, lines]):
            pass
        next(iter(althaia.stream(schema, rows, lines=True)))
        next(iter(althaia.loads_stream(schema, [lines])))
        attempt(list, althaia.stream(schema, [*rows, {"a": "x"}]))

    return grown(work, rounds, schema, rows, *schema.fields.values())


def packed(rounds):
    """MessagePack in both directions; nothing in a pure build."""
    try:
        from althaia import msgpack
    except ImportError:
        return grown(lambda: None, rounds)
    packing = type("Meta", (), {"render_module": msgpack})
    return texts(rounds, type("Packed", (Everything,), {"Meta": packing}), msgpack.dumps)


def changes(rounds):
    """Plans dropped and built again."""
    from althaia import seam

    seam.load_engine()
    try:
        from althaia.engine import instances
    except ImportError:
        pass
    else:
        instances.build_at_once(True)
    schema, row = Everything(), Row()
    keys = itertools.cycle(["a", "b"])

    def work():
        schema.fields["string"].data_key = next(keys)
        schema.dump(row)
        schema.load({})

    return grown(work, rounds, schema, row, Everything, *schema.fields.values())


def instances(rounds):
    def work():
        Inner().dump({"a": 1, "b": "x"})
        Inner(many=True).dump([{"a": 1}] * 20)
        Inner(only=("a",), unknown="exclude").load({"a": 1, "c": 3})

    return grown(work, rounds, Inner)


def classes(rounds):
    """A new class each time; the instances are dumped by a prototype, in a cycle with its class."""
    bases = itertools.cycle((ma.Schema, Hooked))

    def work():
        base = next(bases)
        inner = base.from_dict({"a": fields.Method("validate")})
        nested = {"n": fields.Nested(inner), "m": fields.Nested(inner())}
        cls = base.from_dict({"a": fields.Integer(), **nested})
        for _ in range(12):
            cls().validate(cls().dump({"a": 1, "n": {"a": 2}, "m": {"a": 2}}))

    return grown(work, rounds, Inner)


def freed(rounds):
    """Weak references to what was used and let go; what is alive is a leak."""
    alive = []

    def check(name, *references):
        gc.collect()
        alive.extend(f"{name}: {ref()!r}" for ref in references if ref() is not None)

    def use(schema, times=1):
        for _ in range(times):
            schema.dump([Row()] * 10, many=True)
            schema.dump(Row())
            schema.load({})
        return schema

    schema = use(Everything(), 5)
    references = [weakref.ref(each) for each in (schema, *schema.fields.values())]
    inner = weakref.ref(schema.fields["inner"].schema)
    del schema
    check("schema and fields", *references, inner)

    schema = use(Everything(), 5)
    old = weakref.ref(schema.fields["string"])
    new = fields.Raw()
    new._bind_to_schema("string", schema)
    for each in (schema.declared_fields, schema.fields, schema.dump_fields, schema.load_fields):
        each["string"] = new
    del new, each
    use(schema)
    check("a replaced field", old)

    old_nested = weakref.ref(schema.fields["inner"].schema)
    schema.fields["inner"]._schema = None
    use(schema)
    check("a replaced nested schema", old_nested)

    schema.dump_fields, schema.load_fields = {}, {}
    declared = [weakref.ref(each) for each in schema.fields.values()]
    schema.fields, schema.declared_fields = {}, {}
    use(schema)
    check("all fields", *declared)

    row = Row()
    gone = weakref.ref(row)
    schema = Everything()
    schema.dump(row)
    del row
    assert gone() is None or gc.collect() is None
    check("an object dumped", gone)
    return {"alive": alive}


MEASURES = {
    measure.__name__: measure
    for measure in (
        dumps, loads, errors, texts, streams, packed, changes, instances, classes, freed
    )
}  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(MEASURES[sys.argv[1]](int(sys.argv[2]))))
