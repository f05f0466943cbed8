"""The strict tasks: pieces that they may use, options that tell nothing, and errors that are
proven.
"""
