"""Programs in the place of a language model. They show the lowest and the highest score to
expect.
"""
