"""connexion: JSON text by althaia in its responses.

connexion writes with an encoder class of its own (``cls=``), which only the ``json`` module can
run. :class:`Jsonifier` gives that class's ``default`` instead, which makes the same text::

    app = connexion.AsyncApp(__name__, jsonifier=Jsonifier())

    app = connexion.FlaskApp(__name__, jsonifier=Jsonifier(flask.json, indent=2))
    althaia.adapters.flask.use(app.app)
"""

import json
from typing import Any

import connexion.jsonifier

from althaia import json as althaia_json

_STANDARD = ("__init__", "encode", "iterencode", "item_separator", "key_separator")


class Jsonifier(connexion.jsonifier.Jsonifier):
    """connexion's jsonifier, writing and reading by althaia.

    :param json_: a library with ``dumps`` and ``loads``: ``flask.json`` for a Flask
        application, which goes on to the application's provider.
    :param kwargs: default options for its ``dumps``.
    """

    def __init__(self, json_: Any = althaia_json, **kwargs: Any) -> None:
        super().__init__(json_, **kwargs)

    def dumps(self, data: Any, **kwargs: Any) -> str:
        """The JSON text of a response's content, with a newline at its end."""
        options = {**self.dumps_args, **kwargs}
        encoder = options.get("cls")
        if encoder is connexion.jsonifier.JSONEncoder and _only_adds_a_default(encoder):
            del options["cls"]
            # flask.json brings the default of the application, which goes before the class's.
            if self.json is althaia_json:
                options.setdefault("default", encoder().default)
        return str(self.json.dumps(data, **options)) + "\n"


def _only_adds_a_default(encoder: type[json.JSONEncoder]) -> bool:
    """Whether an encoder class differs from the standard one in its ``default`` alone."""
    return all(getattr(encoder, name) is getattr(json.JSONEncoder, name) for name in _STANDARD)


__all__ = ["Jsonifier"]
