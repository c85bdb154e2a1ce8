"""Read and write Parquet by pyarrow. No other module imports pyarrow."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from operator import index

from althaia.bulk.outputs import as_json
from althaia.bulk.pieces import BulkError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence, Set
    from typing import IO, Any

    Convert = Callable[[Any], Any]
    Path = tuple[str, ...]
    """The keys that lead to a value in nested dictionaries, outermost first."""

ROWS = 10_000
"""Rows that become Python objects at a time."""
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


def opened_parquet(file: str) -> Any:
    """Return an open ``ParquetFile``; BulkError if it is not valid or is incomplete."""
    arrow = pyarrow()
    try:
        return arrow.parquet.ParquetFile(file)
    except (arrow.ArrowInvalid, OSError) as error:
        raise BulkError(f"{file}: cannot be read as Parquet: {error}") from error


def rows(file: str, group: int) -> Iterator[dict[str, Any] | Exception]:
    """Yield the rows of one group as JSON has them: dates, decimals and bytes as text.

    A null is None under its key. A row with a value that Python cannot represent, such as a year
    after 9999, is the exception that says so.

    :raises BulkError: the group cannot be read
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
    """Return the values of a column. ``wrong`` gets the reason for each that cannot be read."""
    # By the type of the column: as_py() of nanoseconds depends on whether pandas is installed, and
    # pandas rounds some.
    if "[ns" not in str(column.type):
        with suppress(*NO_FORM):
            return [_plain(value) for value in column.to_pylist()]
    values = []
    for i, scalar in enumerate(column):
        try:
            values.append(_value(scalar))
        except NO_FORM as error:
            values.append(None)
            # Name the type of the error, because the message of a KeyError is only the key.
            wrong.setdefault(i, ValueError(f"{name}: {type(error).__name__}: {error}"))
    return values


def _value(scalar: Any) -> Any:
    """Return one value, or a part of one. Nanoseconds are kept, which datetime does not have."""
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
    """Return a date-time or a time as text, a duration as its seconds."""
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
        # Old writers do not mark text. Bytes that are no UTF-8 are an error: base64, for example,
        # could not be told from text.
        return value.decode()
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return str(value)


def names_within(kind: Any) -> Iterator[list[str]]:
    """Return the names of the parts of each structure in a type, at every depth."""
    if pyarrow().types.is_struct(kind):
        yield [field.name for field in kind]
        parts = [field.type for field in kind]
    else:
        found = (getattr(kind, name, None) for name in ("value_type", "key_type", "item_type"))
        parts = [part for part in found if part is not None]
    for part in parts:
        yield from names_within(part)


def row_of(schema: Any) -> Convert:
    """Return the function that makes a row for :func:`table` of what ``schema`` loaded.

    It raises TypeError or ValueError for what does not fit a row.

    :raises BulkError: the schema is nested in itself
    """
    return _layout(schema)[1]


def table(rows: Sequence[Any], schema: Any) -> Any:
    """Return rows of what ``schema`` loaded as an Arrow table with the schema's columns.

    Numbers, booleans, dates, times and decimals keep their types. Nested schemas become structures.
    Everything else is text: the dumped value, or its JSON if that is not a str.

    :raises Exception: a value does not fit its column
    """
    return pyarrow().Table.from_pylist(rows, schema=_layout(schema)[0])


def writer(opened: IO[bytes], schema: Any) -> Any:
    """Return a writer of tables of what ``schema`` loaded into an open file.

    :raises BulkError: the schema is nested in itself
    """
    return pyarrow().parquet.ParquetWriter(opened, _layout(schema)[0])


@lru_cache(maxsize=4)
def _layout(schema: Any) -> tuple[Any, Convert]:
    """Return Arrow's schema of what ``schema`` loads, and the function that makes a row.

    Called once for all partitions.

    :raises BulkError: the schema is nested in itself, or Parquet has no columns for it
    """
    columns, row = _structure(schema)
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


def _structure(
    schema: Any, above: tuple[object, ...] = ()
) -> tuple[list[tuple[str, Any]], Convert]:
    """Return the columns of what ``schema`` loads, and the function that makes a row.

    :raises BulkError: the schema is nested in itself
    """
    name = type(schema).__name__
    # Nested in itself with ``only``, a schema has fewer fields at each level, so that it ends.
    this = type(schema), tuple(schema.load_fields)
    if this in above:
        raise BulkError(
            f"{name} is nested in itself, and columns of Parquet are not: convert to another form"
        )
    columns, fields = [], []
    for key, field in schema.load_fields.items():
        column = key if field.data_key is None else field.data_key
        kind, convert = _column(field, (*above, this))
        columns.append((column, kind))
        fields.append((column, tuple((field.attribute or key).split(".")), convert))
    paths = {path for _, path, _ in fields}
    whole = {path[0] for path in paths if len(path) == 1}

    def row(loaded: Any) -> dict[str, Any]:
        if not isinstance(loaded, Mapping):
            raise TypeError(
                f"a row of Parquet is made of a dictionary, not of the {type(loaded).__name__} "
                f"that {name} loads: convert to another form"
            )
        if not loaded.keys() <= whole and (strange := list(_strange(loaded, paths))):
            raise TypeError(f"Parquet has no column for {', '.join(strange)}")
        return {
            column: value if value is None or convert is None else convert(value)
            for column, path, convert in fields
            if (value := _under(loaded, path)) is not ABSENT
        }

    return columns, row


def _strange(loaded: Any, paths: Set[Path], above: Path = ()) -> Iterator[str]:
    """Return the keys that no column contains."""
    for key, value in loaded.items():
        path = (*above, key)
        if path in paths:
            continue
        if isinstance(value, Mapping) and any(one[: len(path)] == path for one in paths):
            yield from _strange(value, paths, path)
        else:
            yield ".".join(map(str, path))


def _under(loaded: Any, path: Path) -> Any:
    """Return the value at a path (marshmallow makes one of an attribute with dots), or ABSENT."""
    for name in path:
        loaded = loaded.get(name, ABSENT)
        if loaded is ABSENT:
            break
    return loaded


def _column(field: Any, above: tuple[object, ...]) -> tuple[Any, Convert | None]:
    """Return the type of a field's column, and the function that makes its values."""
    from marshmallow import fields

    arrow = pyarrow()
    if isinstance(field, fields.Nested):
        columns, row = _structure(field.schema, above)
        if isinstance(field, fields.Pluck):
            column = _plucked(field._field_data_key, columns, row)
        else:
            column = arrow.struct(_some(columns, field.schema)), row
        return _listed(*column) if field.many or field.schema.many else column
    if isinstance(field, fields.List):
        return _listed(*_column(field.inner, above))
    if isinstance(field, fields.Decimal) and field.places is not None:
        # field.places is the decimal to which results are rounded: 0.01 for two places.
        places = -int(field.places.as_tuple().exponent)
        if not 0 <= places <= DIGITS:
            raise BulkError(
                f"the field {field.name!r} has {places} places, and a decimal of Parquet has 0 to "
                f"{DIGITS}: convert to another form"
            )
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
        return dumped if isinstance(dumped, str) else as_json(dumped)

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
