"""Metrics as pure functions of arrays. Knows nothing of Inspect."""
