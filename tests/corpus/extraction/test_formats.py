"""Documents of every binary kind, from files that are made by hand."""

import pytest

from benchmarks.folder_files import documents as files
from searchlab.corpus import ReadingNotes, read_documents
from searchlab.corpus.reading_notes import FORMAT
from searchlab.errors import SourceError
from searchlab.records import Document


def test_a_pdf_has_pages_and_facts(write):
    content = files.pdf(
        [["Water", "carries (it)."], ["The pump."]], title="On cholera", author="J. Snow; E. Hall", created="D:18550103"
    )
    [document] = read_documents(write("a b.pdf", content))
    fields = {"authors": ["J. Snow", "E. Hall"], "year": 1855, "n_pages": 2}
    assert document == Document("a_b.pdf", "On cholera", "Water\ncarries (it).\fThe pump.", fields)


@pytest.mark.parametrize("title", ["", "Microsoft Word - draft.doc", "untitled", "paper.dvi", "…"])
def test_without_a_title_of_its_own_the_first_line_of_a_pdf_is_the_title(write, title):
    path = write("a.pdf", files.pdf([["On cholera", "Water."], ["The pump."]], title=title))
    [document] = read_documents(path)
    assert (document.title, document.body) == ("On cholera", "Water.\fThe pump.")


def test_damaged_pages_of_a_pdf_are_named_and_the_others_read(write):
    content = files.pdf([["One"], ["Two"], ["Three"]]).replace(b"7 0 obj\n<< /Type /Page ", b"7 0 obj\n<< /Type /None ")
    notes = ReadingNotes()
    path = write("a.pdf", content)
    [document] = read_documents(path, notes=notes)
    assert document.body == "One\f\fThree"
    assert [(skipped.path, skipped.reason) for skipped in notes.skipped] == [
        (f"{path}#pages", "damaged, 1 of 3 pages cannot be read")
    ]


def test_a_word_file_has_paragraphs_notes_and_facts(write):
    content = files.docx(
        ["First & <last>.", "Second."], notes=["A note."], title="T", creator="A;B", created="2008-05-31T10:00:00Z"
    )
    [document] = read_documents(write("a.docx", content))
    assert document == Document(
        "a.docx", "T", "First & <last>.\nSecond.\nA note.", {"authors": ["A", "B"], "year": 2008}
    )


def test_the_heading_of_a_word_file_is_its_title_and_leaves_the_text(write):
    path = write("a.docx", files.docx(["Before.", ("Heading1", "One"), ("Heading1", "Two"), ("Title", "The title")]))
    [document] = read_documents(path)
    assert (document.title, document.body) == ("The title", "Before.\nOne\nTwo")


def test_deleted_text_field_codes_and_copies_of_a_word_file_are_left_out(write):
    run = "<w:p><w:r>{}</w:r></w:p>"
    body = run.format("<w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t>")
    body += run.format("<w:delText>deleted</w:delText><w:instrText>PAGE</w:instrText>")
    body += "<AlternateContent><Choice>" + run.format("<w:t>new</w:t>") + "</Choice><Fallback>"
    body += run.format("<w:t>old</w:t><w:tab/>") + "</Fallback></AlternateContent>"
    [document] = read_documents(write("a.docx", files.docx(["Text."], body=body)))
    assert document.body == "Text.\na\tb\nc\n\nnew"


def test_the_slides_of_a_presentation_are_pages(write):
    path = write("a.pptx", files.pptx([["Fish", "and chips"], ["Peas"]], creator="Ada"))
    [document] = read_documents(path)
    assert document == Document("a.pptx", "Fish", "and chips\fPeas", {"authors": ["Ada"], "n_pages": 2})


def test_an_opendocument_text_has_headings_blanks_and_no_comments(write):
    body = '<text:p>a<text:s text:c="3"/>b<text:tab/>c<text:line-break/>d</text:p>'
    body += (
        "<text:p>see<text:note><text:note-citation>1</text:note-citation><text:p>a note</text:p></text:note></text:p>"
    )
    body += "<office:annotation><text:p>a remark</text:p></office:annotation>"
    content = files.odt([(1, "Title"), (2, "Part")], body=body, dc_creator="Ada", meta_creation_date="2008-05-31")
    [document] = read_documents(write("a.odt", content))
    expected = "Part\na   b\tc\nd\nsee a note"
    assert document == Document("a.odt", "Title", expected, {"authors": ["Ada"], "year": 2008})


def test_the_slides_of_an_opendocument_presentation_are_pages(write):
    body = "".join(f"<draw:page><text:p>{text}</text:p></draw:page>" for text in ("One", "Two"))
    [document] = read_documents(write("a.odp", files.odt([], kind="presentation", body=body)))
    assert (document.body, document.fields) == ("One\fTwo", {"n_pages": 2})


