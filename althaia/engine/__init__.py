"""Plans: made once per schema, run in each call.

``door`` takes a call from the seam and gives it a plan, ``planner`` makes and keeps plans. The
folders are floors, from the top: ``analysis`` (once per schema), ``kinds`` (one file a family of
fields), ``run`` (in each call), ``plan`` (immutable data), ``instances`` (how schema instances are
made), ``objects`` (how attributes are read). May import ``formats``, ``cpython``, ``seam``.
"""
