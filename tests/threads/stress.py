"""Many threads with the same schemas: ``python -m tests.threads.stress --seconds 300``.

What has one right answer is compared with it; where another thread may have changed something, with
all answers that are right before or after. ``--library marshmallow`` runs upstream, to compare.
"""

import argparse
import copy
import faulthandler
import importlib
import json
import random
import sys
import threading
import time
import traceback
from collections import Counter
from contextlib import suppress

from althaia import json as althaia_json, msgpack as althaia_msgpack

PLAIN = {"number": 7, "text": "x", "real": 1.5, "items": [1, 2, 3], "inner": {"a": 2}}
ROWS = [{**PLAIN, "number": i, "text": str(i)} for i in range(12)]
PAIRS = {**PLAIN, "pairs": [{"a": 1}, {"a": 2}]}
WRONG = {**PLAIN, "number": "no number", "inner": {"a": "none", "b": 1}}
MESSAGES = {
    "number": ["Not a valid integer."],
    "inner": {"a": ["Not a valid integer."], "b": ["Unknown field."]},
}
KEYS = ("k0", "k1", "k2")
LONGEST = 300
"""Seconds after which a round that has not ended is a hang."""


class Point:
    real = property(lambda self: 1.5)

    def __init__(self, number):
        vars(self).update(number=number, text=str(number), items=[1, 2, 3], inner={"a": 2})


class World:
    """Schemas of one round, shared by all threads and used by none of them so far."""

    def __init__(self, ma, turn):
        self.ma = ma
        Inner = type("Inner", (ma.Schema,), {"a": ma.fields.Integer()})

        class Outer(ma.Schema):
            number = ma.fields.Integer()
            text = ma.fields.String()
            real = ma.fields.Float()
            items = ma.fields.List(ma.fields.Integer())
            inner = ma.fields.Nested(Inner)
            pairs = ma.fields.List(ma.fields.Nested(Inner))

        class Hooked(Outer):
            @ma.post_load
            def keep(self, data, **kwargs):
                return data

            @ma.pre_dump
            def same(self, data, **kwargs):
                return data

        class Marked(ma.Schema):
            a = ma.fields.Integer()

            @ma.post_dump
            @ma.post_load
            def mark(self, data, **kwargs):
                return {**data, "marked": True}

            def see(self, data, *original, **kwargs):
                expect((data, *original), ({"a": 1}, {"a": 1}))
                return data

        class Registered(Outer):
            def __init__(self):
                world.newest = self
                super().__init__()

        world = self
        Holder = type("Holder", (ma.Schema,), {"inner": ma.fields.Nested(Marked)})

        class Packed(Outer):
            class Meta:
                render_module = althaia_msgpack

        Keyed = type("Keyed", (ma.Schema,), {"number": ma.fields.Integer(data_key=KEYS[0])})
        Own = type("Own", (ma.fields.Integer,), {})
        Patched = ma.Schema.from_dict({"number": Own()})
        if turn % 2:
            # From the tenth on instances are lazy, those that the threads share included.
            for cls in (Inner, Outer, Hooked, Packed, Keyed) * 12:
                cls()
        self.outer_class, self.keyed_class, self.own_field = Outer, Keyed, Own
        self.fresh = Outer()
        self.outer, self.hooked, self.packed = Outer(), Hooked(), Packed()
        self.some = Outer(only=("number", "inner.a"))
        self.keyed, self.patched = Keyed(), Patched()
        self.holder, self.marked_class = Holder(), Marked
        self.hooks = {tag: list(Marked._hooks[tag]) for tag in ("post_dump", "post_load")}
        self.nested, self.number = Outer(only=("inner",)), Outer(only=("number",))
        self.registered_class, self.newest = Registered, Registered()
        self.seen = {}
        self.growing = [1, 2]
        self.turn = turn


def expect(found, *allowed):
    if found not in allowed:
        raise AssertionError(f"{found!r} is none of {allowed!r}"[:1000])


def dump_one(world, chance):
    expect(world.outer.dump(PLAIN), PLAIN)
    expect(world.hooked.dump(Point(7)), {**PLAIN, "text": "7"})


