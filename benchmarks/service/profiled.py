"""The shop under the profiler: ``/profile/start``, ``/profile/stop`` beside its own paths."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from benchmarks.service.profiler import Profiler
from benchmarks.service.shop import flask_app

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


def create_app() -> WSGIApplication:
    """The Flask application with two paths more; only for gunicorn's sync worker, where the
    main thread does the work."""
    app, profiler = flask_app.create_app(), Profiler()

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        match environ["PATH_INFO"]:
            case "/profile/start":
                answer: Any = {}
            case "/profile/stop":
                answer = profiler.stop()
            case _:
                return app(environ, start_response)
        body = json.dumps(answer).encode()
        start_response("200 OK", [("Content-Length", str(len(body)))])
        if not answer:
            profiler.start()
        return [body]

    return application
