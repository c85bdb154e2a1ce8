"""Ours, switched on as an application does it: ``patch()`` first, then the import."""

from __future__ import annotations

import importlib

import althaia
from benchmarks.model import Marshmallow
from benchmarks.runners import dropin
from benchmarks.runners.dropin import plain as plain


def module() -> Marshmallow:
    althaia.patch()
    return importlib.import_module("marshmallow")


def builds() -> dropin.Builds:
    return dropin.builds_on(module())


def versions() -> dict[str, str]:
    return dropin.versions_of("althaia")
