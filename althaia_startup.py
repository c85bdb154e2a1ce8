"""What Python 3.15 and later call at each start, as ``althaia_startup.start`` says.

A module of its own: an entry in that file is imported whether it is wanted or not, and importing
anything of the package would import the package.
"""

import os


def patch_if_asked() -> None:
    """Redirect marshmallow where ``ALTHAIA_PATCH`` is set; otherwise do nothing."""
    if os.environ.get("ALTHAIA_PATCH"):
        from althaia import startup

        startup.patch_if_asked()
