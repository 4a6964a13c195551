"""`searchlab topic-model`: the latent topics of an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import searchlab
from searchlab.cli.app import app
from searchlab.cli.collection_files import read_judged_topics
from searchlab.cli.messages import note, warn
from searchlab.cli.options import IndexOption, QrelsOption, TopicsOption, choose_index
from searchlab.cli.printing.terminal_text import megabytes, printable
from searchlab.cli.progress import stage_bar
from searchlab.errors import IndexMissing, SettingError, unknown_name
from searchlab.evaluation.number_text import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from searchlab.indexing.snapshot import Snapshot
    from searchlab.mixtures.latent_topic_training import TrainedLatentTopics
    from searchlab.topic_models.topic_model import TopicModel

# Latent topics with a smaller share of a document are not shown.
MIN_SHARE = 0.01


@app.command("topic-model")
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
    qrels: QrelsOption = None,
) -> None:
    """Learn the latent topics of an index, and print their words.

    The model is learnt once and kept with the index. --topics and --qrels are for --train.
    """
    from searchlab.indexing.snapshot import Snapshot

    if words < 1:
        raise SettingError(f"--words is {words}, expected 1 or more")
    if not train and (topics or qrels):
        raise SettingError("--topics and --qrels are for training: expected --train")
    folder = choose_index(index)
    snapshot = Snapshot(folder)
    address = None if docno is None else snapshot.locate(docno)  # an unknown docno is refused before minutes of work
    model = _open_or_build(snapshot, name, method, n_topics, seed, rebuild=rebuild)
    if train:
        _train(folder, model, topics, qrels)
    elif docno is None or address is None:
        _print_model(model, words)
    else:
        _print_document(model, docno, address, words)
    if model.staleness:
        advice = "; `searchlab topic-model --rebuild` learns it again" if model.is_stale else ""
        warn(f"{model.staleness:.0%} of the documents came after the topic model was learnt{advice}")


def _open_or_build(
    snapshot: Snapshot, name: str | None, method: str, n_topics: int | None, seed: int | None, *, rebuild: bool
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
    with stage_bar() as progress:
        model = searchlab.build_topic_model(
            snapshot.folder, method=method, n_topics=n_topics, seed=seed, progress=progress, name=name
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


def _train(folder: Path, model: TopicModel, topics: str | None, qrels: str | None) -> None:
    """Train the model on judged topics, keep the result, and say how to use it."""
    from searchlab.mixtures.latent_topic_training import train_latent_topics

    training_topics, judgments = read_judged_topics(folder, topics, qrels, "train with")
    scorer = {"plsa": searchlab.PLSA, "wtm": searchlab.WTM}[model.method](topics=model.home.name)
    with searchlab.open(folder) as engine, stage_bar() as progress:
        trained = train_latent_topics(engine, training_topics, judgments, scorer=scorer, progress=progress)
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
