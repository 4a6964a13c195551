"""Small valid files of every format, as seeds of fuzzing; each uses most of what its format has."""

from __future__ import annotations

DOCUMENTS = {
    "jsonl": b'{"id": "a", "title": ["x"], "body": "caf\xc3\xa9 \\ud800", "n": {"m": [1.5]}}\n{"id": 2}\n',
    "json": b'[{"id": "a", "title": "x", "n": [1, "]}"]}, {"id": "b", "type": "book", "title": "caf\xc3\xa9 \\u00e9",'
    b'"author": [{"family": "A", "given": "B"}], "issued": {"date-parts": [[1999, 1]]}}]\n',
    "wos": b"FN Clarivate\nVR 1.0\nPT J\nAU A, B\n   C, D\nTI On\n   wings\nPY 1999\nUT WOS:1\nER\n\n"
    b"PT B\nUT WOS:2\nER\nEF",
    "endnote": b"<?xml version='1.0'?><xml><records><record><rec-number>1</rec-number><titles><title><style>T &amp; x"
    b"</style></title></titles><dates><year>1999</year></dates></record><record></record></records></xml>",
    "embase": b'"TITLE","a ""b""\nc"\n"AUTHOR NAMES","A B.","C D."\n"PUI","L1"\n\n"TITLE","x"\n"PUI","L2"\n',
    "trec": b"<DOC>\n<DOCNO> a </DOCNO><DATE>1990</DATE><HEAD>x &amp; y</HEAD>\n<TEXT>a < b</TEXT>\n</DOC>\n",
    "smart": b".I 1\n.T\ntitle\n.A\nauthor\n.W\ntext .\n.X\n1 2 3\n.I 2\n.W\nmore\n",
    "ohsumed": b".I 1\n.U\n870\n.S\nJ Med\n.M\nA/*; B.\n.T\ntitle\n.P\nART.\n.W\ntext\n.A\nX Y; Z.\n.I 2\n.U\n871\n",
    "ohsumed-i": b".I 1\n.U\n870\n.M\nA/*; B.\n.I 2\n.W\ntext\n",
    "nbib": b"PMID- 1\nTI  - On\n      wings\nAB  - \xe9\nFAU - A, B\nDP  - 1999\nLID - 10.1/x [doi]\n\nPMID- 2\n",
    "ris": b"TY  - JOUR\nID  - a\nTI  - x\nmore\nPY  - 1999/1\nKW  - k\nER  - \nTY  - BOOK\nER  - \n",
    "bibtex": b'@string{j = "J" # {x}}\n@a{k, title = {A {\\"o} \\alpha $x$}, author="A and B", year=1 # j}\n@b{l}\n',
    "csv": b'id,title,text,n\n1,"a ""b""\nc",x,3\n2,,"",\n',
    "tsv": b'docno\tbody\n1\t"x\ty"\n2\tcaf\xe9\n',
    "html": b"<!doctype html><head><title>T</title></head><h1>H</h1><p a='>'>x &amp; y<script>a<b</script>\xe9<br>z",
    "pubmed": b"<?xml version='1.0'?><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article>"
    b"<ArticleTitle>T<i>x</i> &#233;</ArticleTitle><Abstract><AbstractText Label='L'>a</AbstractText></Abstract>"
    b"<AuthorList><Author><LastName>A</LastName></Author></AuthorList></Article></MedlineCitation></PubmedArticle>"
    b"<PubmedArticle><MedlineCitation><PMID>2</PMID></MedlineCitation></PubmedArticle></PubmedArticleSet>",
    "markdown": b"---\ntitle: x\nk: v\n---\n# H *i* #\n**a** [l](u) `c` <b>\xe9</b>\n```\ncode\n```\nS\n===\n> - q\n",
    "text": b"Title\n\nbody \xe9 of text\r\nand more\n",
}
# Formats that are recognised by their suffix need one.
NAMES = {"csv": "file.csv", "embase": "file.csv", "tsv": "file.tsv", "html": "file.html", "markdown": "file.md"}
TOPICS = {
    "jsonl": b'{"qid": "a", "query": "x", "n": [1]}\n{"qid": 2, "title": "y"}\n',
    "trec": b"<top>\n<num> Number: 301\n<title> crime &lt; law\n<desc> Description:\nfind\n</top>\n",
    "smart": b".I 1\n.W\nwhat\n.I 2\n.T\na\n.W\nb\n.B\nc\n",
    "tsv": b"1\twing flow\n2\theat\n",
}
QRELS = (
    b"1 0 d1 1\n1 0 d2 0\n2 0 d1 2\n2 0 d3 -1\n",
    b"query-id\tcorpus-id\tscore\n1\td1\t1\n2\td2\t0\n",
    b"1 d1 0 0\n1 d2 0 0.000\n2 d3 0 0\n",
)
RUNS = (
    b"1 Q0 d1 1 2.5 a\n1 Q0 d2 2 2.5 a\n2 Q0 d1 1 -1e-3 a\n",
    b"1\tQ0\td1\t1\t10\tb\r\n2 0 caf\xc3\xa9 0 .5 b\n1 Q0 d3 7 3 b\n",
)
LETOR = (
    b"# names: bm25 length\n2 qid:1 1:0.5 2:3 #docid = a i = 1\n0 qid:1 1:NULL 2:1e-3 #docid = b\n1 qid:2 1:1 2:2 #c\n",
    b"0 qid:10 1:0.03 2:0.6 3:NaN #docno=x\n1 qid:10 1:.5 2:1. 3:-1 # y\n0 qid:11 1:1 2:1 3:0\n",
    b"1 qid:a 2:1 7:3\n0.5 qid:a 1:2\n",
)
QUERIES = (
    b"heat wing",
    b'"boundary layer"~3 OR (cell AND NOT lung)',
    b"year:[1985 TO 1990] AND skin^2.5 docno:d00*",
    b'"air flow"~3 he?t hext~1 title:(gene -blood)',
    b"mesh:lung day:{1975 TO *] t-cell \xe7\xa9\xba\xe6\xb0\x97 caf\xc3\xa9",
)
FILTERS = (b"year=[1985 TO 1990]", b"mesh=lung", b"day={1975 TO *]", b"docno=d0003", b"year=1988")
MEASURES = (
    b"AP,nDCG@10,P@5",
    b"AP(rel=2)@100,RR,Bpref,Rprec",
    b"ERR@20,nDCG(dcg='exp-log2')@3,map,ndcg_cut_10",
    b"IPrec@0.1,Success@1,R@1000,Judged@10,infAP,SetF(rel=2)",
)
SYSTEMS = (b"bm25", b"bm25:k1=0.9,b=0.4", b"dirichlet:mu=100+rm3", b"jm+rm3", b"bm25f:k1=1")
SCORER_SETTINGS = (
    b"bm25 k1=0.9 b=0.4",
    b"dirichlet mu=500",
    b"jm lambda=0.1",
    b"mixture document=0.3 corpus=0.7",
    b"two-stage mu=9",
)
RANKER_SETTINGS = (
    b"rsvm-ir C=0.01",
    b"rankboost rounds=20 n_thresholds=9",
    b"linear weights=[1,2.5,-3]",
    b"single feature=2",
    b"rsvm-ir-gd tau=true step=1e-3 max_iterations=10",
    b"rsvm-knn k=3",
)
PLANS = (
    b"""title = "t"
index = "medical"
measures = ["nDCG@10", "AP"]
baseline = "BM25"
topics = "t.tsv"
qrels = "q.txt"
[folds]
queries = [["1", "2"], ["3"]]
[first_stage]
scorer = "bm25"
k = 50
settings = {k1 = 0.9}
[features]
set = "semantic"
[[systems]]
name = "BM25"
scorer = "bm25"
grid = {k1 = [0.6, 1.2], b = [0.5]}
rm3 = {documents = 5, terms = 10, weight = 0.5}
[[systems]]
ranker = "rsvm-ir"
recipe = "tuned"
settings = {C = 0.1}
powers = true
n_best = 3
""",
    b"""dialect = "letor3"
seed = 3
[folds]
number = 5
[features]
names = ["letor.1", "match.both.coverage"]
[[systems]]
scorer = "dirichlet"
settings = {mu = 100}
[[systems]]
name = "RB"
ranker = "rankboost"
features = "letor45"
parts = 3
impute = "letor"
normalise = "none"
""",
)
FEATURE_SETS = (
    b'name = "mine"\ninclude = ["letor45"]\nfeatures = ["score.both.rm3", "match.both.coverage"]\n',
    b'features = ["letor.1", "letor.45", "doc.both.length"]\n',
)
MIXTURE_WEIGHTS = (
    b'{"kind": "searchlab mixture weights", "version": 1, "method": "em", "components": ["document", "corpus"],'
    b' "weights": [0.4, 0.6], "documents": {"a": {"weights": [0.5, 0.5], "digest": "00"}}, "settings": {},'
    b' "origin": {"analysis": "x", "n_docs": 3, "sources": ["s"], "topics": []}, "queries": 2}',
)