def test_a_book_has_its_chapters_in_the_order_of_reading(write):
    path = write("a.epub", files.epub(["<p>One <b>w</b>ord</p>", "<p>Two</p>"], title="B", author="Ada", date="1999"))
    assert list(read_documents(path)) == [
        Document("a.epub", "B", "One word\n\nTwo", {"authors": ["Ada"], "year": 1999})
    ]


def test_notes_and_boxes_of_rtf_come_after_the_text(write):
    code = (
        r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}"
        r"{\info{\title T}{\keywords lymph, gr\'f6\'dfe}}"
        r"Wings{\super\chftn{\*\footnote\chftn\pard\plain  A foot\'e9 \{note\}.}} of flies."
        r"{\shp{\*\shpinst\shpleft1{\shptxt In a {\b box}\f1 \'cc\f0 .}}}{\footnote\ftnalt  An endnote.} End.\par"
        r"{\footnote never closed"
    )
    (document,) = read_documents(write("a.rtf", code.encode("ascii")))
    assert " ".join(document.body.split()) == "Wings of flies. End. A footé {note}. In a boxМ. An endnote."
    assert document.fields == {"keywords": ["lymph", "größe"]}


def test_text_boxes_are_separate_words(write):
    box = "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"
    body = (
        "<w:p><w:r><w:t>before</w:t></w:r><w:r><mc:AlternateContent xmlns:mc='m'><mc:Choice>"
        f"{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r><w:r><w:t>after</w:t></w:r></w:p>"
    )
    (word,) = read_documents(write("a.docx", files.docx([], body=body)))
    assert word.body.split() == ["before", "boxed", "after"]
    frame = "<text:p>before<draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame>after</text:p>"
    (text,) = read_documents(write("a.odt", files.odt([], body=frame)))
    assert text.body.split() == ["before", "boxed", "after"]


def test_an_rtf_file_has_characters_of_all_kinds(write):
    path = write("a.rtf", files.rtf(["Über {x} € 信 😀", "Second."], title="Ünter", author="Ada", year="2010"))
    [document] = read_documents(path)
    assert document == Document("a.rtf", "Ünter", "Über {x} € 信 😀\nSecond.", {"authors": ["Ada"], "year": 2010})


def test_a_message_has_sender_date_and_attachments_which_are_named(write):
    notes = ReadingNotes()
    path = write("a.eml", files.eml("=?utf-8?q?Gr=C3=BC=C3=9Fe?=", "Dear Charles,", attachment=b"%PDF"))
    [document] = read_documents(path, notes=notes)
    assert (document.title, document.body) == ("Grüße", "Dear Charles,")
    assert document.fields == {
        "sender": ["Ada Lovelace <ada@example.org>"],
        "recipients": ["babbage@example.org"],
        "date": "2008-05-31",
        "year": 2008,
        "message_id": "<1@example.org>",
        "attachments": ["a.pdf"],
    }
    assert [(skipped.path, skipped.reason) for skipped in notes.skipped] == [
        (f"{path}#a.pdf", "an attachment, which is not read")
    ]


def test_a_message_of_html_alone_is_read_as_a_page(write):
    content = files.eml("x", "<p>One</p><script>y</script><p>Two</p>").replace(b"text/plain", b"text/html")
    [document] = read_documents(write("a.eml", content))
    assert document.body == "One\nTwo"


@pytest.mark.parametrize("charset", ["koi8-r", "windows-1252"])
def test_a_message_is_read_in_the_encoding_that_it_declares(write, charset):
    text = "Привет всем" if charset != "windows-1252" else "Größe – „so“"
    content = files.eml("x", "BODY").replace(b"charset=utf-8", b"charset=" + charset.encode())
    content = content.replace(b"BODY\r\n", text.encode(charset))
    [document] = read_documents(write("a.eml", content))
    assert document.body == text
    [document] = read_documents(write("b", files.mbox([content])))
    assert document.body.strip() == text


def test_the_messages_of_an_mbox_are_documents_with_numbers(write):
    messages = [
        files.eml("One", "first\n\nFrom here to there"),
        files.eml("Two", ">From below"),
        files.eml("Three", "x"),
    ]
    documents = list(read_documents(write("inbox", files.mbox(messages))))
    assert [(document.docno, document.title, document.body) for document in documents] == [
        ("inbox#1", "One", "first\n\nFrom here to there"),
        ("inbox#2", "Two", "From below"),
        ("inbox#3", "Three", "x"),
    ]


DATES = '<numFmts><numFmt numFmtId="170" formatCode="yyyy\\-mm"/></numFmts><cellXfs><xf numFmtId="0"/>'
DATES += '<xf numFmtId="14"/><xf numFmtId="170"/></cellXfs>'


