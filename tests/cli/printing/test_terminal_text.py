import io
import re
import sys

from searchlab.cli.printing.terminal_text import (
    FilteredStream,
    filter_streams,
    print_columns,
    print_entries,
    print_line,
    printable,
    unfiltered,
)


def test_printable_text_has_no_control_characters_and_keeps_every_position():
    every = "".join(map(chr, range(0x3000)))
    shown = printable(every)
    assert len(shown) == len(every)
    assert "naïve – 日本" in printable("naïve – 日本\n")
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", shown)


def test_columns_are_as_wide_as_their_longest_cell(capsys):
    print_columns([["name", "n"], ["a\n", "10"]], indent=1)
    assert capsys.readouterr().out == " name   n\n a     10\n"


def test_entries_without_a_text_are_left_out(capsys):
    print_entries([("a", "one"), ("empty", ""), ("long", "two")])
    assert capsys.readouterr().out == "a     one\nlong  two\n"


def test_a_line_stays_one_line(capsys):
    print_line("a\nb\x1b[2J\u2028c")
    assert capsys.readouterr().out == "a b [2J c\n"


def test_a_filtered_stream_keeps_line_ends_and_tabs_only():
    screen = io.StringIO()
    stream = FilteredStream(screen)
    assert stream.write("naïve\t日本\n") == 9
    assert stream.write("\x1b]8;;x\x07\r\x9b\u202e\u200f\x00") == 12
    stream.writelines(["a\x08", "b\n"])
    assert screen.getvalue() == "naïve\t日本\n ]8;;x      a b\n"
    assert unfiltered(stream) is screen and unfiltered(screen) is screen


def test_standard_error_is_filtered_once_and_standard_output_only_on_a_terminal(monkeypatch):
    for is_terminal in (False, True):
        output, errors = io.StringIO(), io.StringIO()
        monkeypatch.setattr(output, "isatty", lambda is_terminal=is_terminal: is_terminal)
        monkeypatch.setattr(sys, "stdout", output)
        monkeypatch.setattr(sys, "stderr", errors)
        filter_streams()
        filter_streams()
        assert (unfiltered(sys.stdout), unfiltered(sys.stderr)) == (output, errors)
        assert (sys.stdout is output) != is_terminal
        assert sys.stderr is not errors
