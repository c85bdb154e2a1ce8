"""Instances and their context before release 4: the real marshmallow beside ours."""

import datetime as dt
import warnings

import marshmallow as real

from althaia import marshmallow as ours
from althaia.engine.analysis import LAZY_NAMES


def answers(ma, ask):
    """What a scenario gives, often enough for prototypes, and what it warns of where."""
    found = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(16):
            try:
                found.append(ask(ma))
            except Exception as error:
                found.append((type(error).__name__, str(error)))
    said = []
    for each in caught:
        place = each.filename.rpartition("marshmallow/")[2]
        said.append((str(each.message), each.category.__name__, place, each.lineno))
    return found, said


def schemas(ma, **options):
    class Inner(ma.Schema):
        a = ma.fields.Integer()
        seen = ma.fields.Function(lambda obj, context: sorted(context))
        said = ma.fields.Method("say")

        def say(self, obj):
            return sorted(self.context)

    class Outer(ma.Schema):
        Meta = type("Meta", (), options)
        one = ma.fields.Nested(Inner)
        given = ma.fields.Nested(Inner(), only=("a",))
        called = ma.fields.Nested(lambda: Inner(many=True))
        many = ma.fields.List(ma.fields.Nested(lambda: Inner))
        by_name = ma.fields.Nested("Inner")
        own = ma.fields.Nested("self", only=("at", "one.a"))
        at = ma.fields.Date(data_key="on")

    return Outer, Inner


MOMENT = dt.datetime(2024, 5, 6, 7, 8, 9, tzinfo=dt.UTC)
DATA = {
    "one": {"a": 1},
    "given": {"a": 2},
    "called": [{"a": 3}],
    "many": [{"a": 4}],
    "by_name": {"a": 5},
    "own": {"at": MOMENT, "one": {"a": 6}},
}


def scenario(**made):
    """Ask instances of each release's own classes, which are made once."""
    classes = {}

    def ask(ma):
        cls = classes.setdefault(ma.__name__, schemas(ma)[0])
        # Each its own, which the call changes.
        schema = cls(
            **{name: dict(value) if name == "context" else value for name, value in made.items()}
        )
        dumped = schema.dump(DATA)
        schema.context["later"] = 1
        loaded = schema.load({"one": {"a": "5"}, "by_name": {"a": 1}, "own": {"on": "2024-05-06"}})
        return dumped, schema.dump(DATA), loaded, sorted(vars(schema))

    return ask


def by_options(**options):
    """The same of a class with options that only this release has."""
    classes = {}

    def ask(ma):
        cls = classes.setdefault(ma.__name__, schemas(ma, **options)[0])
        schema = cls()
        made = [type(getattr(schema, name)).__name__ for name in MAPPINGS]
        parents = [field.parent is schema for field in schema.fields.values()]
        loaded = cls().load({"one": {"a": "5"}}), cls(unknown="include").load({"z": 1})
        dumped = cls().dump(DATA), cls(many=True).dumps([DATA])
        return repr(dumped), repr(loaded), sorted(vars(cls())), made, parents

    return ask


def in_full(ma):
    """Instances that are built in full, from the caller's line."""

    class S(ma.Schema):
        class Meta:
            ordered = True

        a = ma.fields.Integer()

        def on_bind_field(self, field_name, field_obj):
            field_obj.metadata = dict(self.context)

    schema = S(context={"b": 1})
    return repr(schema.dump({"a": 1})), repr(schema.fields), schema.fields["a"].metadata


def set_on_instance(ma):
    """``ordered`` and ``context`` given to an instance that is there already."""
    S = type("S", (ma.Schema,), {"a": ma.fields.Integer()})
    schema = S()
    for _ in range(16):
        schema = S()
    schema.ordered = True
    schema.context = {"b": 1}
    return (
        type(schema.dump({"a": 1})).__name__,
        schema.context,
        schema.ordered,
        sorted(vars(schema)),
    )


def colliding(ma):
    """Two fields under one key, where each instance is built in full."""

    class S(ma.Schema):
        a = ma.fields.Integer()
        b = ma.fields.Integer(data_key="a")

        def on_bind_field(self, field_name, field_obj):
            field_obj.metadata = {"bound": field_name}

    return S()


SCENARIOS = {
    "plain": scenario(),
    "context": scenario(context={"user": 1}),
    "empty context": scenario(context={}),
    "unknown": scenario(unknown="exclude"),
    "wrong unknown": scenario(unknown="perhaps"),
    "only": scenario(only=("one.a", "many")),
    "ordered": by_options(ordered=True),
    "set": set_on_instance,
    "collision": colliding,
    "in full": in_full,
    "ordered class": by_options(ordered=True, unknown="exclude"),
    "not ordered": by_options(ordered=False),
}


MAPPINGS = ("declared_fields", "fields", "load_fields", "dump_fields")


def is_lazy(schema):
    import gc

    (state,) = [each for each in gc.get_referents(schema) if isinstance(each, dict)]
    return LAZY_NAMES.isdisjoint(list(state))


def main():
    for name, ask in SCENARIOS.items():
        expected, actual = answers(real, ask), answers(ours, ask)
        assert expected == actual, (
            f"{name}:\n{expected[0][-1]}\n{actual[0][-1]}\n{expected[1][:3]}\n{actual[1][:3]}"
        )
    for cls in (*schemas(ours), schemas(ours, ordered=True)[0]):
        warnings.simplefilter("ignore")
        made = [cls(context={"z": 1}) for _ in range(16)]
        assert is_lazy(made[-1]), cls
        made[-1].context["a"] = 1
        assert is_lazy(made[-1]), "context is its own"
        assert made[-1].ordered is cls.opts.ordered
        assert not is_lazy(made[-1]), "ordered is not"
    print("context")


if __name__ == "__main__":
    main()
