"""Each load of a scenario through text: what ``load`` is given goes to ``loads`` as JSON."""

import contextlib
import json
from unittest import mock

from althaia import seam


def is_json(data):
    """Whether data comes back from JSON as it was, with its types."""
    if type(data) is dict:
        return all(type(key) is str and is_json(value) for key, value in data.items())
    if type(data) is list:
        return all(map(is_json, data))
    if type(data) is int:
        # CPython refuses to write longer integers as text.
        return abs(data) < 10**4000
    return data is None or type(data) in (str, float, bool)


@contextlib.contextmanager
def without_notes():
    """Take json's notes from what is raised inside.

    From Python 3.14 on they name the containers; docs/differences.md has what ours leaves out.
    """
    try:
        yield
    except Exception as error:
        vars(error).pop("__notes__", None)
        raise


@contextlib.contextmanager
def loads_for_load(library):
    """While it lasts, a call of ``Schema.load`` calls ``Schema.loads`` where that is the same.

    Calls that come from inside a load stay what they are. Yields the texts so far.
    """
    schema_class = library.Schema
    load = schema_class.__dict__["load"]
    texts = []
    inside = False

    def load_text(self, data, **options):
        nonlocal inside
        if inside:
            return load(self, data, **options)
        inside = True
        try:
            if not is_json(data):
                return load(self, data, **options)
            texts.append(json.dumps(data))
            return self.loads(texts[-1], **options)
        finally:
            inside = False

    # The plans are to take it for upstream's own.
    own = seam.pristine.get(schema_class, {})
    with mock.patch.object(schema_class, "load", load_text), mock.patch.dict(own, load=load_text):
        yield texts
