"""An instance for each call, with a context where the release has one, of schema classes whose
containers mix nested schemas with fields of the application's own; drawn at random."""

from hypothesis import strategies as st

from tests.conformance.lacking import has

PIECES = {
    "plain": (lambda ma, own, inner: ma.fields.Integer(), 3),
    "own": (lambda ma, own, inner: own["looks"](), "o"),
    "own, blind": (lambda ma, own, inner: own["blind"](), "b"),
    "nested": (lambda ma, own, inner: ma.fields.Nested(inner), {"x": 4}),
    "nested by name": (lambda ma, own, inner: ma.fields.Nested("Inner"), {"x": 5}),
    "nested instance": (lambda ma, own, inner: ma.fields.Nested(inner()), {"x": 6}),
    "nested, called": (lambda ma, own, inner: ma.fields.Nested(lambda: inner()), {"x": 7}),
    "own nested": (lambda ma, own, inner: own["nested"](inner, only=("x",)), {"x": 8}),
    "plucked": (lambda ma, own, inner: ma.fields.Pluck(inner, "x"), 9),
}
"""How each piece of a schema is made, and a value of it."""

HAS_CONTEXT = has("schema.Schema.__init__(context)")
OPTIONS = ("only", "many", *(["context"] if HAS_CONTEXT else []))
KEYS = ["plain", "own", "own, blind"]
CONTAINERS = ["alone", "list", "dict", "tuple"]

pieces = st.sampled_from(sorted(PIECES))
places = st.tuples(st.sampled_from(CONTAINERS), st.sampled_from(KEYS), pieces, st.booleans())
calls = st.tuples(
    st.sampled_from(["dump", "load", "validate", "look"]),
    st.fixed_dictionaries(
        {},
        optional={
            "context": st.sampled_from([{}, {"prefix": "p"}]),
            "only": st.sampled_from([("f0",), ("f0.x", "f1")]),
            "many": st.booleans(),
        },
    ),
)
programs = st.fixed_dictionaries(
    {
        "places": st.lists(places, min_size=1, max_size=3),
        "calls": st.lists(calls, min_size=1, max_size=3),
        "rounds": st.sampled_from([2, 14, 25]),
    }
)


def _own_classes(ma, log):
    class Looks(ma.fields.String):
        def _serialize(self, value, attr, obj, **more):
            found = getattr(self, "context", {})
            return f"{found.get('prefix')}{type(self.parent).__name__}{self.root.many}{value}"

        def _deserialize(self, value, attr, data, **more):
            return self._serialize(value, attr, data)

    class Blind(ma.fields.String):
        def _serialize(self, value, attr, obj, **more):
            return f"blind {value}"

    class Nested(ma.fields.Nested):
        def get_value(self, obj, attr, *more, **options):
            log("get_value", self.name, getattr(self, "context", None))
            return super().get_value(obj, attr, *more, **options)

    return {"looks": Looks, "blind": Blind, "nested": Nested}


def _field(ma, place, own, inner):
    container, key, piece, first = place
    make, value = PIECES[piece]
    field = make(ma, own, inner)
    if container == "list":
        return ma.fields.List(field), [value]
    make_key, key_value = PIECES[key]
    if container == "dict":
        return ma.fields.Dict(keys=make_key(ma, own, inner), values=field), {key_value: value}
    if container == "tuple":
        pair = [(make_key(ma, own, inner), key_value), (field, value)][:: 1 if first else -1]
        return ma.fields.Tuple([each for each, _ in pair]), tuple(each for _, each in pair)
    return field, value


def run_program(ma, log, program):
    """Do what a program says with library ``ma``, recording what comes of it."""
    own = _own_classes(ma, log)
    inner = type("Inner", (ma.Schema,), {"x": ma.fields.Integer(), "y": own["looks"]()})
    made = [_field(ma, place, own, inner) for place in program["places"]]
    cls = type("S", (ma.Schema,), {f"f{i}": field for i, (field, _) in enumerate(made)})
    values = {f"f{i}": value for i, (_, value) in enumerate(made)}
    for _ in range(program["rounds"]):
        for call, options in program["calls"]:
            schema = log.attempt(cls, **{k: v for k, v in options.items() if k in OPTIONS})
            if call == "look":
                log.attempt(lambda it=schema: [it.fields[name].parent is it for name in it.fields])
            if isinstance(schema, ma.Schema):
                method = getattr(schema, "dump" if call == "look" else call)
                log.attempt(method, [values, values] if schema.many else values)
