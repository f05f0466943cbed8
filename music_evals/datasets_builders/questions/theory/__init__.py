"""Music theory questions, in Chinese and English, whose answers music21 computes."""
