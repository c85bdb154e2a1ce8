"""The reason why a step or a plan is not made."""


class NotPlannable(Exception):
    """A step or plan cannot be built, because the behaviour of a field or schema may differ between
    calls.

    :param reason: the reason in plain English, for ``explain``.
    """

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason
