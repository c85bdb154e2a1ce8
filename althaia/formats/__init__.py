"""What a dump is written to and a load is read from, other than Python objects.

``sink`` and ``tape`` are what all formats have in common; each format is a folder. May import
``cpython`` and ``seam``; knows nothing of schemas.
"""
