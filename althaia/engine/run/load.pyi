from typing import Any, final

from althaia.engine.plan.guard import Guard
from althaia.engine.plan.plan import Plan
from althaia.engine.run.load_step import LoadStep

@final
class LoadPlan(Plan):
    silent_errors: bool
    keys: set[str]
    unique_keys: bool
    def __init__(
        self, steps: tuple[LoadStep, ...], guard: Guard, *, silent_errors: bool = ..., **what: Any
    ) -> None: ...
