# cython: language_level=3, freethreading_compatible=True
"""The helpers that Cython's C code needs in every extension module, once for all of them.

Cython writes this module's C code instead of translating this file, see ``_translate_shared`` in
:file:`buildtools/compile.py`. Each of our extension modules is 15 to 25 KB smaller for it.

The option: https://cython.readthedocs.io/en/latest/src/userguide/shared_utility_module.html
"""
