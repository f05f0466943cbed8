"""Questions composed on this machine: music theory with computed answers, and continuations of real
tunes.
"""
