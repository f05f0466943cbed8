"""Items of scores, and the headline that they make."""

from inspect_ai.scorer import Score

from music_evals.scorers.items import items_of


def one(value, name="a", **metadata):
    return Score(value=value, metadata={"reading": "answered", **metadata})


def test_clusters_are_what_samples_belong_to():
    metadata = {"piece": "p", "question": "q"}
    assert [
        items_of(one("C"), "s", about)[0].cluster for about in (metadata, {"piece": "p"}, {})
    ] == ["q", "p", "s"]
