"""`searchlab topic-model`: the latent topics of an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

import searchlab
from searchlab.cli.app import app
from searchlab.cli.collection_files import read_judged_topics
from searchlab.cli.messages import note, warn
from searchlab.cli.options import (
    ClusterOption,
    IndexOption,
    QrelsOption,
    TopicIdsOption,
    TopicsOption,
    choose_index,
    open_cluster,
)
from searchlab.cli.printing.terminal_text import megabytes, printable
from searchlab.cli.progress import stage_bar
from searchlab.cli.search_options import pairs
from searchlab.errors import IndexMissing, SettingError, unknown_name
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from searchlab.indexing.snapshot import Snapshot
    from searchlab.mixtures.latent_topic_training import TrainedLatentTopics
    from searchlab.mixtures.mce import MCE
    from searchlab.records import Judgments, Topic
    from searchlab.topic_models.topic_model import TopicModel

# Latent topics with a smaller share of a document are not shown.
MIN_SHARE = 0.01


class TopicModelCommand(typer.core.TyperCommand):
    """A command whose help also lists the settings of --train, with their defaults."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, and the settings."""
        from searchlab.mixtures.latent_topic_training import DEFAULT_MCE
        from searchlab.mixtures.setting_checks import describe_settings

        super().format_options(ctx, formatter)
        with formatter.section("Settings of --train, for --set"):
            formatter.write_dl(describe_settings(DEFAULT_MCE))


@app.command("topic-model", cls=TopicModelCommand)
def topic_model_command(
    docno: Annotated[
        str | None,
        typer.Argument(metavar="DOCNO", help="A document, to print its latent topics [default: print all]"),
    ] = None,
    index: IndexOption = None,
    n_topics: Annotated[
        int | None, typer.Option("--n-topics", metavar="N", help="Number of latent topics [default: 20]")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="plsa|wtm",
            help="plsa: latent topics of documents; wtm: of words, learnt from their neighbourhoods",
        ),
    ] = "plsa",
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="The model's name in the index [default: the method]"),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Seed of the random start [default: 1999]")
    ] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Learn the model again, even if the index has it.")
    ] = False,
    words: Annotated[
        int, typer.Option("--words", metavar="N", help="Number of words to print of each latent topic")
    ] = 10,
    train: Annotated[
        bool, typer.Option("--train", help="Adjust the model to judged topics (MCE), and keep it as NAME-trained.")
    ] = False,
    topics: TopicsOption = None,
    topic_ids: TopicIdsOption = "written",
    qrels: QrelsOption = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="With --train: a setting of MCE, such as rivals=hardest [default: as listed below]",
            show_default=False,
        ),
    ] = None,
    weights_only: Annotated[
        bool,
        typer.Option(
            "--weights-only", help="With --train: train the model's α and β alone, not the topics of documents."
        ),
    ] = False,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            metavar="N",
            help="With --train: irrelevant documents, the N best of each first search [default: 200]",
        ),
    ] = None,
    held_out: Annotated[
        float | None,
        typer.Option(
            "--held-out",
            metavar="SHARE",
            help="With --train: share of the topics that is not trained with, but decides which iteration is kept "
            "[default: 0.2]",
        ),
    ] = None,
    cluster: ClusterOption = None,
) -> None:
    """Learn the latent topics of an index, and print their words.

    The model is learnt once and kept with the index. --train adjusts α, β and the latent topics of relevant
    documents to judged topics (MCE), and keeps the result under another name.
    """
    from searchlab.indexing.snapshot import Snapshot

    if words < 1:
        raise SettingError(f"--words is {words}, expected 1 or more")
    options = {
        "--topics": topics,
        "--topic-ids": None if topic_ids == "written" else topic_ids,
        "--qrels": qrels,
        "--set": settings,
        "--weights-only": weights_only or None,
        "--depth": depth,
        "--held-out": held_out,
    }
    given = [name for name, value in options.items() if value is not None]
    if given and not train:
        raise SettingError(f"{given[0]} is for training: expected --train")
    # Misspelt settings are refused before minutes of work.
    mce = _make_mce(settings) if train else None
    folder = choose_index(index)
    snapshot = Snapshot(folder)
    address = None if docno is None else snapshot.locate(docno)  # an unknown docno is refused before minutes of work
    model = _open_or_build(snapshot, name, method, n_topics, seed, rebuild=rebuild, cluster=cluster)
    if train:
        chosen = {"depth": depth, "held_out": held_out}
        _train(
            folder,
            model,
            read_judged_topics(folder, topics, qrels, "train with", topic_ids=topic_ids),
            settings=mce,
            documents=not weights_only,
            **{name: value for name, value in chosen.items() if value is not None},
        )
    elif docno is None or address is None:
        _print_model(model, words)
    else:
        _print_document(model, docno, address, words)
    if model.staleness:
        advice = "; `searchlab topic-model --rebuild` learns it again" if model.is_stale else ""
        warn(f"{model.staleness:.0%} of the documents came after the topic model was learnt{advice}")


