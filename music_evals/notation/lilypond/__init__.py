"""LilyPond: reading its files, running it safely, and the music that it makes of a text."""
