import re

from searchlab.cli.printing.terminal_text import print_columns, print_entries, printable


def test_printable_text_has_no_control_characters_and_keeps_every_position():
    every = "".join(map(chr, range(0x3000)))
    shown = printable(every)
    assert len(shown) == len(every)
    assert "naïve – 日本" in printable("naïve – 日本\n")
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)


def test_columns_are_as_wide_as_their_longest_cell(capsys):
    print_columns([["name", "n"], ["a\n", "10"]], indent=1)
    assert capsys.readouterr().out == " name   n\n a     10\n"


def test_entries_without_a_text_are_left_out(capsys):
    print_entries([("a", "one"), ("empty", ""), ("long", "two")])
    assert capsys.readouterr().out == "a     one\nlong  two\n"
