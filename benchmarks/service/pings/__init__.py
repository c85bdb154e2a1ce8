"""Latency while thousands of connections are open and a large collection is dumped."""
