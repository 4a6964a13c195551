"""Sessions on a pipe and on a terminal: queries, commands, completion and history."""

import io
import os
import re
import stat
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document as TypedText
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

import searchlab
from searchlab.cli.printing.terminal_text import n_columns
from searchlab.cli.search_options import SearchOptions
from searchlab.cli.session import prompt
from searchlab.cli.session.completion import complete
from searchlab.cli.session.session_commands import ABBREVIATIONS, COMMANDS, SYNTAX_EXAMPLES
from searchlab.cli.session.session_loop import Session
from searchlab.errors import SettingError
from searchlab.records import Document

DOCUMENTS = [
    Document("d1", "Alpha beta", "alpha alpha beta gamma", {"year": 1988, "topic": ["greek", "letters"]}),
    Document("d2", "Alpha", "alpha delta", {"year": 1990}),
    Document("d3", "Beta", "beta beta epsilon", {"year": 1995}),
    Document("d4", "", "alpha omega"),
    Document("d5", "Lonely", "zeta"),
]


@pytest.fixture(scope="module")
def folder(build):
    return build(DOCUMENTS, words_per_shard=6)


@pytest.fixture
def ask(folder, run_cli, monkeypatch):
    """Send lines to a session through the command line: gives its output and its error output."""

    def send(*lines, options=()):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        code, out, err = run_cli("query", "-i", folder, *options)
        assert code == 0
        return out, err

    return send


@pytest.fixture
def session(folder):
    with searchlab.open(folder, compiled=False) as engine:
        yield Session(engine, SearchOptions(syntax="full"), 10)


def docnos(out):
    return re.findall(r"^ *\d+ +-?\d+\.\d{4}  (\S+)", out, re.MULTILINE)


def ranks(out):
    return [int(rank) for rank in re.findall(r"^ *(\d+) +-?\d+\.\d{4}  \S", out, re.MULTILINE)]


# --- queries


def test_every_line_is_a_query_and_is_answered_as_the_command_line_would(ask, run_cli, folder):
    out, err = ask("alpha", "beta AND NOT gamma")
    expected = [run_cli("query", query, "-i", folder)[1] for query in ("alpha", "beta AND NOT gamma")]
    assert out == "".join(expected)
    assert docnos(expected[1]) == ["d3"]
    assert re.findall(r"^(\d+ results?) from 5 documents in ", err, re.MULTILINE) == ["3 results", "1 result"]


def test_empty_lines_and_the_end_of_input_say_nothing(ask):
    assert ask() == ask("", "   ", "\t") == ("", "")


def test_a_last_line_without_its_end_is_answered(run_cli, folder, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("zeta"))
    assert docnos(run_cli("query", "-i", folder)[1]) == ["d5"]


def test_the_options_of_the_command_line_are_where_a_session_begins(ask):
    out, _ = ask(":scorer", ":k", "title:alpha", options=["--scorer", "jm", "--set", "lambda=0.3", "-k", "2"])
    assert out.startswith("scorer jm: lambda=0.3\n")
    assert "k: 2\n" in out
    assert len(docnos(out)) == 2
    plain, err = ask('"alpha omega"', options=["--syntax", "plain"])
    assert len(docnos(plain)) == 3, "in plain words, a phrase is its words"
    assert err.startswith("3 results")


