"""DeepFriedMarshmallow: generates Python for each schema at first use."""

from __future__ import annotations

import importlib

import deepfriedmarshmallow

from benchmarks.model import Marshmallow
from benchmarks.runners import dropin
from benchmarks.runners.dropin import plain as plain


def module() -> Marshmallow:
    deepfriedmarshmallow.deep_fry_marshmallow()
    return importlib.import_module("marshmallow")


def builds() -> dropin.Builds:
    return dropin.builds_on(module())


def versions() -> dict[str, str]:
    return dropin.versions_of("DeepFriedMarshmallow", "marshmallow")
