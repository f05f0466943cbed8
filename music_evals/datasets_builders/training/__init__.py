"""Training sets: rows by the composers of the test sets, apart from test rows by work and by
content.
"""
