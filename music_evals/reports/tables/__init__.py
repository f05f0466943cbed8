"""The tables of a report's sections: a module per benchmark, and `common` for a benchmark without
one.
"""
