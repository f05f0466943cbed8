"""What one benchmark has and no other, a module a benchmark, of its name.

A function ``header`` returns a log's header as the report reads it; those that ``benchmark.toml`` names make tables.
"""
