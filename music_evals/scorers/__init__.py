"""How an answer is judged: Inspect scorers and metrics, over the pure functions in `metrics`."""
