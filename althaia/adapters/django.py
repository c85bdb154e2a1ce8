"""Django: responses straight from a schema and objects.

::

    def orders(request):
        return SchemaStream(OrderSchema(), Order.objects.iterator())
"""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse, StreamingHttpResponse

from althaia.adapters import bodies
from althaia.streams import stream


class SchemaResponse(HttpResponse):
    """What ``JsonResponse(schema.dump(obj, many=many), safe=False)`` sends, straight from the
    objects.

    :param schema: a marshmallow schema instance.
    :param obj: the object, or a collection of them with ``many``.
    :param json_dumps_params: further options of :func:`json.dumps`.
    :param response: ``status``, ``headers`` and the rest, as Django's responses take them.
    """

    def __init__(
        self,
        schema: Any,
        obj: Any,
        *,
        many: bool | None = None,
        json_dumps_params: dict[str, Any] | None = None,
        **response: Any,
    ) -> None:
        response.setdefault("content_type", "application/json")
        options = _options(json_dumps_params)
        super().__init__(content=b"", **response)
        body = bodies.utf8(schema, obj, many, options)
        # Django encodes a str in the response's charset.
        self.content = body if _is_utf8(self) else body.decode()


class SchemaStream(StreamingHttpResponse):
    """A response that dumps while it is sent, in the space of one chunk.

    The body is that of ``JsonResponse(schema.dump(list(iterable), many=True), safe=False)``;
    with ``lines`` it is one object a line (NDJSON).

    :param iterable: the objects, an async iterable (under ASGI) or another; read once, lazily. Or a
        function that returns them, called when the body is sent (see :func:`althaia.stream`).
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
        json_dumps_params: dict[str, Any] | None = None,
        **response: Any,
    ) -> None:
        options = _options(json_dumps_params)
        chunks = stream(schema, iterable, chunk_bytes=chunk_bytes, lines=lines, **options)
        response.setdefault("content_type", "application/x-ndjson" if lines else "application/json")
        super().__init__(streaming_content=(), **response)
        self.streaming_content = chunks if _is_utf8(self) else _encoded(chunks, self.charset)


def _options(given: dict[str, Any] | None) -> dict[str, Any]:
    options = dict(given or {})
    if options.get("default") is None:
        # json.dumps(cls=…, default=None) keeps the class's own.
        options["default"] = DjangoJSONEncoder().default
    return options


def _is_utf8(response: HttpResponse | StreamingHttpResponse) -> bool:
    return response.charset.lower() in ("utf-8", "utf8")


def _encoded(
    chunks: Iterator[bytes] | AsyncIterator[bytes], charset: str
) -> Iterator[bytes] | AsyncIterator[bytes]:
    """A stream of UTF-8 in another charset; a chunk ends where a character does."""
    encode = codecs.getincrementalencoder(charset)().encode
    if isinstance(chunks, AsyncIterator):
        return (encode(chunk.decode()) async for chunk in chunks)
    return (encode(chunk.decode()) for chunk in chunks)


__all__ = ["SchemaResponse", "SchemaStream"]