def test_rows_of_a_workbook_are_documents_by_the_rules_of_tables(write):
    sheet: list[list[str | float | None]] = [
        ["Article Title", "Abstract", "PMID", "Year"],
        ["T", "A", 17, 2008],
        [],
        ["U", None, None, 2009],
    ]
    path = write("a.xlsx", files.xlsx({"S": sheet, "More": [["title"], ["V"]]}))
    first, second, third = read_documents(path)
    assert first == Document("17", "T", "A", {"year": 2008, "pmid": "17"})
    assert second == Document("a.xlsx#row-2", "U", "", {"year": 2009})
    assert third == Document("a.xlsx#More#row-1", "V")
    assert [document.location for document in (first, second)] == [f"{path}#S:2", f"{path}#S:4"]


def test_the_cells_of_a_workbook_are_written_as_they_are_shown(write):
    # By hand: day 39599 after 30 December 1899 is 31 May 2008.
    cells = ['<c r="A3" s="1"><v>39599</v></c>', '<c r="B3" s="2"><v>39599.5</v></c>', '<c r="C3"><v>0.1</v></c>']
    cells += ['<c r="D3" t="b"><v>1</v></c>', '<c r="E3" t="e"><v>#N/A</v></c>', '<c r="F3" t="str"><v>f</v></c>']
    cells += ['<c r="G3" t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c>']
    header = ["a", "b", "c", "d", "e", "f", "title"]
    path = write("a.xlsx", files.xlsx({"S": [header]}, rows=f'<row r="3">{"".join(cells)}</row>', styles=DATES))
    [document] = read_documents(path)
    assert document.title == "inline"
    assert document.fields == {"a": "2008-05-31", "b": "2008-05-31", "c": "0.1", "d": "true", "f": "f"}


def test_columns_of_a_workbook_can_be_named(write):
    path = write("a.xlsx", files.xlsx({"S": [["Heading", "Key"], ["T", "k"]]}))
    assert list(read_documents(path, fields={"title": "Heading", "docno": "Key"})) == [Document("k", "T")]


def test_a_sheet_that_is_no_table_is_named_and_the_others_are_read(write):
    notes = ReadingNotes()
    path = write("a.xlsx", files.xlsx({"Notes": [[1], [7]], "S": [["title"], ["T"]], "Empty": []}))
    assert [document.docno for document in read_documents(path, notes=notes)] == ["a.xlsx#row-1"]
    [skipped] = notes.skipped
    assert skipped.path == f"{path}#Notes"
    assert skipped.reason == "a table without a header line, found '1' in its first line"


def test_a_row_with_more_values_than_the_header_is_a_bad_record(write):
    notes = ReadingNotes()
    path = write("a.xlsx", files.xlsx({"S": [["title"], ["T", "x", "y"], ["U"]]}))
    assert [document.title for document in read_documents(path, notes=notes, strict=False)] == ["U"]
    assert str(notes.bad_records[0]) == f"{path}#S:2: expected 1 columns, found 2"


KINDS = {
    "pdf": files.pdf([["Cats"]]),
    "docx": files.docx(["Cats"]),
    "odt": files.odt(["Cats"]),
    "rtf": files.rtf(["Cats"]),
    "epub": files.epub(["Cats"]),
    "pptx": files.pptx([["Cats"]]),
    "xlsx": files.xlsx({"S": [["title"], ["Cats"]]}),
    "mbox": files.mbox([files.eml("Cats", "x")]),
}


@pytest.mark.parametrize("name", ["file", "file.txt", "file.pdf", "file.docx", "file.html", "file.csv", "file.gz"])
def test_the_content_decides_whatever_the_name(tmp_path, write, name):
    for kind, content in KINDS.items():
        write(f"{kind}/{name}", content)
    notes = ReadingNotes()
    documents = list(read_documents(tmp_path, notes=notes, strict=False))
    assert notes.n_events[FORMAT] == len(KINDS) == len(documents)
    assert all("Cats" in document.title + document.body for document in documents)


