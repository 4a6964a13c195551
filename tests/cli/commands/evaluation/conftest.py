import pytest

from tests.cli.commands.evaluation.run_files import BAD, GOOD, QRELS


@pytest.fixture
def files(tmp_path, run_cli):
    """A working folder with judgments and two runs."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "good.run").write_text(GOOD)
    (tmp_path / "bad.run").write_text(BAD)
    return tmp_path
