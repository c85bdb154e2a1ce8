"""Called by the start-up file of the wheel: redirect marshmallow if ALTHAIA_PATCH is set."""

from __future__ import annotations

import os
import sys

from althaia import seam
from althaia.switch.config import is_no

_said: set[str] = set()
"""Messages that were printed already: in a virtual environment start-up files run twice."""


def patch_if_asked() -> None:
    """Redirect marshmallow if ``ALTHAIA_PATCH`` is set; otherwise do nothing.

    The redirect fails if a variable has an invalid value, if no marshmallow is installed, or if
    marshmallow was imported already. The program then runs on the real one, and a line on standard
    error says so. With ``ALTHAIA_STRICT`` the process ends instead, with exit code 1.
    """
    if not os.environ.get("ALTHAIA_PATCH"):
        return
    from althaia.switch import redirect
    from althaia.switch.config import settings

    try:
        if settings().patch:
            redirect.switch_on("ALTHAIA_PATCH")
    except redirect.REFUSALS as error:
        if is_no(os.environ.get("ALTHAIA_STRICT", "")):
            _say(f"althaia: not redirecting marshmallow: {error}")
        else:
            _stop(f"althaia: stopped, as ALTHAIA_STRICT asks: {error}")


def warn_if_not_asked() -> None:
    """At ``import althaia``: warn if ``ALTHAIA_PATCH`` is set but no start-up file has run.

    Python runs the start-up files of site-packages folders only. A folder that was made by ``pip
    install --target`` (a layer of AWS Lambda) or that ``PYTHONPATH`` names is none.
    """
    if is_no(os.environ.get("ALTHAIA_PATCH", "")) or _is_starting() or _is_runner():
        return
    seam.warn(
        "ALTHAIA_PATCH is set and has no effect: althaia is not installed in a site-packages "
        "folder of this interpreter (pip install --target, PYTHONPATH, python -S), so its start-up "
        "file did not run. Call althaia.patch() in the first lines of the program, or start it by "
        "'python -m althaia'",
        RuntimeWarning,
        stacklevel=4,
    )


def _is_starting() -> bool:
    """Return whether the interpreter is running start-up files at this moment."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == "site":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _is_runner() -> bool:
    """Return whether this process is ``python -m althaia``, which redirects itself."""
    words = " ".join(getattr(sys, "orig_argv", []))
    script = os.path.basename(sys.argv[0]) if getattr(sys, "argv", None) else ""
    return script in ("althaia", "althaia.exe") or " -m althaia" in words


def _say(text: str) -> None:
    if text not in _said and sys.stderr is not None:
        _said.add(text)
        print(text, file=sys.stderr, flush=True)


def _stop(text: str) -> None:
    _say(text)
    # Not sys.exit(): site catches every exception of a start-up file. Nothing has started yet that
    # needs an orderly end.
    os._exit(1)
