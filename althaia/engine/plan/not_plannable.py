"""The reason why a step or a plan is not made."""

from __future__ import annotations


class NotPlannable(Exception):
    """Something about a field or schema can only be known by asking it in each call.

    :param reason: why, as a person would say it.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
