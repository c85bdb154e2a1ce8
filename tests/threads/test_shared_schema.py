"""One schema, many threads: first use at once, and changes while others dump and load."""

from __future__ import annotations

import faulthandler
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from althaia import marshmallow as ma

THREADS = 8
LONGEST = 300
"""Seconds after which threads hang. On a busy machine those without a GIL take long: whoever holds
a lock may be waiting for a core."""


@pytest.fixture(autouse=True)
def frequent_switches() -> Iterator[None]:
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def run(work: Callable[[int], None], threads: int = THREADS) -> None:
    """``work(number)`` in each thread, all started together.

    :raises AssertionError: one of them failed, or did not come to an end.
    """
    start = threading.Barrier(threads)
    errors: list[BaseException] = []

    def each(number: int) -> None:
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

    def compute(self, obj: Any) -> Any:
        return obj["number"]


DATA = {"number": 1, "text": "x", "inner": {"a": 2}, "many": [{"a": 3}, {"a": 4}]}
DUMPED = {**DATA, "method": 1}


def test_first_use_at_once() -> None:
    for _ in range(60):
        schema = Outer()

        def work(number: int, schema: Any = schema) -> None:
            for _ in range(5):
                assert schema.dump(DATA) == DUMPED
                assert schema.load(DATA) == DATA

        run(work)


def test_first_use_of_the_class_at_once() -> None:
    for turn in range(40):
        cls = type(f"Made{turn}", (Outer,), {"extra": ma.fields.Integer()})

        def work(number: int, cls: Any = cls) -> None:
            for _ in range(5):
                assert cls().dump({**DATA, "extra": "7"}) == {**DUMPED, "extra": 7}
                assert cls(only=("extra",)).load({"extra": "7"}) == {"extra": 7}

        run(work)


def test_looking_while_others_dump() -> None:
    """What has been looked into is bound to the schema itself, whoever was first."""
    Outer().dump(DATA)
    for _ in range(300):
        schema = Outer()

        def work(number: int, schema: Any = schema) -> None:
            if number % 2:
                assert schema.dump(DATA) == DUMPED
            assert schema.fields["number"].root is schema

        run(work, 4)
        for name in ("inner", "many"):
            assert schema.fields[name].root is schema
            assert schema.fields[name].parent is schema
        assert schema.fields["many"].inner.root is schema
        assert schema.fields["many"].inner.parent is schema.fields["many"]


def test_different_objects() -> None:
    schema = Outer()

    def work(number: int) -> None:
        rows = [{**DATA, "number": number, "text": str(number)} for _ in range(50)]
        expected = [{**row, "method": number} for row in rows]
        for _ in range(20):
            assert schema.dump(rows, many=True) == expected
            assert schema.load(rows, many=True) == rows

    run(work)


def test_errors_stay_with_their_call() -> None:
    schema = Outer()

    def work(number: int) -> None:
        for _ in range(100):
            if number % 2:
                assert schema.load(DATA) == DATA
                continue
            with pytest.raises(ma.ValidationError) as caught:
                schema.load({**DATA, "number": f"no number {number}", "inner": {"a": "x"}})
            assert caught.value.data["number"] == f"no number {number}"
            assert caught.value.messages == {
                "number": ["Not a valid integer."],
                "inner": {"a": ["Not a valid integer."]},
            }

    run(work)


def test_a_field_changed_while_others_use_it() -> None:
    schema = Outer(only=("number", "text"))
    keys = ["k0", "k1", "k2"]
    schema.fields["number"].data_key = keys[0]
    allowed = [{key: 1, "text": "x"} for key in keys]
    done = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            for turn in range(3000):
                schema.fields["number"].data_key = keys[turn % 3]
            done.set()
            return
        while not done.is_set():
            assert schema.dump({"number": "1", "text": "x"}) in allowed
            assert schema.dump([{"number": "1", "text": "x"}] * 9, many=True)[8] in allowed

    run(work)
    assert schema.dump({"number": "1", "text": "x"}) == allowed[2999 % 3]


def test_the_mapping_of_fields_replaced_while_others_use_it() -> None:
    schema = Outer(only=("number", "text"))
    whole = schema.dump_fields
    parts = [{"number": whole["number"]}, {"text": whole["text"]}, whole]
    allowed = [{"number": 1}, {"text": "x"}, {"number": 1, "text": "x"}]
    done = threading.Event()

    def work(number: int) -> None:
        if number < 2:
            for turn in range(3000):
                schema.dump_fields = parts[turn % 3]
            done.set()
            return
        while not done.is_set():
            assert schema.dump({"number": "1", "text": "x"}) in allowed

    run(work)


def test_a_class_patched_while_others_use_it() -> None:
    class Own(ma.fields.Integer):
        pass

    class Patched(ma.Schema):
        number = Own()

    schema = Patched()
    done = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            for turn in range(1500):
                Own._serialize = lambda self, value, attr, obj, turn=turn, **kwargs: -turn
                del Own._serialize
            done.set()
            return
        while not done.is_set():
            value = schema.dump({"number": "1"})["number"]
            assert value == 1 or value <= 0

    run(work)
    assert schema.dump({"number": "1"}) == {"number": 1}


def test_a_nested_schema_changed_while_others_use_it() -> None:
    schema = Outer(only=("inner",))
    assert schema.dump({"inner": {"a": 1}}) == {"inner": {"a": 1}}
    field = schema.fields["inner"].schema.fields["a"]
    allowed = [{"inner": {"a": 1}}, {"inner": {"b": 1}}]
    done = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            for turn in range(3000):
                field.data_key = "ab"[turn % 2]
            done.set()
            return
        while not done.is_set():
            assert schema.dump({"inner": {"a": "1"}}) in allowed

    run(work)
    assert schema.dump({"inner": {"a": "1"}}) == allowed[1]


