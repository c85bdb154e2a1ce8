from typing import Any, final

from althaia.engine.plan.guard import Guard
from althaia.engine.plan.plan import Plan
from althaia.engine.run.load_step import LoadStep

@final
class LoadPlan(Plan):
    silent_errors: bool
    has_validators: bool
    has_schema_validators: bool
    hooks_see_input: bool
    keys: set[str]
    unique_keys: bool
    def __init__(
        self,
        steps: tuple[LoadStep, ...],
        guard: Guard,
        *,
        silent_errors: bool = ...,
        has_validators: bool = ...,
        has_schema_validators: bool = ...,
        hooks_see_input: bool = ...,
        **what: Any,
    ) -> None: ...
