"""A run split into shards, each an Inspect process of its own, and put together into one log."""
