"""Fields of results: sorting by a field, facets, histograms, and words that occur in other fields."""
