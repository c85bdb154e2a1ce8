from typing import Any

from althaia.engine.analysis.reader import Analysis
from althaia.engine.steps import StepOptions

def load_own_iso(
    analysis: Analysis,
    field: Any,
    options: StepOptions,
    function: Any,
    aware: bool | None = ...,
) -> Any: ...
