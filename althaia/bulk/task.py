"""The work on one partition. A task is sent to the worker and imports marshmallow only there."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from typing import Any

from althaia.bulk.csv_files import cell_reader
from althaia.bulk.pieces import BulkError, Outcome, Partition, Problem, Unreadable
from althaia.bulk.reading import items
from althaia.bulk.travel import pack, unpack
from althaia.bulk.writing import spelling, written
from althaia.switch import redirect

EMPTY = ("field", "text", "missing", "null")
"""What an empty CSV cell means; ``field``: an empty text if the field accepts one, else no value.
``missing`` also leaves out the nulls of Parquet."""
NOTHING = {"csv": "", "parquet": None}
"""How an empty cell reads in each form whose records have all keys."""
KEPT = (str, int, float, bool)
"""Types of messages that JSON has."""
NO_RECORD = (
    str, bytes, bytearray, int, float, complex, Decimal, dt.date, dt.time, dt.timedelta,
    list, tuple, set, frozenset, Iterator, type(None),
)  # fmt: skip
"""Types without fields: marshmallow would dump an empty record of them."""
MOST_LEVELS = 100
"""The most levels of nested messages. Each function that walks them has stack for so many."""
TOO_DEEP = f"Errors nested more than {MOST_LEVELS} levels deep are not told."


@lru_cache(maxsize=4)
def _unpacked(packed: bytes) -> Any:
    """Return the schema in a worker's process, after redirecting marshmallow.

    :raises LatePatchError: something imported marshmallow before
    :raises BulkError: a module that the schema needs is not there, or fails
    """
    redirect.switch_on("althaia.bulk")
    with _named("a worker cannot import the schema"):
        found = unpack(packed)
    return instance(found)


def instance(schema: Any) -> Any:
    """Return an instance of a schema class, or the schema instance itself; BulkError if neither."""
    from marshmallow import Schema

    found = schema
    if isinstance(schema, type) and issubclass(schema, Schema):
        name = schema.__qualname__
        with _named(f"{name} cannot be made without arguments, give an instance instead"):
            found = schema()
    if not isinstance(found, Schema):
        raise BulkError(f"{schema!r} is no schema of marshmallow's")
    return found


@contextmanager
def _named(what: str) -> Iterator[None]:
    """Convert what code of the user raises inside, even SystemExit, to a BulkError."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise BulkError(f"{what}: {_failure(error)}") from error


