from collections.abc import Iterator
from typing import Any

from typing_extensions import disjoint_base

from althaia.engine.plan.guard import Guard

@disjoint_base
class Plan:
    steps: tuple[Any, ...]
    guard: Guard
    whole: bool
    nestable: bool
    many_allowed: bool
    declined: str
    slots: int
    schema_class: type
    dict_class: type
    before: tuple[Any, ...] | None
    behind: tuple[Any, ...] | None
    has_hooks: bool
    statistics: Any
    def __init__(
        self,
        steps: tuple[Any, ...],
        guard: Guard,
        *,
        schema_class: type,
        dict_class: type,
        statistics: Any,
        before: tuple[Any, ...] | None = ...,
        behind: tuple[Any, ...] | None = ...,
        has_hooks: bool = ...,
        whole: bool = ...,
        nestable: bool = ...,
        many_allowed: bool = ...,
        slots: int = ...,
        declined: str = ...,
    ) -> None: ...
    def named_steps(self) -> Iterator[tuple[str, Any]]: ...
