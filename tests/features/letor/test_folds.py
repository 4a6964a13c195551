"""Folds: found by the names of their folders and files, and refused if incomplete."""

import gzip

import pytest

from searchlab.errors import SourceError
from searchlab.features.letor.folds import read_folds

NAMES = [("train.txt", "vali.txt", "test.txt"), ("trainingset.txt", "validationset.txt.gz", "testset.txt")]


@pytest.mark.parametrize("names", NAMES)
def test_folds_are_found_in_the_order_of_their_numbers(tmp_path, names):
    for number in range(1, 12):
        for part, name in enumerate(names):
            path = tmp_path / f"Fold{number}" / name
            path.parent.mkdir(exist_ok=True)
            content = f"{part} qid:{number} 1:2\n".encode()
            path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    (tmp_path / "readme.txt").touch()
    (tmp_path / "Fold1" / ".train.txt").touch()
    folds = read_folds(tmp_path)
    assert [fold.name for fold in folds] == [f"Fold{number}" for number in range(1, 12)]
    assert folds[1].valid == tmp_path / "Fold2" / names[1]
    assert [table.grades.tolist() for table in folds[9].read()] == [[0], [1], [2]]
    assert folds[9].read()[0].query_ids == ["10"]
    assert read_folds(tmp_path / "Fold3") == [folds[2]]


def test_a_fold_may_lack_a_validation_set(tmp_path):
    for part, name in enumerate(("train.txt", "test.txt")):
        (tmp_path / name).write_text(f"{part} qid:{part} 1:2\n")
    (fold,) = read_folds(tmp_path)
    train, valid, test = fold.read()
    assert (fold.valid, valid) == (None, None)
    assert [train.grades.tolist(), test.grades.tolist()] == [[0], [1]]


def test_folds_that_are_not_complete_are_refused(tmp_path):
    def complaint() -> str:
        with pytest.raises(SourceError) as caught:
            read_folds(tmp_path)
        return str(caught.value).replace(str(tmp_path), "DIR")

    assert complaint() == "DIR: expected folders Fold1, Fold2, …, found none"
    for number in (1, 3):
        (tmp_path / f"Fold{number}").mkdir()
    assert complaint() == "DIR: expected folds without gaps, found Fold1, Fold3, but no Fold2"
    (tmp_path / "Fold2").mkdir()
    expected = "expected one file of the train part (train.txt or trainingset.txt, gzipped or not), found"
    assert complaint() == f"DIR/Fold1: {expected} none"
    for name in ("train.txt", "train.txt.gz"):
        (tmp_path / "Fold1" / name).touch()
    assert complaint() == f"DIR/Fold1: {expected} train.txt and train.txt.gz"
    (tmp_path / "fold_1").mkdir()
    assert complaint() == "DIR: expected one folder a fold, found Fold1 and fold_1"
    with pytest.raises(SourceError, match="no such folder"):
        read_folds(tmp_path / "nowhere")
    with pytest.raises(SourceError, match="expected a folder of folds, found a file"):
        read_folds(tmp_path / "Fold1" / "train.txt")
