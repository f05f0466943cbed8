"""What a report shows first: a figure, one table of models and benchmarks, and a sentence per
benchmark.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import pandas as pd

from music_evals.benchmarks import load
from music_evals.notation.grouping import group_by
from music_evals.reports.comparisons import BASELINE
from music_evals.reports.plots import table_figure
from music_evals.reports.records import Records
from music_evals.reports.summary import (
    PERSON,
    SUITE,
    Aggregate,
    aggregate,
    aggregates,
    chosen,
    part_notes,
    whole_models,
    with_music,
)
from music_evals.reports.table import FLOOR, MEASURED, Table, notes, number, text
from music_evals.scorers.metrics.estimates import Estimate

_NORMALISED = f"{SUITE}, normalised"


class Overview(NamedTuple):
    """The beginning of a report.

    Args:
        table: a row per model, a column for the suite and per section.
        figure: the same as SVG, with floors and published models.
        sentences: title of each section → what its runs show, in a sentence.
    """

    table: Table
    figure: str
    sentences: Mapping[str, str]


def make_overview(records: Records) -> Overview:
    """Make the overview of all current runs."""
    means = aggregates(records)[0]
    of_sections = [mean for mean in means if mean.section != SUITE]
    by_section = group_by(of_sections, lambda mean: mean.section)
    sections = [name for name in dict.fromkeys(records.runs["section"]) if name in by_section]
    table = ranking_table(means, sections).without("Rank")
    floors, printed, sentences = {_NORMALISED: 0.0}, {}, {}
    for section in sections:
        own = by_section[section]
        if known := [mean.floor.value for mean in own if mean.floor]:
            floors[section] = max(known)
        printed[section] = _published_scores(records, own[0].runs["benchmark"].iloc[0])
        sentences[section] = _sentence(records, own)
    return Overview(table, table_figure(table, floors, printed), sentences)


def ranking_table(means: Sequence[Aggregate], sections: Sequence[str]) -> Table:
    """Make the table of models in the order of the aggregates: rank, suite, and a score per
    section.

    Baselines, people, and models without a suite score have no rank; without any suite, models that
    were not asked what others were.
    """
    whole = whole_models([mean for mean in means if mean.section != SUITE])
    scores = {}
    suites = {}
    for mean in means:
        if mean.section == SUITE:
            suites[mean.model] = mean.normalised
        elif score := mean.shown_score:
            dagger = "" if mean.is_published_test else "†"
            scores[mean.model, mean.section] = replace(score, mark=dagger + score.mark)
    rows = []
    kinds = []
    ranks = count(1)
    for model in dict.fromkeys(mean.model for mean in means):
        is_model = not model.startswith((BASELINE, PERSON))
        rank = str(next(ranks)) if is_model and model in (suites or whole) else None
        own = [scores.get((model, section)) for section in sections]
        rows.append([rank, model, suites.get(model), *own])
        kinds.append(FLOOR if model.startswith(BASELINE) else MEASURED)
    lines = [*notes("suite")] if suites else []
    lines += [*part_notes(means), *notes("site")[-2:]]
    columns = ("Rank", "Model", _NORMALISED, *sections)
    return Table("overview", "Scores by benchmark, in percent", columns, rows, lines, kinds)


def _published_scores(records: Records, benchmark: str) -> list[float]:
    """The scores of a benchmark's published models, in percent."""
    facts = load(benchmark).table.get("published_score", {})
    if not facts:
        return []
    scores = records.scores[records.scores["source"] == "published"]
    scores = scores[scores["metric"].isin(facts["figures"])]
    scores = scores[
        (scores["benchmark"] == benchmark) & (scores["group"] == facts.get("group", ""))
    ]
    models = scores["model"].where(scores["model"] != "", scores["metric"])
    means = scores["value"].groupby(models).mean() * facts.get("scale", 1)
    return [float(value) for value in means]