def dump_many(world, chance):
    schema = chance.choice((world.outer, world.hooked, world.packed))
    expect(schema.dump(ROWS, many=True), ROWS)
    expect(schema.dump([Point(i) for i in range(12)], many=True), ROWS)


def load_one(world, chance):
    expect(world.outer.load(PLAIN), PLAIN)
    expect(world.some.load({"number": "3", "inner": {"a": "4"}}), {"number": 3, "inner": {"a": 4}})


def refuse(world, chance):
    mine = {**WRONG, "text": str(chance.random())}
    try:
        world.outer.load(mine)
    except world.ma.ValidationError as error:
        expect(error.messages, MESSAGES)
        expect(error.data, mine)
        expect(error.valid_data["text"], mine["text"])
    else:
        raise AssertionError("an invalid input was loaded")


def text(world, chance):
    schema = chance.choice((world.outer, world.hooked))
    options = chance.choice(
        ({}, {"sort_keys": True}, {"indent": 1}, {"separators": (",", ":")}, {"default": str})
    )
    expect(schema.dumps(ROWS, many=True, **options), json.dumps(ROWS, **options))
    expect(schema.loads(json.dumps(ROWS), many=True), ROWS)
    expect(althaia_json.loads(althaia_json.dumps(ROWS, **options)), ROWS)


def packed(world, chance):
    expect(world.packed.dumps(ROWS, many=True), althaia_msgpack.dumps(ROWS))
    expect(world.packed.loads(althaia_msgpack.dumps(PLAIN)), PLAIN)
    # One plan writes both forms.
    expect(world.packed.dumps(PLAIN), althaia_msgpack.dumps(PLAIN))
    expect(world.outer.dumps(PLAIN), json.dumps(PLAIN))


def look_into(world, chance):
    schema = chance.choice((world.outer, world.some, world.hooked))
    expect(schema.fields["number"].parent is schema, True)
    expect(schema.many, False)
    expect(schema.only is None or set(schema.only) == {"number", "inner"}, True)
    expect(bool(schema.error_messages["unknown"]), True)
    expect(next(iter(vars(schema)["dump_fields"])) in ("number", "inner"), True)


def new_instance(world, chance):
    schema = world.outer_class(only=chance.choice((("number",), ("number", "text"))))
    expect(schema.dump({"number": "5"}), {"number": 5})
    if chance.random() < 0.5:
        expect(schema.fields["number"].parent is schema, True)
        schema.fields["number"].data_key = "other"
        expect(schema.dump({"number": "5"}), {"other": 5})


def new_fresh(world, chance):
    schema = world.outer_class()
    if chance.random() < 0.5:
        expect(schema.dump(PAIRS), PAIRS)
    world.fresh = schema


def use_fresh(world, chance):
    """Use an instance that another thread has just made, in one of the ways that build it."""
    schema = world.fresh
    way = chance.randrange(6)
    if way == 0:
        expect(schema.dump(PAIRS), PAIRS)
    elif way == 1:
        expect(schema.load(PAIRS), PAIRS)
    elif way == 2:
        schema.many, schema.unknown = False, "raise"
        expect((schema.many, schema.unknown), (False, "raise"))
    elif way == 3:
        state = chance.choice((schema.__getstate__(), schema.__reduce_ex__(4)[2]))
        expect(set(state) >= {"many", "fields", "only", "declared_fields"}, True)
    elif way == 4:
        twin = chance.choice((copy.copy, copy.deepcopy))(schema)
        expect(list(twin.fields), list(PAIRS))
        expect(twin.dump(PLAIN), PLAIN)
    for name in PAIRS:
        field = schema.declared_fields[name]
        expect(field.parent is schema and field.root is schema, True)
        expect(schema.fields[name] is field and schema.dump_fields[name] is field, True)
    expect(schema.fields["inner"].schema.fields["a"].parent.many, False)
    expect(schema.fields["pairs"].inner.parent is schema.fields["pairs"], True)


