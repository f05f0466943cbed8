"""Scorer of answers that are no option by letter: labels, tags, numbers, pitches, keys, times,
sequences, notes, words.

The sample's metadata name the ``answer_kind``; `music_evals.scorers.answer_kinds` reads and scores
it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from statistics import fmean
from string import ascii_uppercase
from typing import Any

import numpy as np
from inspect_ai.scorer import SampleScore, Score, Scorer, Target
from inspect_ai.solver import TaskState

from music_evals.notation.extras import missing_packages, require
from music_evals.notation.grouping import group_by
from music_evals.scorers.answer_kinds import LABEL, judge_typed, kind_of
from music_evals.scorers.answer_kinds.labels import split_tags
from music_evals.scorers.answer_kinds.segments import hit_rate, label_accuracy
from music_evals.scorers.answer_kinds.statements import answer_in_line
from music_evals.scorers.answer_kinds.words import count_errors
from music_evals.scorers.chosen_option import choice_details, option_judge, score_choice
from music_evals.scorers.explanations import make_score
from music_evals.scorers.items import cluster_of
from music_evals.scorers.judge import rate_captions
from music_evals.scorers.metrics.estimates import (
    Estimate,
    Estimates,
    flatten,
    ratio_estimate,
    resampled,
    share,
)
from music_evals.scorers.metrics.paired import compare
from music_evals.scorers.metrics.resampling import Floats
from music_evals.scorers.scores import (
    ANSWER_METRICS,
    Figures,
    SampleScores,
    details_of,
    judge_sample,
    main_metric,
    required_metadata,
    sample_metric,
    scorer,
    was_cut,
)

_KIND = "answer_kind"
_FACTS = (_KIND, "any_of", "stratum")


@sample_metric
def kind_figures(scores: SampleScores) -> Figures:
    """Figures that are no mean of scores, by the kind of answer; intervals by resampling clips.

    ``macro_f1`` of ``label`` and ``labels``: the mean of F1 over the labels that occur. ``wer`` and
    ``cer`` of ``text``: errors by the length of all references, of normalised texts; ``wer_raw``
    and ``cer_raw`` without case and punctuation only. ``exact`` of ``key``: the share of right
    keys. ``acc2`` of ``number:4%``, a tempo: the share that is right, or right but for a factor of
    2 or 3. Those of ``lyrics`` are Jam-ALT's. ``hr05f`` and ``hr3f`` of ``segments``: F-measures
    of boundaries within 0.5 and 3 s; ``common_span``: accuracy of labels where answer and reference
    are; ``eight_labels``: of those with pre-chorus apart. Of ``caption``: ``bleu``, sacrebleu's
    from 0 to 1 over all clips, if the extra ``captions`` is installed; and ``judge_j``, of pairs of
    a true and a false caption the share in which the judge prefers the true one, less the share in
    which it prefers the false one, which is Youden's J if there are two ratings.
    """
    figures: Estimates = {}

    def kind_of_score(score: SampleScore) -> str:
        name = str((score.score.metadata or {}).get(_KIND, ""))
        return name if name in _FIGURES else name.partition(":")[0]

    groups = group_by(scores, kind_of_score)
    for name, compute in _FIGURES.items():
        if name in groups:
            figures |= compute(groups[name])
    return flatten(figures)


def _label_figures(scores: SampleScores) -> Estimates:
    return {"macro_f1": macro_f1(*_sides(scores), _clips(scores))}


def _text_figures(scores: SampleScores) -> Estimates:
    is_cer = all(details[_KIND] == "text:cer" for details in details_of(scores))
    pairs = list(zip(*_sides(scores), strict=True))
    name = "cer" if is_cer else "wer"
    estimates = {}
    for key, is_raw in ((name, False), (f"{name}_raw", True)):
        counts = [count_errors(*pair, is_cer=is_cer, is_raw=is_raw) for pair in pairs]
        errors, lengths = zip(*counts, strict=True)
        estimates[key] = ratio_estimate(errors, lengths, _clips(scores))
    return estimates


def _lyrics_figures(scores: SampleScores) -> Estimates:
    """Figures over all songs by Jam-ALT's own package, which gives no intervals."""
    languages = [details[_KIND].partition(":")[2] for details in details_of(scores)]
    answers, rights = _sides(scores)
    figures = require("alt_eval", "lyrics").compute_metrics(rights, answers, languages)
    # F1 of a kind of mark is no number if no reply has one.
    return {name.lower(): Estimate(max(0.0, figures[name])) for name in _OF_LYRICS}


def _key_figures(scores: SampleScores) -> Estimates:
    exact = [float(score.score.value == 1.0) for score in scores]
    return {"exact": share(fmean(exact), len({*_clips(scores)}))}


def _caption_figures(scores: SampleScores) -> Estimates:
    figures = {}
    if not missing_packages("captions"):
        from sacrebleu import corpus_bleu

        answers, rights = _sides(scores)
        bleu = corpus_bleu(answers, [*zip_longest(*map(str.splitlines, rights))])
        figures["bleu"] = Estimate(bleu.score / 100)
    rated = [score for score in scores if (score.score.metadata or {}).get("trials")]
    if rated:
        # NaN if unread, which is neither more nor less.
        true, false = np.array([one["trials"] for one in details_of(rated)], float).T
        figures["judge_j"] = Estimate(*compare(true < false, true > false, _clips(rated))[:3])
    return figures


