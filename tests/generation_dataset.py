"""A small dataset of LilyBench's generation form, with pieces that the tests compose themselves."""

import shutil
from pathlib import Path
from random import Random

from music_evals.datasets_builders.dataset_io import Provenance
from music_evals.datasets_builders.lilybench_generation.dataset import (
    NAME,
    VERSION,
    Plan,
    measure,
    write,
)
from music_evals.datasets_builders.lilybench_generation.demonstrations import a_minor_demonstrations
from music_evals.datasets_builders.lilybench_generation.rows import (
    Score,
)

PROMPTS = 12
SCALE = ["c", "d", "e", "f", "g", "a", "b", "c'", "d'", "e'", "f'", "g'"]
DESCRIPTION = {
    "composer": "Vivaldi",
    "period": "Late Baroque",
    "form": "concerto",
    "ensemble": "violin, cello",
    "part": "1: allegro",
    "key": "G major",
    "metre": "3/4",
}


def piece(seed, *, chromatic=0.1, chords=True):
    """Eight measures of 4/4, drawn from a seed; `chromatic` notes of all are sharp."""
    random = Random(seed)
    measures = []
    for _ in range(8):
        notes = []
        for length in random.choice(((4, 4, 4, 4), (2, 4, 4), (8, 8, 4, 2), (4, 8, 8, 2))):
            names = [
                (
                    SCALE[step].replace("'", "is'")
                    if random.random() < chromatic and "'" in SCALE[step]
                    else SCALE[step]
                )
                for step in sorted(random.sample(range(12), random.randint(1, 4) if chords else 1))
            ]
            notes.append(f"<{' '.join(names)}>{length}")
        measures.append(" ".join(notes))
    return (
        f'\\version "2.24.3"\n\\score {{ {{ \\time 4/4 {" | ".join(measures)} | }} \\layout {{ }} '
        "\\midi { } }\n"
    )


def make_dataset(out, *, references=None, demonstrations=True):
    """Write the golden record's dataset, or one with other references: twelve prompts, of which two
    are the same.
    """
    if references is None:
        return Path(shutil.copytree(Path(__file__).parent / "golden" / "data" / "generation", out))
    prompts = [
        {
            **DESCRIPTION,
            "part": f"{number % 11}: allegro",
            "id": f"prompt-{number:03}",
            "index": number,
            "entry": f"work/{number % 11}",
            "work": "work",
        }
        for number in range(PROMPTS)
    ]
    shown = [
        {**DESCRIPTION, "id": f"shown-{seed}", "work": f"shown-{seed}", "text": piece(1000 + seed)}
        for seed in range(3)
    ]
    plan = Plan(
        {"test": prompts},
        {"train": shown if demonstrations else [], "ablation": a_minor_demonstrations()},
        [],
        {
            name: measure(
                [
                    Score(f"{name}-{number}", f"{name}-{number}", text, None)
                    for number, text in enumerate(texts)
                ]
            )
            for name, texts in references.items()
        },
        Provenance(NAME, VERSION, "bmdataset", "other", seed=1234),
        {},
    )
    write(plan, out)
    return out
