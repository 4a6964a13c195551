"""Fields of results: sorting by a field, facets, and words that occur in other fields."""