@pytest.mark.parametrize("options", [["-k", "0"], ["--filter", "colour=red"], ["--stream", "all"]])
def test_a_wrong_option_ends_a_session_before_it_begins(run_cli, folder, monkeypatch, options):
    monkeypatch.setattr(sys, "stdin", io.StringIO("alpha\n"))
    code, out, err = run_cli("query", "-i", folder, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_a_query_that_finds_nothing_says_why_and_the_session_goes_on(ask):
    out, err = ask("unheard", "gamma AND delta", "zeta")
    assert docnos(out) == ["d5"]
    assert "no results: none of the words occurs in the index (unheard)\n" in err
    assert "no results: no document matches the whole query and all filters\n" in err


# --- settings


def test_sort_orders_the_results_and_those_that_follow(ask):
    out, err = ask(":sort", ":sort year:desc", "alpha beta", ":next", ":sort off", ":sort colour", options=["-k", "2"])
    assert out.startswith("sort: by score\n")
    assert docnos(out) == ["d3", "d2", "d1", "d4"]
    assert ranks(out) == [1, 2, 3, 4]
    assert "sort: year:desc\n" in err
    assert "sort: by score\n" in err
    assert "unknown field 'colour'" in err


def test_facet_counts_values_of_all_results(ask):
    out, err = ask(":facet year,topic", "alpha", ":facet off", ":facet", ":facet colour", options=["-k", "1"])
    assert "\nyear: 2 values, 1 document without\n     1988  1  ████" in out
    assert "\ntopic: 2 values, 2 documents without\n     greek    1  █" in out
    assert out.endswith("facets: none\n")
    assert "unknown field 'colour'" in err


def test_scorer_lists_all_scorers_and_changes_it(ask):
    out, err = ask(":scorer", ":scorer dirichlet", "alpha")
    assert out.startswith("scorer bm25: k1=1.2 b=0.75 idf=never-negative\navailable: absolute, bm25,")
    assert err.startswith("scorer dirichlet: mu=1000\n")
    assert "  -" in out.splitlines()[2], "log-probabilities are negative"


def test_scorer_forgets_the_settings_of_the_one_before_and_takes_its_own(ask):
    _, err = ask(":set k1=2", ":scorer dirichlet mu=7", ":scorer bm25")
    assert err.splitlines() == [
        "scorer bm25: k1=2 b=0.75 idf=never-negative",
        "scorer dirichlet: mu=7",
        "scorer bm25: k1=1.2 b=0.75 idf=never-negative",
    ]


def test_set_adds_to_the_settings_and_shows_them(ask):
    out, err = ask(":set k1=2", ":set b=0 idf=robertson", ":set")
    assert out == err.splitlines(keepends=True)[-1] == "scorer bm25: k1=2 b=0 idf=robertson\n"


def test_k_changes_how_many_results_are_shown(ask):
    out, err = ask(":k 1", "alpha", ":k")
    assert (len(docnos(out)), out.splitlines()[-1]) == (1, "k: 1")
    assert err.startswith("k: 1\n1 of 3 results ")


def test_stream_chooses_the_text(ask):
    out, err = ask(":stream title", "alpha", ":stream")
    assert sorted(docnos(out)) == ["d1", "d2"]
    assert out.endswith("stream: title\navailable: title, body, both\n")
    assert err.startswith("stream: title\n")


def test_filters_add_up_are_shown_and_go(ask):
    out, err = ask(":filter year=[1988 TO 1990]", ":filter topic=greek", "alpha", ":filter", ":filter off", "alpha")
    assert docnos(out)[0] == "d1"
    assert len(docnos(out)) == 1 + 3
    assert "filters: year=[1988 TO 1990], topic=greek\nfields: docno, topic, year\n" in out
    assert err.splitlines()[:2] == ["filters: year=[1988 TO 1990]", "filters: year=[1988 TO 1990], topic=greek"]
    assert "filters: none" in err.splitlines()


def test_expand_adds_words_of_the_best_documents(ask):
    out, err = ask("omega", ":expand rm3:documents=1,terms=2,weight=0.5", ":expand", "omega", ":expand off", "omega")
    first, second = out.split("expansion: rm3:documents=1,terms=2,weight=0.5\n")
    # d4, the only one with omega, also has alpha, which three documents have.
    assert docnos(first) == ["d4"]
    assert [docnos(second)[0], docnos(second)[-1], len(docnos(second))] == ["d4", "d4", 4]
    assert "expansion: off" in err.splitlines()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (":scorer bm26", "unknown scorer 'bm26' (did you mean bm25?); there is: absolute, "),
        (":scorer jm mu=3", "unknown setting of jm 'mu'; there is: lambda"),
        (":scorer jm 3", ":scorer jm 3: expected NAME=VALUE"),
        (":set k1=much", "bm25: k1 is 'much', expected a number"),
        (":set k1=-1", "k1 is -1"),
        (":set k1", ":set k1: expected NAME=VALUE"),
        (":set mu=1", "unknown setting of bm25 'mu'; there is: b, idf, k1"),
        (":stream all", "unknown stream 'all'; there is: body, both, title"),
        (":filter year", "filter is 'year', expected field=value"),
        (":filter yaer=1988", "unknown field 'yaer' (did you mean year?)"),
        (":expand rm4", "unknown expansion 'rm4' (did you mean rm3?)"),
        (":expand rm3:weight=2", "RM3: weight is 2.0, expected a number from 0 to 1"),
        (":k 0", "k is 0, expected 1 or more"),
        (":k -1", ":k: expected the number of results to show, as in :k 3, found '-1'"),
        (":k many", ":k: expected the number of results to show, as in :k 3, found 'many'"),
    ],
)
def test_a_wrong_value_leaves_the_settings_as_they_were_and_says_why(session, capsys, line, message):
    session.execute(":set b=0.5")
    before = session.options, session.k
    with pytest.raises(SettingError, match=re.escape(message)):
        session.execute(line)
    assert (session.options, session.k) == before
    session.execute("alpha")
    assert len(docnos(capsys.readouterr().out)) == 3


