"""The real marshmallow."""

from __future__ import annotations

import sys

import marshmallow

from benchmarks.model import Marshmallow
from benchmarks.runners import dropin
from benchmarks.runners.dropin import plain as plain


def module() -> Marshmallow:
    return marshmallow


def builds() -> dropin.Builds:
    return dropin.builds_on(module())


def versions() -> dict[str, str]:
    if sys.modules.get("althaia.marshmallow") is marshmallow:
        raise RuntimeError("this process is patched: upstream would be compared with itself")
    return dropin.versions_of("marshmallow")
