"""From a schema class and its fields to the steps of a plan. Runs once per schema.

May import every folder of the engine except ``kinds``, which is handed to it as a table.
"""
