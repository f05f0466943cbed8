"""LilyBench, understanding: ten tasks on LilyPond scores, by the published procedure and without
its leaks.
"""
