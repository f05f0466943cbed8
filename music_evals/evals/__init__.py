"""One Inspect task file a benchmark, which maps rows to samples and composes solver and scorer."""
