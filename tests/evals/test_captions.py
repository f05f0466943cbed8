"""Captions: published files become questions, captions get their scores, and a judge is told from
one that does not listen.
"""

import re
import zlib

import pytest
from inspect_ai.model import get_model

from music_evals.commands.calibrate_judge import calibrate_judge
from music_evals.evals import musiccaps, song_describer
from music_evals.evals.shared.captions import _WRONG, trials_of
from music_evals.reports.records import read_records
from music_evals.reports.report import section_tables
from music_evals.scorers import judge as judge_module
from music_evals.scorers.answer_kinds import judge_typed, kind_of
from music_evals.scorers.answer_kinds.words import rouge_l
from music_evals.scorers.readers.votes import read_rating
from tests.evals.test_listening_sets import archive, rows_of, sound, table, write
from tests.harness import metrics, run, samples

CAPTION = kind_of("caption")


def song(caption, track, text):
    facts = {"is_valid_subset": "True", "familiarity": 1, "artist_id": 1, "album_id": 2}
    path = {"path": f"{track % 100:02}/{track}.mp3", "duration": 99.0}
    return {"caption_id": caption, "track_id": track, "caption": text, **facts, **path}


SONGS = [
    song(1, 415, "A slow waltz\n for piano."),
    song(2, 415, "Sad piano, three beats."),
    song(3, 600, "Loud drums."),
]


def song_files():
    clips = {
        f"audio/{track % 100:02}/{track}.2min.mp3": sound(track, kind="MP3") for track in (415, 600)
    }
    return {"song_describer.csv": table(SONGS), "audio.zip": archive(clips)}


def test_captions_of_a_song_are_one_question(tmp_path):
    source = write(tmp_path, song_files())
    first, second = rows_of(source, song_describer.BENCHMARK, "captions")
    assert first["answer"] == "A slow waltz for piano.\nSad piano, three beats."
    assert (first["id"], second["id"], second["answer"]) == ("415", "600", "Loud drums.")
    assert first["audio"][0]["bytes"] == sound(415, kind="MP3")
    assert (first["answer_kind"], first["options"]) == ("caption", [])


def test_musiccaps_asks_the_clips_of_the_evaluation_set(tmp_path):
    facts = {
        "start_s": 30,
        "end_s": 40,
        "audioset_positive_labels": "/m/04rlf",
        "aspect_list": "['sad']",
    }
    more = {"author_id": 4, "is_balanced_subset": False}
    records = [
        {"ytid": "-a_B", **facts, "caption": "Sad\nstrings.", **more, "is_audioset_eval": True},
        {"ytid": "cD-e", **facts, "caption": "Fast drums.", **more, "is_audioset_eval": True},
        {"ytid": "train", **facts, "caption": "A choir.", **more, "is_audioset_eval": False},
    ]
    clips = {"clips/-a_B.wav": sound(1), "clips/[cD-e]-[30-40].wav": sound(2)}
    source = write(tmp_path, {"musiccaps-public.csv": table(records), **clips})
    rows = rows_of(source, musiccaps.BENCHMARK, "captions")
    assert [(row["id"], row["answer"]) for row in rows] == [
        ("-a_B", "Sad strings."),
        ("cD-e", "Fast drums."),
    ]
    assert [row["audio"][0]["bytes"] for row in rows] == [sound(1), sound(2)]


@pytest.mark.parametrize(
    ("reply", "captions", "score"),
    [  # twice the common words in order, by all words
        ("a slow piano tune", "fast drums\na slow, sad piano tune", 8 / 9),
        ("Tune, piano: SLOW", "a slow piano tune", 2 / 7),
        ("**Final Answer:** a harp", "a harp", 1),
        ('{"caption": "A harp."}', "a harp", 1),
        ("Bittersweet pop song. I cannot hear vocals.", "bittersweet pop song", 6 / 10),
        ("I'm sorry, but I can't listen to audio.", "I can listen to audio", 0),
        ("I cannot name the song. It is a waltz.", "It is a waltz.", 8 / 13),
        ("", "a harp", 0),
        ("…", "a harp", 0),
    ],
)
def test_rouge_l_of_a_reply(reply, captions, score):
    assert judge_typed(reply, captions, CAPTION).value == pytest.approx(score)


def test_rouge_l_is_that_of_the_package():
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer(["rougeL"])
    texts = [
        *_WRONG,
        "A slow, sad piano tune",
        "Café № 3 — don't stop",
        "SLOW slow piano",
        "808 drums & bass",
    ]
    for answer, caption in zip(texts, texts[7:] + texts[:7], strict=True):
        expected = scorer.score_multi([caption, "a slow tune"], answer)["rougeL"].fmeasure
        assert rouge_l(answer, f"{caption}\na slow tune") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("reply", "rating"),
    [
        ("The mood is wrong, the rest is right.\nRating: 3", 3),
        ("**Rating:** 4/5", 4),
        ("Rating: 2 out of 5.", 2),
        ("Explanation: it fits. Rating: 5", 5),
        ("Rating: 0", 0),
        ("5", 5),
        ("<think>Rating: 1</think>Rating: 4", 4),
        ("Rating: 2\nOn second thoughts:\nRating: 3", 3),
        ("Rating: 4.5", None),
        ("Rating: 4-5", None),
        ("Rating: 4 or 5", None),
        ("Rating: 9", None),
        ("Rating: 15", None),
        ("Rating: -1", None),
        ("Rating: N", None),
        ("Rating: 4/10", None),
        ("A scale from 0 to 5", None),
        ("I cannot rate this.", None),
        ("", None),
    ],
)
def test_ratings_are_read_or_left_unread(reply, rating):
    assert read_rating(reply) == rating


