"""The options of `searchlab index`."""

from __future__ import annotations

from typing import Annotated

import typer

SourcesArgument = Annotated[
    list[str],
    typer.Argument(metavar="SOURCE", help="Files or folders of documents; - reads JSON lines from a pipe"),
]
NewIndexOption = Annotated[
    str | None,
    typer.Option(
        "-i", "--index", metavar="INDEX", help="A folder, or a name in indexes/ [default: the name of the source]"
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="bibtex, csv, docx, embase, eml, endnote, epub, html, json, jsonl, markdown, mbox, nbib, odt, "
        "ohsumed, ohsumed-i, pdf, pptx, pubmed, ris, rtf, smart, text, trec, tsv, wos or xlsx [default: detected]",
    ),
]
MapOption = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="NAME=COLUMN", help='Which column of a table is what, such as title="Article Title"'),
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--language",
        metavar="NAME",
        help="The language of the documents, with stemmer and stop list: arabic, danish, dutch, english, finnish, "
        "french, german, hungarian, italian, norwegian, portuguese, romanian, russian, spanish or swedish; "
        "without: bulgarian, catalan, chinese, croatian, czech, estonian, greek, hebrew, hindi, indonesian, "
        "japanese, korean, latvian, lithuanian, persian, polish, serbian, slovak, slovenian, thai, turkish, "
        "ukrainian, vietnamese or none; several with commas, or auto for all, are detected in each document "
        "[default: english, or the index's]",
        show_default=False,
    ),
]
StemmerOption = Annotated[
    str | None,
    typer.Option(
        "--stemmer",
        metavar="porter|snowball|none|LANGUAGE",
        help="How words are stemmed [default: as the language demands, porter for english, or the index's stemmer]",
    ),
]
StopListOption = Annotated[
    str | None,
    typer.Option(
        "--stop",
        metavar="default|none|FILE",
        help="Words that are not indexed [default: default, or the index's stop list]",
    ),
]
NgramsOption = Annotated[
    int | None,
    typer.Option(
        "--ngrams",
        metavar="N",
        help="Also index overlapping n-grams of N characters, as the stream ngrams [default: 0, or as the index]",
        show_default=False,
    ),
]
AnalyzerOption = Annotated[
    str | None,
    typer.Option(
        "--analyzer",
        metavar="NAME",
        help="An analyzer of an extension, with stemmer and stop list none by default [default: the index's]",
        show_default=False,
    ),
]
OnDuplicateOption = Annotated[
    str,
    typer.Option(
        "--on-duplicate",
        metavar="keep-all|error|keep-first|keep-last",
        help="What to do with unlike documents of the same docno; keep-all gives them docnos of their own",
    ),
]
DeduplicateOption = Annotated[
    bool,
    typer.Option(
        "--deduplicate",
        help="Index only the first record of a publication: same DOI, PMID, or title, year and first author.",
    ),
]
ReportOption = Annotated[
    str | None,
    typer.Option("--report", metavar="FILE.csv", help="List what is not in the index, and why, and all guesses"),
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Stop at a malformed record instead of leaving it out.")]
MaxRecordOption = Annotated[
    float,
    typer.Option("--max-record-mb", metavar="N", help="Leave out records of more than N million characters"),
]
PruneOption = Annotated[
    bool, typer.Option("--prune", help="Remove documents that the sources no longer have, if all could be read.")
]
RebuildOption = Annotated[bool, typer.Option("--rebuild", help="Build the index from scratch instead of updating it.")]
