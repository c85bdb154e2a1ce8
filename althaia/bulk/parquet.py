"""Read and write Parquet by pyarrow. No other module imports pyarrow."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import chain
from typing import Any

from althaia.bulk.pieces import BulkError, Partition, Unreadable, as_json, be_mapping, different

Convert = Callable[[Any], Any]

ROWS = 10_000
"""The most rows in a partition."""
DIGITS = 38
"""The most digits of a decimal column."""
NO_FORM = (ValueError, OverflowError, LookupError)
"""Errors of a value that Python cannot represent. An unknown time zone raises a LookupError."""


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


def rows_of(batch: Any) -> list[dict[str, Any] | Unreadable]:
    """Return the rows of a batch as JSON has them: dates, decimals and bytes as text.

    A null is None under its key. A row with a value that Python cannot represent, such as a year
    after 9999, is Unreadable. The value is found by its row, then by its column.
    """
    try:
        found: list[dict[str, Any] | Unreadable] = json.loads(
            json.dumps(batch.to_pylist(), default=_text_of)
        )
        return found
    except NO_FORM as error:
        if batch.num_rows > 1:
            return [row for i in range(batch.num_rows) for row in rows_of(batch.slice(i, 1))]
        for name in batch.schema.names if batch.num_columns > 1 else ():
            if isinstance((found := rows_of(batch.select([name])))[0], Unreadable):
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
        name = type(schema).__name__
        raise BulkError(f"{name} is nested in itself, and columns of Parquet are not") from error
    return pyarrow().schema(columns), row


def _structure(schema: Any) -> tuple[list[tuple[str, Any]], Convert]:
    """Return the columns of what ``schema`` loads, and the function that makes a row.

    :raises BulkError: there are no columns, and a file could not contain such rows
    :raises RecursionError: the schema is nested in itself
    """
    columns, fields = [], []
    for key, field in schema.load_fields.items():
        column = key if field.data_key is None else field.data_key
        kind, convert = _column(field)
        columns.append((column, kind))
        fields.append((column, field.attribute or key, convert))
    if not columns:
        name = type(schema).__name__
        raise BulkError(f"{name} has no fields that are loaded, and Parquet needs columns")
    names = {attribute for _, attribute, _ in fields}

    def row(loaded: Any) -> dict[str, Any]:
        be_mapping(loaded)
        if strange := [key for key in loaded if key not in names]:
            raise TypeError(f"Parquet has no column for {', '.join(map(str, strange))}")
        return {
            column: convert(value)
            for column, attribute, convert in fields
            if (value := loaded.get(attribute)) is not None
        }

    return columns, row


def _column(field: Any) -> tuple[Any, Convert]:
    """Return the type of a field's column, and the function that makes its values."""
    from marshmallow import fields

    arrow = pyarrow()
    if isinstance(field, fields.Nested):
        columns, row = _structure(field.schema)
        column: tuple[Any, Convert] = arrow.struct(columns), row
        if isinstance(field, fields.Pluck):
            name = field._field_data_key
            column = dict(columns)[name], lambda loaded: row(loaded).get(name)
        return _listed(*column) if field.many or field.schema.many else column
    if isinstance(field, fields.List):
        return _listed(*_column(field.inner))
    if isinstance(field, fields.Decimal) and field.places is not None:
        # field.places is the decimal to which results are rounded: 0.01 for two places.
        places = -int(field.places.as_tuple().exponent)
        if 0 <= places <= DIGITS:
            return _fitting(arrow.decimal128(DIGITS, places))
    typed = (
        (fields.Boolean, arrow.bool_(), bool),
        (fields.Integer, arrow.int64(), int),
        (fields.Float, arrow.float64(), float),
        (fields.AwareDateTime, arrow.timestamp("us", tz="UTC"), None),
        (fields.NaiveDateTime, arrow.timestamp("us"), None),
        (fields.Date, arrow.date32(), dt.date),
        (fields.Time, arrow.time64("us"), None),
    )
    for known, kind, kept in typed:
        if isinstance(field, known):
            return _fitting(kind, kept)

    def text(value: Any) -> str:
        # These fields do not read the object's attribute: they would not dump what was loaded.
        dumped = field._serialize(value, field.name, None) if field._CHECK_ATTRIBUTE else value
        made = str(dumped) if isinstance(dumped, (str, Decimal)) else as_json(dumped)
        made.encode()  # raises for what is not UTF-8, as Arrow would
        return made

    return arrow.string(), text


def _listed(kind: Any, convert: Convert) -> tuple[Any, Convert]:
    """Return a column of lists with the values of another column."""

    def each(values: Any) -> list[Any]:
        # Arrow would make a list of the characters of a str, and of the keys of a dict.
        if not isinstance(values, (list, tuple, set, frozenset)):
            raise TypeError(f"a column of lists has no room for a {type(values).__name__}")
        return [v if v is None else convert(v) for v in values]

    return pyarrow().list_(kind), each


def _fitting(kind: Any, kept: Any = None) -> tuple[Any, Convert]:
    """Return a column and the function that returns a value, or raises what Arrow raises for it.

    ValueError if Arrow would change the value: cut off a time, drop a zone or take UTC for it.

    :param kept: the type of which Arrow changes no value; int is kept up to 64 bits
    """
    scalar = pyarrow().scalar

    def fit(value: Any) -> Any:
        if type(value) is kept and (kept is not int or value.bit_length() < 64):
            return value
        if isinstance(value, dt.datetime) and value.tzinfo is not None:
            # Arrow writes UTC, in which each of these times has one form.
            value = value.astimezone(dt.UTC)
            if getattr(kind, "tz", None) is not None:
                return value
        found = scalar(value, kind).as_py()
        if found != value:
            raise ValueError(f"{value} would be {found} in a column of type {kind}")
        return value

    return kind, fit
