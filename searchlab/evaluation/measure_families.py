"""The families of measures: a registry with each one's settings, other names and source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from searchlab.types import Floats

# How the values of topics are summarised in one number.
MEAN, TOTAL, GEOMETRIC = "mean", "total", "geometric mean"
# Whether the name of a measure has a cutoff.
REQUIRED, OPTIONAL, NO_CUTOFF = "required", "optional", "none"


@dataclass(frozen=True)
class Family:
    """Measures that differ only in cutoff and settings.

    `kernel` names the arithmetic for one topic if it is that of another family; `aliases` are other names, `source` is
    the paper or book that defines the measure. `function` computes the values of topics for a measure that a user has
    written (see `custom_measures`); others are computed by the compiled loops.
    """

    name: str
    description: str
    cutoff: str = NO_CUTOFF
    settings: tuple[str, ...] = ()
    summary: str = MEAN
    kernel: str = ""
    aliases: tuple[str, ...] = ()
    source: str = ""
    function: Callable[..., Floats] | None = None

    @property
    def arithmetic(self) -> str:
        """The name of the arithmetic for one topic."""
        return self.kernel or self.name


_REL = ("rel",)
FAMILIES = {
    family.name: family
    for family in (
        Family(
            "nDCG",
            "gain, discounted by rank, over that of the ideal ranking",
            OPTIONAL,
            ("dcg",),
            aliases=("NDCG",),
            source="Järvelin, Kekäläinen 2002",
        ),
        Family(
            "AP", "mean precision at the relevant documents", OPTIONAL, _REL, aliases=("MAP",), source="Harman 1992"
        ),
        Family(
            "GMAP",
            "AP, at least .00001, in geometric mean over topics",
            settings=_REL,
            summary=GEOMETRIC,
            kernel="AP",
            source="Robertson 2006",
        ),
        Family(
            "P",
            "share of relevant documents in the first k",
            REQUIRED,
            _REL,
            aliases=("Precision",),
            source="van Rijsbergen 1979",
        ),
        Family(
            "R",
            "share of the relevant documents that is found in the first k",
            OPTIONAL,
            _REL,
            aliases=("Recall",),
            source="van Rijsbergen 1979",
        ),
        Family(
            "RR",
            "1/rank of the first relevant document",
            OPTIONAL,
            _REL,
            aliases=("MRR",),
            source="Kantor, Voorhees 2000",
        ),
        Family(
            "Rprec",
            "precision after as many documents as are relevant",
            settings=_REL,
            aliases=("RPrec",),
            source="Buckley, Voorhees 2005",
        ),
        Family("Success", "1 if a relevant document is in the first k", REQUIRED, _REL),
        Family(
            "Bpref",
            "how seldom a judged, irrelevant document precedes a relevant one",
            settings=_REL,
            source="Buckley, Voorhees 2004",
        ),
        Family("infAP", "AP as estimated from a sample of judgments", settings=_REL, source="Yilmaz, Aslam 2006"),
        Family("IPrec", "best precision from a share of recall on: IPrec@0.1", REQUIRED, _REL),
        Family(
            "ERR",
            "expected 1/rank at which the user is satisfied",
            OPTIONAL,
            ("max_grade",),
            source="Chapelle, Metzler, Zhang, Grinspan 2009",
        ),
        Family(
            "RBP",
            "rate of relevance for a user who goes on to the next document with probability p",
            OPTIONAL,
            ("p", "rel"),
            source="Moffat, Zobel 2008",
        ),
        Family("Judged", "share of judged documents in the first k", OPTIONAL),
        Family("SetP", "precision of all retrieved documents", settings=_REL),
        Family("SetR", "recall of all retrieved documents", settings=_REL, kernel="R"),
        Family("SetF", "harmonic mean of SetP and SetR", settings=_REL, source="van Rijsbergen 1979"),
        Family("SetAP", "SetP · SetR", settings=_REL),
        Family("NumRet", "documents retrieved", summary=TOTAL),
        Family("NumRel", "relevant documents", settings=_REL, summary=TOTAL),
        Family("NumRelRet", "relevant documents retrieved", settings=_REL, summary=TOTAL),
        Family("NumQ", "topics", summary=TOTAL),
    )
}
# trec_eval's names, each with its family and whether a cutoff follows.
TREC_NAMES = {
    "ndcg": ("nDCG", False),
    "ndcg_cut": ("nDCG", True),
    "map": ("AP", False),
    "map_cut": ("AP", True),
    "gm_map": ("GMAP", False),
    "P": ("P", True),
    "recall": ("R", True),
    "recip_rank": ("RR", False),
    "Rprec": ("Rprec", False),
    "success": ("Success", True),
    "bpref": ("Bpref", False),
    "infAP": ("infAP", False),
    "iprec_at_recall": ("IPrec", True),
    "set_P": ("SetP", False),
    "set_recall": ("SetR", False),
    "set_F": ("SetF", False),
    "set_map": ("SetAP", False),
    "num_ret": ("NumRet", False),
    "num_rel": ("NumRel", False),
    "num_rel_ret": ("NumRelRet", False),
    "num_q": ("NumQ", False),
}
_DEPTHS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_OFFICIAL = (
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *(f"iprec_at_recall_{tenths / 10:.2f}" for tenths in range(11)),
    *(f"P_{depth}" for depth in _DEPTHS),
)
# Names of several measures: trec_eval's, in its order. Of all_trec, those whose families are above.
MEASURE_SETS = {
    "official": _OFFICIAL,
    "all_trec": (
        *_OFFICIAL,
        *(f"recall_{depth}" for depth in _DEPTHS),
        *("infAP", "ndcg"),
        *(f"ndcg_cut_{depth}" for depth in _DEPTHS),
        *(f"map_cut_{depth}" for depth in _DEPTHS),
        *("success_1", "success_5", "success_10", "set_P", "set_recall", "set_map", "set_F"),
    ),
}
# The values of nDCG's setting dcg, each with its gain and discount.
DCG_VARIANTS = {"log2": ("linear", "log2"), "exp-log2": ("exponential", "log2"), "letor": ("exponential", "letor")}