def test_settings_that_do_not_go_together_are_refused(session):
    session.execute(":stream title")
    with pytest.raises(SettingError, match="bm25f weighs the fields itself"):
        session.execute(":scorer bm25f")
    assert session.options == SearchOptions(stream="title", syntax="full")


# --- results


def test_explain_shows_weights_that_add_up_to_the_score(ask):
    out, _ = ask("alpha beta", ":explain 2")
    hits, table = out.split("\n\n", 1)
    score = hits.splitlines()[2].split()[1]
    assert [line.split()[0] for line in table.strip().splitlines()] == ["term", "beta", "alpha", "score"]
    assert table.split()[-1] == score


def test_explain_uses_the_scorer_of_the_search_not_one_chosen_later(ask):
    out, _ = ask("alpha beta", ":scorer jm", ":explain 1")
    assert out.split()[-1] == out.split()[1]


def test_explain_of_a_query_that_only_selects_says_so(ask):
    out, err = ask("year:[1988 TO 1990]", ":explain 1")
    assert len(docnos(out)) == 2
    assert err.endswith("no term adds to the score: the query only filters\n")


def test_open_shows_title_fields_and_all_of_the_text_with_matches_marked(ask):
    out, _ = ask("+gamma topic:letters", ":open 1")
    assert out.split("\n", 2)[2] == (
        "d1  Alpha beta\n  year   1988\n  topic  greek; *letters*\n\nalpha alpha beta *gamma*\n"
    )


def test_open_shows_what_a_document_lacks(ask):
    out, _ = ask("omega", ":open 1")
    assert out.split("\n", 2)[2] == "d4  (no title)\n\nalpha *omega*\n"


def test_similar_documents_do_not_include_the_document_itself(ask):
    out, err = ask("gamma", ":similar 1", ":k 1", ":similar 1")
    first, *others = docnos(out)
    assert first == "d1"
    # d2 and d4 share alpha with d1, d3 shares beta; then the first of these is left out in its turn.
    assert sorted(others[:3]) == ["d2", "d3", "d4"]
    assert len(others) == 4
    assert others[3] != others[0]
    assert ranks(out) == [1, 1, 2, 3, 1]
    assert "similar to d1  Alpha beta\n3 results from 5 documents in " in err


def test_similar_results_can_be_continued_and_explained(ask):
    out, err = ask(":k 2", "gamma", ":similar 1", ":next", ":next", ":explain 3")
    _, *others = docnos(out)
    assert sorted(others) == ["d2", "d3", "d4"]
    assert ranks(out) == [1, 1, 2, 3]
    assert err.endswith("results 3 to 3\nno more results\n")
    assert out.rsplit(maxsplit=1)[1] == re.findall(r"^  3 +(\S+)", out, re.MULTILINE)[0]


def test_a_document_like_no_other_is_said_to_be_so(ask):
    out, err = ask("zeta", ":similar 1")
    assert docnos(out) == ["d5"]
    assert err.endswith("no results: no other document shares a word with d5\n")


def test_filters_hold_for_similar_documents(ask):
    out, err = ask("gamma", ":filter year=1990", ":similar 1", ":filter year=1988", "gamma", ":similar 1")
    assert docnos(out) == ["d1", "d2"]
    # The second filter is added to the first: no document has both years.
    assert "no results: no document matches the whole query and all filters\n" in err
    assert err.endswith("searchlab: no result 1: the last search has 0 results\n")


