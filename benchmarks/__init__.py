"""The project's benchmarks: the same work on every library, outputs compared, then timed."""
