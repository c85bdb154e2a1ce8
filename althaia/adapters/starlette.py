"""Starlette and FastAPI: responses straight from a schema and objects.

::

    @app.get("/orders")
    def orders() -> Response:
        return SchemaResponse(OrderSchema(many=True), session.scalars(select(Order)))

In FastAPI, return the response itself: what a route returns otherwise goes through
``jsonable_encoder`` first.
"""

from collections.abc import AsyncIterable, Callable, Iterable
from typing import Any

from starlette.responses import JSONResponse as StarletteJSONResponse, StreamingResponse

from althaia import json as althaia_json
from althaia.adapters import bodies
from althaia.streams import stream

OPTIONS: dict[str, Any] = {
    "ensure_ascii": False,
    "allow_nan": False,
    "indent": None,
    "separators": (",", ":"),
}
"""How Starlette's own ``JSONResponse`` writes."""


class JSONResponse(StarletteJSONResponse):
    """Starlette's ``JSONResponse``, its text written by althaia: the same bytes.

    For a whole application: ``FastAPI(default_response_class=JSONResponse)``.
    """

    def render(self, content: Any) -> bytes:
        """The body for a value."""
        text: str = althaia_json.dumps(content, **OPTIONS)
        return text.encode("utf-8")


class SchemaResponse(StarletteJSONResponse):
    """What ``JSONResponse(schema.dump(obj, many=many))`` sends, straight from the objects.

    :param schema: a marshmallow schema instance.
    :param obj: the object, or a collection of them with ``many``.
    :param response: ``status_code``, ``headers``, ``media_type`` and ``background``, as
        Starlette's responses take them.
    """

    def __init__(self, schema: Any, obj: Any, *, many: bool | None = None, **response: Any) -> None:
        super().__init__(bodies.utf8(schema, obj, many, OPTIONS), **response)

    def render(self, content: Any) -> Any:
        """The body, which is written already."""
        return content


class SchemaStream(StreamingResponse):
    """A response that dumps while it is sent, in the space of one chunk.

    The body is that of ``JSONResponse(schema.dump(list(iterable), many=True))``; with
    ``lines`` it is one object a line (NDJSON).

    :param iterable: the objects, an async iterable or another; read once, lazily. An ordinary
        one is read in Starlette's thread pool. Or a function that returns them, called when the
        body is sent, as :func:`althaia.stream` takes it.
    :param chunk_bytes: the size of the chunks, in bytes; the last one is smaller.
    :raises TypeError: the schema cannot be streamed exactly (see :func:`althaia.stream`).
    """

    def __init__(
        self,
        schema: Any,
        iterable: Iterable[Any] | AsyncIterable[Any] | Callable[[], Any],
        *,
        lines: bool = False,
        chunk_bytes: int = 65536,
        **response: Any,
    ) -> None:
        chunks = stream(schema, iterable, chunk_bytes=chunk_bytes, lines=lines, **OPTIONS)
        response.setdefault("media_type", "application/x-ndjson" if lines else "application/json")
        super().__init__(chunks, **response)


__all__ = ["JSONResponse", "SchemaResponse", "SchemaStream"]