def test_instance_dictionary_replaced_while_others_use_it() -> None:
    schema = Outer(only=("number",))
    done = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            for _ in range(2000):
                schema.__dict__ = dict(vars(schema))
            done.set()
            return
        while not done.is_set():
            assert schema.dump({"number": "1"}) == {"number": 1}
            assert schema.load({"number": "1"}) == {"number": 1}

    run(work)


def test_statistics_and_explain_while_others_work() -> None:
    import althaia

    schema = Outer()
    done = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            for _ in range(30):
                althaia.explain(schema)
                althaia.stats()
            done.set()
            return
        while not done.is_set():
            assert schema.dump(DATA) == DUMPED
            assert type(f"Made{number}", (Inner,), {})().dump({"a": "1"}) == {"a": 1}

    run(work)


def test_looking_into_an_instance_while_others_use_it() -> None:
    for _ in range(50):
        schema = Outer()
        schema.mark = "own"  # type: ignore[attr-defined]

        def work(number: int, schema: Any = schema) -> None:
            for _ in range(3):
                if number % 4 == 0:
                    assert schema.fields["number"].parent is schema
                elif number % 4 == 1:
                    assert schema.many is False
                    assert schema.mark == "own"
                    assert schema.error_messages["unknown"]
                elif number % 4 == 2:
                    assert schema.dump({"number": 1, "inner": {"a": 2}})["inner"] == {"a": 2}
                else:
                    assert schema.load({"inner": {"a": "3"}}) == {"inner": {"a": 3}}

        run(work, 4)


def lazy() -> Any:
    """An instance that nobody has looked into, of a class that has had others before."""
    for _ in range(3):
        Outer(only=("number", "inner")).dump({"number": 1})
    return Outer(only=("number", "inner"))


def test_looked_into_at_once() -> None:
    for _ in range(200):
        schema = lazy()
        seen: list[Any] = [None] * THREADS

        def work(number: int, schema: Any = schema, seen: list[Any] = seen) -> None:
            fields = schema.fields
            seen[number] = (fields, fields["number"], vars(schema), fields["number"].parent)

        run(work)
        first = seen[0]
        assert first[3] is schema
        for each in seen:
            assert all(mine is theirs for mine, theirs in zip(first, each, strict=True))


def test_looked_into_while_others_use_it() -> None:
    data = {"number": 1, "inner": {"a": 2}}
    for _ in range(200):
        schema = lazy()

        def work(number: int, schema: Any = schema) -> None:
            if number == 0:
                assert list(schema.fields) == ["number", "inner"]
                schema.fields["number"].data_key = "number"
                return
            for _ in range(3):
                assert schema.dump(data) == data
                assert schema.load(data) == data

        run(work)
        assert list(vars(schema)["fields"]) == ["number", "inner"]


def test_attributes_set_while_others_look() -> None:
    for _ in range(100):
        schema = lazy()

        def work(number: int, schema: Any = schema) -> None:
            setattr(schema, f"mark{number}", number)
            assert schema.fields["number"].parent is schema
            assert getattr(schema, f"mark{number}") == number

        run(work)
        assert {name for name in vars(schema) if name.startswith("mark")} == {
            f"mark{number}" for number in range(THREADS)
        }


def test_a_class_changed_while_instances_are_made() -> None:
    class Base(ma.Schema):
        a = ma.fields.Integer()

    keys = ["k0", "k1"]
    Base._declared_fields["a"].data_key = keys[0]
    done = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            for turn in range(1500):
                Base._declared_fields["a"].data_key = keys[turn % 2]
            done.set()
            return
        while not done.is_set():
            schema = Base()
            (key,) = schema.dump({"a": "1"})
            assert key in keys
            assert schema.fields["a"].data_key in keys

    run(work)
    assert Base().dump({"a": "1"}) == {"k1": 1}


def test_an_instance_that_others_have_before_it_is_made() -> None:
    newest: list[Any] = [None]

    class Registered(Outer):
        def __init__(self, **options: Any) -> None:
            newest[0] = self
            super().__init__(**options)

    Registered()
    done = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            for _ in range(3000):
                assert Registered().dump(DATA) == DUMPED
            done.set()
            return
        turn = 0
        while not done.is_set():
            turn += 1
            name, schema = f"x{number}_{turn % 50}", newest[0]
            setattr(schema, name, turn)
            assert getattr(schema, name) == turn

    run(work, threads=3)


def test_a_hook_that_comes_and_goes_while_text_is_loaded() -> None:
    given: set[str] = set()

    class Hooked(ma.Schema):
        a = ma.fields.Integer()

        def see(self, data: Any, *args: Any, **kwargs: Any) -> Any:
            given.add(repr((data, args)))
            return data

    tags = ("pre_load", "post_load")
    hook = ("see", False, {"pass_original": True})
    Hooked().loads('{"a": 1}')
    done = threading.Event()

    def work(number: int) -> None:
        if number < len(tags):
            while not done.is_set():
                Hooked._hooks[tags[number]].append(hook)
                Hooked._hooks[tags[number]].clear()
            return
        for _ in range(2000):
            assert Hooked().loads('{"a": 1}') == {"a": 1}
        done.set()

    run(work, threads=3)
    assert given <= {"({'a': 1}, ({'a': 1},))"}


def test_json_changed_while_others_write() -> None:
    done = threading.Event()

    def work(number: int) -> None:
        if number == 0:
            while not done.is_set():
                json.JSONEncoder.extra = 1  # type: ignore[attr-defined]
                del json.JSONEncoder.extra  # type: ignore[attr-defined]
            return
        for _ in range(2000):
            assert Inner().dumps({"a": 1}) == '{"a": 1}'
        done.set()

    run(work, threads=2)
