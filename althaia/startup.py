"""What the start-up files of the wheel call: redirect marshmallow if ALTHAIA_PATCH says so."""

from __future__ import annotations

import os


def patch_if_asked() -> None:
    """Redirect marshmallow where ``ALTHAIA_PATCH`` is set; otherwise do nothing.

    :raises althaia.ConfigError: an ``ALTHAIA_…`` variable has a bad value.
    """
    if not os.environ.get("ALTHAIA_PATCH"):
        return
    from althaia import redirect
    from althaia.config import settings

    if settings().patch:
        redirect.patch(how="ALTHAIA_PATCH")
