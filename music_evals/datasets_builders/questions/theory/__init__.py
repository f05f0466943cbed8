"""Music theory questions, in Chinese and English, whose answers music21 computes.

``words.toml`` names the kinds, ``wording.toml`` words the forms of each kind, and `pitches`,
`tonality`, `chords` and `rhythm` compose them. ZIQI-Eval, MusicTheoryBench and the training sets
ask these questions: a change of them raises the versions of both benchmarks' builders.
"""