class Task:
    """Check the records of a partition, and write what is valid in another form.

    :param schema: a schema class or an instance
    :param target: the form to write; None checks only
    :param dump: dump the records instead of loading them
    :param empty: what an empty cell of CSV means: ``field``, ``text``, ``missing``, ``null``
    """

    def __init__(
        self, schema: Any, target: str | None = None, *, dump: bool = False, empty: str = "field"
    ) -> None:
        if empty not in EMPTY:
            raise BulkError(f"an empty cell can mean {', '.join(EMPTY)}, not {empty!r}")
        self._given = schema
        self._here = instance(schema)
        self._packed: bytes | None = None
        self.target = target
        self.dump = dump
        self.empty = empty

    def __getstate__(self) -> dict[str, Any]:
        # Not unpacked when it arrives: Dask's scheduler, which is not redirected, reads it, too.
        if self._packed is None:
            self._packed = pack(self._given)
        return self.__dict__ | {"_given": None, "_here": None}

    @property
    def schema(self) -> Any:
        """The schema in this process, as an instance."""
        if self._here is None:
            assert self._packed is not None
            self._here = _unpacked(self._packed)
        return self._here

    def __call__(self, partition: Partition) -> Outcome:
        """Work on one partition.

        :raises LatePatchError: something in this process imported marshmallow before
        """
        schema = self.schema
        from marshmallow import ValidationError

        outcome = Outcome()
        file, problems = partition.file, outcome.problems
        work = self._work(schema)
        read = self._reading(partition.form, schema)
        spell = None if self.target is None else spelling(self.target, schema)
        results: list[tuple[int, Any]] = []
        for number, record in items(partition):
            outcome.records += 1
            if type(record) is Unreadable:
                problems.append(Problem(file, number, "unreadable", record.text))
                continue
            if read is not None:
                record = read(record)
            try:
                result = work(record)
                if spell is not None:
                    results.append((number, spell(result)))
            except ValidationError as error:
                problems.append(Problem(file, number, "invalid", _plain(error.messages)))
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                # The schema's own code failed, even by SystemExit or CancelledError, or the form
                # cannot contain the result: report this record and go on.
                problems.append(Problem(file, number, "exception", _failure(error)))
        if self.target is not None:
            outcome.output = self._written(results, file, problems)
        return outcome

    def _written(self, results: list[tuple[int, Any]], file: str, problems: list[Problem]) -> Any:
        """Return the part of a file for some results. One that does not fit becomes a problem."""
        assert self.target is not None
        try:
            return written([one for _, one in results], self.target, self.schema)
        except Exception:
            fitting = []
            for number, one in results:
                try:
                    written([one], self.target, self.schema)
                    fitting.append(one)
                except Exception as error:
                    problems.append(Problem(file, number, "exception", _failure(error)))
        problems.sort(key=lambda problem: problem.line)
        return written(fitting, self.target, self.schema)

    def _reading(self, form: str, schema: Any) -> Callable[[Any], Any] | None:
        """Return the function that turns the cells of a record into values; None if they are."""
        if form not in NOTHING or self.empty == "text":
            return None
        # A pre_load hook is given the cells as they are.
        as_given = self.dump or schema._hooks.get("pre_load")
        read = None if as_given else cell_reader(schema, form)
        if self.empty == "field":
            return read
        if read is None or form == "csv":
            return lambda record: _emptied(record, NOTHING[form], self.empty)
        return lambda record: read(_emptied(record, NOTHING[form], self.empty))

    def _work(self, schema: Any) -> Callable[[Any], Any]:
        """Return the function that processes one record."""
        load, dump = schema.load, schema.dump
        # many=False: an instance made with many=True processes one object at a time, too.
        check = _as_it_is if schema._hooks.get("pre_dump") else _having_fields
        if self.dump:
            return lambda record: dump(check(record), many=False)
        if self.target in (None, "parquet"):
            return lambda record: load(record, many=False)
        return lambda record: dump(check(load(record, many=False)), many=False)


def _as_it_is(record: Any) -> Any:
    return record


def _having_fields(record: Any) -> Any:
    """Return what is to be dumped; TypeError if it has no fields."""
    if type(record) is dict or hasattr(record, "_fields"):
        return record
    if isinstance(record, NO_RECORD):
        raise TypeError(
            f"a value of type {type(record).__name__} has no field to dump: a record is an object "
            "of JSON, or what post_load returns: a dictionary or an object"
        )
    return record


def _emptied(record: dict[str, Any], nothing: str | None, empty: str) -> dict[str, Any]:
    if empty == "null":
        return {name: None if value == nothing else value for name, value in record.items()}
    return {name: value for name, value in record.items() if value != nothing}


def _plain(messages: Any, levels: int = MOST_LEVELS) -> Any:
    """Return messages as JSON can contain them; a user's may be any object, nested at any depth."""
    if isinstance(messages, (dict, list, tuple)) and not levels:
        return TOO_DEEP
    if isinstance(messages, dict):
        return {
            key if type(key) in (str, int) else _said(key): _plain(value, levels - 1)
            for key, value in messages.items()
        }
    if isinstance(messages, (list, tuple)):
        return [_plain(each, levels - 1) for each in messages]
    return messages if messages is None or type(messages) in KEPT else _said(messages)


def _failure(error: BaseException) -> str:
    return f"{type(error).__name__}: {_said(error)}"


def _said(thing: Any) -> str:
    """Return ``str(thing)``, or a replacement if that raises."""
    try:
        return str(thing)
    except Exception as error:
        return f"{type(thing).__name__} without a text: {type(error).__name__}"
