"""Wrong parameters of tasks are named, with what is valid, before any work."""

import pytest

from music_evals.benchmarks import load
from music_evals.evals import lilybench, lilybench_generation, msu, muse, musictheorybench, ziqi
from music_evals.evals.shared.parameters import ParameterError

CASES = {
    muse.syncopation: [
        ({"modality": "sheet"}, "modality='sheet' is not valid; valid values are: midi, audio"),
        ({"shots": 2}, "valid values are: zero, few"),
        ({"seed": "x"}, "seed='x' is not valid; a value of type int is needed"),
        ({"refinement_tokens": 99}, "belongs to strategy=logiclm"),
        (
            {"strategy": "logiclm", "refinement_tokens": 0},
            "refinement_tokens=0 is not valid; a number above 0",
        ),
        ({"strategy": "logiclm", "refinement_tokens": "512"}, "a value of type int is needed"),
        ({"prompts": "nowhere.toml"}, "cannot be read as a TOML file"),
        ({"dataset": "nowhere"}, "does not exist"),
    ],
    msu.textual: [
        ({"levels": "5"}, "levels='5' is not valid; valid values are 1, 2, 3 and 4"),
        ({"judges": "a,b"}, "odd"),
        ({"max_score_tokens": 0}, "max_score_tokens=0 is not valid; a number above 0 is needed"),
        ({"judge_max_tokens": 0}, "judge_max_tokens=0 is not valid; a number above 0 is needed"),
        ({"human_labels": "no/such/file.csv"}, "no/such/file.csv"),
    ],
    ziqi.comprehension: [
        ({"rotations": 2}, "rotations=2 is not valid; valid values are: 1, 4"),
        ({"rotations": True}, "rotations=True is not valid"),
        (
            {"themes": "polka"},
            "themes='polka' is not valid; themes of this dataset are: computed music theory",
        ),
        ({"themes": []}, "is not valid; themes of this dataset are"),
    ],
    lilybench.bar_count: [
        ({"max_score_tokens": 0}, "max_score_tokens=0 is not valid"),
        ({"max_score_tokens": "many"}, "max_score_tokens='many' is not valid"),
    ],
    lilybench_generation.generation: [
        ({"attempts": 0}, "attempts=0 is not valid; a number from 1 to 10 is needed"),
        ({"n_prompts": 0}, "n_prompts=0 is not valid; a number above 0 is needed"),
    ],
}


@pytest.mark.parametrize(
    ("make", "parameters", "said"),
    [(make, *case) for make, cases in CASES.items() for case in cases],
)
def test_wrong_parameters_are_named(make, parameters, said):
    with pytest.raises(ParameterError) as caught:
        make(**parameters)
    assert said in str(caught.value.message).replace("\\[", "[")


@pytest.mark.parametrize("module", [muse, musictheorybench, ziqi])
def test_as_many_samples_are_asked_by_default_as_declared(module):
    tasks = load(module.__name__.rpartition(".")[2]).tasks
    assert {name: len(getattr(module, name)().dataset) for name in tasks} == {
        name: facts.samples for name, facts in tasks.items()
    }
