"""KeyboardInterrupt out of each call into user code, one after the other."""

from collections import UserDict

from tests.hostile.programs import arguments, begin, library, report

(LIBRARY,) = arguments()
m = library(LIBRARY)
fields = m.fields


class Wire:
    """Notes each call into user code, and cuts the one with a certain number."""

    def __init__(self):
        self.calls = []
        self.cut_at = -1

    def begin(self, cut_at):
        self.calls, self.cut_at = [], cut_at

    def touch(self, name):
        self.calls.append(name)
        if len(self.calls) - 1 == self.cut_at:
            raise KeyboardInterrupt(name)


wire = Wire()


def touching(name, result=None):
    def call(*args, **kwargs):
        wire.touch(name)
        return result(*args) if callable(result) else result

    return call


def touching_hook(name):
    def hook(self, data, *args, **kwargs):
        wire.touch(name)
        return data

    return hook


class Custom(fields.Field):
    def _serialize(self, value, attr, obj, **kwargs):
        wire.touch(f"_serialize {attr}")
        return value

    def _deserialize(self, value, attr, data, **kwargs):
        wire.touch(f"_deserialize {attr}")
        return value


class Child(m.Schema):
    inner = Custom()
    after_dump = m.post_dump(touching_hook("child post_dump"))
    after_load = m.post_load(touching_hook("child post_load"))


class Parent(m.Schema):
    plain = fields.Integer(validate=touching("validate"))
    custom = Custom()
    child = fields.Nested(Child)
    children = fields.List(fields.Nested(Child))
    table = fields.Dict(values=Custom())
    method = fields.Method("get_it", deserialize="set_it")
    function = fields.Function(touching("function", 1), deserialize=touching("un-function", 2))
    absent = fields.Integer(
        dump_default=touching("dump_default", 3), load_default=touching("load_default", 4)
    )

    def get_it(self, obj):
        wire.touch("method")
        return 1

    def set_it(self, value):
        wire.touch("un-method")
        return value

    def get_attribute(self, obj, attr, default):
        wire.touch(f"get_attribute {attr}")
        return super().get_attribute(obj, attr, default)

    before_dump = m.pre_dump(touching_hook("pre_dump"))
    after_dump = m.post_dump(pass_original=True)(touching_hook("post_dump"))
    after_dumps = m.post_dump(pass_collection=True)(touching_hook("post_dump collection"))
    before_load = m.pre_load(touching_hook("pre_load"))
    after_load = m.post_load(touching_hook("post_load"))
    check_plain = m.validates("plain")(touching("validates"))
    check_all = m.validates_schema(touching("validates_schema"))


class Touchy(UserDict):
    """A mapping whose every access is user code."""

    def __getitem__(self, key):
        wire.touch(f"getitem {key}")
        return super().__getitem__(key)

    def get(self, key, default=None):
        wire.touch(f"get {key}")
        return self.data.get(key, default)


class Object:
    """An object whose every attribute is user code."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __getattribute__(self, name):
        if not name.startswith("__"):
            wire.touch(f"attribute {name}")
        return super().__getattribute__(name)


def items():
    wire.touch("next")
    yield source(Object)
    wire.touch("next")
    yield source(Touchy)


def source(build):
    child = build(inner="x")
    return build(plain=1, custom=2, child=child, children=[child, child], table={"k": 1}, method=0)


TEXT = {
    "plain": 1,
    "custom": 2,
    "child": {"inner": "x"},
    "children": [{"inner": "x"}, {"inner": "y"}],
    "table": {"k": 1},
    "method": 5,
    "function": 6,
}
schema = Parent()
JOBS = {
    "dump an object": lambda: schema.dump(source(Object)),
    "dump a mapping": lambda: schema.dump(source(Touchy)),
    "dump an iterator": lambda: schema.dump(items(), many=True),
    "load": lambda: schema.load(TEXT),
    "load a mapping": lambda: schema.load(Touchy(TEXT)),
    "load many": lambda: schema.load([TEXT, TEXT], many=True),
}


def attempt(job):
    try:
        return repr(job())
    except KeyboardInterrupt as error:
        return f"KeyboardInterrupt {error}"


for name, work in JOBS.items():
    begin(name)
    wire.begin(-1)
    answers = [[attempt(work), list(wire.calls)]]
    for number in range(len(wire.calls)):
        wire.begin(number)
        interrupted = attempt(work)
        before = list(wire.calls)
        wire.begin(-1)
        answers.append([interrupted, before, attempt(work)])
    report(name, answers)
