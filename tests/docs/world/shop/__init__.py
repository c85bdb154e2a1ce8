"""What the examples of the documentation call the reader's own application."""
