"""Scenarios of what a release lacks: they are skipped by the name of what they need.

``ALTHAIA_TEST_RELEASE`` runs the scenarios on other releases. One that uses a keyword or a class
that came later says so: ``@needs("fields.Field.__init__(pre_load)")``.
"""

import importlib
import inspect
from importlib import metadata

import marshmallow
import pytest


def has(name):
    """Whether this release has a module, an attribute, or a parameter of a function.

    >>> has("fields.Field.__init__(pre_load)")
    True
    """
    path, _, parameter = name.rstrip(")").partition("(")
    found = marshmallow
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(f"{found.__name__}.{part}")
            except (AttributeError, ModuleNotFoundError):
                return False
    return not parameter or parameter in inspect.signature(found).parameters


def needs(*names):
    """Skip a test where the release lacks one of these."""
    absent = [name for name in names if not has(name)]
    version = metadata.version("marshmallow")
    return pytest.mark.skipif(
        bool(absent), reason=f"marshmallow {version} has no {', '.join(absent)}"
    )


REMEMBERS = "schema.Schema._has_processors.cache_info"
"""Releases that have it keep for eight schemas, and keep alive with them, which hooks they have."""


def without(name):
    """Skip a test where the release has this."""
    version = metadata.version("marshmallow")
    return pytest.mark.skipif(has(name), reason=f"marshmallow {version} has {name}")


def only(values, needed):
    """Parameters of a test, each skipped where the release lacks what it needs.

    :param needed: what a value needs, by the value
    """
    return [
        pytest.param(value, marks=needs(needed[value])) if value in needed else value
        for value in values
    ]
