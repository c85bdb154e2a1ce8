"""Flask: JSON text by althaia behind ``jsonify``, and responses straight from objects.

One line, once, where the application is made::

    from althaia.adapters.flask import use

    use(app)

From then on ``jsonify``, returned dictionaries and lists, ``flask.json.dumps`` and everything
built on them (flask-smorest, APIFlask, Flask-Marshmallow, Flask-AppBuilder) are written by
:func:`althaia.json.dumps`: the same characters as before, sorted keys, ``default``, debug
indentation and the newline at the end included. Quart has the same provider classes;
:mod:`althaia.adapters.quart` has the same function.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any, TypeVar

from flask import current_app, stream_with_context
from flask.json.provider import DefaultJSONProvider

from althaia import json as althaia_json
from althaia.adapters import bodies
from althaia.streams import StreamError, stream

_App = TypeVar("_App")


class JSONProvider(DefaultJSONProvider):
    """Flask's default provider, with the text written and read by althaia.

    Settings (``sort_keys``, ``ensure_ascii``, ``compact``, ``default``, ``mimetype``) mean
    what they mean there. For an application class of your own::

        class App(Flask):
            json_provider_class = JSONProvider
    """

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        """The JSON text of a value; the arguments are those of :func:`json.dumps`."""
        text: str = althaia_json.dumps(obj, **_options(self, **kwargs))
        return text

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        """The value of a JSON text; the arguments are those of :func:`json.loads`."""
        return althaia_json.loads(s, **kwargs)


def use(app: _App) -> _App:
    """Have an application's JSON written and read by althaia.

    The provider keeps its settings and, where its class is derived from Flask's default one,
    that class's own ``default`` and ``response``.

    :param app: the Flask application (or Quart's); its ``json`` is replaced.
    :returns: the application.
    :raises TypeError: the application's provider writes or reads JSON itself (by another
        library, say): there is nothing to speed up without changing what it writes.

    ::

        app = use(Flask(__name__))
    """
    before = app.json  # type: ignore[attr-defined]
    cls = type(before)
    if isinstance(before, JSONProvider):
        return app
    for name in ("dumps", "loads"):
        if getattr(cls, name, None) is not getattr(DefaultJSONProvider, name):
            raise TypeError(
                f"{cls!r} has a {name} of its own, which use() would replace. Keep it, or derive "
                "it from althaia.adapters.flask.JSONProvider."
            )
    bases = (JSONProvider,) if cls is DefaultJSONProvider else (JSONProvider, cls)
    after = type("JSONProvider", bases, {"__module__": __name__})(app)
    vars(after).update(vars(before))
    app.json = after  # type: ignore[attr-defined]
    return app


def schema_response(schema: Any, obj: Any, *, many: bool | None = None) -> Any:
    """What ``jsonify(schema.dump(obj, many=many))`` gives, written straight from the objects.

    :param schema: a marshmallow schema instance.
    :param obj: the object, or a collection of them with ``many``.
    :returns: a response of the application's ``response_class``.
    :raises RuntimeError: outside an application context.

    ::

        @app.get("/orders")
        def orders():
            return schema_response(OrderSchema(many=True), session.scalars(select(Order)))
    """
    provider: Any = current_app.json
    if not _writes_by(provider, JSONProvider.dumps):
        return provider.response(schema.dump(obj, many=many))
    body = bodies.utf8(schema, obj, many, _response_options(provider))
    return current_app.response_class(body + b"\n", mimetype=provider.mimetype)


def stream_response(
    schema: Any,
    iterable: Iterable[Any] | Callable[[], Iterable[Any]],
    *,
    lines: bool = False,
    chunk_bytes: int = 65536,
) -> Any:
    """A response that dumps while it is sent, in the space of one chunk.

    The body is what ``jsonify(schema.dump(list(iterable), many=True))`` has; with ``lines``
    it is one object a line (NDJSON). ``request`` and ``current_app`` are there while it is sent.

    Flask calls the functions of ``teardown_request`` and ``teardown_appcontext`` before the body is
    sent, and once more after it. A query that was begun before has then lost its session, so pass a
    function that begins it.

    :param iterable: the objects, read once, lazily; or a function that returns them, which is
        called when the body is sent.
    :param chunk_bytes: the size of the chunks, in bytes; the last one is smaller.
    :returns: a response of the application's ``response_class``.
    :raises TypeError: the schema cannot be streamed exactly (see :func:`althaia.stream`), or the
        application's JSON provider writes its text itself.
    """
    provider: Any = current_app.json
    if not _writes_by(provider, JSONProvider.dumps, DefaultJSONProvider.dumps):
        raise StreamError(
            f"{type(provider)!r} has a dumps or a response of its own, which needs the whole "
            "collection; answer with jsonify(schema.dump(…, many=True))"
        )
    options = _options(provider, separators=(",", ":")) if lines else _response_options(provider)
    chunks: Any = stream(schema, iterable, chunk_bytes=chunk_bytes, lines=lines, **options)
    body = chunks if lines else chain(chunks, (b"\n",))
    mimetype = "application/x-ndjson" if lines else provider.mimetype
    return current_app.response_class(stream_with_context(body), mimetype=mimetype)


def _options(provider: DefaultJSONProvider, **given: Any) -> dict[str, Any]:
    """The options of a provider's ``dumps``: what is given, then its settings."""
    return {
        "default": provider.default,
        "ensure_ascii": provider.ensure_ascii,
        "sort_keys": provider.sort_keys,
        **given,
    }


def _response_options(provider: DefaultJSONProvider) -> dict[str, Any]:
    """The options with which ``response`` writes: compact, or indented in debug mode."""
    if (provider.compact is None and provider._app.debug) or provider.compact is False:
        return _options(provider, indent=2)
    return _options(provider, separators=(",", ":"))


def _writes_by(provider: Any, *writers: object) -> bool:
    """Whether a provider's ``dumps`` is one of these and nobody has overridden ``response``, so
    that its settings tell what it writes."""
    return (
        isinstance(provider, DefaultJSONProvider)
        and getattr(provider.dumps, "__func__", None) in writers
        and getattr(provider.response, "__func__", None) is DefaultJSONProvider.response
    )


__all__ = ["JSONProvider", "schema_response", "stream_response", "use"]
