from typing import Any

def construct(
    schema: Any,
    only: Any,
    exclude: Any,
    many: Any,
    load_only: Any,
    dump_only: Any,
    partial: Any,
    unknown: Any,
    context: Any = ...,
) -> bool: ...
