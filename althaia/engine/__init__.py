"""Plans: made once per schema, run in each call.

The floors, from the top: ``door`` takes a call from the seam and gives it a plan, ``kinds`` (one
file a family of fields), ``planner`` makes and keeps plans, ``run`` (in each call), ``instances``
(how schema instances are made), ``analysis`` (what a class or field is), ``objects`` (how
attributes are read), ``plan`` (data). A floor is one extension module,
``FLOOR.pyx``, which includes the files in its folder; what the floors above it may use of it is in
``FLOOR.pxd``. May import ``formats``, ``cpython``, ``seam``.
"""
