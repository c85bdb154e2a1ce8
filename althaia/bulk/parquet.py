"""Parquet, by pyarrow, which is imported only here."""

from __future__ import annotations

import base64
import datetime as dt
import json
from decimal import Decimal

from althaia.bulk.partitions import BulkError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    Convert = Callable[[Any], Any]

ROWS = 10_000
"""Rows that become Python objects at a time."""
ABSENT = object()


def pyarrow() -> Any:
    """The modules of pyarrow; BulkError where it is not installed."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise BulkError(
            f"Parquet needs pyarrow ({error}): pip install 'althaia[many]', or pyarrow alone"
        ) from error
    return pyarrow


def opened_parquet(file: str) -> Any:
    """An open ``ParquetFile``; BulkError where it is none, or was cut off."""
    arrow = pyarrow()
    try:
        return arrow.parquet.ParquetFile(file)
    except (arrow.ArrowInvalid, OSError) as error:
        raise BulkError(f"{file}: cannot be read as Parquet: {error}") from error


def rows(file: str, group: int) -> Iterator[dict[str, Any]]:
    """The rows of one group as JSON would have them: dates, decimals, bytes as text.

    Where a value is null, the key is there and holds None.
    """
    with opened_parquet(file) as opened:
        for batch in opened.iter_batches(batch_size=ROWS, row_groups=[group]):
            for row in batch.to_pylist():
                yield {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, (str, bool, int, float, type(None))):
        return value
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return str(value)


def table(results: Sequence[Any], schema: Any) -> Any:
    """What ``schema`` loaded, as an Arrow table that has the columns the schema says.

    Numbers, booleans, dates, times and decimals keep their types, nested schemas are structures,
    everything else is text: as it is dumped, in JSON where that is no text.

    :raises BulkError: results are no dictionaries, or a value does not fit its column
    """
    arrow = pyarrow()
    if results and not isinstance(results[0], dict):
        raise BulkError(
            f"{type(schema).__name__} loads {type(results[0]).__name__} objects (its post_load "
            "makes them), and Parquet takes dictionaries: convert to another form"
        )
    columns, row = _structure(schema)
    try:
        return arrow.Table.from_pylist([row(one) for one in results], schema=arrow.schema(columns))
    except (arrow.ArrowInvalid, arrow.ArrowTypeError, OverflowError) as error:
        raise BulkError(f"a value does not fit its column of Parquet: {error}") from error


def _structure(schema: Any, above: tuple[type, ...] = ()) -> tuple[list[tuple[str, Any]], Convert]:
    """The columns of what ``schema`` loads, and what makes a row of a loaded dictionary.

    :raises BulkError: the schema is nested in itself
    """
    above = (*above, type(schema))
    if type(schema) in above[:-1]:
        raise BulkError(
            f"{type(schema).__name__} is nested in itself, and columns of Parquet are not: "
            "convert to another form"
        )
    columns, fields = [], []
    for name, field in schema.load_fields.items():
        column = name if field.data_key is None else field.data_key
        kind, convert = _column(field, above)
        columns.append((column, kind))
        fields.append((column, name if field.attribute is None else field.attribute, convert))

    def row(loaded: Any) -> dict[str, Any]:
        return {
            column: value if value is None or convert is None else convert(value)
            for column, key, convert in fields
            if (value := loaded.get(key, ABSENT)) is not ABSENT
        }

    return columns, row


def _column(field: Any, above: tuple[type, ...]) -> tuple[Any, Convert | None]:
    """The type of a field's column, and what makes its values of what was loaded."""
    from marshmallow import fields

    arrow = pyarrow()
    if isinstance(field, fields.Nested):
        columns, row = _structure(field.schema, above)
        inner = arrow.struct(columns)
        if field.many or field.schema.many:
            return arrow.list_(inner), lambda values: [row(one) for one in values]
        return inner, row
    if isinstance(field, fields.List):
        kind, convert = _column(field.inner, above)
        if convert is None:
            return arrow.list_(kind), None
        return arrow.list_(kind), lambda values: [v if v is None else convert(v) for v in values]
    if isinstance(field, fields.Decimal) and field.places is not None:
        # Kept as the decimal that results are rounded to: 0.01 for two places.
        return arrow.decimal128(38, -int(field.places.as_tuple().exponent)), None
    typed = (
        (fields.Boolean, arrow.bool_()),
        (fields.Integer, arrow.int64()),
        (fields.Float, arrow.float64()),
        (fields.AwareDateTime, arrow.timestamp("us", tz="UTC")),
        (fields.NaiveDateTime, arrow.timestamp("us")),
        (fields.Date, arrow.date32()),
        (fields.Time, arrow.time64("us")),
    )
    for known, kind in typed:
        if isinstance(field, known):
            return kind, None

    def text(value: Any) -> str:
        dumped = field._serialize(value, field.name, None)
        return dumped if isinstance(dumped, str) else json.dumps(dumped, ensure_ascii=False)

    return arrow.string(), text