def _sentence(records: Records, means: Sequence[Aggregate]) -> str:
    """What the runs of a section show."""
    scored = [mean for mean in means if mean.score]
    if not scored:
        return "No model has a score on all tasks that it ran."
    models = [mean for mean in scored if not mean.model.startswith(BASELINE)] or scored
    whole = whole_models(models)
    compared = [mean for mean in models if mean.model in whole]
    compared = compared or [max(models, key=lambda mean: len(mean.runs))]
    best = max(compared, key=lambda mean: mean.score.value if mean.score else 0.0)
    shown = text(replace(best.shown_score or Estimate(0.0), mark=""))
    beginning = f"{short(best.model)} has {'the highest score, ' * (len(compared) > 1)}{shown}"
    if not best.is_quality:
        return f"This is a compile rate, not quality; random notes earn 100. {beginning}."
    if listening := _listening(records, models):
        return listening
    parts = [mean for mean in models if mean not in compared]
    end = "".join(_of_part(records, mean, best) for mean in parts)
    if best.floor is None or best.gain is None:
        return f"{beginning}. There is no floor to compare it with.{end}"
    floor = f"the floor of {number(best.floor)} ({best.floor.name})"
    if best.gain.low is None:
        return f"{beginning}; {floor}.{end}"
    return f"{beginning}, {_relation(best.gain)} {floor}.{end}"


def _of_part(records: Records, part: Aggregate, best: Aggregate) -> str:
    """How a model that ran a part lies to the best one, over the tasks that both ran on the same
    data; nothing if it has no higher score there.
    """
    shared = {*part.runs["task"]} & {*best.runs["task"]}
    if not shared or part.data != best.data:
        return ""
    own, others = (
        aggregate(records, mean.model, mean.section, mean.runs[mean.runs["task"].isin(shared)])
        for mean in (part, best)
    )
    if _score(own).value <= _score(others).value:
        return ""
    return (
        f" Over {', '.join(sorted(shared))} alone, {short(part.model)} has {text(_score(own))}, "
        f"{short(best.model)} {text(_score(others))}."
    )


def _relation(gain: Estimate) -> str:
    """How a score lies to its floor, given the interval of their difference."""
    if (gain.low or 0) > 0:
        return "above"
    return "below" if (gain.high or 0) < 0 else "not told apart from"


_VERBS = {
    (True, True): "reads MIDI and hears",
    (True, False): "reads MIDI but does not hear",
    (False, True): "hears but does not read MIDI",
    (False, False): "neither reads MIDI nor hears",
}
"""Whether a model is above its floor from MIDI, and from sound."""


def _listening(records: Records, models: Sequence[Aggregate]) -> str:
    """What the best reader of MIDI gets from sound; nothing if no model was given both."""
    benchmark, names = models[0].runs["benchmark"].iloc[0], [mean.model for mean in models]
    runs = with_music(records.current(benchmark, model=names, modality=["audio", "midi"]))
    pairs = []
    for _, group in runs.groupby("model"):
        midi, audio = (_by_modality(records, group, way) for way in ("midi", "audio"))
        if midi and audio and {*midi.runs["task"]} == {*audio.runs["task"]}:
            pairs.append((midi, audio))
    if not pairs:
        return ""
    midi, audio = max(pairs, key=lambda pair: _score(pair[0]).value)
    reads, hears = _is_above_floor(midi), _is_above_floor(audio)
    verb = _VERBS[reads, hears]
    if reads and not hears and (_score(audio).high or 100) >= (_score(midi).low or 0):
        verb = "reads MIDI and may hear"  # what it gets from sound is told apart from neither
    floor = f", floor {number(midi.floor)}" if midi.floor else ""
    return (
        f"{short(midi.model)} {verb}: {text(_score(midi))} from MIDI, {text(_score(audio))} from "
        f"sound{floor}."
    )


def _by_modality(records: Records, runs: pd.DataFrame, modality: str) -> Aggregate | None:
    """What a model earns from sound or MIDI; None without a score."""
    own = runs[runs["modality"] == modality]
    if not len(own):
        return None
    mean = aggregate(records, own["model"].iloc[0], own["section"].iloc[0], chosen(own))
    return mean if mean.score else None


def _score(mean: Aggregate) -> Estimate:
    return mean.shown_score or Estimate(0.0)


def _is_above_floor(mean: Aggregate) -> bool:
    return mean.gain is not None and (mean.gain.low or 0) > 0


def short(model: str) -> str:
    """Return the name of a model without provider and organisation; baselines and people keep their
    whole name.
    """
    if model.startswith((BASELINE, PERSON)):
        return model
    name, bracket, arguments = model.partition(" [")
    return name.rpartition("/")[2] + bracket + arguments
