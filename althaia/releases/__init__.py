"""The releases of marshmallow: our patch queue, and what is known about their functions.

The build uses ``patching`` and ``digests`` too. ``source`` compiles an installed file with our
patches, ``bytecode`` caches the code. Nothing here is imported before marshmallow is.
"""
