"""The commands of a session: `COMMANDS` has the action, the arguments, the help and the completions of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from searchlab.cli.messages import note
from searchlab.cli.printing.explanation_printing import print_explanation
from searchlab.cli.printing.hit_printing import print_document
from searchlab.cli.printing.pager import paged
from searchlab.cli.printing.terminal_text import printable
from searchlab.cli.search_options import pairs
from searchlab.errors import SettingError, name_some, unknown_name
from searchlab.retrieval.expansion import RM3
from searchlab.retrieval.fields.facets import parse_fields
from searchlab.retrieval.fields.sorting import SortOrder
from searchlab.scorers.base import Scorer
from searchlab.scorers.registry import SCORERS

if TYPE_CHECKING:
    from searchlab.cli.session.session_loop import Session

# Further names of fields are only counted.
MAX_FIELDS_SHOWN = 12


def _no_choices(session: Session) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class SessionCommand:
    """A command, typed after a colon; `choices` complete its first argument, or every argument if it `repeats`."""

    execute: Callable[[Session, str], None]
    arguments: str
    help: str
    choices: Callable[[Session], Iterable[str]] = _no_choices
    repeats: bool = False


def find_command(written: str) -> SessionCommand:
    """The command of this name, or the only one that begins with it."""
    name = ABBREVIATIONS.get(written, written)
    if not name:
        raise SettingError("expected a command after the colon, such as :help")
    if name in COMMANDS:
        return COMMANDS[name]
    matches = [command for command in COMMANDS if command.startswith(name)]
    if not matches:
        raise unknown_name("command", f":{name}", [f":{command}" for command in COMMANDS])
    if len(matches) > 1:
        raise SettingError(f":{name} could be {' or '.join(f':{command}' for command in matches)}")
    return COMMANDS[matches[0]]


def settings_of(scorer: Scorer) -> dict[str, str]:
    """The settings of a scorer as users write them; None is written as default."""
    settings = [field for field in fields(scorer) if field.metadata.get("is_setting", True)]  # type: ignore[arg-type]
    values = {field.name.rstrip("_"): getattr(scorer, field.name) for field in settings}
    written = {name: "default" if value is None else value for name, value in values.items()}
    return {name: value if isinstance(value, str) else f"{value:g}" for name, value in written.items()}


def field_names(session: Session) -> list[str]:
    """The fields that a query can name, without control characters."""
    return ["title", "body", "docno", *map(printable, session.engine.snapshot.field_names)]


def _describe_scorer(session: Session) -> str:
    settings = settings_of(session.options.scorer).items()
    return f"scorer {session.options.scorer_name}: {' '.join(f'{name}={value}' for name, value in settings)}"


def _scorer(session: Session, argument: str) -> None:
    if not argument:
        print(f"{_describe_scorer(session)}\navailable: {', '.join(SCORERS)}")
        return
    name, *settings = argument.split()
    session.set_options(replace(session.options, scorer_name=name, settings=dict(pairs(settings, f":scorer {name}"))))
    note(_describe_scorer(session))


def _set(session: Session, argument: str) -> None:
    if not argument:
        print(_describe_scorer(session))
        return
    settings = session.options.settings | dict(pairs(argument.split(), ":set"))
    session.set_options(replace(session.options, settings=settings))
    note(_describe_scorer(session))


def _k(session: Session, argument: str) -> None:
    if not argument:
        print(f"k: {session.k}")
        return
    session.set_k(_whole_number(argument, ":k", "the number of results to show"))
    note(f"k: {session.k}")


def _stream(session: Session, argument: str) -> None:
    if not argument:
        print(f"stream: {session.options.stream}\navailable: {', '.join(session.engine.snapshot.streams)}")
        return
    session.set_options(replace(session.options, stream=argument))
    note(f"stream: {session.options.stream}")


def _describe_filters(session: Session) -> str:
    return f"filters: {printable(', '.join(session.options.filters)) or 'none'}"


def _filter(session: Session, argument: str) -> None:
    if not argument:
        print(f"{_describe_filters(session)}\nfields: {name_some(field_names(session)[2:], MAX_FIELDS_SHOWN)}")
        return
    filters = () if argument == "off" else tuple(dict.fromkeys((*session.options.filters, argument)))
    session.set_options(replace(session.options, filters=filters))
    note(_describe_filters(session))


def _sort(session: Session, argument: str) -> None:
    if argument:
        order = None if argument == "off" else str(SortOrder.parse(argument))
        session.set_options(replace(session.options, sort=order))
    (note if argument else print)(f"sort: {printable(session.options.sort or 'by score')}")


def _facet(session: Session, argument: str) -> None:
    if argument:
        fields = () if argument == "off" else tuple(parse_fields([argument]))
        session.set_options(replace(session.options, facets=fields))
    (note if argument else print)(f"facets: {printable(', '.join(session.options.facets)) or 'none'}")


def _describe_expansion(session: Session) -> str:
    expansion = session.options.expansion
    if expansion is None:
        return "expansion: off"
    settings = (f"{field.name}={getattr(expansion, field.name):g}" for field in fields(expansion))
    return f"expansion: rm3:{','.join(settings)}"


def _expand(session: Session, argument: str) -> None:
    if not argument:
        print(_describe_expansion(session))
        return
    session.set_options(replace(session.options, expand=None if argument == "off" else argument))
    note(_describe_expansion(session))


def _explain(session: Session, argument: str) -> None:
    last, hit = session.numbered_hit(_result_number(argument, ":explain"))
    if not last.hits.query.terms:
        note("no term adds to the score: the query only filters")
        return
    print_explanation(last.search.explain([hit.docno])[0], None)


def _open(session: Session, argument: str) -> None:
    last, hit = session.numbered_hit(_result_number(argument, ":open"))
    with paged():
        print_document(hit.document, last.hits.query, session.engine.snapshot)


def _similar(session: Session, argument: str) -> None:
    _, hit = session.numbered_hit(_result_number(argument, ":similar"))
    note(f"similar to {hit.docno}  {hit.title}")
    session.search_similar(hit.docno)


def _next(session: Session, argument: str) -> None:
    session.show_more()


def _help(session: Session, argument: str) -> None:
    with paged():
        _print_help(session)


def _print_help(session: Session) -> None:
    _print_table({f":{name} {command.arguments}".rstrip(): command.help for name, command in COMMANDS.items()})
    print("\nCommands can be abbreviated: :o 2 is :open 2, :e is :explain, :f is :filter.")
    if session.options.syntax == "plain":
        print("A line without a colon is a query of plain words.")
        return
    print("A line without a colon is a query: words, any of which should occur, or\n")
    _print_table(SYNTAX_EXAMPLES)
    print(f"\nFields of this index: {name_some(field_names(session), MAX_FIELDS_SHOWN)}")


def _print_table(rows: dict[str, str]) -> None:
    width = max(map(len, rows))
    print("\n".join(f"  {row:{width}}  {text}" for row, text in rows.items()))


def _quit(session: Session, argument: str) -> None:
    session.ended = True


def _result_number(argument: str, command: str) -> int:
    return _whole_number(argument, command, "the number of a result")


def _whole_number(argument: str, command: str, meaning: str) -> int:
    # int() also accepts "١" and "1_0".
    if not (argument.isascii() and argument.isdecimal() and len(argument) < 10):
        found = f", found {argument!r}" if argument else ""
        raise SettingError(f"{command}: expected {meaning}, as in {command} 3{found}")
    return int(argument)


# Examples of the full query syntax.
SYNTAX_EXAMPLES = {
    '"t-cell lymphoma"': "a phrase; followed by ~3, with up to 2 words between",
    "lymphoma AND (t OR b)": "AND, OR and NOT, in capitals; brackets",
    "+lymphoma cell -skin": "must have lymphoma, may have cell, not skin",
    "title:lymphoma": "only in this field",
    "year:[1988 TO 1990]": "a range of values of a field; [1988 TO] is open",
    "year:1988": "only this value of a field of numbers",
    "lymph*  wom?n": "* is any letters, ? is one letter",
    "lymphma~": "similar spelling: one letter differs, or two with ~2",
    "lymphoma^2 cell": "lymphoma counts twice",
}

COMMANDS: dict[str, SessionCommand] = {
    "scorer": SessionCommand(_scorer, "[NAME]", "choose a scorer; without a name, list all", lambda _: SCORERS),
    "set": SessionCommand(
        _set,
        "[NAME=VALUE …]",
        "change settings of the scorer, as k1=0.9 b=0.4",
        lambda session: [f"{name}=" for name in settings_of(session.options.scorer)],
        repeats=True,
    ),
    "k": SessionCommand(_k, "[N]", "change the number of results shown"),
    "stream": SessionCommand(
        _stream,
        "[NAME]",
        "search this text: title, body, both or ngrams",
        lambda session: session.engine.snapshot.streams,
    ),
    "filter": SessionCommand(
        _filter,
        "[FIELD=VALUE | off]",
        "add a filter, as year=[1988 TO 1990]; off: none",
        lambda session: ["off", *(f"{name}=" for name in field_names(session)[2:])],
    ),
    "sort": SessionCommand(
        _sort,
        "[FIELD:desc | off]",
        "order results, as year:desc; off: by score",
        lambda session: ["off", *(f"{name}:{way}" for name in field_names(session)[3:] for way in ("asc", "desc"))],
    ),
    "facet": SessionCommand(
        _facet,
        "[FIELD,… | off]",
        "count values, as year,journal; off: none",
        lambda session: ["off", *field_names(session)[3:]],
    ),
    "expand": SessionCommand(
        _expand,
        "[rm3 | off]",
        "add words of the best documents to queries",
        lambda session: ["off", "rm3", *(f"rm3:{field.name}=" for field in fields(RM3))],
    ),
    "explain": SessionCommand(_explain, "N", "show what each term adds to the score"),
    "open": SessionCommand(_open, "N", "show the whole document of result N"),
    "similar": SessionCommand(_similar, "N", "search for documents similar to result N"),
    "next": SessionCommand(_next, "", "show the next results of the last search"),
    "help": SessionCommand(_help, "", "show this list"),
    "quit": SessionCommand(_quit, "", "end the session, as Ctrl-D does"),
}

# Ambiguous abbreviations that are needed too often to be refused.
ABBREVIATIONS = {"e": "explain", "f": "filter"}
