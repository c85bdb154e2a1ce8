from typing import Any, final

from typing_extensions import disjoint_base

from althaia.engine.analysis.reader import Analysis

@disjoint_base
class Check:
    kind: str
    validator: Any
    def __init__(self, validator: Any) -> None: ...

@final
class LengthCheck(Check):
    def __init__(self, validator: Any, *, least: int, most: int) -> None: ...

def check_for(analysis: Analysis, validator: Any, field: Any) -> Check: ...