def test_next_shows_the_ranking_piece_by_piece(ask):
    whole = ask("alpha beta")[0]
    out, err = ask(":k 1", "alpha beta", ":next", ":k 2", ":next", ":next", ":next")
    assert out == whole
    assert ranks(out) == [1, 2, 3, 4]
    assert re.sub(r" from.*", "", err).splitlines() == [
        "k: 1",
        "1 of 4 results",
        "results 2 to 2",
        "k: 2",
        "results 3 to 4",
        "no more results",
        "no more results",
    ]


def test_next_goes_on_as_the_search_was_asked_for(ask):
    out, _ = ask(":k 2", "alpha beta", ":filter year=1995", ":scorer jm", ":next")
    assert out == ask("alpha beta")[0]


@pytest.mark.parametrize("command", [":next", ":explain 1", ":open 1", ":similar 1"])
def test_commands_about_results_need_some(ask, command):
    assert ask(command) == ("", "searchlab: no results yet: type words to search for\n")


@pytest.mark.parametrize("command", [":explain", ":open", ":similar"])
@pytest.mark.parametrize("number", ["", "x", "0", "4", "-1", "1.5", "1 2", "٣", "9" * 5000])
def test_a_number_that_is_no_result_is_refused(ask, command, number):
    out, err = ask("alpha", f"{command} {number}", "zeta")
    assert docnos(out)[-1] == "d5"
    (message,) = [line for line in err.splitlines() if line.startswith("searchlab: ")]
    expected = f"{command}: expected the number of a result, as in {command} 3"
    assert expected in message or message == f"searchlab: no result {number}: the last search has 3 results"


# --- commands


def test_help_names_every_command_and_shows_the_query_syntax(ask):
    out, err = ask(":help")
    assert err == ""
    for name, command in COMMANDS.items():
        assert re.search(rf"^  :{name}\b.*  {re.escape(command.help)}$", out, re.MULTILINE)
    assert len(COMMANDS) == 14
    assert out.endswith("\nFields of this index: title, body, docno, topic, year\n")
    assert max(map(len, out.splitlines())) <= 80


def test_help_of_a_plain_session_shows_no_syntax(ask):
    out, _ = ask(":help", options=["--syntax", "plain"])
    assert out.endswith("A line without a colon is a query of plain words.\n")


def test_the_examples_of_the_query_syntax_are_understood(session):
    queries = [query for row in SYNTAX_EXAMPLES for query in re.split(r"\s{2,}", row)]
    assert len(queries) > 5
    for query in queries:
        parsed = session.engine.parse(query, syntax="full")
        assert parsed.node is not None, query
        assert parsed.remarks == (), query


def test_quit_ends_before_the_input_does(ask):
    assert ask(":quit", "alpha", ":scorer bm26") == ("", "")


@pytest.mark.parametrize(
    ("short", "whole"), [(":h", ":help"), (":sc", ":scorer"), (":q", ":quit"), (":f", ":filter"), (":K", None)]
)
def test_the_beginning_of_a_command_is_enough(ask, short, whole):
    if whole is None:
        assert ask(short)[1].startswith("searchlab: unknown command ':K'")
    else:
        assert ask(short) == ask(whole)


def test_e_is_explain_although_expand_begins_alike(ask):
    assert ABBREVIATIONS == {"e": "explain", "f": "filter"}
    assert ask("alpha", ":e 1")[0] == ask("alpha", ":explain 1")[0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (":s 1", ":s could be :scorer or :set or :stream or :sort or :similar"),
        (":ex rm3", ":ex could be :expand or :explain"),
        (":scoer jm", "unknown command ':scoer' (did you mean :scorer?); there is: :expand, "),
        (":", "expected a command after the colon, such as :help"),
        (": help", None),
        (":\x1b[2J", "unknown command"),
    ],
)
def test_an_unknown_command_is_refused_in_one_line_and_the_session_goes_on(ask, line, message):
    out, err = ask(line, "zeta")
    if message is None:
        assert ":quit" in out
        return
    assert docnos(out) == ["d5"]
    assert err.startswith(f"searchlab: {message}")
    assert err.count("\n") == 2
    assert "\x1b" not in err


