"""Who imported marshmallow before the redirect was switched on, and what to do there.

Imported only when it is too late: nothing here runs in a process that is redirected.
"""

import os
import sys
from types import ModuleType

from althaia.switch.config import is_no
from althaia.switch.release import REAL


def holders(
    real: dict[str, ModuleType], others: dict[str, dict[str, object]]
) -> dict[str, list[str]]:
    """Return by module the names in it that refer to the real library or to its objects, in the
    order in which the imports of these modules began.

    :param real: the modules of the real library, by name
    :param others: what all other modules contain, by name
    """
    owned = {id(module) for module in real.values()}
    for module in real.values():
        for value in list(vars(module).values()):
            if f"{getattr(value, '__module__', '')}.".startswith(f"{REAL}."):
                owned.add(id(value))
    found = {}
    for name, contents in others.items():
        if held := [key for key, value in contents.items() if _is_made_of(value, owned)]:
            found[name] = sorted(held)
    return found


def _is_made_of(value: object, owned: set[int]) -> bool:
    if id(value) in owned:
        return True
    cls = value if isinstance(value, type) else type(value)
    return any(id(base) in owned for base in type.mro(cls) if base is not type)


def text(held: dict[str, list[str]], how: str) -> str:
    """Return who imported marshmallow too early and what to do, for people.

    :param held: what :func:`holders` returns
    :param how: what asked for the redirect: ``ALTHAIA_PATCH``, ``python -m althaia``, …
    """
    lines = ["marshmallow was imported before althaia was asked to redirect it."]
    if held:
        lines.append("These modules hold references to the real one and would keep them:")
        lines.extend(
            f"  {name}: {', '.join(names[:4])}{', …' if len(names) > 4 else ''}"
            for name, names in held.items()
        )
    lines.append(_advice(how))
    return "\n".join(lines)


def _advice(how: str) -> str:
    ways = [
        "Call althaia.patch() before the first of these imports (best in the first lines of the "
        "program; in a start-up file of Python, write 'import althaia; althaia.patch();' in front "
        "of the import)"
    ]
    if not how.startswith("python -m althaia"):
        ways.append("start the program with 'python -m althaia'")
    advice = ", ".join(ways)
    if not is_asked():
        advice += (
            ", or set ALTHAIA_PATCH=1. Where a command imports the application ('flask run', "
            "'celery -A app'), its extensions may import marshmallow first: set ALTHAIA_PATCH=1 "
            "there"
        )
    return (
        f"{advice}. althaia.patch(force=True) redirects later imports only and leaves two copies "
        "of the library in the process."
    )


def is_asked() -> bool:
    """Return whether ``ALTHAIA_PATCH`` is set, so that the start-up file has tried to redirect."""
    return not sys.flags.ignore_environment and not is_no(os.environ.get("ALTHAIA_PATCH", ""))
