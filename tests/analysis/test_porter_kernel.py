"""The compiled Porter stemmer gives nltk's stems."""

import random

import pytest

from searchlab.analysis.analyzer import AnalysisSettings, Analyzer
from searchlab.analysis.porter_kernel import STEP_2, STEP_3, STEP_4, stem_words
from searchlab.analysis.stemmers import PORTER, load_stemmer

OTHER_ENDINGS = "ed ing eed s es ies sses ss y e ll at bl iz tt dd ying yed ' 1 'll"
ENDINGS = [bytes(row[row > 0]).decode() for rules in (STEP_2, STEP_3, STEP_4) for row in rules.suffixes]
ENDINGS += OTHER_ENDINGS.split()


# By hand, from the paper's examples.
@pytest.mark.parametrize(
    "stems",
    [
        "caresses caress, ponies poni, ties ti, caress caress, cats cat",
        "feed feed, agreed agre, plastered plaster, bled bled, motoring motor, sing sing",
        "conflated conflat, troubled troubl, sized size, hopping hop, tanned tan, falling fall, hissing hiss",
        "fizzed fizz, failing fail, filing file, happy happi, sky sky",
        "relational relat, conditional condit, rational ration, digitizer digit, vietnamization vietnam",
        "triplicate triplic, formative form, electrical electr, hopeful hope, goodness good",
        "revival reviv, allowance allow, adjustable adjust, adoption adopt, replacement replac, homologou homolog",
        "probate probat, rate rate, cease ceas, controll control, roll roll",
        "is is, by by, a a, yyy yyi, archaeologi archaeolog, possibli possibl",
    ],
)
def test_stems_of_the_paper(stems):
    words, expected = zip(*(pair.split() for pair in stems.split(",")), strict=True)
    assert stem_words(words) == [*expected]


def test_stems_are_those_of_nltk():
    rng = random.Random(7)
    alphabets = ["abcdefghijklmnopqrstuvwxyz", "aeioustlyz", "yaeb", "abey19'.s"]
    words = sorted(
        {
            "".join(rng.choices(rng.choice(alphabets), k=rng.randint(0, 7)) + rng.choices(ENDINGS, k=rng.randint(0, 3)))
            for _ in range(20_000)
        }
    )
    stem = load_stemmer(PORTER)
    assert len(words) > 15_000
    assert stem_words(words) == [stem(word) for word in words]


def test_no_words_have_no_stems():
    assert stem_words([]) == []


def test_an_analyzer_gives_many_words_the_terms_of_single_ones():
    words = ["the", "cells", "naïvely", "running", "œdema", "of", "1.5mg"]
    for stemmer in ("porter", "snowball", "none"):
        settings = AnalysisSettings.from_names(stemmer, "default")
        assert Analyzer(settings).terms_of_words(words) == [Analyzer(settings).term(word) for word in words]
