"""The work on one partition. A task is sent to the worker and imports marshmallow only there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import Any

from althaia import seam
from althaia.bulk.csv_files import NOTHING, cell_reader
from althaia.bulk.pieces import BulkError, Outcome, Partition, Problem, Unreadable, by_key
from althaia.bulk.reading import items
from althaia.bulk.travel import pack, unpack
from althaia.bulk.writing import spelling
from althaia.switch import redirect

EMPTY = ("field", "text", "missing", "null")
"""What an empty CSV cell means; ``field``: an empty text if the field accepts one, else no value.
``missing`` also leaves out the nulls of Parquet."""
KEPT = (str, int, float, bool)
"""Types of messages that JSON has."""
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
        self.schema = instance(schema)
        self.target = target
        self.dump = dump
        self.empty = empty

    def __getstate__(self) -> dict[str, Any]:
        # Not unpacked when it arrives: Dask's scheduler, which is not redirected, reads it, too.
        return {name: getattr(self, name) for name in ("_packed", "target", "dump", "empty")}

    @cached_property
    def _packed(self) -> bytes:
        """The schema as it is sent to other processes."""
        return pack(self._given)

    @cached_property
    def schema(self) -> Any:
        """The schema in this process, as an instance."""
        return _unpacked(self._packed)

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
        spell, join = spelling(self.target, schema) if self.target else (None, None)
        results = []
        for number, record in items(partition):
            outcome.records += 1
            if type(record) is Unreadable:
                problems.append(Problem(file, number, "unreadable", record.text))
                continue
            try:
                result = work(record if read is None else read(record))
                if spell is not None:
                    results.append(spell(result))
            except ValidationError as error:
                problems.append(Problem(file, number, "invalid", _plain(error.messages)))
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                # The schema's own code failed, even by SystemExit or CancelledError, or the form
                # cannot contain the result: report this record and go on.
                problems.append(Problem(file, number, "exception", _failure(error)))
        if join is not None:
            outcome.output = join(results)
        return outcome

    def _reading(self, form: str, schema: Any) -> Callable[[Any], Any] | None:
        """Return the function that turns the cells of a record into values; None if they are."""
        if form not in NOTHING:
            return None
        # A pre_load hook is given the cells as they are.
        as_given = self.dump or seam.hooks_of(schema, "pre_load")
        return cell_reader({} if as_given else by_key(schema.load_fields), form, self.empty)

    def _work(self, schema: Any) -> Callable[[Any], Any]:
        """Return the function that processes one record."""
        load, takes_anything = schema.load, seam.hooks_of(schema, "pre_dump")

        # many=False: an instance made with many=True processes one object at a time, too.
        def dump(record: Any) -> Any:
            if not takes_anything:
                _have_fields(record)
            return schema.dump(record, many=False)

        if self.dump:
            return dump
        if self.target in (None, "parquet"):
            return lambda record: load(record, many=False)
        return lambda record: dump(load(record, many=False))


def _have_fields(record: Any) -> None:
    """Raise TypeError for a value without fields: marshmallow would dump an empty record of it."""
    places = ("__dict__", "__slots__")
    if not isinstance(record, Mapping) and not any(hasattr(record, place) for place in places):
        raise TypeError(
            f"a value of type {type(record).__name__} has no field to dump: a record is an object "
            "of JSON, or what post_load returns: a dictionary or an object"
        )


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
