"""What is known of a model, for people to read?

Everything that is said here stands in the model's file: nothing is computed anew, and neither an index nor the training
data is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from searchlab.cli.app import count
from searchlab.cli.printing import visible

if TYPE_CHECKING:
    from searchlab.rankers.bundle import Bundle
    from searchlab.rankers.models.model import ScorePart

# So many weights are shown unless all are wished for, and so many hyperplanes side by side.
SHOWN = 20
SIDE_BY_SIDE = 4

FILLINGS = {
    "query-minimum": "undefined values become the smallest of the query",
    "letor": "undefined values become the smallest of the query, or 0, as in LETOR",
    "zero": "undefined values become 0",
    "indicator": "undefined values become the smallest of the query, and are marked",
}
NORMALISATIONS = {
    "query-minmax": "scaled from 0, the smallest value of the query, to 1, its largest",
    "query-zscore": "scaled to deviations from the mean of the query",
    "query-rank": "scaled to ranks within the query, from 0, the smallest value, to 1, the largest",
    "standard": "scaled to deviations from the mean in training",
    "none": "not scaled",
}
POWERS = {False: "", True: "square and root of each beside it"}


def print_training(bundle: Bundle) -> None:
    """What it is, what it learnt from, how it was chosen, and how sure the solution is."""
    print_entries(
        [
            ("model", _title(bundle)),
            ("trained on", _data(bundle)),
            *_chosen(bundle),
            ("certified", _certified(bundle)),
        ]
    )


def print_model(bundle: Bundle, *, everything: bool = False) -> None:
    """All that is known of a model, its weights last."""
    from searchlab.rankers.bundle import describe_analysis

    settings = ", ".join(f"{name}={_show(value)}" for name, value in bundle.settings.items())
    stage, analyser, training = bundle.first_stage, bundle.analyser, bundle.training
    print_entries(
        [
            ("model", _title(bundle)),
            ("settings", settings),
            ("made by", f"searchlab {bundle.version}, seed {training.get('seed', 'unknown')}"),
            ("trained on", _data(bundle)),
            ("", " ".join(filter(None, [_source(bundle), f"(fingerprint {training.get('fingerprint', 'unknown')})"]))),
            ("candidates", "those of the file" if stage is None else stage.label),
            ("texts", "" if analyser is None else describe_analysis(analyser)),
            *_preparation(bundle),
            *_chosen(bundle),
            *_solved(bundle),
            ("certified", _certified(bundle)),
        ]
    )
    print()
    print_trial(bundle)
    print()
    _print_influences(bundle, None if everything else SHOWN)


def print_trial(bundle: Bundle) -> None:
    """What cross-validation said: a table, and the verdict."""
    trial = bundle.trial
    if not trial:
        print("not cross-validated: nothing is known of how well it does on queries that it has not seen")
        return
    measures = list(next(iter(trial["means"].values())))
    rows = [["", *measures]]
    rows += [[name, *(_decimal(own[measure]) for measure in measures)] for name, own in trial["means"].items()]
    asked = queries(trial["n_queries"], bundle)
    print(f"cross-validation: {asked} in {trial['n_folds']} folds, each ranked by what was learnt from the others")
    print_columns(rows, indent=2)
    print(f"\n{visible(str(trial['verdict']))}")


def print_entries(entries: Iterable[tuple[str, str]]) -> None:
    """Lines of a name and a text; those without a text are left out."""
    kept = [(name, text) for name, text in entries if text]
    width = max(len(name) for name, _ in kept)
    for name, text in kept:
        print(f"{name:{width}}  {visible(text)}")


def print_columns(rows: Sequence[Sequence[str]], *, indent: int = 0, n_labels: int = 1) -> None:
    """A table: the first columns to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            f"{visible(cell):<{width}}" if column < n_labels else f"{visible(cell):>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print((" " * indent + "  ".join(cells)).rstrip())


def queries(n: int, bundle: Bundle) -> str:
    """How many queries, by the name that users know them by: an index is asked for topics, a file has queries."""
    if bundle.first_stage is not None:
        return count(n, "topic")
    return f"{n:,} {'query' if n == 1 else 'queries'}"


