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


def test_questions_of_a_chat_share_its_cluster():
    score = Score(
        value=1.0, metadata={"questions": [{"id": "1", "verdict": 1, "cluster": "chat 2"}]}
    )
    assert [item.cluster for item in items_of(score, "chat", {"chat": []})] == ["chat 2"]
