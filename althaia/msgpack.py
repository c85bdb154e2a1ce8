"""MessagePack, the compact form: what the ``msgpack`` package's default options read and write.

``Meta.render_module = althaia.msgpack`` lets a schema use it. :func:`dumps` gives what
``msgpack.packb`` gives. :func:`loads` reads JSON as well, by the first byte, so that a store can go
from one form to the other entry by entry. The package itself need not be installed.
"""

try:
    from althaia.formats.codec import (
        MessagePackDecodeError as MessagePackDecodeError,
        msgpack_dumps as dumps,
        msgpack_loads as loads,
    )
except ModuleNotFoundError as error:
    if error.name != "althaia.formats.codec":
        raise
    from althaia.switch.release import why_no_engine

    raise ImportError(f"althaia.msgpack is compiled code, and {why_no_engine()}") from error

__all__ = ["MessagePackDecodeError", "dumps", "loads"]
