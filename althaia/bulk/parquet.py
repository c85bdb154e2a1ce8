"""Read and write Parquet by pyarrow. No other module imports pyarrow."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from operator import index
from typing import Any

from althaia.bulk.pieces import BulkError, Item, Partition, Unreadable, as_json, different

Convert = Callable[[Any], Any]

ROWS = 10_000
"""The most rows in a partition."""
DIGITS = 38
"""The most digits of a decimal column."""
NO_FORM = (ValueError, OverflowError, LookupError)
"""Errors of a value that Python cannot represent. An unknown time zone raises a LookupError."""
ABSENT = object()


def pyarrow() -> Any:
    """Import pyarrow; BulkError if it is not installed."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise BulkError(
            f"Parquet needs pyarrow ({error}): pip install 'althaia[many]', or pyarrow alone"
        ) from error
    return pyarrow


def parquet_partitions(file: str, path: str) -> Iterator[Partition]:
    """Yield partitions of at most ``ROWS`` rows; an empty one if there is none.

    :raises BulkError: the file is not valid or is incomplete
    """
    arrow = pyarrow()
    try:
        with arrow.parquet.ParquetFile(path) as opened:
            columns = different(file, opened.schema_arrow.names)
            empty = arrow.RecordBatch.from_pylist([], schema=opened.schema_arrow)
            first, size = 1, os.path.getsize(path) / max(opened.metadata.num_rows, 1)
            for batch in chain(opened.iter_batches(batch_size=ROWS), [empty]):
                if batch.num_rows or first == 1:
                    share = int(size * batch.num_rows)
                    yield Partition(file, "parquet", first, share, batch, columns)
                first += batch.num_rows
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise BulkError(f"{file}: cannot be read as Parquet: {error}") from error


def parquet_items(partition: Partition) -> Iterator[Item]:
    """Yield the rows of a partition as JSON has them: dates, decimals and bytes as text.

    A null is None under its key. A row with a value that Python cannot represent, such as a year
    after 9999, is Unreadable.
    """
    return enumerate(_rows_of(partition.content), partition.first)


def _rows_of(batch: Any) -> list[dict[str, Any] | Unreadable]:
    """Return the rows of a batch. An unreadable value is found by its row, then by its
    column."""
    try:
        found: list[dict[str, Any] | Unreadable] = json.loads(
            json.dumps(batch.to_pylist(), default=_text_of)
        )
        return found
    except NO_FORM as error:
        if batch.num_rows > 1:
            return [row for i in range(batch.num_rows) for row in _rows_of(batch.slice(i, 1))]
        for name in batch.schema.names if batch.num_columns > 1 else ():
            if isinstance((found := _rows_of(batch.select([name])))[0], Unreadable):
                return found
        # Name the type of the error, because the message of a KeyError is only the key.
        reason = f"{batch.schema.names[0]}: {type(error).__name__}: {error}"
        return [Unreadable(f"has a value that cannot be read: {reason}")]


def _text_of(value: Any) -> Any:
    """Return what stands in JSON for a value that JSON does not have."""
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if isinstance(value, bytes):
        # Old writers do not mark text. Bytes that are no UTF-8 are an error: base64, for example,
        # could not be told from text.
        return value.decode()
    return str(value)


@lru_cache(maxsize=4)
def layout(schema: Any) -> tuple[Any, Convert]:
    """Return Arrow's schema of what ``schema`` loads, and the function that makes a row.

    Numbers, booleans, dates, times and decimals keep their types. Nested schemas become structures.
    Everything else is text: the dumped value, or its JSON if that is not a str. The function raises
    TypeError or ValueError for what does not fit a row.

    :raises BulkError: the schema is nested in itself, or Parquet has no columns for it
    """
    try:
        columns, row = _structure(schema)
    except RecursionError as error:
        raise BulkError(
            f"{type(schema).__name__} is nested in itself, and columns of Parquet are not: convert "
            "to another form"
        ) from error
    return pyarrow().schema(_some(columns, schema)), row


def _some(columns: list[tuple[str, Any]], schema: Any) -> list[tuple[str, Any]]:
    """Return these columns; BulkError if there are none, because a file could not contain such
    rows."""
    if not columns:
        raise BulkError(
            f"{type(schema).__name__} has no fields that are loaded, and Parquet cannot be written "
            "without columns: convert to another form"
        )
    return columns


