"""Deterministic music solvers, and the symbolic lines that a model writes for them. Knows nothing
of Inspect.
"""
