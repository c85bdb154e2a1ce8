"""Libraries built on marshmallow, against two marshmallows in one process."""

import sys

import marshmallow as upstream
import pytest

from althaia import marshmallow as ours
from benchmarks.third_party import BUILT_ON_IT, library


@pytest.mark.parametrize("name", [name for name in BUILT_ON_IT if "oneof" not in name])
def test_each_marshmallow_has_its_own(name):
    before = {key: module for key, module in sys.modules.items() if "marshmallow" in key}
    theirs, mine = library(upstream, f"{name}.fields"), library(ours, f"{name}.fields")
    assert theirs is library(upstream, f"{name}.fields")
    assert mine is library(ours, f"{name}.fields")
    assert theirs is not mine
    for ma, module in ((upstream, theirs), (ours, mine)):
        classes = [
            value
            for value in vars(module).values()
            if isinstance(value, type) and value.__module__ == module.__name__
        ]
        assert any(issubclass(cls, ma.fields.Field) for cls in classes)
    for key, module in before.items():
        assert sys.modules[key] is module
