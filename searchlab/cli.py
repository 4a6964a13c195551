"""What can be typed?

Each command parses its arguments, calls the Python API and prints. Results go to standard output, everything
else (progress, warnings, errors) to standard error. Rooms are imported inside the commands: `--help` must not
wait for numba.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from searchlab import __version__
from searchlab.errors import SearchlabError, SettingError

if TYPE_CHECKING:
    from searchlab.corpus import Notes
    from searchlab.indexing.build import BuildSummary, Progress
    from searchlab.retrieval.engine import SearchEngine
    from searchlab.retrieval.results import Explanation, Hit, Hits
    from searchlab.retrieval.scorers import Scorer

app = typer.Typer(
    name="searchlab",
    help="Index a corpus, search it with exact classic scorers, and run TREC-style experiments.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

IndexOption = Annotated[
    str | None,
    typer.Option("-i", "--index", metavar="INDEX", help="A folder, or a name in indexes/ [default: the newest there]"),
]
ScorerOption = Annotated[str, typer.Option("--scorer", help="absolute, bm25, bm25f, dirichlet, jm, tfidf or two-stage")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the scorer, such as mu=500"),
]
StreamOption = Annotated[str, typer.Option("--stream", help="The text to search: title, body or both")]


def main() -> None:
    """Run the command line: a mistake of the user's ends in one line, not in a traceback."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets a question mark.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        # Without its stand-alone mode, typer gives back the code of an Exit, and 130 for Ctrl-C.
        code = app(standalone_mode=False) or 0
        sys.stdout.flush()
    except SearchlabError as error:
        fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except BrokenPipeError:
        # The reader of our output has seen enough (`searchlab query … | head -1`).
        _drop_output()
        sys.exit(0)
    except OSError as error:
        _drop_output()
        fail(f"{error.filename or 'standard output'}: {error.strerror or error}", 1)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        fail(f"{error.format_message()}; see searchlab --help", 2)
    if code == 130:
        fail("interrupted", 130)
    sys.exit(code)


def _drop_output() -> None:
    """Let what is still to be written go nowhere: Python would try again, and complain, when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str, code: int) -> NoReturn:
    """Say what is wrong in one line, and end."""
    print(f"searchlab: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


def note(message: str) -> None:
    """Say something that is not a result."""
    print(message, file=sys.stderr)


@app.callback(invoke_without_command=True)
def common(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Index a corpus, search it with exact classic scorers, and run TREC-style experiments."""
    if version:
        print(f"searchlab {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


@app.command("index")
def index_command(
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE...", help="Files or folders of documents, or - for JSONL from a pipe")
    ],
    index: Annotated[
        str | None,
        typer.Option("-i", "--index", metavar="INDEX", help="Where to write [default: indexes/<source>]"),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="bibtex, csv, html, jsonl, markdown, nbib, ohsumed, ohsumed-i, pubmed, ris, smart, text, trec or tsv "
            "[default: detected]",
        ),
    ] = None,
    stemmer: Annotated[str, typer.Option(help="porter, snowball or none")] = "porter",
    stop_list: Annotated[str, typer.Option("--stop", help="default, none or a file of words")] = "default",
    jobs: Annotated[int | None, typer.Option("-j", "--jobs", help="Processes [default: all cores]")] = None,
    on_duplicate: Annotated[
        str,
        typer.Option("--on-duplicate", help="Two documents with one docno: error, keep-first or keep-last"),
    ] = "error",
) -> None:
    """Index documents, in place of what the index held before."""
    import searchlab

    notes = searchlab.Notes()
    with _progress_bar(notes) as progress:
        summary = searchlab.index(
            sources,
            index,
            format=format,
            stemmer=stemmer,
            stop_list=stop_list,
            jobs=jobs,
            on_duplicate=on_duplicate,
            notes=notes,
            progress=progress,
        )
    _print_summary(summary, notes)


