"""A wrong answer planted on purpose. Programs of the tests begin with this file's text."""

import althaia
from althaia import seam
from althaia.trust import seam_layers


def plant(wrong, *names):
    """Let a function change what the plan of some of the seam's functions gives."""

    def layer(name, inner):
        def answer(*args):
            given = inner(*args)
            return given if given is seam.DECLINED else wrong(given)

        return answer if name in names else None

    seam_layers.put(layer)
    return layer


def dearer(given):
    """Change the second price of the fourth order."""
    for each in given if isinstance(given, list) else [given]:
        if isinstance(each, dict) and each.get("number") == 3:
            each["lines"][1]["price"] += 1
    return given


def plant_dearer():
    """Plant it where althaia runs, and nowhere else."""
    if althaia.is_patched():
        plant(dearer, "dump", "load")
