"""The formats that dumps write and loads read: JSON and MessagePack.

All formats share ``tape`` (parsed input); dumps write JSON straight into its sink. Each format is a
folder. This package may import ``cpython`` and ``seam``; it knows nothing of schemas.
"""
