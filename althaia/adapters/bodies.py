"""What frameworks' JSON responses hold: the text of ``schema.dump(obj)``, whatever a schema's own
``dumps`` or ``Meta.render_module`` would write."""

from typing import Any

from althaia import json as althaia_json, seam
from althaia.streams import FORMS


def utf8(schema: Any, obj: Any, many: bool | None, options: dict[str, Any]) -> bytes:
    """The JSON text of ``schema.dump(obj, many=many)`` in UTF-8, written straight from the objects
    where ``schema.dumps`` gives it.

    :param options: those of :func:`json.dumps`.
    :raises UnicodeEncodeError: with ``ensure_ascii=False``, a lone surrogate.
    """
    if _dumps_as_json(schema):
        return althaia_json.dump_bytes(schema, obj, many=many, **options)
    text: str = althaia_json.dumps(schema.dump(obj, many=many), **options)
    return text.encode()


def _dumps_as_json(schema: Any) -> bool:
    """Whether ``schema.dumps`` is upstream's, over a module that writes what json writes."""
    upstream: Any = seam.defined["schema"]["Schema"] if seam.defined else None
    return (
        upstream is not None
        and isinstance(schema, upstream)
        and getattr(schema.dumps, "__func__", None) is seam.pristine[upstream]["dumps"]
        and schema.opts.render_module in FORMS
    )
