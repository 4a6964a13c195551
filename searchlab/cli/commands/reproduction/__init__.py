"""`searchlab reproduce`: the experiments of the papers, one module each."""
