"""What a report shows first: a figure, one table of models and benchmarks, and a sentence per
benchmark.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from music_evals.benchmarks import load
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
    with_music,
)
from music_evals.reports.table import FLOOR, MEASURED, Cell, Rows, Table, notes, text
from music_evals.scorers.metrics.estimates import Estimate

MOST_SECTIONS: Final = 6
"""Sections that the table has columns for, beside the model and the suite."""


class Overview(NamedTuple):
    """The beginning of a report.

    Args:
        table: a row per model, a column per section.
        figure: the same as SVG, with floors and published models.
        sentences: title of each section → what its runs show, in a sentence.
    """

    table: Table
    figure: str
    sentences: Mapping[str, str]


def make_overview(records: Records) -> Overview:
    """Make the overview of all current runs."""
    means, _ = aggregates(records)
    by_section: dict[str, list[Aggregate]] = {}
    for mean in means:
        by_section.setdefault(mean.section, []).append(mean)
    suite = {mean.model: mean.normalised for mean in by_section.pop(SUITE, [])}
    sections = [
        section for section in dict.fromkeys(records.runs["section"]) if section in by_section
    ]
    table = _table({section: by_section[section] for section in sections[:MOST_SECTIONS]}, suite)
    floors = {
        section: max(mean.floor.value for mean in own if mean.floor)
        for section, own in by_section.items()
        if any(mean.floor for mean in own)
    }
    printed = {section: _published_scores(records, by_section[section][0]) for section in sections}
    sentences = {section: _sentence(records, by_section[section]) for section in sections}
    return Overview(table, table_figure(table, floors, printed), sentences)


def _table(
    by_section: Mapping[str, Sequence[Aggregate]], suite: Mapping[str, Estimate | None]
) -> Table:
    scores: dict[tuple[str, str], Cell] = {}
    for section, own in by_section.items():
        for mean in own:
            dagger = "" if mean.is_published_test else "†"
            score = mean.shown_score
            scores[mean.model, section] = (
                replace(score, mark=dagger + score.mark) if score else None
            )
    gains: dict[str, list[float]] = {}
    for own in by_section.values():
        for mean in own:
            gains.setdefault(mean.model, []).append(
                mean.normalised.value if mean.normalised else 0.0
            )
    models = sorted(
        gains,
        key=lambda model: (model.startswith(BASELINE), -sum(gains[model]) / len(gains[model])),
    )
    rows: Rows = [
        [model, *(scores.get((model, section)) for section in by_section), suite.get(model)]
        for model in models
    ]
    kinds = [FLOOR if model.startswith(BASELINE) else MEASURED for model in models]
    columns = ("Model", *by_section, f"{SUITE}, normalised")
    lines = [*(["Suite: 0 is the floor, 100 all right."] if suite else []), *notes("site")[-2:]]
    return Table("overview", "Scores by benchmark, in percent", columns, rows, lines, kinds)


def _published_scores(records: Records, mean: Aggregate) -> list[float]:
    """The scores of a benchmark's published models, in percent."""
    benchmark = mean.runs["benchmark"].iloc[0]
    facts = load(benchmark).table.get("published_score", {})
    if not facts:
        return []
    scores = records.scores
    scores = scores[(scores["source"] == "published") & scores["metric"].isin(facts["figures"])]
    scores = scores[
        (scores["benchmark"] == benchmark) & (scores["group"] == facts.get("group", ""))
    ]
    models = scores["model"].where(scores["model"] != "", scores["metric"])
    return [
        float(value) * facts.get("scale", 1) for value in scores.groupby(models)["value"].mean()
    ]


def _sentence(records: Records, means: Sequence[Aggregate]) -> str:
    """What the runs of a section show."""
    scored = [mean for mean in means if mean.score]
    if not scored:
        return "No model has a score on all tasks that it ran."
    models = [mean for mean in scored if not mean.model.startswith(BASELINE)] or scored
    best = max(models, key=lambda mean: mean.score.value if mean.score else 0.0)
    score = best.shown_score or Estimate(0.0)
    name, shown = short(best.model), text(replace(score, mark=""))
    if not best.is_quality:
        return (
            f"This is a compile rate, not quality; random notes earn 100. {name} has the highest, "
            f"{shown}."
        )
    if listening := _listening(records, models):
        return listening
    if best.floor is None or best.gain is None:
        return f"{name} has the highest score, {shown}. There is no floor to compare it with."
    floor = f"the floor of {best.floor.value:.0f}"
    if best.gain.low is None:
        return f"{name} has the highest score, {shown}; {floor}."
    relation = (
        "above"
        if best.gain.low > 0
        else "below"
        if (best.gain.high or 0) < 0
        else "not told apart from"
    )
    return f"{name} has the highest score, {shown}, {relation} {floor}."


def _listening(records: Records, models: Sequence[Aggregate]) -> str:
    """What the best reader of MIDI gets from sound; nothing if no model was given both."""
    section, names = models[0].section, [mean.model for mean in models]
    runs = with_music(records.current(section, model=names, modality=["audio", "midi"]))
    pairs = []
    for model, group in runs.groupby("model"):
        ways = {
            way: aggregate(records, str(model), section, chosen(own))
            for way, own in group.groupby("modality")
        }
        midi, audio = ways.get("midi"), ways.get("audio")
        if not (midi and audio and midi.shown_score and audio.shown_score):
            continue
        if {*midi.runs["task"]} == {*audio.runs["task"]}:
            pairs.append((midi.shown_score, audio.shown_score, midi, audio))
    if not pairs:
        return ""
    from_midi, from_sound, midi, audio = max(pairs, key=lambda pair: pair[0].value)
    reads, hears = (
        bool(mean.gain and mean.gain.low and mean.gain.low > 0) for mean in (midi, audio)
    )
    verb = {
        (True, True): "reads MIDI and hears",
        (True, False): "reads MIDI but does not hear",
        (False, True): "hears but does not read MIDI",
        (False, False): "neither reads MIDI nor hears",
    }[reads, hears]
    if reads and not hears and (from_sound.high or 100) >= (from_midi.low or 0):
        verb = "reads MIDI and may hear"  # what it gets from sound is told apart from neither
    floor = f", floor {midi.floor.value:.0f}" if midi.floor else ""
    return (
        f"{short(midi.model)} {verb}: {text(from_midi)} from MIDI, {text(from_sound)} from "
        f"sound{floor}."
    )


def short(model: str) -> str:
    """Return the name of a model without provider and organisation; baselines and people keep their
    whole name.
    """
    name, bracket, arguments = model.partition(" [")
    return (
        model
        if model.startswith((BASELINE, PERSON))
        else name.rpartition("/")[2] + bracket + arguments
    )
