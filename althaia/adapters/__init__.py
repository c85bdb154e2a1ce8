"""Web frameworks: one module for each, imported by the application that uses it."""
