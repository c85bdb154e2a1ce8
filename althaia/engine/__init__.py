"""Plans: made once per schema, run in each call.

``door`` takes a call from the seam and gives it a plan, ``planner`` makes and keeps plans,
``steps`` chooses their steps. The folders are floors, from the top: ``kinds`` (one file a family of
fields), ``run`` (in each call), ``instances`` (how schema instances are made), ``analysis`` (what a
class or field is), ``objects`` (how attributes are read), ``plan`` (immutable data). May import
``formats``, ``cpython``, ``seam``.
"""
