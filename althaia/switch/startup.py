"""Called by the start-up file of the wheel: redirect marshmallow if ALTHAIA_PATCH is set."""

import os
import sys

from althaia import seam
from althaia.switch.config import is_no

_said: set[str] = set()
"""Messages that were printed already: in a virtual environment start-up files run twice."""


def patch_if_asked() -> None:
    """Redirect marshmallow if ``ALTHAIA_PATCH`` is set; otherwise, or if Python was started with
    ``-E`` or ``-I``, do nothing.

    The redirect fails if a variable has an invalid value, if no marshmallow is installed, or if
    marshmallow was imported already. The program then runs on the real one, and a line on standard
    error says so.
    """
    if not os.environ.get("ALTHAIA_PATCH") or sys.flags.ignore_environment:
        return
    from althaia.switch import redirect
    from althaia.switch.config import settings

    try:
        if settings().patch:
            redirect.switch_on("ALTHAIA_PATCH")
    except redirect.REFUSALS as error:
        _say(f"althaia: not redirecting marshmallow: {error}")


def warn_if_not_patched() -> None:
    """Warn that ``ALTHAIA_PATCH`` is set and no start-up file has run, while marshmallow is
    imported.

    Python runs the start-up files of site-packages folders only. A folder that was made by ``pip
    install --target`` (a layer of AWS Lambda) or that ``PYTHONPATH`` names is none.
    """
    from althaia.switch import redirect

    is_off = not is_no(os.environ.get("ALTHAIA_DISABLE", ""))
    if is_off or redirect.is_patched() or is_no(os.environ["ALTHAIA_PATCH"]):
        return
    seam.warn(
        "ALTHAIA_PATCH is set and has no effect: althaia is not installed in a site-packages "
        "folder of this interpreter (pip install --target, PYTHONPATH, python -S), so its start-up "
        "file did not run. Call althaia.patch() in the first lines of the program, or start it by "
        "'python -m althaia'",
        RuntimeWarning,
        stacklevel=4,
    )


def _say(text: str) -> None:
    if text not in _said and sys.stderr is not None:
        _said.add(text)
        print(text, file=sys.stderr, flush=True)
