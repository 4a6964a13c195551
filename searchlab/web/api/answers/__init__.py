"""JSON schemas of the answers of the API, so that generated clients have fields."""
