"""LilyPond read without LilyPond: what the reader baseline knows of a score of LilyBench."""
