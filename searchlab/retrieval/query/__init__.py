"""The query language: parser, syntax tree, matching, phrases, ranges, filters."""
