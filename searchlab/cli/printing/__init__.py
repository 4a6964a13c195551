"""What commands print: hits, explanations, models and indexes."""
