"""How is searchlab used from a browser? Search, compare, explain, judge, learn, measure; and the same as JSON."""
