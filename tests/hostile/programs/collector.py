"""User code that the collector runs while a schema is made, analysed or looked into."""

import gc
import random
import sys
import threading
from contextlib import contextmanager

from tests.hostile.programs import arguments, begin, library, report

LIBRARY, CASE = arguments()
m = library(LIBRARY)
fields = m.fields
MADE = []


class Noted(m.Schema):
    """A schema that others can reach before it is finished."""

    def __init__(self, **options):
        MADE.append(self)
        super().__init__(**options)


class Marked(m.Schema):
    """One that has an attribute in its inline values when others can reach it."""

    a = fields.Integer()
    b = fields.String()

    def __init__(self, **options):
        self.mark = 1
        MADE.append(self)
        super().__init__(**options)


class Child(Noted):
    x = fields.Integer()
    y = fields.String(data_key="yy")


class Parent(Noted):
    a = fields.Integer(validate=m.validate.Range(min=0))
    b = fields.String()
    child = fields.Nested(Child)
    children = fields.List(fields.Nested(lambda: Child(only=("x",))))
    plucked = fields.Pluck(Child, "x")


DUMPED = {"a": 1, "b": "x", "child": {"x": 1}, "children": [{"x": 1}], "plucked": {"x": 2}}
LOADED = {**DUMPED, "plucked": 2}


def replace_a_fields_dictionary(schema, chance):
    field = chance.choice(list(schema.fields.values()))
    field.__dict__ = dict(field.__dict__)


def replace_inline_values(_, chance):
    schema = MADE[-1]
    own = object.__getattribute__(schema, "__dict__") if chance.random() < 0.5 else {"mark": 1}
    schema.__dict__ = dict(own)


CHANGES = {
    "replace_a_fields_dictionary": replace_a_fields_dictionary,
    "construct_again": lambda schema, chance: schema.__init__(),
    "replace_the_dictionary": lambda schema, chance: setattr(schema, "__dict__", {**vars(schema)}),
    "set_an_attribute": lambda schema, chance: setattr(schema, "mark", chance.random()),
}


@contextmanager
def collections_do(work, every):
    """Collect after so many allocations, and work at the beginning and the end of each time."""
    busy = False

    def at_collection(phase, info):
        nonlocal busy
        if not busy:
            busy = True
            try:
                work()
            except Exception:
                pass
            finally:
                busy = False

    gc.callbacks.append(at_collection)
    thresholds = gc.get_threshold()
    gc.set_threshold(every, 3, 3)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(at_collection)


def changed(cls, calls, change, share, chance, every, rounds):
    """Use schemas while a share of the collections changes one; how often all went well."""

    def work():
        if MADE and chance.random() < share:
            change(chance.choice(MADE[-3:]), chance)

    well = 0
    with collections_do(work, every):
        for _ in range(rounds):
            del MADE[:-3]
            try:
                schema = cls()
                for name, data in calls:
                    getattr(schema, name)(data)
                assert schema.fields
                well += 1
            except (AttributeError, RuntimeError, TypeError):
                # Half of a schema, where it was made anew in mid-call.
                pass
    return well


def changed_in_use(change, seed):
    chance, calls = random.Random(seed), [("dump", DUMPED), ("load", LOADED)] * 2
    return sum(changed(Parent, calls, change, 0.1, chance, every, 40) for every in (1, 3, 10))


def inline_values_replaced(seed):
    chance = random.Random(seed)
    every, calls = chance.choice((1, 2, 3, 5)), [("dump", {"a": 1})]
    return changed(Marked, calls, replace_inline_values, 0.3, chance, every, 3000)


def waiting_for_a_lock():
    """Two threads look into instances; the first collects, and code in it waits for a lock that
    the second holds while it looks. How many rounds came to an end."""
    Small = m.Schema.from_dict({"a": fields.Integer(), "b": fields.List(fields.Integer())})
    for _ in range(5):
        Small().dump({"a": 1})
    mine, held = threading.Lock(), threading.Event()
    first = threading.get_ident()

    def work():
        if threading.get_ident() == first:
            held.wait(1)
            with mine:
                pass

    def other():
        schema = Small()
        with mine:
            held.set()
            assert schema.fields

    rounds = 0
    for every in range(1, 40):
        schema = Small()
        held.clear()
        thread = threading.Thread(target=other, daemon=True)
        thread.start()
        held.wait(5)
        with collections_do(work, every):
            assert schema.fields
        thread.join(20)
        assert not thread.is_alive(), "the two wait for each other"
        rounds += 1
    return rounds


begin(CASE)
if CASE == "waiting_for_a_lock":
    report(CASE, waiting_for_a_lock())
elif CASE == "inline_values_replaced":
    report(CASE, sum(inline_values_replaced(seed) for seed in range(30)))
else:
    report(CASE, sum(changed_in_use(CHANGES[CASE], seed) for seed in range(4)))
sys.exit()
