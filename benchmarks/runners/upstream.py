"""The real marshmallow."""

from __future__ import annotations

import marshmallow

from benchmarks.model import Marshmallow
from benchmarks.runners import dropin
from benchmarks.runners.dropin import plain as plain


def module() -> Marshmallow:
    return marshmallow


def builds() -> dropin.Builds:
    return dropin.builds_on(module())


def versions() -> dict[str, str]:
    if "althaia" in marshmallow.Schema.__module__ or "althaia" in (marshmallow.__file__ or ""):
        raise RuntimeError("this process is patched: upstream would be compared with itself")
    return dropin.versions_of("marshmallow")
