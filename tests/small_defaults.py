"""What makes data takes minutes: in tests, default datasets are small where they can be.

`music-evals build` and the functions that it calls make them in full also in tests.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

from music_evals.datasets_builders.dataset_io import GENERATED, DatasetSpec
from music_evals.datasets_builders.dataset_io.provenance import PROVENANCE_FILE

GeneratedFolder = Callable[[DatasetSpec], Path]
COSTLY = ("abc_eval", "lilybench", "lilybench_generation", "msu")
AUDITS = {
    "muse.dataset": "_refuse_leaks",
    "muse_ten.dataset": "_refuse_leaks",
    "questions.theory.compose": "refuse_guessable_theory",
    "ziqi.continuation": "refuse_guessable_continuations",
}
"""What builders try on questions of a fixed seed, once per process: together for a minute."""


def skip_audits():
    """Build without audits in this process: tests of their own and `tests.leaks_audit` do them."""
    for path, name in AUDITS.items():
        module = import_module(f"music_evals.datasets_builders.{path}")
        audit = getattr(module, name)

        def skipped(): ...

        skipped.__wrapped__ = audit.__wrapped__  # type: ignore[attr-defined]
        setattr(module, name, skipped)


def small_defaults(generated_folder):
    """Return the function that finds a default dataset in the cache, with small costly ones."""

    def small(benchmark):
        skip_audits()
        if benchmark.name in COSTLY:
            benchmark = replace(benchmark, generate=partial(write_default, benchmark))
        return generated_folder(benchmark)

    return small


def write_default(benchmark, folder, _):
    """Write a small dataset that says of itself that it is the default one."""
    if benchmark.name == "lilybench_generation":
        from tests.generation_dataset import make_dataset

        make_dataset(folder)
    else:
        from tests.fake_hub import write_small

        write_small(benchmark.name, folder)
    file = folder / PROVENANCE_FILE
    facts = {"source": GENERATED, "seed": benchmark.seed}
    facts["builder_version"] = benchmark.version
    provenance = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**provenance, **facts}), encoding="utf-8")
