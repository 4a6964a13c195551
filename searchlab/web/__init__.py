"""Web server: pages to search, compare, explain, judge, train and measure, and the same as a JSON API."""
