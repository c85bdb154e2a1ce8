from typing import Any, final

FACTS: dict[tuple[str, str], tuple[str, ...]]

def static(cls: type, name: str) -> Any: ...
def definers(cls: type, name: str) -> list[type]: ...

@final
class Upstream:
    live: dict[str, dict[str, Any]]
    schema: dict[str, Any]
    fields: dict[str, Any]
    validate: dict[str, Any]
    missing: Any
    Schema: type
    Field: type
    SchemaMeta: type
    OrderedSet: type
    ValidationError: type
    ErrorStore: type
    HookTable: type
    schema_attributes: dict[str, Any]
    copy_containers: Any
    is_collection: Any
    is_sequence_but_not_string: Any
    set_value: Any
    unknown: frozenset[str]
    partial_by_data_key: bool
    copies_messages: bool
    has_processors: bool
    nested_many_overrides: bool
    empty_key_is_a_key: bool
    fragment_follows_host: bool
    hooks_get_unknown: bool
    checks_unknown: bool
    has_context: bool
    infers_fields: bool
    functions_take_context: bool
    has_serialization_type: bool
    false_is_an_error: bool
    nested_has_context: bool
    is_ordered_by_option: bool
    collection_keyword: str
    kinds: tuple[dict[str, Any], ...]
    def __init__(self, unknown: frozenset[str] = ..., variants: dict[str, str] = ...) -> None: ...
    def raw(self, cls: type, name: str) -> Any: ...
    def is_pristine(self, cls: type) -> bool: ...
    def has(self, cls: type, name: str, owner: type) -> bool: ...
    def defines(self, cls: type, name: str, owner: type) -> bool: ...
    def why_not(self, cls: type, name: str, owner: type) -> str: ...
    def is_known(self, *names: str) -> bool: ...
    def origins(self, module: str, name: str) -> tuple[str, ...]: ...
    def owner(self, cls: type, name: str) -> str: ...
    def is_own_kind(self, cls: type) -> bool: ...

def short(module: str) -> str: ...
def qualified(cls: type, name: str | None = ...) -> str: ...
def load() -> Upstream: ...
def connect(upstream: Upstream) -> None: ...