def look_at_fresh(world, chance):
    """All threads see the same parts of an instance, whoever was first."""
    schema = world.fresh
    fields = schema.fields
    parts = fields, fields["number"], fields["number"].parent, vars(schema)
    for one, other in zip(parts, world.seen.setdefault(schema, parts), strict=True):
        expect(one is other, True)


def set_attributes(world, chance):
    name = f"mark{threading.get_ident()}"
    # The second may be on its way to be made.
    for schema in (world.outer, world.newest):
        setattr(schema, name, name)
        expect(getattr(schema, name), name)


def register(world, chance):
    expect(world.registered_class().dump(PLAIN), PLAIN)


def use_key(world, chance):
    allowed = [{key: 1} for key in KEYS]
    expect(world.keyed.dump({"number": "1"}), *allowed)
    rows = world.keyed.dump([{"number": "1"}] * 9, many=True)
    expect(rows[chance.randrange(9)], *allowed)
    expect(json.loads(world.keyed.dumps({"number": "1"})), *allowed)
    fresh = world.keyed_class()
    expect(fresh.dump({"number": "1"}), *allowed)
    expect(fresh.fields["number"].data_key in KEYS, True)


def change_inner_key(world, chance):
    world.nested.fields["inner"].schema.fields["a"].data_key = chance.choice(KEYS)


def use_inner_key(world, chance):
    allowed = [{"inner": {key: 1}} for key in ("a", *KEYS)]
    expect(world.nested.dump({"inner": {"a": "1"}}), *allowed)


def replace_dictionary(world, chance):
    world.number.__dict__ = dict(vars(world.number))


def use_dictionary(world, chance):
    for way in (world.number.dump, world.number.load):
        expect(way({"number": "1"}), {"number": 1})


def patch_json(world, chance):
    json.JSONEncoder.extra = 1
    with suppress(AttributeError):
        del json.JSONEncoder.extra


def parts(whole):
    return {"number": whole["number"]}, {"inner": whole["inner"]}, dict(whole)


def use_fields(world, chance):
    number, inner = {"number": 3}, {"inner": {"a": 4}}
    found = world.some.dump({"number": "3", "inner": {"a": "4"}})
    expect(found, number, inner, number | inner)


def patch_class(world, chance):
    world.own_field._serialize = lambda self, value, attr, obj, **kwargs: -1
    # Another thread may be sooner.
    with suppress(AttributeError):
        del world.own_field._serialize


def change_hooks(world, chance):
    tag, hooks = chance.choice(list(world.hooks.items()))
    see = [("see", False, {"pass_original": True})]
    world.marked_class._hooks[tag] = chance.choice((list(hooks), [], see))


def use_hooks(world, chance):
    data = {"inner": {"a": 1}}
    allowed = (data, {"inner": {"a": 1, "marked": True}})
    expect(world.holder.dump(data), *allowed)
    expect(world.holder.load(data), *allowed)
    rows = [data] * 9
    for found in (
        *world.holder.dump(rows, many=True),
        *world.holder.load(rows, many=True),
        *json.loads(world.holder.dumps(rows, many=True)),
    ):
        expect(found, *allowed)


def change_list(world, chance):
    for _ in range(5):
        world.growing += [3, 4]
        world.growing.pop()
        world.growing.pop()


def use_list(world, chance):
    for found in (
        world.outer.load({"items": world.growing})["items"],
        world.outer.dump({"items": world.growing})["items"],
        json.loads(world.outer.dumps({"items": world.growing}))["items"],
        althaia_msgpack.loads(althaia_msgpack.dumps({"items": world.growing}))["items"],
        althaia_json.loads(althaia_json.dumps(world.growing)),
    ):
        expect(set(found) <= {1, 2, 3, 4}, True)


def new_class(world, chance):
    extra = f"extra{chance.randrange(3)}"
    cls = type(f"Made{world.turn}", (world.outer_class,), {extra: world.ma.fields.Integer()})
    for _ in range(3):
        expect(cls().dump({**PLAIN, extra: "7"}), {**PLAIN, extra: 7})
        expect(cls(only=(extra,)).load({extra: "7"}), {extra: 7})


