"""Log what runs outside a schema's plan, once for each class, by the logger ``althaia``."""

import sys
from collections.abc import Iterator
from typing import Any

from althaia import seam
from althaia.switch.config import settings


def parts(plan: Any) -> Iterator[str]:
    """Yield each part of a plan that runs other code than the plan's, with the reason."""
    if plan.declined:
        yield f"all of it: {plan.declined}"
        return
    if not plan.whole:
        yield "the schema's own methods around the fields"
    for name, step in plan.named_steps():
        if not step.narrow:
            yield f"{name}: {step.why or step.label}"


def tell(plan: Any, direction: str) -> None:
    """Log what runs outside a new plan, once for each class, if the logger is enabled."""
    counters = plan.statistics
    # If nobody has imported logging, there is no handler either.
    if counters.logged or not (settings().log or "logging" in sys.modules):
        return
    # Not by a statement: a test may have replaced __import__.
    logging = sys.modules.get("logging") or __import__("logging")
    logger = logging.getLogger("althaia")
    if settings().log:
        _listen(logger)
    if not logger.isEnabledFor(logging.INFO):
        return
    counters.logged = True
    left = list(parts(plan))
    if left:
        name = seam.full_name(plan.schema_class)
        logger.info("%s.%s, outside its plan: %s", name, direction, "; ".join(left))


def _listen(logger: Any) -> None:
    """``ALTHAIA_LOG``: add a handler if the program has set up none, so that the log is seen."""
    if logger.level:
        return
    import logging

    logger.setLevel(logging.INFO)
    if not logger.hasHandlers():
        logging.basicConfig(format="%(name)s: %(message)s")
