"""ABC-Eval: LilyBench's ten tasks on scores in ABC, as published and on the same music as
LilyBench's default.
"""
