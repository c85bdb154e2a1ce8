"""For ``dask worker --preload althaia.bulk.preload``: marshmallow is redirected before anything
that the worker runs can import it. Importing this module does it; nothing else does."""

from __future__ import annotations

from althaia.switch import redirect

redirect.switch_on("althaia.bulk.preload")
