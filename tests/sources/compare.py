"""Whether two parsers say the same about one text."""

import json
import math


def alike(ours, theirs):
    """Whether two parsed values are the same, with their types, order and signs of zero."""
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, dict):
        return [*ours] == [*theirs] and all(alike(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(alike, ours, theirs))
    if isinstance(ours, float):
        if math.isnan(ours):
            return math.isnan(theirs)
        return ours == theirs and math.copysign(1, ours) == math.copysign(1, theirs)
    return bool(ours == theirs)


def outcome(load, *args, **options):
    """What a parser returns, or all that its exception says."""
    try:
        return "returned", load(*args, **options)
    except json.JSONDecodeError as error:
        said = error.msg, error.doc, error.pos, error.lineno, error.colno
        return "raised", [type(error).__name__, error.args, *said]
    except RecursionError:
        return "raised", ["RecursionError"]
    except Exception as error:
        return "raised", [type(error).__name__, error.args]


def same(ours, theirs):
    return ours[0] == theirs[0] and (
        alike(ours[1], theirs[1]) if ours[0] == "returned" else ours[1] == theirs[1]
    )
