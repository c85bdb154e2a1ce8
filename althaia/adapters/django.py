"""Django: responses straight from a schema and objects.

::

    def orders(request):
        return SchemaStream(OrderSchema(), Order.objects.iterator())
"""

from collections.abc import AsyncIterable, Callable, Iterable
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse, StreamingHttpResponse

from althaia.adapters import bodies
from althaia.streams import StreamError, stream


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
        body = bodies.utf8(schema, obj, many, _options(json_dumps_params))
        # Django encodes a str in the response's charset.
        super().__init__(content=body.decode(), **response)


class SchemaStream(StreamingHttpResponse):
    """A response that dumps while it is sent, in the space of one chunk.

    The body is that of ``JsonResponse(schema.dump(list(iterable), many=True), safe=False)``;
    with ``lines`` it is one object a line (NDJSON).

    :param iterable: the objects, an async iterable (under ASGI) or another; read once, lazily. Or a
        function that returns them, called when the body is sent (see :func:`althaia.stream`).
    :param chunk_bytes: the size of the chunks, in bytes; the last one is smaller.
    :raises TypeError: the schema cannot be streamed exactly (see :func:`althaia.stream`), or the
        response has another charset than UTF-8.
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
        super().__init__(streaming_content=chunks, **response)
        if self.charset.lower() not in ("utf-8", "utf8"):
            raise StreamError(f"a stream is in UTF-8, not in {self.charset}: use SchemaResponse")


def _options(given: dict[str, Any] | None) -> dict[str, Any]:
    options = dict(given or {})
    if options.get("default") is None:
        # json.dumps(cls=…, default=None) keeps the class's own.
        options["default"] = DjangoJSONEncoder().default
    return options


__all__ = ["SchemaResponse", "SchemaStream"]
