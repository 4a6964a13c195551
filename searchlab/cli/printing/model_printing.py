"""Printed descriptions of models: training, cross-validation and weights.

Everything comes from the model's file; neither an index nor the training data is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from searchlab.cli.printing.terminal_text import print_columns, print_entries, print_line
from searchlab.cli.printing.trial_charts import can_draw, draw_intervals, draw_trial
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.rankers.bundle import Bundle
    from searchlab.rankers.models.base_model import ScorePart

# More weights are printed only on request.
MAX_WEIGHTS = 20
# More hyperplanes do not fit side by side.
MAX_PLANES_IN_TABLE = 4

IMPUTATIONS = {
    "query-minimum": "undefined values become the smallest of the query",
    "letor": "undefined values become the smallest of the query, or 0, as in LETOR",
    "zero": "undefined values become 0",
    "none": "undefined values stay undefined",
    "indicator": "undefined values become the smallest of the query, and are marked",
}
NORMALISATIONS = {
    "query-minmax": "scaled from 0, the smallest value of the query, to 1, its largest",
    "query-zscore": "scaled to deviations from the mean of the query",
    "query-rank": "scaled to ranks within the query, from 0, the smallest value, to 1, the largest",
    "standard": "scaled to deviations from the mean in training",
    "none": "not scaled",
}
POWERS = {False: "", True: "the square and the root of each value are added"}


def print_training(bundle: Bundle) -> None:
    """Print what a model is, what it was trained on, and how its settings were chosen."""
    print_entries(
        [
            ("model", _title(bundle)),
            ("recipe", bundle.recipe_text),
            ("trained on", _data(bundle)),
            ("sampled", _sampled(bundle)),
            *_chosen(bundle),
            ("certified", _certified(bundle)),
            *_warnings(bundle),
        ]
    )


def print_model(bundle: Bundle, *, everything: bool = False) -> None:
    """Print everything known of a model, its weights last."""
    from searchlab.rankers.bundle import describe_analysis

    settings = ", ".join(f"{name}={_show(value)}" for name, value in bundle.settings.items())
    stage, analyser, training = bundle.first_stage, bundle.analyser, bundle.training
    print_entries(
        [
            ("model", _title(bundle)),
            ("recipe", bundle.recipe_text),
            ("settings", settings),
            ("made by", f"searchlab {bundle.version}, seed {training.get('seed', 'unknown')}"),
            ("trained on", _data(bundle)),
            ("sampled", _sampled(bundle)),
            ("", " ".join(filter(None, [_source(bundle), f"(fingerprint {training.get('fingerprint', 'unknown')})"]))),
            ("limits", str(training.get("limits", ""))),
            ("candidates", "those of the file" if stage is None else stage.label),
            ("texts", "" if analyser is None else describe_analysis(analyser)),
            ("extensions", ", ".join(f"{name} ({origin.place})" for name, origin in bundle.origins.items())),
            *_preprocessing(bundle),
            *_chosen(bundle),
            *_solved(bundle),
            ("certified", _certified(bundle)),
            *_warnings(bundle),
        ]
    )
    print()
    print_trial(bundle)
    if bundle.training.get("former"):
        print()
        print_retraining(bundle.training["former"])
    print()
    _print_influences(bundle, None if everything else MAX_WEIGHTS)


def print_trial(bundle: Bundle) -> None:
    """Print the cross-validation: a table, and the verdict."""
    trial = bundle.trial
    if not trial:
        print("not cross-validated: how well it ranks unseen queries is not known")
        return
    measures = list(next(iter(trial["means"].values())))
    rows = [["", *measures]]
    rows += [[name, *(_decimal(means[measure]) for measure in measures)] for name, means in trial["means"].items()]
    queries, n_repeats = _count_queries(trial["n_queries"], bundle), trial.get("n_repeats", 1)
    repeated = f", the mean of {n_repeats} repeats with other folds" if n_repeats > 1 else ""
    folds = "collections" if "collections" in bundle.training else "folds"
    print_line(
        f"cross-validation: {queries} in {trial['n_folds']} {folds}, each ranked by what was learnt from the others"
        f"{repeated}"
    )
    print_columns(rows, indent=2)
    pictures = draw_trial(trial, bundle.training.get("topics", {})) if can_draw() else []
    if pictures:
        print()
        print("\n".join(pictures))
    if trial.get("learning_curve"):
        print()
        _print_curve(trial["learning_curve"])
    print()
    print_line(str(trial["verdict"]))
    more_judgments = str(trial.get("advice", {}).get("more_judgments", ""))
    if more_judgments:
        print_line(more_judgments)
    if bundle.training.get("n_builtin_topics"):
        known = format_count(bundle.training["n_builtin_topics"], "topic")
        print_line(
            f"The built-in model was trained on {known} of these: it is left out, because it would look too good."
        )


def print_retraining(found: Mapping[str, Any], part: str = "sentence") -> None:
    """Print how a model compared with the former one in its place, with both verdicts.

    `part` is `sentence`, or `finding`, which leaves open which of the two is used.
    """
    print_line(f"{str(found[part]).removesuffix('.')}.")
    if found["means"]:
        print_columns(
            [["", found["measure"]], *([name, _decimal(mean)] for name, mean in found["means"].items())], indent=2
        )
        if can_draw():
            print("\n".join(draw_intervals(found["means"], found["intervals"])))
    if found.get("verdict"):
        print_line(f"the verdict on the former model, in its time: {found['verdict']}")


def _print_curve(curve: Any) -> None:
    """Print a learning curve: a column for each number of training topics."""
    points = curve["points"]
    counts = ["without" if not point["n_topics"] else f"{point['n_topics']:,}" for point in points]
    means = [_decimal(point["mean"]) for point in points]
    print_columns([["training topics", *counts], [curve["measure"], *means]], indent=2)


def _count_queries(n: int, bundle: Bundle) -> str:
    """A number of queries: a model from an index was trained on topics, one from a file on queries."""
    return format_count(n, "topic") if bundle.first_stage is not None else format_count(n, "query", "queries")


def _title(bundle: Bundle) -> str:
    from searchlab.rankers.ranker_registry import RANKERS

    kind = RANKERS.get(bundle.ranker)
    if kind is None:
        return bundle.ranker
    is_named = kind.description.lower().startswith(bundle.ranker)
    return kind.description if is_named else f"{bundle.ranker}: {kind.description}"


def _data(bundle: Bundle) -> str:
    training = bundle.training
    grades = sorted(training.get("grades", {}).items(), key=lambda item: -float(item[0]))
    by_grade = ", ".join(f"{n:,} of grade {grade}" for grade, n in grades)
    pairs = [part["n_pairs"] for part in training.get("details", []) if "n_pairs" in part]
    parts = [
        _count_queries(training["n_queries"], bundle),
        f"{format_count(training['n_rows'], 'document')}{f' ({by_grade})' if by_grade else ''}",
        *([format_count(round(pairs[0]), "pair")] if pairs else []),
        format_count(len(bundle.features), "feature"),
    ]
    skipped = training.get("n_skipped_topics", 0)
    left_out = f"; {format_count(skipped, 'topic')} without a relevant document left out" if skipped else ""
    return ", ".join(parts) + left_out


def _sampled(bundle: Bundle) -> str:
    """A warning if the ranker has learnt from a part of the documents."""
    samples = [part for part in bundle.training.get("details", []) if "n_rows_given" in part]
    if not samples:
        return ""
    return f"only {samples[0]['n_rows']:,} of {samples[0]['n_rows_given']:,} documents, as max_rows says"


def _source(bundle: Bundle) -> str:
    source, index = str(bundle.training.get("source", "")), bundle.training.get("index")
    if index is None:
        return source
    return f"index {index['name']} of {format_count(index['n_docs'], 'document')}{f', {source}' if source else ''}"


def _preprocessing(bundle: Bundle) -> list[tuple[str, str]]:
    preprocessor = bundle.preprocessor
    imputation, normalisation = preprocessor.imputation.name, preprocessor.normalisation.name
    steps = [IMPUTATIONS.get(imputation, imputation), NORMALISATIONS.get(normalisation, normalisation)]
    steps.append(POWERS[preprocessor.powers])
    return list(zip(["features", "", ""], steps, strict=True))


def _chosen(bundle: Bundle) -> list[tuple[str, str]]:
    choice = bundle.choice
    setting, tried, values = choice.get("setting"), choice.get("tried", []), choice.get("chosen", [])
    if setting is None or len(tried) < 2:
        return _chosen_by_loss(bundle)
    single = bundle.ranker == "single"
    shown = [bundle.features[value] if single else _show(value) for value in sorted(values)]
    several = f"the {len(shown)} best of {len(tried)} values, averaged"
    which = several if len(shown) > 1 else f"the best of {len(tried)} values"
    means = [each["mean"] for each in tried]
    best_and_worst = f"{choice['measure']} {_decimal(max(means))} at best, {_decimal(min(means))} at worst"
    article = "the " if choice["by"] == "validation set" else ""
    by = f"by {article}{choice['by']}: {best_and_worst} (rules of {choice['dialect']})"
    return [("chosen", f"{setting} = {', '.join(shown)}: {which}"), ("", by)]


def _chosen_by_loss(bundle: Bundle) -> list[tuple[str, str]]:
    """What a ranker chose by itself, on parts of the training topics."""
    details = [part for part in bundle.training.get("details", []) if part.get("held_out_losses")]
    return [
        (
            "chosen",
            f"C = {_show(part['C'])}, by the loss on topics held out: {len(part['held_out_losses'])} values tried",
        )
        for part in details
    ]


def _solved(bundle: Bundle) -> list[tuple[str, str]]:
    details = bundle.training.get("details", [])
    objectives = [f"{part['objective']:.6g}" for part in details if part.get("objective") is not None]
    steps = [part["n_iterations"] for part in details if "n_iterations" in part]
    tau = {name: value for part in details for name, value in part.get("tau", {}).items()}
    trees = [part["n_trees"] for part in details if "n_trees" in part]
    rounds = [part["n_rounds"] for part in details if "n_rounds" in part]
    parts = [
        f"objective {', '.join(objectives)}" if objectives else "",
        f"{', '.join(map(str, steps))} iterations" if steps else "",
        f"{format_count(rounds[0], 'round')}, {format_count(details[0]['n_rules'], 'rule')}" if rounds else "",
        f"{', '.join(map(str, trees))} trees" if trees else "",
    ]
    costs = ", ".join(f"τ({name}) = {value:.3g}" for name, value in tau.items())
    return [("pair costs", costs), ("solved", "; ".join(filter(None, parts)))]


def _certified(bundle: Bundle) -> str:
    details = bundle.training.get("details", [])
    gaps = [part["gap"] for part in details if part.get("gap") is not None]
    unfinished = sum(part.get("converged") is False for part in details)
    if unfinished:
        return f"no: {unfinished} of {len(details)} solutions stopped before they converged"
    if not gaps:
        return ""
    if len(details) > 1:
        return f"each of the {len(details)} averaged members is certified: largest relative gap {max(gaps):.1e}"
    return f"within {max(gaps):.1e} of the best possible objective (relative gap)"


def _warnings(bundle: Bundle) -> list[tuple[str, str]]:
    details = bundle.training.get("details", [])
    return [("warning", text) for text in dict.fromkeys(text for part in details for text in part.get("warnings", []))]


def _print_influences(bundle: Bundle, n: int | None) -> None:
    """Print the weights or rules of a model, the most influential first."""
    from searchlab.rankers.bundle import columns_of

    parts, names = bundle.model.influences(), columns_of(bundle.features, bundle.preprocessor)
    if bundle.model.kind == "votes":
        tables = _planes(parts, names)
    elif bundle.model.kind == "rules":
        tables = [_rules(parts, names)]
    elif bundle.model.kind == "trees":
        tables = [_importances(parts, names)]
    elif bundle.preprocessor.powers and bundle.model.kind == "linear":
        tables = [_bent(parts, names)]
    else:
        what = {"linear": "weight", "neighbourhoods": "mean weight"}.get(bundle.model.kind, "slope")
        ordered = sorted(parts, key=lambda part: -abs(part.amount))
        tables = [[["feature", what], *([_name(part, names), _signed(part.amount)] for part in ordered if part.amount)]]
    print(_INFLUENCES[bundle.model.kind])
    for table in tables:
        print_columns(table[: None if n is None else n + 1], indent=2)
    hidden = 0 if n is None else max(0, len(tables[0]) - 1 - n)
    if hidden:
        print(f"  and {hidden} more; --all prints them")


_INFLUENCES = {
    "linear": "weights, the most influential first: a score is the sum of weight × prepared value",
    "votes": "weights of the hyperplanes, the most influential first: a score is the mean of their votes",
    "rules": "rules, the strongest first: a score is the sum of the weights of those that hold",
    "neighbourhoods": "weights, in the mean over neighbourhoods, the most influential first: a score is the sum of "
    "weight × prepared value, with the weights of the neighbourhood of the query",
    "trees": "importance, the largest first: the share of each feature in the gains of all splits of the trees",
    "kernel": "how steeply the score rises with each prepared value, in the root mean square",
}


def _name(part: ScorePart, names: Sequence[str]) -> str:
    return part.text if part.feature is None else names[part.feature]


def _rules(parts: Sequence[ScorePart], names: Sequence[str]) -> list[list[str]]:
    ordered = sorted(parts, key=lambda part: -abs(part.amount))
    return [["rule", "weight"], *([f"{_name(part, names)} {part.text}", _signed(part.amount)] for part in ordered)]


def _importances(parts: Sequence[ScorePart], names: Sequence[str]) -> list[list[str]]:
    ordered = sorted(parts, key=lambda part: -part.amount)
    rows = ([_name(part, names), f"{100 * part.amount:.1f} %", part.text] for part in ordered)
    return [["feature", "importance", "splits"], *rows]


def _bent(parts: Sequence[ScorePart], names: Sequence[str]) -> list[list[str]]:
    """A row for each feature with the weights of x, x² and √x, ordered by the most that they add for x from 0 to 1."""
    import numpy as np

    from searchlab.features.preprocessing.powers import POWER_SUFFIXES, base_feature

    suffixes = ["", *POWER_SUFFIXES.values()]
    weights: dict[str, dict[str, float]] = {}
    for part in parts:
        name = _name(part, names)
        weights.setdefault(base_feature(name), {})[name.removeprefix(base_feature(name))] = part.amount
    x = np.linspace(0, 1, 101)
    curves = np.array([x, *(x**power for power in POWER_SUFFIXES)])
    lines = [(name, [found.get(suffix, 0.0) for suffix in suffixes]) for name, found in weights.items()]
    lines.sort(key=lambda line: -float(np.max(np.abs(np.array(line[1]) @ curves))))
    header = ["feature", "x", "x²", "√x", "sum"]
    return [header, *([name, *map(_signed, row), _signed(sum(row))] for name, row in lines if any(row))]


def _planes(parts: Sequence[ScorePart], names: Sequence[str]) -> list[list[list[str]]]:
    """Tables with a column for each two grades; several hyperplanes of the same grades are averaged."""
    amounts: dict[str, dict[str, list[float]]] = {}
    for part in parts:
        amounts.setdefault(_name(part, names), {}).setdefault(part.text, []).append(part.amount)
    means = {name: {pair: sum(each) / len(each) for pair, each in found.items()} for name, found in amounts.items()}
    lines = sorted(means.items(), key=lambda line: -max(map(abs, line[1].values())))
    pairs = list(next(iter(means.values())))
    tables = []
    for begin in range(0, len(pairs), MAX_PLANES_IN_TABLE):
        shown = pairs[begin : begin + MAX_PLANES_IN_TABLE]
        rows = [[name, *(_signed(line[pair]) for pair in shown)] for name, line in lines]
        tables.append([["feature", *shown], *rows])
    return tables


def _decimal(value: Any) -> str:
    from searchlab.evaluation.number_text import format_value

    return format_value(float(value))


def _signed(value: float) -> str:
    return f"{value:+.4f}"


def _show(value: Any) -> str:
    return "none" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)
