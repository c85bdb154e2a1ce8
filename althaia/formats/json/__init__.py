"""JSON: text of any value, the sink that dumps are written to, the parser that loads read from."""