@app.command("query")
def query_command(
    text: Annotated[str, typer.Argument(metavar="QUERY", help="What to search for")],
    index: IndexOption = None,
    k: Annotated[int, typer.Option("-k", help="How many results")] = 10,
    scorer: ScorerOption = "bm25",
    settings: SetOption = None,
    stream: StreamOption = "both",
    explain: Annotated[bool, typer.Option("--explain", help="Show what each term adds to each score.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Search, and print rank, score, docno, title and a snippet with the matched words marked."""
    chosen = _scorer(scorer, settings)
    engine = _open(index, compiled=False)
    hits = engine.search(text, k=k, scorer=chosen, stream=stream)
    explanations = [
        engine.explain(text, docno, scorer=chosen, stream=stream) if explain else None for docno in hits.docnos
    ]
    if as_json:
        print(json.dumps(_as_record(hits, explanations, engine, scorer), ensure_ascii=False, indent=2))
    else:
        for hit, explanation in zip(hits, explanations, strict=True):
            _print_hit(hit)
            if explanation:
                _print_explanation(explanation)
    _comment(hits, engine)
    if not hits:
        raise typer.Exit(1)


@app.command("run")
def run_command(
    topics: Annotated[str, typer.Argument(metavar="TOPICS", help="A file of topics: TSV, TREC, SMART or JSONL")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="- is standard output")] = "-",
    index: IndexOption = None,
    k: Annotated[int, typer.Option("-k", help="How many results for each topic")] = 1000,
    scorer: ScorerOption = "bm25",
    settings: SetOption = None,
    stream: StreamOption = "both",
    tag: Annotated[str | None, typer.Option("--tag", help="The run's name [default: the scorer's]")] = None,
    topic_format: Annotated[
        str | None, typer.Option("--format", help="jsonl, smart, trec or tsv [default: detected]")
    ] = None,
    fields: Annotated[
        str | None, typer.Option("--fields", help="The parts of a topic to search for, such as title,desc")
    ] = None,
) -> None:
    """Search for every topic, and write a TREC run."""
    import searchlab
    from searchlab.retrieval.batch import new_file

    chosen = _scorer(scorer, settings)
    parts = fields.split(",") if fields else None
    notes = searchlab.Notes()
    wanted = searchlab.read_topics(topics, format=topic_format, fields=parts, notes=notes)
    _warn_of_latin1(notes)
    engine = _open(index)
    with nullcontext(sys.stdout) if output == "-" else new_file(output) as file:
        rankings = searchlab.search_topics(engine, _tracked(wanted), k=k, scorer=chosen, stream=stream)
        counted = _Count(rankings)
        searchlab.write_run(file, counted, tag or scorer)
    where = "" if output == "-" else f" → {output}"
    note(f"{_count(len(wanted), 'topic')}, {_count(counted.results, 'result')}{where}")
    if counted.empty:
        more = ", …" if len(counted.empty) > 10 else ""
        note(f"{_count(len(counted.empty), 'topic')} without results: {', '.join(counted.empty[:10])}{more}")


class _Count:
    """Counts results on their way to the file."""

    def __init__(self, rankings: Iterator[Any]) -> None:
        self._rankings = rankings
        self.results = 0
        self.empty: list[str] = []

    def __iter__(self) -> Iterator[Any]:
        for ranking in self._rankings:
            self.results += len(ranking.docnos)
            if not ranking.docnos:
                self.empty.append(ranking.qid)
            yield ranking


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"


def _scorer(name: str, settings: list[str] | None) -> Scorer:
    from searchlab.retrieval.scorers import make_scorer

    pairs = {}
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not equals:
            raise SettingError(f"--set {setting}: expected NAME=VALUE, such as mu=500")
        pairs[key.strip()] = value.strip()
    return make_scorer(name, pairs)


def _open(name: str | None, *, compiled: bool = True) -> SearchEngine:
    import searchlab
    from searchlab.indexing.places import choose

    if name is not None:
        return searchlab.open(name, compiled=compiled)
    folder, of_how_many = choose()
    note(f"index: {folder}" + (f" (the newest of {of_how_many}; -i names another)" if of_how_many > 1 else ""))
    return searchlab.open(folder, compiled=compiled)


def _print_hit(hit: Hit) -> None:
    """Two lines: what was found, and where; matched words are coloured on a terminal, *starred* elsewhere."""
    if sys.stdout.isatty():
        title = "\033[1m" + hit.marked_title.marked("\033[33m", "\033[39m") + "\033[0m"
        snippet = hit.snippet.marked("\033[1;33m", "\033[0m")
    else:
        title, snippet = hit.marked_title.marked("*", "*"), hit.snippet.marked("*", "*")
    print(f"{hit.rank:>3}  {hit.score:8.4f}  {hit.docno}  {title if hit.title else '(no title)'}")
    if snippet:
        print(f"     {snippet}")


def _print_explanation(explanation: Explanation) -> None:
    """A table of the terms, whose weights add up to the score."""
    width = max(len("score"), *(len(part.term) for part in explanation.parts))
    print(f"\n     {'term':{width}}  in query  in document     weight")
    for part in explanation.parts:
        print(f"     {part.term:{width}}  {part.query_count:>8.4g}  {part.tf:>11.4g}  {part.weight:>9.4f}")
    print(f"     {'score':{width}}  {'':>8}  {'':>11}  {explanation.score:>9.4f}\n")


def _as_record(hits: Hits, explanations: list[Explanation | None], engine: SearchEngine, scorer: str) -> dict[str, Any]:
    return {
        "query": hits.query.text,
        "terms": {term.text: term.count for term in hits.query.terms},
        "unknown": list(hits.query.unknown),
        "index": str(engine.snapshot.folder),
        "scorer": scorer,
        "seconds": round(hits.seconds, 6),
        "hits": [
            {
                "rank": hit.rank,
                "score": hit.score,
                "docno": hit.docno,
                "title": hit.title,
                "snippet": hit.snippet.text,
                "marks": [list(mark) for mark in hit.snippet.marks],
                "fields": dict(hit.document.fields),
            }
            | ({"explanation": [asdict(part) for part in explanation.parts]} if explanation else {})
            for hit, explanation in zip(hits, explanations, strict=True)
        ],
    }


def _comment(hits: Hits, engine: SearchEngine) -> None:
    """What a user should know about the results, on standard error."""
    query = hits.query
    if not query.terms and not query.unknown:
        note("no results: the query has only stop words or signs; add a word that says what it is about")
    elif not query.terms:
        note(f"no results: none of its words occurs in the index ({', '.join(query.unknown)})")
    elif query.unknown:
        note(f"not in the index: {', '.join(query.unknown)}")
    if hits:
        found, of = _count(len(hits), "result"), _count(len(engine), "document")
        note(f"{found} from {of} in {hits.seconds * 1000:.1f} ms")


def _warn_of_latin1(notes: Notes) -> None:
    if notes.latin1_lines:
        lines, files = _count(notes.latin1_lines.total(), "line"), _count(len(notes.latin1_lines), "file")
        note(f"not UTF-8, read as Latin-1: {lines} in {files}, first {next(iter(notes.latin1_lines))}")


def _print_summary(summary: BuildSummary, notes: Notes) -> None:
    for skipped in notes.skipped[:10]:
        note(f"skipped {skipped.path}: {skipped.reason}")
    if len(notes.skipped) > 10:
        note(f"skipped {len(notes.skipped) - 10} more files")
    _warn_of_latin1(notes)
    rate = summary.n_docs / summary.seconds
    print(f"{summary.folder}: {_count(summary.n_docs, 'document')} in {summary.seconds:.1f} s ({rate:,.0f}/s)")
    if summary.n_duplicates:
        print(f"  {_count(summary.n_duplicates, 'duplicate')} left out")
    if notes.skipped:
        print(f"  {_count(len(notes.skipped), 'file')} skipped")
    print(f"  {_count(summary.n_terms, 'term')}, {_count(summary.n_tokens, 'token')}")
    print(f"  {summary.n_bytes / 1e6:,.1f} MB in {_count(summary.n_shards, 'shard')}")


@contextmanager
def _progress_bar(notes: Notes) -> Iterator[Progress]:
    """A bar on standard error that moves with the bytes read; silent where there is no terminal."""
    if not sys.stderr.isatty():
        yield lambda stage, n_docs: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = [
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[documents]:,} documents"),
        TextColumn("{task.fields[rate]:,.0f}/s"),
        TimeElapsedColumn(),
    ]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        reading = bar.add_task("reading", total=None, documents=0, rate=0.0)
        # How long writing will take is not known: its bar has no end, and moves to and fro.
        writing = bar.add_task("writing", total=None, documents=0, rate=0.0, visible=False)

        def show(stage: str, n_docs: int) -> None:
            rate = n_docs / (bar.tasks[0].elapsed or 1e-9)
            if stage == "reading":
                total = notes.bytes_total or None
                bar.update(reading, total=total, completed=notes.bytes_read, documents=n_docs, rate=rate)
            else:
                bar.update(reading, visible=False)
                bar.update(writing, visible=True, documents=n_docs, rate=rate)

        yield show


def _tracked(topics: list[Any]) -> Iterator[Any]:
    """Topics with a progress bar on standard error, if it is a terminal."""
    if not sys.stderr.isatty() or len(topics) < 20:
        yield from topics
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(topics, "searching", console=Console(stderr=True), transient=True)
