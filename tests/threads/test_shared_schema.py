"""One schema, many threads: first use at once, and changes while others dump and load."""

import faulthandler
import json  # noqa: F401
import sys
import threading
import time
from textwrap import dedent

import pytest

from althaia import marshmallow as ma

THREADS = 8
LONGEST = 300
"""Seconds after which threads hang. On a busy machine those without a GIL take long: whoever holds
a lock may be waiting for a core."""


@pytest.fixture(autouse=True)
def frequent_switches():
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def run(work, threads=THREADS):
    """``work(number)`` in each thread, all started together; all must come to a good end."""
    start = threading.Barrier(threads)
    errors = []

    def each(number):
        try:
            start.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    pool = [threading.Thread(target=each, args=(number,), daemon=True) for number in range(threads)]
    for thread in pool:
        thread.start()
    until = time.monotonic() + LONGEST
    for thread in pool:
        thread.join(max(0.0, until - time.monotonic()))
    if any(thread.is_alive() for thread in pool):
        faulthandler.dump_traceback(all_threads=True)
        raise AssertionError(
            f"after {LONGEST} seconds threads have not ended, and {len(errors)} failed"
        ) from (errors[0] if errors else None)
    if errors:
        raise AssertionError(f"{len(errors)} of {threads} threads failed") from errors[0]


class Inner(ma.Schema):
    a = ma.fields.Integer()


class Outer(ma.Schema):
    number = ma.fields.Integer()
    text = ma.fields.String()
    inner = ma.fields.Nested(Inner)
    many = ma.fields.List(ma.fields.Nested(lambda: Inner(only=("a",))))
    method = ma.fields.Method("compute")

    def compute(self, obj):
        return obj["number"]


DATA = {"number": 1, "text": "x", "inner": {"a": 2}, "many": [{"a": 3}, {"a": 4}]}
DUMPED = {**DATA, "method": 1}


ROUNDS = {
    # What has been looked into is bound to the schema itself, whoever was first.
    "looking while others dump": (
        150,
        "schema = Outer()",
        """
        assert number % 2 == 0 or schema.dump(DATA) == DUMPED
        assert schema.fields["number"].root is schema
        """,
        """
        for name in ("inner", "many"):
            assert schema.fields[name].root is schema.fields[name].parent is schema
        assert schema.fields["many"].inner.root is schema
        assert schema.fields["many"].inner.parent is schema.fields["many"]
        """,
    ),
    "all looking": (
        200,
        "schema, seen = lazy(), {}",
        """
        fields = schema.fields
        seen[number] = (fields, fields["number"], vars(schema), fields["number"].parent)
        """,
        """
        assert seen[0][3] is schema and len(seen) == THREADS
        for each in seen.values():
            assert all(mine is theirs for mine, theirs in zip(seen[0], each, strict=True))
        """,
    ),
    "one looking and changing": (
        200,
        "schema, data = lazy(), {'number': 1, 'inner': {'a': 2}}",
        """
        if number == 0:
            assert list(schema.fields) == ["number", "inner"]
            schema.fields["number"].data_key = "number"
        for _ in range(3):
            assert schema.dump(data) == schema.load(data) == data
        """,
        "assert list(vars(schema)['fields']) == ['number', 'inner']",
    ),
}
"""How often what is made anew, what each thread does with it, and what holds in the end."""


def lazy():
    """An instance that nobody has looked into, of a class that has had others before."""
    for _ in range(3):
        Outer(only=("number", "inner")).dump({"number": 1})
    return Outer(only=("number", "inner"))


def function(head, text):
    return f"def {head}:\n    " + "\n    ".join(dedent(text).strip().splitlines() or ["pass"])


@pytest.mark.parametrize("name", ROUNDS)
def test_all_at_once(name):
    times, make, work, end = ROUNDS[name]
    for _ in range(times):
        names = dict(globals())
        exec(make, names)
        exec(function("work(number)", work), names)
        run(names["work"])
        exec(dedent(end), names)


CHANGES = {
    "a nested schema": (
        "schema = Outer(only=('inner',)); field = schema.fields['inner'].schema.fields['a']",
        "field.data_key = 'ab'[turn % 2]",
        "assert schema.dump({'inner': {'a': '1'}}) in ({'inner': {'a': 1}}, {'inner': {'b': 1}})",
    ),
    "the instance's dictionary": (
        "schema = Outer(only=('number',))",
        "schema.__dict__ = dict(vars(schema))",
        "assert schema.dump({'number': '1'}) == schema.load({'number': '1'}) == {'number': 1}",
    ),
    "a declared field": (
        "cls = ma.Schema.from_dict({'a': ma.fields.Integer(data_key='k0')})",
        "cls._declared_fields['a'].data_key = f'k{turn % 2}'",
        """
        schema = cls()
        (key,) = schema.dump({"a": "1"})
        assert key in KEYS and schema.fields["a"].data_key in KEYS
        """,
    ),
    "an instance that others have before it is made": (
        """
        class Registered(Outer):
            def __init__(self):
                global newest
                newest = self
                super().__init__()
        Registered()
        """,
        "assert Registered().dump(DATA) == DUMPED",
        """
        name, schema = f"x{number}_{turn % 50}", newest
        setattr(schema, name, turn)
        assert getattr(schema, name) == turn
        """,
    ),
    "hooks": (
        """
        given = set()
        class Hooked(ma.Schema):
            a = ma.fields.Integer()
            def see(self, data, *args, **kwargs):
                given.add(repr((data, args)))
                return data
        Hooked().loads('{"a": 1}')
        """,
        """
        for tag in ("pre_load", "post_load"):
            Hooked._hooks[tag].append(("see", False, {"pass_original": True}))
            Hooked._hooks[tag].clear()
        """,
        """
        assert Hooked().loads('{"a": 1}') == {"a": 1}
        assert given <= {"({'a': 1}, ({'a': 1},))"}
        """,
    ),
    "json": (
        "",
        "json.JSONEncoder.extra = 1; del json.JSONEncoder.extra",
        "assert Inner().dumps({'a': 1}) == '{\"a\": 1}'",
    ),
}
"""What is made, what one thread changes while the others use it, and how they do."""
KEYS = ("k0", "k1")


@pytest.mark.parametrize("name", CHANGES)
def test_one_changes_what_others_use(name):
    make, change, use = CHANGES[name]
    names = dict(globals())
    exec(dedent(make), names)
    exec(function("change(turn)", change), names)
    exec(function("use(number, turn)", use), names)
    done = threading.Event()

    def work(number):
        turn = 0
        while turn < 3000 if number == 0 else not done.is_set() or turn < 20:
            turn += 1
            names["use"](number, turn) if number else names["change"](turn)
        if number == 0:
            done.set()

    run(work)
    names["use"](1, 1)