def _title(bundle: Bundle) -> str:
    from searchlab.rankers.ranker_registry import RANKERS

    kind = RANKERS.get(bundle.ranker)
    if kind is None:
        return bundle.ranker
    return (
        kind.description
        if kind.description.lower().startswith(bundle.ranker)
        else f"{bundle.ranker}: {kind.description}"
    )


def _data(bundle: Bundle) -> str:
    training = bundle.training
    grades = sorted(training.get("grades", {}).items(), key=lambda item: -float(item[0]))
    told = ", ".join(f"{n:,} of grade {grade}" for grade, n in grades)
    pairs = [own["n_pairs"] for own in training.get("details", []) if "n_pairs" in own]
    parts = [
        queries(training["n_queries"], bundle),
        f"{count(training['n_rows'], 'document')}{f' ({told})' if told else ''}",
        *([count(round(pairs[0]), "pair")] if pairs else []),
        count(len(bundle.features), "feature"),
    ]
    skipped = training.get("n_skipped_topics", 0)
    return ", ".join(parts) + (f"; {count(skipped, 'topic')} without a relevant document left out" if skipped else "")


def _source(bundle: Bundle) -> str:
    source, index = str(bundle.training.get("source", "")), bundle.training.get("index")
    if index is None:
        return source
    return f"index {index['name']} of {count(index['n_docs'], 'document')}{f', {source}' if source else ''}"


def _preparation(bundle: Bundle) -> list[tuple[str, str]]:
    own = bundle.preprocessor
    told = [FILLINGS.get(own.imputation.name, own.imputation.name)]
    told += [NORMALISATIONS.get(own.normalisation.name, own.normalisation.name), POWERS[own.powers]]
    return list(zip(["features", "", ""], told, strict=True))


def _chosen(bundle: Bundle) -> list[tuple[str, str]]:
    choice = bundle.choice
    setting, tried, values = choice.get("setting"), choice.get("tried", []), choice.get("chosen", [])
    if setting is None or len(tried) < 2:
        return []
    single = bundle.ranker == "single"
    shown = [bundle.features[value] if single else _show(value) for value in sorted(values)]
    which = f"the {len(shown)} best of {len(tried)} values, averaged" if len(shown) > 1 else f"best of {len(tried)}"
    means = [each["mean"] for each in tried]
    told = f"{choice['measure']} {_decimal(max(means))} at best, {_decimal(min(means))} at worst"
    the = "the " if choice["by"] == "validation set" else ""
    by = f"by {the}{choice['by']}: {told} (rules of {choice['dialect']})"
    return [("chosen", f"{setting} = {', '.join(shown)}: {which}"), ("", by)]


def _solved(bundle: Bundle) -> list[tuple[str, str]]:
    details = bundle.training.get("details", [])
    objectives = [f"{own['objective']:.6g}" for own in details if own.get("objective") is not None]
    steps = [own["n_iterations"] for own in details if "n_iterations" in own]
    tau = {name: value for own in details for name, value in own.get("tau", {}).items()}
    rounds = [own["n_rounds"] for own in details if "n_rounds" in own]
    parts = [
        f"objective {', '.join(objectives)}" if objectives else "",
        f"{', '.join(map(str, steps))} iterations" if steps else "",
        f"{count(rounds[0], 'round')}, {count(details[0]['n_rules'], 'rule')}" if rounds else "",
    ]
    costs = ", ".join(f"{name} {value:.3g}" for name, value in tau.items())
    return [("pairs cost", f"τ {costs}" if tau else ""), ("solved", "; ".join(filter(None, parts)))]


def _certified(bundle: Bundle) -> str:
    details = bundle.training.get("details", [])
    gaps = [own["gap"] for own in details if own.get("gap") is not None]
    unfinished = sum(own.get("converged") is False for own in details)
    if unfinished:
        return f"no: {unfinished} of {len(details)} solutions stopped before they were certain"
    return f"within {max(gaps):.1e} of the best possible objective (relative duality gap)" if gaps else ""


