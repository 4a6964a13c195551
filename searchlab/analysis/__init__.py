"""Text analysis: tokenizer, stemmers, stop words, and the analyzer that combines them."""
