"""In a folder of mixed files with every kind of trouble, each record is indexed or listed."""

from benchmarks.folder_files.mixed_folder import Account, Writer, find_gaps, make_folder
from benchmarks.folder_files.troubles import make_troubles
from searchlab.corpus import ReadingNotes, read_documents
from searchlab.corpus.documents import DOCUMENT_FORMATS
from searchlab.corpus.extraction.recognition import SUFFIXES
from searchlab.corpus.reading_notes import BAD_RECORD, SKIPPED_FILE, UNREADABLE_FILE


def test_every_record_of_a_mixed_folder_is_accounted_for(tmp_path):
    made = make_folder(tmp_path, 95)
    assert set(made.troubled.values()) == set(make_troubles())
    good = Writer(1).kinds()
    assert {path.name.partition(" ")[2] for path in made.good} == {
        f"{name}{suffix}" for name, (suffix, *_) in good.items()
    }
    # One format is chosen by its name alone.
    assert {*DOCUMENT_FORMATS, *SUFFIXES} - set(good) == {"ohsumed-i"}
    assert len(made.troubled) >= 40
    notes, account = ReadingNotes(), Account()
    notes.listener = account
    documents = list(read_documents(tmp_path, notes=notes, strict=False))
    assert find_gaps(made, [document.location for document in documents], account) == []
    assert notes.n_documents == len(documents)
    assert notes.bytes_read == notes.bytes_total
    kinds = [event.kind for event in account.events]
    assert kinds.count(BAD_RECORD) == notes.n_bad
    assert kinds.count(SKIPPED_FILE) + kinds.count(UNREADABLE_FILE) == len(notes.skipped)
    assert all(event.message.isprintable() for event in account.events)


def test_a_gap_in_the_account_is_found(tmp_path):
    made = make_folder(tmp_path, 95)
    notes, account = ReadingNotes(), Account()
    notes.listener = account
    locations = [document.location for document in read_documents(tmp_path, notes=notes, strict=False)]
    good = next(str(path) for path, n in made.good.items() if n == 10)
    one = next(number for number, location in enumerate(locations) if location.startswith(good))
    assert find_gaps(made, locations[:one] + locations[one + 1 :], account) == [
        f"{good}: 9 of 10 records read, 0 listed"
    ]
    empty = next(str(path) for path, name in made.troubled.items() if name == "empty")
    account.events[:] = [event for event in account.events if event.location != empty]
    assert find_gaps(made, locations, account) == [f"{empty}: neither read nor listed"]