def _print_influences(bundle: Bundle, n: int | None) -> None:
    """What counts, the most influential first."""
    from searchlab.rankers.bundle import columns_of

    parts, names = bundle.model.influences(), columns_of(bundle.features, bundle.preprocessor)
    if bundle.model.kind == "votes":
        tables = _planes(parts, names)
    elif bundle.model.kind == "rules":
        tables = [_rules(parts, names)]
    elif bundle.preprocessor.powers and bundle.model.kind == "linear":
        tables = [_bent(parts, names)]
    else:
        what = "weight" if bundle.model.kind == "linear" else "slope"
        ordered = sorted(parts, key=lambda part: -abs(part.amount))
        tables = [[["feature", what], *([_name(part, names), _signed(part.amount)] for part in ordered if part.amount)]]
    print(_INFLUENCES[bundle.model.kind])
    for table in tables:
        print_columns(table[: None if n is None else n + 1], indent=2)
    hidden = 0 if n is None else max(0, len(tables[0]) - 1 - n)
    if hidden:
        print(f"  and {hidden} more: --all shows them")


_INFLUENCES = {
    "linear": "weights, the most influential first: a score is the sum of weight × prepared value",
    "votes": "weights of the hyperplanes, the most influential first: a score is the mean of their votes",
    "rules": "rules, the strongest first: a score is the sum of the weights of those that hold",
    "kernel": "how steeply the score rises with each prepared value, in the root mean square",
}


def _name(part: ScorePart, names: Sequence[str]) -> str:
    return part.text if part.feature is None else names[part.feature]


def _rules(parts: Sequence[ScorePart], names: Sequence[str]) -> list[list[str]]:
    ordered = sorted(parts, key=lambda part: -abs(part.amount))
    return [["rule", "weight"], *([f"{_name(part, names)} {part.text}", _signed(part.amount)] for part in ordered)]


def _bent(parts: Sequence[ScorePart], names: Sequence[str]) -> list[list[str]]:
    """A line a feature with the weights of x, x² and √x, ordered by the most that they add for any x from 0 to 1."""
    import numpy as np

    from searchlab.features.preprocessing.powers import POWER_SUFFIXES, base_feature

    suffixes = ["", *POWER_SUFFIXES.values()]
    weights: dict[str, dict[str, float]] = {}
    for part in parts:
        name = _name(part, names)
        weights.setdefault(base_feature(name), {})[name.removeprefix(base_feature(name))] = part.amount
    x = np.linspace(0, 1, 101)
    curves = np.array([x, *(x**power for power in POWER_SUFFIXES)])
    lines = [(name, [own.get(suffix, 0.0) for suffix in suffixes]) for name, own in weights.items()]
    lines.sort(key=lambda line: -float(np.max(np.abs(np.array(line[1]) @ curves))))
    header = ["feature", "x", "x²", "√x", "sum"]
    return [header, *([name, *map(_signed, own), _signed(sum(own))] for name, own in lines if any(own))]


def _planes(parts: Sequence[ScorePart], names: Sequence[str]) -> list[list[list[str]]]:
    """A column for each two grades; if several hyperplanes were learnt from them, their mean."""
    found: dict[str, dict[str, list[float]]] = {}
    for part in parts:
        found.setdefault(_name(part, names), {}).setdefault(part.text, []).append(part.amount)
    means = {name: {pair: sum(own) / len(own) for pair, own in pairs.items()} for name, pairs in found.items()}
    lines = sorted(means.items(), key=lambda line: -max(map(abs, line[1].values())))
    pairs = list(next(iter(means.values())))
    tables = []
    for begin in range(0, len(pairs), SIDE_BY_SIDE):
        own = pairs[begin : begin + SIDE_BY_SIDE]
        tables.append([["feature", *own], *([name, *(_signed(line[pair]) for pair in own)] for name, line in lines)])
    return tables


def _decimal(value: Any) -> str:
    from searchlab.evaluation.number_text import format_value

    return format_value(float(value))


def _signed(value: float) -> str:
    return f"{value:+.4f}"


def _show(value: Any) -> str:
    return "none" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)
