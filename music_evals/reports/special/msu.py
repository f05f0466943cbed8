"""MSU-Bench's verdicts: who judged, and the questions and scores that have none."""

from inspect_ai.log import EvalLog, EvalMetric

RULES = "rules"


def header(log: EvalLog) -> EvalLog:
    """Return a header that tells who judged, counts questions without a score, and says on which scores rates rest."""
    log = log.model_copy(deep=True)
    asked = log.eval.task_args
    judges = asked.get("judges") or RULES
    named = judges.split(",") if isinstance(judges, str) else judges
    log.eval.metadata = {
        **(log.eval.metadata or {}),
        "judges": sorted(name.strip() for name in named),
        "judged_by_rules": judges in (RULES, [RULES]),
    }
    for score in log.results.scores if log.results else []:
        found = {(metric.group, metric.name): metric for metric in score.metrics.values()}
        # A question that was asked alone and not scored is missing from the figures, which are of the others.
        alone = (score.unscored_samples or 0) if asked.get("asking") == "single" else 0
        for name in ("questions", "unscored"):
            if metric := found.get(("judged_accuracy", name)):
                metric.value += alone
        for (group, name), metric in found.items():
            level, _, what = name.partition("/")
            if group == "judged_success" and what == "unjudged_scores" and metric.value:
                judged = round(found[group, f"{level}/judged_scores"].value)
                note = (
                    f"{level}/success note: of the {judged} of {judged + round(metric.value)} scores that can be judged"
                )
                score.metrics[note] = EvalMetric(name=note, group=group, value=float("nan"))
    return log
