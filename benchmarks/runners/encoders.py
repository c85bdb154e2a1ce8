"""Another library's encoder behind what our schemas dump; the environment says which."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.cases.text import DUMPED
from benchmarks.model import Work
from benchmarks.runners import ours
from benchmarks.runners.dropin import versions_of
from benchmarks.runners.plainly import read_text

NAME = os.environ["BENCHMARK_ENCODER"]
ENCODERS = {"orjson": ("orjson", "dumps"), "msgspec": ("msgspec.json", "encode")}


def encoder() -> Callable[[Any], bytes]:
    module, function = ENCODERS[NAME]
    encode: Callable[[Any], bytes] = getattr(import_module(module), function)
    return encode


def dumped_and_encoded(name: str, count: int) -> Work:
    schema, source = DUMPED[name]
    dump, objects, encode = schema(ours.module()).dump, source(count), encoder()
    return lambda: encode(dump(objects))


def plain(output: Any) -> Any:
    return read_text(output)


def builds() -> Mapping[str, Callable[[int], Work]]:
    return {name: partial(dumped_and_encoded, name) for name in DUMPED}


def versions() -> dict[str, str]:
    return versions_of("althaia", NAME)
