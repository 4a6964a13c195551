"""Which commands does a session know?

`COMMANDS` has them all: what each does, what it expects, its line of help, and what its arguments can be completed to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from searchlab.cli.app import note
from searchlab.cli.printing import print_document, print_explanation, visible
from searchlab.cli.search_options import pairs
from searchlab.errors import SettingError, name_some, unknown_name
from searchlab.indexing.storage.columns import STREAMS
from searchlab.retrieval.expansion import RM3, similar_query
from searchlab.scorers.base import Scorer
from searchlab.scorers.registry import SCORERS

if TYPE_CHECKING:
    from searchlab.cli.session.session_loop import Session

# More names than these are not told in one line.
MOST_FIELDS = 12


def _no_choices(session: Session) -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class Command:
    """What a line with a colon in front does; `choices` complete its argument, or, if it `repeats`, each one."""

    act: Callable[[Session, str], None]
    arguments: str
    help: str
    choices: Callable[[Session], Iterable[str]] = _no_choices
    repeats: bool = False


def find_command(written: str) -> Command:
    """The command that a user means: its name, or enough of its beginning to tell it from the others."""
    name = SHORT.get(written, written)
    if not name:
        raise SettingError("expected a command behind the colon, such as :help")
    if name in COMMANDS:
        return COMMANDS[name]
    meant = [known for known in COMMANDS if known.startswith(name)]
    if not meant:
        raise unknown_name("command", f":{name}", [f":{known}" for known in COMMANDS])
    if len(meant) > 1:
        raise SettingError(f":{name} could be {' or '.join(f':{known}' for known in meant)}")
    return COMMANDS[meant[0]]


def settings_of(scorer: Scorer) -> dict[str, str]:
    """The settings of a scorer as users write them; one that is left open has its default."""
    settings = [field for field in fields(scorer) if field.metadata.get("is_setting", True)]  # type: ignore[arg-type]
    values = {field.name.rstrip("_"): getattr(scorer, field.name) for field in settings}
    written = {name: "default" if value is None else value for name, value in values.items()}
    return {name: value if isinstance(value, str) else f"{value:g}" for name, value in written.items()}


def field_names(session: Session) -> list[str]:
    """What a query can ask for by name, harmless to print."""
    return ["title", "body", "docno", *map(visible, session.engine.snapshot.field_names)]


def _describe_scorer(session: Session) -> str:
    settings = settings_of(session.asking.scorer).items()
    return f"scorer {session.asking.scorer_name}: {' '.join(f'{name}={value}' for name, value in settings)}"


def _scorer(session: Session, argument: str) -> None:
    if not argument:
        print(f"{_describe_scorer(session)}\nthere is: {', '.join(SCORERS)}")
        return
    name, *settings = argument.split()
    session.choose(replace(session.asking, scorer_name=name, settings=dict(pairs(settings, f":scorer {name}"))))
    note(_describe_scorer(session))


def _set(session: Session, argument: str) -> None:
    if not argument:
        print(_describe_scorer(session))
        return
    settings = session.asking.settings | dict(pairs(argument.split(), ":set"))
    session.choose(replace(session.asking, settings=settings))
    note(_describe_scorer(session))


def _k(session: Session, argument: str) -> None:
    if not argument:
        print(f"k: {session.k}")
        return
    session.choose_k(_whole_number(argument, ":k", "how many results to show"))
    note(f"k: {session.k}")


def _stream(session: Session, argument: str) -> None:
    if not argument:
        print(f"stream: {session.asking.stream}\nthere is: {', '.join(STREAMS)}")
        return
    session.choose(replace(session.asking, stream=argument))
    note(f"stream: {session.asking.stream}")


def _describe_filters(session: Session) -> str:
    return f"filters: {visible(', '.join(session.asking.filters)) or 'none'}"


def _filter(session: Session, argument: str) -> None:
    if not argument:
        print(f"{_describe_filters(session)}\nfields: {name_some(field_names(session)[2:], MOST_FIELDS)}")
        return
    filters = () if argument == "off" else tuple(dict.fromkeys((*session.asking.filters, argument)))
    session.choose(replace(session.asking, filters=filters))
    note(_describe_filters(session))


def _describe_expansion(session: Session) -> str:
    expansion = session.asking.expansion
    if expansion is None:
        return "expansion: off"
    settings = (f"{field.name}={getattr(expansion, field.name):g}" for field in fields(expansion))
    return f"expansion: rm3:{','.join(settings)}"


def _expand(session: Session, argument: str) -> None:
    if not argument:
        print(_describe_expansion(session))
        return
    session.choose(replace(session.asking, expand=None if argument == "off" else argument))
    note(_describe_expansion(session))


def _explain(session: Session, argument: str) -> None:
    found, hit = session.result(_result_number(argument, ":explain"))
    if not found.hits.query.terms:
        note("no term adds to the score: the query only selects")
        return
    print_explanation(found.asking.explain(session.engine, found.hits.query, hit.docno))


def _open(session: Session, argument: str) -> None:
    found, hit = session.result(_result_number(argument, ":open"))
    print_document(hit.document, found.hits.query, session.engine.snapshot.analyzer)


def _similar(session: Session, argument: str) -> None:
    _, hit = session.result(_result_number(argument, ":similar"))
    query = similar_query(session.engine, hit.docno, stream=session.asking.stream)
    note(f"like {visible(hit.docno)}  {visible(hit.title)}")
    session.search(query, without=hit.docno)


def _next(session: Session, argument: str) -> None:
    session.show_more()


def _help(session: Session, argument: str) -> None:
    _print_table({f":{name} {command.arguments}".rstrip(): command.help for name, command in COMMANDS.items()})
    print("\nThe beginning of a command is enough, as in :o 2; :e is :explain.")
    if session.asking.syntax == "plain":
        print("Every line without a colon is a query of plain words.")
        return
    print("Every line without a colon is a query, of words that should occur, or of\n")
    _print_table(LANGUAGE)
    print(f"\nFields of this index: {name_some(field_names(session), MOST_FIELDS)}")


def _print_table(rows: dict[str, str]) -> None:
    width = max(map(len, rows))
    print("\n".join(f"  {row:{width}}  {text}" for row, text in rows.items()))


def _quit(session: Session, argument: str) -> None:
    session.ended = True


def _result_number(argument: str, command: str) -> int:
    return _whole_number(argument, command, "the number of a result")


def _whole_number(argument: str, command: str, meaning: str) -> int:
    # Python takes "١" and "1_0" for numbers, too.
    if not (argument.isascii() and argument.isdecimal() and len(argument) < 10):
        found = f", found {argument!r}" if argument else ""
        raise SettingError(f"{command}: expected {meaning}, as in {command} 3{found}")
    return int(argument)


# How a query can be written, in examples.
LANGUAGE = {
    '"t-cell lymphoma"': "a phrase; with ~3 behind it, up to 2 words between",
    "lymphoma AND (t OR b)": "AND, OR and NOT, in capitals; brackets",
    "+lymphoma cell -skin": "with lymphoma, without skin, best with cell",
    "title:lymphoma": "in one field",
    "year:[1988 TO 1990]": "from one value of a field to another; [1988 TO]",
    "lymph*  wom?n": "any letters for *, one for ?",
    "lymphma~": "spelt like this: one letter differs, or two with ~2",
    "lymphoma^2 cell": "lymphoma counts twice",
}

COMMANDS: dict[str, Command] = {
    "scorer": Command(_scorer, "[NAME]", "how to score; alone, shows what there is", lambda session: SCORERS),
    "set": Command(
        _set,
        "[NAME=VALUE …]",
        "settings of the scorer, such as k1=0.9 b=0.4",
        lambda session: [f"{name}=" for name in settings_of(session.asking.scorer)],
        repeats=True,
    ),
    "k": Command(_k, "[N]", "how many results to show"),
    "stream": Command(_stream, "[NAME]", "which text to search: title, body or both", lambda session: STREAMS),
    "filter": Command(
        _filter,
        "[FIELD=VALUE | off]",
        "only such documents, also year=[1988 TO 1990]",
        lambda session: ["off", *(f"{name}=" for name in field_names(session)[2:])],
    ),
    "expand": Command(
        _expand,
        "[rm3 | off]",
        "add words of the best documents to each query",
        lambda session: ["off", "rm3", *(f"rm3:{field.name}=" for field in fields(RM3))],
    ),
    "explain": Command(_explain, "N", "what each term adds to the score of result N"),
    "open": Command(_open, "N", "the whole document, with matches marked"),
    "similar": Command(_similar, "N", "documents like result N"),
    "next": Command(_next, "", "the next results of the last query"),
    "help": Command(_help, "", "this list"),
    "quit": Command(_quit, "", "end; so does Ctrl-D"),
}

# Beginnings that are ambiguous, but needed too often to be refused.
SHORT = {"e": "explain"}
