"""What the start-up file of the wheel calls: redirect marshmallow if ALTHAIA_PATCH says so."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NoReturn

_said: set[str] = set()
"""What was said already: in a virtual environment start-up files run twice."""


def patch_if_asked() -> None:
    """Redirect marshmallow where ``ALTHAIA_PATCH`` is set; otherwise do nothing.

    Where it cannot be done, because a variable has a bad value, another marshmallow is installed
    or marshmallow was imported already, the program runs on the real one after a line on the
    standard error stream. With ``ALTHAIA_STRICT`` the process ends instead, with exit code 1.
    """
    if not os.environ.get("ALTHAIA_PATCH"):
        return
    from althaia.switch import redirect
    from althaia.switch.config import ConfigError, is_no, settings
    from althaia.switch.installed import ReleaseError

    try:
        if settings().patch:
            redirect.patch(how="ALTHAIA_PATCH")
    except (ConfigError, ReleaseError, redirect.LatePatchError) as error:
        if is_no(os.environ.get("ALTHAIA_STRICT", "")):
            _say(f"althaia: not redirecting marshmallow: {error}")
        else:
            _stop(f"althaia: stopped, as ALTHAIA_STRICT asks: {error}")


def _say(text: str) -> None:
    if text not in _said and sys.stderr is not None:
        _said.add(text)
        print(text, file=sys.stderr, flush=True)


def _stop(text: str) -> NoReturn:
    _say(text)
    # Nothing has started yet that would have to be ended in order, and an exception would go
    # no further than the line of the start-up file.
    os._exit(1)