def _tempo_figures(scores: SampleScores) -> Estimates:
    """Accuracy 2, as `TempoEvaluation` of madmom has it with double and triple tempi."""
    score = kind_of(_TEMPO).score
    right = [
        max(score(answer, str(factor * float(reference))) for factor in _FACTORS)
        for answer, reference in zip(*_sides(scores), strict=True)
    ]
    return {"acc2": share(fmean(right), len({*_clips(scores)}))}


def _segment_figures(scores: SampleScores) -> Estimates:
    merged = str(details_of(scores)[0][_KIND]).partition(":")[2]
    measures: dict[str, Callable[[str, str], float]] = {
        "hr05f": partial(hit_rate, window=0.5),
        "hr3f": partial(hit_rate, window=3.0),
        "common_span": partial(label_accuracy, merged=merged, is_common=True),
        "eight_labels": label_accuracy,
    }
    estimates = {}
    for name, measure in measures.items():
        values = list(map(measure, *_sides(scores)))
        estimates[name] = ratio_estimate(values, [1.0] * len(values), _clips(scores))
    return estimates


_OF_LYRICS = ("WER", "WER_case", "F1_punc", "F1_pare", "F1_line", "F1_sect")
_TEMPO = "number:4%"
_FACTORS = (1, 2, 1 / 2, 3, 1 / 3)
_FIGURES = {
    LABEL: _label_figures,
    "segments": _segment_figures,
    "labels": _label_figures,
    "text": _text_figures,
    "lyrics": _lyrics_figures,
    "key": _key_figures,
    "caption": _caption_figures,
    _TEMPO: _tempo_figures,
}


def macro_f1(answers: Sequence[str], rights: Sequence[str], clips: Sequence[str]) -> Estimate:
    """Return the mean of the F1 of all labels that are right somewhere.

    Args:
        answers: the labels of each reply, with "; " between; empty without an answer.
        rights: the right ones, likewise.
        clips: what the replies are about; replies about the same clip are drawn together.

    Example:
        >>> macro_f1(["rock", "jazz"], ["rock", "rock"], ["1", "2"]).value
        0.6666666666666666
    """
    names = sorted({label for right in rights for label in split_tags(right)})
    place = {name: number for number, name in enumerate(names)}
    given, expected = (np.zeros((len(rights), len(names))) for _ in range(2))
    for table, texts in ((given, answers), (expected, rights)):
        for row, text in enumerate(texts):
            columns = [place[label] for label in split_tags(text) if label in place]
            table[row, columns] = 1

    def mean_f1(drawn: Floats) -> Floats:
        hits = drawn @ (given * expected)
        sizes = drawn @ (given + expected)
        occurs = drawn @ expected > 0
        f1 = np.divide(2 * hits, sizes, out=np.zeros_like(hits), where=sizes > 0)
        means: Floats = (f1 * occurs).sum(axis=1) / np.maximum(occurs.sum(axis=1), 1)
        return means

    return resampled(float(mean_f1(np.ones((1, len(rights))))[0]), mean_f1, clips)


def _sides(scores: SampleScores) -> tuple[list[str], list[str]]:
    """The answers, and the right ones."""
    answers = [score.score.answer or "" for score in scores]
    return answers, [str(details["right_answer"]) for details in details_of(scores)]


def _clips(scores: SampleScores) -> list[str]:
    return [cluster_of(score.sample_metadata or {}, score.sample_id) for score in scores]


@scorer(metrics=[main_metric("score"), kind_figures(), *ANSWER_METRICS, choice_details()])
def typed_answer(judge: str = "") -> Scorer:
    """Score an answer by its kind, from 0 to 1: a label is right or wrong, as are numbers and
    pitches; other kinds may be right in part.

    Args:
        judge: a model that rates answers of the kind ``caption``, see
            `music_evals.scorers.judge.rate_captions`; a caption without a rating is unscored.
            Metadata ``trials`` of a sample are a true and a false caption, which the judge rates,
            too, each behind what people wrote.
    """

    async def score(state: TaskState, target: Target) -> Score:
        right = target.text
        facts = {name: state.metadata[name] for name in _FACTS if name in state.metadata}
        if "any_of" in facts:
            facts["epoch"] = state.epoch
        if required_metadata(state, _KIND) == LABEL:
            return await _score_label(state, right, facts)
        kind = kind_of(
            facts[_KIND],
            state.metadata.get("vocabulary", ()),
            state.metadata.get("aliases", {}),
        )
        read = partial(judge_typed, right=right, kind=kind, is_cut=was_cut(state))
        verdict = await judge_sample(state, read, right)
        value = verdict.value
        if judge and verdict.reading.answer:
            captions = [(right, verdict.reading.answer), *state.metadata.get("trials", ())]
            value, *facts["trials"] = await rate_captions(judge, captions)
        return make_score(
            state,
            (),
            verdict,
            kind.write(right),
            f"{verdict.value:.2f} ({kind.name}).",
            value,
            right_answer=right,
            weight=kind.weight(verdict.reading.answer or "", right),
            **facts,
        )

    return score


async def _score_label(state: TaskState, right: str, facts: dict[str, Any]) -> Score:
    by_rules = option_judge(state, right)
    options = state.metadata["options"]
    score = await score_choice(
        state, right, options, lambda reply: by_rules(answer_in_line(reply, options)), **facts
    )
    expected = options[ascii_uppercase.index(right)]
    score.metadata = {**(score.metadata or {}), "right_answer": expected}
    if score.answer is not None:
        score.answer = options[ascii_uppercase.index(score.answer)]
    return score
