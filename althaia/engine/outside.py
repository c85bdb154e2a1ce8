"""What of a schema runs outside its plan: told once for each class, by the logger ``althaia``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from althaia.switch.config import settings


def parts(plan: Any) -> Iterator[str]:
    """What of a plan is left to other code than the plan's, each with the reason."""
    if plan.declined:
        yield f"all of it: {plan.declined}"
        return
    if not plan.whole:
        yield "the schema's own methods around the fields"
    for step in plan.steps:
        yield from _inside(step, str(step.attr))


def _inside(step: Any, name: str) -> Iterator[str]:
    if not step.narrow:
        yield f"{name}: {step.why or step.kind}"
    for label, inner in step.inner().items():
        yield from _inside(inner, f"{name}.{label}")


def tell(plan: Any, direction: str) -> None:
    """Log what a plan that was built leaves outside, if somebody listens; once for each class."""
    counters = plan.statistics
    # Nobody who has not imported logging has set up a logger.
    if counters.told or not (settings().log or "logging" in sys.modules):
        return
    import logging

    logger = logging.getLogger("althaia")
    if settings().log:
        _listen(logger)
    if not logger.isEnabledFor(logging.INFO):
        return
    counters.told = True
    left = list(parts(plan))
    if left:
        cls = plan.schema_class
        name = f"{cls.__module__}.{cls.__qualname__}"
        logger.info("%s.%s, outside its plan: %s", name, direction, "; ".join(left))


def _listen(logger: Any) -> None:
    """``ALTHAIA_LOG``: what the logger says is seen, also where the program has set up none."""
    if logger.level:
        return
    import logging

    logger.setLevel(logging.INFO)
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
