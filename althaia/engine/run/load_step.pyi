from collections.abc import Callable
from typing import Any, final

from typing_extensions import disjoint_base

from althaia.engine.run.validators import Check

@disjoint_base
class LoadStep:
    kind: str
    narrow: bool
    quiet: bool
    field: Any
    attr: str | None
    key: str | None
    target: str | None
    dotted: bool
    opaque: bool
    required: bool
    allow_none: bool
    own_validate: bool
    default: Any
    pre_load: list[Callable[[Any], Any]] | None
    post_load: list[Callable[[Any], Any]] | None
    checks: tuple[Check, ...] | None
    why: str
    own_slot: int
    def __init__(
        self,
        field: Any,
        attr: str | None = ...,
        key: str | None = ...,
        target: str | None = ...,
        dotted: bool = ...,
        opaque: bool = ...,
        required: bool = ...,
        allow_none: bool = ...,
        own_validate: bool = ...,
        default: Any = ...,
        pre_load: list[Callable[[Any], Any]] | None = ...,
        post_load: list[Callable[[Any], Any]] | None = ...,
        checks: tuple[Check, ...] | None = ...,
        why: str = ...,
        own_slot: int = ...,
    ) -> None: ...
    def inner(self) -> dict[str, LoadStep]: ...

@final
class OwnLoadStep(LoadStep): ...

@final
class OpaqueLoadStep(LoadStep): ...
