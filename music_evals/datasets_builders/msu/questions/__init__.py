"""Questions on a score whose answers music21 computes from it, three for each of four levels."""
