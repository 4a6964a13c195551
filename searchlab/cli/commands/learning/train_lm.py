"""`searchlab train-lm`: train the weights of a mixture of language models."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

import searchlab
from searchlab.cli.app import app
from searchlab.cli.collection_files import read_judged_topics
from searchlab.cli.messages import list_names, note, warn
from searchlab.cli.options import IndexOption, QrelsOption, TopicIdsOption, TopicsOption, choose_index
from searchlab.cli.output import require_writable_file
from searchlab.cli.progress import stage_bar
from searchlab.cli.search_options import pairs
from searchlab.errors import SettingError, unknown_name
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from searchlab.mixtures.training_queries import TrainingQueries
    from searchlab.mixtures.weight_training import LearntWeights


class TrainLmCommand(typer.core.TyperCommand):
    """A command whose help also lists the settings of its methods, with their defaults."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, and the settings."""
        from searchlab.mixtures.em import EM
        from searchlab.mixtures.setting_checks import describe_settings
        from searchlab.mixtures.weight_training import PER_DOCUMENT_MCE, SHARED_MCE

        super().format_options(ctx, formatter)
        with formatter.section("Settings of --method mce, for --set"):
            formatter.write_dl(describe_settings(SHARED_MCE, {"with --per-document": PER_DOCUMENT_MCE}))
        with formatter.section("Settings of --method em, for --set"):
            formatter.write_dl(describe_settings(EM()))


@app.command("train-lm", cls=TrainLmCommand)
def train_lm_command(
    index: IndexOption = None,
    topics: TopicsOption = None,
    topic_ids: TopicIdsOption = "written",
    qrels: QrelsOption = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="em|mce",
            help="em: weights that make the topics most likely; mce: those that rank relevant documents first",
        ),
    ] = "mce",
    components: Annotated[
        str,
        typer.Option(
            "--components",
            metavar="NAMES",
            help="Language models that are mixed: some of unigram (always), bigram, title, body, topics and ngrams, "
            "separated by commas",
        ),
    ] = "unigram",
    per_document: Annotated[
        bool, typer.Option("--per-document", help="Also train separate weights for each relevant document (mce).")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A setting of the method, such as alpha=5 or iterations=50 [default: as listed below]",
            show_default=False,
        ),
    ] = None,
    topic_model: Annotated[
        str, typer.Option("--topic-model", metavar="NAME", help="The topic model for the component topics")
    ] = "plsa",
    depth: Annotated[
        int,
        typer.Option("--depth", metavar="N", help="Irrelevant documents of a topic: the N best of each first search"),
    ] = 100,
    held_out: Annotated[
        float | None,
        typer.Option(
            "--held-out",
            metavar="SHARE",
            help="Share of the topics that is not trained with, but decides which iteration is kept "
            "[default: 0; with --per-document 0.2]",
            show_default=False,
        ),
    ] = None,
    folds: Annotated[
        int, typer.Option("--folds", metavar="N", help="Folds of the cross-validation; 0 leaves it out")
    ] = 5,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed for folds and held-out topics")] = 1,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write the weights here, as JSON [default: only print them]"
        ),
    ] = None,
) -> None:
    """Train the weights of a mixture of language models.

    From topics with judgments. Cross-validation says how well the weights do on topics that were not trained with.
    """
    from searchlab.mixtures.training_queries import gather, name_components

    method_settings = _make_settings(method, settings, per_document=per_document)
    names = name_components(part.strip() for part in components.split(","))
    if folds < 0 or folds == 1:
        raise SettingError(f"--folds is {folds}, expected 0, or 2 and more")
    if output is not None:
        require_writable_file(output)
    folder = choose_index(index)
    training_topics, judgments = read_judged_topics(folder, topics, qrels, "train with", topic_ids=topic_ids)
    with searchlab.open(folder) as engine, stage_bar() as progress:
        model = searchlab.open_topic_model(engine.snapshot, topic_model) if "topics" in names else None
        gathered = gather(engine, training_topics, judgments, names, depth=depth, topic_model=model, progress=progress)
        _warn_of_unused_topics(gathered)
        if folds:
            from searchlab.training.mixture_validation import SYSTEMS, cross_validate_mixture, format_cross_validation

            by_levels = gathered.evidence.levels is not None
            validation = cross_validate_mixture(
                engine,
                training_topics,
                judgments,
                gathered,
                # Weights of single documents are those of words.
                systems=[name for name in SYSTEMS if not by_levels or name != "mce-per-document"],
                em=method_settings if method == "em" else None,
                mce=method_settings if method == "mce" and not per_document else None,
                per_document=method_settings if per_document else None,
                held_out=held_out,
                topic_model=model,
                n_folds=folds,
                seed=seed,
                progress=progress,
            )
            print("cross-validation:")
            print(format_cross_validation(validation))
            print(
                f"\n{format_count(len(gathered.qids), 'topic')}, {folds} folds, seed {seed}; {validation.rules}; "
                "p of the randomisation test, corrected (Holm); * below .05\n"
            )
        learnt = _learn(gathered, method, method_settings, per_document, held_out, seed, progress)
        _print_weights(learnt, method)
        if output is not None:
            from searchlab.mixtures.weights import MixtureWeights, write_weights

            used = {} if method_settings is None else asdict(method_settings)
            weights = MixtureWeights.of(learnt, engine.snapshot, used, len(gathered.qids), topic_model)
            write_weights(output, weights)
            note(f"weights of {format_count(len(names), 'component')} → {output}")
            note(f"`searchlab query QUERY --scorer mixture --weights {output}` uses them")


def _make_settings(method: str, given: list[str] | None, *, per_document: bool) -> Any:
    """The settings of the method; None if none are given."""
    from searchlab.mixtures.em import EM
    from searchlab.mixtures.setting_checks import change_settings
    from searchlab.mixtures.weight_training import METHODS, PER_DOCUMENT_MCE, SHARED_MCE

    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if method == "em" and per_document:
        raise SettingError("--per-document is for mce: expected --method mce")
    if not given:
        return None
    defaults: Any = EM() if method == "em" else PER_DOCUMENT_MCE if per_document else SHARED_MCE
    return change_settings(defaults, dict(pairs(given, "--set", "alpha=5")))


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


def _warn_of_unused_topics(gathered: TrainingQueries) -> None:
    for reason, qids in gathered.skipped.items():
        warn(f"left out: {format_count(len(qids), 'topic')} {reason}: {list_names(qids)}")
    useless = [qid for qid, useful in zip(gathered.qids, gathered.evidence.is_contrast, strict=True) if not useful]
    if useless:
        topics = format_count(len(useless), "topic")
        warn(f"{topics} without irrelevant documents, of no use to mce: {list_names(useless)}")


def _print_weights(learnt: LearntWeights, method: str) -> None:
    weights = zip(learnt.components, learnt.shared.tolist(), strict=True)
    print(f"weights learnt by {method}: {', '.join(f'{name} {weight:.4f}' for name, weight in weights)}")
    if learnt.docnos:
        print(f"separate weights for {format_count(len(learnt.docnos), 'document')}")
