"""Judgments and two runs, small enough to evaluate by hand."""

QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 d 1\n3 0 e 0\n4 0 f 1\n"


# Topic 1 ranks b, a, c (grades 0, 2, 1), topic 2 ranks d first, topic 3 has nothing relevant, 4 is missing.
GOOD = "1 Q0 b 1 3.0 g\n1 Q0 a 2 2.0 g\n1 Q0 c 3 1.0 g\n2 Q0 d 1 1.0 g\n3 Q0 e 1 1.0 g\n9 Q0 e 1 1.0 g\n"


BAD = "1 Q0 b 1 3.0 g\n1 Q0 x 2 2.0 g\n2 Q0 y 1 5.0 g\n2 Q0 d 2 4.0 g\n3 Q0 e 1 1.0 g\n4 Q0 f 1 1.0 g\n"
