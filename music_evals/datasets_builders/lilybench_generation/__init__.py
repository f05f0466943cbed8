"""LilyBench, generation: prompts, demonstrations, and sets of pieces that what is written is
measured against.
"""
