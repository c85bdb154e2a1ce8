from typing import Any

from althaia.engine.plan.guard import Guard
from althaia.engine.upstream import Upstream

LAZY_NAMES: frozenset[str]
CONSTRUCTION: tuple[str, ...]

def names_left_out(upstream: Upstream) -> frozenset[str]: ...
def examine(
    upstream: Upstream, cls: type, schema: Any
) -> tuple[Guard | None, str, Guard | None]: ...
def examine_model(upstream: Upstream, schema: Any) -> tuple[Guard | None, str]: ...
def examine_nested(upstream: Upstream, schema: Any) -> tuple[Guard | None, str]: ...
