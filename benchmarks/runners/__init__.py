"""One module a library: ``builds()`` by case name, ``plain(output)``, ``versions()``."""
