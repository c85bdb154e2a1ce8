"""What the cells of CSV mean to the fields that load them."""

from __future__ import annotations

import json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def values(schema: Any) -> Callable[[dict[str, str]], dict[str, Any]]:
    """Return the function that turns the cells of a record into what the schema loads.

    An empty cell is what ``convert`` writes for None and for a missing key, too. It stays an empty
    text if its field accepts one. Otherwise it is None if that is allowed, or else left out. A list
    or an object in JSON becomes one, where the field loads one, and digits become a number, where
    the field is strict and refuses text.
    """
    empty: dict[str, Any] = {}
    holding, whole = set(), set()
    for name, field in schema.load_fields.items():
        key = name if field.data_key is None else field.data_key
        if (field.allow_none or not field.required) and _refuses_empty(field, key):
            empty[key] = None if field.allow_none else _LEFT_OUT
        if _holds_values(field):
            holding.add(key)
        if _wants_an_int(field):
            whole.add(key)

    def read(record: dict[str, str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, cell in record.items():
            value = empty.get(key, cell) if cell == "" else cell
            if key in holding and cell[:1] in ("[", "{"):
                value = _parsed(cell)
            elif key in whole and cell.isascii() and cell.removeprefix("-").isdecimal():
                value = int(cell)
            if value is not _LEFT_OUT:
                found[key] = value
        return found

    return read


_LEFT_OUT = object()


def _refuses_empty(field: Any, key: str) -> bool:
    """Return whether an empty text is not valid for a field."""
    from marshmallow import ValidationError

    try:
        field.deserialize("", key, {key: ""})
    except ValidationError:
        return True
    except Exception:  # The field's own code failed: it is given each cell as it is.
        return False
    return False


def _holds_values(field: Any) -> bool:
    """Return whether a field loads a list or an object, by upstream's own method."""
    from marshmallow import fields

    method = type(field)._deserialize
    return any(
        method is kind._deserialize
        for kind in (fields.List, fields.Tuple, fields.Mapping, fields.Nested, fields.Pluck)
    )


def _wants_an_int(field: Any) -> bool:
    """Return whether a field is a strict Integer, by upstream's own method."""
    from marshmallow import fields

    return (
        isinstance(field, fields.Integer)
        and field.strict
        and type(field)._deserialize is fields.Integer._deserialize
        and type(field)._validated is fields.Integer._validated
    )


def _parsed(cell: str) -> Any:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell
