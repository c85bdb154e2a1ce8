"""What the releases of marshmallow are made of: our patch queue, and what their functions mean.

``patching`` and ``digests`` are the build's as well. ``source`` makes of an installed file what a
process runs of it, ``bytecode`` keeps that. Nothing here is imported before marshmallow is.
"""
