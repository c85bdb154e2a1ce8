"""One way a process can end, or carry on elsewhere, with schemas in use."""

import gc
import os
import sys
import threading

from tests.hostile.programs import arguments, begin, library, report

LIBRARY, CASE = arguments()
m = library(LIBRARY)
fields = m.fields
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


class Child(m.Schema):
    name = fields.String()


class Parent(m.Schema):
    child = fields.Nested(Child)
    children = fields.List(fields.Nested(Child))
    again = fields.Nested(lambda: Parent(), allow_none=True)


DATA = {"child": {"name": "x"}, "children": [{"name": "y"}], "again": None}


def works(schema):
    return bool(schema.dump(DATA) == DATA and schema.load(DATA) == DATA)


def used():
    schema = Parent()
    assert works(schema)
    assert works(schema)
    return schema


def tried(what, call, *args, **options):
    begin(what)
    try:
        call(*args, **options)
    except Exception as error:
        report(what, f"{type(error).__name__}: {error}"[:200])
    else:
        report(what, "returned")


@case
def collected_in_mid_call():
    class Item:
        @property
        def child(self):
            gc.collect()
            return {"name": "x"}

        children = ()
        again = None

    schema = used()
    result = schema.dump([Item() for _ in range(30)], many=True)
    report("dumped", len(result))
    report("works", works(schema))


@case
def finalizers_at_shutdown():
    """Objects that dump while the interpreter takes its modules apart."""
    schema = used()

    class Last:
        def __init__(self):
            self.schema = schema
            self.data = DATA
            self.write = os.write

        def __del__(self):
            try:
                result = self.schema.dump(self.data)
                word = b"dumped" if result == self.data else b"wrong"
            except Exception as error:
                word = b"raised " + type(error).__name__.encode()
            self.write(1, b'["finalizer", "' + word + b'"]\n')

    module = sys.modules[__name__]
    module.last = Last()
    m.last = Last()
    schema.last = Last()


@case
def threads_at_shutdown():
    """Daemon threads in the middle of dumps and loads when the interpreter ends."""
    schema, rows = used(), [DATA] * 20_000

    def work():
        while True:
            schema.dump(rows, many=True)
            schema.load(rows, many=True)

    for _ in range(4):
        threading.Thread(target=work, daemon=True).start()
    gc.collect()
    report("ended", True)


@case
def fork():
    schema = used()
    stop = threading.Event()

    def work():
        while not stop.is_set():
            works(schema)

    thread = threading.Thread(target=work)
    thread.start()
    codes = []
    for _ in range(20):
        child = os.fork()
        if not child:
            os._exit(0 if works(schema) and works(Parent()) else 1)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop.set()
    thread.join()
    report("children", sorted(set(codes)))
    report("works", works(schema))


@case
def schema_taken_apart_in_mid_dump():
    """What a dump uses is taken from under it; afterwards a new schema is as ever."""

    harms = (
        "schema.__dict__.clear()",
        "schema.dump_fields.clear(); schema.load_fields.clear(); schema.fields.clear()",
        "for field in schema.fields.values(): field.__dict__.clear()",
        "schema.__class__ = Other",
        "schema.__dict__ = {}",
        "for name in ('child', 'name'): type(schema)._declared_fields.pop(name, None)",
    )
    names = {"Other": type("Other", (m.Schema,), {})}
    for harm in harms:

        class Victim(m.Schema):
            child = fields.Nested(Child)
            name = fields.Function(lambda obj: obj["act"]())
            more = fields.List(fields.Nested(Child))
            last = fields.Integer()

            @m.post_dump
            def after(self, data, **kwargs):
                gc.collect()
                return data

        for use_first in (False, True):
            victim = Victim()
            row = {"child": {"name": "x"}, "act": lambda: 1, "more": [{"name": "y"}], "last": 1}
            if use_first:
                victim.dump(row)
                victim.dump(row)

            def act(victim=victim, harm=harm):
                exec(harm, {**names, "schema": victim})
                gc.collect()
                return 2

            tried(f"{harm} {use_first}", victim.dump, [{**row, "act": act}, row, row], many=True)
    report("works", works(Parent()))


@case
def collections_that_change():
    """Lists and mappings that grow, shrink or empty themselves while they are walked."""

    class Names(m.Schema):
        names = fields.List(fields.Function(lambda obj: None))
        rows = fields.List(fields.Nested(Child))
        table = fields.Dict(keys=fields.String(), values=fields.Nested(Child))

    class Eager:
        def __init__(self, act):
            self.act = act

        @property
        def name(self):
            self.act()
            return "x"

    for title, act in {
        "clear": lambda rows: rows.clear(),
        "shrink": lambda rows: rows.pop() if rows else None,
        "grow": lambda rows: rows.append({"name": "z"}) if len(rows) < 50 else None,
        "replace": lambda rows: rows.__setitem__(slice(None), [{"name": "w"}] * 3),
    }.items():
        rows = []
        rows += [Eager(lambda act=act, rows=rows: act(rows)) for _ in range(20)]
        begin(title)
        report(f"{title} many", len(Child(many=True).dump(rows)))
        rows += [Eager(lambda act=act, rows=rows: act(rows)) for _ in range(20)]
        report(f"{title} list", len(Names().dump({"rows": rows})["rows"]))
    table = {}
    for number in range(20):
        table[f"k{number}"] = Eager(lambda: table.pop(next(iter(table)), None))
    tried("table", Names().dump, {"table": table})
    report("works", works(Parent()))


@case
def hostile_values():
    """Values whose comparison, hash, text and class do what they like."""

    def refuse(self, *args):
        raise ZeroDivisionError("asked")

    asked = ("eq", "hash", "bool", "str", "iter", "len")
    methods = {f"__{name}__": refuse for name in asked}
    Hostile = type("Hostile", (), {**methods, "__class__": property(refuse)})

    class Liar(list):
        def __len__(self):
            return 10**9

        def __iter__(self):
            return iter(({"name": "x"},))

    plain = ("String", "Integer", "Float", "Decimal", "Boolean", "DateTime", "UUID")
    kinds = {name: getattr(fields, name)() for name in plain} | {
        "list": fields.List(fields.Integer()),
        "dict": fields.Dict(values=fields.Integer()),
        "nested": fields.Nested(Child),
        "one of": fields.Raw(validate=m.validate.OneOf([1, 2])),
        "equal": fields.Raw(validate=m.validate.Equal(1)),
        "length": fields.Raw(validate=m.validate.Length(max=1)),
    }
    for title, field in kinds.items():
        schema = m.Schema.from_dict({"a": field})()
        for direction in ("dump", "load"):
            for _ in range(3):
                tried(f"{direction} {title}", getattr(schema, direction), {"a": Hostile()})
    report("liar dump", Child(many=True).dump(Liar()))
    report("liar load", Child(many=True).load(Liar()))
    report("works", works(Parent()))


begin(CASE)
CASES[CASE]()
