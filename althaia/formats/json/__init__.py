"""JSON: an encoder for any value, the sink for dumps, the parser for loads."""
