"""The formats that dumps write and loads read: JSON and MessagePack.

All formats share ``sink`` (output) and ``tape`` (parsed input). Each format is a folder. This
package may import ``cpython`` and ``seam``; it knows nothing of schemas.
"""
