"""The surface of LilyPond text: tokens, header fields and definitions, note names, the extent of markups."""
