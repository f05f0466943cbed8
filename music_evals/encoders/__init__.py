"""Encoders: texts to vectors, for metrics that compare sets of texts."""
