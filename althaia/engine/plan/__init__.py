"""What a plan consists of: steps, guard, template. Immutable data; runs no call.

May import ``formats`` and ``cpython``.
"""
