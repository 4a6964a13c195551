"""Small files of topics, judgments, a run and features that fit together."""

TOPICS = "1\tfirst words\n2\tsecond words\n3\tthird\n"
QRELS = "1 0 d-01 1\n1 0 d-02 0\n2 0 d-03 2\n3 0 d-04 1\n"
RUN = "1 Q0 d-01 1 3.0 t\n1 Q0 d-09 2 2.0 t\n2 Q0 d-03 1 1.5 t\n3 Q0 d-04 1 1.0 t\n"
LETOR = "1 qid:1 1:0.5 2:1 #docid = d-01\n0 qid:1 1:0.1 2:0 #docid = d-02\n1 qid:2 1:0.5 2:1 #docid = d-03\n"
