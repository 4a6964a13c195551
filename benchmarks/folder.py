"""A folder of mixed files with trouble: is everything accounted for, and what does it cost?

    python -m benchmarks.folder                 5,000 files, in a temporary folder
    python -m benchmarks.folder --files 500

Three measurements, each in a process of its own: the extractors alone, one after the other in one process, over the
good files; reading of the same files by `read_documents`; and an index of the whole folder, whose account is checked.
Exit code 1 if a record is neither indexed nor listed, or if reading takes more than 1.3 times as long.
"""

from __future__ import annotations

import argparse
import io
import json
import mailbox
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.folder_files.mixed_folder import Account, MixedFolder, find_gaps, make_folder
from searchlab.corpus import ReadingNotes, read_documents
from searchlab.corpus.extraction.extracted import DOCUMENT, ROWS
from searchlab.corpus.extraction.recognition import KINDS
from searchlab.corpus.extraction.worker import find_extractor
from searchlab.corpus.reading_context import MAX_RECORD_MB
from searchlab.indexing.building.indexer import build_index

MAX_RATIO = 1.3
# Files with several documents of other formats.
CONTAINERS = (".zip", ".tar", ".tar.gz", ".mbox")
LIMIT = MAX_RECORD_MB * 2**20


def measure_bare(folder: Path, made: MixedFolder) -> dict[str, Any]:
    """Every good binary document by its extractor in this process, and text files by their readers."""
    binary = {path for path in made.good if path.suffix in KINDS or path.name.endswith(CONTAINERS)}
    n_records = sum(1 for _ in read_documents([path for path in made.good if path not in binary]))
    for path in sorted(binary):
        for name, content in _contents(path.name, path.read_bytes()):
            kind = KINDS.get(Path(name).suffix)
            if kind is None:
                content.decode()
                n_records += 1
                continue
            for message in find_extractor(kind)(io.BytesIO(content), LIMIT):
                # A message of a table has several rows, and the first row is the header.
                n_records += len(message[1]) - 1 if message[0] == ROWS else message[0] == DOCUMENT
    return {"records": n_records}


def _contents(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """The names and contents of the documents in a file, as the standard library finds them."""
    suffix = Path(name).suffix
    if suffix == ".zip":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for inner in archive.namelist():
                yield from _contents(inner, archive.read(inner))
    elif suffix in (".tar", ".gz"):
        with tarfile.open(fileobj=io.BytesIO(content)) as entries:
            yield from ((entry.name, entries.extractfile(entry).read()) for entry in entries)  # type: ignore[union-attr]
    elif suffix == ".mbox":
        with tempfile.NamedTemporaryFile(suffix=suffix) as file:
            file.write(content)
            file.flush()
            yield from ((".eml", bytes(message)) for message in mailbox.mbox(file.name))
    else:
        yield name, content


def measure_reading(folder: Path, made: MixedFolder) -> dict[str, Any]:
    """The good files as one source."""
    return {"records": sum(1 for _ in read_documents(list(made.good)))}


def measure_index(folder: Path, made: MixedFolder) -> dict[str, Any]:
    """The whole folder, troubled files included; its account is checked."""
    notes, account, locations = ReadingNotes(), Account(), []
    notes.listener = account

    def read() -> Any:
        notes.clear()
        for document in read_documents(folder, notes=notes, strict=False):
            locations.append(document.location)
            yield document

    with tempfile.TemporaryDirectory() as target:
        summary = build_index(read, Path(target) / "index", on_duplicate="keep-all", notes=notes)
    return {
        "records": notes.n_documents,
        "documents": summary.n_docs,
        "listed": len(account.events),
        "gaps": find_gaps(made, locations, account),
    }


MEASUREMENTS: dict[str, Callable[[Path, MixedFolder], dict[str, Any]]] = {
    "bare": measure_bare,
    "reading": measure_reading,
    "index": measure_index,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--measure", choices=MEASUREMENTS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(run_measurement(options.measure, options.folder)))
        return
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "folder"
        made = make_folder(folder, options.files, options.seed)
        write_list(Path(work), made)
        size = sum(path.stat().st_size for path in (*made.good, *made.troubled))
        print(f"{len(made.good):,} good files, {len(made.troubled):,} with trouble, {size / 1e6:,.0f} MB")
        results = {name: start_measurement(name, Path(work)) for name in MEASUREMENTS}
    print(f"{'':10}{'seconds':>9}{'CPU':>9}{'peak MB':>9}{'largest child':>15}{'records':>9}")
    for name, found in results.items():
        figures = f"{found['seconds']:9.1f}{found['cpu']:9.1f}{found['peak']:9.0f}{found['child_peak']:15.0f}"
        print(f"{name:10}{figures}{found['records']:9,}")
    ratio, cpu_ratio = (results["reading"][name] / results["bare"][name] for name in ("seconds", "cpu"))
    found = results["index"]
    print(f"reading takes {ratio:.2f} times as long as the bare extractors (at most {MAX_RATIO})")
    print(f"and {cpu_ratio:.2f} times their processor time, which other programs on the machine affect less")
    print(f"{found['documents']:,} documents indexed, {found['listed']:,} files and records listed")
    print("\n".join(found["gaps"][:20]) or "every file and record is indexed or listed")
    sys.exit(bool(found["gaps"]) or ratio > MAX_RATIO)


def write_list(work: Path, made: MixedFolder) -> None:
    """Write what was made, for the processes that measure."""
    listed = [{str(path): value for path, value in part.items()} for part in (made.good, made.troubled)]
    (work / "made.json").write_text(json.dumps(listed))


def start_measurement(name: str, work: Path) -> dict[str, Any]:
    """The results of a measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.folder", "--measure", name, "--folder", str(work)]
    ended = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=Path(__file__).parents[1])
    results: dict[str, Any] = json.loads(ended.stdout)
    return results


def run_measurement(name: str, work: Path) -> dict[str, Any]:
    """Run one measurement in this process, with its times in seconds and its peaks of memory in MB."""
    good, troubled = json.loads((work / "made.json").read_text())
    made = MixedFolder({Path(path): n for path, n in good.items()}, {Path(path): t for path, t in troubled.items()})
    start = time.perf_counter()
    results = MEASUREMENTS[name](work / "folder", made)
    seconds = time.perf_counter() - start
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return results | {
        "seconds": seconds,
        "cpu": sum(usage.ru_utime + usage.ru_stime for usage in usages),
        "peak": usages[0].ru_maxrss / 1024,
        "child_peak": usages[1].ru_maxrss / 1024,
    }


if __name__ == "__main__":
    main()
