"""Whether two parsers say the same about one text."""

import math


def alike(ours, theirs):
    """Whether two parsed values are the same, with their types, order and signs of zero."""
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, dict):
        return [*ours] == [*theirs] and all(alike(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list | tuple):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(ours, float):
        if math.isnan(ours):
            return math.isnan(theirs)
        return ours == theirs and math.copysign(1, ours) == math.copysign(1, theirs)
    return bool(ours == theirs)