def test_a_message_is_known_by_its_suffix_or_by_the_headers_of_transport(write):
    letter = "From: ada@example.org\nSubject: a text\n\nIt has a body.\n"
    [document] = read_documents(write("letter.txt", letter))
    assert document.title == "From: ada@example.org"
    [document] = read_documents(write("letter.eml", letter))
    assert document == Document("letter.eml", "a text", "It has a body.", {"sender": ["ada@example.org"]})
    [document] = read_documents(write("other.txt", "Received: by x\n" + letter))
    assert document.body == "It has a body."


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.pdf", files.encrypted_pdf(), "encrypted, it can be read only with a password"),
        ("a.pdf", b"%PDF-1.4\nnothing", "damaged PDF file (Data format error)"),
        ("a.docx", files.docx(["x"])[:300], "damaged zip file (File is not a zip file)"),
        ("a.docx", files.zipped({"[Content_Types].xml": "", "word/x": ""}), "expected the part word/document.xml"),
        ("a.docx", files.docx([], body="<w:p>"), "damaged, word/document.xml: mismatched tag"),
        ("a.odt", files.zipped({"mimetype": "application/vnd.oasis.opendocument.text"}, ["mimetype"]), "content.xml"),
        ("a.rtf", b"{\\rtf1 \\u" + b"9" * 5000 + b"? x}", "damaged RTF file"),
        ("a.xlsx", files.xlsx({"S": [["Budget"]]}), "holds no documents"),
        ("a.xlsx", files.xlsx({"S": [[1]]}), "a table without a header line, found '1' in its first line"),
        ("a.xlsx", files.xlsx({"S": []}), "a workbook without cells"),
        (
            "a.xls",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
            "an Office file of before 2007, or an encrypted one",
        ),
        ("a.7z", b"7z\xbc\xaf\x27\x1c" + bytes(60), "a 7-Zip archive"),
        ("a.png", b"\x89PNG\r\n\x1a\n" + bytes(60), "a picture"),
        ("a.docx", bytes(600), "not a DOCX file, in spite of its suffix"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_reason(write, message, name, content, reason):
    path = write(name, content)
    said = message(SourceError, read_documents, path)
    assert said.startswith(f"{path}: {reason}") or reason in said


def test_documents_that_need_a_package_name_its_extra(write, message, monkeypatch, tmp_path):
    # A module of this name that cannot be imported, before all others.
    for name in ("pypdfium2", "striprtf"):
        (tmp_path / "broken").mkdir(exist_ok=True)
        (tmp_path / "broken" / f"{name}.py").write_text("raise ImportError")
    monkeypatch.syspath_prepend(tmp_path / "broken")
    assert "PDF needs pypdfium2: pip install 'searchlab[documents]'" in message(
        SourceError, read_documents, write("a.pdf", files.pdf([["x"]]))
    )
    assert "RTF needs striprtf: pip install 'searchlab[documents]'" in message(
        SourceError, read_documents, write("a.rtf", files.rtf(["x"]))
    )


def test_in_a_folder_troubled_files_are_noted_and_the_others_read(tmp_path, write):
    write("a.pdf", files.encrypted_pdf())
    write("b.pdf", files.scanned_pdf())
    write("c.pdf", files.pdf([["Cats"]]))
    write("d.docx", files.docx([" "]))
    notes = ReadingNotes()
    [document] = read_documents(tmp_path, notes=notes, strict=False)
    assert document.docno == "c.pdf"
    scanned = "2 pages without text, scanned or drawn; a program for text recognition (OCR) can add it"
    assert [(skipped.path, skipped.reason, skipped.is_unreadable) for skipped in notes.skipped] == [
        (f"{tmp_path}/a.pdf", "encrypted, it can be read only with a password", True),
        (f"{tmp_path}/b.pdf", scanned, False),
        (f"{tmp_path}/d.docx", "no text", False),
    ]
    assert (notes.n_files, notes.n_documents) == (1, 1)
    assert notes.bytes_read == notes.bytes_total
    assert notes.unread_docnos == {"a.pdf"}
    assert notes.is_complete


def test_strict_reading_stops_at_a_damaged_file_but_not_at_a_scanned_one(tmp_path, write, message):
    write("a.pdf", files.scanned_pdf())
    write("b.txt", "text")
    assert [document.docno for document in read_documents(tmp_path)] == ["b.txt"]
    path = write("c.pdf", files.encrypted_pdf())
    assert message(SourceError, read_documents, tmp_path).startswith(f"{path}: encrypted")


@pytest.mark.parametrize("kind", ["pdf", "docx", "odt", "rtf", "epub", "pptx", "eml"])
def test_a_document_over_the_limit_is_refused(write, message, kind):
    text = "word " * 400
    makers = {
        "pdf": lambda: files.pdf([[text[:1000]]] * 3),
        "docx": lambda: files.docx([text]),
        "odt": lambda: files.odt([text]),
        "rtf": lambda: files.rtf([text]),
        "epub": lambda: files.epub([text]),
        "pptx": lambda: files.pptx([[text]]),
        "eml": lambda: files.eml("x", text),
    }
    path = write(f"a.{kind}", makers[kind]())
    said = message(SourceError, read_documents, path, max_record_mb=1 / 1024)
    assert said == f"{path}: expected a record of at most 0.000976562 MB, found a longer one"
    assert len(list(read_documents(path))) == 1
