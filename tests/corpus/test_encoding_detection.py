import pytest

from searchlab.corpus import ReadingNotes, read_documents
from searchlab.corpus.encoding_detection import MIN_BYTES, DetectedEncoding, detect_encoding
from searchlab.corpus.reading_notes import ENCODING

TEXTS = {
    "cp1251": "Влияние физической нагрузки на артериальное давление у пожилых пациентов",
    "koi8_r": "Влияние физической нагрузки на артериальное давление у пожилых пациентов",
    "cp866": "Влияние физической нагрузки на артериальное давление у пожилых пациентов",
    "cp1253": "Η επίδραση της άσκησης στην αρτηριακή πίεση ηλικιωμένων ασθενών",
    "cp1255": "השפעת הפעילות הגופנית על לחץ הדם בקרב חולים קשישים",
    "cp1256": "تأثير النشاط البدني على ضغط الدم لدى المرضى المسنين",
    "cp874": "ผลของการออกกำลังกายต่อความดันโลหิตในผู้ป่วยสูงอายุ",
    "cp932": "高齢患者における運動の血圧への影響について",
    "gb18030": "体育锻炼对老年患者血压的影响研究",
    "big5": "體育鍛鍊對老年患者血壓的影響研究",
    "cp949": "노인 환자의 혈압에 대한 운동의 영향",
}


@pytest.mark.parametrize("encoding", TEXTS)
@pytest.mark.parametrize("english", ["", "AB  - Blood pressure of old patients. " * 50 + "\n"])
def test_records_in_other_scripts_are_read_and_the_guess_is_noted(write, encoding, english):
    path = write("a.ris", f"TY  - JOUR\nTI  - {TEXTS[encoding]}\n{english}ER  - \n".encode(encoding))
    notes = ReadingNotes()
    [document] = read_documents(path, notes=notes)
    assert document.title == TEXTS[encoding]
    assert list(notes.guessed_encodings) == [str(path)]
    assert "a guess" in notes.guessed_encodings[str(path)]
    assert (notes.n_events[ENCODING], notes.latin1_lines) == (1, {})


def test_characters_at_the_ends_of_blocks_are_whole(write):
    text = ("x" + TEXTS["cp932"] + "\n") * 3000
    path = write("a.txt", text.encode("cp932"))
    [document] = read_documents(path)
    assert f"{document.title}\n{document.body}\n" == text


@pytest.mark.parametrize(
    "text",
    [
        "Über den Einfluß körperlicher Übung auf den Blutdruck älterer Männer; für Größe und Öl",
        "Effets de l'activité physique sur la pression artérielle des patients âgés, à l'été",
        "é" * (MIN_BYTES - 1),
    ],
)
def test_latin_and_short_texts_are_not_guessed(text):
    assert detect_encoding(f"{text}\n".encode("cp1252")) is None


def test_single_foreign_lines_of_a_file_in_utf8_are_not_guessed():
    assert detect_encoding("Größe\n".encode() + TEXTS["koi8_r"].encode("koi8_r") + b"\n") is None


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'<?xml version="1.0" encoding="Shift_JIS"?><a/>', "shift_jis"),
        (b"<html><META http-equiv=x content='text/html; charset=windows-1250'>", "cp1250"),
        ("<?xml version='1.0' encoding='iso-8859-2'?><a>é</a>".encode(), "iso8859-2"),
        ("<meta charset='iso-8859-2'><a>é</a>".encode(), None),
        (b"<?xml version='1.0' encoding='utf-7'?>", None),
        (b"<?xml version='1.0' encoding='zip'?>", None),
        (b"<?xml version='1.0' encoding='no-such'?>", None),
        ("日本語".encode("iso2022_jp"), "iso2022_jp"),
        (TEXTS["koi8_r"].encode("koi8_r") + b"\0", None),
        (b"plain", None),
        (b"", None),
    ],
)
def test_what_a_file_declares_decides_unless_it_is_utf8_or_no_text(head, expected):
    assert detect_encoding(head) == (None if expected is None else DetectedEncoding(expected))


def test_xml_in_a_declared_encoding_is_read(write):
    xml = (
        '<?xml version="1.0" encoding="GB2312"?><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>11</PMID>'
        "<Article><ArticleTitle>血压</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>"
    )
    notes = ReadingNotes()
    [document] = read_documents(write("a.xml", xml.encode("gb2312")), notes=notes)
    assert (document.title, notes.guessed_encodings) == ("血压", {})


def test_equally_likely_encodings_are_named():
    assert str(DetectedEncoding("koi8_r", True, ("cp1255",))) == "KOI8-R, a guess (CP1255 is as likely)"
    assert str(DetectedEncoding("utf_16_le")) == "UTF-16-LE"
