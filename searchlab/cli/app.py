"""The application: its commands, in the order in which help lists them, and the options that all commands have."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

import typer
import typer.core

from searchlab import __version__
from searchlab.cli.messages import Verbosity, is_quiet, set_verbosity
from searchlab.extensions import load_extensions

# Every command under the section of the help that lists it, with the example at the end of its help.
EXAMPLES = {
    "Indexes": {
        "index": "searchlab index corpora/medical",
        "indexes": "searchlab indexes",
        "stats": "searchlab stats -i medical --top 20",
        "delete": "searchlab delete -i medical med-001 med-002",
        "merge": "searchlab merge -i medical",
        "backup create": "searchlab backup create before-merge -i medical",
        "backup list": "searchlab backup list -i medical",
        "backup restore": "searchlab backup restore before-merge -i medical --force",
        "doctor": "searchlab doctor corpora/medical -i medical",
        "example": "searchlab example medical",
    },
    "Search": {
        "query": 'searchlab query "t-cell lymphoma" -k 3 --explain',
        "run": "searchlab run -i medical --scorer dirichlet -o dirichlet.run",
        "explain": 'searchlab explain "t-cell lymphoma" med-041 med-118',
        "serve": "searchlab serve -i medical",
    },
    "Learning": {
        "features": "searchlab features -i medical --features letor45 -o letor45.txt",
        "semantic": "searchlab semantic -i medical --dims 100",
        "train": "searchlab train -i medical --ranker rsvm-ir -o model.json",
        "rerank": "searchlab rerank model.json letor45.txt -o reranked.run",
        "model show": "searchlab model show model.json",
        "model use": "searchlab model use builtin -i medical",
        "topic-model": "searchlab topic-model -i medical --n-topics 10",
        "train-lm": "searchlab train-lm -i medical --components unigram,title -o weights.json",
    },
    "Evaluation": {
        "eval": "searchlab eval qrels.txt bm25.run dirichlet.run -m nDCG@10 -m AP",
        "compare": "searchlab compare qrels.txt bm25.run dirichlet.run -m AP",
        "fuse": "searchlab fuse bm25.run dirichlet.run -o fused.run",
        "tune": "searchlab tune -i medical --scorer bm25 --grid k1=0.6,0.9,1.2",
        "experiment": "searchlab experiment medical.toml",
        "reproduce letor": "searchlab reproduce letor OHSUMED --rankers rsvm,rsvm-ir -o report",
        "reproduce ohsumed": "searchlab reproduce ohsumed corpora/medical -o report",
        "reproduce simulation": "searchlab reproduce simulation --runs 3",
        "reproduce retrieval": "searchlab reproduce retrieval corpora/medical -o report",
        "judgments import": "searchlab judgments import -i medical --topics topics.tsv --qrels qrels.txt",
        "judgments show": "searchlab judgments show -i medical",
        "judgments agree": "searchlab judgments agree -i medical",
        "judgments export": "searchlab judgments export qrels -i medical -o medical.qrels",
        "judgments backup": "searchlab judgments backup -i medical",
        "judgments restore": "searchlab judgments restore -i medical",
    },
}


class CommandGroup(typer.core.TyperGroup):
    """Commands that all have -q and -v, and end their help with an example."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, command in self.commands.items():
            if not isinstance(command, CommandGroup):
                command.params.extend(_verbosity_options())
                command.epilog = f"\b\nExample: {self._examples[name]}"
        self.epilog = f"\b\nExample: {next(iter(self._examples.values()))}"

    @property
    def _examples(self) -> dict[str, str]:
        """The commands of a group and their examples, in the order of the help."""
        path = f"{self.name} "
        examples = {name: example for section in EXAMPLES.values() for name, example in section.items()}
        return {name.removeprefix(path): example for name, example in examples.items() if name.startswith(path)}

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, in the order of the help."""
        return list(self._examples)


class Interrupted(Exception):
    """Ctrl-C; its arguments say what was done before, if that is known."""


class Application(CommandGroup):
    """All commands; help lists them in sections."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; typer would drop what an interrupt says."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted(*error.args) from error

    @property
    def _examples(self) -> dict[str, str]:
        return {name: example for section in EXAMPLES.values() for name, example in section.items()}

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, in the order of the help."""
        return list(dict.fromkeys(name.split()[0] for name in self._examples))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the sections of the help."""
        width = formatter.width - 6 - max(map(len, self.commands))
        for title, section in EXAMPLES.items():
            names = dict.fromkeys(name.split()[0] for name in section)
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(width)) for name in names])


app = typer.Typer(
    name="searchlab",
    cls=Application,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def begin_command(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    extension: Annotated[
        list[str] | None,
        typer.Option(
            "--extension",
            metavar="MODULE",
            help="Load your own features, scorers, …: a module or a .py file; repeatable; also from the environment, "
            "as SEARCHLAB_EXTENSIONS, separated by commas",
        ),
    ] = None,
) -> None:
    """Index a corpus, search it with exact classic scorers, and run TREC-style experiments."""
    load_extensions(extension or ())
    if version:
        print(f"searchlab {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def add_group(name: str, help: str) -> typer.Typer:
    """A command with sub-commands, added to the application; without a sub-command it prints its help."""
    group = typer.Typer(name=name, help=help, cls=CommandGroup, rich_markup_mode=None)
    app.add_typer(group)

    @group.callback(invoke_without_command=True)
    def print_help(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            print(context.get_help())

    return group


def _be_quiet(value: bool) -> None:
    if value:
        set_verbosity(Verbosity.QUIET)


def _be_verbose(value: bool) -> None:
    if value and is_quiet():
        raise typer.BadParameter("expected one of --quiet and --verbose, found both")
    if value:
        set_verbosity(Verbosity.VERBOSE)


@cache
def _verbosity_options() -> list[Any]:
    """The options -q and -v, as typer makes them."""
    donor = typer.Typer(add_completion=False)

    @donor.command()
    def options(
        quiet: Annotated[
            bool,
            typer.Option(
                "-q",
                "--quiet",
                help="Print no notes, only warnings and errors.",
                callback=_be_quiet,
                expose_value=False,
                is_eager=True,
            ),
        ] = False,
        verbose: Annotated[
            bool,
            typer.Option(
                "-v",
                "--verbose",
                help="Print details, such as timings.",
                callback=_be_verbose,
                expose_value=False,
            ),
        ] = False,
    ) -> None: ...

    return typer.main.get_command(donor).params
