"""Analyses that one benchmark has and no other, a module a benchmark, of its name.

A module may have a function ``header``, which returns a log's header as the report reads it, and functions that
``benchmark.toml`` names as ``special``, which make tables and figures of runs.
"""
