"""Quart: JSON text by althaia behind ``jsonify``.

Quart takes its provider classes from Flask, so :func:`use` is the same function::

    from althaia.adapters.quart import use

    use(app)
"""

from althaia.adapters.flask import JSONProvider, use

__all__ = ["JSONProvider", "use"]
