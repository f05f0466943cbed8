"""How a model is asked: Inspect solvers, over the deterministic music solvers in `symbolic`."""
