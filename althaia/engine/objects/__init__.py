"""How attributes of objects of well-known libraries are read: SQLAlchemy, pydantic.

May import ``cpython`` and ``engine.upstream``. A library that a program does not use is never
imported.
"""
