"""What tasks of several benchmarks share: parameters, declaration, floors, written scores, prompts
on the Hub.
"""