def _open_or_build(
    snapshot: Snapshot,
    name: str | None,
    method: str,
    n_topics: int | None,
    seed: int | None,
    *,
    rebuild: bool,
    cluster: str | None,
) -> TopicModel:
    """The topic model of an index; if it has none, it is learnt."""
    from searchlab.topic_models.plsa import DEFAULT_N_TOPICS, DEFAULT_SEED
    from searchlab.topic_models.topic_model_files import METHODS

    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if not rebuild:
        try:
            model = searchlab.open_topic_model(snapshot, name or method)
        except IndexMissing:
            pass
        else:
            if n_topics not in (None, model.n_topics) or seed not in (None, model.record.seed):
                existing = f"{format_count(model.n_topics, 'latent topic')}, seed {model.record.seed}"
                raise SettingError(f"{model.home}: has {existing}; --rebuild learns it again")
            return model
    n_topics, seed = DEFAULT_N_TOPICS if n_topics is None else n_topics, DEFAULT_SEED if seed is None else seed
    with open_cluster(cluster) as connected, stage_bar() as progress:
        model = searchlab.build_topic_model(
            snapshot.folder,
            method=method,
            n_topics=n_topics,
            seed=seed,
            cluster=connected,
            progress=progress,
            name=name,
        )
    documents, size = format_count(model.record.n_docs, "document"), megabytes(model.record.n_bytes)
    note(f"{model.home}: {format_count(n_topics, 'latent topic')} learnt from {documents}, {size}")
    for warning in model.warnings:
        warn(warning)
    return searchlab.open_topic_model(snapshot, name or method)


def _print_model(model: TopicModel, n_words: int) -> None:
    """Print all latent topics, the largest first."""
    order = sorted(range(model.n_topics), key=lambda topic: (-model.shares[topic], topic))
    _print_topics(model, order, model.shares.tolist(), "share of words", n_words)


def _print_document(model: TopicModel, docno: str, address: tuple[int, int], n_words: int) -> None:
    """Print the latent topics of a document, the largest first."""
    import numpy as np

    document = model.snapshot.document(docno)
    shares = model.topics_given_document(np.array([address[0]]), np.array([address[1]]))[0].tolist()
    order = sorted(range(model.n_topics), key=lambda topic: (-shares[topic], topic))
    print(f"{printable(docno)}  {printable(' '.join(document.title.split())) or '(no title)'}")
    _print_topics(model, [topic for topic in order if shares[topic] >= MIN_SHARE], shares, "share of document", n_words)


def _print_topics(
    model: TopicModel, topics: Sequence[int], shares: Sequence[float], heading: str, n_words: int
) -> None:
    """Print a line for each latent topic: its number, its share, and its most characteristic words."""
    from searchlab.topic_models.topic_words import shortest_words

    terms = {topic: [term for term, _ in model.top_terms(topic, n_words)] for topic in topics}
    words = shortest_words(model.snapshot, (term for topic_terms in terms.values() for term in topic_terms))
    print(f"topic  {heading}  most characteristic words")
    for topic in topics:
        listed = printable(", ".join(words[term] for term in terms[topic]))
        print(f"{topic + 1:>5}  {shares[topic]:>{len(heading)}.1%}  {listed}")


def _make_mce(given: list[str] | None) -> MCE:
    """The settings of --train."""
    from searchlab.mixtures.latent_topic_training import DEFAULT_MCE
    from searchlab.mixtures.setting_checks import change_settings

    return change_settings(DEFAULT_MCE, dict(pairs(given or (), "--set", "rivals=hardest")))


def _train(folder: Path, model: TopicModel, judged: tuple[Sequence[Topic], Judgments], **settings: Any) -> None:
    """Train the model on judged topics, keep the result, and say how to use it."""
    from searchlab.mixtures.latent_topic_training import train_latent_topics

    scorer = {"plsa": searchlab.PLSA, "wtm": searchlab.WTM}[model.method](topics=model.home.name)
    with searchlab.open(folder) as engine, stage_bar() as progress:
        trained = train_latent_topics(engine, *judged, scorer=scorer, progress=progress, **settings)
    name = f"{model.home.name}-trained"
    for warning in trained.save(name).warnings:
        warn(warning)
    _print_training(trained)
    note(f"kept as {name}: `searchlab run --scorer {model.method} --set topics={name}` ranks by it")


def _print_training(trained: TrainedLatentTopics) -> None:
    before, weights, after = trained.losses
    documents = format_count(len(trained.of_docs), "document")
    print(f"learnt: alpha {trained.alpha:.3f}, beta {trained.beta:.3f}, latent topics of {documents}")
    basis = format_count(trained.n_held_out, "held-out topic") if trained.n_held_out else "the training topics"
    print(f"loss on {basis}: {before:.4f} before, {weights:.4f} with alpha and beta, {after:.4f} with topics too")
    print("the training topics are no test of the model: evaluate it on other topics")
