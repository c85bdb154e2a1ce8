"""What CPython does not promise: its layout, its features, and C helpers that rest on them.

The lowest floor: headers and declarations, and a module of Cython's helpers. Everything above may
use it; it imports nothing.
"""
