"""Composition of stimuli: drum loops, melodies and chords, as performances ready to be written as MIDI.

Pure functions. What is random comes from a `random.Random` that the caller passes, so a stimulus can be made again
from its seed, in any order and on any machine.
"""
