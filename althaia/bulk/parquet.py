"""Parquet, by pyarrow, which is imported only here."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal

from althaia.bulk.partitions import BulkError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import IO, Any

    Convert = Callable[[Any], Any]

ROWS = 10_000
"""Rows that become Python objects at a time."""
NO_FORM = (ValueError, OverflowError, LookupError)
"""What a value raises that Python has no form for; a zone that is not known is a LookupError."""
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


def rows(file: str, group: int) -> Iterator[dict[str, Any] | Exception]:
    """The rows of one group as JSON would have them: dates, decimals, bytes as text.

    Where a value is null, the key is there and holds None. For a row with a value that Python has
    no form for, such as a year behind 9999, there is the exception that says so.

    :raises BulkError: what the file holds cannot be read
    """
    arrow = pyarrow()
    with opened_parquet(file) as opened:
        batches = opened.iter_batches(batch_size=ROWS, row_groups=[group])
        while True:
            try:
                batch = next(batches, None)
            except (arrow.ArrowException, OSError, ValueError) as error:
                raise BulkError(f"{file}: row group {group + 1} cannot be read: {error}") from error
            if batch is None:
                return
            yield from _rows_of(batch)


def _rows_of(batch: Any) -> Iterator[dict[str, Any] | Exception]:
    wrong: dict[int, Exception] = {}
    columns = [
        (name, _values(name, column, wrong))
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    for i in range(batch.num_rows):
        yield wrong.get(i) or {name: values[i] for name, values in columns}


def _values(name: str, column: Any, wrong: dict[int, Exception]) -> list[Any]:
    """The values of a column; of those that cannot be read, ``wrong`` gets the reasons."""
    # As the types spell it. What pyarrow makes of nanoseconds depends on whether pandas is there,
    # which rounds some.
    if "[ns" not in str(column.type):
        with suppress(*NO_FORM):
            return [_plain(value) for value in column.to_pylist()]
    values = []
    for i, scalar in enumerate(column):
        try:
            values.append(_value(scalar))
        except NO_FORM as error:
            values.append(None)
            # The text of a KeyError is the key alone.
            wrong.setdefault(i, ValueError(f"{name}: {type(error).__name__}: {error}"))
    return values


def _value(scalar: Any) -> Any:
    """A value alone, or as part of another: nanoseconds, for which Python has no form, are kept."""
    arrow = pyarrow()
    if not scalar.is_valid:
        return None
    if isinstance(scalar, arrow.MapScalar):
        return [[_value(part) for part in entry.values()] for entry in scalar.values]
    if isinstance(scalar, arrow.ListScalar):
        return [_value(one) for one in scalar.values]
    if isinstance(scalar, arrow.StructScalar):
        return {name: _value(one) for name, one in scalar.items()}
    if getattr(scalar.type, "unit", None) == "ns":
        return _nanoseconds(scalar)
    return _plain(scalar.as_py())


def _nanoseconds(scalar: Any) -> Any:
    """A date-time or a time as text, a duration as its seconds."""
    arrow = pyarrow()
    if arrow.types.is_duration(scalar.type):
        return scalar.value / 10**9
    micro, nano = divmod(scalar.value, 1_000)
    if arrow.types.is_timestamp(scalar.type):
        kind = arrow.timestamp("us", scalar.type.tz)
    else:
        kind = arrow.time64("us")
    rough = arrow.scalar(micro, kind).as_py()
    if not nano:
        return rough.isoformat()
    text = rough.isoformat(timespec="microseconds")
    place = text.index(".") + 7
    return f"{text[:place]}{nano:03}{text[place:]}"


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
        # Old writers do not mark text as such. What is none is told: any other form of it would
        # be taken for text as well.
        return value.decode()
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return str(value)


def row_of(schema: Any) -> Convert:
    """What makes a row for :func:`table` of what ``schema`` loaded.

    :raises BulkError: the schema is nested in itself
    """
    _, row = _structure(schema)
    name = type(schema).__name__

    def checked(loaded: Any) -> Any:
        if not isinstance(loaded, Mapping):
            raise TypeError(
                f"a row of Parquet is made of a dictionary, not of the {type(loaded).__name__} "
                f"that {name} loads: convert to another form"
            )
        return row(loaded)

    return checked


def table(rows: Sequence[Any], schema: Any) -> Any:
    """Rows of what ``schema`` loaded as an Arrow table that has the columns the schema says.

    Numbers, booleans, dates, times and decimals keep their types, nested schemas are structures,
    everything else is text: as it is dumped, in JSON where that is no text.

    :raises Exception: a value does not fit its column
    """
    arrow = pyarrow()
    columns, _ = _structure(schema)
    return arrow.Table.from_pylist(rows, schema=arrow.schema(columns))


def writer(opened: IO[bytes], schema: Any) -> Any:
    """What writes tables of what ``schema`` loaded into an open file.

    :raises BulkError: the schema is nested in itself
    """
    arrow = pyarrow()
    columns, _ = _structure(schema)
    return arrow.parquet.ParquetWriter(opened, arrow.schema(columns))


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
        fields.append((column, (field.attribute or name).split("."), convert))

    def row(loaded: Any) -> dict[str, Any]:
        return {
            column: value if value is None or convert is None else convert(value)
            for column, path, convert in fields
            if (value := _under(loaded, path)) is not ABSENT
        }

    return columns, row


def _under(loaded: Any, path: Sequence[str]) -> Any:
    """The value where marshmallow put it: an attribute with dots is a path; ABSENT if none is."""
    for name in path:
        loaded = loaded.get(name, ABSENT)
        if loaded is ABSENT:
            break
    return loaded


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
