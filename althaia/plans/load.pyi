from typing import Any, final

from althaia.plans.guards import Guard
from althaia.plans.load_step import LoadStep
from althaia.plans.plan import Plan

@final
class LoadPlan(Plan):
    silent_errors: bool
    keys: set[str]
    unique_keys: bool
    def __init__(
        self, steps: tuple[LoadStep, ...], guard: Guard, *, silent_errors: bool = ..., **what: Any
    ) -> None: ...