def _structure(schema: Any) -> tuple[list[tuple[str, Any]], Convert]:
    """Return the columns of what ``schema`` loads, and the function that makes a row.

    :raises BulkError: a field's value is inside another
    :raises RecursionError: the schema is nested in itself
    """
    name = type(schema).__name__
    columns, fields = [], []
    for key, field in schema.load_fields.items():
        column = key if field.data_key is None else field.data_key
        attribute = field.attribute or key
        if "." in attribute:
            raise BulkError(
                f"the field {key!r} of {name} is loaded into {attribute!r}, which is no column of "
                "Parquet: convert to another form"
            )
        kind, convert = _column(field)
        columns.append((column, kind))
        fields.append((column, attribute, convert))
    names = {attribute for _, attribute, _ in fields}

    def row(loaded: Any) -> dict[str, Any]:
        if not isinstance(loaded, Mapping):
            raise TypeError(
                f"a row of Parquet is made of a dictionary, not of the {type(loaded).__name__} "
                f"that {name} loads: convert to another form"
            )
        if strange := [key for key in loaded if key not in names]:
            raise TypeError(f"Parquet has no column for {', '.join(map(str, strange))}")
        return {
            column: value if value is None or convert is None else convert(value)
            for column, attribute, convert in fields
            if (value := loaded.get(attribute, ABSENT)) is not ABSENT
        }

    return columns, row


def _column(field: Any) -> tuple[Any, Convert | None]:
    """Return the type of a field's column, and the function that makes its values."""
    from marshmallow import fields

    arrow = pyarrow()
    if isinstance(field, fields.Nested):
        columns, row = _structure(field.schema)
        if isinstance(field, fields.Pluck):
            column = _plucked(field._field_data_key, columns, row)
        else:
            column = arrow.struct(_some(columns, field.schema)), row
        return _listed(*column) if field.many or field.schema.many else column
    if isinstance(field, fields.List):
        return _listed(*_column(field.inner))
    if isinstance(field, fields.Decimal) and field.places is not None:
        # field.places is the decimal to which results are rounded: 0.01 for two places.
        places = -int(field.places.as_tuple().exponent)
        if 0 <= places <= DIGITS:
            return arrow.decimal128(DIGITS, places), None
    typed = (
        (fields.Boolean, arrow.bool_(), None),
        # Arrow would cut off the decimal places.
        (fields.Integer, arrow.int64(), index),
        (fields.Float, arrow.float64(), None),
        (fields.AwareDateTime, arrow.timestamp("us", tz="UTC"), _with_zone),
        (fields.NaiveDateTime, arrow.timestamp("us"), _without_zone),
        (fields.Date, arrow.date32(), _without_time),
        (fields.Time, arrow.time64("us"), _without_zone),
    )
    for known, kind, convert in typed:
        if isinstance(field, known):
            return kind, convert

    def text(value: Any) -> str:
        # These fields do not read the object's attribute: they would not dump what was loaded.
        dumped = field._serialize(value, field.name, None) if field._CHECK_ATTRIBUTE else value
        return str(dumped) if isinstance(dumped, (str, Decimal)) else as_json(dumped)

    return arrow.string(), text


def _listed(kind: Any, convert: Convert | None) -> tuple[Any, Convert | None]:
    """Return a column of lists with the values of another column."""

    def each(values: Any) -> list[Any]:
        # Arrow would make a list of the characters of a str, and of the keys of a dict.
        if not isinstance(values, (list, tuple, set, frozenset)):
            raise TypeError(f"a column of lists has no room for a {type(values).__name__}")
        if convert is None:
            return list(values)
        return [v if v is None else convert(v) for v in values]

    return pyarrow().list_(kind), each


def _plucked(name: str, columns: Sequence[tuple[str, Any]], row: Convert) -> tuple[Any, Convert]:
    """Return the column of one field of a structure; empty if the field is never loaded."""
    return dict(columns).get(name, pyarrow().null()), lambda loaded: row(loaded).get(name)


def _with_zone(value: Any) -> Any:
    """Return the value; ValueError if Arrow would change it: without a time zone Arrow takes it for
    UTC, and a value near the ends of the calendar has no equivalent in UTC, which Arrow writes."""
    if value.utcoffset() is None:
        raise ValueError(f"{value} has no zone, and its column has one")
    try:
        value.astimezone(dt.UTC)
    except OverflowError as error:
        raise ValueError(f"{value} is, in UTC, in no year from 1 to 9999") from error
    return value


def _without_zone(value: Any) -> Any:
    """Return the value; ValueError if it has a time zone, which Arrow would drop or convert."""
    if value.tzinfo is not None:
        raise ValueError(f"{value} has a zone, and its column has none")
    return value


def _without_time(value: Any) -> Any:
    """Return the value; ValueError if it has a time of day, which Arrow would cut off."""
    if isinstance(value, dt.datetime):
        raise ValueError(f"{value} has a time, and its column has none")
    return value
