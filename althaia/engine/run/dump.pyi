import enum
from typing import Any, final

from typing_extensions import disjoint_base

from althaia.engine.plan.guard import Guard
from althaia.engine.plan.plan import Plan

class Source(enum.IntFlag):
    NO_ATTRIBUTE = 0
    KEY = 1
    PATH = 2
    ACCESSOR = 3
    GET_VALUE = 4
    SERIALIZE = 5

@disjoint_base
class DumpStep:
    kind: str
    narrow: bool
    quiet: bool
    field: Any
    attr: Any
    key: str | None
    source: int
    name: str | None
    path: tuple[str, ...] | None
    default: Any
    why: str
    own_slot: int
    def __init__(
        self,
        field: Any,
        attr: Any = ...,
        key: str | None = ...,
        source: int = ...,
        name: str | None = ...,
        path: tuple[str, ...] | None = ...,
        default: Any = ...,
        why: str = ...,
        own_slot: int = ...,
    ) -> None: ...
    def inner(self) -> dict[str, DumpStep]: ...

class FixedText(DumpStep): ...

@final
class OwnDumpStep(DumpStep):
    def __init__(self, field: Any, *, method_slot: int = ..., **place: Any) -> None: ...

@final
class OpaqueDumpStep(DumpStep): ...

@final
class DumpPlan(Plan):
    straight: bool
    def __init__(
        self,
        steps: tuple[DumpStep, ...],
        guard: Guard,
        *,
        opts: Any = ...,
        straight: bool = ...,
        **what: Any,
    ) -> None: ...
