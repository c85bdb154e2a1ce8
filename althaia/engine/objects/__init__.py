"""Object readers: fast access to attributes of objects of SQLAlchemy.

May import ``cpython`` and ``engine.plan``. A library that a program does not use is never
imported.
"""
