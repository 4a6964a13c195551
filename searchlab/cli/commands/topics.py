"""What are documents about? Topics from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from searchlab.cli.app import IndexOption, app, choose_index, count, megabytes, note, warn_of_latin1
from searchlab.cli.collection_files import own_topics, read_judgments
from searchlab.cli.printing import visible
from searchlab.cli.progress import stage_bar
from searchlab.errors import IndexMissing, SettingError

if TYPE_CHECKING:
    from searchlab.indexing.snapshot import Snapshot
    from searchlab.mixtures.latent_topic_training import TrainedLatentTopics
    from searchlab.topic_models.topic_model import TopicModel

# Of a document, topics with a smaller share than this are not shown.
LEAST_SHARE = 0.01


@app.command("topics")
def topics_command(
    docno: Annotated[
        str | None, typer.Argument(metavar="DOCNO", help="A document, to see its topics [default: all topics]")
    ] = None,
    index: IndexOption = None,
    n_topics: Annotated[
        int | None, typer.Option("--topics", metavar="K", help="How many topics to find [default: 20]")
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="plsa: topics of documents; wtm: of words, by what stands around them")
    ] = "plsa",
    name: Annotated[
        str | None, typer.Option("--name", help="What these topics are called in the index [default: the method]")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="For the random start [default: 1999]")] = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Find topics anew, though the index has some.")] = False,
    words: Annotated[int, typer.Option("--words", help="How many words to show of each topic")] = 10,
    train: Annotated[
        bool,
        typer.Option("--train", help="Adjust topics to judged queries (MCE), and keep them as NAME-trained beside."),
    ] = False,
    queries: Annotated[
        str | None,
        typer.Option("--queries", metavar="FILE", help="To train with [default: the topics of the collection]"),
    ] = None,
    qrels: Annotated[
        str | None, typer.Option("--qrels", metavar="FILE", help="Their judgments [default: those of the collection]")
    ] = None,
) -> None:
    """Find the topics that the documents of an index speak of, and show each by its most telling words."""
    from searchlab.indexing.snapshot import Snapshot

    if words < 1:
        raise SettingError(f"--words is {words}, expected 1 or more")
    if not train and (queries or qrels):
        raise SettingError("--queries and --qrels are for training: expected --train")
    folder = choose_index(index)
    snapshot = Snapshot(folder)
    place = None if docno is None else snapshot.locate(docno)  # a mistake is told before minutes of work
    model = _open_or_make(snapshot, name, method, n_topics, seed, rebuild=rebuild)
    if train:
        _train(folder, model, queries, qrels)
    elif docno is None or place is None:
        _print_topics(model, words)
    else:
        _print_document(model, docno, place, words)
    if model.staleness:
        advice = "; `searchlab topics --rebuild` finds topics anew" if model.is_stale else ""
        note(f"{model.staleness:.0%} of the documents came after the topics were found{advice}")


def _open_or_make(
    snapshot: Snapshot, name: str | None, method: str, n_topics: int | None, seed: int | None, *, rebuild: bool
) -> TopicModel:
    """The topics of an index; where it has none, they are found."""
    from searchlab.errors import unknown_name
    from searchlab.topic_models.plsa import DEFAULT_N_TOPICS, DEFAULT_SEED
    from searchlab.topic_models.topic_model_files import METHODS
    from searchlab.topic_models.topic_model_store import build_topic_model, open_topic_model

    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if not rebuild:
        try:
            model = open_topic_model(snapshot, name or method)
        except IndexMissing:
            pass
        else:
            if n_topics not in (None, model.n_topics) or seed not in (None, model.record.seed):
                had = f"{count(model.n_topics, 'topic')}, seed {model.record.seed}"
                raise SettingError(f"{model.home}: has {had} already; --rebuild finds topics anew")
            return model
    n_topics, seed = DEFAULT_N_TOPICS if n_topics is None else n_topics, DEFAULT_SEED if seed is None else seed
    with stage_bar() as progress:
        model = build_topic_model(
            snapshot.folder, method=method, n_topics=n_topics, seed=seed, progress=progress, name=name
        )
    size = megabytes(model.record.n_bytes)
    note(f"{model.home}: {count(n_topics, 'topic')} of {count(model.record.n_docs, 'document')} found, {size}")
    return open_topic_model(snapshot, name or method)


def _describe(model: TopicModel, topics: list[int], n_words: int) -> dict[int, str]:
    """Topics by their most telling words."""
    from searchlab.topic_models.topic_words import shortest_words

    telling = {topic: [term for term, _ in model.top_terms(topic, n_words)] for topic in topics}
    known = shortest_words(model.snapshot, (term for terms in telling.values() for term in terms))
    return {topic: visible(", ".join(known[term] for term in terms)) for topic, terms in telling.items()}


def _print_topics(model: TopicModel, n_words: int) -> None:
    """All topics, the largest first."""
    order = sorted(range(model.n_topics), key=lambda topic: (-model.shares[topic], topic))
    print("topic  of all words  most telling words")
    for topic, told in _describe(model, order, n_words).items():
        print(f"{topic + 1:>5}  {model.shares[topic]:>12.1%}  {told}")


def _print_document(model: TopicModel, docno: str, place: tuple[int, int], n_words: int) -> None:
    """The topics of a document, the largest first."""
    import numpy as np

    document = model.snapshot.document(docno)
    shares = model.topics_given_document(np.array([place[0]]), np.array([place[1]]))[0].tolist()
    order = sorted(range(model.n_topics), key=lambda topic: (-shares[topic], topic))
    shown = [topic for topic in order if shares[topic] >= LEAST_SHARE]
    print(f"{visible(docno)}  {visible(' '.join(document.title.split())) or '(no title)'}")
    print("topic  of its words  most telling words")
    for topic, told in _describe(model, shown, n_words).items():
        print(f"{topic + 1:>5}  {shares[topic]:>12.1%}  {told}")


def _train(folder: Path, model: TopicModel, queries: str | None, qrels: str | None) -> None:
    """Train, keep what was trained, and tell how to use it."""
    import searchlab
    from searchlab.mixtures.latent_topic_training import train_latent_topics

    notes = searchlab.ReadingNotes()
    topics = searchlab.read_topics(queries or own_topics(folder), notes=notes)
    judgments = read_judgments(folder, qrels, own=queries is None, notes=notes)
    if judgments is None:
        raise SettingError("no judgments to train with: expected --qrels")
    warn_of_latin1(notes)
    scorer = {"plsa": searchlab.PLSA, "wtm": searchlab.WTM}[model.method](topics=model.home.name)
    with searchlab.open(folder) as engine, stage_bar() as progress:
        trained = train_latent_topics(engine, topics, judgments, scorer=scorer, progress=progress)
    name = f"{model.home.name}-trained"
    trained.save(name)
    _print_training(trained)
    note(f"kept as {name}: `searchlab run --scorer {model.method} --set topics={name}` ranks by it")


def _print_training(trained: TrainedLatentTopics) -> None:
    before, weights, after = trained.losses
    print(f"alpha {trained.alpha:.3f}, beta {trained.beta:.3f}, topics of {count(len(trained.of_docs), 'document')}")
    whose = f"{trained.n_held_out} queries held out" if trained.n_held_out else "the queries trained on"
    print(f"loss of {whose}: {before:.4f} before, {weights:.4f} by alpha and beta, {after:.4f} by topics too")
    print("queries that were trained on are no test of it: measure it on others")
