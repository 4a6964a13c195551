import pytest


def test_the_size_of_the_space_is_printed(here, run_cli):
    code, out, _ = run_cli("semantic", "--dims", "2")
    assert (code, out.partition(", 0.")[0]) == (0, "indexes/small: latent semantic space of 2 dimensions, 3 documents")
    assert run_cli("semantic", "--update")[0] == 0


def test_later_documents_are_warned_of_until_the_space_is_computed_again(here, run_cli):
    run_cli("semantic", "--dims", "2")
    with (here / "small.jsonl").open("a") as file:
        file.write('{"docno": "new", "title": "", "body": "heat of a cell"}\n')
    run_cli("index", "small.jsonl")
    later = "warning: 25% of the documents came after the space was computed; `searchlab semantic` computes it again"
    assert later in run_cli("semantic", "--update")[2]
    assert "warning" not in run_cli("semantic", "--dims", "2")[2]


@pytest.mark.parametrize(
    ("options", "message"), [(["--dims", "0"], "dims"), (["--dims", "x"], "see searchlab semantic")]
)
def test_a_bad_number_of_dimensions_ends_in_one_line(here, run_cli, options, message):
    code, out, err = run_cli("semantic", *options)
    assert (code, out) == (2, "")
    assert message in err.splitlines()[-1]