def ask(world, chance):
    if world.ma.__name__ != "marshmallow":
        import althaia

        althaia.explain(world.outer)
        althaia.stats()


JOBS = {
    job.__name__: job
    for job in (
        dump_one, dump_many, load_one, refuse, text, packed, look_into, new_instance, new_fresh,
        use_fresh, look_at_fresh, set_attributes, register, use_key, change_inner_key,
        use_inner_key, replace_dictionary, use_dictionary, patch_json, use_fields, patch_class,
        change_hooks, use_hooks, change_list, use_list, new_class, ask,
    )
}  # fmt: skip
JOBS |= {
    "load_many": lambda world, chance: expect(
        chance.choice((world.outer, world.hooked)).load(ROWS, many=True), ROWS
    ),
    # Not of one that gets attributes: copying its dictionary is an error then.
    "copies": lambda world, chance: expect(
        chance.choice((copy.copy, copy.deepcopy))(world.hooked).dump(PLAIN), PLAIN
    ),
    "change_key": lambda world, chance: setattr(
        chance.choice((world.keyed.fields, world.keyed_class._declared_fields))["number"],
        "data_key",
        chance.choice(KEYS),
    ),
    "replace_fields": lambda world, chance: setattr(
        world.some, "dump_fields", chance.choice(parts(world.some.fields))
    ),
    "use_class": lambda world, chance: expect(
        world.patched.dump({"number": "1"}), {"number": 1}, {"number": -1}
    ),
}
SELDOM = {"new_class", "ask", "copies"}
"""Jobs that take so long that the others would hardly meet each other."""


class Run:
    def __init__(self, library, threads, jobs, seed, length):
        self.ma = importlib.import_module(library)
        self.threads, self.jobs, self.seed, self.length = threads, jobs, seed, length
        self.done = Counter()
        self.failed = Counter()
        self.traces = []
        self.start = threading.Barrier(threads + 1)
        self.end = threading.Barrier(threads + 1)
        self.world = None

    def work(self, number):
        chance = random.Random(self.seed * 1000 + number)
        often = [name for name in self.jobs if name not in SELDOM] or self.jobs
        done = Counter()
        while True:
            self.start.wait()
            world = self.world
            if world is None:
                self.done.update(done)
                return
            until = time.monotonic() + self.length
            while time.monotonic() < until:
                name = chance.choice(self.jobs if chance.random() < 0.05 else often)
                try:
                    JOBS[name](world, chance)
                except Exception as error:
                    self.failed[f"{name}: {type(error).__name__}: {error}"[:300]] += 1
                    if len(self.traces) < 20:
                        self.traces.append(traceback.format_exc())
                done[name] += 1
            self.end.wait()

    def __call__(self, seconds):
        """Run for so long; the number of failures."""
        # Threads take turns as often as they can.
        sys.setswitchinterval(1e-6)
        pool = [
            threading.Thread(target=self.work, args=(number,), daemon=True)
            for number in range(self.threads)
        ]
        for thread in pool:
            thread.start()
        turns, until = 0, time.monotonic() + seconds
        while turns == 0 or time.monotonic() < until:
            turns += 1
            faulthandler.dump_traceback_later(LONGEST, exit=True)
            self.world = World(self.ma, turns)
            self.start.wait()
            self.end.wait()
        self.world = None
        self.start.wait()
        for thread in pool:
            thread.join()
        faulthandler.cancel_dump_traceback_later()
        print(f"{turns} rounds, {sum(self.done.values())} jobs: {dict(self.done)}")
        for trace in self.traces:
            print(trace, file=sys.stderr)
        for failure, times in self.failed.most_common(30):
            print(f"{times} times {failure}", file=sys.stderr)
        return sum(self.failed.values())


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--library", default="althaia.marshmallow", help="or marshmallow")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--round", type=float, default=0.25, help="seconds of a round")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--job", action="append", choices=sorted(JOBS), help="only these")
    given = parser.parse_args()
    run = Run(given.library, given.threads, given.job or list(JOBS), given.seed, given.round)
    return 1 if run(given.seconds) else 0


if __name__ == "__main__":
    sys.exit(main())
