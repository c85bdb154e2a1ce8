from collections.abc import Iterable, Mapping
from typing import Any, Self, final

ABSENT: Any

def snapshot(mapping: Mapping[Any, Any], unwatched: Iterable[Any] = ...) -> tuple[Any, ...]: ...
def state_of(obj: object) -> dict[str, Any]: ...
def type_tag(cls: type) -> int: ...

@final
class Guard:
    types: tuple[type, ...]
    fields: tuple[Any, ...]
    lists: tuple[Any, ...]
    entries: tuple[Any, ...]
    schema_names: tuple[Any, ...]
    def __new__(
        cls,
        schema_names: tuple[Any, ...],
        members: Any,
        members_snapshot: tuple[Any, ...] | None,
        types: tuple[tuple[type, int], ...],
        fields: tuple[Any, ...],
        lists: tuple[Any, ...],
        entries: tuple[Any, ...],
        shared_entries: tuple[Any, ...] = ...,
        sibling: Guard | None = ...,
    ) -> Self: ...
    def unwatchable(self) -> type | None: ...
    def check(self, schema: object) -> bool: ...
