"""How do mixtures of language models learn from the command line?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from searchlab.cli.app import IndexOption, app, choose_index, count, note, require_writable, warn_of_latin1
from searchlab.cli.collection_files import own_topics, read_judgments
from searchlab.cli.progress import stage_bar
from searchlab.cli.search_options import pairs
from searchlab.errors import SettingError, unknown_name

if TYPE_CHECKING:
    from searchlab.mixtures.training_queries import TrainingQueries
    from searchlab.mixtures.weight_training import LearntWeights

# How many topics a note names.
NAMED = 10


@app.command("train-lm")
def train_command(
    index: IndexOption = None,
    topics: Annotated[
        str | None,
        typer.Option("--topics", metavar="FILE", help="Training queries [default: those of the indexed collection]"),
    ] = None,
    qrels: Annotated[
        str | None,
        typer.Option("--qrels", metavar="FILE", help="Judgments [default: those of the collection, with its topics]"),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="em: most likely weights; mce: those that rank relevant documents first")
    ] = "mce",
    components: Annotated[
        str, typer.Option("--components", help="Some of unigram, bigram, title, body and topics, with commas")
    ] = "unigram",
    per_document: Annotated[
        bool, typer.Option("--per-document", help="Also train weights of their own for relevant documents (mce).")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method, such as alpha=5 or iterations=50"),
    ] = None,
    topic_model: Annotated[str, typer.Option("--topic-model", help="The topics of the index to mix in")] = "plsa",
    depth: Annotated[int, typer.Option("--depth", help="Irrelevant documents of each first search")] = 100,
    held_out: Annotated[
        float | None,
        typer.Option(
            "--held-out",
            help="Share of queries that training is watched on [default: 0; 0.2 with --per-document]",
            show_default=False,
        ),
    ] = None,
    folds: Annotated[int, typer.Option("--folds", help="Folds of the cross-validation; 0 leaves it out")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="For the folds and the held-out queries")] = 1,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Write the weights here, as JSON")
    ] = None,
) -> None:
    """Train the weights of a mixture of language models, and say how well they do on queries not trained with."""
    import searchlab
    from searchlab.mixtures.training_queries import gather, name_components

    chosen = _settings(method, settings, per_document=per_document)
    names = name_components(part.strip() for part in components.split(","))
    if folds < 0 or folds == 1:
        raise SettingError(f"--folds is {folds}, expected 0, or 2 and more")
    if output is not None:
        require_writable(output)
    folder = choose_index(index)
    notes = searchlab.ReadingNotes()
    queries = searchlab.read_topics(topics or own_topics(folder), notes=notes)
    judgments = read_judgments(folder, qrels, own=topics is None, notes=notes)
    if judgments is None:
        raise SettingError("no judgments to train with: expected --qrels FILE")
    warn_of_latin1(notes)
    with searchlab.open(folder) as engine, stage_bar() as progress:
        model = None
        if "topics" in names:
            from searchlab.topic_models.topic_model_store import open_topic_model

            model = open_topic_model(engine.snapshot, topic_model)
        gathered = gather(engine, queries, judgments, names, depth=depth, topic_model=model, progress=progress)
        _tell_skipped(gathered)
        if folds:
            from searchlab.training.mixture_validation import cross_validate_mixture, format_cross_validation

            found = cross_validate_mixture(
                engine,
                queries,
                judgments,
                gathered,
                em=chosen if method == "em" else None,
                mce=chosen if method == "mce" and not per_document else None,
                per_document=chosen if per_document else None,
                held_out=held_out,
                topic_model=model,
                n_folds=folds,
                seed=seed,
                progress=progress,
            )
            print(format_cross_validation(found))
            print(
                f"\n{count(len(gathered.qids), 'topic')}, {folds} folds, seed {seed}; {found.rules}; "
                "p of the randomisation test, corrected (Holm); * below .05"
            )
        learnt = _learn(gathered, method, chosen, per_document, held_out, seed, progress)
        _print_weights(learnt)
        if output is not None:
            from searchlab.mixtures.weights import MixtureWeights, write_weights

            used = {} if chosen is None else asdict(chosen)
            made = MixtureWeights.of(learnt, engine.snapshot, used, len(gathered.qids), topic_model)
            write_weights(output, made)
            note(f"weights of {count(len(names), 'component')} → {output}")


def _settings(method: str, given: list[str] | None, *, per_document: bool) -> Any:
    """The settings of the method; None for those that it has on its own."""
    from searchlab.mixtures.em import EM
    from searchlab.mixtures.setting_checks import change_settings
    from searchlab.mixtures.weight_training import METHODS, PER_DOCUMENT_MCE, SHARED_MCE

    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if method == "em" and per_document:
        raise SettingError("--per-document is a way of mce: expected --method mce")
    if not given:
        return None
    base: Any = EM() if method == "em" else PER_DOCUMENT_MCE if per_document else SHARED_MCE
    return change_settings(base, dict(pairs(given, "--set", "alpha=5")))


def _learn(
    gathered: TrainingQueries,
    method: str,
    settings: Any,
    per_document: bool,
    held_out: float | None,
    seed: int,
    progress: Any,
) -> LearntWeights:
    from searchlab.mixtures.weight_training import learn_em, learn_mce

    if method == "em":
        return learn_em(gathered, settings)
    return learn_mce(gathered, settings, per_document=per_document, held_out=held_out, seed=seed, progress=progress)


def _tell_skipped(gathered: TrainingQueries) -> None:
    for reason, qids in gathered.skipped.items():
        more = ", …" if len(qids) > NAMED else ""
        note(f"left out: {count(len(qids), 'topic')} {reason}: {', '.join(qids[:NAMED])}{more}")
    alike = [qid for qid, told in zip(gathered.qids, gathered.evidence.is_contrast, strict=True) if not told]
    if alike:
        more = ", …" if len(alike) > NAMED else ""
        note(
            f"{count(len(alike), 'topic')} without irrelevant documents, of no use to mce: "
            f"{', '.join(alike[:NAMED])}{more}"
        )


def _print_weights(learnt: LearntWeights) -> None:
    named = zip(learnt.components, learnt.shared.tolist(), strict=True)
    print("  ".join(f"{name} {weight:.4f}" for name, weight in named))
    if learnt.docnos:
        print(f"weights of their own: {count(len(learnt.docnos), 'document')}")
