"""What a plan consists of: guard, template, options. Immutable data; runs no calls.

May import ``formats`` and ``cpython``.
"""