def test_a_false_caption_differs_in_one_fact():
    people = "Slow piano, slow and sad, by a male singer.\nHarp."
    (shown, true), (also, false) = trials_of(people)
    assert (shown, also, true) == (people.lower(), people.lower(), people.lower().splitlines()[0])
    words = [pair for pair in zip(true.split(), false.split(), strict=True) if pair[0] != pair[1]]
    (word,) = {re.sub(r"\W", "", before) for before, _ in words}
    assert {re.sub(r"\W", "", after) for _, after in words} == {_WRONG[word].replace(" ", "")}
    assert trials_of("Male and female choir, long") == []  # either word is right
    # What other people say of the same is what the judge sees.
    assert trials_of("A sad tune.\nSad.\nLoud.")[0] == ("\nsad.\nloud.", "a sad tune.")


def test_articles_fit_false_captions_too():
    for word, wrong in _WRONG.items():
        assert (word[0] in "aeiou") == (wrong[0] in "aeiou"), word


# --- judges ---


def tags(messages):
    """The captions of people and the one to rate that a judge sees."""
    text = messages[-1].text
    return tuple(
        text.partition(f"<{tag}>\n")[2].partition(f"\n</{tag}>")[0].lower()
        for tag in ("reference", "description")
    )


def good(messages, _):
    """A judge who notices a false word."""
    people, caption = tags(messages)
    is_false = any(wrong in caption and wrong not in people for wrong in _WRONG.values())
    return f"It says what it says.\nRating: {2 if is_false else 5}"


def lenient(*_):
    return "Lovely.\nRating: 5"


def blind(messages, _):
    return f"Rating: {zlib.crc32(tags(messages)[1].encode()) % 6}"


def silent(*_):
    return "I like both."


def judged(folder, reply, answer="A piano plays a fast scale.", limit=60):
    roles = {"judge": get_model("scripted/judge", reply=reply, memoize=False)}
    model = get_model("scripted/model", reply=lambda *_: answer, memoize=False)
    task = song_describer.captions(judge="judge", trials=60)
    (log,) = run(task, folder, model, model_roles=roles, limit=limit)
    return log


@pytest.mark.parametrize(
    ("reply", "low", "high", "is_told"),
    [(good, 100, 100, True), (lenient, 0, 0, False), (blind, -45, 45, False)],
)
def test_the_report_says_whether_a_judge_tells_true_captions_from_false(
    reply, low, high, is_told, tmp_path
):
    log = judged(tmp_path, reply)
    records = read_records(log.location)
    found = records.percent(0, "typed_answer/judge_j")
    assert low <= found.value <= high
    assert (found.low > 0) == is_told
    shown = section_tables(records, "song_describer")[0]
    assert shown.columns[-2:] == ("Captions", "Judge's J")
    assert shown.rows[0][-1] == found
    assert any("does not tell them apart" in note for note in shown.notes)
    assert records.floors(0) == {}


def test_a_caption_without_a_rating_is_in_no_mean(tmp_path):
    def half(messages, _):
        return silent() if "piano" in tags(messages)[0] else "Rating: 4"

    log = judged(tmp_path, half)
    by_value = [sample.scores["typed_answer"].value for sample in samples(log)]
    rated = [value for value in by_value if value == value]
    assert set(rated) == {0.8}
    assert 0 < len(rated) < 60
    figures = metrics(log)["typed_answer"]
    assert (figures["score"], figures["questions"]) == (0.8, len(rated))
    assert log.results.scores[0].unscored_samples == 60 - len(rated)


def test_a_missing_caption_is_wrong_and_no_judge_is_asked(tmp_path):
    log = judged(tmp_path, lambda *_: pytest.fail("was asked"), "I cannot hear any audio.", limit=3)
    figures = metrics(log)["typed_answer"]
    assert (figures["score"], figures["questions"], figures["refused"]) == (0, 3, 1)


def test_a_judge_that_fails_loses_its_rating_alone(tmp_path):
    log = judged(tmp_path, lambda *_: 1 / 0, limit=3)
    assert log.results.scores[0].unscored_samples == 3


def test_baselines_earn_the_floors(tmp_path):
    logs = [
        run(song_describer.captions(), tmp_path, f"baseline/{name}")[0]
        for name in ("chance", "majority")
    ]
    floors = logs[0].eval.metadata["floors"][""]
    for log, name in zip(logs, ("chance", "majority"), strict=True):
        assert metrics(log)["typed_answer"]["score"] == pytest.approx(
            floors[name]["value"], abs=0.1
        )


def test_bleu_is_that_of_the_package(tmp_path):
    sacrebleu = pytest.importorskip("sacrebleu")
    (log,) = run(song_describer.captions(), tmp_path, "baseline/majority")
    pairs = [
        (sample.scores["typed_answer"].answer, sample.target.splitlines())
        for sample in samples(log)
    ]
    answers, captions = zip(*pairs, strict=True)
    expected = sacrebleu.corpus_bleu(list(answers), [*map(list, zip(*captions, strict=True))]).score
    assert metrics(log)["typed_answer"]["bleu"] == pytest.approx(expected / 100)


def test_the_command_tries_a_judge_on_captions(tmp_path, monkeypatch, capsys):
    scripted = get_model("scripted/judge", reply=good, memoize=False)
    monkeypatch.setattr(judge_module, "get_model", lambda **_: scripted)
    calibrate_judge(judge="any/judge", captions="generated", count=12, log_dir=str(tmp_path))
    assert "Youden's J: 100 (" in capsys.readouterr().out
