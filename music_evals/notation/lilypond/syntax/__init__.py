"""The surface of LilyPond text: tokens, header fields and note names."""
