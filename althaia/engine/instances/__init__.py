"""How schema instances are made and copied: in full, lazily, from a prototype or a model.

May import ``plan`` and ``analysis``.
"""