# --- hostile documents


HOSTILE = "\x1b]0;pwned\x07\x1b[2J\x9b31m\x00\r\x08\u202e"


@pytest.fixture
def hostile_folder(build):
    # No reader lets these through, but the Python API does, except in docnos.
    body = f"alpha{HOSTILE}\nbeta\x0bgamma\x85"
    fields = {f"x{HOSTILE}": [HOSTILE, 1]}
    return build([Document("d\u202e", f"alpha{HOSTILE} title", body, fields), Document("e", "alpha", "beta")])


def test_control_characters_of_documents_are_never_printed(hostile_folder, run_cli, monkeypatch):
    lines = ["alpha", ":open 1", ":explain 1", ":open 2", ":similar 1", ":similar 1", ":filter", ":help", HOSTILE]
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    code, out, err = run_cli("query", "-i", hostile_folder)
    assert (code, len(docnos(out))) == (0, 5)
    assert [c for c in out + err if not c.isprintable() and c != "\n"] == []
    _, out, err = run_cli("query", "alpha", "-i", hostile_folder, "--explain")
    assert [c for c in out + err if not c.isprintable() and c != "\n"] == []
    assert "]0;pwned" in out, "what is not a control character stays"


# --- a terminal


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """For the length of a `with`, standard output is a terminal of 60 columns."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return redirect_stdout(Terminal())


def test_a_terminal_gets_colours_and_wrapped_lines_but_no_word_is_lost(terminal, build):
    text = " ".join(f"word{number}" for number in range(40)) + " alpha 日本語 é"
    with searchlab.open(build([Document("d", f"alpha {text}", text, {"f": text})]), compiled=False) as engine:
        session = Session(engine, SearchOptions(), 10)
        with terminal as screen:
            session.execute("alpha")
            session.execute(":open 1")
    coloured = screen.getvalue()
    lines = re.sub(r"\033\[[\d;]*m", "", coloured).splitlines()
    assert max(map(len, lines)) <= 60
    assert lines[0].startswith("  1    ")
    assert lines[1].startswith(" " * 18 + "word"), "a title goes on below itself"
    assert " ".join(lines[lines.index("") + 1 :]) == text
    assert coloured.count("\033[1;33malpha\033[0m") == 2, "in the snippet and in the text"
    assert "\033[1m\033[33malpha\033[39m word0" in coloured


@pytest.mark.parametrize("columns", [10, 17, 24, 39, 40, 80])
def test_words_are_wrapped_at_any_width(monkeypatch, columns, build):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = " ".join(f"word{number}" for number in range(40)) + " alpha 日本語 " + "x" * 50
    document = Document("d-with-a-long-name", f"alpha {text}", text, {"field": text})
    with searchlab.open(build([document]), compiled=False) as engine:
        session = Session(engine, SearchOptions(), 10)
        with redirect_stdout(Terminal()) as screen:
            session.execute("alpha")
            session.execute(":open 1")
    lines = re.sub(r"\033\[[\d;]*m", "", screen.getvalue()).splitlines()
    # The docno is one word, which is not broken.
    assert max(n_columns(line) for line in lines if document.docno not in line) <= columns
    shown = "".join(lines[lines.index("") + 1 :]).replace(" ", "")
    assert shown == text.replace(" ", "")
    whole = [word for line in lines for word in line.split()]
    assert {f"word{number}" for number in range(40)} <= set(whole), "only what is wider than a line is broken"


@pytest.fixture
def at_terminal(monkeypatch, tmp_path):
    """Execute lines with input and output at a terminal: gives what the pager showed, and what was printed directly."""
    pages = tmp_path / "pages"
    monkeypatch.delenv("NO_COLOR", raising=False)

    def execute(session, *lines, pager=f"sh -c 'cat >> {pages}'"):
        monkeypatch.setenv("PAGER", pager)
        monkeypatch.setattr(sys, "stdin", Terminal())
        with redirect_stdout(Terminal()) as screen:
            for line in lines:
                session.execute(line)
        return pages.read_text("utf-8") if pages.exists() else "", screen.getvalue()

    return execute


def test_a_session_shows_results_documents_and_help_in_the_pager(session, at_terminal):
    session.set_k(1)
    pages, screen = at_terminal(session, "alpha", ":next", ":open 1", ":help")
    assert screen == ""
    assert docnos(re.sub(r"\033\[[\d;]*m", "", pages)) == ["d2", "d1"]
    assert re.search(r"^  year +1990$", pages, re.MULTILINE)
    assert ":quit" in pages
    assert "\033[1;33m" in pages, "the reader is at a terminal: words are coloured"


@pytest.mark.parametrize("pager", ["cat", "", "no-such-pager", "'"])
def test_without_a_pager_everything_is_printed(session, at_terminal, pager):
    pages, screen = at_terminal(session, "zeta", pager=pager)
    assert (pages, "d5" in screen) == ("", True)


def test_a_pager_that_is_left_early_ends_nothing_but_itself(at_terminal, build):
    with searchlab.open(build([Document("d", "", "alpha beta\n" * 20_000)]), compiled=False) as engine:
        session = Session(engine, SearchOptions(), 10)
        assert at_terminal(session, "alpha", ":open 1", pager="true") == ("", "")
        assert docnos(at_terminal(session, "alpha", pager="cat")[1]) == ["d"]


def test_time_in_the_pager_is_not_reported(session, at_terminal, capsys):
    at_terminal(session, "zeta", pager="sleep 0.5")
    assert float(re.search(r"in (\d+\.\d) ms", capsys.readouterr().err)[1]) < 500


def test_no_color_is_respected(terminal, monkeypatch, session):
    monkeypatch.setenv("NO_COLOR", "1")
    with terminal as screen:
        session.execute("zeta")
    assert "\033" not in screen.getvalue()
    assert "*zeta*" in screen.getvalue()


@pytest.fixture
def state(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "searchlab" / "history"


@pytest.fixture
def type_keys(state, session, monkeypatch, capsys):
    """Type into a session on a terminal: gives its output and its error output.

    The keys come in pieces: the next one is typed when a line was answered or something was completed.
    """

    def send(*keys):
        pieces = iter(keys)
        with create_pipe_input() as keyboard, create_app_session(input=keyboard), pytest.MonkeyPatch.context() as patch:

            def then_type(function):
                def call(*arguments):
                    try:
                        return function(*arguments)
                    finally:
                        keyboard.send_text(next(pieces, ""))

                return call

            patch.setattr(prompt, "create_output", lambda **options: DummyOutput())
            patch.setattr(prompt, "complete", then_type(complete))
            patch.setattr(session, "execute", then_type(session.execute))
            patch.setattr(sys, "stdin", Terminal())
            patch.setattr(sys.stderr, "isatty", lambda: True)
            keyboard.send_text(next(pieces))
            capsys.readouterr()
            session.run()
            output = capsys.readouterr()
            return output.out, output.err

    return send


CONTROL_C, CONTROL_D, UP, TAB = "\x03", "\x04", "\x1b[A", "\t"


def test_a_terminal_is_greeted_and_answered(type_keys, session):
    out, err = type_keys("zeta\r", CONTROL_D)
    assert docnos(out) == ["d5"]
    greeting, comment = err.splitlines()
    assert greeting == f"{session.engine.snapshot.folder}: 5 documents; type words to search for, or :help"
    assert comment.startswith("1 result ")


def test_control_c_clears_the_line_and_quit_ends(type_keys):
    out, _ = type_keys(f"alpha{CONTROL_C}zeta\r", ":quit\r", "alpha\r")
    assert docnos(out) == ["d5"]


def test_control_c_stops_a_search_and_the_session_goes_on(type_keys, session, monkeypatch):
    real = session.search

    def search(text):
        if "alpha" in text:
            raise KeyboardInterrupt
        real(text)

    monkeypatch.setattr(session, "search", search)
    out, err = type_keys("alpha\r", "zeta\r", CONTROL_D)
    assert docnos(out) == ["d5"]
    assert "interrupted\n" in err


def test_tab_completes_what_is_typed(type_keys):
    out, err = type_keys(f":scorer dir{TAB}", "\r", f":sim{TAB}", " 1\r", f"ome{TAB}", "\r", CONTROL_D)
    assert docnos(out) == ["d4"]
    assert "scorer dirichlet: mu=1000\n" in err
    assert "no results yet" in err


def test_lines_are_remembered_from_session_to_session(type_keys, state, session):
    type_keys("zeta\r", CONTROL_D)
    assert "+zeta\n" in state.read_text()
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    session.last = None
    assert docnos(type_keys(f"{UP}\r", CONTROL_D)[0]) == ["d5"]


@pytest.mark.parametrize("obstacle", ["a file in the way", "a folder in its place"])
def test_a_history_that_cannot_be_kept_is_no_obstacle(type_keys, state, obstacle):
    if obstacle == "a file in the way":
        state.parent.parent.write_text("")
    else:
        state.mkdir(parents=True)
    out, _ = type_keys("zeta\r", f"{UP}\r", CONTROL_D)
    assert docnos(out) == ["d5", "d5"]


def test_the_history_is_at_home_unless_an_absolute_place_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    prompt.open_history().append_string("zeta")
    assert "+zeta" in (tmp_path / ".local" / "state" / "searchlab" / "history").read_text()

    def homeless():
        raise RuntimeError

    monkeypatch.setattr(Path, "home", homeless)
    assert isinstance(prompt.open_history(), InMemoryHistory)


# --- completion


@pytest.mark.parametrize(
    ("line", "written", "choices"),
    [
        (":", ":", [f":{name}" for name in COMMANDS]),
        (":ex", ":ex", [":expand", ":explain"]),
        (":scorer b", "b", ["bm25", "bm25f"]),
        (":sc b", "b", ["bm25", "bm25f"]),
        (":scorer bm25 b", "b", []),
        (":set ", "", ["k1=", "b=", "idf="]),
        (":set k1=2 i", "i", ["idf="]),
        (":stream b", "b", ["body", "both"]),
        (":filter ", "", ["off", "docno=", "topic=", "year="]),
        (":expand rm3:w", "rm3:w", ["rm3:weight="]),
        (":open ", "", []),
        (":s x", "x", []),
        (":nonsense x", "x", []),
        ("", "", []),
        ("alpha ", "", []),
        ("om", "om", ["omega"]),
        ("Om", "Om", ["Omega"]),
        ("alpha AND (NOT om", "om", ["omega"]),
        ('+"zeta om', "om", ["omega"]),
        ("d", "d", ["docno:", "delta"]),
        ("title:b", "b", ["beta"]),
        ("-title:b", "b", ["beta"]),
        ("t", "t", ["title:", "topic:"]),
        ("topic:gr", "gr", []),
        ("Ê", "Ê", ["Êpsilon"]),  # what is typed stays; accents do not count
        ("xyz", "xyz", []),
    ],
)
def test_completion(session, line, written, choices):
    assert complete(session, line) == (written, choices)


def test_a_completion_that_fails_is_none(session, monkeypatch):
    def fail(*arguments):
        raise IndexError

    monkeypatch.setattr(prompt, "complete", fail)
    completer = prompt.SessionCompleter(session)
    assert list(completer.get_completions(TypedText("alp"), CompleteEvent())) == []


# --- a process of its own


def test_a_session_over_a_pipe_in_a_process_of_its_own(folder, tmp_path):
    script = (
        "import sys\nfrom searchlab import cli\n"
        "try:\n    cli.main()\n"
        "finally:\n    print('prompt_toolkit' in sys.modules, file=sys.stderr)"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(searchlab.__file__).parents[1])}
    ended = subprocess.run(
        [sys.executable, "-c", script, "query", "-i", str(folder)],
        cwd=tmp_path,
        env=environment,
        input=b"alpha\n\xff\xfe zeta\n:open 1\n:scorer bm26\nomega",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=True,
    )
    # Both streams go to one pipe: results and comments stay in their order.
    text = ended.stdout.decode()
    kinds = re.findall(r"^(?: *\d+ .*  (d\d) |\d+ (results?) |(d5)  Lonely|(searchlab: )|(False))", text, re.MULTILINE)
    assert ["".join(kind) for kind in kinds] == (
        ["d2", "d1", "d4", "results", "d5", "result", "d5", "searchlab: ", "d4", "result", "False"]
    ), text
